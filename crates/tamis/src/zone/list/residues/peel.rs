//! From the occupied residues and the number of items: moduli without collisions come first.
//!
//! A modulus with as many occupied residues as there are items shows the whole multiset of
//! residues. If the product of such moduli is large enough, they give the sum of the items. It
//! tells which residue counts twice for every modulus with one collision. These moduli, with the
//! others, give the next symmetric polynomial, which settles the moduli with two collisions, and so
//! on.

use super::lift::integer_roots;
use super::multisets::{signed, symmetric};
use crate::zone::arith::chinese::Crt;
use crate::zone::list::progress::Watch;
use crate::zone::universe::Size;
use num_bigint::BigUint;
use num_traits::One;

/// Lists `size` numbers of the universe whose residues modulo `moduli[i]` are `occupied[i]`, each
/// occurring at least once. `None` if too many moduli have collisions. The caller must check that
/// all numbers pass.
pub(crate) fn peel(
    moduli: &[u64],
    occupied: &[Vec<u64>],
    size: usize,
    universe: Size,
    watch: &mut Watch,
) -> Option<Vec<u128>> {
    if moduli.len() != occupied.len()
        || occupied.iter().any(|block| block.is_empty() || block.len() > size)
    {
        return None;
    }
    watch.begin(size + 1);
    watch.step()?;
    // For each modulus, the symmetric polynomials of its residues: at first of the occupied ones,
    // in the end of all.
    let mut blocks: Vec<Vec<u64>> =
        moduli.iter().zip(occupied).map(|(&modulus, block)| symmetric(block, modulus)).collect();
    let mut solved: Vec<BigUint> = Vec::with_capacity(size);
    let mut solver: Option<(Crt, Vec<usize>)> = None;
    let mut bound = BigUint::one();
    for degree in 1..=size {
        watch.step()?;
        let whole: Vec<usize> =
            (0..moduli.len()).filter(|&index| blocks[index].len() == size).collect();
        if solver.as_ref().is_none_or(|(_, before)| before.len() != whole.len()) {
            let chosen: Vec<u64> = whole.iter().map(|&index| moduli[index]).collect();
            solver = Some((Crt::new(&chosen)?, whole));
        }
        let (crt, whole) = solver.as_ref()?;
        // The largest value that it can have: C(s,j) (n-1)^j.
        bound = bound * (size - degree + 1) * universe.last() / degree;
        if bound >= crt.product {
            return None;
        }
        let column: Vec<u64> = whole.iter().map(|&index| blocks[index][degree - 1]).collect();
        solved.push(crt.solve(&column)?);
        for (block, &modulus) in blocks.iter_mut().zip(moduli) {
            if size - block.len() == degree {
                *block = completed(block, &solved, modulus);
            }
        }
    }
    integer_roots(signed(solved), universe, watch)
}

/// The symmetric polynomials of all residues modulo a number below 2^32, from those of the occupied
/// ones and from the first of the whole, as many as residues are missing.
fn completed(occupied: &[u64], solved: &[BigUint], modulus: u64) -> Vec<u64> {
    let first = |one: &[u64], index: usize| match index {
        0 => 1 % modulus,
        _ => one.get(index - 1).copied().unwrap_or(0),
    };
    let mut missing: Vec<u64> = Vec::with_capacity(solved.len());
    for (index, one) in solved.iter().enumerate() {
        let degree = index + 1;
        let mut rest = u64::try_from(one % modulus).unwrap_or(0);
        for taken in 1..=degree {
            let part = first(occupied, taken) * first(&missing, degree - taken) % modulus;
            rest = (rest + modulus - part) % modulus;
        }
        missing.push(rest);
    }
    let size = occupied.len() + missing.len();
    let convolve = |degree: usize| {
        let part = |taken: usize| first(occupied, taken) * first(&missing, degree - taken);
        (0..=degree).fold(0, |sum, taken| (sum + part(taken)) % modulus)
    };
    (1..=size).map(convolve).collect()
}
