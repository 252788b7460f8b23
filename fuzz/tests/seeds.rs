//! Every fuzz target's check over its seeds, and over seeded mutations of them.

use std::fs;
use std::path::{Path, PathBuf};
use tamis_random::SplitMix64;

/// The seeds of a target: the files of its folder, and of `more` folders.
fn seeds(target: &str, more: &[&str]) -> Vec<Vec<u8>> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let folders = [root.join("corpus").join(target)]
        .into_iter()
        .chain(more.iter().map(|folder| root.join("../crates").join(folder)));
    let mut files: Vec<PathBuf> = folders
        .flat_map(|folder| fs::read_dir(folder).expect("a folder of seeds"))
        .map(|entry| entry.expect("an entry").path())
        .filter(|path| path.is_file())
        .collect();
    files.sort();
    files.iter().map(|path| fs::read(path).expect("a seed")).collect()
}

/// A seed with a few bytes changed, removed, repeated or taken from another seed, at most `longest`
/// bytes long; now and then bytes that have nothing to do with any seed.
fn mutated(seeds: &[Vec<u8>], longest: usize, random: &mut SplitMix64) -> Vec<u8> {
    let mut below = |end: usize| random.below(end.max(1) as u64) as usize;
    if below(8) == 0 {
        let length = below(longest);
        return (0..length).map(|_| below(256) as u8).collect();
    }
    let mut bytes = seeds[below(seeds.len())].clone();
    for _ in 0..=below(6) {
        let (from, to) = (below(bytes.len() + 1), below(bytes.len() + 1));
        let range = from.min(to)..from.max(to);
        match below(6) {
            0 => bytes.truncate(range.end),
            1 => drop(bytes.drain(range)),
            2 => bytes.extend_from_within(range),
            3 => {
                let other = &seeds[below(seeds.len())];
                bytes.splice(range, other[below(other.len() + 1)..].iter().copied());
            }
            4 => bytes.insert(range.start, below(256) as u8),
            _ => {
                if let Some(byte) = bytes.get_mut(range.start) {
                    *byte = if below(2) == 0 { *byte ^ 1 << below(8) } else { below(256) as u8 };
                }
            }
        }
    }
    bytes.truncate(longest);
    bytes
}

/// Runs `check` over the seeds and over so many mutations. A failure prints the input.
fn run(check: fn(&[u8]), seeds: &[Vec<u8>], mutations: usize, longest: usize) {
    assert!(!seeds.is_empty(), "no seeds");
    let tell = |bytes: &[u8]| {
        let failed = std::panic::catch_unwind(|| check(bytes)).is_err();
        assert!(!failed, "fails for {bytes:02x?}");
    };
    seeds.iter().for_each(|seed| tell(seed));
    let mut random = SplitMix64::new(20);
    (0..mutations).for_each(|_| tell(&mutated(seeds, longest, &mut random)));
}

#[test]
fn decode() {
    run(
        tamis_fuzz::decode::check,
        &seeds("decode", &["tamis/tests/golden", "tamis/tests/regressions"]),
        3_000,
        40_000,
    );
}

#[test]
fn foreign() {
    let seeds = seeds("foreign", &["tamis-foreign/tests/fixtures"]);
    run(tamis_fuzz::foreign::check, &seeds, 60_000, 6_000);
}

#[test]
fn input() {
    run(tamis_fuzz::input::check, &seeds("input", &[]), 3_000, 600);
}

#[test]
fn kernels() {
    run(tamis_fuzz::kernels::check, &seeds("kernels", &[]), 3_000, 4_000);
}

#[test]
fn ledger() {
    run(tamis_fuzz::ledger::check, &seeds("ledger", &[]), 2_000, 2_000);
}

#[test]
fn list() {
    run(tamis_fuzz::list::check, &seeds("list", &[]), 150, 400);
}

#[test]
fn merge() {
    run(
        tamis_fuzz::merge::check,
        &seeds("merge", &["tamis/tests/golden", "tamis/tests/regressions"]),
        3_000,
        40_000,
    );
}

#[test]
fn quotient() {
    run(tamis_fuzz::quotient::check, &seeds("quotient", &[]), 2_000, 1_000);
}

#[test]
fn round_trip() {
    run(tamis_fuzz::round_trip::check, &seeds("round_trip", &[]), 2_000, 400);
}

#[test]
fn static_filter() {
    run(tamis_fuzz::static_filter::check, &seeds("static_filter", &[]), 300, 600);
}
