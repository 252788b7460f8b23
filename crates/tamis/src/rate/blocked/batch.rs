//! Many keys at a time, in loops that are compiled for each level of the processor.
//!
//! What the caches hold is probed key by key: the processor runs ahead by itself. What they do not
//! hold is asked for [`AHEAD`] keys before it is probed.

use crate::hash::{Digest, Digester};
use crate::simd::{Block, Kernels, Work, prefetch};
use crate::{Key, Kinds};

/// How many keys ahead of its probe a block is asked for. Keys on the way are a short ring that
/// stays in the nearest cache; aiming at 128 keys and then probing 128 is slower.
const AHEAD: usize = 32;

/// Where a key goes: its block, counted from the first one that is here, and its words there.
#[derive(Clone, Copy, Default)]
struct Position<W> {
    block: u64,
    word: W,
    second: W,
}

/// A filter, or the part of it from the block `first` on.
#[derive(Clone, Copy)]
pub(super) struct Part {
    /// How many blocks the whole filter has.
    pub(super) blocks: u64,
    /// The number of the first block that is here.
    pub(super) first: u64,
    /// Whether asking for memory ahead pays.
    pub(super) far: bool,
}

impl Part {
    #[inline(always)]
    fn position<B: Block, const TWO: bool>(self, digest: Digest) -> Position<B::Word> {
        let (block, word) = B::locate(self.blocks, digest.h1);
        let second = if TWO { B::second(digest.h2) } else { B::Word::default() };
        Position { block: block.wrapping_sub(self.first), word, second }
    }

    /// The same, and asks for the block.
    #[inline(always)]
    fn aim<B: Block, const TWO: bool>(self, blocks: &[B], digest: Digest) -> Position<B::Word> {
        let position = self.position::<B, TWO>(digest);
        prefetch::read(blocks.as_ptr().wrapping_add(position.block as usize));
        position
    }
}

#[inline(always)]
fn has<B: Block, N: Kernels, const TWO: bool>(
    kernels: N,
    blocks: &[B],
    position: Position<B::Word>,
) -> bool {
    let block = &blocks[position.block as usize];
    block.has(kernels, position.word) & (!TWO || block.has(kernels, position.second))
}

#[inline(always)]
fn set<B: Block, N: Kernels, const TWO: bool>(
    kernels: N,
    blocks: &mut [B],
    position: Position<B::Word>,
) -> u64 {
    let block = &mut blocks[position.block as usize];
    let new = block.set(kernels, position.word);
    u64::from(new | (TWO && block.set(kernels, position.second)))
}

/// Lookups of many keys, with one word each or, if `TWO`, with two.
pub(super) struct Lookups<'a, N, B, K, D, const TWO: bool> {
    pub(super) kernels: N,
    pub(super) part: Part,
    pub(super) blocks: &'a [B],
    pub(super) keys: &'a [K],
    pub(super) digester: D,
    pub(super) answers: &'a mut [bool],
}

impl<N: Kernels, B: Block, K: Key, D: Digester, const TWO: bool> Work
    for Lookups<'_, N, B, K, D, TWO>
{
    type Output = ();

    #[inline(always)]
    fn run(self) {
        let Lookups { kernels, part, blocks, keys, digester, answers } = self;
        if !part.far {
            for (answer, key) in answers.iter_mut().zip(keys) {
                let position = part.position::<B, TWO>(digester.digest(key.as_key()));
                *answer = has::<B, N, TWO>(kernels, blocks, position);
            }
            return;
        }
        let mut ring = [Position::default(); AHEAD];
        let (begin, later) = keys.split_at(keys.len().min(AHEAD));
        for (slot, key) in ring.iter_mut().zip(begin) {
            *slot = part.aim::<B, TWO>(blocks, digester.digest(key.as_key()));
        }
        let (now, last) = answers.split_at_mut(later.len());
        for (i, (answer, key)) in now.iter_mut().zip(later).enumerate() {
            let slot = &mut ring[i % AHEAD];
            let position =
                std::mem::replace(slot, part.aim::<B, TWO>(blocks, digester.digest(key.as_key())));
            *answer = has::<B, N, TWO>(kernels, blocks, position);
        }
        for (i, answer) in last.iter_mut().enumerate() {
            *answer = has::<B, N, TWO>(kernels, blocks, ring[(later.len() + i) % AHEAD]);
        }
    }
}

/// Where the digests of insertions come from. Not an iterator: the compiler would call one whose
/// next digest is asked for in several places, and what is called is not compiled for the level.
pub(super) trait Source {
    fn next(&mut self) -> Option<Digest>;
}

/// Keys that are hashed on the way.
pub(super) struct Keys<'a, I, D> {
    pub(super) keys: I,
    pub(super) digester: D,
    pub(super) kinds: &'a mut Kinds,
}

impl<I: Iterator<Item: Key>, D: Digester> Source for Keys<'_, I, D> {
    #[inline(always)]
    fn next(&mut self) -> Option<Digest> {
        let key = self.keys.next()?;
        self.kinds.add(key.as_key().kinds());
        Some(self.digester.digest(key.as_key()))
    }
}

/// Keys that are hashed already, in runs.
pub(super) struct Runs<'a, R, U> {
    pub(super) runs: R,
    pub(super) now: &'a [U],
}

/// What a run holds for each key.
pub(super) trait Hashed: Copy {
    fn digest(self) -> Digest;
}

impl<'a, R: Iterator<Item = &'a [U]>, U: Hashed> Source for Runs<'a, R, U> {
    #[inline(always)]
    fn next(&mut self) -> Option<Digest> {
        loop {
            if let Some((first, later)) = self.now.split_first() {
                self.now = later;
                return Some(first.digest());
            }
            self.now = self.runs.next()?;
        }
    }
}

/// Insertions of many keys; says how many were certainly new.
pub(super) struct Insertions<'a, N, B, S, const TWO: bool> {
    pub(super) kernels: N,
    pub(super) part: Part,
    pub(super) blocks: &'a mut [B],
    pub(super) source: S,
}

impl<N: Kernels, B: Block, S: Source, const TWO: bool> Work for Insertions<'_, N, B, S, TWO> {
    type Output = u64;

    #[inline(always)]
    fn run(self) -> u64 {
        let Insertions { kernels, part, blocks, mut source } = self;
        let mut new = 0;
        if !part.far {
            while let Some(digest) = source.next() {
                let position = part.position::<B, TWO>(digest);
                new += set::<B, N, TWO>(kernels, blocks, position);
            }
            return new;
        }
        let mut ring = [Position::default(); AHEAD];
        let mut waiting = 0;
        while waiting < AHEAD
            && let Some(digest) = source.next()
        {
            ring[waiting] = part.aim::<B, TWO>(blocks, digest);
            waiting += 1;
        }
        let mut at = 0;
        while let Some(digest) = source.next() {
            let position = std::mem::replace(&mut ring[at], part.aim::<B, TWO>(blocks, digest));
            new += set::<B, N, TWO>(kernels, blocks, position);
            at = (at + 1) % AHEAD;
        }
        for i in 0..waiting {
            new += set::<B, N, TWO>(kernels, blocks, ring[(at + i) % AHEAD]);
        }
        new
    }
}
