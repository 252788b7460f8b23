//! Whether keys pass, one at a time or a batch.

use super::row;
use super::shape::{Layer, Shape};
use crate::simd::planes::{ODD, wrong_planes};
use crate::simd::prefetch;
use crate::{Digest, hash::Digests};

/// FORMAT v1: frozen. The blocks of a bucket that each threshold sends to the next layer, as bits:
/// none, 1, 2 or all 8.
const CUT: u32 = 0xff03_0100;

/// What lookups need to know of a layer.
#[derive(Debug, Clone, Copy)]
struct View {
    /// The blocks of all shards.
    blocks: u64,
    /// The low ones among them.
    low: u64,
    /// Where the thresholds begin.
    cuts: usize,
    /// Of low and of high blocks.
    widths: [Width; 2],
}

/// Blocks of one width.
#[derive(Debug, Clone, Copy)]
struct Width {
    /// Where block 0 would begin, if all were of this width; modulo 2^64.
    base: u64,
    /// The bytes of a block.
    stride: u64,
    /// The planes of the last word, as [`wrong_planes`] tells them.
    planes: u64,
}

impl View {
    fn new(layer: &Layer) -> View {
        let words = layer.width.div_ceil(8);
        let width = |planes: u32, base: u64| {
            let in_last = planes.saturating_sub(8 * (words - 1));
            let mask = ODD & ((1 << (2 * in_last)) - 1);
            Width { base, stride: 2 * u64::from(planes), planes: mask.into() }
        };
        View {
            blocks: layer.blocks,
            low: layer.low,
            cuts: layer.cuts as usize,
            widths: [width(layer.width - 1, layer.start), width(layer.width, layer.high_base())],
        }
    }

    /// The byte of a block's threshold.
    #[inline(always)]
    fn threshold_byte(&self, block: u64) -> usize {
        self.cuts + (block >> 5) as usize
    }

    /// Whether the keys of this block are in the next layer.
    #[inline(always)]
    fn is_cut(&self, body: &[u8], block: u64) -> bool {
        let byte = body.get(self.threshold_byte(block)).copied().unwrap_or_default();
        let code = u32::from(byte) >> (block >> 2 & 6) & 3;
        CUT >> (code * 8 + (block & 7) as u32) & 1 != 0
    }

    #[inline(always)]
    fn width(&self, block: u64) -> &Width {
        &self.widths[usize::from(block >= self.low)]
    }

    /// Whether the columns of the row add up to `value` in every plane.
    #[inline(always)]
    fn columns_match<const W: usize>(
        &self,
        body: &[u8],
        block: u64,
        coefficients: u64,
        value: u64,
    ) -> bool {
        let width = self.width(block);
        let (start, stride) = (width.start(block), width.stride as usize);
        let Some(wrong) = wrong_planes::<W>(body, start, stride, coefficients, value) else {
            return false; // no row lies outside
        };
        let before = wrong[..W - 1].iter().fold(0, |all, word| all | word & ODD);
        before | wrong[W - 1] & width.planes as u32 == 0
    }
}

impl Width {
    #[inline(always)]
    fn start(&self, block: u64) -> usize {
        self.base.wrapping_add(block.wrapping_mul(self.stride)) as usize
    }
}

/// The layers as lookups see them.
#[derive(Debug, Clone, Copy)]
pub(super) struct Views {
    layers: [View; 3],
    shards: u64,
    /// The blocks of a shard in layer 2.
    second_blocks: u64,
    /// The words of a fingerprint: eight planes each.
    words: u32,
    /// Whether there is a first layer.
    layered: bool,
}

/// Does something with the number of words of a fingerprint as a constant.
macro_rules! with_words {
    ($words:expr, $W:ident => $work:expr) => {
        match $words {
            0 | 1 => {
                const $W: usize = 1;
                $work
            }
            2 => {
                const $W: usize = 2;
                $work
            }
            3 => {
                const $W: usize = 3;
                $work
            }
            4 => {
                const $W: usize = 4;
                $work
            }
            5 => {
                const $W: usize = 5;
                $work
            }
            6 => {
                const $W: usize = 6;
                $work
            }
            _ => {
                const $W: usize = 7;
                $work
            }
        }
    };
}

impl Views {
    pub(super) fn new(shape: &Shape) -> Views {
        Views {
            layers: shape.layers().map(|layer| View::new(&layer)),
            shards: shape.shards,
            second_blocks: shape.blocks[1],
            words: shape.width.div_ceil(8),
            layered: shape.blocks[0] > 0,
        }
    }

    /// Whether the key with this digest passes.
    #[inline(always)]
    pub(super) fn passes(&self, body: &[u8], digest: Digest) -> bool {
        // Rates from 2^-8 to 1/2, and down to 2^-16.
        match (self.words, self.layered) {
            (1, true) => self.passes_first::<1>(body, digest),
            (2, true) => self.passes_first::<2>(body, digest),
            _ => self.passes_otherwise(body, digest),
        }
    }

    /// Filters of few keys, and those with long fingerprints, out of the way of the others.
    #[inline(never)]
    fn passes_otherwise(&self, body: &[u8], digest: Digest) -> bool {
        with_words!(self.words, W => {
            if self.layered {
                self.passes_first::<W>(body, digest)
            } else {
                self.passes_last::<W>(body, digest)
            }
        })
    }

    #[inline(always)]
    fn passes_first<const W: usize>(&self, body: &[u8], digest: Digest) -> bool {
        let first = &self.layers[0];
        let block = row::first_block(digest, first.blocks);
        if first.is_cut(body, block) {
            return self.passes_later::<W>(body, digest);
        }
        first.columns_match::<W>(body, block, row::coefficients(digest), row::fingerprint(digest))
    }

    /// One key in forty gets here.
    #[inline(never)]
    fn passes_later<const W: usize>(&self, body: &[u8], digest: Digest) -> bool {
        let second = &self.layers[1];
        if second.blocks > 0 {
            let own = self.second_blocks;
            let block = row::shard(digest, self.shards) * own + row::later_block(digest, 2, own);
            if !second.is_cut(body, block) {
                let (row, value) = (row::coefficients(digest), row::fingerprint(digest));
                return second.columns_match::<W>(body, block, row, value);
            }
        }
        self.passes_last::<W>(body, digest)
    }

    #[inline(always)]
    fn passes_last<const W: usize>(&self, body: &[u8], digest: Digest) -> bool {
        let last = &self.layers[2];
        let block = row::later_block(digest, 3, last.blocks);
        last.columns_match::<W>(body, block, row::coefficients(digest), 0)
    }

    /// Asks the memory for what the lookup in the first layer will read.
    #[inline(always)]
    pub(super) fn prefetch(&self, body: &[u8], digests: &Digests) {
        let first = &self.layers[0];
        for h1 in &digests.h1[..digests.len] {
            let block = crate::hash::scale(*h1, first.blocks);
            let width = first.width(block);
            let start = width.start(block);
            prefetch::byte(body, first.threshold_byte(block));
            prefetch::byte(body, start);
            prefetch::byte(body, start + 4 * width.stride as usize - 1);
        }
    }

    /// Whether each key passes.
    #[inline(always)]
    pub(super) fn passes_each(&self, body: &[u8], digests: &Digests, answers: &mut [bool]) {
        if !self.layered {
            for (answer, digest) in answers.iter_mut().zip(digests.iter()) {
                *answer = self.passes_otherwise(body, digest);
            }
            return;
        }
        with_words!(self.words, W => {
            for (answer, digest) in answers.iter_mut().zip(digests.iter()) {
                *answer = self.passes_first::<W>(body, digest);
            }
        });
    }

    /// The share of strangers that pass this very body, if the last layer passes `last` of them.
    pub(super) fn fpr(&self, body: &[u8], fprs: [f64; 3]) -> f64 {
        let left = |view: &View| {
            let cut = (0..view.blocks).filter(|block| view.is_cut(body, *block)).count();
            if view.blocks == 0 { 1.0 } else { cut as f64 / view.blocks as f64 }
        };
        let [first, second, _] = &self.layers;
        let (first, second) = (left(first), left(second));
        (1.0 - first) * fprs[0] + first * ((1.0 - second) * fprs[1] + second * fprs[2])
    }
}
