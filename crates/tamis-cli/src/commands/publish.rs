//! `tamis publish`: a private Bloom filter, under noise.

use super::ledger::{Payment, ReleaseReport};
use super::plan::privacy::PrivatePlan;
use crate::arguments::{epsilon, small_count};
use crate::filters::Access;
use crate::output::{self, Target, count_of, warn};
use anyhow::bail;
use clap::Args;
use std::path::{Path, PathBuf};
use tamis::privacy::{Epsilon, UltraFilter};
use tamis::{AnyFilter, Promise};

/// Publish a private Bloom filter under noise
///
/// Every bit is flipped at random, so that the release says of any one item at most a factor
/// e^epsilon. The private filter stays as it is and can go on taking keys. Each release costs
/// again: hand out copies of the file instead.
#[derive(Args)]
#[command(after_help = "\
The private filter's size and the items it was planned for become public: build it with --items, not by counting. With k hashes a bit \
gets a k-th of the loss, so filters with few hashes are the best to publish: build privacy --method bloom --private chooses them.

Examples:
  tamis publish private.tamis --epsilon 4 -o public.tamis
  tamis publish private.tamis --epsilon 4 --ledger suspects.ledger -o public.tamis

JSON fields: file, charged, left (of the ledger's budget), and those of `plan privacy`.")]
pub(crate) struct Publish {
    /// The private filter: of `build privacy --method bloom --private`, or of `build rate`
    filter: PathBuf,
    /// The loss: what adding or removing one item may change, at most by the factor e^E
    #[arg(long, value_name = "E", value_parser = epsilon, allow_negative_numbers = true)]
    epsilon: Epsilon,
    /// How many of its bits must be ones for a key to pass [default: the best]
    #[arg(long, value_name = "T", value_parser = small_count, allow_negative_numbers = true)]
    threshold: Option<u32>,
    #[command(flatten)]
    payment: Payment,
    #[command(flatten)]
    access: Access,
    #[command(flatten)]
    target: Target,
}

impl Publish {
    pub(crate) fn run(&self) -> anyhow::Result<()> {
        if self.filter != Path::new("-") {
            output::spare_sources(
                &self.target,
                [&self.filter].into_iter().chain(&self.payment.ledger),
            )?;
        }
        output::check_folder(&self.target)?;
        let bloom = match self.access.open(&self.filter, true)? {
            AnyFilter::Bloom(bloom) => bloom,
            other if other.promise() == Promise::Privacy => bail!(
                "{} is published already: copy it, which costs nothing, or publish the private filter again",
                self.filter.display()
            ),
            other => bail!(
                "{} is a {} filter; only a Bloom filter can be published: build privacy --method bloom --private, or build privacy from the keys",
                self.filter.display(),
                other.kind()
            ),
        };
        let mut private = UltraFilter::from_bloom(bloom, self.epsilon)?;
        if let Some(threshold) = self.threshold {
            private = private.with_threshold(threshold)?;
        }
        warn(&format!(
            "tamis: notice: the release tells that there is room for {}; that number must not come from counting the keys",
            count_of(private.plan().items(), "item")
        ));
        let left = self.payment.charge(self.epsilon, &self.target.output)?;
        output::save(&private.publish()?.into(), &self.target.output)?;
        let plan = PrivatePlan::Bloom(*private.plan());
        let report = ReleaseReport::new(&self.target, &plan, left);
        output::report_on(&self.target.output, &report, self.target.json)
    }
}
