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
use crate::store::filled;
use crate::threads::share;
use crate::{Hash, Key, Kinds};

/// The keys of a stretch: enough to make the starting of threads cheap. Their hashes take 8 MiB, or, with 16 hashes, twice as much.
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
        let stretch = keys.len().min(STRETCH);
        let threads = threads.min(stretch / FEW).min(self.plan().blocks() as usize);
        if threads < 2 {
            return self.insert_many(keys);
        }
        let both = Blocked::needs_both(self.plan());
        // Without memory for the hashes, one key after the other.
        let (Ok(mut h1), Ok(mut h2)) = (filled(0, stretch), filled(0, if both { stretch } else { 0 })) else {
            return self.insert_many(keys);
        };
        let (plan, hash, kinds, body) = self.parts_mut();
        let blocks: &mut [Block] = body.as_chunks_mut().0;
        let part = blocks.len().div_ceil(threads);
        let mut new = 0;
        for stretch in keys.chunks(STRETCH) {
            let piece = stretch.len().div_ceil(threads);
            // Without second words, none for every piece.
            let seconds = h2.chunks_mut(piece).map(Some).chain(std::iter::repeat_with(|| None));
            let pieces = stretch.chunks(piece).zip(h1.chunks_mut(piece).zip(seconds));
            let hashed = share(threads, pieces, |(keys, (h1, h2))| hash_piece(hash, keys, h1, h2));
            hashed.into_iter().for_each(|piece| kinds.add(piece));
            let hashes = Hashes { h1: &h1[..stretch.len()], h2: both.then(|| &h2[..stretch.len()]) };
            let parts = blocks.chunks_mut(part).enumerate();
            let inserted = share(threads, parts, |(i, blocks)| hashes.insert(plan, i * part, blocks));
            new += inserted.into_iter().sum::<u64>();
        }
        new
    }
}

/// Hashes keys, a batch at a time; says of which kinds they were.
fn hash_piece<K: Key>(hash: &Hash, keys: &[K], h1: &mut [u64], mut h2: Option<&mut [u64]>) -> Kinds {
    let mut batch = Batch::new();
    let mut kinds = Kinds::default();
    let mut start = 0;
    for keys in keys.chunks(BATCH) {
        kinds.add(batch.hash(hash, &mut keys.iter(), h2.is_some()));
        let range = start..start + keys.len();
        h1[range.clone()].copy_from_slice(&batch.h1[..keys.len()]);
        if let Some(h2) = &mut h2 {
            h2[range].copy_from_slice(&batch.h2[..keys.len()]);
        }
        start += keys.len();
    }
    kinds
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
