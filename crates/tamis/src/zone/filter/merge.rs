//! Union and intersection.

use super::{CellKind, State, ZoneFilter};
use crate::Error;
use crate::zone::code::Code;
use crate::zone::plan::Plan;
use std::cmp::Reverse;
use std::fmt;

impl<C: CellKind> ZoneFilter<C> {
    /// Inserts all items of `other`. Filters of different lengths are merged in the blocks that
    /// they share, so the zone may shrink. If the result has more items than its zone allows,
    /// it is beyond the zone.
    pub fn union(&mut self, other: &Self) -> Result<(), Error> {
        let plan = self.common(other)?;
        let within = !self.state.beyond && !other.state.beyond;
        if within && let (Ok(mine), Ok(theirs)) = (self.list(), other.list()) {
            let mut numbers = mine.numbers;
            numbers.extend(theirs.numbers);
            numbers.sort_unstable();
            numbers.dedup();
            *self = Self::of_numbers(plan, &numbers)?;
            return Ok(());
        }
        let (mine, theirs) = (self.shortened(&plan)?, other.shortened(&plan)?);
        *self = mine;
        let ceiling = self.packed().ceiling();
        self.combine(&theirs, |l, r| if C::COUNTING { (l + r).min(ceiling) } else { l | r });
        self.len = self.len.saturating_add(theirs.len);
        self.state.len_is_bound = true;
        // Counters count an item of both filters twice. Removing it once would leave it there.
        self.state.beyond = !within || C::COUNTING || self.len > self.plan.items();
        Ok(())
    }

    /// Keeps the items that both filters hold. Filters of different lengths are compared in the
    /// blocks that they share.
    pub fn intersect(&mut self, other: &Self) -> Result<(), Error> {
        let plan = self.common(other)?;
        if !self.state.beyond && !other.state.beyond {
            // One list is enough. The shorter one is faster to find, and sometimes the other
            // cannot be found at all.
            let [listed, asked] =
                if self.len <= other.len { [&*self, other] } else { [other, &*self] };
            let found = listed
                .list()
                .map(|list| (list, asked))
                .or_else(|_| asked.list().map(|list| (list, listed)));
            if let Ok((list, asked)) = found {
                let held = |number: &u128| asked.holds(&asked.positions(*number));
                let numbers: Vec<u128> = list.numbers.into_iter().filter(held).collect();
                *self = Self::of_numbers(plan, &numbers)?;
                return Ok(());
            }
        }
        let (mine, theirs) = (self.shortened(&plan)?, other.shortened(&plan)?);
        let len = mine.len.min(theirs.len);
        *self = mine;
        self.combine(&theirs, u64::min);
        self.len = len;
        // A cell stays occupied if different items occupy it in the two filters. So the cells may
        // not be those of any set, and the zone is lost.
        self.state = State { beyond: true, len_is_bound: true };
        Ok(())
    }

    /// The plan of the blocks that both have.
    fn common(&self, other: &Self) -> Result<Plan, Error> {
        let differ = |field, left: &dyn fmt::Display, right: &dyn fmt::Display| {
            Err(Error::Mismatch { field, left: left.to_string(), right: right.to_string() })
        };
        let (l, r) = (&self.plan, &other.plan);
        if l.code().kind() != r.code().kind() {
            return differ("code", l.code(), r.code());
        }
        if l.universe() != r.universe() {
            return differ("universe", l.universe(), r.universe());
        }
        let field = |plan: &Plan| match plan.code() {
            Code::Rs { order, degree, .. } => Some(format!("GF({order}) to degree {degree}")),
            _ => None,
        };
        if let (Some(left), Some(right)) = (field(l), field(r))
            && left != right
        {
            return differ("field", &left, &right);
        }
        // Of equal lengths, the plan with the larger zone decides. So the order of the two filters
        // makes no difference.
        let known = |plan: &Plan| match plan.code() {
            Code::Coprime { spare, .. } => (plan.zone(), spare.len()),
            _ => (plan.zone(), 0),
        };
        let rank = |plan: &Plan| (plan.probes(), Reverse(known(plan)));
        let (shorter, longer) = if rank(l) <= rank(r) { (l, r) } else { (r, l) };
        let shared = shorter.blocks().len();
        let (left, right) = (shorter.blocks(), longer.blocks());
        if left[..] != right[..shared] {
            return differ("blocks", &format!("{left:?}"), &format!("{:?}", &right[..shared]));
        }
        let plan = shorter.with_blocks(shared as u64)?;
        Ok(plan.allowing(l.items().max(r.items())))
    }

    fn combine(&mut self, other: &Self, with: impl Fn(u64, u64) -> u64) {
        let packed = self.packed();
        for cell in 0..self.plan.cells() {
            let merged =
                with(packed.get(self.body.bytes(), cell), packed.get(other.body.bytes(), cell));
            packed.set(self.body.bytes_mut(), cell, merged);
        }
    }
}

/// [`union`](ZoneFilter::union) for filters that are known to match.
///
/// # Panics
///
/// If they do not match.
impl<C: CellKind> std::ops::BitOrAssign<&ZoneFilter<C>> for ZoneFilter<C> {
    fn bitor_assign(&mut self, other: &ZoneFilter<C>) {
        self.union(other).unwrap_or_else(|error| panic!("{error}"));
    }
}

/// [`intersect`](ZoneFilter::intersect) for filters that are known to match.
///
/// # Panics
///
/// If they do not match.
impl<C: CellKind> std::ops::BitAndAssign<&ZoneFilter<C>> for ZoneFilter<C> {
    fn bitand_assign(&mut self, other: &ZoneFilter<C>) {
        self.intersect(other).unwrap_or_else(|error| panic!("{error}"));
    }
}
