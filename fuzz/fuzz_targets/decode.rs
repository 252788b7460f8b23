//! Files of every kind: as they come, and with their checksums made good.

#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| tamis_fuzz::decode::check(bytes));
