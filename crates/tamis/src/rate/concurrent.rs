//! A filter that many threads fill and ask at once, without a lock.

use super::{Blocked, Classic, Filter, Layout, MAX_HASHES, Plan, Split};
use crate::hash::Probe;
use crate::simd::prefetch;
use crate::store::{SharedStore, Store};
use crate::{Digest, Error, HashFamily, Key, Kinds};
use std::fmt;
use std::marker::PhantomData;
use std::path::Path;
use std::sync::atomic::{AtomicU8, Ordering};

/// A [`Bloom`](super::Bloom) filter that threads share.
pub type ConcurrentBloom = ConcurrentFilter<Classic>;
/// A [`BlockedBloom`](super::BlockedBloom) filter that threads share.
pub type ConcurrentBlockedBloom = ConcurrentFilter<Blocked>;
/// A [`SplitBloom`](super::SplitBloom) filter that threads share.
pub type ConcurrentSplitBloom = ConcurrentFilter<Split>;

/// The layouts that threads can share: those whose cells are bits.
///
/// A counting filter is not among them: a key's counters would have to change together.
pub trait ConcurrentLayout: Layout {}

impl ConcurrentLayout for Classic {}
impl ConcurrentLayout for Blocked {}
impl ConcurrentLayout for Split {}

/// How many keys a batch fetches ahead.
const AHEAD: usize = 32;

/// A filter that many threads fill and ask at once, without a lock.
///
/// | key | `contains` |
/// |---|---|
/// | inserted, and the insertion happened before | always `true` |
/// | being inserted at this moment | either |
/// | not inserted | `true` at about the planned rate |
///
/// [`insert`](ConcurrentFilter::insert) says "certainly new" to at most one of several threads that
/// insert the same key at once, and to exactly one unless another key sets the same bit at the same
/// moment. All three layouts keep this.
///
/// It becomes a plain filter, and a plain filter becomes one, without a copy. The bytes are the
/// same as those of a plain filter with the same keys.
///
/// ```
/// use tamis::{Bloom, ConcurrentBloom};
/// let seen = ConcurrentBloom::new(1_000, 0.01)?;
/// std::thread::scope(|scope| {
///     scope.spawn(|| seen.insert("ant"));
///     scope.spawn(|| seen.insert("bee"));
/// });
/// assert!(seen.contains("ant") && seen.contains("bee"));
/// let plain: Bloom = seen.into();
/// assert!(plain.contains("ant"));
/// # Ok::<(), tamis::Error>(())
/// ```
pub struct ConcurrentFilter<L: ConcurrentLayout> {
    plan: Plan,
    hash: HashFamily,
    /// The byte of [`Kinds`].
    kinds: AtomicU8,
    body: SharedStore,
    layout: PhantomData<L>,
}

/// Whether a bit is set. What a thread did before it set the bit is seen after this.
#[inline(always)]
fn get(body: &[AtomicU8], place: u64) -> bool {
    body[(place >> 3) as usize].load(Ordering::Acquire) >> (place & 7) & 1 == 1
}

/// Sets a bit, and says whether it was clear: one of several threads hears so.
#[inline(always)]
fn set(body: &[AtomicU8], place: u64) -> bool {
    let (byte, mask) = (&body[(place >> 3) as usize], 1 << (place & 7));
    // Most bits are set already in a filter that fills; a look costs less than a change.
    byte.load(Ordering::Acquire) & mask == 0 && byte.fetch_or(mask, Ordering::AcqRel) & mask == 0
}

impl<L: ConcurrentLayout> ConcurrentFilter<L> {
    /// An empty filter for `items` keys at the rate `fpr`, with the default hash.
    pub fn new(items: u64, fpr: f64) -> Result<Self, Error> {
        Ok(Filter::new(items, fpr)?.into())
    }

    /// An empty filter for `items` keys at the rate `fpr`.
    pub fn with_hash(items: u64, fpr: f64, hash: HashFamily) -> Result<Self, Error> {
        Ok(Filter::with_hash(items, fpr, hash)?.into())
    }

    /// An empty filter as planned.
    pub fn with_plan(plan: Plan, hash: HashFamily) -> Result<Self, Error> {
        Ok(Filter::with_plan(plan, hash)?.into())
    }

    /// Puts a key in. `true`: it was certainly new; `false`: it, or others that look like it, were
    /// there before or came at the same moment.
    pub fn insert(&self, key: impl Key) -> bool {
        self.note(key.as_key().kinds());
        self.insert_probe(&self.hash.probe(key.as_key()))
    }

    /// Puts a key in by its digest, as [`Filter::insert_digest`] does.
    pub fn insert_digest(&self, digest: Digest) -> Result<bool, Error> {
        self.hash.need_digest("insertion by digest")?;
        self.note(Kinds::DIGESTS);
        Ok(self.insert_probe(&Probe::Digest(digest)))
    }

    /// The first bit that a thread finds clear is decisive for it: the thread sets all others
    /// before it sets that one, and the key is new if it does set it.
    ///
    /// Two threads that insert the same key are not both told that it is new. They look at the bits
    /// in the same order. If the same bit is decisive for both, one of them sets it. Else the bit
    /// of one comes earlier, and the other found it set: by the first, which had set all bits
    /// before it, so the other would have found nothing clear.
    #[inline]
    fn insert_probe(&self, probe: &Probe<'_>) -> bool {
        let body = self.body.bytes();
        let (mut places, mut count) = ([0; MAX_HASHES as usize], 0);
        L::places(&self.plan, probe, |place| {
            places[count] = place;
            count += 1;
            true
        });
        let places = &places[..count];
        let Some(decisive) = places.iter().find(|place| !get(body, **place)) else {
            return false;
        };
        for place in places.iter().filter(|place| *place != decisive) {
            set(body, *place);
        }
        set(body, *decisive)
    }

    /// Remembers which kinds of keys came.
    #[inline]
    fn note(&self, kinds: Kinds) {
        let byte = kinds.to_byte();
        // A write would take the cache line from the other threads.
        if self.kinds.load(Ordering::Relaxed) & byte != byte {
            self.kinds.fetch_or(byte, Ordering::Relaxed);
        }
    }

    /// Whether a key passes: always, if its insertion happened before; else at about the planned
    /// rate.
    #[inline]
    pub fn contains(&self, key: impl Key) -> bool {
        self.contains_probe(&self.hash.probe(key.as_key()))
    }

    #[inline(always)]
    fn contains_probe(&self, probe: &Probe<'_>) -> bool {
        let body = self.body.bytes();
        L::places(&self.plan, probe, |place| get(body, place))
    }

    /// Whether the key with this digest passes; refused as [`Filter::contains_digest`] is.
    pub fn contains_digest(&self, digest: Digest) -> Result<bool, Error> {
        self.hash.need_digest("lookup by digest")?;
        Ok(self.contains_probe(&Probe::Digest(digest)))
    }

    /// Puts many keys in, and says how many were certainly new. Other threads may insert at the
    /// same time.
    pub fn insert_many<K: Key>(&self, keys: impl IntoIterator<Item = K>) -> u64 {
        let mut new = 0;
        let mut batch = Vec::with_capacity(AHEAD);
        let mut keys = keys.into_iter().fuse();
        loop {
            batch.extend(keys.by_ref().take(AHEAD));
            if batch.is_empty() {
                return new;
            }
            batch.iter().for_each(|key: &K| self.note(key.as_key().kinds()));
            self.ahead(&batch, |probe| new += u64::from(self.insert_probe(probe)));
            batch.clear();
        }
    }

    /// Whether each of many keys passes, in their order.
    pub fn contains_many<K: Key>(&self, keys: &[K]) -> Vec<bool> {
        let mut answers = Vec::with_capacity(keys.len());
        for batch in keys.chunks(AHEAD) {
            self.ahead(batch, |probe| answers.push(self.contains_probe(probe)));
        }
        answers
    }

    /// Does something with each of a few keys, after it began to fetch the memory of all.
    #[inline(always)]
    fn ahead<K: Key>(&self, keys: &[K], mut with: impl FnMut(&Probe<'_>)) {
        let body = self.body.bytes();
        if !prefetch::worthwhile(body.len()) || keys.len() > AHEAD {
            keys.iter().for_each(|key| with(&self.hash.probe(key.as_key())));
            return;
        }
        let mut probes: [Option<Probe<'_>>; AHEAD] = [const { None }; AHEAD];
        for (key, probe) in keys.iter().zip(&mut probes) {
            let one = self.hash.probe(key.as_key());
            L::places(&self.plan, &one, |place| {
                prefetch::read(body.as_ptr().wrapping_add((place >> 3) as usize));
                true
            });
            *probe = Some(one);
        }
        probes.iter().flatten().for_each(with);
    }

    /// A plain filter with all keys whose insertion happened before, and perhaps some that came
    /// meanwhile. Other threads may go on inserting.
    pub fn snapshot(&self) -> Result<Filter<L>, Error> {
        let kinds = self.kinds();
        let shared = self.body.bytes();
        let mut body = Store::zeroed(shared.len() as u64)?;
        for (byte, atom) in body.bytes_mut().iter_mut().zip(shared) {
            *byte = atom.load(Ordering::Acquire);
        }
        Filter::from_parts(self.plan, self.hash.clone(), kinds, body)
    }

    /// Writes a [`snapshot`](ConcurrentFilter::snapshot) to a file, as [`Filter::save`] does.
    pub fn save(&self, path: impl AsRef<Path>) -> Result<(), Error> {
        self.snapshot()?.save(path)
    }

    /// The plan it was made by.
    #[must_use]
    pub fn plan(&self) -> &Plan {
        &self.plan
    }

    /// The hash it uses.
    #[must_use]
    pub fn hash(&self) -> &HashFamily {
        &self.hash
    }

    /// The kinds of keys it was given.
    #[must_use]
    pub fn kinds(&self) -> Kinds {
        Kinds::from_byte(self.kinds.load(Ordering::Relaxed)).unwrap_or_default()
    }

    /// The share of bits that are set.
    #[must_use]
    pub fn fill(&self) -> f64 {
        let ones = |byte: &AtomicU8| u64::from(byte.load(Ordering::Relaxed).count_ones());
        self.body.bytes().iter().map(ones).sum::<u64>() as f64 / self.plan.cells() as f64
    }
}

impl<L: ConcurrentLayout> From<Filter<L>> for ConcurrentFilter<L> {
    /// Without a copy.
    fn from(filter: Filter<L>) -> Self {
        let (plan, hash, kinds, body) = filter.into_parts();
        let kinds = AtomicU8::new(kinds.to_byte());
        ConcurrentFilter { plan, hash, kinds, body: body.into(), layout: PhantomData }
    }
}

impl<L: ConcurrentLayout> From<ConcurrentFilter<L>> for Filter<L> {
    /// Without a copy.
    fn from(shared: ConcurrentFilter<L>) -> Self {
        let kinds = shared.kinds();
        Filter::from_parts(shared.plan, shared.hash, kinds, shared.body.into())
            .unwrap_or_else(|_| unreachable!("the parts were those of such a filter"))
    }
}

impl<L: ConcurrentLayout> fmt::Debug for ConcurrentFilter<L> {
    /// The plan, the hash (never its secret), and how full it is, which reads the whole body.
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.debug_struct("ConcurrentFilter")
            .field("plan", &self.plan)
            .field("hash", &self.hash)
            .field("kinds", &self.kinds())
            .field("fill", &self.fill())
            .finish_non_exhaustive()
    }
}
