//! Inserting very many keys, sorted by the region of the filter that they fall into.
//!
//! In a filter past the caches every key costs a trip to memory. So keys are taken a stretch at a
//! time, several for every block: they are hashed and sorted by region, and then one region after
//! the other gets its keys, and its lines come from memory once for all of them. With several
//! threads, each hashes and sorts pieces of the stretch, and then each takes one region after the
//! other. Nobody locks anything for a key, and every block gets its keys in their order: the result
//! is that of one key after the other, bit for bit.

use super::scalar::Block;
use super::{Blocked, BlockedBloom, aim, insert_all};
use crate::processor::{Level, one_by_one};
use crate::rate::Plan;
use crate::rate::batch::{BATCH, Batch};
use crate::rate::filter::sealed::Cells;
use crate::store::{Store, filled};
use crate::threads::share;
use crate::{Error, Key, Kinds, prefetch};
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
            && let Some(room) = Room::new(self.plan(), keys.len(), threads)
        {
            return self.insert_sorted(keys, room);
        }
        self.insert_many(keys)
    }

    fn insert_sorted<K: Key + Sync>(&mut self, keys: &[K], mut room: Room) -> u64 {
        let (plan, hash, kinds, body) = self.parts_mut();
        let (region, piece, threads) = (room.region, room.piece, room.unsorted.len());
        let unsorted = Mutex::new(std::mem::take(&mut room.unsorted));
        let unsorted = || unsorted.lock().unwrap_or_else(PoisonError::into_inner);
        let mut pieces = room.pieces();
        let turn = pieces.len().div_ceil(TURNS * threads);
        let mut new = 0;
        for stretch in keys.chunks(piece * pieces.len()) {
            let parts = stretch.chunks(turn * piece).zip(pieces.chunks_mut(turn));
            let hashed = share(threads, parts, |(keys, pieces)| {
                let (mut batches, mut kinds) = (keys.chunks(BATCH), Kinds::default());
                // There is one for every thread.
                let mut keys = unsorted().pop().unwrap_or_default();
                sort(plan, region, pieces, &mut keys, &mut |batch, both| {
                    kinds.add(batch.fill(hash, batches.next().unwrap_or_default().iter(), both));
                });
                unsorted().push(keys);
                kinds
            });
            hashed.into_iter().for_each(|part| kinds.add(part));
            new += empty(plan, body, region, &mut pieces, threads);
        }
        new
    }
}

/// Puts in the keys that `fill` puts into batches, until it has no more, and says how many were
/// certainly new.
pub(super) fn insert<'h>(
    plan: &Plan,
    body: &mut [u8],
    mut room: Room,
    mut fill: impl FnMut(&mut Batch<'h>, bool),
) -> u64 {
    let region = room.region;
    let mut keys = room.unsorted.pop().unwrap_or_default();
    let mut pieces = room.pieces();
    let mut new = 0;
    while sort(plan, region, &mut pieces, &mut keys, &mut fill) {
        new += empty(plan, body, region, &mut pieces, 1);
    }
    new
}

/// Where a stretch of keys is sorted.
pub(super) struct Room {
    h1: Store,
    /// Nothing, unless there are 16 hashes.
    h2: Store,
    ends: Vec<usize>,
    regions: usize,
    /// For every thread, the keys of a piece before they are sorted.
    unsorted: Vec<Keys>,
    /// How many keys a piece takes: whole batches.
    piece: usize,
    /// The logarithm of the number of blocks of a region.
    region: u32,
}

impl Room {
    /// Room for so many keys, if sorting them pays and there is memory for it.
    pub(super) fn new(plan: &Plan, keys: usize, threads: usize) -> Option<Room> {
        let (near, few) = if threads > 1 { (NEAR_FOR_THREADS, 8) } else { (NEAR, 1) };
        let pays = plan.bytes() > near && keys as u64 >= plan.blocks() / few;
        if pays { Room::with_region(plan, keys, threads, REGION).ok() } else { None }
    }

    fn with_region(plan: &Plan, keys: usize, threads: usize, region: u32) -> Result<Room, Error> {
        let regions = (plan.blocks() as usize).div_ceil(1 << region);
        let piece = (RUN * regions).next_multiple_of(BATCH);
        let count = ((DEPTH << region) / RUN).clamp(1, keys.div_ceil(piece).max(1));
        let bytes = (size_of::<u64>() * count * piece) as u64;
        let both = Blocked::needs_both(plan);
        let threads = threads.clamp(1, count.div_ceil(TURNS));
        Ok(Room {
            h1: Store::zeroed(bytes)?,
            h2: Store::zeroed(if both { bytes } else { 0 })?,
            ends: filled(0, count * regions)?,
            unsorted: (0..threads).map(|_| Keys::new(piece, both)).collect::<Result<_, Error>>()?,
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

/// Inserts the keys of pieces, and says how many were certainly new.
fn empty(
    plan: &Plan,
    body: &mut [u8],
    region: u32,
    pieces: &mut [Piece<'_>],
    threads: usize,
) -> u64 {
    let blocks: &mut [Block] = body.as_chunks_mut().0;
    let regions = blocks.chunks_mut(1 << region).enumerate();
    let new = share(threads, regions, |(number, blocks)| {
        let mut runs = pieces.iter().map(|piece| piece.run(number)).peekable();
        let (mut h1, mut h2): (&[u64], &[u64]) = (&[], &[]);
        insert_all(Level::detect(), plan, blocks.as_flattened_mut(), |batch, both| {
            batch.clear();
            batch.first = (number as u64) << region;
            while batch.len < BATCH {
                if h1.is_empty() {
                    match runs.next() {
                        Some(run) => (h1, h2) = run,
                        None => break,
                    }
                    // By the time its turn comes, the next run has begun to arrive.
                    if let Some((next, _)) = runs.peek() {
                        next.iter().step_by(8).take(LINES).for_each(|word| prefetch::read(word));
                    }
                }
                let (start, count) = (batch.len, h1.len().min(BATCH - batch.len));
                batch.len += count;
                batch.h1[start..batch.len].copy_from_slice(take(&mut h1, count));
                if both {
                    batch.h2[start..batch.len].copy_from_slice(take(&mut h2, count));
                }
            }
        })
    });
    // As a piece expects them; and the next stretch may be shorter, and leave some untouched.
    pieces.iter_mut().for_each(|piece| piece.ends.fill(0));
    new.into_iter().sum()
}

/// Takes the first words away.
fn take<'a>(words: &mut &'a [u64], count: usize) -> &'a [u64] {
    let (first, rest) = words.split_at(count);
    *words = rest;
    first
}

impl Piece<'_> {
    /// The hashes of the keys of a region.
    fn run(&self, region: usize) -> (&[u64], &[u64]) {
        let start = if region == 0 { 0 } else { self.ends[region - 1] };
        let range = start..self.ends[region];
        (&self.h1[range.clone()], self.h2.get(range).unwrap_or_default())
    }

    /// Takes keys, in the order of their regions.
    fn sort(&mut self, keys: &Keys) {
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

/// Keys in their own order, hashed.
#[derive(Default)]
struct Keys {
    regions: Vec<u32>,
    h1: Vec<u64>,
    /// With 16 hashes.
    h2: Vec<u64>,
}

impl Keys {
    /// Room for a piece. Memory that cannot be had is an error, not an abort.
    fn new(piece: usize, both: bool) -> Result<Keys, Error> {
        let mut keys = Keys { regions: filled(0, piece)?, h1: filled(0, piece)?, h2: Vec::new() };
        if both {
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

    /// Takes those of a batch.
    fn push(&mut self, plan: &Plan, region: u32, batch: &Batch<'_>) {
        let mut regions = [0; BATCH];
        find_regions(batch.level, plan.blocks(), region, &batch.h1, &mut regions);
        self.regions.extend_from_slice(&regions[..batch.len]);
        self.h1.extend_from_slice(&batch.h1[..batch.len]);
        if Blocked::needs_both(plan) {
            self.h2.extend_from_slice(&batch.h2[..batch.len]);
        }
    }
}

/// The regions of keys, by their h1.
#[allow(unsafe_code)]
fn find_regions(
    level: Level,
    blocks: u64,
    region: u32,
    h1: &[u64; BATCH],
    regions: &mut [u32; BATCH],
) {
    match level {
        // SAFETY: the level says that AVX-512 was detected.
        #[cfg(all(target_arch = "x86_64", not(miri)))]
        Level::Avx512 => unsafe { super::avx512::find_regions(blocks, region, h1, regions) },
        _ => {
            for (found, h1) in regions.iter_mut().zip(h1) {
                *found = (aim(blocks, one_by_one(*h1)).0 >> region) as u32;
            }
        }
    }
}

/// Hashes keys, a piece at a time, until there are no more or all pieces are full; says whether
/// there were any.
fn sort<'h>(
    plan: &Plan,
    region: u32,
    pieces: &mut [Piece<'_>],
    keys: &mut Keys,
    fill: &mut impl FnMut(&mut Batch<'h>, bool),
) -> bool {
    let both = Blocked::needs_both(plan);
    let (mut batch, mut any) = (Batch::new(), false);
    for piece in pieces {
        keys.clear();
        while keys.h1.len() + BATCH <= piece.h1.len() {
            fill(&mut batch, both);
            batch.finish(both);
            keys.push(plan, region, &batch);
            if batch.len == 0 {
                break;
            }
        }
        any |= !keys.h1.is_empty();
        piece.sort(keys);
    }
    any
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::HashFamily;
    use crate::rate::Kind;

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
                        let room =
                            || Room::with_region(one.plan(), keys.len(), threads, region).unwrap();
                        let case = format!(
                            "{items} items, {count} keys, regions of 2^{region}, {threads} threads"
                        );
                        let mut many = new_filter();
                        assert_eq!(many.insert_sorted(&keys, room()), new, "{case}");
                        assert!(many == one && many.kinds() == one.kinds(), "{case}");
                        assert_eq!(many.insert_sorted(&texts, room()), new_texts, "{case}");
                        assert!(many == with_texts && many.kinds() == with_texts.kinds(), "{case}");
                    }
                    let (mut many, hash) = (new_filter(), HashFamily::default());
                    let mut left = keys.iter();
                    let (plan, _, _, body) = many.parts_mut();
                    let room = Room::with_region(plan, keys.len(), 1, region).unwrap();
                    let counted = insert(plan, body, room, |batch, both| {
                        let _ = batch.fill(&hash, &mut left, both);
                    });
                    assert_eq!(
                        (counted, many.body()),
                        (new, one.body()),
                        "{items} items, regions of 2^{region}"
                    );
                }
            }
        }
    }

    /// Keys of one region only, all alike or not.
    #[test]
    fn one_region_may_get_everything() {
        let plan = *BlockedBloom::new(50_000, 0.01).unwrap().plan();
        let hash = HashFamily::default();
        let near = |key: &u64| aim(plan.blocks(), hash.digest(key).unwrap().h1).0 < 10;
        let near: Vec<u64> = (0..2_000_000).filter(near).collect();
        assert!(near.len() > 1_000);
        for keys in [near, vec![7; 60_000]] {
            let mut one = BlockedBloom::new(50_000, 0.01).unwrap();
            let new = one.insert_many(&keys);
            let mut many = BlockedBloom::new(50_000, 0.01).unwrap();
            let room = Room::with_region(&plan, keys.len(), 2, 3).unwrap();
            assert_eq!(many.insert_sorted(&keys, room), new);
            assert_eq!(many, one);
        }
    }

    /// Whatever the kernel, keys find their regions, and parts of a filter are filled as the whole
    /// is.
    #[test]
    fn every_level_does_the_same() {
        for (items, fpr) in [(20_000, 0.01), (20_000, 1e-6)] {
            let mut whole = BlockedBloom::new(items, fpr).unwrap();
            let new = whole.insert_many(0..items);
            let (plan, hash, region) = (whole.plan(), HashFamily::default(), 5);
            let digests: Vec<_> = (0..items).filter_map(|key| hash.digest(key)).collect();
            for level in Level::all() {
                let mut body = vec![0; whole.body().len()];
                let parts = body.as_chunks_mut::<64>().0.chunks_mut(1 << region);
                let counts = parts.enumerate().map(|(number, part)| {
                    let mut own = digests.iter().copied().filter(|digest| {
                        let (mut h1, mut found) = ([0; BATCH], [0; BATCH]);
                        h1[3] = digest.h1;
                        find_regions(level, plan.blocks(), region, &h1, &mut found);
                        found[3] as usize == number
                    });
                    insert_all(level, plan, part.as_flattened_mut(), |batch, _| {
                        (batch.level, batch.first) = (level, (number as u64) << region);
                        batch.take(&mut own);
                    })
                });
                assert_eq!(counts.sum::<u64>(), new, "{level:?}");
                assert!(body == whole.body(), "{level:?}");
            }
        }
    }

    /// Sorting is for large filters that get many keys, in room of half their size, or, with 16
    /// hashes, of their size; and a little for each thread.
    #[test]
    fn sorting_is_for_many_keys_in_large_filters() {
        let plan = |items, fpr| Plan::from_items_fpr(Kind::Blocked, items, fpr).unwrap();
        assert!(Room::new(&plan(1_000_000, 0.01), 1 << 30, 2).is_none());
        for (fpr, share) in [(0.01, 0.5), (1e-6, 1.0)] {
            let large = plan(50_000_000, fpr);
            assert!(
                Room::new(&large, 100_000, 2).is_none() && Room::new(&large, 500_000, 1).is_none()
            );
            assert!(Room::new(&large, 500_000, 2).is_some());
            for threads in [1, usize::MAX] {
                let room = Room::new(&large, 1 << 30, threads).unwrap();
                let bytes = (room.h1.bytes().len() + room.h2.bytes().len()) as f64;
                assert!((bytes / large.bytes() as f64 - share).abs() < 0.01);
                let scratch = |keys: &Keys| {
                    4 * keys.regions.capacity() + 8 * (keys.h1.capacity() + keys.h2.capacity())
                };
                let scratch = room.unsorted.iter().map(scratch).max().unwrap() as f64;
                assert!(scratch / (large.bytes() as f64) < 0.015 && room.unsorted.len() <= 32);
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
            assert!(Room::new(one.plan(), keys.len(), 1).is_some());
            let mut many = BlockedBloom::new(items, fpr).unwrap();
            assert_eq!(many.insert_many(&keys), new);
            assert!(many == one);
            many.clear();
            assert_eq!(many.insert_parallel(&keys, 3), new);
            assert!(many == one);
        }
    }
}
