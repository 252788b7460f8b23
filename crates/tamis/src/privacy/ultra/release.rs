//! How a published Bloom filter is asked.

use super::UltraPlan;
use crate::hash::Walk;
use crate::privacy::release::sealed::Lookup;
use crate::privacy::{Epsilon, Rehearsal, Release, ReleasePlan};
use crate::simd::prefetch;
use crate::{Digest, Key, bits};

/// A release of an [`UltraFilter`](super::UltraFilter): a Bloom filter whose bits were flipped by
/// private coins. See [`Release`] for what can be done with it.
///
/// ```
/// use tamis::privacy::{Receipt, UltraFilter, UltraPlan};
/// let mut list = UltraFilter::new(UltraPlan::new(100, "5".parse()?)?)?;
/// list.insert("Zoë");
/// let public = list.publish(Receipt::unrecorded("5".parse()?))?;
/// println!("{}", public.contains("Zoë"));      // probably
/// assert_eq!(public.body().len(), 200);
/// # Ok::<(), tamis::Error>(())
/// ```
///
/// Only the private filter takes items:
///
/// ```compile_fail,E0599
/// use tamis::privacy::{Receipt, UltraFilter, UltraPlan};
/// let list = UltraFilter::new(UltraPlan::new(100, "5".parse()?)?)?;
/// let mut public = list.publish(Receipt::unrecorded("5".parse()?))?;
/// public.insert("Zoë");
/// # Ok::<(), tamis::Error>(())
/// ```
pub type PublicBloom = Release<UltraPlan>;

impl PublicBloom {
    /// How many of the key's bits are ones.
    #[must_use]
    pub fn ones_of(&self, key: impl Key) -> u32 {
        self.hash().digest(key).map_or(0, |digest| self.plan().count(self.body(), digest))
    }

    /// The share of bits that are ones.
    #[must_use]
    pub fn ones(&self) -> f64 {
        self.plan().ones(self.body())
    }
}

impl UltraPlan {
    // FORMAT v1: frozen
    fn positions(&self, digest: Digest) -> impl Iterator<Item = u64> {
        let mut walk = Walk::new(digest, self.bits());
        (0..self.hashes()).map(move |_| walk.next())
    }

    fn count(&self, body: &[u8], digest: Digest) -> u32 {
        self.positions(digest).map(|i| u32::from(bits::get(body, i))).sum()
    }

    fn ones(&self, body: &[u8]) -> f64 {
        bits::count(body) as f64 / self.bits() as f64
    }
}

impl ReleasePlan for UltraPlan {}

impl Lookup for UltraPlan {
    const KIND: &'static str = "public bloom";

    fn as_ultra(&self) -> Option<&UltraPlan> {
        Some(self)
    }

    fn planned_items(&self) -> u64 {
        self.items()
    }

    fn loss(&self) -> Epsilon {
        self.epsilon()
    }

    fn body_bytes(&self) -> u64 {
        self.bytes()
    }

    fn body_fpr(&self, body: &[u8]) -> f64 {
        self.fpr_at(self.ones(body))
    }

    fn planned_fnr(&self) -> f64 {
        self.fnr()
    }

    #[inline]
    fn passes(&self, body: &[u8], digest: Digest) -> bool {
        self.count(body, digest) >= self.threshold()
    }

    fn prefetch(&self, body: &[u8], digest: Digest) {
        self.positions(digest).for_each(|i| prefetch::byte(body, (i / 8) as usize));
    }
}

impl Rehearsal<PublicBloom> {
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
        differ as f64 / self.0.plan().bits() as f64
    }
}
