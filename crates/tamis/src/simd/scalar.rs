//! The definition of every kernel, for every machine.

use super::{BATCH, Block256, Block512, Kernels, Scalar, WalkShape, Walks, Work, one_by_one};
use crate::bits;
use crate::hash::{Digest, Digests, Fast, Walk, scale};

/// Spreads what chose the block over the bits of the first word.
// FORMAT v1: frozen
pub(super) const SPREAD: u64 = 0x9e37_79b9_7f4a_7c15;

/// Where the fields of six bits begin in a word: at the top are the best bits of a product.
// FORMAT v1: frozen
pub(super) const FIRST_FIELD: u64 = 16;

/// A key's block of 512 bits, one of so many, and the first of the words that say its bits there.
// FORMAT v1: frozen
#[inline(always)]
pub(super) fn locate_512(blocks: u64, h1: u64) -> (u64, u64) {
    (scale(h1, blocks), h1.wrapping_mul(SPREAD))
}

/// A key's block of 256 bits, one of so many, and the word that says its bits there. The product
/// is a number with 64 binary places: its whole part is the block. The word is the first 32
/// places, which are bits of h1 that did not choose the block, and the best of those.
// FORMAT v1: frozen
#[inline(always)]
pub(super) fn locate_256(blocks: u64, h1: u64) -> (u64, u32) {
    let product = u128::from(h1) * u128::from(blocks);
    ((product >> 64) as u64, (product >> 32) as u32)
}

/// The bit of each lane that a word says: six bits a lane, counted from the most significant bit of
/// the lane, so that a shift to the left by them brings the bit to the sign.
// FORMAT v1: frozen
#[inline]
fn pattern_512(word: u64) -> [u64; 8] {
    let mut lanes = [0; 8];
    for (i, lane) in lanes.iter_mut().enumerate() {
        *lane = 1 << 63 >> (word >> (FIRST_FIELD as usize + 6 * i) & 63);
    }
    lanes
}

/// The positions of those bits in the block.
#[inline(always)]
pub(super) fn positions_512(word: u64) -> [u16; 8] {
    std::array::from_fn(|i| {
        64 * i as u16 + 63 - (word >> (FIRST_FIELD as usize + 6 * i) & 63) as u16
    })
}

/// What a word of 32 bits is multiplied by for each lane: the salts of Apache Parquet's filters,
/// which these kernels serve as well.
// FORMAT v1: frozen
pub(super) const SALTS: [u32; 8] = [
    0x47b6_137b,
    0x4497_4d91,
    0x8824_ad5b,
    0xa2b7_289d,
    0x7054_95c7,
    0x2df1_424b,
    0x9efc_4947,
    0x5c6b_fb31,
];

/// The bit of each lane that a word says: the five highest bits of a product.
// FORMAT v1: frozen
#[inline]
fn pattern_256(word: u32) -> [u32; 8] {
    SALTS.map(|salt| 1 << (word.wrapping_mul(salt) >> 27))
}

/// The positions of those bits in the block.
#[inline(always)]
pub(super) fn positions_256(word: u32) -> [u16; 8] {
    std::array::from_fn(|i| 32 * i as u16 + (word.wrapping_mul(SALTS[i]) >> 27) as u16)
}

/// All lanes, without a branch: which lane fails first is a coin toss that no processor predicts.
#[inline]
fn has_512(block: &Block512, word: u64) -> bool {
    let lanes = block.as_chunks::<8>().0.iter().map(|lane| u64::from_le_bytes(*lane));
    lanes.zip(pattern_512(word)).fold(0, |missing, (lane, bit)| missing | (bit & !lane)) == 0
}

#[inline]
fn set_512(block: &mut Block512, word: u64) -> bool {
    let mut missing = 0;
    for (lane, bit) in block.as_chunks_mut::<8>().0.iter_mut().zip(pattern_512(word)) {
        let before = u64::from_le_bytes(*lane);
        missing |= bit & !before;
        *lane = (before | bit).to_le_bytes();
    }
    missing != 0
}

#[inline]
fn has_256(block: &Block256, word: u32) -> bool {
    let lanes = block.as_chunks::<4>().0.iter().map(|lane| u32::from_le_bytes(*lane));
    lanes.zip(pattern_256(word)).fold(0, |missing, (lane, bit)| missing | (bit & !lane)) == 0
}

#[inline]
fn set_256(block: &mut Block256, word: u32) -> bool {
    let mut missing = 0;
    for (lane, bit) in block.as_chunks_mut::<4>().0.iter_mut().zip(pattern_256(word)) {
        let before = u32::from_le_bytes(*lane);
        missing |= bit & !before;
        *lane = (before | bit).to_le_bytes();
    }
    missing != 0
}

/// The same in calls, which do not take the registers of other levels in a loop that has all. They
/// are cold, so that the loop of another level runs straight on.
#[cfg_attr(any(not(target_arch = "x86_64"), miri), allow(dead_code))]
pub(super) mod called {
    use super::{Block256, Block512};

    #[cold]
    #[inline(never)]
    pub(in crate::simd) fn has_512(block: &Block512, word: u64) -> bool {
        super::has_512(block, word)
    }

    #[cold]
    #[inline(never)]
    pub(in crate::simd) fn set_512(block: &mut Block512, word: u64) -> bool {
        super::set_512(block, word)
    }

    #[cold]
    #[inline(never)]
    pub(in crate::simd) fn has_256(block: &Block256, word: u32) -> bool {
        super::has_256(block, word)
    }

    #[cold]
    #[inline(never)]
    pub(in crate::simd) fn set_256(block: &mut Block256, word: u32) -> bool {
        super::set_256(block, word)
    }
}

impl Kernels for Scalar {
    type Walks = Rounds<Scalar>;

    const HASHES_TOGETHER: bool = false;

    #[inline(always)]
    fn has_512(self, block: &Block512, word: u64) -> bool {
        has_512(block, word)
    }

    #[inline(always)]
    fn set_512(self, block: &mut Block512, word: u64) -> bool {
        set_512(block, word)
    }

    #[inline(always)]
    fn has_256(self, block: &Block256, word: u32) -> bool {
        has_256(block, word)
    }

    #[inline(always)]
    fn set_256(self, block: &mut Block256, word: u32) -> bool {
        set_256(block, word)
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

    fn find_regions(self, units: u64, region: u32, h1: &[u64; BATCH], regions: &mut [u32; BATCH]) {
        for (found, h1) in regions.iter_mut().zip(h1) {
            *found = (scale(one_by_one(*h1), units) >> region) as u32;
        }
    }

    fn walks(self, shape: WalkShape) -> Rounds<Scalar> {
        Rounds::new(self, shape)
    }

    fn run<W: Work>(self, work: W) -> W::Output {
        work.run()
    }
}

/// Some places of every key of a batch, then some more of those that passed, and so on.
pub(crate) struct Rounds<N> {
    kernels: N,
    shape: WalkShape,
    /// Keys whose first places are being fetched.
    pending: Digests,
    /// The number of the first one.
    number: usize,
}

impl<N: Kernels> Rounds<N> {
    pub(super) fn new(kernels: N, shape: WalkShape) -> Rounds<N> {
        Rounds { kernels, shape, pending: Digests::new(), number: 0 }
    }
}

impl<N: Kernels> Walks for Rounds<N> {
    fn push(&mut self, body: &[u8], digests: &Digests, answers: &mut [bool]) {
        if !self.shape.far {
            let end = self.number + digests.len;
            let answers = &mut answers[self.number..end];
            self.kernels.run(Round::<6> { shape: self.shape, body, digests, answers });
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
        let answers = &mut answers[self.number..end];
        self.kernels.run(Round::<2> { shape: self.shape, body, digests: &self.pending, answers });
        self.number = end;
        self.pending.clear();
    }
}

/// The lookups of a batch: two places of each key, and then `LATER` places at a time of those left.
/// Two where memory is far, since half of those fetched are in vain; more where it is near, since
/// sorting out those left costs more than a place.
struct Round<'a, const LATER: u32> {
    shape: WalkShape,
    body: &'a [u8],
    digests: &'a Digests,
    answers: &'a mut [bool],
}

impl<const LATER: u32> Work for Round<'_, LATER> {
    type Output = ();

    /// Keys that pass are sorted out by counting, not by branching, and the next places of those
    /// left are asked for a whole round before they are needed.
    #[inline(always)]
    fn run(self) {
        let Round { shape: WalkShape { cells, hashes, later_far, .. }, body, digests, answers } =
            self;
        // Those left: which they are, and how far they have walked.
        let mut left = [(0, 0); BATCH];
        let mut count = 0;
        for (i, digest) in digests.iter().enumerate() {
            let mut walk = Walk::new(digest, cells);
            let passes = has_places(body, &mut walk, hashes.min(2));
            left[count] = (i, walk.x());
            count += usize::from(passes);
        }
        let mut asked = hashes.min(2);
        while count > 0 && asked < hashes {
            let walk = |(i, x): (usize, u64)| Walk::new(Digest { h1: x, h2: digests.h2[i] }, cells);
            let next = (hashes - asked).min(LATER);
            if later_far {
                left[..count].iter().for_each(|key| walk(*key).prefetch(body, next));
            }
            let before = std::mem::take(&mut count);
            for at in 0..before {
                let mut walk = walk(left[at]);
                let passes = has_places(body, &mut walk, next);
                left[count] = (left[at].0, walk.x());
                count += usize::from(passes);
            }
            asked += next;
        }
        left[..count].iter().for_each(|(i, _)| answers[*i] = true);
    }
}

/// Whether the next places of a walk are set. How many they are is the same for all keys of a
/// round, so the branches of the loop are foreseen.
#[inline(always)]
fn has_places(body: &[u8], walk: &mut Walk, places: u32) -> bool {
    (0..places).fold(0, |missing, _| missing | bits::missing(body, walk.next())) == 0
}
