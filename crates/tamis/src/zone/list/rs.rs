//! Listing a set from its Reed-Solomon counters.
//!
//! An element is written in base q with digits c_0 .. c_t and stands for the polynomial
//! f(a) = c_0 + c_1 a + .. + c_t a^t over GF(q). Block i < q counts the values f(i) of a set, and
//! block q, the point at infinity, counts c_t. Two elements agree in at most t blocks, since their
//! difference has at most t roots.
//!
//! [`algebra`] takes counters. Block i gives the polynomial Q(i, z) = product of z - f(i) over the
//! set. The coefficient of z^(s-j) has degree at most j t in a, so s t + 1 blocks determine Q(a,
//! z), whose factors z - f(a) are the elements. Instead of the whole of Q we take its expansion
//! around the block with the fewest collisions, where the constant terms of all f can be read off,
//! and find the further coefficients one by one. f alone in its cell needs Q only up to a^t, and m
//! elements in one cell up to a^(m t).
//!
//! [`join`] takes only which positions are occupied: any t + 1 blocks determine an element, so all
//! combinations of positions in the t + 1 sparsest blocks are tried and tested against the other
//! blocks.

use crate::zone::field::Field;

/// Elements are below 2^64 and q is at least 2, so no element needs more digits than t + 1 = 64.
const MOST_DEGREE: u32 = 63;

/// How many blocks `join` tests in its innermost loop; what passes these is rare and is tested in
/// full.
const MOST_TESTS: usize = 8;

/// The position of an element in a block: f(block), or the top digit for block q, the point at
/// infinity. `None` if the element has more than t + 1 digits or there is no such block.
#[cfg(test)]
pub(crate) fn position(field: &Field, t: u32, element: u64, block: u32) -> Option<u32> {
    if t > MOST_DEGREE || block > field.order() {
        return None;
    }
    let q = u64::from(field.order());
    let mut rest = element;
    let mut digits = Vec::new();
    for _ in 0..=t {
        digits.push((rest % q) as u32);
        rest /= q;
    }
    (rest == 0).then(|| value(field, &digits, block))
}

/// Lists, in ascending order, the set of distinct elements below `universe` with the given
/// counters: `blocks[i]` is the multiset of the positions in block i, in any order.
///
/// `None` if there are fewer than s t + 1 blocks for s elements or no set has these counters. A
/// list that is returned reproduces every block, and with s t + 1 blocks it is the only one that
/// does.
pub(crate) fn algebra(
    field: &Field,
    t: u32,
    blocks: &[Vec<u32>],
    universe: u128,
) -> Option<Vec<u64>> {
    let size = blocks.first()?.len();
    if !representable(field, t, universe) || !well_formed(field, blocks, size) {
        return None;
    }
    if size == 0 {
        return Some(Vec::new());
    }
    let expansion = Expansion::new(field, t, blocks, size)?;
    let mut found = Vec::new();
    descend(field, &expansion.rows, &expansion.cells, t, &mut Vec::new(), &mut found)?;
    for polynomial in &mut found {
        shift(field, polynomial, expansion.base);
    }
    if !reproduces(field, &found, blocks) {
        return None;
    }
    let elements: Option<Vec<u64>> = found.iter().map(|f| element(field, f, universe)).collect();
    let mut elements = elements?;
    elements.sort_unstable();
    let distinct = elements.windows(2).all(|pair| pair[0] < pair[1]);
    (distinct && elements.len() == size).then_some(elements)
}

/// Lists, in ascending order, all elements below `universe` whose position is occupied in every
/// block and which pass `check`; `occupied[i]` holds the distinct occupied positions of block i in
/// ascending order.
///
/// `None` if more than `most` combinations of positions would have to be tried, or the input is
/// malformed.
///
/// The bound on the universe limits the top digit and so acts as a block at infinity even where
/// none is given; often it is the sparsest of all.
pub(crate) fn join(
    field: &Field,
    t: u32,
    occupied: &[Vec<u32>],
    universe: u128,
    most: u64,
    check: &dyn Fn(u64) -> bool,
) -> Option<Vec<u64>> {
    if !representable(field, t, universe) || !ascending(field, occupied) {
        return None;
    }
    if universe == 0 {
        return Some(Vec::new());
    }
    let top_digits = top_digits(field, t, occupied, universe);
    let mut axes: Vec<Axis> = (0..field.order()).zip(occupied).map(Axis::new).collect();
    axes.push(Axis::new((field.order(), &top_digits)));
    axes.sort_by_key(|axis| axis.positions.len());
    let (chosen, others) = axes.split_at_checked(t as usize + 1)?;
    let times = |product: u64, axis: &Axis| product.checked_mul(axis.positions.len() as u64);
    // A block without positions comes first and ends the search at once, whatever the others hold.
    let empty = chosen.iter().any(|axis| axis.positions.is_empty());
    if !empty && chosen.iter().try_fold(1, times).is_none_or(|product| product > most) {
        return None;
    }
    let mut search = Search::new(field, t, chosen, others, universe, check)?;
    let start = vec![0; search.width];
    search.descend(0, &start);
    search.found.sort_unstable();
    Some(search.found)
}

/// Whether all numbers below the universe have t + 1 digits and fit in 64 bits. Without the former,
/// two elements could share all their positions.
fn representable(field: &Field, t: u32, universe: u128) -> bool {
    let q = u128::from(field.order());
    t <= MOST_DEGREE
        && universe <= 1 << 64
        && q.checked_pow(t + 1).is_none_or(|all| universe <= all)
}

/// Whether there are at most q + 1 blocks, all of the same size, with all positions in the field.
fn well_formed(field: &Field, blocks: &[Vec<u32>], size: usize) -> bool {
    let q = field.order();
    let regular =
        |block: &Vec<u32>| block.len() == size && block.iter().all(|&position| position < q);
    blocks.len() as u64 <= u64::from(q) + 1 && blocks.iter().all(regular)
}

/// Whether there are at most q + 1 blocks, each a strictly ascending list of field elements.
fn ascending(field: &Field, blocks: &[Vec<u32>]) -> bool {
    let q = field.order();
    let regular =
        |block: &Vec<u32>| block.is_sorted_by(|a, b| a < b) && block.last().is_none_or(|&a| a < q);
    blocks.len() as u64 <= u64::from(q) + 1 && blocks.iter().all(regular)
}

/// The value of a polynomial (constant term first) at a field element, or its top coefficient at
/// infinity.
fn value(field: &Field, polynomial: &[u32], block: u32) -> u32 {
    if block == field.order() {
        return polynomial.last().copied().unwrap_or(0);
    }
    polynomial
        .iter()
        .rev()
        .fold(0, |sum, &coefficient| field.add(field.mul(sum, block), coefficient))
}

/// The element with the given digits, if it is below the universe.
fn element(field: &Field, digits: &[u32], universe: u128) -> Option<u64> {
    let q = u128::from(field.order());
    let step = |number: u128, &digit: &u32| number.checked_mul(q)?.checked_add(u128::from(digit));
    let number = digits.iter().rev().try_fold(0, step)?;
    if number < universe { u64::try_from(number).ok() } else { None }
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

/// A value together with the number of elements that have it.
#[derive(Clone, Copy)]
struct Cell {
    value: u32,
    count: usize,
}

/// The start of the expansion of Q(base + y, z) in powers of y.
struct Expansion {
    /// The block around which Q is expanded.
    base: u32,
    /// The cells of that block: the constant terms of the polynomials in y.
    cells: Vec<Cell>,
    /// `rows[d][k]` is the coefficient of y^d z^k.
    rows: Vec<Vec<u32>>,
}

impl Expansion {
    /// Interpolates Q as far as needed, or gives up when the blocks are too few or certainly
    /// inconsistent.
    fn new(field: &Field, t: u32, blocks: &[Vec<u32>], size: usize) -> Option<Expansion> {
        let degree = size.checked_mul(t as usize)?;
        let finite = blocks.len().min(field.order() as usize);
        let infinity = blocks.get(field.order() as usize);
        if finite < degree || (finite == degree && infinity.is_none()) {
            return None;
        }
        let (base, cells) = fewest_collisions(field, t, &blocks[..finite], size)?;
        let crowd = cells.iter().map(|cell| cell.count).max()?;
        let precision = crowd * t as usize + 1;
        let points: Vec<u32> =
            (0..finite.min(degree + 1) as u32).map(|i| field.sub(i, base)).collect();
        let lead = infinity.filter(|_| finite == degree).map(|block| product(field, block)[0]);
        let mut rows = vec![vec![0; size + 1]; precision];
        for ((&point, block), weights) in
            points.iter().zip(blocks).zip(basis_starts(field, &points, precision))
        {
            let mut values = product(field, block);
            if let Some(lead) = lead {
                let excess = field.mul(lead, field.pow(point, degree as u64));
                values[0] = field.sub(values[0], excess);
            }
            for (row, weight) in rows.iter_mut().zip(weights) {
                field.add_scaled(row, &values, weight);
            }
        }
        // With one point too few, only the coefficient of z^0 could have the full degree s t. The
        // block at infinity gives its top term: taken out before the interpolation, put
        // back here.
        if let (Some(lead), Some(row)) = (lead, rows.get_mut(degree)) {
            row[0] = field.add(row[0], lead);
        }
        Some(Expansion { base, cells, rows })
    }
}

/// The block with the fewest pairs of elements in the same cell, and its cells.
///
/// A pair of elements meets in at most t blocks, so the average over all blocks, and with it the
/// minimum, is at most t s (s - 1) / 2 divided by their number. This keeps the cells small, of
/// order sqrt(s) at worst; if it fails then no set has these counters.
fn fewest_collisions(
    field: &Field,
    t: u32,
    blocks: &[Vec<u32>],
    size: usize,
) -> Option<(u32, Vec<Cell>)> {
    let mut tally = vec![0usize; field.order() as usize];
    let mut collisions = |block: &Vec<u32>| {
        let mut pairs = 0u128;
        for &position in block {
            pairs += tally[position as usize] as u128;
            tally[position as usize] += 1;
        }
        block.iter().for_each(|&position| tally[position as usize] = 0);
        pairs
    };
    let counted = (0..).zip(blocks).map(|(index, block)| (collisions(block), index));
    let (pairs, base): (u128, u32) = counted.min()?;
    let all_pairs = size as u128 * (size as u128 - 1) / 2;
    let possible =
        pairs.checked_mul(blocks.len() as u128)? <= all_pairs.checked_mul(u128::from(t))?;
    possible.then(|| (base, cells(&blocks[base as usize])))
}

fn cells(block: &[u32]) -> Vec<Cell> {
    let mut sorted = block.to_vec();
    sorted.sort_unstable();
    sorted.chunk_by(|a, b| a == b).map(|run| Cell { value: run[0], count: run.len() }).collect()
}

/// The product of z - v over all v of a block, constant term first.
fn product(field: &Field, block: &[u32]) -> Vec<u32> {
    let mut result = Vec::with_capacity(block.len() + 1);
    let mut previous = Vec::with_capacity(block.len() + 1);
    result.push(1);
    for &position in block {
        std::mem::swap(&mut result, &mut previous);
        result.clear();
        result.push(0);
        result.extend_from_slice(&previous);
        field.add_scaled(&mut result, &previous, field.neg(position));
    }
    result
}

/// For each of the distinct points the first `precision` coefficients of its Lagrange basis
/// polynomial (1 at this point, 0 at the others).
///
/// That polynomial is M(y) / (y - point), up to a factor, where M is the product of all y - point.
/// The division by y - point starts from the constant term, so only the start of M is needed.
fn basis_starts(field: &Field, points: &[u32], precision: usize) -> Vec<Vec<u32>> {
    let mut master = vec![0; precision + 1];
    master[0] = 1;
    for &point in points {
        let factor = field.neg(point);
        for k in (1..=precision).rev() {
            master[k] = field.add(master[k - 1], field.mul(factor, master[k]));
        }
        master[0] = field.mul(factor, master[0]);
    }
    let start = |&point: &u32| {
        let others = points.iter().filter(|&&other| other != point);
        let spread = others.fold(1, |spread, &other| field.mul(spread, field.sub(point, other)));
        let scale = field.inv(spread).unwrap_or(0);
        let quotient = divide_start(field, &master, point);
        quotient.into_iter().map(|coefficient| field.mul(scale, coefficient)).collect()
    };
    points.iter().map(start).collect()
}

/// The start of M(y) / (y - point), one coefficient fewer than are given of M: comparing
/// coefficients, m_k = r_(k-1) - point r_k.
fn divide_start(field: &Field, master: &[u32], point: u32) -> Vec<u32> {
    let Some(inverse) = field.inv(point) else {
        return master[1..].to_vec();
    };
    let mut previous = 0;
    let step = |&coefficient: &u32| {
        previous = field.mul(field.sub(previous, coefficient), inverse);
        previous
    };
    master[..master.len() - 1].iter().map(step).collect()
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

/// The roots of a polynomial with non-zero top coefficient; `None` unless there are as many as its
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

/// A block as `join` uses it: its index (q for infinity) and its occupied positions.
#[derive(Clone, Copy)]
struct Axis<'a> {
    block: u32,
    positions: &'a [u32],
}

impl<'a> Axis<'a> {
    fn new((block, positions): (u32, &'a Vec<u32>)) -> Axis<'a> {
        Axis { block, positions }
    }
}

/// The possible top digits: those of the block at infinity, if there is one, that the universe
/// admits.
fn top_digits(field: &Field, t: u32, occupied: &[Vec<u32>], universe: u128) -> Vec<u32> {
    let place = u128::from(field.order()).checked_pow(t).unwrap_or(u128::MAX);
    let admitted = |digit: &u32| u128::from(*digit) <= universe.saturating_sub(1) / place;
    match occupied.get(field.order() as usize) {
        Some(block) => block.iter().copied().filter(admitted).collect(),
        None => (0..field.order()).filter(admitted).collect(),
    }
}

/// The enumeration of all combinations of positions on the chosen axes.
///
/// The polynomial through the chosen positions is a sum of one multiple of a basis polynomial for
/// each axis. We keep partial sums of what is wanted of it: its coefficients and its values at the
/// test blocks. In the innermost loop a candidate then costs one product and one sum for each test
/// until one fails.
struct Search<'a> {
    field: &'a Field,
    chosen: &'a [Axis<'a>],
    others: &'a [Axis<'a>],
    /// For each axis the t + 1 coefficients of its basis polynomial, then its values at the test
    /// blocks.
    rows: Vec<Vec<u32>>,
    /// For each test block, the first few of `others`, which positions are occupied.
    tests: Vec<Vec<bool>>,
    /// The length of a row.
    width: usize,
    universe: u128,
    check: &'a dyn Fn(u64) -> bool,
    found: Vec<u64>,
}

impl<'a> Search<'a> {
    fn new(
        field: &'a Field,
        t: u32,
        chosen: &'a [Axis<'a>],
        others: &'a [Axis<'a>],
        universe: u128,
        check: &'a dyn Fn(u64) -> bool,
    ) -> Option<Search<'a>> {
        let tested = &others[..others.len().min(MOST_TESTS)];
        let mut rows = basis(field, chosen)?;
        for row in &mut rows {
            let values: Vec<u32> =
                tested.iter().map(|axis| value(field, row, axis.block)).collect();
            row.extend(values);
        }
        let tests = tested.iter().map(|axis| occupancy(field, axis.positions)).collect();
        let width = t as usize + 1 + tested.len();
        Some(Search {
            field,
            chosen,
            others,
            rows,
            tests,
            width,
            universe,
            check,
            found: Vec::new(),
        })
    }

    /// Goes through the positions of the axes from `depth` on; `partial` is the sum of the earlier
    /// axes.
    fn descend(&mut self, depth: usize, partial: &[u32]) {
        let axis = self.chosen[depth];
        if depth + 1 == self.chosen.len() {
            axis.positions.iter().for_each(|&position| self.finish(position, partial));
            return;
        }
        let mut next = partial.to_vec();
        for &position in axis.positions {
            next.copy_from_slice(partial);
            self.field.add_scaled(&mut next, &self.rows[depth], position);
            self.descend(depth + 1, &next);
        }
    }

    /// Tests the candidate with the given position on the last axis, and keeps it if it passes.
    #[inline]
    fn finish(&mut self, position: u32, partial: &[u32]) {
        let field = self.field;
        let digits = self.chosen.len();
        let row = &self.rows[digits - 1];
        let values = partial[digits..].iter().zip(&row[digits..]);
        let passes = |((&sum, &factor), test): ((&u32, &u32), &Vec<bool>)| {
            test[field.add(sum, field.mul(factor, position)) as usize]
        };
        if !values.zip(&self.tests).all(passes) {
            return;
        }
        let mut polynomial = partial[..digits].to_vec();
        field.add_scaled(&mut polynomial, row, position);
        self.keep(&polynomial);
    }

    /// Keeps a candidate that is below the universe, occupied in the remaining blocks, and passes
    /// the check.
    fn keep(&mut self, polynomial: &[u32]) {
        let Some(element) = element(self.field, polynomial, self.universe) else {
            return;
        };
        let occupied = |axis: &Axis| {
            axis.positions.binary_search(&value(self.field, polynomial, axis.block)).is_ok()
        };
        if self.others[self.tests.len()..].iter().all(occupied) && (self.check)(element) {
            self.found.push(element);
        }
    }
}

fn occupancy(field: &Field, positions: &[u32]) -> Vec<bool> {
    let mut occupied = vec![false; field.order() as usize];
    positions.iter().for_each(|&position| occupied[position as usize] = true);
    occupied
}

/// For each axis the polynomial, of degree below the number of axes, that is 1 there and 0 on the
/// others. To be 1 at infinity means top coefficient 1, to be 0 there one degree less.
fn basis(field: &Field, axes: &[Axis]) -> Option<Vec<Vec<u32>>> {
    let infinity = field.order();
    let polynomial = |axis: &Axis| {
        let others = axes.iter().map(|other| other.block);
        let others: Vec<u32> =
            others.filter(|&other| other != axis.block && other != infinity).collect();
        let zeros = product(field, &others);
        let scale = field.inv(value(field, &zeros, axis.block))?;
        let mut scaled = vec![0; axes.len()];
        field.add_scaled(&mut scaled, &zeros, scale);
        Some(scaled)
    };
    axes.iter().map(polynomial).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeSet;

    const ORDERS: [u32; 17] = [2, 3, 4, 5, 7, 8, 9, 16, 25, 27, 31, 64, 81, 128, 256, 1021, 4096];

    /// A small generator of pseudo-random numbers, so that a case is described by its seed.
    struct Draw(u64);

    impl Draw {
        fn next(&mut self) -> u64 {
            self.0 = self.0.wrapping_add(0x9e3779b97f4a7c15);
            let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58476d1ce4e5b9);
            let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d049bb133111eb);
            mixed ^ (mixed >> 31)
        }

        fn below(&mut self, bound: u128) -> u128 {
            ((u128::from(self.next()) << 64) | u128::from(self.next())) % bound.max(1)
        }
    }

    fn blocks(field: &Field, t: u32, set: &[u64], count: u32) -> Vec<Vec<u32>> {
        let positions =
            |block| set.iter().map(|&x| position(field, t, x, block).unwrap()).collect();
        (0..count).map(positions).collect()
    }

    fn occupied(blocks: &[Vec<u32>]) -> Vec<Vec<u32>> {
        blocks
            .iter()
            .map(|block| block.iter().copied().collect::<BTreeSet<_>>().into_iter().collect())
            .collect()
    }

    fn largest_universe(q: u32, t: u32) -> u128 {
        u128::from(q).checked_pow(t + 1).unwrap_or(u128::MAX).min(1 << 64)
    }

    /// Sets of various shapes: random, consecutive somewhere, at either end, and sharing many
    /// digits.
    fn set(draw: &mut Draw, q: u32, universe: u128, size: u64, shape: u8) -> Vec<u64> {
        let size = u128::from(size).min(universe);
        let last = universe - size;
        let start = draw.below(last + 1);
        let stride = u128::from(q).pow(draw.below(4) as u32);
        let mut set = BTreeSet::new();
        for i in 0..4 * size {
            if set.len() as u128 == size {
                break;
            }
            set.insert(match shape {
                0 => draw.below(universe),
                1 => start + i % size,
                2 => i % size,
                3 => last + i % size,
                4 => (start + i * stride) % universe,
                _ => (draw.below(3) + stride * draw.below(u128::from(q) / 2 + 2)) % universe,
            } as u64);
        }
        set.into_iter().collect()
    }

    struct Case {
        field: Field,
        universe: u128,
        set: Vec<u64>,
        /// Blocks that suffice for this set, between s t + 1 and q + 1.
        count: u32,
        draw: Draw,
    }

    fn case(order: usize, t: u32, seed: u64, shape: u8, spare: u32) -> Case {
        let q = ORDERS[order];
        let mut draw = Draw(seed);
        let whole = largest_universe(q, t);
        let universe = if seed.is_multiple_of(2) { whole } else { 1 + draw.below(whole) };
        let most = q / t.max(1);
        let size = match draw.below(4) {
            0 => draw.below(3) as u64,
            1 => u64::from(most),
            _ => draw.below(u128::from(most) + 1) as u64,
        };
        let size = size.min(u64::from(most)).min(60);
        let set = set(&mut draw, q, universe, size, shape);
        let needed = set.len() as u32 * t + 1;
        let count = if spare == 3 { q + 1 } else { needed.saturating_add(spare).min(q + 1) };
        Case { field: Field::new(q).unwrap(), universe, set, count, draw }
    }

    proptest! {
        #![proptest_config(ProptestConfig { cases: 3000, failure_persistence: None, ..Default::default() })]

        #[test]
        fn algebra_recovers(order in 0..ORDERS.len(), t in 0u32..=6, seed: u64, shape in 0u8..6,
                            spare in 0u32..4) {
            let case = case(order, t, seed, shape, spare);
            let mut blocks = blocks(&case.field, t, &case.set, case.count);
            prop_assert_eq!(algebra(&case.field, t, &blocks, case.universe), Some(case.set.clone()));
            blocks.iter_mut().for_each(|block| block.reverse());
            prop_assert_eq!(algebra(&case.field, t, &blocks, case.universe), Some(case.set.clone()));
            if let Some(&last) = case.set.last() {
                prop_assert_eq!(algebra(&case.field, t, &blocks, u128::from(last)), None);
            }
        }

        #[test]
        fn algebra_never_lists_wrongly(order in 0..ORDERS.len(), t in 0u32..=6, seed: u64, shape in 0u8..6,
                                       spare in 0u32..4, changes in 1usize..4) {
            let mut case = case(order, t, seed, shape, spare);
            prop_assume!(!case.set.is_empty());
            let true_blocks = blocks(&case.field, t, &case.set, case.count);
            let mut changed = true_blocks.clone();
            let mut touched = BTreeSet::new();
            for _ in 0..changes {
                let block = case.draw.below(changed.len() as u128) as usize;
                let entry = case.draw.below(case.set.len() as u128) as usize;
                changed[block][entry] = case.draw.below(u128::from(case.field.order())) as u32;
                touched.insert(block);
            }
            changed.iter_mut().for_each(|block| block.sort());
            let sorted = |mut blocks: Vec<Vec<u32>>| {
                blocks.iter_mut().for_each(|block| block.sort());
                blocks
            };
            let same = changed == sorted(true_blocks);
            let result = algebra(&case.field, t, &changed, case.universe);
            // s t + 1 untouched blocks still determine the set, so then nothing else can be listed.
            if !same && changed.len() - touched.len() > case.set.len() * t as usize {
                prop_assert_eq!(&result, &None);
            }
            if let Some(list) = result {
                prop_assert_eq!(sorted(blocks(&case.field, t, &list, case.count)), changed);
            }
        }

        #[test]
        fn algebra_survives_anything(q in 0u32..70, t in 0u32..70, universe: u64, size in 0usize..6,
                                     count in 0usize..80, seed: u64, wild: bool) {
            let Some(field) = Field::new(q) else { return Ok(()) };
            let mut draw = Draw(seed);
            let bound = u128::from(q) + u128::from(wild) * 2;
            let blocks: Vec<Vec<u32>> =
                (0..count).map(|_| (0..size).map(|_| draw.below(bound) as u32).collect()).collect();
            algebra(&field, t, &blocks, u128::from(universe) % largest_universe(q, t.min(64)));
            algebra(&field, t, &blocks, u128::MAX);
            join(&field, t, &blocks, u128::from(universe), 1000, &|_| true);
            let sets = occupied(&blocks);
            join(&field, t, &sets, u128::from(universe) % largest_universe(q, t.min(64)), 1000, &|_| true);
        }

        #[test]
        fn join_lists_what_is_occupied(order in 0usize..12, t in 0u32..=6, seed: u64, shape in 0u8..6,
                                       spare in 0u32..4) {
            let case = case(order, t, seed, shape, spare);
            let occupied = occupied(&blocks(&case.field, t, &case.set, case.count));
            let member = |x: u64| (0..).zip(&occupied).all(|(block, positions)| {
                positions.contains(&position(&case.field, t, x, block).unwrap())
            });
            let list = join(&case.field, t, &occupied, case.universe, 20000, &|_| true);
            if let Some(list) = &list {
                prop_assert!(list.is_sorted_by(|a, b| a < b));
                prop_assert!(list.iter().all(|&x| u128::from(x) < case.universe && member(x)));
                prop_assert!(case.set.iter().all(|x| list.binary_search(x).is_ok()));
                if case.universe <= 5000 {
                    let plain: Vec<u64> = (0..case.universe as u64).filter(|&x| member(x)).collect();
                    prop_assert_eq!(list, &plain);
                }
                let even = join(&case.field, t, &occupied, case.universe, 20000, &|x| x % 2 == 0).unwrap();
                prop_assert!(even.iter().eq(list.iter().filter(|&x| x % 2 == 0)));
            } else {
                let sizes = occupied.iter().map(|positions| positions.len() as u128);
                prop_assert!(sizes.max().unwrap().pow(t + 1) > 20000 || case.count <= t);
            }
        }
    }

    #[test]
    fn every_small_set_is_recovered() {
        for (q, t) in [(2, 1), (3, 1), (4, 1), (3, 2), (2, 2), (5, 1)] {
            let field = Field::new(q).unwrap();
            let universe = largest_universe(q, t);
            for bits in 0u64..1 << universe.min(16) {
                let set: Vec<u64> = (0..universe as u64).filter(|x| bits >> x & 1 == 1).collect();
                let needed = set.len() as u32 * t + 1;
                for count in needed..=q + 1 {
                    let blocks = blocks(&field, t, &set, count);
                    assert_eq!(algebra(&field, t, &blocks, universe), Some(set.clone()));
                    let listed = join(&field, t, &occupied(&blocks), universe, u64::MAX, &|_| true);
                    assert!(set.iter().all(|x| listed.as_ref().unwrap().contains(x)));
                }
            }
        }
    }

    #[test]
    fn too_few_blocks_are_refused() {
        let field = Field::new(16).unwrap();
        let set = [5, 1000, 4095];
        assert_eq!(algebra(&field, 2, &blocks(&field, 2, &set, 7), 4096), Some(set.to_vec()));
        assert_eq!(algebra(&field, 2, &blocks(&field, 2, &set, 6), 4096), None);
        assert_eq!(algebra(&field, 2, &[], 4096), None);
        assert_eq!(algebra(&field, 2, &[vec![], vec![]], 4096), Some(vec![]));
        assert_eq!(algebra(&field, 2, &[vec![], vec![1]], 4096), None);
        assert_eq!(algebra(&field, 2, &blocks(&field, 2, &set, 7), 4097), None);
        assert_eq!(
            join(&field, 2, &occupied(&blocks(&field, 2, &set, 7)), 4096, 1, &|_| true),
            None
        );
    }

    #[test]
    fn positions_follow_the_definition() {
        let field = Field::new(7).unwrap();
        // 123 = 4 + 3 * 7 + 2 * 49
        assert_eq!(position(&field, 2, 123, 0), Some(4));
        assert_eq!(position(&field, 2, 123, 1), Some(2));
        assert_eq!(position(&field, 2, 123, 2), Some(4));
        assert_eq!(position(&field, 2, 123, 7), Some(2));
        assert_eq!(position(&field, 2, 123, 8), None);
        assert_eq!(position(&field, 2, 343, 0), None);
        assert_eq!(position(&field, 64, 1, 0), None);
    }

    #[test]
    fn large_sets_are_recovered() {
        let cases = [
            (4096, 2, 1000, 0),
            (4093, 3, 400, 1),
            (6561, 2, 300, 4),
            (65536, 3, 200, 5),
            (256, 0, 256, 2),
        ];
        for (q, t, size, shape) in cases {
            let field = Field::new(q).unwrap();
            let universe = largest_universe(q, t);
            let set = set(&mut Draw(7), q, universe, size, shape);
            let blocks = blocks(&field, t, &set, set.len() as u32 * t + 1);
            assert_eq!(algebra(&field, t, &blocks, universe), Some(set));
        }
    }
}
