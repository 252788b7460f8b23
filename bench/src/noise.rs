//! Coins of a private release: random bits alone, and bits flipped with several probabilities.

use crate::{Task, interleave};
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
    let (mut bits, mut random, mut coins) = (array(), array(), SeededCoins::new(0));
    let copied = array();
    let mut tasks = vec![Task::new("copy".to_owned(), || {
        bits.copy_from_slice(black_box(&copied));
        black_box(&mut bits);
    })];
    tasks.push(Task::new("random bytes, ChaCha alone".to_owned(), || {
        coins.fill(&mut random);
        black_box(&mut random);
    }));
    let (mut noisy, mut drawn, mut more) = (array(), array(), SeededCoins::new(1));
    tasks.push(Task::new("random bytes, and xor".to_owned(), move || {
        more.fill(&mut drawn);
        noisy.iter_mut().zip(&drawn).for_each(|(bits, drawn)| *bits ^= drawn);
        black_box(&mut noisy);
    }));
    for (name, p) in cases {
        let Some(p) = p else { continue };
        let (mut bits, mut coins) = (array(), SeededCoins::new(2));
        tasks.push(Task::new(name.to_owned(), move || {
            coins.flip(&mut bits, 8 * BYTES as u64, &p);
            black_box(&mut bits);
        }));
    }
    interleave(&mut tasks, 101, 0.002);
    println!("{:<30}{:>12}{:>12}{:>12}", "Gbit/s", "median", "slowest", "fastest");
    for task in &tasks {
        let speed = |seconds: f64| 8.0 * BYTES as f64 / seconds / 1e9;
        let [fastest, median, slowest] =
            [0, task.times.len() / 2, task.times.len() - 1].map(|i| speed(task.times[i]));
        println!("{:<30}{median:>12.2}{slowest:>12.2}{fastest:>12.2}", task.name);
    }
}
