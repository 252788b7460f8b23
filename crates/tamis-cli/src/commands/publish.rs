//! `tamis publish`: a private Bloom filter, under noise.

use super::ledger::{Payment, ReleaseReport};
use crate::arguments::{epsilon, small_count};
use crate::filters::Access;
use crate::output::{self, Content, Destination, Target, count_of};
use anyhow::bail;
use clap::Args;
use std::path::PathBuf;
use tamis::privacy::{Epsilon, UltraFilter};
use tamis::{AnyFilter, Error, Promise};
use tamis_facts::PrivatePlan;

/// Publish a private Bloom filter under noise
///
/// Every bit is flipped at random, so that the release says of any one item at most a factor
/// e^epsilon. The private filter stays as it is and can go on taking keys. Each release costs
/// again: hand out copies of the file instead.
#[derive(Args)]
#[command(after_help = "\
The size of the private filter and the items it was planned for become public. Build it with \
--items, so that the size does not depend on the keys. With k hashes a bit gets a k-th of the \
loss, so filters with few hashes are the best to publish: build privacy --method bloom --private \
chooses them.

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
    /// Everybody may know how many items the filter was planned for, though they were counted
    #[arg(long)]
    size_is_public: bool,
    #[command(flatten)]
    payment: Payment,
    #[command(flatten)]
    access: Access,
    #[command(flatten)]
    target: Target,
}

impl Publish {
    pub(crate) fn run(&self) -> anyhow::Result<()> {
        output::standard_input_once(
            self.access.dictionary_path().into_iter().chain([&*self.filter]),
        )?;
        let sources = [&self.filter].into_iter().chain(&self.payment.ledger);
        let (output, force) = (&self.target.output, self.target.force);
        let destination = Destination::new(output, Content::Release, force, sources)?;
        let bloom = match self.access.open(&self.filter, true)? {
            AnyFilter::Bloom(bloom) => bloom,
            other if other.promise() == Promise::Privacy => bail!(
                "{} is published already: copy it, which costs nothing, or publish the private \
                 filter again",
                self.filter.display()
            ),
            other => bail!(
                "{} is a {} filter; only a Bloom filter can be published: build privacy --method \
                 bloom --private, or build privacy from the keys",
                self.filter.display(),
                other.kind()
            ),
        };
        let private = if self.size_is_public {
            UltraFilter::from_bloom_with_public_size(bloom, self.epsilon)
        } else {
            UltraFilter::from_bloom(bloom, self.epsilon)
        };
        let mut private = match private {
            Err(Error::CountedItems { items }) => bail!(
                "{} has room for {} because that many keys were counted, and the release would \
                 tell their number; build it again with --items N, or affirm that the number may \
                 be known: --size-is-public",
                self.filter.display(),
                count_of(items, "item")
            ),
            other => other?,
        };
        if let Some(threshold) = self.threshold {
            private = private.with_threshold(threshold)?;
        }
        // The target is open before anything is charged, and charged before anything is drawn.
        let file = destination.create()?;
        let receipt = self.payment.charge(self.epsilon, &self.target.output)?;
        let left = receipt.left();
        self.payment.say_if_charged(file.save(&private.publish(receipt)?.into()))?;
        let plan = PrivatePlan::Bloom(*private.plan());
        let report = ReleaseReport::new(&self.target, &plan, left);
        output::report_on(&self.target.output, &report, self.target.json)
    }
}
