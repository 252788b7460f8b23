//! Growing and shrinking: more blocks, or fewer.

use super::{CellKind, State, ZoneFilter};
use crate::Error;
use crate::store::Store;
use crate::zone::error::ListError;
use crate::zone::plan::Plan;

impl<C: CellKind> ZoneFilter<C> {
    /// Extends the filter to `blocks` blocks, and its zone to what they allow. The filter lists
    /// itself for that, so it must be within its zone. [`Plan::growth`] says how far it can grow.
    pub fn grow(&mut self, blocks: u64) -> Result<(), Error> {
        let (min, max) = (self.plan.probes(), self.plan.code().max_blocks());
        if blocks < min {
            return Err(Error::Blocks { got: blocks, min, max });
        }
        self.rebuild(self.plan.with_blocks(blocks)?)
    }

    /// Makes the filter accept `items` items. It gets the fewest blocks that are enough, and loses
    /// none.
    pub fn grow_for(&mut self, items: u64) -> Result<(), Error> {
        let mut plan = self.plan.for_items(items)?;
        if plan.probes() < self.plan.probes() {
            plan = self.plan.with_blocks(self.plan.probes())?.allowing(items);
        }
        self.rebuild(plan)
    }

    /// Lists the filter, and builds it again under another plan.
    fn rebuild(&mut self, plan: Plan) -> Result<(), Error> {
        if self.state.beyond {
            return Err(ListError::BeyondZone.into());
        }
        *self = Self::of_numbers(plan, &self.list()?.numbers)?;
        Ok(())
    }

    /// Shrinks the filter to the fewest blocks that are enough for `items` items.
    pub fn shrink_for(&mut self, items: u64) -> Result<(), Error> {
        let plan = self.plan.for_items(items)?;
        self.shrink(plan.probes())
    }

    /// Shrinks the filter to its first `blocks` blocks. If it holds more items than their zone
    /// allows, it is beyond its zone from then on.
    pub fn shrink(&mut self, blocks: u64) -> Result<(), Error> {
        let max = self.plan.probes();
        if blocks > max {
            return Err(Error::Blocks { got: blocks, min: 1, max });
        }
        let mut shorter = self.shortened(&self.plan.with_blocks(blocks)?)?;
        shorter.state.beyond |= shorter.len > shorter.plan.items();
        *self = shorter;
        Ok(())
    }

    /// A filter of these numbers, beyond its zone if they are too many.
    pub(super) fn of_numbers(plan: Plan, numbers: &[u128]) -> Result<Self, Error> {
        let body = Store::zeroed(plan.bytes())?;
        let mut filter = Self::from_parts(plan, body, 0, State::default())?;
        for number in numbers {
            let positions = filter.positions(*number);
            filter.put(&positions);
        }
        filter.len = numbers.len() as u64;
        filter.state.beyond = filter.len > filter.plan.items();
        Ok(filter)
    }

    /// The first blocks, cell by cell, under a plan with that many blocks.
    pub(super) fn shortened(&self, plan: &Plan) -> Result<Self, Error> {
        let body = Store::zeroed(plan.bytes())?;
        let mut shorter = Self::from_parts(plan.clone(), body, self.len, self.state)?;
        let (own, ceiling) = (self.packed().ceiling(), shorter.packed().ceiling());
        for cell in 0..plan.cells() {
            let count = self.packed().get(self.body.bytes(), cell);
            // A counter at its ceiling may have overflowed. It must stand at the ceiling of wider
            // counters too.
            let stuck = C::COUNTING && self.state.beyond && count == own;
            let count = if stuck { ceiling } else { count };
            shorter.packed().set(shorter.body.bytes_mut(), cell, count.min(ceiling));
        }
        Ok(shorter)
    }
}
