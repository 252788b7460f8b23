//! The kernels for AVX-512: a whole block at a time, and eight words at a time.
//!
//! The tests of blocks are not AVX2's because they take half the instructions: a register holds a
//! block of 512 bits, rotations take their counts modulo 64, and comparisons give masks.

mod arith;
mod walks;

use super::{Avx512, select_by_deposit};
use crate::hash::{Digests, Fast};
use crate::simd::scalar::{FIRST_FIELD, Rounds, SALTS};
use crate::simd::{BATCH, Block256, Block512, Kernels, Scalar, WalkShape, Walks, Work};
use arith::{Scale, load, multiply, multiply_low, splat, store};
use std::arch::x86_64::{
    __m256i, __m512i, _mm256_loadu_si256, _mm256_mullo_epi32, _mm256_or_si256, _mm256_set1_epi32,
    _mm256_setr_epi32, _mm256_sllv_epi32, _mm256_srli_epi32, _mm256_storeu_si256,
    _mm256_testn_epi32_mask, _mm512_cvtepi64_epi32, _mm512_loadu_si512,
    _mm512_multishift_epi64_epi8, _mm512_or_si512, _mm512_rorv_epi64, _mm512_setr_epi64,
    _mm512_srlv_epi64, _mm512_storeu_si512, _mm512_testn_epi64_mask, _mm512_xor_si512,
};

/// How far to shift a word for each lane.
#[inline]
#[target_feature(enable = "avx512f")]
fn shifts() -> __m512i {
    let shift = |lane: i64| FIRST_FIELD as i64 + 6 * lane;
    _mm512_setr_epi64(
        shift(0),
        shift(1),
        shift(2),
        shift(3),
        shift(4),
        shift(5),
        shift(6),
        shift(7),
    )
}

/// The word's bits. Rotations take their counts modulo 64, so the fields need not be cut out; nor
/// need the rest of each count, which is whatever stands below the word's first field, be cleared.
#[inline]
#[target_feature(enable = "avx512f,avx512vbmi")]
fn pattern_512(shifts: __m512i, word: u64) -> __m512i {
    _mm512_rorv_epi64(splat(1 << 63), _mm512_multishift_epi64_epi8(shifts, splat(word)))
}

#[inline]
#[target_feature(enable = "avx512f,avx512vbmi")]
fn has_512(block: &Block512, word: u64) -> bool {
    // SAFETY: a block is 64 readable bytes; loadu needs no alignment.
    let block = unsafe { _mm512_loadu_si512(block.as_ptr().cast()) };
    _mm512_testn_epi64_mask(block, pattern_512(shifts(), word)) == 0
}

#[inline]
#[target_feature(enable = "avx512f,avx512vbmi")]
fn set_512(block: &mut Block512, word: u64) -> bool {
    // SAFETY: a block is 64 readable bytes; loadu needs no alignment.
    let before = unsafe { _mm512_loadu_si512(block.as_ptr().cast()) };
    let bits = pattern_512(shifts(), word);
    // SAFETY: as before, and writable.
    unsafe { _mm512_storeu_si512(block.as_mut_ptr().cast(), _mm512_or_si512(before, bits)) };
    _mm512_testn_epi64_mask(before, bits) != 0
}

/// The bit of each lane that the word says.
#[inline]
#[target_feature(enable = "avx512f,avx512vl")]
fn pattern_256(word: u32) -> __m256i {
    let [a, b, c, d, e, f, g, h] = SALTS.map(u32::cast_signed);
    let salts = _mm256_setr_epi32(a, b, c, d, e, f, g, h);
    let products = _mm256_mullo_epi32(_mm256_set1_epi32(word.cast_signed()), salts);
    _mm256_sllv_epi32(_mm256_set1_epi32(1), _mm256_srli_epi32::<27>(products))
}

#[inline]
#[target_feature(enable = "avx512f,avx512vl")]
fn has_256(block: &Block256, word: u32) -> bool {
    // SAFETY: a block is 32 readable bytes; loadu needs no alignment.
    let block = unsafe { _mm256_loadu_si256(block.as_ptr().cast()) };
    _mm256_testn_epi32_mask(block, pattern_256(word)) == 0
}

#[inline]
#[target_feature(enable = "avx512f,avx512vl")]
fn set_256(block: &mut Block256, word: u32) -> bool {
    // SAFETY: a block is 32 readable bytes; loadu needs no alignment.
    let before = unsafe { _mm256_loadu_si256(block.as_ptr().cast()) };
    let bits = pattern_256(word);
    // SAFETY: as before, and writable.
    unsafe { _mm256_storeu_si256(block.as_mut_ptr().cast(), _mm256_or_si256(before, bits)) };
    _mm256_testn_epi32_mask(before, bits) != 0
}

impl Kernels for Avx512 {
    type Walks = Either;

    const HASHES_TOGETHER: bool = true;

    #[inline(always)]
    fn has_512(self, block: &Block512, word: u64) -> bool {
        // SAFETY: the token proves that the processor has AVX-512.
        unsafe { has_512(block, word) }
    }

    #[inline(always)]
    fn set_512(self, block: &mut Block512, word: u64) -> bool {
        // SAFETY: the token proves that the processor has AVX-512.
        unsafe { set_512(block, word) }
    }

    #[inline(always)]
    fn has_256(self, block: &Block256, word: u32) -> bool {
        // SAFETY: the token proves that the processor has AVX-512.
        unsafe { has_256(block, word) }
    }

    #[inline(always)]
    fn set_256(self, block: &mut Block256, word: u32) -> bool {
        // SAFETY: the token proves that the processor has AVX-512.
        unsafe { set_256(block, word) }
    }

    fn hash_naturals(self, fast: &Fast, h1: &mut [u64], mut h2: Option<&mut [u64]>) {
        // SAFETY: the token proves that the processor has AVX-512.
        let done = unsafe { hash_naturals(fast, h1, h2.as_deref_mut()) };
        Scalar.hash_naturals(fast, &mut h1[done..], h2.map(|h2| &mut h2[done..]));
    }

    fn find_regions(self, units: u64, region: u32, h1: &[u64; BATCH], regions: &mut [u32; BATCH]) {
        // SAFETY: the token proves that the processor has AVX-512.
        unsafe { find_regions(units, region, h1, regions) }
    }

    fn walks(self, shape: WalkShape) -> Either {
        if shape.far {
            Either::Far(Box::new(walks::Wave::new(self, shape)))
        } else {
            Either::Near(Box::new(Rounds::new(self, shape)))
        }
    }

    #[inline(always)]
    fn select(self, word: u64, rank: u32) -> Result<u32, u32> {
        select_by_deposit(word, rank)
    }

    fn run<W: Work>(self, work: W) -> W::Output {
        // SAFETY: the token proves that the processor has all of them.
        unsafe { run(work) }
    }
}

/// Keys in a classic filter: in waves, where a place is fetched a whole turn before it is looked
/// at, or, in the caches, in rounds, which sort out less.
pub(crate) enum Either {
    Far(Box<walks::Wave>),
    Near(Box<Rounds<Avx512>>),
}

impl Walks for Either {
    fn push(&mut self, body: &[u8], digests: &Digests, answers: &mut [bool]) {
        match self {
            Either::Far(wave) => wave.push(body, digests, answers),
            Either::Near(rounds) => rounds.push(body, digests, answers),
        }
    }

    fn finish(&mut self, body: &[u8], answers: &mut [bool]) {
        match self {
            Either::Far(wave) => wave.finish(body, answers),
            Either::Near(rounds) => rounds.finish(body, answers),
        }
    }
}

#[target_feature(enable = "avx2,bmi1,bmi2,popcnt,avx512f,avx512dq,avx512vl,avx512vbmi")]
fn run<W: Work>(work: W) -> W::Output {
    work.run()
}

#[target_feature(enable = "avx512f")]
fn find_regions(units: u64, region: u32, h1: &[u64; BATCH], regions: &mut [u32; BATCH]) {
    let (scale, shift) = (Scale::new(units), splat(u64::from(region)));
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
