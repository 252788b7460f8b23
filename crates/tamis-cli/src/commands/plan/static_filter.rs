//! `tamis plan rate --filter static`: the size of a filter that is built once.

use crate::output::{Report, count_of, grouped, rate};
use serde::Serialize;
use tamis::rate::StaticPlan;
use tamis_facts::StaticReport;

/// How the filter is laid out, in words.
pub(crate) fn layout(plan: &StaticPlan) -> String {
    format!(
        "fingerprints of up to {}, built in {}",
        count_of(plan.fingerprint_bits().into(), "bit"),
        count_of(plan.shards(), "shard")
    )
}

/// A plan as a person reads it.
#[derive(Serialize)]
pub(super) struct PlanReport<'a> {
    #[serde(flatten)]
    report: StaticReport,
    #[serde(skip)]
    plan: &'a StaticPlan,
}

impl PlanReport<'_> {
    pub(super) fn new(plan: &StaticPlan) -> PlanReport<'_> {
        PlanReport { report: StaticReport::new(plan), plan }
    }
}

impl Report for PlanReport<'_> {
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
        for line in self.report.advice() {
            text.push_str("\nadvice    ");
            text.push_str(line);
        }
        text
    }
}
