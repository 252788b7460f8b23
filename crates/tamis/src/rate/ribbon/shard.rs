//! From the digests of a shard to its bytes.

use super::plan::StaticPlan;
use super::row::{self, COLUMNS};
use super::shape::{BUCKET, Layer, Shape, System};
use super::solve::{Band, Equation, Value};
use super::sort::sort_and_dedup;
use crate::store::{filled, memory};
use crate::{Digest, Error};

/// The bytes of a shard's numbers: its index, its keys, and how many are left over.
const RECORD: usize = 24;

/// A part of a [`StaticFilter`](super::StaticFilter), built by itself: on any thread or machine, in
/// any order.
///
/// It has the bytes of its part of the filter, and the few keys that found no room in it. Those of
/// all shards share one last layer. A [`Part`](crate::format::Part) carries shards to another
/// machine.
///
/// ```
/// use tamis::{Digest, HashFamily, StaticFilter, rate::{Shard, StaticPlan}};
/// let hash = HashFamily::default();
/// let digests: Vec<Digest> = (0..5_000_000u64).filter_map(|key| hash.digest(key)).collect();
/// let plan = StaticPlan::new(5_000_000, 0.01)?;
/// let shards = (0..plan.shards()).rev().map(|index| {
///     let own = digests.iter().filter(|digest| plan.shard_of(**digest) == index);
///     plan.build_shard(index, own.copied().collect())
/// });
/// let joined = StaticFilter::join(plan, hash, tamis::Kinds::INTEGERS, shards)?;
/// assert!(joined == StaticFilter::build(0..5_000_000u64, 0.01)?);
/// # Ok::<(), tamis::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Shard {
    pub(super) shape: Shape,
    index: u64,
    items: u64,
    /// Blocks and thresholds of layer 1, then of layer 2.
    pub(super) body: Vec<u8>,
    /// The keys for the last layer.
    pub(super) left: Vec<Digest>,
}

impl Shard {
    /// Which shard it is, from 0.
    #[must_use]
    pub fn index(&self) -> u64 {
        self.index
    }

    /// Its distinct keys.
    #[must_use]
    pub fn items(&self) -> u64 {
        self.items
    }

    /// Appends the shard to the bytes of a part.
    pub(crate) fn put(&self, out: &mut Vec<u8>) -> Result<(), Error> {
        let length = RECORD + 16 * self.left.len() + self.body.len();
        out.try_reserve(length).map_err(|_| memory(length as u64))?;
        let numbers = [self.index, self.items, self.left.len() as u64];
        let left = self.left.iter().flat_map(|digest| [digest.h1, digest.h2]);
        out.extend(numbers.into_iter().chain(left).flat_map(u64::to_le_bytes));
        out.extend_from_slice(&self.body);
        Ok(())
    }
}

impl StaticPlan {
    /// Builds a shard out of the digests of its keys, in any order and as often as they come. The
    /// bytes depend on the set alone.
    pub fn build_shard(&self, index: u64, mut digests: Vec<Digest>) -> Result<Shard, Error> {
        self.check_index(index)?;
        if let Some(other) =
            digests.iter().map(|digest| self.shard_of(*digest)).find(|i| *i != index)
        {
            return Err(Error::Mismatch {
                field: "shard",
                left: index.to_string(),
                right: other.to_string(),
            });
        }
        sort_and_dedup(&mut digests, &mut Vec::new())?;
        Workshop::new(self.shape()).build(index, &digests)
    }

    /// Takes a shard of this plan off the front of the bytes of a part.
    pub(crate) fn take_shard(&self, bytes: &mut &[u8]) -> Result<Shard, Error> {
        let cut = |needed: u64, got: usize| Error::Length { expected: needed, got: got as u64 };
        let (numbers, rest) =
            bytes.split_first_chunk::<RECORD>().ok_or(cut(RECORD as u64, bytes.len()))?;
        let number = |at: usize, bytes: &[u8]| {
            let mut word = [0; 8];
            word.copy_from_slice(&bytes[8 * at..8 * at + 8]);
            u64::from_le_bytes(word)
        };
        let [index, items, left] = [0, 1, 2].map(|at| number(at, numbers));
        self.check_index(index)?;
        if left > items || left > rest.len() as u64 / 16 {
            return Err(Error::Field { field: "number of keys left", got: left.to_string() });
        }
        let (left, rest) = rest.split_at(16 * left as usize);
        let body: u64 =
            self.shape().pieces(index).iter().map(|piece| piece.end - piece.start).sum();
        if body > rest.len() as u64 {
            return Err(cut(body, rest.len()));
        }
        let (body, rest) = rest.split_at(body as usize);
        let left =
            left.chunks_exact(16).map(|pair| Digest { h1: number(0, pair), h2: number(1, pair) });
        *bytes = rest;
        Ok(Shard { shape: *self.shape(), index, items, body: body.to_vec(), left: left.collect() })
    }

    fn check_index(&self, index: u64) -> Result<(), Error> {
        if index < self.shards() {
            return Ok(());
        }
        Err(Error::Mismatch {
            field: "number of shards",
            left: self.shards().to_string(),
            right: index.saturating_add(1).to_string(),
        })
    }
}

/// What it takes to build shards one after the other, for fingerprints of some width.
pub(super) enum Workshop {
    Narrow(Shape, Band<u8>),
    Middle(Shape, Band<u16>),
    Wide(Shape, Band<u64>),
}

impl Workshop {
    pub(super) fn new(shape: &Shape) -> Workshop {
        match shape.width {
            ..=8 => Workshop::Narrow(*shape, Band::new()),
            9..=16 => Workshop::Middle(*shape, Band::new()),
            _ => Workshop::Wide(*shape, Band::new()),
        }
    }

    /// Builds a shard out of its keys, which are sorted and distinct.
    pub(super) fn build(&mut self, index: u64, keys: &[Digest]) -> Result<Shard, Error> {
        match self {
            Workshop::Narrow(shape, band) => build_shard(shape, band, index, keys),
            Workshop::Middle(shape, band) => build_shard(shape, band, index, keys),
            Workshop::Wide(shape, band) => build_shard(shape, band, index, keys),
        }
    }

    /// Builds the last layer out of what the shards left over.
    pub(super) fn build_last(&mut self, keys: &mut [Digest], out: &mut [u8]) -> Result<(), Error> {
        match self {
            Workshop::Narrow(shape, band) => build_last(shape, band, keys, out),
            Workshop::Middle(shape, band) => build_last(shape, band, keys, out),
            Workshop::Wide(shape, band) => build_last(shape, band, keys, out),
        }
    }
}

fn build_shard<V: Value>(
    shape: &Shape,
    band: &mut Band<V>,
    index: u64,
    keys: &[Digest],
) -> Result<Shard, Error> {
    let lengths = shape.pieces(index).map(|piece| (piece.end - piece.start) as usize);
    let mut body = filled(0u8, lengths.iter().sum())?;
    let (first_blocks, rest) = body.split_at_mut(lengths[0]);
    let (first_cuts, rest) = rest.split_at_mut(lengths[1]);
    let (second_blocks, second_cuts) = rest.split_at_mut(lengths[2]);
    let [first, second, _] = shape.layers();
    let items = keys.len() as u64;
    let mut left = Vec::new();
    if first.blocks == 0 {
        left.extend_from_slice(keys);
    } else {
        let block_of = |digest| row::first_block(digest, first.blocks);
        let part = Part { layer: &first, first: index * shape.blocks[0], blocks: shape.blocks[0] };
        part.build(band, keys, block_of, first_blocks, first_cuts, &mut left)?;
    }
    if second.blocks > 0 {
        let blocks = shape.blocks[1];
        let block_of = |digest| index * blocks + row::later_block(digest, 2, blocks);
        let keys = sorted_by_block(std::mem::take(&mut left), block_of);
        let part = Part { layer: &second, first: index * blocks, blocks };
        part.build(band, &keys, block_of, second_blocks, second_cuts, &mut left)?;
    }
    Ok(Shard { shape: *shape, index, items, body, left })
}

fn sorted_by_block(mut keys: Vec<Digest>, block_of: impl Fn(Digest) -> u64) -> Vec<Digest> {
    keys.sort_unstable_by_key(|digest| (block_of(*digest), digest.h1, digest.h2));
    keys
}

/// A shard's part of a layer.
struct Part<'a> {
    layer: &'a Layer,
    /// Its first block.
    first: u64,
    blocks: u64,
}

impl Part<'_> {
    /// Builds the part out of keys that are sorted by block. Those that do not fit go to `left`.
    fn build<V: Value>(
        &self,
        band: &mut Band<V>,
        keys: &[Digest],
        block_of: impl Fn(Digest) -> u64 + Copy,
        mut out: &mut [u8],
        cuts: &mut [u8],
        left: &mut Vec<Digest>,
    ) -> Result<(), Error> {
        for system in self.layer.systems(self.first..self.first + self.blocks) {
            let own;
            (own, out) = std::mem::take(&mut out).split_at_mut(system.bytes() as usize);
            if system.planes == 0 {
                continue; // every key passes
            }
            band.reset(system.all_blocks())?;
            let keys = of_system(keys, &system, block_of);
            let cut = |bucket: u64, code: u8| {
                let number = (bucket - self.first) / BUCKET;
                cuts[(number / 4) as usize] |= code << (2 * (number % 4));
            };
            eliminate(&system, band, keys, block_of, cut, left);
            band.solve(system.planes, |_| V::default(), own);
        }
        Ok(())
    }
}

/// The keys whose rows begin in a system.
fn of_system<'a>(
    keys: &'a [Digest],
    system: &System,
    block_of: impl Fn(Digest) -> u64,
) -> &'a [Digest] {
    let before = |end: u64| keys.partition_point(|digest| block_of(*digest) < end);
    &keys[before(system.first)..before(system.first + system.blocks)]
}

/// Inserts the keys of a system, bucket by bucket from the left. In a bucket, the blocks from the
/// third on come first, then the second, then the first: what runs over from the bucket before
/// stands in their way, so the left ones are the ones to give up.
// FORMAT v1: frozen
fn eliminate<V: Value>(
    system: &System,
    band: &mut Band<V>,
    mut keys: &[Digest],
    block_of: impl Fn(Digest) -> u64,
    mut cut: impl FnMut(u64, u8),
    left: &mut Vec<Digest>,
) {
    let System { first, planes, .. } = *system;
    let equation = |digest: &Digest| Equation {
        at: ((block_of(*digest) - first) * COLUMNS) as usize,
        coefficients: row::coefficients(*digest),
        value: V::new(row::packed_fingerprint(*digest, planes)),
    };
    let end = first + system.blocks;
    for bucket in (first..end).step_by(BUCKET as usize) {
        let until = |from: usize, block: u64| {
            let more = keys[from..].iter().take_while(|digest| block_of(**digest) < block);
            from + more.count()
        };
        let one = until(0, bucket + 1);
        let two = until(one, bucket + 2);
        let all = until(two, (bucket + BUCKET).min(end));
        let mut fits = |group: &[Digest]| band.insert(group.iter().map(equation));
        let runs_over = !system.padded && bucket + BUCKET >= end;
        let (code, bumped) = if runs_over || !fits(&keys[two..all]) {
            (3, all)
        } else if !fits(&keys[one..two]) {
            (2, two)
        } else if !fits(&keys[..one]) {
            (1, one)
        } else {
            (0, 0)
        };
        cut(bucket, code);
        left.extend_from_slice(&keys[..bumped]);
        keys = &keys[all..];
    }
}

fn build_last<V: Value>(
    shape: &Shape,
    band: &mut Band<V>,
    keys: &mut [Digest],
    out: &mut [u8],
) -> Result<(), Error> {
    let layer = shape.layers()[2];
    let block_of = |digest| row::later_block(digest, 3, layer.blocks);
    keys.sort_unstable_by_key(|digest| (block_of(*digest), digest.h1, digest.h2));
    for system in layer.systems(0..layer.blocks) {
        band.reset(system.all_blocks())?;
        // The sum of every row is to be 0, so no row contradicts others.
        band.insert(keys.iter().map(|digest| Equation {
            at: (block_of(*digest) * COLUMNS) as usize,
            coefficients: row::coefficients(*digest),
            value: V::default(),
        }));
        let mask = row::mask(system.planes);
        band.solve(system.planes, |column| V::new(row::free_value(column) & mask), out);
    }
    Ok(())
}
