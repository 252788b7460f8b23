//! The kernels for AVX2, four lanes of 64 bits or eight of 32 at a time. Hashing and walking are
//! those of `scalar`: without AVX-512, multiplications of 64 bits are faster one by one.

use super::{Avx2, select_by_deposit};
use crate::hash::Fast;
use crate::simd::scalar::{self, FIRST_FIELD, SALTS};
use crate::simd::{BATCH, Block256, Block512, Kernels, Scalar, WalkShape, Work};
use std::arch::x86_64::{
    __m256i, _mm256_and_si256, _mm256_castsi256_pd, _mm256_loadu_si256, _mm256_movemask_pd,
    _mm256_mullo_epi32, _mm256_or_si256, _mm256_set1_epi32, _mm256_set1_epi64x, _mm256_setr_epi32,
    _mm256_setr_epi64x, _mm256_sllv_epi32, _mm256_sllv_epi64, _mm256_srli_epi32, _mm256_srlv_epi64,
    _mm256_storeu_si256, _mm256_testc_si256,
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
fn load_512(block: &Block512) -> [__m256i; 2] {
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

#[inline]
#[target_feature(enable = "avx2")]
fn has_512(block: &Block512, word: u64) -> bool {
    all_signs(load_512(block), fields(word))
}

#[inline]
#[target_feature(enable = "avx2")]
fn set_512(block: &mut Block512, word: u64) -> bool {
    let ([low, high], [left, right]) = (load_512(block), fields(word));
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

#[inline]
#[target_feature(enable = "avx2")]
fn load_256(block: &Block256) -> __m256i {
    // SAFETY: a block is 32 readable bytes; loadu needs no alignment.
    unsafe { _mm256_loadu_si256(block.as_ptr().cast()) }
}

/// The bit of each lane that the word says.
#[inline]
#[target_feature(enable = "avx2")]
fn pattern_256(word: u32) -> __m256i {
    let [a, b, c, d, e, f, g, h] = SALTS.map(u32::cast_signed);
    let salts = _mm256_setr_epi32(a, b, c, d, e, f, g, h);
    let products = _mm256_mullo_epi32(_mm256_set1_epi32(word.cast_signed()), salts);
    _mm256_sllv_epi32(_mm256_set1_epi32(1), _mm256_srli_epi32::<27>(products))
}

#[inline]
#[target_feature(enable = "avx2")]
fn has_256(block: &Block256, word: u32) -> bool {
    _mm256_testc_si256(load_256(block), pattern_256(word)) == 1
}

#[inline]
#[target_feature(enable = "avx2")]
fn set_256(block: &mut Block256, word: u32) -> bool {
    let (before, bits) = (load_256(block), pattern_256(word));
    let after = _mm256_or_si256(before, bits);
    // SAFETY: a block is 32 writable bytes; storeu needs no alignment.
    unsafe { _mm256_storeu_si256(block.as_mut_ptr().cast(), after) };
    _mm256_testc_si256(before, bits) == 0
}

impl Kernels for Avx2 {
    type Walks = scalar::Rounds<Avx2>;

    const HASHES_TOGETHER: bool = false;

    #[inline(always)]
    fn has_512(self, block: &Block512, word: u64) -> bool {
        // SAFETY: the token proves that the processor has AVX2.
        unsafe { has_512(block, word) }
    }

    #[inline(always)]
    fn set_512(self, block: &mut Block512, word: u64) -> bool {
        // SAFETY: the token proves that the processor has AVX2.
        unsafe { set_512(block, word) }
    }

    #[inline(always)]
    fn has_256(self, block: &Block256, word: u32) -> bool {
        // SAFETY: the token proves that the processor has AVX2.
        unsafe { has_256(block, word) }
    }

    #[inline(always)]
    fn set_256(self, block: &mut Block256, word: u32) -> bool {
        // SAFETY: the token proves that the processor has AVX2.
        unsafe { set_256(block, word) }
    }

    fn hash_naturals(self, fast: &Fast, h1: &mut [u64], h2: Option<&mut [u64]>) {
        Scalar.hash_naturals(fast, h1, h2);
    }

    fn find_regions(self, units: u64, region: u32, h1: &[u64; BATCH], regions: &mut [u32; BATCH]) {
        Scalar.find_regions(units, region, h1, regions);
    }

    fn walks(self, shape: WalkShape) -> scalar::Rounds<Avx2> {
        scalar::Rounds::new(self, shape)
    }

    #[inline(always)]
    fn select(self, word: u64, rank: u32) -> Result<u32, u32> {
        if self.has_fast_pdep() { select_by_deposit(word, rank) } else { Scalar.select(word, rank) }
    }

    fn run<W: Work>(self, work: W) -> W::Output {
        // SAFETY: the token proves that the processor has all of them.
        unsafe { run(work) }
    }
}

#[target_feature(enable = "avx2,bmi1,bmi2,popcnt")]
fn run<W: Work>(work: W) -> W::Output {
    work.run()
}
