//! Shards become a filter, one after the other.

use super::filter::StaticFilter;
use super::plan::StaticPlan;
use super::shard::{Shard, Workshop};
use crate::store::{Store, filled, memory};
use crate::{Digest, Error, HashFamily, Kinds};
use std::fmt::Display;

/// A filter that waits for shards, in any order.
pub(crate) struct Joining {
    plan: StaticPlan,
    body: Store,
    joined: Vec<bool>,
    /// The keys of the last layer so far.
    left: Vec<Digest>,
    items: u64,
}

impl Joining {
    pub(crate) fn new(plan: StaticPlan) -> Result<Joining, Error> {
        let body = Store::zeroed(plan.bytes())?;
        let joined = filled(false, usize::try_from(plan.shards()).unwrap_or(usize::MAX))?;
        Ok(Joining { plan, body, joined, left: Vec::new(), items: 0 })
    }

    pub(crate) fn plan(&self) -> &StaticPlan {
        &self.plan
    }

    /// Puts a shard into its place.
    pub(crate) fn add(&mut self, shard: &Shard) -> Result<(), Error> {
        let differ = |field, left: &dyn Display, right: &dyn Display| {
            Err(Error::Mismatch { field, left: left.to_string(), right: right.to_string() })
        };
        let shape = self.plan.shape();
        if shard.shape != *shape {
            return differ("plan", &"one plan", &"the plan of a shard");
        }
        let seen = &mut self.joined[shard.index() as usize];
        if std::mem::replace(seen, true) {
            return differ("shards", &shard.index(), &shard.index());
        }
        self.items = self.items.saturating_add(shard.items());
        if self.items > self.plan.items() {
            return differ("items", &self.plan.items(), &self.items);
        }
        let bytes = self.body.bytes_mut();
        let mut rest = &shard.body[..];
        for piece in shape.pieces(shard.index()) {
            let own;
            (own, rest) = rest.split_at((piece.end - piece.start) as usize);
            bytes[piece.start as usize..piece.end as usize].copy_from_slice(own);
        }
        let more = shard.left.len();
        self.left.try_reserve(more).map_err(|_| memory(16 * (self.left.len() + more) as u64))?;
        self.left.extend_from_slice(&shard.left);
        Ok(())
    }

    /// The filter, once all shards are there.
    pub(crate) fn finish(mut self, hash: HashFamily, kinds: Kinds) -> Result<StaticFilter, Error> {
        if let Some(missing) = self.joined.iter().position(|seen| !seen) {
            let (left, right) = (self.plan.shards().to_string(), format!("no shard {missing}"));
            return Err(Error::Mismatch { field: "shards", left, right });
        }
        let shape = self.plan.shape();
        let last = shape.layers()[2];
        let out = &mut self.body.bytes_mut()[last.start as usize..last.cuts as usize];
        Workshop::new(shape).build_last(&mut self.left, out)?;
        let counts = [self.items, self.left.len() as u64];
        StaticFilter::from_parts(self.plan, hash, kinds, counts, self.body)
    }
}
