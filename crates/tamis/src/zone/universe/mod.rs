//! The finite set of things that a zone filter may hold, and their numbers.
//!
//! | file | what it holds |
//! |---|---|
//! | `size` | how many elements there are, up to 2^128 |
//! | `notation` | how addresses, prefixes, UUIDs and other codes are written |
//! | `text` | a universe as text, such as `1..48` or `hex:20`, and back |

mod notation;
mod size;
mod text;

pub use size::Size;

use crate::{Error, Key, KeyRef};
use hmac_sha256::Hash as Sha256;
use notation::{mac, mac_text, prefix_number, prefix_text, uuid, uuid_text};
use std::collections::HashMap;
use std::fmt;
use std::net::{Ipv4Addr, Ipv6Addr};
use std::sync::Arc;

/// A finite universe of up to 2^128 elements. Every element has a number. A key without one is an
/// error, not "absent".
///
/// | universe | elements |
/// |---|---|
/// | [`interval`](Universe::interval) | the integers from a to b |
/// | [`ipv4`](Universe::ipv4), [`ipv6`](Universe::ipv6) | addresses, as text or as integers |
/// | [`ipv4_prefixes`](Universe::ipv4_prefixes) | prefixes such as `10.0.0.0/8`, up to a length |
/// | [`ipv6_prefixes`](Universe::ipv6_prefixes) | the same of IPv6 |
/// | [`uuid`](Universe::uuid) | UUIDs, as text or as integers |
/// | [`mac`](Universe::mac) | MAC addresses, as text or as integers |
/// | [`hex`](Universe::hex) | codes of 1 to 32 hexadecimal digits |
/// | [`dictionary`](Universe::dictionary) | the keys of a list, each known by its place |
///
/// A universe is also read from text: `"1..48".parse::<Universe>()`.
///
/// ```
/// use tamis::zone::Universe;
/// let days = Universe::interval(1, 366)?;
/// assert_eq!(days.number(1u32)?, 0);
/// assert!(days.number(0u32).is_err());
/// let colours = Universe::dictionary(["red", "green", "blue"])?;
/// assert_eq!(colours.number("blue")?, 2);
/// assert_eq!(Universe::ipv4().number("10.0.0.1")?, 0x0a00_0001);
/// let number = Universe::ipv6().number("2001:DB8:0::1")?;
/// assert_eq!(Universe::ipv6().name(number), b"2001:db8::1");
/// # Ok::<(), tamis::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Universe {
    first: u128,
    last: u128,
    names: Names,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum Names {
    Integers,
    Ipv4,
    Ipv6,
    Uuid,
    Mac,
    /// Codes of this many digits.
    Hex(u32),
    /// Prefixes up to this length.
    Ipv4Prefixes(u32),
    Ipv6Prefixes(u32),
    Dictionary(Arc<Dictionary>),
    /// A dictionary that was not given: elements have numbers and no names.
    Unnamed {
        fingerprint: u64,
    },
}

/// The keys of a dictionary, by place and by name.
#[derive(PartialEq, Eq)]
struct Dictionary {
    keys: Vec<Arc<[u8]>>,
    places: HashMap<Arc<[u8]>, u64>,
    fingerprint: u64,
}

impl fmt::Debug for Dictionary {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "Dictionary({} keys, {:016x})", self.keys.len(), self.fingerprint)
    }
}

/// The most hexadecimal digits of a code: 128 bits.
const MAX_DIGITS: u32 = 32;
/// The longest IPv6 prefixes that a universe may have: with those of 128 bits too, there would be
/// more than 2^128.
const MAX_IPV6_PREFIX: u32 = 127;

impl Universe {
    /// The integers from `first` to `last`, both included.
    pub fn interval(first: u128, last: u128) -> Result<Universe, Error> {
        if first > last {
            return Err(Error::EmptyInterval { first, last });
        }
        Ok(Universe { first, last, names: Names::Integers })
    }

    /// The `size` integers from 0 up.
    pub fn sized(size: u128) -> Result<Universe, Error> {
        match size.checked_sub(1) {
            Some(last) => Universe::interval(0, last),
            None => Err(Error::EmptyUniverse),
        }
    }

    /// The numbers from 0 to `last`, with these names.
    fn named(last: u128, names: Names) -> Universe {
        Universe { first: 0, last, names }
    }

    /// The IPv4 addresses.
    #[must_use]
    pub fn ipv4() -> Universe {
        Universe::named(u32::MAX.into(), Names::Ipv4)
    }

    /// The IPv4 addresses from `first` to `last`, both included.
    ///
    /// ```
    /// use tamis::zone::Universe;
    /// let private = Universe::ipv4_range([10, 0, 0, 0].into(), [10, 255, 255, 255].into())?;
    /// assert_eq!(private.number("10.0.0.1")?, 1);
    /// assert!(private.number("11.0.0.1").is_err());
    /// # Ok::<(), tamis::Error>(())
    /// ```
    pub fn ipv4_range(first: Ipv4Addr, last: Ipv4Addr) -> Result<Universe, Error> {
        let interval = Universe::interval(u32::from(first).into(), u32::from(last).into())?;
        Ok(Universe { names: Names::Ipv4, ..interval })
    }

    /// The 2^128 IPv6 addresses.
    #[must_use]
    pub fn ipv6() -> Universe {
        Universe::named(u128::MAX, Names::Ipv6)
    }

    /// The IPv6 addresses from `first` to `last`, both included.
    pub fn ipv6_range(first: Ipv6Addr, last: Ipv6Addr) -> Result<Universe, Error> {
        let interval = Universe::interval(first.into(), last.into())?;
        Ok(Universe { names: Names::Ipv6, ..interval })
    }

    /// The IPv4 prefixes of at most `longest` bits, which is at most 32. Shorter prefixes have
    /// smaller numbers.
    ///
    /// ```
    /// use tamis::zone::Universe;
    /// let routes = Universe::ipv4_prefixes(24)?;
    /// assert_eq!(routes.size(), (1 << 25) - 1);
    /// assert_eq!(routes.name(routes.number("10.0.0.0/8")?), b"10.0.0.0/8");
    /// assert!(routes.number("10.0.0.1/8").is_err());     // bits past the eighth
    /// assert!(routes.number("10.0.0.1/32").is_err());    // too long
    /// # Ok::<(), tamis::Error>(())
    /// ```
    pub fn ipv4_prefixes(longest: u32) -> Result<Universe, Error> {
        if longest > Ipv4Addr::BITS {
            return Err(Error::Prefixes { got: longest, max: Ipv4Addr::BITS });
        }
        Ok(Universe::named(prefixes(longest), Names::Ipv4Prefixes(longest)))
    }

    /// The IPv6 prefixes of at most `longest` bits, which is at most 127.
    pub fn ipv6_prefixes(longest: u32) -> Result<Universe, Error> {
        if longest > MAX_IPV6_PREFIX {
            return Err(Error::Prefixes { got: longest, max: MAX_IPV6_PREFIX });
        }
        Ok(Universe::named(prefixes(longest), Names::Ipv6Prefixes(longest)))
    }

    /// All UUIDs, of any version.
    #[must_use]
    pub fn uuid() -> Universe {
        Universe::named(u128::MAX, Names::Uuid)
    }

    /// The MAC addresses of 48 bits.
    #[must_use]
    pub fn mac() -> Universe {
        Universe::named((1 << 48) - 1, Names::Mac)
    }

    /// The codes of exactly `digits` hexadecimal digits, from 1 to 32: up to 128 bits.
    ///
    /// ```
    /// use tamis::zone::Universe;
    /// let tags = Universe::hex(20)?;
    /// let number = tags.number("00000000000000000AbC")?;
    /// assert_eq!((number, &tags.name(number)[..]), (0xabc, &b"00000000000000000abc"[..]));
    /// assert!(tags.number("abc").is_err());
    /// # Ok::<(), tamis::Error>(())
    /// ```
    pub fn hex(digits: u32) -> Result<Universe, Error> {
        if digits == 0 || digits > MAX_DIGITS {
            return Err(Error::HexDigits { got: digits, max: MAX_DIGITS });
        }
        Ok(Universe::named(u128::MAX >> (u128::BITS - 4 * digits), Names::Hex(digits)))
    }

    /// The keys of a list, numbered by their place in it. A repeated key is refused.
    pub fn dictionary<K: Key>(keys: impl IntoIterator<Item = K>) -> Result<Universe, Error> {
        let (mut list, mut places, mut hasher) = (Vec::new(), HashMap::new(), Sha256::new());
        for key in keys {
            let bytes: Arc<[u8]> = key.as_key().with_bytes(|bytes| Arc::from(bytes));
            let place = list.len() as u64;
            if places.insert(Arc::clone(&bytes), place).is_some() {
                return Err(Error::RepeatedKey { key: shown(KeyRef::Bytes(&bytes)) });
            }
            // The length comes first, so that ["ab", "c"] and ["a", "bc"] differ.
            hasher.update((bytes.len() as u64).to_le_bytes());
            hasher.update(&bytes);
            list.push(bytes);
        }
        let Some(last) = (list.len() as u128).checked_sub(1) else {
            return Err(Error::EmptyUniverse);
        };
        let mut start = [0; 8];
        start.copy_from_slice(&hasher.finalize()[..8]);
        let dictionary = Dictionary { keys: list, places, fingerprint: u64::from_le_bytes(start) };
        Ok(Universe::named(last, Names::Dictionary(Arc::new(dictionary))))
    }

    /// A dictionary that was not given, as a file describes it.
    pub(crate) fn unnamed(last: u64, fingerprint: u64) -> Universe {
        Universe::named(last.into(), Names::Unnamed { fingerprint })
    }

    /// How many elements there are: at most 2^128.
    #[must_use]
    pub fn size(&self) -> Size {
        Size::up_to(self.last - self.first)
    }

    /// The first integer of an interval, or the first address as one; 0 for the other universes.
    #[must_use]
    pub fn first(&self) -> u128 {
        self.first
    }

    /// The last integer of an interval, or the last address; for the other universes, the last
    /// number.
    #[must_use]
    pub fn last(&self) -> u128 {
        self.last
    }

    /// 64 bits of the SHA-256 of the keys of a dictionary, by which files recognise it. `None` for
    /// other universes.
    #[must_use]
    pub fn fingerprint(&self) -> Option<u64> {
        match &self.names {
            Names::Dictionary(dictionary) => Some(dictionary.fingerprint),
            Names::Unnamed { fingerprint } => Some(*fingerprint),
            _ => None,
        }
    }

    /// What the elements are: `integers`, `ipv4`, `ipv6`, `uuid`, `mac`, `hex`, `ipv4-prefixes`,
    /// `ipv6-prefixes` or `dictionary`.
    #[must_use]
    pub fn kind(&self) -> &'static str {
        match self.names {
            Names::Integers => "integers",
            Names::Ipv4 => "ipv4",
            Names::Ipv6 => "ipv6",
            Names::Uuid => "uuid",
            Names::Mac => "mac",
            Names::Hex(_) => "hex",
            Names::Ipv4Prefixes(_) => "ipv4-prefixes",
            Names::Ipv6Prefixes(_) => "ipv6-prefixes",
            Names::Dictionary(_) | Names::Unnamed { .. } => "dictionary",
        }
    }

    /// The number of an element, from 0 to `size() - 1`.
    pub fn number(&self, key: impl Key) -> Result<u128, Error> {
        let key = key.as_key();
        let found = match (&self.names, key) {
            (Names::Dictionary(dictionary), KeyRef::Bytes(name)) => dictionary.place(name),
            (Names::Dictionary(dictionary), KeyRef::Encoded(name)) => {
                name.with_bytes(|name| dictionary.place(name))
            }
            (Names::Dictionary(_) | Names::Unnamed { .. }, _) => None,
            // The number of a prefix is nothing that a user would know.
            (Names::Ipv4Prefixes(_) | Names::Ipv6Prefixes(_), KeyRef::Natural(_)) => None,
            (_, KeyRef::Natural(value)) => self.place_of(value.into()),
            (_, KeyRef::Bytes(text)) => self.place_of_text(text),
            (_, KeyRef::Encoded(key)) => key.with_bytes(|bytes| self.place_of_encoded(bytes)),
            (_, KeyRef::Negative(_)) => None,
        };
        found.ok_or_else(|| Error::Outside { key: shown(key), universe: self.to_string() })
    }

    /// The number of an integer, or of an address as an integer.
    fn place_of(&self, value: u128) -> Option<u128> {
        (self.first..=self.last).contains(&value).then(|| value - self.first)
    }

    /// The number of an element whose key is no text: an address of the standard library, a UUID
    /// as its 16 bytes, an integer past 64 bits. No text of 4, 16 or 17 bytes reaches this.
    fn place_of_encoded(&self, bytes: &[u8]) -> Option<u128> {
        match (&self.names, bytes) {
            (Names::Ipv4, &[a, b, c, d]) => self.place_of(u32::from_be_bytes([a, b, c, d]).into()),
            (Names::Ipv6 | Names::Uuid, _) if bytes.len() == 16 => {
                self.place_of(u128::from_be_bytes(bytes.try_into().ok()?))
            }
            (Names::Ipv4Prefixes(_) | Names::Ipv6Prefixes(_), _) => None,
            (_, [value @ .., 1]) if value.len() == 16 => {
                self.place_of(u128::from_le_bytes(value.try_into().ok()?))
            }
            _ => None,
        }
    }

    /// The number of an element from its notation. The text 7 is not the integer 7.
    fn place_of_text(&self, text: &[u8]) -> Option<u128> {
        let text = std::str::from_utf8(text).ok()?;
        let value = match self.names {
            Names::Ipv4 => text.parse::<Ipv4Addr>().ok().map(|one| u32::from(one).into()),
            Names::Ipv6 => text.parse::<Ipv6Addr>().ok().map(u128::from),
            Names::Uuid => uuid(text),
            Names::Mac => mac(text),
            Names::Hex(digits) => notation::hex(text, digits),
            Names::Ipv4Prefixes(longest) => prefix_number::<Ipv4Addr>(text, longest),
            Names::Ipv6Prefixes(longest) => prefix_number::<Ipv6Addr>(text, longest),
            Names::Integers | Names::Dictionary(_) | Names::Unnamed { .. } => None,
        };
        value.and_then(|value| self.place_of(value))
    }

    /// The number of an element written as text, as at a command line: an integer in decimal, an
    /// address, a key of the dictionary.
    pub fn number_of_text(&self, text: &[u8]) -> Result<u128, Error> {
        if self.names != Names::Integers {
            return self.number(text);
        }
        let value: Option<u128> =
            std::str::from_utf8(text).ok().and_then(|text| text.trim().parse().ok());
        match value {
            Some(value) => self.number(value),
            None => {
                Err(Error::Outside { key: shown(KeyRef::Bytes(text)), universe: self.to_string() })
            }
        }
    }

    /// The element with this number, written as text; nothing of a dictionary that was not given.
    #[must_use]
    pub fn name(&self, number: u128) -> Vec<u8> {
        let value = self.first.wrapping_add(number);
        let text = match &self.names {
            Names::Integers => value.to_string(),
            Names::Ipv4 => Ipv4Addr::from(value as u32).to_string(),
            Names::Ipv6 => Ipv6Addr::from(value).to_string(),
            Names::Uuid => uuid_text(value),
            Names::Mac => mac_text(value),
            Names::Hex(digits) => format!("{value:0width$x}", width = *digits as usize),
            Names::Ipv4Prefixes(_) => prefix_text::<Ipv4Addr>(value),
            Names::Ipv6Prefixes(_) => prefix_text::<Ipv6Addr>(value),
            Names::Dictionary(dictionary) => {
                let place = usize::try_from(number).unwrap_or(usize::MAX);
                return dictionary.keys.get(place).map_or_else(Vec::new, |key| key.to_vec());
            }
            Names::Unnamed { .. } => return Vec::new(),
        };
        text.into_bytes()
    }
}

impl Dictionary {
    fn place(&self, name: &[u8]) -> Option<u128> {
        self.places.get(name).map(|place| u128::from(*place))
    }
}

/// The last number of the prefixes up to a length of at most 127.
fn prefixes(longest: u32) -> u128 {
    (u128::MAX >> (127 - longest)) - 1
}

fn shown(key: KeyRef<'_>) -> String {
    match key {
        KeyRef::Bytes(bytes) => {
            format!("{:?}", String::from_utf8_lossy(bytes).chars().take(60).collect::<String>())
        }
        KeyRef::Natural(value) => value.to_string(),
        KeyRef::Negative(value) => (value as i64).to_string(),
        KeyRef::Encoded(key) => key.describe(),
    }
}

impl fmt::Display for Universe {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.names {
            Names::Integers => write!(out, "the integers {}..{}", self.first, self.last),
            Names::Ipv4 if self.size() == 1 << 32 => out.write_str("the IPv4 addresses"),
            Names::Ipv4 => {
                let [first, last] = [self.first, self.last].map(|end| Ipv4Addr::from(end as u32));
                write!(out, "the IPv4 addresses {first}..{last}")
            }
            Names::Ipv6 if self.size().get().is_none() => out.write_str("the IPv6 addresses"),
            Names::Ipv6 => {
                let [first, last] = [self.first, self.last].map(Ipv6Addr::from);
                write!(out, "the IPv6 addresses {first}..{last}")
            }
            Names::Uuid => out.write_str("the UUIDs"),
            Names::Mac => out.write_str("the MAC addresses"),
            Names::Hex(1) => out.write_str("the codes of 1 hexadecimal digit"),
            Names::Hex(digits) => write!(out, "the codes of {digits} hexadecimal digits"),
            Names::Ipv4Prefixes(longest) => write!(out, "the IPv4 prefixes up to /{longest}"),
            Names::Ipv6Prefixes(longest) => write!(out, "the IPv6 prefixes up to /{longest}"),
            Names::Dictionary(_) | Names::Unnamed { .. } => {
                let keys = if self.size() == 1 { "key" } else { "keys" };
                write!(out, "the dictionary of {} {keys}", self.size())
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_and_numbers_are_inverse() {
        let words = ["red", "green", "", "blue é"];
        for universe in [
            Universe::interval(1, 48).unwrap(),
            Universe::interval(0, u64::MAX.into()).unwrap(),
            Universe::interval(u64::MAX.into(), (1 << 64) + 7).unwrap(),
            Universe::interval(0, u128::MAX).unwrap(),
            Universe::interval(u128::MAX, u128::MAX).unwrap(),
            Universe::sized(1).unwrap(),
            Universe::ipv4(),
            Universe::ipv6(),
            Universe::ipv6_range(1u128.into(), u128::MAX.into()).unwrap(),
            Universe::uuid(),
            Universe::mac(),
            Universe::hex(1).unwrap(),
            Universe::hex(20).unwrap(),
            Universe::hex(32).unwrap(),
            Universe::ipv4_prefixes(0).unwrap(),
            Universe::ipv4_prefixes(32).unwrap(),
            Universe::ipv6_prefixes(127).unwrap(),
            Universe::dictionary(words).unwrap(),
        ] {
            let last = universe.size().last();
            for number in [0, last / 3, last / 2, last] {
                assert_eq!(
                    universe.number_of_text(&universe.name(number)).unwrap(),
                    number,
                    "{universe}"
                );
            }
        }
    }

    #[test]
    fn what_is_outside_is_an_error() {
        let days = Universe::interval(1, 366).unwrap();
        for text in ["0", "367", "-1", "x", "", "1.5", "18446744073709551616"] {
            assert!(
                matches!(days.number_of_text(text.as_bytes()), Err(Error::Outside { .. })),
                "{text}"
            );
        }
        assert!(days.number("7").is_err(), "the text 7 is not the integer 7");
        assert!(days.number(-1i64).is_err());
        assert!(Universe::ipv4().number("256.0.0.1").is_err());
        assert!(Universe::ipv4().number(1u64 << 32).is_err());
        assert!(Universe::ipv4().number(1u128 << 64).is_err());
        assert!(Universe::ipv4().number(Ipv4Addr::LOCALHOST.to_ipv6_mapped()).is_err());
        assert_eq!(Universe::ipv4().number(Ipv4Addr::LOCALHOST).unwrap(), 0x7f00_0001);
        let colours = Universe::dictionary(["red"]).unwrap();
        assert!(colours.number("blue").unwrap_err().to_string().contains("\"blue\""));
        assert!(colours.number(0u64).is_err());
    }

    #[test]
    fn keys_of_other_types_are_elements() {
        let six = Ipv6Addr::LOCALHOST;
        assert_eq!(Universe::ipv6().number(six).unwrap(), 1);
        assert_eq!(Universe::ipv6().number(1u128 << 100).unwrap(), 1 << 100);
        assert!(Universe::ipv6().number(Ipv4Addr::LOCALHOST).is_err());
        assert!(Universe::ipv6().number("127.0.0.1").is_err());
        assert_eq!(Universe::uuid().number(7u8).unwrap(), 7);
        assert_eq!(Universe::mac().number(u64::MAX >> 16).unwrap(), (1 << 48) - 1);
        assert!(Universe::mac().number(1u64 << 48).is_err());
        assert!(Universe::ipv4_prefixes(32).unwrap().number(7u8).is_err());
        assert!(Universe::ipv4_prefixes(32).unwrap().number(1u128 << 70).is_err());
        let wide = Universe::interval(5, 1 << 100).unwrap();
        assert_eq!(wide.number(1u128 << 100).unwrap(), (1 << 100) - 5);
        assert_eq!(wide.number(1i128 << 100).unwrap(), (1 << 100) - 5);
        assert!(wide.number(-1i128 << 100).is_err());
        assert!(wide.number(4u8).is_err() && wide.number((1u128 << 100) + 1).is_err());
        assert!(wide.number(Ipv6Addr::from(1u128 << 99)).is_err());
    }

    #[test]
    fn impossible_lengths_are_refused() {
        for made in [
            Universe::hex(0),
            Universe::hex(33),
            Universe::ipv4_prefixes(33),
            Universe::ipv6_prefixes(128),
        ] {
            assert!(made.is_err());
        }
        assert_eq!(Universe::ipv4_prefixes(0).unwrap().size(), 1);
        assert_eq!(Universe::ipv4_prefixes(32).unwrap().size(), (1 << 33) - 1);
        assert_eq!(Universe::ipv6_prefixes(127).unwrap().size(), u128::MAX);
    }

    #[test]
    fn empty_and_ambiguous_universes_are_refused() {
        assert!(Universe::sized(0).is_err());
        assert!(Universe::interval(5, 4).is_err());
        assert!(Universe::dictionary(Vec::<String>::new()).is_err());
        assert!(
            Universe::dictionary(["a", "b", "a"]).unwrap_err().to_string().contains("\"a\" twice")
        );
    }

    #[test]
    fn fingerprints_tell_dictionaries_apart() {
        let print =
            |keys: &[&str]| Universe::dictionary(keys.iter().copied()).unwrap().fingerprint();
        assert_eq!(print(&["ab", "c"]), print(&["ab", "c"]));
        assert_ne!(print(&["ab", "c"]), print(&["a", "bc"]));
        assert_ne!(print(&["ab", "c"]), print(&["c", "ab"]));
        assert_eq!(Universe::ipv4().fingerprint(), None);
    }
}
