//! From the occupied residues alone: the residues of a few moduli are joined into candidates by
//! Chinese remaindering, and each candidate is tested on the other moduli.

use crate::zone::arith::chinese::inverse;
use crate::zone::arith::divisor::Divisor;
use crate::zone::code::residues::Residues;
use crate::zone::list::Occupancy;
use crate::zone::list::progress::Watch;
use crate::zone::universe::Size;
use std::cmp::Reverse;

/// The numbers below `universe` whose residues are all occupied, ascending. `None` if the join
/// would test more than `max` candidates, or the caller stops it.
pub(crate) fn join(
    code: &Residues,
    cells: &dyn Occupancy,
    universe: Size,
    max: u64,
    watch: &mut Watch,
) -> Option<Vec<u128>> {
    let moduli = code.moduli();
    let counts: Vec<u64> = (0..moduli.len()).map(|block| cells.count(block)).collect();
    if counts.contains(&0) {
        return Some(Vec::new());
    }
    let (joined, work) = best_blocks(moduli, &counts, universe);
    if work > u128::from(max) {
        return None;
    }
    let mut levels = Vec::with_capacity(joined.len());
    // Every product except the last is below the universe. The last one may be above all numbers
    // of 128 bits: then there is none.
    let mut product = Some(1u128);
    for &block in &joined {
        levels.push(Level::new(code, block, product?, &cells.occupied(block))?);
        product = product?.checked_mul(u128::from(moduli[block]));
    }
    // The joined blocks are occupied by construction. Of the others, the emptiest block refuses
    // most candidates, so it is asked first.
    let mut others: Vec<_> =
        code.probes().iter().filter(|(block, _)| !joined.contains(block)).collect();
    others.sort_by_key(|(block, modulus)| Reverse(modulus.value() / counts[*block]));
    let mut found = Vec::new();
    let mut test = |number: u128| {
        let element = code.first().wrapping_add(number);
        let occupied = |&&(block, modulus): &&(usize, Divisor)| {
            cells.is_occupied(block, modulus.remainder_of_wide(element))
        };
        if others.iter().all(occupied) {
            found.push(number);
        }
    };
    // The first level's residues are the steps that are reported.
    let bound = Bound { product, last: universe.last() };
    if let Some((first, rest)) = levels.split_first() {
        watch.begin(first.scaled.len());
        for &scaled in &first.scaled {
            watch.step()?;
            first.extend(scaled, 0, 0, rest, bound, &mut test);
        }
    } else {
        extend(&levels, 0, bound, &mut test);
    }
    found.sort_unstable();
    Some(found)
}

/// How many candidates a join tests if each block has `items` occupied positions. A join of blocks
/// with fewer of them never tests more.
pub(crate) fn join_work(moduli: &[u64], items: u64, universe: Size) -> u128 {
    let counts: Vec<u64> = moduli.iter().map(|q| items.min(*q)).collect();
    best_blocks(moduli, &counts, universe).1
}

/// Which blocks to join, and how many candidates that makes: the product of their occupied
/// positions, times the elements that share all residues. More blocks multiply the first and divide
/// the second.
///
/// Two orders compete. The ratio of a modulus to its occupied positions says how much its block
/// narrows the candidates. The order by modulus alone bounds the work by that of fuller blocks: if
/// all blocks have `items` occupied positions, or all of theirs, then the best blocks are the
/// largest ones, as a full block multiplies the choices by as much as it divides the elements.
fn best_blocks(moduli: &[u64], counts: &[u64], universe: Size) -> (Vec<usize>, u128) {
    let mut by_ratio: Vec<usize> = (0..moduli.len()).collect();
    let mut by_size = by_ratio.clone();
    by_ratio.sort_by(|&a, &b| {
        let left = u128::from(moduli[a]) * u128::from(counts[b]);
        let right = u128::from(moduli[b]) * u128::from(counts[a]);
        right.cmp(&left).then(a.cmp(&b))
    });
    by_size.sort_by_key(|&block| Reverse(moduli[block]));
    let first = best_prefix(by_ratio, moduli, counts, universe);
    let second = best_prefix(by_size, moduli, counts, universe);
    if second.1 < first.1 { second } else { first }
}

/// The first blocks of an order that make the fewest candidates, and how many these are.
fn best_prefix(
    mut order: Vec<usize>,
    moduli: &[u64],
    counts: &[u64],
    universe: Size,
) -> (Vec<usize>, u128) {
    let (mut best, mut least) = (0, universe.saturated());
    let (mut product, mut choices) = (1u128, 1u128);
    for (taken, &block) in order.iter().enumerate() {
        let next = product.checked_mul(u128::from(moduli[block]));
        choices = choices.saturating_mul(u128::from(counts[block]));
        let sharing = next.map_or(1, |next| (universe.last() / next).saturating_add(1));
        let work = choices.saturating_mul(sharing);
        if work < least {
            (best, least) = (taken + 1, work);
        }
        match next {
            Some(next) if universe.holds(next) => product = next,
            _ => break,
        }
    }
    order.truncate(best);
    (order, least)
}

/// How far apart candidates with the same residues are, and the last number that is allowed.
#[derive(Clone, Copy)]
struct Bound {
    /// The product of all joined moduli, unless it is above all numbers.
    product: Option<u128>,
    last: u128,
}

/// One block of a join: how to carry a solution modulo the product before it to one modulo the
/// product with it.
struct Level {
    modulus: Divisor,
    inverse: u64,
    product: u128,
    /// The residues, each times the inverse, so that a step is only a subtraction.
    scaled: Vec<u64>,
}

impl Level {
    fn new(code: &Residues, block: usize, product: u128, residues: &[u64]) -> Option<Level> {
        let modulus = code.moduli()[block];
        let inverse = inverse((product % u128::from(modulus)) as u64, modulus)?;
        // Residues of numbers, which count from the first element.
        let back = modulus - (code.first() % u128::from(modulus)) as u64;
        let scale = |residue: &u64| (residue + back) % modulus * inverse % modulus;
        let scaled = residues.iter().map(scale).collect();
        Some(Level { modulus: Divisor::new(modulus), inverse, product, scaled })
    }

    /// Carries `x`, whose scaled residue here is `have`, to a number with the residue `scaled`, and
    /// on through the other levels.
    #[inline(always)]
    fn extend(
        &self,
        scaled: u64,
        have: u64,
        x: u128,
        rest: &[Level],
        bound: Bound,
        found: &mut dyn FnMut(u128),
    ) {
        let steps =
            if scaled >= have { scaled - have } else { scaled + self.modulus.value() - have };
        let candidate =
            self.product.checked_mul(steps.into()).and_then(|further| further.checked_add(x));
        if let Some(candidate) = candidate.filter(|candidate| *candidate <= bound.last) {
            extend(rest, candidate, bound, found);
        }
    }
}

/// Gives every number below the universe that is `x` modulo the product so far and has an occupied
/// residue at each level.
fn extend(levels: &[Level], x: u128, bound: Bound, found: &mut dyn FnMut(u128)) {
    let Some((level, rest)) = levels.split_first() else {
        let next = |candidate: &u128| candidate.checked_add(bound.product?);
        let candidates = std::iter::successors(Some(x), next);
        candidates.take_while(|candidate| *candidate <= bound.last).for_each(found);
        return;
    };
    // Moduli are below 2^32, so products of two residues fit 64 bits.
    let have = level.modulus.remainder(level.modulus.remainder_of_wide(x) * level.inverse);
    for &scaled in &level.scaled {
        level.extend(scaled, have, x, rest, bound, found);
    }
}
