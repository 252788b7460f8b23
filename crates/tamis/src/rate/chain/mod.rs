//! Chains of quotient filters, for sets whose size is not known beforehand: one that grows, and one
//! that forgets.
//!
//! A lookup asks the links from the newest to the oldest. A link is a [`QuotientFilter`]: at the
//! low rates that links have it takes fewer bits than the layouts of [`Filter`](super::Filter), and
//! one or two cache lines whether the key passes or not. Its rate is the number of its keys over
//! the number of its fingerprints: known without a look at the cells, and the same however the keys
//! are spread over links.

mod plan;
mod rolling;
mod scalable;
mod window;

use super::QuotientFilter;
use crate::hash::Digests;
use crate::simd::{BATCH, Level, dispatch};
use crate::{Error, HashFamily, Key, Kinds};
pub use plan::{MAX_GROWTH, MAX_LINKS, ScalablePlan};
pub use rolling::Rolling;
pub use scalable::Scalable;
pub use window::{RollingPlan, Window};

/// The links, oldest first, and how keys become digests for all of them.
#[derive(Clone)]
struct Chain {
    hash: HashFamily,
    kinds: Kinds,
    links: Vec<QuotientFilter>,
    level: Level,
}

impl Chain {
    fn new(hash: HashFamily, kinds: Kinds, links: Vec<QuotientFilter>) -> Result<Chain, Error> {
        hash.need_digest("a chain")?;
        Ok(Chain { hash, kinds, links, level: Level::detect() })
    }

    /// The first word of a key's digest.
    #[inline(always)]
    fn h1(&self, key: impl Key) -> u64 {
        match self.hash.as_fast() {
            Some(fast) => fast.digest(key.as_key()).h1,
            None => self.hash.digest(key).map_or(0, |digest| digest.h1),
        }
    }

    /// Whether a link from number `first` on holds the key.
    #[inline]
    fn contains_h1(&self, h1: u64, first: usize) -> bool {
        self.links[first..].iter().rev().any(|link| link.contains_h1(h1))
    }

    /// The same for many keys, in their order.
    fn contains_many<K: Key>(&self, keys: &[K], first: usize) -> Vec<bool> {
        let (mut digests, mut answers) = (Digests::new(), vec![false; keys.len()]);
        for (batch, answers) in keys.chunks(BATCH).zip(answers.chunks_mut(BATCH)) {
            dispatch!(self.level, kernels => {
                let _ = digests.hash(kernels, &self.hash, batch.iter(), false);
            });
            for link in self.links[first..].iter().rev() {
                link.contains_batch(&digests.h1[..digests.len], answers);
            }
        }
        answers
    }

    /// The next keys of an iterator, up to [`BATCH`], as digests, and their kinds.
    fn hash_next<K: Key>(
        &self,
        digests: &mut Digests,
        keys: &mut impl Iterator<Item = K>,
    ) -> Kinds {
        dispatch!(self.level, kernels => {
            digests.hash_next(kernels, &self.hash, keys, false)
        })
    }

    /// How many keys the links hold.
    fn len(&self) -> u64 {
        self.links.iter().map(QuotientFilter::len).sum()
    }

    /// How many keys the links are planned for.
    fn capacity(&self) -> u64 {
        self.links.iter().fold(0, |sum, link| sum.saturating_add(link.plan().items()))
    }

    /// The bytes of all links.
    fn bytes(&self) -> u64 {
        self.links.iter().map(|link| link.plan().bytes()).sum()
    }

    /// The share of slots that are taken.
    fn fill(&self) -> f64 {
        let slots: u64 = self.links.iter().map(|link| link.plan().cells()).sum();
        self.len() as f64 / slots.max(1) as f64
    }

    /// The share of strangers that pass one link or more.
    fn expected_fpr(&self) -> f64 {
        let none: f64 = self.links.iter().map(|link| (-link.expected_fpr()).ln_1p()).sum();
        -none.exp_m1()
    }
}
