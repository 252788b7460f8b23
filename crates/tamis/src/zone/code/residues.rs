//! Codes of residues: block i is the remainder modulo the i-th of pairwise coprime moduli.
//!
//! With the first primes for moduli this is the EGH filter (Kiss, Hosszu, Tapolcai, Rónyai and
//! Rottenstreich, after Eppstein, Goodrich and Hirschberg). A stored element covers a stranger's
//! blocks only for moduli that divide their difference, which is below n; so the moduli that d
//! elements cover can be packed into d bins of product at most n - 1.

use super::{Encode, PeelWeights};
use crate::Error;
use crate::zone::arith::chinese::{pairwise_coprime, product_of};
use crate::zone::arith::divisor::Divisor;
use crate::zone::arith::primes::first_primes;
use crate::zone::list::Occupancy;
use crate::zone::list::progress::Watch;
use crate::zone::list::residues::{algebra, join, multisets, peel, sturm};
use crate::zone::universe::Size;
use std::cmp::Reverse;

/// Residues modulo pairwise coprime moduli.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Residues {
    moduli: Vec<u64>,
    /// Every block with its modulus, the largest first: its block is the emptiest, and refuses
    /// most strangers at once.
    probes: Vec<(usize, Divisor)>,
    /// The first element: residues are those of the elements themselves, not of their numbers.
    first: u128,
}

impl Residues {
    /// The code with these moduli, which are primes or [checked](check), for a universe that begins
    /// at `first`.
    pub(crate) fn new(moduli: Vec<u64>, first: u128) -> Residues {
        let mut probes: Vec<_> =
            moduli.iter().map(|modulus| Divisor::new(*modulus)).enumerate().collect();
        probes.sort_by_key(|(_, modulus)| Reverse(modulus.value()));
        Residues { moduli, probes, first }
    }

    /// See [`Encoder::all`](super::Encoder::all).
    #[inline(always)]
    pub(super) fn all(&self, number: u128, mut occupied: impl FnMut(usize, u64) -> bool) -> bool {
        let element = self.first.wrapping_add(number); // elements are below 2^128: it does not wrap
        if let Ok(element) = u64::try_from(element) {
            let probe =
                |(block, modulus): &(usize, Divisor)| occupied(*block, modulus.remainder(element));
            return self.probes.iter().all(probe);
        }
        let probe = |(block, modulus): &(usize, Divisor)| {
            occupied(*block, modulus.remainder_of_wide(element))
        };
        self.probes.iter().all(probe)
    }

    /// The moduli, which are the sizes of the blocks.
    pub(crate) fn moduli(&self) -> &[u64] {
        &self.moduli
    }

    /// Every block with its modulus, the largest first.
    pub(crate) fn probes(&self) -> &[(usize, Divisor)] {
        &self.probes
    }

    /// The first element of the universe.
    pub(crate) fn first(&self) -> u128 {
        self.first
    }

    /// The paper's own way to the list, by Sturm sequences: slow, and kept as a reference.
    pub(crate) fn sturm(
        &self,
        positions: &[Vec<u64>],
        universe: Size,
        watch: &mut Watch,
    ) -> Option<Vec<u128>> {
        sturm::sturm(&self.moduli, &self.shifted(positions), universe, watch)
    }

    /// Residues of the numbers, from 0, instead of those of the elements, from `first`.
    fn shifted(&self, blocks: &[Vec<u64>]) -> Vec<Vec<u64>> {
        let shift = |q: u64, block: &Vec<u64>| {
            let back = q - (self.first % u128::from(q)) as u64;
            block.iter().map(|residue| (residue + back) % q).collect()
        };
        self.moduli.iter().zip(blocks).map(|(q, block)| shift(*q, block)).collect()
    }
}

/// Refuses what is no list of moduli: numbers from 2 to 2^32 - 1, pairwise coprime.
pub(super) fn check(moduli: &[u64]) -> Result<(), Error> {
    if let Some(wrong) = moduli.iter().find(|q| **q < 2 || **q > u64::from(u32::MAX)) {
        return Err(Error::Field { field: "modulus", got: wrong.to_string() });
    }
    if !pairwise_coprime(moduli) {
        let got = "not pairwise coprime".to_owned();
        return Err(Error::Field { field: "list of moduli", got });
    }
    Ok(())
}

/// Appends the next larger numbers that share no factor with any modulus, up to `count` in all.
/// The moduli are below 2^32.
pub(super) fn extend(moduli: &mut Vec<u64>, count: usize) {
    if moduli.len() >= count {
        return;
    }
    // Two factors of a number below 2^32 are not both above the last of these.
    let small_primes = first_primes(PRIMES_BELOW_2_TO_16);
    let mut factors: Vec<u64> = moduli.iter().flat_map(|q| factor(*q, &small_primes)).collect();
    let mut start = moduli.iter().max().map_or(2, |largest| largest + 1);
    // A sieve over one range after the other: multiples of the factors are taken.
    while moduli.len() < count {
        let mut taken = vec![false; RANGE as usize];
        for factor in &factors {
            take_multiples(&mut taken, start, *factor);
        }
        for number in start..start + RANGE {
            if moduli.len() < count && !taken[(number - start) as usize] {
                moduli.push(number);
                for factor in factor(number, &small_primes) {
                    take_multiples(&mut taken, start, factor);
                    factors.push(factor);
                }
            }
        }
        start += RANGE;
    }
}

/// How many numbers are sieved at a time.
const RANGE: u64 = 1 << 14;
const PRIMES_BELOW_2_TO_16: usize = 6542;

/// Takes the multiples of a factor out of the numbers from `start` on.
fn take_multiples(taken: &mut [bool], start: u64, factor: u64) {
    let first = start.next_multiple_of(factor) - start;
    let step = usize::try_from(factor).unwrap_or(usize::MAX);
    taken.iter_mut().skip(first as usize).step_by(step).for_each(|taken| *taken = true);
}

/// The prime factors of a number below 2^32.
fn factor(mut number: u64, small_primes: &[u64]) -> Vec<u64> {
    let mut factors = Vec::new();
    for &prime in small_primes {
        if prime * prime > number {
            break;
        }
        if number.is_multiple_of(prime) {
            factors.push(prime);
            while number.is_multiple_of(prime) {
                number /= prime;
            }
        }
    }
    if number > 1 {
        factors.push(number);
    }
    factors
}

impl Encode for Residues {
    fn blocks(&self) -> usize {
        self.moduli.len()
    }

    fn size(&self, block: usize) -> u64 {
        self.moduli[block]
    }

    fn positions(&self, number: u128, positions: &mut Vec<u64>) {
        let element = self.first.wrapping_add(number);
        positions.clear();
        match u64::try_from(element) {
            Ok(element) => positions.extend(self.moduli.iter().map(|q| element % q)),
            Err(_) => {
                let remainder = |q: &u64| (element % u128::from(*q)) as u64;
                positions.extend(self.moduli.iter().map(remainder));
            }
        }
    }

    fn join(
        &self,
        cells: &dyn Occupancy,
        universe: Size,
        max: u64,
        watch: &mut Watch,
    ) -> Option<Vec<u128>> {
        join::join(self, cells, universe, max, watch)
    }

    fn join_work(&self, items: u64, universe: Size) -> u128 {
        join::join_work(&self.moduli, items, universe)
    }

    fn algebra(
        &self,
        positions: &[Vec<u64>],
        universe: Size,
        watch: &mut Watch,
    ) -> Option<Vec<u128>> {
        algebra::algebra(&self.moduli, &self.shifted(positions), universe, watch)
    }

    fn peel(
        &self,
        cells: &dyn Occupancy,
        items: usize,
        universe: Size,
        watch: &mut Watch,
    ) -> Option<Vec<u128>> {
        let occupied: Vec<Vec<u64>> =
            (0..self.blocks()).map(|block| cells.occupied(block)).collect();
        peel::peel(&self.moduli, &self.shifted(&occupied), items, universe, watch)
    }

    /// Moduli weigh their logarithms: the product of those that divide a difference is below n.
    fn peel_weights(&self, items: u64, universe: Size) -> PeelWeights {
        let bits = (universe.last() as f64).max(1.0).log2() + 1e-9;
        let mut chosen = 0.0;
        let need = |j: u64| {
            chosen += ((items - j + 1) as f64 / j as f64).log2();
            chosen + j as f64 * bits + 1e-9
        };
        PeelWeights {
            blocks: self.moduli.iter().map(|&q| ((q as f64).log2(), q)).collect(),
            agreement: bits,
            needs: (1..=items).map(need).collect(),
        }
    }

    fn algebra_determines(&self, items: u64, universe: Size) -> bool {
        let product = product_of(&self.moduli);
        // The sum of all C(s,j) (n-1)^j is n^s, so the largest is n^s / (s+1) at least.
        let bits = (items as f64 + 1.0) * universe.to_f64().max(2.0).log2();
        bits < 2.0 * product.bits() as f64 + 128.0
            && multisets::largest_coefficient(items as usize, universe, &product).is_some()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use num_integer::Integer;

    /// The sieve against the definition.
    #[test]
    fn moduli_are_extended_by_the_next_coprime_numbers() {
        let starts: [&[u64]; 9] = [
            &[],
            &[2],
            &[4, 9, 25],
            &[6, 35],
            &[2, 3, 5, 7, 11, 13],
            &[16_381, 16_382, 16_383],
            &[4_294_836_225],
            &[65_537 * 3, 65_537 * 5 - 1],
            &[4_294_967_291],
        ];
        for start in starts {
            let mut naive = start.to_vec();
            let mut next = naive.iter().max().map_or(2, |largest| largest + 1);
            while naive.len() < start.len() + 300 {
                if naive.iter().all(|q| q.gcd(&next) == 1) {
                    naive.push(next);
                }
                next += 1;
            }
            for more in [0, 1, 2, 300] {
                let mut sieved = start.to_vec();
                extend(&mut sieved, start.len() + more);
                assert_eq!(sieved, naive[..start.len() + more], "{start:?}");
            }
        }
    }
}
