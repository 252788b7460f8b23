//! The set on its way to be published.

use super::build::solve_shard;
use super::row::Row;
use super::{LinearFilter, LinearPlan};
use crate::privacy::noise::{Coins, SecretCoins, SeededCoins};
use crate::privacy::{Receipt, Rehearsal, fresh_hash};
use crate::store::{self, Store};
use crate::threads::share;
use crate::{Digest, Error, HashFamily, Key};
use std::fmt;
use std::thread;

/// A private set on its way to be published as a [`LinearFilter`], for keys that come a few at a
/// time.
///
/// ```
/// use tamis::privacy::{LinearDraft, LinearPlan, Receipt};
/// let mut draft = LinearDraft::new(LinearPlan::new(1_000, "4".parse()?)?)?;
/// draft.insert("Zoë")?;
/// draft.insert("Zoë")?;                // changes nothing
/// let paid = Receipt::unrecorded(draft.plan().epsilon());
/// let public = draft.publish(paid)?;
/// println!("{}", public.contains("Zoë"));
/// # Ok::<(), tamis::Error>(())
/// ```
pub struct LinearDraft {
    plan: LinearPlan,
    hash: HashFamily,
    shards: Vec<Vec<Digest>>,
    body: Store,
}

impl LinearDraft {
    /// An empty set, with a fresh seed.
    pub fn new(plan: LinearPlan) -> Result<LinearDraft, Error> {
        LinearDraft::with_hash(plan, fresh_hash()?)
    }

    /// An empty set with the caller's hash. With a keyed hash, only people with the key can ask.
    pub fn with_hash(plan: LinearPlan, hash: HashFamily) -> Result<LinearDraft, Error> {
        hash.need_digest("a linear filter")?;
        // This comes first, so that a plan that is too large for the memory fails at once.
        let body = Store::zeroed(plan.bytes())?;
        let count = usize::try_from(plan.shards()).map_err(|_| memory(plan.shards()))?;
        let mut shards = Vec::new();
        shards.try_reserve_exact(count).map_err(|_| memory(plan.shards()))?;
        shards.resize(count, Vec::new());
        Ok(LinearDraft { plan, hash, shards, body })
    }

    /// Takes a key; the same key again changes nothing.
    pub fn insert(&mut self, key: impl Key) -> Result<(), Error> {
        // Every hash here has digests: `with_hash` refused the others.
        let Some(digest) = self.hash.digest(key) else { return Ok(()) };
        let (shard, _) = Row::of(digest, &self.plan);
        let shard = &mut self.shards[shard as usize];
        if shard.len() == shard.capacity() {
            let more = shard.len().max(16);
            shard.try_reserve(more).map_err(|_| memory(more as u64))?;
        }
        shard.push(digest);
        Ok(())
    }

    pub(super) fn with_keys<K: Key>(
        mut self,
        keys: impl IntoIterator<Item = K>,
    ) -> Result<LinearDraft, Error> {
        for key in keys {
            self.insert(key)?;
        }
        Ok(self)
    }

    /// The plan of the release.
    #[must_use]
    pub fn plan(&self) -> &LinearPlan {
        &self.plan
    }

    /// Draws the release, on all cores. The receipt must pay the plan's epsilon.
    pub fn publish(self, receipt: Receipt) -> Result<LinearFilter, Error> {
        receipt.pay(self.plan.epsilon())?;
        self.draw(|_| SecretCoins::new())
    }

    /// What a release might look like, with coins that anybody can predict. It cannot be saved.
    pub fn rehearse(self, seed: u64) -> Result<Rehearsal<LinearFilter>, Error> {
        let own = |shard: u64| seed.wrapping_add(shard.wrapping_mul(0x9e37_79b9_7f4a_7c15));
        self.draw(|shard| Ok(SeededCoins::new(own(shard)))).map(Rehearsal)
    }

    /// Each shard has separate coins, so it makes no difference which thread solves it.
    fn draw<C: Coins>(
        self,
        coins: impl Fn(u64) -> Result<C, Error> + Sync,
    ) -> Result<LinearFilter, Error> {
        let LinearDraft { plan, hash, shards, mut body } = self;
        // A small release does not ask for the number of cores, which reads files.
        let threads = match shards.len() {
            1 => 1,
            many => thread::available_parallelism().map_or(1, usize::from).min(many),
        };
        let parts = body.bytes_mut().chunks_exact_mut(plan.shard_bytes());
        let work = parts.zip(shards).zip(0..);
        let solved = share(threads, work, |((planes, digests), shard)| {
            solve_shard(&plan, digests, &mut coins(shard)?, planes)
        });
        solved.into_iter().collect::<Result<(), Error>>()?;
        LinearFilter::from_parts(plan, hash, body)
    }
}

fn memory(things: u64) -> Error {
    store::memory(things.saturating_mul(size_of::<Digest>() as u64))
}

impl fmt::Debug for LinearDraft {
    /// The plan alone: the set is private.
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.debug_struct("LinearDraft").field("plan", &self.plan).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Coins that others can predict would tell which items were dropped.
    #[test]
    fn releases_are_drawn_afresh() {
        let plan = LinearPlan::new(100, "1".parse().unwrap()).unwrap();
        let draft = || {
            LinearDraft::with_hash(plan, HashFamily::fast(0)).unwrap().with_keys(0..100u64).unwrap()
        };
        let publish = || draft().publish(Receipt::unrecorded(plan.epsilon())).unwrap();
        let (one, other) = (publish(), publish());
        assert_ne!(one, other);
        for seed in 0..100 {
            assert_ne!(draft().rehearse(seed).unwrap().0, one);
        }
        assert_ne!(LinearDraft::new(plan).unwrap().hash, LinearDraft::new(plan).unwrap().hash);
    }

    /// Several shards, small ones, so that it is quick: every key is looked for where it was put.
    #[test]
    fn shards_hold_their_own() {
        for (q, epsilon) in [(16, "2.708050202"), (53, "3.951243719"), (256, "5.541263546")] {
            let plan =
                LinearPlan::from_fields(2_000, epsilon.parse().unwrap(), q, 320, 15).unwrap();
            let filter = LinearDraft::with_hash(plan, HashFamily::fast(3))
                .unwrap()
                .with_keys(0..2_000u64)
                .unwrap()
                .rehearse(5)
                .unwrap();
            let missed = (0..2_000u64).filter(|key| !filter.contains(*key)).count() as f64;
            let expected = 2_000.0 * plan.fnr();
            assert!(
                (missed - expected).abs() < 5.0 * expected.sqrt(),
                "{q}: {missed} of {expected}"
            );
            let passed = (2_000..22_000u64).filter(|key| filter.contains(*key)).count() as f64;
            let expected = 20_000.0 * plan.fpr();
            assert!(
                (passed - expected).abs() < 5.0 * expected.sqrt() + 0.05 * expected,
                "{q}: {passed} of {expected}"
            );
        }
    }
}
