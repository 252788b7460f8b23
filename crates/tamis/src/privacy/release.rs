//! The type of both filters that may be published.

use super::Epsilon;
use crate::format::PublishedPlan;
use crate::hash::Digests;
use crate::simd::{BATCH, Kernels, Level, Work, dispatch, prefetch};
use crate::store::Store;
use crate::{Error, HashFamily, Key, KeyRef};
use std::fmt;

/// A set that may be published: it says of any one item at most a factor e^epsilon.
///
/// Use it by one of its names: [`LinearFilter`](super::LinearFilter), which is wrong as seldom as
/// any filter with that promise can be, or [`PublicBloom`](super::PublicBloom), a Bloom filter
/// under noise.
///
/// | key | `contains` |
/// |---|---|
/// | in the set | `true`, except for [`fnr`](Release::fnr) of them |
/// | not in the set | `false`, except for [`fpr`](Release::fpr) of them |
///
/// It has no insert, no remove and no list, and its size depends on the plan alone. Publishing the
/// same set again costs again: publish once, and hand out copies of the same bytes, which cost
/// nothing.
#[derive(Clone, PartialEq, Eq)]
pub struct Release<P: ReleasePlan> {
    plan: P,
    hash: HashFamily,
    body: Store,
}

/// How a release is laid out and asked: [`LinearPlan`](super::LinearPlan) or
/// [`UltraPlan`](super::UltraPlan), and closed to others.
pub trait ReleasePlan:
    sealed::Lookup + PublishedPlan + Copy + PartialEq + fmt::Debug + Send + Sync + 'static
{
}

pub(crate) mod sealed {
    use crate::Digest;
    use crate::privacy::{Epsilon, UltraPlan};

    /// What a plan knows of the bodies that are published by it.
    pub trait Lookup {
        /// The name of the kind of filter.
        const KIND: &'static str;

        /// The plan of a published Bloom filter, if it is one.
        fn as_ultra(&self) -> Option<&UltraPlan> {
            None
        }
        /// The items it is for.
        fn planned_items(&self) -> u64;
        /// What a release costs.
        fn loss(&self) -> Epsilon;
        /// The bytes of the body.
        fn body_bytes(&self) -> u64;
        /// The share of strangers that pass this body.
        fn body_fpr(&self, body: &[u8]) -> f64;
        /// The share of members that do not pass.
        fn planned_fnr(&self) -> f64;
        /// Whether the key with this digest passes.
        fn passes(&self, body: &[u8], digest: Digest) -> bool;
        /// The same outside of a batch, in code that is not compiled for the processor.
        #[inline(always)]
        fn passes_alone(&self, body: &[u8], digest: Digest) -> bool {
            self.passes(body, digest)
        }
        /// Asks the memory for what a lookup will read.
        fn prefetch(&self, body: &[u8], digest: Digest);
    }
}

impl<P: ReleasePlan> Release<P> {
    /// A filter with this body, which must have the plan's length.
    pub(crate) fn from_parts(plan: P, hash: HashFamily, body: Store) -> Result<Self, Error> {
        hash.need_digest("a published filter")?;
        debug_assert_eq!(body.bytes().len() as u64, plan.body_bytes());
        Ok(Release { plan, hash, body })
    }

    /// Whether a key passes: probably, if it is in the set; seldom, if not.
    #[must_use]
    #[inline(always)]
    pub fn contains(&self, key: impl Key) -> bool {
        match self.hash.as_fast() {
            Some(fast) => self.plan.passes_alone(self.body.bytes(), fast.digest(key.as_key())),
            None => self.contains_otherwise(key.as_key()),
        }
    }

    /// The hash families other than the fast one, out of its way.
    #[inline(never)]
    fn contains_otherwise(&self, key: KeyRef<'_>) -> bool {
        self.hash.digest(key).is_some_and(|digest| self.plan.passes(self.body.bytes(), digest))
    }

    /// Whether each of many keys passes, in their order.
    #[must_use]
    pub fn contains_many<K: Key>(&self, keys: &[K]) -> Vec<bool> {
        let mut answers = vec![false; keys.len()];
        dispatch!(Level::detect(), kernels => {
            kernels.run(Batch { release: self, kernels, keys, answers: &mut answers });
        });
        answers
    }

    /// The plan it was published by.
    #[must_use]
    pub fn plan(&self) -> &P {
        &self.plan
    }

    /// The items it is planned for. The number is public, and does not depend on the set.
    #[must_use]
    pub fn items(&self) -> u64 {
        self.plan.planned_items()
    }

    /// What the release cost, for sets of which one has one item more.
    #[must_use]
    pub fn epsilon(&self) -> Epsilon {
        self.plan.loss()
    }

    /// The share of strangers that pass this release.
    #[must_use]
    pub fn fpr(&self) -> f64 {
        self.plan.body_fpr(self.body.bytes())
    }

    /// The share of members that do not pass.
    #[must_use]
    pub fn fnr(&self) -> f64 {
        self.plan.planned_fnr()
    }

    /// The hash it uses.
    #[must_use]
    pub fn hash(&self) -> &HashFamily {
        &self.hash
    }

    /// The body, as FORMAT.md lays it out.
    #[must_use]
    pub fn body(&self) -> &[u8] {
        self.body.bytes()
    }
}

/// Lookups of a batch, compiled for the processor: most of a lookup in a linear filter is counting
/// bits, which takes one instruction where there is one.
struct Batch<'a, P: ReleasePlan, N, K> {
    release: &'a Release<P>,
    kernels: N,
    keys: &'a [K],
    answers: &'a mut [bool],
}

impl<P: ReleasePlan, N: Kernels, K: Key> Work for Batch<'_, P, N, K> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        let Release { plan, hash, body } = self.release;
        let body = body.bytes();
        let far = prefetch::worthwhile(body.len() / 4);
        let mut digests = Digests::new();
        for (keys, answers) in self.keys.chunks(BATCH).zip(self.answers.chunks_mut(BATCH)) {
            let _ = digests.hash(self.kernels, hash, keys.iter(), true);
            // Loops, not iterators: closures would be compiled into functions that lack the
            // instructions.
            if far {
                for digest in digests.iter() {
                    plan.prefetch(body, digest);
                }
            }
            for (answer, digest) in answers.iter_mut().zip(digests.iter()) {
                *answer = plan.passes(body, digest);
            }
        }
    }
}

impl<P: ReleasePlan> fmt::Debug for Release<P> {
    /// The plan and the hash. The body is long, and says nothing to a reader.
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.debug_struct("Release")
            .field("kind", &P::KIND)
            .field("plan", &self.plan)
            .field("hash", &self.hash)
            .field("fpr", &self.fpr())
            .finish_non_exhaustive()
    }
}

/// A release that was made with coins that anybody can predict. It can be asked, but not saved.
///
/// ```
/// use tamis::privacy::{LinearFilter, LinearPlan};
/// let plan = LinearPlan::new(100, "2".parse()?)?;
/// let trial = LinearFilter::rehearse(plan, 0..100u64, 7)?;
/// let again = LinearFilter::rehearse(plan, 0..100u64, 7)?;
/// assert_eq!(trial, again);
/// # Ok::<(), tamis::Error>(())
/// ```
///
/// ```compile_fail,E0277
/// use tamis::{AnyFilter, privacy::{LinearFilter, LinearPlan}};
/// let trial = LinearFilter::rehearse(LinearPlan::new(100, "2".parse()?)?, 0..100u64, 7)?;
/// AnyFilter::from(trial);                     // which could be saved
/// # Ok::<(), tamis::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Rehearsal<T>(pub(super) T);

impl<P: ReleasePlan> Rehearsal<Release<P>> {
    /// Whether a key passes.
    #[must_use]
    pub fn contains(&self, key: impl Key) -> bool {
        self.0.contains(key)
    }

    /// Whether each of many keys passes, in their order.
    #[must_use]
    pub fn contains_many<K: Key>(&self, keys: &[K]) -> Vec<bool> {
        self.0.contains_many(keys)
    }
}
