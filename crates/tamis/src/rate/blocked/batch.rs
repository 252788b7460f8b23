//! Many keys at a time, in loops that are compiled for each level of the processor.
//!
//! What the caches hold is probed key by key: the processor runs ahead by itself. What they do not
//! hold is asked for [`AHEAD`] keys before it is probed.

use crate::hash::{Digest, Digester};
use crate::simd::{Block, Kernels, Work, prefetch};
use crate::{Key, Kinds};
use std::marker::PhantomData;

/// How many keys ahead of its probe a block is asked for. Keys on the way are a short ring that
/// stays in the nearest cache; aiming at 128 keys and then probing 128 is slower.
const AHEAD: usize = 32;

/// The words of a key in its block: one, or two.
pub(super) trait Words<B: Block>: Copy + Default {
    fn new(word: B::Word, h2: u64) -> Self;
    fn has(self, kernels: impl Kernels, block: &B) -> bool;
    /// Whether the key was certainly new.
    fn set(self, kernels: impl Kernels, block: &mut B) -> bool;
}

#[derive(Clone, Copy, Default)]
pub(super) struct One<W>(W);

#[derive(Clone, Copy, Default)]
pub(super) struct Two<W>(W, W);

impl<B: Block> Words<B> for One<B::Word> {
    #[inline(always)]
    fn new(word: B::Word, _: u64) -> Self {
        One(word)
    }

    #[inline(always)]
    fn has(self, kernels: impl Kernels, block: &B) -> bool {
        block.has(kernels, self.0)
    }

    #[inline(always)]
    fn set(self, kernels: impl Kernels, block: &mut B) -> bool {
        block.set(kernels, self.0)
    }
}

impl<B: Block> Words<B> for Two<B::Word> {
    #[inline(always)]
    fn new(word: B::Word, h2: u64) -> Self {
        Two(word, B::second(h2))
    }

    #[inline(always)]
    fn has(self, kernels: impl Kernels, block: &B) -> bool {
        block.has(kernels, self.0) & block.has(kernels, self.1)
    }

    #[inline(always)]
    fn set(self, kernels: impl Kernels, block: &mut B) -> bool {
        block.set(kernels, self.0) | block.set(kernels, self.1)
    }
}

/// Where a key goes: its block, counted from the first one that is here, and its words there.
#[derive(Clone, Copy, Default)]
struct Position<W> {
    block: u64,
    words: W,
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
    fn position<B: Block, W: Words<B>>(self, digest: Digest) -> Position<W> {
        let (block, word) = B::locate(self.blocks, digest.h1);
        Position { block: block.wrapping_sub(self.first), words: W::new(word, digest.h2) }
    }

    /// The same, and asks for the block.
    #[inline(always)]
    fn aim<B: Block, W: Words<B>>(self, blocks: &[B], digest: Digest) -> Position<W> {
        let position = self.position::<B, W>(digest);
        prefetch::read(blocks.as_ptr().wrapping_add(position.block as usize));
        position
    }
}

#[inline(always)]
fn has<B: Block, W: Words<B>>(kernels: impl Kernels, blocks: &[B], position: Position<W>) -> bool {
    position.words.has(kernels, &blocks[position.block as usize])
}

#[inline(always)]
fn set<B: Block, W: Words<B>>(
    kernels: impl Kernels,
    blocks: &mut [B],
    position: Position<W>,
) -> u64 {
    u64::from(position.words.set(kernels, &mut blocks[position.block as usize]))
}

/// Lookups of many keys with the words `W`.
pub(super) struct Lookups<'a, N, B, K, D, W> {
    pub(super) kernels: N,
    pub(super) part: Part,
    pub(super) blocks: &'a [B],
    pub(super) keys: &'a [K],
    pub(super) digester: D,
    pub(super) answers: &'a mut [bool],
    pub(super) words: PhantomData<W>,
}

impl<N: Kernels, B: Block, K: Key, D: Digester, W: Words<B>> Work for Lookups<'_, N, B, K, D, W> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        let Lookups { kernels, part, blocks, keys, digester, answers, .. } = self;
        if !part.far {
            for (answer, key) in answers.iter_mut().zip(keys) {
                let position = part.position::<B, W>(digester.digest(key.as_key()));
                *answer = has(kernels, blocks, position);
            }
            return;
        }
        let mut ring = [Position::<W>::default(); AHEAD];
        let (begin, later) = keys.split_at(keys.len().min(AHEAD));
        for (slot, key) in ring.iter_mut().zip(begin) {
            *slot = part.aim::<B, W>(blocks, digester.digest(key.as_key()));
        }
        let (now, last) = answers.split_at_mut(later.len());
        for (i, (answer, key)) in now.iter_mut().zip(later).enumerate() {
            let slot = &mut ring[i % AHEAD];
            let position =
                std::mem::replace(slot, part.aim::<B, W>(blocks, digester.digest(key.as_key())));
            *answer = has(kernels, blocks, position);
        }
        for (i, answer) in last.iter_mut().enumerate() {
            *answer = has(kernels, blocks, ring[(later.len() + i) % AHEAD]);
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
    keys: I,
    digester: D,
    kinds: &'a mut Kinds,
    /// The kinds of the keys so far. A loop keeps them in a register: it cannot know that its
    /// writes to blocks leave `kinds` alone.
    found: Kinds,
}

impl<'a, I, D> Keys<'a, I, D> {
    pub(super) fn new(keys: I, digester: D, kinds: &'a mut Kinds) -> Self {
        Keys { keys, digester, kinds, found: Kinds::default() }
    }
}

impl<I: Iterator<Item: Key>, D: Digester> Source for Keys<'_, I, D> {
    #[inline(always)]
    fn next(&mut self) -> Option<Digest> {
        let key = self.keys.next()?;
        self.found = self.found | key.as_key().kinds();
        Some(self.digester.digest(key.as_key()))
    }
}

/// Also if the iterator panics: the keys before that are in the filter.
impl<I, D> Drop for Keys<'_, I, D> {
    fn drop(&mut self) {
        self.kinds.add(self.found);
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
pub(super) struct Insertions<'a, N, B, S, W> {
    pub(super) kernels: N,
    pub(super) part: Part,
    pub(super) blocks: &'a mut [B],
    pub(super) source: S,
    pub(super) words: PhantomData<W>,
}

impl<N: Kernels, B: Block, S: Source, W: Words<B>> Work for Insertions<'_, N, B, S, W> {
    type Output = u64;

    #[inline(always)]
    fn run(self) -> u64 {
        let Insertions { kernels, part, blocks, mut source, .. } = self;
        let mut new = 0;
        if !part.far {
            while let Some(digest) = source.next() {
                let position = part.position::<B, W>(digest);
                new += set(kernels, blocks, position);
            }
            return new;
        }
        let mut ring = [Position::<W>::default(); AHEAD];
        let mut waiting = 0;
        while waiting < AHEAD
            && let Some(digest) = source.next()
        {
            ring[waiting] = part.aim::<B, W>(blocks, digest);
            waiting += 1;
        }
        let mut at = 0;
        while let Some(digest) = source.next() {
            let position = std::mem::replace(&mut ring[at], part.aim::<B, W>(blocks, digest));
            new += set(kernels, blocks, position);
            at = (at + 1) % AHEAD;
        }
        for i in 0..waiting {
            new += set(kernels, blocks, ring[(at + i) % AHEAD]);
        }
        new
    }
}
