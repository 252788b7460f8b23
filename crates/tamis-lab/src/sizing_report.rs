//! The report's two experiments, with its own hashes and item names.

use crate::{Notebook, Place, letters, significant};
use tamis::rate::{Kind, Plan};
use tamis::stats::clopper_pearson;
use tamis::{Bloom, HashFamily};
use tamis_random::SplitMix64;

const ITEMS: u64 = 10_000;
const PUBLISHED_TRIALS: f64 = 20_000.0;

pub(crate) fn reproduce(book: &mut Notebook, strangers: u64) {
    for (number, fpr, bits, hashes, measured) in
        [(1, 0.01, 95_851, 7, 0.01005), (2, 0.001, 143_776, 10, 0.00105)]
    {
        book.step(&format!("experiment {number}"));
        experiment(book, number, fpr, bits, hashes, measured, strangers);
    }
    book.step("other targets");
    targets(book, strangers / 4);
    book.step("slips");
    slips(book);
}

fn experiment(
    book: &mut Notebook,
    number: u32,
    fpr: f64,
    bits: u64,
    hashes: u32,
    measured: f64,
    strangers: u64,
) {
    let place = |what: &str| Place::new("Section 5", format!("experiment {number}"), what);
    let Ok(plan) = Plan::from_items_fpr(Kind::Bloom, ITEMS, fpr) else { return };
    book.exact(
        place("m"),
        bits,
        plan.bits(),
        "ceil(-n ln p / (ln 2)^2), with 100 significant bits",
    );
    book.exact(place("k"), hashes, plan.hashes(), "round(m/n ln 2)");

    let Ok(filter) = filled(plan, "elemet_") else { return };
    let inside = (0..ITEMS).filter(|i| filter.contains(format!("elemet_{i}"))).count();
    book.exact(
        place("n"),
        ITEMS,
        inside,
        "elemet_0 to elemet_9999, as the listing spells them, all pass",
    );
    let mut random = SplitMix64::new(u64::from(number));
    let passed =
        (0..strangers).filter(|_| filter.contains(letters(&mut random, 10))).count() as u64;
    let (low, high) = clopper_pearson(passed, strangers, 0.05);
    let rate = passed as f64 / strangers as f64;
    let deviation = (rate * (1.0 - rate) / PUBLISHED_TRIALS).sqrt();
    book.near(
        place("measured false-positive rate"),
        measured,
        rate,
        5.0 * deviation,
        "five standard deviations of the report's 20,000 trials",
        &format!(
            "{strangers} strangers of ten letters: 95% sure of {} to {}; theory {}",
            significant(low),
            significant(high),
            significant(estimation(plan.bits(), plan.hashes(), ITEMS))
        ),
    );
}

/// Target rates against measured ones, with 95% intervals, made as the report makes its filters.
fn targets(book: &mut Notebook, strangers: u64) {
    let targets = [0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1];
    let mut curves: [Vec<(f64, f64)>; 3] = Default::default();
    for target in targets {
        let filter = Plan::from_items_fpr(Kind::Bloom, ITEMS, target)
            .and_then(|plan| filled(plan, "elemet_"));
        let Ok(filter) = filter else { return };
        let mut random = SplitMix64::new(9);
        let passed =
            (0..strangers).filter(|_| filter.contains(letters(&mut random, 10))).count() as u64;
        let (low, high) = clopper_pearson(passed, strangers, 0.05);
        for (curve, rate) in curves.iter_mut().zip([passed as f64 / strangers as f64, low, high]) {
            curve.push((target, rate));
        }
    }
    for (name, curve) in ["measured", "95% sure from", "95% sure to"].into_iter().zip(curves) {
        book.series(format!("Targets, {name}"), "target rate", "measured rate", curve);
    }
}

/// A filter of the report's kind with its ten thousand items.
fn filled(plan: Plan, prefix: &str) -> Result<Bloom, tamis::Error> {
    let mut filter = Bloom::with_plan(plan, HashFamily::sha256_md5())?;
    filter.insert_many((0..ITEMS).map(|i| format!("{prefix}{i}")));
    Ok(filter)
}

/// The listing's `estimation()`: (1 - (1 - 1/m)^(kn))^k.
pub(crate) fn estimation(bits: u64, hashes: u32, items: u64) -> f64 {
    let throws = f64::from(hashes) * items as f64;
    (-(throws * (-1.0 / bits as f64).ln_1p()).exp_m1()).powi(hashes as i32)
}

fn slips(book: &mut Notebook) {
    book.slip(
        "Section 3.2 says that the second hash is MD4; the listing computes MD5.",
        "Line 24 of the listing calls hashlib.md5, so MD5 is what the experiments ran.".to_owned(),
    );

    let fills: Vec<String> = ["elemet_", "element_"]
        .iter()
        .filter_map(|prefix| {
            filled(Plan::from_items_fpr(Kind::Bloom, ITEMS, 0.01).ok()?, prefix).ok()
        })
        .map(|filter| significant(filter.expected_fpr()))
        .collect();
    book.slip(
        "Section 4.1 names the items element_0, element_1, ...; the listing inserts elemet_0, \
         elemet_1, ...",
        format!(
            "It does not matter, as the report says: the filters' rates are {}.",
            fills.join(
                " \
            and "
            )
        ),
    );

    let sizes: Vec<String> = [0.01f64, 0.001]
        .iter()
        .map(|p| format!("{:.2}", -(ITEMS as f64) * p.ln() / std::f64::consts::LN_2.powi(2)))
        .collect();
    book.slip(
        "Section 3.1 rounds m to the nearest integer; the listing takes the ceiling.",
        format!(
            "Unseen in the two experiments, whose m are {} before rounding.",
            sizes.join(" and ")
        ),
    );

    let naive =
        |p: f64| (-p.ln() / std::f64::consts::LN_2.powi(2) * std::f64::consts::LN_2).round();
    book.slip(
        "Section 3.1 promises k >= 1; the listing does not enforce it.",
        format!(
            "For p = 0.8 the listing's k is {}: nothing is ever set, and everything passes.",
            naive(0.8)
        ),
    );

    for (number, bits, hashes) in [(1, 95_851, 7), (2, 143_776, 10)] {
        let trapped = trapped(bits, hashes);
        if !trapped.is_empty() {
            book.slip(
                "Section 3.2 guards against h2 = 0, but the listing's guard acts before the \
                 reduction mod m.",
                format!(
                    "In experiment {number} the items {} have h2 = 0 (mod {bits}) and set a single \
                     bit instead of up to {hashes}.",
                    trapped.join(" and ")
                ),
            );
        }
    }

    book.slip(
        "The function estimation() is imported and never called, so theory and measurement are not \
         compared.",
        format!(
            "It would have printed {} and {}.",
            significant(estimation(95_851, 7, ITEMS)),
            significant(estimation(143_776, 10, ITEMS))
        ),
    );

    let relative = |p: f64| 100.0 * (p * (1.0 - p) / PUBLISHED_TRIALS).sqrt() / p;
    book.slip(
        "Section 5 concludes from one run of 20,000 trials that the rates are very close to their \
         targets.",
        format!(
            "One standard deviation of such a run is {:.0}% of the rate at 1% and {:.0}% at 0.1%: \
             the agreement to 0.5% and 5% was luck.",
            relative(0.01),
            relative(0.001)
        ),
    );
}

/// The items whose positions all hold a one.
fn trapped(bits: u64, hashes: u32) -> Vec<String> {
    let Ok(plan) = Plan::from_items_bits(Kind::Bloom, ITEMS, bits) else { return Vec::new() };
    debug_assert_eq!(plan.hashes(), hashes);
    let Ok(mut filter) = Bloom::with_plan(plan, HashFamily::sha256_md5()) else {
        return Vec::new();
    };
    (0..ITEMS)
        .map(|i| format!("elemet_{i}"))
        .filter(|item| {
            filter.clear();
            filter.insert(item);
            filter.body().iter().map(|byte| byte.count_ones()).sum::<u32>() == 1
        })
        .collect()
}
