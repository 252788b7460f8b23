//! Static filters at a rate of 1%: building and asking them, beside the binary fuse filters of xorf
//! and the bare memory access.

use crate::keys::{self, Mix};
use crate::lookup::{ASKED, bare, passed, pool, prefetched};
use crate::report::Report;
use crate::timing::{Task, interleave};
use tamis::rate::StaticBuilder;
use tamis::{BlockedBloom, Bloom, StaticFilter};
use xorf::Filter as _;

type Numbers<'a> = Task<'a, [u64]>;

const FPR: f64 = 0.01;

pub(crate) fn run(report: &mut Report, full: bool) -> Result<(), Box<dyn std::error::Error>> {
    let sizes: &[(usize, usize)] = if full {
        &[(10_000, 101), (1_000_000, 15), (20_000_000, 3)]
    } else {
        &[(10_000, 51), (1_000_000, 7)]
    };
    for &(size, builds) in sizes {
        let members = keys::random(1, size);
        build(report, &members, builds)?;
        ask(report, &members, if full { 201 } else { 101 })?;
    }
    Ok(())
}

/// A filter of these keys, built with so many threads.
fn build_static(members: &[u64], threads: usize) -> Result<StaticFilter, tamis::Error> {
    let mut builder = StaticBuilder::new(FPR)?.threads(threads);
    builder.extend(members)?;
    builder.build()
}

fn build(
    report: &mut Report,
    members: &[u64],
    repeats: usize,
) -> Result<(), Box<dyn std::error::Error>> {
    let size = members.len();
    let bits = |bytes: usize| (8 * bytes) as f64 / size as f64;
    let mut sizes = Vec::new();
    let ours = build_static(members, 1)?;
    let least = -FPR.log2();
    sizes.push(("tamis static", bits(ours.body().len()), ours.expected_fpr()));
    let bloom = Bloom::new(size as u64, FPR)?;
    sizes.push(("tamis bloom", bits(bloom.body().len()), FPR));
    let blocked = BlockedBloom::new(size as u64, FPR)?;
    sizes.push(("tamis blocked", bits(blocked.body().len()), FPR));
    let fuse = xorf::BinaryFuse8::try_from(members)?;
    sizes.push(("xorf BinaryFuse8 0.13.0", bits(fuse.fingerprints.len()), 1.0 / 256.0));
    let fuse = xorf::BinaryFuse16::try_from(members)?;
    sizes.push(("xorf BinaryFuse16 0.13.0", bits(2 * fuse.fingerprints.len()), 1.0 / 65_536.0));
    println!("\nsizes, {size} keys");
    for (name, bits, fpr) in sizes {
        let own = -fpr.log2();
        println!(
            "  {name:<34}{bits:>9.3} bits a key at {:.4}%: {:.4} of the least, {own:.2}",
            100.0 * fpr,
            bits / own
        );
    }
    println!("  {:<34}{least:>9.3} bits a key at 1%", "the least there can be");
    let done = |built: Result<StaticFilter, tamis::Error>| built.map_or(0, |it| it.body().len());
    let tasks: Vec<_> = vec![
        Numbers::new("xorf BinaryFuse8 0.13.0", |keys| {
            xorf::BinaryFuse8::try_from(keys).map_or(0, |fuse| fuse.fingerprints.len())
        }),
        Numbers::new("xorf BinaryFuse16 0.13.0", |keys| {
            xorf::BinaryFuse16::try_from(keys).map_or(0, |fuse| fuse.fingerprints.len())
        }),
        Numbers::new("tamis static, one thread", |keys| done(build_static(keys, 1))),
        Numbers::new("tamis static, two threads", |keys| done(build_static(keys, 2))),
    ];
    let lines = interleave(tasks, repeats, false, |_| (members, size));
    report.table("building", size, ["x Fuse8", "x Fuse16"], false, &lines)?;
    Ok(())
}

fn ask(
    report: &mut Report,
    members: &[u64],
    repeats: usize,
) -> Result<(), Box<dyn std::error::Error>> {
    let ours = build_static(members, 2)?;
    let mut blocked = BlockedBloom::new(members.len() as u64, FPR)?;
    blocked.insert_many(members);
    let eight = xorf::BinaryFuse8::try_from(members)?;
    let sixteen = xorf::BinaryFuse16::try_from(members)?;
    let body = ours.body();
    for mix in Mix::ALL {
        let asked = mix.keys(members, pool(members.len()));
        let tasks: Vec<_> = vec![
            Numbers::new("bare read", |keys| bare(body, keys)),
            Numbers::new("xorf BinaryFuse8 0.13.0", |keys| {
                keys.iter().filter(|k| eight.contains(k)).count()
            }),
            Numbers::new("bare read, prefetched", |keys| prefetched(body, keys)),
            Numbers::new("xorf BinaryFuse16 0.13.0", |keys| {
                keys.iter().filter(|k| sixteen.contains(k)).count()
            }),
            Numbers::new("tamis static, one at a time", |keys| {
                keys.iter().filter(|k| ours.contains(**k)).count()
            }),
            Numbers::new("tamis static, a batch", |keys| passed(&ours.contains_many(keys))),
            Numbers::new("tamis blocked, one at a time", |keys| {
                keys.iter().filter(|k| blocked.contains(**k)).count()
            }),
        ];
        let lines = interleave(tasks, repeats, true, |turn| {
            let start = turn * ASKED % asked.len();
            (&asked[start..start + ASKED], ASKED)
        });
        let title = format!("static lookups of {}", mix.name());
        report.table(&title, members.len(), ["x bare", "x Fuse8"], true, &lines)?;
    }
    Ok(())
}
