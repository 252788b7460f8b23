//! The ways in and out of a file, the same for every type of filter.

use super::file::{self, Existing, NewFile, Readers};
use super::stored::Stored;
use super::{AnyFilter, Open};
use crate::Error;
#[cfg(feature = "privacy")]
use crate::privacy::{Release, ReleasePlan};
use crate::rate::{Filter, Layout, QuotientFilter, Rolling, Scalable, StaticFilter};
#[cfg(feature = "zone")]
use crate::zone::{CellKind, ZoneFilter};
use std::io::{Read, Write};
use std::path::Path;

pub(super) fn to_bytes(filter: &dyn Stored) -> Vec<u8> {
    [&[&filter.header()[..]], &filter.parts()[..]].concat().concat()
}

pub(super) fn write_to(filter: &dyn Stored, out: impl Write) -> Result<(), Error> {
    Ok(file::write_parts(out, &filter.header(), &filter.parts())?)
}

pub(super) fn save(filter: &dyn Stored, path: &Path) -> Result<(), Error> {
    let mut file = NewFile::create(path, Existing::Replace, Readers::Usual)?;
    file::write_parts(&mut file, &filter.header(), &filter.parts())?;
    Ok(file.commit()?)
}

macro_rules! file_methods {
    ([$($parameter:ident: $bound:ident)?] $type:ty) => {
        impl$(<$parameter: $bound>)? $type {
            /// Opens a file that holds such a filter, by mapping it. See [`AnyFilter::open`]; use
            /// [`Open`] for keyed filters, to verify, or to cap memory.
            pub fn open(path: impl AsRef<Path>) -> Result<Self, Error>
            where
                Self: TryFrom<AnyFilter, Error = Error>,
            {
                Open::new().path(path)?.try_into()
            }

            /// Reads such a filter from the bytes of a file, checksums and all.
            pub fn from_bytes(bytes: &[u8]) -> Result<Self, Error>
            where
                Self: TryFrom<AnyFilter, Error = Error>,
            {
                Open::new().bytes(bytes)?.try_into()
            }

            /// Reads such a filter from a stream that ends with it, checksums and all.
            pub fn from_reader(reader: impl Read) -> Result<Self, Error>
            where
                Self: TryFrom<AnyFilter, Error = Error>,
            {
                Open::new().reader(reader)?.try_into()
            }

            /// The bytes of the filter's file.
            #[must_use]
            pub fn to_bytes(&self) -> Vec<u8> {
                to_bytes(self)
            }

            /// Writes the filter's file to a stream.
            pub fn write_to(&self, out: impl Write) -> Result<(), Error> {
                write_to(self, out)
            }

            /// Writes the filter to a file, whole or not at all: a temporary file in the same
            /// folder is written, synced and renamed, so a crash leaves the old file or the new
            /// one. What is not a regular file (a pipe, a device) is written directly. A link
            /// is followed, and an existing file's permissions are kept (its owner too, where
            /// the system allows it).
            pub fn save(&self, path: impl AsRef<Path>) -> Result<(), Error> {
                save(self, path.as_ref())
            }
        }

        /// A filter is the bytes of its file.
        #[cfg(feature = "serde")]
        impl$(<$parameter: $bound>)? serde::Serialize for $type {
            fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.serialize_bytes(&self.to_bytes())
            }
        }

        /// What is read is verified. Keyed filters need their key, which no file holds, and filters
        /// of a dictionary need that: read those with [`Open`].
        #[cfg(feature = "serde")]
        impl<'de $(, $parameter: $bound)?> serde::Deserialize<'de> for $type
        where
            Self: TryFrom<AnyFilter, Error = Error>,
        {
            fn deserialize<D: serde::Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
                AnyFilter::deserialize(from)?.try_into().map_err(serde::de::Error::custom)
            }
        }
    };
}

file_methods!([L: Layout] Filter<L>);
file_methods!([] QuotientFilter);
file_methods!([] StaticFilter);
file_methods!([] Scalable);
file_methods!([] Rolling);
#[cfg(feature = "zone")]
file_methods!([C: CellKind] ZoneFilter<C>);
#[cfg(feature = "privacy")]
file_methods!([P: ReleasePlan] Release<P>);

/// A filter is the bytes of its file.
#[cfg(feature = "serde")]
impl serde::Serialize for AnyFilter {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_bytes(&self.to_bytes())
    }
}

/// What is read is verified. Keyed filters need their key, which no file holds, and filters of a
/// dictionary need that: read those with [`Open`].
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
