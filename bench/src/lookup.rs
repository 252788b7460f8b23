//! Lookups of 64-bit keys at a rate of 1%, beside the peers and beside the bare memory access.

use crate::keys::{self, Mix};
use crate::report::Report;
use crate::timing::{Task, interleave};
use std::collections::HashSet;
use std::hash::BuildHasher;
use tamis::{BlockedBloom, Bloom, SplitBloom};
use xorf::Filter as _;

type Numbers<'a> = Task<'a, [u64]>;

/// Keys asked in one round.
pub(crate) const ASKED: usize = 1 << 15;
/// Different keys asked in all: some that stay in a cache themselves, or, for filters that do not,
/// so many that the lines of memory which they touch exceed the last cache many times over.
pub(crate) fn pool(size: usize) -> usize {
    if size > 10_000_000 { 1 << 23 } else { 1 << 17 }
}

/// The byte that stands for a key's cache line.
#[inline(always)]
pub(crate) fn line(memory: &[u8], key: u64) -> usize {
    ((u128::from(key) * (memory.len() / 64) as u128) >> 64) as usize * 64
}

#[inline(never)]
pub(crate) fn bare(memory: &[u8], keys: &[u64]) -> usize {
    keys.iter().map(|key| usize::from(memory[line(memory, *key)])).sum()
}

/// How many keys ahead memory is asked for where nothing else is done: past the caches, 16 are a
/// fifth slower, and 256 no faster.
pub(crate) const AHEAD: usize = 64;

/// The bare read, asked for ahead of its need, as a batch may.
#[inline(never)]
pub(crate) fn prefetched(memory: &[u8], keys: &[u64]) -> usize {
    let mut sum = 0;
    for (i, key) in keys.iter().enumerate() {
        if let Some(later) = keys.get(i + AHEAD) {
            fetch(memory, line(memory, *later));
        }
        sum += usize::from(memory[line(memory, *key)]);
    }
    sum
}

#[allow(unsafe_code)]
pub(crate) fn fetch(memory: &[u8], at: usize) {
    #[cfg(target_arch = "x86_64")]
    // SAFETY: a prefetch reads nothing and faults on nothing.
    unsafe {
        std::arch::x86_64::_mm_prefetch::<{ std::arch::x86_64::_MM_HINT_T0 }>(
            memory.as_ptr().wrapping_add(at).cast(),
        );
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = (memory, at);
}

pub(crate) fn run(report: &mut Report, full: bool) -> Result<(), Box<dyn std::error::Error>> {
    let sizes: &[usize] =
        if full { &[10_000, 1_000_000, 50_000_000] } else { &[10_000, 1_000_000] };
    for &size in sizes {
        lookups(report, size, if full { 201 } else { 101 })?;
    }
    Ok(())
}

fn lookups(
    report: &mut Report,
    size: usize,
    repeats: usize,
) -> Result<(), Box<dyn std::error::Error>> {
    let members = keys::random(1, size);
    let n = size as u64;
    let (mut blocked, mut bloom) = (BlockedBloom::new(n, 0.01)?, Bloom::new(n, 0.01)?);
    let mut split = SplitBloom::new(n, 0.01)?;
    blocked.insert_many(&members);
    split.insert_many(&members);
    bloom.insert_many(&members);
    // The bare read touches the same memory as the filter, and, apart from it, memory as any vector
    // gets it.
    let body = blocked.body();
    let vector = body.to_vec();
    let hash = tamis::HashFamily::default();
    let state = foldhash::fast::FixedState::default();
    let (mut sbbf, mut hashed) =
        (sbbf_rs_safe::Filter::new(10, size), sbbf_rs_safe::Filter::new(10, size));
    let mut parquet = parquet::bloom_filter::Sbbf::new_with_ndv_fpp(n, 0.01)?;
    let mut fast = fastbloom::BloomFilter::with_num_bits(bloom.plan().bits() as usize)
        .hasher(foldhash::fast::FixedState::default())
        .expected_items(size);
    for key in &members {
        let _ = sbbf.insert_hash(*key);
        let _ = hashed.insert_hash(state.hash_one(key));
        parquet.insert(key);
        let _ = fast.insert(key);
    }
    let fuse = xorf::BinaryFuse8::try_from(&members)?;
    let exact: HashSet<u64, foldhash::fast::FixedState> = members.iter().copied().collect();

    for mix in Mix::ALL {
        let asked = mix.keys(&members, pool(size));
        let tasks: Vec<_> = vec![
            Numbers::new("bare read", |keys| bare(body, keys)),
            Numbers::new("bare read, prefetched", |keys| prefetched(body, keys)),
            Numbers::new("bare read of a vector", |keys| bare(&vector, keys)),
            Numbers::new("our hash and bare read", |keys| {
                let digests = keys.iter().filter_map(|key| hash.digest(*key));
                digests.map(|digest| usize::from(body[line(body, low_word(digest))])).sum()
            }),
            Numbers::new("tamis blocked, one at a time", |keys| {
                keys.iter().filter(|k| blocked.contains(**k)).count()
            }),
            Numbers::new("tamis blocked, a batch", |keys| passed(&blocked.contains_many(keys))),
            Numbers::new("tamis split, one at a time", |keys| {
                keys.iter().filter(|k| split.contains(**k)).count()
            }),
            Numbers::new("tamis split, a batch", |keys| passed(&split.contains_many(keys))),
            Numbers::new("tamis bloom, one at a time", |keys| {
                keys.iter().filter(|k| bloom.contains(**k)).count()
            }),
            Numbers::new("tamis bloom, a batch", |keys| passed(&bloom.contains_many(keys))),
            Numbers::new("sbbf-rs-safe 0.3.2, without hash", |keys| {
                keys.iter().filter(|k| sbbf.contains_hash(**k)).count()
            }),
            Numbers::new("sbbf-rs-safe 0.3.2, foldhash", |keys| {
                keys.iter().filter(|k| hashed.contains_hash(state.hash_one(k))).count()
            }),
            Numbers::new("parquet 60.1.0", |keys| {
                keys.iter().filter(|k| parquet.check(*k)).count()
            }),
            Numbers::new("fastbloom 0.17.0, foldhash", |keys| {
                keys.iter().filter(|k| fast.contains(*k)).count()
            }),
            Numbers::new("xorf BinaryFuse8 0.13.0", |keys| {
                keys.iter().filter(|k| fuse.contains(k)).count()
            }),
            Numbers::new("HashSet, foldhash 0.2.0", |keys| {
                keys.iter().filter(|k| exact.contains(*k)).count()
            }),
        ];
        let lines = interleave(tasks, repeats, true, |turn| {
            let start = turn * ASKED % asked.len();
            (&asked[start..start + ASKED], ASKED)
        });
        report.table(
            &format!("lookups of {}", mix.name()),
            size,
            ["x bare", "x prefetched"],
            true,
            &lines,
        )?;
    }
    Ok(())
}

/// The half of a digest that chooses the line.
#[inline(always)]
fn low_word(digest: tamis::Digest) -> u64 {
    u128::from(digest) as u64
}

/// How many passed. Counted in bytes, sixteen at a time, so that the counting takes no part in what
/// is measured.
pub(crate) fn passed(answers: &[bool]) -> usize {
    let few = |answers: &[bool]| answers.iter().map(|passed| u8::from(*passed)).sum::<u8>();
    answers.chunks(255).map(|answers| usize::from(few(answers))).sum()
}
