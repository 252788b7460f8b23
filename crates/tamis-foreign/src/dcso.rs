//! DCSO's `bloom`: capacity, rate, sizes and a count, then words of 64 bits, all with their low
//! byte first, then any bytes of the user; gzipped as a whole or not.

use crate::array::{Array, Scheme, mismatch, with_capacity};
use crate::cursor::Cursor;
use crate::filter::{Layout, OneArray};
use crate::hash::fnv1;
use crate::{Error, Format, Planned};
use flate2::read::MultiGzDecoder;
use flate2::write::GzEncoder;
use std::io::{Read, Write};

/// The modulus and the factor of its generator of positions.
const M: u64 = 18_446_744_073_709_551_557;
const G: u64 = 18_446_744_073_709_550_147;

/// How a gzip stream begins.
pub(crate) const GZIP: [u8; 2] = [0x1f, 0x8b];

/// Without a limit of the caller, a gzipped filter may unpack to so many times its bytes, or to
/// `MIN_UNPACKED`. The bits of a filter that is in use hardly compress.
const MAX_RATIO: u64 = 64;
const MIN_UNPACKED: u64 = 64 << 20;

#[derive(Debug, Clone)]
pub(crate) struct Dcso {
    flags: u64,
    capacity: u64,
    fpr: f64,
    count: u64,
    data: Vec<u8>,
    gzip: bool,
}

impl Dcso {
    pub(crate) fn new(capacity: u64, fpr: f64, gzip: bool) -> Dcso {
        Dcso { flags: 1, capacity, fpr, count: 0, data: Vec::new(), gzip }
    }
}

impl Scheme for Dcso {
    type Hash = u64;

    fn hash(&self, key: &[u8]) -> u64 {
        fnv1(key) % M
    }

    #[inline]
    fn positions(&self, mut hash: u64, bits: u64) -> impl Iterator<Item = u64> {
        std::iter::from_fn(move || {
            hash = hash.wrapping_mul(G) % M;
            Some(hash % bits)
        })
    }
}

impl Layout for Dcso {
    const FORMAT: Format = Format::Dcso;

    fn variant(&self) -> String {
        format!("version 1{}", if self.gzip { ", gzipped" } else { "" })
    }

    fn to_bytes(&self, array: &Array) -> Result<Vec<u8>, Error> {
        let mut out = with_capacity(48 + array.bytes.len() as u64 + self.data.len() as u64)?;
        for word in [self.flags, self.capacity, self.fpr.to_bits()] {
            out.extend(word.to_le_bytes());
        }
        for word in [u64::from(array.hashes), array.bits, self.count] {
            out.extend(word.to_le_bytes());
        }
        out.extend_from_slice(&array.bytes);
        out.extend_from_slice(&self.data);
        if !self.gzip {
            return Ok(out);
        }
        let mut packed = GzEncoder::new(Vec::new(), flate2::Compression::default());
        packed.write_all(&out)?;
        Ok(packed.finish()?)
    }

    fn planned(&self) -> Option<Planned> {
        Some(Planned { items: self.capacity, fpr: self.fpr, stored: true })
    }

    fn counted(&self) -> Option<u64> {
        Some(self.count)
    }

    fn data(&self) -> &[u8] {
        &self.data
    }

    fn count(&mut self) {
        self.count = self.count.saturating_add(1);
    }

    /// The counts are added, as the program itself does when it joins filters. The data of the
    /// first filter stays.
    fn merge(&mut self, other: &Dcso) -> Result<(), Error> {
        mismatch("capacity", self.capacity, other.capacity)?;
        mismatch("rate", self.fpr, other.fpr)?;
        self.count = self.count.saturating_add(other.count);
        Ok(())
    }
}

pub(crate) fn read(bytes: &[u8], max_memory: Option<u64>) -> Result<OneArray<Dcso>, Error> {
    if !bytes.starts_with(&GZIP) {
        return parse(bytes, false);
    }
    let packed = bytes.len() as u64;
    let max = max_memory.unwrap_or(MIN_UNPACKED.max(packed.saturating_mul(MAX_RATIO)));
    let mut unpacked = Vec::new();
    let damaged = |why: String| Error::Damaged { format: Format::Dcso, why };
    let mut decoder = MultiGzDecoder::new(bytes).take(max.saturating_add(1));
    let mut piece = [0; 1 << 14];
    loop {
        let read = decoder
            .read(&mut piece)
            .map_err(|error| damaged(format!("its gzip stream cannot be unpacked: {error}")))?;
        if read == 0 {
            break;
        }
        let needed = unpacked.len() as u64 + read as u64;
        if needed > max {
            return Err(Error::Memory { needed, allowed: Some(max) });
        }
        // Whatever is no filter is found out early.
        if unpacked.len() < 48 && needed >= 48 {
            let mut start = unpacked.clone();
            start.extend_from_slice(&piece[..read]);
            Header::read(&mut Cursor::new(&start, Format::Dcso))?;
        }
        unpacked.try_reserve(read).map_err(|_| Error::Memory { needed, allowed: None })?;
        unpacked.extend_from_slice(&piece[..read]);
    }
    parse(&unpacked, true)
}

struct Header {
    flags: u64,
    capacity: u64,
    fpr: f64,
    hashes: u32,
    bits: u64,
    count: u64,
}

impl Header {
    fn read(cursor: &mut Cursor<'_>) -> Result<Header, Error> {
        let flags = cursor.u64_le("the flags")?;
        if flags & 0xff != 1 {
            return Err(cursor.damaged(format!(
                "its version is {}, and 1 is known (files from before 2018 have none)",
                flags & 0xff
            )));
        }
        let capacity = cursor.u64_le("the capacity")?;
        if capacity == 0 {
            return Err(cursor.damaged("its capacity is 0"));
        }
        let fpr = cursor.f64_le("the rate")?;
        let fpr = cursor.rate(fpr)?;
        let hashes = cursor.u64_le("the number of hashes")?;
        let hashes = cursor.hashes(hashes)?;
        let bits = cursor.u64_le("the number of bits")?;
        if bits == 0 {
            return Err(cursor.damaged("it has 0 bits"));
        }
        let count = cursor.u64_le("the count of keys")?;
        Ok(Header { flags, capacity, fpr, hashes, bits, count })
    }
}

fn parse(bytes: &[u8], gzip: bool) -> Result<OneArray<Dcso>, Error> {
    let mut cursor = Cursor::new(bytes, Format::Dcso);
    let Header { flags, capacity, fpr, hashes, bits, count } = Header::read(&mut cursor)?;
    let stored = cursor.take(bits.div_ceil(64).saturating_mul(8), "its array of bits")?;
    let mut data = with_capacity(cursor.rest().len() as u64)?;
    data.extend_from_slice(cursor.rest());
    let array = Array::copied(stored, bits, hashes)?;
    Ok(OneArray { layout: Dcso { flags, capacity, fpr, count, data, gzip }, array })
}
