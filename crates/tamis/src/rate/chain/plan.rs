//! How large the links of a growing chain are, and which part of the rate each may take.

use crate::format::chain_header;
use crate::rate::plan::{check_fpr, check_items};
use crate::rate::{MAX_FPR, Plan, quotient};
use crate::{Error, store};

/// The most links of a chain: a lookup of a stranger asks all of them.
pub const MAX_LINKS: usize = 128;
/// The most that a link can be larger than the one before it.
pub const MAX_GROWTH: u32 = 32_768;

/// A link may take this part of the rate that the links before it have left. A part is always left
/// for those that follow, so the sum of all rates stays below the promise however long the chain
/// grows.
///
/// With a smaller number the last links are larger, with a larger number the first ones. From 100
/// keys to 10^8 at 1%, links that grow by 8, the mean over the life of the chain is 19.5 bits a key
/// with 2, 19.2 with 4, 19.4 with 5, 20.0 with 8; links that grow by 2, 21.3, 18.6, 18.2 and 18.2.
const PARTS: f64 = 5.0;

/// A link that follows others starts with an eighth of its slots, and doubles them as it fills.
const MAX_DOUBLINGS: u32 = 3;
/// No link starts with room for fewer keys: a block has 64 slots.
const MIN_START: u64 = 60;

/// The plan of a [`Scalable`](super::Scalable): the keys of its first link, the rate of the whole
/// chain, and how much larger each next link is.
///
/// The first link has all its slots from the beginning. Each other one starts with an eighth of
/// them (a half or a quarter, if links grow by less) and doubles them as it fills: its fingerprints
/// are long enough for that.
///
/// The size of the chain after any number of keys follows from it:
///
/// ```
/// use tamis::rate::ScalablePlan;
/// let plan = ScalablePlan::new(1_000, 0.01)?;
/// let links = plan.links_for(1_000_000)?;
/// assert_eq!(links.len(), 5);
/// let bits: u64 = links.iter().map(|link| link.bits()).sum();
/// assert!(bits as f64 / 1e6 < 15.7);
/// # Ok::<(), tamis::Error>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct ScalablePlan {
    items: u64,
    fpr: f64,
    growth: Option<u32>,
}

impl ScalablePlan {
    /// A chain that starts with a link for `items` keys, whose next links are each eight times as
    /// large, and whose rate stays below `fpr` however many keys come.
    ///
    /// Eight is a balance: a chain that has grown from 100 keys to 10^8 at 1% has 8 links to ask,
    /// and took 19.4 bits a key in the mean of its life. With links that double it has 20, and took
    /// 18.2; with 32 times, 5 links and 20.6 bits.
    pub fn new(items: u64, fpr: f64) -> Result<ScalablePlan, Error> {
        let plan = ScalablePlan { items, fpr, growth: Some(8) };
        plan.next(&[])?;
        Ok(plan)
    }

    /// The same plan with links that are so many times as large as the one before: from 1 (links of
    /// one size) to 32,768.
    pub fn with_growth(self, growth: u32) -> Result<ScalablePlan, Error> {
        if (1..=MAX_GROWTH).contains(&growth) {
            return Ok(ScalablePlan { growth: Some(growth), ..self });
        }
        Err(Error::GrowthFactor { got: growth, nearest: growth.clamp(1, MAX_GROWTH) })
    }

    /// The same plan without growth: one link, which may take the whole rate, and which refuses
    /// keys when it is full.
    pub fn fixed(self) -> Result<ScalablePlan, Error> {
        let plan = ScalablePlan { growth: None, ..self };
        plan.next(&[])?;
        Ok(plan)
    }

    /// The plan that a file states, if a plan can be so.
    pub(crate) fn from_fields(items: u64, fpr: f64, growth: u32) -> Result<ScalablePlan, Error> {
        let refuse = |field, got: String| Err(Error::Field { field, got });
        if items == 0 {
            return refuse("number of items", items.to_string());
        }
        if !(fpr > 0.0 && fpr <= MAX_FPR) {
            return refuse("rate", fpr.to_string());
        }
        if growth > MAX_GROWTH {
            return refuse("growth", growth.to_string());
        }
        Ok(ScalablePlan { items, fpr, growth: (growth > 0).then_some(growth) })
    }

    /// The keys that the first link holds.
    #[must_use]
    pub fn items(&self) -> u64 {
        self.items
    }

    /// The rate that the whole chain stays below.
    #[must_use]
    pub fn fpr(&self) -> f64 {
        self.fpr
    }

    /// How many times as large each next link is; `None` if the chain does not grow.
    #[must_use]
    pub fn growth(&self) -> Option<u32> {
        self.growth
    }

    /// The links of a chain that holds so many keys, the first one first.
    pub fn links_for(&self, items: u64) -> Result<Vec<Plan>, Error> {
        let mut links = vec![self.next(&[])?];
        let mut others = 0u64;
        while let Some(last) = links.last_mut() {
            if others.saturating_add(last.items()) >= items {
                break;
            }
            if can_double(last) {
                *last = last.doubled()?;
            } else {
                others = others.saturating_add(last.items());
                links.push(self.next(&links)?);
            }
        }
        Ok(links)
    }

    /// The bytes of a chain that holds so many keys, exactly; a file adds its header.
    pub fn bytes_for(&self, items: u64) -> Result<u64, Error> {
        Ok(self.links_for(items)?.iter().map(Plan::bytes).sum())
    }

    /// The bytes of a file with such a chain, exactly.
    pub fn file_bytes_for(&self, items: u64) -> Result<u64, Error> {
        let links = self.links_for(items)?;
        let bodies: u64 = links.iter().map(Plan::bytes).sum();
        Ok(chain_header(links.len()) + bodies)
    }

    /// Refuses the plan if a chain of so many keys would take more than `most` bytes.
    pub fn check_memory(&self, items: u64, most: u64) -> Result<(), Error> {
        store::check_memory(self.bytes_for(items)?, most)
    }

    /// The link that follows these.
    pub(super) fn next(&self, links: &[Plan]) -> Result<Plan, Error> {
        let Some(last) = links.last() else { return self.first() };
        let full = || Error::ChainFull {
            items: links.iter().fold(0, |sum, link| sum.saturating_add(full_items(link))),
            links: links.len(),
        };
        let growth = self.growth.filter(|_| links.len() < MAX_LINKS).ok_or_else(full)?;
        let taken = |link: &Plan| link.approximate_fpr(full_items(link));
        let left = self.fpr - links.iter().map(taken).sum::<f64>();
        // A union can have taken more than the promise. Then the links that follow take less and
        // less all the same.
        let least = links.iter().map(taken).fold(self.fpr, f64::min) / 2.0;
        let share = (left / PARTS).max(least);
        let items = full_items(last).saturating_mul(u64::from(growth));
        // All its doublings lead to exactly so many items.
        let fits = |start: u64, doublings: &u32| start << doublings == items && start >= MIN_START;
        let doublings = (1..=growth.ilog2().min(MAX_DOUBLINGS)).rev();
        let doublings = doublings.into_iter().find(|it| fits(items >> it, it)).unwrap_or_default();
        quotient::plan_items_share(items >> doublings, share / f64::from(1 << doublings))
            .map(|plan| plan.with_rate(share))
            .map_err(|_| full())
    }

    fn first(&self) -> Result<Plan, Error> {
        check_fpr(self.fpr)?;
        check_items(self.items)?;
        let parts = if self.growth.is_some() { PARTS } else { 1.0 };
        quotient::plan_items_share(self.items, self.fpr / parts).map_err(|error| match error {
            Error::RateTooLow { items, nearest, .. } => {
                let (kind, got) = ("scalable", self.fpr);
                Error::RateTooLow { kind, items, got, nearest: nearest * parts }
            }
            other => other,
        })
    }
}

/// Whether a link keeps its rate with twice the items in twice the slots.
pub(super) fn can_double(link: &Plan) -> bool {
    let items = link.items().checked_mul(2);
    items.is_some_and(|items| link.approximate_fpr(items) <= link.fpr()) && link.doubled().is_ok()
}

/// The items of a link that has all its slots.
pub(super) fn full_items(link: &Plan) -> u64 {
    let mut link = *link;
    while can_double(&link) {
        link = link.doubled().unwrap_or(link);
    }
    link.items()
}
