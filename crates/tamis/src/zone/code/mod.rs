//! Codes: a code has blocks, and each block sends every element to one of its positions.
//!
//! A filter holds one cell for each position of each block. Take any d
//! elements. A code is *free of false positives* for d items if every other element has a position
//! that none of the d has.

pub(crate) mod reed_solomon;
pub(crate) mod residues;

use super::arith::primes::first_primes;
use super::list::Occupancy;
use super::list::progress::Watch;
use super::universe::Size;
use crate::Error;
use reed_solomon::ReedSolomon;
use residues::Residues;
use std::fmt;
use std::ops::Deref;
use std::sync::Arc;

/// The codes that can be asked for by name.
///
/// ```
/// use tamis::zone::{CodeKind, Plan, Universe};
/// for (code, bits) in [(CodeKind::Egh, 100), (CodeKind::Coprime, 86), (CodeKind::Rs, 63)] {
///     assert_eq!(Plan::with_code(Universe::sized(606)?, 3, code)?.bits(), bits);
/// }
/// # Ok::<(), tamis::Error>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum CodeKind {
    /// Residues modulo the first primes, as in the EGH paper.
    Egh,
    /// Residues modulo pairwise coprime moduli: fewer bits than EGH.
    Coprime,
    /// Reed-Solomon: usually the fewest bits.
    Rs,
}

impl CodeKind {
    /// All of them.
    pub const ALL: [CodeKind; 3] = [CodeKind::Egh, CodeKind::Coprime, CodeKind::Rs];

    /// The name: `egh`, `coprime` or `rs`.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            CodeKind::Egh => "egh",
            CodeKind::Coprime => "coprime",
            CodeKind::Rs => "rs",
        }
    }

    /// Whether the parameters are found by a search that may miss the best ones. Then
    /// [`largest_universe`](super::largest_universe) and
    /// [`largest_items`](super::largest_items) are lower bounds.
    #[must_use]
    pub fn is_searched(self) -> bool {
        self == CodeKind::Coprime
    }
}

impl fmt::Display for CodeKind {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.pad(self.name())
    }
}

/// The most moduli of a code: their proof is computed again whenever a file is opened.
pub(crate) const MAX_MODULI: usize = 8192;

/// A code with its parameters: all that a file says of it.
///
/// ```
/// use tamis::zone::{Code, Plan, Prefer, Universe};
/// let plan = Plan::new(Universe::sized(606)?, 3, Prefer::Bits)?;
/// assert_eq!(*plan.code(), Code::Rs { order: 9, degree: 2, blocks: 7 });
/// assert_eq!(plan.code().to_string(), "rs");
/// # Ok::<(), tamis::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Code {
    /// Residues modulo the first primes.
    Egh {
        /// How many primes.
        blocks: u32,
    },
    /// Residues modulo pairwise coprime moduli.
    Coprime {
        /// The moduli, which are the sizes of the blocks.
        moduli: Vec<u64>,
        /// Moduli that a longer filter had before it was shrunk. They come back first when it
        /// grows, so that it still merges with filters that were not shrunk.
        spare: Vec<u64>,
    },
    /// The values of polynomials over a finite field.
    Rs {
        /// q, the size of the field and of each block.
        order: u32,
        /// The highest degree of a polynomial.
        degree: u32,
        /// How many points the polynomials are evaluated at.
        blocks: u32,
    },
}

impl Code {
    /// Which kind of code it is.
    #[must_use]
    pub fn kind(&self) -> CodeKind {
        match self {
            Code::Egh { .. } => CodeKind::Egh,
            Code::Coprime { .. } => CodeKind::Coprime,
            Code::Rs { .. } => CodeKind::Rs,
        }
    }

    /// How many blocks it has.
    #[must_use]
    pub fn blocks(&self) -> u64 {
        match self {
            Code::Egh { blocks } | Code::Rs { blocks, .. } => u64::from(*blocks),
            Code::Coprime { moduli, .. } => moduli.len() as u64,
        }
    }

    /// The most blocks that it can be extended to.
    #[must_use]
    pub fn max_blocks(&self) -> u64 {
        match self {
            Code::Rs { order, .. } => u64::from(*order) + 1,
            Code::Egh { .. } | Code::Coprime { .. } => MAX_MODULI as u64,
        }
    }

    /// The positions of all blocks, unless they are too many to count.
    pub(crate) fn cells(&self) -> Option<u64> {
        match self {
            Code::Rs { order, blocks, .. } => u64::from(*order).checked_mul(u64::from(*blocks)),
            _ => self.moduli()?.iter().try_fold(0u64, |sum, q| sum.checked_add(*q)),
        }
    }

    /// The moduli of a code of residues.
    pub(crate) fn moduli(&self) -> Option<Vec<u64>> {
        match self {
            Code::Egh { blocks } => Some(first_primes(*blocks as usize)),
            Code::Coprime { moduli, .. } => Some(moduli.clone()),
            Code::Rs { .. } => None,
        }
    }

    /// The same code with another number of blocks: its first ones, or with more appended.
    pub(crate) fn with_blocks(&self, blocks: u64) -> Result<Code, Error> {
        let max = self.max_blocks();
        if blocks == 0 || blocks > max {
            return Err(Error::Blocks { got: blocks, min: 1, max });
        }
        let count = blocks as u32; // at most 65,537
        Ok(match self {
            Code::Egh { .. } => Code::Egh { blocks: count },
            Code::Coprime { moduli, spare } => {
                let mut all = [&moduli[..], &spare[..]].concat();
                residues::extend(&mut all, count as usize);
                let spare = all.split_off(count as usize);
                Code::Coprime { moduli: all, spare }
            }
            Code::Rs { order, degree, .. } => {
                Code::Rs { order: *order, degree: *degree, blocks: count }
            }
        })
    }

    /// The encoder of this code, for a universe that begins at `first`.
    pub(crate) fn encoder(&self, first: u128) -> Result<Encoder, Error> {
        if self.blocks() == 0 || self.blocks() > self.max_blocks() {
            let got = self.blocks().to_string();
            return Err(Error::Field { field: "number of blocks", got });
        }
        let moduli = match self {
            Code::Rs { order, degree, blocks } => {
                let code = ReedSolomon::new(*order, *degree, *blocks)?;
                return Ok(Encoder::ReedSolomon(Arc::new(code)));
            }
            Code::Egh { blocks } => first_primes(*blocks as usize),
            Code::Coprime { moduli, spare } => {
                residues::check(&[&moduli[..], &spare[..]].concat())?;
                moduli.clone()
            }
        };
        Ok(Encoder::Residues(Arc::new(Residues::new(moduli, first))))
    }
}

/// The name of its kind.
impl fmt::Display for Code {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.kind().fmt(out)
    }
}

/// What a code does with elements, which are given as numbers of the universe, from 0 on.
pub(crate) trait Encode: fmt::Debug + Send + Sync {
    /// How many blocks there are: the probes of a lookup.
    fn blocks(&self) -> usize;

    /// How many positions block `block` has.
    fn size(&self, block: usize) -> u64;

    /// The position of an element in each block, in order.
    fn positions(&self, number: u128, positions: &mut Vec<u64>);

    /// The elements whose positions are all occupied, by joining the occupied positions of a few
    /// blocks into candidates and testing each on the other blocks. `None` if that would take
    /// more than `max` candidates, or the caller stops it.
    fn join(
        &self,
        cells: &dyn Occupancy,
        universe: Size,
        max: u64,
        watch: &mut Watch,
    ) -> Option<Vec<u128>>;

    /// The most candidates that [`join`](Encode::join) tests if no block has more than `items`
    /// occupied positions. It grows with the items.
    fn join_work(&self, items: u64, universe: Size) -> u128;

    /// The elements whose positions in each block are these, multiplicities included, by algebra.
    /// `None` if the blocks are too few to tell, no set of elements has them, or the caller stops
    /// it.
    fn algebra(
        &self,
        positions: &[Vec<u64>],
        universe: Size,
        watch: &mut Watch,
    ) -> Option<Vec<u128>>;

    /// A set of this many elements whose positions are just the occupied ones, by algebra from the
    /// blocks without collisions on. `None` if there are too few of these, or the caller stops
    /// it. The caller must check that all elements pass.
    fn peel(
        &self,
        cells: &dyn Occupancy,
        items: usize,
        universe: Size,
        watch: &mut Watch,
    ) -> Option<Vec<u128>>;

    /// For [`peel`](Encode::peel) of so many items: how much all blocks weigh; how much the blocks
    /// weigh at most in which two given elements agree; and how much those must weigh from which
    /// the j-th coefficient follows.
    fn peel_weights(&self, items: u64, universe: Size) -> PeelWeights;

    /// Whether the blocks are enough for [`algebra`](Encode::algebra) to find any set of `items`
    /// elements. If so, they are enough for every smaller set.
    fn algebra_determines(&self, items: u64, universe: Size) -> bool;
}

/// What decides whether a filter can be peeled.
pub(crate) struct PeelWeights {
    /// The weight of each block, with its size.
    pub(crate) blocks: Vec<(f64, u64)>,
    /// The most that the blocks weigh in which two elements agree.
    pub(crate) agreement: f64,
    /// What the j-th coefficient needs, for j from 1 on.
    pub(crate) needs: Vec<f64>,
}

/// The encoder of a plan's code. Lookups know which of the two it is, so that their probes are
/// compiled into its loop.
#[derive(Debug, Clone)]
pub(crate) enum Encoder {
    Residues(Arc<Residues>),
    ReedSolomon(Arc<ReedSolomon>),
}

impl Deref for Encoder {
    type Target = dyn Encode;
    fn deref(&self) -> &Self::Target {
        match self {
            Encoder::Residues(code) => &**code,
            Encoder::ReedSolomon(code) => &**code,
        }
    }
}

impl Encoder {
    /// Whether `occupied` says yes to the position of an element in every block. The blocks that
    /// refuse most strangers come first, and no position is computed after the first no.
    #[inline(always)]
    pub(crate) fn all(&self, number: u128, occupied: impl FnMut(usize, u64) -> bool) -> bool {
        match self {
            Encoder::Residues(code) => code.all(number, occupied),
            Encoder::ReedSolomon(code) => code.all(number, occupied),
        }
    }

    /// The code of residues, if it is one.
    pub(crate) fn as_residues(&self) -> Option<&Residues> {
        match self {
            Encoder::Residues(code) => Some(code),
            Encoder::ReedSolomon(_) => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_lookup_sees_every_position_once_and_stops_at_the_first_no() {
        let coprime =
            |moduli, first| Code::Coprime { moduli, spare: vec![] }.encoder(first).unwrap();
        let rs = |order, degree, blocks| Code::Rs { order, degree, blocks }.encoder(0).unwrap();
        let codes = [
            coprime(vec![2, 3, 5, 7, 11], 10),
            coprime(vec![9, 4, 35, 11], 0),
            coprime(vec![4_294_967_291, 7], u128::from(u64::MAX) - 500),
            coprime(vec![4_294_967_295, 4_294_967_291, 7, 2], u128::MAX - 500),
            rs(9, 2, 10),
            rs(8, 2, 5),
            rs(509, 0, 1),
            rs(2, 63, 3),
            rs(2, 127, 3),
        ];
        for code in codes {
            for number in (0..500).chain([1 << 64, u128::MAX >> 1, u128::MAX - 1]) {
                if code.as_residues().is_some_and(|code| number > u128::MAX - code.first()) {
                    continue;
                }
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

    #[test]
    fn impossible_codes_are_refused() {
        let rs = |order, degree, blocks| Code::Rs { order, degree, blocks };
        let coprime = |moduli: &[u64]| Code::Coprime { moduli: moduli.to_vec(), spare: vec![] };
        let spare = |spare| Code::Coprime { moduli: vec![4, 9], spare };
        for (code, word) in [
            (rs(6, 1, 3), "field order is 6"),
            (rs(65_537, 1, 3), "field order is 65537"),
            (rs(0, 0, 1), "field order is 0"),
            (rs(7, 2, 9), "number of blocks is 9"),
            (rs(7, 2, 0), "number of blocks is 0"),
            (rs(7, 128, 3), "degree is 128"),
            (coprime(&[]), "number of blocks is 0"),
            (coprime(&[4, 6]), "coprime"),
            (coprime(&[4, 1]), "modulus is 1"),
            (coprime(&[1 << 32]), "modulus is 4294967296"),
            (spare(vec![5, 6]), "coprime"),
            (spare(vec![5, 0]), "modulus is 0"),
            (Code::Egh { blocks: 0 }, "number of blocks is 0"),
            (Code::Egh { blocks: 8193 }, "number of blocks is 8193"),
        ] {
            let said = code.encoder(0).unwrap_err().to_string();
            assert!(said.contains(word), "{code:?}: {said}");
        }
    }
}
