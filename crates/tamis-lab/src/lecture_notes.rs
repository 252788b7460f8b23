//! The lecture notes' example and formulas, and their prefixed hashing measured.

use crate::sizing_report::estimation;
use crate::{Notebook, Place, letters, significant};
use std::f64::consts::LN_2;
use tamis::rate::{Kind, Plan};
use tamis::stats::clopper_pearson;
use tamis::{Bloom, HashFamily};
use tamis_random::SplitMix64;

pub(crate) fn reproduce(book: &mut Notebook, strangers: u64) {
    example(book);
    formulas(book);
    book.step("rates of prefixed hashing");
    measurement(book, strangers);
    book.step("the rate against k");
    rate_against_k(book, strangers / 10);
    slips(book);
}

/// Sixteen bits, two hashes, and the positions that the notes assume.
fn example(book: &mut Notebook) {
    book.exact(
        "Example, bits of an index",
        4,
        16f64.log2(),
        "b = log2 of the 16 bits of the array",
    );
    let mut bits = [false; 16];
    for position in [2, 5, 3, 9] {
        bits[position] = true; // "a" sets 2 and 5; the few more elements set at least 3
    }
    let answer = |positions: [usize; 2]| {
        if positions.iter().all(|p| bits[*p]) { "in the set" } else { "not in the set" }
    };
    book.exact("Example, element a at 2 and 5", "in the set", answer([2, 5]), "a member: always");
    book.exact(
        "Example, element b at 2 and 1",
        "not in the set",
        answer([2, 1]),
        "bit 1 is clear: certainly",
    );
    book.exact(
        "Example, element c at 2 and 3",
        "in the set",
        answer([2, 3]),
        "a false positive: never inserted",
    );
}

fn formulas(book: &mut Notebook) {
    book.near(
        "Optimal K, p = 0.01, before rounding",
        6.6,
        -(0.01f64.log2()),
        0.05,
        "half a unit of the last digit",
        "K = -log2(p)",
    );
    book.exact("Optimal K, p = 0.01", 7, (-(0.01f64.log2())).ceil(), "the ceiling of it");

    // The derivative of k ln(1 - e^(-kn/m)) at k = ln 2 m/n, for m/n = 10; and the rate is lower
    // there than beside it.
    let load = 10.0;
    let log_rate = |k: f64| k * (-(-k / load).exp_m1()).ln();
    let best = LN_2 * load;
    let x = (-best / load).exp();
    let derivative = (1.0 - x).ln() + best / load * x / (1.0 - x);
    let least = log_rate(best) < log_rate(best - 0.01) && log_rate(best) < log_rate(best + 0.01);
    book.formula(
        "Optimal K, derivative of ln p at k = ln 2 m/n",
        0.0,
        derivative,
        1e-12,
        "rounding of double precision",
        if least {
            "a minimum: the rate is higher on both sides (m/n = 10)"
        } else {
            "not a minimum"
        },
    );
    for p in [0.5f64, 0.01, 0.001] {
        let bits_per_item = -p.ln() / (LN_2 * LN_2);
        book.formula(
            Place::new(
                "Size",
                format!("p = {p}"),
                "m = -n ln p / (ln 2)^2 and p = (1/2)^(ln 2 m/n)",
            ),
            p,
            0.5f64.powf(LN_2 * bits_per_item),
            p * 1e-12,
            "rounding of double precision",
            &format!(
                "m/n = {}; k = -log2 p = {}",
                significant(bits_per_item),
                significant(-p.log2())
            ),
        );
    }
    let (m, k, n) = (95_851, 7, 10_000u64);
    let approximation = (-(-f64::from(k) * n as f64 / m as f64).exp_m1()).powi(7);
    book.formula(
        Place::new("Rate", "", "p = (1 - e^(-Kn/m))^K approximates (1 - (1 - 1/m)^(Kn))^K"),
        approximation,
        estimation(m, k as u32, n),
        1e-6,
        "the two differ by a relative K/(2m) or so",
        "m = 95851, K = 7, n = 10000",
    );
}

/// The notes give no measurement; this is one, with their hashing and their K.
fn measurement(book: &mut Notebook, strangers: u64) {
    for p in [0.01f64, 0.001] {
        let items = 10_000;
        let Ok(plan) = Plan::from_items_fpr(Kind::Bloom, items, p) else { return };
        let Ok(mut filter) = Bloom::with_plan(plan, HashFamily::prefixed()) else { return };
        filter.insert_many((0..items).map(|i| format!("item {i}")));
        let mut random = SplitMix64::new(4);
        let passed =
            (0..strangers).filter(|_| filter.contains(letters(&mut random, 10))).count() as u64;
        let (low, high) = clopper_pearson(passed, strangers, 0.05);
        let rate = passed as f64 / strangers as f64;
        let predicted = estimation(plan.bits(), plan.hashes(), items);
        // The strangers' answers vary, and so does the fill of the filter, whose rate varies k
        // times as much.
        let spread =
            f64::from(plan.hashes()) * (0.08 / plan.bits() as f64).sqrt() / 0.5 * predicted;
        let deviation = (predicted / strangers as f64 + spread * spread).sqrt();
        book.formula(
            Place::new(
                "Rate",
                format!("p = {p}, K = {}", (-p.log2()).ceil()),
                "(1 - (1 - \
                1/m)^(Kn))^K",
            ),
            predicted,
            rate,
            5.0 * deviation,
            "five standard deviations of the strangers and of the fill",
            &format!(
                "K prefixed SHA-256 hashes, {items} items in {} bits, {strangers} strangers: 95% \
                 sure of {} to {}",
                plan.bits(),
                significant(low),
                significant(high)
            ),
        );
    }
}

/// The rate for ten bits an item and every k, by the notes' formula and measured with their
/// hashing.
fn rate_against_k(book: &mut Notebook, strangers: u64) {
    let (bits, items) = (20_000, 2_000u64);
    let formula = |k: f64| (-(-k * items as f64 / bits as f64).exp_m1()).powf(k);
    let steps = (10..=160).map(|tenths| f64::from(tenths) / 10.0);
    book.series("Rate against k, formula".to_owned(), "k", "rate", steps.map(|k| (k, formula(k))));
    let best = LN_2 * bits as f64 / items as f64;
    book.series(
        "Rate against k, minimum at ln 2 m/n".to_owned(),
        "k",
        "rate",
        [(best, formula(best))],
    );
    let measured = (1..=16).filter_map(|hashes| {
        let plan =
            Plan::from_items_bits(Kind::Bloom, items, bits).ok()?.with_hashes(hashes).ok()?;
        let mut filter = Bloom::with_plan(plan, HashFamily::prefixed()).ok()?;
        filter.insert_many((0..items).map(|i| format!("item {i}")));
        let mut random = SplitMix64::new(5);
        let passed = (0..strangers).filter(|_| filter.contains(letters(&mut random, 10))).count();
        Some((f64::from(hashes), passed as f64 / strangers as f64))
    });
    let measured: Vec<(f64, f64)> = measured.collect();
    book.series(
        format!("Rate against k, measured with {strangers} strangers"),
        "k",
        "rate",
        measured,
    );
}

fn slips(book: &mut Notebook) {
    book.slip(
        "The title credits Harold Bloom; the filter is Burton H. Bloom's.",
        "B. H. Bloom, Space/time trade-offs in hash coding with allowable errors, CACM 13(7), \
         1970, pp. 422-426."
            .to_owned(),
    );
    let rates: Vec<String> =
        [1, 2, 4].iter().map(|times| significant(estimation(9_586 * times, 7, 1_000))).collect();
    book.slip(
        "The notes open by saying that the probability of a correct answer is inversely \
         proportional to the size of the representation; it grows with the size.",
        format!(
            "1,000 items with K = 7: the rate of wrong answers falls from {} to {} when the \
                 bits double and double again.",
            rates[0],
            rates[1..].join(" and ")
        ),
    );
    book.slip(
        "The example calls the 16 bits of the array n; everywhere else n is the number of items \
         and m that of bits.",
        "With n = 16 items in its 16 bits and K = 2 the rate would \
         be "
        .to_owned()
            + &significant(estimation(16, 2, 16))
            + ".",
    );
    let exact =
        Plan::from_items_bits(Kind::Bloom, 4, 16).map_or(f64::NAN, |plan| plan.expected_fpr(4));
    let hashes = Plan::from_items_bits(Kind::Bloom, 4, 16).map_or(0, |plan| plan.hashes());
    book.slip(
        "The rate is derived as if bits were set independently of each other; the result is a \
         little too low (Bose et al. 2008).",
        format!(
            "16 bits, K = {hashes}, 4 items: the notes' formula gives {}, the exact expectation is \
             {}; for 10,000 items they agree to four digits.",
            significant(estimation(16, hashes, 4)),
            significant(exact)
        ),
    );
}
