//! The ledger's reader, and its repair.

use tamis::privacy::Ledger;

/// Checks one input.
pub fn check(bytes: &[u8]) {
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
}
