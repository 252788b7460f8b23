//! `tamis dedup`: each record once, in the order of the input.

use crate::arguments::{MemoryLimit, count, share};
use crate::dedup::{self, Full, Output, Progress, Rule, Seen, Shape, Source, Tally, Unit, beside};
use crate::input::json_field::FieldPath;
use crate::input::{self, MAX_RECORD, input_path};
use crate::output::{
    self, Content, Destination, Integer, Report, count_of, grouped, output_path, progress, rate,
};
use anyhow::{Context, bail};
use clap::{Args, ValueEnum};
use indicatif::ProgressBar;
use serde::Serialize;
use std::fs::{self, File, OpenOptions, TryLockError};
use std::io::{self, BufWriter, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
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

JSON fields: records, kept, changed, without_field, units, repeated, distinct, bytes_read, \
bytes_kept, filter, items, fpr, bytes, expected_mistakes, seconds.")]
pub(crate) struct Dedup {
    /// Files of records; `-` or nothing is standard input
    #[arg(value_name = "INPUT", value_parser = input_path())]
    files: Vec<PathBuf>,
    /// The file to write; `-` or nothing is standard output
    #[arg(short, long, value_name = "FILE", default_value = "-", value_parser = output_path())]
    output: PathBuf,
    /// Records end with a NUL byte instead of a line end
    #[arg(short = '0', long)]
    null: bool,
    /// Compare this field of JSON records: a name, or names with dots such as user.email
    #[arg(long, value_name = "FIELD")]
    json_field: Option<FieldPath>,
    /// What is compared
    #[arg(long, value_enum, default_value = "records")]
    by: By,
    /// How many words are a run
    #[arg(long, value_name = "N", default_value = "13", value_parser = count)]
    words: u64,
    /// A document goes when this share of its runs was seen before
    #[arg(long, value_name = "SHARE", default_value = "80%", value_parser = share)]
    threshold: f64,
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
    /// The things compared.
    fn things(self) -> &'static str {
        match self {
            By::Records => "records",
            By::Paragraphs => "paragraphs",
            By::Ngrams => "runs of words",
        }
    }
}

impl Dedup {
    pub(crate) fn run(&self) -> anyhow::Result<()> {
        let start = Instant::now();
        let rule = self.rule()?;
        let files = self.inputs()?;
        let saved = self.saved_files();
        if self.resume && saved.is_none() {
            bail!("--resume goes on with a file of records; name it with -o FILE");
        }
        if self.resume && files.iter().any(|file| file == Path::new("-")) {
            bail!("standard input cannot be read again; start over with --force");
        }
        let target = match &saved {
            Some(saved) => {
                let progress = Progress::new(&files, &rule, self.shape().separator)?;
                Some(self.prepare(saved, progress)?)
            }
            None => None,
        };
        let mut seen = Seen::new(self.plan(&files, &rule)?)?;
        let (mut out, mut tally, place) = match target {
            None => {
                let out = BufWriter::with_capacity(1 << 16, self.stream()?);
                (Output::Stream(out), Tally::default(), None)
            }
            Some((mut file, progress)) => {
                if progress.kept_bytes > 0 {
                    self.remember(&mut file, &rule, &mut seen)?;
                }
                let (tally, place) = (progress.tally, progress.place);
                let path = saved.as_ref().map(|saved| saved.progress.clone()).unwrap_or_default();
                (Output::saved(file, progress, path), tally, Some(place))
            }
        };
        let mut sources = Vec::new();
        for (number, file) in files.iter().enumerate() {
            let done = place.filter(|place| number <= place.source);
            let mut source = self.open(file)?;
            match done {
                // This one was dealt with whole.
                Some(place) if number < place.source => source.reader = Box::new(io::empty()),
                Some(place) => (source.skip, source.skipped_records) = (place.bytes, place.records),
                None => {}
            }
            sources.push(source);
        }
        let bar = self.bar(&files);
        bar.inc(tally.bytes_read);
        let outcome =
            dedup::run(sources, self.shape(), &rule, &mut seen, &mut tally, &mut out, |read| {
                bar.inc(read);
            });
        bar.finish_and_clear();
        drop(out);
        if let Err(error) = outcome {
            return Err(self.explain(error, saved.is_some()));
        }
        if let Some(saved) = &saved {
            saved.finish(&self.output)?;
        }
        let report = self.report(&tally, &seen, start);
        output::report_on(&self.output, &report, self.json)
    }

    fn rule(&self) -> anyhow::Result<Rule> {
        let unit = match self.by {
            By::Records => Unit::Record,
            By::Paragraphs if self.json_field.is_none() => {
                bail!("--by paragraphs needs --json-field: a line has no paragraphs")
            }
            By::Paragraphs => Unit::Paragraphs,
            By::Ngrams => {
                if self.words == 0 {
                    bail!("--words 0: a run has at least one word; --words 13 is usual");
                }
                if !(self.threshold > 0.0 && self.threshold <= 1.0) {
                    bail!(
                        "--threshold {}: write a share above 0 and up to 1, such as 80%",
                        self.threshold
                    );
                }
                Unit::Ngrams { words: self.words as usize, threshold: self.threshold }
            }
        };
        Ok(Rule { unit, field: self.json_field.clone(), trim_return: !self.null })
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
        Ok(self.files.clone())
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
    fn saved_files(&self) -> Option<SavedFiles> {
        let is_stream = self.output == Path::new("-")
            || fs::metadata(&self.output).is_ok_and(|it| !it.is_file() && !it.is_dir());
        (!is_stream).then(|| SavedFiles {
            kept: beside(&self.output, "part"),
            progress: beside(&self.output, "progress"),
        })
    }

    /// Makes the file that kept records go to, or opens that of an earlier run.
    fn prepare(&self, saved: &SavedFiles, beginning: Progress) -> anyhow::Result<(File, Progress)> {
        let context = || format!("cannot write {}", self.output.display());
        if !self.force && self.output.exists() {
            bail!(
                "{} exists; name another file, or replace it with --force",
                self.output.display()
            );
        }
        Destination::new(&self.output, Content::Records, self.force, &self.files)?;
        if self.resume {
            if !saved.progress.is_file() {
                bail!(
                    "there is no interrupted run for {}; leave --resume out",
                    self.output.display()
                );
            }
            let progress = Progress::read(&saved.progress, &beginning)?;
            let mut options = OpenOptions::new();
            // A run that was killed at its beginning has kept nothing yet.
            options.read(true).write(true).truncate(false).create(progress.kept_bytes == 0);
            let file = options.open(&saved.kept).with_context(context)?;
            self.take(&file)?;
            if file.metadata().with_context(context)?.len() < progress.kept_bytes {
                bail!("{} is shorter than it was; start over with --force", saved.kept.display());
            }
            // What came after the last note is done again.
            file.set_len(progress.kept_bytes).with_context(context)?;
            return Ok((file, progress));
        }
        if !self.force && saved.progress.exists() {
            bail!(
                "a run for {} was interrupted; go on with --resume, or start over with --force",
                self.output.display()
            );
        }
        if !self.force && saved.kept.exists() {
            bail!(
                "{} exists, and the records would go there first; move it, or replace it with --force",
                saved.kept.display()
            );
        }
        // The note comes first: a run that is killed here can be resumed.
        beginning.write(&saved.progress)?;
        let mut options = OpenOptions::new();
        options.read(true).write(true).create(true).truncate(false);
        let file = options.open(&saved.kept).with_context(context)?;
        self.take(&file)?;
        file.set_len(0).with_context(context)?;
        Ok((file, beginning))
    }

    /// Keeps other runs away from the kept records, as long as the file is open.
    fn take(&self, kept: &File) -> anyhow::Result<()> {
        match kept.try_lock() {
            Err(TryLockError::WouldBlock) => {
                bail!("another run is writing {}; wait for its end", self.output.display())
            }
            // A file system without locks has to do without.
            Ok(()) | Err(TryLockError::Error(_)) => Ok(()),
        }
    }

    /// Puts what an earlier run kept into the filter, and leaves the file at its end.
    fn remember(&self, file: &mut File, rule: &Rule, seen: &mut Seen) -> anyhow::Result<()> {
        let mut reader = file.try_clone()?;
        reader.seek(SeekFrom::Start(0))?;
        let kept = Source {
            name: beside(&self.output, "part").display().to_string(),
            reader: Box::new(reader),
            skip: 0,
            skipped_records: 0,
        };
        let spinner = progress::spinner("remembering");
        let outcome = dedup::remember(kept, self.shape(), rule, seen);
        spinner.finish_and_clear();
        outcome.map_err(|error| self.explain(error, true))?;
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
        let size =
            |file: &PathBuf| file.metadata().ok().filter(|it| it.is_file()).map(|it| it.len());
        let Some(total_bytes) = files.iter().map(size).sum() else { return Ok(None) };
        let bar = self.bar(files);
        let sources = files.iter().map(|file| self.open(file)).collect::<anyhow::Result<_>>()?;
        let counted = dedup::count(sources, total_bytes, self.shape(), rule, |read| bar.inc(read));
        bar.finish_and_clear();
        counted.map(Some)
    }

    /// Opens an input; `-` is standard input.
    fn open(&self, path: &Path) -> anyhow::Result<Source> {
        let (name, reader) = input::open(path, !self.null)?;
        Ok(Source { name, reader, skip: 0, skipped_records: 0 })
    }

    fn bar(&self, files: &[PathBuf]) -> ProgressBar {
        progress::reading(files, "deduplicating")
    }

    /// Adds what to do about a full filter.
    fn explain(&self, error: anyhow::Error, saved: bool) -> anyhow::Error {
        let Some(full) = error.downcast_ref::<Full>() else { return error };
        let more = full.distinct.max(full.planned).saturating_mul(2);
        let things = self.by.things();
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

    fn report(&self, tally: &Tally, seen: &Seen, start: Instant) -> DedupReport {
        let plan = seen.plan();
        DedupReport {
            records: tally.records.into(),
            kept: tally.kept.into(),
            changed: tally.changed.into(),
            without_field: tally.without_field.into(),
            units: tally.units.into(),
            repeated: tally.repeated.into(),
            distinct: seen.distinct().into(),
            bytes_read: tally.bytes_read.into(),
            bytes_kept: tally.bytes_kept.into(),
            filter: plan.filter().name(),
            items: plan.items().into(),
            fpr: plan.fpr(),
            bytes: plan.bytes().into(),
            expected_mistakes: seen.expected_mistakes(),
            seconds: start.elapsed().as_secs_f64(),
            text: self.text(tally, seen),
        }
    }

    fn text(&self, tally: &Tally, seen: &Seen) -> String {
        let things = self.by.things();
        let left_out = tally.records - tally.kept;
        let share = left_out as f64 / tally.records.max(1) as f64;
        let mut text = format!(
            "records   {} read, {} kept, {} left out ({})",
            grouped(tally.records),
            grouped(tally.kept),
            grouped(left_out),
            rate(share)
        );
        if tally.changed > 0 {
            text += &format!("; {} of those kept lost paragraphs", grouped(tally.changed));
        }
        if tally.without_field > 0 {
            text += &format!(
                "\nnote      {} without anything to compare, kept",
                count_of(tally.without_field, "record")
            );
        }
        if self.by != By::Records {
            text += &format!(
                "\ncompared  {} {things}, {} of them seen before",
                grouped(tally.units),
                grouped(tally.repeated)
            );
        }
        let plan = seen.plan();
        text += &format!(
            "\nfilter    {}, {} bytes, for {} distinct {things}; it holds {}",
            plan.filter(),
            grouped(plan.bytes()),
            grouped(plan.items()),
            grouped(seen.distinct())
        );
        text + &format!(
            "\nmistakes  about {:.2} new {things} were taken for repetitions",
            seen.expected_mistakes()
        )
    }
}

/// What a run leaves beside its output until it is done.
struct SavedFiles {
    /// What was kept so far.
    kept: PathBuf,
    /// How far the run has come.
    progress: PathBuf,
}

impl SavedFiles {
    /// Gives the kept records their name.
    fn finish(&self, output: &Path) -> anyhow::Result<()> {
        let context = || format!("cannot write {}", output.display());
        fs::rename(&self.kept, output).with_context(context)?;
        fs::remove_file(&self.progress).with_context(context)
    }
}

#[derive(Serialize)]
struct DedupReport {
    records: Integer,
    kept: Integer,
    changed: Integer,
    without_field: Integer,
    units: Integer,
    repeated: Integer,
    distinct: Integer,
    bytes_read: Integer,
    bytes_kept: Integer,
    filter: &'static str,
    items: Integer,
    fpr: f64,
    bytes: Integer,
    expected_mistakes: f64,
    seconds: f64,
    #[serde(skip)]
    text: String,
}

impl Report for DedupReport {
    fn text(&self) -> String {
        self.text.clone()
    }
}
