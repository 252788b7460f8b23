//! Codes of residues: block i is the remainder modulo the i-th of pairwise coprime moduli.
//!
//! With the first primes for moduli this is the EGH filter (Kiss, Hosszu, Tapolcai, Rónyai and
//! Rottenstreich, after Eppstein, Goodrich and Hirschberg). A stored element covers a stranger's
//! blocks only for moduli that divide their difference, which is below n; so the moduli that d
//! elements cover can be packed into d bins of product at most n - 1.

use super::Encode;
use crate::Error;
use crate::zone::arith::chinese::{pairwise_coprime, product_of};
use crate::zone::arith::divisor::Divisor;
use crate::zone::list::Occupancy;
use crate::zone::list::progress::Watch;
use crate::zone::list::residues::{algebra, join, multisets, sturm};
use num_integer::Integer;
use std::cmp::Reverse;

/// Residues modulo pairwise coprime moduli.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Residues {
    moduli: Vec<u64>,
    /// Every block with its modulus, the largest first: its block is the emptiest, and refuses
    /// most strangers at once.
    probes: Vec<(usize, Divisor)>,
    /// The first element: residues are those of the elements themselves, not of their numbers.
    first: u64,
}

impl Residues {
    /// The code with these moduli, which are primes or [checked](check), for a universe that begins
    /// at `first`.
    pub(crate) fn new(moduli: Vec<u64>, first: u64) -> Residues {
        let mut probes: Vec<_> =
            moduli.iter().map(|modulus| Divisor::new(*modulus)).enumerate().collect();
        probes.sort_by_key(|(_, modulus)| Reverse(modulus.value()));
        Residues { moduli, probes, first }
    }

    /// See [`Encoder::all`](super::Encoder::all).
    #[inline(always)]
    pub(super) fn all(&self, number: u64, mut occupied: impl FnMut(usize, u64) -> bool) -> bool {
        let element = self.first.wrapping_add(number); // elements are below 2^64: it does not wrap
        self.probes.iter().all(|(block, modulus)| occupied(*block, modulus.remainder(element)))
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
    pub(crate) fn first(&self) -> u64 {
        self.first
    }

    /// The paper's own way to the list, by Sturm sequences: slow, and kept as a reference.
    pub(crate) fn sturm(
        &self,
        positions: &[Vec<u64>],
        universe: u128,
        watch: &mut Watch,
    ) -> Option<Vec<u64>> {
        sturm::sturm(&self.moduli, &self.shifted(positions), universe, watch)
    }

    /// Residues of the numbers, from 0, instead of those of the elements, from `first`.
    fn shifted(&self, blocks: &[Vec<u64>]) -> Vec<Vec<u64>> {
        let shift = |q: u64, block: &Vec<u64>| {
            let back = q - self.first % q;
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
pub(super) fn extend(moduli: &mut Vec<u64>, count: usize) {
    let mut next = moduli.iter().max().map_or(2, |largest| largest + 1);
    while moduli.len() < count {
        if moduli.iter().all(|q| q.gcd(&next) == 1) {
            moduli.push(next);
        }
        next += 1;
    }
}

impl Encode for Residues {
    fn blocks(&self) -> usize {
        self.moduli.len()
    }

    fn size(&self, block: usize) -> u64 {
        self.moduli[block]
    }

    fn positions(&self, number: u64, positions: &mut Vec<u64>) {
        let element = self.first.wrapping_add(number);
        positions.clear();
        positions.extend(self.moduli.iter().map(|q| element % q));
    }

    fn join(
        &self,
        cells: &dyn Occupancy,
        universe: u128,
        max: u64,
        watch: &mut Watch,
    ) -> Option<Vec<u64>> {
        join::join(self, cells, universe, max, watch)
    }

    fn join_work(&self, items: u64, universe: u128) -> u128 {
        join::join_work(&self.moduli, items, universe)
    }

    fn algebra(
        &self,
        positions: &[Vec<u64>],
        universe: u128,
        watch: &mut Watch,
    ) -> Option<Vec<u64>> {
        algebra::algebra(&self.moduli, &self.shifted(positions), universe, watch)
    }

    fn algebra_determines(&self, items: u64, universe: u128) -> bool {
        let product = product_of(&self.moduli);
        // The sum of all C(s,j) (n-1)^j is n^s, so the largest is n^s / (s+1) at least.
        let bits = (items as f64 + 1.0) * (universe.max(2) as f64).log2();
        bits < 2.0 * product.bits() as f64 + 128.0
            && multisets::largest_coefficient(items as usize, universe, &product).is_some()
    }
}
