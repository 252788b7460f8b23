//! The same as `scalar`, a whole block at a time, on processors that do so without slowing down.

#![allow(unsafe_code)]

use super::scalar::Block;
use super::{Aim, SHIFTS};
use std::arch::asm;
use std::arch::x86_64::{
    __m512i, _mm512_load_si512, _mm512_loadu_si512, _mm512_or_si512, _mm512_rorv_epi64, _mm512_set1_epi64,
    _mm512_srlv_epi64, _mm512_storeu_si512, _mm512_test_epi64_mask,
};

/// Whether the processor has AVX-512, and is of the generations whose clock does not fall for it: those with VBMI2. What is
/// used is F.
#[inline(always)]
pub(super) fn detected() -> bool {
    std::is_x86_feature_detected!("avx512vbmi2") && std::is_x86_feature_detected!("avx512f")
}

/// The word's bits. Rotations take their counts modulo 64, so the fields need not be cut out.
#[inline]
#[target_feature(enable = "avx512f")]
fn pattern(word: u64) -> __m512i {
    // SAFETY: the table starts with 64 readable, aligned bytes.
    let shifts = unsafe { _mm512_load_si512(SHIFTS.0.as_ptr().cast()) };
    _mm512_rorv_epi64(_mm512_set1_epi64(i64::MIN), _mm512_srlv_epi64(_mm512_set1_epi64(word as i64), shifts))
}

#[inline]
#[target_feature(enable = "avx512f")]
fn load(block: &Block) -> __m512i {
    // SAFETY: a block is 64 readable bytes; loadu needs no alignment.
    unsafe { _mm512_loadu_si512(block.as_ptr().cast()) }
}

/// Whether the block has the word's bits.
#[inline]
#[target_feature(enable = "avx512f")]
pub(super) fn has(block: &Block, word: u64) -> bool {
    _mm512_test_epi64_mask(load(block), pattern(word)) == 0xff
}

/// Sets the word's bits; says whether one was clear.
#[inline]
#[target_feature(enable = "avx512f")]
pub(super) fn set(block: &mut Block, word: u64) -> bool {
    let (before, bits) = (load(block), pattern(word));
    // SAFETY: a block is 64 writable bytes; storeu needs no alignment.
    unsafe { _mm512_storeu_si512(block.as_mut_ptr().cast(), _mm512_or_si512(before, bits)) };
    _mm512_test_epi64_mask(before, bits) != 0xff
}

/// [`has`] for callers that were not compiled for AVX-512, into which it can still be inlined. The registers from 16 on are no part
/// of the older instruction sets, so nothing has to be cleared afterwards.
///
/// # Safety
///
/// The processor must have AVX-512 F.
#[inline(always)]
pub(super) unsafe fn has_inline(block: &Block, word: u64) -> bool {
    let lanes: u32;
    // SAFETY: reads the block and the tables, 64 bytes each.
    unsafe {
        asm!(
            "vpbroadcastq zmm16, {word}",
            "vpsrlvq zmm16, zmm16, [{shifts}]",
            "vpbroadcastq zmm17, [{shifts} + 96]",
            "vprorvq zmm16, zmm17, zmm16",
            "vptestmq k1, zmm16, [{block}]",
            "kmovw {lanes:e}, k1",
            word = in(reg) word,
            shifts = in(reg) &SHIFTS,
            block = in(reg) block,
            lanes = lateout(reg) lanes,
            out("zmm16") _, out("zmm17") _, out("k1") _,
            options(pure, readonly, nostack, preserves_flags),
        );
    }
    lanes == 0xff
}

/// Whether each of many keys passes.
#[target_feature(enable = "avx512f")]
pub(super) fn contains_many(blocks: &[Block], aims: &[Aim], rounds: u32, answers: &mut Vec<bool>) {
    answers.extend(aims.iter().map(|aim| {
        let block = &blocks[aim.block];
        has(block, aim.words[0]) & (rounds == 1 || has(block, aim.words[1]))
    }));
}

/// Puts many keys in; says how many were certainly new.
#[target_feature(enable = "avx512f")]
pub(super) fn insert_many(blocks: &mut [Block], aims: &[Aim], rounds: u32) -> u64 {
    let mut new = 0;
    for aim in aims {
        let block = &mut blocks[aim.block];
        new += u64::from(set(block, aim.words[0]) | (rounds == 2 && set(block, aim.words[1])));
    }
    new
}
