//! The filter that may be published.

use super::UltraPlan;
use crate::hash::Walk;
use crate::privacy::published::ask_many;
use crate::privacy::{Epsilon, Published, Rehearsal};
use crate::store::Store;
use crate::{Digest, Error, HashFamily, Key, KeyRef, bits, prefetch};
use std::fmt;

/// A release of an [`UltraFilter`](super::UltraFilter): it says of any one item at most a factor
/// e^epsilon.
///
/// | key | `contains` |
/// |---|---|
/// | in the set | `true`, but for [`fnr`](UltraPlan::fnr) of them |
/// | not in the set | `false`, but for [`fpr`](UltraPlan::fpr) of them |
///
/// It has no insert, no remove and no list, and its bytes are as many whatever the set.
///
/// ```
/// use tamis::privacy::{UltraFilter, UltraPlan};
/// let mut list = UltraFilter::new(UltraPlan::new(100, "5".parse()?)?)?;
/// list.insert("Zoë");
/// let public = list.publish()?;
/// println!("{}", public.contains("Zoë"));      // probably
/// assert_eq!(public.body().len(), 200);
/// # Ok::<(), tamis::Error>(())
/// ```
///
/// Only the private filter takes items:
///
/// ```compile_fail,E0599
/// use tamis::privacy::{UltraFilter, UltraPlan};
/// let mut public = UltraFilter::new(UltraPlan::new(100, "5".parse()?)?)?.publish()?;
/// public.insert("Zoë");
/// # Ok::<(), tamis::Error>(())
/// ```
#[derive(Clone, PartialEq, Eq)]
pub struct PublicBloom {
    plan: UltraPlan,
    hash: HashFamily,
    body: Store,
}

impl PublicBloom {
    /// A filter with this body, which must have the plan's length.
    pub(crate) fn from_parts(
        plan: UltraPlan,
        hash: HashFamily,
        body: Store,
    ) -> Result<PublicBloom, Error> {
        hash.need_digest("a published filter")?;
        debug_assert_eq!(body.bytes().len() as u64, plan.bytes());
        Ok(PublicBloom { plan, hash, body })
    }

    /// Whether a key passes: probably, if it is in the set; seldom, if not.
    #[must_use]
    #[inline]
    pub fn contains(&self, key: impl Key) -> bool {
        self.hash.digest(key).is_some_and(|digest| self.passes(digest))
    }

    /// Whether each of many keys passes, in their order.
    #[must_use]
    pub fn contains_many<K: Key>(&self, keys: &[K]) -> Vec<bool> {
        let batch = |digests: &[Digest], answers: &mut Vec<bool>| {
            answers.extend(digests.iter().map(|digest| self.passes(*digest)));
        };
        ask_many(keys, &self.hash, self.body.bytes(), |digest| self.prefetch(digest), batch)
    }

    fn positions(&self, digest: Digest) -> impl Iterator<Item = u64> {
        let mut walk = Walk::new(digest, self.plan.bits());
        (0..self.plan.hashes()).map(move |_| walk.next())
    }

    /// How many of the key's bits are ones.
    #[must_use]
    pub fn ones_of(&self, key: impl Key) -> u32 {
        self.hash.digest(key).map_or(0, |digest| self.count(digest))
    }

    fn count(&self, digest: Digest) -> u32 {
        self.positions(digest).map(|i| u32::from(bits::get(self.body.bytes(), i))).sum()
    }

    fn passes(&self, digest: Digest) -> bool {
        self.count(digest) >= self.plan.threshold()
    }

    fn prefetch(&self, digest: Digest) {
        self.positions(digest).for_each(|i| prefetch::byte(self.body.bytes(), (i / 8) as usize));
    }

    /// The share of bits that are ones.
    #[must_use]
    pub fn ones(&self) -> f64 {
        bits::count(self.body.bytes()) as f64 / self.plan.bits() as f64
    }

    /// The share of strangers that pass this very release, judged by its ones.
    #[must_use]
    pub fn fpr_now(&self) -> f64 {
        self.plan.fpr_at(self.ones())
    }

    /// The plan it was published by.
    #[must_use]
    pub fn plan(&self) -> &UltraPlan {
        &self.plan
    }

    /// The hash it uses.
    #[must_use]
    pub fn hash(&self) -> &HashFamily {
        &self.hash
    }

    /// The bits, as FORMAT.md lays them out.
    #[must_use]
    pub fn body(&self) -> &[u8] {
        self.body.bytes()
    }
}

impl Rehearsal<PublicBloom> {
    /// Whether a key passes.
    #[must_use]
    pub fn contains(&self, key: impl Key) -> bool {
        self.0.contains(key)
    }

    /// Whether each of many keys passes, in their order.
    #[must_use]
    pub fn contains_many<K: Key>(&self, keys: &[K]) -> Vec<bool> {
        self.0.contains_many(keys)
    }

    /// How many of the key's bits are ones.
    #[must_use]
    pub fn ones_of(&self, key: impl Key) -> u32 {
        self.0.ones_of(key)
    }

    /// The share of bits that differ from those of another filter, such as the private one.
    #[must_use]
    pub fn distance_to(&self, body: &[u8]) -> f64 {
        let differ: u64 =
            self.0.body().iter().zip(body).map(|(a, b)| u64::from((a ^ b).count_ones())).sum();
        differ as f64 / self.0.plan.bits() as f64
    }
}

impl Published for PublicBloom {
    fn method(&self) -> &'static str {
        "bloom"
    }
    fn contains(&self, key: KeyRef<'_>) -> bool {
        PublicBloom::contains(self, key)
    }
    fn contains_many(&self, keys: &[KeyRef<'_>]) -> Vec<bool> {
        PublicBloom::contains_many(self, keys)
    }
    fn items(&self) -> u64 {
        self.plan.items()
    }
    fn epsilon(&self) -> Epsilon {
        self.plan.epsilon()
    }
    fn fpr(&self) -> f64 {
        self.fpr_now()
    }
    fn fnr(&self) -> f64 {
        self.plan.fnr()
    }
    fn bits(&self) -> u64 {
        self.plan.bits()
    }
    fn hash(&self) -> &HashFamily {
        &self.hash
    }
    fn body(&self) -> &[u8] {
        self.body.bytes()
    }
}

impl fmt::Debug for PublicBloom {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.debug_struct("PublicBloom")
            .field("plan", &self.plan)
            .field("hash", &self.hash)
            .finish_non_exhaustive()
    }
}
