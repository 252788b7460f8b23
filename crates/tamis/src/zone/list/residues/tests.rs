//! Laws that both methods keep: algebra modulo a prime, and Sturm sequences.

use super::sample::{self, Method, UNIVERSES, list, residues};
use crate::zone::list::progress::unwatched;
use crate::zone::universe::Size;
use proptest::prelude::*;

pub(super) fn algebra(moduli: &[u64], residues: &[Vec<u64>], universe: u128) -> Option<Vec<u128>> {
    unwatched(|watch| super::algebra::algebra(moduli, residues, Size::of(universe), watch))
}

fn sturm(moduli: &[u64], residues: &[Vec<u64>], universe: u128) -> Option<Vec<u128>> {
    unwatched(|watch| super::sturm::sturm(moduli, residues, Size::of(universe), watch))
}

const METHODS: [Method; 2] = [algebra, sturm];

#[test]
fn the_example_of_the_paper() {
    let residues = [vec![0, 0], vec![0, 1], vec![1, 4], vec![6, 4]];
    for method in METHODS {
        assert_eq!(method(&[2, 3, 5, 7], &residues, 14), Some(vec![4, 6]));
    }
}

#[test]
fn whole_universes_single_elements_and_nothing() {
    for (method, largest) in [(METHODS[0], 40), (METHODS[1], 20)] {
        for universe in 1..largest {
            let all: Vec<u128> = (0..universe).collect();
            assert_eq!(list(method, &all, universe), Some(all));
        }
        for universe in UNIVERSES {
            assert_eq!(method(&[2, 3], &[vec![], vec![]], universe), Some(vec![]));
            for element in [0, 1, universe - 1] {
                assert_eq!(list(method, &[element], universe), Some(vec![element]));
            }
        }
    }
}

#[test]
fn wide_moduli() {
    let moduli = [u64::from(u32::MAX), u64::from(u32::MAX - 1), u64::from(u32::MAX - 2)];
    let sets = [
        (vec![u64::MAX.into()], 1 << 64),
        (vec![(1 << 95) - 1], 1 << 95),
        (vec![7, (1 << 47) - 1], 1 << 47),
    ];
    for (set, universe) in sets {
        for method in METHODS {
            assert_eq!(method(&moduli, &residues(&set, &moduli), universe), Some(set.clone()));
        }
    }
}

#[test]
fn bad_moduli() {
    for method in METHODS {
        assert_eq!(method(&[], &[], 10), None);
        assert_eq!(method(&[0, 101], &[vec![], vec![]], 10), None);
        assert_eq!(method(&[10, 15, 7], &[vec![1], vec![1], vec![1]], 10), None);
    }
}

proptest! {
    #[test]
    fn sets_are_recovered((universe, set) in sample::sets(16)) {
        for method in METHODS {
            prop_assert_eq!(list(method, &set, universe), Some(set.clone()));
        }
    }

    #[test]
    fn a_spare_modulus_exposes_a_wrong_counter(
        (universe, set) in sample::sets(12),
        [place, other] in any::<[prop::sample::Index; 2]>(),
        change in any::<u64>(),
    ) {
        prop_assume!(!set.is_empty());
        let moduli = sample::moduli(set.len(), universe, 1);
        let mut residues = residues(&set, &moduli);
        let modulus = place.index(moduli.len());
        let element = other.index(set.len());
        let step = 1 + change % (moduli[modulus] - 1);
        residues[modulus][element] = (residues[modulus][element] + step) % moduli[modulus];
        for method in METHODS {
            prop_assert_eq!(method(&moduli, &residues, universe), None);
        }
    }

    #[test]
    fn too_few_moduli_list_nothing((universe, set) in sample::sets(12)) {
        prop_assume!(!set.is_empty());
        let mut moduli = sample::moduli(set.len(), universe, 0);
        moduli.pop();
        for method in METHODS {
            prop_assert_eq!(method(&moduli, &residues(&set, &moduli), universe), None);
        }
    }

    #[test]
    fn the_methods_agree_on_any_input(
        table in prop::collection::vec((0..40u64, prop::collection::vec(0..40u64, 2)), 0..8),
        universe in 1..60u128,
    ) {
        let (moduli, residues): (Vec<u64>, Vec<Vec<u64>>) = table.into_iter().unzip();
        let [algebra, sturm] = METHODS.map(|method| method(&moduli, &residues, universe));
        prop_assert_eq!(algebra, sturm);
    }

    #[test]
    fn the_methods_agree_on_small_moduli(
        raw in prop::collection::vec(prop::collection::vec(any::<u64>(), 3), 4..7),
        universe in 3..12u128,
    ) {
        let moduli: Vec<u64> = sample::primes().take(raw.len()).collect();
        let reduce = |(one, m): (&Vec<u64>, &u64)| one.iter().map(|x| x % m).collect();
        let residues: Vec<Vec<u64>> = raw.iter().zip(&moduli).map(reduce).collect();
        let [algebra, sturm] = METHODS.map(|method| method(&moduli, &residues, universe));
        prop_assert_eq!(algebra, sturm);
    }
}
