//! Insertions of 64-bit keys into empty filters for a rate of 1%: with one thread and with two,
//! beside the peers and bare random writes. (Two threads write their halves of the memory, with
//! half of the keys each.)

use crate::keys;
use crate::lookup::{AHEAD, fetch, line};
use crate::report::Report;
use crate::timing::{Task, interleave};
use std::hash::BuildHasher;
use tamis::{BlockedBloom, Bloom, SplitBloom};

type Numbers<'a> = Task<'a, [u64]>;

pub(crate) fn run(report: &mut Report, full: bool) -> Result<(), Box<dyn std::error::Error>> {
    let sizes: &[(usize, usize)] = if full {
        &[(10_000, 101), (1_000_000, 31), (50_000_000, 5)]
    } else {
        &[(10_000, 51), (1_000_000, 9)]
    };
    for &(size, repeats) in sizes {
        let members = keys::random(1, size);
        let n = size as u64;
        let mut memory = vec![0u8; BlockedBloom::new(n, 0.01)?.body().len()];
        let mut filters = (BlockedBloom::new(n, 0.01)?, Bloom::new(n, 0.01)?);
        let (mut one, mut two) = (BlockedBloom::new(n, 0.01)?, BlockedBloom::new(n, 0.01)?);
        let (mut split, mut split_one) = (SplitBloom::new(n, 0.01)?, SplitBloom::new(n, 0.01)?);
        let mut shared = vec![0u8; memory.len()];
        let mut ahead = vec![0u8; memory.len()];
        let mut sbbf = sbbf_rs_safe::Filter::new(10, size);
        let mut hashed = sbbf_rs_safe::Filter::new(10, size);
        let state = foldhash::fast::FixedState::default();
        let mut parquet = parquet::bloom_filter::Sbbf::new_with_ndv_fpp(n, 0.01)?;
        let mut fast =
            fastbloom::BloomFilter::with_false_pos(0.01).hasher(state.clone()).expected_items(size);
        // Filters are used again from round to round: what is timed are insertions, not the
        // system's fetching of memory.
        let tasks: Vec<_> = vec![
            Numbers::new("bare write", |keys| {
                write(&mut memory, keys);
                0
            }),
            Numbers::new("sbbf-rs-safe 0.3.2, without hash", |keys| {
                keys.iter().filter(|key| sbbf.insert_hash(**key)).count()
            }),
            Numbers::new("sbbf-rs-safe 0.3.2, foldhash", |keys| {
                keys.iter().filter(|key| hashed.insert_hash(state.hash_one(**key))).count()
            }),
            Numbers::new("bare write, prefetched", |keys| {
                write_ahead(&mut ahead, keys);
                0
            }),
            Numbers::new("tamis blocked, a batch", |keys| filters.0.insert_many(keys) as usize),
            Numbers::new("tamis blocked, one at a time", |keys| {
                keys.iter().filter(|k| one.insert(**k)).count()
            }),
            Numbers::new("tamis split, a batch", |keys| split.insert_many(keys) as usize),
            Numbers::new("tamis split, one at a time", |keys| {
                keys.iter().filter(|k| split_one.insert(**k)).count()
            }),
            Numbers::new("tamis blocked, two threads", |keys| {
                two.insert_parallel(keys, 2) as usize
            }),
            Numbers::new("bare write, two threads", |keys| {
                let half = shared.len() / 2;
                let (left, right) = shared.split_at_mut(half);
                let (first, second) = keys.split_at(keys.len() / 2);
                std::thread::scope(|scope| {
                    let _ = scope.spawn(|| write(left, first));
                    write(right, second);
                });
                0
            }),
            Numbers::new("tamis bloom, a batch", |keys| filters.1.insert_many(keys) as usize),
            Numbers::new("parquet 60.1.0", |keys| {
                keys.iter().for_each(|key| parquet.insert(key));
                0
            }),
            Numbers::new("fastbloom 0.17.0, foldhash", |keys| {
                keys.iter().filter(|key| fast.insert(*key)).count()
            }),
        ];
        let lines = interleave(tasks, repeats, false, |_| (&members[..], size));
        report.table("insertions", size, ["x bare", "x sbbf"], false, &lines)?;
    }
    Ok(())
}

/// One bit in a random cache line a key.
fn write(memory: &mut [u8], keys: &[u64]) {
    for key in keys {
        let at = line(memory, *key);
        memory[at] |= 1;
    }
}

/// The same, asked for ahead of its need, as a batch may.
fn write_ahead(memory: &mut [u8], keys: &[u64]) {
    for (i, key) in keys.iter().enumerate() {
        if let Some(later) = keys.get(i + AHEAD) {
            fetch(memory, line(memory, *later));
        }
        let at = line(memory, *key);
        memory[at] |= 1;
    }
}
