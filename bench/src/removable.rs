//! Filters that can forget, at a rate of 1%: ours beside the quotient filter of qfilter and the
//! cuckoo filter of cuckoofilter. The sizes suit qfilter best: 95% of a power of two.

use crate::keys::{self, Mix};
use crate::lookup::{ASKED, passed, pool};
use crate::report::Report;
use crate::timing::{Task, interleave};
use cuckoofilter::{CuckooFilter, ExportedCuckooFilter};
use std::collections::hash_map::DefaultHasher;
use tamis::{CountingBloom, QuotientFilter};

type Numbers<'a> = Task<'a, [u64]>;

const FPR: f64 = 0.01;

pub(crate) fn run(report: &mut Report, full: bool) -> Result<(), Box<dyn std::error::Error>> {
    let sizes: &[(usize, usize)] = if full {
        &[(15_564, 101), (996_147, 15), (15_938_355, 3)]
    } else {
        &[(15_564, 51), (996_147, 7)]
    };
    for &(size, builds) in sizes {
        let members = keys::random(1, size);
        fill_and_empty(report, &members, builds)?;
        ask(report, &members, if full { 201 } else { 101 })?;
    }
    Ok(())
}

fn quotient(members: &[u64]) -> Result<QuotientFilter, tamis::Error> {
    let mut filter = QuotientFilter::new(members.len() as u64, FPR)?;
    filter.insert_many(members)?;
    Ok(filter)
}

fn peer(members: &[u64]) -> Result<qfilter::Filter, qfilter::Error> {
    let mut filter = qfilter::Filter::new(members.len() as u64, FPR)?;
    members.iter().try_for_each(|key| filter.insert_duplicated(key))?;
    Ok(filter)
}

fn cuckoo(members: &[u64]) -> CuckooFilter<DefaultHasher> {
    let mut filter = CuckooFilter::with_capacity(members.len());
    // It refuses keys when it is unlucky.
    members.iter().for_each(|key| drop(filter.add(key)));
    filter
}

fn fill_and_empty(
    report: &mut Report,
    members: &[u64],
    repeats: usize,
) -> Result<(), Box<dyn std::error::Error>> {
    let size = members.len();
    let bits = |bytes: usize| (8 * bytes) as f64 / size as f64;
    let counting = CountingBloom::new(size as u64, FPR)?;
    println!("\nsizes, {size} keys, planned for 1% (the cuckoo filter has one rate, about 3%)");
    for (name, bytes) in [
        ("tamis quotient", quotient(members)?.body().len()),
        ("tamis counting", counting.body().len()),
        ("qfilter 0.3.1", peer(members)?.memory_usage()),
        ("cuckoofilter 0.5.0", cuckoo(members).memory_usage()),
    ] {
        println!("  {name:<34}{:>9.3} bits a key", bits(bytes));
    }
    let one_by_one = |members: &[u64]| -> Result<QuotientFilter, tamis::Error> {
        let mut filter = QuotientFilter::new(members.len() as u64, FPR)?;
        for key in members {
            filter.insert(*key)?;
        }
        Ok(filter)
    };
    let tasks: Vec<_> = vec![
        Numbers::new("qfilter 0.3.1", |keys| peer(keys).map_or(0, |it| it.len() as usize)),
        Numbers::new("cuckoofilter 0.5.0", |keys| cuckoo(keys).len()),
        Numbers::new("tamis quotient, one at a time", |keys| {
            one_by_one(keys).map_or(0, |it| it.len() as usize)
        }),
        Numbers::new("tamis quotient, a batch", |keys| {
            quotient(keys).map_or(0, |it| it.len() as usize)
        }),
    ];
    let lines = interleave(tasks, repeats, false, |_| (members, size));
    report.table("insertions", size, ["x qfilter", "x cuckoo"], false, &lines)?;
    // Each round empties copies of full filters; the copy is a small part of the time.
    let (full_peer, full_cuckoo, full_ours) = (peer(members)?, cuckoo(members), quotient(members)?);
    let ExportedCuckooFilter { values, length } = full_cuckoo.export();
    let tasks: Vec<_> = vec![
        Numbers::new("qfilter 0.3.1", |keys| {
            let mut filter = full_peer.clone();
            keys.iter().filter(|key| filter.remove(key)).count()
        }),
        Numbers::new("cuckoofilter 0.5.0", |keys| {
            let mut filter = CuckooFilter::<DefaultHasher>::from(ExportedCuckooFilter {
                values: values.clone(),
                length,
            });
            keys.iter().filter(|key| filter.delete(key)).count()
        }),
        Numbers::new("tamis quotient", |keys| {
            let mut filter = full_ours.clone();
            keys.iter().filter(|key| filter.remove(**key).is_ok()).count()
        }),
    ];
    let lines = interleave(tasks, repeats, false, |_| (members, size));
    report.table("removals", size, ["x qfilter", "x cuckoo"], false, &lines)?;
    Ok(())
}

fn ask(
    report: &mut Report,
    members: &[u64],
    repeats: usize,
) -> Result<(), Box<dyn std::error::Error>> {
    let (ours, other, cuckoo) = (quotient(members)?, peer(members)?, cuckoo(members));
    for mix in Mix::ALL {
        let asked = mix.keys(members, pool(members.len()));
        let tasks: Vec<_> = vec![
            Numbers::new("qfilter 0.3.1", |keys| keys.iter().filter(|k| other.contains(k)).count()),
            Numbers::new("cuckoofilter 0.5.0", |keys| {
                keys.iter().filter(|k| cuckoo.contains(k)).count()
            }),
            Numbers::new("tamis quotient, one at a time", |keys| {
                keys.iter().filter(|k| ours.contains(**k)).count()
            }),
            Numbers::new("tamis quotient, a batch", |keys| passed(&ours.contains_many(keys))),
        ];
        let lines = interleave(tasks, repeats, true, |turn| {
            let start = turn * ASKED % asked.len();
            (&asked[start..start + ASKED], ASKED)
        });
        let title = format!("removable: lookups of {}", mix.name());
        report.table(&title, members.len(), ["x qfilter", "x cuckoo"], true, &lines)?;
    }
    Ok(())
}
