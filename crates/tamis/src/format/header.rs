//! The first bytes of a file, to and from what they say.

use super::{AnyFilter, checksum};
use crate::privacy::{Epsilon, LinearFilter, LinearPlan, PublicBloom, Published, UltraPlan};
use crate::rate::{self, Kind, RateFilter};
use crate::store::Store;
use crate::zone::{self, CellKind, Choice, MOST_MODULI, Scheme, State, Universe, ZoneFilter};
use crate::{Error, HashFamily, Kinds, SecretKey};

/// The format version that this release writes, and the newest that it reads.
pub const VERSION: u16 = 1;

/// The first bytes of every tamis file: not valid UTF-8, and broken by anything that converts line
/// ends.
pub const MAGIC: [u8; 8] = *b"\x89TAMIS\r\n";

/// The bytes that are the same for every kind.
pub(super) const PROLOGUE: usize = 32;
/// The shortest header, which most filters have.
pub(super) const SHORTEST: usize = 128;
/// The longest header: one of a zone filter with the most moduli.
const LONGEST: usize = (MODULI + 4 * MOST_MODULI + 4).next_multiple_of(LINE);
/// Headers are whole cache lines, so that a mapped body is aligned.
const LINE: usize = 64;
/// Where the moduli of a zone filter begin.
const MODULI: usize = 96;

/// FORMAT v1: frozen. The byte that says that the planned items were found by counting the keys.
const COUNTED: u8 = 1;

/// What the prologue says.
pub(super) struct Prologue {
    kind: u16,
    pub(super) header: usize,
    pub(super) body: u64,
    pub(super) body_checksum: u32,
}

impl Prologue {
    /// Reads the first bytes of a file; `present` is how many there were to read, at most
    /// [`PROLOGUE`].
    pub(super) fn parse(bytes: &[u8; PROLOGUE], present: usize) -> Result<Prologue, Error> {
        if present < MAGIC.len() || bytes[..8] != MAGIC {
            return Err(Error::NotTamis);
        }
        if present < PROLOGUE {
            return Err(Error::Length { expected: SHORTEST as u64, got: present as u64 });
        }
        let version = u16::from_le_bytes(take(bytes, 8));
        if version > VERSION {
            return Err(Error::TooNew { version, newest: VERSION });
        }
        if version == 0 {
            return Err(refused("version", 0));
        }
        let header = u32::from_le_bytes(take(bytes, 12));
        if !(SHORTEST..=LONGEST).contains(&(header as usize))
            || !(header as usize).is_multiple_of(LINE)
        {
            return Err(refused("header length", header));
        }
        let body = u64::from_le_bytes(take(bytes, 16));
        if body.checked_add(u64::from(header)).is_none() {
            return Err(refused("body length", body));
        }
        Ok(Prologue {
            kind: u16::from_le_bytes(take(bytes, 10)),
            header: header as usize,
            body,
            body_checksum: u32::from_le_bytes(take(bytes, 24)),
        })
    }

    /// The length of the whole file.
    pub(super) fn file_length(&self) -> u64 {
        self.header as u64 + self.body
    }
}

/// What the header of a filter says: all but the body.
pub(super) enum Header {
    Rate { plan: rate::Plan, hash: HashFamily, kinds: Kinds },
    Zone { plan: zone::Plan, len: u64, state: State },
    PublicBloom { plan: UltraPlan, hash: HashFamily },
    Linear { plan: LinearPlan, hash: HashFamily },
}

impl Header {
    /// Reads the whole header, checksum first, and refuses whatever no writer writes.
    pub(super) fn parse(
        prologue: &Prologue,
        bytes: &[u8],
        key: Option<&SecretKey>,
        dictionary: Option<&Universe>,
    ) -> Result<Header, Error> {
        let (fields, checksum) = bytes.split_at(bytes.len() - 4);
        if crc32c::crc32c(fields).to_le_bytes() != checksum {
            return Err(Error::Checksum { part: "header" });
        }
        let header = match prologue.kind {
            1 => parse_rate(Kind::Bloom, fields, key)?,
            2 => parse_rate(Kind::Blocked, fields, key)?,
            3 => parse_rate(Kind::Counting, fields, key)?,
            4 => parse_zone(false, fields, prologue.body, dictionary)?,
            5 => parse_zone(true, fields, prologue.body, dictionary)?,
            6 => parse_public_bloom(fields, key)?,
            7 => parse_linear(fields, key)?,
            other => return Err(refused("kind", other)),
        };
        if prologue.body != header.bytes() {
            return Err(refused("body length", prologue.body));
        }
        Ok(header)
    }

    fn bytes(&self) -> u64 {
        match self {
            Header::Rate { plan, .. } => plan.bytes(),
            Header::Zone { plan, .. } => plan.bytes(),
            Header::PublicBloom { plan, .. } => plan.bytes(),
            Header::Linear { plan, .. } => plan.bytes(),
        }
    }

    /// The bits of the body; what lies past them in its last byte is zero.
    pub(super) fn bits(&self) -> u64 {
        match self {
            Header::Rate { plan, .. } => plan.bits(),
            Header::Zone { plan, .. } => plan.bits(),
            Header::PublicBloom { plan, .. } => plan.bits(),
            Header::Linear { plan, .. } => plan.bits(),
        }
    }

    /// The filter with this body.
    pub(super) fn with_body(self, body: Store) -> Result<AnyFilter, Error> {
        Ok(match self {
            Header::Rate { plan, hash, kinds } => match plan.filter() {
                Kind::Bloom => AnyFilter::Bloom(rate::Filter::from_parts(plan, hash, kinds, body)?),
                Kind::Blocked => {
                    AnyFilter::Blocked(rate::Filter::from_parts(plan, hash, kinds, body)?)
                }
                Kind::Counting => {
                    AnyFilter::Counting(rate::Filter::from_parts(plan, hash, kinds, body)?)
                }
            },
            Header::Zone { plan, len, state } if plan.is_counting() => {
                AnyFilter::ZoneCounting(ZoneFilter::from_parts(plan, body, len, state)?)
            }
            Header::Zone { plan, len, state } => {
                AnyFilter::Zone(ZoneFilter::from_parts(plan, body, len, state)?)
            }
            Header::PublicBloom { plan, hash } => {
                AnyFilter::PublicBloom(PublicBloom::from_parts(plan, hash, body)?)
            }
            Header::Linear { plan, hash } => {
                AnyFilter::Linear(LinearFilter::from_parts(plan, hash, body)?)
            }
        })
    }
}

fn refused(field: &'static str, got: impl ToString) -> Error {
    Error::Field { field, got: got.to_string() }
}

/// Refuses bytes that should be zero.
fn check_reserved<'a>(mut bytes: impl Iterator<Item = &'a u8>) -> Result<(), Error> {
    if bytes.any(|byte| *byte != 0) { Err(refused("reserved space", "not zero")) } else { Ok(()) }
}

fn parse_rate(filter: Kind, fields: &[u8], key: Option<&SecretKey>) -> Result<Header, Error> {
    if fields.len() + 4 != SHORTEST {
        return Err(refused("header length", fields.len() + 4));
    }
    check_reserved(fields[28..32].iter().chain(&fields[35..36]).chain(&fields[76..]))?;
    let plan = rate::Plan::from_fields(
        filter,
        u64::from_le_bytes(take(fields, 48)),
        f64::from_le_bytes(take(fields, 56)),
        u64::from_le_bytes(take(fields, 64)),
        u32::from_le_bytes(take(fields, 36)),
        u32::from_le_bytes(take(fields, 72)),
    )?;
    let plan = match fields[34] {
        0 => plan,
        COUNTED => plan.counted(),
        other => return Err(refused("origin of the number of items", other)),
    };
    let kinds = Kinds(fields[33]);
    if kinds.0 & !Kinds::ALL != 0 {
        return Err(refused("kinds of keys", kinds.0));
    }
    let hash = HashFamily::from_fields(fields[32], u64::from_le_bytes(take(fields, 40)), key)?;
    Ok(Header::Rate { plan, hash, kinds })
}

/// What both kinds of published filters begin with: the public capacity, the loss and the hash.
fn parse_published(
    fields: &[u8],
    key: Option<&SecretKey>,
) -> Result<(u64, Epsilon, HashFamily), Error> {
    if fields.len() + 4 != SHORTEST {
        return Err(refused("header length", fields.len() + 4));
    }
    let billionths = u64::from_le_bytes(take(fields, 56));
    let epsilon = Epsilon::from_billionths(billionths)
        .filter(|epsilon| *epsilon != Epsilon::ZERO)
        .ok_or_else(|| refused("epsilon", billionths))?;
    let hash = HashFamily::from_fields(fields[32], u64::from_le_bytes(take(fields, 40)), key)?;
    Ok((u64::from_le_bytes(take(fields, 48)), epsilon, hash))
}

fn parse_public_bloom(fields: &[u8], key: Option<&SecretKey>) -> Result<Header, Error> {
    let (items, epsilon, hash) = parse_published(fields, key)?;
    check_reserved(fields[28..32].iter().chain(&fields[33..36]).chain(&fields[76..]))?;
    let (bits, hashes) =
        (u64::from_le_bytes(take(fields, 64)), u32::from_le_bytes(take(fields, 36)));
    let threshold = u32::from_le_bytes(take(fields, 72));
    let plan = UltraPlan::from_fields(items, bits, hashes, epsilon, threshold)?;
    Ok(Header::PublicBloom { plan, hash })
}

fn parse_linear(fields: &[u8], key: Option<&SecretKey>) -> Result<Header, Error> {
    let (items, epsilon, hash) = parse_published(fields, key)?;
    check_reserved(fields[28..32].iter().chain(&fields[33..36]).chain(&fields[80..]))?;
    let (columns, shards) =
        (u64::from_le_bytes(take(fields, 64)), u64::from_le_bytes(take(fields, 72)));
    let q = u32::from_le_bytes(take(fields, 36));
    Ok(Header::Linear { plan: LinearPlan::from_fields(items, epsilon, q, columns, shards)?, hash })
}

fn parse_zone(
    counting: bool,
    fields: &[u8],
    body: u64,
    dictionary: Option<&Universe>,
) -> Result<Header, Error> {
    let blocks = u32::from_le_bytes(take(fields, 36));
    let listed = if fields[32] == 2 { blocks as usize } else { 0 };
    if listed > MOST_MODULI {
        return Err(refused("number of blocks", blocks));
    }
    if fields.len() + 4 != zone_header(listed) {
        return Err(refused("header length", fields.len() + 4));
    }
    let spare = fields[28..32]
        .iter()
        .chain(&fields[35..36])
        .chain(&fields[92..96])
        .chain(&fields[MODULI + 4 * listed..]);
    check_reserved(spare)?;
    let (order, degree) =
        (u32::from_le_bytes(take(fields, 84)), u32::from_le_bytes(take(fields, 88)));
    let scheme = match fields[32] {
        1 if blocks as usize > MOST_MODULI => return Err(refused("number of blocks", blocks)),
        1 => Scheme::Egh { blocks },
        2 => {
            let modulus = |i: usize| u64::from(u32::from_le_bytes(take(fields, MODULI + 4 * i)));
            Scheme::Coprime { moduli: (0..listed).map(modulus).collect() }
        }
        3 => Scheme::Rs(Choice { order, degree, blocks }),
        other => return Err(refused("code", other)),
    };
    if fields[32] != 3 && (order, degree) != (0, 0) {
        return Err(refused("field order", order));
    }
    // Proofs take their time: what is not of the right size is not worth one.
    let width = u32::from_le_bytes(take(fields, 80));
    let bits = scheme.cells().and_then(|cells| cells.checked_mul(u64::from(width)));
    if bits.is_none_or(|bits| bits.div_ceil(8) != body) {
        return Err(refused("body length", body));
    }
    let universe = parse_universe(fields, dictionary)?;
    let items = u64::from_le_bytes(take(fields, 64));
    let plan = zone::Plan::from_parts(universe, items, scheme, counting)?;
    if width != plan.counter_bits() {
        return Err(refused("counter width", width));
    }
    if fields[34] > 3 {
        return Err(refused("state", fields[34]));
    }
    let state = State { beyond: fields[34] & 1 != 0, len_is_bound: fields[34] & 2 != 0 };
    if counting && state.len_is_bound && !state.beyond {
        return Err(refused("state", fields[34])); // counters that could not be listed are beyond
    }
    let len = u64::from_le_bytes(take(fields, 72));
    if !state.beyond && len > items {
        return Err(refused("number of items held", len));
    }
    Ok(Header::Zone { plan, len, state })
}

fn parse_universe(fields: &[u8], dictionary: Option<&Universe>) -> Result<Universe, Error> {
    let (first, last) =
        (u64::from_le_bytes(take(fields, 40)), u64::from_le_bytes(take(fields, 48)));
    let fingerprint = u64::from_le_bytes(take(fields, 56));
    if fields[33] != 3 && fingerprint != 0 {
        return Err(refused("dictionary fingerprint", fingerprint));
    }
    match fields[33] {
        1 => Universe::interval(first, last).map_err(|_| refused("last element", last)),
        2 if (first, last) == (0, u64::from(u32::MAX)) => Ok(Universe::ipv4()),
        2 => Err(refused("last element", last)),
        3 => {
            let given =
                dictionary.ok_or(Error::DictionaryNeeded { keys: last.saturating_add(1) })?;
            let same = given.fingerprint() == Some(fingerprint)
                && (given.first(), given.last()) == (first, last);
            if same { Ok(given.clone()) } else { Err(Error::WrongDictionary) }
        }
        other => Err(refused("names", other)),
    }
}

fn zone_header(listed: usize) -> usize {
    (MODULI + 4 * listed + 4).next_multiple_of(LINE).max(SHORTEST)
}

/// The prologue of a header of `length` bytes, the rest zero.
fn begin(kind: u16, length: usize, body: &[u8]) -> Vec<u8> {
    let mut bytes = vec![0; length];
    put(&mut bytes, 0, &MAGIC);
    put(&mut bytes, 8, &VERSION.to_le_bytes());
    put(&mut bytes, 10, &kind.to_le_bytes());
    put(&mut bytes, 12, &(length as u32).to_le_bytes());
    put(&mut bytes, 16, &(body.len() as u64).to_le_bytes());
    put(&mut bytes, 24, &checksum::of(body).to_le_bytes());
    bytes
}

/// Puts the checksum at the end of a header.
fn finish(mut bytes: Vec<u8>) -> Vec<u8> {
    let end = bytes.len() - 4;
    let checksum = crc32c::crc32c(&bytes[..end]);
    put(&mut bytes, end, &checksum.to_le_bytes());
    bytes
}

/// The header of a rate filter.
pub(super) fn of_rate(filter: &dyn RateFilter) -> Vec<u8> {
    let (plan, hash) = (filter.plan(), filter.hash());
    let kind = match plan.filter() {
        Kind::Bloom => 1,
        Kind::Blocked => 2,
        Kind::Counting => 3,
    };
    let mut bytes = begin(kind, SHORTEST, filter.body());
    let counted = if plan.is_counted() { COUNTED } else { 0 };
    put(&mut bytes, 32, &[hash.id(), filter.kinds().0, counted]);
    put(&mut bytes, 36, &plan.hashes().to_le_bytes());
    put(&mut bytes, 40, &hash.seed_field().to_le_bytes());
    put(&mut bytes, 48, &plan.items().to_le_bytes());
    put(&mut bytes, 56, &plan.fpr().to_le_bytes());
    put(&mut bytes, 64, &plan.cells().to_le_bytes());
    put(&mut bytes, 72, &plan.counter_bits().to_le_bytes());
    finish(bytes)
}

/// The header of a zone filter.
pub(super) fn of_zone<C: CellKind>(filter: &ZoneFilter<C>) -> Vec<u8> {
    let (plan, universe, state) = (filter.plan(), filter.plan().universe(), filter.state());
    let (code, listed, order, degree) = match plan.scheme() {
        Scheme::Egh { .. } => (1, &[][..], 0, 0),
        Scheme::Coprime { moduli } => (2, &moduli[..], 0, 0),
        Scheme::Rs(choice) => (3, &[][..], choice.order, choice.degree),
    };
    let mut bytes =
        begin(if C::COUNTING { 5 } else { 4 }, zone_header(listed.len()), filter.body());
    let flags = u8::from(state.beyond) | u8::from(state.len_is_bound) << 1;
    put(&mut bytes, 32, &[code, universe.names_id(), flags]);
    put(&mut bytes, 36, &(plan.probes() as u32).to_le_bytes());
    put(&mut bytes, 40, &universe.first().to_le_bytes());
    put(&mut bytes, 48, &universe.last().to_le_bytes());
    put(&mut bytes, 56, &universe.fingerprint().unwrap_or(0).to_le_bytes());
    put(&mut bytes, 64, &plan.items().to_le_bytes());
    put(&mut bytes, 72, &filter.len().to_le_bytes());
    put(&mut bytes, 80, &plan.counter_bits().to_le_bytes());
    put(&mut bytes, 84, &order.to_le_bytes());
    put(&mut bytes, 88, &degree.to_le_bytes());
    for (i, modulus) in listed.iter().enumerate() {
        put(&mut bytes, MODULI + 4 * i, &(*modulus as u32).to_le_bytes()); // moduli are below 2^32
    }
    finish(bytes)
}

/// What both kinds of published filters begin with; `number` is their own.
fn of_published(kind: u16, filter: &dyn Published, number: u32) -> Vec<u8> {
    let mut bytes = begin(kind, SHORTEST, filter.body());
    put(&mut bytes, 32, &[filter.hash().id()]);
    put(&mut bytes, 36, &number.to_le_bytes());
    put(&mut bytes, 40, &filter.hash().seed_field().to_le_bytes());
    put(&mut bytes, 48, &filter.items().to_le_bytes());
    put(&mut bytes, 56, &filter.epsilon().billionths().to_le_bytes());
    bytes
}

/// The header of a published Bloom filter.
pub(super) fn of_public_bloom(filter: &PublicBloom) -> Vec<u8> {
    let plan = filter.plan();
    let mut bytes = of_published(6, filter, plan.hashes());
    put(&mut bytes, 64, &plan.bits().to_le_bytes());
    put(&mut bytes, 72, &plan.threshold().to_le_bytes());
    finish(bytes)
}

/// The header of a linear filter.
pub(super) fn of_linear(filter: &LinearFilter) -> Vec<u8> {
    let plan = filter.plan();
    let mut bytes = of_published(7, filter, plan.q());
    put(&mut bytes, 64, &plan.columns().to_le_bytes());
    put(&mut bytes, 72, &plan.shards().to_le_bytes());
    finish(bytes)
}

fn put(bytes: &mut [u8], at: usize, value: &[u8]) {
    bytes[at..at + value.len()].copy_from_slice(value);
}

/// The `N` bytes at `at`.
fn take<const N: usize>(bytes: &[u8], at: usize) -> [u8; N] {
    let mut field = [0; N];
    field.copy_from_slice(&bytes[at..at + N]);
    field
}
