//! The blocked Bloom filter: all of a key's bits in one cache line.
//!
//! A block is eight lanes of 64 bits. A key sets one bit (at 16 hashes: two) in every lane of one block; which one is
//! six bits of a word made of its digest. Every key thus costs one cache miss, and the lanes can be tested at once.
//!
//! With 8 hashes all of that comes from the 64 bits of h1, so strangers also pass for sharing h1 with one of n members: n/2^64 of
//! them, 5e-12 for 10^8 members, where no plan with 8 hashes goes below a rate of 1e-5. With 16 hashes h2 adds its 64 bits.
//!
//! Some blocks get more keys than others, and the crowded ones let through most strangers. The plan computes that
//! mixture exactly and adds the bits that it costs: 5% at a rate of 1%, 9% at 0.1%.

#[cfg(all(target_arch = "x86_64", not(miri)))]
mod avx2;
#[cfg(all(target_arch = "x86_64", not(miri)))]
mod avx512;
mod parallel;
mod scalar;

use super::filter::sealed::Cells;
use super::math::{LANE, LANES};
use super::{Filter, Kind, Layout, Plan};
use crate::hash::{Digest, Probe, scale};
use crate::{Error, Hash, prefetch};
use scalar::Block;

/// A set that is sometimes wrong about strangers, never about members, and touches one cache line a lookup.
///
/// | key | `contains` |
/// |---|---|
/// | inserted | always `true` |
/// | not inserted | `true` at no more than about the planned rate |
///
/// Rates from 5% to 0.01% suit it; outside them [`Bloom`](super::Bloom) is much smaller. It takes the fast and
/// the keyed hash only.
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

/// Spreads h1, whose high bits chose the block, over the bits of the first word.
const SPREAD: u64 = 0x9e37_79b9_7f4a_7c15;

/// Where the fields of six bits begin in a word: at the top are the best bits of a product.
const FIRST_FIELD: u64 = 16;

/// What the kernels read: how far to shift a word for each lane, then the mask of a field, then the sign of a lane.
#[cfg(target_arch = "x86_64")]
#[repr(align(64))]
struct Table([u64; 16]);

#[cfg(target_arch = "x86_64")]
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

/// A key's block and the words that say its bits there.
#[derive(Debug, Clone, Copy)]
pub struct Aim {
    block: usize,
    words: [u64; 2],
}

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
fn has(block: &Block, word: u64) -> bool {
    #[cfg(all(target_arch = "x86_64", not(miri)))]
    {
        if avx512::detected() {
            // SAFETY: AVX-512 was detected in the line above.
            return unsafe { avx512::has_inline(block, word) };
        }
        if cfg!(target_feature = "avx2") {
            // SAFETY: the whole program was compiled for AVX2.
            return unsafe { avx2::has(block, word) };
        }
        if std::is_x86_feature_detected!("avx2") {
            // SAFETY: AVX2 was detected in the line above.
            return unsafe { avx2::has_inline(block, word) };
        }
    }
    has_portably(block, word)
}

/// Out of the way of the others, whose registers it must not take.
#[inline(never)]
fn has_portably(block: &Block, word: u64) -> bool {
    scalar::has(block, word)
}

/// The block that h1 chooses.
#[inline(always)]
fn block<'a>(plan: &Plan, body: &'a [u8], h1: u64) -> &'a Block {
    &body.as_chunks().0[scale(h1, plan.blocks()) as usize]
}

/// Whether the block has the bits that h1 says, all of them if there are 8 hashes.
#[inline(always)]
fn contains_first(plan: &Plan, body: &[u8], h1: u64) -> bool {
    has(block(plan, body, h1), h1.wrapping_mul(SPREAD))
}

/// Sets the word's bits; says whether one was clear.
#[inline(always)]
#[allow(unsafe_code)]
fn set(block: &mut Block, word: u64) -> bool {
    #[cfg(all(target_arch = "x86_64", not(miri)))]
    if std::is_x86_feature_detected!("avx2") {
        // SAFETY: AVX2 was detected in the line above.
        return unsafe { avx2::set(block, word) };
    }
    scalar::set(block, word)
}

#[allow(private_interfaces)]
impl Cells for Blocked {
    type Aim = Aim;
    const NOWHERE: Aim = Aim { block: 0, words: [0; 2] };

    fn accept(hash: &Hash) -> Result<(), Error> {
        hash.need_digest("a blocked filter")
    }

    #[inline(always)]
    fn insert(plan: &Plan, body: &mut [u8], probe: &Probe<'_>) -> bool {
        let aim = Self::aim(plan, digest_of(probe));
        let block = &mut body.as_chunks_mut().0[aim.block];
        set(block, aim.words[0]) | (plan.rounds() == 2 && set(block, aim.words[1]))
    }

    fn contains(plan: &Plan, body: &[u8], probe: &Probe<'_>) -> bool {
        let digest = digest_of(probe);
        contains_first(plan, body, digest.h1)
            & (plan.rounds() == 1 || has(block(plan, body, digest.h1), digest.h2))
    }

    #[inline(always)]
    fn contains_lazily(plan: &Plan, body: &[u8], digest: impl FnOnce() -> Digest) -> bool {
        if plan.rounds() == 1 {
            contains_first(plan, body, digest().h1)
        } else {
            Self::contains(plan, body, &Probe::Digest(digest()))
        }
    }

    #[inline(always)]
    fn needs_both(plan: &Plan) -> bool {
        plan.rounds() == 2
    }

    #[inline(always)]
    fn aim(plan: &Plan, digest: Digest) -> Aim {
        let block = scale(digest.h1, plan.blocks()) as usize;
        Aim { block, words: [digest.h1.wrapping_mul(SPREAD), digest.h2] }
    }

    #[inline(always)]
    fn prefetch(_: &Plan, body: &[u8], aim: Aim, _all: bool) {
        prefetch::read(body, aim.block * size_of::<Block>());
    }

    #[allow(unsafe_code)]
    fn contains_aims(plan: &Plan, body: &[u8], aims: &[Aim], answers: &mut Vec<bool>) {
        let (blocks, rounds) = (body.as_chunks().0, plan.rounds());
        #[cfg(all(target_arch = "x86_64", not(miri)))]
        {
            if avx512::detected() {
                // SAFETY: AVX-512 was detected in the line above.
                return unsafe { avx512::contains_many(blocks, aims, rounds, answers) };
            }
            if std::is_x86_feature_detected!("avx2") {
                // SAFETY: AVX2 was detected in the line above.
                return unsafe { avx2::contains_many(blocks, aims, rounds, answers) };
            }
        }
        answers.extend(aims.iter().map(|aim| {
            let block = &blocks[aim.block];
            scalar::has(block, aim.words[0]) & (rounds == 1 || scalar::has(block, aim.words[1]))
        }));
    }

    #[allow(unsafe_code)]
    fn insert_aims(plan: &Plan, body: &mut [u8], aims: &[Aim]) -> u64 {
        let (blocks, rounds) = (body.as_chunks_mut().0, plan.rounds());
        #[cfg(all(target_arch = "x86_64", not(miri)))]
        {
            if avx512::detected() {
                // SAFETY: AVX-512 was detected in the line above.
                return unsafe { avx512::insert_many(blocks, aims, rounds) };
            }
            if std::is_x86_feature_detected!("avx2") {
                // SAFETY: AVX2 was detected in the line above.
                return unsafe { avx2::insert_many(blocks, aims, rounds) };
            }
        }
        let mut new = 0;
        for aim in aims {
            let block = &mut blocks[aim.block];
            new += u64::from(
                scalar::set(block, aim.words[0]) | (rounds == 2 && scalar::set(block, aim.words[1])),
            );
        }
        new
    }

    /// The mean over the blocks of the product over the lanes of their fill.
    fn fpr(plan: &Plan, body: &[u8]) -> f64 {
        let rounds = plan.rounds() as i32;
        let share =
            |lane: &[u8; 8]| (f64::from(u64::from_le_bytes(*lane).count_ones()) / LANE as f64).powi(rounds);
        let blocks = body.as_chunks::<64>().0;
        let total: f64 =
            blocks.iter().map(|block| block.as_chunks().0.iter().map(share).product::<f64>()).sum();
        total / plan.blocks() as f64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The kernels answer and write as the definition does, on random blocks and on the extremes.
    #[test]
    #[cfg(all(target_arch = "x86_64", not(miri)))]
    #[allow(unsafe_code)]
    fn kernels_do_as_the_definition_does() {
        let mut state = 7u64;
        let mut random = || {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
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
            if avx512::detected() {
                // SAFETY: AVX-512 was detected in the line above.
                let answers = unsafe { [avx512::has(&block, word), avx512::has_inline(&block, word)] };
                // SAFETY: as before.
                same("avx512", &answers, |block, word| unsafe { avx512::set(block, word) });
            }
        }
    }

    /// Whichever kernel the machine has: batches do as single keys do, at 8 and at 16 hashes.
    #[test]
    fn batches_do_as_single_keys_do() {
        for fpr in [0.01, 1e-6] {
            let (mut one, mut many) =
                (BlockedBloom::new(5_000, fpr).unwrap(), BlockedBloom::new(5_000, fpr).unwrap());
            let new = (0..5_000u64).filter(|key| one.insert(key * 3)).count() as u64;
            assert_eq!(many.insert_many((0..5_000u64).map(|key| key * 3)), new);
            assert_eq!(one, many);
            let asked: Vec<u64> = (0..20_000).collect();
            let answers: Vec<bool> = asked.iter().map(|key| one.contains(key)).collect();
            assert_eq!(many.contains_many(&asked), answers);
        }
    }
}
