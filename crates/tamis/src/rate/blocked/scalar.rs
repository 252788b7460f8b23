//! The definition of what a key does to its block, for every machine.

use super::{LANES, SECOND};
use crate::hash::Digest;

/// A block: eight lanes of 64 bits, one cache line.
pub(super) type Block = [u8; 64];

/// The bits of a key in its block, lane by lane.
#[inline]
fn pattern(digest: Digest, rounds: u32) -> [u64; LANES as usize] {
    let mut lanes = [0; LANES as usize];
    for (i, lane) in lanes.iter_mut().enumerate() {
        *lane = 1 << (digest.h2 >> (6 * i) & 63);
    }
    if rounds == 2 {
        let second = digest.h1.wrapping_mul(SECOND) >> 16;
        for (i, lane) in lanes.iter_mut().enumerate() {
            *lane |= 1 << (second >> (6 * i) & 63);
        }
    }
    lanes
}

/// Whether the block has all bits of the key. All lanes, without a branch: which lane fails first is a coin toss that no
/// processor predicts.
#[inline]
pub(super) fn contains(block: &Block, digest: Digest, rounds: u32) -> bool {
    let lanes = block.as_chunks::<8>().0.iter().map(|lane| u64::from_le_bytes(*lane));
    lanes.zip(pattern(digest, rounds)).fold(0, |missing, (lane, bits)| missing | (bits & !lane)) == 0
}

/// Sets all bits of the key; says whether one was clear.
#[inline]
pub(super) fn insert(block: &mut Block, digest: Digest, rounds: u32) -> bool {
    let mut missing = 0;
    for (lane, bits) in block.as_chunks_mut::<8>().0.iter_mut().zip(pattern(digest, rounds)) {
        let before = u64::from_le_bytes(*lane);
        missing |= bits & !before;
        *lane = (before | bits).to_le_bytes();
    }
    missing != 0
}
