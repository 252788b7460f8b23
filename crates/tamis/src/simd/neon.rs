//! The kernels for NEON, two lanes of 64 bits or four of 32 at a time. Hashing and walking are
//! those of `scalar`. Tested in an emulator; not measured.

use super::Neon;
use crate::hash::Fast;
use crate::simd::scalar::{self, FIRST_FIELD, SALTS};
use crate::simd::{BATCH, Block256, Block512, Kernels, Scalar, WalkShape, Work};
use std::arch::aarch64::{
    uint32x4_t, uint64x2_t, vandq_u64, vbicq_u32, vbicq_u64, vcombine_s64, vcreate_s64,
    vdupq_n_u32, vdupq_n_u64, vld1q_u8, vld1q_u32, vmaxvq_u32, vmulq_u32, vnegq_s64, vorrq_u32,
    vorrq_u64, vreinterpretq_s32_u32, vreinterpretq_s64_u64, vreinterpretq_u8_u32,
    vreinterpretq_u8_u64, vreinterpretq_u32_u8, vreinterpretq_u32_u64, vreinterpretq_u64_u8,
    vshlq_u32, vshlq_u64, vshrq_n_u32, vst1q_u8,
};

/// The word's bits in lanes 2i and 2i + 1.
#[inline(always)]
fn pattern_512(word: u64, i: i64) -> uint64x2_t {
    let shift = |lane: i64| -(FIRST_FIELD as i64 + 6 * lane);
    // SAFETY: every processor of this target has NEON; these work on registers.
    unsafe {
        // A shift to the left by a negative number is one to the right.
        let first = vcreate_s64(shift(2 * i).cast_unsigned());
        let shifts = vcombine_s64(first, vcreate_s64(shift(2 * i + 1).cast_unsigned()));
        let fields = vandq_u64(vshlq_u64(vdupq_n_u64(word), shifts), vdupq_n_u64(63));
        vshlq_u64(vdupq_n_u64(1 << 63), vnegq_s64(vreinterpretq_s64_u64(fields)))
    }
}

/// The word's bits in lanes 4i to 4i + 3.
#[inline(always)]
fn pattern_256(word: u32, i: usize) -> uint32x4_t {
    // SAFETY: every processor of this target has NEON; reads four of the eight salts, since `i` is
    // 0 or 1.
    unsafe {
        let products = vmulq_u32(vdupq_n_u32(word), vld1q_u32(SALTS[4 * i..4 * i + 4].as_ptr()));
        vshlq_u32(vdupq_n_u32(1), vreinterpretq_s32_u32(vshrq_n_u32::<27>(products)))
    }
}

impl Kernels for Neon {
    type Walks = scalar::Rounds<Neon>;

    const HASHES_TOGETHER: bool = false;

    #[inline(always)]
    fn has_512(self, block: &Block512, word: u64) -> bool {
        // SAFETY: every processor of this target has NEON; reads the 64 bytes of the block.
        unsafe {
            let mut missing = vdupq_n_u64(0);
            for (i, part) in block.as_chunks::<16>().0.iter().enumerate() {
                let lanes = vreinterpretq_u64_u8(vld1q_u8(part.as_ptr()));
                missing = vorrq_u64(missing, vbicq_u64(pattern_512(word, i as i64), lanes));
            }
            vmaxvq_u32(vreinterpretq_u32_u64(missing)) == 0
        }
    }

    #[inline(always)]
    fn set_512(self, block: &mut Block512, word: u64) -> bool {
        // SAFETY: every processor of this target has NEON; reads and writes the 64 bytes of the
        // block.
        unsafe {
            let mut missing = vdupq_n_u64(0);
            for (i, part) in block.as_chunks_mut::<16>().0.iter_mut().enumerate() {
                let lanes = vreinterpretq_u64_u8(vld1q_u8(part.as_ptr()));
                let bits = pattern_512(word, i as i64);
                missing = vorrq_u64(missing, vbicq_u64(bits, lanes));
                vst1q_u8(part.as_mut_ptr(), vreinterpretq_u8_u64(vorrq_u64(lanes, bits)));
            }
            vmaxvq_u32(vreinterpretq_u32_u64(missing)) != 0
        }
    }

    #[inline(always)]
    fn has_256(self, block: &Block256, word: u32) -> bool {
        // SAFETY: every processor of this target has NEON; reads the 32 bytes of the block.
        unsafe {
            let mut missing = vdupq_n_u32(0);
            for (i, part) in block.as_chunks::<16>().0.iter().enumerate() {
                let lanes = vreinterpretq_u32_u8(vld1q_u8(part.as_ptr()));
                missing = vorrq_u32(missing, vbicq_u32(pattern_256(word, i), lanes));
            }
            vmaxvq_u32(missing) == 0
        }
    }

    #[inline(always)]
    fn set_256(self, block: &mut Block256, word: u32) -> bool {
        // SAFETY: every processor of this target has NEON; reads and writes the 32 bytes of the
        // block.
        unsafe {
            let mut missing = vdupq_n_u32(0);
            for (i, part) in block.as_chunks_mut::<16>().0.iter_mut().enumerate() {
                let lanes = vreinterpretq_u32_u8(vld1q_u8(part.as_ptr()));
                let bits = pattern_256(word, i);
                missing = vorrq_u32(missing, vbicq_u32(bits, lanes));
                vst1q_u8(part.as_mut_ptr(), vreinterpretq_u8_u32(vorrq_u32(lanes, bits)));
            }
            vmaxvq_u32(missing) != 0
        }
    }

    fn hash_naturals(self, fast: &Fast, h1: &mut [u64], h2: Option<&mut [u64]>) {
        Scalar.hash_naturals(fast, h1, h2);
    }

    fn find_regions(self, units: u64, region: u32, h1: &[u64; BATCH], regions: &mut [u32; BATCH]) {
        Scalar.find_regions(units, region, h1, regions);
    }

    fn walks(self, shape: WalkShape) -> scalar::Rounds<Neon> {
        scalar::Rounds::new(self, shape)
    }

    fn run<W: Work>(self, work: W) -> W::Output {
        work.run()
    }
}
