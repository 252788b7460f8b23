//! Compositions beside an independent computation: every sequence of truths and lies, in integers
//! with 400 binary digits, and the definition of the least bound.

use super::*;
use crate::privacy::noise::exp_minus_bounds;
use num_bigint::BigUint;
use proptest::prelude::*;
use std::collections::BTreeMap;

const PRECISION: u64 = 400;

fn epsilon(billionths: u64) -> Epsilon {
    Epsilon::from_billionths(billionths).unwrap()
}

/// e^-x times 2^400, rounded.
fn power(billionths: u64) -> BigUint {
    exp_minus_bounds(epsilon(billionths), PRECISION).0
}

/// For every number of billionths that can be lost, the chance, with the weights of all outcomes
/// as they are: e^-(losses of the lies) for each, over their sum.
fn outcomes(charges: &[u64]) -> BTreeMap<i64, BigUint> {
    let mut lies = BTreeMap::from([(0u64, BigUint::from(1u8))]);
    for charge in charges {
        let mut next: BTreeMap<u64, BigUint> = BTreeMap::new();
        for (lost, ways) in lies {
            *next.entry(lost).or_default() += &ways;
            *next.entry(lost + charge).or_default() += &ways;
        }
        lies = next;
    }
    let sum: u64 = charges.iter().sum();
    lies.into_iter()
        .map(|(lost, ways)| (sum as i64 - 2 * lost as i64, ways * power(lost)))
        .collect()
}

/// The least number of billionths that satisfies the definition, found by halving.
fn least_bound(charges: &[u64], delta: Delta) -> u64 {
    let outcomes = outcomes(charges);
    let all: BigUint = outcomes.values().sum();
    let one = BigUint::from(1u8) << PRECISION;
    let holds = |bound: u64| {
        let beyond: BigUint = outcomes
            .iter()
            .filter(|(loss, _)| **loss > bound as i64)
            .map(|(loss, chance)| (&one - power(*loss as u64 - bound)) * chance)
            .sum();
        beyond * 1_000_000_000_000_000_000u64 <= (&all * delta.units()) << PRECISION
    };
    let (mut low, mut high) = (0, charges.iter().sum());
    while low < high {
        let middle = u64::midpoint(low, high);
        if holds(middle) { high = middle } else { low = middle + 1 }
    }
    low
}

fn total(charges: &[u64], delta: Delta) -> u64 {
    let composition: Composition = charges.iter().map(|charge| epsilon(*charge)).collect();
    composition.total(delta).unwrap().billionths()
}

/// The figures of 100 releases at 0.1 and of ten at 1.
#[test]
fn known_books() {
    let hundred = [100_000_000; 100];
    for (delta, expected) in [("1e-6", 4.8), ("1e-9", 6.0)] {
        let delta: Delta = delta.parse().unwrap();
        let found = total(&hundred, delta);
        assert_eq!(found, least_bound(&hundred, delta));
        assert!((found as f64 / 1e9 - expected).abs() < 0.05, "{found}");
    }
    let ten = [1_000_000_000; 10];
    assert_eq!(total(&ten, "1e-6".parse().unwrap()), least_bound(&ten, "1e-6".parse().unwrap()));
    assert_eq!(total(&[], "1e-6".parse().unwrap()), 0);
}

/// Losses too many to be told apart go onto a grid: the bound lies between that of the smallest
/// losses and that of the largest, a hair apart.
#[test]
fn a_grid_raises_the_bound_by_little() {
    let charges: Vec<u64> = (0..60).map(|i| 100_000_000 + i * i * 7).collect();
    let delta: Delta = "1e-6".parse().unwrap();
    let composition: Composition = charges.iter().map(|charge| epsilon(*charge)).collect();
    assert!(composition.points.as_ref().unwrap().len() <= MAX_POINTS);
    let low = least_bound(&[100_000_000; 60], delta);
    let high = least_bound(&[100_000_000 + 59 * 59 * 7; 60], delta);
    let found = composition.total(delta).unwrap().billionths();
    assert!((low..high + 100_000).contains(&found), "{low} {found} {high}");
}

#[test]
fn sums_beyond_the_largest_loss_are_none() {
    let mut composition = Composition::default();
    composition.extend([Epsilon::MAX, Epsilon::ZERO]);
    assert_eq!(composition.total("1e-18".parse().unwrap()), composition.sum());
    composition.add(epsilon(1));
    assert_eq!((composition.sum(), composition.total("1e-18".parse().unwrap())), (None, None));
    composition.add(epsilon(1));
    assert_eq!(composition.sum(), None);
}

/// Losses of some size that repeat, as in real books.
fn book() -> impl Strategy<Value = Vec<u64>> {
    let size = prop_oneof![1u64..1_000, 1u64..1_000_000_000, 1u64..20_000_000_000];
    prop::collection::vec((size, 1usize..8), 0..5)
        .prop_map(|sizes| sizes.into_iter().flat_map(|(size, times)| vec![size; times]).collect())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    /// Never below the exact bound, and at most a billionth above.
    #[test]
    fn totals_are_the_least_bound(
        charges in book(),
        units in 1u64..1_000_000_000,
        scale in 0u32..9,
    ) {
        let delta = Delta::from_units(units * 10u64.pow(scale)).unwrap();
        let (found, exact) = (total(&charges, delta), least_bound(&charges, delta));
        prop_assert!(exact <= found && found <= exact + 1, "{exact} {found}");
    }

    /// More charges never lose less, in any order.
    #[test]
    fn charges_only_add(charges in book(), more in 1u64..2_000_000_000) {
        let delta: Delta = "1e-7".parse().unwrap();
        let before = total(&charges, delta);
        let mut after = charges.clone();
        after.push(more);
        prop_assert!(total(&after, delta) >= before);
        after.reverse();
        let reversed = total(&after, delta);
        prop_assert!(reversed.abs_diff(total(&[&charges[..], &[more]].concat(), delta)) <= 1);
    }

    /// Moving losses onto a grid never lowers the bound.
    #[test]
    fn a_grid_never_lowers_the_bound(charges in book(), grid in 1u32..30) {
        prop_assume!(!charges.is_empty());
        let composition: Composition = charges.iter().map(|charge| epsilon(*charge)).collect();
        let points = composition.points.clone().unwrap();
        let moved = moved_onto(&points, 1 << grid);
        prop_assert!(moved.is_sorted_by(|a, b| a.loss < b.loss));
        let coarse = Composition { points: Some(moved), ..composition.clone() };
        for delta in ["1e-3", "1e-9"] {
            let delta = delta.parse().unwrap();
            prop_assert!(coarse.total(delta) >= composition.total(delta));
        }
    }
}
