//! `tamis info`: what a filter promises and how it keeps it.

use crate::filter::{self, Contents, Opening};
use crate::output::{self, about, grouped, integer, number, rate};
use crate::plan_privacy::PrivatePlan;
use crate::{plan, plan_zone};
use clap::Args;
use serde_json::json;
use std::path::PathBuf;
use tamis::AnyFilter;
use tamis::rate::{Health, Kind, RateFilter};
use tamis::zone::AnyZone;

/// Show what a filter promises, what it holds and how far it is from its plan
#[derive(Args)]
#[command(after_help = "\
Examples:
  tamis info seen.tamis
  tamis info --json seen.tamis | jq .health

JSON fields: file, version, verified, health, estimated_items, fill, fpr_now, hash, seed, key_kinds, saturated, and those of \
`plan` (expected_fpr there is for a full filter; fpr_now is for this one). For a zone filter: file, version, verified, health, \
len, len_is_exact, fpr_now, first, last, fingerprint, and those of `plan zone`. For a published filter: file, version, verified, fpr_now, \
hash, seed, and those of `plan privacy`. Integers past 2^53 are strings.")]
pub(crate) struct Info {
    /// The filter
    filter: PathBuf,
    /// Print one JSON object
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    opening: Opening,
}

impl Info {
    pub(crate) fn run(&self) -> anyhow::Result<()> {
        let any = self.opening.open(&self.filter)?;
        match (any.as_rate(), any.as_zone()) {
            (Some(filter), _) if self.json => self.print_json(&any, filter),
            (Some(filter), _) => output::print(&self.words(&any, filter)),
            (None, Some(zone)) if self.json => self.print_zone_json(&any, zone),
            (None, Some(zone)) => output::print(&self.zone_words(&any, zone)),
            (None, None) => self.published(&any),
        }
    }

    fn print_json(&self, any: &AnyFilter, filter: &dyn RateFilter) -> anyhow::Result<()> {
        let mut fields = output::object([
            ("file", json!(self.filter.display().to_string())),
            ("version", json!(tamis::format::VERSION)),
            ("verified", json!(!self.opening.no_verify)),
            ("health", json!(filter.health().to_string())),
            ("estimated_items", number(filter.estimated_items())),
            ("fill", number(filter.fill())),
            ("fpr_now", number(filter.expected_fpr())),
            ("hash", json!(filter.hash().name())),
            ("seed", filter.hash().seed().map_or(json!(null), integer)),
            ("key_kinds", json!(filter.kinds().to_string())),
            ("saturated", saturated(any).map_or(json!(null), integer)),
        ]);
        fields.extend(plan::fields(filter.plan()));
        output::print_json(fields)
    }

    fn words(&self, any: &AnyFilter, filter: &dyn RateFilter) -> String {
        let plan = filter.plan();
        let checked = if self.opening.no_verify { "body not checked" } else { "checksums good" };
        let seed = filter.hash().seed().map_or(String::new(), |seed| format!(", seed {seed}"));
        let cells = if plan.filter() == Kind::Counting {
            format!("counters of {} bits", plan.counter_bits())
        } else {
            "bits".to_owned()
        };
        let mut text = format!(
            "{}: a {} filter, rate promise, format version {}, {checked}\n\
             promise   members always pass; of strangers about {} pass, up to {} items\n\
             holds     {} ({})\n\
             fill      {:.1}% of {} {cells} ({} bytes), {} hashes\n\
             now       {} of strangers pass; {} when it holds what it was planned for\n\
             health    {}\n\
             hash      {}{seed}",
            self.filter.display(),
            plan.filter(),
            tamis::format::VERSION,
            rate(plan.fpr()),
            grouped(plan.items()),
            holds(filter),
            filter.kinds(),
            100.0 * filter.fill(),
            grouped(plan.cells()),
            grouped(plan.bytes()),
            plan.hashes(),
            rate(filter.expected_fpr()),
            rate(plan.expected_fpr(plan.items())),
            health(filter),
            filter.hash().name(),
        );
        if let Some(count @ 1..) = saturated(any) {
            text.push_str(&format!(
                "\nstuck     {} counters are at their ceiling and can no longer fall; wider ones: --counter-bits",
                grouped(count)
            ));
        }
        text
    }
}

impl Info {
    fn print_zone_json(&self, any: &AnyFilter, zone: &dyn AnyZone) -> anyhow::Result<()> {
        let universe = zone.plan().universe();
        let mut fields = output::object([
            ("file", json!(self.filter.display().to_string())),
            ("version", json!(tamis::format::VERSION)),
            ("verified", json!(!self.opening.no_verify)),
            ("health", json!(any.health().to_string())),
            ("len", integer(zone.len())),
            ("len_is_exact", json!(zone.len_is_exact())),
            ("fpr_now", number(any.expected_fpr())),
            ("first", integer(universe.first())),
            ("last", integer(universe.last())),
            (
                "fingerprint",
                universe.fingerprint().map_or(json!(null), |print| json!(format!("{print:016x}"))),
            ),
        ]);
        fields.extend(plan_zone::fields(zone.plan()));
        output::print_json(fields)
    }

    fn zone_words(&self, any: &AnyFilter, zone: &dyn AnyZone) -> String {
        let plan = zone.plan();
        let checked = if self.opening.no_verify { "body not checked" } else { "checksums good" };
        let contents = Contents::of(any);
        let promise = match any.health() {
            Health::Within => format!(
                "{}, up to {} of {}",
                filter::zone_promise(any),
                output::of(plan.items(), "item"),
                plan.universe()
            ),
            Health::Beyond => filter::zone_promise(any),
        };
        let health = match any.health() {
            Health::Within => {
                format!(
                    "within its zone: room for {} more",
                    grouped(plan.items().saturating_sub(zone.len()))
                )
            }
            Health::Beyond => "beyond its zone: rebuild it with more --items".to_owned(),
        };
        format!(
            "{}: a {} filter, zone promise, format version {}, {checked}\n\
             promise   {}\n\
             holds     {contents}\n\
             health    {health}\n\
             code      {}, {} blocks, {} bits ({} bytes)\n\
             because   {}",
            self.filter.display(),
            any.kind(),
            tamis::format::VERSION,
            promise,
            plan.code(),
            grouped(plan.probes()),
            grouped(plan.bits()),
            grouped(plan.bytes()),
            plan.certificate(),
        )
    }
}

impl Info {
    fn published(&self, any: &AnyFilter) -> anyhow::Result<()> {
        let (plan, hash, now) = match any {
            AnyFilter::Linear(filter) => {
                (PrivatePlan::Linear(*filter.plan()), filter.hash(), filter.plan().fpr())
            }
            AnyFilter::PublicBloom(filter) => {
                (PrivatePlan::Bloom(*filter.plan()), filter.hash(), filter.fpr_now())
            }
            other => anyhow::bail!("a {} filter cannot be shown by this release", other.kind()),
        };
        if self.json {
            let mut fields = output::object([
                ("file", json!(self.filter.display().to_string())),
                ("version", json!(tamis::format::VERSION)),
                ("verified", json!(!self.opening.no_verify)),
                ("fpr_now", number(now)),
                ("hash", json!(hash.name())),
                ("seed", hash.seed().map_or(json!(null), integer)),
            ]);
            fields.extend(plan.fields());
            return output::print_json(fields);
        }
        let checked = if self.opening.no_verify { "body not checked" } else { "checksums good" };
        output::print(&format!(
            "{}: a {} filter, privacy promise, format version {}, {checked}\n{}\n\
             holds     at most about {}; how many, it does not tell\n\
             now       {} of strangers pass\n\
             hash      {}{}",
            self.filter.display(),
            any.kind(),
            tamis::format::VERSION,
            plan.lines(),
            output::of(plan.items(), "item"),
            rate(now),
            hash.name(),
            hash.seed().map_or(String::new(), |seed| format!(", seed {seed}")),
        ))
    }
}

fn saturated(any: &AnyFilter) -> Option<u64> {
    match any {
        AnyFilter::Counting(counting) => Some(counting.saturated()),
        _ => None,
    }
}

fn holds(filter: &dyn RateFilter) -> String {
    let items = filter.estimated_items();
    if items.is_finite() {
        format!("about {} items", about(items))
    } else {
        "more items than it can tell: it is full".to_owned()
    }
}

fn health(filter: &dyn RateFilter) -> String {
    let (holds, planned) = (filter.estimated_items(), filter.plan().items() as f64);
    match filter.health() {
        Health::Within if holds < planned => {
            format!("within plan: room for about {} more", about(planned - holds))
        }
        Health::Within => "within plan: full".to_owned(),
        Health::Beyond => format!(
            "beyond plan: about {} items too many; rebuild it with --items {}",
            about(holds - planned),
            if holds.is_finite() {
                format!("{:.0}", holds.ceil())
            } else {
                "N, and a larger N".to_owned()
            }
        ),
    }
}
