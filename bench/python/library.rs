//! What the library itself takes for the questions that `bench.py` asks through Python: reads a
//! file of keys, one a line, and prints the nanoseconds a key of insertions and lookups.
//!
//! `cargo run --release -p tamis-python --example library -- KIND FILE ROUNDS`

use std::error::Error;
use std::time::Instant;
use tamis::{Bloom, Key};

/// The best round, as a machine that does other things too only adds to it.
fn measure<K: Key>(keys: &[K], rounds: usize) -> Result<(f64, f64), Box<dyn Error>> {
    let (mut insertion, mut lookup) = (f64::INFINITY, f64::INFINITY);
    for _ in 0..rounds {
        let mut filter = Bloom::new(keys.len() as u64, 0.01)?;
        let start = Instant::now();
        filter.insert_many(keys.iter());
        insertion = insertion.min(start.elapsed().as_secs_f64());
        let start = Instant::now();
        let answers = filter.contains_many(keys);
        lookup = lookup.min(start.elapsed().as_secs_f64());
        if !answers.iter().all(|answer| *answer) {
            return Err("a member did not pass".into());
        }
    }
    let each = 1e9 / keys.len() as f64;
    Ok((insertion * each, lookup * each))
}

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [kind, file, rounds] = &arguments[..] else {
        return Err("usage: library text|integer FILE ROUNDS".into());
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
