//! RedisBloom: a chain of filters, as `BF.SCANDUMP` gives it piece by piece, as `DUMP` gives it
//! whole, or as an append-only file restores it. A chain that scales grows by a filter when the
//! last is full.
//!
//! | file | what it is |
//! |---|---|
//! | `chunks` | the pieces of `BF.SCANDUMP`, one behind the other: a header, then the bits |
//! | `dump` | what `DUMP` gives and `RESTORE` takes |
//! | `resp` | the commands `BF.LOADCHUNK` of an append-only file, for `redis-cli --pipe` |

mod chunks;
mod dump;
mod lzf;
mod resp;

use crate::array::{Array, Scheme, mismatch};
use crate::cursor::Cursor;
use crate::filter::{Operations, each_batch};
use crate::hash::{MURMUR64A, murmur64a};
use crate::plan::positive;
use crate::valkey_bloom::merged_count;
use crate::{Error, Format, MAX_PARTS, Part, Planned};
use std::any::Any;

/// The options of a chain. `BITS`, that entries are bits, has no meaning once a filter is made.
const NO_ROUND: u32 = 1;
const BITS: u32 = 2;
const FORCE_64: u32 = 4;
const NO_SCALING: u32 = 8;

/// Its own constants, to the last digit: sizes depend on it.
#[allow(clippy::approx_constant)]
const LN2: f64 = 0.693_147_180_559_945;
const LN2_SQUARED: f64 = 0.480_453_013_918_201;

/// Each filter of a chain has so much of the rate of the one before.
const TIGHTENING: f64 = 0.5;

/// The file that a chain stands in.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Container {
    Chunks,
    Dump { rdb_version: u16 },
    Resp { key: Vec<u8> },
}

/// The releases that write different headers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Release {
    /// 2.0: no growth, sizes are powers of two.
    V2_0,
    /// 2.2.0: a growth, counts of 32 bits.
    V2_2_0,
    /// 2.2.4 and later.
    Current,
}

#[derive(Debug, Clone)]
struct Link {
    array: Array,
    size: u64,
    error: f64,
    bits_per_entry: f64,
    entries: u64,
    /// The number of bits as a power of two; 0 if it is none.
    log2_bits: u8,
    /// The field `bits` of the header, which may be 0 where the size is a power of two.
    stored_bits: u64,
}

#[derive(Debug, Clone)]
pub(crate) struct RedisBloom {
    container: Container,
    release: Release,
    options: u32,
    growth: u32,
    links: Vec<Link>,
}

/// Two hashes of a key, and their sums.
struct Murmur;

impl Scheme for Murmur {
    type Hash = (u64, u64);

    fn hash(&self, key: &[u8]) -> (u64, u64) {
        let a = murmur64a(key, MURMUR64A);
        (a, murmur64a(key, a))
    }

    #[inline]
    fn positions(&self, (a, b): (u64, u64), bits: u64) -> impl Iterator<Item = u64> {
        (0u64..).map(move |i| a.wrapping_add(i.wrapping_mul(b)) % bits)
    }
}

/// Bits for each entry, and hashes.
fn per_entry(error: f64) -> (f64, u32) {
    let bits = -error.ln() / LN2_SQUARED;
    (bits, (LN2 * bits).ceil() as u32)
}

/// The bits and hashes that a server gives to a first filter.
pub(crate) fn sizes(entries: u64, fpr: f64, scaling: bool) -> (u64, u32) {
    let (bits_per_entry, hashes) = per_entry(if scaling { fpr * TIGHTENING } else { fpr });
    (rounded_bits(entries, bits_per_entry), hashes)
}

fn rounded_bits(entries: u64, bits_per_entry: f64) -> u64 {
    ((entries as f64 * bits_per_entry) as u64).max(1).checked_next_multiple_of(64).unwrap_or(0)
}

impl Link {
    /// An empty filter: of whole words, or of a power of two of bits, as release 2.0 has it.
    fn new(release: Release, options: u32, entries: u64, error: f64) -> Result<Link, Error> {
        let (bits_per_entry, hashes) = per_entry(error);
        let refused = || Error::Plan {
            format: Format::RedisBloom,
            why: format!("{entries} keys at a rate of {error} do not fit"),
        };
        if !positive(error) || !(1..=crate::MAX_HASHES).contains(&hashes) {
            return Err(refused());
        }
        let in_words = options & NO_ROUND != 0;
        let bits = if in_words {
            rounded_bits(entries, bits_per_entry)
        } else {
            let raw = ((entries as f64 * bits_per_entry) as u64).max(8);
            raw.checked_next_power_of_two().unwrap_or(0)
        };
        if bits == 0 || bits > crate::MAX_BITS {
            return Err(refused());
        }
        Ok(Link {
            array: Array::zeroed(bits, 1, hashes)?,
            size: 0,
            error,
            bits_per_entry,
            // A power of two takes as many keys as fill it.
            entries: if in_words { entries } else { (bits as f64 / bits_per_entry) as u64 },
            log2_bits: if in_words { 0 } else { bits.trailing_zeros() as u8 },
            stored_bits: if release == Release::V2_0 { 0 } else { bits },
        })
    }
}

/// What a header or a dump says of a filter, before its bits.
struct LinkFields {
    bytes: u64,
    bits: u64,
    size: u64,
    error: f64,
    bits_per_entry: f64,
    hashes: u64,
    entries: u64,
    log2_bits: u64,
}

impl LinkFields {
    /// The filter with its bits, if the fields fit each other: what a server demands as well.
    fn link(self, cursor: &Cursor<'_>, release: Release, stored: &[u8]) -> Result<Link, Error> {
        let hashes = cursor.hashes(self.hashes)?;
        let error = cursor.rate(self.error)?;
        let per_entry = self.bits_per_entry;
        if !(per_entry > 0.0 && per_entry < 1e4) || (LN2 * per_entry).ceil() != f64::from(hashes) {
            return Err(cursor.damaged(format!(
                "{hashes} hashes do not go with {per_entry} bits for each entry"
            )));
        }
        if self.entries == 0 {
            return Err(cursor.damaged("a filter is made for 0 keys"));
        }
        let room = self.bytes.saturating_mul(8);
        let bits = match self.log2_bits {
            0 => self.bits,
            log2 @ 1..=63 => 1 << log2,
            _ => 0,
        };
        let fits = match release {
            Release::Current => bits == room,
            Release::V2_0 | Release::V2_2_0 => bits <= room && room - bits < 64,
        };
        if bits == 0 || !fits || stored.len() as u64 != self.bytes {
            return Err(cursor.damaged(format!("{bits} bits in {} bytes", self.bytes)));
        }
        Ok(Link {
            array: Array::copied(stored, bits, hashes)?,
            size: self.size,
            error,
            bits_per_entry: per_entry,
            entries: self.entries,
            log2_bits: self.log2_bits as u8,
            stored_bits: self.bits,
        })
    }
}

impl RedisBloom {
    pub(crate) fn new(
        container: Container,
        entries: u64,
        fpr: f64,
        growth: Option<u32>,
    ) -> Result<RedisBloom, Error> {
        let (options, error) = match growth {
            Some(_) => (NO_ROUND | FORCE_64, fpr * TIGHTENING),
            None => (NO_ROUND | FORCE_64 | NO_SCALING, fpr),
        };
        let release = Release::Current;
        let links = vec![Link::new(release, options, entries, error)?];
        Ok(RedisBloom { container, release, options, growth: growth.unwrap_or(2), links })
    }

    /// The chain, if what was read fits together.
    fn checked(self, cursor: &Cursor<'_>, size: u64) -> Result<RedisBloom, Error> {
        let known = NO_ROUND | BITS | FORCE_64 | NO_SCALING;
        if self.options & !known != 0 {
            return Err(cursor.damaged(format!("its options are {:#x}", self.options)));
        }
        if self.options & FORCE_64 == 0 {
            return Err(cursor.damaged(
                "its hash is the old one of 32 bits, which is not read here; load it into a \
                 server and build it again",
            ));
        }
        let sum = self.links.iter().fold(0u64, |sum, link| sum.saturating_add(link.size));
        if sum != size {
            return Err(cursor.damaged(format!("it holds {size} keys, and its filters hold {sum}")));
        }
        Ok(self)
    }

    fn scales(&self) -> bool {
        self.options & NO_SCALING == 0
    }

    fn size(&self) -> u64 {
        self.links.iter().fold(0, |sum, link| sum.saturating_add(link.size))
    }

    /// One filter more, if the last is full.
    fn make_room(&mut self) -> Result<(), Error> {
        let full = |capacity| Error::Full { format: Format::RedisBloom, capacity };
        let Some(last) = self.links.last() else { return Err(full(0)) };
        if last.size < last.entries {
            return Ok(());
        }
        if !self.scales() || self.links.len() >= MAX_PARTS {
            return Err(full(last.entries));
        }
        let (growth, error) = match self.release {
            Release::V2_0 => (2, last.error * TIGHTENING.powi(self.links.len() as i32 + 1)),
            _ => (self.growth.into(), last.error * TIGHTENING),
        };
        let entries = last.entries.saturating_mul(growth);
        self.links.push(Link::new(self.release, self.options, entries, error)?);
        Ok(())
    }
}

/// A header has so many filters: each takes some bytes of it, so that no number is believed.
fn check_count(cursor: &Cursor<'_>, count: u64) -> Result<(), Error> {
    if count == 0 || count > MAX_PARTS as u64 {
        return Err(
            cursor.damaged(format!("it has {count} filters, and 1 to {MAX_PARTS} are read"))
        );
    }
    Ok(())
}

impl Operations for RedisBloom {
    fn format(&self) -> Format {
        Format::RedisBloom
    }

    fn variant(&self) -> String {
        let container = match &self.container {
            Container::Chunks => "SCANDUMP chunks".to_owned(),
            Container::Dump { rdb_version } => format!("DUMP value (RDB version {rdb_version})"),
            Container::Resp { key } => {
                format!("LOADCHUNK commands for the key {:?}", String::from_utf8_lossy(key))
            }
        };
        let release = match self.release {
            Release::V2_0 => "2.0",
            Release::V2_2_0 => "2.2.0",
            Release::Current => "2.2.4 or later",
        };
        let scaling = match (self.scales(), self.release) {
            (false, _) => "not scaling".to_owned(),
            (true, Release::V2_0) => "scaling by 2".to_owned(),
            (true, _) => format!("scaling by {}", self.growth),
        };
        format!("{container}, of release {release}, {scaling}")
    }

    fn parts(&self) -> Vec<Part<'_>> {
        let part = |link: &'_ Link| {
            (Planned { items: link.entries, fpr: link.error, stored: true }, link.size)
        };
        self.links
            .iter()
            .map(|link| {
                let (planned, size) = part(link);
                let array = link.array.part(link.array.bits);
                Part { planned: Some(planned), counted: Some(size), ..array }
            })
            .collect()
    }

    /// A chain that scales was made for any number of keys: as many as its filters take now.
    fn planned(&self) -> Option<Planned> {
        let first = self.links.first()?.error;
        let fpr =
            if self.scales() && self.release != Release::V2_0 { first / TIGHTENING } else { first };
        let items = self.links.iter().fold(0u64, |sum, link| sum.saturating_add(link.entries));
        Some(Planned { items, fpr, stored: true })
    }

    fn contains(&self, key: &[u8]) -> bool {
        let hash = Murmur.hash(key);
        self.links.iter().rev().any(|link| link.array.has(&Murmur, hash))
    }

    fn contains_many(&self, keys: &[&[u8]], answers: &mut [bool]) {
        each_batch(&Murmur, keys, answers, |hashes, answers| {
            self.links.iter().for_each(|link| link.array.has_many(&Murmur, hashes, answers));
        });
    }

    fn insert(&mut self, key: &[u8]) -> Result<bool, Error> {
        if self.contains(key) {
            return Ok(false);
        }
        self.make_room()?;
        let mut new = false;
        if let Some(link) = self.links.last_mut() {
            new = link.array.set(&Murmur, Murmur.hash(key));
            link.size = link.size.saturating_add(u64::from(new));
        }
        Ok(new)
    }

    fn union(&mut self, other: &dyn Any) -> Result<(), Error> {
        let Some(other) = other.downcast_ref::<RedisBloom>() else {
            return Err(Error::Unsupported {
                format: Format::RedisBloom,
                why: "has another form than the other one".to_owned(),
            });
        };
        mismatch("number of parts", self.links.len(), other.links.len())?;
        mismatch("options", self.options, other.options)?;
        let mut links = self.links.clone();
        for (link, other) in links.iter_mut().zip(&other.links) {
            mismatch("capacity", link.entries, other.entries)?;
            link.array.union(&other.array)?;
            link.size = merged_count(&link.array, link.size, other.size, link.entries);
        }
        self.links = links;
        Ok(())
    }

    fn to_bytes(&self) -> Result<Vec<u8>, Error> {
        match &self.container {
            Container::Chunks => chunks::write(self),
            Container::Dump { rdb_version } => dump::write(self, *rdb_version),
            Container::Resp { key } => resp::write(self, key),
        }
    }

    fn as_any(&self) -> &dyn Any {
        self
    }
}

pub(crate) fn read(bytes: &[u8]) -> Result<RedisBloom, Error> {
    match bytes.first() {
        Some(b'*') => resp::read(bytes),
        Some(7) if bytes.get(1) == Some(&0x81) => dump::read(bytes),
        _ => chunks::read(bytes, None, Container::Chunks),
    }
}
