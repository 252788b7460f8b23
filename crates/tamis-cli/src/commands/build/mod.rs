//! `tamis build`: a filter from keys.

mod chain;
mod part;
mod privacy;
mod rate;
mod static_filter;
mod zone;

use clap::{Args, Subcommand};

/// Make a filter of keys
#[derive(Args)]
#[command(after_help = "\
Examples:
  tamis build rate --fpr 1% -o seen.tamis seen.txt
  tamis build zone --universe ipv4 --items 4 -o hosts.tamis hosts.txt
  tamis build privacy --items 1e4 --epsilon 4 -o public.tamis list.txt")]
pub(crate) struct Build {
    #[command(subcommand)]
    promise: Promise,
}

// As in `plan`: clap needs an enum of argument structs for each verb.
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
