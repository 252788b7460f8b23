//! Lookups of eight keys at a time, a place of each.

use super::arith::{Scale, load, multiply_low, splat, store};
use crate::hash::{Digests, MAX_HASHES, STEP};
use crate::simd::native::Avx512;
use crate::simd::{BATCH, WalkShape, Walks, prefetch};
use std::arch::x86_64::{
    _mm512_add_epi64, _mm512_and_si512, _mm512_maskz_compress_epi64, _mm512_srlv_epi64,
    _mm512_sub_epi64, _mm512_test_epi64_mask, _mm512_testn_epi64_mask,
};

/// Keys on their way through their places. Each turn looks at one place of every key, and those
/// that pass go on to their next, which is fetched until it comes to their turn again; new keys
/// join them.
#[repr(C, align(64))]
pub(crate) struct Wave {
    /// Where the walks are, and what they add at each step.
    x: [u64; WAVE],
    h2: [u64; WAVE],
    /// The place to look at next.
    at: [u64; WAVE],
    /// The number of the key, and, in the low eight bits, how many places are left.
    who: [u64; WAVE],
    /// Those that have passed all places, in a turn.
    passed: [u64; WAVE],
    /// What was read at the places.
    bytes: [u64; WAVE],
    /// The first places of the keys that are about to join.
    first: [u64; BATCH],
    len: usize,
    /// The number of the next key to join.
    number: usize,
    shape: WalkShape,
    /// The proof that the kernels may be used.
    _level: Avx512,
}

/// So many that a batch finds room beside what earlier ones have left, half of each at every turn
/// if they are strangers.
const WAVE: usize = 3 * BATCH;

const _: () = assert!(MAX_HASHES < 1 << 8, "the places left have eight bits");

impl Wave {
    pub(super) fn new(level: Avx512, shape: WalkShape) -> Wave {
        let none = [0; WAVE];
        Wave {
            _level: level,
            shape,
            number: 0,
            first: [0; BATCH],
            x: none,
            h2: none,
            at: none,
            who: none,
            bytes: none,
            passed: none,
            len: 0,
        }
    }

    /// Lets keys join, whose first places are known.
    fn join(&mut self, digests: &Digests) {
        let end = self.len + digests.len;
        self.x[self.len..end].copy_from_slice(&digests.h1[..digests.len]);
        self.h2[self.len..end].copy_from_slice(&digests.h2[..digests.len]);
        self.at[self.len..end].copy_from_slice(&self.first[..digests.len]);
        for (who, number) in self.who[self.len..end].iter_mut().zip(self.number as u64..) {
            *who = number << 8 | u64::from(self.shape.hashes);
        }
        self.len = end;
        self.number += digests.len;
    }

    /// Looks at one place of every key, as often as it takes to make room for those that come, and
    /// takes them in.
    #[target_feature(enable = "avx512f,avx512dq,popcnt")]
    fn take(&mut self, body: &[u8], digests: &Digests, answers: &mut [bool]) {
        let scale = Scale::new(self.shape.cells);
        loop {
            let room = self.len <= WAVE - BATCH;
            let coming = if room { digests.len } else { 0 };
            let eights = digests.h1.as_chunks().0.iter().zip(self.first.as_chunks_mut().0);
            for (h1, first) in eights.take(coming.div_ceil(8)) {
                store(first, scale.of(load(h1)));
            }
            self.turn(body, scale, coming, answers);
            if room {
                return self.join(digests);
            }
        }
    }

    /// Looks at one place of each. Meanwhile the first places of the keys that come are fetched.
    #[inline]
    #[target_feature(enable = "avx512f,avx512dq,popcnt")]
    fn turn(&mut self, body: &[u8], scale: Scale, coming: usize, answers: &mut [bool]) {
        let at = &self.at[..self.len];
        if self.shape.later_far {
            read(body, at, &mut self.bytes, &self.first[..coming]);
        } else {
            read(body, at, &mut self.bytes, &[]);
        }
        let (mut kept, mut found) = (0, 0);
        for start in (0..self.len).step_by(8) {
            let live = if self.len - start < 8 { (1 << (self.len - start)) - 1 } else { 0xff };
            let bit = _mm512_and_si512(load(eight(&mut self.at, start)), splat(7));
            let byte = _mm512_srlv_epi64(load(eight(&mut self.bytes, start)), bit);
            let passed = _mm512_test_epi64_mask(byte, splat(1)) & live;
            let h2 = load(eight(&mut self.h2, start));
            let x =
                _mm512_add_epi64(multiply_low(load(eight(&mut self.x, start)), splat(STEP)), h2);
            let who = _mm512_sub_epi64(load(eight(&mut self.who, start)), splat(1));
            let last = passed & _mm512_testn_epi64_mask(who, splat(0xff));
            store(eight(&mut self.passed, found), _mm512_maskz_compress_epi64(last, who));
            found += last.count_ones() as usize;
            // In place: what is kept never overtakes what is read.
            let on = passed & !last;
            store(eight(&mut self.x, kept), _mm512_maskz_compress_epi64(on, x));
            store(eight(&mut self.h2, kept), _mm512_maskz_compress_epi64(on, h2));
            store(eight(&mut self.at, kept), _mm512_maskz_compress_epi64(on, scale.of(x)));
            store(eight(&mut self.who, kept), _mm512_maskz_compress_epi64(on, who));
            kept += on.count_ones() as usize;
        }
        self.len = kept;
        for who in &self.passed[..found] {
            answers[(who >> 8) as usize] = true;
        }
        if self.shape.later_far {
            self.at[..kept].iter().for_each(|at| fetch(body, *at));
        }
    }
}

/// The bytes of the body that hold the bits. One by one: since its flaw (Moghimi, "Downfall", 2023)
/// was mended, a gathering load is slower than that on many processors.
#[inline(always)]
fn read(body: &[u8], at: &[u64], bytes: &mut [u64; WAVE], ahead: &[u64]) {
    let beside = at.len().min(ahead.len());
    for (i, (byte, at)) in bytes.iter_mut().zip(at).enumerate() {
        if i < beside {
            fetch(body, ahead[i]);
        }
        *byte = u64::from(body[(at >> 3) as usize]);
    }
    ahead[beside..].iter().for_each(|at| fetch(body, *at));
}

#[inline(always)]
fn fetch(body: &[u8], at: u64) {
    prefetch::byte(body, (at >> 3) as usize);
}

impl Walks for Wave {
    fn push(&mut self, body: &[u8], digests: &Digests, answers: &mut [bool]) {
        // SAFETY: the token proves that the processor has AVX-512 and POPCNT.
        unsafe { self.take(body, digests, answers) }
    }

    fn finish(&mut self, body: &[u8], answers: &mut [bool]) {
        let nobody = Digests::new();
        while self.len > 0 {
            self.push(body, &nobody, answers);
        }
    }
}

/// The eight words from `start` on.
#[inline(always)]
fn eight(words: &mut [u64; WAVE], start: usize) -> &mut [u64; 8] {
    match words[start..].first_chunk_mut() {
        Some(eight) => eight,
        None => unreachable!("a wave is made of eights"),
    }
}
