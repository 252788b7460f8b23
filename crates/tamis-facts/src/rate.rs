//! Filters of the rate promise that have one size.

use crate::{HEADER, Integer};
use serde::Serialize;
use tamis::rate::{Kind, Plan as RatePlan, StaticPlan};
use tamis_plot::grouped;

/// The facts of a plan.
#[derive(Debug, Serialize)]
pub struct RateFacts {
    promise: &'static str,
    filter: String,
    items: Integer,
    fpr: f64,
    bits: Integer,
    bytes: Integer,
    file_bytes: Integer,
    bits_per_item: f64,
    cells: Integer,
    counter_bits: u32,
    hashes: u32,
    expected_fpr: f64,
    approximate_fpr: f64,
    expected_fpr_half: f64,
}

impl RateFacts {
    /// What a plan says.
    #[must_use]
    pub fn new(plan: &RatePlan) -> RateFacts {
        RateFacts {
            promise: "rate",
            filter: plan.filter().to_string(),
            items: plan.items().into(),
            fpr: plan.fpr(),
            bits: plan.bits().into(),
            bytes: plan.bytes().into(),
            file_bytes: (plan.bytes() + HEADER).into(),
            bits_per_item: plan.bits_per_item(),
            cells: plan.cells().into(),
            counter_bits: plan.counter_bits(),
            hashes: plan.hashes(),
            expected_fpr: plan.expected_fpr(plan.items()),
            approximate_fpr: plan.approximate_fpr(plan.items()),
            expected_fpr_half: plan.expected_fpr(plan.items() / 2),
        }
    }
}

/// A plan, and what a person should know before building it.
#[derive(Debug, Serialize)]
pub struct RateReport {
    #[serde(flatten)]
    facts: RateFacts,
    advice: Vec<String>,
}

impl RateReport {
    /// What a plan says, with advice.
    #[must_use]
    pub fn new(plan: &RatePlan) -> RateReport {
        RateReport { facts: RateFacts::new(plan), advice: advice(plan) }
    }

    /// The advice, a line each.
    #[must_use]
    pub fn advice(&self) -> &[String] {
        &self.advice
    }
}

/// What a person should know before building it.
#[must_use]
pub fn advice(plan: &RatePlan) -> Vec<String> {
    /// Where lookups begin to miss the caches of common processors.
    const CACHE: u64 = 32 << 20;
    let mut advice = Vec::new();
    let (n, fpr) = (plan.items(), plan.fpr());
    let same = |kind| RatePlan::from_items_fpr(kind, n, fpr).ok();
    advice.extend(small_advice(plan));
    let smallest = StaticPlan::new(n, fpr).ok();
    if let Some(smallest) = smallest.filter(|other| other.bits() < plan.bits() * 9 / 10) {
        advice.push(format!(
            "if all keys are known beforehand, --filter static takes {:.0}% fewer bits: {:.2} an \
             item",
            100.0 * (1.0 - smallest.bits() as f64 / plan.bits() as f64),
            smallest.bits_per_item()
        ));
    }
    match plan.filter() {
        Kind::Bloom if plan.bytes() > CACHE => {
            if let Some(other) =
                same(Kind::Blocked).filter(|other| other.bits() < plan.bits() * 13 / 10)
            {
                advice.push(format!(
                    "larger than most caches: --filter blocked answers with one memory access, for \
                     {:.0}% more bits",
                    100.0 * (other.bits() as f64 / plan.bits() as f64 - 1.0)
                ));
            }
        }
        Kind::Blocked => {
            if let Some(other) = same(Kind::Split)
                .filter(|other| other.bytes() <= CACHE && other.bits() < plan.bits() * 107 / 100)
            {
                advice.push(format!(
                    "without AVX-512, --filter split is faster while it fits the first cache, for \
                     {:.0}% more bits",
                    100.0 * (other.bits() as f64 / plan.bits() as f64 - 1.0)
                ));
            }
            if let Some(other) =
                same(Kind::Bloom).filter(|other| other.bits() < plan.bits() * 10 / 13)
            {
                advice.push(format!(
                    "at this rate --filter bloom takes {:.0}% fewer bits",
                    100.0 * (1.0 - other.bits() as f64 / plan.bits() as f64)
                ));
            }
        }
        Kind::Split => {
            let more = |kind| {
                let other = same(kind)?.bits() as f64;
                Some(100.0 * (1.0 - other / plan.bits() as f64))
            };
            if let Some(fewer) = more(Kind::Blocked).filter(|_| plan.bytes() > CACHE) {
                advice.push(format!(
                    "larger than most caches, where split is no faster: --filter blocked takes \
                     {fewer:.0}% fewer bits"
                ));
            } else if let Some(fewer) = more(Kind::Blocked).filter(|fewer| *fewer > 6.0) {
                advice.push(format!(
                    "at this rate --filter blocked takes {fewer:.0}% fewer bits; split is faster \
                     in the first cache of processors without AVX-512"
                ));
            }
        }
        Kind::Counting => {
            advice.push(format!(
                "if keys are never removed, --filter bloom takes {} times fewer bits",
                plan.counter_bits()
            ));
            if let Some(other) = same(Kind::Quotient) {
                advice.push(format!(
                    "--filter quotient removes keys as well, in {:.0}% of the bits; take counting \
                     where filters are to be intersected",
                    100.0 * other.bits() as f64 / plan.bits() as f64
                ));
            }
        }
        _ => {}
    }
    advice
}

/// How to keep a rate that the textbook's size misses, as it does for a few items.
#[must_use]
pub fn small_advice(plan: &RatePlan) -> Option<String> {
    let n = plan.items();
    if plan.expected_fpr(n) <= 1.05 * plan.fpr() {
        return None;
    }
    let enough = enough_bits(plan)?;
    let counters = match plan.filter() {
        Kind::Counting => format!(" --filter counting --counter-bits {}", plan.counter_bits()),
        _ => String::new(),
    };
    Some(format!(
        "so few items miss the rate with the textbook's size; {} bits keep it: --items {n} --bits \
         {enough}{counters}",
        grouped(enough)
    ))
}

/// The fewest bits whose expected rate is what was asked for, if fewer than twice the bits do.
fn enough_bits(plan: &RatePlan) -> Option<u64> {
    let keeps = |bits: u64| {
        let larger = match plan.filter() {
            Kind::Counting => {
                RatePlan::counting_from_items_bits(plan.items(), bits, plan.counter_bits())
            }
            filter => RatePlan::from_items_bits(filter, plan.items(), bits),
        };
        larger.is_ok_and(|larger| larger.fpr() <= plan.fpr())
    };
    let (mut low, mut high) = (plan.bits(), plan.bits().checked_mul(2)?);
    if matches!(plan.filter(), Kind::Blocked | Kind::Split | Kind::Quotient) || !keeps(high) {
        return None; // those plans keep their rate
    }
    while high - low > u64::from(plan.counter_bits()) {
        let middle = low + (high - low) / 2;
        if keeps(middle) { high = middle } else { low = middle }
    }
    Some(high)
}
