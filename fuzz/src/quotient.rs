//! A quotient filter beside a list: whatever comes and goes, both hold the same.

use std::collections::BTreeMap;
use tamis::{Error, QuotientFilter};

/// Checks one input: the first bytes choose the size, each other pair is a step.
pub fn check(bytes: &[u8]) {
    let [items, rate, steps @ ..] = bytes else { return };
    let rate = 0.5f64.powi(i32::from(rate % 20) + 1);
    let Ok(mut filter) = QuotientFilter::new(u64::from(*items) + 1, rate) else { return };
    let mut members: BTreeMap<u8, u64> = BTreeMap::new();
    for step in steps.chunks_exact(2) {
        let (what, key) = (step[0], step[1]);
        match what % 16 {
            // Doubled a few times: what holds for 16,000 slots holds for more.
            0 | 1 if filter.plan().cells() > 1 << 14 => {}
            0 => drop(filter.grow()),
            1 => {
                let mut other = filter.clone();
                if other.union(&filter).is_ok() {
                    filter = other;
                    members.values_mut().for_each(|count| *count *= 2);
                }
            }
            2..8 => match members.get_mut(&key) {
                Some(count) => {
                    filter.remove(u64::from(key)).expect("a member");
                    *count -= 1;
                    if *count == 0 {
                        members.remove(&key);
                    }
                }
                None if filter.contains(u64::from(key)) => {}
                None => {
                    let before = filter.clone();
                    assert!(matches!(filter.remove(u64::from(key)), Err(Error::Absent)));
                    assert_eq!(filter, before, "what failed changed something");
                }
            },
            _ => match filter.insert(u64::from(key)) {
                Ok(_) => *members.entry(key).or_default() += 1,
                Err(error) => assert!(matches!(error, Error::NoSlot { .. }), "{error}"),
            },
        }
    }
    assert_eq!(filter.len(), members.values().sum::<u64>());
    for (key, count) in &members {
        assert!(filter.contains(u64::from(*key)) && filter.count(u64::from(*key)) >= *count);
    }
    let held: u64 = filter.fingerprints().expect("a sound filter").map(|(_, count)| count).sum();
    assert_eq!(held, filter.len());
    let read = QuotientFilter::from_bytes(&filter.to_bytes()).expect("what was written is read");
    assert_eq!(read, filter);
}
