//! Listing within the zone and far beyond it.

#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| tamis_fuzz::list::check(bytes));
