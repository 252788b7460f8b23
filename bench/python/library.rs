//! What the library itself takes for the questions that `bench.py` asks through Python: reads a
//! file of keys, one a line, and prints the nanoseconds a key of insertions and lookups.
//!
//! `cargo run --release -p tamis-python --example library_alone -- KIND FILE ROUNDS`

use std::error::Error;
use std::time::Instant;
use tamis::{Bloom, Key};

/// How many keys are timed together: about a millisecond, so that on a busy machine most of these
/// parts are not interrupted.
const PART: usize = 1 << 15;

/// The best round of each part, as other programs only add to it.
fn measure<K: Key>(keys: &[K], rounds: usize) -> Result<(f64, f64), Box<dyn Error>> {
    let parts = keys.len().div_ceil(PART);
    let (mut insertion, mut lookup) = (vec![f64::INFINITY; parts], vec![f64::INFINITY; parts]);
    for _ in 0..rounds {
        let mut filter = Bloom::new(keys.len() as u64, 0.01)?;
        for (best, part) in insertion.iter_mut().zip(keys.chunks(PART)) {
            let start = Instant::now();
            filter.insert_many(part);
            *best = best.min(start.elapsed().as_secs_f64());
        }
        for (best, part) in lookup.iter_mut().zip(keys.chunks(PART)) {
            let start = Instant::now();
            let answers = filter.contains_many(part);
            *best = best.min(start.elapsed().as_secs_f64());
            if !answers.iter().all(|answer| *answer) {
                return Err("a member did not pass".into());
            }
        }
    }
    let each = 1e9 / keys.len() as f64;
    Ok((insertion.iter().sum::<f64>() * each, lookup.iter().sum::<f64>() * each))
}

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [kind, file, rounds] = &arguments[..] else {
        return Err("usage: library_alone text|integer FILE ROUNDS".into());
    };
    let (text, rounds) = (std::fs::read_to_string(file)?, rounds.parse()?);
    let (insertion, lookup) = if kind == "integer" {
        let keys: Vec<u64> = text.lines().map(str::parse).collect::<Result<_, _>>()?;
        measure(&keys, rounds)?
    } else {
        let keys: Vec<&str> = text.lines().collect();
        measure(&keys, rounds)?
    };
    println!("{insertion:.2} {lookup:.2}");
    Ok(())
}
