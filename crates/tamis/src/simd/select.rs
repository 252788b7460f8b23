//! The n-th set bit of a word.

/// The position of the set bit of which `rank` others are lower; or how many bits are set, if there
/// are no more than `rank`.
#[inline(always)]
pub(crate) fn select(word: u64, rank: u32) -> Result<u32, u32> {
    const ONES: u64 = 0x0101_0101_0101_0101;
    const HIGH: u64 = ONES << 7;
    let pairs = word - (word >> 1 & 0x5555_5555_5555_5555);
    let fours = (pairs & 0x3333_3333_3333_3333) + (pairs >> 2 & 0x3333_3333_3333_3333);
    // Every byte of the word says how many bits are set in it and below it.
    let sums = ((fours + (fours >> 4)) & 0x0f0f_0f0f_0f0f_0f0f).wrapping_mul(ONES);
    let count = (sums >> 56) as u32;
    if rank >= count {
        return Err(count);
    }
    // The high bit of a byte is set where the sum is no more than `rank`: those bytes are skipped.
    let skipped = (((u64::from(rank) * ONES) | HIGH) - sums) & HIGH;
    let skip = skipped.count_ones() * 8;
    let below = (sums << 8 >> skip) as u8;
    let byte = (word >> skip) as u8;
    Ok(skip + u32::from(IN_BYTE[(rank - u32::from(below)) as usize & 7][usize::from(byte)]))
}

/// By rank and byte: the position of the set bit of which so many others are lower.
static IN_BYTE: [[u8; 256]; 8] = {
    let mut table = [[0; 256]; 8];
    let mut byte = 0;
    while byte < 256 {
        let (mut rank, mut bit) = (0, 0);
        while bit < 8 {
            if byte >> bit & 1 == 1 {
                table[rank][byte] = bit as u8;
                rank += 1;
            }
            bit += 1;
        }
        byte += 1;
    }
    table
};

#[cfg(test)]
mod tests {
    use super::*;
    use crate::simd::{Kernels, Level, dispatch};
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn select_finds_the_bit(word in any::<u64>(), mask in any::<u64>(), rank in 0u32..64) {
            for word in [word, word & mask, word | mask, u64::MAX, 0] {
                let found = select(word, rank);
                match found {
                    Ok(bit) => {
                        prop_assert_eq!(word >> bit & 1, 1);
                        prop_assert_eq!((word & ((1 << bit) - 1)).count_ones(), rank);
                    }
                    Err(count) => prop_assert!(count == word.count_ones() && count <= rank),
                }
                for level in Level::all() {
                    let same = dispatch!(level, kernels => kernels.select(word, rank)) == found;
                    prop_assert!(same, "{}", level.name());
                }
            }
        }
    }
}
