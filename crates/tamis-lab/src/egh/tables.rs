//! Tables II and III, and the numbers of Section VII's text.

use super::{double, is_free, others, plan, primes, product, real_root, root};
use crate::{Notebook, Place, Tolerance};
use num_bigint::BigUint;
use tamis::zone::{CodeKind, largest_universe};

/// Table II: the rows that can be read, with the published universe and the exact one.
const TABLE_2: &str = include_str!("../../data/egh_table2.csv");

/// The rows, by m and d, whose number is not the exact one rounded to the digits printed.
const WRONG: [(u64, u32); 5] = [(238, 5), (328, 7), (440, 8), (501, 8), (568, 9)];

/// One line of the file.
struct Row {
    blocks: usize,
    largest: u64,
    bits: u64,
    items: u32,
    published: &'static str,
}

fn rows() -> Vec<Row> {
    let row = |line: &'static str| {
        let mut fields = line.split(',');
        Some(Row {
            blocks: fields.next()?.parse().ok()?,
            largest: fields.next()?.parse().ok()?,
            bits: fields.next()?.parse().ok()?,
            items: fields.next()?.parse().ok()?,
            published: fields.next()?,
        })
    };
    TABLE_2.lines().skip(1).filter_map(row).collect()
}

impl Row {
    fn value(&self) -> f64 {
        self.published.parse().unwrap_or(f64::NAN)
    }

    /// Half a unit of the last digit. Whole numbers are printed with three digits and zeros after
    /// them.
    fn tolerance(&self) -> f64 {
        let unit = match self.published.split_once('e') {
            Some((digits, power)) => {
                let decimals =
                    digits.split_once('.').map_or(0, |(_, decimals)| decimals.len() as i32);
                power.parse::<i32>().unwrap_or(0) - decimals
            }
            None => (self.published.len() as i32 - 3).max(0),
        };
        0.5 * 10f64.powi(unit)
    }
}

pub(super) fn table_2(book: &mut Notebook, quick: bool) {
    let rows = rows();
    let fitting = |row: &&Row| {
        let moduli = primes(row.blocks);
        moduli.iter().sum::<u64>() == row.bits && moduli.last() == Some(&row.largest)
    };
    book.exact(
        "Table II, rows whose m is the sum of the first k primes, the last of them p_k",
        rows.len(),
        rows.iter().filter(fitting).count(),
        "the rows that can be read",
    );
    for row in &rows {
        universe(book, row, quick);
    }
}

fn universe(book: &mut Notebook, row: &Row, quick: bool) {
    let moduli = primes(row.blocks);
    let exact = root(&moduli, row.items);
    let value = double(&exact);
    let mut notes = Vec::new();
    match largest_universe(CodeKind::Egh, row.bits, row.items.into()) {
        Some(found) if BigUint::from(found.last()) + 1u32 == exact => {}
        Some(found) if found.get().is_none() => {
            notes.push("larger than tamis's universes, 2^128".to_owned());
        }
        found => notes.push(format!("largest_universe differs: {found:?}")),
    }
    let holds = (row.value() - value).abs() <= row.tolerance();
    if !holds {
        notes.push(format!("the root is {:.3}", real_root(&moduli, row.items)));
    }
    if row.value() > value {
        notes.push(rounded_up(&moduli, row));
    }
    if let Ok(size) = u64::try_from(&exact) {
        // The planner enumerates sets of moduli for filters of this size, which takes a tenth of a
        // second each.
        let slow = (100..400).contains(&row.bits);
        notes.push(others(size, row.items.into(), !(quick && slow)));
    }
    book.cell(
        Place::new("Table II", format!("m = {}", row.bits), format!("n_{}", row.items)),
        row.published.to_owned(),
        exact.to_string(),
        Tolerance {
            within: row.tolerance(),
            why: "half a unit of the last digit printed".to_owned(),
        },
        holds,
        &notes.join("; "),
    );
    if WRONG.contains(&(row.bits, row.items)) {
        book.known_to_differ();
    }
}

/// Whether the published universe, larger than Lemma 1 allows, is free of false positives all the
/// same.
fn rounded_up(moduli: &[u64], row: &Row) -> String {
    let truth = match is_free(moduli, row.value() as u128, row.items) {
        Some(true) => "but an exact search shows that it is free of false positives all the same",
        Some(false) => "and it has false positives",
        None => "and no search decided whether it has false positives",
    };
    format!("the published universe is larger than Lemma 1 allows, {truth}")
}

/// The rows of Table II that are larger than Lemma 1 allows; how many of them have false positives;
/// and all rows.
pub(super) fn too_large() -> (usize, usize, usize) {
    let rows = rows();
    let moduli = |row: &Row| primes(row.blocks);
    let above: Vec<&Row> = rows
        .iter()
        .filter(|row| BigUint::from(row.value() as u128).pow(row.items) > product(&moduli(row)))
        .collect();
    let deceived = above
        .iter()
        .filter(|row| is_free(&moduli(row), row.value() as u128, row.items) == Some(false));
    (above.len(), deceived.count(), rows.len())
}

/// Numbers in the words of Section VII and the captions of its figures.
pub(super) fn text(book: &mut Notebook) {
    let place = |what: &str| format!("Section VII, {what}");
    let exact = |bits: u64, items: u64| super::universe(bits, items);
    let promise =
        "an exact bound, since the text promises that universe; Lemma 1 allows no more than ours";
    book.exact(&place("the universe of m = 440, d = 5"), 18100, exact(440, 5), promise);
    book.known_to_differ();
    book.exact(
        &place("probes of m = 440"),
        17,
        super::primes_within(440).len(),
        "the first 17 primes",
    );
    book.exact(
        &place("sum of the first 17 primes"),
        440,
        primes(17).iter().sum::<u64>(),
        "exactly, not at least",
    );
    let sets = (18096u64..=18100).fold(BigUint::from(1u8), |sets, x| sets * x) / 120u8;
    book.exact(
        &place("bits of 5 elements of 18100 as a list"),
        75,
        5 * 18100u32.ilog2() + 5,
        &format!(
            "5 times ceil(log2 18100) = 15; as a set, {} bits tell all of them apart",
            sets.bits()
        ),
    );
    book.exact(
        &place("probes of m = 639"),
        20,
        super::primes_within(639).len(),
        "the first 20 primes",
    );
    book.exact(&place("the universe of m = 639, d = 6"), 28700, exact(639, 6), promise);
    book.known_to_differ();
    book.exact(&place("the universe of m = 639, d = 9"), 937, exact(639, 9), promise);
    let need = |size, items| plan(size, items, CodeKind::Egh).map_or(0, |plan| plan.bits());
    book.exact(&place("Fig. 2, bits for d = 5, n = 1670"), 281, need(1670, 5), "by Lemma 1");
    book.exact(
        &place("Fig. 2, bits for d = 5, n = 18100"),
        440,
        need(18100, 5),
        "by Lemma 1; 440 bits end at 18062",
    );
    book.known_to_differ();
    for (bits, last) in [(197, 37), (501, 61)] {
        let largest = super::primes_within(bits).last().copied().unwrap_or(0);
        book.exact(
            &place(&format!("Fig. 3, largest prime of m = {bits}")),
            last,
            largest,
            "the primes add up to m",
        );
    }
    book.exact(&place("n_6 of m = 501"), 6996, exact(501, 6), "floor of the root");
}

/// Table III, whose numbers are in a picture: ours, as data.
pub(super) fn table_3(book: &mut Notebook) {
    for size in [100, 200, 500] {
        let plans: Vec<_> = (1..=10).filter_map(|items| plan(size, items, CodeKind::Egh)).collect();
        let mut column =
            |what: &str, y_name: &'static str, of: &dyn Fn(&tamis::zone::Plan) -> f64| {
                let points = plans.iter().map(|plan| (plan.items() as f64, of(plan)));
                book.series(format!("Table III, n_d >= {size}, {what}"), "items d", y_name, points);
            };
        column("EGH's m", "bits", &|plan| plan.bits() as f64);
        column("EGH's k", "probes", &|plan| plan.probes() as f64);
        column("Bloom with the same m and k (Eq. 10)", "rate", &|plan| {
            plan.bloom_fpr(plan.items(), None)
        });
        column("Bloom's best k for the same m", "hashes", &|plan| {
            plan.bloom_hashes(plan.items()).into()
        });
        column("Bloom with the same m and its best k (Eq. 10)", "rate", &|plan| {
            plan.bloom_fpr(plan.items(), Some(plan.bloom_hashes(plan.items())))
        });
    }
}
