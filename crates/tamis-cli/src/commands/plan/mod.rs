//! `tamis plan`: what a filter will cost, before it is built.

pub(crate) mod chain;
mod plot;
pub(crate) mod privacy;
pub(crate) mod rate;
pub(crate) mod static_filter;
pub(crate) mod zone;

use clap::{Args, Subcommand};

/// Show how large a filter will be and what it will promise, before building it
#[derive(Args)]
#[command(after_help = "\
Examples:
  tamis plan rate --items 1e6 --fpr 1%
  tamis plan zone --universe ipv4 --items 4
  tamis plan privacy --items 1e6 --epsilon 4")]
pub(crate) struct Plan {
    #[command(subcommand)]
    promise: Promise,
}

#[derive(Subcommand)]
enum Promise {
    Rate(rate::PlanRate),
    Zone(zone::PlanZone),
    Privacy(privacy::PlanPrivacy),
}

impl Plan {
    pub(crate) fn run(&self) -> anyhow::Result<()> {
        match &self.promise {
            Promise::Rate(rate) => rate.run(),
            Promise::Zone(zone) => zone.run(),
            Promise::Privacy(privacy) => privacy.run(),
        }
    }
}
