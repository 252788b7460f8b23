//! What a code is: blocks, each of which sends every element to one of its positions.

use super::crt::Residues;
use super::reed_solomon::ReedSolomon;
use std::fmt;
use std::ops::Deref;
use std::sync::Arc;

/// A sequence of blocks; block i has a size, and sends each number of the universe to one of its
/// positions.
///
/// A filter holds one cell for each position of each block. A code is *free of false positives* for
/// d items if, whatever d elements are stored, every other element has a position that none of them
/// shares.
///
/// ```
/// use tamis::zone::{Code, Residues};
/// let code = Residues::new(vec![2, 3, 5, 7, 11], 1)?;       // elements from 1 on
/// let mut positions = Vec::new();
/// code.positions(47, &mut positions);                       // the number 47 is the element 48
/// assert_eq!(positions, [0, 0, 3, 6, 4]);
/// # Ok::<(), tamis::Error>(())
/// ```
pub trait Code: fmt::Debug + Send + Sync {
    /// How many blocks there are: the probes of a lookup.
    fn blocks(&self) -> usize;

    /// How many positions block `block` has.
    fn size(&self, block: usize) -> u64;

    /// The position of an element in each block, in order.
    fn positions(&self, number: u64, positions: &mut Vec<u64>);

    /// The elements whose positions are all occupied, by joining the occupied positions of a few
    /// blocks into candidates and testing each on the other blocks. `None` if that would take
    /// more than `most` candidates.
    fn join(&self, cells: &dyn Occupancy, universe: u128, most: u64) -> Option<Vec<u64>>;

    /// How many candidates [`join`](Code::join) would test if each block had `items` occupied
    /// positions.
    fn join_work(&self, items: u64, universe: u128) -> u128;

    /// The elements whose positions in each block are these, multiplicities included, by algebra;
    /// `None` if the blocks are too few to tell, or no set of elements has them.
    fn algebra(&self, positions: &[Vec<u64>], universe: u128) -> Option<Vec<u64>>;
}

/// Which positions of the blocks of a filter are occupied.
pub trait Occupancy {
    /// How many positions of a block are occupied.
    fn count(&self, block: usize) -> u64;
    /// The occupied positions of a block, ascending.
    fn occupied(&self, block: usize) -> Vec<u64>;
    /// Whether a position of a block is occupied.
    fn is_occupied(&self, block: usize, position: u64) -> bool;
}

/// The code of a plan. Lookups know which it is, so that their probes are compiled into its loop.
#[derive(Debug, Clone)]
pub(crate) enum Coding {
    Residues(Arc<Residues>),
    Rs(Arc<ReedSolomon>),
}

impl Deref for Coding {
    type Target = dyn Code;
    fn deref(&self) -> &Self::Target {
        match self {
            Coding::Residues(code) => &**code,
            Coding::Rs(code) => &**code,
        }
    }
}

impl Coding {
    /// Whether `occupied` says yes to the position of an element in every block. The blocks come in
    /// the order in which most strangers meet a no soonest, and after it no further position is
    /// computed.
    #[inline(always)]
    pub(crate) fn all(&self, number: u64, occupied: impl FnMut(usize, u64) -> bool) -> bool {
        match self {
            Coding::Residues(code) => code.all(number, occupied),
            Coding::Rs(code) => code.all(number, occupied),
        }
    }
}

/// The positions in all, one cell each.
pub(crate) fn cells(code: &dyn Code) -> u64 {
    (0..code.blocks()).map(|block| code.size(block)).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_lookup_sees_every_position_once_and_stops_at_the_first_no() {
        let residues =
            |moduli, first| Coding::Residues(Arc::new(Residues::new(moduli, first).unwrap()));
        let rs = |order, degree, blocks| {
            Coding::Rs(Arc::new(ReedSolomon::new(order, degree, blocks).unwrap()))
        };
        let codes = [
            residues(vec![2, 3, 5, 7, 11], 10),
            residues(vec![9, 4, 35, 11], 0),
            residues(vec![4_294_967_291, 7], u64::MAX - 500),
            rs(9, 2, 10),
            rs(8, 2, 5),
            rs(509, 0, 1),
            rs(2, 63, 3),
        ];
        for code in codes {
            for number in 0..500 {
                let mut positions = Vec::new();
                code.positions(number, &mut positions);
                let expected: Vec<(usize, u64)> = positions.into_iter().enumerate().collect();
                let mut whole = Vec::new();
                for stop in 0..=expected.len() {
                    let mut seen = Vec::new();
                    let all = code.all(number, |block, position| {
                        seen.push((block, position));
                        seen.len() <= stop
                    });
                    assert_eq!(all, stop == expected.len());
                    assert_eq!(seen.len(), expected.len().min(stop + 1), "{code:?}, {number}");
                    whole = seen;
                }
                whole.sort_unstable();
                assert_eq!(whole, expected, "{code:?}, {number}");
            }
        }
    }
}
