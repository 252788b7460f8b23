//! The same as `scalar`, four lanes at a time. Tests require equal answers and equal blocks.

#![allow(unsafe_code)]

use super::FIRST_FIELD;
#[cfg(any(test, not(target_feature = "avx2")))]
use super::SHIFTS;
use super::scalar::Block;
use crate::hash::Fast;
use crate::prefetch;
use crate::processor::one_by_one;
use crate::rate::Plan;
use crate::rate::batch::{BATCH, Batch};
#[cfg(any(test, not(target_feature = "avx2")))]
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
pub(super) fn has(block: &Block, word: u64) -> bool {
    all_signs(load(block), fields(word))
}

/// Sets the word's bits; says whether one was clear.
#[inline]
#[target_feature(enable = "avx2")]
pub(super) fn set(block: &mut Block, word: u64) -> bool {
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
#[cfg(any(test, not(target_feature = "avx2")))]
pub(super) unsafe fn has_inline(block: &Block, word: u64) -> bool {
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
            // vzeroupper clears the upper halves of all of them, which a caller compiled for AVX may be using.
            out("xmm0") _, out("xmm1") _, out("xmm2") _, out("xmm3") _,
            out("xmm4") _, out("xmm5") _, out("xmm6") _, out("xmm7") _,
            out("xmm8") _, out("xmm9") _, out("xmm10") _, out("xmm11") _,
            out("xmm12") _, out("xmm13") _, out("xmm14") _, out("xmm15") _,
            options(pure, readonly, nostack, preserves_flags),
        );
    }
    signs == 0b1111
}

/// A key whose block is known. It is probed a batch later, by when the block has come.
#[derive(Clone, Copy, Default)]
struct Aimed {
    at: usize,
    word: u64,
    /// With 16 hashes.
    second: u64,
}

/// What finds the blocks of keys, among some of those of a filter, or all.
struct Aim<'h> {
    /// How many blocks the filter has.
    blocks: u64,
    /// The number of the first block here.
    first: u64,
    /// What hashes the batch, if it consists of natural numbers.
    naturals: Option<&'h Fast>,
    /// Whether fetching ahead pays.
    far: bool,
}

impl<'h> Aim<'h> {
    fn new(plan: &Plan) -> Aim<'h> {
        let far = prefetch::worthwhile(plan.bytes() as usize);
        Aim { blocks: plan.blocks(), first: 0, naturals: None, far }
    }

    /// Gets ready for a batch.
    #[inline(always)]
    fn prepare(&mut self, batch: &mut Batch<'h>, twice: bool) {
        self.first = batch.first;
        self.naturals = batch.finish_unless_naturals(twice);
    }

    /// Finds the block of a key, and starts to fetch it.
    #[inline(always)]
    fn of(&self, blocks: &[Block], h1: u64, h2: u64) -> Aimed {
        let h1 = match self.naturals {
            Some(fast) => fast.natural_h1(h1),
            None => one_by_one(h1),
        };
        let (block, word) = super::aim(self.blocks, h1);
        let at = block.wrapping_sub(self.first) as usize;
        if self.far {
            prefetch::read(blocks.as_ptr().wrapping_add(at));
        }
        Aimed { at, word, second: h2 }
    }
}

/// Which of the keys pass that `fill` puts into batches, until it has no more. Those of a batch are
/// probed while those of the next are hashed, one beside the other, so that there is always
/// something to do while memory is waited for.
#[target_feature(enable = "avx2")]
pub(super) fn contains<'h, const TWICE: bool>(
    plan: &Plan,
    blocks: &[Block],
    mut fill: impl FnMut(&mut Batch<'h>, bool),
    mut answers: &mut [bool],
) {
    let (mut aim, mut batch) = (Aim::new(plan), Batch::new());
    let (mut aimed, mut ready) = ([Aimed::default(); BATCH], 0);
    loop {
        fill(&mut batch, TWICE);
        aim.prepare(&mut batch, TWICE);
        let (now, later) = answers.split_at_mut(ready);
        let keys = aimed.iter_mut().zip(batch.h1.iter().zip(&batch.h2)).enumerate();
        for (i, (aimed, (h1, h2))) in keys.take(ready.max(batch.len)) {
            if let Some(answer) = now.get_mut(i) {
                let block = &blocks[aimed.at];
                *answer = has(block, aimed.word) & (!TWICE || has(block, aimed.second));
            }
            if i < batch.len {
                *aimed = aim.of(blocks, *h1, *h2);
            }
        }
        (answers, ready) = (later, batch.len);
        if batch.len == 0 {
            return;
        }
    }
}

/// Puts in the keys that `fill` puts into batches, until it has no more, and says how many were
/// certainly new.
#[target_feature(enable = "avx2")]
pub(super) fn insert<'h, const TWICE: bool>(
    plan: &Plan,
    blocks: &mut [Block],
    mut fill: impl FnMut(&mut Batch<'h>, bool),
) -> u64 {
    let (mut aim, mut batch) = (Aim::new(plan), Batch::new());
    let (mut aimed, mut ready) = ([Aimed::default(); BATCH], 0);
    let mut new = 0;
    loop {
        fill(&mut batch, TWICE);
        aim.prepare(&mut batch, TWICE);
        let keys = aimed.iter_mut().zip(batch.h1.iter().zip(&batch.h2)).enumerate();
        for (i, (aimed, (h1, h2))) in keys.take(ready.max(batch.len)) {
            if i < ready {
                let block = &mut blocks[aimed.at];
                new += u64::from(set(block, aimed.word) | (TWICE && set(block, aimed.second)));
            }
            if i < batch.len {
                *aimed = aim.of(blocks, *h1, *h2);
            }
        }
        ready = batch.len;
        if batch.len == 0 {
            return new;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::arch::x86_64::{_mm256_add_epi64, _mm256_set_epi64x, _mm256_storeu_si256};

    /// A caller with numbers of its own in wide registers.
    #[target_feature(enable = "avx2")]
    #[allow(unsafe_code)]
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
    #[allow(unsafe_code)]
    fn the_callers_registers_are_left_alone() {
        if !std::is_x86_feature_detected!("avx2") {
            return;
        }
        // SAFETY: AVX2 was detected in the line above.
        let tally = unsafe { tally(&[0xff; 64], &[7; 1000]) };
        assert_eq!(tally, [1005, 10_006, 100_007, 1_000_008]);
    }
}
