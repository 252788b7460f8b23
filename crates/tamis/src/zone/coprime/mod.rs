//! Choosing pairwise coprime moduli with few bits for a zone filter.
//!
//! A filter over `n` integers is safe for `d` stored elements if its moduli do not fit into `d`
//! bins of product at most `n - 1`; its bits are the sum of its moduli. Several families compete,
//! and the cheapest proved one wins:
//!
//! * a single modulus `n`, the bitmap;
//! * prime powers whose product is large for their sum (Landau's problem), for few elements;
//! * numbers just above a root of `n`, weighed by levels, for many elements: composites take the
//!   place of large primes, and a local search decides which small primes go together;
//! * for small sums, all pairwise coprime sets, judged by an exhaustive search for a packing.
//!
//! Floats guide the search; integers prove what is returned. The choice is deterministic.

mod landau;
mod levels;
mod small;

use num_bigint::BigUint;
use num_traits::One;

use super::arith::primes::Sieve;
use super::certificate::{self, Certificate};
use super::universe::Size;

/// The most bits of `universe ^ items` for which primes are multiplied at all.
const MAX_PRODUCT_BITS: u64 = 1 << 20;
/// The most bits of `universe ^ items` for which levels are searched.
const MAX_SEARCH_BITS: u64 = 1 << 17;
/// The sum up to which all pairwise coprime sets are enumerated.
pub(crate) const MAX_SMALL_SUM: u64 = 260;

/// The first primes whose product is at least `universe ^ items` (Eppstein, Goodrich and
/// Hirschberg).
///
/// Empty if that power has more than about a million bits.
pub(crate) fn egh(universe: Size, items: u32) -> Vec<u64> {
    let bits = power_bits(universe, items);
    if bits > MAX_PRODUCT_BITS {
        return Vec::new();
    }
    let target = universe.big().pow(items);
    let mut product = BigUint::one();
    let mut chosen = Vec::new();
    // The product of the primes up to x exceeds 2^x from x = 29 on.
    for &prime in Sieve::new(bits as usize + 64).primes() {
        if product >= target {
            break;
        }
        product *= prime;
        chosen.push(u64::from(prime));
    }
    chosen
}

/// An upper bound of the bits of `universe ^ items`.
fn power_bits(universe: Size, items: u32) -> u64 {
    universe.big().bits() * u64::from(items)
}

/// Pairwise coprime moduli, ascending, with few bits, and the proof that they are safe for `items`.
///
/// Nothing if neither a bitmap (a modulus `universe`) nor a product of primes is within reach.
pub(crate) fn choose(universe: Size, items: u32) -> Option<(Vec<u64>, Certificate)> {
    if universe <= 2 || items == 0 {
        return proved(vec![2], universe, items);
    }
    let mut best = Best { moduli: None, universe, items };
    if let Some(modulus) = universe.get().and_then(|size| u64::try_from(size).ok()) {
        best.offer(vec![modulus]);
    }
    let primes = egh(universe, items);
    if primes.is_empty() {
        return best.moduli.and_then(|moduli| proved(moduli, universe, items));
    }
    let reach = primes.last().map_or(64, |&prime| prime as usize * 3 + 64);
    best.offer(primes);
    let sieve = Sieve::new(reach);
    best.offer(landau::landau(universe, items, best.bits(), &sieve));
    if power_bits(universe, items) <= MAX_SEARCH_BITS {
        levels::search_levels(&mut best, &sieve);
        levels::replace_largest(&mut best);
    }
    if best.bits() <= MAX_SMALL_SUM {
        small::enumerate(&mut best);
    }
    best.moduli.and_then(|moduli| proved(moduli, universe, items))
}

/// The moduli with their certificate.
fn proved(moduli: Vec<u64>, universe: Size, items: u32) -> Option<(Vec<u64>, Certificate)> {
    let certificate = certificate::certify(&moduli, universe, items, certificate::EFFORT)?;
    Some((moduli, certificate))
}

/// The sum of the moduli.
fn sum(moduli: &[u64]) -> u64 {
    moduli.iter().fold(0, |total, &modulus| total.saturating_add(modulus))
}

/// The cheapest proved moduli so far.
struct Best {
    moduli: Option<Vec<u64>>,
    universe: Size,
    items: u32,
}

impl Best {
    fn bits(&self) -> u64 {
        self.moduli.as_ref().map_or(u64::MAX, |moduli| sum(moduli))
    }

    /// Takes the moduli if they are cheaper and the lower bounds prove them.
    fn offer(&mut self, mut moduli: Vec<u64>) {
        if moduli.is_empty() || (self.moduli.is_some() && sum(&moduli) >= self.bits()) {
            return;
        }
        moduli.sort_unstable();
        if certificate::zone_of_moduli(&moduli, self.universe, self.items).0 >= self.items {
            self.moduli = Some(moduli);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const UNIVERSES: [u128; 9] =
        [48, 606, 1000, 65536, 100_000, 1_000_000, 1 << 32, 1 << 64, u128::MAX];

    fn egh(universe: u128, items: u32) -> Vec<u64> {
        super::egh(Size::of(universe), items)
    }

    fn chosen(universe: u128, items: u32) -> Vec<u64> {
        let universe = Size::of(universe);
        let (moduli, certificate) = choose(universe, items).expect("within reach");
        assert!(moduli.is_sorted());
        assert!(crate::zone::arith::chinese::pairwise_coprime(&moduli));
        let again = certificate::certify(&moduli, universe, items, certificate::EFFORT);
        assert_eq!(again, Some(certificate), "{universe} {items}");
        moduli
    }

    #[test]
    fn facts_about_the_first_primes() {
        assert_eq!(egh(48, 2), [2, 3, 5, 7, 11]);
        let facts = [(606, 3, 100, 9), (1 << 32, 4, 1264, 27), (1 << 16, 100, 99_685, 190)];
        for (universe, items, bits, count) in facts {
            let primes = egh(universe, items);
            assert_eq!((sum(&primes), primes.len()), (bits, count));
        }
        let (zone, certificate) =
            certificate::zone_of_moduli(&egh(1 << 16, 100), Size::of(1 << 16), 1000);
        assert!(zone >= 135);
        assert_ne!(certificate, Certificate::Product);
    }

    #[test]
    fn never_more_bits_than_the_first_primes() {
        for universe in UNIVERSES {
            for items in [1, 2, 3, 4, 5, 6, 7, 10, 20, 50, 100] {
                assert!(sum(&chosen(universe, items)) <= sum(&egh(universe, items)));
            }
        }
    }

    #[test]
    fn clearly_fewer_bits() {
        assert!(sum(&chosen(1 << 32, 4)) <= 1110);
        assert!(sum(&chosen(1 << 16, 100)) <= 52_700);
        assert!(sum(&chosen(606, 3)) <= 86);
        assert!(sum(&chosen(1_000_000, 20)) <= 7196);
        assert!(sum(&chosen(48, 2)) <= 24);
    }

    #[test]
    fn small_choices_are_exact() {
        for universe in 1u64..=14 {
            for items in 0..=4 {
                let moduli = chosen(u128::from(universe), items);
                for set in (0u64..1 << universe).filter(|set| set.count_ones() <= items) {
                    check_set(&moduli, universe, set);
                }
            }
        }
    }

    /// No stranger passes the filter of a set of elements.
    fn check_set(moduli: &[u64], universe: u64, set: u64) {
        let stored: Vec<u64> = (0..universe).filter(|element| set >> element & 1 == 1).collect();
        for stranger in (0..universe).filter(|element| !stored.contains(element)) {
            let answers = |modulus: &u64| {
                stored.iter().any(|element| element % modulus == stranger % modulus)
            };
            assert!(!moduli.iter().all(answers), "{moduli:?} {universe} {stored:?} {stranger}");
        }
    }

    #[test]
    fn out_of_reach() {
        let whole = Size::up_to(u128::MAX);
        assert_eq!(choose(whole, u32::MAX), None);
        assert_eq!(chosen(1000, u32::MAX), [1000]);
        assert_eq!(chosen(u128::from(u64::MAX), u32::MAX), [u64::MAX]);
        assert!(egh(1 << 64, u32::MAX).is_empty());
        assert!(choose(whole, 3).is_some());
        assert_eq!(chosen(1, 7), [2]);
    }

    #[test]
    fn many_items() {
        for universe in [1u128 << 20, 1 << 40, 1 << 64] {
            assert!(sum(&chosen(universe, 1000)) <= sum(&egh(universe, 1000)));
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(40))]
        #[test]
        fn any_choice_is_proved(universe: u64, bits in 0u32..64, items in 0u32..60) {
            let universe = u128::from(universe >> bits).max(1);
            let moduli = chosen(universe, items);
            let primes = egh(universe, items);
            prop_assert!(sum(&moduli) <= sum(&primes).max(2));
        }
    }
}
