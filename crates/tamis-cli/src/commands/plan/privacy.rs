//! `tamis plan privacy`: what may be published, and how often it will be wrong.

use super::plot::{self, Plot};
use crate::arguments::{count, epsilon, share, small_count};
use crate::output::{self, Report, count_of, grouped, rate};
use anyhow::{Context, bail};
use clap::{Args, ValueEnum};
use serde::Serialize;
use tamis::privacy::{Epsilon, LinearPlan, UltraPlan, floor};
use tamis::rate::{Kind, Plan as RatePlan};
use tamis_facts::{HEADER, PrivacyReport, PrivatePlan};

/// What is published says of any one item at most a factor e^epsilon
#[derive(Args)]
#[command(after_help = "\
Epsilon is the loss when one item is added or removed; replacing one costs twice as much. At \
epsilon 1 a member is at most 2.7 times as likely to pass as a stranger, at 4 it is 55 times.

Examples:
  tamis plan privacy --items 1e6 --epsilon 4
      the linear filter: as accurate as can be
  tamis plan privacy --items 1e6 --epsilon 4 --fp 0.1%
      fewer false positives, for more false negatives
  tamis plan privacy --items 1e6 --epsilon 4 --method bloom
      UltraFilter: randomized response on a Bloom filter
  tamis plan privacy --items 2^20 --epsilon 40 --method bloom --bits 2^24 --hashes 10 --threshold 10
      the paper's rule: all ones

JSON fields: promise, method, items, epsilon (spent), epsilon_asked, epsilon_replace, fp, fn, f1, \
floor (the least that both errors can be at this epsilon), bits, bytes, file_bytes, \
bits_per_item; linear: q, drop_rate, shards, columns; bloom: hashes, threshold, epsilon_bit, \
flip_rate, reconstruction_error. Integers past 2^53 are strings.")]
pub(crate) struct PlanPrivacy {
    #[command(flatten)]
    size: PrivacySize,
    /// Print one JSON object
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    plot: Plot,
}

/// What decides the size and the accuracy of a published filter.
#[derive(Args)]
pub(crate) struct PrivacySize {
    /// How many items it has room for: public, so choose it without counting your keys
    #[arg(long, value_name = "N", value_parser = count, allow_negative_numbers = true)]
    items: Option<u64>,
    /// The loss: what adding or removing one item may change, at most by the factor e^E
    #[arg(long, value_name = "E", value_parser = epsilon, allow_negative_numbers = true)]
    epsilon: Option<Epsilon>,
    /// How it is made
    #[arg(long, value_enum, default_value_t = Method::Linear)]
    pub(crate) method: Method,
    /// The share of strangers that may pass (0.01 or 1%) [default: as many as members that do not]
    #[arg(long, value_name = "P", value_parser = share, allow_negative_numbers = true)]
    fp: Option<f64>,
    /// How many bits it may take, for --method bloom [default: 16 an item]
    #[arg(long, value_name = "M", value_parser = count, allow_negative_numbers = true)]
    bits: Option<u64>,
    /// How many bits an item sets, for --method bloom [default: the best]
    #[arg(long, value_name = "K", value_parser = small_count, allow_negative_numbers = true)]
    hashes: Option<u32>,
    /// How many of its bits must be ones for a key to pass, for --method bloom [default: the best]
    #[arg(long, value_name = "T", value_parser = small_count, allow_negative_numbers = true)]
    threshold: Option<u32>,
}

#[derive(ValueEnum, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Method {
    /// As accurate as any private filter can be, in the fewest bits
    Linear,
    /// A Bloom filter whose bits are flipped at random: less accurate, but the private filter can
    /// go on taking items
    Bloom,
}

impl PrivacySize {
    pub(crate) fn plan(&self) -> anyhow::Result<PrivatePlan> {
        let items = self.items.context(
            "say for how many items there is room: --items N (it becomes public, so choose it \
             before you count your keys)",
        )?;
        let epsilon =
            self.epsilon.context("say what may be lost: --epsilon E, for example --epsilon 4")?;
        if let Some(percent) = self.fp.filter(|fp| (1.0..100.0).contains(fp)) {
            bail!(
                "a rate is a share up to 0.5 (got {percent}); for {percent} percent write \
                 {percent}%"
            );
        }
        match self.method {
            Method::Linear => {
                for (given, name) in [
                    (self.bits.is_some(), "--bits"),
                    (self.hashes.is_some(), "--hashes"),
                    (self.threshold.is_some(), "--threshold"),
                ] {
                    if given {
                        bail!(
                            "{name} goes with --method bloom; a linear filter's size follows from \
                             --items, --epsilon and --fp"
                        );
                    }
                }
                Ok(PrivatePlan::Linear(match self.fp {
                    Some(fp) => LinearPlan::with_fpr(items, epsilon, fp)?,
                    None => LinearPlan::new(items, epsilon)?,
                }))
            }
            Method::Bloom => {
                let bits = self.bits.unwrap_or(items.saturating_mul(16));
                let plan = match (self.hashes, self.fp) {
                    (Some(_), Some(_)) => {
                        bail!("--fp chooses the hashes; leave --hashes or --fp out")
                    }
                    (Some(hashes), None) => {
                        let bloom = RatePlan::from_items_bits(Kind::Bloom, items, bits)?
                            .with_hashes(hashes)?;
                        UltraPlan::of_bloom(bloom, epsilon)?
                    }
                    (None, Some(fp)) => UltraPlan::with_fpr(items, bits, epsilon, fp)?,
                    (None, None) => UltraPlan::with_bits(items, bits, epsilon)?,
                };
                Ok(PrivatePlan::Bloom(match self.threshold {
                    Some(threshold) => plan.with_threshold(threshold)?,
                    None => plan,
                }))
            }
        }
    }
}

impl PlanPrivacy {
    pub(crate) fn run(&self) -> anyhow::Result<()> {
        let plan = self.size.plan()?;
        self.plot.draw(|| plot::of_privacy(&plan))?;
        let report = PrivacyReport::new(&plan, self.size.epsilon);
        let report = PlanReport { report, plan: &plan };
        output::print_report(&report, self.json)
    }
}

#[derive(Serialize)]
struct PlanReport<'a> {
    #[serde(flatten)]
    report: PrivacyReport,
    #[serde(skip)]
    plan: &'a PrivatePlan,
}

impl Report for PlanReport<'_> {
    fn text(&self) -> String {
        let what = match self.plan {
            PrivatePlan::Linear(_) => "A linear filter",
            PrivatePlan::Bloom(_) => "A Bloom filter under noise",
        };
        format!(
            "{what} to be published, with room for {}\n{}",
            count_of(self.plan.items(), "item"),
            lines(self.plan)
        )
    }
}

/// A plan in words, the title aside.
pub(crate) fn lines(plan: &PrivatePlan) -> String {
    let (fp, missed, _) = plan.rates();
    let how = match plan {
        PrivatePlan::Linear(plan) => format!(
            "{} of the items are dropped; equations over {} elements, {} of {} columns",
            rate(plan.drop_rate().to_f64()),
            plan.q(),
            count_of(plan.shards(), "shard"),
            grouped(plan.columns()),
        ),
        PrivatePlan::Bloom(plan) => format!(
            "{} an item, each flipped with {} (epsilon {:.4} a bit); a key passes with {} or \
             more ones",
            count_of(u64::from(plan.hashes()), "bit"),
            rate(plan.flip_rate().to_f64()),
            plan.epsilon_bit(),
            plan.threshold(),
        ),
    };
    let least = floor(plan.epsilon());
    let reached = if fp.max(missed) <= 1.001 * least {
        "and both are".to_owned()
    } else {
        format!("and the worse is {:.2} times that", fp.max(missed) / least)
    };
    format!(
        "loss      epsilon {} for one item added or removed, {} for one replaced\n\
         members   {} pass, {} do not (FN)\n\
         strangers {} pass (FP)\n\
         floor     {} is the least that both FN and FP can be at this loss, {reached}\n\
         size      {} bytes ({} with the file's header), {:.2} bits an item, whatever the set\n\
         how       {how}",
        plan.epsilon(),
        plan.epsilon()
            .checked_mul(2)
            .map_or("more than can be written".to_owned(), |twice| twice.to_string()),
        rate(1.0 - missed),
        rate(missed),
        rate(fp),
        rate(least),
        grouped(plan.bits().div_ceil(8)),
        grouped(plan.bits().div_ceil(8) + HEADER),
        plan.bits() as f64 / plan.items() as f64,
    )
}
