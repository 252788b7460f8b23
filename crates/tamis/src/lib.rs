//! Is this key in the set? An answer from a small sketch, with a promise that you choose.
//!
//! | promise | you say | the sketch keeps |
//! |---|---|---|
//! | [`rate`] | items, false-positive rate | members pass; strangers pass at about the rate |
//! | [`zone`] | a finite universe, a number of items | up to so many items no answer is wrong |
//! | [`privacy`] | items, epsilon | a release says of one item at most a factor e^epsilon |
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
//! Plan first: [`rate::Plan`] turns any two of items, rate and bits into the third, and
//! [`zone::Plan`] chooses a code and proves its promise, before anything is allocated;
//! [`privacy::LinearPlan`] says how often a release will be wrong. Files are specified in
//! [`mod@format`].
//!
//! # Features
//!
//! | feature | default | what it adds |
//! |---|---|---|
//! | `std` | yes | required |
//! | `mmap` | yes | files are mapped, not read, and large filters get large pages |
//! | `zone` | yes | [`zone`] |
//! | `privacy` | yes | [`privacy`] and [`stats`] |
//! | `documents` | no | two hash families that reproduce published documents |
//! | `serde` | no | filters as serde values: the bytes of their files |
//!
//! The rate promise alone (`default-features = false, features = ["std"]`) takes five other crates,
//! and builds for `wasm32-unknown-unknown`.
//!
//! # Which hash
//!
//! The default, [`HashFamily::fast`], is public: its seed stands in the file. Somebody who knows
//! the seed can compute which keys fill a rate filter fastest, which strangers pass, and which
//! removals take members out of a counting filter. Use it for keys that nobody chooses against you:
//! your own inventory, a static list, a cache in front of data you trust.
//!
//! Where others choose keys (addresses, user names, URLs, anything sent over a network) use
//! [`HashFamily::keyed`] with a [`SecretKey`] from a file or from the environment. Without the
//! secret, chosen keys are as good as random ones. Somebody who has the secret, or who may ask the
//! filter without limit and see each answer, still finds strangers that pass, one in 1/rate tries.
//! Zone filters have no hash and nothing to aim at: within the zone nobody is answered wrongly, and
//! an item too many is refused.

#[cfg(not(feature = "std"))]
compile_error!("tamis needs the feature `std`: add it to the features you ask for");

mod bits;
mod error;
pub mod format;
pub mod hash;
mod health;
mod key;
#[cfg(feature = "privacy")]
pub mod privacy;
pub mod rate;
// Some kernels serve one promise or one kind of processor only.
#[cfg_attr(not(all(feature = "privacy", target_arch = "x86_64")), allow(dead_code))]
mod simd;
#[cfg(feature = "privacy")]
pub mod stats;
mod store;
mod threads;
#[cfg(feature = "zone")]
pub mod zone;

pub use error::{Error, Fitting, PartFault, Wanted};
pub use format::{AnyFilter, Open, Promise};
pub use hash::{Digest, HashFamily, SecretKey};
pub use health::Health;
pub use key::{Encoded, Hashed, Key, KeyRef, Kinds};
pub use rate::{
    BlockedBloom, Bloom, ConcurrentBlockedBloom, ConcurrentBloom, ConcurrentSplitBloom,
    CountingBloom, QuotientFilter, Rolling, Scalable, SplitBloom, StaticFilter,
};

/// The level of the kernels that filters use on this machine: `scalar`, `avx2` or `avx512`. The
/// environment variable `TAMIS_LEVEL` can lower it, if it is set when the program first asks; the
/// answers are the same at every level.
///
/// ```
/// assert!(["scalar", "avx2", "avx512"].contains(&tamis::processor_level()));
/// ```
#[must_use]
pub fn processor_level() -> &'static str {
    simd::Level::detect().name()
}
