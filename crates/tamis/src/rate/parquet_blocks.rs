//! The blocks of Apache Parquet's filters, on the kernels of the split layout.
//!
//! A block and its salts are those of [`SplitBloom`](super::SplitBloom). Only the way from a hash
//! to a block differs: Parquet takes the block from the high half of a 64-bit hash, and the bits
//! within it from the low half. These functions work on a bare array of blocks; the crate
//! `tamis-foreign` reads and writes the files around it.
//!
//! ```
//! use tamis::rate::parquet_blocks;
//! let mut body = [0u8; 64];
//! assert!(parquet_blocks::insert(&mut body, 0x3bc1_3773_810d_f4fb));
//! assert!(parquet_blocks::contains(&body, 0x3bc1_3773_810d_f4fb));
//! ```

use crate::simd::{Block, Block256, Kernels, Level, Single, Work, dispatch, prefetch};

/// How many keys ahead of its test a block is asked for, as in the split layout.
const AHEAD: usize = 32;

/// The block of a hash, one of so many, and the word that says its bits there.
#[inline(always)]
fn locate(blocks: usize, hash: u64) -> (usize, u32) {
    (((u128::from(hash >> 32) * blocks as u128) >> 32) as usize, hash as u32)
}

/// Whether a hash passes. Of a body without a whole block, none does.
#[must_use]
pub fn contains(body: &[u8], hash: u64) -> bool {
    let blocks = Block256::all(body);
    let (block, word) = locate(blocks.len(), hash);
    let single = Single::new(Level::detect());
    blocks.get(block).is_some_and(|block| block.has_alone(single, word))
}

/// Puts a hash in; says whether it was certainly new. A body without a whole block takes none.
pub fn insert(body: &mut [u8], hash: u64) -> bool {
    let blocks = Block256::all_mut(body);
    let (block, word) = locate(blocks.len(), hash);
    let single = Single::new(Level::detect());
    blocks.get_mut(block).is_some_and(|block| block.set_alone(single, word))
}

/// Whether each of many hashes passes; the answers beyond the hashes stay as they are.
pub fn contains_many(body: &[u8], hashes: &[u64], answers: &mut [bool]) {
    let blocks = Block256::all(body);
    if blocks.is_empty() {
        answers.iter_mut().zip(hashes).for_each(|(answer, _)| *answer = false);
        return;
    }
    dispatch!(Level::detect(), kernels => {
        kernels.run(Lookups { kernels, blocks, hashes, answers });
    });
}

struct Lookups<'a, N> {
    kernels: N,
    blocks: &'a [Block256],
    hashes: &'a [u64],
    answers: &'a mut [bool],
}

impl<N: Kernels> Work for Lookups<'_, N> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        let Lookups { kernels, blocks, hashes, answers } = self;
        let far = prefetch::worthwhile(size_of_val(blocks));
        for (i, (answer, hash)) in answers.iter_mut().zip(hashes).enumerate() {
            if far && let Some(later) = hashes.get(i + AHEAD) {
                let (block, _) = locate(blocks.len(), *later);
                prefetch::read(blocks.as_ptr().wrapping_add(block));
            }
            let (block, word) = locate(blocks.len(), *hash);
            *answer = blocks[block].has(kernels, word);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The vectors of two programs that write Parquet files.
    #[test]
    fn bits_are_those_of_parquet() {
        for (hash, blocks, block, bits) in [
            (0x3bc1_3773_810d_f4fb, 8, 1, [26, 14, 3, 9, 20, 4, 26, 31]),
            (0x9f29_cb17_a2a4_9995, 32, 19, [27, 25, 25, 17, 26, 27, 6, 8]),
        ] {
            let mut body = vec![0u8; 32 * blocks];
            assert!(!contains(&body, hash));
            assert!(insert(&mut body, hash));
            assert!(!insert(&mut body, hash));
            let words: Vec<u32> =
                body.as_chunks().0.iter().map(|word| u32::from_le_bytes(*word)).collect();
            let expected = bits.map(|bit| 1u32 << bit);
            assert_eq!(words[8 * block..][..8], expected);
            assert_eq!(words.iter().filter(|word| **word != 0).count(), 8);
            let mut answers = [false; 3];
            contains_many(&body, &[hash, hash ^ 1 << 40, hash ^ 1], &mut answers);
            let alone = [hash, hash ^ 1 << 40, hash ^ 1].map(|hash| contains(&body, hash));
            assert_eq!(answers, alone);
            assert!(answers[0]);
        }
        let mut none = [true];
        contains_many(&[0xff; 31], &[7], &mut none);
        assert!(!contains(&[0xff; 31], 7) && !insert(&mut [0; 31], 7) && !none[0]);
    }
}
