//! How large the links of a growing chain are, and which part of the rate each may take.

use crate::format::chain_header;
use crate::rate::plan::{check_fpr, check_items};
use crate::rate::{MAX_FPR, Plan, quotient};
use crate::{Error, store};

/// The most links of a chain: a lookup of a stranger asks all of them.
pub const MAX_LINKS: usize = 128;
/// The most that a link can be larger than the one before it.
pub const MAX_GROWTH: u32 = 32_768;

/// A link may take this part of the rate that the links before it have left. What is left shrinks
/// by at most 7/8 a link and never ends, so the sum of all rates stays below the promise however
/// long the chain grows.
///
/// A smaller part makes the first links larger, a larger part the last ones. From 100 keys to 10^8
/// at a rate of 1%, doubling, the mean size over the life of the chain is 21.4 bits a key with 4
/// parts, 21.2 with 8 and 21.9 with 16.
const PARTS: f64 = 8.0;

/// The plan of a [`Scalable`](super::Scalable): the keys of its first link, the rate of the whole
/// chain, and how much larger each next link is.
///
/// The size of the chain after any number of keys follows from it:
///
/// ```
/// use tamis::rate::ScalablePlan;
/// let plan = ScalablePlan::new(1_000, 0.01)?;
/// let links = plan.links_for(1_000_000)?;
/// assert_eq!(links.len(), 10);
/// let bits: u64 = links.iter().map(|link| link.bits()).sum();
/// assert!(bits as f64 / 1e6 < 14.2);
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
    /// A chain that starts with a link for `items` keys, whose links double, and whose rate stays
    /// below `fpr` however many keys come.
    ///
    /// Doubling takes fewest bits of the whole factors: over its life from 100 keys to 10^8 at 1%
    /// a chain takes 21.2 bits a key in the mean if its links double, 25.7 if each is three times
    /// the one before it, and 30.9 with four times.
    pub fn new(items: u64, fpr: f64) -> Result<ScalablePlan, Error> {
        let plan = ScalablePlan { items, fpr, growth: Some(2) };
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
        let mut room = self.items;
        while room < items {
            let next = self.next(&links)?;
            room = room.saturating_add(next.items());
            links.push(next);
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
            items: links.iter().fold(0, |sum, link| sum.saturating_add(link.items())),
            links: links.len(),
        };
        let growth = self.growth.filter(|_| links.len() < MAX_LINKS).ok_or_else(full)?;
        // Only sums and products: the same on every machine.
        let taken = |link: &Plan| link.approximate_fpr(link.items());
        let left = self.fpr - links.iter().map(taken).sum::<f64>();
        // A union can have taken more than the promise. Then the links that follow take less and
        // less all the same.
        let least = links.iter().map(taken).fold(self.fpr, f64::min) / 2.0;
        let items = last.items().saturating_mul(u64::from(growth));
        quotient::plan_items_fpr(items, (left / PARTS).max(least)).map_err(|_| full())
    }

    fn first(&self) -> Result<Plan, Error> {
        check_fpr(self.fpr)?;
        check_items(self.items)?;
        let parts = if self.growth.is_some() { PARTS } else { 1.0 };
        quotient::plan_items_fpr(self.items, self.fpr / parts).map_err(|error| match error {
            Error::RateTooLow { items, nearest, .. } => {
                let (kind, got) = ("scalable", self.fpr);
                Error::RateTooLow { kind, items, got, nearest: nearest * parts }
            }
            other => other,
        })
    }
}
