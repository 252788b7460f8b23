//! Published filters: how large, how often wrong, how long to build, and lookups beside those of a
//! static filter and of a blocked Bloom filter.

use crate::report::Report;
use crate::timing::{Task, interleave};
use std::error::Error;
use std::time::Instant;
use tamis::privacy::{Epsilon, LinearFilter, LinearPlan, Receipt, UltraFilter, UltraPlan};
use tamis::{BlockedBloom, StaticFilter};

/// The losses: those of 16, 64 and 256 elements, and a round one, which takes a prime.
const LOSSES: [(&str, &str, &str); 4] = [
    ("2.708050202", "linear, q = 16", "bloom, epsilon 2.71"),
    ("4.143134727", "linear, q = 64", "bloom, epsilon 4.14"),
    ("5.541263546", "linear, q = 256", "bloom, epsilon 5.54"),
    ("4", "linear, epsilon 4 (q = 53)", "bloom, epsilon 4"),
];

/// Keys that a round asks for.
const WINDOW: usize = 1 << 14;

pub(crate) fn run(report: &mut Report, full: bool) -> Result<(), Box<dyn Error>> {
    build(report)?;
    for items in if full { &[1_000_000, 10_000_000, 100_000_000][..] } else { &[1_000_000] } {
        measure(report, *items)?;
    }
    Ok(())
}

fn measure(report: &mut Report, items: u64) -> Result<(), Box<dyn Error>> {
    println!(
        "\n{items} items\n  {:<28}{:>14}{:>9}{:>9}{:>10}{:>16}",
        "", "bits an item", "FP", "FN", "build s", "a million, core"
    );
    let strangers: Vec<u64> = (items..items + items.min(1 << 20)).collect();
    let members: Vec<u64> = (0..items.min(1 << 20)).collect();
    let mut linears = Vec::new();
    let mut blooms = Vec::new();
    for (epsilon, linear, bloom) in LOSSES {
        let epsilon: Epsilon = epsilon.parse()?;
        let plan = LinearPlan::new(items, epsilon)?;
        let start = Instant::now();
        let filter = LinearFilter::publish(plan, 0..items, Receipt::unrecorded(epsilon))?;
        let seconds = start.elapsed().as_secs_f64();
        // One shard is solved by one thread.
        let one = LinearPlan::new(ONE_SHARD, epsilon)?;
        let start = Instant::now();
        LinearFilter::publish(one, 0..ONE_SHARD, Receipt::unrecorded(epsilon))?;
        let alone = start.elapsed().as_secs_f64() * 1e6 / ONE_SHARD as f64;
        line(
            linear,
            plan.bits_per_item(),
            &filter.contains_many(&strangers),
            &filter.contains_many(&members),
            seconds,
            Some(alone),
        );
        linears.push((linear, filter));
        if items > 10_000_000 {
            continue; // it is the linear filter that is to scale
        }
        let plan = UltraPlan::new(items, epsilon)?;
        let start = Instant::now();
        let mut private = UltraFilter::new(plan)?;
        private.insert_many(0..items);
        let filter = private.publish(Receipt::unrecorded(epsilon))?;
        let seconds = start.elapsed().as_secs_f64();
        line(
            bloom,
            plan.bits_per_item(),
            &filter.contains_many(&strangers),
            &filter.contains_many(&members),
            seconds,
            None,
        );
        blooms.push((bloom, filter));
    }
    // The rate of 64 elements.
    let still = StaticFilter::build(0..items, 1.0 / 64.0)?;
    let mut blocked = BlockedBloom::new(items, 0.01)?;
    blocked.insert_many(0..items);
    let count = |answers: Vec<bool>| answers.into_iter().filter(|passed| *passed).count();
    let mut batches: Vec<Task<'_, [u64]>> = vec![
        Task::new("static, 1/64", |keys: &[u64]| count(still.contains_many(keys))),
        Task::new("blocked, 1%", |keys: &[u64]| count(blocked.contains_many(keys))),
    ];
    let mut single: Vec<Task<'_, [u64]>> = vec![
        Task::new("static, 1/64", |keys: &[u64]| {
            keys.iter().filter(|key| still.contains(**key)).count()
        }),
        Task::new("blocked, 1%", |keys: &[u64]| {
            keys.iter().filter(|key| blocked.contains(**key)).count()
        }),
    ];
    for (name, filter) in &linears {
        batches.push(Task::new(name, move |keys: &[u64]| count(filter.contains_many(keys))));
        single.push(Task::new(name, move |keys: &[u64]| {
            keys.iter().filter(|key| filter.contains(**key)).count()
        }));
    }
    for (name, filter) in &blooms {
        batches.push(Task::new(name, move |keys: &[u64]| count(filter.contains_many(keys))));
        single.push(Task::new(name, move |keys: &[u64]| {
            keys.iter().filter(|key| filter.contains(**key)).count()
        }));
    }
    let windows = strangers.len() / WINDOW;
    let window = |round: usize| (&strangers[round % windows * WINDOW..][..WINDOW], WINDOW);
    let ratios = ["x static", "x blocked"];
    for (title, tasks) in [
        ("lookups of strangers, in batches", batches),
        ("lookups of strangers, one by one", single),
    ] {
        let lines = interleave(tasks, 101, true, window);
        report.table(title, items as usize, ratios, true, &lines)?;
    }
    Ok(())
}

/// One shard on one thread, in turn: a prime beside the next power of two.
fn build(report: &mut Report) -> Result<(), Box<dyn Error>> {
    let names = [
        ("4.143134727", "linear, q = 64"),
        ("5.541263546", "linear, q = 256"),
        ("4", "linear, q = 53"),
        ("5.521460918", "linear, q = 251"),
        ("6.9157234486", "linear, q = 1009"),
    ];
    let keys: Vec<u64> = (0..ONE_SHARD).collect();
    let mut tasks: Vec<Task<'_, [u64]>> = Vec::new();
    for (epsilon, name) in names {
        let epsilon = epsilon.parse::<f64>()?.try_into()?;
        let plan = LinearPlan::new(ONE_SHARD, epsilon)?;
        if !name.ends_with(&format!("= {}", plan.q())) {
            return Err(format!("{name} has {} elements", plan.q()).into());
        }
        tasks.push(Task::new(name, move |keys: &[u64]| {
            let paid = Receipt::unrecorded(epsilon);
            LinearFilter::publish(plan, keys, paid).map_or(0, |filter| filter.body().len())
        }));
    }
    let lines = interleave(tasks, 7, false, |_| (&keys[..], ONE_SHARD as usize));
    let ratios = ["x q = 64", "x q = 256"];
    report.table("publishing a shard", ONE_SHARD as usize, ratios, false, &lines)?;
    Ok(())
}

/// The items of a shard.
const ONE_SHARD: u64 = 1 << 18;

fn line(
    name: &str,
    bits: f64,
    strangers: &[bool],
    members: &[bool],
    seconds: f64,
    alone: Option<f64>,
) {
    let share = |answers: &[bool], wrong: bool| {
        answers.iter().filter(|passed| **passed == wrong).count() as f64 / answers.len() as f64
    };
    println!(
        "  {name:<28}{bits:>14.3}{:>9.5}{:>9.5}{seconds:>10.3}{:>16}",
        share(strangers, true),
        share(members, false),
        alone.map_or(String::new(), |alone| format!("{alone:.3} s")),
    );
}
