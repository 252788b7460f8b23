//! Filters that threads share, against the plain filter with the same keys.

#![allow(clippy::unwrap_used)]

use std::sync::Barrier;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use tamis::rate::{Blocked, Classic, Split};
use tamis::rate::{ConcurrentFilter, ConcurrentLayout, Filter};
use tamis::{Bloom, ConcurrentBloom, HashFamily, SecretKey};

/// Miri is slow, and finds races with few keys.
const KEYS: u64 = if cfg!(miri) { 40 } else { 4_000 };
const THREADS: u64 = 4;

/// Every thread inserts its own keys and some of all others', and asks for what it inserted. In the
/// end the bytes are those of the plain filter.
fn many_threads_are_one<L: ConcurrentLayout>(hash: &HashFamily, fpr: f64) {
    let shared = ConcurrentFilter::<L>::with_hash(2 * KEYS * THREADS, fpr, hash.clone()).unwrap();
    std::thread::scope(|scope| {
        for thread in 0..THREADS {
            let shared = &shared;
            scope.spawn(move || {
                for key in
                    (thread * KEYS..(thread + 1) * KEYS).chain((0..THREADS * KEYS).step_by(3))
                {
                    shared.insert(key);
                    assert!(shared.contains(key), "{key} was inserted before");
                }
                let texts: Vec<String> = (0..KEYS).map(|i| format!("text {i}")).collect();
                shared.insert_many(&texts);
                assert!(shared.contains_many(&texts).iter().all(|passes| *passes));
            });
        }
    });
    let mut plain = Filter::<L>::with_hash(2 * KEYS * THREADS, fpr, hash.clone()).unwrap();
    plain.insert_many(0..THREADS * KEYS);
    plain.insert_many((0..KEYS).map(|i| format!("text {i}")));
    let asked: Vec<u64> = (0..2 * THREADS * KEYS).collect();
    assert_eq!(shared.contains_many(&asked), plain.contains_many(&asked));
    assert_eq!(shared.snapshot().unwrap(), plain);
    assert_eq!(shared.fill(), plain.fill());
    assert_eq!(Filter::from(shared), plain);
}

#[test]
fn all_layouts_are_shared() {
    let keyed = HashFamily::keyed(SecretKey::new(b"0123456789abcdef").unwrap());
    for hash in [HashFamily::fast(7), keyed] {
        many_threads_are_one::<Classic>(&hash, 0.01);
        many_threads_are_one::<Blocked>(&hash, 0.01);
        many_threads_are_one::<Blocked>(&hash, 1e-6); // two words a key
        many_threads_are_one::<Split>(&hash, 0.01);
    }
    many_threads_are_one::<Classic>(&HashFamily::default(), 0.9); // one bit a key
}

/// Threads that insert the same keys at the same moment: at most one hears that a key is new.
///
/// Nobody hears it if the key looks like others, or if another key sets the decisive bit in
/// between. The filter is so large that this happens to one key in ten thousand at the most: more
/// than five of a few thousand would be a fault.
fn one_is_first<L: ConcurrentLayout>(fpr: f64) {
    let shared = ConcurrentFilter::<L>::new(200_000, fpr).unwrap();
    let claims: Vec<AtomicU32> = (0..KEYS).map(|_| AtomicU32::new(0)).collect();
    let barrier = Barrier::new(THREADS as usize);
    std::thread::scope(|scope| {
        for _ in 0..THREADS {
            scope.spawn(|| {
                for (key, claims) in claims.iter().enumerate() {
                    if key % 50 == 0 {
                        barrier.wait();
                    }
                    if shared.insert(key as u64) {
                        claims.fetch_add(1, Ordering::Relaxed);
                    }
                }
            });
        }
    });
    let counts: Vec<u32> = claims.iter().map(|count| count.load(Ordering::Relaxed)).collect();
    assert!(counts.iter().all(|count| *count <= 1), "two threads were told that a key is new");
    let mut plain = Filter::<L>::new(200_000, fpr).unwrap();
    let seen = (0..KEYS).filter(|key| !plain.insert(*key)).count();
    assert!(counts.iter().filter(|count| **count == 0).count() <= seen + 5);
}

#[test]
fn at_most_one_thread_is_first() {
    one_is_first::<Classic>(1e-9);
    one_is_first::<Classic>(0.9); // one bit a key: the claim is one change of one byte
    one_is_first::<Blocked>(1e-6);
    one_is_first::<Split>(1e-4);
}

/// Alone, a shared filter says what a plain one says.
#[test]
fn alone_it_is_a_plain_filter() {
    let mut plain = Bloom::new(100, 0.1).unwrap();
    let shared = ConcurrentBloom::from(plain.clone());
    for key in (0..KEYS).map(|i| i * i % 700) {
        assert_eq!(shared.insert(key), plain.insert(key), "{key}");
    }
    let digest = HashFamily::default().digest("ant").unwrap();
    assert_eq!(shared.insert_digest(digest).unwrap(), plain.insert_digest(digest).unwrap());
    assert!(shared.contains_digest(digest).unwrap());
    assert_eq!(shared.kinds(), plain.kinds());
    let document = ConcurrentBloom::with_hash(10, 0.1, HashFamily::prefixed()).unwrap();
    assert!(document.insert("ant") && document.contains("ant"));
    assert!(document.insert_digest(digest).is_err());
}

/// A snapshot while others insert has all that was inserted before, and is a sound file.
#[test]
#[cfg_attr(miri, ignore)] // no files
fn snapshots_are_taken_while_writers_go_on() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("shared.tamis");
    let shared = ConcurrentBloom::new(100_000, 0.01).unwrap();
    shared.insert_many(0..1_000u64);
    let stop = AtomicBool::new(false);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            let mut key = 1_000u64;
            while !stop.load(Ordering::Relaxed) {
                shared.insert(key);
                key += 1;
            }
        });
        for _ in 0..5 {
            shared.save(&path).unwrap();
            let read = Bloom::open(&path).unwrap();
            assert!((0..1_000u64).all(|key| read.contains(key)));
            assert_eq!(tamis::Open::new().verify(true).path(&path).unwrap(), read.into());
        }
        stop.store(true, Ordering::Relaxed);
    });
}
