//! Keys that are written out as bytes: wide integers, addresses, tuples, hashed values.
//!
//! FORMAT v1: frozen. FORMAT.md defines every encoding under "Keys"; tests/golden/make.py writes
//! the same bytes, and the test vectors hold both to it.

use crate::{Key, KeyRef, Kinds};
use std::fmt;
use std::hash::{Hash, Hasher};
use std::net::{Ipv4Addr, Ipv6Addr};

/// A key that is written out as bytes when it is hashed.
#[derive(Clone, Copy)]
pub struct Encoded<'a>(&'a (dyn Encode + Sync));

/// A key that can be written out.
pub(crate) trait Encode {
    fn encode(&self, out: &mut Buffer);
    fn kinds(&self) -> Kinds;
    /// The key in words, for messages.
    fn describe(&self) -> String;
}

/// Bytes in the making. Short keys, which most are, stay on the stack.
pub(crate) struct Buffer {
    stack: [u8; Buffer::SHORT],
    len: usize,
    /// All bytes, once they are too many for the stack.
    heap: Vec<u8>,
}

impl Buffer {
    const SHORT: usize = 64;

    fn new() -> Buffer {
        Buffer { stack: [0; Buffer::SHORT], len: 0, heap: Vec::new() }
    }

    pub(crate) fn push(&mut self, bytes: &[u8]) {
        let end = self.len.saturating_add(bytes.len());
        if end <= Buffer::SHORT {
            self.stack[self.len..end].copy_from_slice(bytes);
        } else {
            if self.len <= Buffer::SHORT {
                self.heap.extend_from_slice(&self.stack[..self.len]);
            }
            self.heap.extend_from_slice(bytes);
        }
        self.len = end;
    }

    fn bytes(&self) -> &[u8] {
        if self.len <= Buffer::SHORT { &self.stack[..self.len] } else { &self.heap }
    }
}

impl<'a> Encoded<'a> {
    pub(crate) fn new(key: &'a (dyn Encode + Sync)) -> Encoded<'a> {
        Encoded(key)
    }

    /// The bytes of the key, as FORMAT.md defines them.
    #[must_use]
    pub fn to_vec(self) -> Vec<u8> {
        self.with_bytes(<[u8]>::to_vec)
    }

    pub(crate) fn with_bytes<R>(self, take: impl FnOnce(&[u8]) -> R) -> R {
        let mut buffer = Buffer::new();
        self.0.encode(&mut buffer);
        take(buffer.bytes())
    }

    pub(crate) fn kinds(self) -> Kinds {
        self.0.kinds()
    }

    /// The key in words, for messages.
    #[cfg_attr(not(feature = "zone"), allow(dead_code))]
    pub(crate) fn describe(self) -> String {
        self.0.describe()
    }
}

impl PartialEq for Encoded<'_> {
    /// Equal keys have equal bytes.
    fn eq(&self, other: &Encoded<'_>) -> bool {
        self.to_vec() == other.to_vec()
    }
}

impl Eq for Encoded<'_> {}

impl fmt::Debug for Encoded<'_> {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.debug_tuple("Encoded").field(&self.to_vec()).finish()
    }
}

impl Encode for u128 {
    fn encode(&self, out: &mut Buffer) {
        out.push(&self.to_le_bytes());
        out.push(&[KeyRef::Natural(0).tag()]);
    }
    fn kinds(&self) -> Kinds {
        Kinds::INTEGERS
    }
    fn describe(&self) -> String {
        self.to_string()
    }
}

impl Encode for i128 {
    fn encode(&self, out: &mut Buffer) {
        let sign = if *self < 0 { KeyRef::Negative(0) } else { KeyRef::Natural(0) };
        out.push(&self.to_le_bytes());
        out.push(&[sign.tag()]);
    }
    fn kinds(&self) -> Kinds {
        Kinds::INTEGERS
    }
    fn describe(&self) -> String {
        self.to_string()
    }
}

macro_rules! addresses {
    ($($address:ty),+) => {
        $(impl Encode for $address {
            fn encode(&self, out: &mut Buffer) {
                out.push(&self.octets());
            }
            fn kinds(&self) -> Kinds {
                Kinds::BYTES
            }
            fn describe(&self) -> String {
                self.to_string()
            }
        })+
    };
}

addresses!(Ipv4Addr, Ipv6Addr);

/// A part of a tuple: its tag, its length as eight little-endian bytes, its bytes.
fn push_part(out: &mut Buffer, part: KeyRef<'_>) {
    out.push(&[part.tag()]);
    part.with_bytes(|bytes| {
        out.push(&(bytes.len() as u64).to_le_bytes());
        out.push(bytes);
    });
}

/// A tuple with a hashed value in it is no more portable than that value.
fn kinds_of_parts<const N: usize>(parts: [KeyRef<'_>; N]) -> Kinds {
    let hashed = parts.iter().any(|part| part.kinds().has_hashed());
    if hashed { Kinds::HASHED } else { Kinds::BYTES }
}

macro_rules! tuples {
    ($($name:ident $place:tt),+) => {
        impl<$($name: Key + Sync),+> Key for ($($name,)+) {
            #[inline]
            fn as_key(&self) -> KeyRef<'_> {
                KeyRef::Encoded(Encoded::new(self))
            }
        }

        impl<$($name: Key + Sync),+> Encode for ($($name,)+) {
            fn encode(&self, out: &mut Buffer) {
                $(push_part(out, self.$place.as_key());)+
            }
            fn kinds(&self) -> Kinds {
                kinds_of_parts([$(self.$place.as_key()),+])
            }
            fn describe(&self) -> String {
                "a tuple".to_owned()
            }
        }
    };
}

tuples!(A 0, B 1);
tuples!(A 0, B 1, C 2);
tuples!(A 0, B 1, C 2, D 3);
tuples!(A 0, B 1, C 2, D 3, E 4);
tuples!(A 0, B 1, C 2, D 3, E 4, F 5);

/// Any value that implements [`std::hash::Hash`], as a key. Its bytes are what the value feeds to a
/// hasher, with integers in little-endian order.
///
/// # Limits
///
/// Nobody promises that the same value feeds the same bytes in another version of Rust, or of the
/// crate that defines it, or that different values feed different bytes. Use such filters within
/// one build of a program. A file says that such keys are in it ([`Kinds::HASHED`]), and other
/// languages cannot ask for them. Where a key can be a text, an integer or a tuple, use that.
///
/// ```
/// use tamis::{Bloom, Hashed};
/// #[derive(Hash)]
/// struct Flow { from: (u8, u16), to: Option<&'static str> }
///
/// let mut seen = Bloom::new(100, 0.01)?;
/// seen.insert(Hashed(&Flow { from: (1, 2), to: None }));
/// assert!(seen.contains(Hashed(Flow { from: (1, 2), to: None })));
/// assert!(seen.kinds().has_hashed());
/// # Ok::<(), tamis::Error>(())
/// ```
#[derive(Debug, Clone, Copy)]
pub struct Hashed<T>(pub T);

impl<T: Hash + Sync> Key for Hashed<T> {
    #[inline]
    fn as_key(&self) -> KeyRef<'_> {
        KeyRef::Encoded(Encoded::new(self))
    }
}

impl<T: Hash + Sync> Encode for Hashed<T> {
    fn encode(&self, out: &mut Buffer) {
        self.0.hash(&mut Recorder(out));
    }
    fn kinds(&self) -> Kinds {
        Kinds::HASHED
    }
    fn describe(&self) -> String {
        "a hashed value".to_owned()
    }
}

/// The trait has a method for each width of integer; all of them do the same.
macro_rules! little_endian {
    ($($method:ident $integer:ty),+) => {
        $(fn $method(&mut self, value: $integer) {
            self.0.push(&value.to_le_bytes());
        })+
    };
}

/// Writes down what a value feeds to its hasher, the same on every machine.
struct Recorder<'a>(&'a mut Buffer);

impl Hasher for Recorder<'_> {
    fn finish(&self) -> u64 {
        0 // nobody asks: the bytes are what is wanted
    }
    fn write(&mut self, bytes: &[u8]) {
        self.0.push(bytes);
    }
    little_endian! {
        write_u16 u16, write_u32 u32, write_u64 u64, write_u128 u128,
        write_i16 i16, write_i32 i32, write_i64 i64, write_i128 i128
    }
    fn write_usize(&mut self, value: usize) {
        self.write_u64(value as u64);
    }
    fn write_isize(&mut self, value: isize) {
        self.write_i64(value as i64);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::net::IpAddr;

    fn bytes_of(key: impl Key) -> Vec<u8> {
        key.as_key().with_bytes(<[u8]>::to_vec)
    }

    #[test]
    fn wide_integers_are_their_value() {
        assert_eq!(7u128.as_key(), 7u8.as_key());
        assert_eq!(u128::from(u64::MAX).as_key(), u64::MAX.as_key());
        assert_eq!(7i128.as_key(), 7u64.as_key());
        assert_eq!(i128::from(u64::MAX).as_key(), u64::MAX.as_key());
        assert_eq!((-1i128).as_key(), (-1i64).as_key());
        assert_eq!(i128::from(i64::MIN).as_key(), i64::MIN.as_key());
        assert_eq!((1i128 << 64).as_key(), (1u128 << 64).as_key());
        assert_ne!((-1i128 << 64).as_key(), (1u128 << 64).as_key());
        assert_ne!(u128::MAX.as_key(), (-1i128).as_key());
        let mut expected = [0; 17];
        (expected[8], expected[16]) = (1, 1);
        assert_eq!(bytes_of(1u128 << 64), expected);
        let below = i128::from(i64::MIN) - 1;
        assert_eq!(bytes_of(below), [&below.to_le_bytes()[..], &[2]].concat());
        assert_eq!((1u128 << 64).as_key().kinds(), Kinds::INTEGERS);
    }

    #[test]
    fn addresses_are_their_octets() {
        let four: Ipv4Addr = "10.0.0.1".parse().unwrap();
        let six: Ipv6Addr = "2001:db8::7".parse().unwrap();
        assert_eq!(bytes_of(four), [10, 0, 0, 1]);
        assert_eq!(bytes_of(IpAddr::V4(four)), [10, 0, 0, 1]);
        assert_eq!(bytes_of(IpAddr::V6(six)), six.octets());
        assert_ne!(four.to_ipv6_mapped().as_key(), four.as_key());
    }

    #[test]
    fn parts_of_tuples_do_not_run_together() {
        assert_ne!(("ab", "c").as_key(), ("a", "bc").as_key());
        assert_ne!(("a", "b", "c").as_key(), (("a", "b"), "c").as_key());
        assert_ne!(("a", "").as_key(), ("", "a").as_key());
        assert_ne!((7u64, "x").as_key(), (7u64.to_le_bytes(), "x").as_key());
        assert_ne!((1u64, 2u64).as_key(), (2u64, 1u64).as_key());
        assert_eq!((7u8, "x".to_owned()).as_key(), (7i128, &b"x"[..]).as_key());
        let expected = [&[0, 2, 0, 0, 0, 0, 0, 0, 0][..], b"ab", &[1, 8, 0, 0, 0, 0, 0, 0, 0]];
        assert_eq!(bytes_of(("ab", 7)), [&expected.concat()[..], &7u64.to_le_bytes()].concat());
        let long = "x".repeat(100);
        assert_eq!(bytes_of((&long, "y", &long)).len(), 27 + 201);
        assert_eq!(bytes_of((&long, "y"))[9..109], *long.as_bytes());
        assert_eq!(("a", Hashed(7)).as_key().kinds(), Kinds::HASHED);
        assert_eq!(("a", 7).as_key().kinds(), Kinds::BYTES);
    }

    #[test]
    fn hashed_values_are_what_they_feed() {
        assert_eq!(bytes_of(Hashed(7u32)), [7, 0, 0, 0]);
        assert_eq!(bytes_of(Hashed(-1i64)), [255; 8]);
        assert_eq!(bytes_of(Hashed(&"ab")), bytes_of(Hashed("ab".to_owned())));
        assert_ne!(Hashed(("ab", "c")).as_key(), Hashed(("a", "bc")).as_key());
        assert_eq!(bytes_of(Hashed([1u64; 20])).len() % 8, 0);
    }
}
