//! Filters of the zone promise.

use crate::{Elements, Integer};
use serde::Serialize;
use tamis::zone::{CodeKind, Growth, Plan, Prefer};

/// The facts of a plan.
#[derive(Debug, Serialize)]
pub struct ZoneFacts {
    promise: &'static str,
    code: &'static str,
    items: Integer,
    universe: Elements,
    zone: Integer,
    bits: Integer,
    bytes: Integer,
    bits_per_item: f64,
    probes: Integer,
    counter_bits: u32,
    certificate: String,
    min_bits: Option<f64>,
    max_probes: Option<f64>,
    listing_work: f64,
}

impl ZoneFacts {
    /// What a plan says.
    #[must_use]
    pub fn new(plan: &Plan) -> ZoneFacts {
        ZoneFacts {
            promise: "zone",
            code: plan.code().kind().name(),
            items: plan.items().into(),
            universe: Elements(plan.universe().size()),
            zone: plan.zone().into(),
            bits: plan.bits().into(),
            bytes: plan.bytes().into(),
            bits_per_item: plan.bits() as f64 / plan.items() as f64,
            probes: plan.probes().into(),
            counter_bits: plan.counter_bits(),
            certificate: plan.certificate().to_string(),
            min_bits: plan.min_bits(),
            max_probes: plan.max_probes(),
            listing_work: plan.listing_work() as f64,
        }
    }
}

/// A plan, with what other codes would take and what happens past the zone.
#[derive(Debug, Serialize)]
pub struct ZoneReport {
    #[serde(flatten)]
    facts: ZoneFacts,
    alternatives: Vec<Alternative>,
    beyond: Vec<Beyond>,
    listable: Integer,
    usually_lists_all: bool,
    grows_to_items: Integer,
    grows_to_blocks: Integer,
    #[serde(skip)]
    others: Vec<Plan>,
    #[serde(skip)]
    growth: Growth,
}

#[derive(Debug, Serialize)]
struct Alternative {
    code: &'static str,
    bits: Integer,
    probes: Integer,
}

#[derive(Debug, Serialize)]
struct Beyond {
    items: Integer,
    fpr: f64,
    bloom_fpr: f64,
    bloom_best_fpr: f64,
}

impl ZoneReport {
    /// What a plan says; the other codes are chosen by the same preference. How far it grows may
    /// take seconds to prove.
    #[must_use]
    pub fn new(plan: &Plan, prefer: Prefer) -> ZoneReport {
        let other = |code: &CodeKind| *code != plan.code().kind();
        let best = |code| Plan::choose(plan.universe(), plan.items(), Some(code), prefer).ok();
        let counted = |other: Plan| if plan.is_counting() { other.counting() } else { other };
        let others: Vec<Plan> =
            CodeKind::ALL.into_iter().filter(other).filter_map(best).map(counted).collect();
        let alternative = |plan: &Plan| Alternative {
            code: plan.code().kind().name(),
            bits: plan.bits().into(),
            probes: plan.probes().into(),
        };
        let beyond = |items| Beyond {
            items: Integer::from(items),
            fpr: plan.beyond_fpr(items),
            bloom_fpr: plan.bloom_fpr(items, None),
            bloom_best_fpr: plan.bloom_fpr(items, Some(plan.bloom_hashes(items))),
        };
        let growth = plan.growth();
        ZoneReport {
            facts: ZoneFacts::new(plan),
            alternatives: others.iter().map(alternative).collect(),
            beyond: past(plan).map(beyond).collect(),
            listable: plan.listable().into(),
            usually_lists_all: plan.usually_lists(plan.items()),
            grows_to_items: growth.items.into(),
            grows_to_blocks: growth.blocks.into(),
            others,
            growth,
        }
    }

    /// The best plan of each other code.
    #[must_use]
    pub fn others(&self) -> &[Plan] {
        &self.others
    }

    /// How far a filter of the plan can grow.
    #[must_use]
    pub fn growth(&self) -> &Growth {
        &self.growth
    }
}

/// How many items past the zone to show rates for.
pub fn past(plan: &Plan) -> impl Iterator<Item = u64> {
    let (items, size) = (plan.items(), plan.universe().size());
    [2, 4]
        .into_iter()
        .filter_map(move |times| items.checked_mul(times))
        .filter(move |items| size > u128::from(*items))
}
