//! `tamis plan zone`: no false positive, up to d items of a finite universe.

mod guideline;
mod largest;
mod report;

use largest::Largest;

use super::plot::Plot;
use crate::arguments::{count, universe};
use crate::output::{self, count_of, grouped};
use anyhow::{Context, bail};
use clap::{Args, ValueEnum};
use tamis::zone::{self, CodeKind, Plan, Prefer, Size, Universe};

/// Nobody is answered wrongly, up to d items of a finite universe. Give two of universe, items and
/// bits
#[derive(Args)]
#[command(after_help = "\
Universes: 65536 (0 to 65535), 1..48, 2^128, ipv4, 10.0.0.0/8, ipv6, 2001:db8::/32, uuid, mac,
hex:20 (codes of 20 hexadecimal digits), ipv4-prefixes, ipv6-prefixes:48, dictionary:FILE (its
lines).

Examples:
  tamis plan zone --universe 606 --items 3                     the bits it takes
  tamis plan zone --universe ipv4 --items 4 --code egh         as the EGH paper has it
  tamis plan zone --items 5 --bits 440                         the largest universe
  tamis plan zone --universe 65536 --bits 4096                 the most items
  tamis plan zone --universe 1000 --sizes 0.1,0.2,0.4,0.2,0.1 --worth 3
                                                               which zone is worth its bits

JSON fields: promise, code, items, universe, zone, bits, bytes, bits_per_item, probes, \
counter_bits, certificate, alternatives (code, bits, probes of the others), min_bits (Claim 2 of \
the EGH paper), max_probes (Claim 3), listing_work (candidates tested when listing from bits), \
beyond (items, fpr, bloom_fpr, bloom_best_fpr past the zone), listable (any so many items), \
usually_lists_all (nearly every set of items is listed), grows_to_items, \
grows_to_blocks. With --bits, largest_universe or largest_items by code, and lower_bounds: the \
codes whose answer is one. With --sizes, guideline: items, bits, value, value_per_bit. Integers \
past 2^53 are strings.")]
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
    /// The universe: a size, an interval a..b, ipv4, ipv6, a network 10.0.0.0/8, uuid, mac, hex:20,
    /// ipv4-prefixes, ipv6-prefixes:48, or dictionary:FILE
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
                |code| {
                    let items = zone::largest_items(code, bits, universe.size())?;
                    Size::new(items.into())
                },
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
}
