//! The promises as laws, against naive models.

#![allow(clippy::unwrap_used)]

use proptest::prelude::*;
use std::collections::{BTreeMap, BTreeSet};
use tamis::rate::{Blocked, Classic, Counting, Filter, Health, Kind, Layout, Plan};
use tamis::{
    AnyFilter, BlockedBloom, Bloom, CountingBloom, Digest, Error, HashFamily, Key, KeyRef, Open,
    QuotientFilter, Rolling, Scalable, SecretKey, SplitBloom, StaticFilter,
};

/// A key of any kind.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
enum Any {
    Bytes(Vec<u8>),
    Text(String),
    Unsigned(u64),
    Signed(i64),
}

impl Key for Any {
    fn as_key(&self) -> KeyRef<'_> {
        match self {
            Any::Bytes(bytes) => bytes.as_key(),
            Any::Text(text) => text.as_key(),
            Any::Unsigned(value) => value.as_key(),
            Any::Signed(value) => value.as_key(),
        }
    }
}

fn any_key() -> impl Strategy<Value = Any> {
    prop_oneof![
        prop::collection::vec(any::<u8>(), 0..70).prop_map(Any::Bytes),
        any::<String>().prop_map(Any::Text),
        (0u64..20).prop_map(Any::Unsigned),
        any::<u64>().prop_map(Any::Unsigned),
        any::<i64>().prop_map(Any::Signed),
    ]
}

fn secret() -> SecretKey {
    SecretKey::new(b"a secret for the property tests").unwrap()
}

fn digest_hash() -> impl Strategy<Value = HashFamily> {
    prop_oneof![any::<u64>().prop_map(HashFamily::fast), Just(HashFamily::keyed(secret()))]
}

fn any_hash() -> impl Strategy<Value = HashFamily> {
    prop_oneof![digest_hash(), Just(HashFamily::sha256_md5()), Just(HashFamily::prefixed())]
}

fn keys() -> impl Strategy<Value = Vec<Any>> {
    prop::collection::vec(any_key(), 0..120)
}

fn read_back(filter: &AnyFilter) -> AnyFilter {
    let bytes = filter.to_bytes();
    match Open::new().verify(true).bytes(&bytes) {
        Err(Error::KeyNeeded) => Open::new().verify(true).key(secret()).bytes(&bytes).unwrap(),
        other => other.unwrap(),
    }
}

/// All that every layout promises, for two sets of keys.
fn check_laws<L: Layout + Send + Sync>(
    plan: Plan,
    hash: &HashFamily,
    left: &[Any],
    right: &[Any],
) -> Result<(), TestCaseError>
where
    AnyFilter: From<Filter<L>>,
{
    let empty = Filter::<L>::with_plan(plan, hash.clone()).unwrap();
    prop_assert_eq!((empty.fill(), empty.estimated_items(), empty.expected_fpr()), (0.0, 0.0, 0.0));
    prop_assert_eq!(empty.health(), Health::Within);
    prop_assert!(!left.iter().any(|key| empty.contains(key)));

    // Members always pass; what is certainly new was not there; a batch is its keys one at a time,
    // in any order.
    let mut a = empty.clone();
    let mut model = BTreeSet::new();
    let mut certainly_new = 0;
    for key in left {
        let passed = a.contains(key);
        let new = a.insert(key);
        prop_assert!(new != passed, "insert must say what contains would have said");
        prop_assert!(!new || !model.contains(key));
        model.insert(key.clone());
        prop_assert!(model.iter().all(|member| a.contains(member)));
        certainly_new += u64::from(new);
    }
    let mut batch = empty.clone();
    prop_assert_eq!(batch.insert_many(left), certainly_new);
    prop_assert_eq!(&batch, &a);
    let mut backwards = empty.clone();
    backwards.insert_many(left.iter().rev());
    prop_assert_eq!(&backwards, &a);
    let queries: Vec<&Any> = left.iter().chain(right).collect();
    let one_by_one: Vec<bool> = queries.iter().map(|key| a.contains(key)).collect();
    prop_assert_eq!(a.contains_many(&queries), one_by_one);

    // The union passes whatever either passes, the intersection whatever both pass.
    let mut b = empty.clone();
    b.insert_many(right);
    let (mut union, mut common) = (a.clone(), a.clone());
    union.union(&b).unwrap();
    common.intersect(&b).unwrap();
    for key in left.iter().chain(right) {
        prop_assert!(union.contains(key));
        prop_assert!(common.contains(key) || !(a.contains(key) && b.contains(key)));
    }
    for stranger in 0..200u64 {
        let stranger = format!("stranger {stranger}");
        let (in_a, in_b) = (a.contains(&stranger), b.contains(&stranger));
        prop_assert!(union.contains(&stranger) || !(in_a || in_b));
        prop_assert!(!common.contains(&stranger) || (in_a && in_b));
    }
    let mut together = a.clone();
    together.insert_many(right);
    prop_assert_eq!(&union, &together);
    let mut other_way = b.clone();
    other_way.union(&a).unwrap();
    prop_assert_eq!(&other_way, &union);

    // Files bring back the same filter; clearing brings back the empty one.
    let any = AnyFilter::from(a.clone());
    prop_assert_eq!(&read_back(&any), &any);
    prop_assert_eq!(any.to_bytes().len() as u64, 128 + plan.bytes());
    a.clear();
    prop_assert_eq!(&a, &empty);
    Ok(())
}

fn plan(kind: Kind) -> impl Strategy<Value = Plan> {
    (1u64..200, prop_oneof![Just(0.01), 1e-15..0.999])
        .prop_map(move |(items, fpr)| Plan::from_items_fpr(kind, items, fpr).unwrap())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(128))]

    #[test]
    fn bloom_keeps_its_laws(
        plan in plan(Kind::Bloom),
        hash in any_hash(),
        left in keys(),
        right in keys(),
    ) {
        check_laws::<tamis::rate::Classic>(plan, &hash, &left, &right)?;
    }

    #[test]
    fn blocked_keeps_its_laws(
        plan in plan(Kind::Blocked),
        hash in digest_hash(),
        left in keys(),
        right in keys(),
    ) {
        check_laws::<tamis::rate::Blocked>(plan, &hash, &left, &right)?;
    }

    #[test]
    fn split_keeps_its_laws(
        plan in plan(Kind::Split),
        hash in digest_hash(),
        left in keys(),
        right in keys(),
    ) {
        check_laws::<tamis::rate::Split>(plan, &hash, &left, &right)?;
    }

    #[test]
    fn counting_keeps_its_laws(
        plan in plan(Kind::Counting),
        width in 2u32..=16,
        hash in any_hash(),
        left in keys(),
        right in keys(),
    ) {
        let plan = plan.with_counter_bits(width).unwrap();
        check_laws::<tamis::rate::Counting>(plan, &hash, &left, &right)?;
    }

    /// Against a multiset: what was inserted more often than removed passes. A removal that says
    /// "absent" was right and changed nothing. When all is removed, the filter is the empty one,
    /// unless a counter was stuck.
    #[test]
    fn removal_is_insertion_undone(
        width in 2u32..=6,
        small in any::<bool>(),
        steps in prop::collection::vec((0u64..30, any::<bool>()), 0..300),
    ) {
        let plan = Plan::from_items_fpr(Kind::Counting, if small { 3 } else { 100 }, 0.01).unwrap();
        let plan = plan.with_counter_bits(width).unwrap();
        let mut filter = CountingBloom::with_plan(plan, HashFamily::default()).unwrap();
        let mut model: BTreeMap<u64, u32> = BTreeMap::new();
        for (key, insert) in steps {
            let count = model.entry(key).or_default();
            if insert {
                filter.insert(key);
                *count += 1;
            } else if *count > 0 {
                prop_assert!(filter.remove(key).is_ok());
                *count -= 1;
            } else if !filter.contains(key) {
                let before = filter.clone();
                prop_assert!(matches!(filter.remove(key), Err(Error::Absent)));
                prop_assert_eq!(&before, &filter);
            }
            for (member, count) in &model {
                prop_assert!(*count == 0 || filter.contains(member), "lost {member}");
            }
        }
        let was_stuck = filter.saturated() > 0;
        for (key, count) in model {
            (0..count).for_each(|_| filter.remove(key).unwrap());
        }
        prop_assert!(was_stuck || filter.fill() == 0.0);
    }

    /// Any two give the third, and the third gives them back.
    #[test]
    fn plans_are_consistent(
        kind in prop::sample::select(vec![
            Kind::Bloom, Kind::Blocked, Kind::Split, Kind::Counting,
        ]),
        items in prop_oneof![1u64..1000, 1u64..=1_000_000_000_000],
        fpr in prop_oneof![(-15.0..-0.301).prop_map(|x: f64| 10f64.powf(x)), 0.5..0.999],
    ) {
        let Ok(plan) = Plan::from_items_fpr(kind, items, fpr) else {
            // Only filters of blocks at rates that do not suit them outgrow what can be addressed.
            let lowest = if kind == Kind::Split { 1e-6 } else { 1e-12 };
            prop_assert!(matches!(kind, Kind::Blocked | Kind::Split) && fpr < lowest);
            return Ok(());
        };
        prop_assert_eq!((plan.items(), plan.fpr(), plan.filter()), (items, fpr, kind));
        prop_assert_eq!(plan.bytes(), plan.bits().div_ceil(8));
        let back = Plan::from_fpr_bits(kind, fpr, plan.bits()).unwrap();
        prop_assert!(back.items() >= items, "{} < {items}", back.items());
        prop_assert!(Plan::from_items_fpr(kind, back.items(), fpr).unwrap().bits() <= plan.bits());
        let one_cell_less = plan.bits() - u64::from(plan.counter_bits());
        if let Ok(less) = Plan::from_fpr_bits(kind, fpr, one_cell_less) {
            let fit = less.items();
            prop_assert!(fit <= items, "a plan with slack: {fit} items fit into less");
        }
        // The rate climbs with the items, and meets the request at the planned number.
        let expected = plan.expected_fpr(items);
        prop_assert!(plan.expected_fpr(items / 2) <= expected);
        prop_assert!(expected <= plan.expected_fpr(items.saturating_mul(2)));
        prop_assert!(plan.expected_fpr(0) == 0.0);
        if kind == Kind::Blocked || kind == Kind::Split || fpr > 0.5 {
            prop_assert!(expected <= fpr * 1.000_001, "{expected} > {fpr}");
        } else if items >= 100_000 {
            prop_assert!(expected <= fpr * 1.05 && expected >= fpr * 0.95, "{expected} for {fpr}");
            prop_assert!((plan.approximate_fpr(items) / expected - 1.0).abs() < 0.01);
        }
        // Blocked filters have hashes to choose from: eight or sixteen.
        let rated = Plan::from_items_bits(kind, items, plan.bits()).unwrap();
        prop_assert_eq!((rated.bits(), rated.hashes()), (plan.bits(), plan.hashes()));
        prop_assert!((rated.fpr() / expected - 1.0).abs() < 1e-9);
    }

    /// Whatever bytes come in, the answer is a filter or an error.
    #[test]
    fn the_reader_survives_anything(
        mut bytes in prop::collection::vec(any::<u8>(), 0..400),
        magic in any::<bool>(),
    ) {
        if magic {
            let head = b"\x89TAMIS\r\n\x01\0\x01\0\x80\0\0\0";
            let shared = bytes.len().min(head.len());
            bytes[..shared].copy_from_slice(&head[..shared]);
        }
        prop_assert!(AnyFilter::from_bytes(&bytes).is_err());
        prop_assert!(AnyFilter::from_reader(&bytes[..]).is_err());
    }
}

#[test]
fn the_published_sizes() {
    for (fpr, bits, hashes, expected) in
        [(0.01, 95_851, 7, 0.010_039), (0.001, 143_776, 10, 0.001_000)]
    {
        let plan = Plan::from_items_fpr(Kind::Bloom, 10_000, fpr).unwrap();
        assert_eq!((plan.bits(), plan.hashes()), (bits, hashes));
        assert!((plan.approximate_fpr(10_000) - expected).abs() < 6e-7);
        assert!((plan.expected_fpr(10_000) - expected).abs() < 2e-6);
    }
}

#[test]
fn blocked_plans_stay_within_their_budget() {
    for items in [100_000, 1_000_000, 1_000_000_000] {
        for (fpr, factor) in [(0.01, 1.53), (0.001, 1.58)] {
            let plan = Plan::from_items_fpr(Kind::Blocked, items, fpr).unwrap();
            assert!(
                plan.bits_per_item() <= factor * (1.0 / fpr).log2(),
                "{items} {fpr}: {}",
                plan.bits_per_item()
            );
        }
    }
}

/// The bits of split filters, and that one block less would miss the rate.
#[test]
fn split_plans_are_exact() {
    for (fpr, bits_per_item) in [(0.01, 10.53), (0.001, 16.89)] {
        for items in [1_000, 1_000_000, 1_000_000_000] {
            let plan = Plan::from_items_fpr(Kind::Split, items, fpr).unwrap();
            assert!((plan.bits_per_item() - bits_per_item).abs() < 0.005 || items == 1_000);
            assert_eq!((plan.hashes(), plan.bytes() % 32), (8, 0));
            assert!(plan.expected_fpr(items) <= fpr);
            let less = Plan::from_items_bits(Kind::Split, items, plan.bits() - 1).unwrap();
            assert_eq!(less.bits(), plan.bits() - 256);
            assert!(less.fpr() > fpr);
            assert_eq!(
                Plan::from_items_bits(Kind::Split, items, plan.bits()).unwrap().bits(),
                plan.bits()
            );
        }
    }
    // Words of 32 bits have a price at rates for which there are better layouts.
    let low = |kind| Plan::from_items_fpr(kind, 1_000_000, 1e-9).unwrap().bits_per_item();
    assert!(low(Kind::Split) > 1.7 * low(Kind::Blocked));
}

#[test]
fn refusals_name_the_value_and_the_nearest_feasible_one() {
    let said = |result: Result<Plan, Error>| result.unwrap_err().to_string();
    for kind in [Kind::Bloom, Kind::Blocked, Kind::Split, Kind::Counting] {
        for (fpr, got, nearest) in [
            (0.0, "0.0", "1e-15"),
            (-0.5, "-0.5", "1e-15"),
            (1e-16, "1e-16", "1e-15"),
            (f64::NEG_INFINITY, "-inf", "1e-15"),
            (1.0, "1.0", "0.999"),
            (0.9991, "0.9991", "0.999"),
            (f64::INFINITY, "inf", "0.999"),
            (f64::NAN, "NaN", "0.01"),
        ] {
            for text in [
                said(Plan::from_items_fpr(kind, 10, fpr)),
                said(Plan::from_fpr_bits(kind, fpr, 1 << 20)),
            ] {
                assert!(text.contains(&format!("got {got})")), "{text}");
                assert!(text.ends_with(&format!("rate is {nearest}")), "{text}");
            }
        }
        assert!(said(Plan::from_items_fpr(kind, 0, 0.01)).contains("got 0"));
        assert!(said(Plan::from_items_bits(kind, 0, 100)).contains("got 0"));

        // The number offered instead is feasible, and one bit less is not.
        let Err(Error::TooFewBits { got: 0, nearest, .. }) = Plan::from_items_bits(kind, 1_000, 0)
        else {
            panic!()
        };
        assert!(Plan::from_items_bits(kind, 1_000, nearest).is_ok());
        assert!(Plan::from_items_bits(kind, 1_000, nearest - 1).is_err());
        let Err(Error::TooFewBits { got: 0, nearest, .. }) = Plan::from_fpr_bits(kind, 0.01, 0)
        else {
            panic!()
        };
        assert!(Plan::from_fpr_bits(kind, 0.01, nearest).is_ok());
        assert!(Plan::from_fpr_bits(kind, 0.01, nearest - 1).is_err());
        let Err(Error::TooFewBits { nearest, .. }) = Plan::from_fpr_bits(kind, 1e-9, 1) else {
            panic!()
        };
        assert_eq!(Plan::from_fpr_bits(kind, 1e-9, nearest).unwrap().items().min(1), 1);
        assert!(Plan::from_fpr_bits(kind, 1e-9, nearest - 1).is_err());

        let text = said(Plan::from_items_fpr(kind, u64::MAX, 1e-15));
        let offered: u64 = text.rsplit(' ').next().unwrap().parse().unwrap();
        assert!(Plan::from_items_fpr(kind, offered, 1e-15).is_ok());
        assert!(Plan::from_items_fpr(kind, offered + 1, 1e-15).is_err());
        assert!(said(Plan::from_items_bits(kind, 5, u64::MAX)).contains("nearest feasible size"));
        assert!(said(Plan::from_fpr_bits(kind, 0.01, u64::MAX)).contains("nearest feasible size"));
    }
    let counting = Plan::from_items_fpr(Kind::Counting, 10, 0.01).unwrap();
    let Err(Error::TooFewBits { nearest, .. }) = Plan::counting_from_items_bits(100, 20, 16) else {
        panic!()
    };
    assert_eq!(Plan::counting_from_items_bits(100, nearest, 16).unwrap().counter_bits(), 16);
    assert!(Plan::counting_from_items_bits(100, nearest - 1, 16).is_err());
    assert_eq!(Plan::counting_from_fpr_bits(0.01, 1 << 50, 2).unwrap().bits(), 1 << 50);
    assert!(said(Plan::counting_from_fpr_bits(0.01, 100, 1)).ends_with("width is 2"));
    assert!(said(counting.with_counter_bits(1)).ends_with("width is 2"));
    assert!(said(counting.with_counter_bits(17)).ends_with("width is 16"));
    assert!(Plan::from_items_fpr(Kind::Bloom, 10, 0.01).unwrap().with_counter_bits(4).is_err());
}

#[test]
fn plenty_of_bits_do_not_ask_for_endless_hashes() {
    let plan = Plan::from_items_bits(Kind::Bloom, 1, 1_000_000_000).unwrap();
    assert_eq!(plan.hashes(), 64);
    assert!(plan.fpr() >= 0.0 && plan.fpr() < 1e-300);
    let mut filter = Bloom::with_plan(plan, HashFamily::default()).unwrap();
    filter.insert("ant");
    assert_eq!(read_back(&filter.clone().into()), filter.into());
}

#[test]
fn a_plan_makes_its_own_kind_only() {
    let plan = Plan::from_items_fpr(Kind::Blocked, 10, 0.01).unwrap();
    assert!(matches!(Bloom::with_plan(plan, HashFamily::default()), Err(Error::Kind { .. })));
    let any = AnyFilter::from(BlockedBloom::with_plan(plan, HashFamily::default()).unwrap());
    assert!(Bloom::try_from(any.clone()).unwrap_err().to_string().contains("blocked"));
    assert!(CountingBloom::try_from(any.clone()).is_err());
    assert!(BlockedBloom::try_from(any).is_ok());
}

#[test]
fn filters_too_large_for_the_machine_are_an_error() {
    // 128 TiB: more than a process of 47 address bits can have.
    let plan = Plan::from_items_bits(Kind::Bloom, 1_000_000_000_000, 1 << 50).unwrap();
    let refused = Bloom::with_plan(plan, HashFamily::default()).map(|_| ());
    assert!(
        matches!(refused, Err(Error::Memory { needed, .. }) if needed == 1 << 47),
        "{refused:?}"
    );
}

#[test]
fn mismatches_name_the_field() {
    let field = |left: &mut AnyFilter, right: &AnyFilter| {
        let before = left.clone();
        let (a, b) = (left.union(right).unwrap_err(), left.intersect(right).unwrap_err());
        assert_eq!(a.to_string(), b.to_string());
        assert_eq!(*left, before, "a refused merge changes nothing");
        match a {
            Error::Mismatch { field, .. } => field,
            other => panic!("{other}"),
        }
    };
    let bloom = |items, fpr, hash| AnyFilter::from(Bloom::with_hash(items, fpr, hash).unwrap());
    let mut base = bloom(100, 0.01, HashFamily::fast(0));
    let other_key = SecretKey::new(b"another secret key").unwrap();
    assert_eq!(field(&mut base, &bloom(101, 0.01, HashFamily::fast(0))), "cells");
    assert_eq!(field(&mut base, &bloom(100, 0.01, HashFamily::fast(1))), "seed");
    assert_eq!(field(&mut base, &bloom(100, 0.01, HashFamily::prefixed())), "hash");
    assert_eq!(
        field(&mut base, &AnyFilter::from(CountingBloom::new(100, 0.01).unwrap())),
        "filter"
    );
    let mut keyed = bloom(100, 0.01, HashFamily::keyed(secret()));
    assert_eq!(field(&mut keyed, &bloom(100, 0.01, HashFamily::keyed(other_key))), "secret key");
    let by_bits = |items| Plan::from_items_bits(Kind::Bloom, items, 959).unwrap();
    let mut many = AnyFilter::from(Bloom::with_plan(by_bits(500), HashFamily::fast(0)).unwrap());
    assert_eq!(field(&mut many, &base), "hashes");
    let wide =
        Plan::from_items_fpr(Kind::Counting, 100, 0.01).unwrap().with_counter_bits(5).unwrap();
    let mut counting = AnyFilter::from(CountingBloom::new(100, 0.01).unwrap());
    assert_eq!(
        field(&mut counting, &CountingBloom::with_plan(wide, HashFamily::fast(0)).unwrap().into()),
        "counter bits"
    );
}

#[test]
fn digests_stand_for_keys_and_the_documents_have_none() {
    let mut filter = Bloom::new(100, 0.01).unwrap();
    assert!(filter.insert_digest(HashFamily::default().digest("ant").unwrap()).unwrap());
    assert!(filter.contains("ant"));
    assert!(
        filter
            .contains_digest(Digest::from(u128::from(HashFamily::default().digest("ant").unwrap())))
            .unwrap()
    );
    assert_eq!(filter.kinds().to_string(), "digests");
    for hash in [HashFamily::sha256_md5(), HashFamily::prefixed()] {
        assert_eq!(hash.digest("ant"), None);
        let mut filter = Bloom::with_hash(100, 0.01, hash.clone()).unwrap();
        assert!(matches!(filter.insert_digest(Digest::from(1)), Err(Error::NoDigest { .. })));
        assert!(matches!(filter.contains_digest(Digest::from(1)), Err(Error::NoDigest { .. })));
        let refused = BlockedBloom::with_hash(100, 0.01, hash.clone());
        assert!(matches!(refused, Err(Error::NoDigest { .. })));
        assert!(matches!(SplitBloom::with_hash(100, 0.01, hash), Err(Error::NoDigest { .. })));
    }
}

/// Many digests are put in as one after the other, near and far from the processor.
#[test]
fn many_digests_are_inserted_as_one_by_one() {
    fn check<L: Layout>(items: u64) {
        // Each digest comes twice, in an order that looks random.
        let digests: Vec<Digest> = (0..2 * items)
            .map(|i| HashFamily::default().digest(i * 7_919 % items).unwrap())
            .collect();
        let new = || Filter::<L>::new(items, 1e-6).unwrap();
        let (mut together, mut alone) = (new(), new());
        assert_eq!(together.insert_digests(&[]).unwrap(), [false; 0]);
        assert_eq!(together.kinds(), alone.kinds());
        for chunk in digests.chunks(1_000) {
            let each: Vec<bool> =
                chunk.iter().map(|digest| alone.insert_digest(*digest).unwrap()).collect();
            assert_eq!(together.insert_digests(chunk).unwrap(), each);
        }
        assert!(together.body() == alone.body());
        assert_eq!(together.kinds(), alone.kinds());
    }
    for items in [1, 100, 400_000] {
        check::<Classic>(items);
        check::<Blocked>(items);
    }
    check::<Counting>(5_000);
    let mut document = Bloom::with_hash(100, 0.01, HashFamily::sha256_md5()).unwrap();
    assert!(matches!(document.insert_digests(&[]), Err(Error::NoDigest { .. })));
}

#[test]
fn counters_stop_at_their_ceiling_and_say_so() {
    let plan =
        Plan::from_items_fpr(Kind::Counting, 100, 0.01).unwrap().with_counter_bits(2).unwrap();
    let mut filter = CountingBloom::with_plan(plan, HashFamily::default()).unwrap();
    (0..3).for_each(|_| assert!(filter.insert("ant") || filter.contains("ant")));
    let places = filter.saturated();
    assert!((1..=7).contains(&places), "three insertions fill two bits");
    // Nobody knows any more how many there were: the key stays, whatever is removed.
    (0..9).for_each(|_| filter.remove("ant").unwrap());
    assert!(filter.contains("ant"));
    assert_eq!(filter.saturated(), places);
}

#[test]
fn filters_are_shared_between_threads() {
    fn check<T: Send + Sync>() {}
    check::<Bloom>();
    check::<BlockedBloom>();
    check::<SplitBloom>();
    check::<CountingBloom>();
    check::<AnyFilter>();
}

#[cfg(feature = "serde")]
#[test]
fn serde_carries_filters_and_plans() {
    let mut filter = Bloom::new(100, 0.01).unwrap();
    filter.insert("ant");
    let text = serde_json::to_string(&AnyFilter::from(filter.clone())).unwrap();
    let back: AnyFilter = serde_json::from_str(&text).unwrap();
    assert_eq!(Bloom::try_from(back).unwrap(), filter);
    assert_eq!(serde_json::to_string(&filter).unwrap(), text);
    assert_eq!(serde_json::from_str::<Bloom>(&text).unwrap(), filter);
    assert!(
        serde_json::from_str::<BlockedBloom>(&text).unwrap_err().to_string().contains("blocked")
    );
    assert!(
        serde_json::from_str::<AnyFilter>("[1,2,3]")
            .unwrap_err()
            .to_string()
            .contains("not a tamis file")
    );
    let plan = serde_json::to_value(filter.plan()).unwrap();
    assert_eq!((plan["filter"].as_str(), plan["items"].as_u64()), (Some("bloom"), Some(100)));
}

/// One filter of every kind, in bits and bytes: what is planned is what is written, and the ways in
/// and out agree.
#[test]
fn every_kind_is_opened_by_its_own_type() {
    use tamis::privacy::{LinearFilter, LinearPlan, PublicBloom, Receipt, UltraFilter, UltraPlan};
    use tamis::zone::{self, CodeKind, Universe};

    fn check<F>(filter: F, other: &AnyFilter)
    where
        F: Clone
            + PartialEq
            + std::fmt::Debug
            + Into<AnyFilter>
            + TryFrom<AnyFilter, Error = Error>
            + serde::Serialize
            + serde::de::DeserializeOwned,
    {
        let any: AnyFilter = filter.clone().into();
        let bytes = any.to_bytes();
        assert_eq!(any.plan().file_bytes(), bytes.len() as u64, "{any:?}");
        assert_eq!(any.plan().bytes(), any.body_parts().concat().len() as u64);
        assert_eq!(F::try_from(AnyFilter::from_bytes(&bytes).unwrap()).unwrap(), filter);
        assert!(matches!(F::try_from(other.clone()), Err(Error::Kind { .. })));
        let text = serde_json::to_string(&filter).unwrap();
        assert_eq!(serde_json::from_str::<F>(&text).unwrap(), filter);
        assert_eq!(serde_json::to_string(&any).unwrap(), text);
        let shown = format!("{filter:?}");
        assert!(shown.contains("plan") && shown.len() < 1_500, "{shown}");
    }

    let bloom = AnyFilter::from(Bloom::new(10, 0.01).unwrap());
    let blocked = AnyFilter::from(BlockedBloom::new(10, 0.01).unwrap());
    check(Bloom::new(1_000, 0.01).unwrap(), &blocked);
    check(BlockedBloom::new(1_000, 0.01).unwrap(), &bloom);
    check(SplitBloom::new(1_000, 0.01).unwrap(), &blocked);
    check(CountingBloom::new(1_000, 0.01).unwrap(), &bloom);
    check(QuotientFilter::new(1_000, 0.01).unwrap(), &bloom);
    check(StaticFilter::build(0..1_000u64, 0.01).unwrap(), &bloom);
    let mut chain = Scalable::new(100, 0.01).unwrap();
    chain.insert_many(0..1_000u64).unwrap();
    check(chain, &bloom);
    let mut chain = Rolling::new(100, 0.01).unwrap();
    check(chain.clone(), &bloom);
    chain.insert_many(0..1_000u64).unwrap();
    check(chain, &bloom);
    for code in [CodeKind::Egh, CodeKind::Coprime, CodeKind::Rs] {
        let plan = zone::Plan::with_code(Universe::sized(10_000).unwrap(), 3, code).unwrap();
        check(zone::Filter::with_plan(plan.clone()).unwrap(), &bloom);
        check(zone::CountingFilter::with_plan(plan).unwrap(), &bloom);
    }
    let epsilon = "3".parse().unwrap();
    let paid = || Receipt::unrecorded(epsilon);
    let linear = LinearPlan::new(100, epsilon).unwrap();
    check::<LinearFilter>(LinearFilter::publish(linear, ["ant"], paid()).unwrap(), &bloom);
    let private = UltraFilter::new(UltraPlan::new(100, epsilon).unwrap()).unwrap();
    check::<PublicBloom>(private.publish(paid()).unwrap(), &bloom);

    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("seen.tamis");
    let mut seen = Bloom::new(100, 0.01).unwrap();
    seen.extend(["ant", "bee"]);
    seen.save(&path).unwrap();
    assert_eq!(Bloom::open(&path).unwrap(), seen);
    assert_eq!(Bloom::from_bytes(&seen.to_bytes()).unwrap(), seen);
    assert_eq!(Bloom::from_reader(&seen.to_bytes()[..]).unwrap(), seen);
    assert!(matches!(
        CountingBloom::open(&path),
        Err(Error::Kind { planned: "bloom", wanted: "counting" })
    ));
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1, "a temporary file is left");
}

#[test]
fn operators_do_as_union_and_intersect() {
    let of = |keys: &[&str]| {
        let mut filter = Bloom::new(1_000, 0.01).unwrap();
        filter.extend(keys);
        filter
    };
    let (left, right) = (of(&["ant", "bee"]), of(&["bee", "cat"]));
    let (mut union, mut common) = (left.clone(), left.clone());
    union |= &right;
    common &= &right;
    assert_eq!(union, of(&["ant", "bee", "cat"]));
    assert!(common.contains("bee") && !common.contains("cat"));
    let (mut any, other) = (AnyFilter::from(left), AnyFilter::from(right));
    any |= &other;
    assert_eq!(any, AnyFilter::from(union));
    any &= &other;
    assert_eq!(any, other);
    let tags = |numbers: &[u32]| {
        let universe = tamis::zone::Universe::sized(1_000).unwrap();
        let plan = tamis::zone::Plan::new(universe, 3, tamis::zone::Prefer::Bits).unwrap();
        let mut filter = tamis::zone::Filter::with_plan(plan).unwrap();
        numbers.iter().for_each(|number| assert!(filter.insert(*number).unwrap()));
        filter
    };
    let (mut all, mut shared) = (tags(&[1, 2]), tags(&[1, 2]));
    all |= &tags(&[2, 3]);
    shared &= &tags(&[2, 3]);
    assert_eq!((all, shared), (tags(&[1, 2, 3]), tags(&[2])));
    let panic = std::panic::catch_unwind(|| {
        let mut filter = of(&[]);
        filter |= &Bloom::new(7, 0.01).unwrap();
    });
    let said = panic.unwrap_err().downcast::<String>().unwrap();
    assert!(said.contains("differ in cells"), "{said}");
}
