//! The crate fastbloom (Rust), release 0.17, through serde: bincode or JSON. The words, the number
//! of hashes less one, and the state of SipHash-1-3 before any byte. The layout is what that
//! release derives; another may write another.

use crate::array::{Array, Scheme, mismatch, with_capacity};
use crate::cursor::Cursor;
use crate::filter::{Layout, OneArray};
use crate::hash::sip13;
use crate::{Error, Format};
use serde::{Deserialize, Serialize};

/// Multiplied with the hash of a key for its step.
const STEP: u64 = 0x517c_c1b7_2722_0a95;

#[derive(Debug, Clone)]
pub(crate) struct Fastbloom {
    keys: (u64, u64),
    json: bool,
}

impl Fastbloom {
    /// With a seed as `BloomFilter::seed` takes it.
    pub(crate) fn new(seed: u128) -> Fastbloom {
        let bytes = seed.to_be_bytes();
        let (words, _) = bytes.as_chunks();
        let [k0, k1] = [0, 1].map(|i| u64::from_le_bytes(words[i]));
        Fastbloom { keys: (k0, k1), json: false }
    }
}

impl Scheme for Fastbloom {
    type Hash = u64;

    fn hash(&self, key: &[u8]) -> u64 {
        sip13(self.keys, &[key])
    }

    #[inline]
    fn positions(&self, mut hash: u64, bits: u64) -> impl Iterator<Item = u64> {
        let step = hash.wrapping_mul(STEP);
        std::iter::from_fn(move || {
            let position = ((u128::from(hash) * u128::from(bits)) >> 64) as u64;
            hash = hash.rotate_left(5).wrapping_add(step);
            Some(position)
        })
    }
}

/// SipHash before any byte, in the order in which it is stored.
#[derive(Deserialize, Serialize, PartialEq)]
struct Sip {
    k0: u64,
    k1: u64,
    length: u64,
    state: State,
    tail: u64,
    ntail: u64,
    _marker: (),
}

#[derive(Deserialize, Serialize, PartialEq)]
struct State {
    v0: u64,
    v2: u64,
    v1: u64,
    v3: u64,
}

impl Sip {
    fn new((k0, k1): (u64, u64)) -> Sip {
        let state = State {
            v0: k0 ^ 0x736f_6d65_7073_6575,
            v1: k1 ^ 0x646f_7261_6e64_6f6d,
            v2: k0 ^ 0x6c79_6765_6e65_7261,
            v3: k1 ^ 0x7465_6462_7974_6573,
        };
        Sip { k0, k1, length: 0, state, tail: 0, ntail: 0, _marker: () }
    }
}

#[derive(Deserialize, Serialize)]
struct Json {
    bits: Words,
    num_hashes_minus_one: u32,
    hasher: Outer,
}

#[derive(Deserialize, Serialize)]
struct Words {
    bits: Vec<u64>,
}

#[derive(Deserialize, Serialize)]
struct Outer {
    hasher: Inner,
}

#[derive(Deserialize, Serialize)]
struct Inner {
    hasher: Sip,
}

impl Layout for Fastbloom {
    const FORMAT: Format = Format::Fastbloom;

    fn variant(&self) -> String {
        format!("as release 0.17 writes it, {}", if self.json { "JSON" } else { "bincode" })
    }

    fn to_bytes(&self, array: &Array) -> Result<Vec<u8>, Error> {
        let sip = Sip::new(self.keys);
        let (words, _) = array.bytes.as_chunks();
        if self.json {
            let bits = words.iter().map(|word| u64::from_le_bytes(*word)).collect();
            let json = Json {
                bits: Words { bits },
                num_hashes_minus_one: array.hashes - 1,
                hasher: Outer { hasher: Inner { hasher: sip } },
            };
            return serde_json::to_vec(&json).map_err(|error| Error::Io(error.into()));
        }
        let mut out = with_capacity(84 + array.bytes.len() as u64)?;
        out.extend((words.len() as u64).to_le_bytes());
        out.extend_from_slice(&array.bytes);
        out.extend((array.hashes - 1).to_le_bytes());
        let State { v0, v2, v1, v3 } = sip.state;
        for word in [sip.k0, sip.k1, sip.length, v0, v2, v1, v3, sip.tail, sip.ntail] {
            out.extend(word.to_le_bytes());
        }
        Ok(out)
    }

    fn merge(&mut self, other: &Fastbloom) -> Result<(), Error> {
        mismatch("first half of the seed", self.keys.0, other.keys.0)?;
        mismatch("second half of the seed", self.keys.1, other.keys.1)
    }
}

pub(crate) fn read(bytes: &[u8]) -> Result<OneArray<Fastbloom>, Error> {
    let mut cursor = Cursor::new(bytes, Format::Fastbloom);
    if bytes.starts_with(b"{") {
        let json: Json = serde_json::from_slice(bytes)
            .map_err(|error| cursor.damaged(format!("its JSON cannot be read: {error}")))?;
        let words = json.bits.bits;
        let mut body = with_capacity(8 * words.len() as u64)?;
        words.iter().for_each(|word| body.extend(word.to_le_bytes()));
        let hashes = json.num_hashes_minus_one;
        return finish(&cursor, &body, hashes, &json.hasher.hasher.hasher, true);
    }
    let words = cursor.u64_le("the number of words")?;
    let stored = cursor.take(words.saturating_mul(8), "its array of bits")?;
    let hashes = cursor.u32_le("the number of hashes")?;
    let mut word = || cursor.u64_le("the state of its hash");
    let sip = Sip {
        k0: word()?,
        k1: word()?,
        length: word()?,
        state: State { v0: word()?, v2: word()?, v1: word()?, v3: word()? },
        tail: word()?,
        ntail: word()?,
        _marker: (),
    };
    cursor.end()?;
    finish(&cursor, stored, hashes, &sip, false)
}

fn finish(
    cursor: &Cursor<'_>,
    stored: &[u8],
    hashes_minus_one: u32,
    sip: &Sip,
    json: bool,
) -> Result<OneArray<Fastbloom>, Error> {
    if stored.is_empty() {
        return Err(cursor.damaged("it has 0 bits"));
    }
    let keys = (sip.k0, sip.k1);
    if *sip != Sip::new(keys) {
        return Err(cursor.damaged("the state of its hash is not that of SipHash-1-3 at its start"));
    }
    let hashes = cursor.hashes(u64::from(hashes_minus_one) + 1)?;
    let array = Array::copied(stored, 8 * stored.len() as u64, hashes)?;
    Ok(OneArray { layout: Fastbloom { keys, json }, array })
}
