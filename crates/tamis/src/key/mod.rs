//! What a key is.
//!
//! | file | what it holds |
//! |---|---|
//! | `encode` | keys written out as bytes: wide integers, addresses, tuples, hashed values |
//! | `kinds` | which kinds of keys a filter was given |

mod encode;
mod kinds;

pub use encode::{Encoded, Hashed};
pub use kinds::Kinds;
use std::borrow::Cow;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use std::rc::Rc;
use std::sync::Arc;

/// A key as the hash families see it: bytes, or an integer.
///
/// Text is its UTF-8 bytes, so `"ant"` and `b"ant"` are one key. An integer is its value, so `7u8`
/// and `7i64` are one key. **The integer 7 and the text "7" are different keys.** Text is compared
/// byte for byte: "é" as one code point and "e" with a combining accent are different keys.
///
/// ```
/// use tamis::{Key, KeyRef};
/// assert_eq!("7".as_key(), KeyRef::Bytes(b"7"));
/// assert_eq!(7i32.as_key(), KeyRef::Natural(7));
/// assert_ne!("7".as_key(), 7u64.as_key());
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum KeyRef<'a> {
    /// Any bytes; text is its UTF-8 encoding.
    Bytes(&'a [u8]),
    /// An integer from 0 to 2^64-1.
    Natural(u64),
    /// An integer from -2^63 to -1, as its two's complement.
    Negative(u64),
    /// A key whose bytes do not lie in memory as they are: an integer past 64 bits, an IP address,
    /// a tuple, a [`Hashed`](crate::Hashed) value. It is the same key as its bytes.
    Encoded(Encoded<'a>),
}

impl KeyRef<'_> {
    /// FORMAT v1: frozen. The tag that keeps the kinds apart in hashes that take bytes only.
    pub(crate) fn tag(self) -> u8 {
        match self {
            KeyRef::Bytes(_) | KeyRef::Encoded(_) => 0,
            KeyRef::Natural(_) => 1,
            KeyRef::Negative(_) => 2,
        }
    }

    /// FORMAT v1: frozen. Hands on the bytes that byte-only hashes read; an integer is eight
    /// little-endian bytes.
    pub(crate) fn with_bytes<R>(self, take: impl FnOnce(&[u8]) -> R) -> R {
        match self {
            KeyRef::Bytes(bytes) => take(bytes),
            KeyRef::Natural(value) | KeyRef::Negative(value) => take(&value.to_le_bytes()),
            KeyRef::Encoded(key) => key.with_bytes(take),
        }
    }

    #[inline(always)]
    pub(crate) fn kinds(self) -> Kinds {
        match self {
            KeyRef::Bytes(_) => Kinds::BYTES,
            KeyRef::Natural(_) | KeyRef::Negative(_) => Kinds::INTEGERS,
            KeyRef::Encoded(key) => key.kinds(),
        }
    }
}

/// Anything that can be inserted and asked for.
///
/// | type | the key |
/// |---|---|
/// | `str`, `String`, `[u8]`, `[u8; N]`, `Vec<u8>` | the bytes |
/// | integers of any width | the value |
/// | IP addresses | the bytes of their 4 or 16 octets |
/// | tuples of 2 to 6 keys | bytes that hold each part with its length |
/// | [`Hashed`](crate::Hashed) | bytes of any value that implements [`std::hash::Hash`] |
/// | `&K`, `Box<K>`, `Rc<K>`, `Arc<K>`, `Cow<K>` | the key it holds |
///
/// FORMAT.md defines the bytes, so that other languages can ask for the same keys.
///
/// ```
/// let mut seen = tamis::Bloom::new(100, 0.01)?;
/// seen.insert("naïve");
/// seen.insert(7u64);
/// assert!(seen.contains("naïve".as_bytes()));   // text is its bytes
/// assert!(seen.contains(7i32));                 // an integer is its value
/// assert!(!seen.contains("7"));                 // but it is not its digits
/// seen.insert(("ab", "c"));
/// assert!(!seen.contains(("a", "bc")));         // parts do not run together
/// # Ok::<(), tamis::Error>(())
/// ```
pub trait Key {
    /// The key as the hash families see it.
    fn as_key(&self) -> KeyRef<'_>;
}

impl<K: Key + ?Sized> Key for &K {
    #[inline]
    fn as_key(&self) -> KeyRef<'_> {
        (**self).as_key()
    }
}

impl<K: Key + ?Sized> Key for Box<K> {
    #[inline]
    fn as_key(&self) -> KeyRef<'_> {
        (**self).as_key()
    }
}

impl<K: Key + ?Sized> Key for Rc<K> {
    #[inline]
    fn as_key(&self) -> KeyRef<'_> {
        (**self).as_key()
    }
}

impl<K: Key + ?Sized> Key for Arc<K> {
    #[inline]
    fn as_key(&self) -> KeyRef<'_> {
        (**self).as_key()
    }
}

impl<K: Key + ToOwned + ?Sized> Key for Cow<'_, K> {
    #[inline]
    fn as_key(&self) -> KeyRef<'_> {
        (**self).as_key()
    }
}

impl Key for KeyRef<'_> {
    #[inline]
    fn as_key(&self) -> KeyRef<'_> {
        *self
    }
}

impl Key for [u8] {
    #[inline]
    fn as_key(&self) -> KeyRef<'_> {
        KeyRef::Bytes(self)
    }
}

impl<const N: usize> Key for [u8; N] {
    #[inline]
    fn as_key(&self) -> KeyRef<'_> {
        KeyRef::Bytes(self)
    }
}

impl Key for Vec<u8> {
    #[inline]
    fn as_key(&self) -> KeyRef<'_> {
        KeyRef::Bytes(self)
    }
}

impl Key for str {
    #[inline]
    fn as_key(&self) -> KeyRef<'_> {
        KeyRef::Bytes(self.as_bytes())
    }
}

impl Key for String {
    #[inline]
    fn as_key(&self) -> KeyRef<'_> {
        KeyRef::Bytes(self.as_bytes())
    }
}

impl Key for u64 {
    #[inline]
    fn as_key(&self) -> KeyRef<'_> {
        KeyRef::Natural(*self)
    }
}

impl Key for u32 {
    #[inline]
    fn as_key(&self) -> KeyRef<'_> {
        KeyRef::Natural(u64::from(*self))
    }
}

impl Key for u16 {
    #[inline]
    fn as_key(&self) -> KeyRef<'_> {
        KeyRef::Natural(u64::from(*self))
    }
}

impl Key for u8 {
    #[inline]
    fn as_key(&self) -> KeyRef<'_> {
        KeyRef::Natural(u64::from(*self))
    }
}

impl Key for usize {
    #[inline]
    fn as_key(&self) -> KeyRef<'_> {
        KeyRef::Natural(*self as u64)
    }
}

impl Key for u128 {
    #[inline]
    fn as_key(&self) -> KeyRef<'_> {
        u64::try_from(*self).map_or_else(|_| KeyRef::Encoded(Encoded::new(self)), KeyRef::Natural)
    }
}

impl Key for i128 {
    #[inline]
    fn as_key(&self) -> KeyRef<'_> {
        match (u64::try_from(*self), i64::try_from(*self)) {
            (Ok(value), _) => KeyRef::Natural(value),
            (_, Ok(value)) => KeyRef::Negative(value as u64),
            _ => KeyRef::Encoded(Encoded::new(self)),
        }
    }
}

impl Key for Ipv4Addr {
    #[inline]
    fn as_key(&self) -> KeyRef<'_> {
        KeyRef::Encoded(Encoded::new(self))
    }
}

impl Key for Ipv6Addr {
    #[inline]
    fn as_key(&self) -> KeyRef<'_> {
        KeyRef::Encoded(Encoded::new(self))
    }
}

impl Key for IpAddr {
    #[inline]
    fn as_key(&self) -> KeyRef<'_> {
        match self {
            IpAddr::V4(address) => address.as_key(),
            IpAddr::V6(address) => address.as_key(),
        }
    }
}

impl Key for i64 {
    #[inline]
    fn as_key(&self) -> KeyRef<'_> {
        signed(*self)
    }
}

impl Key for i32 {
    #[inline]
    fn as_key(&self) -> KeyRef<'_> {
        signed(i64::from(*self))
    }
}

impl Key for i16 {
    #[inline]
    fn as_key(&self) -> KeyRef<'_> {
        signed(i64::from(*self))
    }
}

impl Key for i8 {
    #[inline]
    fn as_key(&self) -> KeyRef<'_> {
        signed(i64::from(*self))
    }
}

impl Key for isize {
    #[inline]
    fn as_key(&self) -> KeyRef<'_> {
        signed(*self as i64)
    }
}

#[inline]
fn signed(value: i64) -> KeyRef<'static> {
    if value < 0 { KeyRef::Negative(value as u64) } else { KeyRef::Natural(value as u64) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn integers_are_their_value_and_text_is_its_bytes() {
        assert_eq!(7u8.as_key(), 7i64.as_key());
        assert_eq!(7usize.as_key(), 7i32.as_key());
        assert_eq!((-1i32).as_key(), (-1i64).as_key());
        assert_eq!((-1i8).as_key(), (-1isize).as_key());
        assert_eq!(Box::<str>::from("é").as_key(), Cow::Borrowed("é").as_key());
        assert_ne!((-1i64).as_key(), u64::MAX.as_key());
        assert_ne!(7u64.as_key(), "7".as_key());
        assert_eq!("é".as_key(), "é".as_bytes().as_key());
        assert_ne!(7u64.as_key(), 7u64.to_le_bytes().as_key());
    }
}
