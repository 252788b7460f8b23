//! Lower bounds on the number of bins.

use crate::zone::arith::chinese::product_of;
use num_bigint::BigUint;
use num_traits::One;

/// The roots tried by the counting bound: beyond this the product bound is as good.
pub(super) const ROOTS: u32 = 16;
/// How many thresholds of the packing bound are evaluated exactly (floats rank them).
const EXACT_THRESHOLDS: usize = 3;

/// One bin fewer than are needed is safe.
pub(super) fn zone_of_bins(bins: u64) -> u32 {
    u32::try_from(bins.saturating_sub(1)).unwrap_or(u32::MAX)
}

/// The largest d at most `max` such that the product of the moduli exceeds (n-1)(n-2)...(n-d).
///
/// The products of d bins are coprime, so those above 1 are distinct: they cannot exceed this.
pub(super) fn zone_by_product(moduli: &[u64], capacity: u128, max: u32) -> u32 {
    let product = product_of(moduli);
    let mut differences = BigUint::one();
    for items in 0..max {
        // A difference below 2 is divisible by no modulus.
        let difference = capacity.saturating_sub(u128::from(items));
        if difference >= 2 {
            differences *= difference;
        }
        if difference < 2 && product > differences {
            return max;
        }
        if product <= differences {
            return items;
        }
    }
    max
}

/// The sorted moduli whose square is at most the capacity.
pub(super) fn small_moduli(sorted: &[u64], capacity: u128) -> &[u64] {
    &sorted[..count_small(sorted, capacity)]
}

pub(super) fn count_small(sorted: &[u64], capacity: u128) -> usize {
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
pub(super) fn power_levels(capacity: u128, base: u64) -> Vec<u128> {
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
pub(super) fn level(levels: &[u128], number: u128) -> u64 {
    levels.partition_point(|&least| least <= number) as u64
}

/// The weight of a modulus under levels that are superadditive: the levels of factors sum up to at
/// most the level of their product (true of both kinds above).
///
/// A modulus above the square root of the capacity weighs the capacity's level minus the level of
/// capacity / modulus, which is the most that its companions weigh. No bin holds two of these, so
/// no bin weighs more than the level of the capacity.
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
pub(super) fn bins_by_levels(sorted: &[u64], capacity: u128, levels: &[u128]) -> u64 {
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
    for max in 1..=ROOTS {
        let windows: Vec<&[u64]> = sorted.windows(max as usize + 1).collect();
        let begin = windows.partition_point(|window| fits(window, capacity));
        let bins = ((sorted.len() - begin) as u64).div_ceil(u64::from(max));
        if begin < windows.len() && bins > best.0 {
            best = (bins, sorted[begin], max);
        }
    }
    best
}

/// Whether the product of the moduli is at most the capacity.
pub(super) fn fits(moduli: &[u64], capacity: u128) -> bool {
    let product =
        moduli.iter().try_fold(1u128, |product, &modulus| product.checked_mul(u128::from(modulus)));
    product.is_some_and(|product| product <= capacity)
}

/// The groups of the packing bound: how many moduli are too large to share a bin with the
/// threshold, how many others exceed the square root, and where the moduli of at least the
/// threshold begin.
pub(super) fn packing_groups(
    sorted: &[u64],
    capacity: u128,
    threshold: u64,
) -> (usize, usize, usize) {
    let begin = sorted.partition_point(|&modulus| modulus < threshold);
    let fitting =
        sorted.partition_point(|&modulus| u128::from(modulus) <= capacity / u128::from(threshold));
    let small = count_small(sorted, capacity).min(fitting);
    (sorted.len() - fitting, fitting - small, begin.min(small))
}

/// The bins needed by the packing bound of a threshold (Martello and Toth), which is at least 1 and
/// at most the square root of the capacity: moduli that cannot share a bin with any modulus of at
/// least the threshold are alone. The others need a bin for each modulus above the square root, and
/// enough bins for their product.
pub(super) fn bins_by_packing(sorted: &[u64], capacity: u128, threshold: u64) -> u64 {
    let (alone, large, begin) = packing_groups(sorted, capacity, threshold);
    let product = product_of(&sorted[begin..sorted.len() - alone]);
    (alone as u64) + (large as u64).max(bins_of_product(&product, capacity))
}

/// The least number of factors `capacity` whose product is at least `product`.
pub(super) fn bins_of_product(product: &BigUint, capacity: u128) -> u64 {
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
pub(super) fn promising_thresholds(sorted: &[u64], capacity: u128) -> Vec<u64> {
    let mut sums = vec![0.0];
    for &modulus in sorted {
        sums.push(sums.last().copied().unwrap_or(0.0) + (modulus as f64).ln());
    }
    let unit = (capacity as f64).ln();
    let estimate = |threshold: u64| {
        let (alone, large, begin) = packing_groups(sorted, capacity, threshold);
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
