//! `tamis add`: more keys for a filter.

use crate::filter::{self, Opening};
use crate::input::Input;
use crate::output::{self, grouped, integer, number, object, rate};
use clap::Args;
use serde_json::json;
use std::path::PathBuf;
use tamis::rate::Health;

/// Add keys to a filter
///
/// The file is replaced in one step: a crash leaves the old filter or the new one.
#[derive(Args)]
#[command(after_help = "\
Examples:
  tamis add seen.tamis today.txt
  echo ant | tamis add seen.tamis

JSON fields: file, keys, certainly_new, estimated_items, expected_fpr, health.")]
pub(crate) struct Add {
    /// The filter to change
    filter: PathBuf,
    /// Print one JSON object
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    opening: Opening,
    #[command(flatten)]
    input: Input,
}

impl Add {
    pub(crate) fn run(&self) -> anyhow::Result<()> {
        let (mut any, manner) = self.opening.open_for(&self.filter, &self.input)?;
        let (mut keys, mut new) = (0, 0);
        manner.each(&self.input.files, "adding", false, |batch| {
            keys += batch.len() as u64;
            new += any.as_rate_mut().insert_many(&batch.keys());
            Ok(true)
        })?;
        filter::save(&any, &self.filter)?;
        let filter = any.as_rate();
        if self.json {
            output::print_json(object([
                ("file", json!(self.filter.display().to_string())),
                ("keys", integer(keys)),
                ("certainly_new", integer(new)),
                ("estimated_items", number(filter.estimated_items())),
                ("expected_fpr", number(filter.expected_fpr())),
                ("health", json!(filter.health().to_string())),
            ]))?;
        } else {
            let text = format!(
                "{}: {} keys added, at least {} of them new; about {} of {} planned items; {} plan",
                self.filter.display(),
                grouped(keys),
                grouped(new),
                output::about(filter.estimated_items()),
                grouped(filter.plan().items()),
                filter.health(),
            );
            output::report(&self.filter, &text)?;
        }
        if filter.health() == Health::Beyond {
            eprintln!(
                "tamis: warning: the filter is beyond its plan: {} of strangers pass, not {}; rebuild it with more --items",
                rate(filter.expected_fpr()),
                rate(filter.plan().fpr()),
            );
        }
        Ok(())
    }
}
