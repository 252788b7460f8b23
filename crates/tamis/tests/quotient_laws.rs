//! The laws of quotient filters, against a naive list.

#![allow(clippy::unwrap_used)]

use proptest::prelude::*;
use std::collections::BTreeMap;
use tamis::rate::{Kind, Plan};
use tamis::{AnyFilter, Error, HashFamily, Health, Open, QuotientFilter};

/// Puts all keys in, so often.
fn filled(items: u64, fpr: f64, keys: &BTreeMap<u64, u8>) -> QuotientFilter {
    let mut filter = QuotientFilter::new(items, fpr).unwrap();
    for (key, count) in keys {
        (0..*count).for_each(|_| _ = filter.insert(*key).unwrap());
    }
    filter
}

fn members() -> impl Strategy<Value = BTreeMap<u64, u8>> {
    prop::collection::btree_map(0u64..1_000, 1u8..4, 0..60)
}

fn total(keys: &BTreeMap<u64, u8>) -> u64 {
    keys.values().map(|count| u64::from(*count)).sum()
}

proptest! {
    /// Members pass and are counted; what is removed as often as it came leaves no trace, in
    /// whatever order.
    #[test]
    fn keys_come_and_go(keys in members(), gone in members(), rate in 1e-6f64..0.3) {
        let mut filter = filled(400, rate, &keys);
        let before = filter.clone();
        for (key, count) in &gone {
            (0..*count).for_each(|_| _ = filter.insert(*key).unwrap());
        }
        prop_assert_eq!(filter.len(), total(&keys) + total(&gone));
        for (key, count) in keys.iter().chain(&gone) {
            prop_assert!(filter.contains(*key) && filter.count(*key) >= u64::from(*count));
        }
        for (key, count) in gone.iter().rev() {
            (0..*count).for_each(|_| filter.remove(*key).unwrap());
        }
        prop_assert!(filter.body() == before.body() && filter.len() == before.len());
        // A key that does not pass cannot be removed, and nothing changes.
        let before = filter.clone();
        for key in (1_000..1_100u64).filter(|key| !before.contains(*key)) {
            prop_assert!(matches!(filter.remove(key), Err(Error::Absent)));
        }
        prop_assert_eq!(&filter, &before);
    }

    /// One by one, in a batch, backwards, or merged: the same bytes.
    #[test]
    fn the_order_does_not_matter(keys in prop::collection::vec(0u64..500, 0..300)) {
        let mut one_by_one = QuotientFilter::new(300, 0.01).unwrap();
        let new = keys.iter().filter(|key| one_by_one.insert(**key).unwrap()).count() as u64;
        let mut batch = QuotientFilter::new(300, 0.01).unwrap();
        prop_assert_eq!(batch.insert_many(keys.iter().rev().copied()).unwrap(), new);
        prop_assert_eq!(&batch, &one_by_one);
        let (left, right) = keys.split_at(keys.len() / 3);
        let mut merged = QuotientFilter::new(300, 0.01).unwrap();
        merged.insert_many(left.iter().copied()).unwrap();
        let mut other = QuotientFilter::new(300, 0.01).unwrap();
        other.insert_many(right.iter().copied()).unwrap();
        merged.union(&other).unwrap();
        prop_assert_eq!(&merged, &one_by_one);
        let asked: Vec<u64> = (0..700).collect();
        let answers: Vec<bool> = asked.iter().map(|key| batch.contains(*key)).collect();
        prop_assert_eq!(batch.contains_many(&asked), answers);
    }

    /// A filter that grew has the fingerprints it had, and its files say so.
    #[test]
    fn growing_keeps_everything(keys in members(), times in 1usize..4) {
        let small = filled(200, 0.01, &keys);
        let mut grown = small.clone();
        for _ in 0..times {
            grown.grow().unwrap();
        }
        prop_assert_eq!(grown.plan().items(), 200 << times);
        prop_assert_eq!(grown.fingerprint_space(), small.fingerprint_space());
        prop_assert!(grown.fingerprints().unwrap().eq(small.fingerprints().unwrap()));
        prop_assert_eq!(grown.expected_fpr().to_bits(), small.expected_fpr().to_bits());
        for key in 0..1_000u64 {
            prop_assert_eq!(grown.count(key), small.count(key));
        }
        // Grown ones and others can be united, either way round.
        for (mut left, right) in [(small.clone(), &grown), (grown.clone(), &small)] {
            left.union(right).unwrap();
            for (key, count) in &keys {
                prop_assert!(left.count(*key) >= 2 * u64::from(*count));
            }
            prop_assert_eq!(left.len(), 2 * small.len());
        }
        let read = AnyFilter::from_bytes(&grown.to_bytes()).unwrap();
        prop_assert_eq!(read, AnyFilter::from(grown));
    }

    /// Filters of any two sizes can be united: members of either pass, and each fingerprint becomes
    /// one or two.
    #[test]
    fn any_sizes_can_be_united(
        left in members(),
        right in members(),
        sizes in (60u64..2_000, 60u64..2_000),
        rates in (0.001f64..0.1, 0.001f64..0.1),
    ) {
        let a = filled(sizes.0.max(total(&left)), rates.0, &left);
        let b = filled(sizes.1.max(total(&right)), rates.1, &right);
        let mut both = a.clone();
        let coarse = a.fingerprint_space().min(b.fingerprint_space());
        match both.union(&b) {
            Err(error) => {
                // Only a filter whose remainders are used up cannot take the other in.
                prop_assert!(matches!(error, Error::Unsupported { .. }), "{}", error);
                prop_assert_eq!(&both, &a);
            }
            Ok(()) => {
                prop_assert!(left.keys().chain(right.keys()).all(|key| both.contains(*key)));
                prop_assert_eq!(both.fingerprint_space(), coarse);
                prop_assert!((a.len() + b.len()..=2 * (a.len() + b.len())).contains(&both.len()));
                prop_assert!(both.len() <= both.plan().items());
            }
        }
    }

    /// Plans are exact, and any two of items, rate and bits give the third.
    #[test]
    fn plans_agree(items in 1u64..1_000_000_000, rate in 1e-8f64..0.9) {
        let plan = Plan::from_items_fpr(Kind::Quotient, items, rate).unwrap();
        prop_assert!(plan.expected_fpr(items) <= rate);
        let block = 17 + 8 * u64::from(plan.counter_bits());
        prop_assert_eq!(plan.bytes(), plan.cells() / 64 * block);
        prop_assert!(plan.cells() * 19 >= items * 20 && (plan.cells() - 64) * 19 < items * 20);
        // One bit less of a remainder would not do.
        if plan.counter_bits() > 1 {
            let half = items as f64 / (plan.cells() << (plan.counter_bits() - 1)) as f64;
            prop_assert!(half > rate * (1.0 - 1e-9));
        }
        let same = Plan::from_items_bits(Kind::Quotient, items, plan.bits()).unwrap();
        prop_assert_eq!(same.cells(), plan.cells());
        let more = Plan::from_fpr_bits(Kind::Quotient, rate, plan.bits()).unwrap();
        prop_assert!(more.items() >= items && more.bits() <= plan.bits());
        prop_assert!(more.expected_fpr(more.items()) <= rate);
    }
}

/// 9.6 bits an item at 1% and 12.8 at 0.1%, at the planned load.
#[test]
fn sizes_are_as_promised() {
    for (fpr, most) in [(0.01, 9.62), (0.001, 12.78)] {
        let plan = Plan::from_items_fpr(Kind::Quotient, 1_000_000, fpr).unwrap();
        assert!(plan.bits_per_item() <= most, "{}", plan.bits_per_item());
    }
    let lowest = Plan::from_items_fpr(Kind::Quotient, 1 << 40, 1e-9).unwrap_err();
    assert!(lowest.to_string().contains("nearest feasible rate is 7.2"), "{lowest}");
}

/// Strangers pass at the expected rate, within five standard deviations.
#[test]
fn strangers_pass_at_the_rate() {
    for (items, fpr) in [(10_000, 0.01), (100_000, 0.001), (3_000, 0.2)] {
        let mut filter = QuotientFilter::new(items, fpr).unwrap();
        filter.insert_many(0..items).unwrap();
        let asked = 400_000u64;
        let strangers: Vec<u64> = (1 << 40..(1 << 40) + asked).collect();
        let passed = filter.contains_many(&strangers).iter().filter(|passes| **passes).count();
        let expected = filter.expected_fpr();
        assert!(expected <= fpr);
        let sigma = (expected * (1.0 - expected) * asked as f64).sqrt();
        let off = (passed as f64 - expected * asked as f64).abs();
        assert!(off < 5.0 * sigma, "{passed} of {asked} at {expected}");
        let estimate = filter.estimated_items();
        assert!((estimate - items as f64).abs() < 5.0 * (items as f64 * fpr).sqrt() + 1.0);
    }
}

/// A full filter refuses and stays as it is; health tells of too many keys and of too high a rate.
#[test]
fn a_full_filter_says_so() {
    let mut filter = QuotientFilter::new(100, 0.01).unwrap();
    assert_eq!((filter.capacity(), filter.plan().cells()), (126, 128));
    filter.insert_many(0..100u64).unwrap();
    assert_eq!(filter.health(), Health::Within);
    filter.insert_many(100..126u64).unwrap();
    assert_eq!(filter.health(), Health::Beyond);
    let full = filter.clone();
    assert!(matches!(filter.insert(7u64), Err(Error::NoSlot { items: 126, slots: 128 })));
    assert!(matches!(filter.insert_many([1u64, 2]), Err(Error::NoSlot { .. })));
    assert_eq!(filter, full);
    assert!((0..126u64).all(|key| filter.contains(key)));
    filter.grow().unwrap();
    assert_eq!(filter.health(), Health::Within);
    // Of the 128 x 2^7 fingerprints, 1% are 163.
    filter.insert_many(126..163u64).unwrap();
    assert_eq!(filter.health(), Health::Within);
    filter.insert_many(163..180u64).unwrap();
    assert_eq!(filter.health(), Health::Beyond);
    // It grows until the remainders have one bit.
    let times = std::iter::from_fn(|| filter.grow().ok()).count();
    assert_eq!((times, filter.plan().counter_bits()), (5, 1));
    assert!((0..180u64).all(|key| filter.contains(key)));
}

/// A mapped file answers at once, and is checked before it is changed.
#[test]
fn a_damaged_file_is_not_changed() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("quotient.tamis");
    let mut filter = QuotientFilter::new(1_000, 0.01).unwrap();
    filter.insert_many(0..1_000u64).unwrap();
    filter.save(&path).unwrap();
    let mut mapped = QuotientFilter::open(&path).unwrap();
    assert!(mapped.contains(5u64));
    mapped.remove(5u64).unwrap();
    assert_eq!(mapped.len(), 999);
    let mut bytes = std::fs::read(&path).unwrap();
    let last = bytes.len() - 1;
    bytes[last] ^= 0x40; // the spill of the last block
    std::fs::write(&path, &bytes).unwrap();
    let mut damaged = QuotientFilter::open(&path).unwrap();
    let _ = damaged.contains_many(&(0..1_000u64).collect::<Vec<_>>());
    assert!(damaged.insert(7u64).is_err() && damaged.remove(5u64).is_err());
    assert!(damaged.grow().is_err() && damaged.fingerprints().is_err());
    assert!(Open::new().verify(true).path(&path).is_err());
}

/// What does not fit together is refused, and so is what a quotient filter cannot do.
#[test]
fn what_does_not_fit_is_refused() {
    let seeded = |seed| QuotientFilter::with_hash(100, 0.01, HashFamily::fast(seed)).unwrap();
    let error = seeded(1).union(&seeded(2)).unwrap_err();
    assert!(error.to_string().contains("seed"), "{error}");
    let mut any = AnyFilter::from(seeded(1));
    let error = any.intersect(&AnyFilter::from(seeded(1))).unwrap_err();
    assert!(error.to_string().contains("counting"), "{error}");
    let plan = Plan::from_items_fpr(Kind::Bloom, 100, 0.01).unwrap();
    assert!(QuotientFilter::with_plan(plan, HashFamily::default()).is_err());
    assert!(Plan::from_items_bits(Kind::Quotient, 1_000, 3_000).is_err());
    assert!(Plan::from_fpr_bits(Kind::Quotient, 0.01, 100).is_err());
    assert!(Plan::from_items_fpr(Kind::Quotient, u64::MAX, 0.5).is_err());
}
