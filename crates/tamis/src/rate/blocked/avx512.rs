//! The same as `scalar`, a whole block at a time. Tests require equal answers and equal blocks.

#![allow(unsafe_code)]

use super::scalar::Block;
use super::{BATCH, Probes, SHIFTS, SPREAD, fetch};
use crate::wide::{Scale, load, multiply_low, splat, store, xor_shift};
use std::arch::asm;
use std::arch::x86_64::{
    __m512i, _mm512_load_si512, _mm512_loadu_si512, _mm512_multishift_epi64_epi8, _mm512_or_si512,
    _mm512_rorv_epi64, _mm512_storeu_si512, _mm512_testn_epi64_mask,
};

/// The word's bits. Rotations take their counts modulo 64, so the fields need not be cut out; nor need the rest of each count, which
/// is whatever stands below the word's first field, be cleared.
#[inline]
#[target_feature(enable = "avx512f,avx512vbmi")]
fn pattern(word: u64) -> __m512i {
    // SAFETY: the table starts with 64 readable, aligned bytes.
    let shifts = unsafe { _mm512_load_si512(SHIFTS.0.as_ptr().cast()) };
    _mm512_rorv_epi64(splat(1 << 63), _mm512_multishift_epi64_epi8(shifts, splat(word)))
}

#[inline]
#[target_feature(enable = "avx512f")]
fn load_block(block: &Block) -> __m512i {
    // SAFETY: a block is 64 readable bytes; loadu needs no alignment.
    unsafe { _mm512_loadu_si512(block.as_ptr().cast()) }
}

/// Whether the block has the word's bits.
#[inline]
#[cfg(any(test, target_feature = "avx512vbmi"))]
#[target_feature(enable = "avx512f,avx512vbmi")]
pub(super) fn has(block: &Block, word: u64) -> bool {
    _mm512_testn_epi64_mask(load_block(block), pattern(word)) == 0
}

/// Whether the block has the word's bits, for callers that were not compiled for AVX-512, into which it can still be inlined. The
/// registers from 16 on are no part of the older instruction sets, so nothing has to be cleared afterwards.
///
/// # Safety
///
/// The processor must have AVX-512 F and DQ.
#[inline(always)]
#[cfg(any(test, not(target_feature = "avx512vbmi")))]
pub(super) unsafe fn has_inline(block: &Block, word: u64) -> bool {
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
pub(super) unsafe fn set_inline(block: &mut Block, word: u64) -> bool {
    let missing: u32;
    // SAFETY: reads bytes 0 to 63 and 96 to 103 of the table's 128, and reads and writes the 64 bytes of the block.
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

/// Does the first keys, by eights, as [`super::aim_many`] does, and says how many that were.
#[target_feature(enable = "avx512f,avx512dq")]
pub(super) fn aim(blocks: u64, h1: &mut [u64], at: &mut [u64]) -> usize {
    let (scale, spread) = (Scale::new(blocks), splat(SPREAD));
    let eights = h1.as_chunks_mut::<8>().0;
    for (h1, at) in eights.iter_mut().zip(at.as_chunks_mut::<8>().0) {
        let unmended = xor_shift(load(h1));
        store(at, scale.of(unmended));
        store(h1, multiply_low(unmended, spread));
    }
    eights.len() * 8
}

/// See [`super::look`].
#[target_feature(enable = "avx512f,avx512dq,avx512vbmi")]
pub(super) fn look(blocks: &[Block], probes: &Probes<'_>, missing: &mut [u8; BATCH]) {
    let eights = probes.len.div_ceil(8);
    let (at, words) = (&probes.at.as_chunks::<8>().0[..eights], &probes.words.as_chunks::<8>().0[..eights]);
    // Those past the last key were found for an earlier batch, or are 0.
    let within = at.as_flattened().iter().fold(true, |all, at| all & ((*at as usize) < blocks.len()));
    assert!(within, "the blocks were found for a filter of this size");
    for (i, ((missing, at), words)) in
        missing.as_chunks_mut::<8>().0.iter_mut().zip(at).zip(words).enumerate()
    {
        if let Some(ahead) = probes.ahead {
            ahead.as_chunks::<8>().0[i].iter().for_each(|at| fetch(blocks, *at));
        }
        for j in 0..8 {
            // SAFETY: all of them were looked at above.
            let block = unsafe { blocks.get_unchecked(at[j] as usize) };
            missing[j] = _mm512_testn_epi64_mask(load_block(block), pattern(words[j]));
        }
    }
    for (missing, (at, word)) in missing.iter_mut().zip(probes.each_second()) {
        *missing |= _mm512_testn_epi64_mask(load_block(&blocks[at]), pattern(word));
    }
}

/// See [`super::write`].
#[target_feature(enable = "avx512f,avx512dq,avx512vbmi")]
pub(super) fn write(blocks: &mut [Block], probes: &Probes<'_>, missing: &mut [u8; BATCH]) {
    for (i, missing) in missing.iter_mut().enumerate().take(probes.len) {
        let (at, word) = probes.get(i, blocks);
        let block = &mut blocks[at];
        let (before, mut bits) = (load_block(block), pattern(word));
        *missing = _mm512_testn_epi64_mask(before, bits);
        if let Some(second) = probes.second {
            let more = pattern(second[i]);
            *missing |= _mm512_testn_epi64_mask(before, more);
            bits = _mm512_or_si512(bits, more);
        }
        // SAFETY: a block is 64 writable bytes; storeu needs no alignment.
        unsafe { _mm512_storeu_si512(block.as_mut_ptr().cast(), _mm512_or_si512(before, bits)) };
    }
}
