//! The classic Bloom filter: k bits anywhere.

use super::filter::sealed::Cells;
use super::{Filter, Kind, Layout, Plan};
use crate::hash::{Digest, Probe, Walk};
use crate::{bits, prefetch};

/// A set that is sometimes wrong about strangers, never about members, in the fewest bits of the three layouts:
/// 1.44 n log2(1/rate).
///
/// | key | `contains` |
/// |---|---|
/// | inserted | always `true` |
/// | not inserted | `true` at about the planned rate |
///
/// The bits are exactly as planned. Past the planned number of items nothing fails: the rate climbs, and
/// [`health`](Filter::health) says so.
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

/// Three places at once, without a branch between them: whether a stranger ends at the first, the second or the third is a coin
/// toss each, and a wrong guess costs more than a probe.
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
        let mut new = false;
        probe.visit(plan.cells(), plan.hashes(), |position| {
            new |= bits::set(body, position);
            true
        });
        new
    }

    #[inline(always)]
    fn contains(plan: &Plan, body: &[u8], probe: &Probe<'_>) -> bool {
        match probe {
            Probe::Digest(digest) => contains(plan, body, *digest),
            document => contains_document(plan, body, document),
        }
    }

    /// The first two places of a lookup: one stranger in four goes on to a third.
    #[inline]
    fn prefetch(plan: &Plan, body: &[u8], digest: Digest, all: bool) {
        let hashes = if all { plan.hashes() } else { plan.hashes().min(2) };
        Probe::Digest(digest).visit(plan.cells(), hashes, |position| {
            prefetch::read(body, (position >> 3) as usize);
            true
        });
    }

    /// Two places first; the rest of those that pass is asked for before it is needed.
    fn contains_digests(plan: &Plan, body: &[u8], digests: &[Digest], answers: &mut Vec<bool>) {
        let (cells, hashes) = (plan.cells(), plan.hashes());
        let ahead = body.len() > prefetch::WORTHWHILE;
        let start = answers.len();
        for digest in digests {
            let passes =
                Probe::Digest(*digest).visit(cells, hashes.min(2), |position| bits::get(body, position));
            answers.push(passes);
            if passes && ahead {
                Self::prefetch(plan, body, *digest, true);
            }
        }
        if hashes > 2 {
            for (answer, digest) in answers[start..].iter_mut().zip(digests).filter(|(answer, _)| **answer) {
                *answer = contains(plan, body, *digest);
            }
        }
    }
}
