//! The same as `scalar`, four lanes at a time. Tests require equal answers and equal blocks.

#![allow(unsafe_code)]

use super::SECOND;
use super::scalar::Block;
use crate::hash::Digest;
use std::arch::x86_64::{
    __m256i, _mm256_and_si256, _mm256_loadu_si256, _mm256_or_si256, _mm256_set_epi64x, _mm256_set1_epi64x,
    _mm256_sllv_epi64, _mm256_srlv_epi64, _mm256_storeu_si256, _mm256_testc_si256,
};

/// The bits of a key in lanes 0 to 3 and 4 to 7.
#[inline]
#[target_feature(enable = "avx2")]
fn pattern(digest: Digest, rounds: u32) -> [__m256i; 2] {
    let mut halves = spread(digest.h2);
    if rounds == 2 {
        let more = spread(digest.h1.wrapping_mul(SECOND) >> 16);
        halves = [_mm256_or_si256(halves[0], more[0]), _mm256_or_si256(halves[1], more[1])];
    }
    halves
}

/// One bit in each lane: six bits of the word say which.
#[inline]
#[target_feature(enable = "avx2")]
fn spread(word: u64) -> [__m256i; 2] {
    let (word, one, six_bits) =
        (_mm256_set1_epi64x(word as i64), _mm256_set1_epi64x(1), _mm256_set1_epi64x(63));
    let bit =
        |shifts: __m256i| _mm256_sllv_epi64(one, _mm256_and_si256(_mm256_srlv_epi64(word, shifts), six_bits));
    [bit(_mm256_set_epi64x(18, 12, 6, 0)), bit(_mm256_set_epi64x(42, 36, 30, 24))]
}

#[inline]
#[target_feature(enable = "avx2")]
fn load(block: &Block) -> [__m256i; 2] {
    let start = block.as_ptr().cast::<__m256i>();
    // SAFETY: a block is 64 readable bytes, two vectors; loadu needs no alignment.
    unsafe { [_mm256_loadu_si256(start), _mm256_loadu_si256(start.add(1))] }
}

/// Whether the block has all bits of the key.
#[inline]
#[target_feature(enable = "avx2")]
pub(super) fn contains(block: &Block, digest: Digest, rounds: u32) -> bool {
    let ([low, high], [low_bits, high_bits]) = (load(block), pattern(digest, rounds));
    // testc is 1 when no bit of the second is missing in the first.
    _mm256_testc_si256(low, low_bits) & _mm256_testc_si256(high, high_bits) == 1
}

/// Sets all bits of the key; says whether one was clear.
#[inline]
#[target_feature(enable = "avx2")]
pub(super) fn insert(block: &mut Block, digest: Digest, rounds: u32) -> bool {
    let ([low, high], [low_bits, high_bits]) = (load(block), pattern(digest, rounds));
    let new = _mm256_testc_si256(low, low_bits) & _mm256_testc_si256(high, high_bits) == 0;
    let start = block.as_mut_ptr().cast::<__m256i>();
    // SAFETY: a block is 64 writable bytes, two vectors; storeu needs no alignment.
    unsafe {
        _mm256_storeu_si256(start, _mm256_or_si256(low, low_bits));
        _mm256_storeu_si256(start.add(1), _mm256_or_si256(high, high_bits));
    }
    new
}

/// [`contains`] for many keys, so that the detection of the processor is paid once.
#[target_feature(enable = "avx2")]
pub(super) fn contains_many(
    blocks: &[Block],
    places: &[usize],
    digests: &[Digest],
    rounds: u32,
    answers: &mut Vec<bool>,
) {
    answers
        .extend(places.iter().zip(digests).map(|(place, digest)| contains(&blocks[*place], *digest, rounds)));
}

/// [`insert`] for many keys; says how many were certainly new.
#[target_feature(enable = "avx2")]
pub(super) fn insert_many(blocks: &mut [Block], places: &[usize], digests: &[Digest], rounds: u32) -> u64 {
    let mut new = 0;
    for (place, digest) in places.iter().zip(digests) {
        new += u64::from(insert(&mut blocks[*place], *digest, rounds));
    }
    new
}
