//! The classic Bloom filter: k bits anywhere.

use super::filter::sealed::Operations;
use super::{Filter, Kind, Layout, Plan};
use crate::hash::{Digest, Digests, Probe, Walk};
use crate::simd::{BATCH, Kernels, WalkShape, Walks};
use crate::{HashFamily, Key, Kinds, bits};

/// A set that is sometimes wrong about strangers, never about members, in the fewest bits of the
/// three layouts: 1.44 n log2(1/rate).
///
/// | key | `contains` |
/// |---|---|
/// | inserted | always `true` |
/// | not inserted | `true` at about the planned rate |
///
/// The bits are exactly as planned. Past the planned number of items nothing fails: the rate
/// climbs, and [`health`](Filter::health) says so.
///
/// ```
/// let mut seen = tamis::Bloom::new(1_000, 0.01)?;
/// seen.insert("ant");
/// assert!(seen.contains("ant"));
/// assert_eq!(seen.plan().bits(), 9_586);
/// # Ok::<(), tamis::Error>(())
/// ```
pub type Bloom = Filter<Classic>;

/// The layout of [`Bloom`].
#[derive(Debug)]
pub struct Classic;

impl Layout for Classic {
    const KIND: Kind = Kind::Bloom;
}

/// Three places at once, without a branch between them: whether a stranger ends at the first, the
/// second or the third is a coin toss each, and a wrong guess costs more than a probe.
#[inline(always)]
fn contains(plan: &Plan, body: &[u8], digest: Digest) -> bool {
    let mut walk = Walk::new(digest, plan.cells());
    let mut left = plan.hashes();
    while left >= 3 {
        let (a, b, c) = (walk.next(), walk.next(), walk.next());
        if !(bits::get(body, a) & bits::get(body, b) & bits::get(body, c)) {
            return false;
        }
        left -= 3;
    }
    (0..left).all(|_| bits::get(body, walk.next()))
}

/// Sets all places; says whether one was clear.
#[inline(always)]
fn insert(plan: &Plan, body: &mut [u8], digest: Digest) -> bool {
    let mut walk = Walk::new(digest, plan.cells());
    (0..plan.hashes()).fold(false, |new, _| new | bits::set(body, walk.next()))
}

#[cold]
#[inline(never)]
fn insert_document(plan: &Plan, body: &mut [u8], probe: &Probe<'_>) -> bool {
    let mut new = false;
    probe.visit(plan.cells(), plan.hashes(), |position| {
        new |= bits::set(body, position);
        true
    });
    new
}

/// How many cache lines an insertion fetches ahead.
const LINES_AHEAD: usize = 96;

/// Puts in the keys of a batch, and says how many were certainly new. All places of the keys just
/// ahead, of this batch or the next, are fetched meanwhile: as many as the nearest cache holds
/// without trouble.
fn insert_batch(plan: &Plan, body: &mut [u8], ready: &Digests, coming: &Digests) -> u64 {
    let far = WalkShape::new(plan.cells(), plan.hashes()).later_far;
    let ahead = (LINES_AHEAD / plan.hashes() as usize).max(1);
    let mut later = ready.iter().chain(coming.iter()).skip(ahead);
    let mut new = 0;
    for digest in ready.iter() {
        if let Some(later) = later.next().filter(|_| far) {
            Walk::new(later, plan.cells()).prefetch(body, plan.hashes());
        }
        new += u64::from(insert(plan, body, digest));
    }
    new
}

/// The hash families of the documents, kept out of the way of the others.
#[cold]
#[inline(never)]
fn contains_document(plan: &Plan, body: &[u8], probe: &Probe<'_>) -> bool {
    probe.visit(plan.cells(), plan.hashes(), |position| bits::get(body, position))
}

#[allow(private_bounds, private_interfaces)]
impl Operations for Classic {
    #[inline]
    fn insert(plan: &Plan, body: &mut [u8], probe: &Probe<'_>) -> bool {
        match probe {
            Probe::Digest(digest) => insert(plan, body, *digest),
            document => insert_document(plan, body, document),
        }
    }

    #[inline(always)]
    fn fetch(plan: &Plan, body: &[u8], digest: Digest) {
        Walk::new(digest, plan.cells()).prefetch(body, plan.hashes());
    }

    #[inline(always)]
    fn contains(plan: &Plan, body: &[u8], probe: &Probe<'_>) -> bool {
        match probe {
            Probe::Digest(digest) => contains(plan, body, *digest),
            document => contains_document(plan, body, document),
        }
    }

    fn contains_many<K: Key, N: Kernels>(
        kernels: N,
        plan: &Plan,
        hash: &HashFamily,
        body: &[u8],
        keys: &[K],
        answers: &mut [bool],
    ) {
        let mut walks = kernels.walks(WalkShape::new(plan.cells(), plan.hashes()));
        let mut digests = Digests::new();
        for keys in keys.chunks(BATCH) {
            let _ = digests.hash(kernels, hash, keys.iter(), true);
            walks.push(body, &digests, answers);
        }
        walks.finish(body, answers);
    }

    fn insert_many<K: Key, N: Kernels>(
        kernels: N,
        plan: &Plan,
        hash: &HashFamily,
        body: &mut [u8],
        kinds: &mut Kinds,
        mut keys: impl Iterator<Item = K>,
    ) -> u64 {
        let (ready, coming) = (&mut Digests::new(), &mut Digests::new());
        let (mut ready, mut coming) = (ready, coming);
        let mut new = 0;
        loop {
            kinds.add(coming.hash_next(kernels, hash, &mut keys, true));
            new += insert_batch(plan, body, ready, coming);
            if coming.len == 0 {
                return new;
            }
            std::mem::swap(&mut ready, &mut coming);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::simd::{Level, dispatch};

    /// Bodies of less than a word, of odd lengths and past the caches; one place and many; every
    /// size of the last batch: a key at a time, and batches at every level, all answer the same.
    #[test]
    fn batches_answer_as_single_keys_do() {
        let hash = HashFamily::fast(5);
        for (bits, hashes) in [
            (3, 1),
            (5, 2),
            (61, 3),
            (64, 1),
            (1_003, 7),
            (9_586, 7),
            (30_000, 64),
            (100_000_000, 5),
        ] {
            let plan =
                Plan::from_items_bits(Kind::Bloom, 10, bits).unwrap().with_hashes(hashes).unwrap();
            let mut filter = Bloom::with_plan(plan, hash.clone()).unwrap();
            let members = if bits < 100 { 3 } else { bits.min(200_000) / u64::from(hashes) / 2 };
            filter.insert_many(0..members);
            for asked in [0, 1, 7, 8, 9, 127, 128, 129, 255, 257, 1_000] {
                // From the last members on to strangers, then from the first member on.
                for keys in [(members.saturating_sub(50)..).take(asked), (0..).take(asked)] {
                    let keys: Vec<u64> = keys.collect();
                    let expected: Vec<bool> = keys.iter().map(|key| filter.contains(key)).collect();
                    assert_eq!(
                        filter.contains_many(&keys),
                        expected,
                        "{bits} bits, {hashes} hashes, {asked} keys"
                    );
                    for level in Level::all() {
                        let mut answers = vec![false; asked];
                        let (plan, body) = (filter.plan(), filter.body());
                        dispatch!(level, kernels => {
                            Classic::contains_many(kernels, plan, &hash, body, &keys, &mut answers);
                        });
                        assert_eq!(answers, expected, "{level:?}: {bits}, {hashes}, {asked}");
                    }
                }
            }
        }
    }
}
