//! A plan, with what other codes would take and what happens past the zone.

use super::PlanZone;
use crate::output::{Report, count_of, grouped, progress, rate};
use serde::Serialize;
use tamis::zone::Plan;
use tamis_facts::{ZoneReport, past};

impl PlanZone {
    pub(super) fn report<'a>(&self, plan: &'a Plan) -> PlanReport<'a> {
        // The longest code of a kind may take seconds to prove.
        let spinner = progress::spinner("how far it grows");
        let report = ZoneReport::new(plan, self.size.preference());
        spinner.finish_and_clear();
        PlanReport { report, plan }
    }
}

/// A plan as a person reads it.
#[derive(Serialize)]
pub(super) struct PlanReport<'a> {
    #[serde(flatten)]
    report: ZoneReport,
    #[serde(skip)]
    plan: &'a Plan,
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
        for other in self.report.others() {
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
            count_of(self.report.growth().blocks, "block"),
            count_of(self.report.growth().items, "item")
        ));
        lines.join("\n")
    }
}

/// Up to how many items a filter of this plan lists what it holds.
fn listing(plan: &Plan) -> String {
    let most = plan.listable();
    let candidates = plan.listing_work();
    if most >= plan.items() && candidates > 1 << 25 {
        return "a full filter lists its items, by algebra".to_owned();
    }
    if most < plan.items() && plan.usually_lists(plan.items()) {
        return format!(
            "a filter lists any {}, and nearly every set of {}, by peeling; a join would test \
             {:.1e} candidates",
            count_of(most, "item"),
            grouped(plan.items()),
            candidates as f64
        );
    }
    if most >= plan.items() {
        return format!(
            "a full filter lists its items, by testing at most {} or by algebra",
            count_of(u64::try_from(candidates).unwrap_or(u64::MAX), "candidate")
        );
    }
    let counting = if plan.is_counting() { "" } else { "; with --counting it lists more" };
    format!("a filter lists its items while it holds up to {}{counting}", grouped(most))
}
