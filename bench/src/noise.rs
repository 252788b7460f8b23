//! Coins of a private release: random bits alone, and bits flipped with several probabilities.

use crate::timing::{Task, interleave};
use std::hint::black_box;
use tamis::privacy::Epsilon;
use tamis::privacy::noise::{Coins, Probability, SeededCoins};

/// The array: larger than the first cache and smaller than the second.
const BYTES: usize = 1 << 18;

pub(crate) fn run() {
    let epsilon = |billionths| Epsilon::from_billionths(billionths).unwrap_or_default();
    let cases = [
        ("flip, p = 1/2", Probability::ratio(1, 2)),
        ("flip, p = 1/3", Probability::ratio(1, 3)),
        ("flip, p = 1/(1+e)", Probability::logistic(epsilon(1_000_000_000), 1)),
        ("flip, p = 1/(1+e^0.1)", Probability::logistic(epsilon(1_000_000_000), 10)),
        ("flip, p = 1/(1+e^5)", Probability::logistic(epsilon(5_000_000_000), 1)),
        ("flip, p = 1e-6", Probability::ratio(1, 1_000_000)),
        ("flip, p = 1 - 1e-6", Probability::ratio(999_999, 1_000_000)),
    ];
    let array = || vec![0u8; BYTES];
    let (mut bits, copied) = (array(), array());
    let mut tasks: Vec<Task<'_, ()>> = vec![Task::new("copy", move |()| {
        bits.copy_from_slice(black_box(&copied));
        black_box(&mut bits).len()
    })];
    let (mut random, mut coins) = (array(), SeededCoins::new(0));
    tasks.push(Task::new("random bytes, ChaCha alone", move |()| {
        coins.fill(&mut random);
        black_box(&mut random).len()
    }));
    let (mut noisy, mut drawn, mut more) = (array(), array(), SeededCoins::new(1));
    tasks.push(Task::new("random bytes, and xor", move |()| {
        more.fill(&mut drawn);
        noisy.iter_mut().zip(&drawn).for_each(|(bits, drawn)| *bits ^= drawn);
        black_box(&mut noisy).len()
    }));
    for (name, p) in cases {
        let Some(p) = p else { continue };
        let (mut bits, mut coins) = (array(), SeededCoins::new(2));
        tasks.push(Task::new(name, move |()| {
            coins.flip(&mut bits, 8 * BYTES as u64, &p);
            black_box(&mut bits).len()
        }));
    }
    println!("\n{:<30}{:>12}  (quartiles)", "Gbit/s", "median");
    for line in interleave(tasks, 201, false, |_| (&(), 8 * BYTES)) {
        let (low, high) = line.spread;
        println!(
            "{:<30}{:>12.2}  ({:.2} to {:.2})",
            line.name,
            1.0 / line.median,
            1.0 / high,
            1.0 / low
        );
    }
}
