//! `tamis remove`: fewer keys in a filter that can forget.

use crate::filters::{self, Access, Contents};
use crate::input::{Input, Reading};
use crate::output::{self, Destination, Integer, Report, count_of, grouped};
use anyhow::{Context, bail};
use clap::Args;
use serde::Serialize;
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
  tamis build rate --filter quotient -o seen.tamis seen.txt
  tamis remove seen.tamis gone.txt
  tamis build zone --universe ipv4 --items 4 --counting -o hosts.tamis hosts.txt

JSON fields: file, removed, absent, saturated, estimated_items, exact (whether that is no \
estimate), fpr_now, health.")]
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
        output::check_sources(
            &self.input,
            self.access.dictionary_path().into_iter().chain([&*self.filter]),
        )?;
        let destination = Destination::in_place(&self.filter)?;
        let mut any = self.access.open(&self.filter, true)?;
        filters::check_removable(&any)?;
        let format = filters::format_to_remove(&any, &self.input.format)?;
        let (mut removed, mut absent) = (0u64, 0u64);
        format.each(&self.input.files, "removing", Reading::InOrder, |batch| {
            for (index, (key, text)) in batch.keys().into_iter().zip(batch.texts()).enumerate() {
                let outcome = filters::remove(&mut any, key, text);
                match outcome.with_context(|| batch.place_of(index))? {
                    Ok(()) => removed += 1,
                    Err(Error::Absent) if self.ignore_absent => absent += 1,
                    Err(Error::Absent) => bail!(
                        "{}: the key {:?} is certainly absent; nothing was removed \
                         (--ignore-absent passes over such keys)",
                        batch.place_of(index),
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
        destination.save(&any)?;
        let passed_over = if absent > 0 {
            format!(", {} certainly absent", grouped(absent))
        } else {
            String::new()
        };
        let stuck = if saturated > 0 {
            let (counters, stay) = (count_of(saturated, "counter"), saturated == 1);
            let verb =
                if stay { "is at its ceiling and stays" } else { "are at their ceiling and stay" };
            format!("; {counters} {verb}")
        } else {
            String::new()
        };
        let report = RemoveReport {
            file: self.filter.display().to_string(),
            removed: removed.into(),
            absent: absent.into(),
            saturated: saturated.into(),
            estimated_items: contents.items,
            exact: contents.exact,
            fpr_now: any.expected_fpr(),
            health: any.health().to_string(),
            text: format!(
                "{}: {} removed{passed_over}; {contents} left{stuck}",
                self.filter.display(),
                count_of(removed, "key"),
            ),
        };
        output::report_on(&self.filter, &report, self.json)
    }
}

#[derive(Serialize)]
struct RemoveReport {
    file: String,
    removed: Integer,
    absent: Integer,
    saturated: Integer,
    estimated_items: f64,
    exact: bool,
    fpr_now: f64,
    health: String,
    #[serde(skip)]
    text: String,
}

impl Report for RemoveReport {
    fn text(&self) -> String {
        self.text.clone()
    }
}
