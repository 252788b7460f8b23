//! `tamis remove`: fewer keys in a counting filter.

use crate::filter::{self, KeyFile, Lock};
use crate::input::Input;
use crate::output::{self, grouped, integer, number, object};
use anyhow::bail;
use clap::Args;
use serde_json::json;
use std::path::PathBuf;
use tamis::{AnyFilter, Error};

/// Remove keys from a counting filter
///
/// Remove only keys that were added: removing a stranger that happens to pass harms members, and nothing can notice.
/// A key that is certainly absent stops the command, and the file stays as it was.
#[derive(Args)]
#[command(after_help = "\
Examples:
  tamis build rate --filter counting -o seen.tamis seen.txt
  tamis remove seen.tamis gone.txt

JSON fields: file, removed, absent, saturated, estimated_items.")]
pub(crate) struct Remove {
    /// The filter to change
    filter: PathBuf,
    /// Pass over keys that are certainly absent instead of stopping
    #[arg(long)]
    ignore_absent: bool,
    /// Print one JSON object
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    key: KeyFile,
    #[command(flatten)]
    input: Input,
}

impl Remove {
    pub(crate) fn run(&self) -> anyhow::Result<()> {
        filter::check_sources(&self.filter, &self.input)?;
        let _lock = Lock::new(&self.filter)?;
        let any = self.key.open(&self.filter, true)?;
        let manner = filter::manner_for(&any, &self.input);
        let AnyFilter::Counting(mut counting) = any else {
            bail!(
                "{} is a {} filter, which cannot forget a key; build it with --filter counting to remove keys",
                self.filter.display(),
                any.as_rate().plan().filter()
            );
        };
        let (mut removed, mut absent) = (0u64, 0u64);
        manner.each(&self.input.files, "removing", false, |batch| {
            for (key, text) in batch.keys().into_iter().zip(batch.printed()) {
                match counting.remove(key) {
                    Ok(()) => removed += 1,
                    Err(Error::Absent) if self.ignore_absent => absent += 1,
                    Err(Error::Absent) => bail!(
                        "the key {:?} is certainly absent; nothing was removed (--ignore-absent passes over such keys)",
                        String::from_utf8_lossy(text)
                    ),
                    Err(other) => return Err(other.into()),
                }
            }
            Ok(true)
        })?;
        let (saturated, estimate) = (counting.saturated(), counting.estimated_items());
        filter::save(&counting.into(), &self.filter)?;
        if self.json {
            return output::report_json(
                &self.filter,
                object([
                    ("file", json!(self.filter.display().to_string())),
                    ("removed", integer(removed)),
                    ("absent", integer(absent)),
                    ("saturated", integer(saturated)),
                    ("estimated_items", number(estimate)),
                ]),
            );
        }
        let passed_over =
            if absent > 0 { format!(", {} certainly absent", grouped(absent)) } else { String::new() };
        let stuck = if saturated > 0 {
            format!("; {} counters are at their ceiling and stay", grouped(saturated))
        } else {
            String::new()
        };
        let text = format!(
            "{}: {} keys removed{passed_over}; about {} items left{stuck}",
            self.filter.display(),
            grouped(removed),
            output::about(estimate),
        );
        output::report(&self.filter, &text)
    }
}
