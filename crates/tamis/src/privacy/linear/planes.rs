//! How a solution lies in memory: planes of bits.
//!
//! The columns come in blocks of 64. A block is `width` words of 64 bits, little-endian; bit c of word j is bit j of the value
//! of column c. So a row's 128 coefficients meet the values of its columns in three words a plane, all of them neighbours.

use super::row::Row;

/// Columns to a block.
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

    /// The bits of plane `j` that the row takes. They overlap nowhere in meaning, so their parity is that of their sum.
    #[inline(always)]
    fn plane(&self, j: usize) -> [u64; 3] {
        let word = |i: usize| {
            let mut bytes = [0; WORD];
            bytes.copy_from_slice(&self.blocks[i][j * WORD..(j + 1) * WORD]);
            u64::from_le_bytes(bytes) & self.coefficients[i]
        };
        [word(0), word(1), word(2)]
    }
}

/// Whether the row's product with the solution is zero over GF(2)^width: every plane has even parity.
#[inline(always)]
pub(super) fn orthogonal_binary(planes: &[u8], width: u32, row: Row) -> bool {
    // Widths that are known when this is compiled become straight code.
    match width {
        4 => all_even::<4>(planes, row),
        5 => all_even::<5>(planes, row),
        6 => all_even::<6>(planes, row),
        7 => all_even::<7>(planes, row),
        8 => all_even::<8>(planes, row),
        _ => {
            let window = Window::of(planes, width as usize, row);
            (0..width as usize).all(|j| odd(window.plane(j)) == 0)
        }
    }
}

#[inline(always)]
fn odd([a, b, c]: [u64; 3]) -> u32 {
    (a ^ b ^ c).count_ones() & 1
}

/// Eight parities at once: halves are added until each word is a byte, and the bytes are folded together.
#[inline(always)]
fn all_even<const WIDTH: usize>(planes: &[u8], row: Row) -> bool {
    const { assert!(WIDTH <= 8) };
    let window = Window::of(planes, WIDTH, row);
    let mut sums = [0; 8];
    for (j, sum) in sums.iter_mut().enumerate().take(WIDTH) {
        let [a, b, c] = window.plane(j);
        *sum = a ^ b ^ c;
    }
    // Two words become one: each is folded onto one half of its parts.
    let join = |x: u64, y: u64, shift: u32, low: u64| (x ^ x >> shift) & low | (y ^ y << shift) & !low;
    let halves = [0, 2, 4, 6].map(|j| join(sums[j], sums[j + 1], 32, 0x0000_0000_ffff_ffff));
    let quarters = [0, 2].map(|j| join(halves[j], halves[j + 1], 16, 0x0000_ffff_0000_ffff));
    let mut bytes = join(quarters[0], quarters[1], 8, 0x00ff_00ff_00ff_00ff);
    bytes ^= bytes >> 4;
    bytes ^= bytes >> 2;
    bytes ^= bytes >> 1;
    bytes & 0x0101_0101_0101_0101 == 0
}

/// Whether the row's product with the solution is zero modulo q: plane j counts 2^j a bit.
#[inline(always)]
pub(super) fn orthogonal_prime(planes: &[u8], width: u32, q: u32, row: Row) -> bool {
    let window = Window::of(planes, width as usize, row);
    let sum: u32 =
        (0..width).map(|j| window.plane(j as usize).map(u64::count_ones).iter().sum::<u32>() << j).sum(); // at most 128 (2^width - 1), below 2^24
    sum.is_multiple_of(q)
}

/// Where in its shard a row reads, and how many bytes.
#[inline]
pub(super) fn place(width: u32, row: Row) -> (usize, usize) {
    let size = width as usize * WORD;
    ((row.start / BLOCK) as usize * size, 3 * size)
}
