//! Apache Parquet's split-block filters: blocks of 256 bits behind a small header, one filter for
//! each column of each row group that has one.

mod file;
mod thrift;

pub use file::{Column, ColumnChunk, ParquetFile, Physical};

use crate::array::{mismatch, with_capacity};
use crate::filter::Operations;
use crate::{Error, Format, Part};
use std::any::Any;
use tamis::rate::parquet_blocks;
use thrift::Reader;
use twox_hash::XxHash64;

/// Writers choose sizes up to so many bytes; the format itself has no such limit.
const MAX_BYTES: u64 = 128 << 20;

/// What follows the number of bytes in a header: the block algorithm, the hash xxHash, no
/// compression, and the end.
const HEADER_END: [u8; 13] =
    [0x1c, 0x1c, 0x00, 0x00, 0x1c, 0x1c, 0x00, 0x00, 0x1c, 0x1c, 0x00, 0x00, 0x00];

/// The most bytes that are searched for the end of a header.
const MAX_HEADER: usize = 1 << 10;

/// A filter with its header, as it stands in a file.
#[derive(Debug, Clone)]
pub(crate) struct Blocks {
    body: Vec<u8>,
}

/// The hash of a key.
fn hash(key: &[u8]) -> u64 {
    XxHash64::oneshot(0, key)
}

/// How long the header is, and how many bytes of blocks follow.
fn read_header(bytes: &[u8]) -> Result<(u64, u64), Error> {
    let mut reader = Reader::new(&bytes[..bytes.len().min(MAX_HEADER)]);
    let mut size = None;
    let mut unions = [false; 3];
    reader.structure(|reader, field, kind| {
        match field {
            1 => size = Some(reader.integer(kind)?),
            // The algorithm, the hash and the compression: the first of each is the only one.
            2..=4 => {
                let of = field;
                reader.nested(kind, |reader, field, kind| {
                    if field != 1 {
                        return Err(reader.damaged(format!(
                            "field {of} of its header is the choice {field}, and 1 is known"
                        )));
                    }
                    unions[of as usize - 2] = true;
                    reader.skip(kind)
                })?;
            }
            _ => reader.skip(kind)?,
        }
        Ok(())
    })?;
    let Some(size) = size.and_then(|size| u64::try_from(size).ok()) else {
        return Err(reader.damaged("its header does not say how many bytes it has".to_owned()));
    };
    if unions != [true; 3] {
        return Err(reader.damaged("its header does not say how it hashes".to_owned()));
    }
    if size == 0 || !size.is_multiple_of(32) {
        return Err(reader.damaged(format!("{size} bytes are not a number of whole blocks of 32")));
    }
    Ok((reader.position() as u64, size))
}

impl Blocks {
    /// The bits that writers choose for so many distinct values at a rate.
    pub(crate) fn bits_for(values: u64, fpr: f64) -> u64 {
        let bits = -8.0 * values as f64 / (-fpr.powf(1.0 / 8.0)).ln_1p();
        let bytes = ((bits / 8.0).ceil() as u64).clamp(32, MAX_BYTES);
        8 * bytes.next_power_of_two().min(MAX_BYTES)
    }

    pub(crate) fn zeroed(bits: u64) -> Result<Blocks, Error> {
        let mut body = with_capacity(bits / 8)?;
        body.resize((bits / 8) as usize, 0);
        Ok(Blocks { body })
    }

    /// Reads a header and the blocks behind it, and nothing else.
    pub(crate) fn read(bytes: &[u8]) -> Result<Blocks, Error> {
        let damaged = |why: String| Error::Damaged { format: Format::Parquet, why };
        if bytes.starts_with(file::MAGIC) {
            return Err(damaged(
                "it is a whole Parquet file; name the column whose filters you mean".to_owned(),
            ));
        }
        let (header, size) = read_header(bytes)?;
        let left = (bytes.len() as u64).saturating_sub(header);
        if left != size {
            return Err(damaged(format!("{size} bytes of blocks are said, and {left} are there")));
        }
        let mut body = with_capacity(size)?;
        body.extend_from_slice(&bytes[header as usize..]);
        Ok(Blocks { body })
    }
}

impl Operations for Blocks {
    fn format(&self) -> Format {
        Format::Parquet
    }

    fn variant(&self) -> String {
        "split blocks of 256 bits, xxHash".to_owned()
    }

    fn parts(&self) -> Vec<Part<'_>> {
        let bits = self.body.len() as u64 * 8;
        vec![Part {
            body: &self.body,
            bits,
            hashes: 8,
            reach: bits,
            in_blocks: true,
            planned: None,
            counted: None,
        }]
    }

    fn contains(&self, key: &[u8]) -> bool {
        parquet_blocks::contains(&self.body, hash(key))
    }

    fn contains_many(&self, keys: &[&[u8]], answers: &mut [bool]) {
        let mut hashes = [0; 256];
        for (keys, answers) in keys.chunks(256).zip(answers.chunks_mut(256)) {
            hashes.iter_mut().zip(keys).for_each(|(slot, key)| *slot = hash(key));
            parquet_blocks::contains_many(&self.body, &hashes[..keys.len()], answers);
        }
    }

    fn insert(&mut self, key: &[u8]) -> Result<bool, Error> {
        Ok(parquet_blocks::insert(&mut self.body, hash(key)))
    }

    fn union(&mut self, other: &dyn Any) -> Result<(), Error> {
        let Some(other) = other.downcast_ref::<Blocks>() else {
            return Err(Error::Unsupported {
                format: Format::Parquet,
                why: "has another form than the other one".to_owned(),
            });
        };
        mismatch("number of bytes", self.body.len(), other.body.len())?;
        self.body.iter_mut().zip(&other.body).for_each(|(byte, other)| *byte |= other);
        Ok(())
    }

    fn to_bytes(&self) -> Result<Vec<u8>, Error> {
        let mut out = with_capacity(self.body.len() as u64 + 24)?;
        out.push(0x15);
        thrift::write_varint(&mut out, (self.body.len() as u64) << 1);
        out.extend(HEADER_END);
        out.extend_from_slice(&self.body);
        Ok(out)
    }

    fn as_any(&self) -> &dyn Any {
        self
    }
}
