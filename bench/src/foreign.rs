//! Lookups of texts of 16 bytes in the layouts of other programs, beside those programs where they
//! are Rust, and beside our own layouts. `bench/foreign` measures Guava, Spark and Go.

use crate::keys;
use crate::lookup::{ASKED, passed};
use crate::report::Report;
use crate::timing::{Task, interleave};
use tamis::{BlockedBloom, Bloom, SplitBloom};
use tamis_foreign::{ForeignFilter, Format, Plan};

type Texts<'a> = Task<'a, [Vec<u8>]>;

/// What is measured. The hash of rbloom is the user's, and that of pybloom_live takes microseconds.
const FORMATS: [(Format, &str, &str); 8] = [
    (Format::Parquet, "our parquet, a batch", "our parquet, one at a time"),
    (Format::Guava, "our guava, a batch", "our guava, one at a time"),
    (Format::Spark, "our spark, a batch", "our spark, one at a time"),
    (Format::Dcso, "our dcso, a batch", "our dcso, one at a time"),
    (Format::BitsAndBlooms, "our bits-and-blooms, a batch", "our bits-and-blooms, one at a time"),
    (Format::RedisBloom, "our redisbloom, a batch", "our redisbloom, one at a time"),
    (Format::ValkeyBloom, "our valkey-bloom, a batch", "our valkey-bloom, one at a time"),
    (Format::Fastbloom, "our fastbloom, a batch", "our fastbloom, one at a time"),
];

/// Texts of 16 hexadecimal digits, the same as those of `bench/foreign` in kind.
fn texts(seed: u64, count: usize) -> Vec<Vec<u8>> {
    let text = |number: u64| format!("{number:016x}").into_bytes();
    keys::random(seed, count).into_iter().map(text).collect()
}

pub(crate) fn run(report: &mut Report, full: bool) -> Result<(), Box<dyn std::error::Error>> {
    let sizes: &[usize] =
        if full { &[10_000, 1_000_000, 20_000_000] } else { &[10_000, 1_000_000] };
    for &size in sizes {
        let n = size as u64;
        let members = texts(1, size);
        let mut blocked = BlockedBloom::new(n, 0.01)?;
        let mut split = SplitBloom::new(n, 0.01)?;
        let mut bloom = Bloom::new(n, 0.01)?;
        let mut parquet = parquet::bloom_filter::Sbbf::new_with_ndv_fpp(n, 0.01)?;
        let mut fast = fastbloom::BloomFilter::with_false_pos(0.01).seed(&42).expected_items(size);
        let mut filters = Vec::new();
        for (format, ..) in FORMATS {
            filters.push(ForeignFilter::with_plan(&Plan::new(format, n, 0.01)?)?);
        }
        for text in &members {
            blocked.insert(text);
            split.insert(text);
            bloom.insert(text);
            parquet.insert(text.as_slice());
            let _ = fast.insert(text.as_slice());
            for filter in &mut filters {
                filter.insert(text)?;
            }
        }
        let asked = texts(2, 1 << 18);
        let mut tasks: Vec<Texts<'_>> = vec![
            Texts::new("tamis blocked, a batch", |keys| passed(&blocked.contains_many(keys))),
            Texts::new("tamis split, a batch", |keys| passed(&split.contains_many(keys))),
            Texts::new("tamis bloom, a batch", |keys| passed(&bloom.contains_many(keys))),
            Texts::new("parquet 60.1.0", |keys| {
                keys.iter().filter(|key| parquet.check(key.as_slice())).count()
            }),
            Texts::new("fastbloom 0.17.0, its own hash", |keys| {
                keys.iter().filter(|key| fast.contains(key.as_slice())).count()
            }),
        ];
        for (filter, (_, batch, alone)) in filters.iter().zip(FORMATS) {
            tasks.push(Texts::new(batch, move |keys| {
                let slices: Vec<&[u8]> = keys.iter().map(Vec::as_slice).collect();
                passed(&filter.contains_many(&slices))
            }));
            tasks.push(Texts::new(alone, move |keys| {
                keys.iter().filter(|key| filter.contains(key)).count()
            }));
        }
        let lines = interleave(tasks, if full { 101 } else { 51 }, true, |round| {
            let start = round * ASKED % asked.len();
            (&asked[start..start + ASKED], ASKED)
        });
        report.table("lookups of unknown texts", size, ["x blocked", "x split"], true, &lines)?;
    }
    Ok(())
}
