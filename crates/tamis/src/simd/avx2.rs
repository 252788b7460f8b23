//! The kernels for AVX2, four lanes at a time. Hashing and walking are those of `scalar`: without
//! AVX-512, multiplications of 64 bits are faster one by one.

use super::{Avx2, SHIFTS};
use crate::hash::{Digests, Fast};
use crate::simd::scalar::{self, FIRST_FIELD};
use crate::simd::{
    Answers, BATCH, Block, BlockShape, Coming, Kernels, Positions, Scalar, WalkShape, Work,
};
use std::arch::asm;
use std::arch::x86_64::{
    __m256i, _mm256_and_si256, _mm256_castsi256_pd, _mm256_loadu_si256, _mm256_movemask_pd,
    _mm256_or_si256, _mm256_set1_epi64x, _mm256_setr_epi64x, _mm256_sllv_epi64, _mm256_srlv_epi64,
    _mm256_storeu_si256,
};

/// The fields of a word for lanes 0 to 3 and 4 to 7.
#[inline]
#[target_feature(enable = "avx2")]
fn fields(word: u64) -> [__m256i; 2] {
    let (word, six_bits) = (_mm256_set1_epi64x(word as i64), _mm256_set1_epi64x(63));
    // Written out, so that the compiler sees that none is too far.
    let shift = |lane: i64| FIRST_FIELD as i64 + 6 * lane;
    let shifts = [
        _mm256_setr_epi64x(shift(0), shift(1), shift(2), shift(3)),
        _mm256_setr_epi64x(shift(4), shift(5), shift(6), shift(7)),
    ];
    shifts.map(|shifts| _mm256_and_si256(_mm256_srlv_epi64(word, shifts), six_bits))
}

#[inline]
#[target_feature(enable = "avx2")]
fn load(block: &Block) -> [__m256i; 2] {
    let start = block.as_ptr().cast::<__m256i>();
    // SAFETY: a block is 64 readable bytes, two vectors; loadu needs no alignment.
    unsafe { [_mm256_loadu_si256(start), _mm256_loadu_si256(start.add(1))] }
}

/// Whether every lane, shifted by its field, has its sign.
#[inline]
#[target_feature(enable = "avx2")]
fn all_signs([low, high]: [__m256i; 2], [left, right]: [__m256i; 2]) -> bool {
    let both = _mm256_and_si256(_mm256_sllv_epi64(low, left), _mm256_sllv_epi64(high, right));
    _mm256_movemask_pd(_mm256_castsi256_pd(both)) == 0b1111
}

/// Whether the block has the word's bits.
#[inline]
#[target_feature(enable = "avx2")]
fn has(block: &Block, word: u64) -> bool {
    all_signs(load(block), fields(word))
}

/// Sets the word's bits; says whether one was clear.
#[inline]
#[target_feature(enable = "avx2")]
fn set(block: &mut Block, word: u64) -> bool {
    let ([low, high], [left, right]) = (load(block), fields(word));
    let new = !all_signs([low, high], [left, right]);
    let sign = _mm256_set1_epi64x(i64::MIN);
    let start = block.as_mut_ptr().cast::<__m256i>();
    // SAFETY: a block is 64 writable bytes, two vectors; storeu needs no alignment.
    unsafe {
        _mm256_storeu_si256(start, _mm256_or_si256(low, _mm256_srlv_epi64(sign, left)));
        _mm256_storeu_si256(start.add(1), _mm256_or_si256(high, _mm256_srlv_epi64(sign, right)));
    }
    new
}

/// [`has`] for callers that were not compiled for AVX2, into which it can still be inlined: a call
/// would cost as much as the test, and keep the processor from running ahead to the next key.
///
/// # Safety
///
/// The processor must have AVX2.
#[inline(always)]
unsafe fn has_inline(block: &Block, word: u64) -> bool {
    let signs: u32;
    // SAFETY: reads the 64 bytes of the block and the first 96 of the table's 128, which is
    // aligned; vzeroupper spares the SSE code around it.
    unsafe {
        asm!(
            "vmovq xmm0, {word}",
            "vpbroadcastq ymm0, xmm0",
            "vpsrlvq ymm1, ymm0, [{shifts}]",
            "vpsrlvq ymm0, ymm0, [{shifts} + 32]",
            "vmovdqa ymm2, [{shifts} + 64]",
            "vpand ymm1, ymm1, ymm2",
            "vpand ymm0, ymm0, ymm2",
            "vmovdqu ymm2, [{block}]",
            "vmovdqu ymm3, [{block} + 32]",
            "vpsllvq ymm1, ymm2, ymm1",
            "vpsllvq ymm0, ymm3, ymm0",
            "vpand ymm0, ymm0, ymm1",
            "vmovmskpd {signs:e}, ymm0",
            "vzeroupper",
            word = in(reg) word,
            shifts = in(reg) &SHIFTS,
            block = in(reg) block,
            signs = lateout(reg) signs,
            // vzeroupper clears the upper halves of all of them, which a caller compiled for AVX
            // may be using.
            out("xmm0") _, out("xmm1") _, out("xmm2") _, out("xmm3") _,
            out("xmm4") _, out("xmm5") _, out("xmm6") _, out("xmm7") _,
            out("xmm8") _, out("xmm9") _, out("xmm10") _, out("xmm11") _,
            out("xmm12") _, out("xmm13") _, out("xmm14") _, out("xmm15") _,
            options(pure, readonly, nostack, preserves_flags),
        );
    }
    signs == 0b1111
}

impl Kernels for Avx2 {
    type Walks = scalar::Rounds;

    const HASHES_TOGETHER: bool = false;

    #[inline(always)]
    fn has(self, block: &Block, word: u64) -> bool {
        if cfg!(target_feature = "avx2") {
            // SAFETY: the token proves that the processor has AVX2.
            unsafe { has(block, word) }
        } else {
            // SAFETY: the token proves that the processor has AVX2.
            unsafe { has_inline(block, word) }
        }
    }

    #[inline(always)]
    fn set(self, block: &mut Block, word: u64) -> bool {
        // SAFETY: the token proves that the processor has AVX2.
        unsafe { set(block, word) }
    }

    fn hash_naturals(self, fast: &Fast, h1: &mut [u64], h2: Option<&mut [u64]>) {
        Scalar.hash_naturals(fast, h1, h2);
    }

    fn contains_blocks(
        self,
        shape: BlockShape,
        blocks: &[Block],
        pending: &mut Positions,
        coming: Coming<'_>,
        answers: &mut Answers<'_>,
    ) {
        let mut room = None;
        let coming = coming.digests(&mut room);
        if shape.two_words {
            // SAFETY: the token proves that the processor has AVX2 and BMI2.
            unsafe { contains_blocks::<true>(shape, blocks, pending, coming, answers) }
        } else {
            // SAFETY: the token proves that the processor has AVX2 and BMI2.
            unsafe { contains_blocks::<false>(shape, blocks, pending, coming, answers) }
        }
    }

    fn insert_blocks(
        self,
        shape: BlockShape,
        blocks: &mut [Block],
        pending: &mut Positions,
        coming: &Digests,
    ) -> u64 {
        if shape.two_words {
            // SAFETY: the token proves that the processor has AVX2 and BMI2.
            unsafe { insert_blocks::<true>(shape, blocks, pending, coming) }
        } else {
            // SAFETY: the token proves that the processor has AVX2 and BMI2.
            unsafe { insert_blocks::<false>(shape, blocks, pending, coming) }
        }
    }

    fn find_regions(self, blocks: u64, region: u32, h1: &[u64; BATCH], regions: &mut [u32; BATCH]) {
        Scalar.find_regions(blocks, region, h1, regions);
    }

    fn walks(self, shape: WalkShape) -> scalar::Rounds {
        Scalar.walks(shape)
    }

    fn run<W: Work>(self, work: W) -> W::Output {
        // SAFETY: the token proves that the processor has all of them.
        unsafe { run(work) }
    }
}

#[target_feature(enable = "avx2,bmi2")]
fn contains_blocks<const TWO_WORDS: bool>(
    shape: BlockShape,
    blocks: &[Block],
    pending: &mut Positions,
    coming: &Digests,
    answers: &mut Answers<'_>,
) {
    let has = |block: &Block, word| has(block, word);
    scalar::contains_blocks::<TWO_WORDS>(shape, blocks, pending, coming, answers, has);
}

#[target_feature(enable = "avx2,bmi2")]
fn insert_blocks<const TWO_WORDS: bool>(
    shape: BlockShape,
    blocks: &mut [Block],
    pending: &mut Positions,
    coming: &Digests,
) -> u64 {
    let set = |block: &mut Block, word| set(block, word);
    scalar::insert_blocks::<TWO_WORDS>(shape, blocks, pending, coming, set)
}

#[cfg_attr(not(feature = "privacy"), allow(dead_code))]
#[target_feature(enable = "avx2,bmi1,bmi2,popcnt")]
pub(super) fn run<W: Work>(work: W) -> W::Output {
    work.run()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::arch::x86_64::{_mm256_add_epi64, _mm256_set_epi64x, _mm256_storeu_si256};

    /// A caller with numbers of its own in wide registers.
    #[target_feature(enable = "avx2")]
    fn tally(block: &Block, words: &[u64]) -> [u64; 4] {
        let (mut sums, step) = (_mm256_set_epi64x(8, 7, 6, 5), _mm256_set_epi64x(1000, 100, 10, 1));
        for word in words {
            // SAFETY: the function itself needs AVX2.
            if unsafe { has_inline(block, *word) } {
                sums = _mm256_add_epi64(sums, step);
            }
        }
        let mut result = [0; 4];
        // SAFETY: there is room for 32 bytes.
        unsafe { _mm256_storeu_si256(result.as_mut_ptr().cast(), sums) };
        result
    }

    #[test]
    fn the_callers_registers_are_left_alone() {
        if Avx2::detect().is_none() {
            return;
        }
        // SAFETY: AVX2 was detected in the line above.
        let tally = unsafe { tally(&[0xff; 64], &[7; 1000]) };
        assert_eq!(tally, [1005, 10_006, 100_007, 1_000_008]);
    }
}
