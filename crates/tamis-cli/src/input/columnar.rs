//! Keys from a column of a Parquet file or of an Arrow file.

use super::batch::Batch;
use super::{KeyFormat, Take, explain};
use anyhow::{Context, bail};
use arrow_array::cast::AsArray;
use arrow_array::types::{
    Int8Type, Int16Type, Int32Type, Int64Type, UInt8Type, UInt16Type, UInt32Type, UInt64Type,
};
use arrow_array::{Array, ArrowPrimitiveType, RecordBatch};
use arrow_ipc::reader::{FileReader, StreamReader};
use arrow_schema::{ArrowError, DataType, Schema};
use parquet::arrow::ProjectionMask;
use parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;
use std::cell::Cell;
use std::fmt::Display;
use std::fs::File;
use std::io::{BufReader, Seek};
use std::panic::{self, AssertUnwindSafe};
use std::sync::Once;

/// What a file of columns begins with.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    Parquet,
    Arrow,
    ArrowStream,
}

impl Kind {
    /// The kind of a file by its first bytes.
    pub(super) fn of(start: &[u8]) -> Option<Kind> {
        match start {
            [b'P', b'A', b'R', b'1', ..] => Some(Kind::Parquet),
            [b'A', b'R', b'R', b'O', b'W', b'1', ..] => Some(Kind::Arrow),
            [0xff, 0xff, 0xff, 0xff, ..] => Some(Kind::ArrowStream),
            _ => None,
        }
    }
}

/// Gives the values of a column to `take`, a batch at a time. A null is no key. Says whether to go
/// on.
pub(super) fn read(
    format: &KeyFormat,
    name: &str,
    kind: Kind,
    file: File,
    column: &str,
    take: Take<'_>,
) -> anyhow::Result<bool> {
    let mut rows = 0;
    let mut keys = Batch::default();
    let mut batches = unless_damaged(name, || batches(name, kind, file, column))?;
    loop {
        keys.clear();
        keys.place.file = name.into();
        let more = unless_damaged(name, || {
            let Some(batch) = batches.next() else { return Ok(false) };
            let batch = batch.with_context(|| format!("cannot read {name}"))?;
            let array = batch.columns().first().context("a column was chosen")?;
            push_all(array.as_ref(), format, name, rows, &mut keys)?;
            rows += batch.num_rows() as u64;
            Ok(true)
        })?;
        if !more {
            return Ok(true);
        }
        if !keys.is_empty() && !take(&mut keys)? {
            return Ok(false);
        }
    }
}

/// Does work of the decoders, which panic on some files that are damaged: then it is an error.
fn unless_damaged<T>(name: &str, work: impl FnOnce() -> anyhow::Result<T>) -> anyhow::Result<T> {
    thread_local! {
        static DECODING: Cell<bool> = const { Cell::new(false) };
    }
    static QUIET: Once = Once::new();
    QUIET.call_once(|| {
        let usual = panic::take_hook();
        panic::set_hook(Box::new(move |panic| {
            if !DECODING.get() {
                usual(panic);
            }
        }));
    });
    DECODING.set(true);
    let outcome = panic::catch_unwind(AssertUnwindSafe(work));
    DECODING.set(false);
    outcome.unwrap_or_else(|_| bail!("cannot read {name}: it is damaged"))
}

type Batches = Box<dyn Iterator<Item = Result<RecordBatch, ArrowError>>>;

/// The batches of a file, with the one column only.
fn batches(name: &str, kind: Kind, file: File, column: &str) -> anyhow::Result<Batches> {
    let context = || format!("cannot read {name}");
    // The file again from its beginning: first the columns are looked at, then one is read.
    let again = || {
        let mut file = file.try_clone()?;
        file.rewind()?;
        Ok::<_, std::io::Error>(BufReader::new(file))
    };
    match kind {
        Kind::Parquet => {
            let reader = ParquetRecordBatchReaderBuilder::try_new(file).with_context(context)?;
            let at = find(name, reader.schema(), column)?;
            let mask = ProjectionMask::roots(reader.parquet_schema(), [at]);
            Ok(Box::new(reader.with_projection(mask).build().with_context(context)?))
        }
        Kind::Arrow => {
            let open = |projection| FileReader::try_new(again()?, projection).with_context(context);
            let at = find(name, &open(None)?.schema(), column)?;
            Ok(Box::new(open(Some(vec![at]))?))
        }
        Kind::ArrowStream => {
            let open =
                |projection| StreamReader::try_new(again()?, projection).with_context(context);
            let at = find(name, &open(None)?.schema(), column)?;
            Ok(Box::new(open(Some(vec![at]))?))
        }
    }
}

/// The number of a column that can give keys.
fn find(name: &str, schema: &Schema, column: &str) -> anyhow::Result<usize> {
    let Some((at, field)) = schema.fields().find(column) else {
        let names: Vec<&str> = schema.fields().iter().map(|field| field.name().as_str()).collect();
        bail!("{name} has no column {column:?}; its columns are {}", names.join(", "));
    };
    if !gives_keys(field.data_type()) {
        bail!(
            "{name}: column {column:?} is of type {}; keys are text, bytes or whole numbers",
            field.data_type()
        );
    }
    Ok(at)
}

fn gives_keys(kind: &DataType) -> bool {
    use DataType::{
        Binary, BinaryView, Dictionary, FixedSizeBinary, LargeBinary, LargeUtf8, Utf8, Utf8View,
    };
    match kind {
        Utf8 | LargeUtf8 | Utf8View | Binary | LargeBinary | BinaryView | FixedSizeBinary(_) => {
            true
        }
        Dictionary(_, values) => gives_keys(values),
        other => other.is_integer(),
    }
}

/// Puts the values of an array into the batch; `before` rows came before it.
fn push_all(
    array: &dyn Array,
    format: &KeyFormat,
    name: &str,
    before: u64,
    keys: &mut Batch,
) -> anyhow::Result<()> {
    if let Some(dictionary) = array.as_any_dictionary_opt() {
        let values = arrow_select::take::take(dictionary.values(), dictionary.keys(), None)
            .with_context(|| format!("cannot read {name}"))?;
        return push_all(values.as_ref(), format, name, before, keys);
    }
    let mut push = |row: usize, text: &[u8]| {
        let row = before + row as u64 + 1;
        keys.place.lines.push(row);
        keys.push(text, format.kind()).map_err(|refused| explain(&refused, name, row, text))
    };
    let mut bytes = |values: &mut dyn Iterator<Item = Option<&[u8]>>| {
        for (row, value) in values.enumerate() {
            if let Some(value) = value {
                push(row, value)?;
            }
        }
        Ok(())
    };
    match array.data_type() {
        DataType::Utf8 => bytes(&mut array.as_string::<i32>().iter().map(text)),
        DataType::LargeUtf8 => bytes(&mut array.as_string::<i64>().iter().map(text)),
        DataType::Utf8View => bytes(&mut array.as_string_view().iter().map(text)),
        DataType::Binary => bytes(&mut array.as_binary::<i32>().iter()),
        DataType::LargeBinary => bytes(&mut array.as_binary::<i64>().iter()),
        DataType::BinaryView => bytes(&mut array.as_binary_view().iter()),
        DataType::FixedSizeBinary(_) => bytes(&mut array.as_fixed_size_binary().iter()),
        DataType::Int8 => numbers::<Int8Type>(array, push),
        DataType::Int16 => numbers::<Int16Type>(array, push),
        DataType::Int32 => numbers::<Int32Type>(array, push),
        DataType::Int64 => numbers::<Int64Type>(array, push),
        DataType::UInt8 => numbers::<UInt8Type>(array, push),
        DataType::UInt16 => numbers::<UInt16Type>(array, push),
        DataType::UInt32 => numbers::<UInt32Type>(array, push),
        DataType::UInt64 => numbers::<UInt64Type>(array, push),
        other => bail!("{name}: values of type {other} are no keys"),
    }
}

fn text(value: Option<&str>) -> Option<&[u8]> {
    value.map(str::as_bytes)
}

/// Numbers are given as they are written; `--keys integers` makes them numbers again.
fn numbers<T: ArrowPrimitiveType<Native: Display>>(
    array: &dyn Array,
    mut push: impl FnMut(usize, &[u8]) -> anyhow::Result<()>,
) -> anyhow::Result<()> {
    for (row, value) in array.as_primitive::<T>().iter().enumerate() {
        if let Some(value) = value {
            push(row, value.to_string().as_bytes())?;
        }
    }
    Ok(())
}
