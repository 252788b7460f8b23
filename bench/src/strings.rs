//! Lookups of texts of 16 to 50 bytes: what the filter adds to the hash and the bare read.

use crate::keys;
use crate::lookup::{ASKED, passed};
use crate::report::Report;
use crate::timing::{Task, interleave};
use std::collections::HashSet;
use std::hash::BuildHasher;
use tamis::{BlockedBloom, Bloom, HashFamily};

type Texts<'a> = Task<'a, [String]>;

pub(crate) fn run(report: &mut Report, full: bool) -> Result<(), Box<dyn std::error::Error>> {
    let sizes: &[usize] =
        if full { &[10_000, 1_000_000, 20_000_000] } else { &[10_000, 1_000_000] };
    for &size in sizes {
        let n = size as u64;
        let (mut blocked, mut bloom) = (BlockedBloom::new(n, 0.01)?, Bloom::new(n, 0.01)?);
        let state = foldhash::fast::FixedState::default();
        let mut fast =
            fastbloom::BloomFilter::with_false_pos(0.01).hasher(state.clone()).expected_items(size);
        let mut parquet = parquet::bloom_filter::Sbbf::new_with_ndv_fpp(n, 0.01)?;
        let mut exact: HashSet<String, foldhash::fast::FixedState> = HashSet::default();
        for text in keys::texts(1, size) {
            blocked.insert(&text);
            bloom.insert(&text);
            let _ = fast.insert(&text);
            parquet.insert(text.as_str());
            if size <= 1_000_000 {
                let _ = exact.insert(text);
            }
        }
        let body = blocked.body();
        let hash = HashFamily::default();
        let asked = keys::texts(2, 1 << 18);
        let read = |word: u64| {
            let lines = (body.len() / 64) as u128;
            usize::from(body[((u128::from(word) * lines) >> 64) as usize * 64])
        };
        let mut tasks: Vec<_> = vec![
            Texts::new("hash and bare read", |keys| {
                let digests = keys.iter().filter_map(|key| hash.digest(key));
                digests.map(|digest| read((u128::from(digest) >> 64) as u64)).sum()
            }),
            Texts::new("foldhash and bare read", |keys| {
                keys.iter().map(|key| read(state.hash_one(key))).sum()
            }),
            Texts::new("tamis blocked, one at a time", |keys| {
                keys.iter().filter(|k| blocked.contains(k)).count()
            }),
            Texts::new("tamis blocked, a batch", |keys| passed(&blocked.contains_many(keys))),
            Texts::new("tamis bloom, one at a time", |keys| {
                keys.iter().filter(|k| bloom.contains(k)).count()
            }),
            Texts::new("tamis bloom, a batch", |keys| passed(&bloom.contains_many(keys))),
            Texts::new("fastbloom 0.17.0, foldhash", |keys| {
                keys.iter().filter(|k| fast.contains(*k)).count()
            }),
            Texts::new("parquet 60.1.0", |keys| {
                keys.iter().filter(|k| parquet.check(k.as_str())).count()
            }),
        ];
        tasks.push(Texts::new("hash alone", |keys| {
            let digests = keys.iter().filter_map(|key| hash.digest(key));
            digests.fold(0, |sum, digest| sum ^ (u128::from(digest) >> 64) as usize)
        }));
        tasks.push(Texts::new("foldhash alone", |keys| {
            keys.iter().fold(0, |sum, key| sum ^ state.hash_one(key) as usize)
        }));
        if !exact.is_empty() {
            let exact = &exact;
            tasks.push(Texts::new("HashSet, foldhash 0.2.0", move |keys| {
                keys.iter().filter(|k| exact.contains(*k)).count()
            }));
        }
        let lines = interleave(tasks, if full { 101 } else { 51 }, true, |round| {
            let start = round * ASKED % asked.len();
            (&asked[start..start + ASKED], ASKED)
        });
        report.table("lookups of unknown texts", size, ["x ours", "x foldhash's"], true, &lines)?;
    }
    Ok(())
}
