//! The one trait behind [`AnyFilter`](super::AnyFilter).

use super::header::Fields;
#[cfg(feature = "privacy")]
use crate::privacy::{LinearPlan, UltraPlan};
use crate::store::Store;
#[cfg(feature = "zone")]
use crate::zone::{self, List, Method, Progress};
use crate::{Error, HashFamily, Health, KeyRef, Kinds, rate};
use std::fmt;
#[cfg(feature = "zone")]
use std::ops::ControlFlow;

/// A filter that a file can hold. Every kind of filter implements it once, and `kinds!` in `any.rs`
/// names the kinds.
///
/// The methods that not every kind has refuse by default.
pub(crate) trait Stored: Send + Sync {
    /// FORMAT v1: frozen. The number of the kind in files.
    fn id() -> u16
    where
        Self: Sized;
    /// What such filters are called.
    fn kind_name() -> &'static str
    where
        Self: Sized;
    /// Reads the header, and refuses what no writer writes.
    fn parse(fields: &Fields<'_>) -> Result<Parsed<Self>, Error>
    where
        Self: Sized;
    /// The header of the filter's file.
    fn header(&self) -> Vec<u8>;
    /// The body of the filter's file, in one part or several.
    fn parts(&self) -> Vec<&[u8]>;
    /// Whether the body agrees with the header, as far as the cells can tell.
    fn is_consistent(&self) -> bool {
        true
    }

    /// What the filter is called.
    fn kind(&self) -> &'static str;
    fn plan(&self) -> AnyPlan<'_>;
    fn hash(&self) -> Option<&HashFamily>;
    fn kinds(&self) -> Kinds {
        Kinds::default()
    }
    fn health(&self) -> Health;
    fn expected_fpr(&self) -> f64;
    fn expected_fnr(&self) -> f64 {
        0.0
    }
    fn fill(&self) -> f64;
    fn estimated_items(&self) -> Option<f64> {
        None
    }

    fn contains(&self, key: KeyRef<'_>) -> Result<bool, Error>;
    fn contains_many(&self, keys: &[KeyRef<'_>]) -> Result<Vec<bool>, Error>;
    /// Puts a key in. With `beyond`, even if that breaks the promise.
    fn insert(&mut self, key: KeyRef<'_>, beyond: bool) -> Result<bool, Error>;
    fn insert_many(&mut self, keys: &[KeyRef<'_>]) -> Result<u64, Error> {
        let mut new = 0;
        for key in keys {
            new += u64::from(self.insert(*key, false)?);
        }
        Ok(new)
    }
    fn remove(&mut self, key: KeyRef<'_>) -> Result<(), Error>;
    fn union(&mut self, other: &Self) -> Result<(), Error>
    where
        Self: Sized;
    fn intersect(&mut self, other: &Self) -> Result<(), Error>
    where
        Self: Sized;

    #[cfg(feature = "zone")]
    fn len(&self) -> Option<u64> {
        None
    }
    #[cfg(feature = "zone")]
    fn len_is_exact(&self) -> bool {
        false
    }
    #[cfg(feature = "zone")]
    fn contains_number(&self, _number: u128) -> Result<bool, Error> {
        Err(no_universe(self.kind()))
    }
    #[cfg(feature = "zone")]
    fn insert_number(&mut self, _number: u128, _beyond: bool) -> Result<bool, Error> {
        Err(no_universe(self.kind()))
    }
    #[cfg(feature = "zone")]
    fn remove_number(&mut self, _number: u128) -> Result<(), Error> {
        Err(no_universe(self.kind()))
    }
    #[cfg(feature = "zone")]
    /// Lists the items, by this method or by the fastest one that is exact, and reports progress.
    fn list(
        &self,
        _method: Option<Method>,
        _report: &mut dyn FnMut(Progress) -> ControlFlow<()>,
    ) -> Result<List, Error> {
        Err(cannot(self.kind(), "list its keys", "a zone filter can"))
    }
    #[cfg(feature = "zone")]
    fn resize(&mut self, _to: Resize) -> Result<(), Error> {
        Err(cannot(self.kind(), "change its size", "build a filter of the size you need"))
    }
}

/// The size that a filter is to get.
#[cfg(feature = "zone")]
#[derive(Debug, Clone, Copy)]
pub(crate) enum Resize {
    /// This many blocks, no fewer than now.
    GrowTo(u64),
    /// Enough blocks for this many items.
    GrowFor(u64),
    /// This many blocks, no more than now.
    ShrinkTo(u64),
    /// No more blocks than this many items need.
    ShrinkFor(u64),
}

/// Refuses what this kind of filter cannot do.
pub(super) fn cannot(kind: &'static str, operation: &'static str, remedy: &'static str) -> Error {
    Error::Unsupported { kind, operation, remedy }
}

#[cfg(feature = "zone")]
fn no_universe(kind: &'static str) -> Error {
    cannot(kind, "number its keys", "ask it by key")
}

/// What a header says: all of a filter except its body.
pub(crate) struct Parsed<F> {
    /// The bits of the body. The bits after them in the last byte are zero.
    pub(super) bits: u64,
    /// Makes the filter of its body.
    pub(super) with_body: Box<dyn FnOnce(Store) -> Result<F, Error>>,
}

impl<F> Parsed<F> {
    pub(super) fn new(
        bits: u64,
        with_body: impl FnOnce(Store) -> Result<F, Error> + 'static,
    ) -> Parsed<F> {
        Parsed { bits, with_body: Box::new(with_body) }
    }
}

/// The promises that filters keep.
///
/// ```
/// use tamis::{AnyFilter, Bloom, Promise};
/// assert_eq!(AnyFilter::from(Bloom::new(100, 0.01)?).promise(), Promise::Rate);
/// # Ok::<(), tamis::Error>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Promise {
    /// Members always pass; strangers pass at about the rate.
    Rate,
    /// Nobody is answered wrongly, up to the planned number of items.
    Zone,
    /// What is published says of any one item at most a factor e^epsilon.
    Privacy,
}

// `rate::Kind`, `zone::CodeKind` and `zone::Method` have the same `name` and `Display`. These few
// lines are plainer than a macro.
impl Promise {
    /// `rate`, `zone` or `privacy`.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Promise::Rate => "rate",
            Promise::Zone => "zone",
            Promise::Privacy => "privacy",
        }
    }
}

impl fmt::Display for Promise {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.pad(self.name())
    }
}

/// The plan of a filter of any kind.
///
/// ```
/// use tamis::{AnyFilter, Bloom, format::AnyPlan};
/// let any = AnyFilter::from(Bloom::new(100, 0.01)?);
/// assert_eq!(any.plan().items(), 100);
/// assert!(matches!(any.plan(), AnyPlan::Rate(plan) if plan.hashes() == 7));
/// # Ok::<(), tamis::Error>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub enum AnyPlan<'a> {
    /// Of a rate filter.
    Rate(&'a rate::Plan),
    /// Of a static filter, which keeps a rate, too.
    Static(&'a rate::StaticPlan),
    /// Of a chain that grows, which keeps a rate, too.
    Scalable {
        /// The plan.
        plan: &'a rate::ScalablePlan,
        /// The links that there are now, oldest first.
        links: &'a [rate::QuotientFilter],
    },
    /// Of a chain that forgets, which keeps a rate, too.
    Rolling {
        /// The plan.
        plan: &'a rate::RollingPlan,
        /// The generations that there are now, oldest first.
        links: &'a [rate::QuotientFilter],
    },
    /// Of a zone filter.
    #[cfg(feature = "zone")]
    Zone(&'a zone::Plan),
    /// Of a published Bloom filter.
    #[cfg(feature = "privacy")]
    PublicBloom(&'a UltraPlan),
    /// Of a linear filter.
    #[cfg(feature = "privacy")]
    Linear(&'a LinearPlan),
}

impl<'a> AnyPlan<'a> {
    /// The plan of a rate filter that is not static, if it is one.
    #[must_use]
    pub fn rate(self) -> Option<&'a rate::Plan> {
        match self {
            AnyPlan::Rate(plan) => Some(plan),
            _ => None,
        }
    }

    /// The plan of a zone filter, if it is one.
    #[cfg(feature = "zone")]
    #[must_use]
    pub fn zone(self) -> Option<&'a zone::Plan> {
        match self {
            AnyPlan::Zone(plan) => Some(plan),
            _ => None,
        }
    }

    /// The promise that filters of this plan keep.
    #[must_use]
    pub fn promise(self) -> Promise {
        match self {
            AnyPlan::Rate(_)
            | AnyPlan::Static(_)
            | AnyPlan::Scalable { .. }
            | AnyPlan::Rolling { .. } => Promise::Rate,
            #[cfg(feature = "zone")]
            AnyPlan::Zone(_) => Promise::Zone,
            #[cfg(feature = "privacy")]
            AnyPlan::PublicBloom(_) | AnyPlan::Linear(_) => Promise::Privacy,
        }
    }

    /// The items that the filter is planned to hold; of a chain that grows, as long as it is now;
    /// of one that forgets, within its window.
    #[must_use]
    pub fn items(self) -> u64 {
        match self {
            AnyPlan::Rate(plan) => plan.items(),
            AnyPlan::Static(plan) => plan.items(),
            AnyPlan::Scalable { links, .. } => {
                links.iter().fold(0, |sum, link| sum.saturating_add(link.plan().items()))
            }
            AnyPlan::Rolling { plan, .. } => plan.items(),
            #[cfg(feature = "zone")]
            AnyPlan::Zone(plan) => plan.items(),
            #[cfg(feature = "privacy")]
            AnyPlan::PublicBloom(plan) => plan.items(),
            #[cfg(feature = "privacy")]
            AnyPlan::Linear(plan) => plan.items(),
        }
    }

    /// The share of strangers that are to pass: 0 for a zone filter.
    #[must_use]
    pub fn fpr(self) -> f64 {
        match self {
            AnyPlan::Rate(plan) => plan.fpr(),
            AnyPlan::Static(plan) => plan.fpr(),
            AnyPlan::Scalable { plan, .. } => plan.fpr(),
            AnyPlan::Rolling { plan, .. } => plan.fpr(),
            #[cfg(feature = "zone")]
            AnyPlan::Zone(_) => 0.0,
            #[cfg(feature = "privacy")]
            AnyPlan::PublicBloom(plan) => plan.fpr(),
            #[cfg(feature = "privacy")]
            AnyPlan::Linear(plan) => plan.fpr(),
        }
    }

    /// The bits of the body.
    #[must_use]
    pub fn bits(self) -> u64 {
        match self {
            AnyPlan::Rate(plan) => plan.bits(),
            AnyPlan::Static(plan) => plan.bits(),
            AnyPlan::Scalable { links, .. } | AnyPlan::Rolling { links, .. } => {
                links.iter().map(|link| link.plan().bits()).sum()
            }
            #[cfg(feature = "zone")]
            AnyPlan::Zone(plan) => plan.bits(),
            #[cfg(feature = "privacy")]
            AnyPlan::PublicBloom(plan) => plan.bits(),
            #[cfg(feature = "privacy")]
            AnyPlan::Linear(plan) => plan.bits(),
        }
    }

    /// The bytes of a file with such a filter, exactly.
    #[must_use]
    pub fn file_bytes(self) -> u64 {
        match self {
            AnyPlan::Rate(plan) => plan.file_bytes(),
            AnyPlan::Static(plan) => plan.file_bytes(),
            AnyPlan::Scalable { links, .. } | AnyPlan::Rolling { links, .. } => {
                super::chain::chain_header(links.len()) + self.bytes()
            }
            #[cfg(feature = "zone")]
            AnyPlan::Zone(plan) => plan.file_bytes(),
            #[cfg(feature = "privacy")]
            AnyPlan::PublicBloom(plan) => plan.file_bytes(),
            #[cfg(feature = "privacy")]
            AnyPlan::Linear(plan) => plan.file_bytes(),
        }
    }

    /// The bytes of the body, in memory and in the file.
    #[must_use]
    pub fn bytes(self) -> u64 {
        self.bits().div_ceil(8)
    }
}
