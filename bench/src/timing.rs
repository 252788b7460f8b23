//! Timing side by side. The repeats are interleaved, so that other work of the machine slows all
//! tasks alike, and ratios are taken within one repeat.

use std::hint::black_box;
use std::time::Instant;

/// One thing to be timed, on the part of the keys that a round is given.
pub(crate) struct Task<'a, K: ?Sized> {
    pub(crate) name: &'static str,
    run: Box<dyn FnMut(&K) -> usize + 'a>,
    /// Nanoseconds a key, one a round.
    times: Vec<f64>,
    passed: usize,
    asked: usize,
}

impl<'a, K: ?Sized> Task<'a, K> {
    /// `run` answers how many of the keys passed, or anything that keeps the work from being left
    /// out.
    pub(crate) fn new(name: &'static str, run: impl FnMut(&K) -> usize + 'a) -> Task<'a, K> {
        Task { name, run: Box::new(run), times: Vec::new(), passed: 0, asked: 0 }
    }

    fn time(&mut self, keys: &K, count: usize) {
        let start = Instant::now();
        let passed = black_box((self.run)(black_box(keys)));
        self.times.push(start.elapsed().as_secs_f64() * 1e9 / count as f64);
        self.passed += passed;
        self.asked += count;
    }
}

/// What was measured of one task.
pub(crate) struct Line {
    pub(crate) name: &'static str,
    pub(crate) median: f64,
    /// The quartiles of the times.
    pub(crate) spread: (f64, f64),
    /// The median of the ratios to the first and the second task of the same round.
    pub(crate) ratios: [f64; 2],
    /// The share that passed.
    pub(crate) passed: f64,
}

/// Times all tasks, round by round. `window` gives each turn its keys and their number. Every task
/// has keys of its own in every round: on those of another it would find in the caches what the
/// other has fetched. If `warm`, it is given some first, untimed: the task before it has filled the
/// caches with something else.
pub(crate) fn interleave<'k, K: ?Sized + 'k>(
    mut tasks: Vec<Task<'_, K>>,
    repeats: usize,
    warm: bool,
    window: impl Fn(usize) -> (&'k K, usize),
) -> Vec<Line> {
    let mut windows = (0..).map(window);
    for round in 0..repeats {
        // Everyone is first in turn.
        let first = round % tasks.len();
        let (back, front) = tasks.split_at_mut(first);
        for task in front.iter_mut().chain(back) {
            if let Some((keys, _)) = windows.next().filter(|_| warm) {
                black_box((task.run)(black_box(keys)));
            }
            if let Some((keys, count)) = windows.next() {
                task.time(keys, count);
            }
        }
    }
    let ratio = |task: &Task<'_, K>, base: usize| match tasks.get(base) {
        Some(base) => median(task.times.iter().zip(&base.times).map(|(time, base)| time / base)),
        None => f64::NAN,
    };
    tasks
        .iter()
        .map(|task| Line {
            name: task.name,
            median: median(task.times.iter().copied()),
            spread: (
                quantile(task.times.iter().copied(), 0.25),
                quantile(task.times.iter().copied(), 0.75),
            ),
            ratios: [ratio(task, 0), ratio(task, 1)],
            passed: task.passed as f64 / task.asked as f64,
        })
        .collect()
}

fn median(values: impl Iterator<Item = f64>) -> f64 {
    quantile(values, 0.5)
}

fn quantile(values: impl Iterator<Item = f64>, share: f64) -> f64 {
    let mut sorted: Vec<f64> = values.collect();
    sorted.sort_by(f64::total_cmp);
    sorted[((sorted.len() - 1) as f64 * share).round() as usize]
}
