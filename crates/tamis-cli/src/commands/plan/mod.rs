//! `tamis plan`: what a filter will cost, before it is built.

mod plot;
pub(crate) mod privacy;
pub(crate) mod rate;
pub(crate) mod zone;

use clap::{Args, Subcommand};

/// Show how large a filter will be and what it will promise, before building it
#[derive(Args)]
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
