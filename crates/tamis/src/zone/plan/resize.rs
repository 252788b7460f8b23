//! The same code with more or fewer blocks.

use super::Plan;
use crate::Error;
use crate::zone::certificate::{Proved, zone_of_code};
use crate::zone::code::Code;
use crate::zone::coprime;

/// How far the filters of a plan can grow.
///
/// ```
/// use tamis::zone::{CodeKind, Filter, Growth, Plan, Universe};
/// let plan = Plan::with_code(Universe::sized(606)?, 3, CodeKind::Rs)?;
/// assert_eq!(plan.growth(), Growth { blocks: 10, items: 4 });
/// let mut filter = Filter::with_plan(plan)?;
/// assert!(filter.grow_for(5).is_err());
/// filter.grow_for(4)?;
/// # Ok::<(), tamis::Error>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Growth {
    /// The most blocks.
    pub blocks: u64,
    /// The items for which this many blocks are free of false positives.
    pub items: u64,
}

impl Plan {
    /// The same code accepting more or fewer items, at least one and no more than its zone.
    #[must_use]
    pub(crate) fn allowing(mut self, items: u64) -> Plan {
        self.items = items.clamp(1, self.zone);
        self
    }

    /// The same code with another number of blocks: its first ones, or with more appended.
    pub fn with_blocks(&self, blocks: u64) -> Result<Plan, Error> {
        let code = self.code.with_blocks(blocks)?;
        // With at least as many blocks, at least as many items are safe. This is proved again, if
        // necessary by the search that proved it first.
        let wanted = if blocks >= self.probes() { self.zone } else { 0 };
        let mut proved = zone_of_code(&code, &self.universe, wanted)?;
        // The zone of a small code of another length may also need that search. It is asked item by
        // item. A longer filter gets the largest zone; a shorter one accepts no more items than
        // before.
        let enough = if blocks > self.probes() { u64::MAX } else { self.items };
        if let Code::Coprime { moduli, .. } = &code
            && moduli.iter().sum::<u64>() <= coprime::MAX_SMALL_SUM
        {
            while proved.zone < enough {
                let further = zone_of_code(&code, &self.universe, proved.zone + 1)?;
                if further.zone <= proved.zone {
                    break;
                }
                proved = further;
            }
        }
        let Proved { encoder, zone, proof } = proved;
        if zone == 0 {
            return Err(Error::TooFewBlocks { got: blocks, universe: self.universe.size() });
        }
        let (universe, counting) = (self.universe.clone(), self.counting);
        let items = if blocks > self.probes() { zone } else { self.items.min(zone) };
        Ok(Plan { universe, items, code, counting, encoder, zone, proof })
    }

    /// The same code with the fewest blocks whose zone allows `items`. It accepts `items` items.
    pub fn for_items(&self, items: u64) -> Result<Plan, Error> {
        if items == 0 {
            return Err(Error::Items { got: items });
        }
        if self.universe.size() < u128::from(items) {
            let universe = self.universe.size().saturated();
            return Err(Error::MoreThanUniverse { items, universe });
        }
        let max = self.code.max_blocks();
        let suffice = |blocks: u64| self.with_blocks(blocks).is_ok_and(|plan| plan.zone >= items);
        // More blocks never make the zone smaller: double until they suffice, then halve the gap.
        let mut high = self.probes();
        while !suffice(high) {
            if high >= max {
                let Growth { blocks, items: reach } = self.growth();
                return Err(Error::Growth { items, blocks, max: reach });
            }
            high = (high * 2).min(max);
        }
        let mut low = 0;
        while high - low > 1 {
            let middle = low + (high - low) / 2;
            if suffice(middle) { high = middle } else { low = middle }
        }
        Ok(self.with_blocks(high)?.allowing(items))
    }

    /// How far a filter of this plan can grow. Filters that hold more than
    /// [`listable`](Plan::listable) items cannot grow, since they list themselves for that.
    #[must_use]
    pub fn growth(&self) -> Growth {
        let blocks = self.code.max_blocks();
        let items = self.with_blocks(blocks).map_or(self.zone, |plan| plan.zone);
        Growth { blocks, items }
    }
}
