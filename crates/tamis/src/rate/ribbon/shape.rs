//! Where everything lies in the body of a static filter.

use super::row::PAD;
use crate::rate::MAX_BITS;
use std::ops::Range;

/// FORMAT v1: frozen. The blocks that share a threshold.
pub(super) const BUCKET: u64 = 8;
/// FORMAT v1: frozen. Several shards have whole bytes of thresholds: four buckets.
pub(super) const SHARD_UNIT: u64 = 4 * BUCKET;
/// The most planes: those of the lowest rate that can be asked for.
pub(super) const MAX_WIDTH: u32 = 50;

/// What a file states of the layout; everything else follows from it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Shape {
    /// The planes of a high block: the bits of a fingerprint.
    pub(crate) width: u32,
    /// The share of low blocks, which have one plane less, in units of 2^-64.
    pub(crate) low_share: u64,
    /// How many parts the first two layers are built in.
    pub(crate) shards: u64,
    /// The blocks that rows begin in: of a shard of layers 1 and 2, and of the last layer.
    pub(crate) blocks: [u64; 3],
}

/// One of the three layers. A layer without blocks is not there.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct Layer {
    /// The blocks that rows begin in, of all shards.
    pub(super) blocks: u64,
    /// How many of them are low.
    pub(super) low: u64,
    /// The planes of a high block.
    pub(super) width: u32,
    /// Where the layer begins in the body.
    pub(super) start: u64,
    /// Where its thresholds begin, which is where its blocks end.
    pub(super) cuts: u64,
}

/// A run of blocks whose rows have nothing to do with others.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct System {
    /// The first block.
    pub(super) first: u64,
    /// The blocks that rows may begin in.
    pub(super) blocks: u64,
    pub(super) planes: u32,
    /// Whether [`PAD`] blocks follow. If not, rows that begin in the last bucket would run into
    /// the next shard, so all of them go to the next layer.
    pub(super) padded: bool,
}

impl System {
    /// The blocks that have columns here.
    pub(super) fn all_blocks(&self) -> u64 {
        self.blocks + if self.padded { PAD } else { 0 }
    }

    /// The bytes of these blocks.
    pub(super) fn bytes(&self) -> u64 {
        self.all_blocks() * 2 * u64::from(self.planes)
    }
}

impl Layer {
    /// A layer of so many blocks whose bytes begin at `start`.
    // FORMAT v1: frozen
    fn new(blocks: u64, width: u32, low_share: u64, start: u64) -> Layer {
        // Whole buckets: a bucket has one width.
        let low = crate::hash::scale(low_share, blocks) / BUCKET * BUCKET;
        let mut layer = Layer { blocks, low, width, start, cuts: start };
        layer.cuts = layer.block_start(blocks) + if blocks > 0 { layer.high_bytes(PAD) } else { 0 };
        layer
    }

    fn high_bytes(&self, blocks: u64) -> u64 {
        blocks * 2 * u64::from(self.width)
    }

    fn low_bytes(&self, blocks: u64) -> u64 {
        blocks * 2 * u64::from(self.width - 1)
    }

    /// Where the high blocks would begin if all blocks before them were high: an offset that may
    /// lie before the body.
    pub(super) fn high_base(&self) -> u64 {
        let low = if self.low > 0 { self.low_bytes(self.low + PAD) } else { 0 };
        self.start.wrapping_add(low).wrapping_sub(self.high_bytes(self.low))
    }

    /// Where a block begins. The low blocks are followed by [`PAD`] more of them.
    // FORMAT v1: frozen
    fn block_start(&self, block: u64) -> u64 {
        if block < self.low {
            self.start + self.low_bytes(block)
        } else {
            self.high_base().wrapping_add(self.high_bytes(block))
        }
    }

    /// The bytes of a shard's blocks, with what pads them.
    pub(super) fn shard_blocks(&self, shard: u64, blocks: u64) -> Range<u64> {
        let (first, end) = (shard * blocks, (shard + 1) * blocks);
        let end = if end == self.blocks { self.cuts } else { self.block_start(end) };
        self.block_start(first)..end
    }

    /// The bytes of a shard's thresholds.
    pub(super) fn shard_cuts(&self, shard: u64, blocks: u64) -> Range<u64> {
        let bytes = cut_bytes(blocks);
        self.cuts + shard * bytes..self.cuts + (shard + 1) * bytes
    }

    /// The systems of a run of blocks: one, or a low and a high one.
    pub(super) fn systems(&self, blocks: Range<u64>) -> impl Iterator<Item = System> + use<> {
        let (low, all, width) = (self.low, self.blocks, self.width);
        let part = move |first: u64, end: u64, planes| {
            let padded = end == low || end == all;
            System { first, blocks: end.saturating_sub(first), planes, padded }
        };
        let Range { start, end } = blocks;
        [part(start, end.min(low), width - 1), part(start.max(low), end, width)]
            .into_iter()
            .filter(|system| system.blocks > 0)
    }

    /// The share of strangers that pass among those that are tested here.
    pub(super) fn fpr(&self) -> f64 {
        let low = if self.blocks > 0 { self.low as f64 / self.blocks as f64 } else { 0.0 };
        (1.0 + low) * 0.5f64.powi(self.width as i32)
    }
}

/// The bytes of the thresholds of so many blocks: two bits for each bucket.
// FORMAT v1: frozen
pub(super) fn cut_bytes(blocks: u64) -> u64 {
    blocks.div_ceil(BUCKET).div_ceil(4)
}

impl Shape {
    /// Whether such a filter can be: no more than [`MAX_BITS`], and every number within its range.
    /// The field that cannot be, otherwise.
    pub(crate) fn check(&self) -> Result<(), (&'static str, u64)> {
        let [first, second, last] = self.blocks;
        if !(1..=MAX_WIDTH).contains(&self.width) {
            return Err(("fingerprint width", u64::from(self.width)));
        }
        let unit = if self.shards > 1 { SHARD_UNIT } else { 1 };
        if self.shards == 0 || (self.shards > 1 && first == 0) {
            return Err(("number of shards", self.shards));
        }
        for (field, blocks) in
            [("number of blocks in layer 1", first), ("number of blocks in layer 2", second)]
        {
            // No product of these numbers can overflow: blocks have 16 bits and more.
            if !blocks.is_multiple_of(unit) || blocks > MAX_BITS / 16 / self.shards {
                return Err((field, blocks));
            }
        }
        if second > 0 && first == 0 {
            return Err(("number of blocks in layer 2", second));
        }
        if last == 0 || last > MAX_BITS / 16 {
            return Err(("number of blocks in the last layer", last));
        }
        if self.bytes() > MAX_BITS / 8 {
            return Err(("number of blocks in layer 1", first));
        }
        Ok(())
    }

    // FORMAT v1: frozen
    pub(super) fn layers(&self) -> [Layer; 3] {
        let mut start = 0;
        let mut layer = |blocks: u64, share: u64, cuts: u64| {
            let layer = Layer::new(blocks, self.width, share, start);
            start = layer.cuts + cuts;
            layer
        };
        let [first, second, last] = self.blocks;
        let (shards, share) = (self.shards, self.low_share);
        [
            layer(shards * first, share, shards * cut_bytes(first)),
            layer(shards * second, share, shards * cut_bytes(second)),
            // Few keys get here: a second width would cost more than it saves.
            layer(last, 0, 0),
        ]
    }

    /// The bytes of the body.
    // FORMAT v1: frozen
    pub(crate) fn bytes(&self) -> u64 {
        // Lookups read whole words of eight planes: zeros at the end let them.
        let tail = 16 * u64::from(self.width.div_ceil(8)) - 2 * u64::from(self.width);
        self.layers()[2].cuts + tail
    }

    /// The parts of the body that a shard fills: blocks and thresholds of layer 1, then of layer 2.
    pub(super) fn pieces(&self, shard: u64) -> [Range<u64>; 4] {
        let layers = self.layers();
        let [first, second, _] = self.blocks;
        [
            layers[0].shard_blocks(shard, first),
            layers[0].shard_cuts(shard, first),
            layers[1].shard_blocks(shard, second),
            layers[1].shard_cuts(shard, second),
        ]
    }
}
