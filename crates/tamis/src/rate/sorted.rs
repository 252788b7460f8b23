//! Inserting very many keys, sorted by the region of the filter that they fall into.
//!
//! In a filter past the caches every key costs a trip to memory. So keys are taken a stretch at a
//! time, several for every cache line: they are hashed and sorted by region, and then one region
//! after the other gets its keys, and its lines come from memory once for all of them. With several
//! threads, each hashes and sorts pieces of the stretch, and then each takes one region after the
//! other. Nobody locks anything for a key, and every line gets its keys in their order: the result
//! is that of one key after the other, bit for bit.
//!
//! What is sorted are units: keys, or the places of keys. [`Units`] says which.

use super::Plan;
use crate::hash::Digests;
use crate::simd::{BATCH, Kernels, prefetch};
use crate::store::{Store, filled};
use crate::threads::share;
use crate::{Error, HashFamily, Key, Kinds};
use bytemuck::Pod;
use std::sync::{Mutex, PoisonError};

/// Filters up to this size are filled as fast one key after the other: the caches hold them.
const NEAR: u64 = 32 << 20;

/// The same, if several threads share the work.
const NEAR_FOR_THREADS: u64 = 8 << 20;

/// A cache line.
const LINE: u64 = 64;

/// The logarithm of the number of cache lines of a region: 512 KiB, which stay in the nearer
/// caches.
pub(super) const REGION: u32 = 13;

/// The units of a stretch for every cache line. With units of a word they take half the filter's
/// memory.
const DEPTH: usize = 4;

/// The units of a piece for every region: so many that they are read from memory as a stream, and
/// not a power of two, since all regions would then be filled at addresses that share a few sets of
/// the caches.
const RUN: usize = 264;

/// Parts of a stretch that a thread takes, one after the other.
const TURNS: usize = 4;

/// How many units ahead of its last one the memory of a region is asked for.
const AHEAD: usize = 16;

/// How many lines of a run are asked for while the one before is inserted.
const LINES: usize = 16;

/// What is sorted.
pub(super) trait Units: Sized {
    /// What is kept of a unit.
    type Unit: Pod + Send + Sync;

    /// What a filter needs to know of a stretch of its keys.
    type Stretch: Sync;

    /// How many units a key has.
    fn for_each_key(plan: &Plan) -> usize;

    /// Room for what is known of so many keys.
    fn stretch(plan: &Plan, keys: usize) -> Result<Self::Stretch, Error>;

    /// Makes the units of hashed keys, the first of which has this number in its stretch, and
    /// says in which regions of 2^`region` lines they fall.
    fn make<N: Kernels>(
        kernels: N,
        plan: &Plan,
        region: u32,
        number: usize,
        digests: &Digests,
        into: &mut Unsorted<Self::Unit>,
    );

    /// Whether h2 of the keys is needed.
    fn need_h2(plan: &Plan) -> bool;

    /// Inserts the units that fall into a region; says how many keys were certainly new, as far as
    /// that is known by then.
    fn insert<'a, N: Kernels>(
        kernels: N,
        plan: &Plan,
        stretch: &Self::Stretch,
        region: Region<'_>,
        runs: impl Iterator<Item = &'a [Self::Unit]>,
    ) -> u64;

    /// How many more keys of a stretch were certainly new; the next stretch begins.
    fn finish(stretch: &Self::Stretch) -> u64;
}

/// A region of a body.
pub(super) struct Region<'a> {
    pub(super) bytes: &'a mut [u8],
    pub(super) number: usize,
    /// The logarithm of the number of cache lines of a region.
    pub(super) lines: u32,
}

/// Room for units while they are sorted.
pub(super) struct Sorting<U: Units> {
    sorted: Store,
    ends: Vec<usize>,
    regions: usize,
    /// For every thread, the units of a piece before they are sorted.
    unsorted: Vec<Unsorted<U::Unit>>,
    stretch: U::Stretch,
    /// How many keys a piece takes: whole batches.
    piece: usize,
    /// How many units a key has.
    for_each_key: usize,
    /// The logarithm of the number of cache lines of a region.
    region: u32,
}

impl<U: Units> Sorting<U> {
    /// Room for so many keys, if sorting them pays and there is memory for it.
    pub(super) fn new(plan: &Plan, keys: usize, threads: usize) -> Option<Sorting<U>> {
        let (near, few) = if threads > 1 { (NEAR_FOR_THREADS, 8) } else { (NEAR, 1) };
        let units = keys.saturating_mul(U::for_each_key(plan)) as u64;
        let pays = plan.bytes() > near && units >= plan.bytes() / LINE / few;
        if pays { Sorting::with_region(plan, keys, threads, REGION).ok() } else { None }
    }

    pub(super) fn with_region(
        plan: &Plan,
        keys: usize,
        threads: usize,
        region: u32,
    ) -> Result<Sorting<U>, Error> {
        let for_each_key = U::for_each_key(plan);
        let regions = plan.bytes().div_ceil(LINE << region) as usize;
        let piece = (RUN * regions).div_ceil(for_each_key).next_multiple_of(BATCH);
        let count = ((DEPTH << region) / RUN).clamp(1, keys.div_ceil(piece).max(1));
        let units = piece * for_each_key;
        let threads = threads.clamp(1, count.div_ceil(TURNS));
        let unsorted = (0..threads).map(|_| Unsorted::new(units)).collect::<Result<_, Error>>()?;
        Ok(Sorting {
            sorted: Store::zeroed((size_of::<U::Unit>() * count * units) as u64)?,
            ends: filled(0, count * regions)?,
            stretch: U::stretch(plan, count * piece)?,
            unsorted,
            regions,
            piece,
            for_each_key,
            region,
        })
    }

    /// Puts keys in, and says how many were certainly new.
    pub(super) fn insert<K: Key, N: Kernels>(
        mut self,
        kernels: N,
        plan: &Plan,
        hash: &HashFamily,
        body: &mut [u8],
        kinds: &mut Kinds,
        keys: &mut impl Iterator<Item = K>,
    ) -> u64 {
        let (region, count) = (self.region, self.piece);
        let Some(mut unsorted) = self.unsorted.pop() else { return 0 };
        let (mut pieces, stretch) = self.pieces();
        let mut new = 0;
        loop {
            let mut any = false;
            for (i, piece) in pieces.iter_mut().enumerate() {
                let number = i * count;
                unsorted.hash::<U, _, _>(kernels, plan, hash, region, (number, count), kinds, keys);
                piece.sort(&unsorted);
                any |= !unsorted.units.is_empty();
            }
            if !any {
                return new;
            }
            new += drain_into::<U, _>(kernels, plan, body, region, stretch, &mut pieces, 1);
        }
    }

    /// The same with several threads.
    pub(super) fn insert_parallel<K: Key + Sync, N: Kernels>(
        mut self,
        kernels: N,
        plan: &Plan,
        hash: &HashFamily,
        body: &mut [u8],
        kinds: &mut Kinds,
        keys: &[K],
    ) -> u64 {
        let (region, count, threads) = (self.region, self.piece, self.unsorted.len());
        let unsorted = Mutex::new(std::mem::take(&mut self.unsorted));
        let unsorted = || unsorted.lock().unwrap_or_else(PoisonError::into_inner);
        let (mut pieces, stretch) = self.pieces();
        let turn = pieces.len().div_ceil(TURNS * threads);
        let mut new = 0;
        for part in keys.chunks(count * pieces.len()) {
            let turns = part.chunks(turn * count).zip(pieces.chunks_mut(turn)).enumerate();
            let hashed = share(threads, turns, |(i, (keys, pieces))| {
                let mut kinds = Kinds::default();
                // There is one for every thread.
                let mut own = unsorted().pop().unwrap_or_default();
                for (j, (piece, keys)) in pieces.iter_mut().zip(keys.chunks(count)).enumerate() {
                    let number = (i * turn + j) * count;
                    let keys = &mut keys.iter();
                    own.hash::<U, _, _>(
                        kernels,
                        plan,
                        hash,
                        region,
                        (number, count),
                        &mut kinds,
                        keys,
                    );
                    piece.sort(&own);
                }
                unsorted().push(own);
                kinds
            });
            hashed.into_iter().for_each(|part| kinds.add(part));
            new += drain_into::<U, _>(kernels, plan, body, region, stretch, &mut pieces, threads);
        }
        new
    }

    /// The bytes of the sorted units, those of a thread's unsorted ones, and how many threads.
    #[cfg(test)]
    pub(super) fn sizes(&self) -> (usize, usize, usize) {
        let scratch = |own: &Unsorted<U::Unit>| {
            4 * own.regions.capacity() + size_of::<U::Unit>() * own.units.capacity()
        };
        let scratch = self.unsorted.iter().map(scratch).max().unwrap_or(0);
        (self.sorted.bytes().len(), scratch, self.unsorted.len())
    }

    fn pieces(&mut self) -> (Vec<Piece<'_, U::Unit>>, &U::Stretch) {
        let sorted: &mut [U::Unit] = bytemuck::cast_slice_mut(self.sorted.bytes_mut());
        let pieces = sorted
            .chunks_mut(self.piece * self.for_each_key)
            .zip(self.ends.chunks_mut(self.regions))
            .map(|(units, ends)| Piece { units, ends })
            .collect();
        (pieces, &self.stretch)
    }
}

/// Units in the order of their regions, and, within each, in their own.
struct Piece<'a, U> {
    units: &'a mut [U],
    /// Where the units of each region end.
    ends: &'a mut [usize],
}

/// Inserts the units of pieces, which are empty afterwards; says how many keys were certainly new.
fn drain_into<U: Units, N: Kernels>(
    kernels: N,
    plan: &Plan,
    body: &mut [u8],
    lines: u32,
    stretch: &U::Stretch,
    pieces: &mut [Piece<'_, U::Unit>],
    threads: usize,
) -> u64 {
    let regions = body.chunks_mut((LINE as usize) << lines).enumerate();
    let new = share(threads, regions, |(number, bytes)| {
        let mut runs = pieces.iter().map(|piece| piece.run(number)).peekable();
        let runs = std::iter::from_fn(|| {
            let run = runs.next();
            // By the time its turn comes, the next run has begun to arrive.
            if let Some(next) = runs.peek() {
                let line = LINE as usize / size_of::<U::Unit>();
                next.iter().step_by(line).take(LINES).for_each(|unit| prefetch::read(unit));
            }
            run
        });
        U::insert(kernels, plan, stretch, Region { bytes, number, lines }, runs)
    });
    // The next stretch may be shorter, and leave some pieces untouched.
    pieces.iter_mut().for_each(|piece| piece.ends.fill(0));
    new.into_iter().sum::<u64>() + U::finish(stretch)
}

impl<T: Copy> Piece<'_, T> {
    /// The units of a region.
    fn run(&self, region: usize) -> &[T] {
        let start = if region == 0 { 0 } else { self.ends[region - 1] };
        &self.units[start..self.ends[region]]
    }

    /// Takes units, in the order of their regions.
    fn sort(&mut self, unsorted: &Unsorted<T>) {
        unsorted.regions.iter().for_each(|region| self.ends[*region as usize] += 1);
        // Where each region begins; while it fills, its beginning becomes its end.
        let mut sum = 0;
        for end in &mut *self.ends {
            sum += std::mem::replace(end, sum);
        }
        let (units, ends) = (&mut *self.units, &mut *self.ends);
        for (region, unit) in unsorted.regions.iter().zip(&unsorted.units) {
            let end = &mut ends[*region as usize];
            units[*end] = *unit;
            // There are more regions than a processor can foresee.
            prefetch::read(units.as_ptr().wrapping_add(*end + AHEAD));
            *end += 1;
        }
    }
}

/// Units of a piece in their own order.
pub(super) struct Unsorted<T> {
    pub(super) regions: Vec<u32>,
    pub(super) units: Vec<T>,
}

impl<T> Default for Unsorted<T> {
    fn default() -> Self {
        Unsorted { regions: Vec::new(), units: Vec::new() }
    }
}

impl<T: Pod> Unsorted<T> {
    /// Room for a piece. Memory that cannot be had is an error, not an abort.
    fn new(units: usize) -> Result<Unsorted<T>, Error> {
        let (mut regions, mut all) = (filled(0, units)?, filled(T::zeroed(), units)?);
        regions.clear();
        all.clear();
        Ok(Unsorted { regions, units: all })
    }

    /// Hashes the next keys, until there are no more or the piece is full, and makes their units.
    /// The first key of the piece has a number in its stretch, and there is room for a count.
    #[allow(clippy::too_many_arguments)]
    fn hash<U: Units<Unit = T>, K: Key, N: Kernels>(
        &mut self,
        kernels: N,
        plan: &Plan,
        hash: &HashFamily,
        region: u32,
        (number, count): (usize, usize),
        kinds: &mut Kinds,
        keys: &mut impl Iterator<Item = K>,
    ) {
        let mut digests = Digests::new();
        self.regions.clear();
        self.units.clear();
        let mut done = 0;
        while done < count {
            kinds.add(digests.hash_next(kernels, hash, keys, U::need_h2(plan)));
            if digests.len == 0 {
                break;
            }
            U::make(kernels, plan, region, number + done, &digests, self);
            done += digests.len;
        }
    }
}
