//! Quotient filters in files: kind 10.

use super::header::{Fields, refused};
use super::rate::{Rate, draft};
#[cfg(feature = "zone")]
use super::stored::Resize;
use super::stored::{AnyPlan, Parsed, Stored, cannot};
use crate::rate::{Kind, QuotientFilter};
use crate::{Error, HashFamily, Health, KeyRef, Kinds};

// FORMAT v1: frozen. Where the numbers of keys stand.
const ITEMS: usize = 80;
const DISTINCT: usize = 88;
const REST: usize = 96;

impl Stored for QuotientFilter {
    fn id() -> u16 {
        10
    }

    fn kind_name() -> &'static str {
        Kind::Quotient.name()
    }

    fn parse(fields: &Fields<'_>) -> Result<Parsed<Self>, Error> {
        let Rate { plan, hash, kinds } = Rate::parse(fields, Kind::Quotient)?;
        fields.check_reserved(&[(76, ITEMS)], REST)?;
        let (items, distinct) = (fields.u64(ITEMS), fields.u64(DISTINCT));
        // At least one slot is free.
        if items >= plan.cells() {
            return Err(refused("number of items held", items));
        }
        if distinct > items || (items > 0 && distinct == 0) {
            return Err(refused("number of distinct items held", distinct));
        }
        Ok(Parsed::new(plan.bits(), move |body| {
            QuotientFilter::from_parts(plan, hash, kinds, body, items, distinct)
        }))
    }

    fn header(&self) -> Vec<u8> {
        let (plan, hash) = (QuotientFilter::plan(self), QuotientFilter::hash(self));
        let body = QuotientFilter::body(self);
        let mut draft = draft(Self::id(), plan, hash, QuotientFilter::kinds(self), body);
        draft.put(ITEMS, &QuotientFilter::len(self).to_le_bytes());
        draft.put(DISTINCT, &self.distinct().to_le_bytes());
        draft.finish()
    }

    fn parts(&self) -> Vec<&[u8]> {
        vec![QuotientFilter::body(self)]
    }

    fn is_consistent(&self) -> bool {
        self.is_sound()
    }

    fn kind(&self) -> &'static str {
        Self::kind_name()
    }

    fn plan(&self) -> AnyPlan<'_> {
        AnyPlan::Rate(QuotientFilter::plan(self))
    }

    fn hash(&self) -> Option<&HashFamily> {
        Some(QuotientFilter::hash(self))
    }

    fn kinds(&self) -> Kinds {
        QuotientFilter::kinds(self)
    }

    fn health(&self) -> Health {
        QuotientFilter::health(self)
    }

    fn expected_fpr(&self) -> f64 {
        QuotientFilter::expected_fpr(self)
    }

    fn fill(&self) -> f64 {
        QuotientFilter::fill(self)
    }

    fn estimated_items(&self) -> Option<f64> {
        Some(QuotientFilter::estimated_items(self))
    }

    fn contains(&self, key: KeyRef<'_>) -> Result<bool, Error> {
        Ok(QuotientFilter::contains(self, key))
    }

    fn contains_many(&self, keys: &[KeyRef<'_>]) -> Result<Vec<bool>, Error> {
        Ok(QuotientFilter::contains_many(self, keys))
    }

    fn insert(&mut self, key: KeyRef<'_>, _beyond: bool) -> Result<bool, Error> {
        QuotientFilter::insert(self, key)
    }

    fn insert_many(&mut self, keys: &[KeyRef<'_>]) -> Result<u64, Error> {
        QuotientFilter::insert_many(self, keys)
    }

    fn remove(&mut self, key: KeyRef<'_>) -> Result<(), Error> {
        QuotientFilter::remove(self, key)
    }

    #[cfg(feature = "zone")]
    fn resize(&mut self, to: Resize) -> Result<(), Error> {
        match to {
            Resize::GrowFor(items) => self.grow_for(items),
            Resize::GrowTo(_) => {
                let operation = "grow to a number of blocks";
                Err(cannot(Self::kind_name(), operation, "say for how many items"))
            }
            Resize::ShrinkTo(_) | Resize::ShrinkFor(_) => {
                let remedy = "remainders that were cut off are lost; build a smaller one";
                Err(cannot(Self::kind_name(), "shrink", remedy))
            }
        }
    }

    fn union(&mut self, other: &Self) -> Result<(), Error> {
        QuotientFilter::union(self, other)
    }

    fn intersect(&mut self, _other: &Self) -> Result<(), Error> {
        let remedy = "a counting filter can, and forgets keys as well";
        Err(cannot(Self::kind_name(), "keep what both hold", remedy))
    }
}
