//! What `CF.*` keeps: quotient filters, which count and delete.
//!
//! A cuckoo filter refuses an item when its two places are taken, however much room is elsewhere. A
//! quotient filter takes items until its slots are full. `BUCKETSIZE` b stands for the rate that a
//! cuckoo filter with fingerprints of 8 bits would have, 2b/255; `MAXITERATIONS` is taken and has
//! no meaning. Each further filter has half the rate of the one before it, so that all together
//! stay below twice the first one's.

use crate::bloom::{check, refuse};
use crate::refusal::Refusal;
use crate::value::Part;
use tamis::rate::{Kind, Plan};
use tamis::{AnyFilter, Error, HashFamily, QuotientFilter};

/// A filter of `CF.*`.
#[derive(Clone)]
pub(crate) struct Cuckoo {
    links: Vec<QuotientFilter>,
    pub(crate) shape: Shape,
    pub(crate) deleted: u64,
}

/// What was reserved.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Shape {
    pub(crate) capacity: u64,
    pub(crate) bucket_size: u64,
    pub(crate) max_iterations: u64,
    /// How many times as large each further filter is; 0: there is none.
    pub(crate) expansion: u64,
}

pub(crate) const MAX_BUCKET_SIZE: u64 = 255;
pub(crate) const MAX_ITERATIONS: u64 = 65_535;
pub(crate) const MAX_EXPANSION: u64 = 32_768;
/// A lookup asks every filter.
const MAX_LINKS: usize = 64;

impl Shape {
    /// The shape that `CF.ADD` makes.
    pub(crate) fn for_capacity(capacity: u64) -> Shape {
        Shape { capacity, bucket_size: 2, max_iterations: 20, expansion: 1 }
    }

    fn is_sound(self) -> bool {
        (1..=1 << 62).contains(&self.capacity)
            && (1..=MAX_BUCKET_SIZE).contains(&self.bucket_size)
            && (1..=MAX_ITERATIONS).contains(&self.max_iterations)
            && self.expansion <= MAX_EXPANSION
    }

    /// The rate of the first filter.
    pub(crate) fn rate(self) -> f64 {
        (2.0 * self.bucket_size as f64 / 255.0).min(0.5)
    }

    /// The plan of the filter after `links` others.
    fn plan(self, links: usize) -> Result<Plan, Error> {
        let times = self.expansion.saturating_pow(links as u32);
        let items = self.capacity.saturating_mul(times.max(1));
        let rate = self.rate() / 2f64.powi(links as i32);
        Plan::from_items_fpr(Kind::Quotient, items, rate)
    }
}

impl Cuckoo {
    pub(crate) fn new(shape: Shape, max_bytes: u64) -> Result<Cuckoo, Refusal> {
        let plan = shape.plan(0)?;
        check(plan.bytes(), max_bytes)?;
        let first = QuotientFilter::with_plan(plan, HashFamily::default()).map_err(refuse)?;
        Ok(Cuckoo { links: vec![first], shape, deleted: 0 })
    }

    /// A quotient filter from a file, which keeps its size.
    pub(crate) fn from_file(filter: QuotientFilter) -> Cuckoo {
        let shape = Shape { expansion: 0, ..Shape::for_capacity(filter.plan().items()) };
        Cuckoo { links: vec![filter], shape, deleted: 0 }
    }

    /// Puts an item in once more.
    pub(crate) fn insert(&mut self, item: &[u8], max_bytes: u64) -> Result<(), Refusal> {
        let fits = |link: &QuotientFilter| link.len() < link.plan().items().min(link.capacity());
        // Deletions make room in older filters, too.
        if let Some(link) = self.links.iter_mut().find(|link| fits(link)) {
            link.insert(item)?;
            return Ok(());
        }
        let full = Refusal::new("ERR Filter is full");
        if self.shape.expansion == 0 {
            return Err(full);
        }
        if self.links.len() >= MAX_LINKS {
            return Err(Refusal::new("ERR Maximum expansions reached"));
        }
        let plan = self.shape.plan(self.links.len())?;
        check(self.bytes().saturating_add(plan.bytes()), max_bytes)?;
        let hash = self.links.first().map(|link| link.hash().clone()).unwrap_or_default();
        let mut link = QuotientFilter::with_plan(plan, hash).map_err(refuse)?;
        link.insert(item)?;
        self.links.push(link);
        Ok(())
    }

    pub(crate) fn contains(&self, item: &[u8]) -> bool {
        self.links.iter().rev().any(|link| link.contains(item))
    }

    pub(crate) fn count(&self, item: &[u8]) -> u64 {
        self.links.iter().map(|link| link.count(item)).sum()
    }

    /// Takes an item out once. `false` if it is certainly not there.
    pub(crate) fn remove(&mut self, item: &[u8]) -> Result<bool, Refusal> {
        for link in self.links.iter_mut().rev() {
            match link.remove(item) {
                Ok(()) => {
                    self.deleted += 1;
                    return Ok(true);
                }
                Err(Error::Absent) => {}
                Err(other) => return Err(other.into()),
            }
        }
        Ok(false)
    }

    /// Items that are there, repeated ones included.
    pub(crate) fn len(&self) -> u64 {
        self.links.iter().map(QuotientFilter::len).sum()
    }

    pub(crate) fn slots(&self) -> u64 {
        self.links.iter().map(|link| link.plan().cells()).sum()
    }

    /// How many items there is room for before it grows, or refuses.
    pub(crate) fn capacity(&self) -> u64 {
        self.links.iter().fold(0, |sum, link| sum.saturating_add(link.plan().items()))
    }

    /// Takes in all that `other` holds; counts add up.
    pub(crate) fn union(&mut self, other: &Cuckoo) -> Result<(), Refusal> {
        let ([ours], [theirs]) = (&mut self.links[..], &other.links[..]) else {
            return Err(Refusal::new("ERR filters that have grown cannot be united"));
        };
        ours.union(theirs)?;
        self.deleted += other.deleted;
        Ok(())
    }

    pub(crate) fn links(&self) -> &[QuotientFilter] {
        &self.links
    }

    pub(crate) fn bytes(&self) -> u64 {
        self.links.iter().map(|link| link.plan().bytes()).sum()
    }

    /// The one file that holds it; `None` if it has grown.
    pub(crate) fn file(&self) -> Option<Vec<u8>> {
        match &self.links[..] {
            [only] => Some(only.to_bytes()),
            _ => None,
        }
    }

    /// The share of strangers that pass now.
    pub(crate) fn expected_rate(&self) -> f64 {
        let none: f64 = self.links.iter().map(|link| 1.0 - link.expected_fpr()).product();
        1.0 - none
    }

    /// The settings of a preamble: capacity, bucket size, iterations, expansion, items deleted.
    pub(crate) fn settings(&self) -> Vec<u64> {
        let Shape { capacity, bucket_size, max_iterations, expansion } = self.shape;
        vec![capacity, bucket_size, max_iterations, expansion, self.deleted]
    }

    pub(crate) fn parts(&self) -> Vec<Part<'_>> {
        self.links.iter().map(Part::Quotient).collect()
    }

    pub(crate) fn from_parts(settings: &[u64], parts: Vec<AnyFilter>) -> Option<Cuckoo> {
        let [capacity, bucket_size, max_iterations, expansion, deleted] = *settings else {
            return None;
        };
        let shape = Shape { capacity, bucket_size, max_iterations, expansion };
        let links: Result<Vec<QuotientFilter>, Error> =
            parts.into_iter().map(QuotientFilter::try_from).collect();
        let links = links.ok()?;
        let fits = shape.is_sound() && (1..=MAX_LINKS).contains(&links.len());
        fits.then_some(Cuckoo { links, shape, deleted })
    }
}
