//! Published filters in files: kinds 6 and 7.

use super::header::{Draft, Fields, SHORTEST, refused};
use super::stored::{AnyPlan, Parsed, Stored};
use crate::privacy::{Epsilon, LinearPlan, Release, ReleasePlan, UltraPlan};
use crate::{Error, HashFamily, Health, KeyRef};

/// What the two kinds of published files do not share.
#[allow(private_interfaces)]
pub trait PublishedPlan: Sized {
    const ID: u16;
    fn bits(&self) -> u64;
    fn any(&self) -> AnyPlan<'_>;
    fn parse(fields: &Fields<'_>, items: u64, epsilon: Epsilon) -> Result<Self, Error>;
    fn put(&self, draft: &mut Draft);
}

#[allow(private_interfaces)]
impl PublishedPlan for UltraPlan {
    const ID: u16 = 6;

    fn bits(&self) -> u64 {
        UltraPlan::bits(self)
    }

    fn any(&self) -> AnyPlan<'_> {
        AnyPlan::PublicBloom(self)
    }

    fn parse(fields: &Fields<'_>, items: u64, epsilon: Epsilon) -> Result<UltraPlan, Error> {
        fields.check_reserved(&[(28, 32), (33, 36)], 76)?;
        UltraPlan::from_fields(items, fields.u64(64), fields.u32(36), epsilon, fields.u32(72))
    }

    fn put(&self, draft: &mut Draft) {
        draft.put(36, &self.hashes().to_le_bytes());
        draft.put(64, &self.bits().to_le_bytes());
        draft.put(72, &self.threshold().to_le_bytes());
    }
}

#[allow(private_interfaces)]
impl PublishedPlan for LinearPlan {
    const ID: u16 = 7;

    fn bits(&self) -> u64 {
        LinearPlan::bits(self)
    }

    fn any(&self) -> AnyPlan<'_> {
        AnyPlan::Linear(self)
    }

    fn parse(fields: &Fields<'_>, items: u64, epsilon: Epsilon) -> Result<LinearPlan, Error> {
        fields.check_reserved(&[(28, 32), (33, 36)], 80)?;
        LinearPlan::from_fields(items, epsilon, fields.u32(36), fields.u64(64), fields.u64(72))
    }

    fn put(&self, draft: &mut Draft) {
        draft.put(36, &self.q().to_le_bytes());
        draft.put(64, &self.columns().to_le_bytes());
        draft.put(72, &self.shards().to_le_bytes());
    }
}

/// What a header says: the plan and the hash.
pub(super) fn parse_fields<P: PublishedPlan>(
    fields: &Fields<'_>,
) -> Result<(P, HashFamily), Error> {
    fields.check_length(SHORTEST)?;
    let billionths = fields.u64(56);
    let epsilon = Epsilon::from_billionths(billionths)
        .filter(|epsilon| *epsilon != Epsilon::ZERO)
        .ok_or_else(|| refused("epsilon", billionths))?;
    let hash = fields.hash()?;
    Ok((P::parse(fields, fields.u64(48), epsilon)?, hash))
}

/// The header of a release with this body, planned for so many items at this loss.
pub(super) fn header<P: PublishedPlan>(
    plan: &P,
    (items, epsilon): (u64, Epsilon),
    hash: &HashFamily,
    body: &[u8],
) -> Vec<u8> {
    let mut draft = Draft::new(P::ID, SHORTEST, body);
    draft.put_hash(hash);
    draft.put(48, &items.to_le_bytes());
    draft.put(56, &epsilon.billionths().to_le_bytes());
    plan.put(&mut draft);
    draft.finish()
}

impl<P: ReleasePlan> Stored for Release<P> {
    fn id() -> u16 {
        P::ID
    }

    fn kind_name() -> &'static str {
        P::KIND
    }

    fn parse(fields: &Fields<'_>) -> Result<Parsed<Self>, Error> {
        let (plan, hash) = parse_fields::<P>(fields)?;
        Ok(Parsed::new(plan.bits(), move |body| Release::from_parts(plan, hash, body)))
    }

    fn header(&self) -> Vec<u8> {
        let counts = (self.items(), self.epsilon());
        header(Release::plan(self), counts, Release::hash(self), Release::body(self))
    }

    fn parts(&self) -> Vec<&[u8]> {
        vec![Release::body(self)]
    }

    fn kind(&self) -> &'static str {
        P::KIND
    }

    fn plan(&self) -> AnyPlan<'_> {
        Release::plan(self).any()
    }

    fn hash(&self) -> Option<&HashFamily> {
        Some(Release::hash(self))
    }

    /// Nobody can tell how much a published filter holds.
    fn health(&self) -> Health {
        Health::Within
    }

    fn expected_fpr(&self) -> f64 {
        self.fpr()
    }

    fn expected_fnr(&self) -> f64 {
        self.fnr()
    }

    fn fill(&self) -> f64 {
        crate::bits::count(Release::body(self)) as f64 / Release::plan(self).bits() as f64
    }

    fn contains(&self, key: KeyRef<'_>) -> Result<bool, Error> {
        Ok(Release::contains(self, key))
    }

    fn contains_many(&self, keys: &[KeyRef<'_>]) -> Result<Vec<bool>, Error> {
        Ok(Release::contains_many(self, keys))
    }

    fn insert(&mut self, _: KeyRef<'_>, _: bool) -> Result<bool, Error> {
        Err(Error::Published { changed: "changed" })
    }

    fn remove(&mut self, _: KeyRef<'_>) -> Result<(), Error> {
        Err(Error::Published { changed: "changed" })
    }

    fn union(&mut self, _: &Self) -> Result<(), Error> {
        Err(Error::Published { changed: "merged" })
    }

    fn intersect(&mut self, _: &Self) -> Result<(), Error> {
        Err(Error::Published { changed: "merged" })
    }
}
