//! bits-and-blooms (Go): the number of bits and of hashes, the length of the bit set, and words of
//! 64 bits, all with their high byte first; or the same as JSON. Sizes are not rounded.

use crate::array::{Array, Scheme, mismatch, with_capacity};
use crate::cursor::Cursor;
use crate::filter::{Layout, OneArray};
use crate::hash::murmur3_256;
use crate::{Error, Format};
use base64::Engine;
use base64::engine::general_purpose::URL_SAFE;
use serde::Deserialize;

#[derive(Debug, Clone)]
pub(crate) struct BitsAndBlooms {
    /// The length of the bit set. It is the number of bits, but for filters made with 0 bits.
    stored_bits: u64,
    json: bool,
}

impl BitsAndBlooms {
    pub(crate) fn new(bits: u64) -> BitsAndBlooms {
        BitsAndBlooms { stored_bits: bits, json: false }
    }
}

impl Scheme for BitsAndBlooms {
    type Hash = [u64; 4];

    fn hash(&self, key: &[u8]) -> [u64; 4] {
        murmur3_256(key)
    }

    #[inline]
    fn positions(&self, hash: [u64; 4], bits: u64) -> impl Iterator<Item = u64> {
        (0u64..).map(move |i| {
            let step = hash[2 + ((i + i % 2) % 4 / 2) as usize];
            hash[(i % 2) as usize].wrapping_add(i.wrapping_mul(step)) % bits
        })
    }
}

impl Layout for BitsAndBlooms {
    const FORMAT: Format = Format::BitsAndBlooms;

    fn variant(&self) -> String {
        if self.json { "JSON" } else { "binary" }.to_owned()
    }

    fn to_bytes(&self, array: &Array) -> Result<Vec<u8>, Error> {
        let mut set = with_capacity(24 + array.bytes.len() as u64)?;
        if !self.json {
            set.extend(array.bits.to_be_bytes());
            set.extend(u64::from(array.hashes).to_be_bytes());
        }
        set.extend(self.stored_bits.to_be_bytes());
        array.write_big_endian(&mut set);
        if !self.json {
            return Ok(set);
        }
        let encoded = URL_SAFE.encode(&set);
        Ok(format!("{{\"m\":{},\"k\":{},\"b\":\"{encoded}\"}}", array.bits, array.hashes)
            .into_bytes())
    }

    fn merge(&mut self, other: &BitsAndBlooms) -> Result<(), Error> {
        mismatch("length of the bit set", self.stored_bits, other.stored_bits)
    }
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Json<'a> {
    m: u64,
    k: u64,
    b: &'a str,
}

pub(crate) fn read(bytes: &[u8]) -> Result<OneArray<BitsAndBlooms>, Error> {
    let mut cursor = Cursor::new(bytes, Format::BitsAndBlooms);
    if bytes.starts_with(b"{") {
        let json: Json<'_> = serde_json::from_slice(bytes)
            .map_err(|error| cursor.damaged(format!("its JSON cannot be read: {error}")))?;
        let set = URL_SAFE
            .decode(json.b)
            .map_err(|error| cursor.damaged(format!("its field b is no base64: {error}")))?;
        let set = Cursor::new(&set, Format::BitsAndBlooms);
        return read_set(set, json.m, json.k, true);
    }
    let bits = cursor.u64_be("the number of bits")?;
    let hashes = cursor.u64_be("the number of hashes")?;
    read_set(cursor, bits, hashes, false)
}

fn read_set(
    mut cursor: Cursor<'_>,
    bits: u64,
    hashes: u64,
    json: bool,
) -> Result<OneArray<BitsAndBlooms>, Error> {
    if bits == 0 {
        return Err(cursor.damaged("it has 0 bits"));
    }
    let hashes = cursor.hashes(hashes)?;
    let stored_bits = cursor.u64_be("the length of the bit set")?;
    let stored = cursor.take(stored_bits.div_ceil(64).saturating_mul(8), "its bit set")?;
    cursor.end()?;
    let array = Array::from_big_endian(stored, bits, hashes)?;
    Ok(OneArray { layout: BitsAndBlooms { stored_bits, json }, array })
}
