//! Listing a zone filter: by joining, by algebra, and by the EGH paper's Sturm sequences, on the
//! same sets.

use std::hint::black_box;
use std::time::Instant;
use tamis::zone::{CodeKind, CountingFilter, Filter, Method, Plan, Universe};

/// The sets: universe, items, and which methods are worth waiting for.
const CASES: [(u64, u64, &[Method]); 8] = [
    (1_000_000, 1, &[Method::Join, Method::Algebra, Method::Sturm]),
    (1_000_000, 2, &[Method::Join, Method::Algebra, Method::Sturm]),
    (1_000_000, 5, &[Method::Join, Method::Algebra, Method::Sturm]),
    (1_000_000, 10, &[Method::Join, Method::Algebra, Method::Sturm]),
    (1 << 32, 4, &[Method::Join, Method::Algebra, Method::Sturm]),
    (1 << 32, 10, &[Method::Join, Method::Algebra, Method::Sturm]),
    (1 << 32, 20, &[Method::Algebra, Method::Sturm]),
    (1 << 32, 100, &[Method::Algebra]),
];

pub(crate) fn run() {
    println!(
        "{:<12}{:>6}  {:<9}{:<9}{:<10}{:>12}{:>12}{:>12}",
        "universe", "items", "code", "cells", "method", "median", "fastest", "slowest"
    );
    for (size, items, methods) in CASES {
        for code in CodeKind::ALL {
            measure(size, items, code, methods);
        }
    }
}

fn measure(size: u64, items: u64, code: CodeKind, methods: &[Method]) {
    let plan =
        Universe::sized(size.into()).and_then(|universe| Plan::with_code(universe, items, code));
    let Ok(plan) = plan else { return };
    let (Ok(mut bits), Ok(mut counters)) =
        (Filter::with_plan(plan.clone()), CountingFilter::with_plan(plan))
    else {
        return;
    };
    // Spread over the universe, and the same for every code.
    let mut state = 1u64;
    for _ in 0..items {
        state =
            state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        let number = (u128::from(state) * u128::from(size)) >> 64;
        let _ = bits.insert_number(number, false);
        let _ = counters.insert_number(number, false);
    }
    let mut tasks: Vec<Task<'_>> = Vec::new();
    for method in methods {
        let (bits, counters) = (&bits, &counters);
        if *method == Method::Join && bits.list().is_ok_and(|list| list.exact) {
            tasks.push(Task::new(format!("{:<9}{:<10}", "bits", "join"), move || {
                drop(black_box(bits.list_by(Method::Join)));
            }));
        } else if counters.list_by(*method).is_ok() {
            let name = format!("{:<9}{:<10}", "counters", format!("{method:?}").to_lowercase());
            let method = *method;
            tasks.push(Task::new(name, move || drop(black_box(counters.list_by(method)))));
        }
    }
    time_in_turn(&mut tasks, 7, 0.02);
    for task in &tasks {
        let (fastest, slowest) = (task.times[0], task.times[task.times.len() - 1]);
        println!(
            "{size:<12}{items:>6}  {code:<9}{}{:>12}{:>12}{:>12}",
            task.name,
            shown(task.times[task.times.len() / 2]),
            shown(fastest),
            shown(slowest)
        );
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
fn time_in_turn(tasks: &mut [Task<'_>], repeats: usize, least: f64) {
    for _ in 0..repeats {
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
