//! `tamis grow` and `tamis shrink`: zone filters by blocks, quotient filters by doubling.

use crate::arguments::count;
use crate::filters::Access;
use crate::output::{self, Destination, Integer, Report, count_of, grouped, rate};
use anyhow::bail;
use clap::Args;
use serde::Serialize;
use std::path::{Path, PathBuf};
use tamis::AnyFilter;

pub(super) const GROW_EXAMPLES: &str = "\
Examples:
  tamis grow tags.tamis --items 5
  tamis grow tags.tamis --blocks 12
  tamis grow seen.tamis --items 2e6      a quotient filter doubles until they fit

JSON fields: file, blocks, bits, items, zone, len, len_is_exact, health; of a quotient filter: \
file, items, bits, expected_fpr (when full), fpr_now, health.";

pub(super) const SHRINK_EXAMPLES: &str = "\
Examples:
  tamis shrink tags.tamis --items 2
  tamis shrink tags.tamis --blocks 4

JSON fields: file, blocks, bits, items, zone, len, len_is_exact, health.";

/// Which way the length of a filter changes.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Direction {
    Longer,
    Shorter,
}

#[derive(Args)]
pub(crate) struct Resize {
    /// The filter to change
    filter: PathBuf,
    /// How many blocks it shall have
    #[arg(long, value_name = "K", value_parser = count)]
    #[arg(
        allow_negative_numbers = true,
        required_unless_present = "items",
        conflicts_with = "items"
    )]
    blocks: Option<u64>,
    /// How many items its zone shall allow: as few blocks as that takes
    #[arg(long, value_name = "D", value_parser = count, allow_negative_numbers = true)]
    items: Option<u64>,
    /// Print one JSON object
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    access: Access,
}

impl Resize {
    pub(crate) fn run(&self, direction: Direction) -> anyhow::Result<()> {
        let destination = Destination::in_place(&self.filter)?;
        let mut any = self.access.open(&self.filter, true)?;
        if let AnyFilter::Quotient(_) = &any {
            if direction == Direction::Shorter {
                any.shrink_for(1)?; // it says why it cannot
            }
            let Some(items) = self.items else {
                bail!("a quotient filter grows by doubling its slots; say for how many --items");
            };
            any.grow_for(items)?;
            destination.save(&any)?;
            return output::report_on(&self.filter, &Grown::new(&self.filter, &any), self.json);
        }
        let Some(plan) = any.plan().zone() else {
            bail!(
                "{} is a {} filter, whose size is fixed; zone filters grow and shrink, and \
                 quotient filters grow",
                self.filter.display(),
                any.kind()
            );
        };
        let (zone, items) = (plan.zone(), self.items.unwrap_or(1));
        if self.blocks.is_none() && direction == Direction::Shorter && items > zone {
            bail!(
                "{} is free of false positives for {}, which is less than {items} already; to \
                 make it longer: tamis grow",
                self.filter.display(),
                count_of(zone, "item")
            );
        }
        match (direction, self.blocks) {
            (Direction::Longer, Some(blocks)) => any.grow(blocks)?,
            (Direction::Longer, None) => any.grow_for(items)?,
            (Direction::Shorter, Some(blocks)) => any.shrink(blocks)?,
            (Direction::Shorter, None) => any.shrink_for(items)?,
        }
        destination.save(&any)?;
        let Some(plan) = any.plan().zone() else { return Ok(()) };
        let len = any.len().unwrap_or_default();
        let report = ResizeReport {
            file: self.filter.display().to_string(),
            blocks: plan.probes().into(),
            bits: plan.bits().into(),
            items: plan.items().into(),
            zone: plan.zone().into(),
            len: len.into(),
            len_is_exact: any.len_is_exact(),
            health: any.health().to_string(),
            text: format!(
                "{}: {}, {}; {} of at most {}; {} its zone",
                self.filter.display(),
                count_of(plan.probes(), "block"),
                count_of(plan.bits(), "bit"),
                count_of(len, "item"),
                grouped(plan.items()),
                any.health()
            ),
        };
        output::report_on(&self.filter, &report, self.json)
    }
}

/// What became of a quotient filter.
#[derive(Serialize)]
struct Grown {
    file: String,
    items: Integer,
    bits: Integer,
    expected_fpr: f64,
    fpr_now: f64,
    health: String,
}

impl Grown {
    fn new(file: &Path, any: &AnyFilter) -> Grown {
        let plan = any.plan();
        Grown {
            file: file.display().to_string(),
            items: plan.items().into(),
            bits: plan.bits().into(),
            expected_fpr: plan.rate().map_or(0.0, |plan| plan.expected_fpr(plan.items())),
            fpr_now: any.expected_fpr(),
            health: any.health().to_string(),
        }
    }
}

impl Report for Grown {
    fn text(&self) -> String {
        format!(
            "{}: room for {} items in {} bits; {} of strangers pass now, {} when it is full; {} \
             its plan",
            self.file,
            grouped(self.items.0 as u64),
            grouped(self.bits.0 as u64),
            rate(self.fpr_now),
            rate(self.expected_fpr),
            self.health
        )
    }
}

#[derive(Serialize)]
struct ResizeReport {
    file: String,
    blocks: Integer,
    bits: Integer,
    items: Integer,
    zone: Integer,
    len: Integer,
    len_is_exact: bool,
    health: String,
    #[serde(skip)]
    text: String,
}

impl Report for ResizeReport {
    fn text(&self) -> String {
        self.text.clone()
    }
}
