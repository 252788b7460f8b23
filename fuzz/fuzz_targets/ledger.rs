//! The ledger's reader, and its repair.

#![no_main]

use libfuzzer_sys::fuzz_target;
use tamis::privacy::Ledger;

fuzz_target!(|bytes: &[u8]| {
    let Ok(file) = tempfile::NamedTempFile::new() else { return };
    if std::fs::write(file.path(), bytes).is_err() {
        return;
    }
    let opened = Ledger::open(file.path());
    let repaired = Ledger::repair(file.path());
    match (opened, repaired) {
        (Ok(opened), Ok(repaired)) => assert_eq!(opened.entries(), repaired.entries()),
        (Ok(_), Err(error)) => panic!("a good ledger is not repaired: {error}"),
        (Err(_), Ok(repaired)) => {
            assert!(repaired.spent() <= repaired.budget());
            let again = Ledger::open(file.path()).expect("a repaired ledger is whole");
            assert_eq!(again.entries(), repaired.entries());
        }
        (Err(_), Err(_)) => assert_eq!(std::fs::read(file.path()).expect("it is there"), bytes),
    }
});
