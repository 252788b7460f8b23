//! The formats by name.

use std::fmt;
use std::str::FromStr;

/// A file format of another program.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[non_exhaustive]
pub enum Format {
    /// Split-block filters of Apache Parquet.
    Parquet,
    /// `BloomFilter.writeTo` of Google Guava (Java).
    Guava,
    /// `org.apache.spark.util.sketch.BloomFilter` of Apache Spark.
    Spark,
    /// The `bloom` tool of DCSO (Go), `flor` (Python) and `poppy` version 1 (Rust).
    Dcso,
    /// `bits-and-blooms/bloom` (Go).
    BitsAndBlooms,
    /// The module RedisBloom: `BF.SCANDUMP` chunks, `DUMP` values, append-only files.
    RedisBloom,
    /// The module valkey-bloom: what `BF.LOAD` takes.
    ValkeyBloom,
    /// `rbloom` (Python).
    Rbloom,
    /// The crate `fastbloom` (Rust), through serde and bincode or JSON.
    Fastbloom,
    /// The crate `bloomfilter` (Rust).
    Bloomfilter,
    /// `pybloom_live` (Python).
    PybloomLive,
}

impl Format {
    /// All of them, the strongest shapes first.
    pub const ALL: [Format; 11] = [
        Format::Parquet,
        Format::Guava,
        Format::Spark,
        Format::Dcso,
        Format::BitsAndBlooms,
        Format::RedisBloom,
        Format::ValkeyBloom,
        Format::Rbloom,
        Format::Fastbloom,
        Format::Bloomfilter,
        Format::PybloomLive,
    ];

    /// The name, the same everywhere.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Format::Parquet => "parquet",
            Format::Guava => "guava",
            Format::Spark => "spark",
            Format::Dcso => "dcso",
            Format::BitsAndBlooms => "bits-and-blooms",
            Format::RedisBloom => "redisbloom",
            Format::ValkeyBloom => "valkey-bloom",
            Format::Rbloom => "rbloom",
            Format::Fastbloom => "fastbloom",
            Format::Bloomfilter => "bloomfilter",
            Format::PybloomLive => "pybloom-live",
        }
    }

    /// The program that writes it, in words.
    #[must_use]
    pub fn program(self) -> &'static str {
        match self {
            Format::Parquet => "Apache Parquet",
            Format::Guava => "Guava, Java",
            Format::Spark => "Apache Spark",
            Format::Dcso => "DCSO bloom, flor, poppy 1",
            Format::BitsAndBlooms => "bits-and-blooms, Go",
            Format::RedisBloom => "RedisBloom",
            Format::ValkeyBloom => "valkey-bloom",
            Format::Rbloom => "rbloom, Python",
            Format::Fastbloom => "fastbloom, Rust",
            Format::Bloomfilter => "bloomfilter, Rust",
            Format::PybloomLive => "pybloom_live, Python",
        }
    }
}

impl fmt::Display for Format {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.pad(self.name())
    }
}

impl FromStr for Format {
    type Err = String;

    fn from_str(name: &str) -> Result<Format, String> {
        Format::ALL.into_iter().find(|format| format.name() == name).ok_or_else(|| {
            let names: Vec<&str> = Format::ALL.iter().map(|format| format.name()).collect();
            format!("there is no format {name:?}; there are: {}", names.join(", "))
        })
    }
}
