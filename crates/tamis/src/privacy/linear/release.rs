//! How a linear filter is published and asked.

use super::row::Row;
use super::{LinearDraft, LinearPlan};
use super::{lookup, planes};
use crate::privacy::release::sealed::Lookup;
use crate::privacy::{Epsilon, Receipt, Rehearsal, Release, ReleasePlan};
use crate::simd::prefetch;
use crate::{Digest, Error, HashFamily, Key};

/// A published set that says of one item at most a factor e^epsilon. No filter with that promise is
/// wrong less often. See [`Release`] for what can be done with it.
///
/// ```
/// use tamis::privacy::{LinearFilter, LinearPlan, Receipt};
/// let suspects = (0..1_000).map(|i| format!("suspect {i}"));
/// let plan = LinearPlan::new(1_000, "4".parse()?)?;
/// let paid = Receipt::unrecorded(plan.epsilon());
/// let public = LinearFilter::publish(plan, suspects.clone(), paid)?;
/// let found = suspects.filter(|name| public.contains(name)).count();
/// assert!(found > 930);      // 981 are expected
/// # Ok::<(), tamis::Error>(())
/// ```
///
/// What is published cannot be changed:
///
/// ```compile_fail,E0599
/// use tamis::privacy::{LinearFilter, LinearPlan, Receipt};
/// let (plan, paid) = (LinearPlan::new(100, "4".parse()?)?, Receipt::unrecorded("4".parse()?));
/// let mut public = LinearFilter::publish(plan, ["Zoë"], paid)?;
/// public.insert("李雷");
/// # Ok::<(), tamis::Error>(())
/// ```
pub type LinearFilter = Release<LinearPlan>;

impl LinearFilter {
    /// Publishes a set. The receipt must pay the plan's epsilon. A key that comes several times
    /// counts once. A set of more than the planned items is published too, because a refusal would
    /// tell its size; strangers pass more often then.
    pub fn publish<K: Key>(
        plan: LinearPlan,
        keys: impl IntoIterator<Item = K>,
        receipt: Receipt,
    ) -> Result<LinearFilter, Error> {
        LinearDraft::new(plan)?.with_keys(keys)?.publish(receipt)
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
}

impl ReleasePlan for LinearPlan {}

impl Lookup for LinearPlan {
    const KIND: &'static str = "linear";

    fn planned_items(&self) -> u64 {
        self.items()
    }

    fn loss(&self) -> Epsilon {
        self.epsilon()
    }

    fn body_bytes(&self) -> u64 {
        self.bytes()
    }

    fn body_fpr(&self, _: &[u8]) -> f64 {
        self.fpr()
    }

    fn planned_fnr(&self) -> f64 {
        self.fnr()
    }

    #[inline(always)]
    fn passes(&self, body: &[u8], digest: Digest) -> bool {
        lookup::passes(self, body, digest)
    }

    #[inline(always)]
    fn passes_alone(&self, body: &[u8], digest: Digest) -> bool {
        lookup::passes_alone(self, body, digest)
    }

    #[inline(always)]
    fn prefetch(&self, body: &[u8], digest: Digest) {
        let (shard, row) = Row::of(digest, self);
        let (first, bytes) = planes::byte_range(self.width(), row);
        let first = shard as usize * self.shard_bytes() + first;
        for line in (first..first + bytes).step_by(64) {
            prefetch::byte(body, line);
        }
    }
}
