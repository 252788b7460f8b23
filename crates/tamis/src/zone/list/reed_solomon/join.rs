//! From the occupied positions alone: any t + 1 blocks determine an element, so all combinations of
//! positions in the t + 1 sparsest blocks are tried and tested against the other blocks.

use super::{element, product, representable, value};
use crate::zone::arith::field::Field;
use crate::zone::list::progress::Watch;
use crate::zone::universe::Size;

/// Masks serve fields up to this order, of so many test blocks, and as many positions of the last
/// block as a word has bits.
const MAX_MASKED_ORDER: u32 = 1 << 10;
const MAX_MASKS: usize = 6;

/// How many blocks `join` tests in its innermost loop; what passes these is rare and is tested in
/// full.
const MAX_TESTS: usize = 8;

/// Lists, in ascending order, all elements of the universe whose position is occupied in every
/// block; `occupied[i]` holds the distinct occupied positions of block i in ascending order.
///
/// `None` if more than `max` combinations of positions would have to be tried, the input is
/// malformed, or the caller stops it.
///
/// The bound on the universe limits the top digit and so acts as a block at infinity even where
/// none is given; often it is the sparsest of all.
pub(crate) fn join(
    field: &Field,
    t: u32,
    occupied: &[Vec<u32>],
    universe: Size,
    max: u64,
    watch: &mut Watch,
) -> Option<Vec<u128>> {
    if !representable(field, t, universe) || !ascending(field, occupied) {
        return None;
    }
    let top_digits = top_digits(field, t, occupied, universe);
    let mut axes: Vec<Axis> = (0..field.order()).zip(occupied).map(Axis::new).collect();
    axes.push(Axis::new((field.order(), &top_digits)));
    axes.sort_by_key(|axis| axis.positions.len());
    let (chosen, others) = axes.split_at_checked(t as usize + 1)?;
    let times = |product: u64, axis: &Axis| product.checked_mul(axis.positions.len() as u64);
    // A block without positions comes first, and ends the search at once.
    let empty = chosen.iter().any(|axis| axis.positions.is_empty());
    if !empty && chosen.iter().try_fold(1, times).is_none_or(|product| product > max) {
        return None;
    }
    let mut search = Search::new(field, t, chosen, others, universe)?;
    // The positions of the first block are the steps that are reported.
    let mut start = vec![0; search.width];
    if t == 0 {
        search.descend(0, &start);
    } else {
        watch.begin(chosen[0].positions.len());
        for &position in chosen[0].positions {
            watch.step()?;
            start.fill(0);
            search.field.add_scaled(&mut start, &search.rows[0], position);
            search.descend(1, &start);
        }
    }
    search.found.sort_unstable();
    Some(search.found)
}

/// Whether there are at most q + 1 blocks, each a strictly ascending list of field elements.
fn ascending(field: &Field, blocks: &[Vec<u32>]) -> bool {
    let q = field.order();
    let regular =
        |block: &Vec<u32>| block.is_sorted_by(|a, b| a < b) && block.last().is_none_or(|&a| a < q);
    blocks.len() as u64 <= u64::from(q) + 1 && blocks.iter().all(regular)
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
fn top_digits(field: &Field, t: u32, occupied: &[Vec<u32>], universe: Size) -> Vec<u32> {
    let place = u128::from(field.order()).checked_pow(t).unwrap_or(u128::MAX);
    let admitted = |digit: &u32| u128::from(*digit) <= universe.last() / place;
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
    /// For each of the first test blocks and each partial sum there: which positions of the last
    /// axis lead to an occupied position, as bits. Empty if there are too many of them.
    masks: Vec<Vec<u64>>,
    /// For each position of the last axis but one, what it adds to the partial sums at these test
    /// blocks.
    additions: Vec<u32>,
    /// The length of a row.
    width: usize,
    universe: Size,
    found: Vec<u128>,
}

impl<'a> Search<'a> {
    fn new(
        field: &'a Field,
        t: u32,
        chosen: &'a [Axis<'a>],
        others: &'a [Axis<'a>],
        universe: Size,
    ) -> Option<Search<'a>> {
        let tested = &others[..others.len().min(MAX_TESTS)];
        let mut rows = basis(field, chosen)?;
        for row in &mut rows {
            let values: Vec<u32> =
                tested.iter().map(|axis| value(field, row, axis.block)).collect();
            row.extend(values);
        }
        let tests = tested.iter().map(|axis| occupancy(field, axis.positions)).collect();
        let digits = t as usize + 1;
        let width = digits + tested.len();
        let masked = &tested[..tested.len().min(MAX_MASKS)];
        let masks = masks(field, chosen, masked, &rows, digits);
        let additions = match chosen {
            [.., before, _] => {
                let row = &rows[chosen.len() - 2][digits..digits + masks.len()];
                let positions = before.positions.iter().copied();
                let add = |position| row.iter().map(move |factor| field.mul(*factor, position));
                positions.flat_map(add).collect()
            }
            _ => Vec::new(),
        };
        let found = Vec::new();
        Some(Search {
            field,
            chosen,
            others,
            rows,
            tests,
            masks,
            additions,
            width,
            universe,
            found,
        })
    }

    /// Which positions of the last axis pass the masked tests, from the partial sums there.
    #[inline]
    fn mask(&self, sums: impl Iterator<Item = u32>) -> u64 {
        let mut mask = u64::MAX;
        for (sum, masks) in sums.zip(&self.masks) {
            mask &= masks[sum as usize];
            if mask == 0 {
                break;
            }
        }
        mask
    }

    /// [`finish`](Self::finish) for the positions of the last axis that are set in the mask.
    fn finish_masked(&mut self, mut mask: u64, partial: &[u32]) {
        while mask != 0 {
            let place = mask.trailing_zeros() as usize;
            mask &= mask - 1;
            let position = self.chosen.last().and_then(|axis| axis.positions.get(place));
            position.into_iter().for_each(|&position| self.finish(position, partial));
        }
    }

    /// Goes through the positions of the axes from `depth` on; `partial` is the sum of the earlier
    /// axes.
    fn descend(&mut self, depth: usize, partial: &[u32]) {
        let axis = self.chosen[depth];
        let digits = self.chosen.len();
        if depth + 1 == digits && !self.masks.is_empty() {
            let mask = self.mask(partial[digits..].iter().copied());
            self.finish_masked(mask, partial);
            return;
        }
        if depth + 1 == digits {
            axis.positions.iter().for_each(|&position| self.finish(position, partial));
            return;
        }
        let mut next = partial.to_vec();
        if depth + 2 == digits && !self.masks.is_empty() {
            // Most positions here leave none on the last axis. So only the sums at the masked test
            // blocks are computed at first.
            let masked = self.masks.len();
            for (place, &position) in axis.positions.iter().enumerate() {
                let added = &self.additions[place * masked..(place + 1) * masked];
                let sums = partial[digits..].iter().zip(added);
                let mask = self.mask(sums.map(|(&sum, &more)| self.field.add(sum, more)));
                if mask != 0 {
                    next.copy_from_slice(partial);
                    self.field.add_scaled(&mut next, &self.rows[depth], position);
                    self.finish_masked(mask, &next);
                }
            }
            return;
        }
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

    /// Keeps a candidate that is below the universe and occupied in the remaining blocks.
    fn keep(&mut self, polynomial: &[u32]) {
        let Some(element) = element(self.field, polynomial, self.universe) else {
            return;
        };
        let occupied = |axis: &Axis| {
            axis.positions.binary_search(&value(self.field, polynomial, axis.block)).is_ok()
        };
        if self.others[self.tests.len()..].iter().all(occupied) {
            self.found.push(element);
        }
    }
}

/// See [`Search::masks`].
fn masks(
    field: &Field,
    chosen: &[Axis],
    tested: &[Axis],
    rows: &[Vec<u32>],
    digits: usize,
) -> Vec<Vec<u64>> {
    let (Some(axis), Some(row)) = (chosen.last(), rows.last()) else { return Vec::new() };
    if field.order() > MAX_MASKED_ORDER || axis.positions.len() > u64::BITS as usize {
        return Vec::new();
    }
    let table = |(test, &factor): (&Axis, &u32)| {
        let mut masks = vec![0u64; field.order() as usize];
        for (place, &position) in axis.positions.iter().enumerate() {
            let added = field.mul(factor, position);
            for &occupied in test.positions {
                masks[field.sub(occupied, added) as usize] |= 1 << place;
            }
        }
        masks
    };
    tested.iter().zip(&row[digits..]).map(table).collect()
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
