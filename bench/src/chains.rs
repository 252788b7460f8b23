//! Filters that grow and filters that forget, at a rate of 1%: beside one Bloom filter that was
//! planned for the same keys.

use crate::keys::{self, Mix};
use crate::lookup::{ASKED, passed, pool};
use crate::report::Report;
use crate::timing::{Task, interleave};
use std::time::Instant;
use tamis::{Bloom, QuotientFilter, Rolling, Scalable};

type Numbers<'a> = Task<'a, [u64]>;

const FPR: f64 = 0.01;
/// The keys of the first link.
const FIRST: u64 = 1_000;

pub(crate) fn run(report: &mut Report, full: bool) -> Result<(), Box<dyn std::error::Error>> {
    let sizes: &[(usize, usize)] = if full {
        &[(10_000, 51), (1_000_000, 7), (20_000_000, 3)]
    } else {
        &[(10_000, 51), (1_000_000, 5)]
    };
    for &(size, builds) in sizes {
        let members = keys::random(1, size);
        fill(report, &members, builds)?;
        ask(report, &members, if full { 201 } else { 101 })?;
    }
    pauses(if full { 16_000_000 } else { 1_000_000 })
}

fn grown(members: &[u64]) -> Result<Scalable, tamis::Error> {
    let mut chain = Scalable::new(FIRST, FPR)?;
    chain.insert_many(members)?;
    Ok(chain)
}

fn remembered(members: &[u64]) -> Result<Rolling, tamis::Error> {
    let mut chain = Rolling::new(members.len() as u64, FPR)?;
    chain.insert_many(members)?;
    Ok(chain)
}

fn planned(members: &[u64]) -> Result<Bloom, tamis::Error> {
    let mut filter = Bloom::new(members.len() as u64, FPR)?;
    filter.insert_many(members);
    Ok(filter)
}

fn fill(
    report: &mut Report,
    members: &[u64],
    repeats: usize,
) -> Result<(), Box<dyn std::error::Error>> {
    let size = members.len();
    let bits = |bytes: u64| (8 * bytes) as f64 / size as f64;
    let chain = grown(members)?;
    println!("\nsizes, {size} keys at 1%; scalable has grown from {FIRST} keys");
    println!("  {:<34}{:>9.3} bits a key", "tamis bloom", planned(members)?.plan().bits_per_item());
    let links = format!("tamis scalable, {} links", chain.links().len());
    println!("  {links:<34}{:>9.3} bits a key", bits(chain.bytes()));
    let rolling = Rolling::new(size as u64, FPR)?;
    let generations = format!("tamis rolling, {} generations", rolling.plan().generations());
    println!("  {generations:<34}{:>9.3} bits a key", rolling.plan().bits_per_item());
    let one_by_one = |members: &[u64]| -> Result<Scalable, tamis::Error> {
        let mut chain = Scalable::new(FIRST, FPR)?;
        for key in members {
            chain.insert(*key)?;
        }
        Ok(chain)
    };
    let tasks: Vec<_> = vec![
        Numbers::new("tamis bloom, a batch", |keys| {
            planned(keys).map_or(0, |it| it.contains(keys[0]).into())
        }),
        Numbers::new("tamis scalable, one at a time", |keys| {
            one_by_one(keys).map_or(0, |it| it.len() as usize)
        }),
        Numbers::new("tamis scalable, a batch", |keys| {
            grown(keys).map_or(0, |it| it.len() as usize)
        }),
        Numbers::new("tamis rolling, a batch", |keys| {
            remembered(keys).map_or(0, |it| it.len() as usize)
        }),
    ];
    let lines = interleave(tasks, repeats, false, |_| (members, size));
    report.table("chains: insertions", size, ["x bloom", "x one"], false, &lines)?;
    Ok(())
}

fn ask(
    report: &mut Report,
    members: &[u64],
    repeats: usize,
) -> Result<(), Box<dyn std::error::Error>> {
    let (bloom, chain, rolling) = (planned(members)?, grown(members)?, remembered(members)?);
    for mix in Mix::ALL {
        let asked = mix.keys(members, pool(members.len()));
        let tasks: Vec<_> = vec![
            Numbers::new("tamis bloom, a batch", |keys| passed(&bloom.contains_many(keys))),
            Numbers::new("tamis scalable, one at a time", |keys| {
                keys.iter().filter(|k| chain.contains(**k)).count()
            }),
            Numbers::new("tamis scalable, a batch", |keys| passed(&chain.contains_many(keys))),
            Numbers::new("tamis rolling, a batch", |keys| passed(&rolling.contains_many(keys))),
        ];
        let lines = interleave(tasks, repeats, true, |turn| {
            let start = turn * ASKED % asked.len();
            (&asked[start..start + ASKED], ASKED)
        });
        let title = format!("chains: lookups of {}", mix.name());
        report.table(&title, members.len(), ["x bloom", "x one"], true, &lines)?;
    }
    Ok(())
}

/// How long the insertion takes that doubles a link, at most.
fn pauses(most: u64) -> Result<(), Box<dyn std::error::Error>> {
    println!("\npauses: the insertion that doubles a link moves its keys");
    let mut items = most / 16;
    while items <= most {
        let mut link = QuotientFilter::new(items, 1e-4)?;
        link.insert_many(keys::random(2, items as usize))?;
        let start = Instant::now();
        link.grow()?;
        let (took, each) = (start.elapsed(), start.elapsed().as_secs_f64() * 1e9 / items as f64);
        println!("  {items:>12} keys {:>9.1} ms, {each:.1} ns a key", took.as_secs_f64() * 1e3);
        items *= 4;
    }
    Ok(())
}
