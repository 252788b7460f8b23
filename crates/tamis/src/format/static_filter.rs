//! Static filters in files: kind 9.

use super::header::{Draft, Fields, SHORTEST, refused};
use super::stored::{AnyPlan, Parsed, Stored, cannot};
use crate::rate::{Shape, StaticFilter, StaticPlan};
use crate::{Error, HashFamily, Health, KeyRef, Kinds};

/// What to do instead of changing a static filter.
const REMEDY: &str = "build it again from all keys, or take a bloom filter, which can be changed";

/// The kind in files.
pub(super) const ID: u16 = 9;

/// What a header says: the plan, the hash, the kinds of keys, the items held and those of them in
/// the last layer.
pub(super) fn parse_fields(
    fields: &Fields<'_>,
) -> Result<(StaticPlan, HashFamily, Kinds, [u64; 2]), Error> {
    fields.check_length(SHORTEST)?;
    fields.check_reserved(&[(28, 32), (34, 36)], 120)?;
    let shape = Shape {
        width: fields.u32(36),
        low_share: fields.u64(96),
        shards: fields.u64(64),
        blocks: [fields.u64(72), fields.u64(80), fields.u64(88)],
    };
    let plan = StaticPlan::from_fields(fields.u64(48), fields.f64(56), shape)?;
    let (items, last_items) = (fields.u64(104), fields.u64(112));
    if items > plan.items() {
        return Err(refused("number of items held", items));
    }
    if last_items > items || (shape.blocks[0] == 0 && last_items < items) {
        return Err(refused("number of items in the last layer", last_items));
    }
    let kinds =
        Kinds::from_byte(fields.u8(33)).ok_or_else(|| refused("kinds of keys", fields.u8(33)))?;
    Ok((plan, fields.hash()?, kinds, [items, last_items]))
}

/// The header of a filter with this body.
pub(super) fn header(
    plan: &StaticPlan,
    hash: &HashFamily,
    kinds: Kinds,
    [items, last_items]: [u64; 2],
    body: &[u8],
) -> Vec<u8> {
    let Shape { width, low_share, shards, blocks } = *plan.shape();
    let mut draft = Draft::new(ID, SHORTEST, body);
    draft.put_hash(hash);
    draft.put(33, &[kinds.to_byte()]);
    draft.put(36, &width.to_le_bytes());
    draft.put(48, &plan.items().to_le_bytes());
    draft.put(56, &plan.fpr().to_le_bytes());
    let [first, second, last] = blocks;
    let rest = [shards, first, second, last, low_share, items, last_items];
    for (at, number) in (64..).step_by(8).zip(rest) {
        draft.put(at, &number.to_le_bytes());
    }
    draft.finish()
}

impl Stored for StaticFilter {
    fn id() -> u16 {
        ID
    }

    fn kind_name() -> &'static str {
        "static"
    }

    fn parse(fields: &Fields<'_>) -> Result<Parsed<Self>, Error> {
        let (plan, hash, kinds, counts) = parse_fields(fields)?;
        Ok(Parsed::new(plan.bits(), move |body| {
            StaticFilter::from_parts(plan, hash, kinds, counts, body)
        }))
    }

    fn header(&self) -> Vec<u8> {
        let counts = [self.items(), self.last_items()];
        let (hash, kinds) = (StaticFilter::hash(self), StaticFilter::kinds(self));
        header(StaticFilter::plan(self), hash, kinds, counts, StaticFilter::body(self))
    }

    fn parts(&self) -> Vec<&[u8]> {
        vec![StaticFilter::body(self)]
    }

    fn kind(&self) -> &'static str {
        Self::kind_name()
    }

    fn plan(&self) -> AnyPlan<'_> {
        AnyPlan::Static(StaticFilter::plan(self))
    }

    fn hash(&self) -> Option<&HashFamily> {
        Some(StaticFilter::hash(self))
    }

    fn kinds(&self) -> Kinds {
        StaticFilter::kinds(self)
    }

    fn health(&self) -> Health {
        StaticFilter::health(self)
    }

    fn expected_fpr(&self) -> f64 {
        StaticFilter::expected_fpr(self)
    }

    fn fill(&self) -> f64 {
        StaticFilter::fill(self)
    }

    fn estimated_items(&self) -> Option<f64> {
        Some(self.items() as f64)
    }

    fn contains(&self, key: KeyRef<'_>) -> Result<bool, Error> {
        Ok(StaticFilter::contains(self, key))
    }

    fn contains_many(&self, keys: &[KeyRef<'_>]) -> Result<Vec<bool>, Error> {
        Ok(StaticFilter::contains_many(self, keys))
    }

    fn insert(&mut self, _: KeyRef<'_>, _: bool) -> Result<bool, Error> {
        Err(cannot("static", "take another key", REMEDY))
    }

    fn remove(&mut self, _: KeyRef<'_>) -> Result<(), Error> {
        Err(cannot("static", "forget a key", "build it again without the key"))
    }

    fn union(&mut self, _: &Self) -> Result<(), Error> {
        Err(cannot("static", "be merged", REMEDY))
    }

    fn intersect(&mut self, _: &Self) -> Result<(), Error> {
        Err(cannot("static", "be merged", REMEDY))
    }
}
