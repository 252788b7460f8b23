//! The chain that forgets.

use super::{Chain, RollingPlan, Window};
use crate::hash::Digests;
use crate::rate::QuotientFilter;
use crate::simd::BATCH;
use crate::store::check_memory;
use crate::{Digest, Error, HashFamily, Health, Key, Kinds};
use std::fmt;
use std::time::Duration;

/// A set that forgets: "was this key seen among the last N insertions?", or "within the last T of
/// time?".
///
/// | key | `contains` |
/// |---|---|
/// | inserted within the window | always `true` |
/// | inserted before, by up to one generation | `true` |
/// | inserted earlier, or never | `true` at less than the planned rate |
///
/// A key that comes again is remembered anew.
///
/// **The clock is an argument.** A time is what has passed since some moment that the caller
/// chooses, the same for all calls; take the Unix epoch for chains that are united or kept in
/// files. Generations begin at whole multiples of their length since that moment. The chain keeps
/// the latest time that it was told. A time before it counts as that time: a key is never forgotten
/// too early, and is remembered longer if the clock was ahead. Methods without a time ask and
/// insert at the latest time.
///
/// **More keys than planned** within a window of time are taken in: a generation that is full
/// doubles its slots. The rate is the number of keys over the number of fingerprints, however they
/// are spread over the generations; past the planned number it rises above the promise in
/// proportion, and [`health`](Rolling::health) says so until they are forgotten.
///
/// It takes the fast and the keyed hash only.
///
/// ```
/// use std::time::Duration;
/// use tamis::{HashFamily, Rolling, rate::RollingPlan};
///
/// let hour = |hours: u64| Duration::from_secs(3600 * hours);
/// let plan = RollingPlan::last_time(hour(24), 1_000, 0.01)?;
/// let mut seen = Rolling::with_plan(plan, HashFamily::default())?;
/// assert!(seen.insert_at("ant", hour(5))?);          // certainly new
/// assert!(seen.contains_at("ant", hour(29)));        // 24 hours later
/// assert!(!seen.contains_at("ant", hour(72)));       // forgotten
/// assert!(seen.insert_at("ant", hour(72))?);         // new again
/// # Ok::<(), tamis::Error>(())
/// ```
#[derive(Clone)]
pub struct Rolling {
    plan: RollingPlan,
    chain: Chain,
    /// The number of each link's generation: it lasts from this many spans on.
    numbers: Vec<u64>,
    /// How many insertions there were, or the latest time in nanoseconds.
    clock: u64,
    max_memory: Option<u64>,
}

impl Rolling {
    /// A chain that remembers the last `items` insertions, at the rate `fpr`, with the default
    /// hash.
    ///
    /// ```
    /// let mut seen = tamis::Rolling::new(1_000, 0.01)?;
    /// seen.insert_many(0..100_000u64)?;
    /// assert!((99_000..100_000u64).all(|key| seen.contains(key)));
    /// assert!((0..1_000u64).filter(|key| seen.contains(*key)).count() < 30);
    /// # Ok::<(), tamis::Error>(())
    /// ```
    pub fn new(items: u64, fpr: f64) -> Result<Rolling, Error> {
        Rolling::with_plan(RollingPlan::last_items(items, fpr)?, HashFamily::default())
    }

    /// An empty chain as planned. A generation takes memory when its first key comes.
    pub fn with_plan(plan: RollingPlan, hash: HashFamily) -> Result<Rolling, Error> {
        Rolling::from_parts(plan, hash, Kinds::default(), Vec::new(), 0)
    }

    /// A chain of these generations with their numbers, oldest first.
    pub(crate) fn from_parts(
        plan: RollingPlan,
        hash: HashFamily,
        kinds: Kinds,
        generations: Vec<(u64, QuotientFilter)>,
        clock: u64,
    ) -> Result<Rolling, Error> {
        let (numbers, links) = generations.into_iter().unzip();
        let chain = Chain::new(hash, kinds, links)?;
        Ok(Rolling { plan, chain, numbers, clock, max_memory: None })
    }

    /// Refuses from now on to take more than so many bytes for all generations. Files do not hold
    /// this limit.
    pub fn limit_memory(&mut self, bytes: Option<u64>) {
        self.max_memory = bytes;
    }

    /// The number of the generation that holds when the clock shows this.
    fn number_at(&self, clock: u64) -> u64 {
        let latest = match self.plan.window() {
            // The generation of the last insertion.
            Window::Items(_) => clock.saturating_sub(1),
            Window::Time(_) => clock,
        };
        latest / self.plan.span()
    }

    /// The first link that is not yet forgotten when the clock shows this.
    fn first_at(&self, clock: u64) -> usize {
        let others = u64::from(self.plan.generations()) - 1;
        let oldest = self.number_at(clock).saturating_sub(others);
        self.numbers.partition_point(|number| *number < oldest)
    }

    /// What the clock shows at this time.
    fn clock_at(&self, now: Duration) -> u64 {
        match self.plan.window() {
            Window::Items(_) => self.clock,
            Window::Time(_) => self.clock.max(u64::try_from(now.as_nanos()).unwrap_or(u64::MAX)),
        }
    }

    /// Tells the chain the time, and forgets what has left its window. A chain of insertions has no
    /// time, and does not change.
    pub fn advance(&mut self, now: Duration) {
        self.clock = self.clock_at(now);
        self.forget();
    }

    fn forget(&mut self) {
        let first = self.first_at(self.clock);
        self.chain.links.drain(..first);
        self.numbers.drain(..first);
    }

    /// Puts a key in, at the latest time. `true`: it was certainly new; `false`: it, or another
    /// that looks like it, is remembered.
    ///
    /// If memory is lacking or limited ([`Error::Memory`]), or a generation holds very many times
    /// more keys than planned ([`Error::ChainFull`]), the key is refused, and only the clock has
    /// changed.
    pub fn insert(&mut self, key: impl Key) -> Result<bool, Error> {
        let h1 = self.chain.h1(&key);
        let new = self.insert_h1(h1)?;
        self.chain.kinds.add(key.as_key().kinds());
        Ok(new)
    }

    /// Puts a key in at this time. See [`insert`](Rolling::insert).
    pub fn insert_at(&mut self, key: impl Key, now: Duration) -> Result<bool, Error> {
        self.advance(now);
        self.insert(key)
    }

    /// Puts a key in by its digest, as
    /// [`Filter::insert_digest`](crate::rate::Filter::insert_digest) does.
    pub fn insert_digest(&mut self, digest: Digest) -> Result<bool, Error> {
        let new = self.insert_h1(digest.h1)?;
        self.chain.kinds.add(Kinds::DIGESTS);
        Ok(new)
    }

    fn insert_h1(&mut self, h1: u64) -> Result<bool, Error> {
        let newest = self.open_newest()?;
        let known = self.chain.links[..newest].iter().rev().any(|link| link.contains_h1(h1));
        self.insert_into(newest, h1, known)
    }

    /// Counts an insertion of a key into the newest link, and says whether it was new. `known`: an
    /// older link holds it.
    fn insert_into(&mut self, newest: usize, h1: u64, known: bool) -> Result<bool, Error> {
        let mut new = false;
        if !self.chain.links[newest].contains_h1(h1) {
            self.make_room(newest)?;
            self.chain.links[newest].insert_h1(h1)?;
            new = !known;
        }
        if matches!(self.plan.window(), Window::Items(_)) {
            self.clock = self.clock.saturating_add(1);
        }
        Ok(new)
    }

    /// The clock at the next insertion, if it comes now.
    fn next_clock(&self) -> u64 {
        match self.plan.window() {
            Window::Items(_) => self.clock.saturating_add(1),
            Window::Time(_) => self.clock,
        }
    }

    /// The link that the next key goes to. It is made, and what is forgotten then goes, if the
    /// generation begins with this key.
    fn open_newest(&mut self) -> Result<usize, Error> {
        let number = self.number_at(self.next_clock());
        if self.numbers.last() != Some(&number) {
            let plan = self.plan.link()?;
            let first = self.first_at(self.next_clock());
            let kept: u64 = self.links()[first..].iter().map(|link| link.plan().bytes()).sum();
            self.check_memory(kept.saturating_add(plan.bytes()))?;
            // The memory of a forgotten generation becomes that of the new one.
            let reusable = self.links()[..first].iter().position(|link| *link.plan() == plan);
            let link = match reusable {
                Some(place) => {
                    let mut link = self.chain.links.remove(place);
                    self.numbers.remove(place);
                    link.clear();
                    link
                }
                None => QuotientFilter::with_plan(plan, self.hash().clone())?,
            };
            let first = self.first_at(self.next_clock());
            self.chain.links.drain(..first);
            self.numbers.drain(..first);
            self.chain.links.push(link);
            self.numbers.push(number);
        }
        Ok(self.numbers.len() - 1)
    }

    /// Doubles the slots of a link that is full.
    fn make_room(&mut self, newest: usize) -> Result<(), Error> {
        let link = &self.chain.links[newest];
        if link.len() < link.plan().items().min(link.capacity()) {
            return Ok(());
        }
        let links = self.links().len();
        let full = Error::ChainFull { items: self.chain.capacity(), links };
        if link.plan().counter_bits() == 1 {
            return if link.len() < link.capacity() { Ok(()) } else { Err(full) };
        }
        // For a moment there are the old slots, too.
        self.check_memory(self.bytes().saturating_add(link.plan().bytes().saturating_mul(2)))?;
        self.chain.links[newest].grow()
    }

    fn check_memory(&self, needed: u64) -> Result<(), Error> {
        self.max_memory.map_or(Ok(()), |most| check_memory(needed, most))
    }

    /// Puts many keys in, at the latest time, and says how many were certainly new. If one is
    /// refused, those before it are in.
    pub fn insert_many<K: Key>(&mut self, keys: impl IntoIterator<Item = K>) -> Result<u64, Error> {
        let mut keys = keys.into_iter().fuse().peekable();
        let (mut digests, mut new) = (Digests::new(), 0);
        while keys.peek().is_some() {
            let newest = self.open_newest()?;
            // Up to the last insertion of the generation.
            let span = self.plan.span();
            let left = match self.plan.window() {
                Window::Items(_) => span - self.clock % span,
                Window::Time(_) => u64::MAX,
            };
            let count = left.min(BATCH as u64) as usize;
            let kinds = self.chain.hash_next(&mut digests, &mut keys.by_ref().take(count));
            let h1 = &digests.h1[..digests.len];
            let mut known = [false; BATCH];
            for link in self.links()[..newest].iter().rev() {
                link.contains_batch(h1, &mut known[..h1.len()]);
            }
            self.links()[newest].fetch_batch(h1.iter().copied());
            for (h1, known) in h1.iter().zip(&known) {
                new += u64::from(self.insert_into(newest, *h1, *known)?);
            }
            self.chain.kinds.add(kinds);
        }
        Ok(new)
    }

    /// Whether a key passes at the latest time: always, if it was inserted within the window.
    #[inline]
    pub fn contains(&self, key: impl Key) -> bool {
        self.chain.contains_h1(self.chain.h1(key), self.first_at(self.clock))
    }

    /// Whether a key passes at this time.
    pub fn contains_at(&self, key: impl Key, now: Duration) -> bool {
        self.chain.contains_h1(self.chain.h1(key), self.first_at(self.clock_at(now)))
    }

    /// Whether the key with this digest passes at the latest time.
    #[must_use]
    pub fn contains_digest(&self, digest: Digest) -> bool {
        self.chain.contains_h1(digest.h1, self.first_at(self.clock))
    }

    /// Whether each of many keys passes at the latest time, in their order.
    pub fn contains_many<K: Key>(&self, keys: &[K]) -> Vec<bool> {
        self.chain.contains_many(keys, self.first_at(self.clock))
    }

    /// Whether each of many keys passes at this time, in their order.
    pub fn contains_many_at<K: Key>(&self, keys: &[K], now: Duration) -> Vec<bool> {
        self.chain.contains_many(keys, self.first_at(self.clock_at(now)))
    }

    /// Takes in what `other` remembers: afterwards the keys that either remembers at the later of
    /// their two latest times pass. The chains must have the same hash and the same plan, and a
    /// window of time. If it is refused, nothing changes.
    ///
    /// Windows of insertions cannot be united: each chain counts its own, and nobody knows in which
    /// order the insertions of both came.
    pub fn union(&mut self, other: &Rolling) -> Result<(), Error> {
        if matches!(self.plan.window(), Window::Items(_)) {
            return Err(Error::Unsupported {
                kind: "rolling",
                operation: "be united with another by insertions, whose order nobody knows",
                remedy: "take a window of time",
            });
        }
        self.hash().match_with(other.hash())?;
        if self.plan != other.plan {
            let [left, right] = [self.plan, other.plan].map(|plan| format!("{plan:?}"));
            return Err(Error::Mismatch { field: "plan", left, right });
        }
        self.check_memory(self.bytes().saturating_add(other.bytes()))?;
        let clock = self.clock.max(other.clock);
        let theirs = other.generations().skip(other.first_at(clock));
        let mut all: Vec<(u64, QuotientFilter)> = Vec::new();
        let mut joined = vec![false; self.numbers.len()];
        for (number, link) in theirs {
            let both = match self.numbers.binary_search(&number) {
                Ok(place) => {
                    joined[place] = true;
                    let ours = &self.links()[place];
                    let spaces = [ours, link].map(QuotientFilter::fingerprint_space);
                    if spaces[0] != spaces[1] {
                        let [left, right] = spaces.map(|space| space.to_string());
                        return Err(Error::Mismatch { field: "fingerprints", left, right });
                    }
                    ours.united(link)?
                }
                Err(_) => link.clone(),
            };
            all.push((number, both));
        }
        let ours = self.numbers.drain(..).zip(self.chain.links.drain(..)).zip(joined);
        all.extend(ours.filter(|(_, joined)| !joined).map(|(ours, _)| ours));
        all.sort_by_key(|(number, _)| *number);
        (self.numbers, self.chain.links) = all.into_iter().unzip();
        self.chain.kinds.add(other.kinds());
        self.clock = clock;
        self.forget();
        Ok(())
    }

    /// How many keys the generations hold. A key that came again in a later generation counts in
    /// each.
    #[must_use]
    pub fn len(&self) -> u64 {
        self.chain.len()
    }

    /// Whether nothing is remembered.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The bytes of all generations that there are now; a file adds its header.
    #[must_use]
    pub fn bytes(&self) -> u64 {
        self.chain.bytes()
    }

    /// The keys that the generations most likely hold, each counted as in [`len`](Rolling::len).
    #[must_use]
    pub fn estimated_items(&self) -> f64 {
        self.links().iter().map(QuotientFilter::estimated_items).sum()
    }

    /// The share of slots that are taken, of all generations.
    #[must_use]
    pub fn fill(&self) -> f64 {
        self.chain.fill()
    }

    /// The share of strangers that pass the chain at the latest time.
    #[must_use]
    pub fn expected_fpr(&self) -> f64 {
        self.chain.expected_fpr()
    }

    /// Whether more strangers pass than promised, since more keys came within a window than
    /// planned.
    #[must_use]
    pub fn health(&self) -> Health {
        if self.expected_fpr() > self.plan.fpr() { Health::Beyond } else { Health::Within }
    }

    /// Forgets everything. The clock stays.
    pub fn clear(&mut self) {
        self.chain.links.clear();
        self.numbers.clear();
        self.chain.kinds = Kinds::default();
    }

    /// The plan it was made by.
    #[must_use]
    pub fn plan(&self) -> &RollingPlan {
        &self.plan
    }

    /// The generations that hold keys, oldest first.
    #[must_use]
    pub fn links(&self) -> &[QuotientFilter] {
        &self.chain.links
    }

    /// The generations with their numbers, oldest first.
    pub(crate) fn generations(&self) -> impl Iterator<Item = (u64, &QuotientFilter)> {
        self.numbers.iter().copied().zip(self.links())
    }

    /// How many insertions there were, for a window of insertions; else `None`.
    #[must_use]
    pub fn insertions(&self) -> Option<u64> {
        matches!(self.plan.window(), Window::Items(_)).then_some(self.clock)
    }

    /// The latest time that the chain was told, for a window of time; else `None`.
    #[must_use]
    pub fn latest(&self) -> Option<Duration> {
        let time = Duration::from_nanos(self.clock);
        matches!(self.plan.window(), Window::Time(_)).then_some(time)
    }

    /// What files keep of it: insertions, or nanoseconds.
    pub(crate) fn clock(&self) -> u64 {
        self.clock
    }

    /// Whether the numbers of the generations can be so at this clock.
    pub(crate) fn numbers_fit(plan: &RollingPlan, clock: u64, numbers: &[u64]) -> bool {
        let newest = match plan.window() {
            Window::Items(_) => clock.saturating_sub(1),
            Window::Time(_) => clock,
        } / plan.span();
        numbers.is_sorted_by(|one, next| one < next)
            && numbers
                .iter()
                .all(|number| *number <= newest && newest - number < u64::from(plan.generations()))
    }

    /// The hash it uses.
    #[must_use]
    pub fn hash(&self) -> &HashFamily {
        &self.chain.hash
    }

    /// The kinds of keys it was given.
    #[must_use]
    pub fn kinds(&self) -> Kinds {
        self.chain.kinds
    }
}

impl PartialEq for Rolling {
    /// Equal chains have equal plans, hashes, clocks and links, and so equal files.
    fn eq(&self, other: &Self) -> bool {
        self.plan == other.plan
            && self.hash() == other.hash()
            && self.kinds() == other.kinds()
            && self.clock == other.clock
            && self.numbers == other.numbers
            && self.links() == other.links()
    }
}

// The only floats are rates from 0 to 0.999: a plan is never made of NaN.
impl Eq for Rolling {}

impl fmt::Debug for Rolling {
    /// The plan, the hash (never its secret), and how full it is.
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.debug_struct("Rolling")
            .field("plan", &self.plan)
            .field("hash", self.hash())
            .field("kinds", &self.kinds())
            .field("clock", &self.clock)
            .field("links", &self.links().len())
            .field("len", &self.len())
            .field("health", &self.health())
            .finish_non_exhaustive()
    }
}
