//! The Rust programs themselves read what is written here, and answer alike.

#![allow(clippy::unwrap_used)]

use bloomfilter::Bloom;
use fastbloom::BloomFilter;
use tamis_foreign::{ForeignFilter, Format, KeyKind, Open, Plan};

const MEMBERS: i64 = 2_000;
const ASKED: i64 = 20_000;

fn encoded(format: Format, kind: KeyKind, text: &str) -> Vec<u8> {
    let mut key = Vec::new();
    format.encode(kind, text.as_bytes(), &mut key).unwrap();
    key
}

/// Asks both for members and strangers.
fn compare(filter: &ForeignFilter, kind: KeyKind, asks: impl Fn(i64) -> (String, bool)) {
    let mut passed = 0;
    for i in 0..ASKED {
        let (text, theirs) = asks(i);
        let ours = filter.contains(&encoded(filter.format(), kind, &text));
        assert_eq!(ours, theirs, "{kind} {text}");
        passed += i64::from(ours);
    }
    assert!((MEMBERS..2 * MEMBERS).contains(&passed), "{passed} of {ASKED} pass");
}

#[test]
fn fastbloom_answers_alike() {
    let empty = || BloomFilter::with_false_pos(0.01).seed(&7).expected_items(MEMBERS as usize);
    // The filter of the crate, as JSON, read here; with keys of each kind that Rust hashes.
    for kind in [KeyKind::Text, KeyKind::Hex, KeyKind::Long, KeyKind::Int] {
        let text = |i: i64| match kind {
            KeyKind::Text => format!("word {i} é"),
            KeyKind::Hex => format!("{i:08x}ff00"),
            _ => (i * 1003 - 7).to_string(),
        };
        let bytes = |i: i64| [&(i as u32).to_be_bytes()[..], &[0xff, 0]].concat();
        let mut theirs = empty();
        for i in 0..MEMBERS {
            let _ = match kind {
                KeyKind::Text => theirs.insert(text(i).as_str()),
                KeyKind::Hex => theirs.insert(bytes(i).as_slice()),
                KeyKind::Long => theirs.insert(&(i * 1003 - 7)),
                _ => theirs.insert(&((i * 1003 - 7) as i32)),
            };
        }
        let ask = |filter: &BloomFilter, i: i64| match kind {
            KeyKind::Text => filter.contains(text(i).as_str()),
            KeyKind::Hex => filter.contains(bytes(i).as_slice()),
            KeyKind::Long => filter.contains(&(i * 1003 - 7)),
            _ => filter.contains(&((i * 1003 - 7) as i32)),
        };
        let json = serde_json::to_vec(&theirs).unwrap();
        let ours = Open::new().bytes(&json).unwrap();
        assert_eq!(ours.format(), Format::Fastbloom);
        compare(&ours, kind, |i| (text(i), ask(&theirs, i)));
        // What is written here, read by the crate: an empty filter of it, filled here.
        let json = serde_json::to_vec(&empty()).unwrap();
        let mut ours = Open::new().bytes(&json).unwrap();
        for i in 0..MEMBERS {
            ours.insert(&encoded(Format::Fastbloom, kind, &text(i))).unwrap();
        }
        let json = ours.to_bytes().unwrap();
        let again: BloomFilter = serde_json::from_slice(&json).unwrap();
        compare(&ours, kind, |i| (text(i), ask(&again, i)));
        assert_eq!(json, serde_json::to_vec(&theirs).unwrap(), "{kind}");
    }
}

#[test]
fn bloomfilter_answers_alike() {
    let plan = Plan::new(Format::Bloomfilter, MEMBERS as u64, 0.01).unwrap();
    let mut ours = ForeignFilter::with_plan(&plan).unwrap();
    for i in 0..MEMBERS {
        ours.insert(format!("word {i} é").as_bytes()).unwrap();
    }
    let theirs: Bloom<[u8]> = Bloom::from_bytes(ours.to_bytes().unwrap()).unwrap();
    let text = |i: i64| format!("word {i} é");
    compare(&ours, KeyKind::Text, |i| (text(i), theirs.check(text(i).as_bytes())));
    // The sizes are the crate's own, and so are the bits.
    let seed: [u8; 32] = theirs.seed();
    let mut again: Bloom<[u8]> =
        Bloom::new_for_fp_rate_with_seed(MEMBERS as usize, 0.01, &seed).unwrap();
    (0..MEMBERS).for_each(|i| again.set(text(i).as_bytes()));
    assert!(again.to_bytes() == ours.to_bytes().unwrap());
}
