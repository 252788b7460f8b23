//! Proofs of the zone of a coprime filter.
//!
//! A filter over `n` consecutive integers has pairwise coprime moduli; an element sets one bit for
//! each modulus, its remainder. A stranger is a false positive exactly when each modulus divides
//! the difference of the stranger and some stored element. Give each modulus to one such element:
//! as the moduli are coprime, the product of the moduli given to one element divides a difference,
//! which is at most `n - 1`. Conversely, moduli packed into `d` bins of product at most `n - 1`
//! give a false positive: the stranger is the first element, and the stored ones lie one bin's
//! product after it.
//!
//! So the filter is exact for every set of at most `d` elements if and only if its moduli do not
//! fit into `d` bins of product at most `n - 1`. Any lower bound on the number of bins is thus a
//! proof. The bounds here are the classical ones of bin packing, written with products in place of
//! sums, so that integers decide them exactly.

use std::fmt;

use num_bigint::BigUint;
use num_integer::Integer;
use num_traits::One;

/// The roots tried by the counting bound: beyond this the product bound is as good.
const ROOTS: u32 = 16;
/// How many thresholds of the packing bound are evaluated exactly (floats rank them).
const EXACT_THRESHOLDS: usize = 3;
/// The deepest recursion of the exhaustive search (one level for each modulus).
const DEEPEST: usize = 1024;
/// The nodes that the exhaustive search may visit by way of default.
pub(crate) const EFFORT: u64 = 100_000;

/// Why a number of stored elements is safe.
///
/// ```
/// use tamis::zone::{Certificate, zone};
/// let (items, why) = zone(&[2, 3, 5, 7, 11], 48, 10);
/// assert_eq!((items, why), (2, Certificate::Product));
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Certificate {
    /// Nothing is proved beyond the empty set.
    Empty,
    /// This modulus is at least the universe: its block is an exact bitmap.
    Unlimited {
        /// The modulus.
        modulus: u64,
    },
    /// The product of all moduli exceeds (n-1)(n-2)...(n-d).
    Product,
    /// The moduli are weighed by the roots of `n - 1`: with `root` 1, each modulus above the square
    /// root needs a bin of its own; with `root` r, at most r moduli above the (r+1)-th root
    /// share one.
    Count {
        /// One less than the degree of the root.
        root: u32,
    },
    /// No more than `most` of the moduli of at least `smallest` have a product below the universe.
    Together {
        /// The smallest modulus counted.
        smallest: u64,
        /// How many share a bin at most.
        most: u32,
    },
    /// The moduli are weighed by the powers of `base` that they reach.
    Levels {
        /// The base of the powers.
        base: u64,
    },
    /// Moduli below `threshold` are left out; those too large to share a bin with a modulus of at
    /// least `threshold` have bins of their own; the rest is too large together.
    Packing {
        /// The smallest modulus counted.
        threshold: u64,
    },
    /// A search through all packings found none.
    Exhaustive,
}

impl Certificate {
    /// The reason in plain words.
    #[must_use]
    pub fn explain(&self) -> String {
        match self {
            Self::Empty => String::from("nothing is proved beyond the empty set"),
            Self::Unlimited { modulus } => {
                format!(
                    "the modulus {modulus} is not below the universe, so its block is an exact bitmap"
                )
            }
            Self::Product => String::from(
                "the product of all moduli exceeds every product of that many distinct differences",
            ),
            Self::Count { root: 1 } => {
                String::from("no stored element can answer for two moduli above the square root")
            }
            Self::Count { root } => format!(
                "a modulus weighs the power of the {}-th root of the universe that it exceeds (a large one \
                 what it leaves of {root}), and one stored element can answer for a weight of {root} at most",
                root + 1
            ),
            Self::Together { smallest, most } => format!(
                "no stored element can answer for more than {most} of the moduli of at least {smallest}"
            ),
            Self::Levels { base } => format!(
                "a modulus weighs the power of {base} that it reaches (a large one what it leaves of the \
                 universe's), and one stored element cannot answer for more than the universe weighs"
            ),
            Self::Packing { threshold } => format!(
                "of the moduli of at least {threshold}, those too large to share a stored element have \
                 their own, and the product of the others exceeds what the remaining ones can answer for"
            ),
            Self::Exhaustive => String::from(
                "a search through all ways to share the moduli among the stored elements found none",
            ),
        }
    }
}

impl fmt::Display for Certificate {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.explain())
    }
}

/// The answer of the exhaustive search.
///
/// ```
/// use tamis::zone::{Packing, packing};
/// assert_eq!(packing(&[2, 3, 5, 7, 11], 48, 2, 10_000), Packing::Impossible);
/// assert!(matches!(packing(&[2, 3, 5, 7, 11], 48, 3, 10_000), Packing::Packed(_)));
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Packing {
    /// A packing: each bin's product is below the universe.
    Packed(Vec<Vec<u64>>),
    /// There is no packing.
    Impossible,
    /// The effort did not suffice, or a modulus is below 2.
    Unknown,
}

/// Whether the moduli are at least 2 and pairwise coprime.
pub(crate) fn pairwise_coprime(moduli: &[u64]) -> bool {
    let mut product = BigUint::one();
    for &modulus in moduli {
        if modulus < 2 {
            return false;
        }
        let rest = u64::try_from(&product % modulus).unwrap_or(0);
        if rest.gcd(&modulus) != 1 {
            return false;
        }
        product *= modulus;
    }
    true
}

/// The largest zone that the lower bounds prove, at most `most`, and why.
///
/// Moduli that are not pairwise coprime (or below 2) prove nothing. The exhaustive search is not
/// part of this: see `prove`.
pub fn zone(moduli: &[u64], universe: u128, most: u32) -> (u32, Certificate) {
    if moduli.is_empty() || !pairwise_coprime(moduli) {
        return (0, Certificate::Empty);
    }
    zone_of_coprime(moduli, universe, most)
}

/// As `zone`, and if the lower bounds fall short of `items`, the exhaustive search decides.
pub(crate) fn prove(
    moduli: &[u64],
    universe: u128,
    items: u32,
    effort: u64,
) -> Option<Certificate> {
    if moduli.is_empty() || !pairwise_coprime(moduli) {
        return None;
    }
    let (proved, certificate) = zone_of_coprime(moduli, universe, items);
    if proved >= items {
        return Some(certificate);
    }
    let mut effort = effort;
    let answer = search_packing(moduli, universe, items, &mut effort);
    (answer == Packing::Impossible).then_some(Certificate::Exhaustive)
}

/// `zone` for moduli known to be pairwise coprime and at least 2.
fn zone_of_coprime(moduli: &[u64], universe: u128, most: u32) -> (u32, Certificate) {
    let Some(&largest) = moduli.iter().max() else {
        return (0, Certificate::Empty);
    };
    if u128::from(largest) >= universe {
        return (most, Certificate::Unlimited { modulus: largest });
    }
    // From here on every modulus is at most n - 1, hence n - 1 >= 2.
    let mut sorted = moduli.to_vec();
    sorted.sort_unstable();
    let capacity = universe - 1;
    let mut best = (0, Certificate::Empty);
    let mut offer = |found: u32, certificate: Certificate| {
        if found.min(most) > best.0 {
            best = (found.min(most), certificate);
        }
        best.0 >= most
    };
    if offer(zone_by_product(&sorted, capacity, most), Certificate::Product) {
        return best;
    }
    for root in 1..=ROOTS {
        let bins = bins_by_levels(&sorted, capacity, &root_levels(capacity, root));
        if offer(zone_of_bins(bins), Certificate::Count { root }) {
            return best;
        }
    }
    let (bins, smallest, most_together) = bins_together(&sorted, capacity);
    if offer(zone_of_bins(bins), Certificate::Together { smallest, most: most_together }) {
        return best;
    }
    for &base in small_moduli(&sorted, capacity) {
        let bins = bins_by_levels(&sorted, capacity, &power_levels(capacity, base));
        if offer(zone_of_bins(bins), Certificate::Levels { base }) {
            return best;
        }
    }
    for threshold in promising_thresholds(&sorted, capacity) {
        let bins = bins_by_packing(&sorted, capacity, threshold);
        offer(zone_of_bins(bins), Certificate::Packing { threshold });
    }
    best
}

/// One bin fewer than are needed is safe.
fn zone_of_bins(bins: u64) -> u32 {
    u32::try_from(bins.saturating_sub(1)).unwrap_or(u32::MAX)
}

/// The largest d at most `most` such that the product of the moduli exceeds (n-1)(n-2)...(n-d).
///
/// The products of d bins are coprime, so those above 1 are distinct: they cannot exceed this.
fn zone_by_product(moduli: &[u64], capacity: u128, most: u32) -> u32 {
    let product = product_of(moduli);
    let mut differences = BigUint::one();
    for items in 0..most {
        // Below 2 no distinct difference is left that could answer for a modulus.
        let difference = capacity.saturating_sub(u128::from(items));
        if difference >= 2 {
            differences *= difference;
        }
        if difference < 2 && product > differences {
            return most;
        }
        if product <= differences {
            return items;
        }
    }
    most
}

/// The product of numbers, halves first: balanced factors multiply fastest.
pub(crate) fn product_of(numbers: &[u64]) -> BigUint {
    if numbers.len() <= 16 {
        return numbers.iter().map(|&number| BigUint::from(number)).product();
    }
    let (left, right) = numbers.split_at(numbers.len() / 2);
    product_of(left) * product_of(right)
}

/// The sorted moduli whose square is at most the capacity.
fn small_moduli(sorted: &[u64], capacity: u128) -> &[u64] {
    &sorted[..count_small(sorted, capacity)]
}

fn count_small(sorted: &[u64], capacity: u128) -> usize {
    sorted.partition_point(|&modulus| u128::from(modulus) * u128::from(modulus) <= capacity)
}

/// The least numbers of level 1, 2, ..., root, where a number has level j if its (root+1)-th power
/// exceeds the j-th power of the capacity.
pub(crate) fn root_levels(capacity: u128, root: u32) -> Vec<u128> {
    let mut power = BigUint::one();
    let mut levels = Vec::new();
    for _ in 1..=root {
        power *= capacity;
        let least = power.nth_root(root + 1) + 1u32;
        levels.push(u128::try_from(least).unwrap_or(u128::MAX));
    }
    levels
}

/// The powers of the base that are at most the capacity; a number has level j from the j-th on.
fn power_levels(capacity: u128, base: u64) -> Vec<u128> {
    let base = u128::from(base.max(2));
    let mut levels = Vec::new();
    let mut power = base;
    while power <= capacity {
        levels.push(power);
        power = power.saturating_mul(base);
        if power == u128::MAX {
            break;
        }
    }
    levels
}

/// The level of a number: how many of the ascending levels it reaches.
fn level(levels: &[u128], number: u128) -> u64 {
    levels.partition_point(|&least| least <= number) as u64
}

/// The weight of a modulus under levels that are superadditive: the levels of factors sum up to at
/// most the level of their product (true of both kinds above).
///
/// A modulus above the square root of the capacity weighs what it leaves: all of the capacity's
/// level but the level of capacity / modulus, which is the most that its companions weigh. No bin
/// holds two of these, so no bin weighs more than the level of the capacity.
pub(crate) fn weight(levels: &[u128], capacity: u128, modulus: u64) -> u64 {
    let modulus = u128::from(modulus);
    if modulus > capacity {
        return u64::MAX;
    }
    if modulus < 2 || modulus.saturating_mul(modulus) <= capacity {
        return level(levels, modulus);
    }
    levels.len() as u64 - level(levels, capacity / modulus)
}

/// The bins needed by weight (see `weight`): the sum over the moduli, divided by the level of the
/// capacity. All moduli of a level are counted at once.
fn bins_by_levels(sorted: &[u64], capacity: u128, levels: &[u128]) -> u64 {
    if levels.is_empty() {
        return 0;
    }
    let (small, large) = sorted.split_at(count_small(sorted, capacity));
    let mut total = 0u64;
    for &least in levels {
        let below = small.partition_point(|&modulus| u128::from(modulus) < least);
        let leaving = large.partition_point(|&modulus| u128::from(modulus) <= capacity / least);
        total += (small.len() - below + large.len() - leaving) as u64;
    }
    total.div_ceil(levels.len() as u64)
}

/// The bins needed because few moduli share one, with the smallest modulus counted and how many
/// share.
///
/// If the smallest r + 1 moduli from some modulus on have a product above the capacity, then no bin
/// holds r + 1 of the moduli from there on.
pub(crate) fn bins_together(sorted: &[u64], capacity: u128) -> (u64, u64, u32) {
    let mut best = (0, 0, 0);
    for most in 1..=ROOTS {
        let windows: Vec<&[u64]> = sorted.windows(most as usize + 1).collect();
        let begin = windows.partition_point(|window| fits(window, capacity));
        let bins = ((sorted.len() - begin) as u64).div_ceil(u64::from(most));
        if begin < windows.len() && bins > best.0 {
            best = (bins, sorted[begin], most);
        }
    }
    best
}

/// Whether the product of the moduli is at most the capacity.
fn fits(moduli: &[u64], capacity: u128) -> bool {
    let product =
        moduli.iter().try_fold(1u128, |product, &modulus| product.checked_mul(u128::from(modulus)));
    product.is_some_and(|product| product <= capacity)
}

/// The groups of the packing bound: how many moduli are too large to share a bin with the
/// threshold, how many others exceed the square root, and where the moduli of at least the
/// threshold begin.
fn groups(sorted: &[u64], capacity: u128, threshold: u64) -> (usize, usize, usize) {
    let begin = sorted.partition_point(|&modulus| modulus < threshold);
    let fitting =
        sorted.partition_point(|&modulus| u128::from(modulus) <= capacity / u128::from(threshold));
    let small = count_small(sorted, capacity).min(fitting);
    (sorted.len() - fitting, fitting - small, begin.min(small))
}

/// The bins needed by the packing bound of a threshold (Martello and Toth), which is at least 1 and
/// at most the square root of the capacity: moduli that cannot share a
/// bin with any modulus of at least the threshold are alone; the others need as many bins as there
/// are moduli above the square root, and as many as their product asks for.
fn bins_by_packing(sorted: &[u64], capacity: u128, threshold: u64) -> u64 {
    let (alone, large, begin) = groups(sorted, capacity, threshold);
    let product = product_of(&sorted[begin..sorted.len() - alone]);
    (alone as u64) + (large as u64).max(bins_of_product(&product, capacity))
}

/// The least number of factors `capacity` whose product is at least `product`.
fn bins_of_product(product: &BigUint, capacity: u128) -> u64 {
    let width = u64::from(u128::BITS - capacity.leading_zeros());
    // Fewer factors than this have fewer bits than the product.
    let fewest = product.bits().saturating_sub(1) / width;
    let mut bins = fewest;
    let mut power = BigUint::from(capacity).pow(u32::try_from(fewest).unwrap_or(0));
    while power < *product {
        power *= capacity;
        bins += 1;
    }
    bins
}

/// The thresholds that look best, by logarithms: 1 and the moduli up to the square root compete.
fn promising_thresholds(sorted: &[u64], capacity: u128) -> Vec<u64> {
    let mut sums = vec![0.0];
    for &modulus in sorted {
        sums.push(sums.last().copied().unwrap_or(0.0) + (modulus as f64).ln());
    }
    let unit = (capacity as f64).ln();
    let estimate = |threshold: u64| {
        let (alone, large, begin) = groups(sorted, capacity, threshold);
        let logarithm = sums[sorted.len() - alone] - sums[begin];
        alone as f64 + (large as f64).max(logarithm / unit)
    };
    let mut ranked: Vec<(f64, u64)> = vec![(estimate(1), 1)];
    for &modulus in small_moduli(sorted, capacity) {
        ranked.push((estimate(modulus), modulus));
    }
    ranked.sort_by(|left, right| right.0.total_cmp(&left.0).then(left.1.cmp(&right.1)));
    ranked.into_iter().take(EXACT_THRESHOLDS).map(|(_, threshold)| threshold).collect()
}

/// Whether the moduli fit into `bins` bins of product at most `universe - 1`.
///
/// The search visits at most `effort` nodes. The moduli need not be coprime for the packing itself;
/// only for coprime ones does it say anything of a filter.
pub fn packing(moduli: &[u64], universe: u128, bins: u32, effort: u64) -> Packing {
    let mut effort = effort;
    if zone(moduli, universe, bins).0 >= bins.max(1) {
        return Packing::Impossible;
    }
    search_packing(moduli, universe, bins, &mut effort)
}

/// Branch and bound: the moduli in descending order, each tried in the fullest bin first. What is
/// left of the effort is handed back.
pub(crate) fn search_packing(
    moduli: &[u64],
    universe: u128,
    bins: u32,
    effort: &mut u64,
) -> Packing {
    if moduli.iter().any(|&modulus| modulus < 2) {
        return Packing::Unknown;
    }
    if moduli.iter().any(|&modulus| u128::from(modulus) >= universe)
        || (bins == 0 && !moduli.is_empty())
    {
        return Packing::Impossible;
    }
    if moduli.len() > DEEPEST {
        return Packing::Unknown;
    }
    let mut descending = moduli.to_vec();
    descending.sort_unstable_by(|left, right| right.cmp(left));
    let count = moduli.len().min(usize::try_from(bins).unwrap_or(usize::MAX));
    let mut search = Search {
        needs: needs(&descending),
        moduli: descending,
        room: vec![universe.saturating_sub(1); count],
        place: Vec::new(),
        effort: *effort,
    };
    let answer = search.extend();
    *effort = search.effort;
    match answer {
        Some(true) => Packing::Packed(search.bins()),
        Some(false) => Packing::Impossible,
        None => Packing::Unknown,
    }
}

/// For each position, a lower bound of the logarithm of the product from there on.
fn needs(moduli: &[u64]) -> Vec<u64> {
    let mut needs = vec![0; moduli.len() + 1];
    for (index, &modulus) in moduli.iter().enumerate().rev() {
        needs[index] = needs[index + 1] + logarithm(u128::from(modulus), false);
    }
    needs
}

/// The state of the exhaustive search.
struct Search {
    moduli: Vec<u64>,
    needs: Vec<u64>,
    /// For each bin, the largest product that may still be added.
    room: Vec<u128>,
    /// The bin of each modulus placed so far.
    place: Vec<usize>,
    effort: u64,
}

impl Search {
    /// Places the remaining moduli: whether it is possible, or nothing if the effort ran out.
    fn extend(&mut self) -> Option<bool> {
        let Some(&modulus) = self.moduli.get(self.place.len()) else {
            return Some(true);
        };
        self.effort = self.effort.checked_sub(1)?;
        if self.hopeless() {
            return Some(false);
        }
        let modulus = u128::from(modulus);
        let mut order: Vec<usize> =
            (0..self.room.len()).filter(|&bin| self.room[bin] >= modulus).collect();
        order.sort_unstable_by_key(|&bin| self.room[bin]);
        let mut tried = 0;
        for bin in order {
            let room = self.room[bin];
            // Bins with equal room are alike.
            if room == tried {
                continue;
            }
            tried = room;
            self.room[bin] = room / modulus;
            self.place.push(bin);
            if self.extend()? {
                return Some(true);
            }
            self.place.pop();
            self.room[bin] = room;
        }
        Some(false)
    }

    /// Whether the bins that can take anything at all have too little room for what remains.
    fn hopeless(&self) -> bool {
        let smallest = self.moduli.last().map_or(2, |&modulus| u128::from(modulus));
        let usable = self.room.iter().filter(|&&room| room >= smallest);
        usable.map(|&room| logarithm(room, true)).sum::<u64>() < self.needs[self.place.len()]
    }

    fn bins(&self) -> Vec<Vec<u64>> {
        let mut bins = vec![Vec::new(); self.room.len()];
        for (&modulus, &bin) in self.moduli.iter().zip(&self.place) {
            bins[bin].push(modulus);
        }
        bins
    }
}

/// A bound of the binary logarithm in units of 2^-16, from above or from below, in integers alone.
///
/// The mantissa is squared again and again, rounded towards the bound; each doubling is a binary
/// digit.
fn logarithm(number: u128, above: bool) -> u64 {
    const DIGITS: u32 = 16;
    if number < 2 {
        return 0;
    }
    let width = number.ilog2();
    let round = u128::from(above);
    let mut result = u64::from(width);
    // The mantissa in units of 2^-62: it stays below 2^63 + 1, so that its square fits.
    let mut mantissa =
        if width <= 62 { number << (62 - width) } else { (number >> (width - 62)) + round };
    for _ in 0..DIGITS {
        mantissa = ((mantissa * mantissa) >> 62) + round;
        result *= 2;
        if mantissa >= 1 << 63 {
            mantissa = (mantissa >> 1) + round;
            result += 1;
        }
    }
    // The last mantissa is at most a rounding above 2: two units cover its logarithm.
    result + 2 * u64::from(above)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Whether a false positive exists with at most `items` stored elements, by trying all sets.
    fn deceivable(moduli: &[u64], universe: u64, items: u32) -> bool {
        let sets = 1u64 << universe;
        (0..sets).filter(|set| set.count_ones() <= items).any(|set| {
            let stored = |element: &u64| set >> element & 1 == 1;
            (0..universe).filter(|stranger| !stored(stranger)).any(|stranger| {
                moduli.iter().all(|modulus| {
                    (0..universe)
                        .filter(stored)
                        .any(|element| element % modulus == stranger % modulus)
                })
            })
        })
    }

    /// The smallest number of stored elements with a false positive, if any, at most 5: for each
    /// stranger, the sets of moduli that its neighbours answer for are united step by step.
    fn smallest_deception(moduli: &[u64], universe: u64) -> Option<u32> {
        let full = (1usize << moduli.len()) - 1;
        let mut least = None;
        for stranger in 0..universe {
            let answers = |element: u64| {
                let divides =
                    |&(_, &modulus): &(usize, &u64)| element.abs_diff(stranger) % modulus == 0;
                moduli
                    .iter()
                    .enumerate()
                    .filter(divides)
                    .fold(0usize, |mask, (index, _)| mask | 1 << index)
            };
            let masks: Vec<usize> =
                (0..universe).filter(|&element| element != stranger).map(answers).collect();
            let mut reached = vec![false; full + 1];
            reached[0] = true;
            for items in 1..=5 {
                let old = reached.clone();
                for mask in &masks {
                    (0..=full)
                        .filter(|&from| old[from])
                        .for_each(|from| reached[from | mask] = true);
                }
                if reached[full] && least.is_none_or(|found| items < found) {
                    least = Some(items);
                }
            }
        }
        least
    }

    /// All pairwise coprime sets of numbers from `from` on, with a bounded sum.
    fn coprime_sets(from: u64, sum: u64, stack: &mut Vec<u64>, found: &mut Vec<Vec<u64>>) {
        if !stack.is_empty() {
            found.push(stack.clone());
        }
        for number in from..=sum {
            if stack.iter().all(|other| other.gcd(&number) == 1) {
                stack.push(number);
                coprime_sets(number + 1, sum - number, stack, found);
                stack.pop();
            }
        }
    }

    fn all_sets(sum: u64) -> Vec<Vec<u64>> {
        let mut found = Vec::new();
        coprime_sets(2, sum, &mut Vec::new(), &mut found);
        found
    }

    fn check_truth(moduli: &[u64], universe: u64, items: u32, false_positive: bool) {
        let universe = u128::from(universe);
        let case = format!("{moduli:?} universe {universe} items {items}");
        let mut effort = EFFORT;
        let searched = search_packing(moduli, universe, items, &mut effort);
        assert_eq!(matches!(searched, Packing::Packed(_)), false_positive, "{case}");
        assert_eq!(searched == Packing::Impossible, !false_positive, "{case}");
        let answered = packing(moduli, universe, items, EFFORT);
        assert_eq!(answered == Packing::Impossible, !false_positive, "{case}");
        let (proved, certificate) = zone(moduli, universe, items);
        assert!(proved < items || !false_positive, "{case}: {certificate:?}");
    }

    #[test]
    fn packing_is_the_truth_by_all_sets() {
        for universe in [2, 3, 5, 8, 11] {
            for moduli in all_sets(universe + 5) {
                for items in 1..=4 {
                    check_truth(&moduli, universe, items, deceivable(&moduli, universe, items));
                }
            }
        }
    }

    #[test]
    fn packing_is_the_truth_by_unions() {
        for universe in [13, 17, 18, 24, 26, 30] {
            for moduli in all_sets(34) {
                let least = smallest_deception(&moduli, universe);
                for items in 1..=5 {
                    check_truth(
                        &moduli,
                        universe,
                        items,
                        least.is_some_and(|least| least <= items),
                    );
                }
            }
        }
    }

    /// Each bound by itself, so that none hides behind a better one.
    #[test]
    fn every_bound_is_below_the_truth() {
        for universe in [13u64, 18, 26, 30] {
            let capacity = u128::from(universe) - 1;
            for moduli in
                all_sets(34).into_iter().filter(|moduli| moduli.iter().all(|&m| m < universe))
            {
                let bins = u64::from(smallest_deception(&moduli, universe).unwrap_or(6));
                for root in 1..=ROOTS {
                    let bound = bins_by_levels(&moduli, capacity, &root_levels(capacity, root));
                    assert!(bound <= bins || bins == 6, "{moduli:?} {universe} root {root}");
                }
                let (bound, ..) = bins_together(&moduli, capacity);
                assert!(bound <= bins || bins == 6, "{moduli:?} {universe} together");
                for base in 1..universe {
                    let bound = bins_by_levels(&moduli, capacity, &power_levels(capacity, base));
                    assert!(bound <= bins || bins == 6, "{moduli:?} {universe} base {base}");
                    let threshold = base.min(capacity.isqrt() as u64);
                    let bound = bins_by_packing(&moduli, capacity, threshold);
                    assert!(
                        bound <= bins || bins == 6,
                        "{moduli:?} {universe} threshold {threshold}"
                    );
                }
                let bound = zone_by_product(&moduli, capacity, 10);
                assert!(u64::from(bound) < bins || bins == 6, "{moduli:?} {universe}");
            }
        }
    }

    #[test]
    fn weights_sum_up_to_the_bins() {
        let moduli = [16u64, 27, 25, 7, 11, 101, 251, 257, 1009, 30011];
        let mut sorted = moduli.to_vec();
        sorted.sort_unstable();
        for levels in [root_levels(65535, 3), root_levels(65535, 1), power_levels(65535, 7)] {
            let total: u64 = moduli.iter().map(|&modulus| weight(&levels, 65535, modulus)).sum();
            assert_eq!(
                bins_by_levels(&sorted, 65535, &levels),
                total.div_ceil(levels.len() as u64)
            );
        }
    }

    #[test]
    fn special_cases() {
        assert_eq!(zone(&[], 10, 5), (0, Certificate::Empty));
        assert_eq!(zone(&[6, 10], 10, 5), (0, Certificate::Empty));
        assert_eq!(zone(&[1, 7], 7, 5), (0, Certificate::Empty));
        assert_eq!(zone(&[3, 10], 10, 5), (5, Certificate::Unlimited { modulus: 10 }));
        assert_eq!(packing(&[], 10, 0, 9), Packing::Packed(vec![]));
        assert_eq!(packing(&[2], 10, 0, 9), Packing::Impossible);
        assert_eq!(packing(&[0], 10, 3, 9), Packing::Unknown);
        assert_eq!(packing(&[2, 3, 5, 7], 48, 2, 0), Packing::Unknown);
    }

    #[test]
    fn logarithms_are_bounds() {
        for number in
            (2u128..2000).chain([u128::from(u64::MAX), 1 << 64, (1 << 100) + 1, u128::MAX])
        {
            let exact = (number as f64).log2() * 65536.0;
            let (below, above) = (logarithm(number, false) as f64, logarithm(number, true) as f64);
            assert!(below <= exact + 1e-6 && exact <= above + 1e-6, "{number}");
            assert!(above - below <= 4.0, "{number}");
        }
    }

    #[test]
    fn every_certificate_has_words() {
        let levels = Certificate::Levels { base: 23 };
        assert!(levels.to_string().contains("power of 23"));
        assert!(Certificate::Count { root: 2 }.explain().contains("3-th root"));
    }

    proptest! {
        #[test]
        fn nothing_panics(
            moduli in prop::collection::vec(any::<u64>(), 0..12),
            small in prop::collection::vec(0u64..50, 0..12),
            universe: u128,
            bits in 0u32..128,
            items: u32,
        ) {
            for moduli in [moduli, small] {
                let universe = universe >> bits;
                let (proved, _) = zone(&moduli, universe, items);
                prop_assert!(proved <= items);
                if let Packing::Packed(bins) = packing(&moduli, universe, items, 1000) {
                    prop_assert!(proved < items || items == 0);
                    for bin in bins {
                        prop_assert!(product_of(&bin) < BigUint::from(universe).max(2u32.into()));
                    }
                }
            }
        }
    }
}
