//! The blocked filter, whatever kernel the processor has, against the words of FORMAT.md.

#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| tamis_fuzz::kernels::check(bytes));
