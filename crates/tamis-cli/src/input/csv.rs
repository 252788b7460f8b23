//! Keys from a column of CSV.

use super::batch::Batch;
use super::{CHUNK, KeyFormat, MAX_RECORD, Take, not_an_integer};
use anyhow::{Context, bail};
use std::cell::Cell;
use std::io::{self, Read};

/// Gives the fields of a column to `take`, a batch at a time. Says whether to go on.
pub(super) fn read(
    format: &KeyFormat,
    name: &str,
    column: &str,
    input: impl Read,
    rows: bool,
    take: Take<'_>,
) -> anyhow::Result<bool> {
    let number: Option<usize> = column.parse().ok();
    if number == Some(0) {
        bail!("columns are counted from 1 (got --csv 0); the first is --csv 1");
    }
    let has_header = number.is_none() || format.header;
    let (since_record, read) = (Cell::new(0), Cell::new(0));
    let input = Limited { input, since_record: &since_record, read: &read };
    let mut reader = csv::ReaderBuilder::new()
        .has_headers(has_header)
        .flexible(true)
        .delimiter(format.delimiter)
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
    batch.place.file = name.into();
    let mut record = csv::ByteRecord::new();
    if rows && has_header {
        batch.header = Some(row(reader.byte_headers().with_context(context)?, format.delimiter)?);
    }
    let push = |record: &csv::ByteRecord, batch: &mut Batch| {
        let line = record.position().map_or(0, csv::Position::line);
        let Some(field) = record.get(at) else {
            bail!(
                "{name}, line {line}: there is no column {column}, only {}; mend the row or take \
                 another column",
                record.len()
            );
        };
        batch.push(field, format.kind()).map_err(|_| not_an_integer(name, line, field))?;
        batch.place.lines.push(line);
        if rows {
            batch.rows.push(row(record, format.delimiter)?);
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
        // The next record has yet to come: give out the answers that there are. (The end of a line
        // may be left.)
        let waits = reader.position().byte() + 1 >= read.get();
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
        if total > MAX_RECORD {
            let text =
                format!("a record is longer than {MAX_RECORD} bytes; is a quote not closed?");
            return Err(io::Error::new(io::ErrorKind::InvalidData, text));
        }
        self.since_record.set(total);
        self.read.set(self.read.get() + got as u64);
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
