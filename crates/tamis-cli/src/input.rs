//! Keys from files and pipes: lines, NUL-separated records, or a column of CSV, in batches.

use crate::progress;
use anyhow::{Context, bail};
use clap::{Args, ValueEnum};
use indicatif::ProgressBar;
use std::cell::Cell;
use std::fs::File;
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};
use std::sync::mpsc;
use tamis::zone::Universe;
use tamis::{KeyRef, Kinds};

/// Where keys come from, and how they are told apart.
#[derive(Args)]
pub(crate) struct Input {
    /// Files of keys, one a line (a blank line is the empty key); `-` or nothing is standard input
    #[arg(value_name = "INPUT")]
    pub(crate) files: Vec<PathBuf>,
    #[command(flatten)]
    pub(crate) manner: Manner,
}

/// How keys are told apart.
#[derive(Args, Clone)]
pub(crate) struct Manner {
    /// Keys end with a NUL byte instead of a line end, as `find -print0` writes them; with --csv,
    /// only those printed
    #[arg(short = '0', long)]
    null: bool,
    /// Take keys from this column of CSV, by its name in the first row or its number from 1
    ///
    /// With a number, the first row is data too, unless --header says that it is not.
    #[arg(long, value_name = "COLUMN")]
    csv: Option<String>,
    /// What separates the columns of CSV: one character, or \\t for a tab
    #[arg(long, value_name = "C", requires = "csv", default_value = ",", value_parser = delimiter)]
    delimiter: u8,
    /// The first row of CSV is a header even though the column is given by number
    #[arg(long, requires = "csv")]
    header: bool,
    /// Keep carriage returns at line ends and a byte-order mark at the start as parts of keys
    #[arg(long, conflicts_with_all = ["csv", "null"])]
    raw: bool,
    /// Take keys as text or as integers [default: as the filter has them; text for a new one]
    #[arg(long, value_name = "KIND")]
    keys: Option<KeyKind>,
    /// Blank lines are no keys: they are neither numbers nor addresses.
    #[arg(skip)]
    skip_blank: bool,
}

#[derive(ValueEnum, Clone, Copy, PartialEq, Eq)]
pub(crate) enum KeyKind {
    /// The bytes as they are
    Text,
    /// Whole numbers from -2^63 to 2^64-1: 7, +7 and 007 are one key, and none of them is the text
    /// "7"
    Integers,
}

fn delimiter(text: &str) -> Result<u8, String> {
    match text.as_bytes() {
        b"\\t" => Ok(b'\t'),
        [one] if *one != b'"' && *one != b'\n' => Ok(*one),
        _ => Err("write one character, such as ; or | or \\t".to_owned()),
    }
}

/// A longer key is taken for a mistake (a binary file, or the wrong separator) before it fills the
/// memory.
const LONGEST: usize = 16 << 20;
/// How much is read at a time.
const CHUNK: usize = 1 << 18;
/// How many batches may wait to be worked on.
const READ_AHEAD: usize = 4;
/// What some editors put before UTF-8 text.
const BOM: &[u8] = b"\xef\xbb\xbf";

/// A batch of keys, and for each the text to print when it is chosen.
#[derive(Default)]
pub(crate) struct Batch {
    text: Vec<u8>,
    ends: Vec<usize>,
    integers: Vec<KeyRef<'static>>,
    rows: Vec<Vec<u8>>,
    /// The header of a CSV file, with its first batch, where rows were asked for.
    pub(crate) header: Option<Vec<u8>>,
}

impl Batch {
    fn clear(&mut self) {
        self.header = None;
        self.text.clear();
        self.ends.clear();
        self.integers.clear();
        self.rows.clear();
    }

    fn push(&mut self, text: &[u8], integers: bool) -> Result<(), Bad> {
        if integers {
            self.integers.push(parse_integer(text).ok_or(Bad)?);
        }
        self.text.extend_from_slice(text);
        self.ends.push(self.text.len());
        Ok(())
    }

    pub(crate) fn len(&self) -> usize {
        self.ends.len()
    }

    pub(crate) fn texts(&self) -> impl Iterator<Item = &[u8]> {
        let starts = std::iter::once(0).chain(self.ends.iter().copied());
        starts.zip(&self.ends).map(|(start, end)| &self.text[start..*end])
    }

    pub(crate) fn keys(&self) -> Vec<KeyRef<'_>> {
        if self.integers.is_empty() {
            self.texts().map(KeyRef::Bytes).collect()
        } else {
            self.integers.clone()
        }
    }

    /// What to print of each key: its text, or its whole row where rows were asked for.
    pub(crate) fn printed(&self) -> Vec<&[u8]> {
        if self.rows.is_empty() {
            self.texts().collect()
        } else {
            self.rows.iter().map(Vec::as_slice).collect()
        }
    }
}

/// A record that is no integer.
struct Bad;

fn parse_integer(text: &[u8]) -> Option<KeyRef<'static>> {
    let text = std::str::from_utf8(text).ok()?.trim();
    if let Ok(natural) = text.parse::<u64>() {
        return Some(KeyRef::Natural(natural));
    }
    let signed = text.parse::<i64>().ok()?;
    Some(if signed < 0 { KeyRef::Negative(signed as u64) } else { KeyRef::Natural(signed as u64) })
}

impl Input {
    /// Whether no input is a pipe or the like, which cannot be read twice. (A file that is not
    /// there can: the attempt says so best.)
    pub(crate) fn can_be_counted(&self) -> bool {
        let once = |file: &PathBuf| {
            file == Path::new("-")
                || file.metadata().is_ok_and(|metadata| !metadata.is_file() && !metadata.is_dir())
        };
        !self.files.is_empty() && !self.files.iter().any(once)
    }

    /// How many keys there are.
    pub(crate) fn count(&self) -> anyhow::Result<u64> {
        let mut keys = 0;
        self.manner.as_asked().each(&self.files, "counting", false, |batch| {
            keys += batch.len() as u64;
            Ok(true)
        })?;
        Ok(keys)
    }
}

impl Manner {
    /// Takes keys as the filter has them, unless told otherwise.
    pub(crate) fn suiting(&self, kinds: Kinds) -> Manner {
        let only_integers = kinds.has(Kinds::INTEGERS) && !kinds.has(Kinds::BYTES);
        let keys = self.keys.or(only_integers.then_some(KeyKind::Integers));
        Manner { keys, skip_blank: keys == Some(KeyKind::Integers), ..self.clone() }
    }

    /// The keys of a zone filter are elements of its universe, written as text.
    pub(crate) fn of_zone(&self, universe: &Universe) -> anyhow::Result<Manner> {
        if self.keys.is_some() {
            bail!(
                "--keys goes with rate filters; the keys of a zone filter are elements of its universe: leave it out"
            );
        }
        Ok(Manner {
            keys: Some(KeyKind::Text),
            skip_blank: universe.fingerprint().is_none(),
            ..self.clone()
        })
    }

    /// Plain lines.
    pub(crate) fn lines() -> Manner {
        Manner {
            null: false,
            csv: None,
            delimiter: b',',
            header: false,
            raw: false,
            keys: None,
            skip_blank: false,
        }
    }

    /// What to say when keys are asked for of a kind that the filter has never been given.
    pub(crate) fn unsuited(&self, kinds: Kinds) -> Option<String> {
        let asked = match self.keys? {
            KeyKind::Text => Kinds::BYTES,
            KeyKind::Integers => Kinds::INTEGERS,
        };
        let strange = kinds != Kinds::default() && !kinds.has(asked) && !kinds.has(Kinds::DIGESTS);
        strange.then(|| format!("the filter holds only {kinds}: no member passes as {asked}"))
    }

    /// For a new filter: as asked for.
    pub(crate) fn as_asked(&self) -> Manner {
        self.suiting(Kinds::default())
    }

    /// Writes a key as keys are told apart: with a line end, or a NUL byte.
    pub(crate) fn write(&self, out: &mut impl Write, text: &[u8]) -> io::Result<()> {
        out.write_all(text)?;
        out.write_all(if self.null { b"\0" } else { b"\n" })
    }

    fn integers(&self) -> bool {
        self.keys == Some(KeyKind::Integers)
    }

    /// Gives all keys of the files (of standard input, if there are none) to `take`, a batch at a
    /// time, until it answers `false`. While it works on one batch, another thread reads the
    /// next.
    pub(crate) fn each(
        &self,
        files: &[PathBuf],
        doing: &'static str,
        rows: bool,
        mut take: impl FnMut(&Batch) -> anyhow::Result<bool>,
    ) -> anyhow::Result<()> {
        let files = if files.is_empty() { vec![PathBuf::from("-")] } else { files.to_vec() };
        let progress = progress::reading(&files, doing);
        let (manner, bar) = (self.clone(), progress.clone());
        let (full, filled) = mpsc::sync_channel::<Batch>(READ_AHEAD);
        let (empty, emptied) = mpsc::channel::<Batch>();
        let reader = std::thread::spawn(move || {
            manner.read_all(&files, &bar, rows, &mut |batch| {
                let spare = emptied.try_recv().unwrap_or_default();
                Ok(full.send(std::mem::replace(batch, spare)).is_ok())
            })
        });
        let mut each_batch = || {
            for batch in &filled {
                if !take(&batch)? {
                    return Ok(false);
                }
                let _ = empty.send(batch); // it may have read everything
            }
            Ok(true)
        };
        let taken = each_batch();
        // Gone from the terminal before anybody prints there.
        progress.finish_and_clear();
        match taken {
            Ok(true) => reader.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)),
            // The reader may be waiting for a pipe; nobody waits for it.
            Ok(false) => Ok(()),
            Err(error) => Err(error),
        }
    }

    fn read_all(
        &self,
        files: &[PathBuf],
        progress: &ProgressBar,
        rows: bool,
        take: &mut impl FnMut(&mut Batch) -> anyhow::Result<bool>,
    ) -> anyhow::Result<()> {
        for file in files {
            let go_on = if file == Path::new("-") {
                let input = progress.wrap_read(io::stdin().lock());
                self.read("standard input", input, rows, take)
            } else {
                let name = file.display().to_string();
                if !file.exists() {
                    // Perhaps a key, typed where its file belongs.
                    bail!(
                        "there is no file of keys {name}; to give a key itself, pipe it in: echo KEY | tamis ..."
                    );
                }
                let opened = File::open(file).with_context(|| format!("cannot open {name}"))?;
                self.read(&name, progress.wrap_read(opened), rows, take)
            }?;
            if !go_on {
                break;
            }
        }
        Ok(())
    }

    fn read(
        &self,
        name: &str,
        input: impl Read,
        rows: bool,
        take: &mut impl FnMut(&mut Batch) -> anyhow::Result<bool>,
    ) -> anyhow::Result<bool> {
        match &self.csv {
            Some(column) => self.read_csv(name, column, input, rows, take),
            None => self.read_records(name, input, take),
        }
    }

    fn read_records(
        &self,
        name: &str,
        mut input: impl Read,
        take: &mut impl FnMut(&mut Batch) -> anyhow::Result<bool>,
    ) -> anyhow::Result<bool> {
        let separator = if self.null { 0 } else { b'\n' };
        let lines = !self.null && !self.raw;
        let mut batch = Batch::default();
        let mut buffer = vec![0; CHUNK];
        let (mut filled, mut first, mut seen) = (0, true, 0u64);
        loop {
            if filled == buffer.len() {
                if filled >= LONGEST {
                    bail!(
                        "{name}: record {} is longer than {LONGEST} bytes; is this a text file, and are its records separated by {}?",
                        seen + 1,
                        if self.null { "NUL bytes" } else { "line ends (for NUL bytes, say -0)" }
                    );
                }
                buffer.resize(filled * 2, 0);
            }
            let got = match input.read(&mut buffer[filled..]) {
                Ok(got) => got,
                Err(e) if e.kind() == io::ErrorKind::Interrupted => continue,
                Err(e) => return Err(e).with_context(|| format!("cannot read {name}")),
            };
            filled += got;
            if got > 0 && first && lines && filled < BOM.len() && BOM.starts_with(&buffer[..filled])
            {
                continue; // too little to see whether it is a byte-order mark
            }
            let mut start = 0;
            if first {
                first = false;
                if lines && buffer[..filled].starts_with(BOM) {
                    start = BOM.len();
                }
            }
            // Everything up to the last separator is complete; at the end of the input, so is the
            // rest.
            let ended = got == 0;
            let complete = if ended {
                filled
            } else {
                memchr::memrchr(separator, &buffer[start..filled])
                    .map_or(start, |at| start + at + 1)
            };
            batch.clear();
            let mut push = |record: &[u8]| {
                let record = match record {
                    [text @ .., b'\r'] if lines => text,
                    other => other,
                };
                seen += 1;
                if self.skip_blank && record.is_empty() {
                    return Ok(());
                }
                batch
                    .push(record, self.integers())
                    .map_err(|Bad| not_an_integer(name, seen, record))
            };
            let mut bad = None;
            while bad.is_none() && start < complete {
                let end = memchr::memchr(separator, &buffer[start..complete])
                    .map_or(complete, |at| start + at);
                bad = push(&buffer[start..end]).err();
                start = end + 1;
            }
            // What came before a bad record counts all the same.
            if batch.len() > 0 && !take(&mut batch)? {
                return Ok(false);
            }
            if let Some(error) = bad {
                return Err(error);
            }
            if ended {
                return Ok(true);
            }
            buffer.copy_within(start..filled, 0);
            filled -= start;
            if filled < CHUNK {
                buffer.truncate(CHUNK); // one long record must not make all later batches long
                buffer.shrink_to_fit();
            }
        }
    }

    fn read_csv(
        &self,
        name: &str,
        column: &str,
        input: impl Read,
        rows: bool,
        take: &mut impl FnMut(&mut Batch) -> anyhow::Result<bool>,
    ) -> anyhow::Result<bool> {
        let number: Option<usize> = column.parse().ok();
        if number == Some(0) {
            bail!("columns are counted from 1 (got --csv 0); the first is --csv 1");
        }
        let has_header = number.is_none() || self.header;
        let (since_record, read) = (Cell::new(0), Cell::new(0));
        let input = Limited { input, since_record: &since_record, read: &read };
        let mut reader = csv::ReaderBuilder::new()
            .has_headers(has_header)
            .flexible(true)
            .delimiter(self.delimiter)
            .from_reader(input);
        let context = || format!("cannot read {name} as CSV");
        let at = match number {
            Some(number) => number - 1,
            None => {
                let header = reader.byte_headers().with_context(context)?;
                let found = header.iter().position(|field| field == column.as_bytes());
                found.with_context(|| {
                    let names: Vec<_> = header.iter().map(String::from_utf8_lossy).collect();
                    let names = if names.is_empty() {
                        "none: it is empty".to_owned()
                    } else {
                        names.join(", ")
                    };
                    format!("{name} has no column {column:?}; its columns are {names}")
                })?
            }
        };
        let mut batch = Batch::default();
        let mut record = csv::ByteRecord::new();
        if rows && has_header {
            batch.header =
                Some(csv_row(reader.byte_headers().with_context(context)?, self.delimiter)?);
        }
        let push = |record: &csv::ByteRecord, batch: &mut Batch| {
            let line = record.position().map_or(0, csv::Position::line);
            let Some(field) = record.get(at) else {
                bail!(
                    "{name}, line {line}: there is no column {column}, only {}; mend the row or take another column",
                    record.len()
                );
            };
            batch.push(field, self.integers()).map_err(|Bad| not_an_integer(name, line, field))?;
            if rows {
                batch.rows.push(csv_row(record, self.delimiter)?);
            }
            Ok(())
        };
        let mut row_bytes = 0;
        loop {
            since_record.set(0);
            let outcome = match reader.read_byte_record(&mut record).with_context(context) {
                Ok(true) => push(&record, &mut batch).map(|()| true),
                other => other,
            };
            row_bytes += batch.rows.last().map_or(0, Vec::len);
            let size = batch.text.len() + row_bytes;
            // The next record has yet to come: whoever waits for answers gets those that there are.
            // (The end of a line may be left.)
            let waits = reader.position().byte() + 1 >= read.get();
            let due =
                !matches!(outcome, Ok(true)) || waits || size >= CHUNK || batch.len() >= CHUNK / 16;
            if due && (batch.len() > 0 || batch.header.is_some()) {
                if !take(&mut batch)? {
                    return Ok(false);
                }
                batch.clear();
                row_bytes = 0;
            }
            // What came before a bad record counts all the same.
            if !outcome? {
                return Ok(true);
            }
        }
    }
}

/// A reader that refuses to feed an endless record, such as one behind a quote that is never
/// closed.
struct Limited<'a, R> {
    input: R,
    since_record: &'a Cell<usize>,
    /// All bytes so far.
    read: &'a Cell<u64>,
}

impl<R: Read> Read for Limited<'_, R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let got = self.input.read(buffer)?;
        let total = self.since_record.get() + got;
        if total > LONGEST {
            let text = format!("a record is longer than {LONGEST} bytes; is a quote not closed?");
            return Err(io::Error::new(io::ErrorKind::InvalidData, text));
        }
        self.since_record.set(total);
        self.read.set(self.read.get() + got as u64);
        Ok(got)
    }
}

/// A row as CSV again, without its line end.
fn csv_row(record: &csv::ByteRecord, delimiter: u8) -> anyhow::Result<Vec<u8>> {
    let mut writer = csv::WriterBuilder::new().delimiter(delimiter).from_writer(Vec::new());
    writer.write_byte_record(record)?;
    let mut row = writer.into_inner()?;
    row.pop();
    Ok(row)
}

fn not_an_integer(name: &str, line: u64, record: &[u8]) -> anyhow::Error {
    let shown: String = String::from_utf8_lossy(record).chars().take(60).collect();
    anyhow::anyhow!(
        "{name}, line {line}: {shown:?} is not an integer from -2^63 to 2^64-1; to take the lines as text, say --keys text"
    )
}
