//! Elimination and back-substitution of one system of rows.

use super::row::COLUMNS;
use crate::Error;
use crate::store::filled;
use std::ops::BitXor;

/// The bits of a column's value, one for each plane.
pub(super) trait Value: Copy + Default + PartialEq + BitXor<Output = Self> + Send {
    /// From the low bits of a word.
    fn new(word: u64) -> Self;
    /// As the low bits of a word.
    fn word(self) -> u64;
    /// The value if `bit` is 1, nothing if it is 0.
    fn if_set(self, bit: u8) -> Self;
}

macro_rules! value {
    ($type:ty) => {
        impl Value for $type {
            #[inline(always)]
            fn new(word: u64) -> $type {
                word as $type
            }
            #[inline(always)]
            fn word(self) -> u64 {
                self.into()
            }
            #[inline(always)]
            fn if_set(self, bit: u8) -> $type {
                self & <$type>::from(bit).wrapping_neg()
            }
        }
    };
}
value!(u8);
value!(u16);
value!(u64);

/// A row on its way to its pivot: the coefficients from column `at` on, and their sum.
#[derive(Clone, Copy)]
pub(super) struct Equation<V> {
    pub(super) at: usize,
    pub(super) coefficients: u64,
    pub(super) value: V,
}

/// The rows of a system in echelon form: one for each column that is a pivot.
///
/// The leading columns of an echelon form depend on the space of the rows alone. So does the
/// solution with all other columns at a fixed value: the order of rows does not matter.
pub(super) struct Band<V> {
    /// The coefficients of the row whose first one is in this column; 0 where there is none.
    rows: Vec<u64>,
    values: Vec<V>,
    /// The pivots of the group that is being inserted.
    added: Vec<usize>,
}

impl<V: Value> Band<V> {
    pub(super) fn new() -> Band<V> {
        Band { rows: Vec::new(), values: Vec::new(), added: Vec::new() }
    }

    /// Empties the band, and makes room for so many blocks.
    pub(super) fn reset(&mut self, blocks: u64) -> Result<(), Error> {
        let columns = (blocks * COLUMNS) as usize;
        if columns <= self.rows.capacity() {
            self.rows.clear();
            self.rows.resize(columns, 0);
            self.values.clear();
            self.values.resize(columns, V::default());
        } else {
            (self.rows, self.values) = (Vec::new(), Vec::new());
            self.rows = filled(0, columns)?;
            self.values = filled(V::default(), columns)?;
        }
        Ok(())
    }

    /// Inserts all rows of a group, or none: `false` if they contradict each other or the rows that
    /// are there.
    ///
    /// Three rows are on their way at a time, in registers. Each step of a row waits for the step
    /// before it, and the others use the time.
    #[inline(always)]
    pub(super) fn insert(&mut self, mut group: impl Iterator<Item = Equation<V>>) -> bool {
        self.added.clear();
        let rows = &mut self.rows[..];
        let values = &mut self.values[..rows.len()];
        let mut fits = true;
        // One step of a row: it becomes the row of its first column, or adds the one that is there.
        // A row that is done, with no coefficients left, makes room for `next`.
        macro_rules! step {
            ($row:ident, $next:expr) => {
                let there = rows[$row.at];
                if there == 0 {
                    (rows[$row.at], values[$row.at]) = ($row.coefficients, $row.value);
                    self.added.push($row.at);
                    $row.coefficients = 0;
                    $next
                } else {
                    $row.coefficients ^= there;
                    $row.value = $row.value ^ values[$row.at];
                    if $row.coefficients == 0 {
                        // Others say the same already, or the opposite.
                        fits &= $row.value == V::default();
                        $next
                    } else {
                        let skip = $row.coefficients.trailing_zeros();
                        $row.coefficients >>= skip;
                        $row.at += skip as usize;
                    }
                }
            };
        }
        let none = Equation { at: 0, coefficients: 0, value: V::default() };
        let mut first = || group.next().unwrap_or(none);
        let (mut a, mut b, mut c) = (first(), first(), first());
        macro_rules! refill {
            ($row:ident) => {
                match group.next() {
                    Some(next) if fits => $row = next,
                    _ => break,
                }
            };
        }
        if c.coefficients != 0 {
            loop {
                step!(a, refill!(a));
                step!(b, refill!(b));
                step!(c, refill!(c));
            }
        }
        // What is left when no more come.
        for mut row in [a, b, c] {
            while row.coefficients != 0 && fits {
                step!(row, {});
            }
        }
        if !fits {
            self.take_back();
        }
        fits
    }

    /// Takes the rows of the last group out again: no other row was changed by them.
    fn take_back(&mut self) {
        for at in self.added.drain(..) {
            self.rows[at] = 0;
            self.values[at] = V::default();
        }
    }

    /// Writes the solution of all blocks as planes. Columns without a row get `free(column)`.
    ///
    /// From the last column to the first, a value is the sum of its row's other columns, which are
    /// known. They are added up eight at a time: each eight columns have a table of the 256 sums.
    pub(super) fn solve(&self, planes: u32, free: impl Fn(u64) -> V, out: &mut [u8]) {
        let mut sums = [[V::default(); 256]; 16];
        let block_bytes = 2 * planes as usize;
        for eight in (0..self.rows.len() / 8).rev() {
            let mut solved = [V::default(); 8];
            for i in (0..8).rev() {
                let row = self.rows[8 * eight + i];
                if row == 0 {
                    solved[i] = free((8 * eight + i) as u64);
                    continue;
                }
                let mut value = self.values[8 * eight + i];
                let near = (row << i).to_le_bytes();
                let far = ((row >> 1) >> (63 - i)) as u8;
                for (j, later) in solved.iter().enumerate().skip(i + 1) {
                    value = value ^ later.if_set(near[0] >> j & 1);
                }
                for (k, byte) in near.iter().enumerate().skip(1) {
                    value = value ^ sums[(eight + k) % 16][usize::from(*byte)];
                }
                solved[i] = value ^ sums[(eight + 8) % 16][usize::from(far)];
            }
            let table = &mut sums[eight % 16];
            for (j, value) in solved.iter().enumerate() {
                for m in 0..1 << j {
                    table[(1 << j) + m] = table[m] ^ *value;
                }
            }
            let block = &mut out[eight / 2 * block_bytes..][..block_bytes];
            write_planes(&solved, planes, &mut block[eight % 2..]);
        }
    }
}

/// Writes eight values as bits of every second byte: bit i of byte 2j is bit j of value i.
#[inline(always)]
fn write_planes<V: Value>(values: &[V; 8], planes: u32, out: &mut [u8]) {
    for byte in 0..planes.div_ceil(8) {
        let mut square = [0; 8];
        for (row, value) in square.iter_mut().zip(values) {
            *row = (value.word() >> (8 * byte)) as u8;
        }
        let turned = transpose(u64::from_le_bytes(square)).to_le_bytes();
        let left = (planes - 8 * byte).min(8) as usize;
        for (j, plane) in turned[..left].iter().enumerate() {
            out[2 * (8 * byte as usize + j)] = *plane;
        }
    }
}

/// Turns a square of 8 x 8 bits: bit j of byte i becomes bit i of byte j.
#[inline(always)]
fn transpose(mut square: u64) -> u64 {
    let mut swap = |shift: u32, mask: u64| {
        let moved = (square ^ square >> shift) & mask;
        square ^= moved ^ moved << shift;
    };
    swap(7, 0x00aa_00aa_00aa_00aa);
    swap(14, 0x0000_cccc_0000_cccc);
    swap(28, 0x0000_0000_f0f0_f0f0);
    square
}
