//! Sets and moduli for the tests of both methods.

use num_bigint::BigUint;
use num_traits::One;
use proptest::prelude::*;
use std::collections::BTreeSet;

pub(crate) const UNIVERSES: [u128; 12] =
    [2, 3, 14, 48, 1000, 1_000_000, 1 << 16, 1 << 32, 1 << 64, 1 << 65, 1 << 127, u128::MAX];

pub(crate) fn primes() -> impl Iterator<Item = u64> {
    (2u64..).filter(|&n| (2..).take_while(|d| d * d <= n).all(|d| n % d != 0))
}

/// The fewest first primes that list `size` elements of the universe, and `spare` more.
pub(crate) fn moduli(size: usize, universe: u128, spare: usize) -> Vec<u64> {
    let mut bound = BigUint::one();
    let mut term = BigUint::one();
    for chosen in 1..=size {
        term = term * (size - chosen + 1) * (universe - 1) / chosen;
        bound = bound.max(term.clone());
    }
    let mut product = BigUint::one();
    let mut extra = 0;
    let needed = |&prime: &u64| {
        extra += usize::from(product > bound);
        product *= prime;
        extra <= spare
    };
    primes().take_while(needed).collect()
}

pub(crate) fn residues(set: &[u128], moduli: &[u64]) -> Vec<Vec<u64>> {
    let residue = |x: &u128, modulus: u64| (x % u128::from(modulus)) as u64;
    moduli.iter().map(|modulus| set.iter().map(|x| residue(x, *modulus)).collect()).collect()
}

/// A way to list a set from its residues.
pub(crate) type Method = fn(&[u64], &[Vec<u64>], u128) -> Option<Vec<u128>>;

/// As few moduli as suffice, and what the method makes of the set.
pub(crate) fn list(method: Method, set: &[u128], universe: u128) -> Option<Vec<u128>> {
    let moduli = moduli(set.len(), universe, 0);
    method(&moduli, &residues(set, &moduli), universe)
}

/// A universe with a random set of up to `max` elements, a run of consecutive ones, or both
/// ends.
pub(crate) fn sets(max: usize) -> impl Strategy<Value = (u128, Vec<u128>)> {
    let raw = prop::collection::vec(any::<u128>(), 0..=max);
    (prop::sample::select(UNIVERSES.to_vec()), raw, 0..4u8).prop_map(|(universe, raw, kind)| {
        let place = |x: u128| x % universe;
        let start = raw.first().copied().unwrap_or(0) / 2;
        let mut set: BTreeSet<u128> = match kind {
            0 => (0..raw.len() as u128).map(|step| place(start + step)).collect(),
            _ => raw.iter().map(|&x| place(x)).collect(),
        };
        if kind == 1 {
            set.extend([0, universe - 1]);
        }
        (universe, set.into_iter().collect())
    })
}
