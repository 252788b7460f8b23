//! What a filter promises and how it keeps it.

use crate::{ChainFacts, Integer, PrivacyFacts, PrivatePlan, RateFacts, StaticFacts, ZoneFacts};
use serde::Serialize;
use tamis::format::AnyPlan;
use tamis::{AnyFilter, HashFamily, rate as rates, zone as zones};

/// What is known of a filter.
#[derive(Debug, Serialize)]
pub struct Info {
    version: u16,
    verified: bool,
    #[serde(flatten)]
    details: Details,
}

impl Info {
    /// What is known of a filter, whose checksums were `verified` or not. `None` for a kind that
    /// this release does not know.
    #[must_use]
    pub fn new(any: &AnyFilter, verified: bool) -> Option<Info> {
        let details = match any.plan() {
            AnyPlan::Rate(plan) => Details::rate(any, plan),
            AnyPlan::Static(plan) => Details::of_static(any, plan),
            AnyPlan::Scalable { .. } | AnyPlan::Rolling { .. } => Details::of_chain(any),
            AnyPlan::Zone(plan) => Details::zone(any, plan),
            _ => Details::published(any.hash()?, any.expected_fpr(), &PrivatePlan::of(any)?),
        };
        Some(Info { version: tamis::format::VERSION, verified, details })
    }
}

#[derive(Debug, Serialize)]
#[serde(untagged)]
enum Details {
    Rate {
        health: String,
        estimated_items: f64,
        fill: f64,
        fpr_now: f64,
        hash: &'static str,
        seed: Option<Integer>,
        key_kinds: String,
        saturated: Option<Integer>,
        #[serde(flatten)]
        plan: RateFacts,
    },
    Static {
        health: String,
        distinct: Integer,
        fill: f64,
        fpr_now: f64,
        hash: &'static str,
        seed: Option<Integer>,
        key_kinds: String,
        #[serde(flatten)]
        plan: StaticFacts,
    },
    Chain {
        health: String,
        len: Integer,
        estimated_items: f64,
        fill: f64,
        fpr_now: f64,
        hash: &'static str,
        seed: Option<Integer>,
        key_kinds: String,
        #[serde(flatten)]
        plan: Option<ChainFacts>,
    },
    Zone {
        health: String,
        len: Integer,
        len_is_exact: bool,
        fpr_now: f64,
        first: Integer,
        last: Integer,
        fingerprint: Option<String>,
        #[serde(flatten)]
        plan: ZoneFacts,
    },
    Published {
        fpr_now: f64,
        hash: &'static str,
        seed: Option<Integer>,
        #[serde(flatten)]
        plan: PrivacyFacts,
    },
}

impl Details {
    fn rate(any: &AnyFilter, plan: &rates::Plan) -> Details {
        Details::Rate {
            health: any.health().to_string(),
            estimated_items: any.estimated_items().unwrap_or_default(),
            fill: any.fill(),
            fpr_now: any.expected_fpr(),
            hash: any.hash().map_or("none", HashFamily::name),
            seed: any.hash().and_then(HashFamily::seed).map(Integer::from),
            key_kinds: any.kinds().to_string(),
            saturated: saturated(any).map(Integer::from),
            plan: RateFacts::new(plan),
        }
    }

    fn of_static(any: &AnyFilter, plan: &rates::StaticPlan) -> Details {
        Details::Static {
            health: any.health().to_string(),
            distinct: (any.estimated_items().unwrap_or_default() as u64).into(),
            fill: any.fill(),
            fpr_now: any.expected_fpr(),
            hash: any.hash().map_or("none", HashFamily::name),
            seed: any.hash().and_then(HashFamily::seed).map(Integer::from),
            key_kinds: any.kinds().to_string(),
            plan: StaticFacts::new(plan),
        }
    }

    fn of_chain(any: &AnyFilter) -> Details {
        Details::Chain {
            health: any.health().to_string(),
            len: chain_len(any).into(),
            estimated_items: any.estimated_items().unwrap_or_default(),
            fill: any.fill(),
            fpr_now: any.expected_fpr(),
            hash: any.hash().map_or("none", HashFamily::name),
            seed: any.hash().and_then(HashFamily::seed).map(Integer::from),
            key_kinds: any.kinds().to_string(),
            plan: ChainFacts::of(any),
        }
    }

    fn zone(any: &AnyFilter, plan: &zones::Plan) -> Details {
        let universe = plan.universe();
        Details::Zone {
            health: any.health().to_string(),
            len: any.len().unwrap_or_default().into(),
            len_is_exact: any.len_is_exact(),
            fpr_now: any.expected_fpr(),
            first: universe.first().into(),
            last: universe.last().into(),
            fingerprint: universe.fingerprint().map(|print| format!("{print:016x}")),
            plan: ZoneFacts::new(plan),
        }
    }

    fn published(hash: &HashFamily, fpr_now: f64, plan: &PrivatePlan) -> Details {
        Details::Published {
            fpr_now,
            hash: hash.name(),
            seed: hash.seed().map(Integer::from),
            plan: PrivacyFacts::new(plan),
        }
    }
}

/// How many keys the links of a chain hold.
fn chain_len(any: &AnyFilter) -> u64 {
    match any {
        AnyFilter::Scalable(chain) => chain.len(),
        AnyFilter::Rolling(chain) => chain.len(),
        _ => 0,
    }
}

fn saturated(any: &AnyFilter) -> Option<u64> {
    match any {
        AnyFilter::Counting(counting) => Some(counting.saturated()),
        _ => None,
    }
}
