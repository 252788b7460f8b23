//! One key at a time, in code that is compiled for any x86-64.
//!
//! A function that is compiled for AVX2 is called, not inlined, where the program is not: the call
//! costs as much as the test, and keeps the processor from running ahead to the next key. Inline
//! assembly can be inlined anywhere.
//!
//! `vzeroupper` saves the SSE code around AVX2's from waiting for the upper halves of the
//! registers. AVX-512 has registers from 16 on, which need nothing of the kind: that is why it has
//! code of its own here for blocks of 256 bits as well.

use super::{Avx2, Avx512};
use crate::simd::scalar::{FIRST_FIELD, SALTS};
use crate::simd::{Block256, Block512};
use std::arch::asm;

/// What the code for blocks of 512 bits reads: how far to shift a word for each lane, then the mask
/// of a field, then the sign of a lane.
#[repr(align(64))]
struct Shifts {
    _shifts: [u64; 8],
    _mask: [u64; 4],
    _sign: [u64; 4],
}

static SHIFTS: Shifts = Shifts {
    _shifts: {
        let mut shifts = [0; 8];
        let mut lane = 0;
        while lane < 8 {
            shifts[lane] = FIRST_FIELD + 6 * lane as u64;
            lane += 1;
        }
        shifts
    },
    _mask: [63; 4],
    _sign: [1 << 63; 4],
};

/// What the code for blocks of 256 bits reads: the salts, and a one for each lane.
#[repr(align(64))]
struct Salts {
    _salts: [u32; 8],
    _ones: [u32; 8],
}

static SPLIT: Salts = Salts { _salts: SALTS, _ones: [1; 8] };

/// All registers are named that `vzeroupper` clears: a caller compiled for AVX may be using them.
macro_rules! avx2 {
    ($($arguments:tt)*) => {
        asm!(
            $($arguments)*
            out("xmm0") _, out("xmm1") _, out("xmm2") _, out("xmm3") _,
            out("xmm4") _, out("xmm5") _, out("xmm6") _, out("xmm7") _,
            out("xmm8") _, out("xmm9") _, out("xmm10") _, out("xmm11") _,
            out("xmm12") _, out("xmm13") _, out("xmm14") _, out("xmm15") _,
        )
    };
}

macro_rules! avx512 {
    ($($arguments:tt)*) => {
        asm!($($arguments)* out("zmm16") _, out("zmm17") _, out("k1") _)
    };
}

impl Avx2 {
    #[inline(always)]
    pub(super) fn has_512_inline(self, block: &Block512, word: u64) -> bool {
        let signs: u32;
        // SAFETY: the token proves that the processor has AVX2. Reads the 64 bytes of the block and
        // the 128 of the table, which is aligned.
        unsafe {
            avx2!(
                "vmovq xmm0, {word}",
                "vpbroadcastq ymm0, xmm0",
                "vpsrlvq ymm1, ymm0, [{table}]",
                "vpsrlvq ymm0, ymm0, [{table} + 32]",
                "vmovdqa ymm2, [{table} + 64]",
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
                table = in(reg) &SHIFTS,
                block = in(reg) block,
                signs = lateout(reg) signs,
                options(pure, readonly, nostack, preserves_flags),
            );
        }
        signs == 0b1111
    }

    #[inline(always)]
    pub(super) fn set_512_inline(self, block: &mut Block512, word: u64) -> bool {
        let signs: u32;
        // SAFETY: the token proves that the processor has AVX2. Reads the 128 bytes of the table,
        // which is aligned, and reads and writes the 64 bytes of the block.
        unsafe {
            avx2!(
                "vmovq xmm0, {word}",
                "vpbroadcastq ymm0, xmm0",
                "vpsrlvq ymm1, ymm0, [{table}]",
                "vpsrlvq ymm0, ymm0, [{table} + 32]",
                "vmovdqa ymm2, [{table} + 64]",
                "vpand ymm1, ymm1, ymm2",
                "vpand ymm0, ymm0, ymm2",
                "vmovdqa ymm2, [{table} + 96]",
                "vmovdqu ymm3, [{block}]",
                "vmovdqu ymm4, [{block} + 32]",
                "vpsllvq ymm5, ymm3, ymm1",
                "vpsllvq ymm6, ymm4, ymm0",
                "vpsrlvq ymm1, ymm2, ymm1",
                "vpsrlvq ymm0, ymm2, ymm0",
                "vpor ymm1, ymm1, ymm3",
                "vpor ymm0, ymm0, ymm4",
                "vmovdqu [{block}], ymm1",
                "vmovdqu [{block} + 32], ymm0",
                "vpand ymm5, ymm5, ymm6",
                "vmovmskpd {signs:e}, ymm5",
                "vzeroupper",
                word = in(reg) word,
                table = in(reg) &SHIFTS,
                block = in(reg) block,
                signs = lateout(reg) signs,
                options(nostack, preserves_flags),
            );
        }
        signs != 0b1111
    }

    #[inline(always)]
    pub(super) fn has_256_inline(self, block: &Block256, word: u32) -> bool {
        let missing: u8;
        // SAFETY: the token proves that the processor has AVX2. Reads the 32 bytes of the block and
        // the 64 of the table, which is aligned.
        unsafe {
            avx2!(
                "vmovd xmm0, {word:e}",
                "vpbroadcastd ymm0, xmm0",
                "vpmulld ymm0, ymm0, [{table}]",
                "vmovdqa ymm1, [{table} + 32]",
                "vpsrld ymm0, ymm0, 27",
                "vpsllvd ymm0, ymm1, ymm0",
                "vmovdqu ymm1, [{block}]",
                "vptest ymm1, ymm0",
                "setnc {missing}",
                "vzeroupper",
                word = in(reg) word,
                table = in(reg) &SPLIT,
                block = in(reg) block,
                missing = lateout(reg_byte) missing,
                options(pure, readonly, nostack),
            );
        }
        missing == 0
    }

    #[inline(always)]
    pub(super) fn set_256_inline(self, block: &mut Block256, word: u32) -> bool {
        let missing: u8;
        // SAFETY: the token proves that the processor has AVX2. Reads the 64 bytes of the table,
        // which is aligned, and reads and writes the 32 bytes of the block.
        unsafe {
            avx2!(
                "vmovd xmm0, {word:e}",
                "vpbroadcastd ymm0, xmm0",
                "vpmulld ymm0, ymm0, [{table}]",
                "vmovdqa ymm1, [{table} + 32]",
                "vpsrld ymm0, ymm0, 27",
                "vpsllvd ymm0, ymm1, ymm0",
                "vmovdqu ymm1, [{block}]",
                "vpor ymm2, ymm1, ymm0",
                "vmovdqu [{block}], ymm2",
                "vptest ymm1, ymm0",
                "setnc {missing}",
                "vzeroupper",
                word = in(reg) word,
                table = in(reg) &SPLIT,
                block = in(reg) block,
                missing = lateout(reg_byte) missing,
                options(nostack),
            );
        }
        missing != 0
    }
}

impl Avx512 {
    #[inline(always)]
    pub(super) fn has_512_inline(self, block: &Block512, word: u64) -> bool {
        let missing: u32;
        // SAFETY: the token proves that the processor has AVX-512. Reads the 64 bytes of the block
        // and the 128 of the table, which is aligned.
        unsafe {
            avx512!(
                "vpbroadcastq zmm16, {word}",
                "vpsrlvq zmm16, zmm16, [{table}]",
                "vpbroadcastq zmm17, [{table} + 96]",
                "vprorvq zmm16, zmm17, zmm16",
                "vptestnmq k1, zmm16, [{block}]",
                "kmovb {missing:e}, k1",
                word = in(reg) word,
                table = in(reg) &SHIFTS,
                block = in(reg) block,
                missing = lateout(reg) missing,
                options(pure, readonly, nostack, preserves_flags),
            );
        }
        missing == 0
    }

    #[inline(always)]
    pub(super) fn set_512_inline(self, block: &mut Block512, word: u64) -> bool {
        let missing: u32;
        // SAFETY: the token proves that the processor has AVX-512. Reads the 128 bytes of the
        // table, which is aligned, and reads and writes the 64 bytes of the block.
        unsafe {
            avx512!(
                "vpbroadcastq zmm16, {word}",
                "vpsrlvq zmm16, zmm16, [{table}]",
                "vpbroadcastq zmm17, [{table} + 96]",
                "vprorvq zmm16, zmm17, zmm16",
                "vmovdqu64 zmm17, [{block}]",
                "vptestnmq k1, zmm16, zmm17",
                "vporq zmm17, zmm16, zmm17",
                "vmovdqu64 [{block}], zmm17",
                "kmovb {missing:e}, k1",
                word = in(reg) word,
                table = in(reg) &SHIFTS,
                block = in(reg) block,
                missing = lateout(reg) missing,
                options(nostack, preserves_flags),
            );
        }
        missing != 0
    }

    #[inline(always)]
    pub(super) fn has_256_inline(self, block: &Block256, word: u32) -> bool {
        let missing: u32;
        // SAFETY: the token proves that the processor has AVX-512. Reads the 32 bytes of the block
        // and the 64 of the table, which is aligned.
        unsafe {
            avx512!(
                "vpbroadcastd ymm16, {word:e}",
                "vpmulld ymm16, ymm16, [{table}]",
                "vmovdqa32 ymm17, [{table} + 32]",
                "vpsrld ymm16, ymm16, 27",
                "vpsllvd ymm16, ymm17, ymm16",
                "vptestnmd k1, ymm16, [{block}]",
                "kmovb {missing:e}, k1",
                word = in(reg) word,
                table = in(reg) &SPLIT,
                block = in(reg) block,
                missing = lateout(reg) missing,
                options(pure, readonly, nostack, preserves_flags),
            );
        }
        missing == 0
    }

    #[inline(always)]
    pub(super) fn set_256_inline(self, block: &mut Block256, word: u32) -> bool {
        let missing: u32;
        // SAFETY: the token proves that the processor has AVX-512. Reads the 64 bytes of the table,
        // which is aligned, and reads and writes the 32 bytes of the block.
        unsafe {
            avx512!(
                "vpbroadcastd ymm16, {word:e}",
                "vpmulld ymm16, ymm16, [{table}]",
                "vmovdqa32 ymm17, [{table} + 32]",
                "vpsrld ymm16, ymm16, 27",
                "vpsllvd ymm16, ymm17, ymm16",
                "vmovdqu32 ymm17, [{block}]",
                "vptestnmd k1, ymm16, ymm17",
                "vpord ymm17, ymm16, ymm17",
                "vmovdqu32 [{block}], ymm17",
                "kmovb {missing:e}, k1",
                word = in(reg) word,
                table = in(reg) &SPLIT,
                block = in(reg) block,
                missing = lateout(reg) missing,
                options(nostack, preserves_flags),
            );
        }
        missing != 0
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::arch::x86_64::{_mm256_add_epi64, _mm256_set_epi64x, _mm256_storeu_si256};

    /// A caller with numbers of its own in wide registers.
    #[target_feature(enable = "avx2")]
    fn tally(avx2: Avx2, block: &Block512, words: &[u64]) -> [u64; 4] {
        let (mut sums, step) = (_mm256_set_epi64x(8, 7, 6, 5), _mm256_set_epi64x(1000, 100, 10, 1));
        for word in words {
            if avx2.has_512_inline(block, *word) {
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
        if let Some(avx2) = Avx2::detect() {
            // SAFETY: the token proves that there is AVX2.
            let tally = unsafe { tally(avx2, &[0xff; 64], &[7; 1000]) };
            assert_eq!(tally, [1005, 10_006, 100_007, 1_000_008]);
        }
    }
}
