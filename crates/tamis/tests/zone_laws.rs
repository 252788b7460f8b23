//! The zone promise as laws, against naive models: exhaustively where the universe is small, by
//! seeded draws where it is not.

#![allow(clippy::unwrap_used)]

use proptest::prelude::*;
use std::collections::{BTreeMap, BTreeSet};
use std::ops::ControlFlow;
use std::sync::LazyLock;
use tamis::zone::{
    Bits, CellKind, CodeKind, Counters, CountingFilter, Filter, ListError, Method, Plan, Prefer,
    Size, Universe, ZoneFilter, largest_items, largest_universe,
};
use tamis::{AnyFilter, Error, Health};
use tamis_random::SplitMix64;

/// Elements and sets, the same in every run.
struct Draw(SplitMix64);

impl Draw {
    fn new(seed: u64) -> Draw {
        Draw(SplitMix64::new(seed))
    }

    /// A number below `size`, as good as uniform.
    fn below(&mut self, size: u128) -> u128 {
        self.0.next_u128() % size
    }

    fn set(&mut self, size: u128, count: usize) -> BTreeSet<u128> {
        let mut set = BTreeSet::new();
        while set.len() < count {
            set.insert(self.below(size));
        }
        set
    }
}

/// The integers from `first` on, `size` of them.
fn universe(first: u128, size: u128) -> Universe {
    Universe::interval(first, first + (size - 1)).unwrap()
}

fn filled<C: CellKind>(plan: &Plan, numbers: impl IntoIterator<Item = u128>) -> ZoneFilter<C> {
    let mut filter = ZoneFilter::<C>::with_plan(plan.clone()).unwrap();
    for number in numbers {
        assert!(filter.insert_number(number, false).unwrap(), "{number} in {plan:?}");
    }
    filter
}

/// Whether algebra must be able to list full filters of the plan: Reed-Solomon codes have blocks
/// enough by construction, codes of residues if their product is at least n^d. (Coprime moduli, and
/// primes cut short, may be proved by less than that.)
fn algebra_suffices(plan: &Plan) -> bool {
    let size = plan.universe().size().to_f64();
    let product: f64 = plan.blocks().iter().map(|q| (*q as f64).log2()).sum();
    plan.code().kind() == CodeKind::Rs || product >= plan.items() as f64 * size.log2() - 1e-9
}

// 1. Exhaustively.

/// Calls `check` with every set of at most `most` numbers below `size`.
fn every_set(size: u128, most: usize, check: &mut dyn FnMut(&[u128])) {
    fn extend(size: u128, most: usize, set: &mut Vec<u128>, check: &mut dyn FnMut(&[u128])) {
        check(set);
        if set.len() < most {
            for number in set.last().map_or(0, |last| last + 1)..size {
                set.push(number);
                extend(size, most, set, check);
                set.pop();
            }
        }
    }
    extend(size, most, &mut Vec::new(), check);
}

/// Every set, every element, every method.
fn check_plan(plan: &Plan) {
    let (first, size) = (plan.universe().first(), plan.universe().size().get().unwrap());
    let (no_bits, no_counts) = (
        Filter::with_plan(plan.clone()).unwrap(),
        CountingFilter::with_plan(plan.clone()).unwrap(),
    );
    every_set(size, plan.items() as usize, &mut |set| {
        let (mut bits, mut counts) = (no_bits.clone(), no_counts.clone());
        for number in set {
            assert!(bits.insert(first + number).unwrap() && counts.insert(first + number).unwrap());
        }
        for number in 0..size {
            let stored = set.contains(&number);
            assert_eq!(
                bits.contains(first + number).unwrap(),
                stored,
                "{number} of {set:?} in {plan:?}"
            );
            assert_eq!(
                counts.contains_number(number).unwrap(),
                stored,
                "{number} of {set:?} in {plan:?}"
            );
        }
        let listed =
            [bits.list(), bits.list_by(Method::Join), counts.list(), counts.list_by(Method::Join)];
        for list in listed {
            let list = list.unwrap();
            assert!(list.exact && list.numbers == set, "{list:?} for {set:?} in {plan:?}");
        }
        for filter in [bits.list_by(Method::Peel), counts.list_by(Method::Peel)] {
            let certain = set.len() as u64 <= plan.listable_by(Method::Peel);
            match filter {
                Ok(list) => assert!(list.numbers == set, "{list:?} for {set:?} in {plan:?}"),
                Err(why) => assert!(!certain || set.is_empty(), "{set:?} in {plan:?}: {why}"),
            }
        }
        for method in [Method::Algebra, Method::Sturm] {
            let why = match counts.list_by(method) {
                Ok(list) => {
                    assert!(
                        list.exact && list.numbers == set,
                        "{method:?} {list:?} for {set:?} in {plan:?}"
                    );
                    continue;
                }
                Err(Error::Listing(why)) => why.to_string(),
                Err(other) => panic!("{other}"),
            };
            let refused = method == Method::Sturm && plan.code().kind() == CodeKind::Rs;
            assert!(refused || !algebra_suffices(plan), "{method:?} {set:?} in {plan:?}: {why}");
        }
    });
    assert!(plan.zone() >= plan.items());
}

fn check_universe(first: u128, size: u128, items: u64) {
    for code in CodeKind::ALL {
        check_plan(&Plan::with_code(universe(first, size), items, code).unwrap());
    }
}

#[test]
fn small_universes_are_exact() {
    for size in 1..=14 {
        for items in 1..=3.min(size as u64) {
            check_universe(0, size, items);
        }
    }
}

#[test]
fn small_universes_are_exact_wherever_they_begin() {
    for (size, items) in [(2, 1), (2, 2), (5, 2), (7, 3), (10, 2), (11, 3), (14, 2)] {
        for first in [1, 13, u128::MAX - size, u128::MAX - size + 1] {
            check_universe(first, size, items);
        }
    }
}

#[test]
fn middling_universes_are_exact_for_two_items() {
    for size in [16, 17, 19, 23, 25, 27, 28, 30] {
        check_universe(0, size, 2);
    }
    check_universe(u128::MAX - 29, 30, 2);
}

/// Dictionaries and addresses are numbered; nothing else is different.
#[test]
fn names_do_not_matter() {
    let words: Vec<String> = (0..12).map(|word| format!("word {word}")).collect();
    for code in CodeKind::ALL {
        check_plan_by_names(
            &Plan::with_code(Universe::dictionary(&words).unwrap(), 2, code).unwrap(),
            &words,
        );
    }
}

fn check_plan_by_names(plan: &Plan, words: &[String]) {
    every_set(words.len() as u128, plan.items() as usize, &mut |set| {
        let mut filter = Filter::with_plan(plan.clone()).unwrap();
        let names: Vec<&str> = set.iter().map(|number| words[*number as usize].as_str()).collect();
        names.iter().for_each(|name| assert!(filter.insert(*name).unwrap()));
        assert_eq!(filter.list().unwrap().names(&filter), names);
        let held = filter.contains_many(words).unwrap();
        assert!(words.iter().zip(held).all(|(word, held)| held == names.contains(&word.as_str())));
        assert!(matches!(filter.contains("a stranger"), Err(Error::Outside { .. })));
        assert!(matches!(filter.insert(0u64), Err(Error::Outside { .. })));
    });
}

// 2. One step outside.

/// The same code with the same blocks is the same plan, however it was proved; one block more is
/// safe for no less.
#[test]
fn zones_do_not_depend_on_the_way_to_them() {
    let mut searched = 0;
    for size in (2..60).chain([361, 364, 374]) {
        for items in 1..=4.min(size) {
            for code in CodeKind::ALL {
                let plan = Plan::with_code(universe(0, size.into()), items, code).unwrap();
                searched += u32::from(plan.certificate().contains("search"));
                let same = plan.with_blocks(plan.probes()).unwrap();
                assert_eq!((&same, same.zone()), (&plan, plan.zone()));
                if let Ok(longer) = plan.with_blocks(plan.probes() + 1) {
                    assert!(
                        longer.zone() >= plan.zone() && longer.items() >= items,
                        "{plan:?} {longer:?}"
                    );
                }
            }
        }
    }
    assert!(searched > 2, "the laborious proof is the one that could get lost: {searched}");
}

// 3. Laws.

/// What a counting filter can do and one of bits cannot.
trait Removal: CellKind {
    fn take_out(filter: &mut ZoneFilter<Self>, number: u128) -> Option<Result<(), Error>>
    where
        Self: Sized;
}

impl Removal for Bits {
    fn take_out(_: &mut Filter, _: u128) -> Option<Result<(), Error>> {
        None
    }
}

impl Removal for Counters {
    fn take_out(filter: &mut CountingFilter, number: u128) -> Option<Result<(), Error>> {
        Some(filter.remove_number(number))
    }
}

#[derive(Debug, Clone, Copy)]
enum Step {
    Insert(u128),
    Beyond(u128),
    Remove(u128),
    Ask(u128),
    Clear,
}

/// A place in the universe: somewhere, in a run, or at either end. Few enough places for steps to
/// meet.
fn place() -> impl Strategy<Value = u128> {
    prop_oneof![any::<u128>(), 0u128..12, (0u128..6).prop_map(|back| u128::MAX - back)]
}

/// The number in a universe of this size that a place stands for.
fn number(place: u128, base: u128, size: Size) -> u128 {
    let inside = |number: u128| size.get().map_or(number, |size| number % size);
    match place {
        0..12 => inside(base.wrapping_add(place)),
        _ if place > u128::MAX - 6 => size.last().saturating_sub(u128::MAX - place),
        // Sixteen spread places.
        _ => inside((place % 16) * (size.last() / 16).max(1)),
    }
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let step = (0u32..100, place()).prop_map(|(kind, place)| match kind {
        0..45 => Step::Insert(place),
        45..50 => Step::Beyond(place),
        50..80 => Step::Remove(place),
        80..98 => Step::Ask(place),
        _ => Step::Clear,
    });
    prop::collection::vec(step, 0..60)
}

/// Universes of every size up to 2^128, wherever they fit. Every other one ends below 2^64.
fn any_universe() -> impl Strategy<Value = Universe> {
    let bits = prop_oneof![1 => Just(64u32), 9 => 0u32..64, 1 => Just(128u32), 9 => 65u32..128];
    (bits, any::<u128>(), any::<u128>(), 0..4u8).prop_map(|(bits, draw, start, kind)| {
        let end = if bits > 64 { u128::MAX } else { u128::from(u64::MAX) };
        let last = match bits {
            64 | 128 => end,
            _ => (1 << bits) - 1 + draw % (1 << bits),
        };
        let room = end - last;
        let first = match kind {
            0 => 0,
            1 => room,
            2 => 1.min(room),
            _ => start.checked_rem(room).unwrap_or(0),
        };
        Universe::interval(first, first + last).unwrap()
    })
}

/// Coprime plans take a while to choose, so a few serve all tests.
static COPRIME: LazyLock<Vec<Plan>> = LazyLock::new(|| {
    let cases = [
        (0, 3, 2),
        (1, 10, 3),
        (7, 20, 2),
        (1, 60, 4),
        (1 << 50, 606, 3),
        (9, 361, 2), // this one only the search through all packings proves
        (1, 1000, 2),
        (3, 65536, 3),
        (0, 100_000, 6),
        ((1 << 64) - 1_000_000, 1_000_000, 1),
        (0, 1 << 32, 8),
        (0, 1 << 64, 4),
        (1 << 90, 1 << 100, 3),
        (0, u128::MAX, 2),
    ];
    let plan = |(first, size, items)| {
        Plan::with_code(universe(first, size), items, CodeKind::Coprime).unwrap()
    };
    cases.into_iter().map(plan).collect()
});

fn any_plan() -> impl Strategy<Value = Plan> {
    let quick = prop::sample::select(vec![CodeKind::Egh, CodeKind::Rs]);
    let drawn = (any_universe(), 1u64..=8, quick).prop_map(|(universe, items, code)| {
        let items = universe.size().get().map_or(items, |size| size.min(items.into()) as u64);
        Plan::with_code(universe, items, code).unwrap()
    });
    let kept = (0..COPRIME.len()).prop_map(|index| COPRIME[index].clone());
    prop_oneof![3 => drawn, 1 => kept]
}

/// Runs the steps against a set; beyond the zone, where a counting filter counts each item as often
/// as it is put in, against a multiset.
fn check_steps<C: Removal>(plan: &Plan, base: u128, steps: &[Step]) -> Result<(), TestCaseError> {
    let size = plan.universe().size();
    let items = plan.items();
    let mut filter = ZoneFilter::<C>::with_plan(plan.clone()).unwrap();
    let empty = filter.clone();
    let mut model: BTreeMap<u128, u32> = BTreeMap::new();
    let mut beyond = false;
    for step in steps {
        let before = filter.clone();
        match *step {
            Step::Insert(place) | Step::Beyond(place) => {
                let number = number(place, base, size);
                let forced = matches!(step, Step::Beyond(_));
                let (held, full) =
                    (filter.contains_number(number).unwrap(), model.len() as u64 >= items);
                prop_assert!(beyond || held == model.contains_key(&number));
                let key = plan.universe().first() + number;
                let answer = if forced { filter.insert_beyond(key) } else { filter.insert(key) };
                if held {
                    prop_assert!(!answer.unwrap());
                    prop_assert!((beyond && C::COUNTING) || filter == before);
                    let count = model.entry(number).or_insert(0);
                    *count = if beyond { *count + 1 } else { 1 };
                } else if full && !forced && !beyond {
                    let refused = matches!(answer, Err(Error::Full { zone }) if zone == items);
                    prop_assert!(refused);
                    prop_assert_eq!(&filter, &before);
                } else {
                    prop_assert!(answer.unwrap());
                    prop_assert_eq!(model.insert(number, 1), None);
                    beyond |= full;
                }
            }
            Step::Remove(place) => {
                let number = number(place, base, size);
                if beyond && !model.contains_key(&number) && filter.contains_number(number).unwrap()
                {
                    continue; // nobody can tell that it is not there
                }
                match C::take_out(&mut filter, number) {
                    None => continue,
                    Some(Ok(())) => {
                        prop_assert!(model.contains_key(&number));
                        model.entry(number).and_modify(|count| *count -= 1);
                        model.retain(|_, count| *count > 0);
                    }
                    Some(Err(error)) => {
                        let absent = matches!(error, Error::Absent);
                        prop_assert!(absent && !model.contains_key(&number));
                        prop_assert_eq!(&filter, &before);
                    }
                }
            }
            Step::Ask(place) => {
                let number = number(place, base, size);
                let held = filter.contains_number(number).unwrap();
                prop_assert!(beyond || held == model.contains_key(&number));
            }
            Step::Clear => {
                filter.clear();
                model.clear();
                beyond = false;
                prop_assert_eq!(&filter, &empty);
            }
        }
        let health = if beyond { Health::Beyond } else { Health::Within };
        prop_assert_eq!(filter.health(), health);
        prop_assert!(filter.len_is_exact() != beyond);
        let counted: u32 = model.values().sum();
        prop_assert!((beyond && !C::COUNTING) || filter.len() == u64::from(counted));
        prop_assert!(beyond || filter.is_empty() == model.is_empty());
        for member in model.keys() {
            prop_assert!(
                filter.contains_number(*member).unwrap(),
                "{} of {:?} is lost",
                member,
                model
            );
        }
    }
    let model: BTreeSet<u128> = model.into_keys().collect();
    check_list(&filter, &model, beyond)?;
    if !beyond {
        // The same items in another order are the same filter.
        prop_assert_eq!(&filled::<C>(plan, model.iter().rev().copied()), &filter);
        prop_assert_eq!(filter.expected_fpr(), 0.0);
    }
    if let Some(after) = size.get() {
        let asked = matches!(filter.contains_number(after), Err(Error::Outside { .. }));
        let put = matches!(filter.insert_number(after, true), Err(Error::Outside { .. }));
        prop_assert!(asked && put);
    }
    Ok(())
}

/// Whether joining is a matter of milliseconds. Beyond the zone there are more positions than
/// planned for.
fn quick_to_join(plan: &Plan, beyond: bool) -> bool {
    if beyond { plan.universe().size() <= 1 << 12 } else { plan.listing_work() <= 1 << 13 }
}

/// A list within the zone is the set; beyond it, it says whether it is, and everything put in is on
/// it.
fn check_list<C: CellKind>(
    filter: &ZoneFilter<C>,
    model: &BTreeSet<u128>,
    beyond: bool,
) -> Result<(), TestCaseError> {
    let numbers: Vec<u128> = model.iter().copied().collect();
    let plan = filter.plan();
    let mut answers = vec![filter.list_by(Method::Algebra)];
    if plan.is_counting() && !beyond || quick_to_join(plan, beyond) {
        answers.push(filter.list());
    }
    if quick_to_join(plan, beyond) {
        answers.push(filter.list_by(Method::Join));
    }
    for answer in answers {
        match answer {
            Ok(list) => {
                prop_assert!(list.numbers.is_sorted_by(|a, b| a < b));
                prop_assert!(list.exact || beyond);
                if list.exact {
                    prop_assert_eq!(&list.numbers, &numbers, "{:?}", filter);
                } else {
                    let passing =
                        list.numbers.iter().all(|number| filter.contains_number(*number).unwrap());
                    prop_assert!(passing && model.iter().all(|item| list.numbers.contains(item)));
                }
            }
            Err(error) => {
                let listing = matches!(error, Error::Listing(_));
                prop_assert!(listing, "{}", error);
            }
        }
    }
    // Bits may be too many candidates to join; counters never are, where algebra has blocks enough.
    let must = plan.is_counting() && algebra_suffices(plan) && !beyond;
    prop_assert!(!must || filter.list_by(Method::Algebra).is_ok(), "{:?}", filter);
    Ok(())
}

/// Two sets for a plan: small enough for its zone, with some items in common.
fn split(
    places: &[(u128, u8)],
    base: u128,
    plan: &Plan,
    most: usize,
) -> (BTreeSet<u128>, BTreeSet<u128>) {
    let (mut left, mut right) = (BTreeSet::new(), BTreeSet::new());
    for (place, side) in places {
        let number = number(*place, base, plan.universe().size());
        if *side != 1 && left.len() < most {
            left.insert(number);
        }
        if *side != 0 && right.len() < most {
            right.insert(number);
        }
    }
    (left, right)
}

/// The union and the intersection of two filters that hold these sets, whatever their lengths.
fn check_merging<C: CellKind>(
    left: &ZoneFilter<C>,
    right: &ZoneFilter<C>,
    sets: (&BTreeSet<u128>, &BTreeSet<u128>),
) -> Result<(), TestCaseError> {
    let short = if left.plan().probes() <= right.plan().probes() { left } else { right };
    for is_union in [true, false] {
        let mut merged = left.clone();
        let answer = if is_union { merged.union(right) } else { merged.intersect(right) };
        answer.unwrap();
        let model: BTreeSet<u128> = if is_union { sets.0 | sets.1 } else { sets.0 & sets.1 };
        prop_assert_eq!(merged.plan().blocks(), short.plan().blocks());
        // As many items as the larger of the plans allows, as far as the blocks in common do.
        prop_assert!(merged.plan().items() >= short.plan().items());
        prop_assert!(merged.plan().items() <= left.plan().items().max(right.plan().items()));
        let beyond = model.len() as u64 > merged.plan().items();
        prop_assert_eq!(merged.health(), if beyond { Health::Beyond } else { Health::Within });
        prop_assert_eq!(merged.len(), model.len() as u64);
        prop_assert!(model.iter().all(|number| merged.contains_number(*number).unwrap()));
        if !beyond {
            let strange = (sets.0 | sets.1)
                .iter()
                .all(|n| merged.contains_number(*n).unwrap() == model.contains(n));
            prop_assert!(strange);
            prop_assert_eq!(&filled::<C>(merged.plan(), model.iter().copied()), &merged);
        }
        check_list(&merged, &model, beyond)?;
        let mut other_way = right.clone();
        let answer = if is_union { other_way.union(left) } else { other_way.intersect(left) };
        answer.unwrap();
        prop_assert_eq!(&other_way, &merged);
    }
    Ok(())
}

/// Growing and shrinking keep the set, and the zone is that of the blocks.
fn check_lengths<C: CellKind>(
    plan: &Plan,
    set: &BTreeSet<u128>,
    more: u64,
) -> Result<(), TestCaseError> {
    let filter = filled::<C>(plan, set.iter().copied());
    let blocks = plan.probes();
    // The same length is the same plan, and the same filter.
    prop_assert_eq!(&plan.with_blocks(blocks).unwrap(), plan);
    let mut same = filter.clone();
    same.grow(blocks).unwrap();
    prop_assert_eq!(&same, &filter);
    same.shrink(blocks).unwrap();
    prop_assert_eq!(&same, &filter);
    if blocks > 1 {
        let refused = same.grow(blocks - 1).is_err() && same.shrink(blocks + 1).is_err();
        prop_assert!(refused);
        prop_assert_eq!(&same, &filter);
    }

    let longer = filter.plan().with_blocks(blocks + more);
    let mut grown = filter.clone();
    match &longer {
        Ok(longer) => {
            grown.grow(blocks + more).unwrap();
            prop_assert_eq!(grown.plan(), longer);
            prop_assert!(longer.items() >= plan.items() && longer.zone() >= plan.zone());
            prop_assert_eq!(&filled::<C>(longer, set.iter().copied()), &grown);
            check_list(&grown, set, false)?;
            // And back: the first blocks are what they were.
            let mut back = grown.clone();
            back.shrink(blocks).unwrap();
            prop_assert_eq!(back.plan().blocks(), plan.blocks());
            prop_assert!(back.plan().items() >= plan.items());
            prop_assert_eq!(back.health(), Health::Within);
            check_list(&back, set, false)?;
            check_merging(&grown, &filter, (set, set))?;
        }
        Err(_) => {
            prop_assert_eq!(plan.code().kind(), CodeKind::Rs, "only fields run out of points");
            prop_assert!(grown.grow(blocks + more).is_err());
            prop_assert_eq!(&grown, &filter);
        }
    }

    // A few lengths will do: each is proved anew.
    let cuts = BTreeSet::from([1, blocks / 3, blocks / 2, blocks.saturating_sub(2), blocks - 1]);
    for fewer in cuts.into_iter().filter(|fewer| *fewer > 0) {
        let mut shrunk = filter.clone();
        match shrunk.shrink(fewer) {
            Ok(()) => {
                prop_assert_eq!(&shrunk.plan().blocks()[..], &plan.blocks()[..fewer as usize]);
                prop_assert!(shrunk.plan().items() <= plan.items());
                let beyond = set.len() as u64 > shrunk.plan().items();
                prop_assert_eq!(
                    shrunk.health(),
                    if beyond { Health::Beyond } else { Health::Within }
                );
                prop_assert!(set.iter().all(|number| shrunk.contains_number(*number).unwrap()));
                check_list(&shrunk, set, beyond)?;
                if !beyond {
                    prop_assert_eq!(&filled::<C>(shrunk.plan(), set.iter().copied()), &shrunk);
                }
            }
            Err(error) => {
                let too_short = matches!(error, Error::TooFewBlocks { .. });
                prop_assert!(too_short, "{}", error);
                prop_assert_eq!(&shrunk, &filter);
            }
        }
    }
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(128))]

    #[test]
    fn steps_behave_as_a_set(plan in any_plan(), base: u128, steps in steps()) {
        check_steps::<Bits>(&plan, base, &steps)?;
        check_steps::<Counters>(&plan, base, &steps)?;
    }

    #[test]
    fn filters_merge_as_sets(
        plan in any_plan(),
        base: u128,
        places in prop::collection::vec((place(), 0..3u8), 0..20),
        (left_cut, right_cut) in (0..4u64, 0..4u64),
    ) {
        let cut = |blocks: u64| (0..=blocks.min(plan.probes() - 1)).rev()
            .find_map(|cut| plan.with_blocks(plan.probes() - cut).ok()).unwrap();
        let (left_plan, right_plan) = (cut(left_cut), cut(right_cut));
        let most = left_plan.items().min(right_plan.items()) as usize;
        let (left, right) = split(&places, base, &plan, most);
        if quick_to_join(&left_plan, false) && quick_to_join(&right_plan, false) {
            check_merging(
                &filled::<Bits>(&left_plan, left.iter().copied()),
                &filled::<Bits>(&right_plan, right.iter().copied()),
                (&left, &right),
            )?;
        }
        check_merging(
            &filled::<Counters>(&left_plan, left.iter().copied()),
            &filled::<Counters>(&right_plan, right.iter().copied()),
            (&left, &right),
        )?;
    }

    #[test]
    fn lengths_keep_the_set(
        plan in any_plan(),
        base: u128,
        places in prop::collection::vec((place(), Just(0u8)), 0..10),
        more in 1..5u64,
    ) {
        let (set, _) = split(&places, base, &plan, plan.items() as usize);
        if quick_to_join(&plan, false) {
            check_lengths::<Bits>(&plan, &set, more)?;
        }
        check_lengths::<Counters>(&plan, &set, more)?;
    }
}

/// Shrunk and grown again, a filter has the blocks that it had, and merges with those that were
/// never shrunk; also if it was written to a file in between.
fn check_back<C: CellKind>(plan: &Plan, set: &BTreeSet<u128>) -> Result<(), TestCaseError>
where
    AnyFilter: From<ZoneFilter<C>>,
    ZoneFilter<C>: TryFrom<AnyFilter, Error = Error>,
{
    let filter = filled::<C>(plan, set.iter().copied());
    for fewer in [1, plan.probes() / 2, plan.probes() - 1] {
        let mut shrunk = filter.clone();
        if fewer == 0 || shrunk.shrink(fewer).is_err() || shrunk.health() == Health::Beyond {
            continue;
        }
        let bytes = AnyFilter::from(shrunk.clone()).to_bytes();
        let read = ZoneFilter::<C>::try_from(AnyFilter::from_bytes(&bytes).unwrap()).unwrap();
        prop_assert_eq!(&read, &shrunk);
        for mut back in [shrunk, read] {
            back.grow(plan.probes()).unwrap();
            prop_assert_eq!(back.plan().blocks(), plan.blocks());
            prop_assert_eq!(&filled::<C>(back.plan(), set.iter().copied()), &back);
            check_merging(&back, &filter, (set, set))?;
        }
    }
    Ok(())
}

/// Within the zone every filter of at most so many items is listed, by the method that the plan
/// names, and the caller can stop every method.
fn check_listable<C: CellKind>(plan: &Plan, set: &BTreeSet<u128>) -> Result<(), TestCaseError> {
    let filter = filled::<C>(plan, set.iter().copied());
    let (plan, len) = (filter.plan(), set.len() as u64);
    prop_assert_eq!(plan.listing_method(len).is_some(), len <= plan.listable());
    for method in [Method::Join, Method::Algebra, Method::Peel, Method::Sturm] {
        if method == Method::Join && plan.listing_work() > 1 << 16 {
            continue;
        }
        let answer = filter.list_by(method);
        if len <= plan.listable_by(method) {
            prop_assert!(answer.unwrap().numbers.iter().eq(set), "{} in {:?}", method, plan);
        } else if method == Method::Peel {
            // It may succeed by chance.
            let wrong = answer.is_ok_and(|list| !list.numbers.iter().eq(set));
            prop_assert!(!wrong, "{} in {:?}", method, plan);
        } else if method != Method::Join {
            prop_assert!(answer.is_err(), "{} in {:?}", method, plan);
        }
        let mut reports = 0;
        let stopped = filter.list_with(Some(method), &mut |progress| {
            reports += 1;
            assert!(progress.done == 1 && (0.0..=1.0).contains(&progress.share()));
            ControlFlow::Break(())
        });
        prop_assert!(reports <= 1, "a stopped listing goes on");
        let ended = matches!(stopped, Err(Error::Listing(ListError::Stopped)));
        prop_assert_eq!(ended, reports == 1, "{} in {:?}", method, plan);
    }
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(128))]

    #[test]
    fn shrunk_filters_grow_back(
        plan in any_plan(),
        base: u128,
        places in prop::collection::vec((place(), Just(0u8)), 0..3),
    ) {
        let (set, _) = split(&places, base, &plan, plan.items() as usize);
        if quick_to_join(&plan, false) {
            check_back::<Bits>(&plan, &set)?;
        }
        check_back::<Counters>(&plan, &set)?;
    }

    #[test]
    fn plans_say_what_can_be_listed(
        plan in any_plan(),
        base: u128,
        places in prop::collection::vec((place(), Just(0u8)), 1..10),
    ) {
        let (set, _) = split(&places, base, &plan, plan.items() as usize);
        check_listable::<Bits>(&plan, &set)?;
        check_listable::<Counters>(&plan, &set)?;
    }
}

/// A filter grows as far as its plan says, and no further.
#[test]
fn plans_say_how_far_a_filter_grows() {
    for (size, items) in [(48, 2), (606, 3), (65_536, 10), (1 << 32, 4)] {
        let plan = Plan::with_code(universe(0, size), items, CodeKind::Rs).unwrap();
        let growth = plan.growth();
        let mut filter = filled::<Counters>(&plan, [1, 2]);
        let refused = filter.grow_for(growth.items + 1);
        let said = |max, blocks| max == growth.items && blocks == growth.blocks;
        assert!(
            matches!(refused, Err(Error::Growth { max, blocks, .. }) if said(max, blocks)),
            "{refused:?}"
        );
        filter.grow_for(growth.items).unwrap();
        assert_eq!(filter.plan().items(), growth.items);
        assert!(matches!(filter.grow(growth.blocks + 1), Err(Error::Blocks { .. })));
        filter.grow(growth.blocks).unwrap();
        assert_eq!(filter.list().unwrap().numbers, [1, 2]);
    }
    let egh = Plan::with_code(universe(0, 1000), 2, CodeKind::Egh).unwrap();
    let growth = egh.growth();
    assert!(growth.blocks == 8192 && growth.items == 1000, "{growth:?}");
}

#[test]
fn filters_of_different_kinds_do_not_merge() {
    let plan =
        |first, size, items, code| Plan::with_code(universe(first, size), items, code).unwrap();
    let egh = plan(0, 1000, 2, CodeKind::Egh);
    let others = [
        plan(0, 1000, 2, CodeKind::Coprime),
        plan(0, 1000, 2, CodeKind::Rs),
        plan(1, 1000, 2, CodeKind::Egh),
        plan(0, 1001, 2, CodeKind::Egh),
    ];
    for other in others {
        let mut left = filled::<Bits>(&egh, [1, 2]);
        let right = filled::<Bits>(&other, [2, 3]);
        let before = left.clone();
        assert!(matches!(left.union(&right), Err(Error::Mismatch { .. })), "{other:?}");
        assert!(matches!(left.intersect(&right), Err(Error::Mismatch { .. })), "{other:?}");
        assert_eq!(left, before);
    }
}

/// A counter that overflowed says so by standing at its ceiling. Merged into wider counters it must
/// go on saying so: otherwise removals would count it down to nothing while items are left in it.
#[test]
fn overflown_counters_stay_so_in_wider_ones() {
    let mut widened = 0;
    for size in 3..150u64 {
        for items in [1, 3] {
            let narrow =
                Plan::with_code(universe(0, size.into()), items.min(size), CodeKind::Egh).unwrap();
            // Grown and cut back it allows all that its zone does.
            let wide = narrow
                .with_blocks(narrow.probes() + 1)
                .unwrap()
                .with_blocks(narrow.probes())
                .unwrap();
            let mut filter = CountingFilter::with_plan(narrow.clone()).unwrap();
            // All even: more than the first counter can count.
            let mut held: Vec<u128> = (0..u128::from(size)).step_by(2).collect();
            for number in &held {
                filter.insert_number(*number, true).unwrap();
            }
            let before = filter.plan().counter_bits();
            filter.union(&CountingFilter::with_plan(wide).unwrap()).unwrap();
            widened += u32::from(filter.plan().counter_bits() > before);
            while let Some(number) = held.pop() {
                filter.remove_number(number).unwrap();
                let lost = held.iter().find(|left| !filter.contains_number(**left).unwrap());
                assert_eq!(lost, None, "after removing {number} in {filter:?}");
            }
        }
    }
    assert!(widened > 5, "{widened}");
}

/// Unions that cannot be listed have an upper bound for their length, and are within the zone if
/// that is; intersections that cannot be are of no set.
#[test]
fn what_cannot_be_listed_merges_nevertheless() {
    let size = 1 << 64;
    // So many items meet in nearly all blocks, and a join would test too many candidates.
    let plan = Plan::with_code(universe(0, size), 400, CodeKind::Rs).unwrap();
    let mut draw = Draw::new(5);
    for (left, right) in [(200, 200), (400, 400), (230, 180), (220, 180)] {
        let (left, mut right) = (draw.set(size, left), draw.set(size, right));
        right.pop_first();
        right.insert(*left.first().unwrap());
        let (mut union, other) =
            (filled::<Bits>(&plan, left.clone()), filled::<Bits>(&plan, right.clone()));
        assert!(
            union.list().is_err() && other.list().is_err(),
            "what can be listed says nothing here"
        );
        let mut common = union.clone();
        union.union(&other).unwrap();
        common.intersect(&other).unwrap();
        let within = left.len() + right.len() <= 400;
        assert_eq!(union.health(), if within { Health::Within } else { Health::Beyond });
        assert_eq!(union.len(), (left.len() + right.len()) as u64);
        assert!(!union.len_is_exact());
        assert!((&left | &right).iter().all(|number| union.contains_number(*number).unwrap()));
        assert!(!within || (0..1000).all(|_| !union.contains_number(draw.below(size)).unwrap()));
        assert_eq!(common.health(), Health::Beyond);
        assert!(!common.len_is_exact() && common.len() >= (&left & &right).len() as u64);
        assert!((&left & &right).iter().all(|number| common.contains_number(*number).unwrap()));
    }
}

/// Counters that cannot be listed count an item of both twice when they are added up: that is not a
/// promise kept.
#[test]
fn counters_that_cannot_be_listed_do_not_promise_their_union() {
    // These moduli are proved by much less than their product, and for algebra it is too little.
    let size = 1 << 40;
    let plan = Plan::with_code(universe(0, size), 400, CodeKind::Coprime).unwrap();
    let mut draw = Draw::new(8);
    let (left, right) = (draw.set(size, 385), draw.set(size, 10));
    let mut union = filled::<Counters>(&plan, left.clone());
    assert!(union.list().is_err(), "a plan that can be listed says nothing here");
    let shared = *left.first().unwrap();
    union.union(&filled::<Counters>(&plan, right.into_iter().chain([shared]))).unwrap();
    union.remove_number(shared).unwrap();
    assert!(!union.contains_number(shared).unwrap() || union.health() == Health::Beyond);
}

// 4. Counters survive.

/// Random inserts and removes against a set; the filter is asked for everything it touches, and
/// listed now and then.
fn churn(plan: &Plan, steps: u64, palette: u64, seed: u64) {
    let (size, items) = (plan.universe().size().get().unwrap(), plan.items() as usize);
    let mut draw = Draw::new(seed);
    let numbers: Vec<u128> = draw.set(size, palette as usize).into_iter().collect();
    let mut filter = CountingFilter::with_plan(plan.clone()).unwrap();
    let empty = filter.clone();
    let mut model = BTreeSet::new();
    for step in 0..steps {
        let bits = draw.0.next_u64();
        let number = numbers[((bits >> 8) % palette) as usize];
        let present = model.contains(&number);
        if bits & 1 == 0 {
            match filter.insert_number(number, false) {
                Ok(new) => {
                    assert_eq!(new, !present);
                    model.insert(number);
                    assert!(model.len() <= items);
                }
                Err(Error::Full { .. }) => assert!(!present && model.len() == items),
                Err(error) => panic!("{error}"),
            }
        } else {
            match filter.remove_number(number) {
                Ok(()) => assert!(model.remove(&number)),
                Err(Error::Absent) => assert!(!present),
                Err(error) => panic!("{error}"),
            }
        }
        if step % 50_021 == 0 {
            let listed = filter.list().unwrap();
            assert!(
                listed.exact && listed.numbers.iter().eq(&model),
                "after {step} steps in {plan:?}"
            );
        }
    }
    assert_eq!(filter, filled::<Counters>(plan, model.iter().copied()));
    for number in model {
        filter.remove_number(number).unwrap();
    }
    assert!(filter.is_empty() && filter == empty);
}

fn churned_plans() -> Vec<Plan> {
    let cases = [
        (universe(0, 14), 3, CodeKind::Egh),
        (universe(5, 1_000_000), 7, CodeKind::Rs),
        (universe(0, 1 << 64), 4, CodeKind::Egh),
        (universe(1, 606), 3, CodeKind::Coprime),
    ];
    cases
        .into_iter()
        .map(|(universe, items, code)| Plan::with_code(universe, items, code).unwrap())
        .collect()
}

#[test]
fn counters_survive_200_000_steps() {
    for (seed, plan) in churned_plans().iter().enumerate() {
        churn(plan, 50_000, 13, seed as u64);
    }
}

#[test]
#[ignore = "long: scripts/test --long runs it, optimised"]
fn long_counters_survive_10_million_steps() {
    for (seed, plan) in churned_plans().iter().enumerate() {
        churn(plan, 2_500_000, 13, 100 + seed as u64);
    }
}

// 5. Plans.

#[test]
fn the_best_plans() {
    // Universe, items, and the bits, blocks and field of the best Reed-Solomon code.
    for (size, items, bits, blocks, order) in [
        (606, 3, 63, 7, 9),
        (100_000, 6, 361, 19, 19),
        (1 << 16, 10, 861, 21, 41),
        (1 << 16, 100, 25_856, 101, 256),
        (1 << 32, 4, 625, 25, 25),
        (1 << 32, 10, 2_703, 51, 53),
        (1 << 32, 50, 38_656, 151, 256),
        (1 << 64, 10, 8_827, 91, 97),
    ] {
        let best = Plan::new(universe(0, size), items, Prefer::Bits).unwrap();
        assert_eq!(
            (best.code().kind(), best.bits(), best.probes()),
            (CodeKind::Rs, bits, blocks),
            "{best:?}"
        );
        assert!(best.blocks().iter().all(|size| *size == order));
    }
}

#[test]
fn coprime_moduli_are_never_more_bits_than_primes() {
    for size in (1..=40).chain([100, 606, 1000, 10_000]) {
        for items in [1, 2, 3, 5] {
            if items > size {
                continue;
            }
            let bits =
                |code| Plan::with_code(universe(0, size.into()), items, code).unwrap().bits();
            let (coprime, egh) = (bits(CodeKind::Coprime), bits(CodeKind::Egh));
            assert!(coprime <= egh, "{coprime} and {egh} bits for {items} of {size}");
        }
    }
}

#[test]
fn coprime_moduli_at_two_landmarks() {
    let bits =
        |size, items| Plan::with_code(universe(0, size), items, CodeKind::Coprime).unwrap().bits();
    assert!(bits(1 << 32, 4) <= 1200);
    assert!(bits(1 << 16, 100) <= 59_811);
}

#[test]
fn fewer_probes_when_preferred() {
    for size in [1u128, 2, 3, 10, 48, 606, 10_000, 65_536, 65_537, 1 << 32, 1 << 64] {
        for items in [1, 2, 3, 8] {
            if u128::from(items) > size || (size > 10_000 && items == 3) {
                continue;
            }
            let bits = Plan::new(universe(0, size), items, Prefer::Bits).unwrap();
            let probes = Plan::new(universe(0, size), items, Prefer::Probes).unwrap();
            assert!(probes.probes() <= bits.probes(), "{probes:?} and {bits:?}");
            assert!(bits.bits() <= probes.bits(), "{probes:?} and {bits:?}");
            assert!(bits.zone() >= items && probes.zone() >= items);
            assert_eq!((bits.items(), probes.items()), (items, items));
            for code in [CodeKind::Egh, CodeKind::Rs] {
                let quick =
                    Plan::choose(probes.universe(), items, Some(code), Prefer::Probes).unwrap();
                let small =
                    Plan::choose(probes.universe(), items, Some(code), Prefer::Bits).unwrap();
                assert!(quick.probes() <= small.probes() && small.bits() <= quick.bits());
                assert!(probes.probes() <= quick.probes() && bits.bits() <= small.bits());
            }
        }
    }
}

#[test]
fn impossible_plans_are_refused() {
    for code in CodeKind::ALL {
        let plan = |size, items| Plan::with_code(universe(0, size), items, code);
        assert!(matches!(plan(10, 0), Err(Error::Items { got: 0 })), "{code}");
        assert!(matches!(plan(10, 11), Err(Error::MoreThanUniverse { .. })), "{code}");
        assert!(matches!(plan(1, 2), Err(Error::MoreThanUniverse { .. })), "{code}");
        for items in [1 << 20, 1 << 40, u64::MAX] {
            let refused = plan(1 << 64, items);
            assert!(matches!(refused, Err(Error::Zone { .. })), "{code} {items}: {refused:?}");
        }
    }
    // Within the work that may be spent on it, but of more moduli than a file may have.
    let refused = Plan::with_code(universe(0, 1 << 16), 8000, CodeKind::Egh);
    assert!(matches!(refused, Err(Error::Zone { .. })), "{refused:?}");
    assert!(matches!(Plan::new(universe(0, 10), 0, Prefer::Bits), Err(Error::Items { .. })));
    assert!(matches!(
        Plan::new(universe(0, 10), 11, Prefer::Bits),
        Err(Error::MoreThanUniverse { .. })
    ));
    assert!(matches!(
        Plan::new(universe(0, 1 << 64), 1 << 30, Prefer::Bits),
        Err(Error::Zone { .. })
    ));
}

/// The whole universe as items: a bitmap at worst.
#[test]
fn everything_may_be_stored() {
    for size in 1..=20u64 {
        for code in CodeKind::ALL {
            let plan = Plan::with_code(universe(3, size.into()), size, code).unwrap();
            let filter = filled::<Counters>(&plan, 0..size.into());
            assert!(filter.list().unwrap().numbers.into_iter().eq(0..size.into()));
        }
    }
}

fn bits_of(code: CodeKind, size: u128, items: u64) -> Option<u64> {
    let plan = Plan::with_code(Universe::interval(0, size - 1).unwrap(), items, code);
    plan.ok().map(|plan| plan.bits())
}

#[test]
fn the_largest_universe_fits_and_no_larger_one_does() {
    for code in CodeKind::ALL {
        let all = [5, 10, 17, 28, 41, 58, 77, 100, 129, 160, 197, 238, 440, 1000, 5000];
        let quick = if code == CodeKind::Coprime { &all[..6] } else { &all[..] };
        for &bits in quick {
            for items in [1, 2, 3, 5, 10, 40] {
                let case = format!("{code} {bits} bits {items} items");
                let found = largest_universe(code, bits, items);
                let Some(size) = found else {
                    // None of two elements or more: then surely not the smallest there can be.
                    let least = u128::from(items.max(2));
                    assert!(
                        bits_of(code, least, items).is_none_or(|needed| needed > bits),
                        "{case}"
                    );
                    continue;
                };
                let Some(size) = size.get() else {
                    let plan = Plan::with_code(Universe::ipv6(), items, code).unwrap();
                    assert!(plan.bits() <= bits, "{case}");
                    continue; // there are no larger universes
                };
                assert!(size >= 2 && bits_of(code, size, items).unwrap() <= bits, "{case}: {size}");
                // Coprime moduli are sought, not derived: there a larger universe may by chance
                // take less.
                if code != CodeKind::Coprime {
                    assert!(
                        bits_of(code, size + 1, items).is_none_or(|needed| needed > bits),
                        "{case}: {size}"
                    );
                }
            }
        }
    }
    assert_eq!(largest_universe(CodeKind::Egh, 1000, 0), None);
    assert_eq!(largest_universe(CodeKind::Rs, 1000, 0), None);
    assert_eq!(largest_universe(CodeKind::Rs, 0, 1), None);
    assert_eq!(largest_universe(CodeKind::Rs, 1 << 20, 1), Some(Universe::ipv6().size()));
    // At once, and not by computing 2^(2^32).
    assert_eq!(largest_universe(CodeKind::Egh, 1000, u64::from(u32::MAX)), None);
}

#[test]
fn the_most_items_fit_and_no_more_do() {
    for code in CodeKind::ALL {
        for size in [1u128, 2, 3, 10, 48, 606, 65_536, 1 << 32, 1 << 64, 1 << 100, u128::MAX] {
            if code == CodeKind::Coprime && size > 606 {
                continue;
            }
            for bits in [1, 2, 3, 5, 10, 28, 58, 100, 440, 1000] {
                let case = format!("{code} {bits} bits of {size}");
                let Some(items) = largest_items(code, bits, Size::new(size).unwrap()) else {
                    assert!(bits_of(code, size, 1).is_none_or(|needed| needed > bits), "{case}");
                    continue;
                };
                assert!(bits_of(code, size, items).unwrap() <= bits, "{case}: {items}");
                let more = bits_of(code, size, items + 1);
                assert!(more.is_none_or(|needed| needed > bits), "{case}: {items}");
            }
        }
    }
}

/// The rate far beyond the zone, over many filters: filters of few elements differ, so each one is
/// one observation.
#[test]
fn the_rate_beyond_the_zone_is_as_planned() {
    for (code, size, items, stored) in [
        (CodeKind::Egh, 1u128 << 64, 1, 150),
        (CodeKind::Egh, 1 << 64, 1, 60),
        (CodeKind::Rs, 1 << 64, 1, 40),
        (CodeKind::Coprime, 1 << 64, 1, 100),
    ] {
        let plan = Plan::with_code(universe(0, size), items, code).unwrap();
        let expected = plan.beyond_fpr(stored);
        assert!(expected > 1e-3, "{expected} {plan:?}");
        let mut draw = Draw::new(7 + stored);
        let (filters, asked) = (400, 500);
        let (mut sum, mut squares, mut own) = (0.0, 0.0, 0.0);
        for _ in 0..filters {
            let mut filter = Filter::with_plan(plan.clone()).unwrap();
            // All of them, also those that seem to be there: the rate is that of so many items.
            for _ in 0..stored {
                filter.insert_number(draw.below(size), true).unwrap();
            }
            let passed =
                (0..asked).filter(|_| filter.contains_number(draw.below(size)).unwrap()).count();
            let rate = passed as f64 / f64::from(asked);
            sum += rate;
            squares += rate * rate;
            own += filter.expected_fpr();
        }
        let mean = sum / f64::from(filters);
        let sigma = ((squares / f64::from(filters) - mean * mean) / f64::from(filters)).sqrt();
        assert!(
            (mean - expected).abs() < 5.0 * sigma,
            "{mean} +- {sigma}, not {expected}, in {plan:?}"
        );
        let own = own / f64::from(filters);
        assert!((mean - own).abs() < 5.0 * sigma, "{mean} +- {sigma}, not {own}, in {plan:?}");
    }
}

// 6. Lists beyond the zone.

#[test]
fn lists_beyond_the_zone_say_so() {
    let mut draw = Draw::new(6);
    let mut strangers = 0;
    for round in 0..120u64 {
        let size = [30u128, 100, 1000, 4096][(round % 4) as usize];
        let code = CodeKind::ALL[(round / 4 % 3) as usize];
        let items = 1 + round / 12 % 3;
        let plan = Plan::with_code(universe(round.into(), size), items, code).unwrap();
        let (mut bits, mut counts) =
            (Filter::with_plan(plan.clone()).unwrap(), CountingFilter::with_plan(plan).unwrap());
        let count = items + 1 + draw.0.next_u64() % 5;
        let set = draw.set(size, count as usize);
        for number in &set {
            bits.insert_number(*number, true).unwrap();
            counts.insert_number(*number, true).unwrap();
        }
        assert_eq!(bits.health(), Health::Beyond);
        let passing: Vec<u128> = (0..size).filter(|n| bits.contains_number(*n).unwrap()).collect();
        strangers += usize::from(passing.len() > set.len());
        let list = bits.list().unwrap();
        assert!(!list.exact);
        assert_eq!(list.numbers, passing, "{set:?} in {bits:?}");
        assert!(bits.list_by(Method::Algebra).is_err() && bits.list_by(Method::Sturm).is_err());
        let list = counts.list().unwrap();
        assert!(
            set.iter().all(|number| list.numbers.contains(number)),
            "{set:?}: {list:?} in {counts:?}"
        );
        assert!(!list.exact || list.numbers.iter().eq(&set), "{set:?}: {list:?} in {counts:?}");
        // After a removal, which may have been a stranger's, no list is certain any more, not even
        // with few items left.
        let left: BTreeSet<u128> = set.iter().copied().take(items as usize).collect();
        (&set - &left).into_iter().for_each(|number| counts.remove_number(number).unwrap());
        let list = counts.list().unwrap();
        assert_eq!(counts.health(), Health::Beyond);
        assert!(
            left.iter().all(|number| list.numbers.contains(number)),
            "{left:?}: {list:?} in {counts:?}"
        );
        assert!(!list.exact, "{left:?}: {list:?} in {counts:?}");
        assert!(bits.clone().grow(bits.plan().probes() + 1).is_err());
    }
    assert!(strangers > 10, "{strangers}");
}

/// An item that seems to be there already when it is put in is there when those it hid behind are
/// gone.
#[test]
fn nothing_put_in_beyond_the_zone_is_lost() {
    let mut hidden = 0;
    for size in [30u128, 48, 100, 606] {
        for code in CodeKind::ALL {
            let plan = Plan::with_code(universe(0, size), 2, code).unwrap();
            for seed in 0..40 {
                let mut filter = CountingFilter::with_plan(plan.clone()).unwrap();
                let set = Draw::new(seed).set(size, 4);
                for number in &set {
                    filter.insert_number(*number, true).unwrap();
                }
                let passing = |n: &u128| !set.contains(n) && filter.contains_number(*n).unwrap();
                let Some(stranger) = (0..size).find(passing) else { continue };
                hidden += 1;
                assert!(!filter.insert_number(stranger, true).unwrap());
                for number in &set {
                    filter.remove_number(*number).unwrap();
                    assert!(
                        filter.contains_number(stranger).unwrap(),
                        "{stranger} behind {set:?} in {plan:?}"
                    );
                    assert!(filter.list().unwrap().numbers.contains(&stranger));
                }
            }
        }
    }
    assert!(hidden > 10, "{hidden}");
}

/// The cells that two filters beyond their zones share are not those of a set: no list of them is
/// exact.
#[test]
fn an_intersection_beyond_the_zone_is_never_exact() {
    for size in [20u128, 30, 48, 100] {
        for code in CodeKind::ALL {
            let plan = Plan::with_code(universe(0, size), 2, code).unwrap();
            for seed in 0..60 {
                let (left, right) =
                    (Draw::new(seed).set(size, 4), Draw::new(1000 + seed).set(size, 4));
                let of = |set: &BTreeSet<u128>| {
                    let mut filter = CountingFilter::with_plan(plan.clone()).unwrap();
                    for number in set {
                        filter.insert_number(*number, true).unwrap();
                    }
                    filter
                };
                let (mut both, mut either) = (of(&left), of(&left));
                both.intersect(&of(&right)).unwrap();
                either.union(&of(&right)).unwrap();
                for (merged, set) in [(both, &left & &right), (either, &left | &right)] {
                    let list = merged.list().unwrap();
                    assert!(
                        !list.exact || list.numbers.iter().eq(&set),
                        "{set:?} {list:?} {merged:?}"
                    );
                    assert!(set.iter().all(|number| list.numbers.contains(number)));
                }
            }
        }
    }
}

// 7. Large.

fn check_large(size: u128, items: u64, code: CodeKind, counting: bool, seed: u64) {
    let plan = Plan::with_code(universe(0, size), items, code).unwrap();
    let mut draw = Draw::new(seed);
    let start = draw.below(size - u128::from(items));
    let wide = u128::from(items);
    let mut ends: BTreeSet<u128> = (0..wide / 2).collect();
    ends.extend((0..wide - wide / 2).map(|back| size - 1 - back));
    for set in [draw.set(size, items as usize), (start..start + wide).collect(), ends] {
        let list = if counting {
            filled::<Counters>(&plan, set.iter().copied()).list_by(Method::Algebra)
        } else {
            filled::<Bits>(&plan, set.iter().copied()).list()
        };
        let list = list.unwrap();
        assert!(list.exact && list.numbers.iter().eq(&set), "{plan:?}");
    }
}

#[test]
fn a_hundred_addresses_are_listed() {
    check_large(1 << 32, 100, CodeKind::Egh, true, 1);
}

#[test]
fn ten_of_all_integers_are_listed() {
    for code in CodeKind::ALL {
        check_large(1 << 64, 10, code, true, 2);
    }
}

#[test]
fn ten_of_a_million_are_listed_from_bits() {
    for code in CodeKind::ALL {
        check_large(1_000_000, 10, code, false, 3);
    }
}

#[test]
#[ignore = "long: scripts/test --long runs it, optimised"]
fn long_a_thousand_of_all_integers_are_listed() {
    for code in CodeKind::ALL {
        check_large(1 << 64, 1_000, code, true, 77);
    }
}
