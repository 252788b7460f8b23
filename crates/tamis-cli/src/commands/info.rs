//! `tamis info`: what a filter promises and how it keeps it.

use super::plan::chain::window_text;
use super::plan::privacy;
use super::plan::static_filter::layout;
use crate::filters::{self, Contents, Opening};
use crate::foreign::{self, Found, From};
use crate::input::input_path;
use crate::output::{self, Report, about, count_of, grouped, rate, warn};
use anyhow::{Context, bail};
use clap::Args;
use serde::Serialize;
use std::path::{Path, PathBuf};
use tamis::format::AnyPlan;
use tamis::rate::{self as rates, Health, Kind};
use tamis::zone as zones;
use tamis::{AnyFilter, HashFamily};
use tamis_facts::{Info as Facts, PrivatePlan};

/// Show what a filter promises, what it holds and how far it is from its plan
#[derive(Args)]
#[command(after_help = "\
Examples:
  tamis info seen.tamis
  tamis info *.tamis
  tamis info --json seen.tamis | jq .health
  tamis info seen.bloom             a filter of another program: which, how full, how wrong
  tamis info data.parquet           the filters of a Parquet file

JSON fields: file, version, verified, health, estimated_items, fill, fpr_now, hash, seed, \
key_kinds, saturated, and those of `plan` (expected_fpr there is for a full filter; fpr_now is \
for this one). A scalable or rolling filter also has len, and len of each link. For a zone \
filter: file, version, verified, health, len, len_is_exact, fpr_now, first, last, fingerprint, \
and those of `plan zone`. For a published filter: file, version, verified, fpr_now, hash, seed, \
and those of `plan privacy`. For a filter of another program: file, format, program, \
variant, health, estimated_items, counted_items, items, fpr, plan_is_stored, bits, fill, fpr_now, \
data_bytes, parts (of each: bits, hashes, fill, estimated_items, counted_items, items, fpr, \
fpr_now). For a Parquet file: file, format, created_by, row_groups, columns, filters (of each: \
column, physical, row_group, rows, bits, fill, estimated_items, fpr_now, sizing). Integers past \
2^53 are strings.")]
pub(crate) struct Info {
    /// The filters; one over a dictionary is shown without it, too
    #[arg(required = true, value_name = "FILTER", value_parser = input_path())]
    filters: Vec<PathBuf>,
    /// Print one JSON object for each filter, a line each
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    from: From,
    #[command(flatten)]
    opening: Opening,
}

impl Info {
    pub(crate) fn run(&self) -> anyhow::Result<()> {
        let files = self.filters.iter().map(PathBuf::as_path).chain(self.opening.dictionary_path());
        output::standard_input_once(files)?;
        let mut unknown = 0;
        for (i, path) in self.filters.iter().enumerate() {
            if i > 0 && !self.json {
                output::print("")?;
            }
            match self.show_any(path) {
                Ok(()) => {}
                Err(error) if self.filters.len() == 1 => return Err(error),
                // One bad file says nothing of the others.
                Err(error) => {
                    unknown += 1;
                    warn(&format!("tamis: {error:#}"));
                }
            }
        }
        if unknown > 0 {
            bail!(
                "{unknown} of {} could not be shown",
                count_of(self.filters.len() as u64, "file")
            );
        }
        Ok(())
    }

    fn show_any(&self, path: &Path) -> anyhow::Result<()> {
        match self.from.open(path, self.opening.memory())? {
            Some(Found::Filter(filter)) => foreign::show(path, &filter, self.json),
            Some(Found::Parquet(file)) => foreign::show_file(path, *file, self.json),
            None => self.show(path, &self.opening.look_at(path)?),
        }
    }

    fn show(&self, path: &Path, any: &AnyFilter) -> anyhow::Result<()> {
        let file = path.display().to_string();
        let verified = !self.opening.no_verify;
        let promise = any.promise();
        let unknown = || format!("a {} filter cannot be shown by this release", any.kind());
        let text = match any.plan() {
            AnyPlan::Rate(plan) => rate_text(any, plan),
            AnyPlan::Static(plan) => static_text(any, plan),
            AnyPlan::Scalable { .. } | AnyPlan::Rolling { .. } => chain_text(any),
            AnyPlan::Zone(plan) => zone_text(any, plan),
            _ => published_text(any).with_context(unknown)?,
        };
        let checked = if verified { "checksums good" } else { "body not checked" };
        let text = format!(
            "{file}: a {} filter, {promise} promise, format version {}, {checked}\n{text}",
            any.kind(),
            tamis::format::VERSION
        );
        let info = Facts::new(any, verified).with_context(unknown)?;
        output::print_report(&InfoReport { file, info, text }, self.json)
    }
}

#[derive(Serialize)]
struct InfoReport {
    file: String,
    #[serde(flatten)]
    info: Facts,
    #[serde(skip)]
    text: String,
}

impl Report for InfoReport {
    fn text(&self) -> String {
        self.text.clone()
    }
}

fn rate_text(any: &AnyFilter, plan: &rates::Plan) -> String {
    let cells = match plan.filter() {
        Kind::Counting => format!("counters of {} bits", plan.counter_bits()),
        Kind::Quotient => format!("slots of {} bits", plan.counter_bits()),
        _ => "bits".to_owned(),
    };
    let mut text = format!(
        "promise   members always pass; of strangers about {} pass, up to {}\n\
         holds     {} ({})\n\
         fill      {:.1}% of {} {cells} ({}), {}\n\
         now       {} of strangers pass; {} when it holds what it was planned for\n\
         health    {}\n\
         hash      {}",
        rate(plan.fpr()),
        count_of(plan.items(), "item"),
        holds(any),
        any.kinds(),
        100.0 * any.fill(),
        grouped(plan.cells()),
        count_of(plan.bytes(), "byte"),
        if plan.hashes() == 1 { "1 hash".to_owned() } else { format!("{} hashes", plan.hashes()) },
        rate(any.expected_fpr()),
        rate(plan.expected_fpr(plan.items())),
        health(any),
        any.hash().map(hash_text).unwrap_or_default(),
    );
    if let Some(count @ 1..) = saturated(any) {
        text.push_str(&format!(
            "\nstuck     {} at the ceiling that can no longer fall; wider ones: --counter-bits",
            count_of(count, "counter")
        ));
    }
    text
}

fn static_text(any: &AnyFilter, plan: &rates::StaticPlan) -> String {
    let health = match any.health() {
        Health::Within => "within plan; it cannot be changed",
        Health::Beyond => "beyond plan: its keys suit its hash badly; build it with another --seed",
    };
    format!(
        "promise   members always pass; of strangers about {} pass\n\
         holds     {} ({}), each once\n\
         size      {} ({:.2} bits an item): {}\n\
         now       {} of strangers pass\n\
         health    {health}\n\
         hash      {}",
        rate(plan.fpr()),
        count_of(any.estimated_items().unwrap_or_default() as u64, "item"),
        any.kinds(),
        count_of(plan.bytes(), "byte"),
        plan.bits_per_item(),
        layout(plan),
        rate(any.expected_fpr()),
        any.hash().map(hash_text).unwrap_or_default(),
    )
}

/// How many keys the links of a chain hold.
fn chain_len(any: &AnyFilter) -> u64 {
    match any {
        AnyFilter::Scalable(chain) => chain.len(),
        AnyFilter::Rolling(chain) => chain.len(),
        _ => 0,
    }
}

/// How many keys the links hold before another one is opened.
fn chain_capacity(any: &AnyFilter) -> u64 {
    match any {
        AnyFilter::Scalable(chain) => chain.capacity(),
        other => other.plan().items(),
    }
}

fn chain_text(any: &AnyFilter) -> String {
    let plan = any.plan();
    let (promise, layout, beyond) = match plan {
        AnyPlan::Rolling { plan, links } => (
            format!(
                "members of the last {} pass; of strangers fewer than {}, up to {}",
                window_text(plan.window()),
                rate(plan.fpr()),
                count_of(plan.items(), "item")
            ),
            format!("{} of {} generations", links.len(), plan.generations()),
            "more keys came within a window than planned",
        ),
        AnyPlan::Scalable { plan: chain, links } => (
            format!(
                "members always pass; of strangers fewer than {}, however many come",
                rate(chain.fpr())
            ),
            format!(
                "{} for {}, then another one",
                count_of(links.len() as u64, "link"),
                count_of(chain_capacity(any), "item")
            ),
            "chains were united that were far grown; build it again from all keys",
        ),
        _ => Default::default(),
    };
    let health = match any.health() {
        Health::Within => "within the promised rate".to_owned(),
        Health::Beyond => format!("beyond the promised rate: {beyond}"),
    };
    let each = 8.0 * plan.bytes() as f64 / chain_len(any).max(1) as f64;
    format!(
        "promise   {promise}\n\
         holds     {} ({})\n\
         size      {} ({each:.2} bits an item held): {layout}\n\
         now       {} of strangers pass\n\
         health    {health}\n\
         hash      {}",
        holds(any),
        any.kinds(),
        count_of(plan.bytes(), "byte"),
        rate(any.expected_fpr()),
        any.hash().map(hash_text).unwrap_or_default(),
    )
}

fn zone_text(any: &AnyFilter, plan: &zones::Plan) -> String {
    let contents = Contents::of(any);
    let promise = match any.health() {
        Health::Within => format!(
            "{}, up to {} of {}",
            filters::zone_promise(any),
            count_of(plan.items(), "item"),
            plan.universe()
        ),
        Health::Beyond => filters::zone_promise(any),
    };
    let health = match any.health() {
        Health::Within => {
            format!(
                "within its zone: room for {} more",
                grouped(plan.items().saturating_sub(any.len().unwrap_or_default()))
            )
        }
        Health::Beyond => "beyond its zone: rebuild it with more --items".to_owned(),
    };
    format!(
        "promise   {promise}\n\
         holds     {contents}\n\
         health    {health}\n\
         code      {}, {}, {} ({})\n\
         because   {}",
        plan.code(),
        count_of(plan.probes(), "block"),
        count_of(plan.bits(), "bit"),
        count_of(plan.bytes(), "byte"),
        plan.certificate(),
    ) + &dictionary_text(plan)
}

/// By what the dictionary of a filter is recognised.
fn dictionary_text(plan: &zones::Plan) -> String {
    let print = plan.universe().fingerprint();
    print.map_or_else(String::new, |print| format!("\nkeys      fingerprint {print:016x}"))
}

fn published_text(any: &AnyFilter) -> Option<String> {
    let plan = PrivatePlan::of(any)?;
    Some(format!(
        "{}\n\
         holds     at most about {}; how many, it does not tell\n\
         now       {} of strangers pass\n\
         hash      {}",
        privacy::lines(&plan),
        count_of(plan.items(), "item"),
        rate(any.expected_fpr()),
        hash_text(any.hash()?),
    ))
}

fn hash_text(hash: &HashFamily) -> String {
    let seed = hash.seed().map_or(String::new(), |seed| format!(", seed {seed}"));
    format!("{}{seed}", hash.name())
}

fn saturated(any: &AnyFilter) -> Option<u64> {
    match any {
        AnyFilter::Counting(counting) => Some(counting.saturated()),
        _ => None,
    }
}

fn holds(filter: &AnyFilter) -> String {
    let items = filter.estimated_items().unwrap_or_default();
    if items.is_finite() {
        format!("about {}", count_of(items.round() as u64, "item"))
    } else {
        "more items than it can tell: it is full".to_owned()
    }
}

fn health(filter: &AnyFilter) -> String {
    let planned = filter.plan().items() as f64;
    let holds = filter.estimated_items().unwrap_or_default();
    match filter.health() {
        Health::Within if holds < planned => {
            format!("within plan: room for about {} more", about(planned - holds))
        }
        Health::Within => "within plan: full".to_owned(),
        Health::Beyond if holds.is_finite() => format!(
            "beyond plan: about {} too many; rebuild it with --items {:.0}",
            count_of((holds - planned).round() as u64, "item"),
            holds.ceil()
        ),
        Health::Beyond => "beyond plan: it is full; rebuild it with more --items".to_owned(),
    }
}
