//! Zone filters in files: kinds 4 and 5.

use super::header::{
    Dictionary, Draft, Fields, LINE, LONGEST, MAX_MODULI, MODULI, SHORTEST, refused,
};
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
/// Names from here on may have elements of 128 bits: [`HIGH_HALVES`] has their high halves.
const FIRST_WIDE: u8 = 4;
const WIDE_INTEGERS: u8 = 4;
const IPV6: u8 = 5;
const UUID: u8 = 6;
const MAC: u8 = 7;
const HEX: u8 = 8;
const IPV4_PREFIXES: u8 = 9;
const IPV6_PREFIXES: u8 = 10;
/// The high halves of the first and of the last element, before any moduli.
const HIGH_HALVES: usize = 16;
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
        let names = names_id(universe);
        let (code, order, degree) = match plan.code() {
            Code::Egh { .. } => (EGH, 0, 0),
            Code::Coprime { .. } => (COPRIME, 0, 0),
            Code::Rs { order, degree, .. } => (REED_SOLOMON, *order, *degree),
        };
        let length = header_length(names, moduli.len() + spare.len());
        let mut draft = Draft::new(Self::id(), length, ZoneFilter::body(self));
        let state = self.state();
        let state = if state.beyond { BEYOND } else { 0 }
            | if state.len_is_bound { LEN_IS_BOUND } else { 0 };
        draft.put(32, &[code, names, state]);
        draft.put(36, &(plan.probes() as u32).to_le_bytes());
        let [(low_first, high_first), (low_last, high_last)] =
            [universe.first(), universe.last()].map(|end| (end as u64, (end >> 64) as u64));
        draft.put(40, &low_first.to_le_bytes());
        draft.put(48, &low_last.to_le_bytes());
        if names >= FIRST_WIDE {
            draft.put(MODULI, &high_first.to_le_bytes());
            draft.put(MODULI + 8, &high_last.to_le_bytes());
        }
        draft.put(56, &universe.fingerprint().unwrap_or(0).to_le_bytes());
        draft.put(64, &plan.items().to_le_bytes());
        draft.put(72, &ZoneFilter::len(self).to_le_bytes());
        draft.put(80, &plan.counter_bits().to_le_bytes());
        draft.put(84, &order.to_le_bytes());
        draft.put(88, &degree.to_le_bytes());
        draft.put(92, &(spare.len() as u32).to_le_bytes());
        for (i, modulus) in moduli.iter().chain(spare).enumerate() {
            let place = first_modulus(names) + 4 * i;
            draft.put(place, &(*modulus as u32).to_le_bytes()); // moduli are below 2^32
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

    fn contains_number(&self, number: u128) -> Result<bool, Error> {
        ZoneFilter::contains_number(self, number)
    }

    fn insert_number(&mut self, number: u128, beyond: bool) -> Result<bool, Error> {
        ZoneFilter::insert_number(self, number, beyond)
    }

    fn remove_number(&mut self, number: u128) -> Result<(), Error> {
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
        header_length(names_id(self.universe()), listed) as u64 + self.bytes()
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
    let (listed, names) = (moduli + spare, fields.u8(33));
    fields.check_length(header_length(names, listed))?;
    let no_spare = if code == COPRIME { (96, 96) } else { (92, 96) };
    fields.check_reserved(&[(28, 32), (35, 36), no_spare], first_modulus(names) + 4 * listed)?;
    let (order, degree) = (fields.u32(84), fields.u32(88));
    let parameters = match code {
        EGH if blocks as usize > MAX_MODULI => return Err(refused("number of blocks", blocks)),
        EGH => Code::Egh { blocks },
        COPRIME => {
            let modulus = |i: usize| u64::from(fields.u32(first_modulus(names) + 4 * i));
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

/// The identifier of the names of elements. Integers below 2^64 have the shorter header.
fn names_id(universe: &Universe) -> u8 {
    match universe.kind() {
        "integers" if universe.last() > u128::from(u64::MAX) => WIDE_INTEGERS,
        "integers" => INTEGERS,
        "ipv4" => IPV4,
        "ipv6" => IPV6,
        "uuid" => UUID,
        "mac" => MAC,
        "hex" => HEX,
        "ipv4-prefixes" => IPV4_PREFIXES,
        "ipv6-prefixes" => IPV6_PREFIXES,
        _ => DICTIONARY,
    }
}

fn parse_universe(fields: &Fields<'_>) -> Result<Universe, Error> {
    let names = fields.u8(33);
    let fingerprint = fields.u64(56);
    if names != DICTIONARY && fingerprint != 0 {
        return Err(refused("dictionary fingerprint", fingerprint));
    }
    if names == DICTIONARY {
        return parse_dictionary(fields, fields.u64(40), fields.u64(48), fingerprint);
    }
    let end = |low: usize, high: usize| {
        let high = if names >= FIRST_WIDE { fields.u64(high) } else { 0 };
        u128::from(high) << 64 | u128::from(fields.u64(low))
    };
    let (first, last) = (end(40, MODULI), end(48, MODULI + 8));
    let ipv4 = |end: u128| u32::try_from(end).ok().map(Ipv4Addr::from);
    let made = match names {
        INTEGERS => Universe::interval(first, last).ok(),
        WIDE_INTEGERS if last <= u128::from(u64::MAX) => None,
        WIDE_INTEGERS => Universe::interval(first, last).ok(),
        IPV4 => {
            let ends = ipv4(first).zip(ipv4(last));
            ends.and_then(|(first, last)| Universe::ipv4_range(first, last).ok())
        }
        IPV6 => Universe::ipv6_range(first.into(), last.into()).ok(),
        UUID => Some(Universe::uuid()),
        MAC => Some(Universe::mac()),
        // The last number tells how many digits there are, or how long prefixes are.
        HEX => Universe::hex(last.count_ones() / 4).ok(),
        IPV4_PREFIXES => Universe::ipv4_prefixes(last.count_ones()).ok(),
        IPV6_PREFIXES => Universe::ipv6_prefixes(last.count_ones()).ok(),
        other => return Err(refused("names", other)),
    };
    made.filter(|made| (made.first(), made.last()) == (first, last))
        .ok_or_else(|| refused("last element", last))
}

fn parse_dictionary(
    fields: &Fields<'_>,
    first: u64,
    last: u64,
    fingerprint: u64,
) -> Result<Universe, Error> {
    let given = match fields.dictionary {
        Dictionary::Given(given) => given,
        Dictionary::Needed => {
            return Err(Error::DictionaryNeeded { keys: last.saturating_add(1) });
        }
        Dictionary::Unneeded if first == 0 => return Ok(Universe::unnamed(last, fingerprint)),
        Dictionary::Unneeded => return Err(refused("first element", first)),
    };
    let same = given.fingerprint() == Some(fingerprint)
        && (given.first(), given.last()) == (first.into(), last.into());
    if same { Ok(given.clone()) } else { Err(Error::WrongDictionary) }
}

/// The moduli that stand in the header: those of the blocks, and the spare ones.
fn listed_moduli(plan: &Plan) -> [&[u64]; 2] {
    match plan.code() {
        Code::Coprime { moduli, spare } => [moduli, spare],
        _ => [&[], &[]],
    }
}

/// Where the moduli begin.
const fn first_modulus(names: u8) -> usize {
    if names >= FIRST_WIDE { MODULI + HIGH_HALVES } else { MODULI }
}

/// The length of a header with these names that lists this many moduli.
const fn header_length(names: u8, listed: usize) -> usize {
    let length = (first_modulus(names) + 4 * listed + 4).next_multiple_of(LINE);
    if length < SHORTEST { SHORTEST } else { length }
}

const _: () = assert!(header_length(FIRST_WIDE, MAX_MODULI) == LONGEST);
