//! The classic Bloom filter: k bits anywhere.

#[cfg(all(target_arch = "x86_64", not(miri)))]
mod avx512;

use super::batch::{self, BATCH, Batch};
use super::filter::sealed::Cells;
use super::{Filter, Kind, Layout, Plan};
use crate::hash::{Digest, Probe, Walk};
use crate::{bits, prefetch};

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

/// Starts to fetch the next places of a walk.
#[inline(always)]
fn prefetch_walk(body: &[u8], mut walk: Walk, places: u32) {
    for _ in 0..places {
        prefetch::byte(body, (walk.next() >> 3) as usize);
    }
}

/// Starts to fetch the first places of every key of a batch.
#[inline(always)]
fn prefetch_batch(body: &[u8], plan: &Plan, batch: &Batch<'_>, places: u32) {
    batch.digests().for_each(|digest| prefetch_walk(body, Walk::new(digest, plan.cells()), places));
}

/// How many cache lines an insertion fetches ahead.
const LINES_AHEAD: usize = 96;

/// Whether fetching the later places of a key ahead pays for a body.
#[inline(always)]
fn fetches_rounds(body: &[u8]) -> bool {
    prefetch::worthwhile(body.len() / 8)
}

/// Two places of every key, then two more of those that passed, and so on. Who passes is sorted out
/// by counting, not by branching, and the next places of those left are asked for a whole round
/// before they are needed.
fn contains_in_rounds(plan: &Plan, body: &[u8], batch: &Batch<'_>, answers: &mut [bool]) {
    let ahead = fetches_rounds(body);
    let (cells, hashes) = (plan.cells(), plan.hashes());
    // Those left: which they are, and how far they have walked.
    let mut left = [(0, 0); BATCH];
    let mut count = 0;
    for (i, digest) in batch.digests().enumerate() {
        let mut walk = Walk::new(digest, cells);
        let passes = bits::get(body, walk.next()) & (hashes == 1 || bits::get(body, walk.next()));
        left[count] = (i, walk.x());
        count += usize::from(passes);
    }
    let mut asked = hashes.min(2);
    while count > 0 && asked < hashes {
        let walk = |(i, x): (usize, u64)| Walk::new(Digest { h1: x, h2: batch.h2[i] }, cells);
        let both = asked + 1 < hashes;
        if ahead {
            left[..count]
                .iter()
                .for_each(|key| prefetch_walk(body, walk(*key), 1 + u32::from(both)));
        }
        let before = std::mem::take(&mut count);
        for at in 0..before {
            let mut walk = walk(left[at]);
            let passes = bits::get(body, walk.next()) & (!both || bits::get(body, walk.next()));
            left[count] = (left[at].0, walk.x());
            count += usize::from(passes);
        }
        asked += 2;
    }
    left[..count].iter().for_each(|(i, _)| answers[*i] = true);
}

/// The hash families of the documents, kept out of the way of the others.
#[cold]
#[inline(never)]
fn contains_document(plan: &Plan, body: &[u8], probe: &Probe<'_>) -> bool {
    probe.visit(plan.cells(), plan.hashes(), |position| bits::get(body, position))
}

#[allow(private_interfaces)]
impl Cells for Classic {
    #[inline]
    fn insert(plan: &Plan, body: &mut [u8], probe: &Probe<'_>) -> bool {
        match probe {
            Probe::Digest(digest) => insert(plan, body, *digest),
            document => insert_document(plan, body, document),
        }
    }

    #[inline(always)]
    fn contains(plan: &Plan, body: &[u8], probe: &Probe<'_>) -> bool {
        match probe {
            Probe::Digest(digest) => contains(plan, body, *digest),
            document => contains_document(plan, body, document),
        }
    }

    #[allow(unsafe_code)]
    fn contains_all<'h>(
        plan: &Plan,
        body: &[u8],
        fill: impl FnMut(&mut Batch<'h>, bool),
        answers: &mut [bool],
    ) {
        #[cfg(all(target_arch = "x86_64", not(miri)))]
        if crate::processor::Level::detect() == crate::processor::Level::Avx512 {
            // SAFETY: AVX-512 was detected in the line above.
            return unsafe { avx512::contains(plan, body, fill, answers) };
        }
        batch::contains::<Self>(plan, body, fill, answers);
    }

    fn contains_batch(
        plan: &Plan,
        body: &[u8],
        batch: &Batch<'_>,
        coming: &Batch<'_>,
        answers: &mut [bool],
    ) {
        // The first two places of a lookup: one stranger in four goes on to a third.
        if prefetch::worthwhile(body.len() / 4) {
            prefetch_batch(body, plan, coming, plan.hashes().min(2));
        }
        contains_in_rounds(plan, body, batch, answers);
    }

    fn insert_batch(plan: &Plan, body: &mut [u8], batch: &Batch<'_>, coming: &Batch<'_>) -> u64 {
        let far = fetches_rounds(body);
        // All places of the keys just ahead, of this batch or the next: as many as the nearest
        // cache holds without trouble.
        let ahead = (LINES_AHEAD / plan.hashes() as usize).max(1);
        let mut later = batch.digests().chain(coming.digests()).skip(ahead);
        let mut new = 0;
        for digest in batch.digests() {
            if let Some(later) = later.next().filter(|_| far) {
                prefetch_walk(body, Walk::new(later, plan.cells()), plan.hashes());
            }
            new += u64::from(insert(plan, body, digest));
        }
        new
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::HashFamily;

    /// Bodies of less than a word, of odd lengths and past the caches; one place and many; every
    /// size of the last batch: a key at a time, batches in rounds, and whatever the processor's
    /// way is, all answer the same.
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
                    let mut digests = keys.iter().filter_map(|key| hash.digest(key));
                    let mut answers = vec![false; asked];
                    let (plan, body) = (filter.plan(), filter.body());
                    batch::contains::<Classic>(
                        plan,
                        body,
                        |batch, _| batch.take(&mut digests),
                        &mut answers,
                    );
                    assert_eq!(
                        answers, expected,
                        "{bits} bits, {hashes} hashes, {asked} keys in rounds"
                    );
                }
            }
        }
    }
}
