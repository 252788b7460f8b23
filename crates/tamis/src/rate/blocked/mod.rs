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

mod batch;
mod sorted;

use super::expected::{self, LANES};
use super::filter::sealed::Operations;
use super::{Filter, Kind, Layout, Plan};
use crate::hash::{Digest, Digester, Probe};
use crate::simd::{Block, Block512, Kernels, Level, Single, prefetch};
use crate::{Error, HashFamily, Key, Kinds, bits};
use batch::{Insertions, Keys, Lookups, One, Part, Source, Two};
use std::marker::PhantomData;

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

/// Layouts whose keys have all their bits in one block.
pub(crate) trait InBlocks: 'static {
    /// What a block is.
    type Block: Block;
}

impl InBlocks for Blocked {
    type Block = Block512;
}

#[inline(always)]
fn digest_of(probe: &Probe<'_>) -> Digest {
    match probe {
        Probe::Digest(digest) => *digest,
        _ => unreachable!("`accept` refused hashes without a digest when the filter was made"),
    }
}

/// Whether keys have two words in their block. Asked of every single key: one comparison.
#[inline(always)]
fn two_words<B: Block>(plan: &Plan) -> bool {
    B::TWO_WORDS && plan.hashes() == 16
}

fn whole<B>(blocks: &[B]) -> Part {
    let far = prefetch::worthwhile(size_of_val(blocks));
    Part { blocks: blocks.len() as u64, first: 0, far }
}

/// Whether a digest passes.
#[inline(always)]
fn contains<B: Block>(body: &[u8], single: Single, digest: Digest, two: bool) -> bool {
    let blocks = B::all(body);
    let (block, word) = B::locate(blocks.len() as u64, digest.h1);
    let block = &blocks[block as usize];
    block.has_alone(single, word) & (!two || block.has_alone(single, B::second(digest.h2)))
}

/// Puts a digest in; says whether it was certainly new.
#[inline(always)]
fn insert<B: Block>(body: &mut [u8], single: Single, digest: Digest, two: bool) -> bool {
    let blocks = B::all_mut(body);
    let (block, word) = B::locate(blocks.len() as u64, digest.h1);
    let block = &mut blocks[block as usize];
    block.set_alone(single, word) | (two && block.set_alone(single, B::second(digest.h2)))
}

/// For two words a key, out of the way of one.
#[inline(never)]
fn contains_twice<B: Block>(body: &[u8], single: Single, digest: Digest) -> bool {
    contains::<B>(body, single, digest, true)
}

/// For two words a key, out of the way of one.
#[inline(never)]
fn insert_twice<B: Block>(body: &mut [u8], single: Single, digest: Digest) -> bool {
    insert::<B>(body, single, digest, true)
}

#[allow(private_bounds, private_interfaces)]
impl<L: InBlocks> Operations for L {
    fn accept(hash: &HashFamily) -> Result<(), Error> {
        hash.need_digest("a filter of blocks")
    }

    fn insert(plan: &Plan, body: &mut [u8], probe: &Probe<'_>) -> bool {
        Self::insert_lazily(plan, body, Single::new(Level::detect()), || digest_of(probe))
    }

    fn contains(plan: &Plan, body: &[u8], probe: &Probe<'_>) -> bool {
        Self::contains_lazily(plan, body, Single::new(Level::detect()), || digest_of(probe))
    }

    #[inline(always)]
    fn fetch(_: &Plan, body: &[u8], digest: Digest) {
        let blocks = L::Block::all(body);
        let (block, _) = L::Block::locate(blocks.len() as u64, digest.h1);
        prefetch::read(blocks.as_ptr().wrapping_add(block as usize));
    }

    #[inline(always)]
    fn insert_lazily(
        plan: &Plan,
        body: &mut [u8],
        single: Single,
        digest: impl FnOnce() -> Digest,
    ) -> bool {
        if two_words::<L::Block>(plan) {
            insert_twice::<L::Block>(body, single, digest())
        } else {
            insert::<L::Block>(body, single, digest(), false)
        }
    }

    #[inline(always)]
    fn contains_lazily(
        plan: &Plan,
        body: &[u8],
        single: Single,
        digest: impl FnOnce() -> Digest,
    ) -> bool {
        if two_words::<L::Block>(plan) {
            contains_twice::<L::Block>(body, single, digest())
        } else {
            contains::<L::Block>(body, single, digest(), false)
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
        let blocks = L::Block::all(body);
        let part = whole(blocks);
        let two = two_words::<L::Block>(plan);
        match hash.as_fast() {
            Some(fast) => look_up(kernels, part, two, blocks, keys, *fast, answers),
            None => look_up(kernels, part, two, blocks, keys, hash, answers),
        }
    }

    fn insert_many<K: Key, N: Kernels>(
        kernels: N,
        plan: &Plan,
        hash: &HashFamily,
        body: &mut [u8],
        kinds: &mut Kinds,
        mut keys: impl Iterator<Item = K>,
    ) -> u64 {
        let sorted =
            sorted::try_insert::<L::Block, K, N>(kernels, plan, hash, body, kinds, &mut keys);
        if let Some(new) = sorted {
            return new;
        }
        let blocks = L::Block::all_mut(body);
        let part = whole(blocks);
        let two = two_words::<L::Block>(plan);
        match hash.as_fast() {
            Some(fast) => put_in(kernels, part, two, blocks, Keys::new(keys, *fast, kinds)),
            None => put_in(kernels, part, two, blocks, Keys::new(keys, hash, kinds)),
        }
    }

    #[inline(always)]
    fn places(plan: &Plan, probe: &Probe<'_>, mut keep_going: impl FnMut(u64) -> bool) -> bool {
        let Some(shape) = plan.block_shape() else { return false };
        let (digest, bits) = (digest_of(probe), shape.bits());
        let (block, word) = L::Block::locate(shape.count, digest.h1);
        let mut all = |word| {
            L::Block::positions(word).iter().all(|bit| keep_going(block * bits + u64::from(*bit)))
        };
        all(word) && (!two_words::<L::Block>(plan) || all(L::Block::second(digest.h2)))
    }

    /// The mean over the blocks of the product over the lanes of their fill, and what words of
    /// few bits add.
    fn fpr(plan: &Plan, body: &[u8]) -> f64 {
        let Some(shape) = plan.block_shape() else { return 1.0 };
        let (lane, words) = (shape.lane as usize, shape.bits_per_lane as i32);
        let share = |bytes: &[u8]| (bits::count(bytes) as f64 / lane as f64).powi(words);
        let blocks = body.chunks_exact(LANES as usize * lane / 8);
        let product = |block: &[u8]| block.chunks_exact(lane / 8).map(share).product::<f64>();
        let by_chance = blocks.map(product).sum::<f64>() / shape.count as f64;
        let items = plan.items_for(Self::occupied(plan, body));
        by_chance + (1.0 - by_chance) * expected::same_word_fpr(shape, items)
    }
}

fn look_up<N: Kernels, B: Block, K: Key>(
    kernels: N,
    part: Part,
    two: bool,
    blocks: &[B],
    keys: &[K],
    digester: impl Digester,
    answers: &mut [bool],
) {
    if two {
        let words = PhantomData::<Two<B::Word>>;
        kernels.run(Lookups { kernels, part, blocks, keys, digester, answers, words });
    } else {
        let words = PhantomData::<One<B::Word>>;
        kernels.run(Lookups { kernels, part, blocks, keys, digester, answers, words });
    }
}

fn put_in<N: Kernels, B: Block>(
    kernels: N,
    part: Part,
    two: bool,
    blocks: &mut [B],
    source: impl Source,
) -> u64 {
    if two {
        let words = PhantomData::<Two<B::Word>>;
        kernels.run(Insertions { kernels, part, blocks, source, words })
    } else {
        let words = PhantomData::<One<B::Word>>;
        kernels.run(Insertions { kernels, part, blocks, source, words })
    }
}
