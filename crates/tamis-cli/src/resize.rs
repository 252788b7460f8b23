//! `tamis grow` and `tamis shrink`: zone filters by blocks.

use crate::filter::{self, Access, Lock};
use crate::output::{self, grouped, integer, object};
use anyhow::bail;
use clap::Args;
use serde_json::json;
use std::path::PathBuf;
use tamis::zone::{AnyZone, Plan};

/// Make a zone filter longer, so that its zone is larger
///
/// The filter lists itself for that, so it must be within its zone.
#[derive(Args)]
#[command(after_help = "\
Examples:
  tamis grow tags.tamis --items 5
  tamis grow tags.tamis --blocks 12

JSON fields: file, blocks, bits, items, zone, len, health.")]
pub(crate) struct Grow {
    #[command(flatten)]
    resize: Resize,
}

/// Make a zone filter shorter, and its zone smaller
///
/// If it holds more than the smaller zone allows, strangers may pass, and the filter says so from then on.
#[derive(Args)]
#[command(after_help = "\
Examples:
  tamis shrink tags.tamis --items 2
  tamis shrink tags.tamis --blocks 4

JSON fields: file, blocks, bits, items, zone, len, health.")]
pub(crate) struct Shrink {
    #[command(flatten)]
    resize: Resize,
}

#[derive(Args)]
struct Resize {
    /// The filter to change
    filter: PathBuf,
    /// How many blocks it shall have
    #[arg(long, value_name = "K", value_parser = crate::plan::count, required_unless_present = "items", conflicts_with = "items")]
    blocks: Option<u64>,
    /// How many items its zone shall allow: as few blocks as that takes
    #[arg(long, value_name = "D", value_parser = crate::plan::count)]
    items: Option<u64>,
    /// Print one JSON object
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    access: Access,
}

impl Grow {
    pub(crate) fn run(&self) -> anyhow::Result<()> {
        self.resize.run(|zone, blocks| zone.grow(blocks))
    }
}

impl Shrink {
    pub(crate) fn run(&self) -> anyhow::Result<()> {
        self.resize.run(|zone, blocks| zone.shrink(blocks))
    }
}

impl Resize {
    fn run(&self, change: impl Fn(&mut dyn AnyZone, u64) -> Result<(), tamis::Error>) -> anyhow::Result<()> {
        let _lock = Lock::new(&self.filter)?;
        let mut any = self.access.open(&self.filter, true)?;
        let kind = any.kind();
        let Some(zone) = any.as_zone_mut() else {
            bail!(
                "{} is a {kind} filter, whose size is fixed; only zone filters grow and shrink",
                self.filter.display()
            );
        };
        let blocks = match (self.blocks, self.items) {
            (Some(blocks), _) => blocks,
            (None, items) => blocks_for(zone.plan(), items.unwrap_or(1))?,
        };
        change(zone, blocks)?;
        filter::save(&any, &self.filter)?;
        let Some(zone) = any.as_zone() else { return Ok(()) };
        let plan = zone.plan();
        if self.json {
            return output::report_json(
                &self.filter,
                object([
                    ("file", json!(self.filter.display().to_string())),
                    ("blocks", integer(plan.probes())),
                    ("bits", integer(plan.bits())),
                    ("items", integer(plan.items())),
                    ("zone", integer(plan.zone())),
                    ("len", integer(zone.len())),
                    ("health", json!(any.health().to_string())),
                ]),
            );
        }
        let text = format!(
            "{}: {} blocks, {} bits; {} of at most {}; {} its zone",
            self.filter.display(),
            grouped(plan.probes()),
            grouped(plan.bits()),
            output::of(zone.len(), "item"),
            grouped(plan.items()),
            any.health()
        );
        output::report(&self.filter, &text)
    }
}

/// The fewest blocks of the code whose zone allows so many items.
fn blocks_for(plan: &Plan, items: u64) -> anyhow::Result<u64> {
    for blocks in 1.. {
        match plan.with_blocks(blocks) {
            Ok(plan) if plan.zone() >= items => return Ok(blocks),
            // Fewer blocks than there are may be too few for a single item; more may be more than the code has.
            Err(_) if blocks > plan.probes() => break,
            _ => {}
        }
    }
    bail!("no number of blocks of this code allows {items} items; build a filter with another code");
}
