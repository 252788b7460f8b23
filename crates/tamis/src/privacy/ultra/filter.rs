//! The filter that stays private.

use super::{PublicBloom, UltraPlan};
use crate::privacy::noise::{Coins, SecretCoins, SeededCoins};
use crate::privacy::{Epsilon, Receipt, Rehearsal, fresh_hash};
use crate::rate::Plan;
use crate::store::Store;
use crate::{Bloom, Error, HashFamily, Key};
use std::fmt;

/// A private Bloom filter that can be published under noise. It can take more items and be
/// published again, which costs again.
///
/// ```
/// use tamis::privacy::{Receipt, UltraFilter, UltraPlan};
/// let mut callers = UltraFilter::new(UltraPlan::new(1_000, "4".parse()?)?)?;
/// callers.insert_many((0..1_000).map(|i| format!("caller {i}")));
/// let paid = Receipt::unrecorded(callers.plan().epsilon());
/// let public = callers.publish(paid)?;                   // may be given away
/// let found = (0..1_000).filter(|i| public.contains(format!("caller {i}"))).count();
/// assert!(found > 950);                                  // 982 are expected
/// # Ok::<(), tamis::Error>(())
/// ```
#[derive(Clone, PartialEq)]
pub struct UltraFilter {
    plan: UltraPlan,
    bloom: Bloom,
}

impl UltraFilter {
    /// An empty private filter, with a fresh seed.
    pub fn new(plan: UltraPlan) -> Result<UltraFilter, Error> {
        UltraFilter::with_hash(plan, fresh_hash()?)
    }

    /// An empty private filter with the caller's hash. With a keyed hash, only people with the key
    /// can ask.
    pub fn with_hash(plan: UltraPlan, hash: HashFamily) -> Result<UltraFilter, Error> {
        hash.need_digest("a filter to be published")?;
        Ok(UltraFilter { plan, bloom: Bloom::with_plan(plan.bloom()?, hash)? })
    }

    /// An empty private filter with the same plan and the same seed, so that the two can be united,
    /// and the overlap of their releases estimated.
    ///
    /// A shared seed costs no privacy. The promise holds for each seed, also for one that everybody
    /// knows: the proof takes the bits of every key as given, and only the flips as random. Choose
    /// the seed before you look at the sets, as [`new`](UltraFilter::new) does, and not so that
    /// certain keys collide.
    ///
    /// ```
    /// use tamis::privacy::{UltraFilter, UltraPlan};
    /// let mut monday = UltraFilter::new(UltraPlan::new(1_000, "4".parse()?)?)?;
    /// let mut tuesday = monday.like()?;
    /// monday.insert("Zoë");
    /// tuesday.insert("李雷");
    /// monday.union(&tuesday)?;
    /// assert!(monday.bloom().contains("李雷"));
    /// # Ok::<(), tamis::Error>(())
    /// ```
    pub fn like(&self) -> Result<UltraFilter, Error> {
        UltraFilter::with_hash(self.plan, self.bloom.hash().clone())
    }

    /// Takes in the items of another private filter, which must have the same bits and hash: see
    /// [`like`](UltraFilter::like). The plan stays.
    ///
    /// The result is what it would be if all items had been inserted here, bit for bit. So a
    /// release of it costs its epsilon for an item of either set, and an item of both sets counts
    /// once. It is a release of both sets: charge it to the ledger of each.
    pub fn union(&mut self, other: &UltraFilter) -> Result<(), Error> {
        self.bloom.union(&other.bloom)
    }

    /// An existing Bloom filter, to be published at a loss of `epsilon` an item.
    ///
    /// Its size and the items it was planned for become public. Refused with
    /// [`Error::CountedItems`] if they were found by counting the keys, because the release would
    /// tell their number.
    pub fn from_bloom(bloom: Bloom, epsilon: Epsilon) -> Result<UltraFilter, Error> {
        let plan = *bloom.plan();
        UltraFilter::from_bloom_by(bloom, plan, epsilon)
    }

    /// The same, even if the items were counted: you affirm that everybody may know the number that
    /// the filter was planned for.
    pub fn from_bloom_with_public_size(
        bloom: Bloom,
        epsilon: Epsilon,
    ) -> Result<UltraFilter, Error> {
        let plan = bloom.plan().with_public_size();
        UltraFilter::from_bloom_by(bloom, plan, epsilon)
    }

    fn from_bloom_by(bloom: Bloom, plan: Plan, epsilon: Epsilon) -> Result<UltraFilter, Error> {
        bloom.hash().need_digest("a filter to be published")?;
        Ok(UltraFilter { plan: UltraPlan::of_bloom(plan, epsilon)?, bloom })
    }

    /// The same with another threshold for those who will ask.
    pub fn with_threshold(self, threshold: u32) -> Result<UltraFilter, Error> {
        Ok(UltraFilter { plan: self.plan.with_threshold(threshold)?, ..self })
    }

    /// Puts a key in, as [`Bloom`] does.
    pub fn insert(&mut self, key: impl Key) -> bool {
        self.bloom.insert(key)
    }

    /// Puts many keys in, as [`Bloom`] does.
    pub fn insert_many<K: Key>(&mut self, keys: impl IntoIterator<Item = K>) -> u64 {
        self.bloom.insert_many(keys)
    }

    /// Draws a release. The receipt must pay the plan's epsilon. Each release costs again: publish
    /// once, and hand out copies of the same bytes.
    pub fn publish(&self, receipt: Receipt) -> Result<PublicBloom, Error> {
        receipt.pay(self.plan.epsilon())?;
        self.draw(&mut SecretCoins::new()?)
    }

    /// What a release might look like, with coins that anybody can predict: for tests, experiments
    /// and audits. It cannot be saved.
    pub fn rehearse(&self, seed: u64) -> Result<Rehearsal<PublicBloom>, Error> {
        self.draw(&mut SeededCoins::new(seed)).map(Rehearsal)
    }

    fn draw(&self, coins: &mut (impl Coins + ?Sized)) -> Result<PublicBloom, Error> {
        let mut body = Store::zeroed(self.plan.bytes())?;
        body.bytes_mut().copy_from_slice(self.bloom.body());
        coins.flip(body.bytes_mut(), self.plan.bits(), &self.plan.flip_rate());
        PublicBloom::from_parts(self.plan, self.bloom.hash().clone(), body)
    }

    /// The plan of its releases.
    #[must_use]
    pub fn plan(&self) -> &UltraPlan {
        &self.plan
    }

    /// The private filter. Anybody who gets its bytes knows the set.
    #[must_use]
    pub fn bloom(&self) -> &Bloom {
        &self.bloom
    }

    /// The private filter, for instance to be saved.
    #[must_use]
    pub fn into_bloom(self) -> Bloom {
        self.bloom
    }
}

impl<K: Key> Extend<K> for UltraFilter {
    fn extend<I: IntoIterator<Item = K>>(&mut self, keys: I) {
        self.insert_many(keys);
    }
}

impl fmt::Debug for UltraFilter {
    /// The plan alone: how full the filter is says something of the set.
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.debug_struct("UltraFilter").field("plan", &self.plan).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Coins that others can predict could be taken off again.
    #[test]
    fn releases_are_drawn_afresh() {
        let plan = UltraPlan::new(1_000, "1".parse().unwrap()).unwrap();
        let filter = UltraFilter::with_hash(plan, HashFamily::fast(0)).unwrap();
        let publish = || filter.publish(Receipt::unrecorded(plan.epsilon())).unwrap();
        let (one, other) = (publish(), publish());
        assert_ne!(one, other);
        for seed in 0..100 {
            assert_ne!(filter.rehearse(seed).unwrap().0, one);
        }
    }
    use crate::privacy::noise::ln_upwards;
    use crate::privacy::outcomes::{enumerate, worst};
    use crate::rate::Kind;

    /// Every pair of neighbouring sets of up to two of three keys and another, under many seeds, so
    /// that positions collide in every way.
    #[test]
    fn the_worst_likelihood_ratio_of_tiny_filters_is_the_claim() {
        // With a flip in four, e^b is 3, so that an item of k bits claims 3^k.
        for (bits, hashes) in [(3, 1), (4, 2), (5, 3)] {
            let bloom =
                Plan::from_items_bits(Kind::Bloom, 1, bits).unwrap().with_hashes(hashes).unwrap();
            let plan = UltraPlan::of_bloom(bloom, ln_upwards(3u64.pow(hashes))).unwrap();
            let mut found = (0, 1);
            for seed in 0..60 {
                let release = |keys: &[u64]| {
                    let mut filter = UltraFilter::with_hash(plan, HashFamily::fast(seed)).unwrap();
                    filter.insert_many(keys);
                    enumerate((1, 4), |coins| u64::from(filter.draw(coins).unwrap().body()[0]))
                };
                let keys = [1, 2, 3];
                for held in 0..4 {
                    let set: Vec<u64> =
                        keys.iter().copied().filter(|key| held >> (key - 1) & 1 == 1).collect();
                    let (without, with) = (release(&set), release(&[&set[..], &[3]].concat()));
                    assert_eq!(without.len(), 1 << bits);
                    for ratio in [worst(&with, &without), worst(&without, &with)] {
                        let ratio = ratio.expect("every outcome can be");
                        if ratio.0 * found.1 > found.0 * ratio.1 {
                            found = ratio;
                        }
                    }
                }
            }
            assert_eq!(found, (3u128.pow(hashes), 1), "{hashes} hashes");
        }
    }
}
