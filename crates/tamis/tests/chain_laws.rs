//! The laws of chains, against a naive set.

#![allow(clippy::unwrap_used)]

use proptest::prelude::*;
use std::collections::{HashMap, HashSet};
use std::time::Duration;
use tamis::rate::{MAX_LINKS, RollingPlan, ScalablePlan, Window};
use tamis::{AnyFilter, Error, HashFamily, Health, Rolling, Scalable, SecretKey};
use tamis_random::SplitMix64;

fn scalable(items: u64, fpr: f64, growth: u32) -> Scalable {
    let plan = ScalablePlan::new(items, fpr).unwrap().with_growth(growth).unwrap();
    Scalable::with_plan(plan, HashFamily::fast(7)).unwrap()
}

fn random_keys(seed: u64, count: usize) -> Vec<u64> {
    let mut random = SplitMix64::new(seed);
    (0..count).map(|_| random.next_u64()).collect()
}

proptest! {
    /// Members pass; a key is new only if it never came before; repeats change nothing.
    #[test]
    fn members_pass_and_repeats_change_nothing(
        keys in prop::collection::vec(0u64..2_000, 0..1_500),
        items in 1u64..200,
        rate in 1e-6f64..0.9,
        growth in 1u32..5,
    ) {
        // Links of one size reach their largest number: then new keys are refused.
        let growth = if items < 30 { growth.max(2) } else { growth };
        let mut chain = scalable(items, rate, growth);
        let mut model = HashSet::new();
        for key in &keys {
            let came_before = !model.insert(*key);
            let passed = chain.contains(*key);
            let new = chain.insert(*key).unwrap();
            prop_assert_eq!(new, !passed);
            prop_assert!(!(new && came_before));
        }
        prop_assert!(model.iter().all(|key| chain.contains(*key)));
        prop_assert!(chain.len() <= model.len() as u64 && chain.len() <= chain.capacity());
        prop_assert!(chain.expected_fpr() <= rate);
        prop_assert_eq!(chain.health(), Health::Within);
        let before = chain.clone();
        prop_assert_eq!(chain.insert_many(&keys).unwrap(), 0);
        prop_assert_eq!(&chain, &before);
    }

    /// A batch makes the chain that one key after the other makes, and asks as they do.
    #[test]
    fn batches_are_single_keys(
        keys in prop::collection::vec(0u64..900, 0..1_500),
        items in 1u64..100,
        growth in 2u32..5,
    ) {
        let (mut one, mut many) = (scalable(items, 0.05, growth), scalable(items, 0.05, growth));
        let new = keys.iter().filter(|key| one.insert(**key).unwrap()).count() as u64;
        prop_assert_eq!(many.insert_many(&keys).unwrap(), new);
        prop_assert_eq!(&many, &one);
        let asked: Vec<u64> = (0..3_000).collect();
        let expected: Vec<bool> = asked.iter().map(|key| one.contains(*key)).collect();
        prop_assert_eq!(one.contains_many(&asked), expected);
    }

    /// Chains of any plans and lengths are united: the keys of either pass, and it can grow on. A
    /// chain united with itself stays as it is.
    #[test]
    fn unions_hold_both(
        left in prop::collection::hash_set(0u64..5_000, 0..800),
        right in prop::collection::hash_set(0u64..5_000, 0..800),
        plans in [(1u64..100, 1u32..4), (1u64..100, 1u32..4)],
        same in any::<bool>(),
    ) {
        let [one, other] = plans.map(|(items, growth)| (items.max(20), growth));
        let other = if same { one } else { other };
        let (mut a, mut b) = (scalable(one.0, 0.01, one.1), scalable(other.0, 0.01, other.1));
        a.insert_many(&left).unwrap();
        b.insert_many(&right).unwrap();
        let (rates, before) = (a.expected_fpr() + b.expected_fpr(), a.clone());
        a.union(&b).unwrap();
        prop_assert!(left.iter().chain(&right).all(|key| a.contains(*key)));
        prop_assert!(a.expected_fpr() <= rates * (1.0 + 1e-9));
        prop_assert!(a.len() <= before.len() + b.len() && a.len() >= before.len().max(b.len()));
        let read = Scalable::from_bytes(&a.to_bytes()).unwrap();
        prop_assert_eq!(&read, &a);
        let mut itself = before.clone();
        itself.union(&before).unwrap();
        prop_assert_eq!(&itself, &before);
        // It goes on growing.
        let more: Vec<u64> = (10_000..11_000).collect();
        a.insert_many(&more).unwrap();
        prop_assert!(more.iter().all(|key| a.contains(*key)));
    }

    /// What is written is read, and grows on as the original does.
    #[test]
    fn files_carry_chains(
        keys in prop::collection::vec(any::<u64>(), 0..600),
        items in 1u64..100,
        keyed in any::<bool>(),
    ) {
        let secret = SecretKey::new(b"32 random bytes, read from a file").unwrap();
        let hash =
            if keyed { HashFamily::keyed(secret.clone()) } else { HashFamily::fast(3) };
        let mut chain = Scalable::with_hash(items, 0.02, hash).unwrap();
        chain.insert_many(&keys).unwrap();
        let bytes = chain.to_bytes();
        let open = if keyed { tamis::Open::new().key(secret) } else { tamis::Open::new() };
        let any = open.bytes(&bytes).unwrap();
        prop_assert_eq!(any.plan().file_bytes(), bytes.len() as u64);
        let mut read = Scalable::try_from(any).unwrap();
        prop_assert_eq!(&read, &chain);
        for more in 0..300u64 {
            prop_assert_eq!(read.insert(more).unwrap(), chain.insert(more).unwrap());
        }
        prop_assert_eq!(read.to_bytes(), chain.to_bytes());
    }

    /// The chain has the size that its plan says for so many keys.
    #[test]
    fn sizes_are_planned(items in 1u64..500, keys in 1u64..20_000, growth in 2u32..6) {
        let mut chain = scalable(items, 0.01, growth);
        // Keys that pass are not inserted, so take what is certainly new.
        let mut key = 0u64;
        while chain.len() < keys {
            chain.insert(key).unwrap();
            key += 1;
        }
        let planned = chain.plan().links_for(keys).unwrap();
        let there: Vec<_> = chain.links().iter().map(|link| *link.plan()).collect();
        prop_assert_eq!(planned, there);
        prop_assert_eq!(chain.plan().bytes_for(keys).unwrap(), chain.bytes());
    }
}

/// However long the chain, the rates that its links may reach stay below the promise; and each link
/// has its share.
#[test]
fn rates_add_up_to_less_than_the_promise() {
    for fpr in [0.999, 0.5, 0.25, 0.05, 0.01, 0.001, 1e-6] {
        for items in [1, 2, 59, 60, 61, 100, 1_000, 12_345] {
            for growth in [1, 2, 3, 4, 10, 100] {
                let plan = ScalablePlan::new(items, fpr).unwrap().with_growth(growth).unwrap();
                let mut links = plan.links_for(1).unwrap();
                let mut held = items;
                // Until memory or fingerprints end.
                while let Ok(longer) = plan.links_for(held + 1) {
                    links = longer;
                    held = links.iter().map(|link| link.items()).sum();
                }
                let rate: f64 = links.iter().map(|link| link.expected_fpr(link.items())).sum();
                assert!(rate < fpr, "{fpr} {items} {growth}: {rate} in {} links", links.len());
                assert!(rate > fpr / 8.0 && links.len() <= MAX_LINKS);
                assert!(links.len() >= if growth == 1 { 60 } else { 4 }, "{fpr} {items} {growth}");
            }
        }
    }
}

/// A link holds exactly so many times the keys of the one before it.
#[test]
fn capacities_are_as_planned() {
    for growth in [1, 2, 3, 4, 7, 8, 10, 100] {
        for items in [1, 7, 59, 60, 100, 101] {
            let mut chain = scalable(items, 0.01, growth);
            let goal = 20_000.min(items * 100);
            chain.insert_many(0..goal).unwrap();
            let capacities: Vec<u64> = chain.link_capacities().collect();
            let mut expected = items;
            for capacity in &capacities {
                assert_eq!(*capacity, expected, "{growth} {items}: {capacities:?}");
                expected *= u64::from(growth);
            }
            assert_eq!(chain.capacity(), capacities.iter().sum::<u64>());
        }
    }
}

/// From 1,000 keys to 10^6 at 1%: few bits a key and few links, and the measured rate is that of
/// the links, within five sigma, and below the promise.
#[test]
fn grown_chains_keep_size_and_rate() {
    for (growth, links, bits) in [(8, 5, 15.7), (2, 10, 14.2), (32, 3, 13.6)] {
        grow_to_a_million(growth, links, bits);
    }
}

fn grow_to_a_million(growth: u32, links: usize, bits: f64) {
    let mut chain = scalable(1_000, 0.01, growth);
    chain.insert_many(0..1_000_000u64).unwrap();
    let bits_a_key = chain.bytes() as f64 * 8.0 / 1e6;
    assert!(chain.links().len() == links && bits_a_key < bits, "{chain:?}, {bits_a_key} bits");
    let strangers: Vec<u64> = random_keys(1, 1_000_000);
    let passed = chain.contains_many(&strangers).iter().filter(|passed| **passed).count() as f64;
    let (rate, n) = (chain.expected_fpr(), strangers.len() as f64);
    assert!(rate < 0.01, "{rate}");
    assert!((passed / n - rate).abs() < 5.0 * (rate / n).sqrt(), "{} and {rate}", passed / n);
    // The keys that were not inserted because they passed are estimated.
    assert!(chain.len() < 999_000);
    assert!((chain.estimated_items() / 1e6 - 1.0).abs() < 5e-4, "{}", chain.estimated_items());
}

#[test]
fn what_cannot_be_is_refused_and_changes_nothing() {
    assert!(matches!(ScalablePlan::new(0, 0.01), Err(Error::Items { .. })));
    assert!(matches!(ScalablePlan::new(1, 0.0), Err(Error::Rate { .. })));
    assert!(matches!(ScalablePlan::new(1, f64::NAN), Err(Error::Rate { .. })));
    assert!(matches!(ScalablePlan::new(u64::MAX, 0.01), Err(Error::TooManyBits { .. })));
    assert!(matches!(ScalablePlan::new(1 << 40, 1e-12), Err(Error::RateTooLow { .. })));
    let plan = ScalablePlan::new(100, 0.01).unwrap();
    for growth in [0, 32_769, u32::MAX] {
        assert!(matches!(plan.with_growth(growth), Err(Error::GrowthFactor { .. })));
    }
    assert!(plan.with_growth(32_768).unwrap().links_for(u64::MAX).is_err());
    assert!(plan.with_growth(1).unwrap().links_for(100 * MAX_LINKS as u64).is_ok());
    assert!(plan.with_growth(1).unwrap().links_for(100 * MAX_LINKS as u64 + 1).is_err());
    assert!(plan.check_memory(1_000_000, 1_000_000).is_err());
    assert!(plan.check_memory(1_000_000, 10_000_000).is_ok());

    // A fixed chain refuses the first key too many, and still answers.
    let plan = plan.fixed().unwrap();
    let mut fixed = Scalable::with_plan(plan, HashFamily::default()).unwrap();
    let mut key = 0u64;
    let refused = loop {
        match fixed.insert(key) {
            Ok(_) => key += 1,
            Err(error) => break error,
        }
    };
    assert!(matches!(refused, Error::ChainFull { items: 100, links: 1 }), "{refused}");
    let before = fixed.clone();
    assert!(fixed.insert(key).is_err() && fixed == before && fixed.len() == 100);
    assert!(!fixed.insert(0u64).unwrap(), "a key that passes needs no room");
    // It takes the whole rate, so it is no larger than a quotient filter.
    let alone = tamis::QuotientFilter::new(100, 0.01).unwrap();
    assert_eq!(fixed.bytes(), alone.plan().bytes());

    // So does a limit of memory.
    let mut limited = Scalable::new(100, 0.01).unwrap();
    limited.limit_memory(Some(5_000));
    let refused = limited.insert_many(0..100_000u64).unwrap_err();
    assert!(matches!(refused, Error::Memory { allowed: Some(5_000), .. }), "{refused}");
    let room: u64 = limited.links().iter().map(|link| link.plan().items()).sum();
    assert!(limited.bytes() <= 5_000 && limited.len() == room && room <= limited.capacity());
    let before = limited.clone();
    assert!(limited.insert(u64::MAX).is_err() && limited == before);
    assert!(limited.union(&before).is_err() && limited == before);
    limited.limit_memory(None);
    limited.insert_many(0..100_000u64).unwrap();

    let mut any = AnyFilter::from(limited.clone());
    let remedy = any.remove(1u64).unwrap_err().to_string();
    assert!(remedy.contains("quotient filter"), "{remedy}");
    assert!(any.intersect(&limited.clone().into()).is_err());
    let other = Scalable::with_hash(100, 0.01, HashFamily::fast(1)).unwrap();
    assert!(matches!(limited.union(&other), Err(Error::Mismatch { field: "seed", .. })));
    for hash in [HashFamily::sha256_md5(), HashFamily::prefixed()] {
        assert!(matches!(Scalable::with_hash(1, 0.1, hash), Err(Error::NoDigest { .. })));
    }
    limited.clear().unwrap();
    assert!(limited.is_empty() && limited.links().len() == 1 && !limited.contains(5u64));
}

/// A union beyond the promise says so, and further links go on.
#[test]
fn health_tells_of_unions_beyond_the_promise() {
    let mut all = Scalable::new(100, 0.01).unwrap();
    for part in 0..40u64 {
        let mut chain = Scalable::new(100, 0.01).unwrap();
        chain.insert_many(part * 5_000..(part + 1) * 5_000).unwrap();
        all.union(&chain).unwrap();
    }
    assert_eq!(all.health(), Health::Beyond);
    assert!(all.expected_fpr() > 0.01);
    all.insert_many(1 << 40..(1 << 40) + 500_000u64).unwrap();
    assert!((0..200_000).chain(1 << 40..(1 << 40) + 500_000u64).all(|key| all.contains(key)));
}

/// When each key came last, and what a window of so many ticks in so many generations remembers.
#[derive(Default)]
struct Model {
    last: HashMap<u64, u64>,
}

impl Model {
    /// Keys up to the age of the window must pass at this tick; those of the age `gone` or more
    /// must not.
    fn check(&self, now: u64, window: u64, gone: u64, passes: impl Fn(u64) -> bool) {
        for (key, came) in &self.last {
            let age = now - came;
            if age <= window {
                assert!(passes(*key), "{key} of {came} at {now}, {window}");
            }
        }
        // The rate of these tests lets no stranger pass by chance.
        let late: Vec<_> = self.last.iter().filter(|(_, came)| now - *came >= gone).collect();
        let remembered = late.iter().filter(|(key, _)| passes(**key)).count();
        assert_eq!(remembered, 0, "{remembered} of {} at {now}, {gone}", late.len());
    }
}

const NEVER: f64 = 1e-9;

fn rolling(plan: RollingPlan) -> Rolling {
    Rolling::with_plan(plan, HashFamily::fast(5)).unwrap()
}

fn span_of(plan: &RollingPlan) -> u64 {
    let length = match plan.window() {
        Window::Items(items) => items,
        Window::Time(time) => time.as_nanos() as u64,
        _ => unreachable!(),
    };
    length.div_ceil(u64::from(plan.generations()) - 1)
}

/// Every window of up to 12 insertions, with every number of generations up to 8: after each
/// insertion the last ones pass, and those before by more than a generation do not.
#[test]
fn windows_of_insertions_are_exact() {
    for window in 1..=12u64 {
        for generations in 2..=8 {
            let plan = RollingPlan::last_items(window, NEVER).unwrap();
            let mut seen = rolling(plan.with_generations(generations).unwrap());
            let span = span_of(seen.plan());
            let mut model = Model::default();
            let mut random = SplitMix64::new(window * 100 + u64::from(generations));
            for insertion in 0..100u64 {
                let key = random.below(30);
                let (known, passed) = (model.last.get(&key), seen.contains(key));
                let new = seen.insert(key).unwrap();
                // The generation of this insertion may begin with it, and forget the key.
                assert!(!new || !passed || known.is_none_or(|came| insertion - came > window));
                assert!(new || known.is_some());
                model.last.insert(key, insertion);
                // The last `window` insertions, this one included.
                model.check(insertion, window - 1, span * u64::from(generations), |key| {
                    seen.contains(key)
                });
                assert!(seen.links().len() <= generations as usize);
                assert_eq!(seen.insertions(), Some(insertion + 1));
            }
        }
    }
}

proptest! {
    /// The same for time that goes forwards, stands, leaps, and sometimes backwards. Batches are
    /// single keys, and files carry all of it.
    #[test]
    fn windows_of_time_are_exact(
        steps in prop::collection::vec((0u64..40, 0u64..60, 0u8..10), 1..300),
        window in 1u64..500,
        generations in 2u32..10,
    ) {
        let plan = RollingPlan::last_time(Duration::from_nanos(window), 50, NEVER).unwrap();
        let mut seen = rolling(plan.with_generations(generations).unwrap());
        // The age that no key passes, except by chance: the window in whole generations, and one
        // more.
        let gone = span_of(seen.plan()) * u64::from(generations);
        let (mut model, mut latest) = (Model::default(), 0u64);
        for (key, step, way) in steps {
            let now = match way {
                0 => latest.saturating_sub(step),
                1 => latest + 20 * step,
                _ => latest + step,
            };
            latest = latest.max(now);
            let now = Duration::from_nanos(now);
            let passed = seen.contains_at(key, now);
            prop_assert_eq!(seen.contains_many_at(&[key], now), [passed]);
            prop_assert_eq!(seen.insert_at(key, now).unwrap(), !passed);
            model.last.insert(key, latest);
            model.check(latest, window, gone, |key| seen.contains(key));
            prop_assert_eq!(seen.latest(), Some(Duration::from_nanos(latest)));
        }
        let later = latest + window / 2;
        model.check(later, window, gone, |key| seen.contains_at(key, Duration::from_nanos(later)));
        let read = Rolling::from_bytes(&seen.to_bytes()).unwrap();
        prop_assert_eq!(&read, &seen);
        let any = AnyFilter::from(seen.clone());
        prop_assert_eq!(any.plan().file_bytes(), seen.to_bytes().len() as u64);
        seen.advance(Duration::from_nanos(latest + gone));
        prop_assert!(seen.is_empty() && seen.links().is_empty());
    }

    /// A batch makes the chain that one key after the other makes.
    #[test]
    fn rolling_batches_are_single_keys(
        keys in prop::collection::vec(0u64..400, 0..1_500),
        window in 1u64..600,
        cut in 0usize..1_500,
    ) {
        let plan = RollingPlan::last_items(window, 0.05).unwrap();
        let (mut one, mut many) = (rolling(plan), rolling(plan));
        let new = keys.iter().filter(|key| one.insert(**key).unwrap()).count() as u64;
        let (first, second) = keys.split_at(cut.min(keys.len()));
        let mut counted = many.insert_many(first).unwrap();
        many = Rolling::from_bytes(&many.to_bytes()).unwrap();
        counted += many.insert_many(second).unwrap();
        prop_assert_eq!(counted, new);
        prop_assert_eq!(&many, &one);
        let asked: Vec<u64> = (0..500).collect();
        let expected: Vec<bool> = asked.iter().map(|key| one.contains(*key)).collect();
        prop_assert_eq!(one.contains_many(&asked), expected);
        prop_assert!(one.bytes() <= one.plan().bytes());
        prop_assert!(one.expected_fpr() <= 0.05);
    }

    /// Two machines that see the same clock: the union remembers what one chain would that had got
    /// all keys.
    #[test]
    fn unions_of_windows_of_time(
        steps in prop::collection::vec((0u64..1_000, 0u64..20, any::<bool>()), 0..200),
    ) {
        let plan = RollingPlan::last_time(Duration::from_nanos(300), 60, NEVER).unwrap();
        let (mut left, mut right, mut both) = (rolling(plan), rolling(plan), rolling(plan));
        let mut now = 0;
        for (key, step, side) in steps {
            now += step;
            let time = Duration::from_nanos(now);
            if side { &mut left } else { &mut right }.insert_at(key, time).unwrap();
            both.insert_at(key, time).unwrap();
        }
        left.union(&right).unwrap();
        for key in 0..1_000u64 {
            prop_assert_eq!(left.contains(key), both.contains(key), "{}", key);
        }
        prop_assert_eq!(left.latest(), both.latest());
        prop_assert_eq!(left.links().len(), both.links().len());
        let before = left.clone();
        left.union(&before).unwrap();
        prop_assert_eq!(&left, &before);
    }
}

/// The rate over all generations is below the promise, as planned and as measured.
#[test]
fn rolling_chains_keep_size_and_rate() {
    for fpr in [0.3, 0.01, 0.001] {
        let mut seen = Rolling::new(100_000, fpr).unwrap();
        let plan = *seen.plan();
        // One insertion before the oldest generation goes: the chain is as full as it gets.
        let span = span_of(&plan);
        seen.insert_many(0..3 * u64::from(plan.generations()) * span).unwrap();
        assert_eq!(seen.links().len(), plan.generations() as usize);
        assert_eq!(seen.bytes(), plan.bytes());
        let strangers = random_keys(2, 1_000_000);
        let passed = seen.contains_many(&strangers).iter().filter(|it| **it).count() as f64;
        let (rate, n) = (seen.expected_fpr(), strangers.len() as f64);
        assert!(rate <= fpr && rate > fpr / 4.0, "{rate} for {fpr}");
        assert!((passed / n - rate).abs() < 5.0 * (rate / n).sqrt(), "{} {rate}", passed / n);
        assert_eq!(seen.health(), Health::Within);
    }
    let plan = RollingPlan::last_items(1_000_000, 0.01).unwrap();
    assert!(plan.bits_per_item() < 14.7, "{}", plan.bits_per_item());
}

/// All keys of a window at once, and four times as many: they are remembered, and the rate is that
/// of their number.
#[test]
fn more_keys_than_planned_are_remembered() {
    let plan = RollingPlan::last_time(Duration::from_secs(60), 10_000, 0.01).unwrap();
    let mut seen = rolling(plan);
    seen.advance(Duration::from_secs(1_000));
    seen.insert_many(0..10_000u64).unwrap();
    assert!((0..10_000u64).all(|key| seen.contains(key)));
    assert_eq!((seen.health(), seen.links().len()), (Health::Within, 1));
    seen.insert_many(10_000..40_000u64).unwrap();
    assert!((0..40_000u64).all(|key| seen.contains(key)));
    assert_eq!(seen.health(), Health::Beyond);
    assert!(seen.expected_fpr() < 0.04);
    seen.advance(Duration::from_secs(2_000));
    assert_eq!((seen.health(), seen.len()), (Health::Within, 0));

    // Without end they are refused, and nothing that was said is taken back.
    let mut limited = rolling(plan);
    limited.limit_memory(Some(2 * plan.bytes()));
    let refused = limited.insert_many(0..1_000_000u64).unwrap_err();
    assert!(matches!(refused, Error::Memory { allowed: Some(_), .. }), "{refused}");
    let held = limited.len();
    assert!(held > 10_000 && limited.bytes() <= 2 * plan.bytes());
    let mut endless = rolling(RollingPlan::last_time(Duration::from_secs(1), 1, 0.3).unwrap());
    let refused = endless.insert_many(0..1_000_000u64).unwrap_err();
    assert!(matches!(refused, Error::ChainFull { .. }), "{refused}");
    assert!((0..endless.len()).all(|key| endless.contains(key)));
}

#[test]
fn windows_that_cannot_be_are_refused() {
    let second = Duration::from_secs(1);
    assert!(matches!(RollingPlan::last_items(0, 0.01), Err(Error::Items { .. })));
    assert!(matches!(RollingPlan::last_items(1, 1.0), Err(Error::Rate { .. })));
    assert!(matches!(RollingPlan::last_time(second, 0, 0.01), Err(Error::Items { .. })));
    for time in [Duration::ZERO, Duration::from_secs(1 << 40), Duration::MAX] {
        let refused = RollingPlan::last_time(time, 1, 0.01).unwrap_err();
        assert!(matches!(refused, Error::WindowTime { .. }), "{refused}");
    }
    assert!(RollingPlan::last_items(u64::MAX, 0.01).is_err());
    assert!(matches!(RollingPlan::last_items(1 << 35, 1e-12), Err(Error::RateTooLow { .. })));
    let plan = RollingPlan::last_items(100, 0.01).unwrap();
    for generations in [0, 1, 129, u32::MAX] {
        let refused = plan.with_generations(generations).unwrap_err();
        assert!(matches!(refused, Error::Generations { .. }), "{refused}");
    }
    assert!(plan.with_generations(128).unwrap().check_memory(100).is_err());
    let (mut one, other) = (rolling(plan), rolling(plan));
    let refused = one.union(&other).unwrap_err().to_string();
    assert!(refused.contains("window of time"), "{refused}");
    let hour = RollingPlan::last_time(3_600 * second, 100, 0.01).unwrap();
    let day = RollingPlan::last_time(86_400 * second, 100, 0.01).unwrap();
    assert!(matches!(rolling(hour).union(&rolling(day)), Err(Error::Mismatch { .. })));
    let mut any = AnyFilter::from(rolling(hour));
    assert!(any.remove("ant").is_err() && any.intersect(&rolling(hour).into()).is_err());
    // The end of time.
    let mut late = rolling(hour);
    assert!(late.insert_at("ant", Duration::MAX).unwrap());
    assert!(late.contains_at("ant", Duration::MAX) && late.contains_at("ant", Duration::ZERO));
    late.clear();
    assert!(late.is_empty() && !late.contains("ant"));
}
