//! What JavaScript sees of the library. The bindings translate and never compute: `npm/` has the
//! package around them, with its types.

use wasm_bindgen::prelude::wasm_bindgen;

/// The version of the package.
#[wasm_bindgen]
#[must_use]
pub fn version() -> String {
    env!("CARGO_PKG_VERSION").to_owned()
}
