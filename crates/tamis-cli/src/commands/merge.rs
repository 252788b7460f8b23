//! `tamis union` and `tamis intersect`: several filters into one.

use crate::filters::{Access, Contents};
use crate::foreign::{self, Found, From};
use crate::output::{self, Content, Destination, Integer, Report, Target};
use anyhow::{Context, bail};
use clap::Args;
use serde::Serialize;
use std::path::{Path, PathBuf};
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
    from: From,
    #[command(flatten)]
    access: Access,
}

impl Union {
    pub(crate) fn run(&self) -> anyhow::Result<()> {
        if let Some(first) = self.merge.look_at_first()? {
            return self.merge.run_foreign(first);
        }
        self.merge.run(AnyFilter::union)
    }
}

impl Intersect {
    pub(crate) fn run(&self) -> anyhow::Result<()> {
        if self.merge.look_at_first()?.is_some() {
            bail!("filters of other programs can be united, not intersected: use tamis union");
        }
        self.merge.run(AnyFilter::intersect)
    }
}

impl Merge {
    /// The first filter, if another program wrote it.
    fn look_at_first(&self) -> anyhow::Result<Option<Found>> {
        self.from.open(&self.filters[0], self.access.memory())
    }

    /// Unites filters of another program.
    fn run_foreign(&self, first: Found) -> anyhow::Result<()> {
        output::standard_input_once(self.filters.iter().map(PathBuf::as_path))?;
        let Target { output, force, json } = &self.target;
        let destination = Destination::new(output, Content::Foreign, *force, [])?;
        let one = |found: Found, path: &Path| match found {
            Found::Filter(filter) => Ok(*filter),
            Found::Parquet(_) => bail!(
                "the filters within {} belong to its data; only bare ones can be united",
                path.display()
            ),
        };
        let mut merged = one(first, &self.filters[0])?;
        for path in &self.filters[1..] {
            let Some(other) = self.from.open(path, self.access.memory())? else {
                bail!("{} is no {} filter", path.display(), merged.format());
            };
            merged.union(&one(other, path)?).with_context(|| {
                format!("cannot merge {} and {}", self.filters[0].display(), path.display())
            })?;
        }
        destination.save_bytes(&merged.to_bytes()?)?;
        let report = MergeReport {
            file: output.display().to_string(),
            filters: self.filters.len(),
            items: merged.planned().items.into(),
            estimated_items: merged.estimated_items(),
            exact: false,
            fpr_now: merged.expected_fpr(),
            health: merged.health().to_string(),
            text: format!(
                "{}: {} filters merged; {}; {} of strangers pass; {} plan",
                output.display(),
                self.filters.len(),
                foreign::contents(&merged),
                output::rate(merged.expected_fpr()),
                merged.health(),
            ),
        };
        output::report_on(output, &report, *json)
    }

    fn run(
        &self,
        merge: impl Fn(&mut AnyFilter, &AnyFilter) -> Result<(), Error>,
    ) -> anyhow::Result<()> {
        let files = self.filters.iter().map(PathBuf::as_path).chain(self.access.dictionary_path());
        output::standard_input_once(files)?;
        // The result may replace one of the filters merged, so they are no sources to protect.
        let destination = self.target.destination([])?;
        // What was made of a private filter is private.
        let is_private = self.filters.iter().any(|path| is_for_owner_alone(path));
        let destination = if is_private { destination.private() } else { destination };
        let mut merged = self.access.open(&self.filters[0], true)?;
        for path in &self.filters[1..] {
            let other = self.access.open(path, true)?;
            merge(&mut merged, &other).with_context(|| {
                format!("cannot merge {} and {}", self.filters[0].display(), path.display())
            })?;
        }
        destination.save(&merged)?;
        let contents = Contents::of(&merged);
        let report = MergeReport {
            file: self.target.output.display().to_string(),
            filters: self.filters.len(),
            items: contents.planned.into(),
            estimated_items: contents.items,
            exact: contents.exact,
            fpr_now: merged.expected_fpr(),
            health: merged.health().to_string(),
            text: format!(
                "{}: {} filters merged; {contents}; {} of strangers pass; {} plan",
                self.target.output.display(),
                self.filters.len(),
                output::rate(merged.expected_fpr()),
                merged.health(),
            ),
        };
        output::report_on(&self.target.output, &report, self.target.json)
    }
}

/// Whether nobody but its owner may read a file.
#[cfg(unix)]
fn is_for_owner_alone(path: &Path) -> bool {
    use std::os::unix::fs::PermissionsExt;
    path.metadata().is_ok_and(|it| it.is_file() && it.permissions().mode() & 0o077 == 0)
}

#[cfg(not(unix))]
fn is_for_owner_alone(_: &Path) -> bool {
    false
}

#[derive(Serialize)]
struct MergeReport {
    file: String,
    filters: usize,
    items: Integer,
    estimated_items: f64,
    exact: bool,
    fpr_now: f64,
    health: String,
    #[serde(skip)]
    text: String,
}

impl Report for MergeReport {
    fn text(&self) -> String {
        self.text.clone()
    }
}
