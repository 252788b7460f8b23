//! Reed-Solomon codes as zone codes (Kautz and Singleton, 1964).
//!
//! An element, written in base q, is a polynomial of degree at most t over GF(q); block i is its
//! value at the i-th point. Two polynomials agree at no more than t points, so d others cover at
//! most t d blocks of a stranger's, and t d + 1 blocks leave it one of its own.

use super::code::{Code, Occupancy};
use super::divisor::Divisor;
use super::field::Field;
use super::list::rs;
use crate::Error;

/// The largest field: its numbers fit 16 bits.
pub(crate) const LARGEST: u32 = 1 << 16;

/// A Reed-Solomon code: q^(t+1) elements, up to q+1 blocks of q positions.
///
/// ```
/// use tamis::zone::{Code, ReedSolomon};
/// let code = ReedSolomon::new(9, 2, 7)?;                    // 9^3 elements, 7 blocks
/// assert_eq!((code.zone(), code.blocks(), code.size(0)), (Some(3), 7, 9));
/// # Ok::<(), tamis::Error>(())
/// ```
#[derive(Debug, Clone)]
pub struct ReedSolomon {
    field: Field,
    /// q again, to divide by.
    base: Divisor,
    degree: u32,
    blocks: u32,
}

impl ReedSolomon {
    /// The code over GF(`order`) with polynomials of at most `degree` and this many blocks; the
    /// last of `order` + 1 is the point at infinity.
    pub fn new(order: u32, degree: u32, blocks: u32) -> Result<ReedSolomon, Error> {
        let refuse = |why: String, remedy: String| Err(Error::Universe { why, remedy });
        let Some(field) = Field::new(order).filter(|_| order <= LARGEST) else {
            return refuse(
                format!("there is no field of {order} elements here"),
                format!("take a prime power up to {LARGEST}"),
            );
        };
        if blocks == 0 || blocks > order + 1 {
            return refuse(
                format!(
                    "a Reed-Solomon code over {order} elements has from 1 to {} blocks, not {blocks}",
                    order + 1
                ),
                "take a larger field for more".to_owned(),
            );
        }
        if degree > 63 {
            return refuse(
                format!("polynomials of degree {degree} are never needed"),
                "take at most 63".to_owned(),
            );
        }
        Ok(ReedSolomon { field, base: Divisor::new(u64::from(order)), degree, blocks })
    }

    /// q, the size of the field and of each block.
    #[must_use]
    pub fn order(&self) -> u32 {
        self.field.order()
    }

    /// t, the highest degree of a polynomial.
    #[must_use]
    pub fn degree(&self) -> u32 {
        self.degree
    }

    /// The items for which a code of this many blocks is free of false positives; without limit for
    /// degree 0, where a block tells all elements apart.
    #[must_use]
    pub fn zone(&self) -> Option<u64> {
        (self.degree > 0).then(|| u64::from((self.blocks - 1) / self.degree))
    }

    /// The polynomial with these coefficients at a point; at infinity only the leading one counts.
    fn value(&self, digits: &[u32], point: u32) -> u32 {
        if point == self.order() {
            return digits[self.degree as usize];
        }
        digits.iter().rev().fold(0, |sum, digit| self.field.add(self.field.mul(sum, point), *digit))
    }

    /// The digits of a number of the universe, as far as they reach; 64 are enough for any.
    fn digits(&self, mut number: u64) -> [u32; MOST_DIGITS] {
        let mut digits = [0; MOST_DIGITS];
        for digit in &mut digits[..=self.degree as usize] {
            let (quotient, remainder) = self.base.divide(number);
            *digit = remainder as u32;
            number = quotient;
        }
        digits
    }

    /// See [`Coding::all`](super::code::Coding::all). The value at 0 is the last digit; the others,
    /// and the other values, are for those that pass there.
    #[inline]
    pub(super) fn all(&self, number: u64, mut occupied: impl FnMut(usize, u64) -> bool) -> bool {
        if !occupied(0, self.base.remainder(number)) {
            return false;
        }
        let digits = self.digits(number);
        let digits = &digits[..=self.degree as usize];
        (1..self.blocks).all(|point| occupied(point as usize, u64::from(self.value(digits, point))))
    }
}

/// A number below 2^64 has no more digits, in any base.
const MOST_DIGITS: usize = 64;

impl Code for ReedSolomon {
    fn blocks(&self) -> usize {
        self.blocks as usize
    }

    fn size(&self, _: usize) -> u64 {
        u64::from(self.order())
    }

    fn positions(&self, number: u64, positions: &mut Vec<u64>) {
        let digits = self.digits(number);
        positions.clear();
        let digits = &digits[..=self.degree as usize];
        positions.extend((0..self.blocks).map(|point| u64::from(self.value(digits, point))));
    }

    fn join(&self, cells: &dyn Occupancy, universe: u128, most: u64) -> Option<Vec<u64>> {
        let occupied: Vec<Vec<u64>> =
            (0..self.blocks()).map(|block| cells.occupied(block)).collect();
        // Every block is tested already.
        rs::join(&self.field, self.degree, &narrow(&occupied), universe, most, &|_| true)
    }

    fn join_work(&self, items: u64, _: u128) -> u128 {
        u128::from(items.min(u64::from(self.order()))).saturating_pow(self.degree + 1)
    }

    fn algebra(&self, positions: &[Vec<u64>], universe: u128) -> Option<Vec<u64>> {
        rs::algebra(&self.field, self.degree, &narrow(positions), universe)
    }
}

/// Positions are below q, which fits 17 bits.
fn narrow(blocks: &[Vec<u64>]) -> Vec<Vec<u32>> {
    blocks.iter().map(|block| block.iter().map(|position| *position as u32).collect()).collect()
}

/// The smallest t with q^(t+1) >= universe.
fn degree_for(order: u64, universe: u128) -> u32 {
    let (mut reach, mut degree) = (u128::from(order), 0);
    while reach < universe {
        reach *= u128::from(order); // below 2^64 * 2^16
        degree += 1;
    }
    degree
}

/// A choice of field, degree and blocks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Choice {
    pub(crate) order: u32,
    pub(crate) degree: u32,
    pub(crate) blocks: u32,
}

impl Choice {
    pub(crate) fn bits(self) -> u64 {
        u64::from(self.order) * u64::from(self.blocks)
    }
}

/// Every choice that is free of false positives for `items` of `universe`, one for each field.
pub(crate) fn choices(universe: u128, items: u64) -> impl Iterator<Item = Choice> {
    prime_powers().filter_map(move |order| {
        let degree = degree_for(u64::from(order), universe);
        let blocks = u64::from(degree).checked_mul(items)?.checked_add(1)?;
        (blocks <= u64::from(order) + 1).then_some(Choice { order, degree, blocks: blocks as u32 })
    })
}

/// The most items that any of these codes keeps free of false positives.
pub(crate) fn most_items(universe: u128) -> u64 {
    let most =
        |order: u32| u64::from(order) / u64::from(degree_for(u64::from(order), universe).max(1));
    prime_powers().map(most).max().unwrap_or(0)
}

/// All field sizes, ascending.
pub(crate) fn prime_powers() -> impl Iterator<Item = u32> {
    let mut least_factor = vec![0u32; LARGEST as usize + 1];
    for p in 2..=LARGEST {
        if least_factor[p as usize] == 0 {
            (p..=LARGEST).step_by(p as usize).for_each(|multiple| {
                let factor = &mut least_factor[multiple as usize];
                if *factor == 0 {
                    *factor = p;
                }
            });
        }
    }
    (2..=LARGEST).filter(move |&q| {
        let p = least_factor[q as usize];
        let mut rest = q;
        while rest.is_multiple_of(p) {
            rest /= p;
        }
        rest == 1
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The table of the best codes: universe, items, bits, blocks, field, degree.
    #[test]
    fn the_best_choices() {
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
            let best = choices(universe, items).min_by_key(|choice| choice.bits()).unwrap();
            assert_eq!(best, Choice { order, degree, blocks }, "{universe} {items}");
            assert_eq!(best.bits(), bits);
        }
    }

    #[test]
    fn impossible_codes_are_refused() {
        for (order, degree, blocks, word) in [
            (6, 1, 3, "field of 6"),
            (65_537, 1, 3, "field of 65537"),
            (0, 0, 1, "field"),
            (7, 2, 9, "from 1 to 8"),
            (7, 2, 0, "not 0"),
            (7, 64, 3, "degree 64"),
        ] {
            let said = ReedSolomon::new(order, degree, blocks).unwrap_err().to_string();
            assert!(said.contains(word), "{said}");
        }
    }

    #[test]
    fn two_elements_agree_in_at_most_t_blocks() {
        for (order, degree, blocks) in
            [(2, 3, 3), (3, 2, 4), (4, 1, 5), (5, 2, 6), (8, 1, 9), (9, 1, 10)]
        {
            let code = ReedSolomon::new(order, degree, blocks).unwrap();
            let places = |number: u64| {
                let mut all = Vec::new();
                code.positions(number, &mut all);
                all
            };
            let universe = u64::from(order).pow(degree + 1);
            for x in 0..universe {
                for y in 0..x {
                    let agree = places(x).iter().zip(places(y)).filter(|(a, b)| **a == *b).count();
                    assert!(agree <= degree as usize, "{x} and {y} over {order}");
                }
            }
        }
    }
}
