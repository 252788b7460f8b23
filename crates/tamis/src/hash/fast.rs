//! The default family: folded multiplications, two lanes wide, specified in FORMAT.md.
//!
//! Both lanes see every byte, so the digest keeps 128 bits of difference between keys. With a
//! 64-bit hash, n/2^64 of all strangers collide with a member. Above about 18,000 items that is
//! more than 1e-15.

use super::Digest;
use crate::simd::one_by_one;
use crate::{Encoded, KeyRef};
use std::hint::select_unpredictable;

/// The fractional digits of pi, 64 bits at a time: constants with nothing hidden in them.
const PI: [u64; 10] = [
    0x243f_6a88_85a3_08d3,
    0x1319_8a2e_0370_7344,
    0xa409_3822_299f_31d0,
    0x082e_fa98_ec4e_6c89,
    0x4528_21e6_38d0_1377,
    0xbe54_66cf_34e9_0c6c,
    0xc0ac_29b7_c97c_50dd,
    0x3f84_d5b5_b547_0917,
    0x9216_d5d9_8979_fb1b,
    0xd131_0ba6_98df_b5ac,
];

/// What an integer is multiplied by.
const MULTIPLIER: u64 = PI[5] | 1;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Fast {
    seed: u64,
    lanes: [u64; 2],
    /// What h2 of an integer mixes in, computed once.
    integer: [u64; 2],
}

/// The numbers of [`Fast::natural`].
#[cfg_attr(any(not(target_arch = "x86_64"), miri), allow(dead_code))]
pub(crate) struct NaturalConstants {
    /// What a number is mixed with.
    pub(crate) lane: u64,
    /// The first multiplier.
    pub(crate) multiplier: u64,
    /// The multiplier that ends h1.
    pub(crate) h1_multiplier: u64,
    /// What the halves of the first product are mixed with, to be multiplied for h2.
    pub(crate) h2: [u64; 2],
}

impl Fast {
    pub(super) fn new(seed: u64) -> Fast {
        let lanes = [fold(seed ^ PI[0], PI[1]), fold(seed ^ PI[2], PI[3])];
        Fast { seed, lanes, integer: [PI[3] ^ lanes[1], PI[2]] }
    }

    pub(super) fn seed(&self) -> u64 {
        self.seed
    }

    // Always inlined: every caller knows the kind of its key, so one arm is left, and an integer is
    // hashed in place.
    #[inline(always)]
    pub(crate) fn digest(&self, key: KeyRef<'_>) -> Digest {
        match key {
            KeyRef::Bytes(bytes) => self.bytes(bytes),
            KeyRef::Natural(value) => self.integer(value, self.lanes[0]),
            KeyRef::Negative(value) => self.integer(value, self.lanes[0] ^ PI[4]),
            KeyRef::Encoded(key) => self.encoded(key),
        }
    }

    /// An odd multiplication loses nothing of the value. h1 mixes the two halves of the product
    /// and multiplies once more. That leaves its low bits weaker than the high ones, and layouts
    /// do not depend on them: they scale h1, or multiply it again and take the high bits.
    // FORMAT v1: frozen
    #[inline(always)]
    fn integer(&self, value: u64, lane: u64) -> Digest {
        let (low, high) = multiply(value ^ lane, MULTIPLIER);
        Digest {
            h1: one_by_one(low ^ high).wrapping_mul(PI[8]),
            h2: fold(low ^ self.integer[0], high ^ self.integer[1]),
        }
    }

    /// The digest of a natural number.
    #[inline(always)]
    pub(crate) fn natural(&self, value: u64) -> Digest {
        self.integer(value, self.lanes[0])
    }

    /// What kernels need to hash natural numbers as [`natural`](Fast::natural) does.
    #[cfg_attr(any(not(target_arch = "x86_64"), miri), allow(dead_code))]
    pub(crate) fn natural_constants(&self) -> NaturalConstants {
        NaturalConstants {
            lane: self.lanes[0],
            multiplier: MULTIPLIER,
            h1_multiplier: PI[8],
            h2: self.integer,
        }
    }

    /// A key that is written out first. A separate function keeps its code out of the fast path.
    #[inline(never)]
    fn encoded(&self, key: Encoded<'_>) -> Digest {
        key.with_bytes(|bytes| self.bytes(bytes))
    }

    // Always inlined, so that the compiler leaves h2 out where the layout does not use it.
    #[inline(always)]
    fn bytes(&self, bytes: &[u8]) -> Digest {
        let (a, b) = self.absorb(bytes);
        finish(a, b)
    }

    /// Mixes all bytes into both lanes.
    #[inline(never)]
    fn absorb(&self, bytes: &[u8]) -> (u64, u64) {
        let [a, b] = self.lanes;
        let start = (a ^ bytes.len() as u64, b);
        // Sixteen bytes at a time; the last sixteen may overlap those before, which the length
        // makes unambiguous.
        let (Some(first), Some(last)) = (bytes.first_chunk::<16>(), bytes.last_chunk::<16>())
        else {
            return step(start, short(bytes));
        };
        // Up to 48 bytes without a branch: texts of varying lengths would make it a coin toss.
        let len = bytes.len();
        let mut lanes = select_unpredictable(len > 16, step(start, two_words(first)), start);
        if len > 48 {
            let (whole, _) = bytes[16..len - 1].as_chunks::<16>();
            lanes = whole.iter().fold(lanes, |lanes, chunk| step(lanes, two_words(chunk)));
        } else {
            let second = (len - 16).min(16);
            if let Some(chunk) = bytes[second..].first_chunk::<16>() {
                lanes = select_unpredictable(len > 32, step(lanes, two_words(chunk)), lanes);
            }
        }
        step(lanes, two_words(last))
    }
}

/// Mixes sixteen bytes into both lanes.
#[inline(always)]
fn step((a, b): (u64, u64), (x, y): (u64, u64)) -> (u64, u64) {
    (fold(a ^ x, y ^ PI[6]), fold(b ^ y, x ^ PI[7]))
}

#[inline]
fn two_words(chunk: &[u8; 16]) -> (u64, u64) {
    let number = u128::from_le_bytes(*chunk);
    (number as u64, (number >> 64) as u64)
}

/// Up to fifteen bytes as two words that, with the length, determine them.
#[inline]
fn short(bytes: &[u8]) -> (u64, u64) {
    if let (Some(first), Some(last)) = (bytes.first_chunk::<8>(), bytes.last_chunk::<8>()) {
        (u64::from_le_bytes(*first), u64::from_le_bytes(*last))
    } else if let (Some(first), Some(last)) = (bytes.first_chunk::<4>(), bytes.last_chunk::<4>()) {
        (u64::from(u32::from_le_bytes(*first)), u64::from(u32::from_le_bytes(*last)))
    } else if let (Some(&first), Some(&last)) = (bytes.first(), bytes.last()) {
        (u64::from(first) | u64::from(bytes[bytes.len() / 2]) << 8 | u64::from(last) << 16, 0)
    } else {
        (0, 0)
    }
}

/// Mixes both halves into both words.
#[inline(always)]
fn finish(a: u64, b: u64) -> Digest {
    Digest { h1: fold(a ^ PI[8], b ^ PI[9]), h2: fold(a ^ PI[3], b ^ PI[2]) }
}

#[inline]
fn multiply(x: u64, y: u64) -> (u64, u64) {
    let product = u128::from(x) * u128::from(y);
    (product as u64, (product >> 64) as u64)
}

/// Both halves of the product in one word: every bit of it depends on every bit of both factors.
#[inline]
fn fold(x: u64, y: u64) -> u64 {
    let (low, high) = multiply(x, y);
    low ^ high
}
