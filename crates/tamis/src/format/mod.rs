#![doc = include_str!("../../FORMAT.md")]

mod any;
mod checksum;
mod header;
mod read;
mod write;

pub use any::AnyFilter;
pub use header::{MAGIC, VERSION};
pub use read::Open;
pub(crate) use write::{folder_of, sync_folder, temporary};
