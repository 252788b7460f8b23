//! A filter that several machines build: each makes a part, and one joins them.

use super::header::{Draft, Fields, PROLOGUE, Prologue, SHORTEST, refused};
use super::{AnyFilter, Open, checksum, static_filter};
#[cfg(feature = "privacy")]
use super::{PublishedPlan, published};
use crate::error::{MAX_PARTS, PartFault};
#[cfg(feature = "privacy")]
use crate::privacy::{LinearFilter, LinearJoining, LinearPlan, LinearShard, Receipt};
use crate::rate::{Joining, Plan, Shard, StaticPlan};
use crate::store::{Store, check_memory, filled, memory, read_full};
use crate::{Digest, Error, HashFamily, Kinds};
use std::fmt;
use std::io::{Read, Write};
use std::ops::Range;
use std::str::FromStr;

/// The first bytes of a part. It is no filter, so they are not those of a filter.
pub const PART_MAGIC: [u8; 8] = *b"\x89TPART\r\n";
/// The version of parts that this release writes and reads. Parts of one filter are made by one
/// release: they are not kept.
const PART_VERSION: u16 = 1;

/// Which part of how many: `3/16` is the third of sixteen.
///
/// ```
/// use tamis::format::PartNumber;
/// let part: PartNumber = "3/16".parse()?;
/// assert_eq!((part.number(), part.of()), (3, 16));
/// assert_eq!(part.shards(954), 120..179);
/// assert!("0/16".parse::<PartNumber>().is_err() && "17/16".parse::<PartNumber>().is_err());
/// # Ok::<(), tamis::Error>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct PartNumber {
    number: u64,
    of: u64,
}

impl PartNumber {
    /// Part `number`, from 1, of `of` parts.
    pub fn new(number: u64, of: u64) -> Result<PartNumber, Error> {
        if number == 0 || number > of || of > MAX_PARTS {
            return Err(PartFault::Number { got: format!("{number}/{of}") }.into());
        }
        Ok(PartNumber { number, of })
    }

    /// Which one it is, from 1.
    #[must_use]
    pub fn number(self) -> u64 {
        self.number
    }

    /// How many parts there are.
    #[must_use]
    pub fn of(self) -> u64 {
        self.of
    }

    /// The shards that belong to this part, of a plan with so many. There may be none.
    #[must_use]
    pub fn shards(self, shards: u64) -> Range<u64> {
        let start = |part: u64| {
            (u128::from(part) * u128::from(shards)).div_ceil(u128::from(self.of)) as u64
        };
        start(self.number - 1)..start(self.number)
    }

    /// The part, of `of`, that a shard belongs to, of a plan with so many.
    pub fn with_shard(shard: u64, shards: u64, of: u64) -> Result<PartNumber, Error> {
        let index = u128::from(shard) * u128::from(of) / u128::from(shards.max(1));
        PartNumber::new(index as u64 + 1, of)
    }
}

impl FromStr for PartNumber {
    type Err = Error;

    fn from_str(text: &str) -> Result<PartNumber, Error> {
        let refused = || Error::from(PartFault::Number { got: format!("{text:?}") });
        let (number, of) = text.split_once('/').ok_or_else(refused)?;
        let digits = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
        match (number.parse(), of.parse()) {
            (Ok(number), Ok(of)) if digits(text.replace('/', "").as_str()) => {
                PartNumber::new(number, of)
            }
            _ => Err(refused()),
        }
    }
}

impl fmt::Display for PartNumber {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "{}/{}", self.number, self.of)
    }
}

/// What was read to make a part of a static filter, whatever the part kept of it. Parts that were
/// made from other keys do not belong together, and this tells them apart: the number of keys,
/// and the sum of their digests, which does not depend on their order.
///
/// The empty one says nothing. It goes with digests that somebody has sorted by part already.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct KeysRead {
    keys: u64,
    sum: u128,
}

impl KeysRead {
    /// Counts a key.
    #[inline]
    pub fn add(&mut self, digest: Digest) {
        self.keys = self.keys.wrapping_add(1);
        self.sum = self.sum.wrapping_add(u128::from(digest));
    }

    /// How many keys were read.
    #[must_use]
    pub fn keys(&self) -> u64 {
        self.keys
    }
}

/// A part of a filter that several machines build. [`Join`] makes the filter of all parts.
///
/// | filter | a part holds | made from |
/// |---|---|---|
/// | static, linear | some of the shards of the plan | all digests of these shards |
/// | bloom, blocked, split, counting, quotient | a filter of the whole plan | any of the keys |
///
/// The joined filter has the bytes of the file that one machine would write. (A linear filter is
/// drawn: with the same coins.)
///
/// ```
/// use tamis::{AnyFilter, Digest, HashFamily, Kinds, Open, StaticFilter};
/// use tamis::format::{Join, KeysRead, Part, PartNumber};
/// use tamis::rate::StaticPlan;
/// let (plan, hash) = (StaticPlan::new(3_000_000, 0.01)?, HashFamily::default());
/// let mut join = Join::new(Open::new());
/// for number in 1..=2 {
///     // On a machine each.
///     let number = PartNumber::new(number, 2)?;
///     let (own, mut read) = (number.shards(plan.shards()), KeysRead::default());
///     let digests = (0..3_000_000u64).filter_map(|key| hash.digest(key));
///     let digests = digests.inspect(|digest| read.add(*digest));
///     let digests: Vec<Digest> = digests.filter(|it| own.contains(&plan.shard_of(*it))).collect();
///     let part = Part::build_static(&plan, &hash, Kinds::INTEGERS, number, read, digests)?;
///     join.reader(&part.to_bytes()[..])?;
/// }
/// let local = StaticFilter::build(0..3_000_000u64, 0.01)?;
/// assert!(join.finish()? == AnyFilter::from(local));
/// # Ok::<(), tamis::Error>(())
/// ```
#[derive(Clone, PartialEq, Eq)]
pub struct Part {
    number: PartNumber,
    kind: u16,
    read: KeysRead,
    /// A filter's file; or the header of a file, and then shards.
    body: Vec<u8>,
}

impl Part {
    /// A part of a filter that is merged by union: the keys that one machine has. The plan is that
    /// of the whole.
    pub fn of_filter(filter: &AnyFilter, number: PartNumber) -> Result<Part, Error> {
        if filter.plan().rate().is_none() {
            return Err(Error::Unsupported {
                kind: filter.kind(),
                operation: "be a part",
                remedy: "take a bloom, blocked, split, counting or quotient filter; static and \
                         linear ones have parts of their own",
            });
        }
        let body = filter.to_bytes();
        let kind = u16::from_le_bytes([body[10], body[11]]);
        Ok(Part { number, kind, read: KeysRead::default(), body })
    }

    /// A part of a static filter, of the shards that belong to it, in any order: all of them,
    /// each once.
    pub fn of_shards(
        plan: &StaticPlan,
        hash: &HashFamily,
        kinds: Kinds,
        number: PartNumber,
        read: KeysRead,
        shards: impl IntoIterator<Item = Result<Shard, Error>>,
    ) -> Result<Part, Error> {
        hash.need_digest("a static filter")?;
        let mut body = static_filter::header(plan, hash, kinds, [0; 2], &[]);
        let own = number.shards(plan.shards());
        let mut seen = Seen::new(own.end - own.start)?;
        for shard in shards {
            let shard = shard?;
            if !own.contains(&shard.index()) {
                return Err(PartFault::Outside { number: number.number }.into());
            }
            seen.shard(shard.index() - own.start)?;
            shard.put(&mut body)?;
        }
        seen.all_shards()?;
        Ok(Part { number, kind: static_filter::ID, read, body })
    }

    /// A part of a static filter out of the digests of its keys, in any order and as often as
    /// they come. The bytes depend on the set alone.
    pub fn build_static(
        plan: &StaticPlan,
        hash: &HashFamily,
        kinds: Kinds,
        number: PartNumber,
        read: KeysRead,
        digests: Vec<Digest>,
    ) -> Result<Part, Error> {
        let own = number.shards(plan.shards());
        let sorted = by_shard(digests, number, &own, |digest| plan.shard_of(digest))?;
        let shards = own.map(|index| {
            plan.build_shard(index, of_shard(&sorted, index, |digest| plan.shard_of(digest))?)
        });
        Part::of_shards(plan, hash, kinds, number, read, shards)
    }

    /// A part of a linear filter, drawn with fresh coins out of the digests of its keys, in any
    /// order and as often as they come.
    ///
    /// A part is a draw, and a second draw costs again if both get out: keep parts to yourself,
    /// join them, and charge for what the join gives.
    #[cfg(feature = "privacy")]
    pub fn draw_linear(
        plan: &LinearPlan,
        hash: &HashFamily,
        number: PartNumber,
        digests: Vec<Digest>,
    ) -> Result<Part, Error> {
        hash.need_digest("a linear filter")?;
        let own = number.shards(plan.shards());
        let sorted = by_shard(digests, number, &own, |digest| plan.shard_of(digest))?;
        let mut body = published::header(plan, (plan.items(), plan.epsilon()), hash, &[]);
        for index in own {
            let digests = of_shard(&sorted, index, |digest| plan.shard_of(digest))?;
            let shard: LinearShard = plan.draw_shard(index, digests)?;
            let planes = shard.planes();
            body.try_reserve(planes.len()).map_err(|_| memory(planes.len() as u64))?;
            body.extend_from_slice(planes);
        }
        // Nothing of what was read: that would tell of the set, if a part gets out.
        Ok(Part { number, kind: LinearPlan::ID, read: KeysRead::default(), body })
    }

    /// Which part it is.
    #[must_use]
    pub fn number(&self) -> PartNumber {
        self.number
    }

    /// The bytes of the part.
    #[must_use]
    pub fn to_bytes(&self) -> Vec<u8> {
        [&self.header()[..], &self.body].concat()
    }

    /// Writes the part to a stream.
    pub fn write_to(&self, out: impl Write) -> Result<(), Error> {
        Ok(super::file::write_parts(out, &self.header(), &[&self.body])?)
    }

    fn header(&self) -> Vec<u8> {
        let mut draft = Draft::new(self.kind, SHORTEST, &self.body);
        draft.put(0, &PART_MAGIC);
        draft.put(8, &PART_VERSION.to_le_bytes());
        draft.put(32, &self.number.number.to_le_bytes());
        draft.put(40, &self.number.of.to_le_bytes());
        draft.put(48, &self.read.keys.to_le_bytes());
        draft.put(56, &self.read.sum.to_le_bytes());
        draft.finish()
    }
}

impl fmt::Debug for Part {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (number, bytes) = (self.number.to_string(), self.body.len());
        out.debug_struct("Part").field("number", &number).field("bytes", &bytes).finish()
    }
}

/// Digests in the order of their shards. Shards rise with the high bits of a digest.
fn by_shard(
    mut digests: Vec<Digest>,
    number: PartNumber,
    own: &Range<u64>,
    shard_of: impl Fn(Digest) -> u64,
) -> Result<Vec<Digest>, Error> {
    if digests.iter().any(|digest| !own.contains(&shard_of(*digest))) {
        return Err(PartFault::Outside { number: number.number }.into());
    }
    digests.sort_unstable_by_key(|digest| digest.h1);
    Ok(digests)
}

/// The digests of one shard.
fn of_shard(
    sorted: &[Digest],
    index: u64,
    shard_of: impl Fn(Digest) -> u64,
) -> Result<Vec<Digest>, Error> {
    let start = sorted.partition_point(|digest| shard_of(*digest) < index);
    let count = sorted[start..].partition_point(|digest| shard_of(*digest) == index);
    let mut own = Vec::new();
    own.try_reserve_exact(count).map_err(|_| memory(16 * count as u64))?;
    own.extend_from_slice(&sorted[start..start + count]);
    Ok(own)
}

/// Which of some things have been there.
struct Seen(Vec<bool>);

impl Seen {
    fn new(count: u64) -> Result<Seen, Error> {
        Ok(Seen(filled(false, usize::try_from(count).unwrap_or(usize::MAX))?))
    }

    /// Notes one; says whether it was there before.
    fn note(&mut self, index: u64) -> bool {
        std::mem::replace(&mut self.0[index as usize], true)
    }

    fn first_missing(&self) -> Option<u64> {
        self.0.iter().position(|seen| !seen).map(|index| index as u64)
    }

    fn shard(&mut self, index: u64) -> Result<(), Error> {
        if self.note(index) {
            return Err(refused("shard that comes twice", index));
        }
        Ok(())
    }

    fn all_shards(&self) -> Result<(), Error> {
        self.first_missing().map_or(Ok(()), |index| Err(refused("missing shard", index)))
    }
}

/// Makes a filter of its parts, one at a time and in any order. It takes the memory of the filter
/// and of one part.
///
/// See [`Part`]. A release is paid for here, once for all its parts.
pub struct Join {
    open: Open,
    started: Option<Started>,
}

/// What the first part tells of the others, and what has been joined.
struct Started {
    of: u64,
    kind: u16,
    read: KeysRead,
    seen: Seen,
    joined: Joined,
}

enum Joined {
    Union(Option<Box<AnyFilter>>),
    Static {
        joining: Box<Joining>,
        hash: HashFamily,
        kinds: Kinds,
    },
    #[cfg(feature = "privacy")]
    Linear {
        joining: Box<LinearJoining>,
        hash: HashFamily,
    },
}

impl Join {
    /// Nothing yet. Parts are read as `open` says: with its key, and within its memory.
    #[must_use]
    pub fn new(open: Open) -> Join {
        Join { open, started: None }
    }

    /// Takes a part from a stream that ends with it. A part that is refused may have been joined
    /// in part: begin again then.
    pub fn reader(&mut self, mut input: impl Read) -> Result<PartNumber, Error> {
        let mut bytes = [0; SHORTEST];
        let present = read_full(&mut input, &mut bytes)?;
        if present < 8 || bytes[..8] != PART_MAGIC {
            return Err(PartFault::NotPart.into());
        }
        let header = Header::parse(&bytes, present)?;
        if let Some(most) = self.open.memory_cap() {
            check_memory(header.body, most)?;
        }
        let body = match Store::read(&mut input, header.body) {
            Err(Error::Length { got, .. }) => return Err(header.length(got)),
            other => other?,
        };
        if read_full(&mut input, &mut [0])? != 0 {
            return Err(header.length(header.body.saturating_add(1)));
        }
        if checksum::of(body.bytes()) != header.checksum {
            return Err(Error::Checksum { part: "part" });
        }
        self.add(&header, body.bytes())?;
        Ok(header.number)
    }

    fn add(&mut self, header: &Header, body: &[u8]) -> Result<(), Error> {
        let PartNumber { number, of } = header.number;
        let started = match &mut self.started {
            Some(started) => started,
            none => none.insert(Started {
                of,
                kind: header.kind,
                read: header.read,
                seen: Seen::new(of)?,
                joined: Joined::new(header, body, &self.open)?,
            }),
        };
        let foreign = |field, left: String, right: String| {
            Err(PartFault::Foreign { number, field, left, right }.into())
        };
        if of != started.of {
            return foreign("number of parts", started.of.to_string(), of.to_string());
        }
        if header.kind != started.kind {
            return foreign("kind of filter", started.kind.to_string(), header.kind.to_string());
        }
        if header.read != started.read {
            let (left, right) = (started.read.keys, header.read.keys);
            return Err(PartFault::OtherKeys { number, left, right }.into());
        }
        if started.seen.note(number - 1) {
            return Err(PartFault::Again { number, of }.into());
        }
        started.joined.add(header, body, &self.open)
    }

    /// Says which parts are missing, if any is.
    pub fn check_complete(&self) -> Result<(), Error> {
        let Some(started) = &self.started else { return Err(PartFault::Nothing.into()) };
        if let Some(first) = started.seen.first_missing() {
            let count = started.seen.0.iter().filter(|seen| !**seen).count() as u64;
            return Err(PartFault::Missing { first: first + 1, count, of: started.of }.into());
        }
        Ok(())
    }

    /// The filter, once all parts are there. A release needs a receipt: see
    /// [`publish`](Join::publish).
    pub fn finish(self) -> Result<AnyFilter, Error> {
        self.check_complete()?;
        let joined = self.started.map(|started| started.joined);
        match joined {
            Some(Joined::Union(Some(filter))) => Ok(*filter),
            Some(Joined::Static { joining, hash, kinds }) => {
                Ok(joining.finish(hash, kinds)?.into())
            }
            #[cfg(feature = "privacy")]
            Some(Joined::Linear { .. }) => Err(Error::Unsupported {
                kind: "linear",
                operation: "be joined without a receipt",
                remedy: "charge its epsilon, and publish it with the receipt",
            }),
            Some(Joined::Union(None)) | None => Err(PartFault::Nothing.into()),
        }
    }

    /// The plan of the release that the parts make, if it is one.
    #[cfg(feature = "privacy")]
    #[must_use]
    pub fn linear_plan(&self) -> Option<&LinearPlan> {
        match self.started.as_ref().map(|started| &started.joined) {
            Some(Joined::Linear { joining, .. }) => Some(joining.plan()),
            _ => None,
        }
    }

    /// The release, once all parts are there. The receipt must pay the plan's epsilon: once, for
    /// all parts.
    #[cfg(feature = "privacy")]
    pub fn publish(self, receipt: Receipt) -> Result<LinearFilter, Error> {
        self.check_complete()?;
        match self.started.map(|started| started.joined) {
            Some(Joined::Linear { joining, hash }) => joining.finish(hash, receipt),
            _ => Err(Error::Kind { planned: "rate", wanted: "linear" }),
        }
    }
}

impl fmt::Debug for Join {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let of = self.started.as_ref().map(|started| started.of);
        out.debug_struct("Join").field("of", &of).finish_non_exhaustive()
    }
}

impl Joined {
    /// An empty filter of the plan that the first part states.
    fn new(header: &Header, body: &[u8], open: &Open) -> Result<Joined, Error> {
        let check = |bytes: u64| open.memory_cap().map_or(Ok(()), |most| check_memory(bytes, most));
        match header.kind {
            static_filter::ID => {
                let (plan, hash, kinds) = static_plan(body, open)?;
                check(plan.bytes())?;
                let joining = Box::new(Joining::new(plan)?);
                Ok(Joined::Static { joining, hash, kinds })
            }
            #[cfg(feature = "privacy")]
            LinearPlan::ID => {
                let (plan, hash) = linear_plan(body, open)?;
                check(plan.bytes())?;
                Ok(Joined::Linear { joining: Box::new(LinearJoining::new(plan)?), hash })
            }
            _ => Ok(Joined::Union(None)),
        }
    }

    /// Takes a part in.
    fn add(&mut self, header: &Header, body: &[u8], open: &Open) -> Result<(), Error> {
        let number = header.number.number;
        let foreign = |field, left: String, right: String| {
            Error::from(PartFault::Foreign { number, field, left, right })
        };
        match self {
            Joined::Union(joined) => {
                let part = union_part(header.kind, body, open)?;
                let Some(filter) = joined else {
                    *joined = Some(Box::new(part));
                    return Ok(());
                };
                if let (Some(first), Some(plan)) = (filter.plan().rate(), part.plan().rate())
                    && first != plan
                {
                    let words = |plan: &Plan| {
                        format!("for {} items at a rate of {:?}", plan.items(), plan.fpr())
                    };
                    return Err(foreign("plan", words(first), words(plan)));
                }
                filter.union(&part).map_err(|error| match error {
                    Error::Mismatch { field, left, right } => foreign(field, left, right),
                    other => other,
                })
            }
            Joined::Static { joining, hash, kinds } => {
                let (plan, other_hash, other_kinds) = static_plan(body, open)?;
                let first = *joining.plan();
                if plan != first {
                    let words = |plan: StaticPlan| {
                        format!("for {} items at a rate of {:?}", plan.items(), plan.fpr())
                    };
                    return Err(foreign("plan", words(first), words(plan)));
                }
                check_hash(hash, &other_hash).map_err(|(l, r)| foreign("hash", l, r))?;
                *kinds = *kinds | other_kinds;
                let own = header.number.shards(plan.shards());
                let mut rest = &body[SHORTEST..];
                let mut seen = Seen::new(own.end - own.start)?;
                while !rest.is_empty() {
                    let shard = plan.take_shard(&mut rest)?;
                    if !own.contains(&shard.index()) {
                        return Err(refused("shard", shard.index()));
                    }
                    seen.shard(shard.index() - own.start)?;
                    joining.add(&shard).map_err(|error| match error {
                        Error::Mismatch { field: "items", right, .. } => PartFault::TooManyItems {
                            items: right.parse().unwrap_or(u64::MAX),
                            planned: plan.items(),
                        }
                        .into(),
                        other => other,
                    })?;
                }
                seen.all_shards()
            }
            #[cfg(feature = "privacy")]
            Joined::Linear { joining, hash } => {
                let (plan, other_hash) = linear_plan(body, open)?;
                let first = *joining.plan();
                if plan != first {
                    let words = |plan: LinearPlan| {
                        format!("for {} items at an epsilon of {}", plan.items(), plan.epsilon())
                    };
                    return Err(foreign("plan", words(first), words(plan)));
                }
                check_hash(hash, &other_hash).map_err(|(l, r)| foreign("hash", l, r))?;
                let own = header.number.shards(plan.shards());
                let bytes = (plan.bytes() / plan.shards()) as usize;
                let rest = &body[SHORTEST..];
                if rest.len() as u64 != (own.end - own.start) * bytes as u64 {
                    return Err(refused("length of the shards", rest.len()));
                }
                own.zip(rest.chunks_exact(bytes.max(1)))
                    .try_for_each(|(index, planes)| joining.add(&plan.shard_from(index, planes)?))
            }
        }
    }
}

/// Two hashes in words, if they differ.
fn check_hash(first: &HashFamily, other: &HashFamily) -> Result<(), (String, String)> {
    let words = |hash: &HashFamily| match hash.seed() {
        Some(seed) => format!("{} with seed {seed}", hash.name()),
        None => hash.name().to_owned(),
    };
    if first == other { Ok(()) } else { Err((words(first), words(other))) }
}

/// The filter of a part that is merged by union.
fn union_part(kind: u16, body: &[u8], open: &Open) -> Result<AnyFilter, Error> {
    if body.get(10..12) != Some(&kind.to_le_bytes()[..]) {
        return Err(refused("kind of a part", kind));
    }
    let filter = open.bytes(body)?;
    if filter.plan().rate().is_none() {
        return Err(refused("kind of a part", kind));
    }
    Ok(filter)
}

/// The plan that a part of a static filter states.
fn static_plan(body: &[u8], open: &Open) -> Result<(StaticPlan, HashFamily, Kinds), Error> {
    with_fields(body, static_filter::ID, open, |fields| {
        let (plan, hash, kinds, _) = static_filter::parse_fields(fields)?;
        Ok((plan, hash, kinds))
    })
}

/// The plan that a part of a linear filter states.
#[cfg(feature = "privacy")]
fn linear_plan(body: &[u8], open: &Open) -> Result<(LinearPlan, HashFamily), Error> {
    with_fields(body, LinearPlan::ID, open, published::parse_fields::<LinearPlan>)
}

/// Reads the header of the filter to be, which has no body yet.
fn with_fields<T>(
    body: &[u8],
    kind: u16,
    open: &Open,
    read: impl FnOnce(&Fields<'_>) -> Result<T, Error>,
) -> Result<T, Error> {
    let Some(header) = body.first_chunk::<SHORTEST>() else {
        return Err(Error::Length { expected: SHORTEST as u64, got: body.len() as u64 });
    };
    let mut first = [0; PROLOGUE];
    first.copy_from_slice(&header[..PROLOGUE]);
    let prologue = Prologue::parse(&first, PROLOGUE)?;
    if prologue.kind != kind {
        return Err(refused("kind of a part", prologue.kind));
    }
    if prologue.body != 0 || prologue.body_checksum != 0 {
        return Err(refused("body length", prologue.body));
    }
    open.with_fields(header, prologue.body, read)
}

/// What the first bytes of a part say.
struct Header {
    number: PartNumber,
    kind: u16,
    read: KeysRead,
    body: u64,
    checksum: u32,
}

impl Header {
    fn parse(bytes: &[u8; SHORTEST], present: usize) -> Result<Header, Error> {
        let word = |at: usize| {
            let mut word = [0; 8];
            word.copy_from_slice(&bytes[at..at + 8]);
            u64::from_le_bytes(word)
        };
        if present < SHORTEST {
            return Err(Error::Length { expected: SHORTEST as u64, got: present as u64 });
        }
        let (before, checksum) = bytes.split_at(SHORTEST - 4);
        if crc32c::crc32c(before).to_le_bytes() != *checksum {
            return Err(Error::Checksum { part: "header of the part" });
        }
        let version = word(8) as u16;
        if version > PART_VERSION {
            return Err(Error::TooNew { version, newest: PART_VERSION });
        }
        if version == 0 {
            return Err(refused("version", 0));
        }
        let header = (word(8) >> 32) as u32;
        if header as usize != SHORTEST {
            return Err(refused("header length", header));
        }
        if word(24) >> 32 != 0 || before[72..].iter().any(|byte| *byte != 0) {
            return Err(Error::NotZero { part: "reserved space" });
        }
        Ok(Header {
            number: PartNumber::new(word(32), word(40))?,
            kind: (word(8) >> 16) as u16,
            read: KeysRead {
                keys: word(48),
                sum: u128::from(word(64)) << 64 | u128::from(word(56)),
            },
            body: word(16),
            checksum: word(24) as u32,
        })
    }

    /// The file is of another length than promised: it has so many bytes of its body.
    fn length(&self, got: u64) -> Error {
        let whole = |body: u64| body.saturating_add(SHORTEST as u64);
        Error::Length { expected: whole(self.body), got: whole(got) }
    }
}
