//! The quality of the digests: every input bit moves every output bit, structured keys spread like
//! random ones, and nothing collides that should not. Bounds are five standard deviations (adjusted
//! for how many are looked at).

#![allow(clippy::unwrap_used)]

use std::collections::HashSet;
use tamis::{HashFamily, Key, SecretKey};

fn hashes() -> [HashFamily; 3] {
    [
        HashFamily::fast(0),
        HashFamily::fast(0x5eed),
        HashFamily::keyed(SecretKey::new(b"a secret for hash quality").unwrap()),
    ]
}

fn digest(hash: &HashFamily, key: impl Key) -> u128 {
    hash.digest(key).unwrap().into()
}

/// A seeded stream of bytes that has nothing to do with the hashes tested.
fn random(state: &mut u64) -> u64 {
    *state ^= *state << 13;
    *state ^= *state >> 7;
    *state ^= *state << 17;
    state.wrapping_mul(0x2545_f491_4f6c_dd1d)
}

/// Each output bit flips half the time when one input bit flips: no pair strays further than seven
/// deviations, which among the hundred thousand pairs looked at happens by chance once in millions
/// of runs.
fn avalanche(trials: u32, input_bits: usize, flipped: impl Fn(&mut u64, usize) -> (u128, u128)) {
    let mut state = 88_172_645_463_325_252;
    let bound = 7.0 * (f64::from(trials) * 0.25).sqrt();
    for input in 0..input_bits {
        let mut flips = [0u32; 128];
        for _ in 0..trials {
            let (before, after) = flipped(&mut state, input);
            let difference = before ^ after;
            flips
                .iter_mut()
                .enumerate()
                .for_each(|(bit, count)| *count += (difference >> bit & 1) as u32);
        }
        for (bit, count) in flips.iter().enumerate() {
            let off = (f64::from(*count) - f64::from(trials) / 2.0).abs();
            assert!(
                off <= bound,
                "input bit {input} flips output bit {bit} {count} times in {trials}"
            );
        }
    }
}

#[test]
fn every_bit_of_an_integer_moves_every_bit_of_the_digest() {
    for hash in hashes() {
        avalanche(4_000, 64, |state, bit| {
            let value = random(state);
            (digest(&hash, value), digest(&hash, value ^ 1 << bit))
        });
        // Small integers too, which differ in few bits.
        avalanche(4_000, 12, |state, bit| {
            let value = random(state) % 4_096;
            (digest(&hash, value), digest(&hash, value ^ 1 << bit))
        });
    }
}

#[test]
fn every_bit_of_a_string_moves_every_bit_of_the_digest() {
    for hash in hashes() {
        // One byte has only 128 pairs, too few to count flips on.
        for length in [2, 3, 4, 7, 8, 12, 15, 16, 17, 24, 31, 32, 33, 50] {
            avalanche(1_000, length * 8, |state, bit| {
                let mut key: Vec<u8> = (0..length).map(|_| random(state) as u8).collect();
                let before = digest(&hash, &key);
                key[bit / 8] ^= 1 << (bit % 8);
                (before, digest(&hash, &key))
            });
        }
    }
}

/// The keys people have: counters, padded counters, names with numbers, one byte set in many.
fn structured() -> Vec<(&'static str, Vec<Vec<u8>>)> {
    let count = 60_000u32;
    vec![
        ("decimal", (0..count).map(|i| i.to_string().into_bytes()).collect()),
        ("padded", (0..count).map(|i| format!("user:{i:020}").into_bytes()).collect()),
        (
            "addresses",
            (0..count).map(|i| format!("10.0.{}.{}", i / 256, i % 256).into_bytes()).collect(),
        ),
        (
            "urls",
            (0..count)
                .map(|i| format!("https://example.org/items/{i}?page=1").into_bytes())
                .collect(),
        ),
        ("little-endian", (0..count).map(|i| u64::from(i).to_le_bytes().to_vec()).collect()),
        ("high bits", (0..count).map(|i| (u64::from(i) << 44).to_le_bytes().to_vec()).collect()),
        ("zeros", (0..2_000).map(|i| vec![0; i]).collect()),
        (
            "one bit in 64 bytes",
            (0..512)
                .map(|i| (0..64).map(|b| if b == i / 8 { 1 << (i % 8) } else { 0 }).collect())
                .collect(),
        ),
        ("two halves", (0..count).map(|i| [i.to_le_bytes(), i.to_le_bytes()].concat()).collect()),
        ("repeated blocks", (0..count).map(|i| u64::from(i).to_le_bytes().repeat(4)).collect()),
    ]
}

/// Digests fall into buckets as random ones would: by their high bits (the block), by the low bits
/// of the second word (the pattern), and by both.
#[test]
fn structured_keys_spread_like_random_ones() {
    for hash in hashes() {
        let mut sets: Vec<(String, Vec<u128>)> = structured()
            .into_iter()
            .map(|(name, keys)| {
                (name.to_owned(), keys.iter().map(|key| digest(&hash, key)).collect())
            })
            .collect();
        sets.push(("integers".into(), (0..60_000u64).map(|i| digest(&hash, i)).collect()));
        sets.push(("multiples".into(), (0..60_000u64).map(|i| digest(&hash, i << 32)).collect()));
        sets.push(("negative".into(), (1..60_000i64).map(|i| digest(&hash, -i)).collect()));
        for (name, digests) in sets {
            let distinct: HashSet<u128> = digests.iter().copied().collect();
            assert_eq!(distinct.len(), digests.len(), "{name}: a collision of 128 bits");
            for (what, bucket) in [
                ("high bits of h1", (|d| (d as u64) >> 56) as fn(u128) -> u64),
                ("low bits of h1", |d| d as u64 & 255),
                ("low bits of h2", |d| (d >> 64) as u64 & 255),
                ("high bits of h2", |d| (d >> 120) as u64),
                ("h1 and h2 together", |d| (d as u64) >> 60 << 4 | (d >> 64) as u64 & 15),
            ] {
                let mut buckets = [0f64; 256];
                digests.iter().for_each(|d| buckets[bucket(*d) as usize] += 1.0);
                let mean = digests.len() as f64 / 256.0;
                let chi_square: f64 = buckets.iter().map(|b| (b - mean).powi(2) / mean).sum();
                // 255 degrees of freedom: mean 255, deviation sqrt(510); both tails, and six
                // deviations for 200 looks.
                assert!(
                    (chi_square - 255.0).abs() < 6.0 * 510f64.sqrt(),
                    "{name}, {what}: chi square {chi_square}"
                );
            }
        }
    }
}

/// Among 32-bit halves, collisions come as often as chance has them: n^2 / 2^33.
#[test]
fn short_pieces_collide_as_often_as_chance() {
    let n = 400_000u64;
    let expected = (n * n) as f64 / 2f64.powi(33);
    for hash in hashes() {
        for (name, piece) in [("low h1", 0), ("high h1", 32), ("low h2", 64), ("high h2", 96)] {
            for text in [false, true] {
                let mut pieces: Vec<u32> = (0..n)
                    .map(|i| {
                        (if text { digest(&hash, format!("key-{i}")) } else { digest(&hash, i) }
                            >> piece) as u32
                    })
                    .collect();
                pieces.sort_unstable();
                let collisions = pieces.windows(2).filter(|pair| pair[0] == pair[1]).count() as f64;
                assert!(
                    (collisions - expected).abs() < 6.0 * expected.sqrt() + 1.0,
                    "{}, {name}, text {text}: {collisions} collisions, {expected} expected",
                    hash.name()
                );
            }
        }
    }
}

#[test]
fn seeds_are_independent() {
    let agree = (0..10_000u64).map(|i| {
        (digest(&HashFamily::fast(i), "ant") ^ digest(&HashFamily::fast(i + 1), "ant")).count_ones()
    });
    let mean = f64::from(agree.sum::<u32>()) / 10_000.0;
    assert!(
        (mean - 64.0).abs() < 5.0 * (32f64 / 10_000.0).sqrt(),
        "{mean} bits differ between neighbouring seeds"
    );
}
