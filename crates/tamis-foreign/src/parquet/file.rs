//! The filters of a Parquet file: found by its footer, and read one by one. Nothing else of the
//! file is loaded.

use super::thrift::Reader;
use super::{Blocks, MAX_HEADER, read_header};
use crate::array::with_capacity;
use crate::{Error, ForeignFilter, Format, KeyKind};
use std::fmt;
use std::io::{Read, Seek, SeekFrom};

/// How a Parquet file begins and ends.
pub(crate) const MAGIC: &[u8; 4] = b"PAR1";

/// How a file ends whose footer is encrypted.
const ENCRYPTED: &[u8; 4] = b"PARE";

/// A larger footer is taken for a mistake before it fills the memory.
const MAX_FOOTER: u64 = 1 << 30;

/// How the values of a column are stored, which decides what is hashed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Physical {
    /// Truth values, which have no filter.
    Boolean,
    /// Integers of 32 bits, and smaller ones, dates and such.
    Int32,
    /// Integers of 64 bits, moments and such.
    Int64,
    /// Moments of 96 bits.
    Int96,
    /// Floating-point numbers of 32 bits.
    Float,
    /// Floating-point numbers of 64 bits.
    Double,
    /// Texts and bytes.
    ByteArray,
    /// Bytes of a fixed number.
    FixedLenByteArray,
}

impl Physical {
    fn new(number: i64) -> Option<Physical> {
        Some(match number {
            0 => Physical::Boolean,
            1 => Physical::Int32,
            2 => Physical::Int64,
            3 => Physical::Int96,
            4 => Physical::Float,
            5 => Physical::Double,
            6 => Physical::ByteArray,
            7 => Physical::FixedLenByteArray,
            _ => return None,
        })
    }

    /// The name that Parquet has for it.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Physical::Boolean => "BOOLEAN",
            Physical::Int32 => "INT32",
            Physical::Int64 => "INT64",
            Physical::Int96 => "INT96",
            Physical::Float => "FLOAT",
            Physical::Double => "DOUBLE",
            Physical::ByteArray => "BYTE_ARRAY",
            Physical::FixedLenByteArray => "FIXED_LEN_BYTE_ARRAY",
        }
    }

    /// The kinds of keys that such a column has; the first is meant when none is said.
    #[must_use]
    pub fn key_kinds(self) -> &'static [KeyKind] {
        match self {
            Physical::Boolean => &[],
            Physical::Int32 => &[KeyKind::Int, KeyKind::Hex],
            Physical::Int64 => &[KeyKind::Long, KeyKind::Hex],
            Physical::Float => &[KeyKind::Float, KeyKind::Hex],
            Physical::Double => &[KeyKind::Double, KeyKind::Hex],
            Physical::Int96 => &[KeyKind::Hex],
            Physical::ByteArray | Physical::FixedLenByteArray => &[KeyKind::Text, KeyKind::Hex],
        }
    }
}

impl fmt::Display for Physical {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.pad(self.name())
    }
}

/// A column of a row group, and where its filter is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ColumnChunk {
    /// How the values are stored.
    pub physical: Physical,
    /// How many values there are, nulls among them.
    pub values: u64,
    /// Where the filter begins, if there is one.
    offset: Option<u64>,
    /// How long it is with its header, if the file says so.
    length: Option<u64>,
}

impl ColumnChunk {
    /// Whether it has a filter.
    #[must_use]
    pub fn has_filter(&self) -> bool {
        self.offset.is_some()
    }
}

/// A column: its name, and what each row group has of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Column {
    /// The names on the way to it, with dots between.
    pub name: String,
    /// Its chunks by row group; `None` where the metadata has none.
    pub chunks: Vec<Option<ColumnChunk>>,
}

/// A Parquet file whose footer was read.
#[derive(Debug)]
pub struct ParquetFile<F> {
    file: F,
    /// Where the footer begins: filters lie before it.
    footer: u64,
    created_by: String,
    rows: Vec<u64>,
    columns: Vec<Column>,
}

impl<F: Read + Seek> ParquetFile<F> {
    /// Reads the footer. `None` if it is no Parquet file.
    pub fn open(mut file: F) -> Result<Option<ParquetFile<F>>, Error> {
        let len = file.seek(SeekFrom::End(0))?;
        if len < 12 {
            return Ok(None);
        }
        let mut magic = [0; 4];
        file.seek(SeekFrom::Start(0))?;
        file.read_exact(&mut magic)?;
        if magic != *MAGIC && magic != *ENCRYPTED {
            return Ok(None);
        }
        let mut tail = [0; 8];
        file.seek(SeekFrom::Start(len - 8))?;
        file.read_exact(&mut tail)?;
        let (size, end) = tail.split_at(4);
        if end == ENCRYPTED {
            return Err(damaged("its footer is encrypted, and cannot be read here".to_owned()));
        }
        if end != MAGIC {
            return Err(damaged("it begins as a Parquet file and does not end as one".to_owned()));
        }
        let mut footer_size = [0; 4];
        footer_size.copy_from_slice(size);
        let footer_size = u64::from(u32::from_le_bytes(footer_size));
        if footer_size > len - 12 || footer_size > MAX_FOOTER {
            return Err(damaged(format!("its footer has {footer_size} bytes of its {len}")));
        }
        let footer = len - 8 - footer_size;
        let bytes = read_at(&mut file, footer, footer_size)?;
        let mut parsed =
            ParquetFile { file, footer, created_by: String::new(), rows: vec![], columns: vec![] };
        parsed.read_footer(&bytes)?;
        Ok(Some(parsed))
    }

    fn read_footer(&mut self, bytes: &[u8]) -> Result<(), Error> {
        let mut reader = Reader::new(bytes);
        reader.structure(|reader, field, kind| match field {
            4 => reader.list(kind, |reader, kind| self.read_row_group(reader, kind)),
            6 => {
                let text = reader.binary(kind)?;
                self.created_by =
                    String::from_utf8_lossy(&text[..text.len().min(200)]).into_owned();
                Ok(())
            }
            _ => reader.skip(kind),
        })?;
        let groups = self.rows.len();
        self.columns.iter_mut().for_each(|column| column.chunks.resize(groups, None));
        Ok(())
    }

    fn read_row_group(&mut self, reader: &mut Reader<'_>, kind: u8) -> Result<(), Error> {
        let group = self.rows.len();
        let mut rows = 0;
        let mut place = 0;
        reader.nested(kind, |reader, field, kind| match field {
            1 => reader.list(kind, |reader, kind| {
                self.read_chunk(reader, kind, group, place)?;
                place += 1;
                Ok(())
            }),
            3 => {
                rows = u64::try_from(reader.integer(kind)?).unwrap_or(0);
                Ok(())
            }
            _ => reader.skip(kind),
        })?;
        self.rows.push(rows);
        Ok(())
    }

    fn read_chunk(
        &mut self,
        reader: &mut Reader<'_>,
        kind: u8,
        group: usize,
        place: usize,
    ) -> Result<(), Error> {
        let mut physical = None;
        let mut name: Option<String> = None;
        let (mut values, mut offset, mut length) = (0, None, None);
        let natural = |reader: &mut Reader<'_>, kind| {
            let number = reader.integer(kind)?;
            u64::try_from(number)
                .map_err(|_| reader.damaged(format!("its metadata has {number} for a size")))
        };
        reader.nested(kind, |reader, field, kind| {
            if field != 3 {
                return reader.skip(kind);
            }
            reader.nested(kind, |reader, field, kind| match field {
                1 => {
                    let number = reader.integer(kind)?;
                    physical = Physical::new(number);
                    Ok(())
                }
                3 => reader.list(kind, |reader, kind| {
                    let part = String::from_utf8_lossy(reader.binary(kind)?).into_owned();
                    match &mut name {
                        Some(name) => {
                            name.push('.');
                            name.push_str(&part);
                        }
                        None => name = Some(part),
                    }
                    Ok(())
                }),
                5 => {
                    values = natural(reader, kind)?;
                    Ok(())
                }
                14 => {
                    offset = Some(natural(reader, kind)?);
                    Ok(())
                }
                15 => {
                    length = Some(natural(reader, kind)?);
                    Ok(())
                }
                _ => reader.skip(kind),
            })
        })?;
        // A column that is encrypted has no metadata here.
        let (Some(physical), Some(name)) = (physical, name) else { return Ok(()) };
        let chunk = ColumnChunk { physical, values, offset, length };
        // Row groups list the same columns in the same order.
        let at = match self.columns.get(place) {
            Some(column) if column.name == name => place,
            _ => match self.columns.iter().position(|column| column.name == name) {
                Some(at) => at,
                None => {
                    self.columns.push(Column { name, chunks: Vec::new() });
                    self.columns.len() - 1
                }
            },
        };
        let chunks = &mut self.columns[at].chunks;
        if chunks.len() > group {
            return Err(damaged(format!("row group {group} has a column twice")));
        }
        chunks.resize(group, None);
        chunks.push(Some(chunk));
        Ok(())
    }

    /// The program that wrote the file, in its own words; empty if it does not say.
    #[must_use]
    pub fn created_by(&self) -> &str {
        &self.created_by
    }

    /// How many rows each row group has.
    #[must_use]
    pub fn rows(&self) -> &[u64] {
        &self.rows
    }

    /// The columns.
    #[must_use]
    pub fn columns(&self) -> &[Column] {
        &self.columns
    }

    /// A column by its name.
    pub fn column(&self, name: &str) -> Result<&Column, Error> {
        self.columns.iter().find(|column| column.name == name).ok_or_else(|| {
            let names: Vec<&str> =
                self.columns.iter().take(20).map(|column| column.name.as_str()).collect();
            Error::Unsupported {
                format: Format::Parquet,
                why: format!("is in no column {name:?}; the file has {}", names.join(", ")),
            }
        })
    }

    /// Reads one filter; `None` if the chunk has none. Nothing else of the file is read.
    pub fn filter(&mut self, chunk: &ColumnChunk) -> Result<Option<ForeignFilter>, Error> {
        let Some(offset) = chunk.offset else { return Ok(None) };
        let room = self.footer.checked_sub(offset).filter(|_| offset >= 4);
        let Some(room) = room else {
            return Err(damaged(format!("a filter begins at byte {offset}, outside the file")));
        };
        let start = read_at(&mut self.file, offset, room.min(MAX_HEADER as u64))?;
        let (header, size) = read_header(&start)?;
        let length = header.saturating_add(size);
        if chunk.length.is_some_and(|said| said != length) || length > room {
            return Err(damaged(format!(
                "a filter of {length} bytes at byte {offset} does not fit"
            )));
        }
        let body = read_at(&mut self.file, offset + header, size)?;
        Ok(Some(ForeignFilter(Box::new(Blocks { body }))))
    }
}

fn damaged(why: String) -> Error {
    Error::Damaged { format: Format::Parquet, why }
}

/// Bytes of a file that the caller has checked to be there.
fn read_at(file: &mut (impl Read + Seek), at: u64, len: u64) -> Result<Vec<u8>, Error> {
    let mut bytes = with_capacity(len)?;
    file.seek(SeekFrom::Start(at))?;
    let read = file.take(len).read_to_end(&mut bytes)?;
    if read as u64 != len {
        return Err(damaged(format!("it ends {} bytes too early", len - read as u64)));
    }
    Ok(bytes)
}
