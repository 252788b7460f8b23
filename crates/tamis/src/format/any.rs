//! A filter of any kind that a file can hold.

use super::Open;
use super::header::{Fields, refused};
#[cfg(feature = "zone")]
use super::stored::Resize;
use super::stored::{AnyPlan, Parsed, Promise, Stored};
#[cfg(feature = "privacy")]
use crate::privacy::{Epsilon, LinearFilter, PublicBloom};
#[cfg(feature = "zone")]
use crate::zone::{self, List, Method, Progress};
use crate::{
    BlockedBloom, Bloom, CountingBloom, Error, HashFamily, Health, Key, KeyRef, Kinds,
    QuotientFilter, Rolling, Scalable, SplitBloom, StaticFilter,
};
use std::io::{Read, Write};
#[cfg(feature = "zone")]
use std::ops::ControlFlow;
use std::ops::{BitAndAssign, BitOrAssign};
use std::path::Path;

/// Lists the kinds of filters, once: everything that differs between kinds is either here or in the
/// implementation of [`Stored`].
macro_rules! kinds {
    ($($(#[$cfg:meta])* $variant:ident($type:ty) $about:literal;)*) => {
        /// A filter of any kind: what a file turns out to hold, and what code uses that decides at
        /// run time.
        ///
        /// It has the methods of all kinds. A method that its kind does not have is refused with
        /// [`Error::Unsupported`], or [`Error::Published`].
        ///
        /// ```
        /// use tamis::{AnyFilter, Bloom, CountingBloom};
        /// let mut filters: Vec<AnyFilter> =
        ///     vec![Bloom::new(1_000, 0.01)?.into(), CountingBloom::new(1_000, 0.01)?.into()];
        /// for filter in &mut filters {
        ///     filter.insert("ant")?;
        ///     let read = AnyFilter::from_bytes(&filter.to_bytes())?;
        ///     assert!(read.contains("ant")?);
        ///     assert_eq!(read, *filter);
        /// }
        /// assert!(filters[0].remove("ant").is_err() && filters[1].remove("ant").is_ok());
        /// # Ok::<(), tamis::Error>(())
        /// ```
        // A program holds few filters, and their bodies lie elsewhere: a few hundred bytes do not
        // matter.
        #[allow(clippy::large_enum_variant)]
        #[derive(Debug, Clone, PartialEq, Eq)]
        #[non_exhaustive]
        pub enum AnyFilter {
            $($(#[$cfg])* #[doc = $about] $variant($type),)*
        }

        impl AnyFilter {
            fn view(&self) -> &dyn Stored {
                match self { $($(#[$cfg])* AnyFilter::$variant(filter) => filter,)* }
            }

            fn view_mut(&mut self) -> &mut dyn Stored {
                match self { $($(#[$cfg])* AnyFilter::$variant(filter) => filter,)* }
            }

            /// Reads the header of a file of the kind with this number.
            pub(super) fn parse(id: u16, fields: &Fields<'_>) -> Result<Parsed<AnyFilter>, Error> {
                $($(#[$cfg])* if id == <$type>::id() {
                    let Parsed { bits, with_body } = <$type>::parse(fields)?;
                    return Ok(Parsed::new(bits, |body| with_body(body).map(AnyFilter::$variant)));
                })*
                Err(match id {
                    4 | 5 => Error::NotBuilt { what: "a zone filter", feature: "zone" },
                    6 | 7 => Error::NotBuilt { what: "a published filter", feature: "privacy" },
                    _ => refused("kind", id),
                })
            }

            /// Takes in all that `other` holds; both must be of one kind and hash, and of one shape
            /// (or, for zone filters, one code).
            pub fn union(&mut self, other: &AnyFilter) -> Result<(), Error> {
                match (&mut *self, other) {
                    $($(#[$cfg])* (AnyFilter::$variant(left), AnyFilter::$variant(right)) => {
                        Stored::union(left, right)
                    })*
                    _ => Err(self.other_kind(other)),
                }
            }

            /// Keeps what both hold; both must be alike as for [`union`](AnyFilter::union).
            pub fn intersect(&mut self, other: &AnyFilter) -> Result<(), Error> {
                match (&mut *self, other) {
                    $($(#[$cfg])* (AnyFilter::$variant(left), AnyFilter::$variant(right)) => {
                        Stored::intersect(left, right)
                    })*
                    _ => Err(self.other_kind(other)),
                }
            }
        }

        $(
            $(#[$cfg])*
            impl From<$type> for AnyFilter {
                fn from(filter: $type) -> AnyFilter {
                    AnyFilter::$variant(filter)
                }
            }

            $(#[$cfg])*
            impl TryFrom<AnyFilter> for $type {
                type Error = Error;
                fn try_from(any: AnyFilter) -> Result<$type, Error> {
                    match any {
                        AnyFilter::$variant(filter) => Ok(filter),
                        other => Err(Error::Kind {
                            planned: other.kind(),
                            wanted: <$type>::kind_name(),
                        }),
                    }
                }
            }
        )*
    };
}

kinds! {
    Bloom(Bloom) "A classic Bloom filter.";
    Blocked(BlockedBloom) "A blocked Bloom filter.";
    Split(SplitBloom) "A split block Bloom filter.";
    Counting(CountingBloom) "A counting Bloom filter.";
    Quotient(QuotientFilter) "A quotient filter.";
    Static(StaticFilter) "A static filter.";
    Scalable(Scalable) "A chain that grows.";
    Rolling(Rolling) "A chain that forgets.";
    #[cfg(feature = "zone")]
    Zone(zone::Filter) "A zone filter.";
    #[cfg(feature = "zone")]
    ZoneCounting(zone::CountingFilter) "A zone filter with counters.";
    #[cfg(feature = "privacy")]
    PublicBloom(PublicBloom) "A Bloom filter published under noise.";
    #[cfg(feature = "privacy")]
    Linear(LinearFilter) "A linear filter, published.";
}

/// How many keys [`AnyFilter::contains_many`] hands on at a time.
const CHUNK: usize = 1 << 12;

impl AnyFilter {
    /// Opens a file by mapping it into memory, which takes an instant for every size. The header is
    /// verified. The body's checksum is not, since that reads the whole body: ask for it with
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
        super::write::save(self.view(), path.as_ref())
    }

    /// Writes the filter's file to a stream.
    pub fn write_to(&self, out: impl Write) -> Result<(), Error> {
        super::write::write_to(self.view(), out)
    }

    /// The bytes of the filter's file.
    #[must_use]
    pub fn to_bytes(&self) -> Vec<u8> {
        super::write::to_bytes(self.view())
    }

    /// The body, as FORMAT.md lays it out. That of a chain has a part for each link, the others
    /// one part.
    #[must_use]
    pub fn body_parts(&self) -> Vec<&[u8]> {
        self.view().parts()
    }

    /// What the filter is called: `bloom`, `blocked`, `split`, `counting`, `quotient`, `static`,
    /// `scalable`, `rolling`, `zone`, `counting zone`, `public bloom` or `linear`.
    #[must_use]
    pub fn kind(&self) -> &'static str {
        self.view().kind()
    }

    /// The promise that the filter keeps.
    #[must_use]
    pub fn promise(&self) -> Promise {
        self.plan().promise()
    }

    /// The plan it was made by.
    #[must_use]
    pub fn plan(&self) -> AnyPlan<'_> {
        self.view().plan()
    }

    /// The hash it uses: a zone filter has none.
    #[must_use]
    pub fn hash(&self) -> Option<&HashFamily> {
        self.view().hash()
    }

    /// The kinds of keys that a rate filter was given. The others do not store them.
    #[must_use]
    pub fn kinds(&self) -> Kinds {
        self.view().kinds()
    }

    /// What a published filter cost; `None` for the others.
    #[cfg(feature = "privacy")]
    #[must_use]
    pub fn epsilon(&self) -> Option<Epsilon> {
        match self.plan() {
            AnyPlan::PublicBloom(plan) => Some(plan.epsilon()),
            AnyPlan::Linear(plan) => Some(plan.epsilon()),
            _ => None,
        }
    }

    /// Whether the filter still keeps what its plan promised. Nobody can tell how much a published
    /// filter holds: it is taken to be within.
    #[must_use]
    pub fn health(&self) -> Health {
        self.view().health()
    }

    /// The share of strangers that pass the filter as it is now.
    #[must_use]
    pub fn expected_fpr(&self) -> f64 {
        self.view().expected_fpr()
    }

    /// The share of members that do not pass: none, except in a published filter.
    #[must_use]
    pub fn expected_fnr(&self) -> f64 {
        self.view().expected_fnr()
    }

    /// The share of cells that are not empty; of a published filter, the share of bits that are
    /// set.
    #[must_use]
    pub fn fill(&self) -> f64 {
        self.view().fill()
    }

    /// The distinct keys that the filter most likely holds. `None` for a published filter, since
    /// nobody can tell.
    #[must_use]
    pub fn estimated_items(&self) -> Option<f64> {
        self.view().estimated_items()
    }

    /// Whether a key passes. Only a zone filter has keys that it refuses: those outside its
    /// universe.
    pub fn contains(&self, key: impl Key) -> Result<bool, Error> {
        self.view().contains(key.as_key())
    }

    /// Whether each of many keys passes, in their order.
    pub fn contains_many<K: Key>(&self, keys: &[K]) -> Result<Vec<bool>, Error> {
        let mut answers = Vec::with_capacity(keys.len());
        let mut chunk: Vec<KeyRef<'_>> = Vec::with_capacity(keys.len().min(CHUNK));
        for keys in keys.chunks(CHUNK) {
            chunk.clear();
            chunk.extend(keys.iter().map(Key::as_key));
            answers.append(&mut self.view().contains_many(&chunk)?);
        }
        Ok(answers)
    }

    /// Puts a key in, and says whether it was (certainly) new.
    pub fn insert(&mut self, key: impl Key) -> Result<bool, Error> {
        self.view_mut().insert(key.as_key(), false)
    }

    /// Puts many keys in, and says how many were (certainly) new. If one is refused, those before
    /// it are in.
    pub fn insert_many<K: Key>(&mut self, keys: &[K]) -> Result<u64, Error> {
        let keys: Vec<KeyRef<'_>> = keys.iter().map(Key::as_key).collect();
        self.view_mut().insert_many(&keys)
    }

    /// Puts a key in even if it is one too many for a zone filter. The filter is beyond its zone
    /// from then on.
    pub fn insert_beyond(&mut self, key: impl Key) -> Result<bool, Error> {
        self.view_mut().insert(key.as_key(), true)
    }

    /// Takes a key out of a filter with counters. [`Error::Absent`], and no change, if it is
    /// certainly not there.
    pub fn remove(&mut self, key: impl Key) -> Result<(), Error> {
        self.view_mut().remove(key.as_key())
    }

    /// Whether the body is all zero.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.body_parts().iter().all(|part| part.iter().all(|byte| *byte == 0))
    }

    /// Whether the body agrees with the header, as far as the cells can tell.
    pub(super) fn is_consistent(&self) -> bool {
        self.view().is_consistent()
    }

    fn other_kind(&self, other: &AnyFilter) -> Error {
        if [self, other].iter().any(|any| any.promise() == Promise::Privacy) {
            return Error::Published { changed: "merged" };
        }
        Error::Mismatch {
            field: "filter",
            left: self.kind().to_owned(),
            right: other.kind().to_owned(),
        }
    }
}

/// What only zone filters can do.
#[cfg(feature = "zone")]
impl AnyFilter {
    /// See [`ZoneFilter::len`](zone::ZoneFilter::len); `None` if it is no zone filter.
    #[must_use]
    pub fn len(&self) -> Option<u64> {
        self.view().len()
    }

    /// See [`ZoneFilter::len_is_exact`](zone::ZoneFilter::len_is_exact).
    #[must_use]
    pub fn len_is_exact(&self) -> bool {
        self.view().len_is_exact()
    }

    /// See [`ZoneFilter::contains_number`](zone::ZoneFilter::contains_number).
    pub fn contains_number(&self, number: u128) -> Result<bool, Error> {
        self.view().contains_number(number)
    }

    /// See [`ZoneFilter::insert_number`](zone::ZoneFilter::insert_number).
    pub fn insert_number(&mut self, number: u128, beyond: bool) -> Result<bool, Error> {
        self.view_mut().insert_number(number, beyond)
    }

    /// See [`CountingFilter::remove_number`](zone::CountingFilter::remove_number).
    pub fn remove_number(&mut self, number: u128) -> Result<(), Error> {
        self.view_mut().remove_number(number)
    }

    /// See [`ZoneFilter::list`](zone::ZoneFilter::list).
    pub fn list(&self) -> Result<List, Error> {
        self.list_with(None, &mut |_| ControlFlow::Continue(()))
    }

    /// See [`ZoneFilter::list_by`](zone::ZoneFilter::list_by).
    pub fn list_by(&self, method: Method) -> Result<List, Error> {
        self.list_with(Some(method), &mut |_| ControlFlow::Continue(()))
    }

    /// See [`ZoneFilter::list_with`](zone::ZoneFilter::list_with).
    pub fn list_with(
        &self,
        method: Option<Method>,
        report: &mut dyn FnMut(Progress) -> ControlFlow<()>,
    ) -> Result<List, Error> {
        self.view().list(method, report)
    }

    /// See [`ZoneFilter::grow`](zone::ZoneFilter::grow).
    pub fn grow(&mut self, blocks: u64) -> Result<(), Error> {
        self.view_mut().resize(Resize::GrowTo(blocks))
    }

    /// See [`ZoneFilter::grow_for`](zone::ZoneFilter::grow_for).
    pub fn grow_for(&mut self, items: u64) -> Result<(), Error> {
        self.view_mut().resize(Resize::GrowFor(items))
    }

    /// See [`ZoneFilter::shrink`](zone::ZoneFilter::shrink).
    pub fn shrink(&mut self, blocks: u64) -> Result<(), Error> {
        self.view_mut().resize(Resize::ShrinkTo(blocks))
    }

    /// See [`ZoneFilter::shrink_for`](zone::ZoneFilter::shrink_for).
    pub fn shrink_for(&mut self, items: u64) -> Result<(), Error> {
        self.view_mut().resize(Resize::ShrinkFor(items))
    }
}

/// [`union`](AnyFilter::union) for filters that are known to match.
///
/// # Panics
///
/// If they do not match.
impl BitOrAssign<&AnyFilter> for AnyFilter {
    fn bitor_assign(&mut self, other: &AnyFilter) {
        self.union(other).unwrap_or_else(|error| panic!("{error}"));
    }
}

/// [`intersect`](AnyFilter::intersect) for filters that are known to match.
///
/// # Panics
///
/// If they do not match.
impl BitAndAssign<&AnyFilter> for AnyFilter {
    fn bitand_assign(&mut self, other: &AnyFilter) {
        self.intersect(other).unwrap_or_else(|error| panic!("{error}"));
    }
}
