//! A release that several machines draw together, a shard each.

use super::build::solve_shard;
use super::row::Row;
use super::{LinearFilter, LinearPlan};
use crate::privacy::Receipt;
use crate::privacy::noise::{Coins, SecretCoins};
use crate::store::{Store, filled};
use crate::{Digest, Error, HashFamily};
use std::fmt;

/// A part of a [`LinearFilter`], drawn by itself: on any thread or machine, in any order.
///
/// Every item is in one shard, so a filter of all shards costs the plan's epsilon once. Drawing a
/// shard again costs again, if both draws get out: keep shards to yourself, and publish the joined
/// filter only.
///
/// ```
/// use tamis::{Digest, HashFamily, privacy::{LinearFilter, LinearPlan, Receipt}};
/// let plan = LinearPlan::new(600_000, "3".parse()?)?;
/// let hash = HashFamily::fast(7);
/// let digests: Vec<Digest> = (0..500_000u64).filter_map(|key| hash.digest(key)).collect();
/// let shards = (0..plan.shards()).rev().map(|index| {
///     let own = digests.iter().filter(|digest| plan.shard_of(**digest) == index);
///     plan.draw_shard(index, own.copied().collect())
/// });
/// let public = LinearFilter::join(plan, hash, shards, Receipt::unrecorded(plan.epsilon()))?;
/// assert!((0..1_000u64).filter(|key| public.contains(*key)).count() > 900);
/// # Ok::<(), tamis::Error>(())
/// ```
#[derive(Clone, PartialEq, Eq)]
pub struct LinearShard {
    plan: LinearPlan,
    index: u64,
    planes: Vec<u8>,
}

impl LinearShard {
    /// Which shard it is, from 0.
    #[must_use]
    pub fn index(&self) -> u64 {
        self.index
    }

    /// Its bytes of the body.
    pub(crate) fn planes(&self) -> &[u8] {
        &self.planes
    }
}

impl fmt::Debug for LinearShard {
    /// Which one it is, and no more: it is not published yet.
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.debug_struct("LinearShard").field("index", &self.index).finish_non_exhaustive()
    }
}

impl LinearPlan {
    /// The shard that a key belongs to.
    #[must_use]
    pub fn shard_of(&self, digest: Digest) -> u64 {
        Row::of(digest, self).0
    }

    /// Draws a shard out of the digests of its keys, in any order and as often as they come, with
    /// fresh coins.
    pub fn draw_shard(&self, index: u64, digests: Vec<Digest>) -> Result<LinearShard, Error> {
        self.draw_shard_by(index, digests, &mut SecretCoins::new()?)
    }

    fn draw_shard_by(
        &self,
        index: u64,
        digests: Vec<Digest>,
        coins: &mut impl Coins,
    ) -> Result<LinearShard, Error> {
        let differ = |field, left: u64, right: u64| {
            Err(Error::Mismatch { field, left: left.to_string(), right: right.to_string() })
        };
        if index >= self.shards() {
            return differ("number of shards", self.shards(), index.saturating_add(1));
        }
        let mut shards = digests.iter().map(|digest| self.shard_of(*digest));
        if let Some(other) = shards.find(|other| *other != index) {
            return differ("shard", index, other);
        }
        let mut planes = filled(0u8, self.shard_bytes())?;
        solve_shard(self, digests, coins, &mut planes)?;
        Ok(LinearShard { plan: *self, index, planes })
    }

    /// The shard that these bytes of a body are.
    pub(crate) fn shard_from(&self, index: u64, planes: &[u8]) -> Result<LinearShard, Error> {
        if planes.len() != self.shard_bytes() {
            let (expected, got) = (self.shard_bytes() as u64, planes.len() as u64);
            return Err(Error::Length { expected, got });
        }
        Ok(LinearShard { plan: *self, index, planes: planes.to_vec() })
    }
}

impl LinearFilter {
    /// Joins the shards of a plan, in any order: all of them, each once. See [`LinearShard`].
    /// The receipt must pay the plan's epsilon: once, for all shards.
    pub fn join(
        plan: LinearPlan,
        hash: HashFamily,
        shards: impl IntoIterator<Item = Result<LinearShard, Error>>,
        receipt: Receipt,
    ) -> Result<LinearFilter, Error> {
        hash.need_digest("a linear filter")?;
        let mut joining = Joining::new(plan)?;
        for shard in shards {
            joining.add(&shard?)?;
        }
        joining.finish(hash, receipt)
    }
}

/// A release that waits for shards, in any order.
pub(crate) struct Joining {
    plan: LinearPlan,
    body: Store,
    joined: Vec<bool>,
}

impl Joining {
    pub(crate) fn new(plan: LinearPlan) -> Result<Joining, Error> {
        let body = Store::zeroed(plan.bytes())?;
        let joined = filled(false, usize::try_from(plan.shards()).unwrap_or(usize::MAX))?;
        Ok(Joining { plan, body, joined })
    }

    pub(crate) fn plan(&self) -> &LinearPlan {
        &self.plan
    }

    /// Puts a shard into its place.
    pub(crate) fn add(&mut self, shard: &LinearShard) -> Result<(), Error> {
        let differ =
            |field, left: String, right: String| Err(Error::Mismatch { field, left, right });
        if shard.plan != self.plan {
            return differ("plan", "one plan".to_owned(), "the plan of a shard".to_owned());
        }
        if std::mem::replace(&mut self.joined[shard.index as usize], true) {
            return differ("shards", shard.index.to_string(), shard.index.to_string());
        }
        let start = shard.index as usize * shard.planes.len();
        self.body.bytes_mut()[start..start + shard.planes.len()].copy_from_slice(&shard.planes);
        Ok(())
    }

    /// The release, once all shards are there and paid for.
    pub(crate) fn finish(self, hash: HashFamily, receipt: Receipt) -> Result<LinearFilter, Error> {
        if let Some(missing) = self.joined.iter().position(|seen| !seen) {
            let (left, right) = (self.plan.shards().to_string(), format!("no shard {missing}"));
            return Err(Error::Mismatch { field: "shards", left, right });
        }
        receipt.pay(self.plan.epsilon())?;
        LinearFilter::from_parts(self.plan, hash, self.body)
    }
}

#[cfg(test)]
mod tests {
    use super::super::LinearDraft;
    use super::*;
    use crate::privacy::noise::SeededCoins;

    /// Small shards, so that it is quick.
    fn plan() -> LinearPlan {
        LinearPlan::from_fields(2_000, "2.708050202".parse().unwrap(), 16, 320, 15).unwrap()
    }

    /// With the same coins, shards that were drawn apart make the release of one machine.
    #[test]
    fn shards_join_to_the_same_release() {
        let (plan, hash, seed) = (plan(), HashFamily::fast(3), 5u64);
        let mut draft = LinearDraft::with_hash(plan, hash.clone()).unwrap();
        (0..2_000u64).for_each(|key| draft.insert(key).unwrap());
        let whole = draft.rehearse(seed).unwrap().0;
        let digests: Vec<Digest> = (0..2_000u64).filter_map(|key| hash.digest(key)).collect();
        let shards: Vec<LinearShard> = (0..plan.shards())
            .rev()
            .map(|index| {
                let own = digests.iter().rev().chain(&digests[..100]).copied();
                let own = own.filter(|digest| plan.shard_of(*digest) == index).collect();
                let coins = seed.wrapping_add(index.wrapping_mul(0x9e37_79b9_7f4a_7c15));
                plan.draw_shard_by(index, own, &mut SeededCoins::new(coins)).unwrap()
            })
            .collect();
        let join = |shards: &[LinearShard]| {
            let paid = Receipt::unrecorded(plan.epsilon());
            LinearFilter::join(plan, hash.clone(), shards.iter().cloned().map(Ok), paid)
        };
        assert_eq!(join(&shards).unwrap().to_bytes(), whole.to_bytes());
        assert!(join(&shards[1..]).unwrap_err().to_string().contains("no shard 14"));
        assert!(join(&[&shards[..], &shards[..1]].concat()).is_err());
        let other = LinearPlan::from_fields(2_001, plan.epsilon(), 16, 320, 15).unwrap();
        let unpaid = Receipt::unrecorded("2".parse().unwrap());
        let all = shards.iter().cloned().map(Ok);
        assert!(LinearFilter::join(plan, hash.clone(), all, unpaid).is_err());
        let paid = Receipt::unrecorded(plan.epsilon());
        let foreign = LinearFilter::join(other, hash, shards.into_iter().map(Ok), paid);
        assert!(matches!(foreign, Err(Error::Mismatch { field: "plan", .. })));
    }

    #[test]
    fn a_shard_takes_its_own_keys_only() {
        let (plan, hash) = (plan(), HashFamily::fast(3));
        let digest = hash.digest(1u64).unwrap();
        let own = plan.shard_of(digest);
        assert!(plan.draw_shard(own, vec![digest, digest]).is_ok());
        assert!(plan.draw_shard((own + 1) % plan.shards(), vec![digest]).is_err());
        assert!(plan.draw_shard(plan.shards(), Vec::new()).is_err());
        assert!(plan.draw_shard(u64::MAX, Vec::new()).is_err());
    }

    /// Coins that others can predict would tell which items were dropped.
    #[test]
    fn shards_are_drawn_afresh() {
        let (plan, hash) = (plan(), HashFamily::fast(3));
        let digests: Vec<Digest> = (0..2_000u64)
            .filter_map(|key| hash.digest(key))
            .filter(|digest| plan.shard_of(*digest) == 2)
            .collect();
        let draw = || plan.draw_shard(2, digests.clone()).unwrap();
        assert_ne!(draw(), draw());
    }
}
