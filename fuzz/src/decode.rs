//! Files of every kind: as they come, and with their checksums made good.

use crate::{files, usage};
use tamis::{AnyFilter, Error, Open};

fn open(bytes: &[u8]) -> Result<AnyFilter, Error> {
    match Open::new().bytes(bytes) {
        Err(Error::KeyNeeded) => Open::new().key(files::key()).bytes(bytes),
        Err(Error::DictionaryNeeded { .. }) => {
            Open::new().dictionary(files::dictionary()).bytes(bytes)
        }
        other => other,
    }
}

/// Checks one input.
pub fn check(bytes: &[u8]) {
    let _ = open(bytes);
    let _ = AnyFilter::from_reader(bytes);
    if bytes.len() < 128 {
        return;
    }
    let mut good = bytes.to_vec();
    good[..10].copy_from_slice(b"\x89TAMIS\r\n\x01\0");
    good[11] = 0;
    good[10] = good[10] % 7 + 1;
    if let Ok(filter) = open(&files::repaired(good)) {
        usage::exercise("fuzzed", filter, open, bytes.len() < 400);
    }
}
