//! What all published filters have in common.

use super::Epsilon;
use crate::{Digest, HashFamily, Key, KeyRef, prefetch};

/// A published filter of whichever method, for code that decides at run time.
///
/// ```
/// use tamis::{Key, privacy::{LinearFilter, LinearPlan, Published, UltraFilter, UltraPlan}};
/// let epsilon = "4".parse()?;
/// let linear = LinearFilter::publish(LinearPlan::new(100, epsilon)?, ["ant"])?;
/// let bloom = UltraFilter::new(UltraPlan::new(100, epsilon)?)?.publish()?;
/// let published: [&dyn Published; 2] = [&linear, &bloom];
/// assert!(published[0].fpr() < 0.02 && published[1].fpr() > 0.01);
/// assert!(published[0].bits() < published[1].bits());
/// # Ok::<(), tamis::Error>(())
/// ```
pub trait Published: Send + Sync {
    /// `linear` or `bloom`.
    fn method(&self) -> &'static str;
    /// Whether a key passes.
    fn contains(&self, key: KeyRef<'_>) -> bool;
    /// Whether each of many keys passes, in their order.
    fn contains_many(&self, keys: &[KeyRef<'_>]) -> Vec<bool>;
    /// The items it is for: the public capacity, whatever the set holds.
    fn items(&self) -> u64;
    /// What the release cost, for sets that differ in one item being there or not.
    fn epsilon(&self) -> Epsilon;
    /// The share of strangers that pass.
    fn fpr(&self) -> f64;
    /// The share of members that do not pass.
    fn fnr(&self) -> f64;
    /// The bits of the body.
    fn bits(&self) -> u64;
    /// The hash it uses.
    fn hash(&self) -> &HashFamily;
    /// The body, as FORMAT.md lays it out.
    fn body(&self) -> &[u8];
}

/// How many keys are hashed ahead of their lookups.
const BATCH: usize = 64;

/// Hashes keys in batches, asks for the memory of each batch where that is worthwhile, and then
/// looks with `batch`.
pub(super) fn ask_many<K: Key>(
    keys: &[K],
    hash: &HashFamily,
    body: &[u8],
    prefetch: impl Fn(Digest),
    batch: impl Fn(&[Digest], &mut Vec<bool>),
) -> Vec<bool> {
    let ahead = prefetch::worthwhile(body.len() / 4);
    let mut answers = Vec::with_capacity(keys.len());
    let mut digests = Vec::with_capacity(BATCH);
    for keys in keys.chunks(BATCH) {
        digests.clear();
        digests.extend(keys.iter().filter_map(|key| hash.digest(key)));
        if ahead {
            digests.iter().for_each(|digest| prefetch(*digest));
        }
        batch(&digests, &mut answers);
    }
    answers
}
