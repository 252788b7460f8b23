//! Zone filters over all universes, up to 2^128 elements, against naive sets.

#![allow(clippy::unwrap_used)]

use std::collections::BTreeSet;
use tamis::zone::{
    CellKind, CodeKind, Counters, CountingFilter, Filter, Plan, Prefer, Universe, ZoneFilter,
};
use tamis::{AnyFilter, Error, Health, Open};
use tamis_random::SplitMix64;

/// A universe of every kind, with what its elements look like.
fn universes() -> Vec<Universe> {
    let texts = [
        "ipv4",
        "10.0.0.0/8",
        "ipv6",
        "2001:db8::/32",
        "uuid",
        "mac",
        "hex:1",
        "hex:20",
        "hex:32",
        "ipv4-prefixes",
        "ipv4-prefixes:24",
        "ipv6-prefixes:48",
        "ipv6-prefixes:127",
        "1..606",
        "2^64",
        "2^128",
        "18446744073709551610..18446744073709551630",
        "340282366920938463463374607431768211400..340282366920938463463374607431768211455",
    ];
    let mut all: Vec<Universe> = texts.iter().map(|text| text.parse().unwrap()).collect();
    all.push(Universe::dictionary((0u32..100).map(|n| format!("key {n}"))).unwrap());
    all
}

/// Numbers of the universe: at random, in a run, and at both ends.
fn numbers(random: &mut SplitMix64, universe: &Universe, count: usize) -> BTreeSet<u128> {
    let last = universe.size().last();
    let below = |draw: u128| last.checked_add(1).map_or(draw, |size| draw % size);
    let start = below(random.next_u128());
    let mut set = BTreeSet::new();
    while set.len() < count {
        set.insert(match random.below(8) {
            0 => u128::from(random.below(3)).min(last),
            1 => last - u128::from(random.below(3)).min(last),
            2 | 3 => below(start.wrapping_add(random.below(20).into())),
            _ => below(random.next_u128()),
        });
    }
    set
}

/// Elements that a code may take for one of the set: neighbours, and numbers that differ by
/// products of its blocks.
fn strangers(random: &mut SplitMix64, plan: &Plan, set: &BTreeSet<u128>) -> BTreeSet<u128> {
    let last = plan.universe().size().last();
    let mut asked = numbers(random, plan.universe(), 10.min(last) as usize);
    let blocks = plan.blocks();
    for &member in set {
        let mut distance = 1u128;
        for _ in 0..40 {
            asked.insert(member.wrapping_add(distance));
            asked.insert(member.wrapping_sub(distance));
            let block = blocks[random.below(blocks.len() as u64) as usize];
            distance = distance.checked_mul(block.into()).unwrap_or(1);
        }
    }
    asked.retain(|number| *number <= last && !set.contains(number));
    asked
}

fn check_random_plan(seed: u64) {
    let mut random = SplitMix64::new(seed);
    let universes = universes();
    let universe = &universes[random.below(universes.len() as u64) as usize];
    // Choosing coprime moduli takes long for many items.
    let code = [CodeKind::Egh, CodeKind::Rs, CodeKind::Rs, CodeKind::Coprime];
    let code = code[random.below(4) as usize];
    let most = if code == CodeKind::Coprime { 3 } else { 12 };
    let items = 1 + random.below(most);
    let items = universe.size().get().map_or(items, |size| size.min(items.into()) as u64);
    let plan = Plan::with_code(universe.clone(), items, code).unwrap();
    let held = random.below(items + 1) as usize;
    let set = numbers(&mut random, universe, held);
    if random.below(2) == 0 {
        check_filter::<Counters>(&mut random, plan.counting(), &set);
    } else {
        check_filter::<tamis::zone::Bits>(&mut random, plan, &set);
    }
}

fn check_filter<C: CellKind>(random: &mut SplitMix64, plan: Plan, set: &BTreeSet<u128>)
where
    AnyFilter: From<ZoneFilter<C>>,
{
    let universe = plan.universe().clone();
    let mut filter = ZoneFilter::<C>::with_plan(plan.clone()).unwrap();
    for &number in set {
        let name = universe.name(number);
        assert_eq!(universe.number_of_text(&name).unwrap(), number, "{universe}");
        assert!(filter.insert_number(number, false).unwrap(), "{number} in {plan:?}");
    }
    assert_eq!(filter.health(), Health::Within);
    assert!(set.iter().all(|number| filter.contains_number(*number).unwrap()), "{plan:?}");
    for stranger in strangers(random, &plan, set) {
        assert!(!filter.contains_number(stranger).unwrap(), "{stranger} in {plan:?} of {set:?}");
    }
    match filter.list() {
        Ok(list) => {
            assert!(list.exact && list.numbers.iter().eq(set), "{plan:?} of {set:?}");
            let names = list.numbers.iter().map(|number| universe.name(*number));
            let again = names.map(|name| universe.number_of_text(&name).unwrap());
            assert!(again.eq(set.iter().copied()), "{plan:?}");
        }
        Err(why) => assert!(set.len() as u64 > plan.listable(), "{plan:?} of {set:?}: {why}"),
    }
    // The file proves the plan again.
    let any = AnyFilter::from(filter);
    let mut open = Open::new();
    if universe.kind() == "dictionary" {
        open = open.dictionary(universe);
    }
    let read = open.bytes(&any.to_bytes()).unwrap();
    assert!(read == any, "{plan:?} of {set:?}");
}

#[test]
fn random_plans_over_all_universes_are_never_wrong() {
    (0..300).for_each(check_random_plan);
}

#[test]
#[ignore = "long: scripts/test --long runs it, optimised"]
fn long_ten_thousand_random_plans_are_never_wrong() {
    (1_000..11_000).for_each(check_random_plan);
}

/// What the command line does with IPv6 addresses, from the library.
fn check_addresses<C: CellKind>(code: Option<CodeKind>) {
    let addresses = ["2001:db8::1", "::1", "fe80::1:2:3", "ffff:ffff::ffff"];
    let mut plan = Plan::choose(&Universe::ipv6(), 4, code, Prefer::Bits).unwrap();
    if C::COUNTING {
        plan = plan.counting();
    }
    let mut filter = ZoneFilter::<C>::with_plan(plan.clone()).unwrap();
    for address in addresses {
        assert!(filter.insert(address).unwrap());
    }
    assert!(matches!(filter.insert("::2"), Err(Error::Full { zone: 4 })));
    assert!(!filter.contains("::2").unwrap());
    let names = |filter: &ZoneFilter<C>| filter.list().unwrap().names(filter);
    let sorted = ["::1", "2001:db8::1", "fe80::1:2:3", "ffff:ffff::ffff"];
    assert_eq!(names(&filter), sorted, "{plan:?}");

    let mut grown = filter.clone();
    let reach = plan.growth().items;
    if reach > 4 {
        grown.grow_for(5).unwrap();
        assert!(grown.insert("::2").unwrap());
        assert_eq!(grown.list().unwrap().numbers.len(), 5, "{plan:?}");
    } else {
        assert!(grown.grow_for(5).is_err());
        grown.grow(plan.growth().blocks).unwrap();
        assert_eq!(names(&grown), sorted);
    }

    let mut pair = ZoneFilter::<C>::with_plan(plan.clone()).unwrap();
    for address in &addresses[..2] {
        pair.insert(address).unwrap();
    }
    let original = pair.clone();
    pair.shrink_for(2).unwrap();
    assert!(pair.plan().probes() < plan.probes());
    assert_eq!(names(&pair), sorted[..2]);
    // Grown again, it has the code that it had, and is the filter that it was.
    pair.grow_for(4).unwrap();
    assert_eq!(pair.plan().code(), plan.code());
    assert_eq!(pair, original);

    let mut other = ZoneFilter::<C>::with_plan(plan).unwrap();
    for address in &addresses[1..] {
        other.insert(address).unwrap();
    }
    let mut union = original.clone();
    union.union(&other).unwrap();
    assert_eq!((union.health(), names(&union)), (Health::Within, names(&filter)));
    let mut common = original;
    common.intersect(&other).unwrap();
    assert_eq!(names(&common), ["::1"]);
}

#[test]
fn ipv6_filters_list_grow_shrink_and_merge() {
    for code in [None, Some(CodeKind::Egh), Some(CodeKind::Rs)] {
        check_addresses::<tamis::zone::Bits>(code);
        check_addresses::<Counters>(code);
    }
}

#[test]
fn coprime_ipv6_filters_shrink_and_grow_back() {
    let plan = Plan::with_code(Universe::ipv6(), 4, CodeKind::Coprime).unwrap();
    let mut filter = CountingFilter::with_plan(plan).unwrap();
    for address in ["::1", "2001:db8::1"] {
        filter.insert(address).unwrap();
    }
    let original = filter.clone();
    filter.shrink_for(2).unwrap();
    filter.grow_for(4).unwrap();
    assert_eq!(filter, original);
    filter.union(&original).unwrap();
    assert_eq!(filter.list().unwrap().names(&filter), ["::1", "2001:db8::1"]);
}

/// Sets that meet in as many blocks as they can: what peeling finds is right, or it says that it
/// cannot.
#[test]
fn crowded_sets_are_not_listed_wrongly() {
    let plan = Plan::with_code(Universe::ipv6(), 6, CodeKind::Egh).unwrap();
    let blocks = plan.blocks();
    let mut random = SplitMix64::new(5);
    for _ in 0..60 {
        let mut filter = Filter::with_plan(plan.clone()).unwrap();
        let base = random.next_u128() >> 8;
        let mut set = BTreeSet::from([base]);
        while set.len() < 6 {
            let mut distance = 1u128;
            while let Some(next) = distance
                .checked_mul(blocks[random.below(blocks.len() as u64) as usize].into())
                .filter(|next| *next < 1 << 120)
            {
                distance = next;
            }
            set.insert(base + distance);
        }
        set.iter().for_each(|number| assert!(filter.insert_number(*number, false).unwrap()));
        if let Ok(list) = filter.list() {
            assert!(list.numbers.iter().eq(&set));
        }
    }
}
