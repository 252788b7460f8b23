//! How many keys of a list are in a published set.

use super::{Release, ReleasePlan};
use crate::Key;

/// A number that is known only through noise: the unbiased estimate, and an interval that covers
/// the true number 95 times in 100, or more often.
#[derive(Debug, Clone, Copy, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[non_exhaustive]
pub struct Estimate {
    /// The estimate. It may lie below 0 or above the number of keys: cut off there, estimates of
    /// many lists would not add up.
    pub value: f64,
    /// The lower end of the interval.
    pub low: f64,
    /// The upper end of the interval.
    pub high: f64,
}

/// How many standard deviations of a normal distribution hold 95%.
pub(super) const DEVIATIONS: f64 = 1.959_963_984_540_054;

/// Below this variance of the keys that pass, whole keys matter: the interval is half a key wider
/// on both sides.
pub(super) const FEW: f64 = 16.0;

impl Estimate {
    /// How many of `keys` distinct keys are members, if `passed` of them pass a filter with these
    /// chances: the strangers that pass, `fpr`, and the members that do not, `fnr`.
    ///
    /// The number s of members is estimated by (passed - keys fpr) / (1 - fnr - fpr). The interval
    /// holds every s for which `passed` is within 1.96 standard deviations of what is expected;
    /// these deviations follow from the chances, each key falling by itself. Where no key or every
    /// key is a member, or where few keys fall on the wrong side, it covers the truth more often.
    ///
    /// ```
    /// use tamis::privacy::Estimate;
    /// let members = Estimate::of_members(5_100, 10_000, 0.02, 0.02).unwrap();
    /// assert!((members.value - 5_104.2).abs() < 0.1);
    /// assert!(members.low < 5_080.0 && members.high > 5_130.0);
    /// // What passes as often as not tells nothing.
    /// assert!(Estimate::of_members(50, 100, 0.5, 0.5).is_none());
    /// ```
    #[must_use]
    pub fn of_members(passed: u64, keys: u64, fpr: f64, fnr: f64) -> Option<Estimate> {
        let (found, told) = (1.0 - fnr, 1.0 - fnr - fpr);
        if !(told > 0.0 && fpr >= 0.0 && fnr >= 0.0) || passed > keys {
            return None;
        }
        let keys = keys as f64;
        let above = passed as f64 - keys * fpr;
        // The variance is that of the strangers, if all are, and so much more for each member.
        let strangers = keys * fpr * (1.0 - fpr);
        let member = found * fnr - fpr * (1.0 - fpr);
        // (above - s told)^2 = z^2 (strangers + s member), a quadratic equation for s.
        let z2 = DEVIATIONS * DEVIATIONS;
        let end = |above: f64, sign: f64| {
            let half = above * told + z2 * member / 2.0;
            let square = half * half - told * told * (above * above - z2 * strangers);
            ((half + sign * square.max(0.0).sqrt()) / (told * told)).clamp(0.0, keys)
        };
        let value = above / told;
        let variance = strangers + value.clamp(0.0, keys) * member;
        let half_key = if 0.0 < variance && variance < FEW { 0.5 } else { 0.0 };
        Some(Estimate { value, low: end(above - half_key, -1.0), high: end(above + half_key, 1.0) })
    }
}

impl<P: ReleasePlan> Release<P> {
    /// How many of these keys are in the published set. Each key must come once.
    ///
    /// ```
    /// use tamis::privacy::{LinearFilter, LinearPlan, Receipt};
    /// let plan = LinearPlan::new(1_000, "2".parse()?)?;
    /// let public = LinearFilter::publish(plan, 0..1_000u64, Receipt::unrecorded(plan.epsilon()))?;
    /// let half: Vec<u64> = (500..1_500).collect();
    /// let members = public.estimate_members(&half);
    /// assert!((members.value - 500.0).abs() < 150.0);
    /// println!("{:.0}, or {:.0} to {:.0}", members.value, members.low, members.high);
    /// # Ok::<(), tamis::Error>(())
    /// ```
    #[must_use]
    pub fn estimate_members<K: Key>(&self, keys: &[K]) -> Estimate {
        let passed = self.contains_many(keys).iter().filter(|passed| **passed).count() as u64;
        let keys = keys.len() as u64;
        // A filter that is published at a loss above 0 tells something.
        Estimate::of_members(passed, keys, self.fpr(), self.fnr()).unwrap_or(Estimate {
            value: keys as f64 / 2.0,
            low: 0.0,
            high: keys as f64,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::HashFamily;
    use crate::privacy::{LinearFilter, LinearPlan, UltraFilter, UltraPlan};

    /// Of this many simulated releases: the mean of the estimates, and the share of intervals that
    /// cover the truth.
    fn simulate(runs: u64, members: u64, draw: impl Fn(u64) -> Estimate) -> (f64, f64) {
        let (mut sum, mut covered) = (0.0, 0u64);
        for run in 0..runs {
            let estimate = draw(run);
            sum += estimate.value;
            covered += u64::from((estimate.low..=estimate.high).contains(&(members as f64)));
        }
        (sum / runs as f64, covered as f64 / runs as f64)
    }

    /// Releases of `items` keys, asked for `asked` keys, of which `members` are in the set.
    fn check(runs: u64, items: u64, epsilon: &str, asked: u64, members: u64) {
        let epsilon = epsilon.parse().unwrap();
        let keys: Vec<u64> = (items - members..items - members + asked).collect();
        let linear = LinearPlan::new(items, epsilon).unwrap();
        let ultra = UltraPlan::new(items, epsilon).unwrap();
        let draw_linear =
            |run| LinearFilter::rehearse(linear, 0..items, run).unwrap().0.estimate_members(&keys);
        let draw_ultra = |run| {
            let mut filter = UltraFilter::with_hash(ultra, HashFamily::fast(run)).unwrap();
            filter.insert_many(0..items);
            filter.rehearse(run).unwrap().0.estimate_members(&keys)
        };
        let width = draw_linear(0).high - draw_linear(0).low;
        // Five standard deviations of a mean of so many, each a quarter of the interval's width.
        let bound = 5.0 * width / 3.9 / (runs as f64).sqrt();
        let slack = 5.0 * (0.95f64 * 0.05 / runs as f64).sqrt();
        for (name, (mean, covered)) in [
            ("linear", simulate(runs, members, draw_linear)),
            ("ultra", simulate(runs, members, draw_ultra)),
        ] {
            println!("{name} {items} {asked} {members}: mean {mean}, covered {covered}");
            assert!(name == "ultra" || (mean - members as f64).abs() <= bound, "{name} {mean}");
            // Ten thousand runs tell 95% from 94% and from 96%; fewer need some slack.
            let slack = if runs < 10_000 { slack } else { 0.0 };
            let most = if width < 5.0 * FEW.sqrt() { 1.0 } else { 0.96 + slack };
            assert!((0.94 - slack..=most).contains(&covered), "{name} {covered}");
        }
    }

    #[test]
    fn estimates_are_unbiased_and_their_intervals_cover() {
        check(400, 300, "2", 300, 100);
        check(400, 200, "4", 1_000, 200);
    }

    /// Sizes, overlaps and losses, ten thousand releases each.
    #[test]
    #[ignore = "takes a minute"]
    fn intervals_cover_95_of_100() {
        check(10_000, 300, "2", 300, 100);
        check(10_000, 200, "4", 1_000, 200);
        check(10_000, 1_000, "1", 500, 50);
        check(10_000, 500, "0.5", 2_000, 500);
        check(10_000, 400, "3", 400, 20);
        check(10_000, 400, "6", 400, 200);
        check(10_000, 400, "4", 800, 10);
    }

    #[test]
    fn odd_numbers_are_refused_or_cut() {
        assert!(Estimate::of_members(2, 1, 0.1, 0.1).is_none());
        assert!(Estimate::of_members(1, 2, f64::NAN, 0.1).is_none());
        assert!(Estimate::of_members(1, 2, -0.1, 0.1).is_none());
        let none = Estimate::of_members(0, 1_000, 0.1, 0.1).unwrap();
        assert!(none.value < 0.0 && none.low == 0.0 && none.high < 50.0, "{none:?}");
        let exact = Estimate::of_members(7, 10, 0.0, 0.0).unwrap();
        assert_eq!((exact.value, exact.low, exact.high), (7.0, 7.0, 7.0));
        let nothing = Estimate::of_members(0, 0, 0.1, 0.1).unwrap();
        assert_eq!((nothing.value, nothing.low), (0.0, 0.0));
    }
}
