//! Rate filters in files: kinds 1 to 3 and 8, and what kind 10 shares with them.

use super::header::{Draft, Fields, SHORTEST, refused};
use super::stored::{AnyPlan, Parsed, Stored, cannot};
use crate::rate::{Filter, Kind, Layout, Plan};
use crate::{Error, HashFamily, Health, KeyRef, Kinds};

/// FORMAT v1: frozen. The byte that says that the planned items were found by counting the keys.
const COUNTED: u8 = 1;

/// What the headers of all rate filters state.
pub(super) struct Rate {
    pub(super) plan: Plan,
    pub(super) hash: HashFamily,
    pub(super) kinds: Kinds,
}

impl Rate {
    /// Reads the fields up to byte 76.
    pub(super) fn parse(fields: &Fields<'_>, kind: Kind) -> Result<Rate, Error> {
        fields.check_length(SHORTEST)?;
        fields.check_reserved(&[(28, 32), (35, 36)], fields.header_length() - 4)?;
        let plan = Plan::from_fields(
            kind,
            fields.u64(48),
            fields.f64(56),
            fields.u64(64),
            fields.u32(36),
            fields.u32(72),
        )?;
        let plan = match fields.u8(34) {
            0 => plan,
            COUNTED => plan.counted(),
            other => return Err(refused("origin of the number of items", other)),
        };
        let kinds = Kinds::from_byte(fields.u8(33))
            .ok_or_else(|| refused("kinds of keys", fields.u8(33)))?;
        Ok(Rate { plan, hash: fields.hash()?, kinds })
    }
}

/// A header with those fields.
pub(super) fn draft(id: u16, plan: &Plan, hash: &HashFamily, kinds: Kinds, body: &[u8]) -> Draft {
    let mut draft = Draft::new(id, SHORTEST, body);
    draft.put_hash(hash);
    let counted = if plan.is_counted() { COUNTED } else { 0 };
    draft.put(33, &[kinds.to_byte(), counted]);
    draft.put(36, &plan.hashes().to_le_bytes());
    draft.put(48, &plan.items().to_le_bytes());
    draft.put(56, &plan.fpr().to_le_bytes());
    draft.put(64, &plan.cells().to_le_bytes());
    draft.put(72, &plan.counter_bits().to_le_bytes());
    draft
}

impl<L: Layout> Stored for Filter<L> {
    fn id() -> u16 {
        match L::KIND {
            Kind::Bloom => 1,
            Kind::Blocked => 2,
            Kind::Counting => 3,
            Kind::Split => 8,
            other => unreachable!("{other} is no layout"),
        }
    }

    fn kind_name() -> &'static str {
        L::KIND.name()
    }

    fn parse(fields: &Fields<'_>) -> Result<Parsed<Self>, Error> {
        let Rate { plan, hash, kinds } = Rate::parse(fields, L::KIND)?;
        fields.check_reserved(&[], 76)?;
        Ok(Parsed::new(plan.bits(), move |body| Filter::from_parts(plan, hash, kinds, body)))
    }

    fn header(&self) -> Vec<u8> {
        let (plan, hash) = (Filter::plan(self), Filter::hash(self));
        draft(Self::id(), plan, hash, Filter::kinds(self), Filter::body(self)).finish()
    }

    fn parts(&self) -> Vec<&[u8]> {
        vec![Filter::body(self)]
    }

    fn kind(&self) -> &'static str {
        Self::kind_name()
    }

    fn plan(&self) -> AnyPlan<'_> {
        AnyPlan::Rate(Filter::plan(self))
    }

    fn hash(&self) -> Option<&HashFamily> {
        Some(Filter::hash(self))
    }

    fn kinds(&self) -> Kinds {
        Filter::kinds(self)
    }

    fn health(&self) -> Health {
        Filter::health(self)
    }

    fn expected_fpr(&self) -> f64 {
        Filter::expected_fpr(self)
    }

    fn fill(&self) -> f64 {
        Filter::fill(self)
    }

    fn estimated_items(&self) -> Option<f64> {
        Some(Filter::estimated_items(self))
    }

    fn contains(&self, key: KeyRef<'_>) -> Result<bool, Error> {
        Ok(Filter::contains(self, key))
    }

    fn contains_many(&self, keys: &[KeyRef<'_>]) -> Result<Vec<bool>, Error> {
        Ok(Filter::contains_many(self, keys))
    }

    fn insert(&mut self, key: KeyRef<'_>, _beyond: bool) -> Result<bool, Error> {
        Ok(Filter::insert(self, key))
    }

    fn insert_many(&mut self, keys: &[KeyRef<'_>]) -> Result<u64, Error> {
        Ok(Filter::insert_many(self, keys))
    }

    fn remove(&mut self, key: KeyRef<'_>) -> Result<(), Error> {
        match self.take_out(key) {
            Some(true) => Ok(()),
            Some(false) => Err(Error::Absent),
            None => Err(cannot(Self::kind_name(), "forget a key", "build a counting filter")),
        }
    }

    fn union(&mut self, other: &Self) -> Result<(), Error> {
        Filter::union(self, other)
    }

    fn intersect(&mut self, other: &Self) -> Result<(), Error> {
        Filter::intersect(self, other)
    }
}
