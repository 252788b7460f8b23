//! Measured rates against planned ones. Every bound is five standard deviations, and every key is
//! seeded.

#![allow(clippy::unwrap_used)]

use tamis::rate::{Blocked, Classic, Counting, Filter, Health, Kind, Layout, Plan, Split};
use tamis::{Bloom, HashFamily, Scalable, SecretKey};
use tamis_random::SplitMix64;

const SIGMAS: f64 = 5.0;

/// Fills a filter with its planned items and asks strangers.
///
/// Two things vary, and each has its bound: the filter (through its hash) around the plan, and the
/// strangers' answers around what this very filter does.
fn measure<L: Layout>(plan: Plan, hash: HashFamily, trials: u64, text: bool) -> Filter<L> {
    let n = plan.items();
    let mut filter = Filter::<L>::with_plan(plan, hash).unwrap();
    let hits = if text {
        filter.insert_many((0..n).map(|i| format!("member {i}")));
        (0..trials).filter(|i| filter.contains(format!("stranger {i}"))).count()
    } else {
        filter.insert_many(0..n);
        (n..n + trials).filter(|i| filter.contains(*i)).count()
    } as f64;
    let now = filter.expected_fpr();
    let deviation = (trials as f64 * now * (1.0 - now)).sqrt();
    let label = format!("{} {n} items at {:e}, text {text}", plan.filter(), plan.fpr());
    assert!(
        (hits - trials as f64 * now).abs() <= SIGMAS * deviation,
        "{label}: {hits} hits of {trials}, the filter's own rate is {now:e}"
    );
    // The filter around the plan: its fill deviates, and its rate k times as much, relatively.
    let planned = plan.expected_fpr(n);
    let spread = f64::from(plan.hashes()) * relative_spread(&plan) * planned;
    assert!(
        (now - planned).abs() <= SIGMAS * spread,
        "{label}: {now:e} now, {planned:e} planned, spread {spread:e}"
    );
    assert_eq!(filter.health(), Health::Within, "{label}");
    let estimate = filter.estimated_items();
    assert!(
        (estimate / n as f64 - 1.0).abs() < 0.05 + 5.0 / (n as f64).sqrt(),
        "{label}: {estimate} estimated"
    );
    filter
}

/// The relative standard deviation of the number of set cells. Blocks make it larger: items share
/// them unevenly, at most as a Poisson number of items in each.
fn relative_spread(plan: &Plan) -> f64 {
    let (m, throws) = (plan.cells() as f64, plan.items() as f64 * f64::from(plan.hashes()));
    let empty = (-throws / m).exp();
    let classic = (m * empty * (1.0 - (1.0 + throws / m) * empty)).sqrt() / (m * (1.0 - empty));
    match plan.filter() {
        Kind::Blocked | Kind::Split => classic.max(1.0 / (plan.items() as f64).sqrt()),
        _ => classic,
    }
}

fn plan(kind: Kind, items: u64, fpr: f64) -> Plan {
    Plan::from_items_fpr(kind, items, fpr).unwrap()
}

#[test]
fn bloom_meets_its_plan() {
    for (items, fpr, trials) in [
        (100, 0.1, 100_000),
        (1_000, 0.01, 1_000_000),
        (10_000, 0.9, 100_000),
        (10_000, 0.5, 100_000),
        (10_000, 0.01, 1_000_000),
        (10_000, 0.001, 2_000_000),
        (10_000, 1e-4, 5_000_000),
        (300_000, 0.01, 1_000_000),
    ] {
        measure::<Classic>(plan(Kind::Bloom, items, fpr), HashFamily::fast(1), trials, false);
        measure::<Classic>(plan(Kind::Bloom, items, fpr), HashFamily::fast(2), trials / 4, true);
    }
}

#[test]
fn blocked_meets_its_plan() {
    for (items, fpr, trials) in [
        (10_000, 0.3, 100_000),
        (10_000, 0.05, 200_000),
        (10_000, 0.01, 1_000_000),
        (10_000, 0.001, 2_000_000),
        (10_000, 1e-4, 5_000_000),
        (300_000, 0.01, 1_000_000),
    ] {
        measure::<Blocked>(plan(Kind::Blocked, items, fpr), HashFamily::fast(3), trials, false);
        measure::<Blocked>(plan(Kind::Blocked, items, fpr), HashFamily::fast(4), trials / 4, true);
    }
}

#[test]
fn split_meets_its_plan() {
    for (items, fpr, trials) in [
        (10_000, 0.3, 100_000),
        (10_000, 0.05, 200_000),
        (10_000, 0.01, 1_000_000),
        (10_000, 0.001, 2_000_000),
        (10_000, 1e-4, 5_000_000),
        (300_000, 0.01, 1_000_000),
        (1_000_000, 0.01, 4_000_000),
    ] {
        measure::<Split>(plan(Kind::Split, items, fpr), HashFamily::fast(3), trials, false);
        measure::<Split>(plan(Kind::Split, items, fpr), HashFamily::fast(4), trials / 4, true);
    }
}

/// Keys that are as regular as keys can be: multiples of a step, as counters and addresses are.
#[test]
fn split_keeps_its_rate_for_regular_keys() {
    let (items, trials) = (50_000, 1_000_000);
    for shift in [0, 1, 8, 12, 20, 32, 40] {
        for fpr in [0.01, 0.001] {
            let plan = plan(Kind::Split, items, fpr);
            let mut filter = Filter::<Split>::with_plan(plan, HashFamily::default()).unwrap();
            filter.insert_many((0..items).map(|i| i << shift));
            let strangers = (items..items + trials).map(|i| i << shift);
            let hits = strangers.filter(|key| filter.contains(*key)).count() as f64;
            let expected = plan.expected_fpr(items) * trials as f64;
            // The filter's own fill varies: eight hashes, each by the spread of the fill.
            let spread = 8.0 * relative_spread(&plan) * expected;
            let bound = SIGMAS * (expected + spread.powi(2)).sqrt();
            assert!((hits - expected).abs() < bound, "{shift}, {fpr}: {hits}, not {expected}");
        }
    }
}

#[test]
fn counting_meets_its_plan_and_does_not_saturate_within_it() {
    for (items, fpr, trials) in
        [(1_000, 0.1, 100_000), (10_000, 0.01, 500_000), (10_000, 0.001, 1_000_000)]
    {
        let filter = measure::<Counting>(
            plan(Kind::Counting, items, fpr),
            HashFamily::fast(5),
            trials,
            true,
        );
        assert_eq!(filter.saturated(), 0);
    }
}

#[test]
fn every_hash_family_meets_the_plan() {
    let key = SecretKey::new(b"a secret for the measured rates").unwrap();
    for (hash, trials) in [
        (HashFamily::keyed(key), 400_000),
        (HashFamily::sha256_md5(), 200_000),
        (HashFamily::prefixed(), 50_000),
    ] {
        measure::<Classic>(plan(Kind::Bloom, 10_000, 0.01), hash, trials, true);
    }
}

/// The textbook's walk h1 + i h2 mod m repeats a member's walk too often for a small filter with a
/// low rate; ours does not. 1,000 items at 1e-6: m = 28,756, where the textbook's walk passes
/// several times as many strangers as planned.
#[test]
fn low_rates_hold_in_small_filters() {
    let plan = plan(Kind::Bloom, 1_000, 1e-6);
    let strangers = 1_000u64..60_001_000;
    let expected = plan.expected_fpr(1_000) * (strangers.end - strangers.start) as f64;

    let filter = {
        let mut filter = Bloom::with_plan(plan, HashFamily::fast(0)).unwrap();
        filter.insert_many(0..1_000u64);
        filter
    };
    let ours = strangers.clone().filter(|i| filter.contains(*i)).count() as f64;
    // The filter's own fill varies by about 15% of the rate at this size.
    let bound = SIGMAS * (expected + (0.15 * expected).powi(2)).sqrt();
    assert!((ours - expected).abs() < bound, "{ours} passed, {expected} expected");

    let (m, k, hash) = (plan.bits(), u64::from(plan.hashes()), HashFamily::fast(0));
    let halves = |i: u64| {
        let digest = u128::from(hash.digest(i).unwrap());
        ((digest as u64) % m, (digest >> 64) as u64 % m)
    };
    let mut bits = vec![false; m as usize];
    for i in 0..1_000 {
        let (a, b) = halves(i);
        (0..k).for_each(|j| bits[((a + j * b) % m) as usize] = true);
    }
    let textbook = strangers
        .filter(|i| {
            let (a, b) = halves(*i);
            (0..k).all(|j| bits[((a + j * b) % m) as usize])
        })
        .count() as f64;
    assert!(
        textbook > 2.0 * expected,
        "the textbook's walk would do: {textbook} passed, {expected} expected"
    );
}

#[test]
fn overfull_filters_say_so() {
    fn check<L: Layout>(items: u64) {
        let mut filter = Filter::<L>::new(items, 0.01).unwrap();
        filter.insert_many(0..items);
        assert_eq!(filter.health(), Health::Within, "{items} items as planned");
        filter.insert_many(0..items + items / 20 + 5 * items.isqrt());
        assert_eq!(filter.health(), Health::Beyond, "{items} items and more");
        assert!(filter.expected_fpr() > 0.01);
        filter.insert_many(0..100 * items);
        assert_eq!(filter.health(), Health::Beyond);
        assert!(filter.contains(0u64));
    }
    for items in [1, 2, 10, 100, 1_000, 10_000, 100_000] {
        check::<Classic>(items);
        check::<Counting>(items);
        if items >= 100 {
            // Below, one block has room to spare.
            check::<Blocked>(items);
            check::<Split>(items);
        }
    }
}

#[test]
#[ignore = "long: scripts/test --long runs it, optimised"]
fn long_bloom_at_a_hundred_million_items() {
    measure::<Classic>(
        plan(Kind::Bloom, 100_000_000, 0.01),
        HashFamily::fast(6),
        20_000_000,
        false,
    );
}

#[test]
#[ignore = "long: scripts/test --long runs it, optimised"]
fn long_blocked_at_a_hundred_million_items() {
    measure::<Blocked>(
        plan(Kind::Blocked, 100_000_000, 0.01),
        HashFamily::fast(7),
        20_000_000,
        false,
    );
}

/// A chain that started with 100 keys, at every power of ten up to `most`: the rate of the links
/// adds up to less than was promised, and is measured.
fn measure_chain(most: u64, strangers: u64) {
    let mut chain = Scalable::new(100, 0.01).unwrap();
    let (mut before, mut items, mut random) = (0, 100, SplitMix64::new(30));
    while items <= most {
        chain.insert_many(before..items).unwrap();
        let rate = chain.expected_fpr();
        assert!(rate < 0.01, "{rate} at {items}");
        assert_eq!(chain.health(), Health::Within);
        let mut passed = 0;
        for _ in 0..strangers / 1_000 {
            // Members are below 2^32.
            let keys: Vec<u64> = (0..1_000).map(|_| random.next_u64() | 1 << 63).collect();
            passed += chain.contains_many(&keys).iter().filter(|passed| **passed).count();
        }
        let measured = passed as f64 / strangers as f64;
        let sigma = (rate / strangers as f64).sqrt();
        assert!((measured - rate).abs() < SIGMAS * sigma, "{measured}, not {rate}, at {items}");
        let estimated = chain.estimated_items() / items as f64;
        assert!((estimated - 1.0).abs() < 0.02, "{estimated} at {items}");
        (before, items) = (items, 10 * items);
    }
    assert!((0..most).step_by(997).all(|key| chain.contains(key)));
}

#[test]
fn chains_keep_their_rate_as_they_grow() {
    measure_chain(1_000_000, 1_000_000);
}

#[test]
#[ignore = "long: scripts/test --long runs it, optimised"]
fn long_chain_of_a_hundred_million_items() {
    measure_chain(100_000_000, 20_000_000);
}

#[test]
#[ignore = "long: scripts/test --long runs it, optimised"]
fn long_one_in_a_million() {
    for items in [10_000, 1_000_000] {
        measure::<Classic>(plan(Kind::Bloom, items, 1e-6), HashFamily::fast(8), 300_000_000, false);
        measure::<Blocked>(
            plan(Kind::Blocked, items, 1e-6),
            HashFamily::fast(9),
            300_000_000,
            false,
        );
    }
}
