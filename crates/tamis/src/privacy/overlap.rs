//! How many items two published sets have in common.

use super::estimate::{DEVIATIONS, FEW};
use super::{Estimate, PublicBloom, Release, ReleasePlan, UltraPlan};
use crate::{Error, Key, bits};

/// How two releases answer the same keys, for an estimate of how many of the keys are in both sets.
///
/// Each release is asked for every candidate key, so any two will do: linear or Bloom, of any size,
/// seed and loss. Where keys come all at once, [`Release::estimate_overlap_among`] is shorter.
///
/// ```
/// use tamis::privacy::{LinearFilter, LinearPlan, Overlap, Receipt};
/// let plan = LinearPlan::new(1_000, "4".parse()?)?;
/// let publish = |keys| LinearFilter::publish(plan, keys, Receipt::unrecorded(plan.epsilon()));
/// let (one, other) = (publish(0..1_000u64)?, publish(600..1_600u64)?);
/// let mut overlap = Overlap::new(&one, &other)?;
/// for key in 0..1_600u64 {
///     overlap.add(one.contains(key), other.contains(key));
/// }
/// assert!((overlap.estimate().value - 400.0).abs() < 100.0);
/// # Ok::<(), tamis::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct Overlap {
    one: Channel,
    other: Channel,
    /// The chance of each [`Answers`] for a key that is in neither set.
    neither: Answers<f64>,
    /// Whether keys that share a bit of one filter share it in the other.
    one_hash: bool,
    seen: Answers<u64>,
}

/// What is known of pairs of answers: of two noes, a yes of the second alone, a yes of the first
/// alone, two yeses.
type Answers<T> = [T; 4];

const PAIRS: Answers<(bool, bool)> = [(false, false), (false, true), (true, false), (true, true)];

/// How a release answers, and what is to be added up for its answers.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Channel {
    fpr: f64,
    fnr: f64,
    /// The share of other keys that a key shares a bit with, times the part of its bits.
    shared: f64,
}

impl Channel {
    fn of<P: ReleasePlan>(release: &Release<P>) -> Option<Channel> {
        let (fpr, fnr) = (release.fpr(), release.fnr());
        let share = |plan: &UltraPlan| f64::from(plan.hashes()) / plan.bits() as f64;
        let shared = release.plan().as_ultra().map_or(0.0, share);
        (1.0 - fnr - fpr > 0.0).then_some(Channel { fpr, fnr, shared })
    }

    /// The chance of an answer.
    fn chance(self, member: bool, passes: bool) -> f64 {
        let passing = if member { 1.0 - self.fnr } else { self.fpr };
        if passes { passing } else { 1.0 - passing }
    }

    /// A number whose mean is 1 for a member and 0 for a stranger.
    fn weight(self, passes: bool) -> f64 {
        (f64::from(u8::from(passes)) - self.fpr) / (1.0 - self.fnr - self.fpr)
    }

    /// The variance of the weight.
    fn variance(self, member: bool) -> f64 {
        let passing = self.chance(member, true);
        passing * (1.0 - passing) / (1.0 - self.fnr - self.fpr).powi(2)
    }
}

impl Overlap {
    /// Gets ready to ask two releases for the same keys.
    ///
    /// Published Bloom filters with the same hash let the same strangers pass more often than
    /// chance would, since items that both sets hold set the same bits. How often is read off
    /// their bits, so filters with the same hash must have the same number of bits.
    pub fn new<P: ReleasePlan, Q: ReleasePlan>(
        one: &Release<P>,
        other: &Release<Q>,
    ) -> Result<Overlap, Error> {
        let (Some(first), Some(second)) = (Channel::of(one), Channel::of(other)) else {
            return Err(Error::TooNoisy);
        };
        let same_hash = one.hash() == other.hash();
        let (one_hash, neither) = match (one.plan().as_ultra(), other.plan().as_ultra()) {
            (Some(left), Some(right)) if same_hash => {
                need_same_bits(left, right)?;
                let pairs = Pairs::count(left.bits(), one.body(), other.body());
                (true, both_pass(left, right, &pairs))
            }
            _ => (false, PAIRS.map(|(a, b)| first.chance(false, a) * second.chance(false, b))),
        };
        Ok(Overlap { one: first, other: second, neither, one_hash, seen: [0; 4] })
    }

    /// Notes whether a key passes the first release, and the second. Each key must come once.
    pub fn add(&mut self, passes_one: bool, passes_other: bool) {
        self.seen[2 * usize::from(passes_one) + usize::from(passes_other)] += 1;
    }

    /// How many keys passed neither, only the second, only the first, and both.
    #[must_use]
    pub fn seen(&self) -> [u64; 4] {
        self.seen
    }

    /// How many of the keys are in both sets.
    ///
    /// Give a yes of a release the weight (1 - fpr)/(1 - fnr - fpr) and a no the weight
    /// -fpr/(1 - fnr - fpr): the mean is 1 for a member and 0 for a stranger. The noise of the two
    /// releases is independent, so the mean of the product of the two weights is 1 for a key of
    /// both sets and 0 for a key of one. It is 0 for a key of neither as well, unless two Bloom
    /// filters share their hash; then that mean is taken off, times the estimated number of such
    /// keys. The sum over all keys is the estimate. Its variance follows from the chances, and from
    /// how many keys share a bit, and so a fate.
    #[must_use]
    pub fn estimate(&self) -> Estimate {
        let keys = self.seen.iter().sum::<u64>() as f64;
        let weights = PAIRS.map(|(a, b)| [self.one.weight(a), self.other.weight(b)]);
        // The mean of the product for a key of neither set.
        let mean: f64 = weights.iter().zip(self.neither).map(|([a, b], p)| p * a * b).sum();
        let common = weights.map(|[a, b]| a * b - mean / (1.0 + mean) * (1.0 - a) * (1.0 - b));
        let sum = |weights: Answers<f64>| -> f64 {
            weights.iter().zip(self.seen).map(|(weight, seen)| weight * seen as f64).sum()
        };
        let value = sum(common);
        // How many keys are in neither set, in one of them, and in both, as the variance needs it.
        let neither = sum(weights.map(|[a, b]| (1.0 - a) * (1.0 - b))) / (1.0 + mean);
        let [first, second] = [0, 1].map(|i| sum(weights.map(|both| both[i])) - value);
        let held = [neither, second, first, value].map(|keys| keys.max(0.0));
        let scale = keys / held.iter().sum::<f64>().max(f64::MIN_POSITIVE);
        let held = held.map(|keys| keys * scale);
        let variance: f64 = PAIRS
            .iter()
            .zip(held)
            .map(|((in_one, in_other), held)| {
                let chances = match (in_one, in_other) {
                    (false, false) => self.neither,
                    _ => PAIRS.map(|(a, b)| {
                        self.one.chance(*in_one, a) * self.other.chance(*in_other, b)
                    }),
                };
                let square: f64 = chances.iter().zip(common).map(|(p, w)| p * w * w).sum();
                held * (square - f64::from(u8::from(*in_one && *in_other)))
            })
            .sum();
        Estimate::normal(value, variance + self.variance_of_shared_bits(held), keys)
    }

    /// What the variance gains by keys that share a bit of a Bloom filter, if so many keys are in
    /// neither set, in one of them, and in both.
    ///
    /// Given the bodies, a stranger's bits are independent of all others', and its weight has mean
    /// 0; so pairs with a stranger to both gain nothing. Members of a set that share a bit share
    /// its noise. If the filters share their hash, keys of different sets that share a bit even
    /// make each other seem to be in both.
    fn variance_of_shared_bits(&self, [_, second, first, both]: Answers<f64>) -> f64 {
        let [one, other] = [self.one, self.other];
        let [v, w] = [one.variance(true), other.variance(true)];
        if !self.one_hash {
            return both * both * (one.shared * v + other.shared * w);
        }
        one.shared.max(other.shared)
            * (2.0 * first * second * (1.0 + v) * (1.0 + w)
                + first * first * v * other.variance(false)
                + second * second * w * one.variance(false)
                + 2.0 * first * both * v * (1.0 + w)
                + 2.0 * second * both * w * (1.0 + v)
                + both * both * (v + w + v * w))
    }
}

impl Estimate {
    /// The interval of a number that is normal with this variance, from 0 to `most`.
    fn normal(value: f64, variance: f64, most: f64) -> Estimate {
        let half_key = if 0.0 < variance && variance < FEW { 0.5 } else { 0.0 };
        let reach = DEVIATIONS * variance.max(0.0).sqrt() + half_key;
        let end = |end: f64| end.clamp(0.0, most);
        Estimate { value, low: end(value - reach), high: end(value + reach) }
    }
}

impl<P: ReleasePlan> Release<P> {
    /// How many of these keys are both in this published set and in the other one. Each key must
    /// come once. See [`Overlap`].
    ///
    /// ```
    /// use tamis::privacy::{LinearFilter, LinearPlan, Receipt};
    /// let plan = LinearPlan::new(1_000, "4".parse()?)?;
    /// let publish = |keys| LinearFilter::publish(plan, keys, Receipt::unrecorded(plan.epsilon()));
    /// let (one, other) = (publish(0..1_000u64)?, publish(600..1_600u64)?);
    /// let candidates: Vec<u64> = (0..10_000).collect();
    /// let common = one.estimate_overlap_among(&other, &candidates)?;
    /// assert!((common.value - 400.0).abs() < 100.0);
    /// # Ok::<(), tamis::Error>(())
    /// ```
    pub fn estimate_overlap_among<Q: ReleasePlan, K: Key>(
        &self,
        other: &Release<Q>,
        keys: &[K],
    ) -> Result<Estimate, Error> {
        let mut overlap = Overlap::new(self, other)?;
        for (one, other) in self.contains_many(keys).iter().zip(other.contains_many(keys)) {
            overlap.add(*one, other);
        }
        Ok(overlap.estimate())
    }
}

impl PublicBloom {
    /// How many items two published sets have in common, without a list of keys to ask for. The
    /// releases must have the same hash, bits and hashes, as those of filters that are made
    /// [`like`](super::UltraFilter::like) each other have; they may have different losses.
    ///
    /// A bit that is empty in a private filter is a zero of the release with chance 1 - f, and
    /// another bit with chance f. So the numbers of bits that are empty in one set, in the other
    /// and in both can be estimated without bias. Each follows from how many items set bits, and
    /// |A| + |B| - |A or B| is the overlap. It is right on average up to terms of the third order,
    /// since the logarithms' second order is taken off. [`Error::TooNoisy`] if so few bits are
    /// known to be empty that it would not be.
    ///
    /// ```
    /// use tamis::privacy::{Receipt, UltraFilter, UltraPlan};
    /// let mut one = UltraFilter::new(UltraPlan::new(1_000, "4".parse()?)?)?;
    /// let mut other = one.like()?;
    /// one.insert_many(0..1_000u64);
    /// other.insert_many(600..1_600u64);
    /// let publish = |list: &UltraFilter| list.publish(Receipt::unrecorded("4".parse()?));
    /// let common = publish(&one)?.estimate_overlap(&publish(&other)?)?;
    /// assert!((common.value - 400.0).abs() < 150.0);
    /// # Ok::<(), tamis::Error>(())
    /// ```
    pub fn estimate_overlap(&self, other: &PublicBloom) -> Result<Estimate, Error> {
        let (plan, second) = (self.plan(), other.plan());
        if self.hash() != other.hash() {
            let name = |release: &PublicBloom| {
                let hash = release.hash();
                let seed = hash.seed().map_or(String::new(), |seed| format!(", seed {seed}"));
                format!("{}{seed}", hash.name())
            };
            return Err(differ("hash", name(self), name(other)));
        }
        need_same_bits(plan, second)?;
        if plan.hashes() != second.hashes() {
            return Err(differ("hashes", plan.hashes(), second.hashes()));
        }
        let pairs = Pairs::count(plan.bits(), self.body(), other.body());
        pairs.overlap(plan, second).ok_or(Error::TooNoisy)
    }
}

fn differ(field: &'static str, left: impl ToString, right: impl ToString) -> Error {
    Error::Mismatch { field, left: left.to_string(), right: right.to_string() }
}

fn need_same_bits(one: &UltraPlan, other: &UltraPlan) -> Result<(), Error> {
    if one.bits() == other.bits() {
        return Ok(());
    }
    Err(differ("bits", one.bits(), other.bits()))
}

/// How often each pair of bits comes in two bodies.
struct Pairs {
    bits: f64,
    shares: Answers<f64>,
}

impl Pairs {
    fn count(bits: u64, one: &[u8], other: &[u8]) -> Pairs {
        let both: u64 = one.iter().zip(other).map(|(a, b)| u64::from((a & b).count_ones())).sum();
        let (ones, others) = (bits::count(one), bits::count(other));
        let counts = [bits + both - ones - others, others - both, ones - both, both];
        Pairs { bits: bits as f64, shares: counts.map(|count| count as f64 / bits as f64) }
    }

    /// The overlap, or `None` where the noise hides it.
    fn overlap(&self, one: &UltraPlan, other: &UltraPlan) -> Option<Estimate> {
        /// The largest deviation of a share that the logarithm's second order describes.
        const ROUGH: f64 = 0.2;
        let m = self.bits;
        // A bit's weight has mean 1 if it was empty, and else 0; and this variance either way.
        let flips = [one, other].map(|plan| plan.flip_rate().to_f64());
        let [v, w] = flips.map(|f| f * (1.0 - f) / (1.0 - 2.0 * f).powi(2));
        let weight = |f: f64, bit: bool| (if bit { -f } else { 1.0 - f }) / (1.0 - 2.0 * f);
        let share = |value: fn(f64, f64) -> f64| -> f64 {
            let terms = PAIRS.iter().zip(self.shares);
            terms.map(|((a, b), p)| p * value(weight(flips[0], *a), weight(flips[1], *b))).sum()
        };
        // The shares of bits that are empty in one, in the other, in both.
        let (a, b, c) = (share(|a, _| a), share(|_, b| b), share(|a, b| a * b));
        if !(a > 0.0 && b > 0.0 && c > 0.0) {
            return None;
        }
        // The throws of so many items leave a share x of the bits empty with this variance, times
        // the number of bits.
        let thrown = |x: f64| (x - x * x * (1.0 - x.ln())).max(0.0);
        let variances =
            [(a, thrown(a) + v), (b, thrown(b) + w), (c, thrown(c) + v * w + a * w + b * v)];
        let [left, right, union] = variances.map(|(x, variance)| variance / (m * x * x));
        if left.max(right).max(union) > ROUGH * ROUGH {
            return None;
        }
        // Throws of common items to a bit; the logarithm of an estimate is too low by half its
        // relative variance.
        let common = c.ln() - a.ln() - b.ln() + (union - left - right) / 2.0;
        // The variance of the sum of the three logarithms' first order: of the throws, given how
        // many items there are, and of the noise.
        let throws = 1.0 / c + 2.0 * c / (a * b) - 1.0 / a - 1.0 / b - 1.0 - common;
        let noise = |v: f64, a: f64, b: f64| v * (1.0 / (a * a) - 2.0 * b / (a * c) + b / (c * c));
        let variance = throws.max(0.0) + noise(v, a, b) + noise(w, b, a) + v * w / (c * c);
        // One item takes off a share of (1 - 1/m)^k.
        let items = -1.0 / (f64::from(one.hashes()) * (-1.0 / m).ln_1p());
        Some(Estimate::normal(items * common, items * items * variance / m, f64::MAX))
    }
}

/// The chances of the answers of two Bloom filters with the same hash to a key that is in neither
/// set, whose bits fall on any pair of bits alike.
fn both_pass(one: &UltraPlan, other: &UltraPlan, pairs: &Pairs) -> Answers<f64> {
    let (k, l) = (one.hashes() as usize, other.hashes() as usize);
    // How likely so many ones are in one and in the other.
    let mut chances = vec![vec![0.0; l + 1]; k + 1];
    chances[0][0] = 1.0;
    for step in 0..k.max(l) {
        for i in (0..=k.min(step + 1)).rev() {
            for j in (0..=l.min(step + 1)).rev() {
                let mut sum = 0.0;
                for ((a, b), p) in PAIRS.iter().zip(pairs.shares) {
                    // A filter with fewer hashes does not look at the later bits.
                    let (a, b) = (usize::from(*a && step < k), usize::from(*b && step < l));
                    if i >= a && j >= b {
                        sum += p * chances[i - a][j - b];
                    }
                }
                chances[i][j] = sum;
            }
        }
    }
    let mut answers = [0.0; 4];
    for (i, row) in chances.iter().enumerate() {
        for (j, chance) in row.iter().enumerate() {
            let passes = [i as u32 >= one.threshold(), j as u32 >= other.threshold()];
            answers[2 * usize::from(passes[0]) + usize::from(passes[1])] += chance;
        }
    }
    answers
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::HashFamily;
    use crate::privacy::{Epsilon, LinearFilter, LinearPlan, UltraFilter};
    use std::ops::Range;

    /// Two sets of so many items, and so many in common.
    #[derive(Debug, Clone, Copy)]
    struct Sets {
        items: [u64; 2],
        common: u64,
    }

    impl Sets {
        fn ranges(self) -> [Range<u64>; 2] {
            let [one, other] = self.items;
            [0..one, one - self.common..one - self.common + other]
        }
    }

    fn ultra(items: Range<u64>, epsilon: Epsilon, room: u64, seed: u64, coins: u64) -> PublicBloom {
        let plan = UltraPlan::new(room, epsilon).unwrap();
        ultra_by(plan, items, seed, coins)
    }

    fn ultra_by(plan: UltraPlan, items: Range<u64>, seed: u64, coins: u64) -> PublicBloom {
        let mut filter = UltraFilter::with_hash(plan, HashFamily::fast(seed)).unwrap();
        filter.insert_many(items);
        filter.rehearse(coins).unwrap().0
    }

    fn linear(items: Range<u64>, epsilon: Epsilon, room: u64, seed: u64) -> LinearFilter {
        LinearFilter::rehearse(LinearPlan::new(room, epsilon).unwrap(), items, seed).unwrap().0
    }

    /// Of so many simulated pairs of releases: the mean is the truth within five standard
    /// deviations, and 95% of the intervals hold it. At an end of what can be, 0 or `most`, they
    /// are cut off there, and hold it more often.
    fn check(
        what: &str,
        runs: u64,
        [truth, most]: [u64; 2],
        draw: impl Fn(u64) -> Estimate + Sync,
    ) {
        let at_end = truth == 0 || truth == most;
        let truth = truth as f64;
        let threads = std::thread::available_parallelism().map_or(1, usize::from);
        let estimates: Vec<Estimate> =
            crate::threads::share(threads, 0..runs, draw).into_iter().collect();
        let n = runs as f64;
        let mean = estimates.iter().map(|estimate| estimate.value).sum::<f64>() / n;
        let square = |estimate: &Estimate| (estimate.value - mean).powi(2);
        let deviation = (estimates.iter().map(square).sum::<f64>() / (n - 1.0)).sqrt();
        let covered = estimates.iter().filter(|it| (it.low..=it.high).contains(&truth)).count();
        let covered = covered as f64 / n;
        println!("{what}: {truth}: mean {mean:.2}, deviation {deviation:.2}, covered {covered}");
        let bound = 5.0 * deviation / n.sqrt();
        assert!((mean - truth).abs() <= bound, "{what}: mean {mean}, not {truth} +- {bound}");
        // Ten thousand runs tell 95% from 94% and from 96%; fewer need some slack.
        let slack = if runs < 10_000 { 5.0 * (0.95f64 * 0.05 / n).sqrt() } else { 0.0 };
        // An interval is cut off at 0 and at the number of keys, and covers more there.
        let most = if at_end || deviation < FEW.sqrt() { 1.0 } else { 0.96 + slack };
        assert!((0.94 - slack..=most).contains(&covered), "{what}: covered {covered}");
    }

    /// Every pair of kinds, asked for candidate keys.
    fn check_among(runs: u64, sets: Sets, epsilons: [&str; 2], asked: u64) {
        let [first, second] = epsilons.map(|epsilon| epsilon.parse::<Epsilon>().unwrap());
        let [one, other] = sets.ranges();
        let keys: Vec<u64> = (0..asked).collect();
        let truth = keys.iter().filter(|key| one.contains(key) && other.contains(key)).count();
        let room = sets.items[0].max(sets.items[1]);
        let seeds = |run: u64| [2 * run, 2 * run + 1];
        let check = |what, draw: &(dyn Fn(u64) -> Estimate + Sync)| {
            check(&format!("{what} {sets:?} {epsilons:?}"), runs, [truth as u64, asked], draw);
        };
        check("linear, linear", &|run| {
            let [a, b] = seeds(run);
            let one = linear(one.clone(), first, room, a);
            let other = linear(other.clone(), second, room, b);
            one.estimate_overlap_among(&other, &keys).unwrap()
        });
        check("linear, bloom", &|run| {
            let [a, b] = seeds(run);
            let one = linear(one.clone(), first, room, a);
            let other = ultra(other.clone(), second, room, b, b);
            one.estimate_overlap_among(&other, &keys).unwrap()
        });
        check("bloom, bloom", &|run| {
            let [a, b] = seeds(run);
            let one = ultra(one.clone(), first, room, a, a);
            let other = ultra(other.clone(), second, room, b, b);
            one.estimate_overlap_among(&other, &keys).unwrap()
        });
        check("bloom, bloom, one seed", &|run| {
            let [a, b] = seeds(run);
            let one = ultra(one.clone(), first, room, a, a);
            let other = ultra(other.clone(), second, room, a, b);
            one.estimate_overlap_among(&other, &keys).unwrap()
        });
    }

    /// Releases of one seed, without keys.
    fn check_bits(runs: u64, sets: Sets, epsilons: [&str; 2], hashes: u32) {
        let room = sets.items[0].max(sets.items[1]);
        let bloom = crate::rate::Plan::from_items_bits(crate::rate::Kind::Bloom, room, 16 * room);
        let bloom = bloom.unwrap().with_hashes(hashes).unwrap();
        let plans = epsilons.map(|epsilon| UltraPlan::of_bloom(bloom, epsilon.parse().unwrap()));
        let [first, second] = plans.map(Result::unwrap);
        let [one, other] = sets.ranges();
        let what = format!("bits, {hashes} hashes {sets:?} {epsilons:?}");
        check(&what, runs, [sets.common, u64::MAX], |run| {
            let one = ultra_by(first, one.clone(), run, 2 * run);
            let other = ultra_by(second, other.clone(), run, 2 * run + 1);
            one.estimate_overlap(&other).unwrap()
        });
    }

    #[test]
    fn overlaps_are_unbiased_and_their_intervals_cover() {
        let sets = Sets { items: [300, 200], common: 100 };
        check_among(200, sets, ["2", "3"], 600);
        check_bits(200, sets, ["2", "3"], 1);
        check_bits(200, sets, ["4", "6"], 2);
    }

    /// Sizes, overlaps and losses, ten thousand pairs of releases each.
    #[test]
    #[ignore = "long: scripts/test --long runs it, optimised"]
    fn hour_of_overlaps_by_keys() {
        for (items, common, epsilons, asked) in [
            ([300, 200], 100, ["2", "3"], 600),
            ([400, 400], 0, ["2", "2"], 800),
            ([400, 400], 400, ["1", "1"], 400),
            ([1_000, 300], 250, ["1", "4"], 1_500),
            ([500, 500], 50, ["0.5", "2"], 2_000),
            ([300, 300], 150, ["4", "4"], 3_000),
        ] {
            check_among(10_000, Sets { items, common }, epsilons, asked);
        }
    }

    #[test]
    #[ignore = "long: scripts/test --long runs it, optimised"]
    fn long_overlaps_by_bits() {
        for (items, common, epsilons, hashes) in [
            ([300, 200], 100, ["2", "3"], 1),
            ([2_000, 1_500], 1_000, ["1", "1"], 1),
            ([1_000, 1_000], 0, ["2", "2"], 1),
            ([1_000, 1_000], 1_000, ["2", "4"], 1),
            ([1_000, 700], 300, ["4", "4"], 2),
            ([1_000, 700], 300, ["9", "6"], 3),
            ([1_000, 700], 300, ["20", "20"], 1),
        ] {
            check_bits(10_000, Sets { items, common }, epsilons, hashes);
        }
    }

    #[test]
    fn what_cannot_be_compared_is_refused() {
        let two = "2".parse().unwrap();
        let one = ultra(0..50, two, 100, 1, 1);
        let other_seed = ultra(0..50, two, 100, 2, 1);
        let larger = ultra(0..50, two, 200, 1, 1);
        for (other, field) in [(&other_seed, "hash"), (&larger, "bits")] {
            let refused = one.estimate_overlap(other);
            assert!(
                matches!(&refused, Err(Error::Mismatch { field: it, .. }) if *it == field),
                "{refused:?}"
            );
        }
        // Keys can be asked for in filters of any two seeds, but not of one seed and two sizes.
        assert!(one.estimate_overlap_among(&other_seed, &[1, 2, 3]).is_ok());
        assert!(one.estimate_overlap_among(&larger, &[1, 2, 3]).is_err());
        let hopeless = "0.01".parse().unwrap();
        let [one, other] = [1, 2].map(|coins| ultra(0..50, hopeless, 100, 1, coins));
        assert!(matches!(one.estimate_overlap(&other), Err(Error::TooNoisy)));
        // A body of ones says that no bit is empty, or that all were flipped.
        let [full, other] = [1, 2].map(|coins| ultra(0..100_000, two, 100, 1, coins));
        assert!(matches!(full.estimate_overlap(&other), Err(Error::TooNoisy)));
        let nothing = one.estimate_overlap_among::<_, u64>(&other_seed, &[]).unwrap();
        assert_eq!((nothing.value, nothing.low, nothing.high), (0.0, 0.0, 0.0));
    }

    /// Without noise and with nothing but members, the count is exact.
    #[test]
    fn a_large_epsilon_counts() {
        let loud = "40".parse().unwrap();
        let one = ultra(0..100, loud, 100_000, 1, 1);
        let other = ultra(50..150, loud, 100_000, 2, 2);
        let keys: Vec<u64> = (0..150).collect();
        let common = one.estimate_overlap_among(&other, &keys).unwrap();
        assert!((common.value - 50.0).abs() < 1.0, "{common:?}");
        assert!(common.low <= 50.0 && common.high >= 50.0 && common.high < 53.0, "{common:?}");
    }
}
