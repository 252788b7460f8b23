//! `tamis dedup`: each record once, in the order of the input.

mod meter;
mod report;

use meter::Meter;

use crate::arguments::{MemoryLimit, count, share};
use crate::dedup::{
    self, Full, Output, Progress, Rule, SavedRun, Seen, Shape, Source, Tally, Unit,
};
use crate::input::json_field::FieldPath;
use crate::input::{self, Files, MAX_RECORD, Opened};
use crate::output::{self, Content, Destination, grouped, output_path, progress, warn};
use anyhow::{Context, bail};
use clap::{Args, ValueEnum};
use std::fs::{self, File, OpenOptions};
use std::io::{self, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Instant;

/// Print each record once, in order
///
/// A filter remembers what was seen. It is planned before the first record is read, and its size
/// never changes. A record that is printed is certainly new. A new record is left out by mistake at
/// the rate --fpr, one in a million if you say nothing.
#[derive(Args)]
#[command(after_help = "\
Records are lines, or documents of JSON lines. With --json-field, records are compared by that \
field. With --by paragraphs, paragraphs seen before are cut out of the field. With --by ngrams, a \
document goes when too many of its runs of words were seen before. A record without the field is \
kept.

With -o, an interrupted run can go on: give the same command again with --resume. It may have more \
--items, so a full filter is no loss.

Examples:
  tamis dedup log.txt > once.txt
  tamis dedup logs-*.txt.gz > once.txt
  tail -f log.txt | tamis dedup --items 1e8
  tamis dedup --json-field text --by paragraphs -o clean.jsonl part-*.jsonl
  tamis dedup --json-field text --by ngrams --words 13 --threshold 80% -o clean.jsonl part-*.jsonl
  tamis dedup --resume --items 1e9 -o clean.jsonl part-*.jsonl

JSON fields: records, kept, changed, without_field, blank, units, repeated, distinct, bytes_read, \
bytes_kept, filter, items, fpr, bytes, expected_mistakes, seconds.")]
pub(crate) struct Dedup {
    #[command(flatten)]
    files: Files,
    /// The file to write; `-` or nothing is standard output
    #[arg(short, long, value_name = "FILE", default_value = "-", value_parser = output_path())]
    output: PathBuf,
    /// Records end with a NUL byte instead of a line end
    #[arg(short = '0', long)]
    null: bool,
    /// Take the bytes as they are: no decompression, no decoding, no carriage returns cut off
    #[arg(long)]
    raw: bool,
    /// Compare this field of JSON records: a name, or names with dots such as user.email
    #[arg(long, value_name = "FIELD")]
    json_field: Option<FieldPath>,
    /// What is compared
    #[arg(long, value_enum, default_value = "records")]
    by: By,
    /// With --by ngrams, how many words are a run [default: 13]
    #[arg(long, value_name = "N", value_parser = count, allow_negative_numbers = true)]
    words: Option<u64>,
    /// With --by ngrams, a document goes when this share of its runs was seen before [default:
    /// 80%]
    #[arg(long, value_name = "SHARE", value_parser = share, allow_negative_numbers = true)]
    threshold: Option<f64>,
    /// How many distinct records (paragraphs, runs of words) the filter is for
    ///
    /// Without it, files are counted first: records exactly, paragraphs and runs by a sample. For
    /// a pipe, the filter takes all of --max-memory, or 256 MiB.
    #[arg(long, value_name = "N", value_parser = count, allow_negative_numbers = true)]
    items: Option<u64>,
    /// The share of new records that may be left out by mistake
    #[arg(long, value_name = "P", default_value = "1e-6", value_parser = share)]
    fpr: f64,
    #[command(flatten)]
    memory: MemoryLimit,
    /// Go on with a run that was interrupted
    #[arg(long)]
    resume: bool,
    /// Replace the output, or what an interrupted run has left
    #[arg(long, conflicts_with = "resume")]
    force: bool,
    /// Print one JSON object at the end
    #[arg(long)]
    json: bool,
}

/// How many words are a run, and which share of runs makes a repetition, if nobody says it.
const WORDS: u64 = 13;
const THRESHOLD: f64 = 0.8;

/// What is compared.
#[derive(ValueEnum, Clone, Copy, PartialEq, Eq)]
enum By {
    /// Records as a whole, or their field
    Records,
    /// Every paragraph of the field by itself
    Paragraphs,
    /// Every run of --words words
    Ngrams,
}

impl By {
    /// The things compared, as many as there are.
    fn things(self, count: u64) -> &'static str {
        match (self, count) {
            (By::Records, 1) => "record",
            (By::Records, _) => "records",
            (By::Paragraphs, 1) => "paragraph",
            (By::Paragraphs, _) => "paragraphs",
            (By::Ngrams, 1) => "run of words",
            (By::Ngrams, _) => "runs of words",
        }
    }
}

impl Dedup {
    pub(crate) fn run(&self) -> anyhow::Result<()> {
        let start = Instant::now();
        let rule = self.rule()?;
        let files = self.inputs()?;
        let saved = self.saved_run();
        if self.resume && saved.is_none() {
            bail!("--resume goes on with a file of records; name it with -o FILE");
        }
        if self.resume && files.iter().any(|file| file == Path::new("-")) {
            bail!("standard input cannot be read again; start over with --force");
        }
        let target = saved.as_ref().map(|saved| self.prepare(saved, &files, &rule)).transpose()?;
        let mut seen = Seen::new(self.plan(&files, &rule)?)?;
        let (mut out, mut tally, place) = match (target, &saved) {
            (Some((mut file, progress)), Some(saved)) => {
                if progress.kept_bytes > 0 {
                    self.remember(saved, &mut file, &rule, &mut seen)?;
                }
                let (tally, place) = (progress.tally, progress.place);
                let path = saved.note().to_owned();
                (Output::saved(file, progress, path), tally, Some(place))
            }
            _ => (Output::Stream(self.stream()?), Tally::default(), None),
        };
        let mut sources = Vec::new();
        for (number, file) in files.iter().enumerate() {
            let mut source = self.open(file)?;
            match place {
                Some(place) if number < place.source => {
                    // This one was dealt with whole.
                    source.reader = Box::new(io::empty());
                    let decoded =
                        if number == 0 { tally.bytes_read.saturating_sub(place.bytes) } else { 0 };
                    source.bytes.add(source.size.unwrap_or(0), decoded);
                }
                Some(place) if number == place.source => {
                    (source.skip, source.skipped_records) = (place.bytes, place.records);
                }
                _ => {}
            }
            sources.push(source);
        }
        let meter = Meter::new(&files, &sources, "deduplicating");
        let outcome =
            dedup::run(sources, self.shape(), &rule, &mut seen, &mut tally, &mut out, || {
                meter.tick();
            });
        meter.finish();
        drop(out);
        if let Err(error) = outcome {
            return Err(self.explain(error, saved.is_some(), &meter));
        }
        if let Some(saved) = &saved {
            saved.finish()?;
        }
        output::report_on(&self.output, &self.report(&tally, &seen, start), self.json)?;
        if let Some(field) = self.json_field.as_ref().filter(|_| tally.all_lack_the_field()) {
            warn(&format!(
                "tamis: warning: no record has the field {field}: nothing was compared, and all \
                 records were kept"
            ));
        }
        Ok(())
    }

    fn rule(&self) -> anyhow::Result<Rule> {
        if self.by != By::Ngrams {
            let stray = self.words.map(|_| "--words").or(self.threshold.map(|_| "--threshold"));
            if let Some(option) = stray {
                bail!("{option} goes with --by ngrams; add that, or leave {option} out");
            }
        }
        let unit = match self.by {
            By::Records => Unit::Record,
            By::Paragraphs if self.json_field.is_none() => {
                bail!("--by paragraphs needs --json-field: a line has no paragraphs")
            }
            By::Paragraphs => Unit::Paragraphs,
            By::Ngrams => {
                let (words, threshold) =
                    (self.words.unwrap_or(WORDS), self.threshold.unwrap_or(THRESHOLD));
                if words == 0 {
                    bail!("--words 0: a run has at least one word; --words {WORDS} is usual");
                }
                if !(threshold > 0.0 && threshold <= 1.0) {
                    bail!(
                        "--threshold {threshold}: write a share above 0 and up to 1, such as 80%"
                    );
                }
                Unit::Ngrams { words: words as usize, threshold }
            }
        };
        Ok(Rule { unit, field: self.json_field.clone(), trim_return: self.takes_text() })
    }

    /// Whether bytes are decoded, and a carriage return belongs to the line end.
    fn takes_text(&self) -> bool {
        !self.null && !self.raw
    }

    fn shape(&self) -> Shape {
        Shape { separator: if self.null { 0 } else { b'\n' }, longest: MAX_RECORD }
    }

    /// The inputs, which must be there.
    fn inputs(&self) -> anyhow::Result<Vec<PathBuf>> {
        if self.files.is_empty() {
            return Ok(vec![PathBuf::from("-")]);
        }
        output::standard_input_once(self.files.iter().map(PathBuf::as_path))?;
        Ok(self.files.to_vec())
    }

    /// Standard output, or a pipe or a device that is there.
    fn stream(&self) -> anyhow::Result<Box<dyn Write>> {
        if self.output == Path::new("-") {
            return Ok(Box::new(io::stdout().lock()));
        }
        let device = OpenOptions::new().write(true).open(&self.output);
        Ok(Box::new(device.with_context(|| format!("cannot write {}", self.output.display()))?))
    }

    /// The files of a run that can be resumed; none where records go to a stream.
    fn saved_run(&self) -> Option<SavedRun> {
        let is_stream = self.output == Path::new("-")
            || fs::metadata(&self.output).is_ok_and(|it| !it.is_file() && !it.is_dir());
        (!is_stream).then(|| SavedRun::new(&self.output))
    }

    /// The file that kept records go to, and how far an earlier run has come.
    fn prepare(
        &self,
        saved: &SavedRun,
        files: &[PathBuf],
        rule: &Rule,
    ) -> anyhow::Result<(File, Progress)> {
        if !self.force && self.output.is_file() {
            bail!(
                "{} exists; name another file, or replace it with --force",
                self.output.display()
            );
        }
        Destination::new(&self.output, Content::Records, self.force, &self.files)?;
        let beginning = Progress::new(files, rule, self.shape().separator, self.raw)?;
        if self.resume {
            return saved.go_on(&beginning);
        }
        Ok((saved.begin(&beginning, self.force)?, beginning))
    }

    /// Puts what an earlier run kept into the filter, and leaves the file at its end.
    fn remember(
        &self,
        saved: &SavedRun,
        file: &mut File,
        rule: &Rule,
        seen: &mut Seen,
    ) -> anyhow::Result<()> {
        let mut reader = file.try_clone()?;
        reader.seek(SeekFrom::Start(0))?;
        let kept = Source {
            name: saved.kept().display().to_string(),
            reader: Box::new(reader),
            size: None,
            bytes: Arc::default(),
            skip: 0,
            skipped_records: 0,
        };
        let spinner = progress::spinner("remembering");
        let outcome = dedup::remember(kept, self.shape(), rule, seen);
        spinner.finish_and_clear();
        outcome.map_err(|error| self.explain(error, true, &Meter::default()))?;
        file.seek(SeekFrom::End(0))?;
        Ok(())
    }

    fn plan(&self, files: &[PathBuf], rule: &Rule) -> anyhow::Result<tamis::rate::Plan> {
        let items = match self.items {
            Some(items) => Some(items),
            None => self.count(files, rule)?.map(|units| units.max(1)),
        };
        dedup::plan(items, self.fpr, self.memory.bytes())
    }

    /// How many units the files hold at most: records counted, others judged by a sample. A pipe
    /// cannot be read twice, so it is not counted.
    fn count(&self, files: &[PathBuf], rule: &Rule) -> anyhow::Result<Option<u64>> {
        if files.iter().any(|file| file_size(file).is_none()) {
            return Ok(None);
        }
        let sources: Vec<Source> =
            files.iter().map(|file| self.open(file)).collect::<anyhow::Result<_>>()?;
        let meter = Meter::new(files, &sources, "counting");
        let counted = dedup::count(sources, self.shape(), rule, || meter.tick());
        meter.finish();
        counted.map(Some)
    }

    /// Opens an input; `-` is standard input.
    fn open(&self, path: &Path) -> anyhow::Result<Source> {
        let Opened { name, reader, bytes } = input::open(path, self.takes_text(), self.raw)?;
        Ok(Source { name, reader, size: file_size(path), bytes, skip: 0, skipped_records: 0 })
    }

    /// Adds what to do about a full filter.
    fn explain(&self, error: anyhow::Error, saved: bool, meter: &Meter) -> anyhow::Error {
        let Some(full) = error.downcast_ref::<Full>() else { return error };
        let more = enough_items(full, meter.share_before(full.bytes));
        let things = self.by.things(full.planned);
        let remedy = if saved {
            format!("what was done is kept: go on with --resume --items {more}")
        } else {
            format!("start again with --items {more}")
        };
        anyhow::anyhow!(
            "the filter is full: it was planned for {} distinct {things}, and the input has more; \
             {remedy}",
            grouped(full.planned)
        )
    }
}

/// The size of an input, unless it is a pipe or the like.
fn file_size(path: &Path) -> Option<u64> {
    path.metadata().ok().filter(fs::Metadata::is_file).map(|it| it.len())
}

/// How many items a run should be planned for after one had too few: as many as the rest of the
/// input has, if it is like the part that was read, and a fifth more; at least twice as many.
fn enough_items(full: &Full, done: Option<f64>) -> String {
    let twice = full.distinct.max(full.planned) as f64 * 2.0;
    let by_share = done.map_or(0.0, |done| 1.2 * full.distinct as f64 / done.max(1e-9));
    // Two digits are enough.
    format!("{:.1e}", twice.max(by_share) * 1.05).replace(".0e", "e")
}
