//! Is this key in the set? An answer from a small sketch, with a promise that you choose.
//!
//! | promise | you say | the sketch keeps |
//! |---|---|---|
//! | [`rate`] | items, false-positive rate | members always pass; strangers pass at about the rate |
//! | [`zone`] | a finite universe, most items | nobody is answered wrongly, up to that many items; it can list and remove |
//! | [`privacy`] | items, epsilon | what is published says of any one item at most a factor e^epsilon |
//!
//! ```
//! use tamis::{AnyFilter, Bloom};
//!
//! let mut seen = Bloom::new(10_000, 0.01)?;             // 10,000 items, 1% of strangers pass
//! seen.insert("ant");
//! assert!(seen.contains("ant"));                        // members always pass
//! println!("{:.4}", seen.expected_fpr());               // what share of strangers passes now
//!
//! let file = std::env::temp_dir().join("seen.tamis");
//! seen.save(&file)?;                                    // whole or not at all
//! assert!(AnyFilter::open(&file)?.contains("ant")?);    // mapped, not read
//! # std::fs::remove_file(&file)?;
//! # Ok::<(), tamis::Error>(())
//! ```
//!
//! Plan first: [`rate::Plan`] turns any two of items, rate and bits into the third, and [`zone::Plan`] chooses a code and proves
//! its promise, before anything is allocated; [`privacy::LinearPlan`] says how often a release will be wrong. Files are specified in [`mod@format`].

mod bits;
mod error;
pub mod format;
pub mod hash;
mod health;
mod key;
mod prefetch;
pub mod privacy;
pub mod rate;
pub mod stats;
mod store;
pub mod zone;

pub use error::Error;
pub use format::{AnyFilter, Open};
pub use hash::{Digest, Hash, SecretKey};
pub use health::Health;
pub use key::{Key, KeyRef, Kinds};
pub use rate::{BlockedBloom, Bloom, CountingBloom};
