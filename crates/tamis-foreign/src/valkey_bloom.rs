//! valkey-bloom 1.0, what `BF.LOAD` takes: a chain of filters of the crate bloomfilter, written by
//! bincode. A chain that scales grows by a filter when the last is full.

use crate::array::Scheme;
use crate::array::{Array, mismatch, with_capacity};
use crate::bloomfilter::Bloomfilter;
use crate::cursor::Cursor;
use crate::filter::{Operations, each_batch};
use crate::plan::{classic_bits, positive};
use crate::{Error, Format, MAX_PARTS, Part, Planned};
use std::any::Any;

/// The seed of filters that were not made with a random one.
pub(crate) const FIXED_SEED: [u8; 32] = [
    0x59, 0x0f, 0xf5, 0x22, 0xea, 0x78, 0x11, 0xda, 0xa7, 0x14, 0xd8, 0x09, 0x3b, 0x3e, 0x7b, 0xd9,
    0x1d, 0x89, 0x8a, 0x73, 0x3e, 0x98, 0x88, 0x87, 0x30, 0x7f, 0x97, 0xcd, 0x28, 0x07, 0x33, 0x83,
];

#[derive(Debug, Clone)]
struct Link {
    array: Array,
    items: u64,
    capacity: u64,
}

#[derive(Debug, Clone)]
pub(crate) struct ValkeyBloom {
    /// By how much the capacity of each filter exceeds that of the one before; 0 does not scale.
    expansion: u32,
    fpr: f64,
    tightening: f64,
    random_seed: u8,
    scheme: Bloomfilter,
    links: Vec<Link>,
}

/// Bytes and hashes that the module chooses.
pub(crate) fn sizes(capacity: u64, fpr: f64) -> (u64, u32) {
    let bytes = (classic_bits(capacity, fpr) / 8.0).ceil();
    let hashes = (8.0 * bytes / capacity as f64 * std::f64::consts::LN_2).round().max(1.0);
    (bytes as u64, hashes as u32)
}

impl ValkeyBloom {
    pub(crate) fn new(
        capacity: u64,
        fpr: f64,
        expansion: u32,
        seed: Option<[u8; 32]>,
    ) -> Result<ValkeyBloom, Error> {
        let scheme = Bloomfilter { seed: seed.unwrap_or(FIXED_SEED) };
        let random_seed = u8::from(seed.is_some());
        let links = Vec::new();
        let tightening = 0.5;
        let mut filter = ValkeyBloom { expansion, fpr, tightening, random_seed, scheme, links };
        filter.add_link(capacity)?;
        Ok(filter)
    }

    fn add_link(&mut self, capacity: u64) -> Result<(), Error> {
        let fpr = self.fpr * self.tightening.powi(self.links.len() as i32);
        let (bytes, hashes) = sizes(capacity, fpr);
        let out_of_range = !(positive(fpr) && hashes <= crate::MAX_HASHES && bytes > 0);
        if out_of_range || self.links.len() >= MAX_PARTS {
            return Err(Error::Full { format: Format::ValkeyBloom, capacity: self.capacity() });
        }
        let array = Array::zeroed(8 * bytes, 1, hashes)?;
        self.links.push(Link { array, items: 0, capacity });
        Ok(())
    }

    fn capacity(&self) -> u64 {
        self.links.iter().fold(0, |sum, link| sum.saturating_add(link.capacity))
    }
}

impl Operations for ValkeyBloom {
    fn format(&self) -> Format {
        Format::ValkeyBloom
    }

    fn variant(&self) -> String {
        let seed =
            if self.scheme.seed == FIXED_SEED { "the fixed seed" } else { "a seed of its own" };
        match self.expansion {
            0 => format!("version 1, not scaling, {seed}"),
            by => format!("version 1, scaling by {by}, {seed}"),
        }
    }

    fn parts(&self) -> Vec<Part<'_>> {
        let part = |(i, link): (usize, &'_ Link)| {
            let fpr = self.fpr * self.tightening.powi(i as i32);
            let planned = Some(Planned { items: link.capacity, fpr, stored: true });
            (planned, Some(link.items))
        };
        self.links
            .iter()
            .enumerate()
            .map(|(i, link)| {
                let (planned, counted) = part((i, link));
                Part { planned, counted, ..link.array.part(link.array.bits) }
            })
            .collect()
    }

    fn planned(&self) -> Option<Planned> {
        Some(Planned { items: self.capacity(), fpr: self.fpr, stored: true })
    }

    fn contains(&self, key: &[u8]) -> bool {
        let hash = self.scheme.hash(key);
        self.links.iter().rev().any(|link| link.array.has(&self.scheme, hash))
    }

    fn contains_many(&self, keys: &[&[u8]], answers: &mut [bool]) {
        each_batch(&self.scheme, keys, answers, |hashes, answers| {
            self.links.iter().for_each(|link| link.array.has_many(&self.scheme, hashes, answers));
        });
    }

    fn insert(&mut self, key: &[u8]) -> Result<bool, Error> {
        if self.contains(key) {
            return Ok(false);
        }
        let last = self.links.last().map(|link| (link.items, link.capacity));
        if let Some((items, capacity)) = last
            && items >= capacity
        {
            if self.expansion == 0 {
                return Err(Error::Full { format: Format::ValkeyBloom, capacity });
            }
            self.add_link(capacity.saturating_mul(self.expansion.into()))?;
        }
        let hash = self.scheme.hash(key);
        if let Some(link) = self.links.last_mut() {
            link.array.set(&self.scheme, hash);
            link.items += 1;
        }
        Ok(true)
    }

    fn union(&mut self, other: &dyn Any) -> Result<(), Error> {
        let Some(other) = other.downcast_ref::<ValkeyBloom>() else {
            return Err(Error::Unsupported {
                format: Format::ValkeyBloom,
                why: "has another form than the other one".to_owned(),
            });
        };
        let seed = |filter: &ValkeyBloom| crate::bloomfilter::hex(&filter.scheme.seed);
        mismatch("seed", seed(self), seed(other))?;
        mismatch("number of parts", self.links.len(), other.links.len())?;
        let mut links = self.links.clone();
        for (link, other) in links.iter_mut().zip(&other.links) {
            mismatch("capacity", link.capacity, other.capacity)?;
            link.array.union(&other.array)?;
            link.items = merged_count(&link.array, link.items, other.items, link.capacity);
        }
        self.links = links;
        Ok(())
    }

    fn to_bytes(&self) -> Result<Vec<u8>, Error> {
        let total: usize = self.links.iter().map(|link| link.array.bytes.len() + 69).sum();
        let mut out = with_capacity(total as u64 + 30)?;
        out.push(1);
        out.extend(self.expansion.to_le_bytes());
        out.extend(self.fpr.to_le_bytes());
        out.extend(self.tightening.to_le_bytes());
        out.push(self.random_seed);
        out.extend((self.links.len() as u64).to_le_bytes());
        for link in &self.links {
            out.extend((link.array.bytes.len() as u64 + 45).to_le_bytes());
            self.scheme.write(&link.array, &mut out);
            out.extend(link.items.to_le_bytes());
            out.extend(link.capacity.to_le_bytes());
        }
        Ok(out)
    }

    fn as_any(&self) -> &dyn Any {
        self
    }
}

/// How many keys a union holds: as its bits say, between what the larger and what both held, and
/// no more than fit.
pub(crate) fn merged_count(array: &Array, left: u64, right: u64, capacity: u64) -> u64 {
    let estimate = array.part(array.bits).estimated_items().round() as u64;
    let least = left.max(right);
    estimate.max(least).min(left.saturating_add(right)).min(capacity.max(least))
}

pub(crate) fn read(bytes: &[u8]) -> Result<ValkeyBloom, Error> {
    let mut cursor = Cursor::new(bytes, Format::ValkeyBloom);
    let version = cursor.u8("the version")?;
    if version != 1 {
        return Err(cursor.damaged(format!("its version is {version}, and 1 is known")));
    }
    let expansion = cursor.u32_le("the expansion")?;
    let fpr = cursor.f64_le("the rate")?;
    let fpr = cursor.rate(fpr)?;
    let tightening = cursor.f64_le("the tightening ratio")?;
    let tightening = cursor.rate(tightening)?;
    let random_seed = cursor.u8("the kind of seed")?;
    if random_seed > 1 {
        return Err(cursor.damaged(format!("its kind of seed is {random_seed}, not 0 or 1")));
    }
    let count = cursor.u64_le("the number of filters")?;
    if count == 0 || count > MAX_PARTS as u64 {
        return Err(
            cursor.damaged(format!("it has {count} filters, and 1 to {MAX_PARTS} are read"))
        );
    }
    let mut links: Vec<Link> = Vec::new();
    let mut scheme: Option<Bloomfilter> = None;
    for _ in 0..count {
        let len = cursor.u64_le("the length of a filter")?;
        let blob = cursor.take(len, "a filter")?;
        let one = Bloomfilter::read(Cursor::new(blob, Format::ValkeyBloom))?;
        if scheme.as_ref().is_some_and(|first| *first != one.layout) {
            return Err(cursor.damaged("its filters have different seeds"));
        }
        let (items, capacity) = (cursor.u64_le("a count")?, cursor.u64_le("a capacity")?);
        if items > i64::MAX as u64 || capacity > i64::MAX as u64 || capacity == 0 {
            return Err(cursor.damaged(format!("a filter holds {items} of {capacity} items")));
        }
        scheme = Some(one.layout);
        links.push(Link { array: one.array, items, capacity });
    }
    cursor.end()?;
    let Some(scheme) = scheme else { return Err(cursor.damaged("it has no filters")) };
    Ok(ValkeyBloom { expansion, fpr, tightening, random_seed, scheme, links })
}
