//! Filters that threads share, at a rate of 1%: ours beside the atomic filter of fastbloom, with
//! one thread and with two, each of which has half of the keys.

use crate::keys;
use crate::report::Report;
use crate::timing::{Task, interleave};
use fastbloom::AtomicBloomFilter;
use tamis::rate::{ConcurrentFilter, ConcurrentLayout};
use tamis::{ConcurrentBlockedBloom, ConcurrentBloom, ConcurrentSplitBloom};

type Numbers<'a> = Task<'a, [u64]>;

const FPR: f64 = 0.01;

pub(crate) fn run(report: &mut Report, full: bool) -> Result<(), Box<dyn std::error::Error>> {
    let sizes: &[(usize, usize)] =
        if full { &[(1_000_000, 31), (20_000_000, 5)] } else { &[(1_000_000, 11)] };
    for &(size, repeats) in sizes {
        let members = keys::random(1, size);
        for (what, insert) in [("insertions", true), ("lookups of members", false)] {
            let bits = ConcurrentBloom::new(size as u64, FPR)?.plan().bits() as usize;
            let peer = AtomicBloomFilter::with_num_bits(bits)
                .hasher(foldhash::fast::FixedState::with_seed(7))
                .expected_items(size);
            let bloom = ConcurrentBloom::new(size as u64, FPR)?;
            let blocked = ConcurrentBlockedBloom::new(size as u64, FPR)?;
            let split = ConcurrentSplitBloom::new(size as u64, FPR)?;
            if !insert {
                members.iter().for_each(|key| _ = peer.insert(key));
                bloom.insert_many(&members);
                blocked.insert_many(&members);
                split.insert_many(&members);
            }
            let theirs = |keys: &[u64], threads| {
                share(keys, threads, |keys| {
                    if insert {
                        keys.iter().filter(|key| !peer.insert(key)).count()
                    } else {
                        keys.iter().filter(|key| peer.contains(key)).count()
                    }
                })
            };
            let tasks: Vec<_> = vec![
                Numbers::new("fastbloom 0.17.0, one thread", |keys| theirs(keys, 1)),
                Numbers::new("fastbloom 0.17.0, two threads", |keys| theirs(keys, 2)),
                Numbers::new("tamis bloom, one thread", |keys| ours(&bloom, keys, 1, insert)),
                Numbers::new("tamis bloom, two threads", |keys| ours(&bloom, keys, 2, insert)),
                Numbers::new("tamis blocked, one thread", |keys| ours(&blocked, keys, 1, insert)),
                Numbers::new("tamis blocked, two threads", |keys| ours(&blocked, keys, 2, insert)),
                Numbers::new("tamis split, one thread", |keys| ours(&split, keys, 1, insert)),
                Numbers::new("tamis split, two threads", |keys| ours(&split, keys, 2, insert)),
            ];
            let lines = interleave(tasks, repeats, false, |_| (&members[..], size));
            let title = format!("shared: {what}");
            report.table(&title, size, ["x one", "x two"], false, &lines)?;
        }
    }
    Ok(())
}

fn ours<L: ConcurrentLayout>(
    filter: &ConcurrentFilter<L>,
    keys: &[u64],
    threads: usize,
    insert: bool,
) -> usize {
    share(keys, threads, |keys| {
        if insert {
            keys.iter().filter(|key| filter.insert(**key)).count()
        } else {
            keys.iter().filter(|key| filter.contains(**key)).count()
        }
    })
}

/// Gives each thread its part of the keys.
fn share(keys: &[u64], threads: usize, work: impl Fn(&[u64]) -> usize + Sync) -> usize {
    if threads == 1 {
        return work(keys);
    }
    let work = &work;
    std::thread::scope(|scope| {
        let running: Vec<_> = keys
            .chunks(keys.len().div_ceil(threads))
            .map(|part| scope.spawn(move || work(part)))
            .collect();
        running.into_iter().map(|thread| thread.join().unwrap_or(0)).sum()
    })
}
