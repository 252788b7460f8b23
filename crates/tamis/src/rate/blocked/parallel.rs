//! Building with several threads.
//!
//! Each thread hashes every key and inserts those whose block lies in its part of the filter. Nobody waits for anybody, and every
//! block gets its keys in their order: the result is that of one thread, bit for bit.

use super::scalar::Block;
use super::{Aim, Blocked, BlockedBloom};
use crate::hash::Digest;
use crate::rate::Plan;
use crate::rate::filter::BATCH;
use crate::rate::filter::sealed::Cells;
use crate::{Key, prefetch};

impl BlockedBloom {
    /// [`insert_many`](crate::rate::Filter::insert_many) with several threads, each of which fills a part of the filter: the same
    /// filter, and the same count of keys that were certainly new. Every thread hashes every key, so measure whether it pays.
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
        let (plan, hash, body) = self.parts_mut(keys);
        let blocks: &mut [Block] = body.as_chunks_mut().0;
        let share = blocks.len().div_ceil(threads.clamp(1, 1024)).max(1);
        let run = |part: &mut [Block], first: usize| match hash.as_fast() {
            Some(fast) => insert_part(plan, part, first, keys.iter().map(|key| fast.digest(key.as_key()))),
            None => insert_part(plan, part, first, keys.iter().filter_map(|key| hash.digest(key))),
        };
        std::thread::scope(|scope| {
            let workers: Vec<_> = blocks
                .chunks_mut(share)
                .enumerate()
                .map(|(i, part)| scope.spawn(move || run(part, i * share)))
                .collect();
            let joined = workers.into_iter().map(|worker| worker.join());
            joined.map(|new| new.unwrap_or_else(|panic| std::panic::resume_unwind(panic))).sum()
        })
    }
}

/// Inserts those keys whose block is in `part`, which begins with block number `first`.
fn insert_part(plan: &Plan, part: &mut [Block], first: usize, digests: impl Iterator<Item = Digest>) -> u64 {
    if Blocked::needs_both(plan) {
        insert_digests(plan, part, first, digests)
    } else {
        insert_digests(plan, part, first, digests.map(|digest| Digest { h1: digest.h1, h2: 0 }))
    }
}

#[inline(always)]
fn insert_digests(
    plan: &Plan,
    part: &mut [Block],
    first: usize,
    digests: impl Iterator<Item = Digest>,
) -> u64 {
    let ahead = size_of_val(part) > prefetch::WORTHWHILE;
    let last = part.len().saturating_sub(1);
    let mut batches = [[Blocked::NOWHERE; BATCH]; 2];
    // One batch fills up while the other waits for its memory.
    let (mut filling, mut filled, mut waiting, mut new) = (0, 0, 0, 0);
    for digest in digests {
        let Aim { block, words } = Blocked::aim(plan, digest);
        let block = block.wrapping_sub(first);
        batches[filling][filled] = Aim { block, words };
        // Whose part it is, is a coin toss that no processor predicts: so no branch but an overwritten place.
        filled += usize::from(block < part.len());
        if ahead {
            prefetch::read(part.as_flattened(), block.min(last) * size_of::<Block>());
        }
        if filled == BATCH {
            filling = 1 - filling;
            new += Blocked::insert_aims(plan, part.as_flattened_mut(), &batches[filling][..waiting]);
            (waiting, filled) = (filled, 0);
        }
    }
    for (batch, len) in [(1 - filling, waiting), (filling, filled)] {
        new += Blocked::insert_aims(plan, part.as_flattened_mut(), &batches[batch][..len]);
    }
    new
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_number_of_threads_makes_the_same_filter() {
        for (items, fpr) in [(1, 0.01), (5_000, 0.01), (5_000, 1e-6), (200_000, 0.001)] {
            // Every third key comes twice.
            let keys: Vec<u64> =
                (0..items).flat_map(|i| if i % 3 == 0 { vec![i; 2] } else { vec![i] }).collect();
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
