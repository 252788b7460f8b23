//! Building with several threads.
//!
//! Each thread owns a part of the filter. Keys are taken a stretch at a time: first every thread hashes its piece of the stretch, then
//! every thread goes through all of its hashes and inserts what falls into its part. Nobody locks anything for a key, and every
//! block gets its keys in their order: the result is that of one thread, bit for bit.

use super::scalar::Block;
use super::{Blocked, BlockedBloom, unmended};
use crate::hash::scale;
use crate::rate::Plan;
use crate::rate::batch::{self, BATCH, Batch};
use crate::rate::filter::sealed::Cells;
use crate::{Hash, Key};
use std::sync::{Mutex, PoisonError};

/// The keys of a stretch: enough to make the starting of threads cheap. Their hashes take 8 MiB, or twice as much for 16 bits a key.
const STRETCH: usize = 1 << 20;

/// Fewer keys than this are not worth a thread.
const FEW: usize = 1 << 14;

impl BlockedBloom {
    /// [`insert_many`](crate::rate::Filter::insert_many) with several threads, each of which fills a part of the filter: the same
    /// filter, and the same count of keys that were certainly new. It pays for filters past the caches.
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
        let threads = threads.min(keys.len() / FEW).min(self.plan().blocks() as usize);
        if threads < 2 {
            return self.insert_many(keys);
        }
        let (plan, hash, body) = self.parts_mut(keys);
        let blocks: &mut [Block] = body.as_chunks_mut().0;
        let share = blocks.len().div_ceil(threads);
        let both = Blocked::needs_both(plan);
        let longest = keys.len().min(STRETCH);
        let (mut h1, mut h2) = (vec![0; longest], vec![0; if both { longest } else { 0 }]);
        let mut new = 0;
        for stretch in keys.chunks(STRETCH) {
            let piece = stretch.len().div_ceil(threads);
            // Without a second word, as many empty pieces.
            let seconds = h2.chunks_mut(piece).map(Some).chain(std::iter::repeat_with(|| None));
            let pieces = stretch.chunks(piece).zip(h1.chunks_mut(piece).zip(seconds));
            let _ = on_threads(threads, pieces, |(keys, (h1, h2))| hash_piece(hash, keys, h1, h2));
            let hashes = Hashes { h1: &h1[..stretch.len()], h2: both.then(|| &h2[..stretch.len()]) };
            let parts = blocks.chunks_mut(share).enumerate();
            new += on_threads(threads, parts, |(i, part)| hashes.insert(plan, i * share, part));
        }
        new
    }
}

/// Does the work on all parts, with as many threads, if they can be had; what the work makes of them is added up.
fn on_threads<P>(
    threads: usize,
    parts: impl Iterator<Item = P> + Send,
    work: impl Fn(P) -> u64 + Sync,
) -> u64 {
    let parts = Mutex::new(parts);
    let next = || parts.lock().unwrap_or_else(PoisonError::into_inner).next();
    let run = || {
        let mut sum = 0;
        while let Some(part) = next() {
            sum += work(part);
        }
        sum
    };
    std::thread::scope(|scope| {
        let spawn = |_| std::thread::Builder::new().spawn_scoped(scope, run).ok();
        let others: Vec<_> = (1..threads).filter_map(spawn).collect();
        let joined = others.into_iter().map(|other| other.join());
        run() + joined.map(|sum| sum.unwrap_or_else(|panic| std::panic::resume_unwind(panic))).sum::<u64>()
    })
}

/// Hashes keys, a batch at a time.
fn hash_piece<K: Key>(hash: &Hash, keys: &[K], h1: &mut [u64], mut h2: Option<&mut [u64]>) -> u64 {
    let mut batch = Batch::new();
    let mut start = 0;
    for keys in keys.chunks(BATCH) {
        match hash.as_fast() {
            Some(fast) => batch.hash(fast, &mut keys.iter(), h2.is_some()),
            None => batch.take(&mut keys.iter().filter_map(|key| hash.digest(key))),
        }
        let range = start..start + keys.len();
        h1[range.clone()].copy_from_slice(&batch.h1[..keys.len()]);
        if let Some(h2) = &mut h2 {
            h2[range].copy_from_slice(&batch.h2[..keys.len()]);
        }
        start += keys.len();
    }
    0
}

/// The hashes of a stretch; the second words only if they are needed.
#[derive(Clone, Copy)]
struct Hashes<'a> {
    h1: &'a [u64],
    h2: Option<&'a [u64]>,
}

impl Hashes<'_> {
    /// Inserts those that fall into a part of the filter, and says how many were certainly new.
    fn insert(self, plan: &Plan, first: usize, part: &mut [Block]) -> u64 {
        let (mut next, blocks) = (0, part.len());
        batch::insert_aimed::<Blocked>(plan, part.as_flattened_mut(), |batch| {
            batch.len = 0;
            // Who comes in is a matter of counting, not of a branch that nobody predicts.
            while batch.len < BATCH && next < self.h1.len() {
                batch.h1[batch.len] = self.h1[next];
                if let Some(h2) = self.h2 {
                    batch.h2[batch.len] = h2[next];
                }
                let block = scale(unmended(self.h1[next]), plan.blocks()) as usize;
                batch.len += usize::from(block.wrapping_sub(first) < blocks);
                next += 1;
            }
            Blocked::aim(plan, batch);
            batch.at[..batch.len].iter_mut().for_each(|at| *at -= first as u64);
        })
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
                (0..items.max(70_000)).flat_map(|i| if i % 3 == 0 { vec![i; 2] } else { vec![i] }).collect();
            let texts: Vec<String> = keys.iter().map(u64::to_string).collect();
            let mut one = BlockedBloom::new(items, fpr).unwrap();
            let new = one.insert_many(&keys);
            let mut texts_one = one.clone();
            let new_texts = texts_one.insert_many(&texts);
            for threads in [0, 1, 2, 3, 7] {
                let mut many = BlockedBloom::new(items, fpr).unwrap();
                assert_eq!(many.insert_parallel(&keys, threads), new, "{items} items, {threads} threads");
                assert_eq!(many, one, "{items} items, {threads} threads");
                assert_eq!(
                    many.insert_parallel(&texts, threads),
                    new_texts,
                    "{items} items, {threads} threads"
                );
                assert_eq!(many, texts_one, "{items} items, {threads} threads");
            }
        }
    }

    /// More than a stretch, the last one short.
    #[test]
    fn stretches_follow_each_other() {
        let keys: Vec<u32> = (0..STRETCH as u32 + 40_001).map(|i| i / 2).collect();
        let (mut one, mut two) =
            (BlockedBloom::new(1_000, 0.01).unwrap(), BlockedBloom::new(1_000, 0.01).unwrap());
        assert_eq!(one.insert_many(&keys), two.insert_parallel(&keys, 2));
        assert_eq!(one, two);
    }
}
