//! A plan, with what other codes would take and what happens past the zone.

use super::PlanZone;
use crate::output::{Integer, Report, count_of, grouped, progress, rate};
use serde::Serialize;
use tamis::zone::{CodeKind, Plan};

impl PlanZone {
    fn alternatives(&self, plan: &Plan) -> Vec<Plan> {
        let other = |code: &CodeKind| *code != plan.code().kind();
        let best = |code| {
            Plan::choose(plan.universe(), plan.items(), Some(code), self.size.preference()).ok()
        };
        let plans = CodeKind::ALL.into_iter().filter(other).filter_map(best);
        plans.map(|other| if plan.is_counting() { other.counting() } else { other }).collect()
    }

    pub(super) fn report<'a>(&self, plan: &'a Plan) -> PlanReport<'a> {
        let others = self.alternatives(plan);
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
        // The longest code of a kind may take seconds to prove.
        let spinner = progress::spinner("how far it grows");
        let growth = plan.growth();
        spinner.finish_and_clear();
        PlanReport {
            facts: PlanFacts::new(plan),
            alternatives: others.iter().map(alternative).collect(),
            beyond: past(plan).map(beyond).collect(),
            listable: plan.listable().into(),
            grows_to_items: growth.items.into(),
            grows_to_blocks: growth.blocks.into(),
            plan,
            others,
        }
    }
}

/// The facts of a plan.
#[derive(Serialize)]
pub(crate) struct PlanFacts {
    promise: &'static str,
    code: &'static str,
    items: Integer,
    universe: Integer,
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

impl PlanFacts {
    pub(crate) fn new(plan: &Plan) -> PlanFacts {
        PlanFacts {
            promise: "zone",
            code: plan.code().kind().name(),
            items: plan.items().into(),
            universe: Integer(plan.universe().size()),
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
#[derive(Serialize)]
pub(super) struct PlanReport<'a> {
    #[serde(flatten)]
    facts: PlanFacts,
    alternatives: Vec<Alternative>,
    beyond: Vec<Beyond>,
    listable: Integer,
    grows_to_items: Integer,
    grows_to_blocks: Integer,
    #[serde(skip)]
    plan: &'a Plan,
    #[serde(skip)]
    others: Vec<Plan>,
}

#[derive(Serialize)]
struct Alternative {
    code: &'static str,
    bits: Integer,
    probes: Integer,
}

#[derive(Serialize)]
struct Beyond {
    items: Integer,
    fpr: f64,
    bloom_fpr: f64,
    bloom_best_fpr: f64,
}

impl Report for PlanReport<'_> {
    fn text(&self) -> String {
        let plan = self.plan;
        let counters = if plan.is_counting() {
            format!(" ({} counters of {} bits)", grouped(plan.cells()), plan.counter_bits())
        } else {
            String::new()
        };
        let mut lines = vec![
            format!("A zone filter for {} of {}", count_of(plan.items(), "item"), plan.universe()),
            format!(
                "size      {}, {}{counters}, {:.1} bits an item",
                count_of(plan.bits(), "bit"),
                count_of(plan.bytes(), "byte"),
                plan.bits() as f64 / plan.items() as f64
            ),
            format!("code      {}, {} a lookup", plan.code(), count_of(plan.probes(), "probe")),
            format!("zone      free of false positives up to {}", count_of(plan.zone(), "item")),
            format!("because   {}", plan.certificate()),
        ];
        for other in &self.others {
            lines.push(format!(
                "          {} would take {}, {}",
                other.code(),
                count_of(other.bits(), "bit"),
                count_of(other.probes(), "probe")
            ));
        }
        if let Some(least) = plan.min_bits() {
            lines.push(format!(
                "bound     no such filter takes fewer than {:.0} bits (Claim 2 of the EGH paper)",
                least.ceil()
            ));
        }
        if let Some(most) = plan.max_probes() {
            lines.push(format!("          EGH takes at most {:.0} probes (Claim 3)", most.floor()));
        }
        for items in past(plan) {
            lines.push(format!(
                "beyond    {} of strangers pass at {}; of a Bloom filter's, {} with as many \
                 probes, {} at best",
                rate(plan.beyond_fpr(items)),
                count_of(items, "item"),
                rate(plan.bloom_fpr(items, None)),
                rate(plan.bloom_fpr(items, Some(plan.bloom_hashes(items)))),
            ));
        }
        lines.push(format!("listing   {}", listing(plan)));
        lines.push(format!(
            "growing   tamis grow makes it as long as {}, for {}",
            count_of(self.grows_to_blocks.0 as u64, "block"),
            count_of(self.grows_to_items.0 as u64, "item")
        ));
        lines.join("\n")
    }
}

/// Up to how many items a filter of this plan lists what it holds.
fn listing(plan: &Plan) -> String {
    let most = plan.listable();
    if most >= plan.items() {
        return format!(
            "a full filter lists its items, by testing at most {} or by algebra",
            count_of(u64::try_from(plan.listing_work()).unwrap_or(u64::MAX), "candidate")
        );
    }
    let counting = if plan.is_counting() { "" } else { "; with --counting it lists more" };
    format!("a filter lists its items while it holds up to {}{counting}", grouped(most))
}

/// How many items past the zone to show rates for.
fn past(plan: &Plan) -> impl Iterator<Item = u64> {
    let (items, size) = (plan.items(), plan.universe().size());
    [2, 4]
        .into_iter()
        .filter_map(move |times| items.checked_mul(times))
        .filter(move |items| u128::from(*items) < size)
}
