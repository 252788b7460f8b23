//! The polynomial Q(a, z), the product of z - f(a) over the set, expanded around one block.

use super::product;
use crate::zone::arith::field::Field;
use crate::zone::list::progress::Watch;

/// A value together with the number of elements that have it.
#[derive(Clone, Copy)]
pub(super) struct Cell {
    pub(super) value: u32,
    pub(super) count: usize,
}

/// The start of the expansion of Q(base + y, z) in powers of y.
pub(super) struct Expansion {
    /// The block around which Q is expanded.
    pub(super) base: u32,
    /// The cells of that block: the constant terms of the polynomials in y.
    pub(super) cells: Vec<Cell>,
    /// `rows[d][k]` is the coefficient of y^d z^k.
    pub(super) rows: Vec<Vec<u32>>,
}

impl Expansion {
    /// Interpolates Q as far as needed, or gives up when the blocks are too few or certainly
    /// inconsistent.
    pub(super) fn new(
        field: &Field,
        t: u32,
        blocks: &[Vec<u32>],
        size: usize,
        watch: &mut Watch,
    ) -> Option<Expansion> {
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
        // Most of the work of the whole listing is here, so these are the steps that are reported.
        watch.begin(points.len());
        for ((&point, block), weights) in
            points.iter().zip(blocks).zip(basis_starts(field, &points, precision))
        {
            watch.step()?;
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

pub(super) fn cells(block: &[u32]) -> Vec<Cell> {
    let mut sorted = block.to_vec();
    sorted.sort_unstable();
    sorted.chunk_by(|a, b| a == b).map(|run| Cell { value: run[0], count: run.len() }).collect()
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
