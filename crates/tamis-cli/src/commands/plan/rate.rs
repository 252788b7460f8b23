//! `tamis plan rate`: members always pass, strangers at a rate.

use super::chain::ChainPlan;
use super::plot::Plot;
use super::static_filter::PlanReport as StaticReport;
use crate::arguments::{count, share, small_count, window};
use crate::output::{self, Report, count_of, grouped, rate};
use clap::{Args, ValueEnum};
use serde::Serialize;
use tamis::rate::{Kind, Plan as RatePlan, StaticPlan, Window};
use tamis_facts::{HEADER, RateReport};

/// Members always pass; strangers pass at a rate you choose. Give two of items, rate and bits
#[derive(Args)]
#[command(after_help = "\
Examples:
  tamis plan rate --items 1e6 --fpr 0.01                    the bits it takes
  tamis plan rate --items 1e6 --bits 8e6                    the rate it will have
  tamis plan rate --fpr 1% --bits 8e6                       the items it will hold
  tamis plan rate --items 1e6 --fpr 0.01 --filter blocked   one cache line a lookup
  tamis plan rate --items 1e4 --fpr 0.01 --filter split     half a cache line, for the caches
  tamis plan rate --items 1e6 --fpr 0.01 --filter static    the smallest, built once
  tamis plan rate --items 1e6 --fpr 1% --filter scalable    grown to a million keys
  tamis plan rate --window 1e6 --fpr 1% --filter rolling    the last million keys
  tamis plan rate --items 1e6 --fpr 0.01 --json | jq .bytes
  tamis plan rate --items 1e6 --fpr 0.01 --plot sizes.svg   a chart: bits against the rate

JSON fields: promise, filter, items, fpr, bits, bytes, file_bytes, bits_per_item, cells, \
counter_bits, hashes, expected_fpr (when full), approximate_fpr (by the textbook), \
expected_fpr_half (at half the items), advice. A static filter has fingerprint_bits and shards in \
place of cells, counter_bits, hashes and the last two rates. A scalable filter has first, growth \
and links (items, bits and counter_bits of each), a rolling one window_insertions or \
window_seconds, generations and links. Integers past 2^53 are strings.")]
pub(crate) struct PlanRate {
    #[command(flatten)]
    size: Size,
    /// Print one JSON object
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    plot: Plot,
}

/// What decides the size of a rate filter.
#[derive(Args)]
pub(crate) struct Size {
    /// How many distinct keys it will hold (1000, 1_000, 1e3)
    #[arg(long, value_name = "N", value_parser = count, allow_negative_numbers = true)]
    pub(crate) items: Option<u64>,
    /// The share of strangers that may pass (0.01 or 1%)
    #[arg(long, value_name = "P", value_parser = share, allow_negative_numbers = true)]
    pub(crate) fpr: Option<f64>,
    /// How many bits it may take
    #[arg(long, value_name = "M", value_parser = count, allow_negative_numbers = true)]
    pub(crate) bits: Option<u64>,
    /// The layout of the filter
    #[arg(long, value_enum, default_value_t = Layout::Bloom)]
    pub(crate) filter: Layout,
    /// The width of a counter, for --filter counting, from 2 to 16 [default: 4]
    #[arg(long, value_name = "W", value_parser = small_count, allow_negative_numbers = true)]
    pub(crate) counter_bits: Option<u32>,
    /// The keys of the first link, for --filter scalable [default: 1000]
    #[arg(long, value_name = "N", value_parser = count, allow_negative_numbers = true)]
    pub(crate) first: Option<u64>,
    /// How many times as large each next link is, for --filter scalable [default: 8]
    #[arg(long, value_name = "G", value_parser = small_count, allow_negative_numbers = true)]
    pub(crate) growth: Option<u32>,
    /// What --filter rolling remembers: so many keys (1e8), or a time (24h)
    #[arg(long, value_name = "W", value_parser = window, allow_negative_numbers = true)]
    pub(crate) window: Option<Window>,
}

#[derive(ValueEnum, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Layout {
    /// The usual one: keys are added as they come
    Bloom,
    /// One cache line a lookup: fast at any size, for 5% more bits at 1%
    Blocked,
    /// Half a cache line a lookup: fastest in the first cache without AVX-512, for 10% more bits
    Split,
    /// Keys can be removed, for four times the bits
    Counting,
    /// Keys can be removed and counted, at the size of bloom
    Quotient,
    /// The smallest: 6.8 bits a key at 1%. Built once, from all keys; none can be added later
    Static,
    /// Grows as keys come, and keeps its rate: for a number of keys that nobody knows
    Scalable,
    /// Forgets: the keys of the last insertions, or of the last hours (--window)
    Rolling,
}

impl Size {
    /// The plan, from exactly two of the three numbers.
    pub(crate) fn plan(&self) -> anyhow::Result<RatePlan> {
        check_percent(self.fpr)?;
        let kind = match self.filter {
            Layout::Bloom => Kind::Bloom,
            Layout::Blocked => Kind::Blocked,
            Layout::Split => Kind::Split,
            Layout::Counting => Kind::Counting,
            Layout::Quotient => Kind::Quotient,
            Layout::Static | Layout::Scalable | Layout::Rolling => {
                anyhow::bail!("such a filter has a plan of its own")
            }
        };
        self.check_no_chain()?;
        if self.counter_bits.is_some() && kind != Kind::Counting {
            anyhow::bail!(
                "--counter-bits goes with --filter counting; leave it out, or take that filter"
            );
        }
        let plan = match (self.items, self.fpr, self.bits) {
            (Some(items), Some(fpr), None) => {
                let plan = RatePlan::from_items_fpr(kind, items, fpr)?;
                self.counter_bits.map_or(Ok(plan), |width| plan.with_counter_bits(width))?
            }
            (Some(items), None, Some(bits)) => match self.counter_bits {
                Some(width) => RatePlan::counting_from_items_bits(items, bits, width)?,
                None => RatePlan::from_items_bits(kind, items, bits)?,
            },
            (None, Some(fpr), Some(bits)) => match self.counter_bits {
                Some(width) => RatePlan::counting_from_fpr_bits(fpr, bits, width)?,
                None => RatePlan::from_fpr_bits(kind, fpr, bits)?,
            },
            (Some(_), Some(_), Some(_)) => {
                anyhow::bail!(
                    "--items, --fpr and --bits are all given; leave one out: it follows from the \
                     other two"
                )
            }
            _ => {
                anyhow::bail!(
                    "give two of --items, --fpr and --bits, for example --items 1000000 --fpr 0.01"
                )
            }
        };
        Ok(plan)
    }
}

impl Size {
    /// Refuses options that only chains have.
    fn check_no_chain(&self) -> anyhow::Result<()> {
        if self.first.is_some() || self.growth.is_some() {
            anyhow::bail!(
                "--first and --growth go with --filter scalable; leave them out, or take that \
                 filter"
            );
        }
        if self.window.is_some() {
            anyhow::bail!("--window goes with --filter rolling; leave it out, or take that filter");
        }
        Ok(())
    }

    /// Refuses options that a chain does not have.
    pub(crate) fn check_chain(&self) -> anyhow::Result<()> {
        if self.bits.is_some() {
            anyhow::bail!(
                "--bits does not go with this filter: its size follows from the keys and the rate; \
                 give --fpr"
            );
        }
        if self.counter_bits.is_some() {
            anyhow::bail!(
                "--counter-bits goes with --filter counting; leave it out, or take that filter"
            );
        }
        match self.filter {
            Layout::Rolling if self.first.is_some() || self.growth.is_some() => anyhow::bail!(
                "--first and --growth go with --filter scalable; leave them out, or take that \
                 filter"
            ),
            Layout::Scalable if self.window.is_some() => anyhow::bail!(
                "--window goes with --filter rolling; leave it out, or take that filter"
            ),
            _ => check_percent(self.fpr),
        }
    }

    /// Refuses options that a static filter does not have.
    pub(crate) fn check_static(&self) -> anyhow::Result<()> {
        if self.counter_bits.is_some() {
            anyhow::bail!(
                "--counter-bits goes with --filter counting; leave it out, or take that filter"
            );
        }
        self.check_no_chain()?;
        check_percent(self.fpr)
    }

    fn static_plan(&self) -> anyhow::Result<StaticPlan> {
        self.check_static()?;
        match (self.items, self.fpr, self.bits) {
            (Some(items), Some(fpr), None) => Ok(StaticPlan::new(items, fpr)?),
            (Some(items), None, Some(bits)) => Ok(StaticPlan::from_items_bits(items, bits)?),
            (None, Some(fpr), Some(bits)) => Ok(StaticPlan::from_fpr_bits(fpr, bits)?),
            (Some(_), Some(_), Some(_)) => {
                anyhow::bail!(
                    "--items, --fpr and --bits are all given; leave one out: it follows from the \
                     other two"
                )
            }
            _ => anyhow::bail!(
                "give two of --items, --fpr and --bits, for example --items 1000000 --fpr 0.01"
            ),
        }
    }
}

/// A percentage that was meant as one.
fn check_percent(fpr: Option<f64>) -> anyhow::Result<()> {
    if let Some(percent) = fpr.filter(|fpr| (1.0..100.0).contains(fpr)) {
        anyhow::bail!(
            "a rate is a share from 1e-15 to 0.999 (got {percent}), and the nearest, 0.999, \
             lets all but everyone pass; for {percent} percent write {percent}%"
        );
    }
    Ok(())
}

impl PlanRate {
    pub(crate) fn run(&self) -> anyhow::Result<()> {
        if self.size.filter == Layout::Static {
            let plan = self.size.static_plan()?;
            self.plot.draw(|| tamis_plot::tradeoff::of_static(&plan))?;
            return output::print_report(&StaticReport::new(&plan), self.json);
        }
        if matches!(self.size.filter, Layout::Scalable | Layout::Rolling) {
            if self.plot.is_wanted() {
                anyhow::bail!("--plot draws filters of one size; leave it out for this filter");
            }
            let report = match self.size.filter {
                Layout::Rolling => ChainPlan::rolling(&self.size.rolling_plan()?),
                _ => {
                    let plan = self.size.scalable_plan()?;
                    ChainPlan::scalable(&plan, self.size.items.unwrap_or(plan.items()))?
                }
            };
            return output::print_report(&report, self.json);
        }
        let plan = self.size.plan()?;
        self.plot.draw(|| tamis_plot::tradeoff::of_rate(&plan))?;
        output::print_report(&PlanReport::new(&plan), self.json)
    }
}

/// A plan as a person reads it.
#[derive(Serialize)]
struct PlanReport<'a> {
    #[serde(flatten)]
    report: RateReport,
    #[serde(skip)]
    plan: &'a RatePlan,
}

impl PlanReport<'_> {
    fn new(plan: &RatePlan) -> PlanReport<'_> {
        PlanReport { report: RateReport::new(plan), plan }
    }
}

impl Report for PlanReport<'_> {
    fn text(&self) -> String {
        let plan = self.plan;
        let n = plan.items();
        let layout = match plan.filter() {
            Kind::Bloom => format!("{} bits a key, anywhere", plan.hashes()),
            Kind::Blocked => {
                format!(
                    "{} blocks of one cache line, {} bits a key",
                    grouped(plan.cells() / 512),
                    plan.hashes()
                )
            }
            Kind::Split => {
                format!(
                    "{} blocks of half a cache line, {} bits a key",
                    grouped(plan.cells() / 256),
                    plan.hashes()
                )
            }
            Kind::Counting => {
                format!(
                    "{} counters of {} bits, {} counters a key",
                    grouped(plan.cells()),
                    plan.counter_bits(),
                    plan.hashes()
                )
            }
            Kind::Quotient => {
                format!(
                    "{} slots of {} bits and their marks, a slot a key; 19 of 20 are taken",
                    grouped(plan.cells()),
                    plan.counter_bits()
                )
            }
            other => other.to_string(),
        };
        let mut text = format!(
            "A {} filter for {} at a rate of {}\n\
             size      {} bits, {} bytes ({} with the file's header), {:.2} bits an item\n\
             layout    {layout}\n\
             expected  {} of strangers pass when it is full, {} when half full",
            plan.filter(),
            count_of(n, "item"),
            rate(plan.fpr()),
            grouped(plan.bits()),
            grouped(plan.bytes()),
            grouped(plan.bytes() + HEADER),
            plan.bits_per_item(),
            rate(plan.expected_fpr(n)),
            rate(plan.expected_fpr(n / 2)),
        );
        for line in self.report.advice() {
            text.push_str("\nadvice    ");
            text.push_str(line);
        }
        text
    }
}
