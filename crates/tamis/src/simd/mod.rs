//! The kernels: work on whole cache lines and on many words at a time, once per level of the
//! processor.
//!
//! | level | file | what it needs |
//! |---|---|---|
//! | [`Scalar`] | `scalar.rs` | any machine; it defines what the others must do |
//! | `Avx2` | `avx2.rs` | AVX2, BMI and POPCNT |
//! | `Avx512` | `avx512/` | AVX-512 F, DQ, VL and VBMI as well |
//! | `Neon` | `neon.rs` | 64-bit ARM; tested in an emulator, not measured |
//!
//! Each level is a token that implements [`Kernels`]. Only [`Level::detect`] makes the tokens, so
//! code that holds one may use its instructions. [`dispatch`] turns a level that is known at run
//! time into a token that is known at compile time.
//!
//! The environment variable `TAMIS_LEVEL` (`scalar`, `avx2`, `avx512`, `neon`) lowers the level,
//! for tests and measurements. It is read once; any other value, and a level above the processor's,
//! changes nothing.
//!
//! [`Work`] is safe code that is compiled once for each level: batches are written once that way.

#[cfg(all(target_arch = "x86_64", not(miri)))]
#[path = "x86.rs"]
mod native;
#[cfg(all(target_arch = "aarch64", target_endian = "little", not(miri)))]
#[path = "arm.rs"]
mod native;
// Miri runs the scalar kernels only.
#[cfg(any(
    miri,
    not(any(target_arch = "x86_64", all(target_arch = "aarch64", target_endian = "little")))
))]
#[path = "other.rs"]
mod native;
pub(crate) mod planes;
pub(crate) mod prefetch;
mod scalar;
mod select;
#[cfg(test)]
mod tests;

use crate::hash::{Digests, Fast};
pub(crate) use native::{Level, Single, dispatch, one_by_one};

/// How many keys are hashed ahead of their probes: enough misses under way at once to fill a
/// processor's queues.
pub(crate) const BATCH: usize = 128;

const _: () = assert!(BATCH.is_multiple_of(8), "wide registers take eight");

/// A block of a blocked filter: eight lanes of 64 bits, one cache line.
pub(crate) type Block512 = [u8; 64];

/// A block of a split filter: eight lanes of 32 bits, half a cache line.
pub(crate) type Block256 = [u8; 32];

/// The level that every machine has.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Scalar;

/// What every level can do. Tests compare each with [`Scalar`].
///
/// `has` says whether the block has the word's bit in every lane. `set` sets the word's bit in
/// every lane, and says whether one was clear. They are inlined into [`Work`], which is compiled
/// for the level; elsewhere each is a call. [`Single`] has the same functions for any code.
pub(crate) trait Kernels: Copy + Send + Sync {
    /// How the level looks up many keys in a classic filter.
    type Walks: Walks;

    /// Whether the level hashes natural numbers faster together than one by one.
    const HASHES_TOGETHER: bool;

    fn has_512(self, block: &Block512, word: u64) -> bool;
    fn set_512(self, block: &mut Block512, word: u64) -> bool;

    fn has_256(self, block: &Block256, word: u32) -> bool;
    fn set_256(self, block: &mut Block256, word: u32) -> bool;

    /// Hashes natural numbers: each word of `h1` is a number before and its h1 afterwards. `h2`
    /// gets their h2, if there is an `h2`.
    fn hash_naturals(self, fast: &Fast, h1: &mut [u64], h2: Option<&mut [u64]>);

    /// The number of the region of 2^`region` units, of `units` in all, that each h1 falls into.
    fn find_regions(self, units: u64, region: u32, h1: &[u64; BATCH], regions: &mut [u32; BATCH]);

    /// The position of the set bit of which `rank` others are lower; or how many bits are set, if
    /// there are no more than `rank`, which is below 64.
    #[inline(always)]
    fn select(self, word: u64, rank: u32) -> Result<u32, u32> {
        select::select(word, rank)
    }

    /// Gets ready to look up keys in a classic filter.
    fn walks(self, shape: WalkShape) -> Self::Walks;

    /// Does work that was compiled with the level's instructions.
    fn run<W: Work>(self, work: W) -> W::Output;
}

/// A size of blocks: where a key goes, and the kernels for it.
pub(crate) trait Block: Sized + Send + Sync + 'static {
    /// What says which bits of a block a key has.
    type Word: Copy + Default + Send + Sync;

    /// Whether keys may have a second word, which is made of h2.
    const TWO_WORDS: bool;

    /// The blocks of a body.
    fn all(body: &[u8]) -> &[Self];
    /// The same, to be changed.
    fn all_mut(body: &mut [u8]) -> &mut [Self];

    /// A key's block, one of so many, and the first of its words.
    fn locate(blocks: u64, h1: u64) -> (u64, Self::Word);
    /// The second word, if keys have two.
    fn second(h2: u64) -> Self::Word;
    /// Which bits of a block a word means, one in each lane.
    fn positions(word: Self::Word) -> [u16; 8];

    /// For [`Work`].
    fn has(&self, kernels: impl Kernels, word: Self::Word) -> bool;
    fn set(&mut self, kernels: impl Kernels, word: Self::Word) -> bool;
    /// For any code.
    fn has_alone(&self, single: Single, word: Self::Word) -> bool;
    fn set_alone(&mut self, single: Single, word: Self::Word) -> bool;
}

impl Block for Block512 {
    type Word = u64;

    const TWO_WORDS: bool = true;

    #[inline(always)]
    fn all(body: &[u8]) -> &[Self] {
        body.as_chunks().0
    }

    #[inline(always)]
    fn all_mut(body: &mut [u8]) -> &mut [Self] {
        body.as_chunks_mut().0
    }

    #[inline(always)]
    fn locate(blocks: u64, h1: u64) -> (u64, u64) {
        scalar::locate_512(blocks, h1)
    }

    #[inline(always)]
    fn second(h2: u64) -> u64 {
        h2
    }

    #[inline(always)]
    fn positions(word: u64) -> [u16; 8] {
        scalar::positions_512(word)
    }

    #[inline(always)]
    fn has(&self, kernels: impl Kernels, word: u64) -> bool {
        kernels.has_512(self, word)
    }

    #[inline(always)]
    fn set(&mut self, kernels: impl Kernels, word: u64) -> bool {
        kernels.set_512(self, word)
    }

    #[inline(always)]
    fn has_alone(&self, single: Single, word: u64) -> bool {
        single.has_512(self, word)
    }

    #[inline(always)]
    fn set_alone(&mut self, single: Single, word: u64) -> bool {
        single.set_512(self, word)
    }
}

impl Block for Block256 {
    type Word = u32;

    const TWO_WORDS: bool = false;

    #[inline(always)]
    fn all(body: &[u8]) -> &[Self] {
        body.as_chunks().0
    }

    #[inline(always)]
    fn all_mut(body: &mut [u8]) -> &mut [Self] {
        body.as_chunks_mut().0
    }

    #[inline(always)]
    fn locate(blocks: u64, h1: u64) -> (u64, u32) {
        scalar::locate_256(blocks, h1)
    }

    #[inline(always)]
    fn second(_: u64) -> u32 {
        0
    }

    #[inline(always)]
    fn positions(word: u32) -> [u16; 8] {
        scalar::positions_256(word)
    }

    #[inline(always)]
    fn has(&self, kernels: impl Kernels, word: u32) -> bool {
        kernels.has_256(self, word)
    }

    #[inline(always)]
    fn set(&mut self, kernels: impl Kernels, word: u32) -> bool {
        kernels.set_256(self, word)
    }

    #[inline(always)]
    fn has_alone(&self, single: Single, word: u32) -> bool {
        single.has_256(self, word)
    }

    #[inline(always)]
    fn set_alone(&mut self, single: Single, word: u32) -> bool {
        single.set_256(self, word)
    }
}

/// Safe code that gains from being compiled for a level.
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
