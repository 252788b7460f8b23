//! The finite set of things that a zone filter may hold, and their numbers.

use crate::{Error, Key, KeyRef};
use hmac_sha256::Hash as Sha256;
use std::collections::HashMap;
use std::fmt;
use std::net::Ipv4Addr;
use std::sync::Arc;

/// A finite universe. Every element has a number. A key without one is an error, not "absent".
///
/// | universe | elements |
/// |---|---|
/// | [`interval`](Universe::interval) | the integers from a to b, up to 2^64 of them |
/// | [`ipv4`](Universe::ipv4) | the 2^32 addresses, as text or as integers |
/// | [`dictionary`](Universe::dictionary) | the keys of a list, each known by its place |
///
/// ```
/// use tamis::zone::Universe;
/// let days = Universe::interval(1, 366)?;
/// assert_eq!(days.number(1u32)?, 0);
/// assert!(days.number(0u32).is_err());
/// let colours = Universe::dictionary(["red", "green", "blue"])?;
/// assert_eq!(colours.number("blue")?, 2);
/// assert_eq!(Universe::ipv4().number("10.0.0.1")?, 0x0a00_0001);
/// # Ok::<(), tamis::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Universe {
    first: u64,
    last: u64,
    names: Names,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum Names {
    Integers,
    Ipv4,
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

impl Universe {
    /// The integers from `first` to `last`, both included.
    pub fn interval(first: u64, last: u64) -> Result<Universe, Error> {
        if first > last {
            return Err(Error::EmptyInterval { first, last });
        }
        Ok(Universe { first, last, names: Names::Integers })
    }

    /// The `size` integers from 0 up.
    pub fn sized(size: u64) -> Result<Universe, Error> {
        match size.checked_sub(1) {
            Some(last) => Universe::interval(0, last),
            None => Err(Error::EmptyUniverse),
        }
    }

    /// The IPv4 addresses.
    #[must_use]
    pub fn ipv4() -> Universe {
        Universe { first: 0, last: u64::from(u32::MAX), names: Names::Ipv4 }
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
        let Some(last) = (list.len() as u64).checked_sub(1) else {
            return Err(Error::EmptyUniverse);
        };
        let mut start = [0; 8];
        start.copy_from_slice(&hasher.finalize()[..8]);
        let dictionary = Dictionary { keys: list, places, fingerprint: u64::from_le_bytes(start) };
        Ok(Universe { first: 0, last, names: Names::Dictionary(Arc::new(dictionary)) })
    }

    /// A dictionary that was not given, as a file describes it.
    pub(crate) fn unnamed(last: u64, fingerprint: u64) -> Universe {
        Universe { first: 0, last, names: Names::Unnamed { fingerprint } }
    }

    /// How many elements there are: at most 2^64.
    #[must_use]
    pub fn size(&self) -> u128 {
        u128::from(self.last - self.first) + 1
    }

    /// The first integer of an interval, or the first address as one; 0 for a dictionary.
    #[must_use]
    pub fn first(&self) -> u64 {
        self.first
    }

    /// The last integer of an interval, or the last address; for a dictionary, the last number.
    #[must_use]
    pub fn last(&self) -> u64 {
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

    /// The identifier of the kind of names in files.
    pub(crate) fn names_id(&self) -> u8 {
        match self.names {
            Names::Integers => 1,
            Names::Ipv4 => 2,
            Names::Dictionary(_) | Names::Unnamed { .. } => 3,
        }
    }

    /// The number of an element, from 0 to `size() - 1`.
    pub fn number(&self, key: impl Key) -> Result<u64, Error> {
        let key = key.as_key();
        let found = match (&self.names, key) {
            (Names::Integers | Names::Ipv4, KeyRef::Natural(value)) => self.place_of(value),
            (Names::Ipv4, KeyRef::Bytes(text)) => {
                let address =
                    std::str::from_utf8(text).ok().and_then(|text| text.parse::<Ipv4Addr>().ok());
                address.and_then(|address| self.place_of(u32::from(address).into()))
            }
            (Names::Dictionary(dictionary), KeyRef::Bytes(name)) => {
                dictionary.places.get(name).copied()
            }
            (Names::Dictionary(dictionary), KeyRef::Encoded(name)) => {
                name.with_bytes(|name| dictionary.places.get(name).copied())
            }
            // An address of the standard library; no text has four bytes and is an address.
            (Names::Ipv4, KeyRef::Encoded(address)) => address.with_bytes(|octets| {
                let octets = <[u8; 4]>::try_from(octets).ok()?;
                self.place_of(u32::from_be_bytes(octets).into())
            }),
            _ => None,
        };
        found.ok_or_else(|| Error::Outside { key: shown(key), universe: self.to_string() })
    }

    /// The number of an integer, or of an address as an integer.
    fn place_of(&self, value: u64) -> Option<u64> {
        (self.first..=self.last).contains(&value).then(|| value - self.first)
    }

    /// The number of an element written as text, as at a command line: an integer in decimal, an
    /// address, a key of the dictionary.
    pub fn number_of_text(&self, text: &[u8]) -> Result<u64, Error> {
        match &self.names {
            Names::Integers => {
                let value =
                    std::str::from_utf8(text).ok().and_then(|text| text.trim().parse::<u64>().ok());
                match value {
                    Some(value) => self.number(value),
                    None => Err(Error::Outside {
                        key: shown(KeyRef::Bytes(text)),
                        universe: self.to_string(),
                    }),
                }
            }
            _ => self.number(text),
        }
    }

    /// The element with this number, written as text; nothing of a dictionary that was not given.
    #[must_use]
    pub fn name(&self, number: u64) -> Vec<u8> {
        match &self.names {
            Names::Integers => self.first.wrapping_add(number).to_string().into_bytes(),
            Names::Ipv4 => {
                let address = self.first.wrapping_add(number) as u32;
                Ipv4Addr::from(address).to_string().into_bytes()
            }
            Names::Dictionary(dictionary) => {
                dictionary.keys.get(number as usize).map_or_else(Vec::new, |key| key.to_vec())
            }
            Names::Unnamed { .. } => Vec::new(),
        }
    }
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
            Universe::interval(0, u64::MAX).unwrap(),
            Universe::interval(u64::MAX, u64::MAX).unwrap(),
            Universe::sized(1).unwrap(),
            Universe::ipv4(),
            Universe::dictionary(words).unwrap(),
        ] {
            let last = (universe.size() - 1) as u64;
            for number in [0, last / 2, last] {
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
