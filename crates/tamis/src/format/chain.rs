//! Chains in files: kinds 11 and 12.

use super::header::{Draft, Fields, LINE, LONGEST, SHORTEST, refused};
use super::stored::{AnyPlan, Parsed, Stored, cannot};
use crate::rate::{
    Kind, MAX_BITS, MAX_LINKS, Plan, QuotientFilter, Rolling, RollingPlan, Scalable, ScalablePlan,
    Window,
};
use crate::store::Store;
use crate::{Error, HashFamily, Health, KeyRef, Kinds};
use std::ops::RangeInclusive;
use std::time::Duration;

// FORMAT v1: frozen. Where the links stand in the header, and what one takes.
const LINKS: usize = 96;
const LINK: usize = 48;
/// The most links is that of a header that a reader takes.
const _: () = assert!(header_length(MAX_LINKS) <= LONGEST);

/// The two kinds of windows.
const ITEMS: u8 = 1;
const TIME: u8 = 2;

const fn header_length(links: usize) -> usize {
    let length = (LINKS + LINK * links + 4).next_multiple_of(LINE);
    if length < SHORTEST { SHORTEST } else { length }
}

/// The bytes of the header of a chain with so many links.
pub(crate) fn chain_header(links: usize) -> u64 {
    header_length(links) as u64
}

/// What a header says of a link.
struct Link {
    plan: Plan,
    items: u64,
    /// Of a generation.
    number: u64,
}

/// Reads the links, of which there can be so many, and the bits of all their bodies.
fn read_links(
    fields: &Fields<'_>,
    counts: RangeInclusive<usize>,
) -> Result<(Vec<Link>, u64), Error> {
    let count = fields.u32(36) as usize;
    if !counts.contains(&count) {
        return Err(refused("number of links", count));
    }
    fields.check_length(header_length(count))?;
    fields.check_reserved(&[(28, 32), (34, 36)], LINKS + LINK * count)?;
    let (mut links, mut bits) = (Vec::with_capacity(count), 0);
    for at in (0..count).map(|i| LINKS + LINK * i) {
        fields.check_reserved(&[(at + 36, at + 40)], LINKS + LINK * count)?;
        let [cells, planned, items, number] =
            [at, at + 8, at + 24, at + 40].map(|at| fields.u64(at));
        let (fpr, width) = (fields.f64(at + 16), fields.u32(at + 32));
        let plan = Plan::from_fields(Kind::Quotient, planned, fpr, cells, 1, width)?;
        // At least one slot is free.
        if items >= cells {
            return Err(refused("number of items held", items));
        }
        bits += plan.bits(); // Each is at most 2^50, and there are few.
        links.push(Link { plan, items, number });
    }
    if bits > MAX_BITS {
        return Err(refused("number of cells", bits));
    }
    Ok((links, bits))
}

/// The links with their bodies, which lie one after the other.
fn with_bodies(
    links: Vec<Link>,
    hash: &HashFamily,
    mut body: Store,
) -> Result<Vec<QuotientFilter>, Error> {
    let link = |Link { plan, items, .. }: Link| {
        let part = body.split_off_front(plan.bytes() as usize);
        QuotientFilter::from_parts(plan, hash.clone(), Kinds::default(), part, items, items)
    };
    links.into_iter().map(link).collect()
}

fn parts(links: &[QuotientFilter]) -> Vec<&[u8]> {
    links.iter().map(QuotientFilter::body).collect()
}

fn draft(id: u16, hash: &HashFamily, kinds: Kinds, links: &[QuotientFilter]) -> Draft {
    let mut draft = Draft::of_parts(id, header_length(links.len()), &parts(links));
    draft.put_hash(hash);
    draft.put(33, &[kinds.to_byte()]);
    draft.put(36, &(links.len() as u32).to_le_bytes());
    for (at, link) in (0..).map(|i| LINKS + LINK * i).zip(links) {
        let plan = link.plan();
        draft.put(at, &plan.cells().to_le_bytes());
        draft.put(at + 8, &plan.items().to_le_bytes());
        draft.put(at + 16, &plan.fpr().to_le_bytes());
        draft.put(at + 24, &link.len().to_le_bytes());
        draft.put(at + 32, &plan.counter_bits().to_le_bytes());
    }
    draft
}

fn kinds(fields: &Fields<'_>) -> Result<Kinds, Error> {
    Kinds::from_byte(fields.u8(33)).ok_or_else(|| refused("kinds of keys", fields.u8(33)))
}

impl Stored for Scalable {
    fn id() -> u16 {
        11
    }

    fn kind_name() -> &'static str {
        "scalable"
    }

    fn parse(fields: &Fields<'_>) -> Result<Parsed<Self>, Error> {
        let (links, bits) = read_links(fields, 1..=MAX_LINKS)?;
        if let Some(link) = links.iter().find(|link| link.number != 0) {
            return Err(refused("number of a generation", link.number));
        }
        fields.check_reserved(&[(68, LINKS)], fields.header_length() - 4)?;
        let plan = ScalablePlan::from_fields(fields.u64(48), fields.f64(56), fields.u32(64))?;
        let (hash, kinds) = (fields.hash()?, kinds(fields)?);
        Ok(Parsed::new(bits, move |body| {
            let links = with_bodies(links, &hash, body)?;
            Scalable::from_parts(plan, hash, kinds, links)
        }))
    }

    fn header(&self) -> Vec<u8> {
        let plan = Scalable::plan(self);
        let (hash, kinds) = (Scalable::hash(self), Scalable::kinds(self));
        let mut draft = draft(Self::id(), hash, kinds, self.links());
        draft.put(48, &plan.items().to_le_bytes());
        draft.put(56, &plan.fpr().to_le_bytes());
        draft.put(64, &plan.growth().unwrap_or(0).to_le_bytes());
        draft.finish()
    }

    fn parts(&self) -> Vec<&[u8]> {
        parts(self.links())
    }

    fn is_consistent(&self) -> bool {
        self.links().iter().all(QuotientFilter::is_sound)
    }

    fn kind(&self) -> &'static str {
        Self::kind_name()
    }

    fn plan(&self) -> AnyPlan<'_> {
        AnyPlan::Scalable { plan: Scalable::plan(self), links: self.links() }
    }

    fn hash(&self) -> Option<&HashFamily> {
        Some(Scalable::hash(self))
    }

    fn kinds(&self) -> Kinds {
        Scalable::kinds(self)
    }

    fn health(&self) -> Health {
        Scalable::health(self)
    }

    fn expected_fpr(&self) -> f64 {
        Scalable::expected_fpr(self)
    }

    fn fill(&self) -> f64 {
        Scalable::fill(self)
    }

    fn estimated_items(&self) -> Option<f64> {
        Some(Scalable::estimated_items(self))
    }

    fn contains(&self, key: KeyRef<'_>) -> Result<bool, Error> {
        Ok(Scalable::contains(self, key))
    }

    fn contains_many(&self, keys: &[KeyRef<'_>]) -> Result<Vec<bool>, Error> {
        Ok(Scalable::contains_many(self, keys))
    }

    fn insert(&mut self, key: KeyRef<'_>, _beyond: bool) -> Result<bool, Error> {
        Scalable::insert(self, key)
    }

    fn insert_many(&mut self, keys: &[KeyRef<'_>]) -> Result<u64, Error> {
        Scalable::insert_many(self, keys)
    }

    fn remove(&mut self, _key: KeyRef<'_>) -> Result<(), Error> {
        // A key that passed when it came is held by another one's fingerprint.
        Err(cannot(Self::kind_name(), "forget a key", "build a quotient filter, which also grows"))
    }

    fn union(&mut self, other: &Self) -> Result<(), Error> {
        Scalable::union(self, other)
    }

    fn intersect(&mut self, _other: &Self) -> Result<(), Error> {
        Err(cannot(Self::kind_name(), "keep what both hold", "bloom filters can"))
    }
}

impl Stored for Rolling {
    fn id() -> u16 {
        12
    }

    fn kind_name() -> &'static str {
        "rolling"
    }

    fn parse(fields: &Fields<'_>) -> Result<Parsed<Self>, Error> {
        let window = match (fields.u8(68), fields.u64(72)) {
            (ITEMS, items) => Window::Items(items),
            (TIME, nanoseconds) => Window::Time(Duration::from_nanos(nanoseconds)),
            (other, _) => return Err(refused("kind of window", other)),
        };
        let plan =
            RollingPlan::from_fields(window, fields.u64(48), fields.f64(56), fields.u32(64))?;
        let (links, bits) = read_links(fields, 0..=plan.generations() as usize)?;
        fields.check_reserved(&[(69, 72), (88, LINKS)], fields.header_length() - 4)?;
        let clock = fields.u64(80);
        let numbers: Vec<u64> = links.iter().map(|link| link.number).collect();
        if !Rolling::numbers_fit(&plan, clock, &numbers) {
            return Err(refused("number of a generation", format!("{numbers:?} at {clock}")));
        }
        let (hash, kinds) = (fields.hash()?, kinds(fields)?);
        Ok(Parsed::new(bits, move |body| {
            let links = with_bodies(links, &hash, body)?;
            let generations = numbers.into_iter().zip(links).collect();
            Rolling::from_parts(plan, hash, kinds, generations, clock)
        }))
    }

    fn header(&self) -> Vec<u8> {
        let plan = Rolling::plan(self);
        let (hash, kinds) = (Rolling::hash(self), Rolling::kinds(self));
        let mut draft = draft(Self::id(), hash, kinds, self.links());
        draft.put(48, &plan.items().to_le_bytes());
        draft.put(56, &plan.fpr().to_le_bytes());
        draft.put(64, &plan.generations().to_le_bytes());
        let kind = if matches!(plan.window(), Window::Items(_)) { ITEMS } else { TIME };
        draft.put(68, &[kind]);
        draft.put(72, &plan.length().to_le_bytes());
        draft.put(80, &self.clock().to_le_bytes());
        for (i, (number, _)) in self.generations().enumerate() {
            draft.put(LINKS + LINK * i + 40, &number.to_le_bytes());
        }
        draft.finish()
    }

    fn parts(&self) -> Vec<&[u8]> {
        parts(self.links())
    }

    fn is_consistent(&self) -> bool {
        self.links().iter().all(QuotientFilter::is_sound)
    }

    fn kind(&self) -> &'static str {
        Self::kind_name()
    }

    fn plan(&self) -> AnyPlan<'_> {
        AnyPlan::Rolling { plan: Rolling::plan(self), links: self.links() }
    }

    fn hash(&self) -> Option<&HashFamily> {
        Some(Rolling::hash(self))
    }

    fn kinds(&self) -> Kinds {
        Rolling::kinds(self)
    }

    fn health(&self) -> Health {
        Rolling::health(self)
    }

    fn expected_fpr(&self) -> f64 {
        Rolling::expected_fpr(self)
    }

    fn fill(&self) -> f64 {
        Rolling::fill(self)
    }

    fn estimated_items(&self) -> Option<f64> {
        Some(Rolling::estimated_items(self))
    }

    fn contains(&self, key: KeyRef<'_>) -> Result<bool, Error> {
        Ok(Rolling::contains(self, key))
    }

    fn contains_many(&self, keys: &[KeyRef<'_>]) -> Result<Vec<bool>, Error> {
        Ok(Rolling::contains_many(self, keys))
    }

    fn insert(&mut self, key: KeyRef<'_>, _beyond: bool) -> Result<bool, Error> {
        Rolling::insert(self, key)
    }

    fn insert_many(&mut self, keys: &[KeyRef<'_>]) -> Result<u64, Error> {
        Rolling::insert_many(self, keys)
    }

    fn remove(&mut self, _key: KeyRef<'_>) -> Result<(), Error> {
        Err(cannot(Self::kind_name(), "forget one key", "build a quotient filter"))
    }

    fn union(&mut self, other: &Self) -> Result<(), Error> {
        Rolling::union(self, other)
    }

    fn intersect(&mut self, _other: &Self) -> Result<(), Error> {
        Err(cannot(Self::kind_name(), "keep what both hold", "bloom filters can"))
    }
}
