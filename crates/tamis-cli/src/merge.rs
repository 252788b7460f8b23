//! `tamis union` and `tamis intersect`: several filters into one.

use crate::filter::{self, Access, Contents, Lock, Target};
use crate::output::{self, integer, number, object};
use anyhow::Context;
use clap::Args;
use serde_json::json;
use std::path::PathBuf;
use tamis::{AnyFilter, Error};

/// Write a filter that passes whatever passes any of several
///
/// The filters must have the same layout, size and hash: build them with the same options, --items
/// included. Zone filters need only the same universe and code; of different lengths, the shorter
/// decides.
#[derive(Args)]
#[command(after_help = "\
Example: tamis union monday.tamis tuesday.tamis -o week.tamis

JSON fields: file, filters, items, estimated_items, exact, fpr_now, health.")]
pub(crate) struct Union {
    #[command(flatten)]
    merge: Merge,
}

/// Write a filter that passes what passes all of several
///
/// Keys of all of them pass. A key of only some may pass too, somewhat more often than a stranger;
/// not so of zone filters within their zones, whose result is exact.
/// The filters must have the same layout, size and hash: build them with the same options, --items
/// included. Zone filters need only the same universe and code; of different lengths, the shorter
/// decides.
#[derive(Args)]
#[command(after_help = "\
Example: tamis intersect customers.tamis visitors.tamis -o both.tamis

JSON fields: file, filters, items, estimated_items, exact, fpr_now, health.")]
pub(crate) struct Intersect {
    #[command(flatten)]
    merge: Merge,
}

#[derive(Args)]
struct Merge {
    /// The filters, two or more
    #[arg(num_args = 2.., required = true, value_name = "FILTER")]
    filters: Vec<PathBuf>,
    #[command(flatten)]
    target: Target,
    #[command(flatten)]
    access: Access,
}

impl Union {
    pub(crate) fn run(&self) -> anyhow::Result<()> {
        self.merge.run(AnyFilter::union)
    }
}

impl Intersect {
    pub(crate) fn run(&self) -> anyhow::Result<()> {
        self.merge.run(AnyFilter::intersect)
    }
}

impl Merge {
    fn run(
        &self,
        merge: impl Fn(&mut AnyFilter, &AnyFilter) -> Result<(), Error>,
    ) -> anyhow::Result<()> {
        filter::standard_input_once(self.filters.iter().map(PathBuf::as_path))?;
        filter::spare_other_files(&self.target)?;
        // The result may replace one of the filters merged.
        let _lock = Lock::new(&self.target.output)?;
        let mut merged = self.access.open(&self.filters[0], true)?;
        for path in &self.filters[1..] {
            let other = self.access.open(path, true)?;
            merge(&mut merged, &other).with_context(|| {
                format!("cannot merge {} and {}", self.filters[0].display(), path.display())
            })?;
        }
        filter::save(&merged, &self.target.output)?;
        let contents = Contents::of(&merged);
        if self.target.json {
            return output::report_json(
                &self.target.output,
                object([
                    ("file", json!(self.target.output.display().to_string())),
                    ("filters", json!(self.filters.len())),
                    ("items", integer(contents.planned)),
                    ("estimated_items", number(contents.items)),
                    ("exact", json!(contents.exact)),
                    ("fpr_now", number(merged.expected_fpr())),
                    ("health", json!(merged.health().to_string())),
                ]),
            );
        }
        let text = format!(
            "{}: {} filters merged; {contents}; {} of strangers pass; {} plan",
            self.target.output.display(),
            self.filters.len(),
            output::rate(merged.expected_fpr()),
            merged.health(),
        );
        output::report(&self.target.output, &text)
    }
}
