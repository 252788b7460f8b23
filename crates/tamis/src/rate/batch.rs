//! Many keys at a time: while the memory of one batch is fetched, the one before is probed.

use super::Plan;
use super::filter::sealed::Cells;
use crate::hash::{Digest, Fast};
use crate::processor::Level;
use crate::{HashFamily, Key, KeyRef, Kinds};

/// How many keys are hashed ahead of their probes: enough misses under way at once to fill a
/// processor's queues.
pub(super) const BATCH: usize = 128;

const _: () =
    assert!(BATCH.is_multiple_of(8) && BATCH <= 255, "eights, of which a byte counts all");

/// A batch of keys on its way, word by word, as wide registers take them. What the words mean is
/// the layout's, once it has aimed.
#[repr(align(64))]
pub struct Batch<'h> {
    pub(super) h1: [u64; BATCH],
    pub(super) h2: [u64; BATCH],
    /// Where the first probe goes.
    pub(super) at: [u64; BATCH],
    pub(super) len: usize,
    pub(super) level: Level,
    /// How many words of `h1`, from the first on, are natural numbers that are still to be hashed,
    /// and by what.
    pub(super) naturals: Option<(usize, &'h Fast)>,
    /// The number of the body's first block, if it is only a part of the filter's.
    pub(super) first: u64,
}

impl<'h> Batch<'h> {
    pub(super) fn new() -> Batch<'h> {
        let none = [0; BATCH];
        Batch {
            h1: none,
            h2: none,
            at: none,
            len: 0,
            level: Level::detect(),
            naturals: None,
            first: 0,
        }
    }

    /// Takes the next keys and hashes them with a hash that has digests; h2 only if both words are
    /// needed. Natural numbers are left for later, when they can be hashed together. Says of
    /// which kinds the keys were.
    #[inline(always)]
    pub(super) fn fill<K: Key>(
        &mut self,
        hash: &'h HashFamily,
        keys: impl Iterator<Item = K>,
        both: bool,
    ) -> Kinds {
        match hash.as_fast() {
            Some(fast) => self.fill_fast(fast, keys, both),
            None => self.fill_otherwise(hash, keys),
        }
    }

    /// The same from an iterator that goes on afterwards. A call of its own tells the compiler that
    /// the iterator is no part of the batch, and may stay in registers.
    #[inline(never)]
    pub(super) fn fill_from<K: Key>(
        &mut self,
        hash: &'h HashFamily,
        keys: &mut impl Iterator<Item = K>,
        both: bool,
    ) -> Kinds {
        self.fill(hash, keys, both)
    }

    /// The keyed hash, out of the way of the fast one.
    #[inline(never)]
    fn fill_otherwise<K: Key>(
        &mut self,
        hash: &HashFamily,
        keys: impl Iterator<Item = K>,
    ) -> Kinds {
        let mut kinds = Kinds::default();
        self.take(&mut keys.filter_map(|key| {
            kinds.add(key.as_key().kinds());
            hash.digest(key)
        }));
        kinds
    }

    #[inline(always)]
    fn fill_fast<K: Key>(
        &mut self,
        fast: &'h Fast,
        keys: impl Iterator<Item = K>,
        both: bool,
    ) -> Kinds {
        // But for those that follow something else.
        let (mut count, mut apart, mut naturals) = (0, false, 0);
        let mut kinds = Kinds::default();
        // The batch comes first in the pair: it must be the one to end a full round, or a key would
        // be lost.
        for ((h1, h2), key) in self.h1.iter_mut().zip(&mut self.h2).zip(keys) {
            let key = key.as_key();
            kinds.add(key.kinds());
            match key {
                KeyRef::Natural(value) if !apart => {
                    *h1 = value;
                    naturals = count + 1;
                }
                key => {
                    apart = true;
                    let digest = fast.digest(key);
                    *h1 = digest.h1;
                    if both {
                        *h2 = digest.h2;
                    }
                }
            }
            count += 1;
        }
        self.len = count;
        self.naturals = (naturals > 0).then_some((naturals, fast));
        kinds
    }

    /// Hashes what was left for later.
    #[inline(always)]
    pub(super) fn finish(&mut self, both: bool) {
        if let Some((count, fast)) = self.naturals.take() {
            fast.naturals(self.level, &mut self.h1[..count], both.then_some(&mut self.h2[..count]));
        }
    }

    /// The hash, if the whole batch consists of natural numbers and h1 is all that is needed:
    /// whoever asks then hashes them along with the rest of his work. Otherwise the batch is
    /// finished.
    #[inline(always)]
    pub(super) fn finish_unless_naturals(&mut self, both: bool) -> Option<&'h Fast> {
        match self.naturals {
            Some((count, fast)) if count == self.len && !both => Some(fast),
            _ => {
                self.finish(both);
                None
            }
        }
    }

    /// Takes all keys out.
    #[inline(always)]
    pub(super) fn clear(&mut self) {
        (self.len, self.naturals) = (0, None);
    }

    /// Takes the next digests.
    #[inline(always)]
    pub(super) fn take(&mut self, digests: &mut impl Iterator<Item = Digest>) {
        self.clear();
        for ((h1, h2), digest) in self.h1.iter_mut().zip(&mut self.h2).zip(digests) {
            (*h1, *h2) = (digest.h1, digest.h2);
            self.len += 1;
        }
    }

    /// The digests, for layouts that have not aimed.
    #[inline(always)]
    pub(super) fn digests(&self) -> impl Iterator<Item = Digest> {
        self.h1.iter().zip(&self.h2).take(self.len).map(|(&h1, &h2)| Digest { h1, h2 })
    }
}

/// Lookups of the keys that `fill` puts into batches, until it has no more.
pub(super) fn contains<'h, L: Cells>(
    plan: &Plan,
    body: &[u8],
    mut fill: impl FnMut(&mut Batch<'h>, bool),
    mut answers: &mut [bool],
) {
    let mut batches = [Batch::new(), Batch::new()];
    let both = L::needs_both(plan);
    for turn in 0.. {
        let [coming, ready] = in_turn(&mut batches, turn);
        fill(coming, both);
        coming.finish(both);
        L::aim(plan, coming);
        let (now, later) = answers.split_at_mut(ready.len);
        L::contains_batch(plan, body, ready, coming, now);
        answers = later;
        if coming.len == 0 {
            return;
        }
    }
}

/// The same with insertions.
pub(super) fn insert<'h, L: Cells>(
    plan: &Plan,
    body: &mut [u8],
    mut fill: impl FnMut(&mut Batch<'h>, bool),
) -> u64 {
    let mut batches = [Batch::new(), Batch::new()];
    let both = L::needs_both(plan);
    let mut new = 0;
    for turn in 0.. {
        let [coming, ready] = in_turn(&mut batches, turn);
        fill(coming, both);
        coming.finish(both);
        L::aim(plan, coming);
        new += L::insert_batch(plan, body, ready, coming);
        if coming.len == 0 {
            break;
        }
    }
    new
}

/// The one first, then the other, without moving them.
fn in_turn<T>([one, other]: &mut [T; 2], turn: u64) -> [&mut T; 2] {
    if turn.is_multiple_of(2) { [one, other] } else { [other, one] }
}

#[cfg(test)]
mod tests {
    use crate::rate::{Blocked, Classic, Counting, Filter, Layout};
    use crate::{HashFamily, Key, KeyRef, Kinds, SecretKey};

    /// So many numbers, and then everything else: in one batch, numbers are hashed together up to
    /// the first other key.
    fn mixed(numbers: usize, others: usize) -> Vec<KeyRef<'static>> {
        let other = |i: usize| match i % 4 {
            0 => KeyRef::Negative(u64::MAX - i as u64),
            1 => KeyRef::Bytes(b"a text of some length"),
            2 => KeyRef::Bytes(&b"0123456789"[..i % 10]),
            _ => KeyRef::Natural(1_000 + i as u64),
        };
        (0..numbers as u64).map(KeyRef::Natural).chain((0..others).map(other)).collect()
    }

    fn batches_do_as_single_keys_do<L: Layout>(fpr: f64, hash: &HashFamily) {
        for numbers in [0, 1, 7, 8, 9, 127, 128, 129, 200] {
            for others in [0, 1, 5, 130] {
                let keys = mixed(numbers, others);
                let new = || Filter::<L>::with_hash(300, fpr, hash.clone()).unwrap();
                let (mut one, mut many) = (new(), new());
                let certainly_new = keys.iter().filter(|key| one.insert(key)).count() as u64;
                assert_eq!(many.insert_many(&keys), certainly_new, "{numbers} and {others}");
                assert!(many == one && many.kinds() == one.kinds(), "{numbers} and {others}");
                assert_eq!(many.kinds().has(Kinds::BYTES), others > 1);
                let asked = mixed(numbers + 50, others + 50);
                let answers: Vec<bool> =
                    asked.iter().map(|key| one.contains(key.as_key())).collect();
                assert_eq!(one.contains_many(&asked), answers, "{numbers} and {others}");
            }
        }
    }

    #[test]
    fn whatever_the_keys_batches_do_as_single_keys_do() {
        let keyed = HashFamily::keyed(SecretKey::new(b"a secret for batches").unwrap());
        for hash in [HashFamily::fast(0), HashFamily::fast(9), keyed] {
            for fpr in [0.01, 1e-6] {
                batches_do_as_single_keys_do::<Classic>(fpr, &hash);
                batches_do_as_single_keys_do::<Blocked>(fpr, &hash);
                batches_do_as_single_keys_do::<Counting>(fpr, &hash);
            }
        }
    }
}
