use super::position;
use crate::zone::arith::field::Field;
use crate::zone::list::progress::unwatched;
use crate::zone::universe::Size;
use proptest::prelude::*;
use std::collections::BTreeSet;
use tamis_random::SplitMix64;

fn algebra(field: &Field, t: u32, blocks: &[Vec<u32>], universe: u128) -> Option<Vec<u128>> {
    unwatched(|watch| super::algebra(field, t, blocks, Size::of(universe), watch))
}

fn join(
    field: &Field,
    t: u32,
    occupied: &[Vec<u32>],
    universe: u128,
    max: u64,
) -> Option<Vec<u128>> {
    unwatched(|watch| super::join(field, t, occupied, Size::of(universe), max, watch))
}

const ORDERS: [u32; 17] = [2, 3, 4, 5, 7, 8, 9, 16, 25, 27, 31, 64, 81, 128, 256, 1021, 4096];

/// Seeded draws, so that a case is described by its seed.
struct Draw(SplitMix64);

impl Draw {
    fn new(seed: u64) -> Draw {
        Draw(SplitMix64::new(seed))
    }

    fn below(&mut self, bound: u128) -> u128 {
        self.0.next_u128() % bound.max(1)
    }
}

fn blocks(field: &Field, t: u32, set: &[u128], count: u32) -> Vec<Vec<u32>> {
    let positions = |block| set.iter().map(|&x| position(field, t, x, block).unwrap()).collect();
    (0..count).map(positions).collect()
}

fn occupied(blocks: &[Vec<u32>]) -> Vec<Vec<u32>> {
    blocks
        .iter()
        .map(|block| block.iter().copied().collect::<BTreeSet<_>>().into_iter().collect())
        .collect()
}

fn largest_universe(q: u32, t: u32) -> u128 {
    u128::from(q).checked_pow(t + 1).unwrap_or(u128::MAX)
}

/// Sets of various shapes: random, consecutive somewhere, at either end, and sharing many
/// digits.
fn set(draw: &mut Draw, q: u32, universe: u128, size: u64, shape: u8) -> Vec<u128> {
    let size = u128::from(size).min(universe);
    let last = universe - size;
    let start = draw.below(last.saturating_add(1));
    let stride = u128::from(q).pow(draw.below(4) as u32);
    let mut set = BTreeSet::new();
    for i in 0..4 * size {
        if set.len() as u128 == size {
            break;
        }
        set.insert(match shape {
            0 => draw.below(universe),
            1 => start + i % size,
            2 => i % size,
            3 => last + i % size,
            4 => start.wrapping_add(i * stride) % universe,
            _ => (draw.below(3) + stride * draw.below(u128::from(q) / 2 + 2)) % universe,
        });
    }
    set.into_iter().collect()
}

struct Case {
    field: Field,
    universe: u128,
    set: Vec<u128>,
    /// Blocks that suffice for this set, between s t + 1 and q + 1.
    count: u32,
    draw: Draw,
}

fn case(order: usize, t: u32, seed: u64, shape: u8, spare: u32) -> Case {
    let q = ORDERS[order];
    let mut draw = Draw::new(seed);
    let whole = largest_universe(q, t);
    let universe = if seed.is_multiple_of(2) { whole } else { 1 + draw.below(whole) };
    let max = q / t.max(1);
    let size = match draw.below(4) {
        0 => draw.below(3) as u64,
        1 => u64::from(max),
        _ => draw.below(u128::from(max) + 1) as u64,
    };
    let size = size.min(u64::from(max)).min(60);
    let set = set(&mut draw, q, universe, size, shape);
    let needed = set.len() as u32 * t + 1;
    let count = if spare == 3 { q + 1 } else { needed.saturating_add(spare).min(q + 1) };
    Case { field: Field::new(q).unwrap(), universe, set, count, draw }
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: 3000,
        failure_persistence: None,
        ..Default::default()
    })]

    #[test]
    fn algebra_recovers(
        order in 0..ORDERS.len(),
        t in 0u32..=13,
        seed: u64,
        shape in 0u8..6,
        spare in 0u32..4,
    ) {
        let case = case(order, t, seed, shape, spare);
        let mut blocks = blocks(&case.field, t, &case.set, case.count);
        prop_assert_eq!(algebra(&case.field, t, &blocks, case.universe), Some(case.set.clone()));
        blocks.iter_mut().for_each(|block| block.reverse());
        prop_assert_eq!(algebra(&case.field, t, &blocks, case.universe), Some(case.set.clone()));
        if let Some(&last) = case.set.last().filter(|last| **last > 0) {
            prop_assert_eq!(algebra(&case.field, t, &blocks, last), None);
        }
    }

    #[test]
    fn algebra_never_lists_wrongly(
        order in 0..ORDERS.len(),
        t in 0u32..=6,
        seed: u64,
        shape in 0u8..6,
        spare in 0u32..4,
        changes in 1usize..4,
    ) {
        let mut case = case(order, t, seed, shape, spare);
        prop_assume!(!case.set.is_empty());
        let true_blocks = blocks(&case.field, t, &case.set, case.count);
        let mut changed = true_blocks.clone();
        let mut touched = BTreeSet::new();
        for _ in 0..changes {
            let block = case.draw.below(changed.len() as u128) as usize;
            let entry = case.draw.below(case.set.len() as u128) as usize;
            changed[block][entry] = case.draw.below(u128::from(case.field.order())) as u32;
            touched.insert(block);
        }
        changed.iter_mut().for_each(|block| block.sort());
        let sorted = |mut blocks: Vec<Vec<u32>>| {
            blocks.iter_mut().for_each(|block| block.sort());
            blocks
        };
        let same = changed == sorted(true_blocks);
        let result = algebra(&case.field, t, &changed, case.universe);
        // s t + 1 untouched blocks still determine the set, so then nothing else can be listed.
        if !same && changed.len() - touched.len() > case.set.len() * t as usize {
            prop_assert_eq!(&result, &None);
        }
        if let Some(list) = result {
            prop_assert_eq!(sorted(blocks(&case.field, t, &list, case.count)), changed);
        }
    }

    #[test]
    fn algebra_survives_anything(q in 0u32..70, t in 0u32..130, universe: u128, size in 0usize..6,
                                 count in 0usize..80, seed: u64, wild: bool) {
        let Some(field) = Field::new(q) else { return Ok(()) };
        let mut draw = Draw::new(seed);
        let bound = u128::from(q) + u128::from(wild) * 2;
        let blocks: Vec<Vec<u32>> =
            (0..count).map(|_| (0..size).map(|_| draw.below(bound) as u32).collect()).collect();
        let inside = (universe % largest_universe(q, t.min(127))).max(1);
        algebra(&field, t, &blocks, inside);
        algebra(&field, t, &blocks, u128::MAX);
        join(&field, t, &blocks, universe.max(1), 1000);
        let sets = occupied(&blocks);
        join(&field, t, &sets, inside, 1000);
    }

    #[test]
    fn join_lists_what_is_occupied(order in 0usize..12, t in 0u32..=6, seed: u64, shape in 0u8..6,
                                   spare in 0u32..4) {
        let case = case(order, t, seed, shape, spare);
        let occupied = occupied(&blocks(&case.field, t, &case.set, case.count));
        let member = |x: u128| (0..).zip(&occupied).all(|(block, positions)| {
            positions.contains(&position(&case.field, t, x, block).unwrap())
        });
        let list = join(&case.field, t, &occupied, case.universe, 20000);
        if let Some(list) = &list {
            prop_assert!(list.is_sorted_by(|a, b| a < b));
            prop_assert!(list.iter().all(|&x| x < case.universe && member(x)));
            prop_assert!(case.set.iter().all(|x| list.binary_search(x).is_ok()));
            if case.universe <= 5000 {
                let plain: Vec<u128> = (0..case.universe).filter(|&x| member(x)).collect();
                prop_assert_eq!(list, &plain);
            }
        } else {
            let sizes = occupied.iter().map(|positions| positions.len() as u128);
            prop_assert!(sizes.max().unwrap().pow(t + 1) > 20000 || case.count <= t);
        }
    }
}

#[test]
fn every_small_set_is_recovered() {
    for (q, t) in [(2, 1), (3, 1), (4, 1), (3, 2), (2, 2), (5, 1)] {
        let field = Field::new(q).unwrap();
        let universe = largest_universe(q, t);
        for bits in 0u64..1 << universe.min(16) {
            let set: Vec<u128> = (0..universe).filter(|x| bits >> x & 1 == 1).collect();
            let needed = set.len() as u32 * t + 1;
            for count in needed..=q + 1 {
                let blocks = blocks(&field, t, &set, count);
                assert_eq!(algebra(&field, t, &blocks, universe), Some(set.clone()));
                let listed = join(&field, t, &occupied(&blocks), universe, u64::MAX);
                assert!(set.iter().all(|x| listed.as_ref().unwrap().contains(x)));
            }
        }
    }
}

#[test]
fn too_few_blocks_are_refused() {
    let field = Field::new(16).unwrap();
    let set = [5, 1000, 4095];
    assert_eq!(algebra(&field, 2, &blocks(&field, 2, &set, 7), 4096), Some(set.to_vec()));
    assert_eq!(algebra(&field, 2, &blocks(&field, 2, &set, 6), 4096), None);
    assert_eq!(algebra(&field, 2, &[], 4096), None);
    assert_eq!(algebra(&field, 2, &[vec![], vec![]], 4096), Some(vec![]));
    assert_eq!(algebra(&field, 2, &[vec![], vec![1]], 4096), None);
    assert_eq!(algebra(&field, 2, &blocks(&field, 2, &set, 7), 4097), None);
    assert_eq!(join(&field, 2, &occupied(&blocks(&field, 2, &set, 7)), 4096, 1), None);
}

#[test]
fn positions_follow_the_definition() {
    let field = Field::new(7).unwrap();
    // 123 = 4 + 3 * 7 + 2 * 49
    assert_eq!(position(&field, 2, 123, 0), Some(4));
    assert_eq!(position(&field, 2, 123, 1), Some(2));
    assert_eq!(position(&field, 2, 123, 2), Some(4));
    assert_eq!(position(&field, 2, 123, 7), Some(2));
    assert_eq!(position(&field, 2, 123, 8), None);
    assert_eq!(position(&field, 2, 343, 0), None);
    assert_eq!(position(&field, 127, 1, 0), Some(1));
    assert_eq!(position(&field, 128, 1, 0), None);
}

#[test]
fn large_sets_are_recovered() {
    let cases = [
        (4096, 2, 1000, 0),
        (4093, 3, 400, 1),
        (6561, 2, 300, 4),
        (65536, 3, 200, 5),
        (256, 0, 256, 2),
    ];
    for (q, t, size, shape) in cases {
        let field = Field::new(q).unwrap();
        let universe = largest_universe(q, t);
        let set = set(&mut Draw::new(7), q, universe, size, shape);
        let blocks = blocks(&field, t, &set, set.len() as u32 * t + 1);
        assert_eq!(algebra(&field, t, &blocks, universe), Some(set));
    }
}
