//! What all rate filters do, written once over a layout.

use super::{Kind, Plan};
use crate::hash::Probe;
use crate::simd::{Kernels, Level, Single, dispatch, prefetch};
use crate::store::Store;
use crate::{Digest, Error, HashFamily, Health, Key, KeyRef, Kinds};
use std::fmt;
use std::marker::PhantomData;
use std::ops::{BitAndAssign, BitOrAssign};

/// How keys lie in the body of a filter. Implemented by [`Classic`](super::Classic),
/// [`Blocked`](super::Blocked) and [`Counting`](super::Counting), and closed to others.
///
/// ```
/// use tamis::rate::{Blocked, Classic, Filter, Layout};
/// fn seen_twice<L: Layout>(keys: &[&str]) -> Result<bool, tamis::Error> {
///     let mut seen = Filter::<L>::new(100, 1e-6)?;
///     Ok(keys.iter().any(|key| !seen.insert(key)))
/// }
/// assert!(seen_twice::<Classic>(&["ant", "bee", "ant"])?);
/// assert!(!seen_twice::<Blocked>(&["ant", "bee", "cat"])?);
/// # Ok::<(), tamis::Error>(())
/// ```
pub trait Layout: sealed::Operations + Send + Sync + 'static {
    /// The kind that plans and files name it by.
    const KIND: Kind;
}

pub(crate) mod sealed {
    use super::{Digest, Error, HashFamily, Kernels, Key, Kinds, Plan, Probe, Single};
    use crate::bits;

    /// The operations of a layout on its body. The defaults for whole bodies are for cells that are
    /// bits.
    pub trait Operations {
        /// Whether the layout can work with this hash.
        #[allow(private_interfaces)]
        fn accept(_hash: &HashFamily) -> Result<(), Error> {
            Ok(())
        }
        /// Puts the key in; says whether it was certainly new.
        #[allow(private_interfaces)]
        fn insert(plan: &Plan, body: &mut [u8], probe: &Probe<'_>) -> bool;
        /// Puts in the key with the digest that `digest` makes. A layout that needs h1 only has h2
        /// left out.
        #[allow(private_interfaces)]
        #[inline(always)]
        fn insert_lazily(
            plan: &Plan,
            body: &mut [u8],
            _: Single,
            digest: impl FnOnce() -> Digest,
        ) -> bool {
            Self::insert(plan, body, &Probe::Digest(digest()))
        }
        /// Starts to fetch the memory that the insertion of this digest changes.
        #[allow(private_interfaces)]
        #[inline(always)]
        fn fetch(_: &Plan, _body: &[u8], _: Digest) {}
        /// Takes the key out, and says whether it passed. `None` if the layout cannot remove keys.
        #[allow(private_interfaces)]
        fn remove(_: &Plan, _body: &mut [u8], _: &Probe<'_>) -> Option<bool> {
            None
        }
        /// Whether the key passes.
        #[allow(private_interfaces)]
        fn contains(plan: &Plan, body: &[u8], probe: &Probe<'_>) -> bool;
        /// Whether the key passes with the digest that `digest` makes. A layout that needs h1 only
        /// has h2 left out.
        #[allow(private_interfaces)]
        #[inline(always)]
        fn contains_lazily(
            plan: &Plan,
            body: &[u8],
            _: Single,
            digest: impl FnOnce() -> Digest,
        ) -> bool {
            Self::contains(plan, body, &Probe::Digest(digest()))
        }
        /// Which of many keys pass, for a hash that has digests. Answers are `false` before.
        #[allow(private_bounds, private_interfaces)]
        fn contains_many<K: Key, N: Kernels>(
            _: N,
            plan: &Plan,
            hash: &HashFamily,
            body: &[u8],
            keys: &[K],
            answers: &mut [bool],
        ) {
            for (answer, key) in answers.iter_mut().zip(keys) {
                *answer = Self::contains(plan, body, &hash.probe(key.as_key()));
            }
        }
        /// Puts many keys in, for a hash that has digests; says how many were certainly new.
        #[allow(private_bounds, private_interfaces)]
        fn insert_many<K: Key, N: Kernels>(
            _: N,
            plan: &Plan,
            hash: &HashFamily,
            body: &mut [u8],
            kinds: &mut Kinds,
            keys: impl Iterator<Item = K>,
        ) -> u64 {
            let insert = |key: K| {
                kinds.add(key.as_key().kinds());
                u64::from(Self::insert(plan, body, &hash.probe(key.as_key())))
            };
            keys.map(insert).sum()
        }
        /// Gives the positions of the key's bits to `keep_going` until it answers `false`; says
        /// whether it never did. Some positions may be equal.
        #[allow(private_interfaces)]
        #[inline(always)]
        fn places(plan: &Plan, probe: &Probe<'_>, keep_going: impl FnMut(u64) -> bool) -> bool {
            probe.visit(plan.cells(), plan.hashes(), keep_going)
        }
        /// Makes `body` hold what either held.
        fn union(_: &Plan, body: &mut [u8], other: &[u8]) {
            bits::or(body, other);
        }
        /// Makes `body` hold what both held.
        fn intersect(_: &Plan, body: &mut [u8], other: &[u8]) {
            bits::and(body, other);
        }
        /// How many cells are not empty.
        fn occupied(_: &Plan, body: &[u8]) -> u64 {
            bits::count(body)
        }
        /// The share of strangers that pass this body, if a key's places are drawn from all cells.
        fn fpr(plan: &Plan, body: &[u8]) -> f64 {
            (Self::occupied(plan, body) as f64 / plan.cells() as f64).powi(plan.hashes() as i32)
        }
    }
}

/// A set that is sometimes wrong about strangers, never about members.
///
/// | key | `contains` |
/// |---|---|
/// | inserted | always `true` |
/// | not inserted | `true` at about the planned rate |
///
/// The size is fixed. Past the planned number of items nothing fails: the rate climbs, and
/// [`health`](Filter::health) says so. Keys cannot be listed. Use it by one of its names:
/// [`Bloom`](super::Bloom), [`BlockedBloom`](super::BlockedBloom) or
/// [`CountingBloom`](super::CountingBloom).
///
/// ```
/// let mut seen = tamis::Bloom::new(1_000, 0.01)?;
/// assert!(seen.insert("ant"));      // certainly new
/// assert!(!seen.insert("ant"));     // perhaps seen before
/// assert!(seen.contains("ant"));
/// # Ok::<(), tamis::Error>(())
/// ```
pub struct Filter<L: Layout> {
    plan: Plan,
    hash: HashFamily,
    kinds: Kinds,
    body: Store,
    /// What the processor can do. It is stored here, so that a loop over lookups asks once.
    level: Level,
    single: Single,
    layout: PhantomData<L>,
}

impl<L: Layout> Filter<L> {
    /// An empty filter for `items` keys at the rate `fpr`, with the default hash.
    pub fn new(items: u64, fpr: f64) -> Result<Self, Error> {
        Self::with_hash(items, fpr, HashFamily::default())
    }

    /// An empty filter for `items` keys at the rate `fpr`.
    pub fn with_hash(items: u64, fpr: f64, hash: HashFamily) -> Result<Self, Error> {
        Self::with_plan(Plan::from_items_fpr(L::KIND, items, fpr)?, hash)
    }

    /// An empty filter as planned.
    ///
    /// ```
    /// use tamis::{BlockedBloom, HashFamily, rate::{Kind, Plan}};
    /// let plan = Plan::from_fpr_bits(Kind::Blocked, 0.001, 8 * 1024 * 1024)?;
    /// let filter = BlockedBloom::with_plan(plan, HashFamily::default())?;
    /// assert_eq!(filter.plan().items(), 533_472);
    /// # Ok::<(), tamis::Error>(())
    /// ```
    pub fn with_plan(plan: Plan, hash: HashFamily) -> Result<Self, Error> {
        let body = Store::zeroed(plan.bytes())?;
        Self::from_parts(plan, hash, Kinds::default(), body)
    }

    /// A filter with this body, which must have the plan's length.
    pub(crate) fn from_parts(
        plan: Plan,
        hash: HashFamily,
        kinds: Kinds,
        body: Store,
    ) -> Result<Self, Error> {
        if plan.filter() != L::KIND {
            return Err(Error::Kind { planned: plan.filter().name(), wanted: L::KIND.name() });
        }
        L::accept(&hash)?;
        debug_assert_eq!(body.bytes().len() as u64, plan.bytes());
        let level = Level::detect();
        let single = Single::new(level);
        Ok(Filter { plan, hash, kinds, body, level, single, layout: PhantomData })
    }

    /// All that the filter is made of.
    pub(super) fn into_parts(self) -> (Plan, HashFamily, Kinds, Store) {
        (self.plan, self.hash, self.kinds, self.body)
    }

    /// Puts a key in. `true` if it was certainly new. `false` if it was there before, or if other
    /// keys have set all its cells.
    #[inline(always)]
    pub fn insert(&mut self, key: impl Key) -> bool {
        self.kinds.add(key.as_key().kinds());
        match self.hash.as_fast() {
            Some(fast) => {
                let digest = || fast.digest(key.as_key());
                L::insert_lazily(&self.plan, self.body.bytes_mut(), self.single, digest)
            }
            None => self.insert_otherwise(key.as_key()),
        }
    }

    /// The other hash families. A separate function keeps their code out of the fast path.
    #[inline(never)]
    fn insert_otherwise(&mut self, key: KeyRef<'_>) -> bool {
        L::insert(&self.plan, self.body.bytes_mut(), &self.hash.probe(key))
    }

    /// Whether a key passes: always, if it was inserted; else at about the planned rate.
    #[inline(always)]
    pub fn contains(&self, key: impl Key) -> bool {
        match self.hash.as_fast() {
            Some(fast) => {
                let digest = || fast.digest(key.as_key());
                L::contains_lazily(&self.plan, self.body.bytes(), self.single, digest)
            }
            None => self.contains_otherwise(key.as_key()),
        }
    }

    /// The hash families other than the fast one, out of its way.
    #[inline(never)]
    fn contains_otherwise(&self, key: KeyRef<'_>) -> bool {
        L::contains(&self.plan, self.body.bytes(), &self.hash.probe(key))
    }

    /// Puts many keys in, and says how many were certainly new.
    ///
    /// A large filter that gets many keys sorts them by region first, because memory is slow at
    /// random places. It does so from 32 MiB and one key for a cache line of 64 bytes on (`bloom`:
    /// one place of a key), by the lower bound of the iterator's size. Sorting takes half the
    /// memory of the filter, or as much as the filter with 16 hashes in blocks; if the system
    /// refuses it, the keys are not sorted. Counting filters do not sort. If the iterator panics,
    /// the keys that were being sorted are not in the filter.
    ///
    /// ```
    /// let mut seen = tamis::Bloom::new(1_000, 0.01)?;
    /// assert_eq!(seen.insert_many(["ant", "bee", "ant"]), 2);
    /// # Ok::<(), tamis::Error>(())
    /// ```
    pub fn insert_many<K: Key>(&mut self, keys: impl IntoIterator<Item = K>) -> u64 {
        let (plan, hash, body, kinds) =
            (&self.plan, &self.hash, self.body.bytes_mut(), &mut self.kinds);
        let keys = keys.into_iter().fuse();
        if hash.has_digest() {
            return dispatch!(self.level, kernels => {
                L::insert_many(kernels, plan, hash, body, kinds, keys)
            });
        }
        keys.map(|key| {
            kinds.add(key.as_key().kinds());
            u64::from(L::insert(plan, body, &hash.probe(key.as_key())))
        })
        .sum()
    }

    /// Takes a key out once, if the layout can, and says whether it passed.
    pub(crate) fn take_out(&mut self, key: KeyRef<'_>) -> Option<bool> {
        L::remove(&self.plan, self.body.bytes_mut(), &self.hash.probe(key))
    }

    /// What the processor can do.
    pub(super) fn level(&self) -> Level {
        self.level
    }

    /// The same filter at another level that the processor has.
    #[cfg(test)]
    pub(crate) fn with_level(mut self, level: Level) -> Self {
        (self.level, self.single) = (level, Single::new(level));
        self
    }

    /// What it takes to insert keys.
    pub(super) fn parts_mut(&mut self) -> (&Plan, &HashFamily, &mut Kinds, &mut [u8]) {
        (&self.plan, &self.hash, &mut self.kinds, self.body.bytes_mut())
    }

    /// Whether each of many keys passes, in their order.
    ///
    /// ```
    /// let mut seen = tamis::Bloom::new(1_000, 0.01)?;
    /// seen.insert("ant");
    /// assert_eq!(seen.contains_many(&["ant", "bee"]), [true, false]);
    /// # Ok::<(), tamis::Error>(())
    /// ```
    pub fn contains_many<K: Key>(&self, keys: &[K]) -> Vec<bool> {
        let (plan, hash, body) = (&self.plan, &self.hash, self.body.bytes());
        let mut answers = vec![false; keys.len()];
        if hash.has_digest() {
            dispatch!(self.level, kernels => {
                L::contains_many(kernels, plan, hash, body, keys, &mut answers);
            });
            return answers;
        }
        for (answer, key) in answers.iter_mut().zip(keys) {
            *answer = L::contains(plan, body, &hash.probe(key.as_key()));
        }
        answers
    }

    /// Puts in a key by its digest, which [`HashFamily::digest`] makes, or by 128 bits of the
    /// caller that look random. The hash families of the documents have no digest and refuse this.
    #[inline]
    pub fn insert_digest(&mut self, digest: Digest) -> Result<bool, Error> {
        self.hash.need_digest("insertion by digest")?;
        self.kinds.add(Kinds::DIGESTS);
        Ok(L::insert(&self.plan, self.body.bytes_mut(), &Probe::Digest(digest)))
    }

    /// Puts in many keys by their digests, and says for each, in their order, whether it was
    /// certainly new. See [`insert_digest`](Filter::insert_digest) for the hashes that refuse this.
    ///
    /// ```
    /// use tamis::{Bloom, HashFamily};
    /// let mut seen = Bloom::new(1_000, 0.01)?;
    /// let digests = ["ant", "bee", "ant"].map(|key| seen.hash().digest(key).unwrap());
    /// assert_eq!(seen.insert_digests(&digests)?, [true, true, false]);
    /// # Ok::<(), tamis::Error>(())
    /// ```
    pub fn insert_digests(&mut self, digests: &[Digest]) -> Result<Vec<bool>, Error> {
        /// How many keys ahead memory is fetched.
        const AHEAD: usize = 12;
        self.hash.need_digest("insertion by digest")?;
        if !digests.is_empty() {
            self.kinds.add(Kinds::DIGESTS);
        }
        let (plan, body, single) = (&self.plan, self.body.bytes_mut(), self.single);
        let far = prefetch::worthwhile(body.len());
        let insert = |(place, digest): (usize, &Digest)| {
            if let Some(later) = digests.get(place + AHEAD).filter(|_| far) {
                L::fetch(plan, body, *later);
            }
            L::insert_lazily(plan, body, single, || *digest)
        };
        Ok(digests.iter().enumerate().map(insert).collect())
    }

    /// Whether the key with this digest passes. See [`insert_digest`](Filter::insert_digest) for
    /// the hashes that refuse this.
    #[inline]
    pub fn contains_digest(&self, digest: Digest) -> Result<bool, Error> {
        self.hash.need_digest("lookup by digest")?;
        Ok(L::contains(&self.plan, self.body.bytes(), &Probe::Digest(digest)))
    }

    /// Takes in all that `other` holds: afterwards the keys of either pass. The filters must have
    /// the same shape and hash; the larger plan is kept. (A counting filter adds the counters
    /// up.)
    pub fn union(&mut self, other: &Self) -> Result<(), Error> {
        self.match_with(other)?;
        L::union(&self.plan, self.body.bytes_mut(), other.body.bytes());
        self.kinds.add(other.kinds);
        self.merge_plan(other.plan, other.plan.items() > self.plan.items());
        Ok(())
    }

    /// Keeps what both hold: the keys of both pass, and strangers pass no more often than in
    /// either. Keys of only one may still pass, somewhat more often than strangers. The smaller
    /// plan is kept. (A counting filter takes the smaller of each two counters.)
    pub fn intersect(&mut self, other: &Self) -> Result<(), Error> {
        self.match_with(other)?;
        L::intersect(&self.plan, self.body.bytes_mut(), other.body.bytes());
        self.kinds = self.kinds.common(other.kinds);
        self.merge_plan(other.plan, other.plan.items() < self.plan.items());
        Ok(())
    }

    /// Takes the other plan if `take_other`. The result is counted if either was: it still tells
    /// of the keys that were counted.
    fn merge_plan(&mut self, other: Plan, take_other: bool) {
        let counted = self.plan.is_counted() || other.is_counted();
        let plan = if take_other { other } else { self.plan };
        self.plan = if counted { plan.counted() } else { plan };
    }

    /// Refuses a filter whose cells mean something else, and names the first difference.
    fn match_with(&self, other: &Self) -> Result<(), Error> {
        let differ = |field, left: &dyn fmt::Display, right: &dyn fmt::Display| {
            Err(Error::Mismatch { field, left: left.to_string(), right: right.to_string() })
        };
        let (l, r) = (&self.plan, &other.plan);
        if l.cells() != r.cells() {
            return differ("cells", &l.cells(), &r.cells());
        }
        if l.hashes() != r.hashes() {
            return differ("hashes", &l.hashes(), &r.hashes());
        }
        if l.counter_bits() != r.counter_bits() {
            return differ("counter bits", &l.counter_bits(), &r.counter_bits());
        }
        self.hash.match_with(&other.hash)
    }

    /// The distinct keys that the filter most likely holds, judged by its fill; infinite when it is
    /// full.
    #[must_use]
    pub fn estimated_items(&self) -> f64 {
        self.plan.items_for(L::occupied(&self.plan, self.body.bytes()))
    }

    /// The share of cells that are not empty.
    #[must_use]
    pub fn fill(&self) -> f64 {
        L::occupied(&self.plan, self.body.bytes()) as f64 / self.plan.cells() as f64
    }

    /// The share of strangers that pass the filter as it is now: a property of its bits, not of the
    /// plan.
    #[must_use]
    pub fn expected_fpr(&self) -> f64 {
        L::fpr(&self.plan, self.body.bytes())
    }

    /// Whether the filter holds more than it was planned for, by more than chance explains (five
    /// standard deviations of its fill: for 10,000 items, about 1.3% too many).
    #[must_use]
    pub fn health(&self) -> Health {
        let occupied = L::occupied(&self.plan, self.body.bytes()) as f64;
        if occupied > self.plan.most_occupied() { Health::Beyond } else { Health::Within }
    }

    /// Empties the filter.
    pub fn clear(&mut self) {
        self.body.bytes_mut().fill(0);
        self.kinds = Kinds::default();
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
        self.kinds
    }

    /// The bits or counters, as FORMAT.md lays them out.
    #[must_use]
    pub fn body(&self) -> &[u8] {
        self.body.bytes()
    }
}

/// Inserts each key, as [`insert_many`](Filter::insert_many) does.
///
/// There is no `FromIterator`: the size of a filter follows from its plan, which an iterator does
/// not know.
///
/// ```
/// let mut seen = tamis::Bloom::new(1_000, 0.01)?;
/// seen.extend(["ant", "bee"]);
/// assert!(seen.contains("bee"));
/// # Ok::<(), tamis::Error>(())
/// ```
impl<L: Layout, K: Key> Extend<K> for Filter<L> {
    fn extend<I: IntoIterator<Item = K>>(&mut self, keys: I) {
        self.insert_many(keys);
    }
}

/// [`union`](Filter::union) for filters that are known to match.
///
/// # Panics
///
/// If they do not match.
impl<L: Layout> BitOrAssign<&Filter<L>> for Filter<L> {
    fn bitor_assign(&mut self, other: &Filter<L>) {
        self.union(other).unwrap_or_else(|error| panic!("{error}"));
    }
}

/// [`intersect`](Filter::intersect) for filters that are known to match.
///
/// # Panics
///
/// If they do not match.
impl<L: Layout> BitAndAssign<&Filter<L>> for Filter<L> {
    fn bitand_assign(&mut self, other: &Filter<L>) {
        self.intersect(other).unwrap_or_else(|error| panic!("{error}"));
    }
}

impl<L: Layout> Clone for Filter<L> {
    /// The copy lives in memory, also where the original is mapped from a file.
    fn clone(&self) -> Self {
        let (plan, kinds, level) = (self.plan, self.kinds, self.level);
        Filter {
            plan,
            hash: self.hash.clone(),
            kinds,
            body: self.body.clone(),
            level,
            single: self.single,
            layout: PhantomData,
        }
    }
}

impl<L: Layout> PartialEq for Filter<L> {
    /// Equal filters have equal plans, hashes and bodies, and so equal files.
    fn eq(&self, other: &Self) -> bool {
        self.plan == other.plan
            && self.hash == other.hash
            && self.kinds == other.kinds
            && self.body() == other.body()
    }
}

// The only floats are rates from 0 to 0.999: a plan is never made of NaN.
impl<L: Layout> Eq for Filter<L> {}

impl<L: Layout> fmt::Debug for Filter<L> {
    /// The plan, the hash (never its secret), and how full it is, which reads the whole body.
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.debug_struct("Filter")
            .field("plan", &self.plan)
            .field("hash", &self.hash)
            .field("kinds", &self.kinds)
            .field("fill", &self.fill())
            .field("health", &self.health())
            .finish_non_exhaustive()
    }
}
