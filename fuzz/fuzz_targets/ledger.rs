//! The ledger's reader, and its repair.

#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| tamis_fuzz::ledger::check(bytes));
