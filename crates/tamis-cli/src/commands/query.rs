//! `tamis query`: which keys pass.

use crate::filters::{self, Opening};
use crate::foreign::{Asker, Expecting, Found, From, Groups};
use crate::input::{Batch, Input, KeyFormat, Reading};
use crate::output::{self, Integer, Report, count_of, grouped, rate, warn};
use anyhow::{anyhow, bail};
use clap::Args;
use serde::Serialize;
use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::PathBuf;
use tamis::privacy::Estimate;
use tamis::{Error, Promise};
use tamis_foreign::parquet::ParquetFile;

/// Print the keys that pass the filter
///
/// A key that passes a rate filter is a member, or one of the few strangers that the promise
/// allows; a key that passes a zone filter within its zone is a member. A key that does not pass is
/// certainly none. Of a published filter, all this is probable only, and the command
/// says how probable.
#[derive(Args)]
#[command(after_help = "\
Exit code: 0 some key was printed, 1 none, 2 an error.

Examples:
  tamis query seen.tamis new.txt                    keys that may have been seen
  tamis query -v seen.tamis new.txt                 keys that certainly have not
  echo ant | tamis query -q seen.tamis && echo yes  just the exit code
  tamis query --csv email --rows seen.tamis in.csv  whole rows, header first
  tamis query -c seen.tamis new.txt                 how many
  tamis query -n seen.tamis new.txt                 with line numbers
  tamis query --comments '#' hosts.tamis hosts.txt  without comment lines
  tamis query seen.bloom new.txt                    a filter of another program
  tamis query --keys long ids.guava new.txt         what its keys are, it does not say
  tamis query data.parquet --column city new.txt    row groups, each with a key it may hold

The filter may be one of another program, known by its shape or by --from. In the place of a \
filter may stand a Parquet file: then --column names the column whose filters are asked, and each \
line is the number of a row group, a tab and a key that may be in it.

JSON fields: file, promise, keys, passed, printed, foreign (with --skip-foreign), asked (text, \
integers, text and integers, or elements of a universe), fpr_now; of a published filter also fp, \
fn, epsilon, members (value, low, high: how many keys are in the set, if all are different); \
of another program's filter also format, and for a Parquet file row_groups: row_group, passed, \
fpr_now of each.")]
pub(crate) struct Query {
    /// The filter
    filter: PathBuf,
    /// Print the keys that do not pass instead: these are certainly no members (of a published
    /// filter, probably none)
    #[arg(short = 'v', long)]
    invert: bool,
    /// Print only how many keys would be printed
    #[arg(short, long, conflicts_with = "json")]
    count: bool,
    /// Print nothing; stop at the first key that would be printed
    #[arg(short, long, conflicts_with = "json")]
    quiet: bool,
    /// Print the number of its line before each key
    #[arg(short = 'n', long)]
    line_number: bool,
    /// Pass over keys that are not in a zone filter's universe, and say how many they were
    #[arg(long)]
    skip_foreign: bool,
    /// With --csv, print whole rows, under the header; with --json-field, whole records
    #[arg(long, requires = "csv")]
    rows: bool,
    /// Print one JSON object of counts instead of keys
    #[arg(long)]
    json: bool,
    /// Ask the filter of this row group of a Parquet file only, counted from 0
    #[arg(long, value_name = "N")]
    row_group: Option<usize>,
    #[command(flatten)]
    expecting: Expecting,
    #[command(flatten)]
    from: From,
    #[command(flatten)]
    opening: Opening,
    #[command(flatten)]
    input: Input,
}

/// What was read and printed.
#[derive(Default)]
struct Counts {
    keys: u64,
    chosen: u64,
    foreign: u64,
}

impl Query {
    /// Whether any key was printed, or would have been.
    pub(crate) fn run(&self) -> anyhow::Result<bool> {
        output::check_sources(
            &self.input,
            self.opening.dictionary_path().into_iter().chain([&*self.filter]),
        )?;
        match self.from.open(&self.filter, self.opening.memory())? {
            Some(Found::Parquet(file)) => return self.query_groups(*file),
            Some(found) => return self.query_foreign(found),
            None => self.expecting.check_unused()?,
        }
        if self.row_group.is_some() {
            bail!("--row-group goes with Parquet files; leave it out");
        }
        if self.rows && self.input.format.is_column() {
            bail!("--rows prints rows of CSV or JSON lines; a row of columns is no text");
        }
        let filter = self.opening.open(&self.filter)?;
        let format = filters::format_to_ask(&filter, &self.input.format)?;
        let Counts { keys, chosen, foreign } = self.print_chosen(&format, |batch| {
            if self.skip_foreign {
                return filters::contains_or_foreign(&filter, batch);
            }
            let answers = filters::contains(&filter, batch).map_err(offer_to_skip)?;
            Ok(answers.into_iter().map(Some).collect())
        })?;
        if !self.quiet {
            if let Some(notice) = filters::kind_notice(&filter, &format) {
                warn(&format!("tamis: notice: {notice}"));
            }
            if foreign > 0 && !self.json {
                warn(&format!(
                    "tamis: notice: {} skipped: not in the filter's universe",
                    count_of(foreign, "key")
                ));
            }
        }
        let passed = if self.invert { keys - foreign - chosen } else { chosen };
        let members = filter.epsilon().and_then(|_| {
            Estimate::of_members(passed, keys, filter.expected_fpr(), filter.expected_fnr())
        });
        if let Some(epsilon) = filter.epsilon().filter(|_| !(self.json || self.quiet)) {
            warn(&format!(
                "tamis: probably: of members {} pass, of strangers {} do (epsilon {})",
                rate(1.0 - filter.expected_fnr()),
                rate(filter.expected_fpr()),
                epsilon
            ));
            if let Some(members) = &members {
                warn(&format!(
                    "tamis: of {}, if all are different, about {} are in the set (95% sure: {} to \
                     {})",
                    count_of(keys, "key"),
                    grouped(members.value.clamp(0.0, keys as f64).round() as u64),
                    grouped(members.low.floor() as u64),
                    grouped(members.high.ceil() as u64)
                ));
            }
        }
        let report = QueryReport {
            file: self.filter.display().to_string(),
            promise: filter.promise().name(),
            keys: keys.into(),
            passed: passed.into(),
            printed: chosen.into(),
            foreign: self.skip_foreign.then_some(foreign.into()),
            asked: if filter.plan().zone().is_some() { "elements" } else { format.asked() },
            fpr_now: filter.expected_fpr(),
            format: None,
            row_groups: Vec::new(),
            published: filter.epsilon().map(|epsilon| PublishedFacts {
                fp: filter.expected_fpr(),
                r#fn: filter.expected_fnr(),
                epsilon: epsilon.to_f64(),
                members: members.map(|members| MembersFacts {
                    value: members.value,
                    low: members.low,
                    high: members.high,
                }),
            }),
        };
        self.print_counts(&report)?;
        Ok(chosen > 0)
    }

    /// Prints the keys that were asked for, by the answers of a filter.
    fn print_chosen(
        &self,
        format: &KeyFormat,
        answer: impl Fn(&Batch) -> anyhow::Result<Vec<Option<bool>>>,
    ) -> anyhow::Result<Counts> {
        let silent = self.count || self.quiet || self.json;
        let mut out = BufWriter::with_capacity(1 << 16, std::io::stdout().lock());
        let mut counts = Counts::default();
        let mut printed_header: Option<Vec<u8>> = None;
        let reading = if self.rows { Reading::Rows } else { Reading::InOrder };
        format.each(&self.input.files, "querying", reading, |batch| {
            if let Some(header) = batch.header.as_ref().filter(|_| !silent) {
                if printed_header.as_ref().is_some_and(|printed| printed != header) {
                    bail!(
                        "the files have different headers, and their rows cannot go under one; \
                         query them one by one"
                    );
                }
                if printed_header.is_none() {
                    printed_header = Some(header.clone());
                    format.write(&mut out, header)?;
                }
            }
            counts.keys += batch.len() as u64;
            let answers = answer(batch)?;
            counts.foreign += answers.iter().filter(|answer| answer.is_none()).count() as u64;
            let wanted = Some(!self.invert);
            if silent {
                counts.chosen += answers.iter().filter(|answer| **answer == wanted).count() as u64;
                return Ok(!(self.quiet && counts.chosen > 0));
            }
            for (index, (text, answer)) in batch.printed().iter().zip(answers).enumerate() {
                if answer == wanted {
                    counts.chosen += 1;
                    if self.line_number {
                        write!(out, "{}:", batch.line_of(index))?;
                    }
                    format.write(&mut out, text)?;
                }
            }
            // A reader that waits sees each answer as soon as its keys have come.
            out.flush()?;
            Ok(true)
        })?;
        Ok(counts)
    }

    /// Asks the one filter of another program.
    fn query_foreign(&self, found: Found) -> anyhow::Result<bool> {
        let format = &self.input.format;
        let asker = Asker::new(found, self.row_group, format, &self.expecting)?;
        if let Some(notice) = asker.notice().filter(|_| !self.quiet) {
            warn(&format!("tamis: notice: {notice}"));
        }
        let counts = self.print_chosen(asker.format(), |batch| {
            Ok(asker.contains(batch)?.into_iter().map(Some).collect())
        })?;
        let filter = asker.filter();
        let fpr_now = filter.expected_fpr();
        let report = self.foreign_report(&counts, asker.kind().name(), fpr_now);
        self.print_counts(&QueryReport { format: Some(filter.format().name()), ..report })?;
        Ok(counts.chosen > 0)
    }

    /// Asks the filters of a column of a Parquet file: for each row group, which keys may be in it.
    fn query_groups(&self, file: ParquetFile<File>) -> anyhow::Result<bool> {
        let format = &self.input.format;
        let groups = Groups::new(file, self.row_group, format, &self.expecting)?;
        if self.row_group.is_none() && self.rows {
            bail!("--rows prints the rows of one row group; say which: --row-group N");
        }
        let rates: Vec<f64> = groups.rates().collect();
        let mut passed = vec![0u64; rates.len()];
        let counts = match self.row_group {
            Some(_) => self.print_chosen(groups.format(), |batch| {
                let answers = groups.contains(batch)?.into_iter().flatten();
                Ok(answers.map(Some).collect())
            })?,
            None => self.print_by_group(&groups, &mut passed)?,
        };
        if self.row_group.is_some() {
            let others = counts.keys - counts.chosen;
            passed[0] = if self.invert { others } else { counts.chosen };
        }
        let fpr_now = 1.0 - rates.iter().map(|rate| 1.0 - rate).product::<f64>();
        let report = self.foreign_report(&counts, groups.kind().name(), fpr_now);
        let each = groups.numbers().zip(&passed).zip(rates);
        let row_groups = each
            .map(|((row_group, passed), fpr_now)| GroupFacts {
                row_group,
                passed: (*passed).into(),
                fpr_now,
            })
            .collect();
        let passed = passed.iter().sum::<u64>().into();
        let format = Some(tamis_foreign::Format::Parquet.name());
        self.print_counts(&QueryReport { format, row_groups, passed, ..report })?;
        Ok(counts.chosen > 0)
    }

    /// Prints a line for each row group and each key that may be in it.
    fn print_by_group(&self, groups: &Groups, passed: &mut [u64]) -> anyhow::Result<Counts> {
        let silent = self.count || self.quiet || self.json;
        let mut out = BufWriter::with_capacity(1 << 16, std::io::stdout().lock());
        let mut counts = Counts::default();
        let numbers: Vec<usize> = groups.numbers().collect();
        let format = groups.format();
        format.each(&self.input.files, "querying", Reading::InOrder, |batch| {
            counts.keys += batch.len() as u64;
            let answers = groups.contains(batch)?;
            for (passed, answers) in passed.iter_mut().zip(&answers) {
                *passed += answers.iter().filter(|passed| **passed).count() as u64;
            }
            for (index, text) in batch.printed().iter().enumerate() {
                for (group, answers) in numbers.iter().zip(&answers) {
                    if answers[index] == self.invert {
                        continue;
                    }
                    counts.chosen += 1;
                    if silent {
                        continue;
                    }
                    if self.line_number {
                        write!(out, "{}:", batch.line_of(index))?;
                    }
                    write!(out, "{group}\t")?;
                    format.write(&mut out, text)?;
                }
            }
            out.flush()?;
            Ok(!(self.quiet && counts.chosen > 0))
        })?;
        Ok(counts)
    }

    fn foreign_report(&self, counts: &Counts, asked: &'static str, fpr_now: f64) -> QueryReport {
        let passed =
            if self.invert { counts.keys - counts.chosen.min(counts.keys) } else { counts.chosen };
        QueryReport {
            file: self.filter.display().to_string(),
            promise: Promise::Rate.name(),
            keys: counts.keys.into(),
            passed: passed.into(),
            printed: counts.chosen.into(),
            foreign: None,
            asked,
            fpr_now,
            format: None,
            row_groups: Vec::new(),
            published: None,
        }
    }

    fn print_counts(&self, report: &QueryReport) -> anyhow::Result<()> {
        if self.json || self.count && !self.quiet {
            output::print_report(report, self.json)?;
        }
        Ok(())
    }
}

/// Says how to go on past a key that is not in the universe.
fn offer_to_skip(error: anyhow::Error) -> anyhow::Error {
    match error.downcast_ref::<Error>() {
        Some(Error::Outside { .. }) => {
            anyhow!("{error:#} (--skip-foreign passes over other keys, and counts them)")
        }
        _ => error,
    }
}

#[derive(Serialize)]
struct QueryReport {
    file: String,
    promise: &'static str,
    keys: Integer,
    passed: Integer,
    printed: Integer,
    #[serde(skip_serializing_if = "Option::is_none")]
    foreign: Option<Integer>,
    asked: &'static str,
    fpr_now: f64,
    #[serde(skip_serializing_if = "Option::is_none")]
    format: Option<&'static str>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    row_groups: Vec<GroupFacts>,
    #[serde(flatten)]
    published: Option<PublishedFacts>,
}

#[derive(Serialize)]
struct GroupFacts {
    row_group: usize,
    passed: Integer,
    fpr_now: f64,
}

#[derive(Serialize)]
struct PublishedFacts {
    fp: f64,
    r#fn: f64,
    epsilon: f64,
    members: Option<MembersFacts>,
}

/// How many of the keys are in the set, probably.
#[derive(Serialize)]
struct MembersFacts {
    value: f64,
    low: f64,
    high: f64,
}

impl Report for QueryReport {
    /// The count alone: keys that pass were printed as they came.
    fn text(&self) -> String {
        self.printed.0.to_string()
    }
}
