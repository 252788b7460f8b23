#![doc = include_str!("../../FORMAT.md")]

mod any;
mod checksum;
mod file;
mod header;
mod published;
mod rate;
mod read;
mod stored;
mod write;
mod zone;

pub use any::AnyFilter;
pub(crate) use file::{Existing, write as write_file};
pub use header::{MAGIC, VERSION};
pub(crate) use published::PublishedPlan;
pub use read::Open;
pub use stored::{AnyPlan, Promise};
