//! What each fuzz target checks, as a plain function of bytes.
//!
//! The targets in `fuzz_targets/` call these functions under libFuzzer, which needs a nightly
//! toolchain. `tests/seeds.rs` calls the same functions on a stable one: over the seeds, and over
//! seeded mutations of them.

pub mod decode;
pub mod foreign;
pub mod input;
pub mod kernels;
pub mod ledger;
pub mod list;
pub mod merge;
pub mod quotient;
pub mod round_trip;
pub mod static_filter;

#[path = "../../crates/tamis/tests/hostile/files.rs"]
#[allow(dead_code, clippy::unwrap_used)]
mod files;
#[path = "../../crates/tamis-foreign/tests/hostile/usage.rs"]
mod foreign_usage;
#[path = "../../crates/tamis/tests/hostile/usage.rs"]
#[allow(clippy::unwrap_used)]
mod usage;
