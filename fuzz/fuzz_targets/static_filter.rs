//! Static filters of any digests.

#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| tamis_fuzz::static_filter::check(bytes));
