use super::bounds::*;
use super::packing::*;
use super::*;
use crate::zone::arith::chinese::product_of;
use num_bigint::BigUint;
use num_integer::Integer;
use proptest::prelude::*;

/// Whether a false positive exists with at most `items` stored elements, by trying all sets.
fn deceivable(moduli: &[u64], universe: u64, items: u32) -> bool {
    let sets = 1u64 << universe;
    (0..sets).filter(|set| set.count_ones() <= items).any(|set| {
        let stored = |element: &u64| set >> element & 1 == 1;
        (0..universe).filter(|stranger| !stored(stranger)).any(|stranger| {
            moduli.iter().all(|modulus| {
                (0..universe).filter(stored).any(|element| element % modulus == stranger % modulus)
            })
        })
    })
}

/// The smallest number of stored elements with a false positive, if any, at most 5: for each
/// stranger, the sets of moduli that its neighbours cover are united step by step.
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
                (0..=full).filter(|&from| old[from]).for_each(|from| reached[from | mask] = true);
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
                check_truth(&moduli, universe, items, least.is_some_and(|least| least <= items));
            }
        }
    }
}

/// Each bound by itself, so that none hides behind a better one.
#[test]
fn every_bound_is_below_the_truth() {
    for universe in [13u64, 18, 26, 30] {
        let capacity = u128::from(universe) - 1;
        for moduli in all_sets(34).into_iter().filter(|moduli| moduli.iter().all(|&m| m < universe))
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
                assert!(bound <= bins || bins == 6, "{moduli:?} {universe} threshold {threshold}");
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
        assert_eq!(bins_by_levels(&sorted, 65535, &levels), total.div_ceil(levels.len() as u64));
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
    for number in (2u128..2000).chain([u128::from(u64::MAX), 1 << 64, (1 << 100) + 1, u128::MAX]) {
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
