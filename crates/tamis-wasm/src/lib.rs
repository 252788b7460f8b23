//! What JavaScript sees of the library. The bindings translate and never compute: `npm/` has the
//! package around them, with its types.
//!
//! Without the feature `full` this is the small build, which opens rate filters and published ones,
//! and asks them.

#[cfg(feature = "full")]
pub mod build;
mod error;
pub mod filter;
#[cfg(feature = "full")]
pub mod foreign;
pub mod keys;
#[cfg(feature = "full")]
mod options;
#[cfg(feature = "full")]
pub mod plan;
#[cfg(feature = "full")]
pub mod zone;

use wasm_bindgen::prelude::wasm_bindgen;

/// The version of the package.
#[wasm_bindgen]
#[must_use]
pub fn version() -> String {
    env!("CARGO_PKG_VERSION").to_owned()
}
