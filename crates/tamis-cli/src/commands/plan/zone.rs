//! `tamis plan zone`: no false positive, up to d items of a finite universe.

use super::plot::Plot;
use crate::arguments::{count, universe};
use crate::output::{self, Integer, Report, count_of, grouped, rate};
use anyhow::{Context, bail};
use clap::{Args, ValueEnum};
use serde::Serialize;
use std::collections::BTreeMap;
use tamis::zone::{self, CodeKind, Plan, Prefer, Universe};

/// Nobody is answered wrongly, up to d items of a finite universe. Give two of universe, items and
/// bits
#[derive(Args)]
#[command(after_help = "\
Universes: 65536 (0 to 65535), 1..48, ipv4, 10.0.0.0/8, dictionary:FILE (its lines).

Examples:
  tamis plan zone --universe 606 --items 3                     the bits it takes
  tamis plan zone --universe ipv4 --items 4 --code egh         as the EGH paper has it
  tamis plan zone --items 5 --bits 440                         the largest universe
  tamis plan zone --universe 65536 --bits 4096                 the most items
  tamis plan zone --universe 1000 --sizes 0.1,0.2,0.4,0.2,0.1 --worth 3
                                                               which zone is worth its bits

JSON fields: promise, code, items, universe, zone, bits, bytes, bits_per_item, probes, \
counter_bits, certificate, alternatives (code, \
bits, probes of the others), min_bits (Claim 2 of the EGH paper), max_probes (Claim 3), \
listing_work (candidates tested when \
listing from bits), beyond (items, fpr, bloom_fpr, bloom_best_fpr past the zone), \
listable (items), grows_to_items and grows_to_blocks (null for coprime). With --bits, largest_universe or largest_items \
by \
code. With --sizes, guideline: items, bits, value, value_per_bit. Integers past 2^53 are strings.")]
pub(crate) struct PlanZone {
    #[command(flatten)]
    pub(crate) size: ZoneSize,
    /// How many bits it may take: the largest universe or the most items follow
    #[arg(long, value_name = "M", value_parser = count, allow_negative_numbers = true)]
    bits: Option<u64>,
    /// The chances that a query meets 0, 1, 2, ... items: which zone is worth its bits?
    #[arg(long, value_name = "P,P,...", value_delimiter = ',', requires = "universe")]
    #[arg(conflicts_with_all = ["bits", "items"])]
    sizes: Vec<f64>,
    /// What a guaranteed answer is worth, an ordinary right one being worth 1
    #[arg(long, value_name = "W", default_value = "2")]
    #[arg(allow_negative_numbers = true, conflicts_with_all = ["bits", "items"])]
    worth: f64,
    /// Print one JSON object
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    plot: Plot,
}

/// What decides the size of a zone filter.
#[derive(Args)]
pub(crate) struct ZoneSize {
    /// The universe: a size, an interval a..b, ipv4, a network 10.0.0.0/8, or dictionary:FILE
    #[arg(long, value_name = "U", allow_hyphen_values = true)]
    pub(crate) universe: Option<String>,
    /// The most items that it will hold
    #[arg(long, value_name = "D", value_parser = count, allow_negative_numbers = true)]
    pub(crate) items: Option<u64>,
    /// The code
    #[arg(long, value_enum, default_value_t = CodeChoice::Auto)]
    pub(crate) code: CodeChoice,
    /// What the code should have least of
    #[arg(long, value_enum, default_value_t = Preference::Bits)]
    pub(crate) prefer: Preference,
    /// Counters instead of bits: items can be removed, and more can be listed
    #[arg(long)]
    pub(crate) counting: bool,
}

#[derive(ValueEnum, Clone, Copy, PartialEq, Eq)]
pub(crate) enum CodeChoice {
    /// Whichever has the fewest bits (or probes)
    Auto,
    /// Residues modulo the first primes, as in the EGH paper
    Egh,
    /// Residues modulo coprime moduli, fewer bits than EGH
    Coprime,
    /// Reed-Solomon
    Rs,
}

#[derive(ValueEnum, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Preference {
    /// The fewest bits
    Bits,
    /// The fewest probes a lookup
    Probes,
}

impl CodeChoice {
    fn name(self) -> Option<CodeKind> {
        match self {
            CodeChoice::Auto => None,
            CodeChoice::Egh => Some(CodeKind::Egh),
            CodeChoice::Coprime => Some(CodeKind::Coprime),
            CodeChoice::Rs => Some(CodeKind::Rs),
        }
    }
}

impl ZoneSize {
    fn preference(&self) -> Prefer {
        match self.prefer {
            Preference::Bits => Prefer::Bits,
            Preference::Probes => Prefer::Probes,
        }
    }

    pub(crate) fn plan(&self, universe: Universe, items: u64) -> anyhow::Result<Plan> {
        let plan = Plan::choose(&universe, items, self.code.name(), self.preference())?;
        Ok(if self.counting { plan.counting() } else { plan })
    }
}

impl PlanZone {
    pub(crate) fn run(&self) -> anyhow::Result<()> {
        let universe = self.size.universe.as_deref().map(universe).transpose()?;
        if self.plot.is_wanted() && (self.bits.is_some() || !self.sizes.is_empty()) {
            bail!(
                "--plot draws the plan for a --universe and --items; leave --bits and --sizes out"
            );
        }
        if !self.sizes.is_empty() {
            return self.guideline(&universe.context("--sizes needs a --universe")?);
        }
        if self.bits.is_some() && (self.size.counting || self.size.prefer == Preference::Probes) {
            bail!("with --bits the question is asked of bits; leave --counting and --prefer out");
        }
        if self.size.items == Some(0) || self.bits == Some(0) {
            bail!("a filter has at least 1 item and 1 bit (got 0)");
        }
        match (universe, self.size.items, self.bits) {
            (Some(universe), Some(items), None) => {
                let plan = self.size.plan(universe, items)?;
                self.plot.draw(|| tamis_plot::tradeoff::of_zone(&plan))?;
                output::print_report(&self.report(&plan), self.json)
            }
            (None, Some(items), Some(bits)) => self.print_largest(
                &format!(
                    "The largest universe for {} in {} bits",
                    count_of(items, "item"),
                    grouped(bits)
                ),
                |code| zone::largest_universe(code, bits, items),
                |by_code| Largest::Universe { promise: "zone", largest_universe: by_code },
            ),
            (Some(universe), None, Some(bits)) => self.print_largest(
                &format!("The most items of {universe} in {} bits", grouped(bits)),
                |code| zone::largest_items(code, bits, universe.size()).map(u128::from),
                |by_code| Largest::Items { promise: "zone", largest_items: by_code },
            ),
            (Some(_), Some(_), Some(_)) => {
                bail!(
                    "--universe, --items and --bits are all given; leave one out: it follows from \
                     the other two"
                )
            }
            _ => bail!(
                "give two of --universe, --items and --bits, for example --universe 65536 --items \
                 10"
            ),
        }
    }

    /// One answer a code.
    fn print_largest(
        &self,
        title: &str,
        find: impl Fn(CodeKind) -> Option<u128>,
        answer: impl Fn(ByCode) -> Largest,
    ) -> anyhow::Result<()> {
        let codes = self.size.code.name().map_or(CodeKind::ALL.to_vec(), |code| vec![code]);
        let found: Vec<(CodeKind, Option<u128>)> =
            codes.into_iter().map(|code| (code, find(code))).collect();
        let by_code =
            found.iter().map(|(code, most)| (code.name(), most.map(Integer))).collect::<ByCode>();
        let mut lines = vec![title.to_owned()];
        for (code, most) in found {
            let most = most.map_or_else(|| "none".to_owned(), |most| most.to_string());
            lines.push(format!("{code:<10}{most}"));
        }
        let report = LargestReport { answer: answer(by_code), text: lines.join("\n") };
        output::print_report(&report, self.json)
    }

    fn guideline(&self, universe: &Universe) -> anyhow::Result<()> {
        if self.sizes.iter().any(|chance| !(0.0..=1.0).contains(chance))
            || (self.sizes.iter().sum::<f64>() - 1.0).abs() > 1e-6
        {
            bail!(
                "--sizes are chances from 0 to 1 that add up to 1 (they add up to {})",
                self.sizes.iter().sum::<f64>()
            );
        }
        if self.sizes.len() < 2 {
            bail!("--sizes are the chances of 0, 1, 2, ... items: give at least two");
        }
        if !self.worth.is_finite() || self.worth < 0.0 {
            bail!("--worth must be a number from 0 up (got {})", self.worth);
        }
        if self.size.counting || self.size.prefer == Preference::Probes {
            bail!("--sizes are weighed against bits; leave --counting and --prefer out");
        }
        let code = self.size.code.name().unwrap_or(CodeKind::Rs);
        let rows = zone::guideline(universe, &self.sizes, self.worth, code);
        let mut lines = vec![
            format!(
                "The worth of a query and its cost in bits, code {code}, a guaranteed answer worth \
                 {}",
                self.worth
            ),
            format!(
                "{:>6}{:>10}{:>10}{:>14}{:>14}",
                "items", "bits", "value", "value a bit", "gain a bit"
            ),
        ];
        let mut before: Option<&zone::Guideline> = None;
        for row in &rows {
            let gain = before.filter(|before| before.bits != row.bits).map_or_else(
                String::new,
                |before| {
                    format!(
                        "{:.3e}",
                        (row.value - before.value) / (row.bits as f64 - before.bits as f64)
                    )
                },
            );
            lines.push(format!(
                "{:>6}{:>10}{:>10.4}{:>14.3e}{gain:>14}",
                row.items,
                row.bits,
                row.value,
                row.value_per_bit()
            ));
            before = Some(row);
        }
        let guideline = rows
            .iter()
            .map(|row| GuidelineRow {
                items: row.items.into(),
                bits: row.bits.into(),
                value: row.value,
                value_per_bit: row.value_per_bit(),
            })
            .collect();
        let text = lines.join("\n");
        let report = GuidelineReport { promise: "zone", code: code.name(), guideline, text };
        output::print_report(&report, self.json)
    }

    fn alternatives(&self, plan: &Plan) -> Vec<Plan> {
        let other = |code: &CodeKind| *code != plan.code().kind();
        let best = |code| {
            Plan::choose(plan.universe(), plan.items(), Some(code), self.size.preference()).ok()
        };
        let plans = CodeKind::ALL.into_iter().filter(other).filter_map(best);
        plans.map(|other| if plan.is_counting() { other.counting() } else { other }).collect()
    }

    fn report<'a>(&self, plan: &'a Plan) -> PlanReport<'a> {
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
        let growth = growth(plan);
        PlanReport {
            facts: PlanFacts::new(plan),
            alternatives: others.iter().map(alternative).collect(),
            beyond: past(plan).map(beyond).collect(),
            listable: plan.listable().into(),
            grows_to_items: growth.map(|most| most.items.into()),
            grows_to_blocks: growth.map(|most| most.blocks.into()),
            plan,
            others,
        }
    }
}

/// The largest number for each code, by its name.
type ByCode = BTreeMap<&'static str, Option<Integer>>;

#[derive(Serialize)]
#[serde(untagged)]
enum Largest {
    Universe { promise: &'static str, largest_universe: ByCode },
    Items { promise: &'static str, largest_items: ByCode },
}

#[derive(Serialize)]
struct LargestReport {
    #[serde(flatten)]
    answer: Largest,
    #[serde(skip)]
    text: String,
}

impl Report for LargestReport {
    fn text(&self) -> String {
        self.text.clone()
    }
}

#[derive(Serialize)]
struct GuidelineReport {
    promise: &'static str,
    code: &'static str,
    guideline: Vec<GuidelineRow>,
    #[serde(skip)]
    text: String,
}

#[derive(Serialize)]
struct GuidelineRow {
    items: Integer,
    bits: Integer,
    value: f64,
    value_per_bit: f64,
}

impl Report for GuidelineReport {
    fn text(&self) -> String {
        self.text.clone()
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
struct PlanReport<'a> {
    #[serde(flatten)]
    facts: PlanFacts,
    alternatives: Vec<Alternative>,
    beyond: Vec<Beyond>,
    listable: Integer,
    grows_to_items: Option<Integer>,
    grows_to_blocks: Option<Integer>,
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
                "size      {} bits, {} bytes{counters}, {:.1} bits an item",
                grouped(plan.bits()),
                grouped(plan.bytes()),
                plan.bits() as f64 / plan.items() as f64
            ),
            format!("code      {}, {} probes a lookup", plan.code(), grouped(plan.probes())),
            format!("zone      free of false positives up to {}", count_of(plan.zone(), "item")),
            format!("because   {}", plan.certificate()),
        ];
        for other in &self.others {
            lines.push(format!(
                "          {} would take {} bits, {} probes",
                other.code(),
                grouped(other.bits()),
                grouped(other.probes())
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
        if let (Some(blocks), Some(items)) = (self.grows_to_blocks, self.grows_to_items) {
            lines.push(format!(
                "growing   tamis grow makes it as long as {}, for {}",
                count_of(blocks.0 as u64, "block"),
                count_of(items.0 as u64, "item")
            ));
        }
        lines.join("\n")
    }
}

/// Up to how many items a filter of this plan lists what it holds.
fn listing(plan: &Plan) -> String {
    let most = plan.listable();
    if most >= plan.items() {
        return format!(
            "a full filter lists its items, by testing at most {} candidates or by algebra",
            grouped(u64::try_from(plan.listing_work()).unwrap_or(u64::MAX))
        );
    }
    let counting = if plan.is_counting() { "" } else { "; with --counting it lists more" };
    format!("a filter lists its items while it holds up to {}{counting}", grouped(most))
}

/// How far a filter of this plan grows. The moduli of a coprime code are many, and to prove the
/// longest code takes seconds: `tamis grow` says it when it refuses.
fn growth(plan: &Plan) -> Option<zone::Growth> {
    (plan.code().kind() != CodeKind::Coprime).then(|| plan.growth())
}

/// How many items past the zone to show rates for.
fn past(plan: &Plan) -> impl Iterator<Item = u64> {
    let (items, size) = (plan.items(), plan.universe().size());
    [2, 4]
        .into_iter()
        .filter_map(move |times| items.checked_mul(times))
        .filter(move |items| u128::from(*items) < size)
}
