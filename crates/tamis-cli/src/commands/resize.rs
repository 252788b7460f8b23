//! `tamis grow` and `tamis shrink`: zone filters by blocks.

use crate::arguments::count;
use crate::filters::Access;
use crate::output::{self, Destination, Integer, Report, count_of, grouped};
use anyhow::bail;
use clap::Args;
use serde::Serialize;
use std::path::PathBuf;
use tamis::AnyFilter;

/// Make a zone filter longer, so that its zone is larger
///
/// The filter lists itself for that, so it must be within its zone.
#[derive(Args)]
#[command(after_help = "\
Examples:
  tamis grow tags.tamis --items 5
  tamis grow tags.tamis --blocks 12

JSON fields: file, blocks, bits, items, zone, len, len_is_exact, health.")]
pub(crate) struct Grow {
    #[command(flatten)]
    resize: Resize,
}

/// Make a zone filter shorter, and its zone smaller
///
/// If it holds more than the smaller zone allows, strangers may pass, and the filter says so from
/// then on.
#[derive(Args)]
#[command(after_help = "\
Examples:
  tamis shrink tags.tamis --items 2
  tamis shrink tags.tamis --blocks 4

JSON fields: file, blocks, bits, items, zone, len, len_is_exact, health.")]
pub(crate) struct Shrink {
    #[command(flatten)]
    resize: Resize,
}

#[derive(Args)]
struct Resize {
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

impl Grow {
    pub(crate) fn run(&self) -> anyhow::Result<()> {
        self.resize.run(|zone, blocks| zone.grow(blocks), |zone, items| zone.grow_for(items))
    }
}

impl Shrink {
    pub(crate) fn run(&self) -> anyhow::Result<()> {
        self.resize.run(|zone, blocks| zone.shrink(blocks), |zone, items| zone.shrink_for(items))
    }
}

impl Resize {
    fn run(
        &self,
        to_blocks: impl Fn(&mut AnyFilter, u64) -> Result<(), tamis::Error>,
        for_items: impl Fn(&mut AnyFilter, u64) -> Result<(), tamis::Error>,
    ) -> anyhow::Result<()> {
        let destination = Destination::in_place(&self.filter)?;
        let mut any = self.access.open(&self.filter, true)?;
        let kind = any.kind();
        if any.plan().zone().is_none() {
            bail!(
                "{} is a {kind} filter, whose size is fixed; only zone filters grow and shrink",
                self.filter.display()
            );
        }
        match (self.blocks, self.items) {
            (Some(blocks), _) => to_blocks(&mut any, blocks)?,
            (None, items) => for_items(&mut any, items.unwrap_or(1))?,
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
                "{}: {}, {} bits; {} of at most {}; {} its zone",
                self.filter.display(),
                count_of(plan.probes(), "block"),
                grouped(plan.bits()),
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
