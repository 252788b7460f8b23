//! The data behind Figures 1, 2 and 4.

use super::{claim_2, double, plan, primes_within, root};
use crate::Notebook;
use std::time::Instant;
use tamis::zone::{CodeKind, CountingFilter, Filter, Method, largest_universe};
use tamis_random::SplitMix64;

/// Figures 1 and 2: how universe, items and bits depend on each other.
pub(super) fn sizes(book: &mut Notebook, quick: bool) {
    for bits in [100, 197, 281, 440, 501, 639, 1060] {
        let moduli = primes_within(bits);
        let points = (1..=20).map(|items| (items, double(&root(&moduli, items))));
        let points = points.take_while(|(items, size)| *size >= f64::from(*items));
        book.series(
            format!("Fig. 1, m = {bits}"),
            "items d",
            "universe n_d",
            points.map(|(items, size)| (f64::from(items), size)),
        );
    }
    let bits = 440;
    for code in CodeKind::ALL {
        let universe =
            |items: u64| Some((items as f64, largest_universe(code, bits, items)?.to_f64()));
        let points: Vec<(f64, f64)> = (3..=12).filter_map(universe).collect();
        book.series(
            format!("Fig. 1 by code, m = {bits}, {code}"),
            "items d",
            "universe n_d",
            points,
        );
    }
    // Claim 2 solved for the universe: a larger one would take more than m bits.
    let limit = |d: f64| (d, (4.0 * bits as f64 * d.log2() / (d * d)).exp2());
    let name = format!("Fig. 1 by code, m = {bits}, limit of Claim 2");
    book.series(name, "items d", "universe n_d", (5..=12).map(|d| limit(f64::from(d))));
    let sizes: &[u64] = if quick {
        &[10, 100, 1_000, 10_000, 100_000]
    } else {
        &[10, 20, 50, 100, 200, 500, 1_000, 2_000, 5_000, 10_000, 20_000, 50_000, 100_000]
    };
    for items in [1, 5, 20, 50] {
        for code in CodeKind::ALL {
            let bits = |size: &u64| Some((*size as f64, plan(*size, items, code)?.bits() as f64));
            let owner = if code == CodeKind::Egh { "" } else { ", not in the paper" };
            let name = format!("Fig. 2, d = {items}, {code}{owner}");
            book.series(name, "universe n", "bits m", sizes.iter().filter_map(bits));
        }
        let bound = |size: &u64| (*size as f64, claim_2(*size, items));
        // For one item Claim 2 divides by log 1 = 0 and says nothing.
        if items > 1 {
            let name = format!("Fig. 2, d = {items}, lower bound of Claim 2");
            book.series(name, "universe n", "bits m", sizes.iter().map(bound));
        }
    }
}

/// What listing ten of a million took, in microseconds, for the slips.
pub(super) struct Times {
    /// From bits, by joining.
    pub(super) join: f64,
    /// From counters, by Sturm sequences.
    pub(super) sturm: f64,
}

/// Figure 4 on this machine: the time to list d of a million. The published times are another
/// machine's.
pub(super) fn listing_times(book: &mut Notebook, quick: bool) -> Times {
    let runs = if quick { 15 } else { 200 };
    let ways = [
        ("join, from bits", CodeKind::Egh, None),
        ("algebra, from counters", CodeKind::Egh, Some(Method::Algebra)),
        ("sturm, from counters (the paper's way)", CodeKind::Egh, Some(Method::Sturm)),
        ("join, from bits of the code rs", CodeKind::Rs, None),
    ];
    let (mut right, mut last) = (0, Vec::new());
    for (name, code, method) in ways {
        let mut points = Vec::new();
        for items in 1..=10 {
            let mut random = SplitMix64::new(items);
            let mut times: Vec<f64> = Vec::new();
            for _ in 0..runs {
                if let Ok((time, exact)) = listed(code, items, method, &mut random) {
                    times.push(time);
                    right += u64::from(exact);
                }
            }
            times.sort_by(f64::total_cmp);
            points.push((items as f64, times.get(times.len() / 2).copied().unwrap_or(f64::MAX)));
        }
        last.push(points.last().map_or(f64::MAX, |point| point.1));
        let name = format!("Fig. 4, n = 10^6, {name}, median of {runs} on this machine");
        book.series(name, "items d", "microseconds", points);
    }
    book.exact_formula(
        "Section VI and Fig. 4, lists that are exactly what was put in, n = 10^6, d = 1 to 10",
        ways.len() as u64 * 10 * runs,
        right,
        "random sets, by join, algebra and sturm; the times are data, since the published ones are \
         another machine's",
    );
    Times { join: last[0], sturm: last[2] }
}

/// The microseconds that listing a random set took, and whether the list is that set. Without a
/// method, it lists from bits.
fn listed(
    code: CodeKind,
    items: u64,
    method: Option<Method>,
    random: &mut SplitMix64,
) -> Result<(f64, bool), tamis::Error> {
    const SIZE: u64 = 1_000_000;
    let Some(plan) = plan(SIZE, items, code) else {
        return Err(tamis::Error::Items { got: items });
    };
    let mut set: Vec<u128> = Vec::new();
    while (set.len() as u64) < items {
        let number = u128::from(random.below(SIZE));
        if !set.contains(&number) {
            set.push(number);
        }
    }
    let (mut bits, mut counters) =
        (Filter::with_plan(plan.clone())?, CountingFilter::with_plan(plan)?);
    for number in &set {
        bits.insert_number(*number, false)?;
        counters.insert_number(*number, false)?;
    }
    let start = Instant::now();
    let list = match method {
        None => bits.list_by(Method::Join)?,
        Some(method) => counters.list_by(method)?,
    };
    let time = start.elapsed().as_secs_f64() * 1e6;
    set.sort_unstable();
    Ok((time, list.exact && list.numbers == set))
}
