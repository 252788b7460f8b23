//! Lookups of eight keys at a time, a place of each.

#![allow(unsafe_code)]

use crate::hash::STEP;
use crate::prefetch;
use crate::rate::batch::{BATCH, Batch};
use crate::rate::{MAX_HASHES, Plan};
use crate::wide::{Scale, load, multiply_low, splat, store};
use std::arch::x86_64::{
    _mm512_add_epi64, _mm512_and_si512, _mm512_maskz_compress_epi64, _mm512_srlv_epi64,
    _mm512_sub_epi64, _mm512_test_epi64_mask, _mm512_testn_epi64_mask,
};

/// Keys on their way through their places. Each turn looks at one place of every key, and those
/// that pass go on to their next, which is fetched until it comes to their turn again; new keys
/// join them.
struct Wave {
    /// Where the walks are, and what they add at each step.
    x: [u64; WAVE],
    h2: [u64; WAVE],
    /// The place to look at next.
    at: [u64; WAVE],
    /// The number of the key, and, in the low eight bits, how many places are left.
    who: [u64; WAVE],
    len: usize,
    /// Those that have passed all places, in a turn.
    passed: [u64; WAVE],
    /// What was read at the places.
    bytes: [u64; WAVE],
}

/// So many that a batch finds room beside what earlier ones have left, half of each at every turn
/// if they are strangers.
const WAVE: usize = 3 * BATCH;

const _: () = assert!(MAX_HASHES < 1 << 8, "the places left have eight bits");

impl Wave {
    fn new() -> Wave {
        let none = [0; WAVE];
        Wave { x: none, h2: none, at: none, who: none, bytes: none, passed: none, len: 0 }
    }

    /// Lets the keys of a batch join: `first` is the number of the first one.
    #[target_feature(enable = "avx512f")]
    fn join(&mut self, batch: &Batch<'_>, hashes: u32, first: usize) {
        let end = self.len + batch.len;
        self.x[self.len..end].copy_from_slice(&batch.h1[..batch.len]);
        self.h2[self.len..end].copy_from_slice(&batch.h2[..batch.len]);
        self.at[self.len..end].copy_from_slice(&batch.at[..batch.len]);
        for (who, number) in self.who[self.len..end].iter_mut().zip(first as u64..) {
            *who = number << 8 | u64::from(hashes);
        }
        self.len = end;
    }

    /// Looks at one place of each. The first places of a batch to come are fetched meanwhile.
    #[target_feature(enable = "avx512f,avx512dq,popcnt")]
    fn turn(&mut self, body: &[u8], scale: Scale, ahead: Option<&Batch<'_>>, answers: &mut [bool]) {
        match ahead {
            Some(batch) => {
                read(body, &self.at[..self.len], &mut self.bytes, &batch.at[..batch.len])
            }
            None => read(body, &self.at[..self.len], &mut self.bytes, &[]),
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
        if ahead.is_some() {
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

/// Finds the first places of the keys of a batch.
#[target_feature(enable = "avx512f")]
fn aim(scale: Scale, batch: &mut Batch<'_>) {
    for (h1, at) in
        batch.h1.as_chunks().0.iter().zip(batch.at.as_chunks_mut().0).take(batch.len.div_ceil(8))
    {
        store(at, scale.of(load(h1)));
    }
}

/// Which of the keys pass that `fill` puts into batches, until it has no more.
#[target_feature(enable = "avx512f,avx512dq,popcnt")]
pub(super) fn contains<'h>(
    plan: &Plan,
    body: &[u8],
    mut fill: impl FnMut(&mut Batch<'h>, bool),
    answers: &mut [bool],
) {
    let (mut wave, mut batch) = (Wave::new(), Batch::new());
    let scale = Scale::new(plan.cells());
    let (far, mut number, mut more) = (super::fetches_rounds(body), 0, true);
    while more || wave.len > 0 {
        batch.len = 0;
        if more && wave.len <= WAVE - BATCH {
            fill(&mut batch, true);
            batch.finish(true);
            more = batch.len > 0;
            aim(scale, &mut batch);
        }
        wave.turn(body, scale, far.then_some(&batch), answers);
        wave.join(&batch, plan.hashes(), number);
        number += batch.len;
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
