//! The blocked Bloom filter: all of a key's bits in one cache line.
//!
//! A block is eight lanes of 64 bits. A key sets one bit (at 16 hashes: two) in every lane of one
//! block; which one is six bits of a word made of its digest. Every key thus costs one cache miss,
//! and the lanes can be tested at once.
//!
//! With 8 hashes all of that comes from the 64 bits of h1, so strangers also pass for sharing h1
//! with one of n members: n/2^64 of them, 5e-12 for 10^8 members, where no plan with 8 hashes goes
//! below a rate of 1e-5. With 16 hashes h2 adds its 64 bits.
//!
//! Some blocks get more keys than others, and the crowded ones let through most strangers. The plan
//! computes that mixture exactly and adds the bits that it costs: 5% at a rate of 1%, 9% at 0.1%.

#[cfg(all(target_arch = "x86_64", not(miri)))]
mod avx2;
#[cfg(all(target_arch = "x86_64", not(miri)))]
mod avx512;
mod scalar;
mod sorted;

use super::batch::{self, Batch};
use super::filter::sealed::Cells;
use super::math::{LANE, LANES};
use super::{Filter, Kind, Layout, Plan};
use crate::hash::{Digest, Probe, scale};
use crate::processor::{Level, one_by_one};
use crate::{Error, HashFamily, prefetch};
use scalar::Block;
use sorted::Room;

/// A set that is sometimes wrong about strangers, never about members, and touches one cache line a
/// lookup.
///
/// | key | `contains` |
/// |---|---|
/// | inserted | always `true` |
/// | not inserted | `true` at no more than about the planned rate |
///
/// Rates from 5% to 0.01% suit it; outside them [`Bloom`](super::Bloom) is much smaller. It takes
/// the fast and the keyed hash only.
///
/// ```
/// let mut seen = tamis::BlockedBloom::new(1_000_000, 0.01)?;
/// seen.insert(42u64);
/// assert!(seen.contains(42u64));
/// assert!(seen.plan().bits_per_item() < 1.53 * 100f64.log2());
/// # Ok::<(), tamis::Error>(())
/// ```
pub type BlockedBloom = Filter<Blocked>;

/// The layout of [`BlockedBloom`].
#[derive(Debug)]
pub struct Blocked;

impl Layout for Blocked {
    const KIND: Kind = Kind::Blocked;
}

/// Spreads what chose the block over the bits of the first word.
const SPREAD: u64 = 0x9e37_79b9_7f4a_7c15;

/// Where the fields of six bits begin in a word: at the top are the best bits of a product.
const FIRST_FIELD: u64 = 16;

/// What the kernels read: how far to shift a word for each lane, then the mask of a field, then the
/// sign of a lane.
#[cfg(all(target_arch = "x86_64", not(miri)))]
#[repr(align(64))]
struct Table([u64; 16]);

#[cfg(all(target_arch = "x86_64", not(miri)))]
static SHIFTS: Table = Table({
    let mut table = [63; 16];
    let mut i = 0;
    while i < 8 {
        table[i] = FIRST_FIELD + 6 * i as u64;
        i += 1;
    }
    table[12] = 1 << 63;
    table
});

#[inline(always)]
fn digest_of(probe: &Probe<'_>) -> Digest {
    match probe {
        Probe::Digest(digest) => *digest,
        _ => unreachable!("`accept` refused hashes without a digest when the filter was made"),
    }
}

/// Whether the block has the word's bits.
#[inline(always)]
#[allow(unsafe_code)]
fn has(level: Level, block: &Block, word: u64) -> bool {
    match level {
        // SAFETY: the whole program was compiled for AVX-512.
        #[cfg(all(target_arch = "x86_64", not(miri), target_feature = "avx512vbmi"))]
        Level::Avx512 => unsafe { avx512::has(block, word) },
        // SAFETY: the level says that AVX-512 was detected.
        #[cfg(all(target_arch = "x86_64", not(miri), not(target_feature = "avx512vbmi")))]
        Level::Avx512 => unsafe { avx512::has_inline(block, word) },
        // SAFETY: the whole program was compiled for AVX2.
        #[cfg(all(target_arch = "x86_64", not(miri), target_feature = "avx2"))]
        Level::Avx2 => unsafe { avx2::has(block, word) },
        // SAFETY: the level says that AVX2 was detected.
        #[cfg(all(target_arch = "x86_64", not(miri), not(target_feature = "avx2")))]
        Level::Avx2 => unsafe { avx2::has_inline(block, word) },
        _ => has_portably(block, word),
    }
}

/// Out of the way of the others, whose registers it must not take.
#[inline(never)]
fn has_portably(block: &Block, word: u64) -> bool {
    scalar::has(block, word)
}

/// Sets the word's bits; says whether one was clear.
#[inline(always)]
#[allow(unsafe_code)]
fn set(level: Level, block: &mut Block, word: u64) -> bool {
    match level {
        // SAFETY: the level says that AVX-512 was detected.
        #[cfg(all(target_arch = "x86_64", not(miri)))]
        Level::Avx512 => unsafe { avx512::set_inline(block, word) },
        // SAFETY: the level says that AVX2 was detected.
        #[cfg(all(target_arch = "x86_64", not(miri)))]
        Level::Avx2 => unsafe { avx2::set(block, word) },
        _ => set_portably(block, word),
    }
}

/// Out of the way of the others.
#[inline(never)]
fn set_portably(block: &mut Block, word: u64) -> bool {
    scalar::set(block, word)
}

/// A key's block, one of so many, and the first of the words that say its bits there.
// FORMAT v1: frozen
#[inline(always)]
fn aim(blocks: u64, h1: u64) -> (u64, u64) {
    (scale(h1, blocks), h1.wrapping_mul(SPREAD))
}

/// Whether a digest passes.
#[inline(always)]
fn contains(plan: &Plan, body: &[u8], level: Level, digest: Digest) -> bool {
    let (block, word) = aim(plan.blocks(), digest.h1);
    let block = &body.as_chunks().0[block as usize];
    has(level, block, word) & (plan.rounds() == 1 || has(level, block, digest.h2))
}

/// Puts a digest in; says whether it was certainly new.
#[inline(always)]
fn insert(plan: &Plan, body: &mut [u8], level: Level, digest: Digest) -> bool {
    let (block, word) = aim(plan.blocks(), digest.h1);
    let block = &mut body.as_chunks_mut().0[block as usize];
    set(level, block, word) | (plan.rounds() == 2 && set(level, block, digest.h2))
}

/// For 16 hashes, out of the way of 8.
#[inline(never)]
fn contains_twice(plan: &Plan, body: &[u8], level: Level, digest: Digest) -> bool {
    contains(plan, body, level, digest)
}

/// For 16 hashes, out of the way of 8.
#[inline(never)]
fn insert_twice(plan: &Plan, body: &mut [u8], level: Level, digest: Digest) -> bool {
    insert(plan, body, level, digest)
}

/// Which of the keys pass that `fill` puts into batches.
#[allow(unsafe_code)]
fn contains_all<'h>(
    level: Level,
    plan: &Plan,
    body: &[u8],
    fill: impl FnMut(&mut Batch<'h>, bool),
    answers: &mut [bool],
) {
    match level {
        // SAFETY: the level says that AVX-512 was detected.
        #[cfg(all(target_arch = "x86_64", not(miri)))]
        Level::Avx512 => unsafe {
            let blocks = body.as_chunks().0;
            match plan.rounds() {
                1 => avx512::contains::<false>(plan, blocks, fill, answers),
                _ => avx512::contains::<true>(plan, blocks, fill, answers),
            }
        },
        // SAFETY: the level says that AVX2 was detected.
        #[cfg(all(target_arch = "x86_64", not(miri)))]
        Level::Avx2 => unsafe {
            let blocks = body.as_chunks().0;
            match plan.rounds() {
                1 => avx2::contains::<false>(plan, blocks, fill, answers),
                _ => avx2::contains::<true>(plan, blocks, fill, answers),
            }
        },
        _ => batch::contains::<Blocked>(plan, body, fill, answers),
    }
}

/// Puts in the keys that `fill` puts into batches; says how many were certainly new.
#[allow(unsafe_code)]
fn insert_all<'h>(
    level: Level,
    plan: &Plan,
    body: &mut [u8],
    fill: impl FnMut(&mut Batch<'h>, bool),
) -> u64 {
    match level {
        // SAFETY: the level says that AVX-512 was detected.
        #[cfg(all(target_arch = "x86_64", not(miri)))]
        Level::Avx512 => unsafe {
            let blocks = body.as_chunks_mut().0;
            match plan.rounds() {
                1 => avx512::insert::<false>(plan, blocks, fill),
                _ => avx512::insert::<true>(plan, blocks, fill),
            }
        },
        // SAFETY: the level says that AVX2 was detected.
        #[cfg(all(target_arch = "x86_64", not(miri)))]
        Level::Avx2 => unsafe {
            let blocks = body.as_chunks_mut().0;
            match plan.rounds() {
                1 => avx2::insert::<false>(plan, blocks, fill),
                _ => avx2::insert::<true>(plan, blocks, fill),
            }
        },
        _ => batch::insert::<Blocked>(plan, body, fill),
    }
}

/// Starts to fetch the blocks of a batch.
fn fetch(plan: &Plan, blocks: &[Block], batch: &Batch<'_>) {
    if prefetch::worthwhile(plan.bytes() as usize) {
        let fetch = |at: &u64| prefetch::read(blocks.as_ptr().wrapping_add(*at as usize));
        batch.at[..batch.len].iter().for_each(fetch);
    }
}

#[allow(private_interfaces)]
impl Cells for Blocked {
    fn accept(hash: &HashFamily) -> Result<(), Error> {
        hash.need_digest("a blocked filter")
    }

    fn insert(plan: &Plan, body: &mut [u8], probe: &Probe<'_>) -> bool {
        insert(plan, body, Level::detect(), digest_of(probe))
    }

    fn contains(plan: &Plan, body: &[u8], probe: &Probe<'_>) -> bool {
        contains(plan, body, Level::detect(), digest_of(probe))
    }

    #[inline(always)]
    fn insert_lazily(
        plan: &Plan,
        body: &mut [u8],
        level: Level,
        digest: impl FnOnce() -> Digest,
    ) -> bool {
        if plan.rounds() == 1 {
            insert(plan, body, level, Digest { h1: digest().h1, h2: 0 })
        } else {
            insert_twice(plan, body, level, digest())
        }
    }

    #[inline(always)]
    fn contains_lazily(
        plan: &Plan,
        body: &[u8],
        level: Level,
        digest: impl FnOnce() -> Digest,
    ) -> bool {
        if plan.rounds() == 1 {
            contains(plan, body, level, Digest { h1: digest().h1, h2: 0 })
        } else {
            contains_twice(plan, body, level, digest())
        }
    }

    #[inline(always)]
    fn needs_both(plan: &Plan) -> bool {
        plan.rounds() == 2
    }

    #[inline(always)]
    fn aim(plan: &Plan, batch: &mut Batch<'_>) {
        for (h1, at) in batch.h1.iter_mut().zip(&mut batch.at).take(batch.len) {
            let (block, word) = aim(plan.blocks(), one_by_one(*h1));
            (*at, *h1) = (block.wrapping_sub(batch.first), word);
        }
    }

    fn contains_all<'h>(
        plan: &Plan,
        body: &[u8],
        fill: impl FnMut(&mut Batch<'h>, bool),
        answers: &mut [bool],
    ) {
        contains_all(Level::detect(), plan, body, fill, answers);
    }

    fn insert_all<'h>(
        plan: &Plan,
        body: &mut [u8],
        expected: usize,
        fill: impl FnMut(&mut Batch<'h>, bool),
    ) -> u64 {
        match Room::new(plan, expected, 1) {
            Some(room) => sorted::insert(plan, body, room, fill),
            None => insert_all(Level::detect(), plan, body, fill),
        }
    }

    fn contains_batch(
        plan: &Plan,
        body: &[u8],
        batch: &Batch<'_>,
        coming: &Batch<'_>,
        answers: &mut [bool],
    ) {
        let blocks = body.as_chunks().0;
        fetch(plan, blocks, coming);
        for (i, answer) in answers.iter_mut().enumerate() {
            let block = &blocks[batch.at[i] as usize];
            *answer = scalar::has(block, batch.h1[i])
                & (plan.rounds() == 1 || scalar::has(block, batch.h2[i]));
        }
    }

    fn insert_batch(plan: &Plan, body: &mut [u8], batch: &Batch<'_>, coming: &Batch<'_>) -> u64 {
        let blocks = body.as_chunks_mut().0;
        fetch(plan, blocks, coming);
        let set = |i: usize| {
            let block = &mut blocks[batch.at[i] as usize];
            scalar::set(block, batch.h1[i])
                | (plan.rounds() == 2 && scalar::set(block, batch.h2[i]))
        };
        (0..batch.len).map(set).map(u64::from).sum()
    }

    /// The mean over the blocks of the product over the lanes of their fill.
    fn fpr(plan: &Plan, body: &[u8]) -> f64 {
        let rounds = plan.rounds() as i32;
        let share = |lane: &[u8; 8]| {
            (f64::from(u64::from_le_bytes(*lane).count_ones()) / LANE as f64).powi(rounds)
        };
        let blocks = body.as_chunks::<64>().0;
        let total: f64 =
            blocks.iter().map(|block| block.as_chunks().0.iter().map(share).product::<f64>()).sum();
        total / plan.blocks() as f64
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::KeyRef;

    /// The kernels answer and write as the definition does, on random blocks and on the extremes.
    #[test]
    #[cfg(all(target_arch = "x86_64", not(miri)))]
    #[allow(unsafe_code)]
    fn kernels_do_as_the_definition_does() {
        let mut state = 7u64;
        let mut random = || {
            state = state
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1_442_695_040_888_963_407);
            state ^ state >> 29
        };
        for case in 0..20_000u32 {
            let word = match case % 5 {
                0 => 0,
                1 => u64::MAX,
                _ => random(),
            };
            let mut block: Block = [0; 64];
            match case % 4 {
                0 => {}
                1 => block = [0xff; 64],
                2 => block.fill_with(|| random() as u8 | random() as u8 | random() as u8),
                // All bits of the word but, often, one.
                _ => {
                    scalar::set(&mut block, word);
                    let lane = (random() % 8) as usize;
                    let bit = 63 - (word >> (FIRST_FIELD as usize + 6 * lane) & 63);
                    block[lane * 8 + (bit / 8) as usize] &= !((random() as u8 & 1) << (bit % 8));
                }
            }
            let (has, mut written) = (scalar::has(&block, word), block);
            let new = scalar::set(&mut written, word);
            assert!(new != has && scalar::has(&written, word), "case {case}");
            let same = |kernel: &str, answers: &[bool], set: fn(&mut Block, u64) -> bool| {
                assert!(answers.iter().all(|answer| *answer == has), "{kernel}, case {case}");
                let mut block = block;
                assert_eq!((set(&mut block, word), block), (new, written), "{kernel}, case {case}");
            };
            if std::is_x86_feature_detected!("avx2") {
                // SAFETY: AVX2 was detected in the line above.
                let answers = unsafe { [avx2::has(&block, word), avx2::has_inline(&block, word)] };
                // SAFETY: as before.
                same("avx2", &answers, |block, word| unsafe { avx2::set(block, word) });
            }
            if Level::detect() == Level::Avx512 {
                // SAFETY: AVX-512 was detected in the line above.
                let answers =
                    unsafe { [avx512::has(&block, word), avx512::has_inline(&block, word)] };
                // SAFETY: as before.
                same("avx512", &answers, |block, word| unsafe { avx512::set_inline(block, word) });
            }
        }
    }

    /// Whatever the kernel, batches are probed and written as single keys are, whether or not their
    /// memory is fetched ahead.
    #[test]
    fn every_level_does_the_same() {
        for (items, fpr) in [(40, 0.01), (5_000, 0.01), (5_000, 1e-6), (2_000_000, 0.01)] {
            let plan = Plan::from_items_fpr(Kind::Blocked, items, fpr).unwrap();
            let hash = HashFamily::fast(items);
            let digests: Vec<Digest> = (0..3_000u64).filter_map(|i| hash.digest(i * i)).collect();
            let mut expected = vec![0; plan.bytes() as usize];
            let new: Vec<bool> = (digests[..1_500].iter())
                .map(|digest| insert(&plan, &mut expected, Level::Portable, *digest))
                .collect();
            let answers: Vec<bool> = digests
                .iter()
                .map(|digest| contains(&plan, &expected, Level::Portable, *digest))
                .collect();
            for level in Level::all() {
                let mut body = vec![0; plan.bytes() as usize];
                let mut left = digests[..1_500].iter().copied();
                let mut sizes = [1, 7, 128, 100].into_iter().cycle();
                let mut fill = |batch: &mut Batch<'_>, _: bool| {
                    batch.level = level;
                    // Batches of any size.
                    batch.take(&mut left.by_ref().take(sizes.next().unwrap()));
                };
                let counted = insert_all(level, &plan, &mut body, &mut fill);
                assert_eq!(
                    counted,
                    new.iter().filter(|new| **new).count() as u64,
                    "{level:?}, {items} items"
                );
                assert!(body == expected, "{level:?}, {items} items");
                let mut left = digests.iter().copied();
                let mut got = vec![false; digests.len()];
                let fill = |batch: &mut Batch<'_>, _: bool| {
                    batch.level = level;
                    batch.take(&mut left);
                };
                contains_all(level, &plan, &body, fill, &mut got);
                assert_eq!(got, answers, "{level:?}, {items} items");
                for (digest, answer) in digests.iter().zip(&answers) {
                    assert_eq!(
                        contains(&plan, &body, level, *digest),
                        *answer,
                        "{level:?}, {items} items"
                    );
                }
            }
        }
    }

    /// The same with numbers that the kernels hash: alone, and before and after other keys.
    #[test]
    fn every_level_hashes_alike() {
        let hash = HashFamily::fast(7);
        let digest = |key: &KeyRef<'_>| hash.digest(key).unwrap();
        for fpr in [0.01, 1e-6] {
            let plan = Plan::from_items_fpr(Kind::Blocked, 500, fpr).unwrap();
            for (numbers, others, more) in
                [(300, 0, 0), (1, 0, 0), (128, 5, 260), (9, 130, 3), (0, 1, 200)]
            {
                let other = |i: u64| {
                    if i.is_multiple_of(2) { KeyRef::Negative(i) } else { KeyRef::Bytes(b"text") }
                };
                let more = (0..more).map(|i| KeyRef::Natural(7 * i));
                let keys: Vec<KeyRef<'_>> = (0..numbers)
                    .map(KeyRef::Natural)
                    .chain((0..others).map(other))
                    .chain(more)
                    .collect();
                let strangers = (0..200).map(|i| KeyRef::Natural(1_001 * i));
                let asked: Vec<KeyRef<'_>> = keys.iter().copied().chain(strangers).collect();
                let mut expected = vec![0; plan.bytes() as usize];
                let new = keys
                    .iter()
                    .map(|key| insert(&plan, &mut expected, Level::Portable, digest(key)));
                let new = new.map(u64::from).sum::<u64>();
                let answers = asked
                    .iter()
                    .map(|key| contains(&plan, &expected, Level::Portable, digest(key)));
                let answers: Vec<bool> = answers.collect();
                for level in Level::all() {
                    let mut sizes = [128, 1, 7, 100, 8].into_iter().cycle();
                    let (mut body, mut got) = (vec![0; expected.len()], vec![false; asked.len()]);
                    let mut left = keys.iter();
                    let counted = insert_all(level, &plan, &mut body, |batch, both| {
                        batch.level = level;
                        let _ = batch.fill(&hash, left.by_ref().take(sizes.next().unwrap()), both);
                    });
                    assert_eq!(counted, new, "{level:?}, {numbers}, {others}");
                    assert!(body == expected, "{level:?}, {numbers}, {others}");
                    let mut left = asked.iter();
                    contains_all(
                        level,
                        &plan,
                        &body,
                        |batch, both| {
                            batch.level = level;
                            let _ =
                                batch.fill(&hash, left.by_ref().take(sizes.next().unwrap()), both);
                        },
                        &mut got,
                    );
                    assert_eq!(got, answers, "{level:?}, {numbers}, {others}");
                }
            }
        }
    }
}
