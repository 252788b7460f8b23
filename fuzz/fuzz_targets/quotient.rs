//! A quotient filter beside a list.

#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| tamis_fuzz::quotient::check(bytes));
