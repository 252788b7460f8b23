//! Set operations on filters that may not match.

#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| tamis_fuzz::merge::check(bytes));
