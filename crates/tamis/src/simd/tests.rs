//! Every level that the machine has, compared with the scalar kernels: hits and misses, keys alone
//! and batches of every size.

use super::*;
use crate::hash::Digest;
use crate::rate::{Blocked, Classic, Counting, Filter, Layout};
use crate::{HashFamily, Key, KeyRef, Kinds, SecretKey};

/// A seeded generator: the same words in every run.
fn generator(seed: u64) -> impl FnMut() -> u64 {
    let mut state = seed;
    move || {
        state =
            state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        state ^ state >> 29
    }
}

/// On random blocks and on the extremes: empty, full, and all bits of the word except, often, one.
#[test]
fn single_keys_do_as_the_definition_does() {
    let mut random = generator(7);
    let (mut hits, mut misses) = (0, 0);
    for case in 0..20_000u32 {
        let word = match case % 5 {
            0 => 0,
            1 => u64::MAX,
            _ => random(),
        };
        let mut block: Block = [0; 64];
        match case % 4 {
            0 => {}
            1 => block = [0xff; 64],
            2 => block.fill_with(|| random() as u8 | random() as u8 | random() as u8),
            _ => {
                Scalar.set(&mut block, word);
                let lane = (random() % 8) as usize;
                let bit = 63 - (word >> (scalar::FIRST_FIELD as usize + 6 * lane) & 63);
                block[lane * 8 + (bit / 8) as usize] &= !((random() as u8 & 1) << (bit % 8));
            }
        }
        let (has, mut written) = (Scalar.has(&block, word), block);
        let new = Scalar.set(&mut written, word);
        assert!(new != has && Scalar.has(&written, word), "case {case}");
        if has {
            hits += 1;
        } else {
            misses += 1;
        }
        for level in Level::all() {
            dispatch!(level, kernels => {
                assert_eq!(kernels.has(&block, word), has, "{level:?}, case {case}");
                let mut block = block;
                let set = kernels.set(&mut block, word);
                assert_eq!((set, block), (new, written), "{level:?}, case {case}");
            });
        }
    }
    assert!(hits > 1_000 && misses > 1_000);
}

#[test]
fn natural_numbers_are_hashed_as_one_is() {
    for seed in [0, 42, u64::MAX] {
        let family = HashFamily::fast(seed);
        let fast = family.as_fast().unwrap();
        let lane = fast.natural_constants().lane;
        let edges = [0, 1, u64::MAX, 1 << 63, u64::MAX >> 32, u64::MAX << 32, lane, !lane];
        let more = (0..300u64).map(|i| i.wrapping_mul(0x9e37_79b9_7f4a_7c15).rotate_left(i as u32));
        let values: Vec<u64> = edges.into_iter().chain(more).collect();
        let digests: Vec<Digest> =
            values.iter().map(|v| fast.digest(KeyRef::Natural(*v))).collect();
        for len in [0, 1, 7, 8, 9, 64, values.len()] {
            for level in Level::all() {
                let (mut h1, mut h2) = (values[..len].to_vec(), vec![0; len]);
                let mut alone = values[..len].to_vec();
                dispatch!(level, kernels => {
                    kernels.hash_naturals(fast, &mut h1, Some(&mut h2));
                    kernels.hash_naturals(fast, &mut alone, None);
                });
                let got: Vec<Digest> =
                    h1.iter().zip(&h2).map(|(&h1, &h2)| Digest { h1, h2 }).collect();
                assert_eq!(got, digests[..len], "{level:?}, {len} values");
                assert_eq!(alone, h1, "{level:?}, {len} values");
            }
        }
    }
}

/// A part of a filter of so many blocks, empty, and its shape.
fn part(blocks: u64, first: u64, two_words: bool, far: bool) -> (BlockShape, Vec<Block>) {
    (BlockShape { blocks, first, two_words, far }, vec![[0; 64]; (blocks - first) as usize])
}

/// Digests that fall into a part, in batches of many sizes.
fn batches(shape: BlockShape, mut digests: &[Digest]) -> Vec<Digests> {
    let mut all = Vec::new();
    for size in [1, 7, 128, 100, 8, 128, 128, 3].into_iter().cycle() {
        if digests.is_empty() {
            return all;
        }
        let (now, later) = digests.split_at(size.min(digests.len()));
        let mut batch = Digests::new();
        let here = |digest: &Digest| locate(shape.blocks, digest.h1).0 >= shape.first;
        batch.fill(now.iter().copied().filter(here));
        all.push(batch);
        digests = later;
    }
    all
}

/// Whole filters and parts, near and far, with one word a key and with two: batches are written
/// and probed as single keys are.
#[test]
fn batches_do_as_the_definition_does() {
    let mut random = generator(11);
    let digests: Vec<Digest> = (0..6_000).map(|_| Digest { h1: random(), h2: random() }).collect();
    for (blocks, first) in [(1, 0), (5, 0), (5, 3), (700, 0), (700, 650)] {
        for (two_words, far) in [(false, false), (false, true), (true, false), (true, true)] {
            let (shape, mut expected) = part(blocks, first, two_words, far);
            let inserted = batches(shape, &digests[..(4 * blocks as usize).min(3_000)]);
            let asked = batches(shape, &digests);
            let mut new = 0;
            for digest in inserted.iter().flat_map(Digests::iter) {
                let (block, word) = locate(blocks, digest.h1);
                let block = &mut expected[(block - first) as usize];
                new += u64::from(
                    Scalar.set(block, word) | (two_words && Scalar.set(block, digest.h2)),
                );
            }
            let answer = |digest: Digest| {
                let (block, word) = locate(blocks, digest.h1);
                let block = &expected[(block - first) as usize];
                Scalar.has(block, word) && (!two_words || Scalar.has(block, digest.h2))
            };
            let answers: Vec<bool> = asked.iter().flat_map(Digests::iter).map(answer).collect();
            assert!(answers.contains(&true) && answers.contains(&false));
            for level in Level::all() {
                let case = format!("{level:?}, {first} to {blocks}, {two_words}, {far}");
                let mut body = vec![[0; 64]; expected.len()];
                let (mut positions, mut counted) = (Positions::new(), 0);
                let nobody = Digests::new();
                let mut got = vec![false; answers.len()];
                let mut left = Answers::new(&mut got);
                dispatch!(level, kernels => {
                    for batch in inserted.iter().chain([&nobody]) {
                        counted += kernels.insert_blocks(shape, &mut body, &mut positions, batch);
                    }
                    for batch in asked.iter().chain([&nobody]) {
                        let coming = Coming::Digests(batch);
                        kernels.contains_blocks(shape, &body, &mut positions, coming, &mut left);
                    }
                });
                assert_eq!(counted, new, "{case}");
                assert!(body == expected, "{case}");
                assert!(got == answers, "{case}");
            }
        }
    }
}

/// Positions that belong to more blocks than there are must not be read.
#[test]
fn positions_of_other_blocks_are_refused() {
    for level in Level::all() {
        let refused = std::panic::catch_unwind(|| {
            let (shape, blocks) = part(100, 0, false, true);
            let (mut digests, mut positions) = (Digests::new(), Positions::new());
            let mut answers = [false; 8];
            digests.fill((1..=8).map(|i| Digest { h1: i << 60, h2: 0 }));
            dispatch!(level, kernels => for _ in 0..2 {
                let (coming, left) = (Coming::Digests(&digests), &mut Answers::new(&mut answers));
                kernels.contains_blocks(shape, &blocks[..40], &mut positions, coming, left);
            });
        });
        assert!(refused.is_err(), "{level:?}");
    }
}

/// Numbers that are hashed on the way are probed as those hashed before.
#[test]
fn numbers_hashed_on_the_way_find_their_blocks() {
    let family = HashFamily::fast(21);
    let fast = family.as_fast().unwrap();
    for far in [false, true] {
        let (shape, mut blocks) = part(50, 0, false, far);
        for number in 0..300 {
            let (block, word) = locate(50, fast.natural(number).h1);
            Scalar.set(&mut blocks[block as usize], word);
        }
        let answer = |number: u64| {
            let (block, word) = locate(50, fast.natural(number).h1);
            Scalar.has(&blocks[block as usize], word)
        };
        let asked: Vec<u64> = (200..900).collect();
        let expected: Vec<bool> = asked.iter().map(|number| answer(*number)).collect();
        assert!(expected.contains(&false));
        for level in Level::all() {
            let (mut positions, mut naturals) = (Positions::new(), Naturals::new());
            let mut got = vec![false; asked.len()];
            let mut left = Answers::new(&mut got);
            dispatch!(level, kernels => {
                for keys in asked.chunks(100).chain([&[][..]]) {
                    assert!(naturals.take(keys));
                    let coming = Coming::Naturals(fast, &naturals);
                    kernels.contains_blocks(shape, &blocks, &mut positions, coming, &mut left);
                }
            });
            assert_eq!(got, expected, "{level:?}, {far}");
        }
    }
}

#[test]
fn regions_are_those_of_the_blocks() {
    let mut random = generator(5);
    for (blocks, region) in [(1, 0), (1_000, 3), (1 << 33, 13), (12_345_678, 13)] {
        let h1: [u64; BATCH] = std::array::from_fn(|_| random());
        let expected = h1.map(|h1| (locate(blocks, h1).0 >> region) as u32);
        for level in Level::all() {
            let mut found = [0; BATCH];
            dispatch!(level, kernels => {
                kernels.find_regions(blocks, region, &h1, &mut found);
            });
            assert_eq!(found, expected, "{level:?}, {blocks} blocks");
        }
    }
}

/// So many numbers, and then everything else: in one batch, numbers are hashed together up to the
/// first other key.
fn mixed(numbers: usize, others: usize) -> Vec<KeyRef<'static>> {
    let other = |i: usize| match i % 4 {
        0 => KeyRef::Negative(u64::MAX - i as u64),
        1 => KeyRef::Bytes(b"a text of some length"),
        2 => KeyRef::Bytes(&b"0123456789"[..i % 10]),
        _ => KeyRef::Natural(1_000 + i as u64),
    };
    (0..numbers as u64).map(KeyRef::Natural).chain((0..others).map(other)).collect()
}

/// Filters of every layout answer for batches as for single keys, and are filled alike.
fn filters_do_as_single_keys_do<L: Layout>(fpr: f64, hash: &HashFamily) {
    for numbers in [0, 1, 7, 8, 9, 127, 128, 129, 200] {
        for others in [0, 1, 5, 130] {
            let keys = mixed(numbers, others);
            let new = || Filter::<L>::with_hash(300, fpr, hash.clone()).unwrap();
            let mut one = new();
            let certainly_new = keys.iter().filter(|key| one.insert(key)).count() as u64;
            let asked = mixed(numbers + 50, others + 50);
            let answers: Vec<bool> = asked.iter().map(|key| one.contains(key.as_key())).collect();
            for level in Level::all() {
                let case = format!("{level:?}, {numbers} and {others}");
                let mut many = new().with_level(level);
                assert_eq!(many.insert_many(&keys), certainly_new, "{case}");
                assert!(many == one && many.kinds() == one.kinds(), "{case}");
                assert_eq!(many.kinds().has(Kinds::BYTES), others > 1);
                assert_eq!(many.contains_many(&asked), answers, "{case}");
                let single: Vec<bool> = asked.iter().map(|key| many.contains(key)).collect();
                assert_eq!(single, answers, "{case}");
                let mut single = new().with_level(level);
                assert!(
                    keys.iter().filter(|key| single.insert(key)).count() as u64 == certainly_new
                );
                assert!(single == one, "{case}");
            }
        }
    }
}

#[test]
fn whatever_the_keys_filters_do_as_single_keys_do() {
    let keyed = HashFamily::keyed(SecretKey::new(b"a secret for batches").unwrap());
    for hash in [HashFamily::fast(0), HashFamily::fast(9), keyed] {
        for fpr in [0.01, 1e-6] {
            filters_do_as_single_keys_do::<Classic>(fpr, &hash);
            filters_do_as_single_keys_do::<Blocked>(fpr, &hash);
            filters_do_as_single_keys_do::<Counting>(fpr, &hash);
        }
    }
}

/// Filters past the caches, where memory is fetched ahead.
#[test]
fn large_filters_do_the_same_at_every_level() {
    let mut random = generator(3);
    let keys: Vec<u64> = (0..3_000).map(|_| random() % 5_000).collect();
    for fpr in [0.01, 1e-6] {
        let new = || Filter::<Blocked>::new(2_000_000, fpr).unwrap();
        let mut one = new();
        let certainly_new = keys[..1_500].iter().filter(|key| one.insert(key)).count() as u64;
        let answers: Vec<bool> = keys.iter().map(|key| one.contains(key)).collect();
        assert!(answers.contains(&true) && answers.contains(&false));
        for level in Level::all() {
            let mut many = new().with_level(level);
            assert_eq!(many.insert_many(&keys[..1_500]), certainly_new, "{level:?}");
            assert!(many == one, "{level:?}");
            assert_eq!(many.contains_many(&keys), answers, "{level:?}");
        }
    }
}
