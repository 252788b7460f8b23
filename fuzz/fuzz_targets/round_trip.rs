//! What is written is read.

#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| tamis_fuzz::round_trip::check(bytes));
