//! The filter itself.

use super::build::StaticBuilder;
use super::join::Joining;
use super::lookup::Views;
use super::plan::{StaticPlan, last_columns};
use super::shard::Shard;
use crate::hash::Digests;
use crate::simd::{BATCH, Kernels, Level, Work, dispatch, prefetch};
use crate::store::Store;
use crate::{Digest, Error, HashFamily, Health, Key, KeyRef, Kinds};
use std::fmt;

/// A set that is built once, near the smallest size that any filter can have.
///
/// | key | `contains` |
/// |---|---|
/// | in the set | always `true` |
/// | not in the set | `true` at about the planned rate |
///
/// At a rate of 1% it takes 6.8 bits a key, where [`Bloom`](crate::Bloom) takes 9.6; at 0.1%, 10.1
/// instead of 14.4. The least that any filter can take is 6.64 and 9.97.
///
/// All keys are there when it is built. There is no `insert`: build it again, or take a
/// [`Bloom`](crate::Bloom). Keys that come twice count once. The filter depends on the set of keys
/// alone: not on their order, nor on the number of threads that build it.
///
/// ```
/// use tamis::StaticFilter;
/// let words = StaticFilter::build(["ant", "bee", "cat"], 0.01)?;
/// assert!(words.contains("bee"));
/// assert_eq!(words.items(), 3);
/// assert_eq!(words, StaticFilter::build(["cat", "bee", "ant", "bee"], 0.01)?);
/// # Ok::<(), tamis::Error>(())
/// ```
///
/// ```compile_fail,E0599
/// let mut words = tamis::StaticFilter::build(["ant"], 0.01)?;
/// words.insert("bee");
/// # Ok::<(), tamis::Error>(())
/// ```
#[derive(Clone)]
pub struct StaticFilter {
    plan: StaticPlan,
    hash: HashFamily,
    kinds: Kinds,
    items: u64,
    /// The keys in the last layer.
    last_items: u64,
    body: Store,
    views: Views,
    /// What the processor can do, found out beforehand.
    level: Level,
}

impl StaticFilter {
    /// A filter of these keys at the rate `fpr`, with the default hash, built on all cores. See
    /// [`StaticBuilder`] for another hash, and for digests.
    pub fn build<K: Key>(
        keys: impl IntoIterator<Item = K>,
        fpr: f64,
    ) -> Result<StaticFilter, Error> {
        let mut builder = StaticBuilder::new(fpr)?;
        builder.extend(keys)?;
        builder.build()
    }

    /// Joins the shards of a plan, in any order: all of them, each once. See [`Shard`].
    pub fn join(
        plan: StaticPlan,
        hash: HashFamily,
        kinds: Kinds,
        shards: impl IntoIterator<Item = Result<Shard, Error>>,
    ) -> Result<StaticFilter, Error> {
        hash.need_digest("a static filter")?;
        let mut joining = Joining::new(plan)?;
        for shard in shards {
            joining.add(&shard?)?;
        }
        joining.finish(hash, kinds)
    }

    /// A filter with this body, which must have the plan's length: it holds so many items, so many
    /// of them in the last layer.
    pub(crate) fn from_parts(
        plan: StaticPlan,
        hash: HashFamily,
        kinds: Kinds,
        [items, last_items]: [u64; 2],
        body: Store,
    ) -> Result<StaticFilter, Error> {
        hash.need_digest("a static filter")?;
        debug_assert_eq!(body.bytes().len() as u64, plan.bytes());
        let views = Views::new(plan.shape());
        let level = Level::detect();
        Ok(StaticFilter { plan, hash, kinds, items, last_items, body, views, level })
    }

    /// Whether a key passes: always, if it is in the set; else at about the planned rate.
    #[must_use]
    #[inline(always)]
    pub fn contains(&self, key: impl Key) -> bool {
        match self.hash.as_fast() {
            Some(fast) => self.contains_digest(fast.digest(key.as_key())),
            None => self.contains_otherwise(key.as_key()),
        }
    }

    /// The hash families other than the fast one, out of its way.
    #[inline(never)]
    fn contains_otherwise(&self, key: KeyRef<'_>) -> bool {
        self.hash.digest(key).is_some_and(|digest| self.contains_digest(digest))
    }

    /// Whether the key with this digest passes.
    #[must_use]
    #[inline(always)]
    pub fn contains_digest(&self, digest: Digest) -> bool {
        self.views.passes(self.body.bytes(), digest)
    }

    /// Whether each of many keys passes, in their order. Past the caches this is much faster than
    /// one at a time: memory is asked for ahead of its need.
    #[must_use]
    pub fn contains_many<K: Key>(&self, keys: &[K]) -> Vec<bool> {
        let mut answers = vec![false; keys.len()];
        dispatch!(self.level, kernels => {
            kernels.run(Batch { filter: self, kernels, keys, answers: &mut answers });
        });
        answers
    }

    /// The plan it was built by.
    #[must_use]
    pub fn plan(&self) -> &StaticPlan {
        &self.plan
    }

    /// The distinct keys that it holds, exactly.
    #[must_use]
    pub fn items(&self) -> u64 {
        self.items
    }

    /// The hash it uses.
    #[must_use]
    pub fn hash(&self) -> &HashFamily {
        &self.hash
    }

    /// The kinds of keys it was given.
    #[must_use]
    pub fn kinds(&self) -> Kinds {
        self.kinds
    }

    /// The keys that found no room in the first layers, and are in the last one.
    pub(crate) fn last_items(&self) -> u64 {
        self.last_items
    }

    /// The share of strangers that pass this very filter. It reads all thresholds: two bits for 128
    /// keys.
    #[must_use]
    pub fn expected_fpr(&self) -> f64 {
        let [first, second, last] = self.plan.shape().layers();
        let last = if self.is_overfull() { 1.0 } else { last.fpr() };
        self.views.fpr(self.body.bytes(), [first.fpr(), second.fpr(), last])
    }

    /// Whether it keeps its rate. It does, unless its keys were chosen against its hash, or by a
    /// rare chance: its last layer has room for five standard deviations above the mean. Past
    /// that it has more keys than columns, and nearly all strangers pass that layer. Build it
    /// with another seed.
    #[must_use]
    pub fn health(&self) -> Health {
        if self.is_overfull() { Health::Beyond } else { Health::Within }
    }

    fn is_overfull(&self) -> bool {
        self.last_items > last_columns(self.plan.shape())
    }

    /// The share of the body's bits that are set: about one half.
    #[must_use]
    pub fn fill(&self) -> f64 {
        crate::bits::count(self.body()) as f64 / self.plan.bits() as f64
    }

    /// The body, as FORMAT.md lays it out.
    #[must_use]
    pub fn body(&self) -> &[u8] {
        self.body.bytes()
    }
}

/// Lookups of a batch, compiled for the processor.
struct Batch<'a, N, K> {
    filter: &'a StaticFilter,
    kernels: N,
    keys: &'a [K],
    answers: &'a mut [bool],
}

impl<N: Kernels, K: Key> Work for Batch<'_, N, K> {
    type Output = ();

    /// The next keys are hashed, and their memory is asked for, before the last ones are answered.
    #[inline(always)]
    fn run(self) {
        let StaticFilter { hash, views, body, .. } = self.filter;
        let body = body.bytes();
        let far = prefetch::worthwhile(body.len());
        let mut digests = Digests::new();
        for (keys, answers) in self.keys.chunks(BATCH).zip(self.answers.chunks_mut(BATCH)) {
            let _ = digests.hash(self.kernels, hash, keys.iter(), true);
            if far {
                views.prefetch(body, &digests);
            }
            views.passes_each(body, &digests, answers);
        }
    }
}

impl PartialEq for StaticFilter {
    /// Equal filters have equal plans, hashes and bodies, and so equal files.
    fn eq(&self, other: &Self) -> bool {
        self.plan == other.plan
            && self.hash == other.hash
            && self.kinds == other.kinds
            && (self.items, self.last_items) == (other.items, other.last_items)
            && self.body() == other.body()
    }
}

// The only float is a rate: a plan is never made of NaN.
impl Eq for StaticFilter {}

impl fmt::Debug for StaticFilter {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.debug_struct("StaticFilter")
            .field("plan", &self.plan)
            .field("hash", &self.hash)
            .field("kinds", &self.kinds)
            .field("items", &self.items)
            .field("health", &self.health())
            .finish_non_exhaustive()
    }
}
