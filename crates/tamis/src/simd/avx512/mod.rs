//! The kernels for AVX-512: a whole block at a time, and eight words at a time.

mod arith;
mod walks;

use super::{Avx512, SHIFTS, avx2};
use crate::hash::{Digests, Fast};
use crate::simd::scalar::SPREAD;
use crate::simd::{
    Answers, BATCH, Block, BlockShape, Coming, Kernels, Positions, Scalar, WalkShape, Work,
    prefetch,
};
use arith::{Scale, load, multiply, multiply_low, splat, store};
use std::arch::asm;
use std::arch::x86_64::{
    __m512i, _mm256_storeu_si256, _mm512_cmplt_epu64_mask, _mm512_cvtepi64_epi32,
    _mm512_load_si512, _mm512_loadu_si512, _mm512_multishift_epi64_epi8, _mm512_or_si512,
    _mm512_rorv_epi64, _mm512_srlv_epi64, _mm512_storeu_si512, _mm512_sub_epi64,
    _mm512_testn_epi64_mask, _mm512_xor_si512,
};

/// How far to shift a word for each lane.
#[inline]
#[target_feature(enable = "avx512f")]
fn shifts() -> __m512i {
    // SAFETY: the table begins with 64 readable, aligned bytes.
    unsafe { _mm512_load_si512(SHIFTS.0.as_ptr().cast()) }
}

/// The word's bits. Rotations take their counts modulo 64, so the fields need not be cut out; nor
/// need the rest of each count, which is whatever stands below the word's first field, be cleared.
#[inline]
#[target_feature(enable = "avx512f,avx512vbmi")]
fn pattern(shifts: __m512i, word: u64) -> __m512i {
    _mm512_rorv_epi64(splat(1 << 63), _mm512_multishift_epi64_epi8(shifts, splat(word)))
}

/// Whether the block has the word's bits.
#[inline]
#[target_feature(enable = "avx512f,avx512vbmi")]
fn has(block: &Block, word: u64) -> bool {
    // SAFETY: a block is 64 readable bytes; loadu needs no alignment.
    let block = unsafe { _mm512_loadu_si512(block.as_ptr().cast()) };
    _mm512_testn_epi64_mask(block, pattern(shifts(), word)) == 0
}

/// Whether the block has the word's bits, for callers that were not compiled for AVX-512, into
/// which it can still be inlined. The registers from 16 on are no part of the older instruction
/// sets, so nothing has to be cleared afterwards.
///
/// # Safety
///
/// The processor must have AVX-512 F and DQ.
#[inline(always)]
unsafe fn has_inline(block: &Block, word: u64) -> bool {
    let missing: u32;
    // SAFETY: reads the 64 bytes of the block, and bytes 0 to 63 and 96 to 103 of the table's 128.
    unsafe {
        asm!(
            "vpbroadcastq zmm16, {word}",
            "vpsrlvq zmm16, zmm16, [{shifts}]",
            "vpbroadcastq zmm17, [{shifts} + 96]",
            "vprorvq zmm16, zmm17, zmm16",
            "vptestnmq k1, zmm16, [{block}]",
            "kmovb {missing:e}, k1",
            word = in(reg) word,
            shifts = in(reg) &SHIFTS,
            block = in(reg) block,
            missing = lateout(reg) missing,
            out("zmm16") _, out("zmm17") _, out("k1") _,
            options(pure, readonly, nostack, preserves_flags),
        );
    }
    missing == 0
}

/// Sets the word's bits, says whether one was clear, and can be inlined as [`has_inline`] can.
///
/// # Safety
///
/// The processor must have AVX-512 F and DQ.
#[inline(always)]
unsafe fn set_inline(block: &mut Block, word: u64) -> bool {
    let missing: u32;
    // SAFETY: reads bytes 0 to 63 and 96 to 103 of the table's 128, and reads and writes the 64
    // bytes of the block.
    unsafe {
        asm!(
            "vpbroadcastq zmm16, {word}",
            "vpsrlvq zmm16, zmm16, [{shifts}]",
            "vpbroadcastq zmm17, [{shifts} + 96]",
            "vprorvq zmm16, zmm17, zmm16",
            "vmovdqu64 zmm17, [{block}]",
            "vptestnmq k1, zmm16, zmm17",
            "vporq zmm17, zmm16, zmm17",
            "vmovdqu64 [{block}], zmm17",
            "kmovb {missing:e}, k1",
            word = in(reg) word,
            shifts = in(reg) &SHIFTS,
            block = in(reg) block,
            missing = lateout(reg) missing,
            out("zmm16") _, out("zmm17") _, out("k1") _,
            options(nostack, preserves_flags),
        );
    }
    missing != 0
}

impl Kernels for Avx512 {
    type Walks = walks::Wave;

    const HASHES_TOGETHER: bool = true;

    #[inline(always)]
    fn has(self, block: &Block, word: u64) -> bool {
        if cfg!(target_feature = "avx512vbmi") {
            // SAFETY: the token proves that the processor has AVX-512.
            unsafe { has(block, word) }
        } else {
            // SAFETY: the token proves that the processor has AVX-512.
            unsafe { has_inline(block, word) }
        }
    }

    #[inline(always)]
    fn set(self, block: &mut Block, word: u64) -> bool {
        // SAFETY: the token proves that the processor has AVX-512.
        unsafe { set_inline(block, word) }
    }

    fn hash_naturals(self, fast: &Fast, h1: &mut [u64], mut h2: Option<&mut [u64]>) {
        // SAFETY: the token proves that the processor has AVX-512.
        let done = unsafe { hash_naturals(fast, h1, h2.as_deref_mut()) };
        Scalar.hash_naturals(fast, &mut h1[done..], h2.map(|h2| &mut h2[done..]));
    }

    fn contains_blocks(
        self,
        shape: BlockShape,
        blocks: &[Block],
        pending: &mut Positions,
        coming: Coming<'_>,
        answers: &mut Answers<'_>,
    ) {
        let now = answers.next(pending.len);
        let blocks = Lent { start: blocks.as_ptr().cast_mut(), count: blocks.len() };
        // SAFETY: the token proves that the processor has AVX-512, the blocks are lent for the
        // time of the call, and nothing is written.
        let missing = unsafe {
            match shape.two_words {
                true => turn::<true, false>(shape, blocks, pending, coming),
                false => turn::<false, false>(shape, blocks, pending, coming),
            }
        };
        now.iter_mut().zip(missing).for_each(|(answer, missing)| *answer = missing == 0);
    }

    fn insert_blocks(
        self,
        shape: BlockShape,
        blocks: &mut [Block],
        pending: &mut Positions,
        coming: &Digests,
    ) -> u64 {
        let due = pending.len;
        let blocks = Lent { start: blocks.as_mut_ptr(), count: blocks.len() };
        // SAFETY: the token proves that the processor has AVX-512, and the blocks are lent for
        // writing for the time of the call.
        let missing = unsafe {
            match shape.two_words {
                true => turn::<true, true>(shape, blocks, pending, Coming::Digests(coming)),
                false => turn::<false, true>(shape, blocks, pending, Coming::Digests(coming)),
            }
        };
        // A batch is short enough for its count to fit a byte, and so 64 are counted at once.
        let count = |new: u8, missing: &u8| new + u8::from(*missing != 0);
        u64::from(missing[..due].iter().fold(0, count))
    }

    fn find_regions(self, blocks: u64, region: u32, h1: &[u64; BATCH], regions: &mut [u32; BATCH]) {
        // SAFETY: the token proves that the processor has AVX-512.
        unsafe { find_regions(blocks, region, h1, regions) }
    }

    fn walks(self, shape: WalkShape) -> walks::Wave {
        walks::Wave::new(self, shape)
    }

    fn run<W: Work>(self, work: W) -> W::Output {
        // SAFETY: the token proves that the processor has what AVX2's proves.
        unsafe { avx2::run(work) }
    }
}

/// Blocks that the caller has lent.
#[derive(Clone, Copy)]
struct Lent {
    start: *mut Block,
    count: usize,
}

/// Probes the pending keys: what is missing in each block of the bits of its words, not 0 if
/// anything is. To write sets it. On the way those that come take their places, eight after eight,
/// so that there is always something to do while memory is waited for.
///
/// # Safety
///
/// The blocks must be lent by the caller's caller, and for writing if `WRITE`.
#[target_feature(enable = "avx512f,avx512dq,avx512vbmi")]
unsafe fn turn<const TWO_WORDS: bool, const WRITE: bool>(
    shape: BlockShape,
    blocks: Lent,
    pending: &mut Positions,
    coming: Coming<'_>,
) -> [u8; BATCH] {
    let shifts = shifts();
    let (scale, first) = (Scale::new(shape.blocks), splat(shape.first));
    let count = splat(blocks.count as u64);
    let mut missing = [0; BATCH];
    let no_second = [0; BATCH];
    let (hasher, h1, h2, more) = match coming {
        Coming::Digests(digests) => (None, &digests.h1, &digests.h2, digests.len),
        Coming::Naturals(fast, naturals) => {
            (Some(NaturalHasher::new(fast)), &naturals.values, &no_second, naturals.len)
        }
    };
    let h1_of = |words: &[u64; 8]| match hasher {
        Some(hasher) => hasher.h1(load(words)),
        None => load(words),
    };
    let (h1, h2) = (h1.as_chunks::<8>().0, h2.as_chunks::<8>().0);
    // A multiplication takes so long that its result is only used for the eight after.
    let mut next = h1_of(&h1[0]);
    let due = pending.len;
    let places = pending.block.as_chunks_mut::<8>().0.iter_mut();
    let words = pending.word.as_chunks_mut::<8>().0.iter_mut();
    let seconds = pending.second.as_chunks_mut::<8>().0.iter_mut();
    let own = places.zip(words).zip(seconds).zip(missing.as_chunks_mut::<8>().0);
    for (i, (((places, words), seconds), missing)) in
        own.enumerate().take(due.max(more).div_ceil(8))
    {
        let start = 8 * i;
        let (block, word) =
            (_mm512_sub_epi64(scale.of(next), first), multiply_low(next, splat(SPREAD)));
        next = h1_of(&h1[(i + 1) % (BATCH / 8)]);
        if start < due {
            let live = if due - start < 8 { (1 << (due - start)) - 1 } else { 0xff };
            let inside = _mm512_cmplt_epu64_mask(load(places), count);
            assert!(inside & live == live, "these keys belong to other blocks");
            let probe = |j: usize| {
                // SAFETY: `assert` has just found it to be inside the blocks that are lent.
                let block = unsafe { blocks.start.add(places[j] as usize) };
                // SAFETY: the caller has lent it, for writing if `WRITE`.
                unsafe { probe::<TWO_WORDS, WRITE>(block, words[j], seconds[j], shifts) }
            };
            // Eight without a look at the number of keys, where there are as many.
            if live == 0xff {
                missing.iter_mut().enumerate().for_each(|(j, missing)| *missing = probe(j));
            } else {
                let some = missing.iter_mut().enumerate().take(due - start);
                some.for_each(|(j, missing)| *missing = probe(j));
            }
        }
        if start < more {
            store(places, block);
            store(words, word);
            if TWO_WORDS {
                *seconds = h2[i];
            }
            if shape.far {
                let fetch = |at: &u64| prefetch::read(blocks.start.wrapping_add(*at as usize));
                places.iter().for_each(fetch);
            }
        }
    }
    pending.len = more;
    missing
}

/// Probes one key.
///
/// # Safety
///
/// The block must be lent, and for writing if `WRITE`.
#[inline]
#[target_feature(enable = "avx512f,avx512dq,avx512vbmi")]
unsafe fn probe<const TWO_WORDS: bool, const WRITE: bool>(
    block: *mut Block,
    word: u64,
    second: u64,
    shifts: __m512i,
) -> u8 {
    // SAFETY: a block is 64 bytes that the caller has lent; loadu needs no alignment.
    let before = unsafe { _mm512_loadu_si512(block.cast()) };
    let bits = pattern(shifts, word);
    let mut missing = _mm512_testn_epi64_mask(before, bits);
    let mut after = _mm512_or_si512(before, bits);
    if TWO_WORDS {
        let more = pattern(shifts, second);
        missing |= _mm512_testn_epi64_mask(before, more);
        after = _mm512_or_si512(after, more);
    }
    if WRITE {
        // SAFETY: as before, and lent for writing.
        unsafe { _mm512_storeu_si512(block.cast(), after) };
    }
    missing
}

#[target_feature(enable = "avx512f")]
fn find_regions(blocks: u64, region: u32, h1: &[u64; BATCH], regions: &mut [u32; BATCH]) {
    let (scale, shift) = (Scale::new(blocks), splat(u64::from(region)));
    for (regions, h1) in regions.as_chunks_mut::<8>().0.iter_mut().zip(h1.as_chunks().0) {
        let found = _mm512_cvtepi64_epi32(_mm512_srlv_epi64(scale.of(load(h1)), shift));
        // SAFETY: there is room for 32 bytes; storeu needs no alignment.
        unsafe { _mm256_storeu_si256(regions.as_mut_ptr().cast(), found) };
    }
}

/// What hashes eight natural numbers at a time, as [`Fast::natural`] hashes one.
#[derive(Clone, Copy)]
struct NaturalHasher {
    lane: __m512i,
    multiplier: __m512i,
    h1_multiplier: __m512i,
}

impl NaturalHasher {
    #[inline]
    #[target_feature(enable = "avx512f")]
    fn new(fast: &Fast) -> NaturalHasher {
        let constants = fast.natural_constants();
        NaturalHasher {
            lane: splat(constants.lane),
            multiplier: splat(constants.multiplier),
            h1_multiplier: splat(constants.h1_multiplier),
        }
    }

    /// The halves of the first products.
    #[inline]
    #[target_feature(enable = "avx512f,avx512dq")]
    fn begin(self, numbers: __m512i) -> (__m512i, __m512i) {
        multiply(_mm512_xor_si512(numbers, self.lane), self.multiplier)
    }

    /// h1, by the halves of the first products.
    #[inline]
    #[target_feature(enable = "avx512f,avx512dq")]
    fn end(self, (low, high): (__m512i, __m512i)) -> __m512i {
        multiply_low(_mm512_xor_si512(low, high), self.h1_multiplier)
    }

    #[inline]
    #[target_feature(enable = "avx512f,avx512dq")]
    fn h1(self, numbers: __m512i) -> __m512i {
        self.end(self.begin(numbers))
    }
}

/// Hashes the first numbers, by eights, and says how many that were.
#[target_feature(enable = "avx512f,avx512dq")]
fn hash_naturals(fast: &Fast, h1: &mut [u64], h2: Option<&mut [u64]>) -> usize {
    let hasher = NaturalHasher::new(fast);
    let eights = h1.as_chunks_mut::<8>().0;
    match h2 {
        Some(h2) => {
            let [first, second] = fast.natural_constants().h2.map(|word| splat(word));
            for (h1, h2) in eights.iter_mut().zip(h2.as_chunks_mut::<8>().0) {
                let (low, high) = hasher.begin(load(h1));
                store(h1, hasher.end((low, high)));
                let (low, high) =
                    multiply(_mm512_xor_si512(low, first), _mm512_xor_si512(high, second));
                store(h2, _mm512_xor_si512(low, high));
            }
        }
        None => eights.iter_mut().for_each(|h1| store(h1, hasher.h1(load(h1)))),
    }
    eights.len() * 8
}
