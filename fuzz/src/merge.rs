//! Set operations on filters that may not match.

use crate::files;
use tamis::{AnyFilter, Error, Open};

fn open(bytes: &[u8]) -> Option<AnyFilter> {
    let opened = match Open::new().bytes(bytes) {
        Err(Error::KeyNeeded) => Open::new().key(files::key()).bytes(bytes),
        Err(Error::DictionaryNeeded { .. }) => {
            Open::new().dictionary(files::dictionary()).bytes(bytes)
        }
        other => other,
    };
    opened.ok()
}

/// Checks one input.
pub fn check(bytes: &[u8]) {
    let golden = files::golden();
    let Some((which, rest)) = bytes.split_first() else { return };
    let other = open(golden[usize::from(*which) % golden.len()].1);
    if rest.len() < 128 {
        return;
    }
    let (Some(one), Some(other)) = (open(&files::repaired(rest.to_vec())), other) else { return };
    let (mut union, mut common) = (one.clone(), one.clone());
    match (union.union(&other), common.intersect(&other)) {
        (Ok(()), Ok(())) => {
            for key in (0..40).map(|i| format!("key {i}")) {
                if let (Ok(a), Ok(b), Ok(either)) =
                    (one.contains(&key), other.contains(&key), union.contains(&key))
                {
                    assert!(either || !(a || b));
                }
            }
        }
        // Quotient filters and chains have no intersection.
        (outcome, Err(_)) if ["quotient", "scalable", "rolling"].contains(&one.kind()) => {
            assert_eq!(common, one, "what failed changed something");
            assert!(outcome.is_ok() || union == one, "what failed changed something");
        }
        (Err(a), Err(b)) => {
            assert_eq!(a.to_string(), b.to_string());
            assert_eq!((&union, &common), (&one, &one), "what failed changed something");
        }
        _ => assert!(one.promise() == tamis::Promise::Zone, "only one of the two was refused"),
    }
}
