//! The kernels: work on whole cache lines and on many words at a time, once per level of the
//! processor.
//!
//! | level | file | what it needs |
//! |---|---|---|
//! | [`Scalar`] | `scalar.rs` | any machine; it defines what the others must do |
//! | `Avx2` | `avx2.rs` | AVX2, BMI and POPCNT |
//! | `Avx512` | `avx512/` | AVX-512 F, DQ and VBMI as well |
//!
//! Each level is a token that implements [`Kernels`]. Only [`Level::detect`] makes the tokens, so
//! code that holds one may use its instructions. [`dispatch`] turns a level that is known at run
//! time into a token that is known at compile time.
//!
//! The environment variable `TAMIS_LEVEL` (`scalar`, `avx2` or `avx512`) lowers the level, for
//! tests and measurements. It is read once; any other value, and a level above the processor's,
//! changes nothing.
//!
//! A batch flows one way: keys -> [`Digests`] -> [`Positions`] -> [`Answers`].

#[cfg(all(target_arch = "x86_64", not(miri)))]
#[path = "x86.rs"]
mod native;
// Kernels for NEON would stand beside this one. Miri runs the scalar kernels only.
#[cfg(not(all(target_arch = "x86_64", not(miri))))]
#[path = "other.rs"]
mod native;
pub(crate) mod planes;
pub(crate) mod prefetch;
mod scalar;
#[cfg(test)]
mod tests;

use crate::hash::{Digests, Fast, Naturals};
pub(crate) use native::{Level, dispatch, one_by_one};
pub(crate) use scalar::locate;

/// How many keys are hashed ahead of their probes: enough misses under way at once to fill a
/// processor's queues.
pub(crate) const BATCH: usize = 128;

const _: () =
    assert!(BATCH.is_multiple_of(8) && BATCH <= 255, "eights, and a byte can count all keys");

/// A block of a blocked filter: eight lanes of 64 bits, one cache line.
pub(crate) type Block = [u8; 64];

/// The level that every machine has.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Scalar;

/// What every level can do. Tests compare each with [`Scalar`].
pub(crate) trait Kernels: Copy + Send + Sync {
    /// How the level looks up many keys in a classic filter.
    type Walks: Walks;

    /// Whether the level hashes natural numbers faster together than one by one.
    const HASHES_TOGETHER: bool;

    /// Whether the block has the word's bit in every lane.
    fn has(self, block: &Block, word: u64) -> bool;

    /// Sets the word's bit in every lane; says whether one was clear.
    fn set(self, block: &mut Block, word: u64) -> bool;

    /// Hashes natural numbers: each word of `h1` is a number before and its h1 afterwards. `h2`
    /// gets their h2, if there is an `h2`.
    fn hash_naturals(self, fast: &Fast, h1: &mut [u64], h2: Option<&mut [u64]>);

    /// Looks up keys in a blocked filter. Those of `pending` are due; those of `coming` may be
    /// answered as well, or become the pending ones while their memory is fetched. A call with
    /// nothing coming answers the rest.
    fn contains_blocks(
        self,
        shape: BlockShape,
        blocks: &[Block],
        pending: &mut Positions,
        coming: Coming<'_>,
        answers: &mut Answers<'_>,
    );

    /// The same with insertions; says how many keys were certainly new.
    fn insert_blocks(
        self,
        shape: BlockShape,
        blocks: &mut [Block],
        pending: &mut Positions,
        coming: &Digests,
    ) -> u64;

    /// The number of the region of 2^`region` blocks that each key falls into.
    fn find_regions(self, blocks: u64, region: u32, h1: &[u64; BATCH], regions: &mut [u32; BATCH]);

    /// Gets ready to look up keys in a classic filter.
    fn walks(self, shape: WalkShape) -> Self::Walks;

    /// Does work that was compiled with the level's instructions.
    #[cfg_attr(not(feature = "privacy"), allow(dead_code))]
    fn run<W: Work>(self, work: W) -> W::Output;
}

/// Keys that come to a blocked filter.
#[derive(Clone, Copy)]
pub(crate) enum Coming<'a> {
    /// Keys that are hashed.
    Digests(&'a Digests),
    /// Natural numbers, which the kernels hash on the way, for filters whose keys have one word.
    Naturals(&'a Fast, &'a Naturals),
}

/// Safe code that gains from being compiled for a level.
#[cfg_attr(not(feature = "privacy"), allow(dead_code))]
pub(crate) trait Work {
    /// What comes out.
    type Output;

    /// Does the work. Implementations are `#[inline(always)]`: only what is inlined into the
    /// level's function is compiled for it.
    fn run(self) -> Self::Output;
}

/// Keys on their way through the places of a classic filter.
pub(crate) trait Walks {
    /// Takes keys in. The answers of those that pass become `true`, in this call or in a later one.
    fn push(&mut self, body: &[u8], digests: &Digests, answers: &mut [bool]);

    /// Answers for all keys that are still on the way.
    fn finish(&mut self, body: &[u8], answers: &mut [bool]);
}

/// What the kernels must know of a blocked filter, or of a part of it.
#[derive(Clone, Copy)]
pub(crate) struct BlockShape {
    /// How many blocks the filter has.
    pub(crate) blocks: u64,
    /// The number of the first block that is here, if this is a part of the filter.
    pub(crate) first: u64,
    /// Whether keys have a second word, which is h2.
    pub(crate) two_words: bool,
    /// Whether fetching memory ahead pays.
    pub(crate) far: bool,
}

/// What the kernels must know of a classic filter.
#[derive(Clone, Copy)]
pub(crate) struct WalkShape {
    /// How many bits the filter has.
    pub(crate) cells: u64,
    /// How many of them a key has.
    pub(crate) hashes: u32,
    /// Whether fetching the first places of a key ahead pays.
    pub(crate) far: bool,
    /// Whether fetching the later places pays.
    pub(crate) later_far: bool,
}

impl WalkShape {
    pub(crate) fn new(cells: u64, hashes: u32) -> WalkShape {
        let bytes = (cells / 8) as usize;
        WalkShape {
            cells,
            hashes,
            far: prefetch::worthwhile(bytes / 4),
            later_far: prefetch::worthwhile(bytes / 8),
        }
    }
}

/// Where up to [`BATCH`] keys go in a blocked filter. They are probed when their memory has come.
#[repr(align(64))]
pub(crate) struct Positions {
    /// The numbers of the blocks, counted from the first one that is here.
    block: [u64; BATCH],
    /// Which bits of the block.
    word: [u64; BATCH],
    /// Which bits as well, if keys have two words.
    second: [u64; BATCH],
    len: usize,
}

impl Positions {
    pub(crate) fn new() -> Positions {
        let none = [0; BATCH];
        Positions { block: none, word: none, second: none, len: 0 }
    }
}

/// The answers still to be given, in the order of the keys.
pub(crate) struct Answers<'a>(&'a mut [bool]);

impl<'a> Answers<'a> {
    pub(crate) fn new(all: &'a mut [bool]) -> Answers<'a> {
        Answers(all)
    }

    /// The next ones.
    fn next(&mut self, count: usize) -> &'a mut [bool] {
        let (now, later) = std::mem::take(&mut self.0).split_at_mut(count);
        self.0 = later;
        now
    }
}
