//! More blocks and fewer.

use super::{CellKind, State, ZoneFilter};
use crate::Error;
use crate::store::Store;
use crate::zone::error::ListError;
use crate::zone::plan::Plan;

impl<C: CellKind> ZoneFilter<C> {
    /// Makes the filter longer, to `blocks` blocks, and its zone as large as they allow. It lists
    /// itself for that, so it must be within its zone.
    pub fn grow(&mut self, blocks: u64) -> Result<(), Error> {
        let (least, most) = (self.plan.probes(), self.plan.code().max_blocks());
        if blocks < least {
            return Err(Error::Blocks { got: blocks, least, most });
        }
        self.rebuild(self.plan.with_blocks(blocks)?)
    }

    /// Makes the filter accept `items` items, with no more blocks than that takes, but no fewer
    /// than it has.
    pub fn grow_for(&mut self, items: u64) -> Result<(), Error> {
        let mut plan = self.plan.for_items(items)?;
        if plan.probes() < self.plan.probes() {
            plan = self.plan.with_blocks(self.plan.probes())?.allowing(items);
        }
        self.rebuild(plan)
    }

    /// Lists the filter, and makes it anew under another plan.
    fn rebuild(&mut self, plan: Plan) -> Result<(), Error> {
        if self.state.beyond {
            return Err(ListError::BeyondZone.into());
        }
        *self = Self::of_numbers(plan, &self.list()?.numbers)?;
        Ok(())
    }

    /// Makes the filter shorter, to as few blocks as `items` items take.
    pub fn shrink_for(&mut self, items: u64) -> Result<(), Error> {
        let plan = self.plan.for_items(items)?;
        self.shrink(plan.probes())
    }

    /// Makes the filter shorter, to its first `blocks` blocks. If that leaves too small a zone for
    /// what it holds, the filter is beyond it.
    pub fn shrink(&mut self, blocks: u64) -> Result<(), Error> {
        let most = self.plan.probes();
        if blocks > most {
            return Err(Error::Blocks { got: blocks, least: 1, most });
        }
        let mut shorter = self.shortened(&self.plan.with_blocks(blocks)?)?;
        shorter.state.beyond |= shorter.len > shorter.plan.items();
        *self = shorter;
        Ok(())
    }

    /// A filter of these numbers, beyond its zone if they are too many.
    pub(super) fn of_numbers(plan: Plan, numbers: &[u64]) -> Result<Self, Error> {
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

    /// The first blocks, cell for cell, under a plan of as many blocks.
    pub(super) fn shortened(&self, plan: &Plan) -> Result<Self, Error> {
        let body = Store::zeroed(plan.bytes())?;
        let mut shorter = Self::from_parts(plan.clone(), body, self.len, self.state)?;
        let (own, ceiling) = (self.packed().ceiling(), shorter.packed().ceiling());
        for cell in 0..plan.cells() {
            let count = self.packed().get(self.body.bytes(), cell);
            // A counter that may have overflowed says so at its ceiling, and must in wider ones
            // too.
            let stuck = C::COUNTING && self.state.beyond && count == own;
            let count = if stuck { ceiling } else { count };
            shorter.packed().set(shorter.body.bytes_mut(), cell, count.min(ceiling));
        }
        Ok(shorter)
    }
}
