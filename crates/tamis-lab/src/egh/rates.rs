//! Figure 3: the false positives of filters beyond their zone.

use super::{deceived, exact_zone, plan, primes_within};
use crate::{Notebook, significant};
use tamis::zone::{CodeKind, Plan, largest_universe};
use tamis_random::SplitMix64;

/// The largest number of items in the figure, d'.
const MAX_ITEMS: usize = 40;
/// The strangers asked of one filter.
const ASKED: u64 = 50;

pub(super) fn beyond(book: &mut Notebook, quick: bool) {
    let filters = if quick { 4_000 } else { 60_000 };
    for (bits, zones) in [(197, 2..=5), (501, 4..=8)] {
        let Some(plan) = plan_of(bits, *zones.start()) else { continue };
        curves(book, bits, &plan);
        equation_11(book, bits, &plan, filters);
        for items in zones {
            let Some(size) = universe_of(bits, items) else { continue };
            let rates = measured(&plan.blocks(), size, filters, 3);
            let points = rates.iter().enumerate().map(|(i, rate)| (i as f64 + 1.0, rate.mean));
            let asked = filters * ASKED;
            book.series(
                format!(
                    "Fig. 3, m = {bits}, EGH measured, n = n_{items} = {size}, {asked} strangers a \
                     point"
                ),
                "items d'",
                "rate",
                points,
            );
            if let Some(rs) = super::plan(size, items, CodeKind::Rs) {
                let points = (1..=MAX_ITEMS as u64).map(|d| (d as f64, rs.beyond_fpr(d)));
                let name = format!(
                    "Fig. 3, m = {bits}, rs of {} bits beyond its zone, n = n_{items} = {size}",
                    rs.bits()
                );
                book.series(name, "items d'", "rate", points);
            }
            if (bits, items) == (501, 6) {
                surprise(book, &plan, &rates, size.into());
            }
        }
    }
}

/// A plan of that many bits.
fn plan_of(bits: u64, items: u64) -> Option<Plan> {
    plan(universe_of(bits, items)?, items, CodeKind::Egh)
}

/// The largest universe of that many bits.
fn universe_of(bits: u64, items: u64) -> Option<u64> {
    u64::try_from(largest_universe(CodeKind::Egh, bits, items)?.get()?).ok()
}

/// The curves that are formulas.
fn curves(book: &mut Notebook, bits: u64, plan: &Plan) {
    let mut curve = |name: &str, rate: &dyn Fn(u64) -> f64| {
        let points = (1..=MAX_ITEMS as u64).map(|items| (items as f64, rate(items)));
        book.series(format!("Fig. 3, m = {bits}, {name}"), "items d'", "rate", points);
    };
    curve("EGH far beyond its zone (Eq. 11)", &|items| plan.beyond_fpr(items));
    curve("Bloom with the same k (Eq. 10)", &|items| plan.bloom_fpr(items, None));
    curve("Bloom with its best k (Eq. 10)", &|items| {
        plan.bloom_fpr(items, Some(plan.bloom_hashes(items)))
    });
}

/// The rate at some number of items, and how sure it is.
#[derive(Clone, Copy, Default)]
struct Rate {
    mean: f64,
    deviation: f64,
}

/// The rates after 1, 2, ... items drawn at random from 0 to `size` - 1. The blocks are all below
/// 64, so that each is a word.
fn measured(moduli: &[u64], size: u64, filters: u64, seed: u64) -> Vec<Rate> {
    let mut random = SplitMix64::new(seed);
    let mut sums = [(0.0, 0.0); MAX_ITEMS];
    let mut words = vec![0u64; moduli.len()];
    let mut set = Vec::with_capacity(MAX_ITEMS);
    for _ in 0..filters {
        words.fill(0);
        set.clear();
        for sum in &mut sums {
            let item = stranger(&set, size, &mut random);
            set.push(item);
            words.iter_mut().zip(moduli).for_each(|(word, p)| *word |= 1 << (item % p));
            let passed =
                (0..ASKED).filter(|_| passes(&words, moduli, stranger(&set, size, &mut random)));
            let share = passed.count() as f64 / ASKED as f64;
            sum.0 += share;
            sum.1 += share * share;
        }
    }
    let count = filters as f64;
    let rate = |(sum, squares): &(f64, f64)| {
        let mean = sum / count;
        Rate { mean, deviation: ((squares / count - mean * mean).max(0.0) / count).sqrt() }
    };
    sums.iter().map(rate).collect()
}

/// A number below `size` that is not in the set.
fn stranger(set: &[u64], size: u64, random: &mut SplitMix64) -> u64 {
    loop {
        let number = random.below(size);
        if !set.contains(&number) {
            return number;
        }
    }
}

/// Whether every block has the number's residue. The large blocks come first: they have the most
/// zeros, so most strangers end there.
fn passes(words: &[u64], moduli: &[u64], number: u64) -> bool {
    words.iter().zip(moduli).rev().all(|(word, p)| word >> (number % p) & 1 == 1)
}

/// Eq. 11 against measurement, in a universe as large as the product of the primes.
fn equation_11(book: &mut Notebook, bits: u64, plan: &Plan, filters: u64) {
    let (size, words) = match u64::try_from(super::product(&plan.blocks())) {
        Ok(product) => (product, "n' the product of the primes"),
        Err(_) => (u64::MAX, "n' almost 2^64, the product of the primes being larger"),
    };
    let rates = measured(&plan.blocks(), size, filters, 11);
    for items in [20, 30, 40] {
        let (rate, predicted) = (rates[items - 1], plan.beyond_fpr(items as u64));
        let trials = (filters * ASKED) as f64;
        let deviation = rate.deviation.max((predicted / trials).sqrt());
        book.formula(
            &format!("Section V-C, Eq. 11, m = {bits}, d' = {items}"),
            predicted,
            rate.mean,
            5.0 * deviation,
            "five standard deviations of the filters measured",
            &format!("{trials} strangers, {words}"),
        );
    }
}

/// The paper wonders that m = 501, n = 6996 showed no false positive up to d = 9, though its zone
/// is 6.
fn surprise(book: &mut Notebook, plan: &Plan, rates: &[Rate], size: u128) {
    let queries = 1e9;
    let expected = queries * plan.beyond_fpr(9);
    let zone = exact_zone(&primes_within(501), size);
    let share = rates.get(29).map_or(0.0, |rate| rate.mean) / plan.beyond_fpr(30);
    book.near(
        "Section VII, m = 501, n = 6996: false positives in 10^9 queries at d = 9",
        0.0,
        expected,
        5.0 * expected.sqrt(),
        "five standard deviations of a count",
        &format!(
            "10^9 times Eq. 11; it is {} at d = 7 and {} at d = 8, so few or none were to be \
             expected (at d = 30 the measured rate is {} times Eq. 11). The zone is no larger for \
             it: exactly {}, and {}",
            significant(queries * plan.beyond_fpr(7)),
            significant(queries * plan.beyond_fpr(8)),
            significant(share),
            zone.map_or_else(|| "unknown".to_owned(), |zone| zone.to_string()),
            deceived(size as u64, plan.probes() as usize, 7)
        ),
    );
}
