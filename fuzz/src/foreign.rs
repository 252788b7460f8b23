//! Files of other programs: as every format, and as whole Parquet files.

use crate::foreign_usage as usage;
use tamis_foreign::{Format, Open};

/// Checks one input: its first byte says the format, where the rest is a file.
pub fn check(bytes: &[u8]) {
    let _ = Open::new().bytes(bytes);
    usage::exercise_file("fuzzed", bytes);
    let Some((first, rest)) = bytes.split_first() else { return };
    let format = Format::ALL[usize::from(*first) % Format::ALL.len()];
    for bytes in [bytes, rest] {
        if let Ok(filter) = Open::new().from(format).max_memory(1 << 24).bytes(bytes) {
            usage::exercise("fuzzed", filter);
        }
    }
}
