//! From keys to a filter.

use super::filter::StaticFilter;
use super::plan::StaticPlan;
use super::shard::{Shard, Workshop};
use super::sort::sort_and_dedup;
use crate::store::{filled, memory};
use crate::threads::share;
use crate::{Digest, Error, HashFamily, Key, Kinds};
use std::sync::Mutex;
use std::sync::mpsc::sync_channel;

/// Digests that are sorted together: they stay in a near cache.
const PART: usize = 1 << 16;

/// Collects keys, and builds a [`StaticFilter`] of them.
///
/// It takes 16 bytes a key, and as many again while it sorts them.
///
/// ```
/// use tamis::{HashFamily, rate::StaticBuilder};
/// let mut builder = StaticBuilder::new(0.001)?.hash(HashFamily::fast(7))?.threads(2);
/// builder.extend(["ant", "bee"])?;
/// builder.add("ant")?;
/// let filter = builder.build()?;
/// assert_eq!(filter.items(), 2);
/// assert!(filter.contains("ant") && filter.contains("bee"));
/// # Ok::<(), tamis::Error>(())
/// ```
#[derive(Debug, Clone)]
pub struct StaticBuilder {
    fpr: f64,
    hash: HashFamily,
    kinds: Kinds,
    threads: usize,
    digests: Vec<Digest>,
}

impl StaticBuilder {
    /// Begins a filter at the rate `fpr`, with the default hash, on all cores.
    pub fn new(fpr: f64) -> Result<StaticBuilder, Error> {
        StaticPlan::new(0, fpr)?;
        let threads = std::thread::available_parallelism().map_or(1, usize::from);
        let (hash, kinds) = (HashFamily::default(), Kinds::default());
        Ok(StaticBuilder { fpr, hash, kinds, threads, digests: Vec::new() })
    }

    /// With another hash, which must have digests.
    pub fn hash(mut self, hash: HashFamily) -> Result<StaticBuilder, Error> {
        hash.need_digest("a static filter")?;
        self.hash = hash;
        Ok(self)
    }

    /// On so many threads; at least one. The filter is the same for any number.
    #[must_use]
    pub fn threads(mut self, threads: usize) -> StaticBuilder {
        self.threads = threads.max(1);
        self
    }

    /// Adds a key.
    #[inline]
    pub fn add(&mut self, key: impl Key) -> Result<(), Error> {
        let key = key.as_key();
        if let Some(digest) = self.hash.digest(key) {
            self.push(digest)?;
            self.kinds.add(key.kinds());
        }
        Ok(())
    }

    /// Adds a key by its digest.
    #[inline]
    pub fn add_digest(&mut self, digest: Digest) -> Result<(), Error> {
        self.push(digest)?;
        self.kinds.add(Kinds::DIGESTS);
        Ok(())
    }

    /// Adds many keys.
    pub fn extend<K: Key>(&mut self, keys: impl IntoIterator<Item = K>) -> Result<(), Error> {
        let keys = keys.into_iter();
        let count = keys.size_hint().0;
        // A wrong hint is no reason to fail.
        let _ = self.digests.try_reserve(count);
        keys.into_iter().try_for_each(|key| self.add(key))
    }

    #[inline(always)]
    fn push(&mut self, digest: Digest) -> Result<(), Error> {
        if self.digests.len() == self.digests.capacity() {
            let bytes = (2 * self.digests.len() * size_of::<Digest>()) as u64;
            self.digests.try_reserve(1).map_err(|_| memory(bytes))?;
        }
        self.digests.push(digest);
        Ok(())
    }

    /// Builds the filter. It never fails but for want of memory.
    pub fn build(self) -> Result<StaticFilter, Error> {
        let digests = distinct(self.digests, self.threads)?;
        let plan = StaticPlan::new(digests.len() as u64, self.fpr)?;
        let mut rest = &digests[..];
        let mut ranges = Vec::new();
        for index in 0..plan.shards() {
            let count = rest.partition_point(|digest| plan.shard_of(*digest) <= index);
            let own;
            (own, rest) = rest.split_at(count);
            ranges.push((index, own));
        }
        let threads = self.threads.min(ranges.len());
        if threads < 2 {
            let mut workshop = Workshop::new(plan.shape());
            let shards = ranges.into_iter().map(|(index, keys)| workshop.build(index, keys));
            return StaticFilter::join(plan, self.hash, self.kinds, shards);
        }
        // Shards go to the filter as they are done, so that few of them are in memory.
        let (sender, shards) = sync_channel::<Result<Shard, Error>>(threads);
        let ranges = Mutex::new(ranges.into_iter());
        std::thread::scope(|scope| {
            let build = || {
                let sender = sender;
                let next = || ranges.lock().ok().and_then(|mut ranges| ranges.next());
                share(threads, 0..threads, |_| {
                    let mut workshop = Workshop::new(plan.shape());
                    while let Some((index, keys)) = next() {
                        if sender.send(workshop.build(index, keys)).is_err() {
                            break; // the filter was refused
                        }
                    }
                });
            };
            std::thread::Builder::new().spawn_scoped(scope, build)?;
            StaticFilter::join(plan, self.hash, self.kinds, shards)
        })
    }
}

/// Sorts all digests, and drops what comes again.
fn distinct(mut digests: Vec<Digest>, threads: usize) -> Result<Vec<Digest>, Error> {
    let count = digests.len();
    if count <= 4 * PART {
        sort_and_dedup(&mut digests, &mut Vec::new())?;
        return Ok(digests);
    }
    // By the top bits first, so that each part is sorted in a near cache.
    let bits = (count / PART).ilog2();
    let part_of = |digest: &Digest| (digest.h1 >> (64 - bits)) as usize;
    let mut starts = filled(0usize, 1 << bits)?;
    for digest in &digests {
        starts[part_of(digest)] += 1;
    }
    let lengths = starts.clone();
    let mut sum = 0;
    for start in &mut starts {
        (*start, sum) = (sum, sum + *start);
    }
    let mut sorted = filled(Digest { h1: 0, h2: 0 }, count)?;
    for digest in &digests {
        let start = &mut starts[part_of(digest)];
        sorted[*start] = *digest;
        *start += 1;
    }
    drop(digests);
    let mut rest = &mut sorted[..];
    let mut parts = Vec::new();
    for length in lengths {
        let own;
        (own, rest) = std::mem::take(&mut rest).split_at_mut(length);
        parts.push(own);
    }
    let parts = Mutex::new(parts.into_iter().enumerate());
    let next = || parts.lock().ok().and_then(|mut parts| parts.next());
    let sort_parts = |_| {
        let (mut own, mut scratch, mut kept) = (Vec::new(), Vec::new(), Vec::new());
        while let Some((index, part)) = next() {
            own.clear();
            own.try_reserve(part.len()).map_err(|_| memory((16 * part.len()) as u64))?;
            own.extend_from_slice(part);
            sort_and_dedup(&mut own, &mut scratch)?;
            part[..own.len()].copy_from_slice(&own);
            kept.push((index, part.len(), own.len()));
        }
        Ok(kept)
    };
    let kept: Result<Vec<Vec<_>>, Error> =
        share(threads, 0..threads, sort_parts).into_iter().collect();
    let mut kept: Vec<(usize, usize, usize)> = kept?.into_iter().flatten().collect();
    kept.sort_unstable();
    let (mut from, mut to) = (0, 0);
    for (_, length, distinct) in kept {
        sorted.copy_within(from..from + distinct, to);
        (from, to) = (from + length, to + distinct);
    }
    sorted.truncate(to);
    Ok(sorted)
}
