//! What static filters promise, as laws.

#![allow(clippy::unwrap_used)]

use std::collections::BTreeSet;
use tamis::format::AnyPlan;
use tamis::rate::{Shard, StaticBuilder, StaticPlan};
use tamis::{
    AnyFilter, Digest, Error, HashFamily, Health, Key, Kinds, Open, SecretKey, StaticFilter,
};
use tamis_random::SplitMix64;

fn random(seed: u64, count: usize) -> Vec<u64> {
    let mut random = SplitMix64::new(seed);
    (0..count).map(|_| random.next_u64()).collect()
}

fn build_with<K: Key>(keys: &[K], fpr: f64, hash: HashFamily, threads: usize) -> StaticFilter {
    let mut builder = StaticBuilder::new(fpr).unwrap().hash(hash).unwrap().threads(threads);
    builder.extend(keys).unwrap();
    builder.build().unwrap()
}

/// The share of strangers that pass, and how far it may be from `expected`: five sigma.
fn measure(filter: &StaticFilter, strangers: &[u64], expected: f64) -> (f64, f64) {
    let passed = filter.contains_many(strangers).iter().filter(|passes| **passes).count();
    let count = strangers.len() as f64;
    (passed as f64 / count, 5.0 * (expected * (1.0 - expected) / count).sqrt())
}

/// Every size from nothing to where layers begin, and rates from nearly all to nearly none: members
/// pass, and the size is what the plan says.
#[test]
fn members_pass_and_sizes_are_planned() {
    let sizes = (0..70).chain([100, 500, 1_999, 2_000, 2_001, 2_002, 3_000, 10_000, 90_000]);
    for items in sizes {
        let keys = random(items as u64, items);
        for fpr in [0.999, 0.75, 0.5, 0.4, 0.01, 0.003_906_25, 0.001, 1e-5, 1e-9, 1e-15] {
            let filter = build_with(&keys, fpr, HashFamily::fast(items as u64), 1);
            assert!(keys.iter().all(|key| filter.contains(*key)), "{items} keys at {fpr}");
            assert!(filter.contains_many(&keys).iter().all(|passes| *passes));
            let plan = StaticPlan::new(items as u64, fpr).unwrap();
            assert_eq!(filter.plan(), &plan);
            assert_eq!(filter.body().len() as u64, plan.bytes());
            assert_eq!(filter.to_bytes().len() as u64, plan.file_bytes());
            assert_eq!((filter.items(), filter.health()), (items as u64, Health::Within));
        }
    }
}

/// The sizes that are promised: 1.03 times the least at 1% and at 0.1% from a million keys on, 1.05
/// times at ten thousand.
#[test]
fn sizes_are_near_the_least() {
    for fpr in [0.01, 0.001] {
        let over = |items: u64| {
            let plan = StaticPlan::new(items, fpr).unwrap();
            plan.bits() as f64 / (items as f64 * -fpr.log2())
        };
        for items in (10_000..100_000).step_by(777) {
            assert!(over(items) <= 1.05, "{items} at {fpr}: {}", over(items));
        }
        let mut items = 1_000_000;
        while items < 20_000_000_000 {
            assert!(over(items) <= 1.03, "{items} at {fpr}: {}", over(items));
            items += items / 50;
        }
    }
}

/// The rate is the one asked for, within five sigma of chance: never above it, and no more below it
/// than small sets cost.
#[test]
fn strangers_pass_at_the_rate() {
    let strangers = random(99, 1_000_000);
    for (items, below) in
        [(0, 0.77), (300, 0.77), (2_500, 0.96), (10_000, 0.98), (1_000_000, 0.995)]
    {
        for fpr in [0.3, 0.01, 0.001] {
            if items < 2_001 && fpr != 0.01 {
                continue;
            }
            let filter = build_with(&random(5, items), fpr, HashFamily::default(), 1);
            let expected = filter.expected_fpr();
            assert!(expected <= 1.000_001 * fpr, "{items} at {fpr}: {expected} is expected");
            assert!(expected >= below * fpr, "{items} at {fpr}: {expected} is expected");
            assert!((filter.plan().expected_fpr() / expected - 1.0).abs() < 0.02);
            let (measured, sigma) = measure(&filter, &strangers, expected);
            assert!((measured - expected).abs() <= sigma, "{items} at {fpr}: {measured}");
        }
    }
}

/// The last layer alone keeps its rate for every small number of keys.
#[test]
fn few_keys_keep_the_rate() {
    let strangers = random(98, 20_000);
    for items in [1, 2, 15, 16, 17, 40, 64, 100, 200, 400, 1_000, 2_000] {
        let (mut passed, mut asked) = (0.0, 0.0);
        for seed in 0..40 {
            let filter = build_with(&random(7, items), 0.01, HashFamily::fast(seed), 1);
            passed += measure(&filter, &strangers, 0.01).0 * strangers.len() as f64;
            asked += strangers.len() as f64;
        }
        let rate = passed / asked;
        let sigma = (0.007_812_5_f64 / asked).sqrt();
        assert!((rate - 0.007_812_5).abs() < 5.0 * sigma, "{items} keys: {rate}");
    }
}

/// Keys in arithmetic progressions, which weak hashes do not spread.
#[test]
fn structured_keys_are_spread() {
    for shift in [0, 8, 20, 32, 44] {
        let keys: Vec<u64> = (0..100_000u64).map(|i| i << shift).collect();
        let filter = build_with(&keys, 0.01, HashFamily::default(), 1);
        assert_eq!(filter.health(), Health::Within, "shift {shift}");
        assert!(keys.iter().all(|key| filter.contains(*key)));
        let strangers: Vec<u64> = (100_000..400_000u64).map(|i| i << shift | i >> 20).collect();
        let expected = filter.expected_fpr();
        let (measured, sigma) = measure(&filter, &strangers, expected);
        assert!((measured - expected).abs() <= sigma, "shift {shift}: {measured}");
    }
}

/// The bytes depend on the set alone.
#[test]
fn order_repetition_and_threads_do_not_matter() {
    for (items, all_threads) in [(50, 1..=2), (5_000, 1..=2), (300_000, 2..=3), (2_200_000, 1..=3)]
    {
        let mut keys = random(3, items);
        let first = build_with(&keys, 0.01, HashFamily::default(), 1).to_bytes();
        keys.extend_from_within(..items / 3);
        keys.reverse();
        keys.rotate_left(items / 5);
        for threads in all_threads {
            let other = build_with(&keys, 0.01, HashFamily::default(), threads);
            assert_eq!(other.items(), items as u64);
            assert!(other.to_bytes() == first, "{items} keys, {threads} threads");
        }
    }
}

/// Shards that were built apart, in any order, make the same filter. `part_laws` sends them.
#[test]
fn shards_join_to_the_same_filter() {
    let hash = HashFamily::fast(4);
    let keys = random(8, 2_500_000);
    let whole = build_with(&keys, 0.001, hash.clone(), 2);
    let plan = *whole.plan();
    assert_eq!(plan.shards(), 3);
    let digests: Vec<Digest> = keys.iter().filter_map(|key| hash.digest(*key)).collect();
    let own = |index: u64| -> Vec<Digest> {
        digests.iter().copied().filter(|digest| plan.shard_of(*digest) == index).collect()
    };
    let shards: Vec<Shard> =
        [2, 0, 1].map(|index| plan.build_shard(index, own(index)).unwrap()).into();
    assert_eq!(shards.iter().map(Shard::items).sum::<u64>(), whole.items());
    let all = shards.iter().cloned().map(Ok);
    let joined = StaticFilter::join(plan, hash.clone(), Kinds::INTEGERS, all).unwrap();
    assert!(joined == whole && joined.to_bytes() == whole.to_bytes());

    // What does not belong together is refused.
    let join = |picked: &[usize]| {
        let picked = picked.iter().map(|i| Ok(shards[*i].clone()));
        StaticFilter::join(plan, hash.clone(), Kinds::INTEGERS, picked)
    };
    for picked in [&[0, 1][..], &[0, 0, 1], &[0, 1, 2, 2], &[]] {
        assert!(matches!(join(picked), Err(Error::Mismatch { field: "shards", .. })), "{picked:?}");
    }
    assert!(matches!(plan.build_shard(1, own(0)), Err(Error::Mismatch { field: "shard", .. })));
    assert!(plan.build_shard(3, Vec::new()).is_err());
    let small = StaticPlan::new(2_400_000, 0.001).unwrap();
    let foreign = shards.iter().cloned().map(Ok);
    assert!(matches!(
        StaticFilter::join(small, hash, Kinds::INTEGERS, foreign),
        Err(Error::Mismatch { field: "plan", .. })
    ));
}

/// A plan for more keys than come is fine; for fewer, it is refused.
#[test]
fn a_plan_bounds_the_keys() {
    let hash = HashFamily::default();
    let digests: Vec<Digest> = (0..3_000u64).filter_map(|key| hash.digest(key)).collect();
    let join = |items: u64| {
        let plan = StaticPlan::new(items, 0.01).unwrap();
        let shard = plan.build_shard(0, digests.clone());
        StaticFilter::join(plan, hash.clone(), Kinds::INTEGERS, [shard])
    };
    let roomy = join(4_000).unwrap();
    assert_eq!((roomy.items(), roomy.plan().items()), (3_000, 4_000));
    assert!((0..3_000u64).all(|key| roomy.contains(key)));
    assert_eq!(AnyFilter::from_bytes(&roomy.to_bytes()).unwrap(), roomy.into());
    assert!(matches!(join(2_999), Err(Error::Mismatch { field: "items", .. })));
}

/// All keys in one block: the worst that somebody who knows the seed can do. It is built, members
/// pass, and its health tells.
#[test]
fn chosen_keys_are_built_and_told() {
    let mut builder = StaticBuilder::new(0.01).unwrap().threads(1);
    let mut random = SplitMix64::new(6);
    let digests: Vec<Digest> = (0..5_000)
        .map(|_| Digest::from(u128::from(random.next_u64()) << 64 | 0x1234_5678))
        .collect();
    for digest in &digests {
        builder.add_digest(*digest).unwrap();
    }
    let filter = builder.build().unwrap();
    assert!(digests.iter().all(|digest| filter.contains_digest(*digest)));
    assert_eq!((filter.items(), filter.health()), (5_000, Health::Beyond));
    assert!(filter.expected_fpr() > 0.01);
    assert_eq!(filter.kinds(), Kinds::DIGESTS);
}

#[test]
fn every_kind_of_key_and_hash() {
    let texts: Vec<String> = (0..3_000).map(|i| format!("key {i}")).collect();
    let secret = SecretKey::new(b"0123456789abcdef").unwrap();
    for hash in [HashFamily::fast(1), HashFamily::keyed(secret.clone())] {
        let filter = build_with(&texts, 0.01, hash.clone(), 2);
        let asked: Vec<String> = (0..6_000).map(|i| format!("key {i}")).collect();
        let answers = filter.contains_many(&asked);
        assert!(answers[..3_000].iter().all(|passes| *passes));
        for (text, answer) in asked.iter().zip(answers) {
            assert_eq!(filter.contains(text), answer);
            assert_eq!(filter.contains_digest(hash.digest(text).unwrap()), answer);
        }
        let key = (hash.name() == "keyed").then(|| secret.clone());
        let open = key.map_or(Open::new(), |key| Open::new().key(key));
        let read = open.bytes(&filter.to_bytes()).unwrap();
        assert_eq!(read, filter.into());
    }
}

/// What it cannot do is refused with a remedy.
#[test]
fn changes_are_refused() {
    let filter = build_with(&[1u64, 2, 3], 0.01, HashFamily::default(), 1);
    let mut any = AnyFilter::from(filter);
    let before = any.clone();
    let refused = |outcome: Result<(), Error>| {
        let Err(Error::Unsupported { kind: "static", remedy, .. }) = outcome else {
            panic!("{outcome:?}")
        };
        assert!(remedy.contains("build it again"), "{remedy}");
    };
    refused(any.insert(4u64).map(drop));
    refused(any.insert_many(&[4u64]).map(drop));
    refused(any.remove(1u64));
    refused(any.union(&before));
    refused(any.intersect(&before));
    assert_eq!(any, before);
    assert!(matches!(any.plan(), AnyPlan::Static(plan) if plan.items() == 3));
    assert_eq!(
        (any.kind(), any.promise().name(), any.estimated_items()),
        ("static", "rate", Some(3.0))
    );
    for fpr in [0.0, 1.0, -1.0, f64::NAN, 1e-16] {
        assert!(matches!(StaticBuilder::new(fpr), Err(Error::Rate { .. })), "{fpr}");
    }
}

#[test]
fn families_without_digests_are_refused() {
    let builder = StaticBuilder::new(0.01).unwrap();
    assert!(matches!(builder.hash(HashFamily::prefixed()), Err(Error::NoDigest { .. })));
}

/// A mapped file answers as the filter in memory does.
#[test]
fn files_are_mapped() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("static.tamis");
    let keys = random(1, 100_000);
    let filter = build_with(&keys, 0.01, HashFamily::default(), 1);
    filter.save(&path).unwrap();
    let mapped = StaticFilter::open(&path).unwrap();
    assert!(mapped == filter && mapped.clone() == filter);
    assert!(keys.iter().all(|key| mapped.contains(*key)));
    assert!(tamis::Bloom::open(&path).unwrap_err().to_string().contains("static"));
}

/// Few digests, all subsets of which are built: members pass, also where rows depend on each other.
#[test]
fn all_subsets_of_few_digests() {
    // Neighbouring blocks, and coefficients that add up to nothing or to each other.
    let words = [1u128, 3, 2, 1 << 63 | 1, 5, 7];
    let digests: Vec<Digest> = words.iter().map(|word| Digest::from(word << 64 | word)).collect();
    for subset in 0..1u32 << digests.len() {
        let taken: BTreeSet<usize> = (0..digests.len()).filter(|i| subset >> i & 1 == 1).collect();
        let mut builder = StaticBuilder::new(0.001).unwrap().threads(1);
        taken.iter().for_each(|i| builder.add_digest(digests[*i]).unwrap());
        let filter = builder.build().unwrap();
        assert!(taken.iter().all(|i| filter.contains_digest(digests[*i])), "{taken:?}");
    }
}

/// Each of items, rate and bits from the other two: the answer fits, and a little more does not.
#[test]
fn any_two_numbers_give_the_third() {
    for bits in [200, 1_000, 4_096, 100_000, 8_000_000, 1 << 40] {
        for fpr in [0.999, 0.5, 0.01, 0.001, 1e-9] {
            let Ok(plan) = StaticPlan::from_fpr_bits(fpr, bits) else {
                assert!(StaticPlan::new(1, fpr).unwrap().bits() > bits, "{fpr} {bits}");
                continue;
            };
            let next = StaticPlan::new(plan.items() + 1, fpr).unwrap();
            assert!(plan.bits() <= bits && next.bits() > bits, "{fpr} {bits}: {plan:?}");
        }
        for items in [1, 100, 5_000, 1_000_000, 1 << 36] {
            let Ok(plan) = StaticPlan::from_items_bits(items, bits) else {
                assert!(StaticPlan::new(items, 0.999).unwrap().bits() > bits, "{items} {bits}");
                continue;
            };
            assert!(plan.bits() <= bits, "{items} {bits}: {plan:?}");
            // Rates differ by whole buckets of blocks, and no rate is below the lowest.
            if let Ok(lower) = StaticPlan::new(items, plan.fpr() * 0.97) {
                assert!(lower.bits() > bits || items <= 5_000, "{items} {bits}: {plan:?}");
            }
        }
    }
    assert!(StaticPlan::from_items_bits(1_000, 0).is_err());
    assert!(StaticPlan::from_fpr_bits(0.01, 0).is_err());
    assert!(StaticPlan::from_fpr_bits(f64::NAN, 1_000).is_err());
    assert!(StaticPlan::from_items_bits(u64::MAX, u64::MAX).is_err());
    assert!(StaticPlan::from_fpr_bits(0.01, u64::MAX).is_ok());
}
