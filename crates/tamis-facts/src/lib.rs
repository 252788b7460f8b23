//! What is said of plans and of filters, as values that serde writes: the JSON of the command line
//! and of the package for JavaScript. The names of the fields are a contract.
//!
//! ```
//! use tamis::rate::{Kind, Plan};
//! let plan = Plan::from_items_fpr(Kind::Bloom, 1_000, 0.01)?;
//! let json = serde_json::to_value(tamis_facts::RateReport::new(&plan)).unwrap();
//! assert_eq!(json["hashes"], 7);
//! # Ok::<(), tamis::Error>(())
//! ```

mod chain;
#[cfg(feature = "foreign")]
mod foreign;
mod info;
mod integer;
mod list;
mod privacy;
mod rate;
mod static_filter;
mod zone;

pub use chain::{ChainFacts, ChainReport};
#[cfg(feature = "foreign")]
pub use foreign::ForeignInfo;
pub use info::Info;
pub use integer::{Elements, Integer};
pub use list::ListFacts;
pub use privacy::{PrivacyFacts, PrivacyReport, PrivatePlan};
pub use rate::{RateFacts, RateReport, advice, small_advice};
pub use static_filter::{StaticFacts, StaticReport};
pub use zone::{ZoneFacts, ZoneReport, past};

/// The bytes of a file before its body.
pub const HEADER: u64 = 128;
