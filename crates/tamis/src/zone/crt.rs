//! Codes of residues: block i is the remainder modulo the i-th of pairwise coprime moduli.
//!
//! With the first primes for moduli this is the EGH filter (Kiss, Hosszu, Tapolcai, Rónyai and Rottenstreich, after Eppstein,
//! Goodrich and Hirschberg). A stored element covers a stranger's blocks only for moduli that divide their difference, which
//! is below n; so the moduli that d elements cover can be packed into d bins of product at most n - 1.

use super::code::Code;
use super::list::{modular, sturm};
use crate::Error;

/// Residues modulo pairwise coprime moduli.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Residues {
    moduli: Vec<u64>,
    /// The first element: residues are those of the elements themselves, not of their numbers.
    first: u64,
}

impl Residues {
    /// The code with these moduli, for a universe that begins at `first`.
    pub fn new(moduli: Vec<u64>, first: u64) -> Result<Residues, Error> {
        let refuse = |why: String, remedy: &str| Err(Error::Universe { why, remedy: remedy.to_owned() });
        if moduli.is_empty() {
            return refuse("a code of residues needs moduli".to_owned(), "give at least one");
        }
        if let Some(small) = moduli.iter().find(|q| **q < 2 || **q > u64::from(u32::MAX)) {
            return refuse(format!("{small} is no modulus"), "moduli are from 2 to 4294967295");
        }
        for (i, p) in moduli.iter().enumerate() {
            if let Some(q) = moduli[..i].iter().find(|q| gcd(*p, **q) != 1) {
                return refuse(
                    format!("the moduli {q} and {p} share a factor"),
                    "moduli must be pairwise coprime",
                );
            }
        }
        Ok(Residues { moduli, first })
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
    // Primes below x add up to more than x^2 / (3 ln x), so few are needed; the square root of 40 times the bits is plenty.
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
            (n.saturating_mul(n)..=limit).step_by(n).for_each(|multiple| composite[multiple] = true);
        }
    }
    primes
}

/// The first `count` moduli, or all of them and the next primes that share no factor with them.
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
        let element = self.first.wrapping_add(number); // an element of the universe: it does not wrap
        positions.clear();
        positions.extend(self.moduli.iter().map(|q| element % q));
    }

    fn join(
        &self,
        occupied: &[Vec<u64>],
        universe: u128,
        most: u64,
        full: &dyn Fn(usize, u64) -> bool,
    ) -> Option<Vec<u64>> {
        let check = |number: u64| {
            let element = self.first.wrapping_add(number);
            self.moduli.iter().enumerate().rev().all(|(block, q)| full(block, element % q))
        };
        join(&self.moduli, &self.shifted(occupied), universe, most, &check)
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

/// Which blocks to join, and how many candidates that makes: the product of their occupied positions, times the elements
/// that share all residues. More blocks multiply the first and divide the second.
fn best_join(moduli: &[u64], counts: &[u64], universe: u128) -> (Vec<usize>, u128) {
    // A block of many positions, few of them occupied, narrows most.
    let mut order: Vec<usize> = (0..moduli.len()).collect();
    order.sort_by(|&a, &b| {
        let (left, right) =
            (u128::from(moduli[a]) * u128::from(counts[b]), u128::from(moduli[b]) * u128::from(counts[a]));
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

/// Candidates from the occupied residues of the best few blocks, each tested on the others.
fn join(
    moduli: &[u64],
    occupied: &[Vec<u64>],
    universe: u128,
    most: u64,
    check: &dyn Fn(u64) -> bool,
) -> Option<Vec<u64>> {
    if occupied.iter().any(Vec::is_empty) {
        return Some(Vec::new());
    }
    let counts: Vec<u64> = occupied.iter().map(|block| block.len() as u64).collect();
    let (blocks, work) = best_join(moduli, &counts, universe);
    if work > u128::from(most) {
        return None;
    }
    let mut levels = Vec::with_capacity(blocks.len());
    let mut product = 1u128;
    for &block in &blocks {
        let modulus = moduli[block];
        let inverse = inverse((product % u128::from(modulus)) as u64, modulus)?;
        levels.push(Level { modulus, inverse, product, residues: &occupied[block] });
        product *= u128::from(modulus); // every product but the last is below the universe
    }
    let mut found = Vec::new();
    extend(&levels, 0, product, universe, &mut |x| {
        if check(x) {
            found.push(x);
        }
    });
    found.sort_unstable();
    Some(found)
}

/// One block of a join: how to carry a solution modulo the product before it to one modulo the product with it.
struct Level<'a> {
    modulus: u64,
    inverse: u64,
    product: u128,
    residues: &'a [u64],
}

/// Gives every element below `universe` that is `x` modulo the product so far and has an occupied residue at each level.
fn extend(levels: &[Level<'_>], x: u64, product: u128, universe: u128, found: &mut dyn FnMut(u64)) {
    let Some((level, rest)) = levels.split_first() else {
        let mut candidate = u128::from(x);
        while candidate < universe {
            found(candidate as u64);
            candidate += product;
        }
        return;
    };
    let q = level.modulus; // below 2^32, so that products of two residues fit
    let have = x % q;
    for &residue in level.residues {
        let steps = (residue + q - have) % q * level.inverse % q;
        let candidate = u128::from(x) + level.product * u128::from(steps);
        if candidate < universe {
            extend(rest, candidate as u64, product, universe, found);
        }
    }
}

/// The inverse of a modulo q, if they are coprime.
fn inverse(a: u64, q: u64) -> Option<u64> {
    let (mut r0, mut r1) = (i128::from(q), i128::from(a % q));
    let (mut s0, mut s1) = (0i128, 1i128);
    while r1 != 0 {
        let quotient = r0 / r1;
        (r0, r1) = (r1, r0 - quotient * r1);
        (s0, s1) = (s1, s0 - quotient * s1);
    }
    (r0 == 1).then(|| s0.rem_euclid(i128::from(q)) as u64)
}
