//! Keys that end with a line end or a NUL byte, or are fields of JSON records that do.

use super::batch::Batch;
use super::json_field::FieldPath;
use super::{CHUNK, KeyFormat, MAX_RECORD, Take, explain};
use anyhow::{Context, anyhow, bail};
use std::borrow::Cow;
use std::io::{self, Read};
use std::sync::Arc;

/// A record of the largest size, with its line end.
const LONGEST_LINE: usize = MAX_RECORD + 2;

/// Gives the records of `input` to `take`, a batch at a time. Says whether to go on.
pub(super) fn read(
    format: &KeyFormat,
    name: &str,
    mut input: impl Read,
    rows: bool,
    take: Take<'_>,
) -> anyhow::Result<bool> {
    let separator = if format.null { 0 } else { b'\n' };
    let lines = !format.null && !format.raw;
    let kind = format.kind();
    let file: Arc<str> = name.into();
    let mut batch = Batch::default();
    let mut buffer = vec![0; CHUNK];
    let (mut filled, mut seen) = (0, 0u64);
    loop {
        if filled == buffer.len() {
            if filled == LONGEST_LINE {
                return Err(too_long(format, name, seen + 1));
            }
            buffer.resize((filled * 2).min(LONGEST_LINE), 0);
        }
        let got = match input.read(&mut buffer[filled..]) {
            Ok(got) => got,
            Err(e) if e.kind() == io::ErrorKind::Interrupted => continue,
            Err(e) => return Err(e).with_context(|| format!("cannot read {name}")),
        };
        filled += got;
        let mut start = 0;
        // Everything up to the last separator is complete; at the end of the input, so is the
        // rest.
        let ended = got == 0;
        let complete = if ended {
            filled
        } else {
            memchr::memrchr(separator, &buffer[..filled]).map_or(0, |at| at + 1)
        };
        batch.clear();
        batch.place.file = Arc::clone(&file);
        batch.place.first_line = seen + 1;
        let mut push = |record: &[u8]| {
            let record = match record {
                [text @ .., b'\r'] if lines => text,
                other => other,
            };
            seen += 1;
            if record.len() > MAX_RECORD {
                return Err(too_long(format, name, seen));
            }
            let is_blank = match format.json_field {
                Some(_) => record.trim_ascii().is_empty(),
                None => format.skip_blank && record.is_empty(),
            };
            if is_blank || format.is_comment(record) {
                let keys = batch.len();
                batch.place.skipped_after.push(keys);
                return Ok(());
            }
            let key = match &format.json_field {
                None => Cow::Borrowed(record),
                Some(field) => match field_of(record, field, format.skip_missing) {
                    Ok(Some(key)) => key,
                    Ok(None) => {
                        let keys = batch.len();
                        batch.place.skipped_after.push(keys);
                        return Ok(());
                    }
                    Err(error) => return Err(error.context(format!("{name}, line {seen}"))),
                },
            };
            batch.push(&key, kind).map_err(|refused| explain(&refused, name, seen, &key))?;
            if rows && format.json_field.is_some() {
                batch.rows.push(record.to_vec());
            }
            Ok(())
        };
        let mut bad = None;
        while bad.is_none() && start < complete {
            let end = memchr::memchr(separator, &buffer[start..complete])
                .map_or(complete, |at| start + at);
            bad = push(&buffer[start..end]).err();
            start = end + 1;
        }
        // What came before a bad record counts all the same.
        if !batch.is_empty() && !take(&mut batch)? {
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

/// The key of a JSON record; none if it has none and may lack it.
fn field_of<'a>(
    record: &'a [u8],
    field: &FieldPath,
    may_lack: bool,
) -> anyhow::Result<Option<Cow<'a, [u8]>>> {
    match field.text(record)? {
        Some(Cow::Borrowed(text)) => Ok(Some(Cow::Borrowed(text.as_bytes()))),
        Some(Cow::Owned(text)) => Ok(Some(Cow::Owned(text.into_bytes()))),
        None if may_lack => Ok(None),
        None => bail!("the record has no {field}; --skip-missing passes over such records"),
    }
}

fn too_long(format: &KeyFormat, name: &str, record: u64) -> anyhow::Error {
    anyhow!(
        "{name}: record {record} is longer than {MAX_RECORD} bytes; is this a text file, and are \
         its records separated by {}?",
        if format.null { "NUL bytes" } else { "line ends (for NUL bytes, say -0)" }
    )
}
