//! Universes of words, for zone filters.

use crate::error::thrown;
use crate::filter::Opening;
use crate::keys::Batch;
use tamis::KeyRef;
use tamis::zone::Universe;
use wasm_bindgen::JsValue;
use wasm_bindgen::prelude::wasm_bindgen;

/// The keys of a dictionary, a batch at a time.
#[wasm_bindgen]
#[derive(Default)]
pub struct Dictionary(Vec<Box<[u8]>>);

#[wasm_bindgen]
impl Dictionary {
    /// No keys yet.
    #[wasm_bindgen(constructor)]
    #[must_use]
    pub fn new() -> Dictionary {
        Dictionary::default()
    }

    /// Adds keys, which must be texts or bytes.
    pub fn add(&mut self, batch: &Batch) -> Result<(), JsValue> {
        for key in batch.keys() {
            let KeyRef::Bytes(bytes) = key else {
                return Err(thrown("the keys of a dictionary are texts; write integers as texts"));
            };
            self.0.push(bytes.into());
        }
        Ok(())
    }
}

impl Dictionary {
    pub(crate) fn universe(self) -> Result<Universe, JsValue> {
        Universe::dictionary(self.0.iter().map(|key| &**key)).map_err(thrown)
    }
}

#[wasm_bindgen]
impl Opening {
    /// The dictionary of a zone filter.
    pub fn set_dictionary(&mut self, keys: Dictionary) -> Result<(), JsValue> {
        let universe = keys.universe()?;
        self.0 = std::mem::take(&mut self.0).dictionary(universe);
        Ok(())
    }

    /// A zone filter without its dictionary.
    pub fn set_without_dictionary(&mut self) {
        self.0 = std::mem::take(&mut self.0).without_dictionary();
    }
}
