//! The chain that grows.

use super::plan::{can_double, full_items};
use super::{Chain, MAX_LINKS, ScalablePlan};
use crate::hash::Digests;
use crate::rate::{Plan, QuotientFilter};
use crate::store::check_memory;
use crate::{Digest, Error, HashFamily, Health, Key, Kinds};
use std::fmt;

/// A set of any size that is sometimes wrong about strangers, never about members. It starts small
/// and grows as keys come.
///
/// | key | `contains` |
/// |---|---|
/// | inserted | always `true` |
/// | not inserted | `true` at less than the planned rate, however many keys there are |
///
/// When a link is full, the next key doubles it, which moves its keys, or opens another one. A key
/// that passes already is not inserted again: repeated keys do not fill the chain.
///
/// If the number of keys is known beforehand, take a [`Bloom`](crate::Bloom) filter: it is smaller
/// and one link is asked instead of several.
///
/// It takes the fast and the keyed hash only.
///
/// ```
/// let mut seen = tamis::Scalable::new(100, 0.01)?;
/// seen.insert_many(0..10_000u64)?;
/// assert!((0..10_000u64).all(|key| seen.contains(key)));
/// assert!(seen.expected_fpr() < 0.01);
/// assert_eq!(seen.links().len(), 4);
/// # Ok::<(), tamis::Error>(())
/// ```
#[derive(Clone)]
pub struct Scalable {
    plan: ScalablePlan,
    chain: Chain,
    max_memory: Option<u64>,
    whole_links: bool,
}

impl Scalable {
    /// An empty chain whose first link holds `items` keys, at the rate `fpr`, with the default
    /// hash.
    pub fn new(items: u64, fpr: f64) -> Result<Scalable, Error> {
        Scalable::with_hash(items, fpr, HashFamily::default())
    }

    /// The same with another hash.
    pub fn with_hash(items: u64, fpr: f64, hash: HashFamily) -> Result<Scalable, Error> {
        Scalable::with_plan(ScalablePlan::new(items, fpr)?, hash)
    }

    /// An empty chain as planned.
    pub fn with_plan(plan: ScalablePlan, hash: HashFamily) -> Result<Scalable, Error> {
        let first = QuotientFilter::with_plan(plan.next(&[])?, hash.clone())?;
        Scalable::from_parts(plan, hash, Kinds::default(), vec![first])
    }

    /// A chain of these links, oldest first; there is at least one.
    pub(crate) fn from_parts(
        plan: ScalablePlan,
        hash: HashFamily,
        kinds: Kinds,
        links: Vec<QuotientFilter>,
    ) -> Result<Scalable, Error> {
        Ok(Scalable {
            plan,
            chain: Chain::new(hash, kinds, links)?,
            max_memory: None,
            whole_links: false,
        })
    }

    /// Refuses from now on to take more than so many bytes for all links. Files do not hold this
    /// limit.
    ///
    /// ```
    /// let mut seen = tamis::Scalable::new(100, 0.01)?;
    /// seen.limit_memory(Some(1_000));
    /// let refused = seen.insert_many(0..10_000u64).unwrap_err();
    /// assert!(matches!(refused, tamis::Error::Memory { allowed: Some(1_000), .. }));
    /// assert!(seen.bytes() <= 1_000 && seen.contains(0u64));
    /// # Ok::<(), tamis::Error>(())
    /// ```
    pub fn limit_memory(&mut self, bytes: Option<u64>) {
        self.max_memory = bytes;
    }

    /// Opens links with all their slots from now on, if `whole` is true. Then no insertion moves
    /// keys to a larger link, which takes a tenth of a second at 5 million keys. Files do not hold
    /// this choice.
    ///
    /// ```
    /// let mut seen = tamis::Scalable::new(100, 0.01)?;
    /// seen.open_whole_links(true);
    /// seen.insert_many(0..101u64)?;
    /// assert_eq!(seen.links()[1].plan().items(), 800);
    /// # Ok::<(), tamis::Error>(())
    /// ```
    pub fn open_whole_links(&mut self, whole: bool) {
        self.whole_links = whole;
    }

    /// Puts a key in. `true`: it was certainly new; `false`: it passed before, and nothing changed.
    ///
    /// A new key that needs a new link is refused, and nothing changes, if the plan does not grow
    /// ([`Error::ChainFull`]) or if memory is lacking or limited ([`Error::Memory`]).
    #[inline]
    pub fn insert(&mut self, key: impl Key) -> Result<bool, Error> {
        let h1 = self.chain.h1(&key);
        let new = self.insert_h1(h1, 0)?;
        self.chain.kinds.add(key.as_key().kinds());
        Ok(new)
    }

    /// Puts a key in by its digest, as
    /// [`Filter::insert_digest`](crate::rate::Filter::insert_digest) does.
    pub fn insert_digest(&mut self, digest: Digest) -> Result<bool, Error> {
        let new = self.insert_h1(digest.h1, 0)?;
        self.chain.kinds.add(Kinds::DIGESTS);
        Ok(new)
    }

    /// Puts in a key that no link before number `first` holds.
    #[inline]
    fn insert_h1(&mut self, h1: u64, first: usize) -> Result<bool, Error> {
        if self.chain.contains_h1(h1, first) {
            return Ok(false);
        }
        self.make_room()?;
        if let Some(newest) = self.chain.links.last_mut() {
            newest.insert_h1(h1)?;
        }
        Ok(true)
    }

    /// Doubles the newest link if it is full, or opens another one.
    fn make_room(&mut self) -> Result<(), Error> {
        let full = |link: &QuotientFilter| link.len() >= link.plan().items().min(link.capacity());
        if !self.chain.links.last().is_none_or(full) {
            return Ok(());
        }
        if let Some(newest) = self.chain.links.last_mut().filter(|link| can_double(link.plan())) {
            // For a moment there are the old slots, too.
            let doubled = newest.plan().doubled()?.bytes();
            let needed = self.bytes().saturating_add(doubled);
            self.check_memory(needed)?;
            return self.chain.links.last_mut().map_or(Ok(()), QuotientFilter::grow);
        }
        let mut next = self.plan.next(&self.link_plans())?;
        while self.whole_links && can_double(&next) {
            next = next.doubled()?;
        }
        self.check_memory(self.bytes().saturating_add(next.bytes()))?;
        self.chain.links.push(QuotientFilter::with_plan(next, self.hash().clone())?);
        Ok(())
    }

    fn check_memory(&self, needed: u64) -> Result<(), Error> {
        self.max_memory.map_or(Ok(()), |most| check_memory(needed, most))
    }

    fn link_plans(&self) -> Vec<Plan> {
        self.links().iter().map(|link| *link.plan()).collect()
    }

    /// Puts many keys in, and says how many were certainly new. If one is refused, those before it
    /// are in.
    pub fn insert_many<K: Key>(&mut self, keys: impl IntoIterator<Item = K>) -> Result<u64, Error> {
        let mut keys = keys.into_iter().fuse();
        let (mut digests, mut new) = (Digests::new(), 0);
        loop {
            let kinds = self.chain.hash_next(&mut digests, &mut keys);
            let h1 = &digests.h1[..digests.len];
            if h1.is_empty() {
                return Ok(new);
            }
            // The older links are asked for the batch; the newest one, and those that are opened
            // meanwhile, key by key, since the batch itself may repeat keys.
            let mut known = [false; crate::simd::BATCH];
            let newest = self.links().len() - 1;
            for link in self.links()[..newest].iter().rev() {
                link.contains_batch(h1, &mut known[..h1.len()]);
            }
            let unknown = || h1.iter().zip(&known).filter(|(_, known)| !**known).map(|(h1, _)| *h1);
            self.links()[newest].fetch_batch(unknown());
            for h1 in unknown() {
                new += u64::from(self.insert_h1(h1, newest)?);
            }
            self.chain.kinds.add(kinds);
        }
    }

    /// Whether a key passes: always, if it was inserted; else at less than the planned rate.
    #[inline]
    pub fn contains(&self, key: impl Key) -> bool {
        self.chain.contains_h1(self.chain.h1(key), 0)
    }

    /// Whether the key with this digest passes.
    #[must_use]
    pub fn contains_digest(&self, digest: Digest) -> bool {
        self.chain.contains_h1(digest.h1, 0)
    }

    /// Whether each of many keys passes, in their order.
    ///
    /// ```
    /// let mut seen = tamis::Scalable::new(100, 0.01)?;
    /// seen.insert("ant")?;
    /// assert_eq!(seen.contains_many(&["ant", "bee"]), [true, false]);
    /// # Ok::<(), tamis::Error>(())
    /// ```
    pub fn contains_many<K: Key>(&self, keys: &[K]) -> Vec<bool> {
        self.chain.contains_many(keys, 0)
    }

    /// Takes in all that `other` holds: afterwards the keys of either pass. The chains must have
    /// the same hash; their plans and lengths may differ, and this chain keeps its plan. If it is
    /// refused, nothing changes.
    ///
    /// Links with the same fingerprints become one; the others are added to the chain. The rates of
    /// both chains add up: chains that are both far grown can pass the promised rate together, and
    /// [`health`](Scalable::health) says so. A key that both hold may be counted twice by
    /// [`len`](Scalable::len).
    ///
    /// ```
    /// let mut seen = tamis::Scalable::new(100, 0.01)?;
    /// let mut others = tamis::Scalable::new(100, 0.01)?;
    /// seen.insert("ant")?;
    /// others.insert_many(0..1_000u64)?;
    /// seen.union(&others)?;
    /// assert!(seen.contains("ant") && seen.contains(999u64));
    /// # Ok::<(), tamis::Error>(())
    /// ```
    pub fn union(&mut self, other: &Scalable) -> Result<(), Error> {
        self.hash().match_with(other.hash())?;
        self.check_memory(self.bytes().saturating_add(other.bytes()))?;
        let mut links: Vec<Option<QuotientFilter>> = vec![None; self.links().len()];
        let mut added = Vec::new();
        for theirs in other.links().iter().filter(|link| !link.is_empty()) {
            let ours = self.links().iter().zip(&mut links).find(|(ours, changed)| {
                changed.is_none() && ours.fingerprint_space() == theirs.fingerprint_space()
            });
            match ours.map(|(ours, changed)| (ours.united(theirs), changed)) {
                Some((Ok(both), changed)) => *changed = Some(both),
                // Remainders without a bit to give stay in a link of their own.
                None | Some((Err(Error::Unsupported { .. }), _)) => added.push(theirs.clone()),
                Some((Err(error), _)) => return Err(error),
            }
        }
        if links.len() + added.len() > MAX_LINKS {
            let items = self.capacity().saturating_add(other.capacity());
            return Err(Error::ChainFull { items, links: MAX_LINKS });
        }
        for (ours, changed) in self.chain.links.iter_mut().zip(links) {
            if let Some(changed) = changed {
                *ours = changed;
            }
        }
        self.chain.links.append(&mut added);
        // The largest link is the one that new keys go to.
        self.chain.links.sort_by_key(|link| full_items(link.plan()));
        self.chain.kinds.add(other.kinds());
        Ok(())
    }

    /// How many keys were certainly new when they were inserted.
    #[must_use]
    pub fn len(&self) -> u64 {
        self.chain.len()
    }

    /// Whether no key was inserted.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// How many keys the links hold before another link is opened.
    #[must_use]
    pub fn capacity(&self) -> u64 {
        self.link_capacities().fold(0, u64::saturating_add)
    }

    /// How many keys each link holds when it has all its slots, oldest first.
    pub fn link_capacities(&self) -> impl Iterator<Item = u64> + '_ {
        self.links().iter().map(|link| full_items(link.plan()))
    }

    /// The bytes of all links; a file adds its header.
    #[must_use]
    pub fn bytes(&self) -> u64 {
        self.chain.bytes()
    }

    /// The distinct keys that were most likely inserted: [`len`](Scalable::len), and the strangers
    /// that passed when they came.
    #[must_use]
    pub fn estimated_items(&self) -> f64 {
        // With a share f of strangers passing, 1/(1-f) keys came for each one that was inserted;
        // f grows by 1/space with each.
        let mut before = 0.0;
        let of_link = |link: &QuotientFilter| {
            let space = link.fingerprint_space() as f64;
            let rate = link.expected_fpr();
            let share = rate / (1.0 - before);
            before += rate;
            if (0.0..1.0).contains(&share) { -space * (-share).ln_1p() } else { f64::INFINITY }
        };
        self.links().iter().map(of_link).sum()
    }

    /// The share of slots that are taken, of all links.
    #[must_use]
    pub fn fill(&self) -> f64 {
        self.chain.fill()
    }

    /// The share of strangers that pass the chain as it is now.
    #[must_use]
    pub fn expected_fpr(&self) -> f64 {
        self.chain.expected_fpr()
    }

    /// Whether more strangers pass than promised, which only a union can lead to.
    #[must_use]
    pub fn health(&self) -> Health {
        if self.expected_fpr() > self.plan.fpr() { Health::Beyond } else { Health::Within }
    }

    /// Empties the chain, down to its first link.
    pub fn clear(&mut self) -> Result<(), Error> {
        let empty = Scalable::with_plan(self.plan, self.hash().clone())?;
        let (max_memory, whole_links) = (self.max_memory, self.whole_links);
        *self = Scalable { max_memory, whole_links, ..empty };
        Ok(())
    }

    /// The plan it was made by.
    #[must_use]
    pub fn plan(&self) -> &ScalablePlan {
        &self.plan
    }

    /// The links, oldest first: the keys and the bits of each. What it holds before it doubles is
    /// in its plan, and [`link_capacities`](Scalable::link_capacities) tells what it holds then.
    ///
    /// ```
    /// let mut seen = tamis::Scalable::new(100, 0.01)?;
    /// seen.insert_many(0..120u64)?;
    /// let held: Vec<u64> = seen.links().iter().map(|link| link.len()).collect();
    /// let room: Vec<u64> = seen.links().iter().map(|link| link.plan().items()).collect();
    /// let capacities: Vec<u64> = seen.link_capacities().collect();
    /// assert_eq!((held, room), (vec![100, 20], vec![100, 100]));
    /// assert_eq!(capacities, [100, 800]);
    /// # Ok::<(), tamis::Error>(())
    /// ```
    #[must_use]
    pub fn links(&self) -> &[QuotientFilter] {
        &self.chain.links
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

impl PartialEq for Scalable {
    /// Equal chains have equal plans, hashes and links, and so equal files.
    fn eq(&self, other: &Self) -> bool {
        self.plan == other.plan
            && self.hash() == other.hash()
            && self.kinds() == other.kinds()
            && self.links() == other.links()
    }
}

// The only floats are rates from 0 to 0.999: a plan is never made of NaN.
impl Eq for Scalable {}

impl fmt::Debug for Scalable {
    /// The plan, the hash (never its secret), and how full it is.
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.debug_struct("Scalable")
            .field("plan", &self.plan)
            .field("hash", self.hash())
            .field("kinds", &self.kinds())
            .field("links", &self.links().len())
            .field("len", &self.len())
            .field("health", &self.health())
            .finish_non_exhaustive()
    }
}
