//! `tamis remove`: fewer keys in a counting filter.

use crate::filter::{self, Access, Contents, Lock};
use crate::input::Input;
use crate::output::{self, grouped, integer, number, object};
use anyhow::bail;
use clap::Args;
use serde_json::json;
use std::path::PathBuf;
use tamis::{AnyFilter, Error};

/// Remove keys from a filter with counters
///
/// Remove only keys that were added: removing a stranger that happens to pass harms members, and
/// nothing can notice. A key that is certainly absent stops the command, and the file stays as it
/// was.
#[derive(Args)]
#[command(after_help = "\
Examples:
  tamis build rate --filter counting -o seen.tamis seen.txt
  tamis remove seen.tamis gone.txt
  tamis build zone --universe ipv4 --items 4 --counting -o hosts.tamis hosts.txt

JSON fields: file, removed, absent, saturated, estimated_items, exact (whether that is no estimate), fpr_now, health.")]
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
    access: Access,
    #[command(flatten)]
    input: Input,
}

impl Remove {
    pub(crate) fn run(&self) -> anyhow::Result<()> {
        filter::check_sources(&self.filter, &self.input)?;
        let _lock = Lock::new(&self.filter)?;
        let mut any = self.access.open(&self.filter, true)?;
        filter::check_forgets(&any)?;
        let manner = filter::suited(&any, &self.input.manner)?;
        let (mut removed, mut absent) = (0u64, 0u64);
        manner.each(&self.input.files, "removing", false, |batch| {
            for (key, text) in batch.keys().into_iter().zip(batch.texts()) {
                match filter::remove(&mut any, key, text)? {
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
        let contents = Contents::of(&any);
        let saturated = match &any {
            AnyFilter::Counting(counting) => counting.saturated(),
            _ => 0,
        };
        filter::save(&any, &self.filter)?;
        if self.json {
            return output::report_json(
                &self.filter,
                object([
                    ("file", json!(self.filter.display().to_string())),
                    ("removed", integer(removed)),
                    ("absent", integer(absent)),
                    ("saturated", integer(saturated)),
                    ("estimated_items", number(contents.items)),
                    ("exact", json!(contents.exact)),
                    ("fpr_now", number(any.expected_fpr())),
                    ("health", json!(any.health().to_string())),
                ]),
            );
        }
        let passed_over = if absent > 0 {
            format!(", {} certainly absent", grouped(absent))
        } else {
            String::new()
        };
        let stuck = if saturated > 0 {
            format!("; {} counters are at their ceiling and stay", grouped(saturated))
        } else {
            String::new()
        };
        let text = format!(
            "{}: {} removed{passed_over}; {contents} left{stuck}",
            self.filter.display(),
            output::of(removed, "key"),
        );
        output::report(&self.filter, &text)
    }
}
