//! Building with several threads.
//!
//! Each thread owns a part of the filter. Keys are taken a stretch at a time: every thread hashes its piece of the stretch, hands the
//! others what falls into their parts, and inserts what the others hand to it. Nobody locks anything for a key, and every block gets
//! its keys in their order: the result is that of one thread, bit for bit.

use super::scalar::Block;
use super::{Aim, Blocked, BlockedBloom};
use crate::hash::{Digest, scale};
use crate::rate::Plan;
use crate::rate::filter::BATCH;
use crate::rate::filter::sealed::Cells;
use crate::{Hash, Key, prefetch};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};

/// The keys of a thread in a stretch: what it hands over stays in a cache.
const PIECE: usize = 1 << 12;

impl BlockedBloom {
    /// [`insert_many`](crate::rate::Filter::insert_many) with several threads, each of which fills a part of the filter: the same
    /// filter, and the same count of keys that were certainly new. It pays for filters past the caches.
    ///
    /// ```
    /// let keys: Vec<u64> = (0..10_000).collect();
    /// let mut seen = tamis::BlockedBloom::new(10_000, 0.01)?;
    /// let new = seen.insert_parallel(&keys, 2);
    /// let mut same = tamis::BlockedBloom::new(10_000, 0.01)?;
    /// assert_eq!(same.insert_many(&keys), new);
    /// assert_eq!(same, seen);
    /// # Ok::<(), tamis::Error>(())
    /// ```
    pub fn insert_parallel<K: Key + Sync>(&mut self, keys: &[K], threads: usize) -> u64 {
        let useful = keys.len().div_ceil(PIECE).min(self.plan().blocks() as usize);
        let threads = threads.min(useful).min(MOST_THREADS);
        if threads < 2 {
            return self.insert_many(keys);
        }
        let (plan, hash, body) = self.parts_mut(keys);
        let blocks: &mut [Block] = body.as_chunks_mut().0;
        let share = blocks.len().div_ceil(threads).max(2); // so that its reciprocal fits 64 bits
        let parts: Vec<&mut [Block]> = blocks.chunks_mut(share).collect();
        let new = std::thread::scope(|scope| {
            // Threads that must not begin before there are all of them wait for their part.
            let spawn = || {
                let (start, part) = sync_channel::<Worker<'_>>(1);
                let wait = move || part.recv().map_or(0, |worker| worker.run(keys));
                let spawned = std::thread::Builder::new().spawn_scoped(scope, wait);
                spawned.ok().map(|thread| (start, thread))
            };
            let spawned: Option<Vec<_>> = parts.iter().map(|_| spawn()).collect();
            let (starts, threads): (Vec<_>, Vec<_>) = spawned?.into_iter().unzip();
            for (start, ((me, ends), part)) in
                starts.into_iter().zip(connected(parts.len()).into_iter().zip(parts))
            {
                let _ = start.send(Worker { plan, hash, me, share, part, ends }); // it waits for this
            }
            let joined = threads.into_iter().map(|thread| thread.join());
            Some(joined.map(|new| new.unwrap_or_else(|panic| std::panic::resume_unwind(panic))).sum())
        });
        // Where so many threads cannot be had, one does it.
        new.unwrap_or_else(|| self.insert_many(keys))
    }
}

/// More threads than any machine has use for.
const MOST_THREADS: usize = 256;

/// What a thread sends to, and gets from, each of the others; nothing for itself.
struct Ends {
    to: Vec<Option<SyncSender<Vec<Aim>>>>,
    from: Vec<Option<Receiver<Vec<Aim>>>>,
}

/// As many threads, each with an end of a channel to every other.
fn connected(threads: usize) -> Vec<(usize, Ends)> {
    let nobody = || Ends {
        to: std::iter::repeat_with(|| None).take(threads).collect(),
        from: std::iter::repeat_with(|| None).take(threads).collect(),
    };
    let mut all: Vec<(usize, Ends)> = (0..threads).map(|i| (i, nobody())).collect();
    for from in 0..threads {
        for to in (0..threads).filter(|to| *to != from) {
            // One piece may wait, so that a thread can be a stretch ahead of another.
            let (sender, receiver) = sync_channel(1);
            all[from].1.to[to] = Some(sender);
            all[to].1.from[from] = Some(receiver);
        }
    }
    all
}

/// A thread and its part of the filter, which begins with block number `me * share`.
struct Worker<'a> {
    plan: &'a Plan,
    hash: &'a Hash,
    me: usize,
    share: usize,
    part: &'a mut [Block],
    ends: Ends,
}

impl Worker<'_> {
    fn run<K: Key>(mut self, keys: &[K]) -> u64 {
        let threads = self.ends.to.len();
        let mut new = 0;
        for stretch in keys.chunks(PIECE * threads) {
            let piece = stretch.chunks(PIECE).nth(self.me).unwrap_or(&[]);
            let mut own = self.hash_piece(piece);
            for from in 0..threads {
                if from == self.me {
                    new += self.insert(&std::mem::take(&mut own));
                } else if let Some(Ok(aims)) = self.ends.from[from].as_ref().map(Receiver::recv) {
                    new += self.insert(&aims);
                }
                // A thread that is gone has panicked, and the caller will hear of it.
            }
        }
        new
    }

    /// Hands the others what is theirs, and returns what is ours.
    fn hash_piece<K: Key>(&self, piece: &[K]) -> Vec<Aim> {
        match (self.hash.as_fast(), Blocked::needs_both(self.plan)) {
            (Some(fast), true) => self.deal(piece.iter().map(|key| fast.digest(key.as_key()))),
            (Some(fast), false) => {
                self.deal(piece.iter().map(|key| Digest { h1: fast.digest(key.as_key()).h1, h2: 0 }))
            }
            (None, _) => self.deal(piece.iter().filter_map(|key| self.hash.digest(key))),
        }
    }

    #[inline(always)]
    fn deal(&self, digests: impl Iterator<Item = Digest>) -> Vec<Aim> {
        let threads = self.ends.to.len();
        // Room for all in each, so that who gets a key is a matter of counting, not of a branch that nobody predicts.
        let mut dealt: Vec<Vec<Aim>> = (0..threads).map(|_| vec![Blocked::NOWHERE; PIECE]).collect();
        let mut counts = vec![0; threads];
        let reciprocal = u64::MAX / self.share as u64 + 1;
        for digest in digests {
            let aim = Blocked::aim(self.plan, digest);
            // Division by the share: the product may be one too large.
            let whose = scale(aim.block as u64, reciprocal) as usize;
            let whose = whose - usize::from(aim.block < whose * self.share);
            dealt[whose][counts[whose]] = Aim { block: aim.block - whose * self.share, ..aim };
            counts[whose] += 1;
        }
        let mut own = Vec::new();
        for (whose, (mut aims, count)) in dealt.into_iter().zip(counts).enumerate() {
            aims.truncate(count);
            match &self.ends.to[whose] {
                Some(other) => drop(other.send(aims)), // if it is gone, it has panicked
                None => own = aims,
            }
        }
        own
    }

    fn insert(&mut self, aims: &[Aim]) -> u64 {
        let ahead = size_of_val(self.part) > prefetch::WORTHWHILE;
        let body = self.part.as_flattened_mut();
        let fetch = |body: &[u8], aims: &[Aim]| {
            aims.iter().for_each(|aim| Blocked::prefetch(self.plan, body, *aim, true));
        };
        let mut new = 0;
        // One batch is on its way while the one before is written.
        let mut batches = aims.chunks(BATCH).peekable();
        if let Some(first) = batches.peek().filter(|_| ahead) {
            fetch(body, first);
        }
        while let Some(batch) = batches.next() {
            if let Some(next) = batches.peek().filter(|_| ahead) {
                fetch(body, next);
            }
            new += Blocked::insert_aims(self.plan, body, batch);
        }
        new
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_number_of_threads_makes_the_same_filter() {
        for (items, fpr) in [(1, 0.01), (90, 0.01), (5_000, 0.01), (50_000, 1e-6), (200_000, 0.001)] {
            // Every third key comes twice; and more keys than planned, in a filter of a block or two.
            let keys: Vec<u64> =
                (0..items.max(20_000)).flat_map(|i| if i % 3 == 0 { vec![i; 2] } else { vec![i] }).collect();
            let mut one = BlockedBloom::new(items, fpr).unwrap();
            let new = one.insert_many(&keys);
            for threads in [0, 1, 2, 3, 7] {
                let mut many = BlockedBloom::new(items, fpr).unwrap();
                assert_eq!(many.insert_parallel(&keys, threads), new, "{items} items, {threads} threads");
                assert_eq!(many, one, "{items} items, {threads} threads");
            }
        }
    }
}
