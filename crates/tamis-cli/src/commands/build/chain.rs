//! `tamis build rate --filter scalable` and `--filter rolling`.

use crate::commands::plan::chain::window_text;
use crate::input::{Input, Reading};
use crate::output::{self, Destination, Integer, Report, Target, count_of, grouped, rate};
use serde::Serialize;
use tamis::format::AnyPlan;
use tamis::{AnyFilter, Health};
use tamis_facts::ChainFacts;

/// Reads all keys into a chain, saves it, and says so.
pub(super) fn build(
    mut any: AnyFilter,
    input: &Input,
    target: &Target,
    destination: Destination,
) -> anyhow::Result<()> {
    let (mut keys, mut new) = (0, 0);
    // The order matters to a chain that forgets.
    let reading = match any {
        AnyFilter::Rolling(_) => Reading::InOrder,
        _ => Reading::AnyOrder,
    };
    input.format.for_new_filter().each(&input.files, "building", reading, |batch| {
        keys += batch.len() as u64;
        new += any.insert_many(&batch.keys())?;
        Ok(true)
    })?;
    destination.save(&any)?;
    let report = ChainReport {
        file: target.output.display().to_string(),
        keys: keys.into(),
        certainly_new: new.into(),
        health: any.health().to_string(),
        estimated_items: any.estimated_items().unwrap_or_default(),
        fill: any.fill(),
        fpr_now: any.expected_fpr(),
        facts: ChainFacts::of(&any),
        text: text(&any, target, keys, new),
    };
    output::report_on(&target.output, &report, target.json)
}

fn text(any: &AnyFilter, target: &Target, keys: u64, new: u64) -> String {
    let bytes = any.plan().bytes();
    let promise = match any.plan() {
        AnyPlan::Rolling { plan, .. } => {
            format!("those of the last {} pass", window_text(plan.window()))
        }
        _ => "every one of them passes".to_owned(),
    };
    let room = match any.plan() {
        AnyPlan::Scalable { .. } => ", and it grows as keys come",
        _ => "",
    };
    let health = match any.health() {
        Health::Within => "within the promised rate",
        Health::Beyond => "beyond the promised rate: more keys came than planned",
    };
    let mut text = format!(
        "{}: a {} filter of {} in {}\n\
         keys      {} read, at least {} of them distinct\n\
         promise   {promise}; of strangers, about {} now, never more than {}\n\
         health    {health}{room}",
        target.output.display(),
        any.kind(),
        count_of(bytes, "byte"),
        count_of(any.body_parts().len() as u64, "link"),
        grouped(keys),
        grouped(new),
        rate(any.expected_fpr()),
        rate(any.plan().fpr()),
    );
    if any.hash().is_some_and(|hash| hash.name() == "keyed") {
        text.push_str("\nhash      keyed: only those who have the key file can ask");
    }
    text
}

#[derive(Serialize)]
struct ChainReport {
    file: String,
    keys: Integer,
    certainly_new: Integer,
    health: String,
    estimated_items: f64,
    fill: f64,
    fpr_now: f64,
    #[serde(flatten)]
    facts: Option<ChainFacts>,
    #[serde(skip)]
    text: String,
}

impl Report for ChainReport {
    fn text(&self) -> String {
        self.text.clone()
    }
}
