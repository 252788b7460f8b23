//! A key's row of the system: which columns it adds up, and to which value.

use crate::Digest;
use crate::hash::{mix, scale};

/// FORMAT v1: frozen. The columns of a block.
pub(super) const COLUMNS: u64 = 16;
/// FORMAT v1: frozen. The blocks that a row spans: 64 coefficients.
pub(super) const SPAN: u64 = 4;
/// FORMAT v1: frozen. Blocks at the end of a system where no row begins.
pub(super) const PAD: u64 = SPAN - 1;
/// FORMAT v1: frozen. The multiplier that makes a fingerprint of h2: P6 of the fast hash.
const FINGERPRINT: u64 = 0xc0ac_29b7_c97c_50dd;
/// FORMAT v1: frozen. What a later layer adds to h1 before it is mixed: 2^64 over the golden ratio.
const LAYER: u64 = 0x9e37_79b9_7f4a_7c15;

/// The coefficients of a row: bit i is that of column i. The first one is 1.
// FORMAT v1: frozen
#[inline(always)]
pub(super) fn coefficients(digest: Digest) -> u64 {
    digest.h2 | 1
}

/// The fingerprint, spread as lookups take it: see [`planes`](crate::simd::planes).
// FORMAT v1: frozen
#[inline(always)]
pub(super) fn fingerprint(digest: Digest) -> u64 {
    let product = digest.h2.wrapping_mul(FINGERPRINT);
    product ^ product >> 32
}

/// The fingerprint with the bit of plane j as bit j, for the first `planes` planes.
#[inline(always)]
pub(super) fn packed_fingerprint(digest: Digest, planes: u32) -> u64 {
    let spread = fingerprint(digest);
    let low = u64::from(every_second(spread >> 1).swap_bytes());
    let high = if planes > 32 { u64::from(every_second(spread).swap_bytes()) } else { 0 };
    (low | high << 32) & mask(planes)
}

/// The even bits of a word, next to each other.
#[inline(always)]
fn every_second(word: u64) -> u32 {
    let mut x = word & 0x5555_5555_5555_5555;
    x = (x | x >> 1) & 0x3333_3333_3333_3333;
    x = (x | x >> 2) & 0x0f0f_0f0f_0f0f_0f0f;
    x = (x | x >> 4) & 0x00ff_00ff_00ff_00ff;
    x = (x | x >> 8) & 0x0000_ffff_0000_ffff;
    (x | x >> 16) as u32
}

/// The lowest bits.
pub(super) fn mask(planes: u32) -> u64 {
    (1 << planes) - 1
}

/// The shard of a key among so many.
// FORMAT v1: frozen
#[inline(always)]
pub(super) fn shard(digest: Digest, shards: u64) -> u64 {
    scale(digest.h1, shards)
}

/// The block of a key in the first layer, which has so many in all shards. Blocks rise with h1.
// FORMAT v1: frozen
#[inline(always)]
pub(super) fn first_block(digest: Digest, blocks: u64) -> u64 {
    scale(digest.h1, blocks)
}

/// The block of a key within its shard of layer 2, or in the last layer, which is layer 3.
// FORMAT v1: frozen
#[inline(always)]
pub(super) fn later_block(digest: Digest, layer: u64, blocks: u64) -> u64 {
    scale(mix(digest.h1.wrapping_add(layer.wrapping_mul(LAYER))), blocks)
}

/// The value of a free column of the last layer: random-looking bits that depend on the column
/// alone.
// FORMAT v1: frozen
#[inline(always)]
pub(super) fn free_value(column: u64) -> u64 {
    mix(column.wrapping_mul(LAYER))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_packed_fingerprint_has_the_bits_of_the_spread_one() {
        for i in 0..1_000u64 {
            let digest = Digest { h1: 0, h2: mix(i) };
            let spread = fingerprint(digest);
            for planes in [1, 4, 7, 16, 33, 50] {
                let bit = |j: u32| 63 - 16 * (j / 8 % 4) - 2 * (7 - j % 8) - j / 32;
                let naive = (0..planes).fold(0, |all, j| all | (spread >> bit(j) & 1) << j);
                assert_eq!(packed_fingerprint(digest, planes), naive);
            }
        }
    }
}
