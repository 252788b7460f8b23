//! Lookups and insertions of 64-bit keys at a rate of 1%, beside the peers and beside the bare memory access.

use crate::{Task, interleave};
use std::collections::HashSet;
use std::hint::black_box;
use tamis::{BlockedBloom, Bloom};
use xorf::Filter as _;

/// Keys asked in one call: enough to leave every cache but the last between two of the same.
const ASKED: usize = 1 << 16;

/// Random keys, different for every seed.
fn keys(seed: u64, count: usize) -> Vec<u64> {
    let mut state = seed;
    (0..count)
        .map(|_| {
            state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
            let z = (state ^ state >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
            let z = (z ^ z >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
            z ^ z >> 31
        })
        .collect()
}

pub(crate) fn run(full: bool) {
    let sizes: &[usize] = if full { &[10_000, 1_000_000, 50_000_000] } else { &[10_000, 1_000_000] };
    let rounds = if full { 15 } else { 9 };
    println!(
        "lookups of strangers, 1%: nanoseconds a key, and as a ratio to one bare read of a random cache line"
    );
    for &size in sizes {
        lookups(size, rounds);
    }
    println!("\ninsertions: nanoseconds a key");
    for &size in sizes {
        insertions(size, if full { 3 } else { 5 });
    }
}

fn lookups(size: usize, rounds: usize) {
    let members = keys(1, size);
    let strangers = keys(2, ASKED);
    let n = size as u64;
    let (Ok(mut blocked), Ok(mut bloom)) = (BlockedBloom::new(n, 0.01), Bloom::new(n, 0.01)) else { return };
    blocked.insert_many(&members);
    bloom.insert_many(&members);
    let bytes = blocked.body().len();
    let memory: Vec<u8> = (0..bytes).map(|i| i as u8).collect();
    let lines = (bytes / 64) as u64;
    let line = move |key: u64| ((u128::from(key) * u128::from(lines)) >> 64) as usize * 64;

    let mut sbbf = sbbf_rs_safe::Filter::new(10, size);
    for key in &members {
        let _ = sbbf.insert_hash(*key);
    }
    let fuse = xorf::BinaryFuse8::try_from(&members);
    let mut fast = fastbloom::BloomFilter::with_false_pos(0.01)
        .hasher(foldhash::fast::FixedState::default())
        .expected_items(size);
    for key in &members {
        let _ = fast.insert(key);
    }
    let exact: HashSet<u64, foldhash::fast::FixedState> = members.iter().copied().collect();

    let passed = |contains: &dyn Fn(u64) -> bool| {
        strangers.iter().filter(|key| contains(**key)).count() as f64 / ASKED as f64
    };
    let asked = &strangers;
    let mut tasks = vec![
        task("bare read", None, move |_| asked.iter().map(|key| usize::from(memory[line(*key)])).sum()),
        task("tamis blocked, one at a time", Some(passed(&|k| blocked.contains(k))), |_| {
            asked.iter().filter(|key| blocked.contains(**key)).count()
        }),
        task("tamis blocked, a batch", Some(passed(&|k| blocked.contains(k))), |_| {
            blocked.contains_many(asked).iter().filter(|passed| **passed).count()
        }),
        task("tamis bloom, one at a time", Some(passed(&|k| bloom.contains(k))), |_| {
            asked.iter().filter(|key| bloom.contains(**key)).count()
        }),
        task("tamis bloom, a batch", Some(passed(&|k| bloom.contains(k))), |_| {
            bloom.contains_many(asked).iter().filter(|passed| **passed).count()
        }),
        task("sbbf-rs-safe 0.3.2", Some(passed(&|k| sbbf.contains_hash(k))), |_| {
            asked.iter().filter(|key| sbbf.contains_hash(**key)).count()
        }),
        task("fastbloom 0.17.0, foldhash", Some(passed(&|k| fast.contains(&k))), |_| {
            asked.iter().filter(|key| fast.contains(*key)).count()
        }),
        task("HashSet, foldhash", Some(0.0), |_| asked.iter().filter(|key| exact.contains(*key)).count()),
    ];
    if let Ok(fuse) = &fuse {
        tasks.push(task("xorf BinaryFuse8 0.13.0", Some(passed(&|k| fuse.contains(&k))), move |_| {
            asked.iter().filter(|key| fuse.contains(*key)).count()
        }));
    }
    let mut timed: Vec<Task<'_>> = Vec::new();
    let mut rates = Vec::new();
    for Lookup { name, rate, mut run } in tasks {
        rates.push(rate);
        timed.push(Task::new(name.to_owned(), move || {
            let _ = black_box(run(()));
        }));
    }
    interleave(&mut timed, rounds, 0.02);
    let nanoseconds = |task: &Task<'_>| task.times[task.times.len() / 2] * 1e9 / ASKED as f64;
    let bare = nanoseconds(&timed[0]);
    println!("\n{size} keys, {} KiB of filter", bytes / 1024);
    for (task, rate) in timed.iter().zip(rates) {
        let ns = nanoseconds(task);
        let rate = rate.map_or_else(String::new, |rate| format!("{:>8.2}% pass", 100.0 * rate));
        println!("  {:<30}{ns:>8.2} ns{:>7.2} x{rate}", task.name, ns / bare);
    }
}

/// A way to look keys up.
struct Lookup<'a> {
    name: &'static str,
    /// The share of strangers that it passed, where it is a filter.
    rate: Option<f64>,
    run: Box<dyn FnMut(()) -> usize + 'a>,
}

fn task<'a>(name: &'static str, rate: Option<f64>, run: impl FnMut(()) -> usize + 'a) -> Lookup<'a> {
    Lookup { name, rate, run: Box::new(run) }
}

fn insertions(size: usize, rounds: usize) {
    let members = keys(1, size);
    let n = size as u64;
    let mut tasks = vec![
        Task::new("tamis blocked, a batch".to_owned(), || {
            if let Ok(mut filter) = BlockedBloom::new(n, 0.01) {
                black_box(filter.insert_many(&members));
            }
        }),
        Task::new("tamis bloom, a batch".to_owned(), || {
            if let Ok(mut filter) = Bloom::new(n, 0.01) {
                black_box(filter.insert_many(&members));
            }
        }),
        Task::new("sbbf-rs-safe 0.3.2".to_owned(), || {
            let mut filter = sbbf_rs_safe::Filter::new(10, size);
            for key in &members {
                let _ = black_box(filter.insert_hash(*key));
            }
        }),
        Task::new("fastbloom 0.17.0, foldhash".to_owned(), || {
            let hasher = foldhash::fast::FixedState::default();
            let mut filter = fastbloom::BloomFilter::with_false_pos(0.01).hasher(hasher).expected_items(size);
            for key in &members {
                let _ = black_box(filter.insert(key));
            }
        }),
    ];
    interleave(&mut tasks, rounds, 0.02);
    println!("\n{size} keys");
    for task in &tasks {
        println!("  {:<30}{:>8.2} ns", task.name, task.times[task.times.len() / 2] * 1e9 / size as f64);
    }
}
