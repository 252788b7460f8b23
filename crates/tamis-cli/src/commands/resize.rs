//! `tamis grow` and `tamis shrink`: zone filters by blocks.

use crate::arguments::count;
use crate::filters::Access;
use crate::output::{self, Destination, Integer, Report, count_of, grouped};
use anyhow::bail;
use clap::Args;
use serde::Serialize;
use std::path::PathBuf;

pub(super) const GROW_EXAMPLES: &str = "\
Examples:
  tamis grow tags.tamis --items 5
  tamis grow tags.tamis --blocks 12

JSON fields: file, blocks, bits, items, zone, len, len_is_exact, health.";

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
        let Some(plan) = any.plan().zone() else {
            bail!(
                "{} is a {} filter, whose size is fixed; only zone filters grow and shrink",
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
