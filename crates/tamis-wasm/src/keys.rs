//! Keys as JavaScript hands them over: a batch at a time.

use crate::error::thrown;
use tamis::{Key, KeyRef};
use wasm_bindgen::JsValue;
use wasm_bindgen::prelude::wasm_bindgen;

/// Some keys. JavaScript makes one for each few thousand keys, so that the copy stays small.
#[wasm_bindgen]
pub struct Batch(Keys);

enum Keys {
    Small(Vec<u32>),
    Natural(Vec<u64>),
    Signed(Vec<i64>),
    Mixed(Vec<Mixed>),
}

enum Mixed {
    Bytes(Box<[u8]>),
    Natural(u128),
    Negative(i128),
}

/// The largest integer up to which a number of JavaScript has no neighbour of the same value.
const MAX_SAFE: f64 = 9_007_199_254_740_991.0;

/// What a key of a mixed batch is: the tags of `npm/keys.js`.
const BYTES: u8 = 0;
const NATURAL: u8 = 1;
const NEGATIVE: u8 = 2;

#[wasm_bindgen]
impl Batch {
    /// The elements of a `Uint32Array`.
    #[must_use]
    pub fn small(keys: Vec<u32>) -> Batch {
        Batch(Keys::Small(keys))
    }

    /// The elements of a `BigUint64Array`.
    #[must_use]
    pub fn natural(keys: Vec<u64>) -> Batch {
        Batch(Keys::Natural(keys))
    }

    /// The elements of a `BigInt64Array`.
    #[must_use]
    pub fn signed(keys: Vec<i64>) -> Batch {
        Batch(Keys::Signed(keys))
    }

    /// Numbers, which must be safe integers.
    pub fn numbers(keys: &[f64]) -> Result<Batch, JsValue> {
        keys.iter().map(|key| whole(*key)).collect::<Result<_, _>>().map(Keys::Signed).map(Batch)
    }

    /// Keys of any kind. Each has a tag, and the end of its bytes among `bytes`; an integer has 16
    /// bytes in two's complement, the lowest first.
    pub fn mixed(tags: &[u8], ends: &[u32], bytes: &[u8]) -> Result<Batch, JsValue> {
        let broken =
            || thrown("the package is damaged: a batch of keys ends early; install it again");
        let mut start = 0;
        let mut keys = Vec::with_capacity(tags.len());
        for (tag, end) in tags.iter().zip(ends) {
            let key = bytes.get(start..*end as usize).ok_or_else(broken)?;
            start = *end as usize;
            let wide = || <[u8; 16]>::try_from(key).map_err(|_| broken());
            keys.push(match *tag {
                BYTES => Mixed::Bytes(key.into()),
                NATURAL => Mixed::Natural(u128::from_le_bytes(wide()?)),
                NEGATIVE => Mixed::Negative(i128::from_le_bytes(wide()?)),
                _ => return Err(broken()),
            });
        }
        Ok(Batch(Keys::Mixed(keys)))
    }
}

impl Batch {
    /// The keys as the library takes them.
    pub(crate) fn keys(&self) -> Vec<KeyRef<'_>> {
        match &self.0 {
            Keys::Small(keys) => keys.iter().map(Key::as_key).collect(),
            Keys::Natural(keys) => keys.iter().map(Key::as_key).collect(),
            Keys::Signed(keys) => keys.iter().map(Key::as_key).collect(),
            Keys::Mixed(keys) => keys.iter().map(Key::as_key).collect(),
        }
    }
}

impl Key for Mixed {
    fn as_key(&self) -> KeyRef<'_> {
        match self {
            Mixed::Bytes(bytes) => KeyRef::Bytes(bytes),
            Mixed::Natural(value) => value.as_key(),
            Mixed::Negative(value) => value.as_key(),
        }
    }
}

/// The integer that a number of JavaScript is.
pub(crate) fn whole(number: f64) -> Result<i64, JsValue> {
    if number.trunc() == number && number.abs() <= MAX_SAFE {
        return Ok(number as i64);
    }
    Err(thrown(format!(
        "{number} is no key: a number must be a safe integer; write it as text or as a bigint"
    )))
}
