//! Errors as JavaScript throws them. Their sentences stay as they are.

use std::fmt::Display;
use wasm_bindgen::JsValue;
use wasm_bindgen::prelude::wasm_bindgen;

// The class is JavaScript's, so that `instanceof` knows it.
#[wasm_bindgen(raw_module = "./error.js")]
extern "C" {
    type TamisError;
    #[wasm_bindgen(constructor)]
    fn new(message: &str) -> TamisError;
}

/// An error as JavaScript throws it.
pub(crate) fn thrown(error: impl Display) -> JsValue {
    TamisError::new(&error.to_string()).into()
}
