//! The same as `scalar`, a whole block at a time. Tests require equal answers and equal blocks.

#![allow(unsafe_code)]

use super::scalar::Block;
use super::{SHIFTS, SPREAD};
use crate::hash::Naturals;
use crate::prefetch;
use crate::rate::Plan;
use crate::rate::batch::{BATCH, Batch};
use crate::wide::{Scale, load, multiply_low, splat, store};
use std::arch::asm;
use std::arch::x86_64::{
    __m512i, _mm256_storeu_si256, _mm512_add_epi64, _mm512_cmplt_epu64_mask, _mm512_cvtepi64_epi32,
    _mm512_load_si512, _mm512_loadu_si512, _mm512_maskz_mov_epi64, _mm512_max_epu64,
    _mm512_multishift_epi64_epi8, _mm512_or_si512, _mm512_rorv_epi64, _mm512_slli_epi64,
    _mm512_srlv_epi64, _mm512_storeu_si512, _mm512_sub_epi64, _mm512_testn_epi64_mask,
};
use std::ptr;

/// How far to shift a word for each lane.
#[inline]
#[target_feature(enable = "avx512f")]
fn shifts() -> __m512i {
    // SAFETY: the table begins with 64 readable, aligned bytes.
    unsafe { _mm512_load_si512(SHIFTS.0.as_ptr().cast()) }
}

/// The word's bits. Rotations take their counts modulo 64, so the fields need not be cut out; nor
/// need the rest of each count, which is whatever stands below the word's first field, be cleared.
#[inline]
#[target_feature(enable = "avx512f,avx512vbmi")]
fn pattern(shifts: __m512i, word: u64) -> __m512i {
    _mm512_rorv_epi64(splat(1 << 63), _mm512_multishift_epi64_epi8(shifts, splat(word)))
}

/// Whether the block has the word's bits.
#[inline]
#[cfg(any(test, target_feature = "avx512vbmi"))]
#[target_feature(enable = "avx512f,avx512vbmi")]
pub(super) fn has(block: &Block, word: u64) -> bool {
    // SAFETY: a block is 64 readable bytes; loadu needs no alignment.
    let block = unsafe { _mm512_loadu_si512(block.as_ptr().cast()) };
    _mm512_testn_epi64_mask(block, pattern(shifts(), word)) == 0
}

/// Whether the block has the word's bits, for callers that were not compiled for AVX-512, into
/// which it can still be inlined. The registers from 16 on are no part of the older instruction
/// sets, so nothing has to be cleared afterwards.
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
    // SAFETY: reads bytes 0 to 63 and 96 to 103 of the table's 128, and reads and writes the 64
    // bytes of the block.
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

/// Keys whose blocks are known. They are probed a batch later, by when the blocks have come.
struct Aimed {
    eights: [Eight; BATCH / 8],
    len: usize,
}

/// Eight of them, together, so that one register finds it all.
#[derive(Clone, Copy)]
#[repr(align(64))]
struct Eight {
    /// The addresses of the blocks, always of those that the aim was made for.
    at: [u64; 8],
    words: [u64; 8],
    /// With 16 hashes.
    second: [u64; 8],
}

/// What finds the blocks of keys, among some of those of a filter, or all.
struct Aim {
    blocks: *mut Block,
    count: __m512i,
    scale: Scale,
    /// The number of the first block.
    first: __m512i,
    /// What hashes the batch, if it consists of natural numbers.
    naturals: Option<Naturals>,
    /// Whether fetching ahead pays.
    far: bool,
}

impl Aim {
    #[target_feature(enable = "avx512f")]
    fn new(plan: &Plan, blocks: *mut [Block]) -> (Aim, Aimed) {
        assert!(!blocks.is_empty(), "a plan has a block at least");
        let aim = Aim {
            blocks: blocks.cast(),
            count: splat(blocks.len() as u64),
            scale: Scale::new(plan.blocks()),
            first: splat(0),
            naturals: None,
            far: prefetch::worthwhile(plan.bytes() as usize),
        };
        let eight = Eight { at: [blocks.addr() as u64; 8], words: [0; 8], second: [0; 8] };
        (aim, Aimed { eights: [eight; BATCH / 8], len: 0 })
    }

    /// Gets ready for a batch.
    #[inline]
    #[target_feature(enable = "avx512f,avx512dq")]
    fn prepare(&mut self, batch: &mut Batch<'_>, twice: bool) {
        self.first = splat(batch.first);
        self.naturals = batch.finish_unless_naturals(twice).map(|fast| Naturals::new(fast));
    }

    /// h1 of eight keys.
    #[inline]
    #[target_feature(enable = "avx512f,avx512dq")]
    fn h1(&self, h1: &[u64; 8]) -> __m512i {
        match &self.naturals {
            Some(naturals) => naturals.h1(load(h1)),
            None => load(h1),
        }
    }

    /// The numbers of the blocks of eight keys, and their words.
    #[inline]
    #[target_feature(enable = "avx512f,avx512dq")]
    fn of(&self, hashed: __m512i) -> (__m512i, __m512i) {
        (
            _mm512_sub_epi64(self.scale.of(hashed), self.first),
            multiply_low(hashed, splat(SPREAD)),
        )
    }

    /// The addresses of the blocks of these numbers.
    #[inline]
    #[target_feature(enable = "avx512f")]
    fn addresses(&self, numbers: __m512i) -> __m512i {
        _mm512_add_epi64(splat(self.blocks.addr() as u64), _mm512_slli_epi64::<6>(numbers))
    }

    /// The block at one of those addresses.
    #[inline(always)]
    fn block(&self, at: u64) -> *mut Block {
        self.blocks.with_addr(at as usize)
    }
}

/// Which of the keys pass that `fill` puts into batches, until it has no more.
#[target_feature(enable = "avx512f,avx512dq,avx512vbmi")]
pub(super) fn contains<'h, const TWICE: bool>(
    plan: &Plan,
    blocks: &[Block],
    mut fill: impl FnMut(&mut Batch<'h>, bool),
    mut answers: &mut [bool],
) {
    let (mut aim, mut aimed) = Aim::new(plan, ptr::from_ref(blocks).cast_mut());
    let mut batch = Batch::new();
    loop {
        fill(&mut batch, TWICE);
        aim.prepare(&mut batch, TWICE);
        let missing = turn::<TWICE, false>(&aim, &mut aimed, &batch);
        let (now, later) = answers.split_at_mut(aimed.len);
        now.iter_mut().zip(missing).for_each(|(answer, missing)| *answer = missing == 0);
        (answers, aimed.len) = (later, batch.len);
        if batch.len == 0 {
            return;
        }
    }
}

/// Puts in the keys that `fill` puts into batches, until it has no more, and says how many were
/// certainly new.
#[target_feature(enable = "avx512f,avx512dq,avx512vbmi")]
pub(super) fn insert<'h, const TWICE: bool>(
    plan: &Plan,
    blocks: &mut [Block],
    mut fill: impl FnMut(&mut Batch<'h>, bool),
) -> u64 {
    let (mut aim, mut aimed) = Aim::new(plan, blocks);
    let mut batch = Batch::new();
    let mut new = 0;
    loop {
        fill(&mut batch, TWICE);
        aim.prepare(&mut batch, TWICE);
        let missing = turn::<TWICE, true>(&aim, &mut aimed, &batch);
        // A batch is short enough for its count to fit a byte, and so 64 are counted at once.
        let count = |new: u8, missing: &u8| new + u8::from(*missing != 0);
        new += u64::from(missing[..aimed.len].iter().fold(0, count));
        aimed.len = batch.len;
        if batch.len == 0 {
            return new;
        }
    }
}

/// Probes the keys that are aimed: what is missing in each block of the bits of its words, not 0 if
/// anything is. To write sets it. On the way those of the batch take their places, eight after
/// eight, so that there is always something to do while memory is waited for.
#[target_feature(enable = "avx512f,avx512dq,avx512vbmi")]
fn turn<const TWICE: bool, const WRITE: bool>(
    aim: &Aim,
    aimed: &mut Aimed,
    batch: &Batch<'_>,
) -> [u8; BATCH] {
    let shifts = shifts();
    let (mut missing, mut furthest) = ([0; BATCH], splat(0));
    let (ready, coming) = (aimed.len, batch.len);
    // A multiplication takes so long that its result is only used for the eight after.
    let h1 = batch.h1.as_chunks::<8>().0;
    let mut hashed = aim.h1(&h1[0]);
    let eights = aimed.eights.iter_mut().zip(missing.as_chunks_mut::<8>().0).enumerate();
    for (i, (eight, missing)) in eights.take(ready.max(coming).div_ceil(8)) {
        let start = 8 * i;
        let (mut block, words) = aim.of(hashed);
        hashed = aim.h1(&h1[(i + 1) % (BATCH / 8)]);
        // Eight without a look at the number of keys, where there are as many.
        if start + 8 <= ready {
            for (j, missing) in missing.iter_mut().enumerate() {
                *missing = probe::<TWICE, WRITE>(aim, eight, j, shifts);
            }
        } else if start < ready {
            for (j, missing) in missing.iter_mut().enumerate().take(ready - start) {
                *missing = probe::<TWICE, WRITE>(aim, eight, j, shifts);
            }
        }
        if start < coming {
            if start + 8 > coming {
                // What stands past the last key is anything.
                block = _mm512_maskz_mov_epi64(0xff >> (start + 8 - coming), block);
            }
            furthest = _mm512_max_epu64(furthest, block);
            store(&mut eight.at, aim.addresses(block));
            store(&mut eight.words, words);
            if TWICE {
                eight.second = batch.h2.as_chunks::<8>().0[i];
            }
            if aim.far {
                eight.at.iter().for_each(|at| prefetch::read(aim.block(*at)));
            }
        }
    }
    // Nothing has been read or written there yet.
    assert!(
        _mm512_cmplt_epu64_mask(furthest, aim.count) == 0xff,
        "these keys belong to other blocks"
    );
    missing
}

/// Probes one key.
#[inline]
#[target_feature(enable = "avx512f,avx512dq,avx512vbmi")]
fn probe<const TWICE: bool, const WRITE: bool>(
    aim: &Aim,
    eight: &Eight,
    j: usize,
    shifts: __m512i,
) -> u8 {
    let block = aim.block(eight.at[j]);
    // SAFETY: it is one of the blocks, which the caller has lent; loadu needs no alignment.
    let before = unsafe { _mm512_loadu_si512(block.cast()) };
    let bits = pattern(shifts, eight.words[j]);
    let mut missing = _mm512_testn_epi64_mask(before, bits);
    let mut after = _mm512_or_si512(before, bits);
    if TWICE {
        let more = pattern(shifts, eight.second[j]);
        missing |= _mm512_testn_epi64_mask(before, more);
        after = _mm512_or_si512(after, more);
    }
    if WRITE {
        // SAFETY: as before, and lent for writing.
        unsafe { _mm512_storeu_si512(block.cast(), after) };
    }
    missing
}

/// See [`super::sorted`].
#[target_feature(enable = "avx512f")]
pub(super) fn find_regions(
    blocks: u64,
    region: u32,
    h1: &[u64; BATCH],
    regions: &mut [u32; BATCH],
) {
    let (scale, shift) = (Scale::new(blocks), splat(u64::from(region)));
    for (regions, h1) in regions.as_chunks_mut::<8>().0.iter_mut().zip(h1.as_chunks().0) {
        let found = _mm512_cvtepi64_epi32(_mm512_srlv_epi64(scale.of(load(h1)), shift));
        // SAFETY: there is room for 32 bytes; storeu needs no alignment.
        unsafe { _mm256_storeu_si256(regions.as_mut_ptr().cast(), found) };
    }
}
