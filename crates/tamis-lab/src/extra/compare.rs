//! All filters on one set of keys, side by side.

use super::keys::{Keys, members_and_strangers};
use std::time::Instant;
use tamis::privacy::{Epsilon, LinearFilter, LinearPlan, UltraFilter, UltraPlan};
use tamis::stats::clopper_pearson;
use tamis::zone::{self, CodeKind, Plan, Universe};
use tamis::{BlockedBloom, Bloom, CountingBloom, Error, HashFamily};
use tamis_random::SplitMix64;

/// One filter.
pub(crate) struct Row {
    pub(crate) name: &'static str,
    pub(crate) promise: &'static str,
    pub(crate) items: u64,
    pub(crate) bits_per_item: f64,
    pub(crate) fp: f64,
    /// Where the rate of false positives lies with 95%.
    pub(crate) interval: (f64, f64),
    pub(crate) missed: f64,
    pub(crate) privacy: &'static str,
    pub(crate) lists: &'static str,
    pub(crate) removes: &'static str,
    /// Measured on this machine during this run.
    pub(crate) nanoseconds: f64,
}

const SEED: u64 = 2026;
/// The items of the zone filter: its promise is for a few.
const FEW: usize = 20;

/// Every filter on the same keys; what cannot be made is left out.
pub(crate) fn rows(quick: bool) -> Vec<Row> {
    let keys = members_and_strangers(if quick { 10_000 } else { 50_000 }, SEED);
    [rates(&keys), zones(&keys), private(&keys)]
        .into_iter()
        .flat_map(Result::unwrap_or_default)
        .chain([list(&keys)])
        .collect()
}

/// Asks for all keys to count the errors, then for members in a skewed order to take the time.
fn row(
    names: [&'static str; 5],
    bits: u64,
    members: &[String],
    strangers: &[String],
    contains: impl Fn(&str) -> bool,
) -> Row {
    let passed = strangers.iter().filter(|key| contains(key)).count() as u64;
    let found = members.iter().filter(|key| contains(key)).count();
    let [name, promise, privacy, lists, removes] = names;
    Row {
        name,
        promise,
        items: members.len() as u64,
        bits_per_item: bits as f64 / members.len() as f64,
        fp: passed as f64 / strangers.len() as f64,
        interval: clopper_pearson(passed, strangers.len() as u64, 0.05),
        missed: 1.0 - found as f64 / members.len() as f64,
        privacy,
        lists,
        removes,
        nanoseconds: time(members, strangers, contains),
    }
}

/// The median time of seven rounds. Half of the keys are members; the first keys are drawn more
/// often.
fn time(members: &[String], strangers: &[String], contains: impl Fn(&str) -> bool) -> f64 {
    let mut random = SplitMix64::new(SEED);
    let mut skewed = |keys: &[String]| {
        let count = keys.len() as u64;
        (0..3).map(|_| random.below(count)).min().unwrap_or(0) as usize
    };
    let asked: Vec<&str> = (0..20_000)
        .map(|i| {
            if i % 2 == 0 {
                members[skewed(members)].as_str()
            } else {
                strangers[skewed(strangers)].as_str()
            }
        })
        .collect();
    let mut rounds: Vec<f64> = (0..7)
        .map(|_| {
            let start = Instant::now();
            let passed = asked.iter().filter(|key| contains(key)).count();
            std::hint::black_box(passed);
            start.elapsed().as_secs_f64() * 1e9 / asked.len() as f64
        })
        .collect();
    rounds.sort_by(f64::total_cmp);
    rounds[rounds.len() / 2]
}

fn rates(keys: &Keys) -> Result<Vec<Row>, Error> {
    let items = keys.members.len() as u64;
    let (mut bloom, mut blocked, mut counting) = (
        Bloom::new(items, 0.01)?,
        BlockedBloom::new(items, 0.01)?,
        CountingBloom::new(items, 0.01)?,
    );
    bloom.insert_many(&keys.members);
    blocked.insert_many(&keys.members);
    counting.insert_many(&keys.members);
    let none = "none";
    Ok(vec![
        row(
            ["bloom", "rate 1%", none, "no", "no"],
            bloom.plan().bits(),
            &keys.members,
            &keys.strangers,
            |k| bloom.contains(k),
        ),
        row(
            ["blocked", "rate 1%", none, "no", "no"],
            blocked.plan().bits(),
            &keys.members,
            &keys.strangers,
            |k| blocked.contains(k),
        ),
        row(
            ["counting", "rate 1%", none, "no", "yes"],
            counting.plan().bits(),
            &keys.members,
            &keys.strangers,
            |k| counting.contains(k),
        ),
    ])
}

/// A few members, in a universe of all keys.
fn zones(keys: &Keys) -> Result<Vec<Row>, Error> {
    let universe = Universe::dictionary(keys.members.iter().chain(&keys.strangers))?;
    let few = &keys.members[..FEW];
    let others: Vec<String> = keys.members[FEW..].iter().chain(&keys.strangers).cloned().collect();
    let mut rows = Vec::new();
    for (code, name, counted) in [
        (CodeKind::Egh, "zone, egh", "zone, egh, counting"),
        (CodeKind::Coprime, "zone, coprime", ""),
        (CodeKind::Rs, "zone, rs", "zone, rs, counting"),
    ] {
        let plan = Plan::with_code(universe.clone(), FEW as u64, code)?;
        let mut filter = zone::Filter::with_plan(plan.clone())?;
        for key in few {
            filter.insert(key)?;
        }
        let lists = if filter.list().is_ok_and(|list| list.exact) { "yes" } else { "no" };
        let names = [name, "no error, 20 items", "none", lists, "no"];
        rows.push(row(names, plan.bits(), few, &others, |key| {
            filter.contains(key).unwrap_or(true)
        }));
        if !counted.is_empty() {
            let plan = plan.counting();
            let mut filter = zone::CountingFilter::with_plan(plan.clone())?;
            for key in few {
                filter.insert(key)?;
            }
            let lists = if filter.list().is_ok_and(|list| list.exact) { "yes" } else { "no" };
            let names = [counted, "no error, 20 items", "none", lists, "yes"];
            rows.push(row(names, plan.bits(), few, &others, |key| {
                filter.contains(key).unwrap_or(true)
            }));
        }
    }
    Ok(rows)
}

/// Rehearsals: the coins come from a seed, so that every run gives the same numbers.
fn private(keys: &Keys) -> Result<Vec<Row>, Error> {
    let (items, epsilon) = (keys.members.len() as u64, Epsilon::try_from(4.0)?);
    let plan = LinearPlan::new(items, epsilon)?;
    let linear = LinearFilter::rehearse(plan, &keys.members, SEED)?;
    let ultra = UltraPlan::new(items, epsilon)?;
    let mut private = UltraFilter::with_hash(ultra, HashFamily::fast(SEED))?;
    private.insert_many(&keys.members);
    let public = private.rehearse(SEED)?;
    let names = |name| [name, "privacy", "epsilon 4 an item", "no", "no"];
    Ok(vec![
        row(names("linear"), plan.bits(), &keys.members, &keys.strangers, |key| {
            linear.contains(key)
        }),
        row(names("Bloom under noise"), ultra.bits(), &keys.members, &keys.strangers, |key| {
            public.contains(key)
        }),
    ])
}

/// The sorted keys themselves, to compare the filters with.
fn list(keys: &Keys) -> Row {
    let mut sorted = keys.members.clone();
    sorted.sort_unstable();
    let bits = sorted.iter().map(|key| 8 * key.len() as u64 + 32).sum();
    let names = ["sorted list of keys (no filter)", "exact", "none", "yes", "yes"];
    row(names, bits, &keys.members, &keys.strangers, |key| {
        sorted.binary_search_by(|other| other.as_str().cmp(key)).is_ok()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_filter_keeps_its_promise() {
        let keys = members_and_strangers(2000, 1);
        let (rates, zones, private) =
            (rates(&keys).unwrap(), zones(&keys).unwrap(), private(&keys).unwrap());
        assert_eq!((rates.len(), zones.len(), private.len()), (3, 5, 2));
        for row in rates.iter().chain(&zones) {
            assert_eq!(row.missed, 0.0, "{}", row.name);
            assert!(row.fp < 0.025, "{}", row.name);
        }
        assert!(zones.iter().all(|row| row.fp == 0.0));
        assert!(private.iter().all(|row| row.missed > 0.0 && row.missed < 0.3));
        let list = list(&keys);
        assert_eq!((list.fp, list.missed), (0.0, 0.0));
    }
}
