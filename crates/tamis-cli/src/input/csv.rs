//! Keys from a column of CSV.

use super::batch::Batch;
use super::{CHUNK, KeyFormat, MAX_RECORD, Take, explain};
use crate::output::warn;
use anyhow::{Context, bail};
use std::cell::Cell;
use std::io::{self, Read};
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};

/// Gives the fields of a column to `take`, a batch at a time. Says whether to go on.
pub(super) fn read(
    format: &KeyFormat,
    name: &str,
    column: &str,
    input: impl Read,
    rows: bool,
    take: Take<'_>,
) -> anyhow::Result<bool> {
    let (number, column) = match column.strip_prefix('=') {
        Some(name) => (None, name),
        None => (column.parse::<usize>().ok(), column),
    };
    if number == Some(0) {
        bail!("columns are counted from 1 (got --csv 0); the first is --csv 1");
    }
    let comment = match format.comments.as_deref().map(str::as_bytes) {
        None | Some([]) => None,
        Some([one]) => Some(*one),
        Some(_) => bail!("with --csv, --comments is one character (such as #)"),
    };
    let has_header = number.is_none() || format.header;
    let state = State::new([Some(format.delimiter), comment]);
    let mut reader = csv::ReaderBuilder::new()
        .has_headers(has_header)
        .flexible(true)
        .delimiter(format.delimiter)
        .comment(comment)
        .from_reader(Watched { input, state: &state });
    let context = || format!("cannot read {name} as CSV");
    if has_header {
        let header = reader.byte_headers().with_context(context)?.clone();
        state.check_closed(name, &header, reader.position())?;
        if state.is_past(reader.position()) {
            // What was read as the header is the sentinel: the file is empty.
            return match number {
                Some(_) => Ok(true),
                None => header_is_missing(name, column, &csv::ByteRecord::new()),
            };
        }
    }
    let at = match number {
        Some(number) => number - 1,
        None => {
            let header = reader.byte_headers().with_context(context)?;
            let mut found =
                header.iter().enumerate().filter(|(_, field)| *field == column.as_bytes());
            let Some((at, _)) = found.next() else {
                return header_is_missing(name, column, header);
            };
            if found.next().is_some() && !WARNED_OF_COLUMNS.swap(true, Relaxed) {
                warn(&format!(
                    "tamis: warning: {name} has several columns {column:?}; the first is taken \
                     (a number takes another: --csv {} --header)",
                    at + 2
                ));
            }
            at
        }
    };
    let mut batch = Batch::default();
    batch.place.file = name.into();
    let mut record = csv::ByteRecord::new();
    if rows && has_header {
        batch.header = Some(row(reader.byte_headers().with_context(context)?, format.delimiter)?);
    }
    let push = |record: &csv::ByteRecord, batch: &mut Batch| {
        let line = state.line_of(record);
        let Some(field) = record.get(at) else {
            bail!(
                "{name}, line {line}: there is no column {column}, only {}; mend the row or take \
                 another column",
                record.len()
            );
        };
        if field.len() > MAX_RECORD {
            bail!("{name}, line {line}: the field is longer than {MAX_RECORD} bytes");
        }
        batch.push(field, format.kind()).map_err(|refused| explain(&refused, name, line, field))?;
        batch.place.lines.push(line);
        if rows {
            batch.rows.push(row(record, format.delimiter)?);
        }
        Ok(())
    };
    let mut row_bytes = 0;
    loop {
        state.since_record.set(0);
        let line = reader.position().line();
        let outcome = reader
            .read_byte_record(&mut record)
            .with_context(|| format!("{} (in the record that begins at line {line})", context()));
        let outcome = match outcome {
            // The sentinel stands alone: every quote was closed.
            Ok(true) if state.is_sentinel(&record, reader.position()) => Ok(false),
            Ok(true) => state
                .check_closed(name, &record, reader.position())
                .and_then(|()| push(&record, &mut batch))
                .map(|()| true),
            other => other,
        };
        row_bytes += batch.rows.last().map_or(0, Vec::len);
        let size = batch.text.len() + row_bytes;
        // The next record has yet to come: give out the answers that there are. (The end of a line
        // may be left.)
        let waits = reader.position().byte() + 1 >= state.read.get();
        let due =
            !matches!(outcome, Ok(true)) || waits || size >= CHUNK || batch.len() >= CHUNK / 16;
        if due && (!batch.is_empty() || batch.header.is_some()) {
            let file = std::sync::Arc::clone(&batch.place.file);
            if !take(&mut batch)? {
                return Ok(false);
            }
            batch.clear();
            batch.place.file = file;
            row_bytes = 0;
        }
        // What came before a bad record counts all the same.
        if !outcome? {
            return Ok(true);
        }
    }
}

fn header_is_missing(name: &str, column: &str, header: &csv::ByteRecord) -> anyhow::Result<bool> {
    let names: Vec<_> = header.iter().map(String::from_utf8_lossy).collect();
    let names = if names.is_empty() { "none: it is empty".to_owned() } else { names.join(", ") };
    bail!("{name} has no column {column:?}; its columns are {names}")
}

/// Files may be read twice, first to count; say it once.
static WARNED_OF_COLUMNS: AtomicBool = AtomicBool::new(false);

/// What has been read. A sentinel follows the input: a record of one byte. If the last quote of the
/// input is not closed, the sentinel becomes part of the record that holds the quote; else it is a
/// record of its own.
struct State {
    /// The bytes since the last record.
    since_record: Cell<usize>,
    /// All bytes so far.
    read: Cell<u64>,
    /// Whether lines end with a carriage return and a line feed.
    crlf: Cell<Option<bool>>,
    /// Whether the input has ended.
    ended: Cell<bool>,
    sentinel: [u8; 3],
    /// How much of the sentinel has been read.
    sentinel_read: Cell<usize>,
}

impl State {
    /// The sentinel must not be one of the bytes that mean something.
    fn new(special: [Option<u8>; 2]) -> State {
        let byte = b".xy".iter().find(|byte| !special.contains(&Some(**byte)));
        State {
            since_record: Cell::new(0),
            read: Cell::new(0),
            crlf: Cell::new(None),
            ended: Cell::new(false),
            sentinel: [b'\n', *byte.unwrap_or(&b'.'), b'\n'],
            sentinel_read: Cell::new(0),
        }
    }

    /// Whether a position is past the input and the line end after it.
    fn is_past(&self, position: &csv::Position) -> bool {
        self.ended.get() && position.byte() > self.read.get() + 1
    }

    /// The line where a record begins. After a carriage return, the reader counts the line feed to
    /// the next record.
    fn line_of(&self, record: &csv::ByteRecord) -> u64 {
        let Some(position) = record.position() else { return 1 };
        let late = self.crlf.get() == Some(true) && position.byte() > 0;
        position.line() + u64::from(late)
    }

    fn is_sentinel(&self, record: &csv::ByteRecord, end: &csv::Position) -> bool {
        // After a carriage return, the line feed counts to the next record.
        let begins = record.position().map_or(0, csv::Position::byte) + 1;
        let is_alone = record.len() == 1 && record[0] == self.sentinel[1..2];
        self.is_past(end) && begins >= self.read.get() && is_alone
    }

    /// Refuses a record that swallowed the sentinel: a quote in it was never closed.
    fn check_closed(
        &self,
        name: &str,
        record: &csv::ByteRecord,
        end: &csv::Position,
    ) -> anyhow::Result<()> {
        if !self.is_past(end) || self.is_sentinel(record, end) {
            return Ok(());
        }
        // The field with the quote is the last; the fields before it may have line ends of their
        // own.
        let fields_before = record.iter().take(record.len().saturating_sub(1));
        let lines: usize = fields_before.map(|f| memchr::memchr_iter(b'\n', f).count()).sum();
        let line = self.line_of(record) + lines as u64;
        bail!("{name}, line {line}: a quote opens here and is never closed; mend the file")
    }
}

/// A reader that adds the sentinel at the end, and refuses to feed an endless record.
struct Watched<'a, R> {
    input: R,
    state: &'a State,
}

impl<R: Read> Read for Watched<'_, R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let state = self.state;
        if !state.ended.get() {
            let got = self.input.read(buffer)?;
            let total = state.since_record.get() + got;
            // The buffer may hold the end of the record before.
            if total > MAX_RECORD + CHUNK {
                let text =
                    format!("a record is longer than {MAX_RECORD} bytes; is a quote not closed?");
                return Err(io::Error::new(io::ErrorKind::InvalidData, text));
            }
            state.since_record.set(total);
            state.read.set(state.read.get() + got as u64);
            if state.crlf.get().is_none()
                && let Some(at) = memchr::memchr(b'\n', &buffer[..got])
            {
                state.crlf.set(Some(at > 0 && buffer[at - 1] == b'\r'));
            }
            if got > 0 || buffer.is_empty() {
                return Ok(got);
            }
            state.ended.set(true);
        }
        let rest = &state.sentinel[state.sentinel_read.get()..];
        let got = rest.len().min(buffer.len());
        buffer[..got].copy_from_slice(&rest[..got]);
        state.sentinel_read.set(state.sentinel_read.get() + got);
        Ok(got)
    }
}

/// A row as CSV again, without its line end.
fn row(record: &csv::ByteRecord, delimiter: u8) -> anyhow::Result<Vec<u8>> {
    let mut writer = csv::WriterBuilder::new().delimiter(delimiter).from_writer(Vec::new());
    writer.write_byte_record(record)?;
    let mut row = writer.into_inner()?;
    row.pop();
    Ok(row)
}
