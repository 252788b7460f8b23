//! Inserting very many keys, sorted by the region of the filter that they fall into.
//!
//! In a filter past the caches every key costs a trip to memory. So keys are taken a stretch at a
//! time, several for every block: they are hashed and sorted by region, and then one region after
//! the other gets its keys, and its lines come from memory once for all of them. With several
//! threads, each hashes and sorts pieces of the stretch, and then each takes one region after the
//! other. Nobody locks anything for a key, and every block gets its keys in their order: the result
//! is that of one key after the other, bit for bit.

use super::{BlockedBloom, shape};
use crate::hash::Digests;
use crate::rate::Plan;
use crate::simd::{BATCH, Block, Kernels, Positions, dispatch, prefetch};
use crate::store::{Store, filled};
use crate::threads::share;
use crate::{Error, HashFamily, Key, Kinds};
use std::sync::{Mutex, PoisonError};

/// Filters up to this size are filled as fast one key after the other: the caches hold them.
const NEAR: u64 = 32 << 20;

/// The same, if several threads share the work.
const NEAR_FOR_THREADS: u64 = 8 << 20;

/// The logarithm of the number of blocks of a region: 512 KiB, which stay in the nearer caches.
const REGION: u32 = 13;

/// The keys of a stretch for every block. Their hashes take half the filter's memory, or, with 16
/// hashes, as much as the filter.
const DEPTH: usize = 4;

/// The keys of a piece for every region: so many that they are read from memory as a stream, and
/// not a power of two, since all regions would then be filled at addresses that share a few sets of
/// the caches.
const RUN: usize = 264;

/// Parts of a stretch that a thread takes, one after the other.
const TURNS: usize = 4;

/// How many keys ahead of its last one the memory of a region is asked for.
const AHEAD: usize = 16;

/// How many lines of a run are asked for while the one before is inserted.
const LINES: usize = 16;

impl BlockedBloom {
    /// [`insert_many`](crate::rate::Filter::insert_many) with several threads: the same filter, and
    /// the same count of keys that were certainly new. Filters of up to 8 MiB are filled by one
    /// thread, for which the caches are fast enough, and so are those that get less than a key
    /// for eight blocks of 64 bytes. It takes the same memory, and one percent of the filter's for
    /// every thread.
    ///
    /// ```
    /// let keys: Vec<u64> = (0..100_000).collect();
    /// let mut seen = tamis::BlockedBloom::new(100_000, 0.01)?;
    /// let new = seen.insert_parallel(&keys, 2);
    /// let mut same = tamis::BlockedBloom::new(100_000, 0.01)?;
    /// assert_eq!(same.insert_many(&keys), new);
    /// assert_eq!(same, seen);
    /// # Ok::<(), tamis::Error>(())
    /// ```
    pub fn insert_parallel<K: Key + Sync>(&mut self, keys: &[K], threads: usize) -> u64 {
        if threads > 1
            && let Some(buffers) = SortBuffers::new(self.plan(), keys.len(), threads)
        {
            let level = self.level();
            return dispatch!(level, kernels => self.insert_sorted(kernels, keys, buffers));
        }
        self.insert_many(keys)
    }

    fn insert_sorted<K: Key + Sync, N: Kernels>(
        &mut self,
        kernels: N,
        keys: &[K],
        mut buffers: SortBuffers,
    ) -> u64 {
        let (plan, hash, kinds, body) = self.parts_mut();
        let (region, piece, threads) = (buffers.region, buffers.piece, buffers.unsorted.len());
        let unsorted = Mutex::new(std::mem::take(&mut buffers.unsorted));
        let unsorted = || unsorted.lock().unwrap_or_else(PoisonError::into_inner);
        let mut pieces = buffers.pieces();
        let turn = pieces.len().div_ceil(TURNS * threads);
        let mut new = 0;
        for stretch in keys.chunks(piece * pieces.len()) {
            let parts = stretch.chunks(turn * piece).zip(pieces.chunks_mut(turn));
            let hashed = share(threads, parts, |(keys, pieces)| {
                let mut kinds = Kinds::default();
                // There is one for every thread.
                let mut own = unsorted().pop().unwrap_or_default();
                for (piece, keys) in pieces.iter_mut().zip(keys.chunks(piece)) {
                    own.hash(kernels, plan, hash, region, &mut kinds, &mut keys.iter());
                    piece.sort(&own);
                }
                unsorted().push(own);
                kinds
            });
            hashed.into_iter().for_each(|part| kinds.add(part));
            new += drain_into(kernels, plan, body, region, &mut pieces, threads);
        }
        new
    }
}

/// Puts keys in, and says how many were certainly new.
pub(super) fn insert<K: Key, N: Kernels>(
    kernels: N,
    plan: &Plan,
    hash: &HashFamily,
    body: &mut [u8],
    kinds: &mut Kinds,
    keys: &mut impl Iterator<Item = K>,
    mut buffers: SortBuffers,
) -> u64 {
    let region = buffers.region;
    let mut unsorted = buffers.unsorted.pop().unwrap_or_default();
    let mut pieces = buffers.pieces();
    let mut new = 0;
    loop {
        let mut any = false;
        for piece in &mut pieces {
            unsorted.hash(kernels, plan, hash, region, kinds, keys);
            piece.sort(&unsorted);
            any |= !unsorted.h1.is_empty();
        }
        if !any {
            return new;
        }
        new += drain_into(kernels, plan, body, region, &mut pieces, 1);
    }
}

/// Where a stretch of keys is sorted.
pub(super) struct SortBuffers {
    h1: Store,
    /// Nothing, unless there are 16 hashes.
    h2: Store,
    ends: Vec<usize>,
    regions: usize,
    /// For every thread, the keys of a piece before they are sorted.
    unsorted: Vec<Unsorted>,
    /// How many keys a piece takes: whole batches.
    piece: usize,
    /// The logarithm of the number of blocks of a region.
    region: u32,
}

impl SortBuffers {
    /// Room for so many keys, if sorting them pays and there is memory for it.
    pub(super) fn new(plan: &Plan, keys: usize, threads: usize) -> Option<SortBuffers> {
        let (near, few) = if threads > 1 { (NEAR_FOR_THREADS, 8) } else { (NEAR, 1) };
        let pays = plan.bytes() > near && keys as u64 >= plan.blocks() / few;
        if pays { SortBuffers::with_region(plan, keys, threads, REGION).ok() } else { None }
    }

    fn with_region(
        plan: &Plan,
        keys: usize,
        threads: usize,
        region: u32,
    ) -> Result<SortBuffers, Error> {
        let regions = (plan.blocks() as usize).div_ceil(1 << region);
        let piece = (RUN * regions).next_multiple_of(BATCH);
        let count = ((DEPTH << region) / RUN).clamp(1, keys.div_ceil(piece).max(1));
        let bytes = (size_of::<u64>() * count * piece) as u64;
        let need_h2 = shape(plan).two_words;
        let threads = threads.clamp(1, count.div_ceil(TURNS));
        Ok(SortBuffers {
            h1: Store::zeroed(bytes)?,
            h2: Store::zeroed(if need_h2 { bytes } else { 0 })?,
            ends: filled(0, count * regions)?,
            unsorted: (0..threads)
                .map(|_| Unsorted::new(piece, need_h2))
                .collect::<Result<_, Error>>()?,
            regions,
            piece,
            region,
        })
    }

    fn pieces(&mut self) -> Vec<Piece<'_>> {
        let h1: &mut [u64] = bytemuck::cast_slice_mut(self.h1.bytes_mut());
        let h2: &mut [u64] = bytemuck::cast_slice_mut(self.h2.bytes_mut());
        let mut h2 = h2.chunks_mut(self.piece);
        h1.chunks_mut(self.piece)
            .zip(self.ends.chunks_mut(self.regions))
            .map(|(h1, ends)| Piece { h1, h2: h2.next().unwrap_or_default(), ends })
            .collect()
    }
}

/// Keys in the order of their regions, and, within each, in their own.
struct Piece<'a> {
    h1: &'a mut [u64],
    h2: &'a mut [u64],
    /// Where the keys of each region end.
    ends: &'a mut [usize],
}

/// Inserts the keys of pieces, which are empty afterwards; says how many were certainly new.
fn drain_into<N: Kernels>(
    kernels: N,
    plan: &Plan,
    body: &mut [u8],
    region: u32,
    pieces: &mut [Piece<'_>],
    threads: usize,
) -> u64 {
    let blocks: &mut [Block] = body.as_chunks_mut().0;
    let regions = blocks.chunks_mut(1 << region).enumerate();
    let new = share(threads, regions, |(number, blocks)| {
        let mut shape = shape(plan);
        shape.first = (number as u64) << region;
        let (mut digests, mut positions, mut new) = (Digests::new(), Positions::new(), 0);
        let mut runs = pieces.iter().map(|piece| piece.run(number)).peekable();
        while let Some((mut h1, mut h2)) = runs.next() {
            // By the time its turn comes, the next run has begun to arrive.
            if let Some((next, _)) = runs.peek() {
                next.iter().step_by(8).take(LINES).for_each(|word| prefetch::read(word));
            }
            while !h1.is_empty() {
                let taken = digests.append(h1, h2);
                (h1, h2) = (&h1[taken..], h2.get(taken..).unwrap_or_default());
                if digests.len == BATCH {
                    new += kernels.insert_blocks(shape, blocks, &mut positions, &digests);
                    digests.clear();
                }
            }
        }
        new += kernels.insert_blocks(shape, blocks, &mut positions, &digests);
        digests.clear();
        new + kernels.insert_blocks(shape, blocks, &mut positions, &digests)
    });
    // The next stretch may be shorter, and leave some pieces untouched.
    pieces.iter_mut().for_each(|piece| piece.ends.fill(0));
    new.into_iter().sum()
}

impl Piece<'_> {
    /// The hashes of the keys of a region.
    fn run(&self, region: usize) -> (&[u64], &[u64]) {
        let start = if region == 0 { 0 } else { self.ends[region - 1] };
        let range = start..self.ends[region];
        (&self.h1[range.clone()], self.h2.get(range).unwrap_or_default())
    }

    /// Takes keys, in the order of their regions.
    fn sort(&mut self, keys: &Unsorted) {
        keys.regions.iter().for_each(|region| self.ends[*region as usize] += 1);
        // Where each region begins; while it fills, its beginning becomes its end.
        let mut sum = 0;
        for end in &mut *self.ends {
            sum += std::mem::replace(end, sum);
        }
        let (h1, ends) = (&mut *self.h1, &mut *self.ends);
        for (i, (region, word)) in keys.regions.iter().zip(&keys.h1).enumerate() {
            let end = &mut ends[*region as usize];
            h1[*end] = *word;
            // There are more regions than a processor can foresee.
            prefetch::read(h1.as_ptr().wrapping_add(*end + AHEAD));
            if let Some(second) = keys.h2.get(i) {
                self.h2[*end] = *second;
            }
            *end += 1;
        }
    }
}

/// Keys of a piece in their own order, hashed.
#[derive(Default)]
struct Unsorted {
    regions: Vec<u32>,
    h1: Vec<u64>,
    /// With 16 hashes.
    h2: Vec<u64>,
    /// How many keys there is room for.
    most: usize,
}

impl Unsorted {
    /// Room for a piece. Memory that cannot be had is an error, not an abort.
    fn new(piece: usize, need_h2: bool) -> Result<Unsorted, Error> {
        let mut keys = Unsorted {
            regions: filled(0, piece)?,
            h1: filled(0, piece)?,
            h2: Vec::new(),
            most: piece,
        };
        if need_h2 {
            keys.h2 = filled(0, piece)?;
        }
        keys.clear();
        Ok(keys)
    }

    fn clear(&mut self) {
        self.regions.clear();
        self.h1.clear();
        self.h2.clear();
    }

    /// Hashes the next keys, until there are no more or the piece is full, and finds their regions.
    fn hash<K: Key, N: Kernels>(
        &mut self,
        kernels: N,
        plan: &Plan,
        hash: &HashFamily,
        region: u32,
        kinds: &mut Kinds,
        keys: &mut impl Iterator<Item = K>,
    ) {
        let need_h2 = shape(plan).two_words;
        let (mut digests, mut regions) = (Digests::new(), [0; BATCH]);
        self.clear();
        while self.h1.len() + BATCH <= self.most {
            kinds.add(digests.hash_next(kernels, hash, keys, need_h2));
            let len = digests.len;
            if len == 0 {
                break;
            }
            kernels.find_regions(plan.blocks(), region, &digests.h1, &mut regions);
            self.regions.extend_from_slice(&regions[..len]);
            self.h1.extend_from_slice(&digests.h1[..len]);
            if need_h2 {
                self.h2.extend_from_slice(&digests.h2[..len]);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rate::Kind;
    use crate::simd::{Level, locate};

    /// Every third key comes twice, and some regions get none.
    fn keys(count: u64) -> Vec<u64> {
        (0..count).flat_map(|i| if i % 3 == 0 { vec![i; 2] } else { vec![i] }).collect()
    }

    /// Any region's size and number of threads make the filter, and the count, that one key after
    /// the other makes: in filters of a block and of many, with 8 hashes and with 16, for few
    /// keys and for several stretches.
    #[test]
    fn sorting_changes_nothing() {
        for (items, fpr) in [(1, 0.01), (90, 0.01), (5_000, 0.01), (5_000, 1e-6), (200_000, 0.001)]
        {
            let new_filter = || BlockedBloom::new(items, fpr).unwrap();
            for count in [0, 1, 1_000, 90_000] {
                let keys = keys(count);
                let texts: Vec<String> = keys.iter().map(u64::to_string).collect();
                let mut one = new_filter();
                let new: u64 = keys.iter().map(|key| u64::from(one.insert(key))).sum();
                let mut with_texts = one.clone();
                let new_texts: u64 =
                    texts.iter().map(|text| u64::from(with_texts.insert(text))).sum();
                for region in [0, 3, 6, REGION] {
                    for threads in [1, 2, 3, usize::MAX] {
                        let buffers = || {
                            SortBuffers::with_region(one.plan(), keys.len(), threads, region)
                                .unwrap()
                        };
                        let case = format!(
                            "{items} items, {count} keys, regions of 2^{region}, {threads} threads"
                        );
                        for level in Level::all() {
                            let mut many = new_filter();
                            let counted = dispatch!(level, kernels => [
                                many.insert_sorted(kernels, &keys, buffers()),
                                many.insert_sorted(kernels, &texts, buffers()),
                            ]);
                            assert_eq!(counted, [new, new_texts], "{case}, {level:?}");
                            assert!(many == with_texts, "{case}, {level:?}");
                            assert_eq!(many.kinds(), with_texts.kinds(), "{case}, {level:?}");
                        }
                    }
                    for level in Level::all() {
                        let mut many = new_filter();
                        let (plan, hash, kinds, body) = many.parts_mut();
                        let buffers =
                            SortBuffers::with_region(plan, keys.len(), 1, region).unwrap();
                        let keys = &mut keys.iter();
                        let counted = dispatch!(level, kernels => {
                            insert(kernels, plan, hash, body, kinds, keys, buffers)
                        });
                        assert_eq!(counted, new, "{items} items, regions of 2^{region}, {level:?}");
                        assert!(many == one, "{items} items, regions of 2^{region}, {level:?}");
                    }
                }
            }
        }
    }

    /// Keys of one region only, all alike or not.
    #[test]
    fn one_region_may_get_everything() {
        let plan = *BlockedBloom::new(50_000, 0.01).unwrap().plan();
        let hash = HashFamily::default();
        let near = |key: &u64| locate(plan.blocks(), hash.digest(key).unwrap().h1).0 < 10;
        let near: Vec<u64> = (0..2_000_000).filter(near).collect();
        assert!(near.len() > 1_000);
        for keys in [near, vec![7; 60_000]] {
            let mut one = BlockedBloom::new(50_000, 0.01).unwrap();
            let new = one.insert_many(&keys);
            let mut many = BlockedBloom::new(50_000, 0.01).unwrap();
            let buffers = SortBuffers::with_region(&plan, keys.len(), 2, 3).unwrap();
            let level = Level::detect();
            let sorted = dispatch!(level, kernels => many.insert_sorted(kernels, &keys, buffers));
            assert_eq!(sorted, new);
            assert_eq!(many, one);
        }
    }

    /// Sorting is for large filters that get many keys, in room of half their size, or, with 16
    /// hashes, of their size; and a little for each thread.
    #[test]
    fn sorting_is_for_many_keys_in_large_filters() {
        let plan = |items, fpr| Plan::from_items_fpr(Kind::Blocked, items, fpr).unwrap();
        assert!(SortBuffers::new(&plan(1_000_000, 0.01), 1 << 30, 2).is_none());
        for (fpr, share) in [(0.01, 0.5), (1e-6, 1.0)] {
            let large = plan(50_000_000, fpr);
            assert!(
                SortBuffers::new(&large, 100_000, 2).is_none()
                    && SortBuffers::new(&large, 500_000, 1).is_none()
            );
            assert!(SortBuffers::new(&large, 500_000, 2).is_some());
            for threads in [1, usize::MAX] {
                let buffers = SortBuffers::new(&large, 1 << 30, threads).unwrap();
                let bytes = (buffers.h1.bytes().len() + buffers.h2.bytes().len()) as f64;
                assert!((bytes / large.bytes() as f64 - share).abs() < 0.01);
                let scratch = |keys: &Unsorted| {
                    4 * keys.regions.capacity() + 8 * (keys.h1.capacity() + keys.h2.capacity())
                };
                let scratch = buffers.unsorted.iter().map(scratch).max().unwrap() as f64;
                assert!(scratch / (large.bytes() as f64) < 0.015 && buffers.unsorted.len() <= 32);
            }
        }
    }

    /// The whole way, with filters that are large enough for it, and several stretches, the last
    /// one short.
    #[test]
    fn large_filters_get_the_same_keys() {
        for (items, fpr) in [(30_000_000, 0.01), (8_000_000, 1e-6)] {
            let mut one = BlockedBloom::new(items, fpr).unwrap();
            let count = one.plan().blocks() * 5 + 77;
            let keys: Vec<u64> = (0..count).map(|i| i * i % (count * 3 / 4)).collect();
            let new = keys.iter().map(|key| u64::from(one.insert(key))).sum::<u64>();
            assert!(SortBuffers::new(one.plan(), keys.len(), 1).is_some());
            let mut many = BlockedBloom::new(items, fpr).unwrap();
            assert_eq!(many.insert_many(&keys), new);
            assert!(many == one);
            many.clear();
            assert_eq!(many.insert_parallel(&keys, 3), new);
            assert!(many == one);
        }
    }
}
