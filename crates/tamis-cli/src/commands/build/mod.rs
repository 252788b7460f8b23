//! `tamis build`: a filter from keys.

mod privacy;
mod rate;
mod zone;

use clap::{Args, Subcommand};

/// Make a filter of keys
#[derive(Args)]
pub(crate) struct Build {
    #[command(subcommand)]
    promise: Promise,
}

#[derive(Subcommand)]
enum Promise {
    Rate(rate::BuildRate),
    Zone(zone::BuildZone),
    Privacy(privacy::BuildPrivacy),
}

impl Build {
    pub(crate) fn run(&self) -> anyhow::Result<()> {
        match &self.promise {
            Promise::Rate(rate) => rate.run(),
            Promise::Zone(zone) => zone.run(),
            Promise::Privacy(privacy) => privacy.run(),
        }
    }
}
