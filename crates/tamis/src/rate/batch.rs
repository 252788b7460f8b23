//! Many keys at a time: while the memory of one batch is fetched, the one before is probed.

use super::Plan;
use super::filter::sealed::Cells;
use crate::hash::{Digest, Fast};
use crate::processor::Level;
use crate::{Key, KeyRef, Kinds, prefetch};

/// How many keys are hashed ahead of their probes: enough misses under way at once to fill a processor's queues.
pub(super) const BATCH: usize = 128;

/// A batch of keys on its way, word by word, as wide registers take them. What the words mean is the layout's, once it has aimed.
pub struct Batch {
    pub(super) h1: [u64; BATCH],
    pub(super) h2: [u64; BATCH],
    /// Where the first probe goes.
    pub(super) at: [u64; BATCH],
    pub(super) len: usize,
    pub(super) level: Level,
    /// The kinds of the keys that were hashed.
    pub(super) kinds: Kinds,
}

impl Batch {
    pub(super) fn new() -> Batch {
        Batch {
            h1: [0; BATCH],
            h2: [0; BATCH],
            at: [0; BATCH],
            len: 0,
            level: Level::detect(),
            kinds: Kinds::default(),
        }
    }

    /// Takes the next keys and hashes them; h2 only if both words are needed.
    #[inline(always)]
    pub(super) fn hash<K: Key>(&mut self, fast: &Fast, keys: &mut impl Iterator<Item = K>, both: bool) {
        // Numbers are hashed together, afterwards, where that is faster; but for those that follow something else.
        let (mut count, mut apart, mut naturals) = (0, self.level != Level::Avx512, 0);
        let mut kinds = Kinds::default();
        // The batch comes first in the pair: it must be the one to end a full round, or a key would be lost.
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
        (self.len, self.kinds) = (count, kinds);
        let h2 = both.then_some(&mut self.h2[..naturals]);
        fast.naturals(self.level, &mut self.h1[..naturals], h2);
    }

    /// Takes the next digests.
    #[inline(always)]
    pub(super) fn take(&mut self, digests: &mut impl Iterator<Item = Digest>) {
        self.len = 0;
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

/// Whether fetching ahead pays for a body.
#[inline(always)]
pub(super) fn worthwhile(body: &[u8]) -> bool {
    body.len() > prefetch::WORTHWHILE
}

/// Lookups of the keys that `fill` puts into batches, until it has no more.
pub(super) fn contains<L: Cells>(
    plan: &Plan,
    body: &[u8],
    mut fill: impl FnMut(&mut Batch, bool),
    mut answers: &mut [bool],
) {
    let mut batches = [Batch::new(), Batch::new()];
    let both = L::needs_both(plan);
    for turn in 0.. {
        let [coming, ready] = in_turn(&mut batches, turn);
        fill(coming, both);
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
pub(super) fn insert<L: Cells>(plan: &Plan, body: &mut [u8], mut fill: impl FnMut(&mut Batch, bool)) -> u64 {
    let both = L::needs_both(plan);
    insert_aimed::<L>(plan, body, |batch| {
        fill(batch, both);
        L::aim(plan, batch);
    })
}

/// The same with keys that have been aimed.
pub(super) fn insert_aimed<L: Cells>(plan: &Plan, body: &mut [u8], mut fill: impl FnMut(&mut Batch)) -> u64 {
    let mut batches = [Batch::new(), Batch::new()];
    let mut new = 0;
    for turn in 0.. {
        let [coming, ready] = in_turn(&mut batches, turn);
        fill(coming);
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
