//! Zone filters in files: kinds 4 and 5.

use super::header::{Dictionary, Draft, Fields, LINE, MAX_MODULI, MODULI, SHORTEST, refused};
use super::stored::{AnyPlan, Parsed, Resize, Stored, cannot};
use crate::zone::{
    self, CellKind, Code, List, Method, Plan, Progress, State, Universe, ZoneFilter,
};
use crate::{Error, HashFamily, Health, KeyRef};
use std::net::Ipv4Addr;
use std::ops::ControlFlow;

const _: () = assert!(zone::MAX_MODULI == MAX_MODULI);

// FORMAT v1: frozen. The numbers of the codes, of the names of elements and of the state.
const EGH: u8 = 1;
const COPRIME: u8 = 2;
const REED_SOLOMON: u8 = 3;
const INTEGERS: u8 = 1;
const IPV4: u8 = 2;
const DICTIONARY: u8 = 3;
const BEYOND: u8 = 1;
const LEN_IS_BOUND: u8 = 2;

impl<C: CellKind> Stored for ZoneFilter<C> {
    fn id() -> u16 {
        if C::COUNTING { 5 } else { 4 }
    }

    fn kind_name() -> &'static str {
        if C::COUNTING { "counting zone" } else { "zone" }
    }

    fn parse(fields: &Fields<'_>) -> Result<Parsed<Self>, Error> {
        let (plan, len, state) = parse(C::COUNTING, fields)?;
        Ok(Parsed::new(plan.bits(), move |body| ZoneFilter::from_parts(plan, body, len, state)))
    }

    fn header(&self) -> Vec<u8> {
        let (plan, universe) = (ZoneFilter::plan(self), ZoneFilter::plan(self).universe());
        let [moduli, spare] = listed_moduli(plan);
        let (code, order, degree) = match plan.code() {
            Code::Egh { .. } => (EGH, 0, 0),
            Code::Coprime { .. } => (COPRIME, 0, 0),
            Code::Rs { order, degree, .. } => (REED_SOLOMON, *order, *degree),
        };
        let length = header_length(moduli.len() + spare.len());
        let mut draft = Draft::new(Self::id(), length, ZoneFilter::body(self));
        let state = self.state();
        let state = if state.beyond { BEYOND } else { 0 }
            | if state.len_is_bound { LEN_IS_BOUND } else { 0 };
        draft.put(32, &[code, universe.names_id(), state]);
        draft.put(36, &(plan.probes() as u32).to_le_bytes());
        draft.put(40, &universe.first().to_le_bytes());
        draft.put(48, &universe.last().to_le_bytes());
        draft.put(56, &universe.fingerprint().unwrap_or(0).to_le_bytes());
        draft.put(64, &plan.items().to_le_bytes());
        draft.put(72, &ZoneFilter::len(self).to_le_bytes());
        draft.put(80, &plan.counter_bits().to_le_bytes());
        draft.put(84, &order.to_le_bytes());
        draft.put(88, &degree.to_le_bytes());
        draft.put(92, &(spare.len() as u32).to_le_bytes());
        for (i, modulus) in moduli.iter().chain(spare).enumerate() {
            draft.put(MODULI + 4 * i, &(*modulus as u32).to_le_bytes()); // moduli are below 2^32
        }
        draft.finish()
    }

    fn parts(&self) -> Vec<&[u8]> {
        vec![ZoneFilter::body(self)]
    }

    fn is_consistent(&self) -> bool {
        ZoneFilter::is_consistent(self)
    }

    fn kind(&self) -> &'static str {
        Self::kind_name()
    }

    fn plan(&self) -> AnyPlan<'_> {
        AnyPlan::Zone(ZoneFilter::plan(self))
    }

    fn hash(&self) -> Option<&HashFamily> {
        None
    }

    fn health(&self) -> Health {
        ZoneFilter::health(self)
    }

    fn expected_fpr(&self) -> f64 {
        ZoneFilter::expected_fpr(self)
    }

    fn fill(&self) -> f64 {
        ZoneFilter::fill(self)
    }

    fn estimated_items(&self) -> Option<f64> {
        Some(ZoneFilter::len(self) as f64)
    }

    fn contains(&self, key: KeyRef<'_>) -> Result<bool, Error> {
        ZoneFilter::contains(self, key)
    }

    fn contains_many(&self, keys: &[KeyRef<'_>]) -> Result<Vec<bool>, Error> {
        ZoneFilter::contains_many(self, keys)
    }

    fn insert(&mut self, key: KeyRef<'_>, beyond: bool) -> Result<bool, Error> {
        let number = ZoneFilter::plan(self).universe().number(key)?;
        ZoneFilter::insert_number(self, number, beyond)
    }

    fn remove(&mut self, key: KeyRef<'_>) -> Result<(), Error> {
        let number = ZoneFilter::plan(self).universe().number(key)?;
        Stored::remove_number(self, number)
    }

    fn union(&mut self, other: &Self) -> Result<(), Error> {
        ZoneFilter::union(self, other)
    }

    fn intersect(&mut self, other: &Self) -> Result<(), Error> {
        ZoneFilter::intersect(self, other)
    }

    fn len(&self) -> Option<u64> {
        Some(ZoneFilter::len(self))
    }

    fn len_is_exact(&self) -> bool {
        ZoneFilter::len_is_exact(self)
    }

    fn contains_number(&self, number: u64) -> Result<bool, Error> {
        ZoneFilter::contains_number(self, number)
    }

    fn insert_number(&mut self, number: u64, beyond: bool) -> Result<bool, Error> {
        ZoneFilter::insert_number(self, number, beyond)
    }

    fn remove_number(&mut self, number: u64) -> Result<(), Error> {
        if !C::COUNTING {
            return Err(cannot(Self::kind_name(), "forget an item", "build it with counters"));
        }
        self.take_out_number(number)
    }

    fn list(
        &self,
        method: Option<Method>,
        report: &mut dyn FnMut(Progress) -> ControlFlow<()>,
    ) -> Result<List, Error> {
        ZoneFilter::list_with(self, method, report)
    }

    fn resize(&mut self, to: Resize) -> Result<(), Error> {
        match to {
            Resize::GrowTo(blocks) => self.grow(blocks),
            Resize::GrowFor(items) => self.grow_for(items),
            Resize::ShrinkTo(blocks) => self.shrink(blocks),
            Resize::ShrinkFor(items) => self.shrink_for(items),
        }
    }
}

impl Plan {
    /// The bytes of a file with such a filter, exactly: its header and its body.
    #[must_use]
    pub fn file_bytes(&self) -> u64 {
        let listed = listed_moduli(self).map(<[u64]>::len).iter().sum();
        header_length(listed) as u64 + self.bytes()
    }
}

fn parse(counting: bool, fields: &Fields<'_>) -> Result<(Plan, u64, State), Error> {
    let (code, blocks) = (fields.u8(32), fields.u32(36));
    let (moduli, spare) =
        if code == COPRIME { (blocks as usize, fields.u32(92) as usize) } else { (0, 0) };
    if moduli > MAX_MODULI {
        return Err(refused("number of blocks", blocks));
    }
    if spare > MAX_MODULI - moduli {
        return Err(refused("number of spare moduli", spare));
    }
    let listed = moduli + spare;
    fields.check_length(header_length(listed))?;
    let no_spare = if code == COPRIME { (96, 96) } else { (92, 96) };
    fields.check_reserved(&[(28, 32), (35, 36), no_spare], MODULI + 4 * listed)?;
    let (order, degree) = (fields.u32(84), fields.u32(88));
    let parameters = match code {
        EGH if blocks as usize > MAX_MODULI => return Err(refused("number of blocks", blocks)),
        EGH => Code::Egh { blocks },
        COPRIME => {
            let modulus = |i: usize| u64::from(fields.u32(MODULI + 4 * i));
            Code::Coprime {
                moduli: (0..moduli).map(modulus).collect(),
                spare: (moduli..listed).map(modulus).collect(),
            }
        }
        REED_SOLOMON => Code::Rs { order, degree, blocks },
        other => return Err(refused("code", other)),
    };
    if code != REED_SOLOMON && (order, degree) != (0, 0) {
        return Err(refused("field order", order));
    }
    // A proof takes time, so the cheap check of the size comes first.
    let width = fields.u32(80);
    let bits = parameters.cells().and_then(|cells| cells.checked_mul(u64::from(width)));
    if bits.is_none_or(|bits| bits.div_ceil(8) != fields.body) {
        return Err(refused("body length", fields.body));
    }
    let items = fields.u64(64);
    let plan = Plan::from_parts(parse_universe(fields)?, items, parameters, counting)?;
    if width != plan.counter_bits() {
        return Err(refused("counter width", width));
    }
    let flags = fields.u8(34);
    if flags & !(BEYOND | LEN_IS_BOUND) != 0 {
        return Err(refused("state", flags));
    }
    let state = State { beyond: flags & BEYOND != 0, len_is_bound: flags & LEN_IS_BOUND != 0 };
    if counting && state.len_is_bound && !state.beyond {
        return Err(refused("state", flags)); // counters that could not be listed are beyond
    }
    let len = fields.u64(72);
    if !state.beyond && len > items {
        return Err(refused("number of items held", len));
    }
    Ok((plan, len, state))
}

fn parse_universe(fields: &Fields<'_>) -> Result<Universe, Error> {
    let (names, first, last) = (fields.u8(33), fields.u64(40), fields.u64(48));
    let fingerprint = fields.u64(56);
    if names != DICTIONARY && fingerprint != 0 {
        return Err(refused("dictionary fingerprint", fingerprint));
    }
    match names {
        INTEGERS => Universe::interval(first, last).map_err(|_| refused("last element", last)),
        IPV4 => {
            let address = |end: u64| u32::try_from(end).ok().map(Ipv4Addr::from);
            let ends = address(first).zip(address(last));
            let range = ends.and_then(|(first, last)| Universe::ipv4_range(first, last).ok());
            range.ok_or_else(|| refused("last element", last))
        }
        DICTIONARY => {
            let keys = last.saturating_add(1);
            let given = match fields.dictionary {
                Dictionary::Given(given) => given,
                Dictionary::Needed => return Err(Error::DictionaryNeeded { keys }),
                Dictionary::Unneeded if first == 0 => {
                    return Ok(Universe::unnamed(last, fingerprint));
                }
                Dictionary::Unneeded => return Err(refused("first element", first)),
            };
            let same = given.fingerprint() == Some(fingerprint)
                && (given.first(), given.last()) == (first, last);
            if same { Ok(given.clone()) } else { Err(Error::WrongDictionary) }
        }
        other => Err(refused("names", other)),
    }
}

/// The moduli that stand in the header: those of the blocks, and the spare ones.
fn listed_moduli(plan: &Plan) -> [&[u64]; 2] {
    match plan.code() {
        Code::Coprime { moduli, spare } => [moduli, spare],
        _ => [&[], &[]],
    }
}

/// The length of a header that lists this many moduli.
fn header_length(listed: usize) -> usize {
    (MODULI + 4 * listed + 4).next_multiple_of(LINE).max(SHORTEST)
}
