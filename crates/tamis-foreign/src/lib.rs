//! Bloom filters of other programs: read, asked and written as those programs do it, bit for bit.
//!
//! | format | program | keys |
//! |---|---|---|
//! | `parquet` | Apache Parquet files, split-block filters | values of a column |
//! | `guava` | Guava, `BloomFilter.writeTo` | text, chars, long, int, bytes |
//! | `spark` | Apache Spark, `util.sketch.BloomFilter` | text, long, bytes |
//! | `dcso` | DCSO `bloom`, `flor`, `poppy` version 1 | bytes |
//! | `bits-and-blooms` | the Go package of this name | bytes |
//! | `redisbloom` | the server module RedisBloom | bytes |
//! | `valkey-bloom` | the server module valkey-bloom | bytes |
//! | `rbloom` | the Python package of this name | hashes of 128 bits |
//! | `fastbloom` | the crate of this name, release 0.17 | text, bytes, integers |
//! | `bloomfilter` | the crate of this name, release 3 | bytes |
//! | `pybloom-live` | the Python package of this name, release 4 | bytes |
//!
//! [`Open`] reads bytes, by the format that is named or by their shape. [`Plan`] chooses the sizes
//! that the program itself would choose, and [`ForeignFilter::with_plan`] makes an empty filter of
//! them. [`parquet::ParquetFile`] finds the filters in a Parquet file.
//!
//! Bytes from outside are hostile until they are read: every length is compared with the bytes that
//! are there before memory is taken, and no filter makes a lookup loop for long.

mod array;
mod bits_and_blooms;
mod bloomfilter;
mod cursor;
mod dcso;
mod error;
mod fastbloom;
mod filter;
mod format;
mod guava;
mod hash;
mod key;
mod open;
pub mod parquet;
mod part;
mod plan;
mod pybloom_live;
mod rbloom;
mod redisbloom;
mod spark;
mod valkey_bloom;

pub use error::Error;
pub use filter::ForeignFilter;
pub use format::Format;
pub use key::KeyKind;
pub use open::Open;
pub use part::{Part, Planned};
pub use plan::{Form, Plan, Target};

/// The most bits of a key that are read: a lookup tests each.
pub const MAX_HASHES: u32 = 1024;

/// The most bits that a plan may have.
pub const MAX_BITS: u64 = 1 << 46;

/// The most filters of a chain: each is larger than the one before.
pub(crate) const MAX_PARTS: usize = 1024;
