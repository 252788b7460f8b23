//! The definition of what a key does to its block, for every machine.

use super::{FIRST_FIELD, LANES};

/// A block: eight lanes of 64 bits, one cache line.
pub(super) type Block = [u8; 64];

/// The bit of each lane that a word says: six bits a lane, counted from the most significant bit of
/// the lane, so that a shift to the left by them brings the bit to the sign.
#[inline]
fn pattern(word: u64) -> [u64; LANES as usize] {
    let mut lanes = [0; LANES as usize];
    for (i, lane) in lanes.iter_mut().enumerate() {
        *lane = 1 << 63 >> (word >> (FIRST_FIELD as usize + 6 * i) & 63);
    }
    lanes
}

/// Whether the block has the word's bit in every lane. All lanes, without a branch: which lane
/// fails first is a coin toss that no processor predicts.
#[inline]
pub(super) fn has(block: &Block, word: u64) -> bool {
    let lanes = block.as_chunks::<8>().0.iter().map(|lane| u64::from_le_bytes(*lane));
    lanes.zip(pattern(word)).fold(0, |missing, (lane, bit)| missing | (bit & !lane)) == 0
}

/// Sets the word's bit in every lane; says whether one was clear.
#[inline]
pub(super) fn set(block: &mut Block, word: u64) -> bool {
    let mut missing = 0;
    for (lane, bit) in block.as_chunks_mut::<8>().0.iter_mut().zip(pattern(word)) {
        let before = u64::from_le_bytes(*lane);
        missing |= bit & !before;
        *lane = (before | bit).to_le_bytes();
    }
    missing != 0
}
