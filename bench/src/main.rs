//! Measurements of tamis, side by side in one run: `cargo run --release -p tamis-bench -- lookup` (or `lookup --full`, `list`,
//! `noise`).
//!
//! Rounds are interleaved, so that whatever else the machine does falls on all alike; the median of the rounds is printed, with
//! the fastest and the slowest.

mod list;
mod lookup;
mod noise;

use std::time::Instant;

fn main() {
    let words: Vec<String> = std::env::args().skip(1).collect();
    match words.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        ["list"] => list::run(),
        ["lookup"] => lookup::run(false),
        ["lookup", "--full"] => lookup::run(true),
        ["noise"] => noise::run(),
        _ => {
            eprintln!("usage: cargo run --release -p tamis-bench -- list | lookup [--full] | noise");
            std::process::exit(2);
        }
    }
}

/// One thing to be timed.
struct Task<'a> {
    name: String,
    run: Box<dyn FnMut() + 'a>,
    /// Seconds a call, one a round.
    times: Vec<f64>,
}

impl<'a> Task<'a> {
    fn new(name: String, run: impl FnMut() + 'a) -> Task<'a> {
        Task { name, run: Box::new(run), times: Vec::new() }
    }
}

/// Times all tasks, round by round, each for at least `least` seconds a round.
fn interleave(tasks: &mut [Task<'_>], rounds: usize, least: f64) {
    for _ in 0..rounds {
        for task in tasks.iter_mut() {
            let start = Instant::now();
            let mut calls = 0u32;
            while calls == 0 || start.elapsed().as_secs_f64() < least {
                (task.run)();
                calls += 1;
            }
            task.times.push(start.elapsed().as_secs_f64() / f64::from(calls));
        }
    }
    for task in tasks.iter_mut() {
        task.times.sort_by(f64::total_cmp);
    }
}

/// Seconds in the unit that suits them.
fn shown(seconds: f64) -> String {
    match seconds {
        s if s < 1e-3 => format!("{:.2} us", s * 1e6),
        s if s < 1.0 => format!("{:.2} ms", s * 1e3),
        s => format!("{s:.2} s"),
    }
}
