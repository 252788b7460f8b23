//! How a solution lies in memory: planes of bits.
//!
//! The columns come in blocks of 64. A block is `width` words of 64 bits, little-endian; bit c of
//! word j is bit j of the value of column c. So a row's 128 coefficients meet the values of its
//! columns in three words a plane, all of them neighbours.

use super::row::Row;

/// FORMAT v1: frozen. Columns to a block.
pub(super) const BLOCK: u64 = 64;

/// The bytes of a plane's word.
const WORD: usize = 8;

/// Puts the value of a column, which was zero, into a shard's planes.
pub(super) fn set(planes: &mut [u8], width: u32, column: u64, value: u32) {
    let block = (column / BLOCK) as usize * width as usize * WORD;
    let (byte, bit) = ((column % BLOCK / 8) as usize, column % 8);
    for j in 0..width {
        planes[block + j as usize * WORD + byte] |= (((value >> j) & 1) as u8) << bit;
    }
}

/// The value of a column.
#[cfg(test)]
pub(super) fn get(planes: &[u8], width: u32, column: u64) -> u32 {
    let block = (column / BLOCK) as usize * width as usize * WORD;
    let (byte, bit) = ((column % BLOCK / 8) as usize, column % 8);
    (0..width).map(|j| u32::from(planes[block + j as usize * WORD + byte] >> bit & 1) << j).sum()
}

/// The three blocks of planes that a row reads, and its coefficients as they fall on them.
struct Window<'a> {
    blocks: [&'a [u8]; 3],
    coefficients: [u64; 3],
}

// Loops, not iterators, from here on: their closures would be compiled into functions that lack the
// instructions of a batch.
impl Window<'_> {
    #[inline(always)]
    fn of(planes: &[u8], width: usize, row: Row) -> Window<'_> {
        let size = width * WORD;
        let at = (row.start / BLOCK) as usize * size;
        let (first, rest) = planes[at..at + 3 * size].split_at(size);
        let (second, third) = rest.split_at(size);
        let (low, high) = (row.coefficients as u64, (row.coefficients >> 64) as u64);
        let shift = (row.start % BLOCK) as u32;
        let coefficients =
            [low << shift, (low >> 1) >> (63 - shift) | high << shift, (high >> 1) >> (63 - shift)];
        Window { blocks: [first, second, third], coefficients }
    }

    /// The bits of plane `j` that the row takes, in three words.
    #[inline(always)]
    fn plane(&self, j: usize) -> [u64; 3] {
        let mut words = [0; 3];
        for (i, word) in words.iter_mut().enumerate() {
            let mut bytes = [0; WORD];
            bytes.copy_from_slice(&self.blocks[i][j * WORD..(j + 1) * WORD]);
            *word = u64::from_le_bytes(bytes) & self.coefficients[i];
        }
        words
    }

    /// Whether the row takes an even number of ones from each of the first `width` planes.
    #[inline(always)]
    fn is_even(&self, width: usize) -> bool {
        let mut odd = 0;
        for j in 0..width {
            let [a, b, c] = self.plane(j);
            // The parity by itself: where no instruction counts bits, it is much less work.
            odd |= (a ^ b ^ c).count_ones() & 1;
        }
        odd == 0
    }
}

/// Whether the row's product with the solution is zero over GF(2)^width: every plane has even
/// parity.
#[inline(always)]
pub(super) fn orthogonal_binary(planes: &[u8], width: u32, row: Row) -> bool {
    // Widths that are known when this is compiled become straight code.
    match width {
        4 => Window::of(planes, 4, row).is_even(4),
        6 => Window::of(planes, 6, row).is_even(6),
        8 => Window::of(planes, 8, row).is_even(8),
        _ => Window::of(planes, width as usize, row).is_even(width as usize),
    }
}

/// Whether the row's product with the solution is zero modulo q: plane j counts 2^j a bit.
#[inline(always)]
pub(super) fn orthogonal_prime(planes: &[u8], width: u32, q: u32, row: Row) -> bool {
    let window = Window::of(planes, width as usize, row);
    let mut sum = 0; // at most 128 (2^width - 1), below 2^24
    for j in 0..width {
        let [a, b, c] = window.plane(j as usize);
        // Ones of three words are counted in two: how many are odd, and how many are carried.
        let (odd, carried) = (a ^ b ^ c, a & b | c & (a ^ b));
        sum += (odd.count_ones() + 2 * carried.count_ones()) << j;
    }
    sum.is_multiple_of(q)
}

/// Where in its shard a row reads, and how many bytes.
#[inline]
pub(super) fn byte_range(width: u32, row: Row) -> (usize, usize) {
    let size = width as usize * WORD;
    ((row.start / BLOCK) as usize * size, 3 * size)
}
