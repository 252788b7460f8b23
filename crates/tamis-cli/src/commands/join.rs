//! `tamis join`: the parts of a filter into one.

use super::ledger::{Payment, ReleaseReport};
use crate::arguments::{KeyFile, MemoryLimit};
use crate::filters::Contents;
use crate::output::{self, Integer, Report, Target, rate};
use anyhow::{Context, bail};
use clap::Args;
use serde::Serialize;
use std::fs::File;
use std::path::{Path, PathBuf};
use tamis::format::{Join as Joining, PartNumber};
use tamis::{AnyFilter, Error, Open};
use tamis_facts::PrivatePlan;

/// Write the filter that several machines have built in parts
///
/// All parts of `tamis build --shard` must be there, in any order, each once. The filter is byte
/// for byte the one that a single machine builds by the same plan.
#[derive(Args)]
#[command(after_help = "\
A private filter becomes a release here: the ledger is charged once for the whole of it, before \
it is written. Its parts are secret until then. Joining the same parts again gives the same file.

Examples:
  tamis build rate --filter static --items 1e9 --fpr 1% --shard 1/16 -o part-01 all/*.txt
  tamis join part-* -o all.tamis
  tamis join part-* --ledger people.ledger -o public.tamis

JSON fields: file, parts, filter, items, estimated_items, exact, fpr_now, health; of a private \
filter: file, charged, left (of the ledger's budget), and those of `plan privacy`.")]
pub(crate) struct Join {
    /// The parts, all of them
    #[arg(required = true, value_name = "PART")]
    parts: Vec<PathBuf>,
    #[command(flatten)]
    payment: Payment,
    #[command(flatten)]
    key: KeyFile,
    #[command(flatten)]
    memory: MemoryLimit,
    #[command(flatten)]
    target: Target,
}

impl Join {
    pub(crate) fn run(&self) -> anyhow::Result<()> {
        let sources = self.parts.iter().chain(&self.payment.ledger).chain(self.key.path());
        let destination = self.target.destination(sources)?;
        let joining = self.read()?;
        joining.check_complete()?;
        if let Some(plan) = joining.linear_plan() {
            let plan = PrivatePlan::Linear(*plan);
            // The target is open before anything is charged, and charged before anything leaves.
            let file = destination.create()?;
            let receipt = self.payment.charge(plan.epsilon(), &self.target.output)?;
            let left = receipt.left();
            self.payment.say_if_charged(file.save(&joining.publish(receipt)?.into()))?;
            let report = ReleaseReport::new(&self.target, &plan, left);
            return output::report_on(&self.target.output, &report, self.target.json);
        }
        let filter = joining.finish()?;
        if self.payment.ledger.is_some() {
            bail!(
                "a {} filter is no release, and costs no epsilon; leave --ledger out",
                filter.kind()
            );
        }
        destination.save(&filter)?;
        self.report(&filter)
    }

    /// Reads one part after the other. A key is read only if the parts need one.
    fn read(&self) -> anyhow::Result<Joining> {
        let mut open = Open::new();
        if let Some(most) = self.memory.bytes() {
            open = open.max_memory(most);
        }
        let mut joining = Joining::new(open.clone());
        for (i, path) in self.parts.iter().enumerate() {
            if !path.exists() {
                let part = path.display();
                bail!("there is no part {part}; make it with tamis build --shard I/N");
            }
            let taken = match take(&mut joining, path) {
                Err(Error::KeyNeeded) if i == 0 => {
                    let key = self.key.read()?.with_context(|| {
                        format!(
                            "the hash of {} is keyed; name the file with its key: --key-file FILE",
                            path.display()
                        )
                    })?;
                    joining = Joining::new(open.clone().key(key));
                    take(&mut joining, path)
                }
                taken => taken,
            };
            taken.with_context(|| format!("cannot join {}", path.display()))?;
        }
        Ok(joining)
    }

    fn report(&self, filter: &AnyFilter) -> anyhow::Result<()> {
        let contents = Contents::of(filter);
        let report = JoinReport {
            file: self.target.output.display().to_string(),
            parts: self.parts.len(),
            filter: filter.kind(),
            items: contents.planned.into(),
            estimated_items: contents.items,
            exact: contents.exact,
            fpr_now: filter.expected_fpr(),
            health: filter.health().to_string(),
            text: format!(
                "{}: {} parts joined to a {} filter; {contents}; {} of strangers pass; {} plan",
                self.target.output.display(),
                self.parts.len(),
                filter.kind(),
                rate(filter.expected_fpr()),
                filter.health(),
            ),
        };
        output::report_on(&self.target.output, &report, self.target.json)
    }
}

fn take(joining: &mut Joining, path: &Path) -> Result<PartNumber, Error> {
    joining.reader(File::open(path)?)
}

#[derive(Serialize)]
struct JoinReport {
    file: String,
    parts: usize,
    filter: &'static str,
    items: Integer,
    estimated_items: f64,
    exact: bool,
    fpr_now: f64,
    health: String,
    #[serde(skip)]
    text: String,
}

impl Report for JoinReport {
    fn text(&self) -> String {
        self.text.clone()
    }
}
