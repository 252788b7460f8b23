//! The filter that may be published.

use super::row::Row;
use super::{LinearDraft, LinearPlan};
use super::{lookup, planes};
use crate::prefetch;
use crate::privacy::published::ask_many;
use crate::privacy::{Epsilon, Published, Rehearsal};
use crate::store::Store;
use crate::{Digest, Error, HashFamily, Key, KeyRef};
use std::fmt;

/// A set that may be published: it says of any one item at most a factor e^epsilon, and no filter
/// with that promise is wrong less often.
///
/// | key | `contains` |
/// |---|---|
/// | in the set | `true`, but for [`fnr`](LinearPlan::fnr) of them |
/// | not in the set | `false`, but for [`fpr`](LinearPlan::fpr) of them |
///
/// It has no insert, no remove and no list, and its bytes are as many whatever the set. Publishing
/// the same set again costs again: publish once, and hand out copies of the same bytes, which cost
/// nothing.
///
/// ```
/// use tamis::privacy::{LinearFilter, LinearPlan};
/// let suspects = (0..1_000).map(|i| format!("suspect {i}"));
/// let plan = LinearPlan::new(1_000, "4".parse()?)?;
/// let public = LinearFilter::publish(plan, suspects.clone())?;
/// let found = suspects.filter(|name| public.contains(name)).count();
/// assert!(found > 930);      // 981 are expected
/// # Ok::<(), tamis::Error>(())
/// ```
///
/// What is published cannot be changed:
///
/// ```compile_fail,E0599
/// use tamis::privacy::{LinearFilter, LinearPlan};
/// let mut public = LinearFilter::publish(LinearPlan::new(100, "4".parse()?)?, ["Zoë"])?;
/// public.insert("李雷");
/// # Ok::<(), tamis::Error>(())
/// ```
#[derive(Clone, PartialEq, Eq)]
pub struct LinearFilter {
    plan: LinearPlan,
    hash: HashFamily,
    body: Store,
}

impl LinearFilter {
    /// Publishes a set: the keys once each, however often they come. A set of more than the planned
    /// items is published too, and strangers pass more often then; to refuse it would tell.
    pub fn publish<K: Key>(
        plan: LinearPlan,
        keys: impl IntoIterator<Item = K>,
    ) -> Result<LinearFilter, Error> {
        LinearDraft::new(plan)?.with_keys(keys)?.publish()
    }

    /// What a release might look like, with coins that anybody can predict: for tests, experiments
    /// and audits. It cannot be saved.
    pub fn rehearse<K: Key>(
        plan: LinearPlan,
        keys: impl IntoIterator<Item = K>,
        seed: u64,
    ) -> Result<Rehearsal<LinearFilter>, Error> {
        LinearDraft::with_hash(plan, HashFamily::fast(seed))?.with_keys(keys)?.rehearse(seed)
    }

    /// A filter with this body, which must have the plan's length.
    pub(crate) fn from_parts(
        plan: LinearPlan,
        hash: HashFamily,
        body: Store,
    ) -> Result<LinearFilter, Error> {
        hash.need_digest("a linear filter")?;
        debug_assert_eq!(body.bytes().len() as u64, plan.bytes());
        Ok(LinearFilter { plan, hash, body })
    }

    /// Whether a key passes: probably, if it is in the set; seldom, if not.
    #[must_use]
    #[inline]
    pub fn contains(&self, key: impl Key) -> bool {
        self.hash
            .digest(key)
            .is_some_and(|digest| lookup::passes(&self.plan, self.body.bytes(), digest))
    }

    /// Whether each of many keys passes, in their order.
    #[must_use]
    pub fn contains_many<K: Key>(&self, keys: &[K]) -> Vec<bool> {
        let body = self.body.bytes();
        let batch = |digests: &[Digest], answers: &mut Vec<bool>| {
            lookup::batch(&self.plan, body, digests, answers)
        };
        ask_many(keys, &self.hash, body, |digest| self.prefetch(digest), batch)
    }

    #[inline]
    fn prefetch(&self, digest: Digest) {
        let (shard, row) = Row::of(digest, &self.plan);
        let (first, bytes) = planes::place(self.plan.width(), row);
        let first = shard as usize * self.plan.shard_bytes() + first;
        for line in (first..first + bytes).step_by(64) {
            prefetch::byte(self.body.bytes(), line);
        }
    }

    /// The plan it was published by.
    #[must_use]
    pub fn plan(&self) -> &LinearPlan {
        &self.plan
    }

    /// The hash it uses.
    #[must_use]
    pub fn hash(&self) -> &HashFamily {
        &self.hash
    }

    /// The solution, as FORMAT.md lays it out.
    #[must_use]
    pub fn body(&self) -> &[u8] {
        self.body.bytes()
    }
}

impl Rehearsal<LinearFilter> {
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

impl Published for LinearFilter {
    fn method(&self) -> &'static str {
        "linear"
    }
    fn contains(&self, key: KeyRef<'_>) -> bool {
        LinearFilter::contains(self, key)
    }
    fn contains_many(&self, keys: &[KeyRef<'_>]) -> Vec<bool> {
        LinearFilter::contains_many(self, keys)
    }
    fn items(&self) -> u64 {
        self.plan.items()
    }
    fn epsilon(&self) -> Epsilon {
        self.plan.epsilon()
    }
    fn fpr(&self) -> f64 {
        self.plan.fpr()
    }
    fn fnr(&self) -> f64 {
        self.plan.fnr()
    }
    fn bits(&self) -> u64 {
        self.plan.bits()
    }
    fn hash(&self) -> &HashFamily {
        &self.hash
    }
    fn body(&self) -> &[u8] {
        self.body.bytes()
    }
}

impl fmt::Debug for LinearFilter {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.debug_struct("LinearFilter")
            .field("plan", &self.plan)
            .field("hash", &self.hash)
            .finish_non_exhaustive()
    }
}
