//! Lines, records and CSV, as the command line reads them.

#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| tamis_fuzz::input::check(bytes));
