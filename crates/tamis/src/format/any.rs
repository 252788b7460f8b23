//! A filter of whichever kind a file holds.

use crate::format::Open;
#[cfg(feature = "serde")]
use crate::rate::{Filter, Layout};
use crate::rate::{Kind, RateFilter};
use crate::{BlockedBloom, Bloom, CountingBloom, Error, Key, KeyRef};
use std::io::{Read, Write};
use std::path::Path;

/// A filter of any kind: what a file turns out to hold.
///
/// ```
/// use tamis::{AnyFilter, Bloom};
/// let mut seen = Bloom::new(1_000, 0.01)?;
/// seen.insert("ant");
/// let read = AnyFilter::from_bytes(&seen.to_bytes())?;
/// assert!(read.contains("ant"));
/// assert_eq!(Bloom::try_from(read)?, seen);
/// # Ok::<(), tamis::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum AnyFilter {
    /// A classic Bloom filter.
    Bloom(Bloom),
    /// A blocked Bloom filter.
    Blocked(BlockedBloom),
    /// A counting Bloom filter.
    Counting(CountingBloom),
}

impl AnyFilter {
    /// Opens a file by mapping it into memory, however large, in an instant. The header is verified; the body's
    /// checksum is not, since that reads all of it: ask for it with [`Open::verify`].
    ///
    /// While it is open the file must not be cut short or written into; replacing it by another (as
    /// [`save`](AnyFilter::save) does) is safe. Inserting into a mapped filter changes memory only. Verify what you mean to save
    /// again: a damaged body would get a good checksum.
    pub fn open(path: impl AsRef<Path>) -> Result<AnyFilter, Error> {
        Open::new().path(path)
    }

    /// Reads a filter from the bytes of a file, checksums and all.
    pub fn from_bytes(bytes: &[u8]) -> Result<AnyFilter, Error> {
        Open::new().bytes(bytes)
    }

    /// Reads a filter from a stream that ends with it, checksums and all.
    pub fn from_reader(reader: impl Read) -> Result<AnyFilter, Error> {
        Open::new().reader(reader)
    }

    /// Writes the filter to a file, whole or not at all. See [`Filter::save`](crate::rate::Filter::save).
    pub fn save(&self, path: impl AsRef<Path>) -> Result<(), Error> {
        super::write::save(self.as_rate(), path.as_ref())
    }

    /// Writes the filter's file to a stream.
    pub fn write_to(&self, out: impl Write) -> Result<(), Error> {
        Ok(super::write::write_to(self.as_rate(), out)?)
    }

    /// The bytes of the filter's file.
    #[must_use]
    pub fn to_bytes(&self) -> Vec<u8> {
        super::write::to_bytes(self.as_rate())
    }

    /// Whether a key passes.
    pub fn contains(&self, key: impl Key) -> bool {
        self.as_rate().contains(key.as_key())
    }

    /// Whether each of many keys passes, in their order.
    #[must_use]
    pub fn contains_many(&self, keys: &[KeyRef<'_>]) -> Vec<bool> {
        self.as_rate().contains_many(keys)
    }

    /// The promise that the filter keeps.
    #[must_use]
    pub fn promise(&self) -> &'static str {
        "rate"
    }

    /// The filter as a rate filter.
    #[must_use]
    pub fn as_rate(&self) -> &dyn RateFilter {
        match self {
            AnyFilter::Bloom(filter) => filter,
            AnyFilter::Blocked(filter) => filter,
            AnyFilter::Counting(filter) => filter,
        }
    }

    /// The filter as a rate filter, to insert into.
    pub fn as_rate_mut(&mut self) -> &mut dyn RateFilter {
        match self {
            AnyFilter::Bloom(filter) => filter,
            AnyFilter::Blocked(filter) => filter,
            AnyFilter::Counting(filter) => filter,
        }
    }

    /// Takes in all that `other` holds; both must be of one kind, shape and hash.
    pub fn union(&mut self, other: &AnyFilter) -> Result<(), Error> {
        match (&mut *self, other) {
            (AnyFilter::Bloom(left), AnyFilter::Bloom(right)) => left.union(right),
            (AnyFilter::Blocked(left), AnyFilter::Blocked(right)) => left.union(right),
            (AnyFilter::Counting(left), AnyFilter::Counting(right)) => left.union(right),
            _ => Err(self.other_kind(other)),
        }
    }

    /// Keeps what both hold; both must be of one kind, shape and hash.
    pub fn intersect(&mut self, other: &AnyFilter) -> Result<(), Error> {
        match (&mut *self, other) {
            (AnyFilter::Bloom(left), AnyFilter::Bloom(right)) => left.intersect(right),
            (AnyFilter::Blocked(left), AnyFilter::Blocked(right)) => left.intersect(right),
            (AnyFilter::Counting(left), AnyFilter::Counting(right)) => left.intersect(right),
            _ => Err(self.other_kind(other)),
        }
    }

    fn kind(&self) -> Kind {
        self.as_rate().plan().filter()
    }

    fn other_kind(&self, other: &AnyFilter) -> Error {
        Error::Mismatch { field: "filter", left: self.kind().to_string(), right: other.kind().to_string() }
    }
}

impl From<Bloom> for AnyFilter {
    fn from(filter: Bloom) -> AnyFilter {
        AnyFilter::Bloom(filter)
    }
}

impl From<BlockedBloom> for AnyFilter {
    fn from(filter: BlockedBloom) -> AnyFilter {
        AnyFilter::Blocked(filter)
    }
}

impl From<CountingBloom> for AnyFilter {
    fn from(filter: CountingBloom) -> AnyFilter {
        AnyFilter::Counting(filter)
    }
}

impl TryFrom<AnyFilter> for Bloom {
    type Error = Error;
    fn try_from(any: AnyFilter) -> Result<Bloom, Error> {
        match any {
            AnyFilter::Bloom(filter) => Ok(filter),
            other => Err(Error::Kind { planned: other.kind(), wanted: Kind::Bloom }),
        }
    }
}

impl TryFrom<AnyFilter> for BlockedBloom {
    type Error = Error;
    fn try_from(any: AnyFilter) -> Result<BlockedBloom, Error> {
        match any {
            AnyFilter::Blocked(filter) => Ok(filter),
            other => Err(Error::Kind { planned: other.kind(), wanted: Kind::Blocked }),
        }
    }
}

impl TryFrom<AnyFilter> for CountingBloom {
    type Error = Error;
    fn try_from(any: AnyFilter) -> Result<CountingBloom, Error> {
        match any {
            AnyFilter::Counting(filter) => Ok(filter),
            other => Err(Error::Kind { planned: other.kind(), wanted: Kind::Counting }),
        }
    }
}

/// A filter is the bytes of its file, so that what is read is verified. Keyed filters need their key, which no
/// file holds: read those with [`Open`].
#[cfg(feature = "serde")]
impl serde::Serialize for AnyFilter {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_bytes(&self.to_bytes())
    }
}

#[cfg(feature = "serde")]
impl<L: Layout + Send + Sync> serde::Serialize for Filter<L> {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_bytes(&self.to_bytes())
    }
}

#[cfg(feature = "serde")]
impl<'de, L: Layout> serde::Deserialize<'de> for Filter<L>
where
    Filter<L>: TryFrom<AnyFilter, Error = Error>,
{
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Filter<L>, D::Error> {
        let any = AnyFilter::deserialize(deserializer)?;
        Filter::try_from(any).map_err(serde::de::Error::custom)
    }
}

#[cfg(feature = "serde")]
impl<'de> serde::Deserialize<'de> for AnyFilter {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<AnyFilter, D::Error> {
        struct Bytes;
        impl<'de> serde::de::Visitor<'de> for Bytes {
            type Value = AnyFilter;
            fn expecting(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                out.write_str("the bytes of a tamis file")
            }
            fn visit_bytes<E: serde::de::Error>(self, bytes: &[u8]) -> Result<AnyFilter, E> {
                AnyFilter::from_bytes(bytes).map_err(E::custom)
            }
            fn visit_seq<A: serde::de::SeqAccess<'de>>(self, mut numbers: A) -> Result<AnyFilter, A::Error> {
                let mut bytes = Vec::new();
                while let Some(byte) = numbers.next_element()? {
                    bytes.push(byte);
                }
                self.visit_bytes(&bytes)
            }
        }
        deserializer.deserialize_bytes(Bytes)
    }
}
