//! Codes of residues: block i is the remainder modulo the i-th of pairwise coprime moduli.
//!
//! With the first primes for moduli this is the EGH filter (Kiss, Hosszu, Tapolcai, Rónyai and
//! Rottenstreich, after Eppstein, Goodrich and Hirschberg). A stored element covers a stranger's
//! blocks only for moduli that divide their difference, which is below n; so the moduli that d
//! elements cover can be packed into d bins of product at most n - 1.

use super::certificate;
use super::code::{Code, Occupancy};
use super::divisor::Divisor;
use super::list::{modular, sturm};
use crate::Error;
use std::cmp::Reverse;

/// Residues modulo pairwise coprime moduli.
///
/// ```
/// use tamis::zone::Residues;
/// assert_eq!(Residues::new(vec![4, 9, 5], 0)?.moduli(), [4, 9, 5]);
/// assert!(Residues::new(vec![4, 6], 0).is_err());
/// # Ok::<(), tamis::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Residues {
    moduli: Vec<u64>,
    /// Every block with its modulus, the largest first: its block is the emptiest, and refuses
    /// most strangers at once.
    probes: Vec<(usize, Divisor)>,
    /// The first element: residues are those of the elements themselves, not of their numbers.
    first: u64,
}

impl Residues {
    /// The code with these moduli, for a universe that begins at `first`.
    pub fn new(moduli: Vec<u64>, first: u64) -> Result<Residues, Error> {
        let refuse =
            |why: String, remedy: &str| Err(Error::Universe { why, remedy: remedy.to_owned() });
        if moduli.is_empty() {
            return refuse("a code of residues needs moduli".to_owned(), "give at least one");
        }
        if let Some(small) = moduli.iter().find(|q| **q < 2 || **q > u64::from(u32::MAX)) {
            return refuse(format!("{small} is no modulus"), "moduli are from 2 to 4294967295");
        }
        if !certificate::pairwise_coprime(&moduli) {
            return refuse(
                "two of the moduli share a factor".to_owned(),
                "moduli must be pairwise coprime",
            );
        }
        Ok(Residues::of_checked(moduli, first))
    }

    /// The code with these primes, which need no check.
    pub(crate) fn of_primes(moduli: Vec<u64>, first: u64) -> Result<Residues, Error> {
        if moduli.is_empty() {
            return Residues::new(moduli, first);
        }
        Ok(Residues::of_checked(moduli, first))
    }

    fn of_checked(moduli: Vec<u64>, first: u64) -> Residues {
        let mut probes: Vec<_> =
            moduli.iter().map(|modulus| Divisor::new(*modulus)).enumerate().collect();
        probes.sort_by_key(|(_, modulus)| Reverse(modulus.value()));
        Residues { moduli, probes, first }
    }

    /// See [`Coding::all`](super::code::Coding::all).
    #[inline(always)]
    pub(super) fn all(&self, number: u64, mut occupied: impl FnMut(usize, u64) -> bool) -> bool {
        let element = self.first.wrapping_add(number); // an element of the universe: it does not wrap
        self.probes.iter().all(|(block, modulus)| occupied(*block, modulus.remainder(element)))
    }

    /// The moduli, which are the sizes of the blocks.
    #[must_use]
    pub fn moduli(&self) -> &[u64] {
        &self.moduli
    }
}

/// The first `count` primes.
pub(crate) fn first_primes(count: usize) -> Vec<u64> {
    let mut limit = 64;
    loop {
        let primes = primes_up_to(limit);
        if primes.len() >= count {
            return primes[..count].to_vec();
        }
        limit *= 2;
    }
}

/// The first primes whose sum is at most `bits`.
pub(crate) fn primes_within(bits: u64) -> Vec<u64> {
    // Primes below x add up to more than x^2 / (3 ln x), so few are needed; the square root of 40
    // times the bits is plenty.
    let limit = (bits.min(1 << 40) * 40).isqrt() + 64;
    let mut rest = bits;
    primes_up_to(limit as usize)
        .into_iter()
        .take_while(|p| {
            let fits = *p <= rest;
            rest = rest.saturating_sub(*p);
            fits
        })
        .collect()
}

/// The sieve of Eratosthenes.
fn primes_up_to(limit: usize) -> Vec<u64> {
    let mut composite = vec![false; limit + 1];
    let mut primes = Vec::new();
    for n in 2..=limit {
        if !composite[n] {
            primes.push(n as u64);
            (n.saturating_mul(n)..=limit)
                .step_by(n)
                .for_each(|multiple| composite[multiple] = true);
        }
    }
    primes
}

/// The first `count` moduli, or all of them and the next larger numbers that share no factor with
/// any.
pub(crate) fn extended(moduli: &[u64], count: usize) -> Vec<u64> {
    let mut longer: Vec<u64> = moduli.iter().copied().take(count).collect();
    let mut next = moduli.iter().max().map_or(2, |largest| largest + 1);
    while longer.len() < count {
        if longer.iter().all(|q| gcd(*q, next) == 1) {
            longer.push(next);
        }
        next += 1;
    }
    longer
}

pub(crate) fn gcd(a: u64, b: u64) -> u64 {
    if b == 0 { a } else { gcd(b, a % b) }
}

impl Code for Residues {
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

    fn join(&self, cells: &dyn Occupancy, universe: u128, most: u64) -> Option<Vec<u64>> {
        let counts: Vec<u64> = (0..self.blocks()).map(|block| cells.count(block)).collect();
        if counts.contains(&0) {
            return Some(Vec::new());
        }
        let (joined, work) = best_join(&self.moduli, &counts, universe);
        if work > u128::from(most) {
            return None;
        }
        let mut levels = Vec::with_capacity(joined.len());
        let mut product = 1u128;
        for &block in &joined {
            levels.push(self.level(block, product, &cells.occupied(block))?);
            product *= u128::from(self.moduli[block]); // every product but the last is below the universe
        }
        // The joined blocks are occupied by construction; of the others, the emptiest refuse most.
        let mut others: Vec<_> =
            self.probes.iter().filter(|(block, _)| !joined.contains(block)).collect();
        others.sort_by_key(|(block, modulus)| Reverse(modulus.value() / counts[*block]));
        let mut found = Vec::new();
        extend(&levels, 0, product, universe, &mut |number| {
            let element = self.first.wrapping_add(number);
            if others
                .iter()
                .all(|(block, modulus)| cells.is_occupied(*block, modulus.remainder(element)))
            {
                found.push(number);
            }
        });
        found.sort_unstable();
        Some(found)
    }

    fn join_work(&self, items: u64, universe: u128) -> u128 {
        let counts: Vec<u64> = self.moduli.iter().map(|q| items.min(*q)).collect();
        best_join(&self.moduli, &counts, universe).1
    }

    fn algebra(&self, positions: &[Vec<u64>], universe: u128) -> Option<Vec<u64>> {
        modular::algebra(&self.moduli, &self.shifted(positions), universe)
    }
}

impl Residues {
    /// The paper's own way to the list, by Sturm sequences; slow, and kept as a reference.
    pub(crate) fn sturm(&self, positions: &[Vec<u64>], universe: u128) -> Option<Vec<u64>> {
        sturm::sturm(&self.moduli, &self.shifted(positions), universe)
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

/// Which blocks to join, and how many candidates that makes: the product of their occupied
/// positions, times the elements that share all residues. More blocks multiply the first and divide
/// the second.
fn best_join(moduli: &[u64], counts: &[u64], universe: u128) -> (Vec<usize>, u128) {
    // A block of many positions, few of them occupied, narrows most.
    let mut order: Vec<usize> = (0..moduli.len()).collect();
    order.sort_by(|&a, &b| {
        let (left, right) = (
            u128::from(moduli[a]) * u128::from(counts[b]),
            u128::from(moduli[b]) * u128::from(counts[a]),
        );
        right.cmp(&left).then(a.cmp(&b))
    });
    let (mut best, mut least) = (0, universe);
    let (mut product, mut choices) = (1u128, 1u128);
    for (taken, &block) in order.iter().enumerate() {
        product = product.saturating_mul(u128::from(moduli[block]));
        choices = choices.saturating_mul(u128::from(counts[block]));
        let work = choices.saturating_mul(universe.div_ceil(product).max(1));
        if work < least {
            (best, least) = (taken + 1, work);
        }
        if product >= universe {
            break;
        }
    }
    order.truncate(best);
    (order, least)
}

/// One block of a join: how to carry a solution modulo the product before it to one modulo the
/// product with it.
struct Level {
    modulus: Divisor,
    inverse: u64,
    product: u128,
    /// The residues, each times the inverse: what is left of a step is a subtraction.
    scaled: Vec<u64>,
}

impl Residues {
    fn level(&self, block: usize, product: u128, residues: &[u64]) -> Option<Level> {
        let modulus = self.moduli[block];
        let inverse = inverse((product % u128::from(modulus)) as u64, modulus)?;
        // Residues of numbers, which count from the first element.
        let back = modulus - self.first % modulus;
        let scaled =
            residues.iter().map(|residue| (residue + back) % modulus * inverse % modulus).collect();
        Some(Level { modulus: Divisor::new(modulus), inverse, product, scaled })
    }
}

/// Gives every number below `universe` that is `x` modulo the product so far and has an occupied
/// residue at each level.
fn extend(levels: &[Level], x: u64, product: u128, universe: u128, found: &mut dyn FnMut(u64)) {
    let Some((level, rest)) = levels.split_first() else {
        let mut candidate = u128::from(x);
        while candidate < universe {
            found(candidate as u64);
            candidate += product;
        }
        return;
    };
    // Moduli are below 2^32, so that products of two residues fit.
    let have = level.modulus.remainder(level.modulus.remainder(x) * level.inverse);
    for &scaled in &level.scaled {
        let steps =
            if scaled >= have { scaled - have } else { scaled + level.modulus.value() - have };
        let candidate = u128::from(x) + level.product * u128::from(steps);
        if candidate < universe {
            extend(rest, candidate as u64, product, universe, found);
        }
    }
}

/// The inverse of a modulo q, which is below 2^32, if they are coprime.
fn inverse(a: u64, q: u64) -> Option<u64> {
    let (mut r0, mut r1) = (q as i64, (a % q) as i64);
    let (mut s0, mut s1) = (0i64, 1i64);
    while r1 != 0 {
        let quotient = r0 / r1;
        (r0, r1) = (r1, r0 - quotient * r1);
        (s0, s1) = (s1, s0 - quotient * s1);
    }
    (r0 == 1).then(|| s0.rem_euclid(q as i64) as u64)
}
