//! `tamis overlap`: how many items two published sets have in common.

use crate::filters::{self, Opening};
use crate::input::{Input, Reading};
use crate::output::{self, Integer, Report, count_of, grouped, warn};
use anyhow::{Context, bail};
use clap::Args;
use serde::Serialize;
use std::path::{Path, PathBuf};
use tamis::privacy::{Estimate, Overlap};
use tamis::{AnyFilter, Error};

/// Estimate how many items two published sets have in common
///
/// With files of candidate keys, both releases are asked for each of them, and how many of the keys
/// are in both sets is estimated: for releases of any method, size and seed. Each key must come
/// once. Without files, the overlap of the whole sets is read off the bits of two releases of
/// --method bloom with the same seed and size: build the second with --seed-from.
#[derive(Args)]
#[command(after_help = "\
Examples:
  tamis overlap ours.tamis theirs.tamis candidates.txt
  sort -u names.txt | tamis overlap ours.tamis theirs.tamis -
  tamis overlap ours.tamis theirs.tamis --json

JSON fields: files, method (keys or bits), overlap (value: unbiased, so it may be below 0; low, \
high: 95 times in 100 the truth is between them); with keys also keys, passed_both, \
passed_first, passed_second, passed_neither, asked (text or integers).")]
pub(crate) struct OverlapOf {
    /// A published filter
    one: PathBuf,
    /// Another one
    other: PathBuf,
    /// Print one JSON object
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    opening: Opening,
    #[command(flatten)]
    input: Input,
}

impl OverlapOf {
    pub(crate) fn run(&self) -> anyhow::Result<()> {
        let filters = [&*self.one, &*self.other];
        let files = self.input.files.iter().map(PathBuf::as_path);
        output::standard_input_once(files.chain(filters).chain(self.opening.dictionary_path()))?;
        let [one, other] = [self.open(&self.one)?, self.open(&self.other)?];
        let together =
            || format!("cannot compare {} and {}", self.one.display(), self.other.display());
        let report = if self.input.files.is_empty() {
            let estimate = without_keys(&one, &other).with_context(together)?;
            OverlapReport::new(filters, "bits", estimate, None)
        } else {
            let overlap = both(&one, &other).with_context(together)?;
            let (overlap, asked) = self.ask(&one, &other, overlap)?;
            OverlapReport::new(
                filters,
                "keys",
                overlap.estimate(),
                Some(KeyFacts::new(&overlap, asked)),
            )
        };
        output::print_report(&report, self.json)
    }

    fn open(&self, path: &Path) -> anyhow::Result<AnyFilter> {
        let filter = self.opening.open(path)?;
        if filter.epsilon().is_none() {
            bail!(
                "{} is a {} filter, which is not published; to merge such filters: tamis union, \
                 tamis intersect",
                path.display(),
                filter.kind()
            );
        }
        Ok(filter)
    }

    /// Asks both for every key.
    fn ask(
        &self,
        one: &AnyFilter,
        other: &AnyFilter,
        mut overlap: Overlap,
    ) -> anyhow::Result<(Overlap, &'static str)> {
        let format = filters::format_to_ask(one, &self.input.format)?;
        if let Some(notice) = filters::kind_notice(one, &format) {
            warn(&format!("tamis: notice: {notice}"));
        }
        format.each(&self.input.files, "querying", Reading::AnyOrder, |batch| {
            let answers = filters::contains(one, batch)?;
            for (one, other) in answers.into_iter().zip(filters::contains(other, batch)?) {
                overlap.add(one, other);
            }
            Ok(true)
        })?;
        Ok((overlap, format.asked()))
    }
}

/// What two releases of any method say about keys.
fn both(one: &AnyFilter, other: &AnyFilter) -> Result<Overlap, Error> {
    match (one, other) {
        (AnyFilter::Linear(one), AnyFilter::Linear(other)) => Overlap::new(one, other),
        (AnyFilter::Linear(one), AnyFilter::PublicBloom(other)) => Overlap::new(one, other),
        (AnyFilter::PublicBloom(one), AnyFilter::Linear(other)) => Overlap::new(one, other),
        (AnyFilter::PublicBloom(one), AnyFilter::PublicBloom(other)) => Overlap::new(one, other),
        _ => Err(Error::TooNoisy), // `open` let published filters pass only
    }
}

fn without_keys(one: &AnyFilter, other: &AnyFilter) -> anyhow::Result<Estimate> {
    match (one, other) {
        (AnyFilter::PublicBloom(one), AnyFilter::PublicBloom(other)) => {
            one.estimate_overlap(other).map_err(|error| match error {
                Error::Mismatch { .. } => anyhow::anyhow!(
                    "{error}, the second with --seed-from, or name files of candidate keys, which \
                     any two releases can be asked for"
                ),
                other => other.into(),
            })
        }
        _ => bail!(
            "only two releases of --method bloom can be compared without keys; name files of \
             candidate keys"
        ),
    }
}

#[derive(Serialize)]
struct OverlapReport {
    files: [String; 2],
    method: &'static str,
    overlap: OverlapFacts,
    #[serde(flatten)]
    keys: Option<KeyFacts>,
}

/// How many items the sets share, probably.
#[derive(Serialize)]
struct OverlapFacts {
    value: f64,
    low: f64,
    high: f64,
}

#[derive(Serialize)]
struct KeyFacts {
    keys: Integer,
    passed_both: Integer,
    passed_first: Integer,
    passed_second: Integer,
    passed_neither: Integer,
    asked: &'static str,
    #[serde(skip)]
    seen: [u64; 4],
}

impl KeyFacts {
    fn new(overlap: &Overlap, asked: &'static str) -> KeyFacts {
        let seen @ [neither, second, first, both] = overlap.seen();
        KeyFacts {
            keys: (neither + second + first + both).into(),
            passed_both: both.into(),
            passed_first: first.into(),
            passed_second: second.into(),
            passed_neither: neither.into(),
            asked,
            seen,
        }
    }
}

impl OverlapReport {
    fn new(
        files: [&Path; 2],
        method: &'static str,
        Estimate { value, low, high, .. }: Estimate,
        keys: Option<KeyFacts>,
    ) -> OverlapReport {
        let files = files.map(|file| file.display().to_string());
        OverlapReport { files, method, overlap: OverlapFacts { value, low, high }, keys }
    }
}

impl Report for OverlapReport {
    fn text(&self) -> String {
        let [one, other] = &self.files;
        let OverlapFacts { value, low, high } = self.overlap;
        let whole = |number: f64| grouped(number.max(0.0) as u64);
        let range = format!("{} to {}", whole(low.floor()), whole(high.ceil()));
        let how = match &self.keys {
            Some(KeyFacts { seen: seen @ [_, second, first, both], .. }) => format!(
                "of {}, if all are different; {} pass both, {} the first alone, {} the second \
                 alone",
                count_of(seen.iter().sum(), "key"),
                grouped(*both),
                grouped(*first),
                grouped(*second),
            ),
            None => "read off the bits of both".to_owned(),
        };
        format!(
            "{one} and {other}\nin common about {} (95% sure: {range})\nhow       {how}",
            whole(value.round()),
        )
    }
}
