//! A filter of whichever kind a file holds.

use crate::format::Open;
use crate::privacy::{LinearFilter, PublicBloom, Published};
use crate::rate::RateFilter;
#[cfg(feature = "serde")]
use crate::rate::{Filter, Layout};
use crate::zone::{self, AnyZone};
use crate::{BlockedBloom, Bloom, CountingBloom, Error, Health, Key};
use std::io::{Read, Write};
use std::path::Path;

/// A filter of any kind: what a file turns out to hold.
///
/// ```
/// use tamis::{AnyFilter, Bloom};
/// let mut seen = Bloom::new(1_000, 0.01)?;
/// seen.insert("ant");
/// let read = AnyFilter::from_bytes(&seen.to_bytes())?;
/// assert!(read.contains("ant")?);
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
    /// A zone filter.
    Zone(zone::Filter),
    /// A zone filter with counters.
    ZoneCounting(zone::CountingFilter),
    /// A Bloom filter published under noise.
    PublicBloom(PublicBloom),
    /// A linear filter, published.
    Linear(LinearFilter),
}

impl AnyFilter {
    /// Opens a file by mapping it into memory, however large, in an instant. The header is
    /// verified; the body's checksum is not, since that reads all of it: ask for it with
    /// [`Open::verify`].
    ///
    /// While it is open the file must not be cut short or written into; replacing it by another (as
    /// [`save`](AnyFilter::save) does) is safe. Inserting into a mapped filter changes memory only.
    /// Verify what you mean to save again: a damaged body would get a good checksum.
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

    /// Writes the filter to a file, whole or not at all. See
    /// [`Filter::save`](crate::rate::Filter::save).
    pub fn save(&self, path: impl AsRef<Path>) -> Result<(), Error> {
        match self {
            AnyFilter::Bloom(filter) => filter.save(path),
            AnyFilter::Blocked(filter) => filter.save(path),
            AnyFilter::Counting(filter) => filter.save(path),
            AnyFilter::Zone(filter) => filter.save(path),
            AnyFilter::ZoneCounting(filter) => filter.save(path),
            AnyFilter::PublicBloom(filter) => filter.save(path),
            AnyFilter::Linear(filter) => filter.save(path),
        }
    }

    /// Writes the filter's file to a stream.
    pub fn write_to(&self, out: impl Write) -> Result<(), Error> {
        match self {
            AnyFilter::Bloom(filter) => filter.write_to(out),
            AnyFilter::Blocked(filter) => filter.write_to(out),
            AnyFilter::Counting(filter) => filter.write_to(out),
            AnyFilter::Zone(filter) => filter.write_to(out),
            AnyFilter::ZoneCounting(filter) => filter.write_to(out),
            AnyFilter::PublicBloom(filter) => filter.write_to(out),
            AnyFilter::Linear(filter) => filter.write_to(out),
        }
    }

    /// The bytes of the filter's file.
    #[must_use]
    pub fn to_bytes(&self) -> Vec<u8> {
        match self {
            AnyFilter::Bloom(filter) => filter.to_bytes(),
            AnyFilter::Blocked(filter) => filter.to_bytes(),
            AnyFilter::Counting(filter) => filter.to_bytes(),
            AnyFilter::Zone(filter) => filter.to_bytes(),
            AnyFilter::ZoneCounting(filter) => filter.to_bytes(),
            AnyFilter::PublicBloom(filter) => filter.to_bytes(),
            AnyFilter::Linear(filter) => filter.to_bytes(),
        }
    }

    /// Whether a key passes. Only a zone filter has keys that it refuses: those outside its
    /// universe.
    pub fn contains(&self, key: impl Key) -> Result<bool, Error> {
        match self {
            AnyFilter::Bloom(filter) => Ok(filter.contains(key)),
            AnyFilter::Blocked(filter) => Ok(filter.contains(key)),
            AnyFilter::Counting(filter) => Ok(filter.contains(key)),
            AnyFilter::Zone(filter) => filter.contains(key),
            AnyFilter::ZoneCounting(filter) => filter.contains(key),
            AnyFilter::PublicBloom(filter) => Ok(filter.contains(key)),
            AnyFilter::Linear(filter) => Ok(filter.contains(key)),
        }
    }

    /// Whether each of many keys passes, in their order.
    pub fn contains_many<K: Key>(&self, keys: &[K]) -> Result<Vec<bool>, Error> {
        match self {
            AnyFilter::Bloom(filter) => Ok(filter.contains_many(keys)),
            AnyFilter::Blocked(filter) => Ok(filter.contains_many(keys)),
            AnyFilter::Counting(filter) => Ok(filter.contains_many(keys)),
            AnyFilter::Zone(filter) => filter.contains_many(keys),
            AnyFilter::ZoneCounting(filter) => filter.contains_many(keys),
            AnyFilter::PublicBloom(filter) => Ok(filter.contains_many(keys)),
            AnyFilter::Linear(filter) => Ok(filter.contains_many(keys)),
        }
    }

    /// The promise that the filter keeps: `rate`, `zone` or `privacy`.
    #[must_use]
    pub fn promise(&self) -> &'static str {
        if self.as_rate().is_some() {
            "rate"
        } else if self.as_zone().is_some() {
            "zone"
        } else {
            "privacy"
        }
    }

    /// The share of strangers that pass the filter as it is now.
    #[must_use]
    pub fn expected_fpr(&self) -> f64 {
        match self {
            AnyFilter::Bloom(filter) => filter.expected_fpr(),
            AnyFilter::Blocked(filter) => filter.expected_fpr(),
            AnyFilter::Counting(filter) => filter.expected_fpr(),
            AnyFilter::Zone(filter) => filter.expected_fpr(),
            AnyFilter::ZoneCounting(filter) => filter.expected_fpr(),
            AnyFilter::PublicBloom(filter) => filter.fpr_now(),
            AnyFilter::Linear(filter) => filter.plan().fpr(),
        }
    }

    /// The share of members that do not pass: none, except in a published filter.
    #[must_use]
    pub fn expected_fnr(&self) -> f64 {
        self.as_published().map_or(0.0, Published::fnr)
    }

    /// Whether the filter still keeps what its plan promised. Nobody can tell how much a published
    /// filter holds: it is taken to be within.
    #[must_use]
    pub fn health(&self) -> Health {
        match self {
            AnyFilter::Bloom(filter) => filter.health(),
            AnyFilter::Blocked(filter) => filter.health(),
            AnyFilter::Counting(filter) => filter.health(),
            AnyFilter::Zone(filter) => filter.health(),
            AnyFilter::ZoneCounting(filter) => filter.health(),
            AnyFilter::PublicBloom(_) | AnyFilter::Linear(_) => Health::Within,
        }
    }

    /// The filter as a rate filter, if it is one.
    #[must_use]
    pub fn as_rate(&self) -> Option<&dyn RateFilter> {
        match self {
            AnyFilter::Bloom(filter) => Some(filter),
            AnyFilter::Blocked(filter) => Some(filter),
            AnyFilter::Counting(filter) => Some(filter),
            _ => None,
        }
    }

    /// The filter as a rate filter, to insert into, if it is one.
    pub fn as_rate_mut(&mut self) -> Option<&mut dyn RateFilter> {
        match self {
            AnyFilter::Bloom(filter) => Some(filter),
            AnyFilter::Blocked(filter) => Some(filter),
            AnyFilter::Counting(filter) => Some(filter),
            _ => None,
        }
    }

    /// The filter as a zone filter, if it is one.
    #[must_use]
    pub fn as_zone(&self) -> Option<&dyn AnyZone> {
        match self {
            AnyFilter::Zone(filter) => Some(filter),
            AnyFilter::ZoneCounting(filter) => Some(filter),
            _ => None,
        }
    }

    /// The filter as a zone filter, to change, if it is one.
    pub fn as_zone_mut(&mut self) -> Option<&mut dyn AnyZone> {
        match self {
            AnyFilter::Zone(filter) => Some(filter),
            AnyFilter::ZoneCounting(filter) => Some(filter),
            _ => None,
        }
    }

    /// The filter as a published one, if it is one.
    #[must_use]
    pub fn as_published(&self) -> Option<&dyn Published> {
        match self {
            AnyFilter::PublicBloom(filter) => Some(filter),
            AnyFilter::Linear(filter) => Some(filter),
            _ => None,
        }
    }

    /// Takes in all that `other` holds; both must be of one kind and hash, and of one shape (or,
    /// for zone filters, one code).
    pub fn union(&mut self, other: &AnyFilter) -> Result<(), Error> {
        match (&mut *self, other) {
            (AnyFilter::Bloom(left), AnyFilter::Bloom(right)) => left.union(right),
            (AnyFilter::Blocked(left), AnyFilter::Blocked(right)) => left.union(right),
            (AnyFilter::Counting(left), AnyFilter::Counting(right)) => left.union(right),
            (AnyFilter::Zone(left), AnyFilter::Zone(right)) => left.union(right),
            (AnyFilter::ZoneCounting(left), AnyFilter::ZoneCounting(right)) => left.union(right),
            _ => Err(self.other_kind(other)),
        }
    }

    /// Keeps what both hold; both must be alike as for [`union`](AnyFilter::union).
    pub fn intersect(&mut self, other: &AnyFilter) -> Result<(), Error> {
        match (&mut *self, other) {
            (AnyFilter::Bloom(left), AnyFilter::Bloom(right)) => left.intersect(right),
            (AnyFilter::Blocked(left), AnyFilter::Blocked(right)) => left.intersect(right),
            (AnyFilter::Counting(left), AnyFilter::Counting(right)) => left.intersect(right),
            (AnyFilter::Zone(left), AnyFilter::Zone(right)) => left.intersect(right),
            (AnyFilter::ZoneCounting(left), AnyFilter::ZoneCounting(right)) => {
                left.intersect(right)
            }
            _ => Err(self.other_kind(other)),
        }
    }

    /// Whether the body can be what the header says, as far as that can be told.
    pub(super) fn is_consistent(&self) -> bool {
        match self {
            AnyFilter::Zone(filter) => filter.is_consistent(),
            AnyFilter::ZoneCounting(filter) => filter.is_consistent(),
            _ => true,
        }
    }

    /// What the filter is called.
    #[must_use]
    pub fn kind(&self) -> &'static str {
        match self {
            AnyFilter::Bloom(_) => "bloom",
            AnyFilter::Blocked(_) => "blocked",
            AnyFilter::Counting(_) => "counting",
            AnyFilter::Zone(_) => "zone",
            AnyFilter::ZoneCounting(_) => "counting zone",
            AnyFilter::PublicBloom(_) => "public bloom",
            AnyFilter::Linear(_) => "linear",
        }
    }

    fn other_kind(&self, other: &AnyFilter) -> Error {
        if self.as_published().or(other.as_published()).is_some() {
            return Error::Published { changed: "merged" };
        }
        Error::Mismatch {
            field: "filter",
            left: self.kind().to_owned(),
            right: other.kind().to_owned(),
        }
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

impl From<zone::Filter> for AnyFilter {
    fn from(filter: zone::Filter) -> AnyFilter {
        AnyFilter::Zone(filter)
    }
}

impl From<zone::CountingFilter> for AnyFilter {
    fn from(filter: zone::CountingFilter) -> AnyFilter {
        AnyFilter::ZoneCounting(filter)
    }
}

impl From<PublicBloom> for AnyFilter {
    fn from(filter: PublicBloom) -> AnyFilter {
        AnyFilter::PublicBloom(filter)
    }
}

impl From<LinearFilter> for AnyFilter {
    fn from(filter: LinearFilter) -> AnyFilter {
        AnyFilter::Linear(filter)
    }
}

impl TryFrom<AnyFilter> for PublicBloom {
    type Error = Error;
    fn try_from(any: AnyFilter) -> Result<PublicBloom, Error> {
        match any {
            AnyFilter::PublicBloom(filter) => Ok(filter),
            other => Err(Error::Kind { planned: other.kind(), wanted: "public bloom" }),
        }
    }
}

impl TryFrom<AnyFilter> for LinearFilter {
    type Error = Error;
    fn try_from(any: AnyFilter) -> Result<LinearFilter, Error> {
        match any {
            AnyFilter::Linear(filter) => Ok(filter),
            other => Err(Error::Kind { planned: other.kind(), wanted: "linear" }),
        }
    }
}

impl TryFrom<AnyFilter> for zone::Filter {
    type Error = Error;
    fn try_from(any: AnyFilter) -> Result<zone::Filter, Error> {
        match any {
            AnyFilter::Zone(filter) => Ok(filter),
            other => Err(Error::Kind { planned: other.kind(), wanted: "zone" }),
        }
    }
}

impl TryFrom<AnyFilter> for zone::CountingFilter {
    type Error = Error;
    fn try_from(any: AnyFilter) -> Result<zone::CountingFilter, Error> {
        match any {
            AnyFilter::ZoneCounting(filter) => Ok(filter),
            other => Err(Error::Kind { planned: other.kind(), wanted: "counting zone" }),
        }
    }
}

impl TryFrom<AnyFilter> for Bloom {
    type Error = Error;
    fn try_from(any: AnyFilter) -> Result<Bloom, Error> {
        match any {
            AnyFilter::Bloom(filter) => Ok(filter),
            other => Err(Error::Kind { planned: other.kind(), wanted: "bloom" }),
        }
    }
}

impl TryFrom<AnyFilter> for BlockedBloom {
    type Error = Error;
    fn try_from(any: AnyFilter) -> Result<BlockedBloom, Error> {
        match any {
            AnyFilter::Blocked(filter) => Ok(filter),
            other => Err(Error::Kind { planned: other.kind(), wanted: "blocked" }),
        }
    }
}

impl TryFrom<AnyFilter> for CountingBloom {
    type Error = Error;
    fn try_from(any: AnyFilter) -> Result<CountingBloom, Error> {
        match any {
            AnyFilter::Counting(filter) => Ok(filter),
            other => Err(Error::Kind { planned: other.kind(), wanted: "counting" }),
        }
    }
}

/// A filter is the bytes of its file, so that what is read is verified. Keyed filters need their
/// key, which no file holds: read those with [`Open`].
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
            fn visit_seq<A: serde::de::SeqAccess<'de>>(
                self,
                mut numbers: A,
            ) -> Result<AnyFilter, A::Error> {
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
