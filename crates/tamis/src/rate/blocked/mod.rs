//! The blocked Bloom filter: all of a key's bits in one cache line.
//!
//! A block is eight lanes of 64 bits. A key sets one bit in every lane of its block, or two with 16
//! hashes. Six bits of a word made of its digest choose each bit. So every key costs one cache
//! miss, and the lanes can be tested at once.
//!
//! With 8 hashes all of that comes from the 64 bits of h1. A stranger with the same h1 as a member
//! also passes. For 10^8 members that is 5e-12 of strangers. It does not matter: plans with 8
//! hashes have rates of at least 1e-5. With 16 hashes h2 adds its 64 bits.
//!
//! Some blocks get more keys than others, and the crowded ones let through most strangers. The plan
//! computes that mixture exactly and adds the bits that it costs: 5% at a rate of 1%, 9% at 0.1%.

mod sorted;

use super::expected::LANE;
use super::filter::sealed::Operations;
use super::{Filter, Kind, Layout, Plan};
use crate::hash::{Digest, Digests, Naturals, Probe};
use crate::simd::{
    Answers, BATCH, BlockShape, Coming, Kernels, Level, Positions, dispatch, locate, prefetch,
};
use crate::{Error, HashFamily, Key, Kinds};
use sorted::SortBuffers;

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

#[inline(always)]
fn digest_of(probe: &Probe<'_>) -> Digest {
    match probe {
        Probe::Digest(digest) => *digest,
        _ => unreachable!("`accept` refused hashes without a digest when the filter was made"),
    }
}

/// What the kernels must know of a filter.
fn shape(plan: &Plan) -> BlockShape {
    BlockShape {
        blocks: plan.blocks(),
        first: 0,
        two_words: plan.words_per_key() == 2,
        far: prefetch::worthwhile(plan.bytes() as usize),
    }
}

/// Whether a digest passes.
#[inline(always)]
fn contains(plan: &Plan, body: &[u8], level: Level, digest: Digest) -> bool {
    let (block, word) = locate(plan.blocks(), digest.h1);
    let block = &body.as_chunks().0[block as usize];
    let has = |word| dispatch!(level, kernels => kernels.has(block, word));
    has(word) & (plan.words_per_key() == 1 || has(digest.h2))
}

/// Puts a digest in; says whether it was certainly new.
#[inline(always)]
fn insert(plan: &Plan, body: &mut [u8], level: Level, digest: Digest) -> bool {
    let (block, word) = locate(plan.blocks(), digest.h1);
    let block = &mut body.as_chunks_mut().0[block as usize];
    let mut set = |word| dispatch!(level, kernels => kernels.set(block, word));
    set(word) | (plan.words_per_key() == 2 && set(digest.h2))
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

#[allow(private_bounds, private_interfaces)]
impl Operations for Blocked {
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
    fn fetch(plan: &Plan, body: &[u8], digest: Digest) {
        let (block, _) = locate(plan.blocks(), digest.h1);
        prefetch::byte(body, block as usize * 64);
    }

    #[inline(always)]
    fn insert_lazily(
        plan: &Plan,
        body: &mut [u8],
        level: Level,
        digest: impl FnOnce() -> Digest,
    ) -> bool {
        if plan.words_per_key() == 1 {
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
        if plan.words_per_key() == 1 {
            contains(plan, body, level, Digest { h1: digest().h1, h2: 0 })
        } else {
            contains_twice(plan, body, level, digest())
        }
    }

    fn contains_many<K: Key, N: Kernels>(
        kernels: N,
        plan: &Plan,
        hash: &HashFamily,
        body: &[u8],
        keys: &[K],
        answers: &mut [bool],
    ) {
        let (shape, blocks) = (shape(plan), body.as_chunks().0);
        let (mut digests, mut naturals) = (Digests::new(), Naturals::new());
        let (mut positions, mut answers) = (Positions::new(), Answers::new(answers));
        // Numbers whose h1 is enough can be hashed on the way.
        let together = hash.as_fast().filter(|_| N::HASHES_TOGETHER && !shape.two_words);
        for keys in keys.chunks(BATCH) {
            let coming = match together {
                Some(fast) if naturals.take(keys) => Coming::Naturals(fast, &naturals),
                _ => {
                    let _ = digests.hash(kernels, hash, keys.iter(), shape.two_words);
                    Coming::Digests(&digests)
                }
            };
            kernels.contains_blocks(shape, blocks, &mut positions, coming, &mut answers);
        }
        digests.clear();
        let nobody = Coming::Digests(&digests);
        kernels.contains_blocks(shape, blocks, &mut positions, nobody, &mut answers);
    }

    fn insert_many<K: Key, N: Kernels>(
        kernels: N,
        plan: &Plan,
        hash: &HashFamily,
        body: &mut [u8],
        kinds: &mut Kinds,
        mut keys: impl Iterator<Item = K>,
    ) -> u64 {
        if let Some(buffers) = SortBuffers::new(plan, keys.size_hint().0, 1) {
            return sorted::insert(kernels, plan, hash, body, kinds, &mut keys, buffers);
        }
        let (shape, blocks) = (shape(plan), body.as_chunks_mut().0);
        let (mut digests, mut positions) = (Digests::new(), Positions::new());
        let mut new = 0;
        loop {
            kinds.add(digests.hash_next(kernels, hash, &mut keys, shape.two_words));
            new += kernels.insert_blocks(shape, blocks, &mut positions, &digests);
            if digests.len == 0 {
                return new;
            }
        }
    }

    /// The mean over the blocks of the product over the lanes of their fill.
    fn fpr(plan: &Plan, body: &[u8]) -> f64 {
        let words = plan.words_per_key() as i32;
        let share = |lane: &[u8; 8]| {
            (f64::from(u64::from_le_bytes(*lane).count_ones()) / LANE as f64).powi(words)
        };
        let blocks = body.as_chunks::<64>().0;
        let total: f64 =
            blocks.iter().map(|block| block.as_chunks().0.iter().map(share).product::<f64>()).sum();
        total / plan.blocks() as f64
    }
}
