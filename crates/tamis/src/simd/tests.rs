//! Every level that the machine has, compared with the scalar kernels: hits and misses, keys alone
//! and batches of every size.

use super::*;
use crate::hash::Digest;
use crate::rate::{Blocked, Classic, Counting, Filter, Layout, Split};
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

/// The bit of a lane that a word says, counted from the first bit of the block.
trait Bits: Block {
    fn word(random: u64) -> Self::Word;
    fn bit(word: Self::Word, lane: usize) -> usize;
    fn bytes(&mut self) -> &mut [u8];
}

impl Bits for Block512 {
    fn word(random: u64) -> u64 {
        random
    }

    fn bit(word: u64, lane: usize) -> usize {
        64 * lane + 63 - (word >> (16 + 6 * lane) & 63) as usize
    }

    fn bytes(&mut self) -> &mut [u8] {
        self
    }
}

impl Bits for Block256 {
    fn word(random: u64) -> u32 {
        random as u32
    }

    fn bit(word: u32, lane: usize) -> usize {
        32 * lane + (word.wrapping_mul(scalar::SALTS[lane]) >> 27) as usize
    }

    fn bytes(&mut self) -> &mut [u8] {
        self
    }
}

/// On random blocks and on the extremes: empty, full, and all bits of the word except, often, one.
fn single_keys_do_as_the_definition_does<B: Bits + Copy + PartialEq + std::fmt::Debug>(empty: B) {
    let mut random = generator(7);
    let (mut hits, mut misses) = (0, 0);
    for case in 0..20_000u32 {
        let word = B::word(match case % 5 {
            0 => 0,
            1 => u64::MAX,
            _ => random(),
        });
        let mut block = empty;
        match case % 4 {
            0 => {}
            1 => block.bytes().fill(0xff),
            2 => block.bytes().fill_with(|| random() as u8 | random() as u8 | random() as u8),
            _ => {
                block.set(Scalar, word);
                let bit = B::bit(word, (random() % 8) as usize);
                block.bytes()[bit / 8] &= !((random() as u8 & 1) << (bit % 8));
            }
        }
        let by_bits = (0..8).all(|lane| {
            let bit = B::bit(word, lane);
            block.bytes()[bit / 8] >> (bit % 8) & 1 == 1
        });
        let (has, mut written) = (block.has(Scalar, word), block);
        assert_eq!(has, by_bits, "case {case}");
        let new = written.set(Scalar, word);
        assert!(new != has && written.has(Scalar, word), "case {case}");
        if has {
            hits += 1;
        } else {
            misses += 1;
        }
        for level in Level::all() {
            let (single, mut alone) = (Single::new(level), block);
            assert_eq!(block.has_alone(single, word), has, "{level:?}, case {case}, alone");
            let set = alone.set_alone(single, word);
            assert_eq!((set, alone), (new, written), "{level:?}, case {case}, alone");
            dispatch!(level, kernels => {
                assert_eq!(block.has(kernels, word), has, "{level:?}, case {case}");
                let mut block = block;
                let set = block.set(kernels, word);
                assert_eq!((set, block), (new, written), "{level:?}, case {case}");
            });
        }
    }
    assert!(hits > 1_000 && misses > 1_000);
}

#[test]
fn single_keys_in_blocks_of_512_bits() {
    single_keys_do_as_the_definition_does::<Block512>([0; 64]);
}

#[test]
fn single_keys_in_blocks_of_256_bits() {
    single_keys_do_as_the_definition_does::<Block256>([0; 32]);
}

/// Every word's bits, by the specification of Apache Parquet's split block filter: words and
/// masks from a second implementation (`tests/golden/make.py` prints them).
#[test]
fn blocks_of_256_bits_are_those_of_parquet() {
    let expected: [(u32, [u32; 8]); 3] = [
        (0x0000_0000, [1 << 0, 1 << 0, 1 << 0, 1 << 0, 1 << 0, 1 << 0, 1 << 0, 1 << 0]),
        (0x1234_5678, [1 << 12, 1 << 29, 1 << 23, 1 << 2, 1 << 15, 1 << 10, 1 << 4, 1 << 2]),
        (0xdead_beef, [1 << 29, 1 << 15, 1 << 12, 1 << 14, 1 << 13, 1 << 25, 1 << 24, 1 << 21]),
    ];
    for (word, masks) in expected {
        let mut block: Block256 = [0; 32];
        assert!(block.set(Scalar, word));
        let lanes: Vec<u32> =
            block.as_chunks::<4>().0.iter().map(|lane| u32::from_le_bytes(*lane)).collect();
        assert_eq!(lanes, masks, "{word:x}");
    }
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

#[test]
fn regions_are_those_of_the_blocks() {
    let mut random = generator(5);
    for (blocks, region) in [(1, 0), (1_000, 3), (1 << 33, 13), (12_345_678, 13)] {
        let h1: [u64; BATCH] = std::array::from_fn(|_| random());
        let expected = h1.map(|h1| (Block512::locate(blocks, h1).0 >> region) as u32);
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
            filters_do_as_single_keys_do::<Split>(fpr, &hash);
            filters_do_as_single_keys_do::<Counting>(fpr, &hash);
        }
    }
}

/// Filters past the caches, where memory is fetched ahead, with batches of every size.
fn large_filters_do_the_same_at_every_level<L: Layout>(fpr: f64) {
    let mut random = generator(3);
    let keys: Vec<u64> = (0..3_000).map(|_| random() % 5_000).collect();
    let new = || Filter::<L>::new(2_000_000, fpr).unwrap();
    let mut one = new();
    let certainly_new = keys[..1_500].iter().filter(|key| one.insert(key)).count() as u64;
    let answers: Vec<bool> = keys.iter().map(|key| one.contains(key)).collect();
    assert!(answers.contains(&true) && answers.contains(&false));
    for level in Level::all() {
        let mut many = new().with_level(level);
        let sizes = [1, 7, 31, 32, 33, 64, 100, 128, 500, 0, 604];
        let mut left = &keys[..1_500];
        let mut counted = 0;
        for size in sizes {
            let (now, later) = left.split_at(size);
            counted += many.insert_many(now);
            left = later;
        }
        assert!(left.is_empty());
        assert_eq!(counted, certainly_new, "{level:?}");
        assert!(many == one, "{level:?}");
        for size in [1, 31, 32, 33, 63, 64, 65, 129, 3_000] {
            let got: Vec<bool> =
                keys.chunks(size).flat_map(|keys| many.contains_many(keys)).collect();
            assert_eq!(got, answers, "{level:?}, {size} at a time");
        }
    }
}

#[test]
fn large_filters() {
    large_filters_do_the_same_at_every_level::<Blocked>(0.01);
    large_filters_do_the_same_at_every_level::<Blocked>(1e-6);
    large_filters_do_the_same_at_every_level::<Split>(0.01);
    large_filters_do_the_same_at_every_level::<Classic>(0.01);
}
