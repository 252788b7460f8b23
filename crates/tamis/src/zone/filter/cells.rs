//! Reading and writing the cells of an element.

use super::{CellKind, ZoneFilter};
use crate::bits::{self, Packed};
use crate::zone::list::Occupancy;

impl<C: CellKind> ZoneFilter<C> {
    pub(super) fn packed(&self) -> Packed {
        Packed { width: self.plan.counter_bits() }
    }

    pub(super) fn cell(&self, block: usize, position: u64) -> u64 {
        self.packed().get(self.body.bytes(), self.starts[block] + position)
    }

    pub(super) fn holds(&self, positions: &[u64]) -> bool {
        positions.iter().enumerate().all(|(block, position)| self.is_occupied(block, *position))
    }

    /// Whether all cells of an element are occupied. A lookup ends at the first empty cell and
    /// allocates nothing. It asks the store once where the body lies.
    #[inline]
    pub(super) fn holds_number(&self, number: u128) -> bool {
        let (code, bytes, starts) = (self.plan.encoder(), self.body.bytes(), &self.starts[..]);
        if C::COUNTING {
            let packed = self.packed();
            return code
                .all(number, |block, position| packed.get(bytes, starts[block] + position) != 0);
        }
        code.all(number, |block, position| bits::get(bytes, starts[block] + position))
    }

    pub(super) fn positions(&self, number: u128) -> Vec<u64> {
        let mut positions = Vec::with_capacity(self.starts.len());
        self.plan.encoder().positions(number, &mut positions);
        positions
    }

    /// Adds one to every cell of an element; a counter at its ceiling stays there.
    pub(super) fn put(&mut self, positions: &[u64]) {
        let packed = self.packed();
        for (block, position) in positions.iter().enumerate() {
            let cell = self.starts[block] + position;
            let count = packed.get(self.body.bytes(), cell);
            packed.set(self.body.bytes_mut(), cell, (count + 1).min(packed.ceiling()));
        }
    }
}

impl<C: CellKind> Occupancy for ZoneFilter<C> {
    fn count(&self, block: usize) -> u64 {
        let (start, size) = (self.starts[block], self.plan.encoder().size(block));
        if C::COUNTING {
            return (0..size).filter(|position| self.cell(block, *position) != 0).count() as u64;
        }
        bits::words(self.body.bytes(), start, size)
            .map(|(_, word)| u64::from(word.count_ones()))
            .sum()
    }

    fn occupied(&self, block: usize) -> Vec<u64> {
        let (start, size) = (self.starts[block], self.plan.encoder().size(block));
        if C::COUNTING {
            return (0..size).filter(|position| self.cell(block, *position) != 0).collect();
        }
        let mut positions = Vec::new();
        for (base, mut word) in bits::words(self.body.bytes(), start, size) {
            while word != 0 {
                positions.push(base + u64::from(word.trailing_zeros()));
                word &= word - 1;
            }
        }
        positions
    }

    fn is_occupied(&self, block: usize, position: u64) -> bool {
        if C::COUNTING {
            self.cell(block, position) != 0
        } else {
            bits::get(self.body.bytes(), self.starts[block] + position)
        }
    }
}
