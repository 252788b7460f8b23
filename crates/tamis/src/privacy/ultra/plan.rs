//! How many bits there are, how many an item has, and how many of them must be ones.

use crate::Error;
use crate::privacy::noise::Probability;
use crate::privacy::{Epsilon, check_epsilon, f1};
use crate::rate::{self, Kind, MAX_HASHES};

/// The bits an item gets unless asked otherwise, as in the paper's experiments.
const BITS_AN_ITEM: u64 = 16;

/// The size and the accuracy of an [`UltraFilter`](super::UltraFilter)'s releases.
///
/// ```
/// use tamis::privacy::UltraPlan;
/// let plan = UltraPlan::new(1_000_000, "4".parse()?)?;
/// // One hash: several would have to share the loss.
/// assert_eq!((plan.bits(), plan.hashes(), plan.threshold()), (16_000_000, 1, 1));
/// assert!(plan.fpr() < 0.08 && plan.fnr() < 0.02);
/// # Ok::<(), tamis::Error>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct UltraPlan {
    items: u64,
    bits: u64,
    hashes: u32,
    epsilon: Epsilon,
    threshold: u32,
}

impl UltraPlan {
    /// The best plan of 16 bits an item: its larger error, of false positives and false negatives,
    /// is the smallest.
    pub fn new(items: u64, epsilon: Epsilon) -> Result<UltraPlan, Error> {
        UltraPlan::with_bits(items, items.saturating_mul(BITS_AN_ITEM), epsilon)
    }

    /// The best plan of this many bits.
    pub fn with_bits(items: u64, bits: u64, epsilon: Epsilon) -> Result<UltraPlan, Error> {
        UltraPlan::best(items, bits, epsilon, |plan| plan.fpr().max(plan.fnr()))
    }

    /// The plan of this many bits with the fewest false negatives while false positives are at most
    /// `fpr`.
    pub fn with_fpr(items: u64, bits: u64, epsilon: Epsilon, fpr: f64) -> Result<UltraPlan, Error> {
        if !(fpr > 0.0 && fpr <= 0.5) {
            return Err(Error::Rate {
                got: fpr,
                nearest: if fpr > 0.5 { 0.5 } else { rate::MIN_FPR },
            });
        }
        let plan = UltraPlan::best(items, bits, epsilon, |plan| {
            if plan.fpr() <= fpr { plan.fnr() } else { 1.0 + plan.fpr() }
        })?;
        if plan.fpr() > fpr {
            return Err(Error::Rate { got: fpr, nearest: plan.fpr() });
        }
        Ok(plan)
    }

    fn best(
        items: u64,
        bits: u64,
        epsilon: Epsilon,
        cost: impl Fn(&UltraPlan) -> f64,
    ) -> Result<UltraPlan, Error> {
        check_epsilon(epsilon)?;
        rate::Plan::from_items_bits(Kind::Bloom, items, bits)?; // refuses what is no filter at all
        let mut best = UltraPlan { items, bits, hashes: 1, epsilon, threshold: 1 };
        for hashes in 1..=MAX_HASHES {
            for threshold in 1..=hashes {
                let plan = UltraPlan { hashes, threshold, ..best };
                if cost(&plan) < cost(&best) {
                    best = plan;
                }
            }
        }
        Ok(best)
    }

    /// The plan for publishing an existing Bloom filter, with the best threshold for its hashes.
    /// Refused with [`Error::CountedItems`] if the items were counted; see
    /// [`rate::Plan::with_public_size`].
    pub fn of_bloom(bloom: rate::Plan, epsilon: Epsilon) -> Result<UltraPlan, Error> {
        check_epsilon(epsilon)?;
        if bloom.filter() != Kind::Bloom {
            return Err(Error::Kind { planned: bloom.filter().name(), wanted: "bloom" });
        }
        if bloom.is_counted() {
            return Err(Error::CountedItems { items: bloom.items() });
        }
        let (items, bits, hashes) = (bloom.items(), bloom.bits(), bloom.hashes());
        let mut best = UltraPlan { items, bits, hashes, epsilon, threshold: hashes };
        for threshold in 1..hashes {
            let plan = UltraPlan { threshold, ..best };
            if plan.fpr().max(plan.fnr()) < best.fpr().max(best.fnr()) {
                best = plan;
            }
        }
        Ok(best)
    }

    /// The plan that a file describes, if it can be one.
    pub(crate) fn from_fields(
        items: u64,
        bits: u64,
        hashes: u32,
        epsilon: Epsilon,
        threshold: u32,
    ) -> Result<UltraPlan, Error> {
        let refused = |field, got: u64| Error::Field { field, got: got.to_string() };
        rate::Plan::from_fields(Kind::Bloom, items, 0.0, bits, hashes, 1)?;
        if !(1..=hashes).contains(&threshold) {
            return Err(refused("threshold", u64::from(threshold)));
        }
        Ok(UltraPlan { items, bits, hashes, epsilon, threshold })
    }

    /// The same with another threshold. The paper's is all of the hashes.
    ///
    /// ```
    /// use tamis::{privacy::UltraPlan, rate::{Kind, Plan}};
    /// let bloom = Plan::from_items_bits(Kind::Bloom, 1 << 20, 1 << 24)?.with_hashes(10)?;
    /// let best = UltraPlan::of_bloom(bloom, "4".parse()?)?;
    /// let paper = best.with_threshold(10)?;
    /// // A member seldom keeps all of its ten bits.
    /// assert!(paper.fnr() > 0.99 && best.fnr() < 0.38);
    /// # Ok::<(), tamis::Error>(())
    /// ```
    pub fn with_threshold(self, threshold: u32) -> Result<UltraPlan, Error> {
        let hashes = self.hashes;
        if !(1..=hashes).contains(&threshold) {
            return Err(Error::Threshold {
                got: threshold,
                hashes,
                nearest: threshold.clamp(1, hashes),
            });
        }
        Ok(UltraPlan { threshold, ..self })
    }

    /// The plan of the private Bloom filter.
    pub fn bloom(&self) -> Result<rate::Plan, Error> {
        rate::Plan::from_items_bits(Kind::Bloom, self.items, self.bits)?.with_hashes(self.hashes)
    }

    /// The items it is planned for. The number is public, and does not depend on the set.
    #[must_use]
    pub fn items(&self) -> u64 {
        self.items
    }

    /// What a release costs, for sets of which one has one item more.
    #[must_use]
    pub fn epsilon(&self) -> Epsilon {
        self.epsilon
    }

    /// The loss of a single bit: epsilon over the hashes, as a number for reports.
    #[must_use]
    pub fn epsilon_bit(&self) -> f64 {
        self.epsilon.to_f64() / f64::from(self.hashes())
    }

    /// What a release costs for sets in which one item is replaced by another: twice as much.
    #[must_use]
    pub fn epsilon_replace(&self) -> Option<Epsilon> {
        self.epsilon.checked_mul(2)
    }

    /// The bits of an item.
    #[must_use]
    pub fn hashes(&self) -> u32 {
        self.hashes
    }

    /// How many of its bits must be ones for a key to pass.
    #[must_use]
    pub fn threshold(&self) -> u32 {
        self.threshold
    }

    /// The bits of the body.
    #[must_use]
    pub fn bits(&self) -> u64 {
        self.bits
    }

    /// The bytes of the body, in memory and in the file.
    #[must_use]
    pub fn bytes(&self) -> u64 {
        self.bits.div_ceil(8)
    }

    /// The bytes of a file with such a filter, exactly: its header and its body.
    #[must_use]
    pub fn file_bytes(&self) -> u64 {
        crate::format::SHORT_HEADER + self.bytes()
    }

    /// Refuses the plan if publishing by it would take more than `max` bytes of memory: the
    /// private body, and the public one.
    pub fn check_memory(&self, max: u64) -> Result<(), Error> {
        crate::store::check_memory(self.bytes().saturating_mul(2), max)
    }

    /// The bits an item.
    #[must_use]
    pub fn bits_per_item(&self) -> f64 {
        self.bits as f64 / self.items as f64
    }

    /// The chance that a bit is flipped, exactly 1/(e^(epsilon/hashes)+1).
    #[must_use]
    pub fn flip_rate(&self) -> Probability {
        Probability::logistic(self.epsilon, u64::from(self.hashes()))
            .expect("a key has one bit or more")
    }

    /// 1/(e^(epsilon/hashes)+1) as the reports need it.
    fn flip(&self) -> f64 {
        1.0 / (self.epsilon_bit().exp() + 1.0)
    }

    /// The share of ones to expect in a release of the planned items.
    #[must_use]
    pub fn expected_ones(&self) -> f64 {
        let throws = self.items() as f64 * f64::from(self.hashes());
        let load = -(throws * (-1.0 / self.bits() as f64).ln_1p()).exp_m1();
        load * (1.0 - self.flip()) + (1.0 - load) * self.flip()
    }

    /// The share of strangers that pass, when the filter is as full as planned.
    #[must_use]
    pub fn fpr(&self) -> f64 {
        self.fpr_at(self.expected_ones())
    }

    /// The share of strangers that pass a release of which this share are ones.
    pub(super) fn fpr_at(&self, ones: f64) -> f64 {
        at_least(self.hashes(), ones, self.threshold)
    }

    /// The share of members that do not pass.
    #[must_use]
    pub fn fnr(&self) -> f64 {
        // Fewer than t ones are more than k - t zeros.
        at_least(self.hashes(), self.flip(), self.hashes() - self.threshold + 1)
    }

    /// The harmonic mean of precision and recall, over as many members as strangers.
    #[must_use]
    pub fn f1(&self) -> f64 {
        f1(self.fpr(), self.fnr())
    }

    /// The share of bits in which a release differs from the private filter, as expected: the
    /// reconstruction error of the paper's Definition 6.1. (The paper bounds it by e^b/(e^b+1),
    /// the share of bits that stay.)
    #[must_use]
    pub fn reconstruction_error(&self) -> f64 {
        self.flip()
    }

    /// The share of bits in which the releases of two sets that have nothing in common differ, as
    /// expected: the distance of the paper's Definition 6.2, which bounds it by 1.
    #[must_use]
    pub fn distance(&self) -> f64 {
        let ones = self.expected_ones();
        2.0 * ones * (1.0 - ones)
    }
}

/// The chance of at least `least` heads in `tosses` that each fall heads with chance `p`.
fn at_least(tosses: u32, p: f64, least: u32) -> f64 {
    let mut ways = 1.0; // tosses over heads
    let mut sum = 0.0;
    for heads in 0..=tosses {
        if heads >= least {
            sum += ways * p.powi(heads as i32) * (1.0 - p).powi((tosses - heads) as i32);
        }
        ways *= f64::from(tosses - heads) / f64::from(heads + 1);
    }
    sum.min(1.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The best that k up to 64 can do (verified independently): the worse error at 8 and 16 bits
    /// an item.
    #[test]
    fn the_best_plans_reach_what_is_known() {
        for (epsilon, at_8, at_16) in
            [("2", 0.209, 0.165), ("4", 0.131, 0.076), ("5", 0.123, 0.067)]
        {
            for (bits, worse) in [(8, at_8), (16, at_16)] {
                let plan =
                    UltraPlan::with_bits(1_000_000, bits * 1_000_000, epsilon.parse().unwrap())
                        .unwrap();
                let found = plan.fpr().max(plan.fnr());
                assert!((found - worse).abs() < 0.0006, "{epsilon} {bits}: {found} with {plan:?}");
                assert!(found > crate::privacy::floor(plan.epsilon()));
            }
        }
    }

    #[test]
    fn tails_are_binomial() {
        assert_eq!(at_least(1, 0.25, 1), 0.25);
        assert!((at_least(3, 0.5, 2) - 0.5).abs() < 1e-15);
        assert!((at_least(64, 0.3, 0) - 1.0).abs() < 1e-12);
        assert_eq!(at_least(5, 0.3, 6), 0.0);
    }

    #[test]
    fn bad_requests_are_refused() {
        let four: Epsilon = "4".parse().unwrap();
        assert!(matches!(
            UltraPlan::new(0, four),
            Err(Error::Items { .. } | Error::TooFewBits { .. })
        ));
        assert!(matches!(UltraPlan::new(10, Epsilon::ZERO), Err(Error::Epsilon { .. })));
        assert!(UltraPlan::new(u64::MAX, four).is_err());
        let plan = UltraPlan::new(100, four).unwrap();
        assert!(matches!(plan.with_threshold(0), Err(Error::Threshold { nearest: 1, .. })));
        assert!(matches!(plan.with_threshold(65), Err(Error::Threshold { .. })));
        assert!(matches!(UltraPlan::with_fpr(100, 1600, four, f64::NAN), Err(Error::Rate { .. })));
        let few = UltraPlan::with_fpr(1000, 16_000, four, 0.01).unwrap();
        assert!(few.fpr() <= 0.01 && few.fnr() > plan.fnr());
        let blocked = rate::Plan::from_items_fpr(Kind::Blocked, 100, 0.01).unwrap();
        assert!(matches!(UltraPlan::of_bloom(blocked, four), Err(Error::Kind { .. })));
    }
}
