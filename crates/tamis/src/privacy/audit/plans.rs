//! Our own mechanisms, audited: a release of sixteen items, or of these and a seventeenth, by the
//! code that makes all releases.

use super::{Event, Mechanism};
use crate::privacy::{Epsilon, LinearFilter, LinearPlan, Overlap, UltraFilter, UltraPlan};
use crate::{Error, HashFamily};

/// The items of the set without the target.
const ITEMS: u64 = 16;
const TARGET: u64 = ITEMS;

fn set(with_target: bool) -> std::ops::Range<u64> {
    0..if with_target { TARGET + 1 } else { TARGET }
}

/// A release of a linear filter; the item is accepted, or rejected. Plan for few items: each run
/// makes a release.
impl Mechanism for LinearPlan {
    fn name(&self) -> &str {
        "linear"
    }

    fn claim(&self) -> Epsilon {
        self.epsilon()
    }

    fn outcomes(&self) -> u32 {
        2
    }

    fn describe(&self, event: Event) -> String {
        let verdict = if matches!(event, Event::AtLeast(_)) { "accepted" } else { "rejected" };
        format!("the item is {verdict}")
    }

    fn run(&self, with_target: bool, coins: u64) -> Result<u32, Error> {
        Ok(u32::from(LinearFilter::rehearse(*self, set(with_target), coins)?.contains(TARGET)))
    }
}

/// A release of a private Bloom filter; what is seen is how many of the item's bits are ones. Plan
/// for few items: each run makes a release.
impl Mechanism for UltraPlan {
    fn name(&self) -> &str {
        "bloom"
    }

    fn claim(&self) -> Epsilon {
        self.epsilon()
    }

    fn outcomes(&self) -> u32 {
        self.hashes() + 1
    }

    fn describe(&self, event: Event) -> String {
        match event {
            Event::AtLeast(ones) => {
                format!("at least {ones} of the item's {} bits are ones", self.hashes())
            }
            Event::Below(ones) => {
                format!("fewer than {ones} of the item's {} bits are ones", self.hashes())
            }
        }
    }

    fn run(&self, with_target: bool, coins: u64) -> Result<u32, Error> {
        let mut private = UltraFilter::with_hash(*self, HashFamily::fast(coins))?;
        private.insert_many(set(with_target));
        Ok(private.rehearse(coins)?.ones_of(TARGET))
    }
}

/// A release of two private Bloom filters that share a seed and were united. Each has half of the
/// items, and both have the target; what is seen is how many of its bits are ones.
#[derive(Debug, Clone, Copy)]
pub struct United(
    /// The plan of the release. Plan for few items: each run makes a release.
    pub UltraPlan,
);

impl Mechanism for United {
    fn name(&self) -> &str {
        "bloom, united"
    }

    fn claim(&self) -> Epsilon {
        self.0.epsilon()
    }

    fn outcomes(&self) -> u32 {
        self.0.outcomes()
    }

    fn describe(&self, event: Event) -> String {
        self.0.describe(event)
    }

    fn run(&self, with_target: bool, coins: u64) -> Result<u32, Error> {
        let mut one = UltraFilter::with_hash(self.0, HashFamily::fast(coins))?;
        let mut other = one.like()?;
        one.insert_many(0..ITEMS / 2);
        other.insert_many(ITEMS / 2..ITEMS);
        if with_target {
            one.insert(TARGET);
            other.insert(TARGET);
        }
        one.union(&other)?;
        Ok(one.rehearse(coins)?.ones_of(TARGET))
    }
}

/// Two linear releases, of a set and of another one, that are asked for the target to estimate
/// their overlap. The target is in both sets or in neither, so the two losses add up.
#[derive(Debug, Clone, Copy)]
pub struct Compared(
    /// The plans of the two releases. Plan for few items: each run makes both.
    pub [LinearPlan; 2],
);

impl Mechanism for Compared {
    fn name(&self) -> &str {
        "linear, compared"
    }

    fn claim(&self) -> Epsilon {
        let [one, other] = self.0.map(|plan| plan.epsilon());
        one.checked_add(other).unwrap_or(Epsilon::MAX)
    }

    fn outcomes(&self) -> u32 {
        3
    }

    fn describe(&self, event: Event) -> String {
        match event {
            Event::AtLeast(passes) => format!("{passes} or more of 2 releases accept the item"),
            Event::Below(passes) => format!("fewer than {passes} of 2 releases accept the item"),
        }
    }

    fn run(&self, with_target: bool, coins: u64) -> Result<u32, Error> {
        let [one, other] = self.0;
        let one = LinearFilter::rehearse(one, set(with_target), coins)?.0;
        let other = LinearFilter::rehearse(other, set(with_target), !coins)?.0;
        let mut overlap = Overlap::new(&one, &other)?;
        overlap.add(one.contains(TARGET), other.contains(TARGET));
        let [_, second, first, both] = overlap.seen().map(|keys| keys as u32);
        Ok(first + second + 2 * both)
    }
}

#[cfg(test)]
mod tests {
    use super::{Compared, United};
    use crate::privacy::audit::{Options, Verdict, audit};
    use crate::privacy::{LinearPlan, UltraPlan};
    use crate::rate::{Kind, Plan};

    /// An audit of each finds nothing against the claim, and at least this share of it: of linear
    /// filters, and of Bloom filters.
    fn check(runs: u64, [linear, bloom]: [f64; 2]) {
        let options = Options { runs, ..Options::default() };
        for epsilon in ["1", "2.7081", "4"] {
            let plan = LinearPlan::new(16, epsilon.parse().unwrap()).unwrap();
            let found = audit(&plan, options, |_| ()).unwrap();
            assert_eq!(found.verdict, Verdict::Consistent, "{found}");
            assert!(found.epsilon > linear * found.claim.to_f64(), "{found}");
        }
        for (epsilon, hashes) in [("1", 1), ("2", 2), ("4", 3)] {
            let counts =
                Plan::from_items_bits(Kind::Bloom, 16, 256).unwrap().with_hashes(hashes).unwrap();
            let plan = UltraPlan::of_bloom(counts, epsilon.parse().unwrap()).unwrap();
            let found = audit(&plan, options, |_| ()).unwrap();
            assert_eq!(found.verdict, Verdict::Consistent, "{found}");
            assert!(found.epsilon > bloom * found.claim.to_f64(), "{found}");
            let found = audit(&United(plan), options, |_| ()).unwrap();
            assert_eq!(found.verdict, Verdict::Consistent, "{found}");
            assert!(found.epsilon > bloom * found.claim.to_f64(), "{found}");
        }
        // Both losses are seen: more than one release alone may cost.
        let plans = ["1", "1.5"].map(|it| LinearPlan::new(16, it.parse().unwrap()).unwrap());
        let found = audit(&Compared(plans), options, |_| ()).unwrap();
        assert_eq!(found.verdict, Verdict::Consistent, "{found}");
        assert!(found.epsilon > 0.6 * found.claim.to_f64(), "{found}");
        assert!(found.epsilon > plans[1].epsilon().to_f64(), "{found}");
    }

    /// Far fewer runs than an audit has by default, for the sake of time, and so a lower bound that
    /// is further below the claim.
    #[test]
    fn our_mechanisms_keep_their_claims_and_nearly_use_them_up() {
        check(10_000, [0.7, 0.45]);
    }

    #[test]
    #[ignore = "long: scripts/test --long runs it, optimised"]
    fn long_our_mechanisms_keep_their_claims_and_nearly_use_them_up() {
        check(100_000, [0.8, 0.6]);
    }
}
