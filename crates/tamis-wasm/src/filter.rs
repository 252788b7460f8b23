//! A filter of any kind, opened from bytes.

use crate::error::thrown;
use crate::keys::{Batch, whole};
use std::io::Read;
use std::time::Duration;
use tamis::privacy::Estimate;
use tamis::{AnyFilter, KeyRef, Kinds, Open, SecretKey};
use wasm_bindgen::JsValue;
use wasm_bindgen::prelude::wasm_bindgen;

/// A filter of any kind.
#[wasm_bindgen]
pub struct RawFilter(pub(crate) AnyFilter);

#[wasm_bindgen]
extern "C" {
    /// Bytes that lie with JavaScript.
    pub type Uint8Array;
    #[wasm_bindgen(method, getter)]
    fn length(this: &Uint8Array) -> usize;
    #[wasm_bindgen(method)]
    fn subarray(this: &Uint8Array, start: usize, end: usize) -> Vec<u8>;
}

/// How much is copied at a time.
const PIECE: usize = 1 << 16;

/// The bytes of JavaScript, read as they are needed: a body that is too large is never copied.
struct Bytes {
    array: Uint8Array,
    at: usize,
}

impl Read for Bytes {
    fn read(&mut self, out: &mut [u8]) -> std::io::Result<usize> {
        let end = self.array.length().min(self.at + out.len().min(PIECE));
        let piece = self.array.subarray(self.at, end);
        let Some(out) = out.get_mut(..piece.len()) else {
            return Err(std::io::ErrorKind::InvalidData.into());
        };
        out.copy_from_slice(&piece);
        self.at = end;
        Ok(piece.len())
    }
}

/// How to open a filter.
#[wasm_bindgen]
#[derive(Default)]
pub struct Opening(pub(crate) Open);

#[wasm_bindgen]
impl Opening {
    /// A filter that may take so many bytes of memory.
    #[wasm_bindgen(constructor)]
    #[must_use]
    pub fn new(max_bytes: f64) -> Opening {
        Opening(Open::new().max_memory(max_bytes as u64))
    }

    /// The secret key of a keyed filter.
    pub fn set_key(&mut self, secret: &[u8]) -> Result<(), JsValue> {
        let key = SecretKey::new(secret).map_err(thrown)?;
        self.0 = std::mem::take(&mut self.0).key(key);
        Ok(())
    }

    /// Opens the bytes of a file.
    pub fn open(&self, bytes: Uint8Array) -> Result<RawFilter, JsValue> {
        self.0.reader(Bytes { array: bytes, at: 0 }).map(RawFilter).map_err(thrown)
    }
}

#[wasm_bindgen]
impl RawFilter {
    /// The name of its kind.
    #[must_use]
    pub fn kind(&self) -> String {
        self.0.kind().to_owned()
    }

    /// The name of its promise.
    #[must_use]
    pub fn promise(&self) -> String {
        self.0.promise().to_string()
    }

    /// Whether it keeps its promise.
    #[must_use]
    pub fn health(&self) -> String {
        self.0.health().to_string()
    }

    /// The share of cells that are not empty.
    #[must_use]
    pub fn fill(&self) -> f64 {
        self.0.fill()
    }

    /// The share of strangers that pass.
    #[must_use]
    pub fn fpr(&self) -> f64 {
        self.0.expected_fpr()
    }

    /// The share of members that do not pass.
    #[must_use]
    pub fn fnr(&self) -> f64 {
        self.0.expected_fnr()
    }

    /// The keys that it most likely holds.
    #[must_use]
    pub fn estimated_items(&self) -> Option<f64> {
        self.0.estimated_items()
    }

    /// The bytes of its body.
    #[must_use]
    pub fn bytes(&self) -> f64 {
        self.0.plan().bytes() as f64
    }

    /// Whether a text passes.
    pub fn has_text(&self, key: &str) -> Result<bool, JsValue> {
        self.0.contains(key).map_err(thrown)
    }

    /// Whether bytes pass.
    pub fn has_bytes(&self, key: &[u8]) -> Result<bool, JsValue> {
        self.0.contains(key).map_err(thrown)
    }

    /// Whether an integer passes.
    pub fn has_number(&self, key: f64) -> Result<bool, JsValue> {
        self.0.contains(whole(key)?).map_err(thrown)
    }

    /// Whether each key passes: 1 or 0.
    pub fn has_batch(&self, batch: &Batch) -> Result<Vec<u8>, JsValue> {
        let keys = batch.keys();
        #[cfg(feature = "full")]
        let answers = self.0.contains_many(&keys).map_err(thrown)?.into_iter().map(Ok);
        // The small build has no code for batches.
        #[cfg(not(feature = "full"))]
        let answers = keys.into_iter().map(|key| self.0.contains(key).map_err(thrown));
        answers.map(|passes| passes.map(u8::from)).collect()
    }

    /// Whether a key passes that is written as text, taken as `tamis query` takes it.
    pub fn query(&self, text: &str) -> Result<bool, JsValue> {
        #[cfg(feature = "full")]
        if let Some(plan) = self.0.plan().zone() {
            let number = plan.universe().number_of_text(text.as_bytes()).map_err(thrown)?;
            return self.0.contains_number(number).map_err(thrown);
        }
        let kinds = self.0.kinds();
        let integer = if kinds.has(Kinds::INTEGERS) { integer(text) } else { None };
        if kinds.has(Kinds::INTEGERS) && !kinds.has(Kinds::BYTES) {
            let integer = integer.ok_or_else(|| {
                thrown(format!("{text:?} is no integer, and the filter holds only integers"))
            })?;
            return self.0.contains(integer).map_err(thrown);
        }
        let passes = self.0.contains(text).map_err(thrown)?;
        match integer {
            Some(integer) if !passes => self.0.contains(integer).map_err(thrown),
            _ => Ok(passes),
        }
    }

    /// Tells a filter that forgets the time, in milliseconds since 1970.
    pub fn advance(&mut self, milliseconds: f64) -> Result<(), JsValue> {
        match &mut self.0 {
            AnyFilter::Rolling(chain) => {
                chain.advance(Duration::from_millis(milliseconds as u64));
                Ok(())
            }
            other => Err(thrown(format!("a {} filter does not forget by the clock", other.kind()))),
        }
    }

    /// How many of so many distinct keys are members, if so many of them passed; nothing if that
    /// cannot be told.
    #[must_use]
    pub fn estimate_members(&self, passed: f64, keys: f64) -> Option<Vec<f64>> {
        let (fpr, fnr) = (self.0.expected_fpr(), self.0.expected_fnr());
        let members = Estimate::of_members(passed as u64, keys as u64, fpr, fnr)?;
        Some(vec![members.value, members.low, members.high])
    }
}

/// The integer that a text is.
fn integer(text: &str) -> Option<KeyRef<'static>> {
    let text = text.trim();
    match (text.parse::<u64>(), text.parse::<i64>()) {
        (Ok(natural), _) => Some(KeyRef::Natural(natural)),
        (_, Ok(negative)) => Some(KeyRef::Negative(negative as u64)),
        _ => None,
    }
}
