//! The definition of every kernel, for every machine.

use super::{
    Answers, BATCH, Block, BlockShape, Coming, Kernels, Positions, Scalar, WalkShape, Walks, Work,
    one_by_one, prefetch,
};
use crate::bits;
use crate::hash::{Digest, Digests, Fast, Walk, scale};

/// Spreads what chose the block over the bits of the first word.
// FORMAT v1: frozen
pub(super) const SPREAD: u64 = 0x9e37_79b9_7f4a_7c15;

/// Where the fields of six bits begin in a word: at the top are the best bits of a product.
// FORMAT v1: frozen
pub(super) const FIRST_FIELD: u64 = 16;

/// A key's block, one of so many, and the first of the words that say its bits there.
// FORMAT v1: frozen
#[inline(always)]
pub(crate) fn locate(blocks: u64, h1: u64) -> (u64, u64) {
    (scale(h1, blocks), h1.wrapping_mul(SPREAD))
}

/// The bit of each lane that a word says: six bits a lane, counted from the most significant bit of
/// the lane, so that a shift to the left by them brings the bit to the sign.
// FORMAT v1: frozen
#[inline]
fn pattern(word: u64) -> [u64; 8] {
    let mut lanes = [0; 8];
    for (i, lane) in lanes.iter_mut().enumerate() {
        *lane = 1 << 63 >> (word >> (FIRST_FIELD as usize + 6 * i) & 63);
    }
    lanes
}

/// All lanes, without a branch: which lane fails first is a coin toss that no processor predicts.
#[inline]
fn has(block: &Block, word: u64) -> bool {
    let lanes = block.as_chunks::<8>().0.iter().map(|lane| u64::from_le_bytes(*lane));
    lanes.zip(pattern(word)).fold(0, |missing, (lane, bit)| missing | (bit & !lane)) == 0
}

#[inline]
fn set(block: &mut Block, word: u64) -> bool {
    let mut missing = 0;
    for (lane, bit) in block.as_chunks_mut::<8>().0.iter_mut().zip(pattern(word)) {
        let before = u64::from_le_bytes(*lane);
        missing |= bit & !before;
        *lane = (before | bit).to_le_bytes();
    }
    missing != 0
}

impl Kernels for Scalar {
    type Walks = Rounds;

    const HASHES_TOGETHER: bool = false;

    /// A call, so that it does not take the registers of the other levels where a loop has all.
    #[inline(never)]
    fn has(self, block: &Block, word: u64) -> bool {
        has(block, word)
    }

    #[inline(never)]
    fn set(self, block: &mut Block, word: u64) -> bool {
        set(block, word)
    }

    fn hash_naturals(self, fast: &Fast, h1: &mut [u64], h2: Option<&mut [u64]>) {
        match h2 {
            Some(h2) => {
                for (h1, h2) in h1.iter_mut().zip(h2) {
                    Digest { h1: *h1, h2: *h2 } = fast.natural(*h1);
                }
            }
            None => h1.iter_mut().for_each(|h1| *h1 = fast.natural(*h1).h1),
        }
    }

    fn contains_blocks(
        self,
        shape: BlockShape,
        blocks: &[Block],
        pending: &mut Positions,
        coming: Coming<'_>,
        answers: &mut Answers<'_>,
    ) {
        let mut room = None;
        let coming = coming.digests(&mut room);
        if shape.two_words {
            contains_blocks::<true>(shape, blocks, pending, coming, answers, has);
        } else {
            contains_blocks::<false>(shape, blocks, pending, coming, answers, has);
        }
    }

    fn insert_blocks(
        self,
        shape: BlockShape,
        blocks: &mut [Block],
        pending: &mut Positions,
        coming: &Digests,
    ) -> u64 {
        if shape.two_words {
            insert_blocks::<true>(shape, blocks, pending, coming, set)
        } else {
            insert_blocks::<false>(shape, blocks, pending, coming, set)
        }
    }

    fn find_regions(self, blocks: u64, region: u32, h1: &[u64; BATCH], regions: &mut [u32; BATCH]) {
        for (found, h1) in regions.iter_mut().zip(h1) {
            *found = (locate(blocks, one_by_one(*h1)).0 >> region) as u32;
        }
    }

    fn walks(self, shape: WalkShape) -> Rounds {
        Rounds { shape, pending: Digests::new(), number: 0 }
    }

    fn run<W: Work>(self, work: W) -> W::Output {
        work.run()
    }
}

impl Coming<'_> {
    /// The digests of the keys. Numbers are hashed one by one, into `room`.
    #[inline(always)]
    pub(super) fn digests<'b>(self, room: &'b mut Option<Digests>) -> &'b Digests
    where
        Self: 'b,
    {
        match self {
            Coming::Digests(digests) => digests,
            Coming::Naturals(fast, naturals) => {
                let digests = room.insert(Digests::new());
                let values = naturals.values.iter().take(naturals.len);
                digests.fill(values.map(|value| fast.natural(*value)));
                digests
            }
        }
    }
}

/// Where a key goes: its block, counted from the first one here, and its word.
#[inline(always)]
fn position(shape: BlockShape, h1: u64) -> (u64, u64) {
    let (block, word) = locate(shape.blocks, one_by_one(h1));
    (block.wrapping_sub(shape.first), word)
}

/// Looks up keys with a test that is given. What is near is tested at once. What is far is fetched,
/// and tested when the next batch comes, one key beside the other, so that there is always
/// something to do while memory is waited for.
#[inline(always)]
pub(super) fn contains_blocks<const TWO_WORDS: bool>(
    shape: BlockShape,
    blocks: &[Block],
    pending: &mut Positions,
    coming: &Digests,
    answers: &mut Answers<'_>,
    has: impl Fn(&Block, u64) -> bool,
) {
    if !shape.far {
        let now = answers.next(coming.len);
        for (answer, (h1, h2)) in now.iter_mut().zip(coming.h1.iter().zip(&coming.h2)) {
            let (block, word) = position(shape, *h1);
            let block = &blocks[block as usize];
            *answer = has(block, word) & (!TWO_WORDS || has(block, *h2));
        }
        return;
    }
    let now = answers.next(pending.len);
    let beside = pending.len.min(coming.len);
    let probe = |pending: &Positions, i: usize| {
        let block = &blocks[pending.block[i] as usize];
        has(block, pending.word[i]) & (!TWO_WORDS || has(block, pending.second[i]))
    };
    for (i, answer) in now[..beside].iter_mut().enumerate() {
        *answer = probe(pending, i);
        pending.put::<TWO_WORDS>(i, shape, blocks, coming);
    }
    for (i, answer) in now.iter_mut().enumerate().skip(beside) {
        *answer = probe(pending, i);
    }
    for i in beside..coming.len {
        pending.put::<TWO_WORDS>(i, shape, blocks, coming);
    }
    pending.len = coming.len;
}

/// The same with insertions; says how many keys were certainly new.
#[inline(always)]
pub(super) fn insert_blocks<const TWO_WORDS: bool>(
    shape: BlockShape,
    blocks: &mut [Block],
    pending: &mut Positions,
    coming: &Digests,
    set: impl Fn(&mut Block, u64) -> bool,
) -> u64 {
    let mut new = 0;
    if !shape.far {
        for (h1, h2) in coming.h1.iter().zip(&coming.h2).take(coming.len) {
            let (block, word) = position(shape, *h1);
            let block = &mut blocks[block as usize];
            new += u64::from(set(block, word) | (TWO_WORDS && set(block, *h2)));
        }
        return new;
    }
    let beside = pending.len.min(coming.len);
    let probe = |blocks: &mut [Block], pending: &Positions, i: usize| {
        let block = &mut blocks[pending.block[i] as usize];
        u64::from(set(block, pending.word[i]) | (TWO_WORDS && set(block, pending.second[i])))
    };
    for i in 0..beside.min(BATCH) {
        new += probe(blocks, pending, i);
        pending.put::<TWO_WORDS>(i, shape, blocks, coming);
    }
    for i in beside..pending.len {
        new += probe(blocks, pending, i);
    }
    for i in beside..coming.len {
        pending.put::<TWO_WORDS>(i, shape, blocks, coming);
    }
    pending.len = coming.len;
    new
}

impl Positions {
    /// Finds the place of a key, and starts to fetch its block.
    #[inline(always)]
    fn put<const TWO_WORDS: bool>(
        &mut self,
        i: usize,
        shape: BlockShape,
        blocks: &[Block],
        digests: &Digests,
    ) {
        let (block, word) = position(shape, digests.h1[i]);
        prefetch::read(blocks.as_ptr().wrapping_add(block as usize));
        (self.block[i], self.word[i]) = (block, word);
        if TWO_WORDS {
            self.second[i] = digests.h2[i];
        }
    }
}

/// Two places of every key of a batch, then two more of those that passed, and so on.
pub(crate) struct Rounds {
    shape: WalkShape,
    /// Keys whose first places are being fetched.
    pending: Digests,
    /// The number of the first one.
    number: usize,
}

impl Walks for Rounds {
    fn push(&mut self, body: &[u8], digests: &Digests, answers: &mut [bool]) {
        if !self.shape.far {
            let end = self.number + digests.len;
            look_in_rounds(self.shape, body, digests, &mut answers[self.number..end]);
            self.number = end;
            return;
        }
        // The first two places of a lookup: one stranger in four goes on to a third.
        for digest in digests.iter() {
            Walk::new(digest, self.shape.cells).prefetch(body, self.shape.hashes.min(2));
        }
        self.finish(body, answers);
        self.pending.copy_from(digests);
    }

    fn finish(&mut self, body: &[u8], answers: &mut [bool]) {
        let end = self.number + self.pending.len;
        look_in_rounds(self.shape, body, &self.pending, &mut answers[self.number..end]);
        self.number = end;
        self.pending.clear();
    }
}

/// Keys that pass are sorted out by counting, not by branching, and the next places of those left
/// are asked for a whole round before they are needed.
fn look_in_rounds(shape: WalkShape, body: &[u8], digests: &Digests, answers: &mut [bool]) {
    let WalkShape { cells, hashes, .. } = shape;
    // Those left: which they are, and how far they have walked.
    let mut left = [(0, 0); BATCH];
    let mut count = 0;
    for (i, digest) in digests.iter().enumerate() {
        let mut walk = Walk::new(digest, cells);
        let passes = bits::get(body, walk.next()) & (hashes == 1 || bits::get(body, walk.next()));
        left[count] = (i, walk.x());
        count += usize::from(passes);
    }
    let mut asked = hashes.min(2);
    while count > 0 && asked < hashes {
        let walk = |(i, x): (usize, u64)| Walk::new(Digest { h1: x, h2: digests.h2[i] }, cells);
        let two = asked + 1 < hashes;
        if shape.later_far {
            left[..count].iter().for_each(|key| walk(*key).prefetch(body, 1 + u32::from(two)));
        }
        let before = std::mem::take(&mut count);
        for at in 0..before {
            let mut walk = walk(left[at]);
            let passes = bits::get(body, walk.next()) & (!two || bits::get(body, walk.next()));
            left[count] = (left[at].0, walk.x());
            count += usize::from(passes);
        }
        asked += 2;
    }
    left[..count].iter().for_each(|(i, _)| answers[*i] = true);
}
