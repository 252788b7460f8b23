#![doc = include_str!("../../FORMAT.md")]

mod any;
mod chain;
mod checksum;
mod file;
mod header;
mod part;
#[cfg(feature = "privacy")]
mod published;
mod quotient;
mod rate;
mod read;
mod static_filter;
mod stored;
mod write;
#[cfg(feature = "zone")]
mod zone;

pub use any::AnyFilter;
pub(crate) use chain::chain_header;
pub use file::{Existing, NewFile, Readers};
pub(crate) use header::SHORT_HEADER;
pub use header::{MAGIC, VERSION};
pub use part::{Join, KeysRead, PART_MAGIC, Part, PartNumber};
#[cfg(feature = "privacy")]
pub(crate) use published::PublishedPlan;
pub use read::Open;
pub use stored::{AnyPlan, Promise};
