//! The quotient filter: fingerprints in order, so that keys can be counted, removed and moved to
//! another size.
//!
//! After "A General-Purpose Counting Filter: Making Every Bit Count" (Pandey, Bender, Johnson and
//! Patro, 2017), with two changes. The number of slots is any multiple of 64, since the quotient is
//! the high part of a product and not the high bits of the hash. A key that was inserted twice
//! takes two slots.

mod size;
mod table;
#[cfg(test)]
mod tests;
mod walk;

use super::{Kind, Plan};
use crate::hash::{Digests, scale};
use crate::simd::{BATCH, Kernels, Level, Scalar, Work, dispatch, prefetch};
use crate::store::{self, Store};
use crate::{Digest, Error, HashFamily, Health, Key, Kinds};
pub(super) use size::{
    bits, expected_fpr, plan_fpr_bits, plan_items_bits, plan_items_fpr, plan_items_share,
    slots_fit, width_fits,
};
use std::fmt;
use std::iter::Peekable;
use std::sync::OnceLock;
use table::{BLOCK, Shape, Table, TableMut};
use walk::{Tally, Walk};

/// A set that is sometimes wrong about strangers, never about members, and can forget a member. It
/// takes a quarter of the bits of a [`CountingBloom`](super::CountingBloom).
///
/// | key | `contains` |
/// |---|---|
/// | inserted, more often than removed | always `true` |
/// | any other | `true` at no more than about the planned rate |
///
/// A key that was inserted twice takes two slots and must be removed twice. Removing a key that is
/// certainly absent is an error and changes nothing. **Removing a stranger that happens to pass
/// takes a member out with it**, which no filter can notice: remove only what was inserted.
///
/// A plan fills 95% of the slots. The filter takes keys up to 98% and then refuses:
/// [`grow`](QuotientFilter::grow) doubles its slots. Each doubling takes one bit from every
/// remainder, so the rate doubles if the slots fill up again.
///
/// It takes the fast and the keyed hash only.
///
/// ```
/// let mut seen = tamis::QuotientFilter::new(1_000, 0.01)?;
/// assert!(seen.insert("ant")?);      // certainly new
/// assert!(!seen.insert("ant")?);     // perhaps seen before
/// assert_eq!(seen.count("ant"), 2);
/// seen.remove("ant")?;
/// seen.remove("ant")?;
/// assert!(!seen.contains("ant"));
/// assert!(seen.remove("bee").is_err());
/// # Ok::<(), tamis::Error>(())
/// ```
#[derive(Clone)]
pub struct QuotientFilter {
    plan: Plan,
    hash: HashFamily,
    kinds: Kinds,
    body: Store,
    tally: Tally,
    /// Whether the body is what insertions make. A body from a file is checked before it is
    /// changed; lookups do without.
    sound: OnceLock<bool>,
    level: Level,
}

impl QuotientFilter {
    /// An empty filter for `items` keys at the rate `fpr`, with the default hash.
    pub fn new(items: u64, fpr: f64) -> Result<QuotientFilter, Error> {
        QuotientFilter::with_hash(items, fpr, HashFamily::default())
    }

    /// An empty filter for `items` keys at the rate `fpr`.
    pub fn with_hash(items: u64, fpr: f64, hash: HashFamily) -> Result<QuotientFilter, Error> {
        QuotientFilter::with_plan(Plan::from_items_fpr(Kind::Quotient, items, fpr)?, hash)
    }

    /// An empty filter as planned.
    pub fn with_plan(plan: Plan, hash: HashFamily) -> Result<QuotientFilter, Error> {
        let body = Store::zeroed(plan.bytes())?;
        let mut filter = QuotientFilter::from_parts(plan, hash, Kinds::default(), body, 0, 0)?;
        filter.sound = OnceLock::from(true);
        Ok(filter)
    }

    /// A filter with this body, which must have the plan's length.
    pub(crate) fn from_parts(
        plan: Plan,
        hash: HashFamily,
        kinds: Kinds,
        body: Store,
        items: u64,
        distinct: u64,
    ) -> Result<QuotientFilter, Error> {
        if plan.filter() != Kind::Quotient {
            return Err(Error::Kind {
                planned: plan.filter().name(),
                wanted: Kind::Quotient.name(),
            });
        }
        hash.need_digest("a quotient filter")?;
        let (tally, level) = (Tally { items, distinct }, Level::detect());
        Ok(QuotientFilter { plan, hash, kinds, body, tally, sound: OnceLock::new(), level })
    }

    fn shape(&self) -> Shape {
        shape_of(&self.plan)
    }

    #[inline(always)]
    fn table(&self) -> Table<'_, Scalar> {
        self.table_for(Scalar)
    }

    #[inline(always)]
    fn table_for<N: Kernels>(&self, kernels: N) -> Table<'_, N> {
        Table { body: self.body.bytes(), shape: self.shape(), kernels }
    }

    #[inline(always)]
    fn table_mut<N: Kernels>(&mut self, kernels: N) -> TableMut<'_, N> {
        let shape = self.shape();
        TableMut { body: self.body.bytes_mut(), shape, kernels }
    }

    #[inline(always)]
    fn digest(&self, key: impl Key) -> Digest {
        match self.hash.as_fast() {
            Some(fast) => fast.digest(key.as_key()),
            None => self.hash.digest(key).unwrap_or_else(|| {
                unreachable!("`need_digest` refused hashes without one when the filter was made")
            }),
        }
    }

    /// The quotient and the remainder of a key.
    fn split(&self, key: impl Key) -> (u64, u64) {
        split(self.shape(), fingerprint(self.shape(), self.digest(key).h1))
    }

    /// Whether the body is what insertions make: reads all of it, once.
    pub(crate) fn is_sound(&self) -> bool {
        *self.sound.get_or_init(|| walk::is_sound(self.table(), self.tally))
    }

    fn need_sound(&self) -> Result<(), Error> {
        if self.is_sound() {
            return Ok(());
        }
        Err(Error::Field { field: "body", got: "not what insertions make".to_owned() })
    }

    /// Puts a key in. `true`: it was certainly new; `false`: it, or another that looks like it, was
    /// there before. [`Error::NoSlot`], and no change, if the filter is full.
    pub fn insert(&mut self, key: impl Key) -> Result<bool, Error> {
        let digest = self.digest(&key);
        self.need_slots(1)?;
        self.kinds.add(key.as_key().kinds());
        Ok(self.insert_fingerprint(fingerprint(self.shape(), digest.h1)))
    }

    /// Puts a key in by its digest, as [`Filter::insert_digest`](super::Filter::insert_digest)
    /// does.
    pub fn insert_digest(&mut self, digest: Digest) -> Result<bool, Error> {
        self.need_slots(1)?;
        self.kinds.add(Kinds::DIGESTS);
        Ok(self.insert_fingerprint(fingerprint(self.shape(), digest.h1)))
    }

    fn insert_fingerprint(&mut self, fingerprint: u64) -> bool {
        let before = dispatch!(self.level, kernels => {
            kernels.run(Insertion { table: self.table_mut(kernels), fingerprint })
        });
        self.tally.items += 1;
        self.tally.distinct += u64::from(before == 0);
        before == 0
    }

    /// Refuses unless the body is sound and so many more keys fit.
    fn need_slots(&self, more: u64) -> Result<(), Error> {
        self.need_sound()?;
        let most = self.capacity();
        if self.tally.items.saturating_add(more) <= most {
            return Ok(());
        }
        Err(Error::NoSlot { items: self.tally.items, slots: self.shape().slots() })
    }

    /// How many keys fit, repeated ones included: 63 of every 64 slots.
    #[must_use]
    pub fn capacity(&self) -> u64 {
        self.shape().blocks * (BLOCK - 1)
    }

    /// Puts many keys in, and says how many were certainly new. [`Error::NoSlot`] if they do not
    /// all fit: then some of them are in, and the filter is full.
    ///
    /// Many keys at once are sorted and merged with what is there, which is faster than to insert
    /// them one by one. That takes 8 bytes for each key, up to half as many keys as there are
    /// slots, and for a moment a second body.
    pub fn insert_many<K: Key>(&mut self, keys: impl IntoIterator<Item = K>) -> Result<u64, Error> {
        self.need_sound()?;
        let shape = self.shape();
        let mut keys = keys.into_iter().fuse();
        let before = self.tally.distinct;
        let most = (shape.slots() / 2).max(BATCH as u64) as usize;
        let (mut waiting, mut digests) = (Vec::new(), Digests::new());
        loop {
            let (hash, kinds) = (&self.hash, &mut self.kinds);
            kinds.add(dispatch!(self.level, kernels => {
                digests.hash_next(kernels, hash, &mut keys, false)
            }));
            let h1 = &digests.h1[..digests.len];
            if h1.is_empty() || waiting.len() + h1.len() > most {
                self.insert_waiting(&mut waiting)?;
            }
            if h1.is_empty() {
                return Ok(self.tally.distinct - before);
            }
            let needed = 8 * (waiting.len() + h1.len()) as u64;
            waiting.try_reserve(h1.len()).map_err(|_| store::memory(needed))?;
            waiting.extend(h1.iter().map(|h1| fingerprint(shape, *h1)));
        }
    }

    /// Puts fingerprints in, and empties the list.
    fn insert_waiting(&mut self, waiting: &mut Vec<u64>) -> Result<(), Error> {
        let shape = self.shape();
        let count = waiting.len() as u64;
        waiting.sort_unstable();
        // Merging rewrites all slots: it pays if many of them get a key.
        if count >= shape.slots() / 4 && self.need_slots(count).is_ok() {
            // Without memory for a second body, the keys go in one by one.
            let all = Merged::new(self.all(), waiting.iter().copied());
            if let Ok((body, tally)) = written(shape, all) {
                (self.body, self.tally) = (body, tally);
                waiting.clear();
                return Ok(());
            }
        }
        for batch in waiting.chunks(BATCH) {
            if prefetch::worthwhile(self.body.bytes().len()) {
                batch.iter().for_each(|fingerprint| fetch(self.table(), *fingerprint));
            }
            for fingerprint in batch {
                self.need_slots(1)?;
                self.insert_fingerprint(*fingerprint);
            }
        }
        waiting.clear();
        Ok(())
    }

    /// Whether a key passes: always, if it is a member; else at about the planned rate.
    #[inline]
    pub fn contains(&self, key: impl Key) -> bool {
        self.contains_fingerprint(fingerprint(self.shape(), self.digest(key).h1))
    }

    #[inline(always)]
    fn contains_fingerprint(&self, fingerprint: u64) -> bool {
        dispatch!(self.level, kernels => {
            kernels.run(Lookup { table: self.table_for(kernels), fingerprint })
        })
    }

    /// Whether the key with this digest passes.
    #[must_use]
    pub fn contains_digest(&self, digest: Digest) -> bool {
        self.contains_fingerprint(fingerprint(self.shape(), digest.h1))
    }

    /// Whether each of many keys passes, in their order.
    ///
    /// ```
    /// let mut seen = tamis::QuotientFilter::new(1_000, 0.01)?;
    /// seen.insert("ant")?;
    /// assert_eq!(seen.contains_many(&["ant", "bee"]), [true, false]);
    /// # Ok::<(), tamis::Error>(())
    /// ```
    pub fn contains_many<K: Key>(&self, keys: &[K]) -> Vec<bool> {
        let (mut digests, mut answers) = (Digests::new(), vec![false; keys.len()]);
        for (batch, answers) in keys.chunks(BATCH).zip(answers.chunks_mut(BATCH)) {
            dispatch!(self.level, kernels => {
                let _ = digests.hash(kernels, &self.hash, batch.iter(), false);
                let table = self.table_for(kernels);
                kernels.run(Lookups { table, h1: &digests.h1[..digests.len], answers });
            });
        }
        answers
    }

    /// Whether the key whose digest begins with `h1` passes.
    #[inline]
    pub(super) fn contains_h1(&self, h1: u64) -> bool {
        self.contains_fingerprint(fingerprint(self.shape(), h1))
    }

    /// The same for up to [`BATCH`] keys. Answers that are `true` already stay so.
    pub(super) fn contains_batch(&self, h1: &[u64], answers: &mut [bool]) {
        dispatch!(self.level, kernels => {
            kernels.run(Lookups { table: self.table_for(kernels), h1, answers });
        });
    }

    /// Starts to fetch the memory of these keys, if it is far away.
    pub(super) fn fetch_batch(&self, h1: impl Iterator<Item = u64>) {
        if prefetch::worthwhile(self.body.bytes().len()) {
            let shape = self.shape();
            h1.for_each(|h1| fetch(self.table(), fingerprint(shape, h1)));
        }
    }

    /// Puts in a key that does not pass. Nothing changes if there is no slot.
    #[inline]
    pub(super) fn insert_h1(&mut self, h1: u64) -> Result<(), Error> {
        self.need_slots(1)?;
        self.insert_fingerprint(fingerprint(self.shape(), h1));
        Ok(())
    }

    /// A filter with the fingerprints of both, each once. Both must tell the same fingerprints
    /// apart. The slots are doubled as often as the plan needs.
    pub(super) fn united(&self, other: &QuotientFilter) -> Result<QuotientFilter, Error> {
        debug_assert_eq!(self.fingerprint_space(), other.fingerprint_space());
        self.need_sound()?;
        other.need_sound()?;
        let all = || Counted(Merged::new(self.all(), other.all()).peekable()).map(|(one, _)| one);
        let total = all().count() as u64;
        let mut plan = if self.plan.items() >= other.plan.items() { self.plan } else { other.plan };
        while total > plan.items() {
            plan = plan.doubled()?;
        }
        let (body, tally) = written(shape_of(&plan), all())?;
        let (hash, kinds, level) = (self.hash.clone(), Kinds::default(), self.level);
        Ok(QuotientFilter { plan, hash, kinds, body, tally, sound: OnceLock::from(true), level })
    }

    /// How often the key was inserted and not removed, at most: keys that look alike are counted
    /// together.
    pub fn count(&self, key: impl Key) -> u64 {
        let (quotient, remainder) = self.split(key);
        self.table().count(quotient, remainder)
    }

    /// Takes a key out once. [`Error::Absent`], and no change, if it is certainly not there.
    pub fn remove(&mut self, key: impl Key) -> Result<(), Error> {
        self.need_sound()?;
        let fingerprint = fingerprint(self.shape(), self.digest(key).h1);
        let before = dispatch!(self.level, kernels => {
            kernels.run(Removal { table: self.table_mut(kernels), fingerprint })
        });
        match before {
            0 => Err(Error::Absent),
            before => {
                self.tally.items -= 1;
                self.tally.distinct -= u64::from(before == 1);
                Ok(())
            }
        }
    }

    /// The fingerprints in ascending order, each with how often it is there.
    ///
    /// A fingerprint is a number below [`fingerprint_space`](QuotientFilter::fingerprint_space): it
    /// is the place of the key's hash among all hashes. Keys cannot be told from it.
    pub fn fingerprints(&self) -> Result<impl Iterator<Item = (u64, u64)> + Clone + '_, Error> {
        self.need_sound()?;
        Ok(Counted(self.all().peekable()))
    }

    /// How many fingerprints there can be. A stranger passes with the chance that its fingerprint
    /// is among those held.
    #[must_use]
    pub fn fingerprint_space(&self) -> u64 {
        size::fingerprints(self.shape())
    }

    fn all(&self) -> impl Iterator<Item = u64> + Clone + '_ {
        let width = self.shape().width;
        Walk::new(self.table()).map(move |(quotient, remainder)| quotient << width | remainder)
    }

    /// Doubles the slots. All keys stay, and their counts. Each remainder loses one bit, which the
    /// quotient gains: the rate is the same for the keys held, and twice as high once the slots are
    /// as full as before. [`health`](QuotientFilter::health) says when it passes the planned rate.
    ///
    /// ```
    /// let mut seen = tamis::QuotientFilter::new(100, 0.01)?;
    /// seen.insert_many(0..100u64)?;
    /// seen.grow()?;
    /// seen.insert_many(100..120u64)?;
    /// assert!((0..120u64).all(|key| seen.contains(key)));
    /// # Ok::<(), tamis::Error>(())
    /// ```
    pub fn grow(&mut self) -> Result<(), Error> {
        self.rewrite(self.plan.doubled()?)
    }

    /// Doubles the slots until the plan has room for so many items; see
    /// [`grow`](QuotientFilter::grow). Nothing changes if that cannot be, or is so already.
    pub fn grow_for(&mut self, items: u64) -> Result<(), Error> {
        let mut plan = self.plan;
        while plan.items() < items {
            plan = plan.doubled()?;
        }
        if plan == self.plan { Ok(()) } else { self.rewrite(plan) }
    }

    /// Moves to a plan with the same fingerprints.
    fn rewrite(&mut self, plan: Plan) -> Result<(), Error> {
        self.need_sound()?;
        let (body, tally) = written(shape_of(&plan), self.all())?;
        (self.body, self.tally, self.plan) = (body, tally, plan);
        Ok(())
    }

    /// Where each fingerprint lies: its slot and its home, in the order of the homes.
    pub fn slots(&self) -> Result<impl Iterator<Item = (u64, u64)> + '_, Error> {
        self.need_sound()?;
        let mut walk = Walk::new(self.table());
        let shape = self.shape();
        Ok(std::iter::from_fn(move || {
            let (home, _) = walk.next()?;
            Some((shape.wrap(walk.last_position()), home))
        }))
    }

    /// Takes in all that `other` holds: afterwards the keys of either pass, and counts add up. The
    /// filters must have the same hash; their sizes may differ.
    ///
    /// The result has the fingerprints of the filter that tells fewer apart, and as many doublings
    /// as it needs. Where the larger number of fingerprints is no multiple of the smaller one, a
    /// fingerprint may lie across two of the smaller number: the result then holds both, so that
    /// the member passes. A removal takes out one of them.
    pub fn union(&mut self, other: &QuotientFilter) -> Result<(), Error> {
        self.need_sound()?;
        other.need_sound()?;
        self.hash.match_with(&other.hash)?;
        let (coarse, fine) = if self.fingerprint_space() <= other.fingerprint_space() {
            (&*self, other)
        } else {
            (other, &*self)
        };
        let translated = fine.translated(coarse.fingerprint_space());
        let total = coarse.tally.items + translated.clone().count() as u64;
        let mut plan = coarse.plan;
        while total > plan.items() {
            plan = plan.doubled()?;
        }
        if self.plan.is_counted() || other.plan.is_counted() {
            plan = plan.counted();
        }
        let (body, tally) = written(shape_of(&plan), Merged::new(coarse.all(), translated))?;
        self.kinds.add(other.kinds);
        (self.body, self.tally, self.plan) = (body, tally, plan);
        Ok(())
    }

    /// The fingerprints that ours are in a space that is no larger, in ascending order.
    fn translated(&self, space: u64) -> impl Iterator<Item = u64> + Clone + '_ {
        let (to, from) = (u128::from(space), u128::from(self.fingerprint_space()));
        let counted = Counted(self.all().peekable());
        counted.flat_map(move |(fingerprint, count)| {
            let first = u128::from(fingerprint) * to / from;
            let last = ((u128::from(fingerprint) + 1) * to - 1) / from;
            let repeat = move |one| std::iter::repeat_n(one as u64, count as usize);
            (first..=last).flat_map(repeat)
        })
    }

    /// How many keys the filter holds, repeated ones included.
    #[must_use]
    pub fn len(&self) -> u64 {
        self.tally.items
    }

    /// Whether it holds none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.tally.items == 0
    }

    /// How many different fingerprints it holds.
    pub(crate) fn distinct(&self) -> u64 {
        self.tally.distinct
    }

    /// The distinct keys that the filter most likely holds: keys that look alike are told apart by
    /// chance alone.
    #[must_use]
    pub fn estimated_items(&self) -> f64 {
        let space = self.fingerprint_space() as f64;
        -space * (-(self.tally.distinct as f64) / space).ln_1p()
    }

    /// The share of slots that are taken.
    #[must_use]
    pub fn fill(&self) -> f64 {
        self.tally.items as f64 / self.shape().slots() as f64
    }

    /// The share of strangers that pass the filter as it is now.
    #[must_use]
    pub fn expected_fpr(&self) -> f64 {
        self.tally.distinct as f64 / self.fingerprint_space() as f64
    }

    /// Whether the filter holds more keys than planned, or passes more strangers: what
    /// [`grow`](QuotientFilter::grow) can lead to.
    #[must_use]
    pub fn health(&self) -> Health {
        if self.tally.items > self.plan.items() || self.expected_fpr() > self.plan.fpr() {
            Health::Beyond
        } else {
            Health::Within
        }
    }

    /// Empties the filter.
    pub fn clear(&mut self) {
        self.body.bytes_mut().fill(0);
        self.kinds = Kinds::default();
        self.tally = Tally::default();
        self.sound = OnceLock::from(true);
    }

    /// The plan it was made by, with twice the items for each time it grew.
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

    /// The slots, as FORMAT.md lays them out.
    #[must_use]
    pub fn body(&self) -> &[u8] {
        self.body.bytes()
    }
}

/// Work for the level of the processor: it counts bits in one instruction where there is one.
struct Lookup<'a, N> {
    table: Table<'a, N>,
    fingerprint: u64,
}

impl<N: Kernels> Work for Lookup<'_, N> {
    type Output = bool;

    #[inline(always)]
    fn run(self) -> bool {
        let (quotient, remainder) = split(self.table.shape, self.fingerprint);
        self.table.contains(quotient, remainder)
    }
}

/// The same for up to [`BATCH`] keys. Answers that are `true` already stay so.
struct Lookups<'a, N> {
    table: Table<'a, N>,
    h1: &'a [u64],
    answers: &'a mut [bool],
}

impl<N: Kernels> Work for Lookups<'_, N> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        let Table { body, shape, .. } = self.table;
        let far = prefetch::worthwhile(body.len());
        let mut fingerprints = [0; BATCH];
        for (place, h1) in fingerprints.iter_mut().zip(self.h1) {
            *place = fingerprint(shape, *h1);
            if far {
                fetch(self.table, *place);
            }
        }
        for (answer, fingerprint) in self.answers.iter_mut().zip(&fingerprints[..self.h1.len()]) {
            let (quotient, remainder) = split(shape, *fingerprint);
            *answer = *answer || self.table.contains(quotient, remainder);
        }
    }
}

struct Insertion<'a, N> {
    table: TableMut<'a, N>,
    fingerprint: u64,
}

impl<N: Kernels> Work for Insertion<'_, N> {
    type Output = u64;

    #[inline(always)]
    fn run(mut self) -> u64 {
        let (quotient, remainder) = split(self.table.shape, self.fingerprint);
        self.table.insert(quotient, remainder)
    }
}

struct Removal<'a, N> {
    table: TableMut<'a, N>,
    fingerprint: u64,
}

impl<N: Kernels> Work for Removal<'_, N> {
    type Output = u64;

    #[inline(always)]
    fn run(mut self) -> u64 {
        let (quotient, remainder) = split(self.table.shape, self.fingerprint);
        self.table.remove(quotient, remainder)
    }
}

/// Starts to fetch the block of a fingerprint.
#[inline(always)]
fn fetch<N>(table: Table<'_, N>, fingerprint: u64) {
    let (shape, body) = (table.shape, table.body);
    let block = (fingerprint >> shape.width) / BLOCK;
    prefetch::byte(body, shape.block_start(block));
    prefetch::byte(body, shape.block_start(block + 1).min(body.len()) - 1);
}

impl PartialEq for QuotientFilter {
    /// Equal filters have equal plans, hashes and bodies, and so equal files.
    fn eq(&self, other: &Self) -> bool {
        self.plan == other.plan
            && self.hash == other.hash
            && self.kinds == other.kinds
            && self.tally == other.tally
            && self.body() == other.body()
    }
}

// The only floats are rates from 0 to 0.999: a plan is never made of NaN.
impl Eq for QuotientFilter {}

impl fmt::Debug for QuotientFilter {
    /// The plan, the hash (never its secret), and how full it is.
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.debug_struct("QuotientFilter")
            .field("plan", &self.plan)
            .field("hash", &self.hash)
            .field("kinds", &self.kinds)
            .field("len", &self.len())
            .field("fill", &self.fill())
            .field("health", &self.health())
            .finish_non_exhaustive()
    }
}

fn shape_of(plan: &Plan) -> Shape {
    Shape { blocks: plan.cells() / BLOCK, width: plan.counter_bits() }
}

/// The fingerprint of a key: its place among all h1, in as many parts as there are fingerprints.
/// A table with twice the slots and remainders one bit shorter has the same fingerprints.
// FORMAT v1: frozen
#[inline(always)]
fn fingerprint(shape: Shape, h1: u64) -> u64 {
    // The low bits of h1 are weak, and small rates need them.
    scale(h1 ^ h1 >> 32, size::fingerprints(shape))
}

#[inline(always)]
fn split(shape: Shape, fingerprint: u64) -> (u64, u64) {
    (fingerprint >> shape.width, fingerprint & ((1 << shape.width) - 1))
}

/// A new body with these fingerprints, which come in ascending order and are fewer than slots.
fn written(
    shape: Shape,
    fingerprints: impl Iterator<Item = u64> + Clone,
) -> Result<(Store, Tally), Error> {
    let mut body = Store::zeroed(size::bits(shape.slots(), shape.width) / 8)?;
    let mut table = TableMut { body: body.bytes_mut(), shape, kernels: Scalar };
    let tally = walk::write(&mut table, fingerprints);
    Ok((body, tally))
}

/// Two ascending lists as one.
#[derive(Clone)]
struct Merged<A: Iterator<Item = u64>, B: Iterator<Item = u64>>(Peekable<A>, Peekable<B>);

impl<A: Iterator<Item = u64>, B: Iterator<Item = u64>> Merged<A, B> {
    fn new(left: A, right: B) -> Merged<A, B> {
        Merged(left.peekable(), right.peekable())
    }
}

impl<A: Iterator<Item = u64>, B: Iterator<Item = u64>> Iterator for Merged<A, B> {
    type Item = u64;

    #[inline]
    fn next(&mut self) -> Option<u64> {
        match (self.0.peek(), self.1.peek()) {
            (Some(left), Some(right)) if left > right => self.1.next(),
            (Some(_), _) => self.0.next(),
            (None, _) => self.1.next(),
        }
    }
}

/// An ascending list with equal neighbours as one, and how many they are.
#[derive(Clone)]
struct Counted<I: Iterator<Item = u64>>(Peekable<I>);

impl<I: Iterator<Item = u64>> Iterator for Counted<I> {
    type Item = (u64, u64);

    fn next(&mut self) -> Option<(u64, u64)> {
        let first = self.0.next()?;
        let mut count = 1;
        while self.0.next_if_eq(&first).is_some() {
            count += 1;
        }
        Some((first, count))
    }
}
