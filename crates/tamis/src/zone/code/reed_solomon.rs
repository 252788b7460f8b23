//! Reed-Solomon codes as zone codes (Kautz and Singleton, 1964).
//!
//! An element, written in base q, is a polynomial of degree at most t over GF(q); block i is its
//! value at the i-th point. Two polynomials agree at no more than t points, so d others cover at
//! most t d blocks of a stranger. With t d + 1 blocks, one block of the stranger stays uncovered.

use super::{Code, Encode, PeelWeights};
use crate::Error;
use crate::zone::arith::divisor::Divisor;
use crate::zone::arith::field::Field;
use crate::zone::arith::primes;
use crate::zone::list::Occupancy;
use crate::zone::list::progress::Watch;
use crate::zone::list::reed_solomon;
use crate::zone::universe::Size;

/// The largest field: its numbers fit 16 bits.
const MAX_ORDER: u32 = 1 << 16;
/// A number below 2^128 has no more digits, in any base.
const MAX_DIGITS: usize = 128;
/// Codes of so few digits keep them in a shorter array, which is faster to clear.
const FEW_DIGITS: usize = 16;

/// A Reed-Solomon code: q^(t+1) elements, up to q+1 blocks of q positions.
#[derive(Debug, Clone)]
pub(crate) struct ReedSolomon {
    field: Field,
    /// q again, to divide by.
    base: Divisor,
    degree: u32,
    blocks: u32,
}

impl ReedSolomon {
    /// The code over GF(`order`) with polynomials of at most `degree` and this many blocks. The
    /// last of `order` + 1 blocks is the point at infinity.
    pub(crate) fn new(order: u32, degree: u32, blocks: u32) -> Result<ReedSolomon, Error> {
        let refuse =
            |field: &'static str, got: u32| Err(Error::Field { field, got: got.to_string() });
        let Some(field) = Field::new(order).filter(|_| order <= MAX_ORDER) else {
            return refuse("field order", order);
        };
        if blocks == 0 || blocks > order + 1 {
            return refuse("number of blocks", blocks);
        }
        if degree as usize >= MAX_DIGITS {
            return refuse("degree", degree);
        }
        Ok(ReedSolomon { field, base: Divisor::new(u64::from(order)), degree, blocks })
    }

    /// The items for which a code of this many blocks is free of false positives. Degree 0 has no
    /// limit, since one block tells all elements apart.
    pub(crate) fn zone(&self) -> Option<u64> {
        (self.degree > 0).then(|| u64::from((self.blocks - 1) / self.degree))
    }

    /// The polynomial with these coefficients at a point; at infinity only the leading one counts.
    fn value(&self, digits: &[u32], point: u32) -> u32 {
        if point == self.field.order() {
            return digits[self.degree as usize];
        }
        digits.iter().rev().fold(0, |sum, digit| self.field.add(self.field.mul(sum, point), *digit))
    }

    /// The digits of a number, lowest first.
    #[inline(always)]
    fn digits<const N: usize>(&self, mut number: u128) -> [u32; N] {
        let mut digits = [0; N];
        let mut places = digits[..=self.degree as usize].iter_mut();
        while number >> 64 != 0 {
            let Some(digit) = places.next() else { return digits };
            let (quotient, remainder) = self.base.divide_wide(number);
            *digit = remainder as u32;
            number = quotient;
        }
        let mut number = number as u64;
        for digit in places {
            let (quotient, remainder) = self.base.divide(number);
            *digit = remainder as u32;
            number = quotient;
        }
        digits
    }

    /// See [`Encoder::all`](super::Encoder::all). The value at 0 is the last digit. The other
    /// digits and values are computed only for elements that pass there.
    #[inline]
    pub(super) fn all(&self, number: u128, mut occupied: impl FnMut(usize, u64) -> bool) -> bool {
        if !occupied(0, self.base.remainder_of_wide(number)) {
            return false;
        }
        if (self.degree as usize) < FEW_DIGITS {
            self.all_further(&self.digits::<FEW_DIGITS>(number), occupied)
        } else {
            self.all_further(&self.digits::<MAX_DIGITS>(number), occupied)
        }
    }

    /// [`all`](Self::all) from the second block on.
    #[inline(always)]
    fn all_further(&self, digits: &[u32], mut occupied: impl FnMut(usize, u64) -> bool) -> bool {
        let digits = &digits[..=self.degree as usize];
        (1..self.blocks).all(|point| occupied(point as usize, u64::from(self.value(digits, point))))
    }
}

impl Encode for ReedSolomon {
    fn blocks(&self) -> usize {
        self.blocks as usize
    }

    fn size(&self, _: usize) -> u64 {
        u64::from(self.field.order())
    }

    fn positions(&self, number: u128, positions: &mut Vec<u64>) {
        let digits = self.digits::<MAX_DIGITS>(number);
        positions.clear();
        let digits = &digits[..=self.degree as usize];
        positions.extend((0..self.blocks).map(|point| u64::from(self.value(digits, point))));
    }

    fn join(
        &self,
        cells: &dyn Occupancy,
        universe: Size,
        max: u64,
        watch: &mut Watch,
    ) -> Option<Vec<u128>> {
        let occupied: Vec<Vec<u64>> =
            (0..self.blocks()).map(|block| cells.occupied(block)).collect();
        reed_solomon::join(&self.field, self.degree, &narrow(&occupied), universe, max, watch)
    }

    fn join_work(&self, items: u64, _: Size) -> u128 {
        u128::from(items.min(u64::from(self.field.order()))).saturating_pow(self.degree + 1)
    }

    fn algebra(
        &self,
        positions: &[Vec<u64>],
        universe: Size,
        watch: &mut Watch,
    ) -> Option<Vec<u128>> {
        reed_solomon::algebra(&self.field, self.degree, &narrow(positions), universe, watch)
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
        reed_solomon::peel(&self.field, self.degree, &narrow(&occupied), items, universe, watch)
    }

    fn peel_weights(&self, items: u64, _: Size) -> PeelWeights {
        let degree = f64::from(self.degree);
        PeelWeights {
            blocks: vec![(1.0, u64::from(self.field.order())); self.blocks as usize],
            agreement: degree,
            needs: (1..=items).map(|j| j as f64 * degree + 1.0).collect(),
        }
    }

    fn algebra_determines(&self, items: u64, _: Size) -> bool {
        items.saturating_mul(u64::from(self.degree)) < u64::from(self.blocks)
    }
}

/// Positions are below q, which fits 17 bits.
fn narrow(blocks: &[Vec<u64>]) -> Vec<Vec<u32>> {
    blocks.iter().map(|block| block.iter().map(|position| *position as u32).collect()).collect()
}

/// The smallest t with q^(t+1) >= universe.
fn degree_for(order: u64, universe: Size) -> u32 {
    let (mut rest, mut degree) = (universe.last() / u128::from(order), 0);
    while rest > 0 {
        rest /= u128::from(order);
        degree += 1;
    }
    degree
}

/// Every code that is free of false positives for `items` of `universe`, one for each field.
pub(crate) fn codes(universe: Size, items: u64) -> impl Iterator<Item = Code> {
    orders().filter_map(move |order| {
        let degree = degree_for(u64::from(order), universe);
        let blocks = u64::from(degree).checked_mul(items)?.checked_add(1)?;
        let fits = blocks <= u64::from(order) + 1;
        fits.then_some(Code::Rs { order, degree, blocks: blocks as u32 })
    })
}

/// The most items that any of these codes keeps free of false positives.
pub(crate) fn max_items(universe: Size) -> u64 {
    let items =
        |order: u32| u64::from(order) / u64::from(degree_for(u64::from(order), universe).max(1));
    orders().map(items).max().unwrap_or(0)
}

/// The sizes of all fields, ascending.
pub(crate) fn orders() -> impl Iterator<Item = u32> {
    primes::prime_powers(MAX_ORDER)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The table of the best codes: universe, items, bits, blocks, field, degree.
    #[test]
    fn the_best_codes() {
        for (universe, items, bits, blocks, order, degree) in [
            (606, 3, 63, 7, 9, 2),
            (100_000, 6, 361, 19, 19, 3),
            (1 << 16, 10, 861, 21, 41, 2),
            (1 << 16, 100, 25_856, 101, 256, 1),
            (1 << 32, 4, 625, 25, 25, 6),
            (1 << 32, 10, 2_703, 51, 53, 5),
            (1 << 32, 50, 38_656, 151, 256, 3),
            (1 << 64, 10, 8_827, 91, 97, 9),
        ] {
            let best = codes(Size::of(universe), items).min_by_key(Code::cells).unwrap();
            assert_eq!(best, Code::Rs { order, degree, blocks }, "{universe} {items}");
            assert_eq!(best.cells(), Some(bits));
        }
    }

    #[test]
    fn two_elements_agree_in_at_most_t_blocks() {
        for (order, degree, blocks) in
            [(2, 3, 3), (3, 2, 4), (4, 1, 5), (5, 2, 6), (8, 1, 9), (9, 1, 10)]
        {
            let code = ReedSolomon::new(order, degree, blocks).unwrap();
            let places = |number: u128| {
                let mut all = Vec::new();
                code.positions(number, &mut all);
                all
            };
            let universe = u128::from(order).pow(degree + 1);
            for x in 0..universe {
                for y in 0..x {
                    let agree = places(x).iter().zip(places(y)).filter(|(a, b)| **a == *b).count();
                    assert!(agree <= degree as usize, "{x} and {y} over {order}");
                }
            }
        }
    }
}
