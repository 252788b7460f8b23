//! `tamis query`: which keys pass.

use crate::filters::{self, Opening};
use crate::input::{Input, Reading};
use crate::output::{self, Integer, Report, count_of, rate, warn};
use anyhow::{anyhow, bail};
use clap::Args;
use serde::Serialize;
use std::io::{BufWriter, Write};
use std::path::PathBuf;
use tamis::Error;

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

JSON fields: file, promise, keys, passed, printed, foreign (with --skip-foreign), asked (text, \
integers, text and integers, or elements of a universe), fpr_now; of a published filter also fp, \
fn, epsilon.")]
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
    #[command(flatten)]
    opening: Opening,
    #[command(flatten)]
    input: Input,
}

impl Query {
    /// Whether any key was printed, or would have been.
    pub(crate) fn run(&self) -> anyhow::Result<bool> {
        output::check_sources(
            &self.input,
            self.opening.dictionary_path().into_iter().chain([&*self.filter]),
        )?;
        if self.rows && self.input.format.is_column() {
            bail!("--rows prints rows of CSV or JSON lines; a row of columns is no text");
        }
        let filter = self.opening.open(&self.filter)?;
        let format = filters::format_to_ask(&filter, &self.input.format)?;
        let silent = self.count || self.quiet || self.json;
        let mut out = BufWriter::with_capacity(1 << 16, std::io::stdout().lock());
        let (mut keys, mut chosen, mut foreign) = (0u64, 0u64, 0u64);
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
            keys += batch.len() as u64;
            let answers: Vec<Option<bool>> = if self.skip_foreign {
                filters::contains_or_foreign(&filter, batch)?
            } else {
                let answers = filters::contains(&filter, batch).map_err(offer_to_skip)?;
                answers.into_iter().map(Some).collect()
            };
            foreign += answers.iter().filter(|answer| answer.is_none()).count() as u64;
            let wanted = Some(!self.invert);
            if silent {
                chosen += answers.iter().filter(|answer| **answer == wanted).count() as u64;
                return Ok(!(self.quiet && chosen > 0));
            }
            for (index, (text, answer)) in batch.printed().iter().zip(answers).enumerate() {
                if answer == wanted {
                    chosen += 1;
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
        drop(out);
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
        if let Some(epsilon) = filter.epsilon().filter(|_| !(self.json || self.quiet)) {
            warn(&format!(
                "tamis: probably: of members {} pass, of strangers {} do (epsilon {})",
                rate(1.0 - filter.expected_fnr()),
                rate(filter.expected_fpr()),
                epsilon
            ));
        }
        let report = QueryReport {
            file: self.filter.display().to_string(),
            promise: filter.promise().name(),
            keys: keys.into(),
            passed: (if self.invert { keys - foreign - chosen } else { chosen }).into(),
            printed: chosen.into(),
            foreign: self.skip_foreign.then_some(foreign.into()),
            asked: if filter.plan().zone().is_some() { "elements" } else { format.asked() },
            fpr_now: filter.expected_fpr(),
            published: filter.epsilon().map(|epsilon| PublishedFacts {
                fp: filter.expected_fpr(),
                r#fn: filter.expected_fnr(),
                epsilon: epsilon.to_f64(),
            }),
        };
        if self.json || self.count && !self.quiet {
            output::print_report(&report, self.json)?;
        }
        Ok(chosen > 0)
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
    #[serde(flatten)]
    published: Option<PublishedFacts>,
}

#[derive(Serialize)]
struct PublishedFacts {
    fp: f64,
    r#fn: f64,
    epsilon: f64,
}

impl Report for QueryReport {
    /// The count alone: keys that pass were printed as they came.
    fn text(&self) -> String {
        self.printed.0.to_string()
    }
}
