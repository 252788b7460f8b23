//! What a key holds, and how it becomes bytes and comes back.
//!
//! A value is a **preamble** and a **stream**. The preamble says which value it is, its settings,
//! and how long the parts of the stream are. The stream is the files of its filters, one after
//! another, as `FORMAT.md` of the library has them. RDB files, the append-only file, `SCANDUMP` and
//! `LOADCHUNK` all use the same two.
//!
//! | bytes of a preamble | what |
//! |---|---|
//! | 6 | `tamis` and the version, 1 |
//! | 1 | the tag of the value |
//! | 1 | the number of settings |
//! | 8 each | the settings, as the value's own file describes them |
//! | 2 | the number of parts |
//! | 8 each | the lengths of the parts |
//!
//! All numbers are little-endian.

use crate::bloom::Bloom;
use crate::cuckoo::Cuckoo;
use crate::ledger::Ledger;
use crate::loaded::Loaded;
use crate::refusal::{Outcome, Refusal};
use crate::server::TypeName;
use crate::settings::{self, Dialect};
use crate::stream::Window;
use std::io::{self, Write};
use tamis::format::AnyPlan;
use tamis::{AnyFilter, Open, QuotientFilter, Scalable};

/// A value of a key.
#[allow(clippy::large_enum_variant)] // each lives in a box of its own
pub(crate) enum Value {
    Bloom(Bloom),
    Cuckoo(Cuckoo),
    Filter(Loaded),
    Ledger(Ledger),
    /// A value whose last chunk has not come yet.
    Arriving(Arriving),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Tag {
    Bloom = 1,
    Cuckoo = 2,
    Filter = 3,
    Ledger = 4,
}

const MAGIC: &[u8; 6] = b"tamis\x01";
/// A chain has at most 128 links, and other values have fewer parts.
const MAX_PARTS: usize = 256;

/// One part of a stream.
pub(crate) enum Part<'a> {
    File(&'a AnyFilter),
    Chain(&'a Scalable),
    Quotient(&'a QuotientFilter),
    Bytes(&'a [u8]),
}

impl Part<'_> {
    fn write_to(&self, out: &mut dyn Write) -> io::Result<()> {
        match self {
            Part::File(filter) => filter.write_to(out).map_err(io::Error::other),
            Part::Chain(chain) => chain.write_to(out).map_err(io::Error::other),
            Part::Quotient(filter) => filter.write_to(out).map_err(io::Error::other),
            Part::Bytes(bytes) => out.write_all(bytes),
        }
    }

    fn length(&self) -> u64 {
        match self {
            Part::File(filter) => filter.plan().file_bytes(),
            Part::Chain(chain) => {
                AnyPlan::Scalable { plan: chain.plan(), links: chain.links() }.file_bytes()
            }
            Part::Quotient(filter) => filter.plan().file_bytes(),
            Part::Bytes(bytes) => bytes.len() as u64,
        }
    }

    /// The bytes at the end of the part, as they lie in memory.
    fn bodies(&self) -> Vec<&[u8]> {
        match self {
            Part::File(filter) => filter.body_parts(),
            Part::Chain(chain) => chain.links().iter().map(QuotientFilter::body).collect(),
            Part::Quotient(filter) => vec![filter.body()],
            Part::Bytes(bytes) => vec![bytes],
        }
    }

    /// Writes what falls into the window. A header has the checksum of the whole body, so it is
    /// made only if it falls into the window.
    fn write_into(&self, window: &mut Window) -> io::Result<()> {
        let bodies = self.bodies();
        let header = self.length() - bodies.iter().map(|body| body.len() as u64).sum::<u64>();
        if !window.passes_over(header) {
            return self.write_to(window);
        }
        bodies.iter().try_for_each(|body| window.write_all(body))
    }
}

/// What a preamble says.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Preamble {
    tag: Tag,
    settings: Vec<u64>,
    lengths: Vec<u64>,
}

impl Preamble {
    fn to_bytes(&self) -> Vec<u8> {
        let mut bytes = MAGIC.to_vec();
        bytes.extend([self.tag as u8, self.settings.len() as u8]);
        self.settings.iter().for_each(|one| bytes.extend(one.to_le_bytes()));
        bytes.extend((self.lengths.len() as u16).to_le_bytes());
        self.lengths.iter().for_each(|one| bytes.extend(one.to_le_bytes()));
        bytes
    }

    fn parse(bytes: &[u8]) -> Option<Preamble> {
        fn take<'a>(rest: &mut &'a [u8], count: usize) -> Option<&'a [u8]> {
            let (taken, after) = rest.split_at_checked(count)?;
            *rest = after;
            Some(taken)
        }
        fn words(bytes: &[u8]) -> Vec<u64> {
            bytes.as_chunks::<8>().0.iter().map(|word| u64::from_le_bytes(*word)).collect()
        }
        let mut rest = bytes.strip_prefix(MAGIC)?;
        let tag = match take(&mut rest, 1)?[0] {
            1 => Tag::Bloom,
            2 => Tag::Cuckoo,
            3 => Tag::Filter,
            4 => Tag::Ledger,
            _ => return None,
        };
        let count = usize::from(take(&mut rest, 1)?[0]);
        let settings = words(take(&mut rest, 8 * count)?);
        let count = take(&mut rest, 2)?;
        let count = usize::from(u16::from_le_bytes([count[0], count[1]]));
        if count > MAX_PARTS || rest.len() != 8 * count {
            return None;
        }
        let lengths = words(rest);
        lengths.iter().try_fold(0u64, |sum, one| sum.checked_add(*one))?;
        Some(Preamble { tag, settings, lengths })
    }

    fn total(&self) -> u64 {
        self.lengths.iter().sum()
    }
}

impl Value {
    pub(crate) fn tag(&self) -> Tag {
        match self {
            Value::Bloom(_) => Tag::Bloom,
            Value::Cuckoo(_) => Tag::Cuckoo,
            Value::Filter(_) => Tag::Filter,
            Value::Ledger(_) => Tag::Ledger,
            Value::Arriving(arriving) => arriving.preamble.tag,
        }
    }

    /// The server's type of the value.
    pub(crate) fn type_name(&self) -> TypeName {
        match self.tag() {
            Tag::Bloom if settings::dialect() == Dialect::ValkeyBloom => TypeName::BloomOfValkey,
            Tag::Bloom => TypeName::Bloom,
            Tag::Cuckoo => TypeName::Cuckoo,
            Tag::Filter | Tag::Ledger => TypeName::Filter,
        }
    }

    fn parts(&self) -> Vec<Part<'_>> {
        match self {
            Value::Bloom(bloom) => bloom.parts(),
            Value::Cuckoo(cuckoo) => cuckoo.parts(),
            Value::Filter(loaded) => loaded.parts(),
            Value::Ledger(ledger) => ledger.parts(),
            Value::Arriving(arriving) => arriving.parts(),
        }
    }

    /// The preamble, and the bytes of the stream that there are.
    pub(crate) fn preamble(&self) -> (Vec<u8>, u64) {
        let settings = match self {
            Value::Bloom(bloom) => bloom.settings(),
            Value::Cuckoo(cuckoo) => cuckoo.settings(),
            Value::Filter(loaded) => loaded.settings(),
            Value::Ledger(_) => Vec::new(),
            Value::Arriving(arriving) => {
                return (arriving.preamble.to_bytes(), arriving.received);
            }
        };
        let lengths = self.parts().iter().map(Part::length).collect();
        let preamble = Preamble { tag: self.tag(), settings, lengths };
        (preamble.to_bytes(), preamble.total())
    }

    /// Writes the stream; of a value that is arriving, what has come.
    pub(crate) fn write_to(&self, out: &mut dyn Write) -> io::Result<()> {
        self.parts().iter().try_for_each(|part| part.write_to(out))
    }

    /// The bytes of the stream from `skip` on, at most so many.
    pub(crate) fn window(&self, skip: u64, most: usize) -> io::Result<Vec<u8>> {
        let mut window = Window::new(skip, most);
        for part in self.parts() {
            if !window.passes_over(part.length()) && !window.is_full() {
                part.write_into(&mut window)?;
            }
        }
        Ok(window.kept)
    }

    /// The bytes that the value takes in memory.
    pub(crate) fn memory(&self) -> usize {
        size_of::<Value>() + self.body_bytes()
    }

    fn body_bytes(&self) -> usize {
        match self {
            Value::Bloom(bloom) => bloom.bytes() as usize,
            Value::Cuckoo(cuckoo) => cuckoo.bytes() as usize,
            Value::Filter(loaded) => loaded.bytes() as usize,
            Value::Ledger(ledger) => ledger.bytes(),
            Value::Arriving(arriving) => arriving.received as usize,
        }
    }

    /// Takes in all that `other` holds, if both together take at most so many bytes.
    pub(crate) fn union(&mut self, other: &Value, max_bytes: u64) -> Outcome {
        let both = self.body_bytes() as u64 + other.body_bytes() as u64;
        match (self, other) {
            // Filters of bits are of one size, and stay so.
            (Value::Bloom(ours), Value::Bloom(theirs)) if ours.is_fixed() => ours.union(theirs),
            (Value::Filter(ours), Value::Filter(theirs)) => {
                Ok(ours.filter.union(&theirs.filter)?)
            }
            _ if both > max_bytes => Err(too_large(both, max_bytes)),
            (Value::Bloom(ours), Value::Bloom(theirs)) => ours.union(theirs),
            (Value::Cuckoo(ours), Value::Cuckoo(theirs)) => ours.union(theirs),
            _ => Err(Refusal::new("ERR only filters of one kind can be merged")),
        }
    }

    /// Keeps what both hold.
    pub(crate) fn intersect(&mut self, other: &Value, _max_bytes: u64) -> Outcome {
        match (self, other) {
            (Value::Bloom(ours), Value::Bloom(theirs)) => ours.intersect(theirs),
            (Value::Filter(ours), Value::Filter(theirs)) => {
                Ok(ours.filter.intersect(&theirs.filter)?)
            }
            _ => Err(Refusal::new("ERR only filters of bits of one kind can be intersected")),
        }
    }

    /// A second value like it; `None` if there is no memory for it.
    pub(crate) fn copy(&self) -> Option<Value> {
        // A copy that finds no memory would end the server: ask first.
        Vec::<u8>::new().try_reserve_exact(self.body_bytes()).ok()?;
        Some(match self {
            Value::Bloom(bloom) => Value::Bloom(bloom.clone()),
            Value::Cuckoo(cuckoo) => Value::Cuckoo(cuckoo.clone()),
            Value::Filter(loaded) => Value::Filter(loaded.clone()),
            Value::Ledger(ledger) => Value::Ledger(ledger.clone()),
            Value::Arriving(arriving) => Value::Arriving(arriving.clone()),
        })
    }

    /// Moves what is small to new memory. Large parts have pages of their own, which no other value
    /// shares.
    pub(crate) fn move_small_parts(&mut self) {
        const SMALL: usize = 14 << 10;
        if self.body_bytes() <= SMALL
            && let Some(copy) = self.copy()
        {
            *self = copy;
        }
    }
}

/// A value on its way: its preamble has come, and a part of its stream.
#[derive(Clone)]
pub(crate) struct Arriving {
    preamble: Preamble,
    /// The parts that are whole.
    done: Vec<AnyFilter>,
    /// The bytes of the part that is not; of a ledger, all its bytes.
    current: Vec<u8>,
    received: u64,
    max_bytes: u64,
    /// Whether a part has come that is no filter.
    spoiled: bool,
    /// Whether this stands in for one that another thread works on.
    lifted: bool,
}

/// The refusals of chunks, in RedisBloom's words.
const BAD_DATA: Refusal = Refusal::new("ERR received bad data");
const NO_LINK: Refusal = Refusal::new("ERR invalid offset - no link found");
const TOO_BIG: Refusal = Refusal::new("ERR invalid chunk - Too big for current filter");

impl Arriving {
    /// Takes the preamble. What it announces is not believed: memory is taken as bytes come.
    pub(crate) fn begin(preamble: &[u8], max_bytes: u64) -> Result<Arriving, Refusal> {
        let preamble = Preamble::parse(preamble).ok_or(BAD_DATA)?;
        if preamble.total() > max_bytes {
            return Err(too_large(preamble.total(), max_bytes));
        }
        let (done, current) = (Vec::new(), Vec::new());
        let mut arriving = Arriving {
            preamble,
            done,
            current,
            received: 0,
            max_bytes,
            spoiled: false,
            lifted: false,
        };
        arriving.close_parts()?;
        Ok(arriving)
    }

    /// Takes it out. What stays in its place knows the preamble and takes no chunk.
    pub(crate) fn lift(&mut self) -> Arriving {
        let (done, current) = (Vec::new(), Vec::new());
        let (preamble, max_bytes) = (self.preamble.clone(), self.max_bytes);
        let (received, spoiled, lifted) = (0, false, true);
        let stays = Arriving { preamble, done, current, received, max_bytes, spoiled, lifted };
        std::mem::replace(self, stays)
    }

    /// Whether it was taken out, and something else stands in its place.
    pub(crate) fn is_lifted(&self) -> bool {
        self.lifted
    }

    /// Whether so many further bytes complete a part that takes milliseconds to check.
    pub(crate) fn completes_large_part(&self, bytes: u64) -> bool {
        const LARGE: u64 = 4 << 20;
        let part = self.preamble.lengths.get(self.done.len()).copied().unwrap_or(0);
        !self.lifted && part >= LARGE && bytes >= self.wanted()
    }

    pub(crate) fn is_complete(&self) -> bool {
        self.received == self.preamble.total()
    }

    /// Whether it can never become whole.
    pub(crate) fn is_spoiled(&self) -> bool {
        self.spoiled
    }

    pub(crate) fn tag(&self) -> Tag {
        self.preamble.tag
    }

    /// Takes a chunk that ends before the place `iterator`, counted from 1. One that has come
    /// already is taken again.
    pub(crate) fn put(&mut self, iterator: u64, bytes: &[u8]) -> Result<(), Refusal> {
        if self.lifted {
            return Err(NO_LINK);
        }
        let length = bytes.len() as u64;
        let start = iterator.checked_sub(1).and_then(|end| end.checked_sub(length));
        let start = start.ok_or(NO_LINK)?;
        if start > self.received || (start < self.received && start + length > self.received) {
            return Err(NO_LINK);
        }
        if start < self.received || bytes.is_empty() {
            return Ok(());
        }
        self.append(bytes)
    }

    /// Takes the next bytes.
    pub(crate) fn append(&mut self, bytes: &[u8]) -> Result<(), Refusal> {
        if bytes.len() as u64 > self.preamble.total() - self.received {
            return Err(TOO_BIG);
        }
        let mut rest = bytes;
        while !rest.is_empty() {
            let wanted = self.wanted();
            let (more, after) = rest.split_at(rest.len().min(wanted as usize));
            self.current.try_reserve(more.len()).map_err(|_| no_memory())?;
            self.current.extend_from_slice(more);
            self.received += more.len() as u64;
            rest = after;
            self.close_parts()?;
        }
        Ok(())
    }

    /// The bytes that the current part still lacks.
    fn wanted(&self) -> u64 {
        let length = self.preamble.lengths.get(self.done.len()).copied().unwrap_or(0);
        length.saturating_sub(self.current.len() as u64)
    }

    /// Reads the parts that are whole.
    fn close_parts(&mut self) -> Result<(), Refusal> {
        if self.preamble.tag == Tag::Ledger {
            // A ledger is one part, which `finish` reads.
            return if self.preamble.lengths.len() == 1 { Ok(()) } else { Err(BAD_DATA) };
        }
        while self.done.len() < self.preamble.lengths.len() && self.wanted() == 0 {
            let open = Open::new().max_memory(self.max_bytes);
            let filter = open.bytes(&self.current);
            self.spoiled = filter.is_err();
            self.done.push(filter.map_err(|_| BAD_DATA)?);
            self.current = Vec::new();
        }
        Ok(())
    }

    /// The value, which is complete.
    pub(crate) fn finish(self) -> Result<Value, Refusal> {
        let Preamble { tag, settings, .. } = self.preamble;
        let value = match tag {
            Tag::Bloom => Bloom::from_parts(&settings, self.done).map(Value::Bloom),
            Tag::Cuckoo => Cuckoo::from_parts(&settings, self.done).map(Value::Cuckoo),
            Tag::Filter => Loaded::from_parts(&settings, self.done).map(Value::Filter),
            Tag::Ledger => Ledger::from_bytes(&self.current).map(Value::Ledger),
        };
        value.ok_or(BAD_DATA)
    }

    fn parts(&self) -> Vec<Part<'_>> {
        let mut parts: Vec<Part<'_>> = self.done.iter().map(Part::File).collect();
        parts.push(Part::Bytes(&self.current));
        parts
    }
}

/// A filter would be larger than the server's owner allows.
pub(crate) fn too_large(bytes: u64, most: u64) -> Refusal {
    Refusal::say(format!(
        "ERR the filter would take {bytes} bytes, and tamis.max-filter-bytes allows {most}"
    ))
}

/// The server has no memory for it.
pub(crate) const fn no_memory() -> Refusal {
    Refusal::new("ERR Insufficient memory to create filter")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bloom::Reserve;
    use crate::cuckoo::Shape;
    use crate::settings::Layout;
    use tamis::privacy::Epsilon;

    /// One value of each kind, and one that has grown past its reserve.
    fn values() -> Vec<Value> {
        let reserve = |capacity, layout| Reserve {
            capacity,
            rate: 0.01,
            expansion: Some(2),
            layout,
            seed: 5,
        };
        let bloom = |capacity, layout| {
            let mut bloom = Bloom::new(reserve(capacity, layout), u64::MAX).unwrap();
            (0..100u32).for_each(|one| {
                bloom.insert(&one.to_le_bytes(), u64::MAX).unwrap();
            });
            Value::Bloom(bloom)
        };
        let mut cuckoo = Cuckoo::new(Shape::for_capacity(40), u64::MAX).unwrap();
        (0..100u32).for_each(|one| cuckoo.insert(&one.to_le_bytes(), u64::MAX).unwrap());
        let mut ledger = Ledger::new(Epsilon::MAX).unwrap();
        ledger.charge("0.5".parse().unwrap(), 7, b"two words\n").unwrap();
        vec![
            bloom(20, Layout::Auto),
            bloom(1000, Layout::Bloom),
            bloom(20, Layout::Split),
            Value::Cuckoo(cuckoo),
            Value::Ledger(ledger),
        ]
    }

    fn bytes(value: &Value) -> (Vec<u8>, Vec<u8>) {
        let mut stream = Vec::new();
        value.write_to(&mut stream).unwrap();
        (value.preamble().0, stream)
    }

    #[test]
    fn a_value_is_its_preamble_and_stream() {
        for mut value in values() {
            let (preamble, stream) = bytes(&value);
            for step in [1, 7, 1000, usize::MAX] {
                let mut arriving = Arriving::begin(&preamble, u64::MAX).unwrap();
                for piece in stream.chunks(step.min(stream.len())) {
                    assert!(!arriving.is_complete());
                    arriving.append(piece).unwrap();
                }
                assert!(arriving.is_complete());
                assert_eq!(arriving.append(b"x"), Err(TOO_BIG));
                assert!(bytes(&arriving.finish().unwrap()) == (preamble.clone(), stream.clone()));
            }
            assert!(bytes(&value.copy().unwrap()) == (preamble.clone(), stream.clone()));
            value.move_small_parts();
            assert!(bytes(&value) == (preamble.clone(), stream.clone()));
            for skip in (0..=stream.len() + 1).step_by(13) {
                let kept = value.window(skip as u64, 100).unwrap();
                let skip = skip.min(stream.len());
                assert!(kept == stream[skip..(skip + 100).min(stream.len())]);
            }
            let most = stream.len() as u64;
            assert!(Arriving::begin(&preamble, most).is_ok());
            assert!(Arriving::begin(&preamble, most - 1).is_err());
        }
    }

    #[test]
    fn every_damaged_byte_is_refused_or_harmless() {
        for value in values() {
            let (preamble, stream) = bytes(&value);
            for place in 0..preamble.len() {
                for bit in 0..8 {
                    let mut damaged = preamble.clone();
                    damaged[place] ^= 1 << bit;
                    let Ok(mut arriving) = Arriving::begin(&damaged, 1 << 20) else { continue };
                    if arriving.append(&stream).is_ok() && arriving.is_complete() {
                        let _ = arriving.finish();
                    }
                }
            }
            for place in 0..stream.len() {
                let mut damaged = stream.clone();
                damaged[place] ^= 1;
                let mut arriving = Arriving::begin(&preamble, u64::MAX).unwrap();
                let read = arriving.append(&damaged).and_then(|()| arriving.finish());
                // A ledger is text, and has no checksum of its own.
                assert!(read.is_err() || matches!(value, Value::Ledger(_)), "byte {place}");
            }
        }
    }
}
