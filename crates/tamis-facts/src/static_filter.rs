//! Filters that are built once.

use crate::Integer;
use serde::Serialize;
use tamis::rate::StaticPlan;

/// The facts of a plan.
#[derive(Debug, Serialize)]
pub struct StaticFacts {
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
    /// What a plan says.
    #[must_use]
    pub fn new(plan: &StaticPlan) -> StaticFacts {
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

/// A plan, and what a person should know before building it.
#[derive(Debug, Serialize)]
pub struct StaticReport {
    #[serde(flatten)]
    facts: StaticFacts,
    advice: Vec<String>,
}

impl StaticReport {
    /// What a plan says, with advice.
    #[must_use]
    pub fn new(plan: &StaticPlan) -> StaticReport {
        let advice =
            vec!["built once, from all keys; to add keys later, take --filter bloom".to_owned()];
        StaticReport { facts: StaticFacts::new(plan), advice }
    }

    /// The advice, a line each.
    #[must_use]
    pub fn advice(&self) -> &[String] {
        &self.advice
    }
}
