//! The classic Bloom filter: k bits anywhere.

use super::filter::sealed::Operations;
use super::sorted::{Region, Sorting, Units, Unsorted};
use super::{Filter, Kind, Layout, Plan};
use crate::bits::{self, missing};
use crate::hash::{Digest, Digests, Probe, Walk};
use crate::simd::{BATCH, Kernels, WalkShape, Walks, prefetch};
use crate::store::filled;
use crate::{Error, HashFamily, Key, Kinds};
use std::sync::atomic::{AtomicBool, Ordering};

/// A set that is sometimes wrong about strangers, never about members, in the fewest bits of the
/// layouts: 1.44 n log2(1/rate).
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

/// Four places at once, without a branch between them: whether a stranger ends at the first, the
/// second or the third is a coin toss each, and a wrong guess costs more than a probe.
#[inline(always)]
fn contains(plan: &Plan, body: &[u8], digest: Digest) -> bool {
    let mut walk = Walk::new(digest, plan.cells());
    let mut left = plan.hashes();
    while left > 4 {
        let (a, b, c, d) = (walk.next(), walk.next(), walk.next(), walk.next());
        if missing(body, a) | missing(body, b) | missing(body, c) | missing(body, d) != 0 {
            return false;
        }
        left -= 4;
    }
    // The rest, one to four, in the same way; how many there are is the same for all keys.
    let mut clear = missing(body, walk.next());
    if left > 1 {
        clear |= missing(body, walk.next());
    }
    if left > 2 {
        clear |= missing(body, walk.next());
    }
    if left > 3 {
        clear |= missing(body, walk.next());
    }
    clear == 0
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

/// Places of keys, to be sorted by region: the place within its region, and above it the number of
/// the key in its stretch.
struct Places;

/// The logarithm of how many bits a cache line holds.
const BITS_OF_A_LINE: u32 = 9;

impl Units for Places {
    type Unit = u64;
    /// For each key whether one of its places was clear. Several regions may find that out of one
    /// key at once, and all of them write the same.
    type Stretch = Vec<AtomicBool>;

    fn for_each_key(plan: &Plan) -> usize {
        plan.hashes() as usize
    }

    fn stretch(_: &Plan, keys: usize) -> Result<Vec<AtomicBool>, Error> {
        Ok(filled(0u8, keys)?.into_iter().map(|_| AtomicBool::new(false)).collect())
    }

    fn need_h2(_: &Plan) -> bool {
        true
    }

    fn make<N: Kernels>(
        _: N,
        plan: &Plan,
        region: u32,
        number: usize,
        digests: &Digests,
        into: &mut Unsorted<u64>,
    ) {
        let width = region + BITS_OF_A_LINE;
        for (digest, number) in digests.iter().zip(number as u64..) {
            let mut walk = Walk::new(digest, plan.cells());
            for _ in 0..plan.hashes() {
                let place = walk.next();
                into.regions.push((place >> width) as u32);
                into.units.push(number << width | (place & ((1 << width) - 1)));
            }
        }
    }

    fn insert<'a, N: Kernels>(
        _: N,
        _: &Plan,
        stretch: &Vec<AtomicBool>,
        region: Region<'_>,
        runs: impl Iterator<Item = &'a [u64]>,
    ) -> u64 {
        let width = region.lines + BITS_OF_A_LINE;
        for run in runs {
            for (i, unit) in run.iter().enumerate() {
                if let Some(later) = run.get(i + PLACES_AHEAD) {
                    let place = later & ((1 << width) - 1);
                    prefetch::byte(region.bytes, (place >> 3) as usize);
                }
                if bits::set(region.bytes, unit & ((1 << width) - 1)) {
                    stretch[(unit >> width) as usize].store(true, Ordering::Relaxed);
                }
            }
        }
        0
    }

    fn finish(stretch: &Vec<AtomicBool>) -> u64 {
        stretch.iter().map(|new| u64::from(new.swap(false, Ordering::Relaxed))).sum()
    }
}

/// How many places ahead the memory of a region is asked for.
const PLACES_AHEAD: usize = 32;

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
        if let Some(sorting) = Sorting::<Places>::new(plan, keys.size_hint().0, 1) {
            return sorting.insert(kernels, plan, hash, body, kinds, &mut keys);
        }
        let (mut ready, mut coming) = (&mut Digests::new(), &mut Digests::new());
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
    use crate::rate::sorted::REGION;
    use crate::simd::{Level, dispatch};

    /// Any region's size makes the filter, and the count, that one key after the other makes.
    #[test]
    fn sorting_changes_nothing() {
        for (bits, hashes) in [(3, 1), (61, 3), (9_586, 7), (30_000, 64), (1_000_003, 5)] {
            let plan =
                Plan::from_items_bits(Kind::Bloom, 10, bits).unwrap().with_hashes(hashes).unwrap();
            let new_filter = || Bloom::with_plan(plan, HashFamily::fast(8)).unwrap();
            for count in [0u64, 1, 1_000, 70_000] {
                let keys: Vec<u64> = (0..count).map(|i| i * i % (count * 3 / 4 + 1)).collect();
                let mut one = new_filter();
                let new = keys.iter().filter(|key| one.insert(key)).count() as u64;
                for region in [0, 3, 6, REGION] {
                    for level in Level::all() {
                        let mut many = new_filter();
                        let (plan, hash, kinds, body) = many.parts_mut();
                        let sorting =
                            Sorting::<Places>::with_region(plan, keys.len(), 1, region).unwrap();
                        let counted = dispatch!(level, kernels => {
                            sorting.insert(kernels, plan, hash, body, kinds, &mut keys.iter())
                        });
                        let case = format!("{level:?}: {bits}, {hashes}, {count}, 2^{region}");
                        assert_eq!(counted, new, "{case}");
                        assert!(many == one, "{case}");
                    }
                }
            }
        }
    }

    /// The whole way, in a filter that is large enough for it.
    #[test]
    fn large_filters_get_the_same_keys() {
        let mut one = Bloom::new(30_000_000, 0.01).unwrap();
        let keys: Vec<u64> = (0..3_000_000).map(|i| i * i % 2_000_003).collect();
        assert!(Sorting::<Places>::new(one.plan(), keys.len(), 1).is_some());
        let new = keys.iter().filter(|key| one.insert(key)).count() as u64;
        let mut many = Bloom::new(30_000_000, 0.01).unwrap();
        assert_eq!(many.insert_many(&keys), new);
        assert!(many == one);
    }

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
