//! The blocked Bloom filter: all of a key's bits in one cache line.
//!
//! A block is eight lanes of 64 bits. A key sets one bit (at 16 hashes: two) in every lane of one block; which one is
//! six bits of its digest. Every key thus costs one cache miss, and the lanes can be tested at once.
//!
//! Some blocks get more keys than others, and the crowded ones let through most strangers. The plan computes that
//! mixture exactly and adds the bits that it costs: 5% at a rate of 1%, 9% at 0.1%.

#[cfg(all(target_arch = "x86_64", not(miri)))]
mod avx2;
mod scalar;

use super::filter::BATCH;
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

/// Spreads h1, whose high bits chose the block, for the second bit of each lane.
const SECOND: u64 = 0x9e37_79b9_7f4a_7c15;

/// The block of a key.
#[inline(always)]
fn place(digest: Digest, plan: &Plan) -> usize {
    scale(digest.h1, plan.blocks()) as usize
}

#[inline(always)]
fn digest_of(probe: &Probe<'_>) -> Digest {
    match probe {
        Probe::Digest(digest) => *digest,
        _ => unreachable!("`accept` refused hashes without a digest when the filter was made"),
    }
}

#[allow(private_interfaces)]
impl Cells for Blocked {
    fn accept(hash: &Hash) -> Result<(), Error> {
        hash.need_digest("a blocked filter")
    }

    #[inline(always)]
    #[allow(unsafe_code)]
    fn insert(plan: &Plan, body: &mut [u8], probe: &Probe<'_>) -> bool {
        let digest = digest_of(probe);
        let block = &mut body.as_chunks_mut().0[place(digest, plan)];
        #[cfg(all(target_arch = "x86_64", not(miri)))]
        if std::is_x86_feature_detected!("avx2") {
            // SAFETY: AVX2 was detected in the line above.
            return unsafe { avx2::insert(block, digest, plan.rounds()) };
        }
        scalar::insert(block, digest, plan.rounds())
    }

    #[inline(always)]
    #[allow(unsafe_code)]
    fn contains(plan: &Plan, body: &[u8], probe: &Probe<'_>) -> bool {
        let digest = digest_of(probe);
        let block = &body.as_chunks().0[place(digest, plan)];
        #[cfg(all(target_arch = "x86_64", not(miri)))]
        if std::is_x86_feature_detected!("avx2") {
            // SAFETY: AVX2 was detected in the line above.
            return unsafe { avx2::contains(block, digest, plan.rounds()) };
        }
        scalar::contains(block, digest, plan.rounds())
    }

    #[inline]
    fn prefetch(plan: &Plan, body: &[u8], digest: Digest, _all: bool) {
        prefetch::read(body, place(digest, plan) * size_of::<Block>());
    }

    #[allow(unsafe_code)]
    fn contains_digests(plan: &Plan, body: &[u8], digests: &[Digest], answers: &mut Vec<bool>) {
        let (blocks, rounds) = (body.as_chunks().0, plan.rounds());
        let places = places(plan, digests);
        #[cfg(all(target_arch = "x86_64", not(miri)))]
        if std::is_x86_feature_detected!("avx2") {
            // SAFETY: AVX2 was detected in the line above.
            unsafe { avx2::contains_many(blocks, &places[..digests.len()], digests, rounds, answers) };
            return;
        }
        answers.extend(
            places
                .iter()
                .zip(digests)
                .map(|(place, digest)| scalar::contains(&blocks[*place], *digest, rounds)),
        );
    }

    #[allow(unsafe_code)]
    fn insert_digests(plan: &Plan, body: &mut [u8], digests: &[Digest]) -> u64 {
        let (blocks, rounds) = (body.as_chunks_mut().0, plan.rounds());
        let places = places(plan, digests);
        #[cfg(all(target_arch = "x86_64", not(miri)))]
        if std::is_x86_feature_detected!("avx2") {
            // SAFETY: AVX2 was detected in the line above.
            return unsafe { avx2::insert_many(blocks, &places[..digests.len()], digests, rounds) };
        }
        let insert = |(place, digest): (&usize, &Digest)| {
            u64::from(scalar::insert(&mut blocks[*place], *digest, rounds))
        };
        places.iter().zip(digests).map(insert).sum()
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

/// The blocks of a batch of keys.
fn places(plan: &Plan, digests: &[Digest]) -> [usize; BATCH] {
    let mut places = [0; BATCH];
    for (target, digest) in places.iter_mut().zip(digests) {
        *target = place(*digest, plan);
    }
    places
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The kernels answer and write as the definition does, on random blocks and on the extremes.
    #[test]
    #[cfg(all(target_arch = "x86_64", not(miri)))]
    #[allow(unsafe_code)]
    fn kernels_do_as_the_definition_does() {
        if !std::is_x86_feature_detected!("avx2") {
            return; // there is only the definition here
        }
        let mut state = 7u64;
        let mut random = || {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            state ^ state >> 29
        };
        for case in 0..20_000u32 {
            let digest = match case % 5 {
                0 => Digest { h1: 0, h2: 0 },
                1 => Digest { h1: u64::MAX, h2: u64::MAX },
                _ => Digest { h1: random(), h2: random() },
            };
            let mut block: Block = [0; 64];
            match case % 4 {
                0 => {}
                1 => block = [0xff; 64],
                2 => block.fill_with(|| random() as u8 | random() as u8 | random() as u8),
                // All bits of the key but one.
                _ => {
                    scalar::insert(&mut block, digest, 2);
                    block[(random() % 64) as usize] &= !(1 << (random() % 8));
                }
            }
            for rounds in [1, 2] {
                // SAFETY: AVX2 was detected above.
                let fast = unsafe { avx2::contains(&block, digest, rounds) };
                assert_eq!(fast, scalar::contains(&block, digest, rounds), "case {case}");
                let (mut left, mut right) = (block, block);
                // SAFETY: AVX2 was detected above.
                let new = unsafe { avx2::insert(&mut left, digest, rounds) };
                assert_eq!(new, scalar::insert(&mut right, digest, rounds), "case {case}");
                assert_eq!(left, right, "case {case}");
                assert!(new != fast);
            }
        }
    }
}
