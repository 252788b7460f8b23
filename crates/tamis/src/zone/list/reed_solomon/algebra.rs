//! From counters, by algebra.
//!
//! Block i gives the polynomial Q(i, z) = product of z - f(i) over the set. The coefficient of
//! z^(s-j) has degree at most j t in a, so s t + 1 blocks determine Q(a, z), whose factors z - f(a)
//! are the elements. Instead of the whole of Q we take its expansion around the block with the
//! fewest collisions. There the constant terms of all f can be read off, and the further
//! coefficients are found one by one (Roth and Ruckenstein). An f alone in its cell needs Q only up
//! to a^t, and m elements in one cell need it up to a^(m t).

use super::expansion::{Cell, Expansion, cells};
use super::{element, representable, value};
use crate::zone::arith::field::Field;
use crate::zone::list::progress::Watch;
use crate::zone::universe::Size;

/// Lists, in ascending order, the set of distinct elements of the universe with the given
/// counters: `blocks[i]` is the multiset of the positions in block i, in any order.
///
/// `None` if there are fewer than s t + 1 blocks for s elements or no set has these counters. A
/// list that is returned reproduces every block. With s t + 1 blocks no other list does.
pub(crate) fn algebra(
    field: &Field,
    t: u32,
    blocks: &[Vec<u32>],
    universe: Size,
    watch: &mut Watch,
) -> Option<Vec<u128>> {
    let size = blocks.first()?.len();
    if !representable(field, t, universe) || !well_formed(field, blocks, size) {
        return None;
    }
    if size == 0 {
        return Some(Vec::new());
    }
    let expansion = Expansion::new(field, t, blocks, size, watch)?;
    let mut found = Vec::new();
    descend(field, &expansion.rows, &expansion.cells, t, &mut Vec::new(), &mut found)?;
    for polynomial in &mut found {
        shift(field, polynomial, expansion.base);
    }
    if !reproduces(field, &found, blocks) {
        return None;
    }
    let elements: Option<Vec<u128>> = found.iter().map(|f| element(field, f, universe)).collect();
    let mut elements = elements?;
    elements.sort_unstable();
    let distinct = elements.windows(2).all(|pair| pair[0] < pair[1]);
    (distinct && elements.len() == size).then_some(elements)
}

/// Whether there are at most q + 1 blocks, all of the same size, with all positions in the field.
fn well_formed(field: &Field, blocks: &[Vec<u32>], size: usize) -> bool {
    let q = field.order();
    let regular =
        |block: &Vec<u32>| block.len() == size && block.iter().all(|&position| position < q);
    blocks.len() as u64 <= u64::from(q) + 1 && blocks.iter().all(regular)
}

/// Turns g(y) into f(a) = g(a - base), by Horner's rule: repeatedly multiply by a - base and add
/// the next coefficient, in place.
fn shift(field: &Field, polynomial: &mut [u32], base: u32) {
    let factor = field.neg(base);
    for start in (0..polynomial.len()).rev() {
        for k in start + 1..polynomial.len() {
            polynomial[k - 1] = field.add(polynomial[k - 1], field.mul(factor, polynomial[k]));
        }
    }
}

/// Whether the polynomials have exactly these positions in all blocks. Both sides have the same
/// number of positions, so it is enough that none is used more often than counted; the tally then
/// returns to zero.
fn reproduces(field: &Field, polynomials: &[Vec<u32>], blocks: &[Vec<u32>]) -> bool {
    let mut tally = vec![0usize; field.order() as usize];
    let mut matches = |(index, block): (u32, &Vec<u32>)| {
        block.iter().for_each(|&position| tally[position as usize] += 1);
        polynomials.len() == block.len()
            && polynomials.iter().all(|polynomial| {
                let count = &mut tally[value(field, polynomial, index) as usize];
                let free = *count > 0;
                *count = count.saturating_sub(1);
                free
            })
    };
    (0..).zip(blocks).all(&mut matches)
}

/// Finds all polynomials f with Q(y, f(y)) = 0 that continue the coefficients in `start`.
///
/// `cells` are the roots of Q(0, z), the possible next coefficients, and `levels` coefficients come
/// after these. Q has precision (largest count) * levels + 1. A cell of m roots c goes on with
/// Q(y, c + y z) / y^m, of which z - (f - c) / y are the factors. The counts add up to s at most at
/// each level, so there are never more than s branches. `None` if Q is not a product of such
/// factors.
fn descend(
    field: &Field,
    rows: &[Vec<u32>],
    cells: &[Cell],
    levels: u32,
    start: &mut Vec<u32>,
    found: &mut Vec<Vec<u32>>,
) -> Option<()> {
    for cell in cells {
        start.push(cell.value);
        if levels > 0 {
            let next = substitute(field, rows, *cell, levels)?;
            let next_cells = roots(field, next.first()?)?;
            descend(field, &next, &next_cells, levels - 1, start, found)?;
        } else if cell.count == 1 {
            found.push(start.clone());
        } else {
            return None;
        }
        start.pop();
    }
    Some(())
}

/// Q(y, c + y z) / y^m for a cell of m roots c, up to the precision m (levels - 1) + 1 that is
/// needed next.
///
/// The term y^d z^k of Q(y, c + z) becomes y^(d + k) z^k. All terms below y^m must vanish, and the
/// first that remains, in y^m, must have degree m in z; otherwise c is not an m-fold root of a
/// product of factors.
fn substitute(field: &Field, rows: &[Vec<u32>], cell: Cell, levels: u32) -> Option<Vec<Vec<u32>>> {
    let precision = cell.count.checked_mul(levels as usize)?.checked_add(1)?;
    let mut result: Vec<Vec<u32>> = (0..precision).map(|d| vec![0; d + 1]).collect();
    for (d, row) in rows.iter().enumerate().take(precision) {
        for (k, coefficient) in
            taylor(field, row, cell.value, precision - d).into_iter().enumerate()
        {
            result[d + k][k] = coefficient;
        }
    }
    let rest = result.split_off(cell.count);
    let vanishes = result.iter().flatten().all(|&coefficient| coefficient == 0);
    let degree_fits = rest.first()?.last().is_some_and(|&coefficient| coefficient != 0);
    (vanishes && degree_fits).then_some(rest)
}

/// The first coefficients, at most `count`, of a polynomial in powers of z - center: the remainders
/// of repeated division by z - center.
fn taylor(field: &Field, polynomial: &[u32], center: u32, count: usize) -> Vec<u32> {
    let mut rest = polynomial.to_vec();
    let count = count.min(rest.len());
    for start in 0..count {
        divide(field, &mut rest[start..], center);
    }
    rest.truncate(count);
    rest
}

/// Divides by z - point in place: the remainder, which is the value at the point, comes first and
/// the quotient after it.
fn divide(field: &Field, polynomial: &mut [u32], point: u32) {
    let mut carry = 0;
    for coefficient in polynomial.iter_mut().rev() {
        carry = field.add(*coefficient, field.mul(carry, point));
        *coefficient = carry;
    }
}

/// The roots of a polynomial with non-zero top coefficient. `None` if it has fewer roots than its
/// degree.
///
/// The last root is solved for, so the frequent case of degree 1 is immediate. For the others all
/// field elements are tried: the degree is the size of a cell, so this stays cheap even for large
/// q.
fn roots(field: &Field, polynomial: &[u32]) -> Option<Vec<Cell>> {
    let mut rest = polynomial.to_vec();
    let mut found = Vec::new();
    for candidate in 0..field.order() {
        if rest.len() <= 2 {
            break;
        }
        while rest.len() > 1 && value(field, &rest, candidate) == 0 {
            found.push(candidate);
            divide(field, &mut rest, candidate);
            rest.remove(0);
        }
    }
    if let [constant, slope] = rest[..] {
        found.push(field.mul(field.neg(constant), field.inv(slope)?));
        rest.truncate(1);
    }
    (rest.len() == 1).then(|| cells(&found))
}
