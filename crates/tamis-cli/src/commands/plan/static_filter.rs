//! `tamis plan rate --filter static`: the size of a filter that is built once.

use crate::output::{Integer, Report, count_of, grouped, rate};
use serde::Serialize;
use tamis::rate::StaticPlan;

/// The facts of a plan.
#[derive(Serialize)]
pub(crate) struct StaticFacts {
    promise: &'static str,
    filter: &'static str,
    items: Integer,
    fpr: f64,
    bits: Integer,
    bytes: Integer,
    file_bytes: Integer,
    bits_per_item: f64,
    fingerprint_bits: u32,
    shards: Integer,
    expected_fpr: f64,
}

impl StaticFacts {
    pub(crate) fn new(plan: &StaticPlan) -> StaticFacts {
        StaticFacts {
            promise: "rate",
            filter: "static",
            items: plan.items().into(),
            fpr: plan.fpr(),
            bits: plan.bits().into(),
            bytes: plan.bytes().into(),
            file_bytes: plan.file_bytes().into(),
            bits_per_item: plan.bits_per_item(),
            fingerprint_bits: plan.fingerprint_bits(),
            shards: plan.shards().into(),
            expected_fpr: plan.expected_fpr(),
        }
    }
}

/// How the filter is laid out, in words.
pub(crate) fn layout(plan: &StaticPlan) -> String {
    format!(
        "fingerprints of up to {}, built in {}",
        count_of(plan.fingerprint_bits().into(), "bit"),
        count_of(plan.shards(), "shard")
    )
}

/// A plan, and what a person should know before building it.
#[derive(Serialize)]
pub(super) struct StaticReport<'a> {
    #[serde(flatten)]
    facts: StaticFacts,
    advice: Vec<String>,
    #[serde(skip)]
    plan: &'a StaticPlan,
}

impl StaticReport<'_> {
    pub(super) fn new(plan: &StaticPlan) -> StaticReport<'_> {
        let advice =
            vec!["built once, from all keys; to add keys later, take --filter bloom".to_owned()];
        StaticReport { facts: StaticFacts::new(plan), advice, plan }
    }
}

impl Report for StaticReport<'_> {
    fn text(&self) -> String {
        let plan = self.plan;
        let least = plan.items() as f64 * -plan.fpr().log2();
        let mut text = format!(
            "A static filter for {} at a rate of {}\n\
             size      {} bits, {} bytes ({} with the file's header), {:.2} bits an item\n\
             layout    {}\n\
             expected  {} of strangers pass",
            count_of(plan.items(), "item"),
            rate(plan.fpr()),
            grouped(plan.bits()),
            grouped(plan.bytes()),
            grouped(plan.file_bytes()),
            plan.bits_per_item(),
            layout(plan),
            rate(plan.expected_fpr()),
        );
        if plan.items() > 0 {
            text.push_str(&format!(
                "\nleast     any filter takes at least {:.2} bits an item; this one {:.1}% more",
                -plan.fpr().log2(),
                100.0 * (plan.bits() as f64 / least - 1.0)
            ));
        }
        for line in &self.advice {
            text.push_str("\nadvice    ");
            text.push_str(line);
        }
        text
    }
}
