//! Files of other programs: as every format, and as whole Parquet files.

#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| tamis_fuzz::foreign::check(bytes));
