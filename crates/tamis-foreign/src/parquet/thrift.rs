//! Thrift's compact protocol, as far as Parquet's metadata needs it. Nothing is allocated, no
//! length is believed, and structures are nested only so deep.

use crate::{Error, Format};

/// The deepest structure that is read. Parquet's own metadata is less than ten deep.
const MAX_DEPTH: u32 = 32;

/// The types of values.
const TRUE: u8 = 1;
const FALSE: u8 = 2;
const BYTE: u8 = 3;
const I16: u8 = 4;
const I64: u8 = 6;
const DOUBLE: u8 = 7;
const BINARY: u8 = 8;
const LIST: u8 = 9;
const SET: u8 = 10;
const MAP: u8 = 11;
const STRUCT: u8 = 12;

/// The rest of some metadata.
pub(super) struct Reader<'a> {
    bytes: &'a [u8],
    at: usize,
    depth: u32,
}

impl<'a> Reader<'a> {
    pub(super) fn new(bytes: &'a [u8]) -> Reader<'a> {
        Reader { bytes, at: 0, depth: 0 }
    }

    pub(super) fn damaged(&self, why: String) -> Error {
        Error::Damaged { format: Format::Parquet, why: format!("{why} (byte {})", self.at) }
    }

    pub(super) fn position(&self) -> usize {
        self.at
    }

    fn byte(&mut self) -> Result<u8, Error> {
        let byte = self.bytes.get(self.at).copied();
        let byte = byte.ok_or_else(|| self.damaged("its metadata is cut off".to_owned()))?;
        self.at += 1;
        Ok(byte)
    }

    fn varint(&mut self) -> Result<u64, Error> {
        let mut value = 0u64;
        for shift in (0..64).step_by(7) {
            let byte = self.byte()?;
            value |= u64::from(byte & 0x7f) << shift;
            if byte < 0x80 {
                return Ok(value);
            }
        }
        Err(self.damaged("a number of its metadata has no end".to_owned()))
    }

    fn zigzag(&mut self) -> Result<i64, Error> {
        let value = self.varint()?;
        Ok((value >> 1) as i64 ^ -((value & 1) as i64))
    }

    /// An integer of any width.
    pub(super) fn integer(&mut self, kind: u8) -> Result<i64, Error> {
        match kind {
            I16..=I64 => self.zigzag(),
            _ => Err(self.damaged(format!("its metadata has the type {kind} for an integer"))),
        }
    }

    /// A string, or any bytes.
    pub(super) fn binary(&mut self, kind: u8) -> Result<&'a [u8], Error> {
        if kind != BINARY {
            return Err(self.damaged(format!("its metadata has the type {kind} for a text")));
        }
        let len = self.varint()?;
        let rest = &self.bytes[self.at..];
        let taken = usize::try_from(len).ok().and_then(|len| rest.get(..len));
        let taken = taken.ok_or_else(|| self.damaged(format!("a text has {len} bytes")))?;
        self.at += taken.len();
        Ok(taken)
    }

    /// The fields of a structure: `take` gets each with its number and its type, and must read or
    /// skip it.
    pub(super) fn structure(
        &mut self,
        mut take: impl FnMut(&mut Reader<'a>, i16, u8) -> Result<(), Error>,
    ) -> Result<(), Error> {
        if self.depth == MAX_DEPTH {
            return Err(self.damaged("its metadata is nested too deep".to_owned()));
        }
        self.depth += 1;
        let mut field = 0i16;
        loop {
            let head = self.byte()?;
            if head == 0 {
                self.depth -= 1;
                return Ok(());
            }
            field = match head >> 4 {
                0 => self.zigzag()? as i16,
                step => field.wrapping_add(i16::from(step)),
            };
            take(self, field, head & 0x0f)?;
        }
    }

    /// A structure within a structure.
    pub(super) fn nested(
        &mut self,
        kind: u8,
        take: impl FnMut(&mut Reader<'a>, i16, u8) -> Result<(), Error>,
    ) -> Result<(), Error> {
        if kind != STRUCT {
            return Err(self.damaged(format!("its metadata has the type {kind} for a structure")));
        }
        self.structure(take)
    }

    /// The elements of a list, each given to `take` with its type.
    pub(super) fn list(
        &mut self,
        kind: u8,
        mut take: impl FnMut(&mut Reader<'a>, u8) -> Result<(), Error>,
    ) -> Result<(), Error> {
        if kind != LIST {
            return Err(self.damaged(format!("its metadata has the type {kind} for a list")));
        }
        let (count, kind) = self.list_head()?;
        for _ in 0..count {
            take(self, kind)?;
        }
        Ok(())
    }

    /// How many elements follow, and their type. Each takes a byte at least, so that a false
    /// count cannot make a loop long.
    fn list_head(&mut self) -> Result<(u64, u8), Error> {
        let head = self.byte()?;
        let count = if head >> 4 == 15 { self.varint()? } else { u64::from(head >> 4) };
        if count > (self.bytes.len() - self.at) as u64 {
            return Err(self.damaged(format!("a list has {count} elements")));
        }
        Ok((count, head & 0x0f))
    }

    /// Passes over a value.
    pub(super) fn skip(&mut self, kind: u8) -> Result<(), Error> {
        // The value of a truth field is its type.
        if matches!(kind, TRUE | FALSE) {
            return Ok(());
        }
        self.skip_element(kind)
    }

    /// Passes over an element of a list, where a truth value takes a byte.
    fn skip_element(&mut self, kind: u8) -> Result<(), Error> {
        match kind {
            TRUE | FALSE | BYTE => drop(self.byte()?),
            I16..=I64 => drop(self.varint()?),
            DOUBLE => {
                for _ in 0..8 {
                    self.byte()?;
                }
            }
            BINARY => drop(self.binary(BINARY)?),
            LIST | SET => {
                self.enter()?;
                let (count, kind) = self.list_head()?;
                for _ in 0..count {
                    self.skip_element(kind)?;
                }
                self.depth -= 1;
            }
            MAP => {
                self.enter()?;
                let count = self.varint()?;
                if count > 0 {
                    let kinds = self.byte()?;
                    if count > (self.bytes.len() - self.at) as u64 {
                        return Err(self.damaged(format!("a map has {count} elements")));
                    }
                    for _ in 0..count {
                        self.skip_element(kinds >> 4)?;
                        self.skip_element(kinds & 0x0f)?;
                    }
                }
                self.depth -= 1;
            }
            STRUCT => self.structure(|reader, _, kind| reader.skip(kind))?,
            _ => return Err(self.damaged(format!("its metadata has the type {kind}"))),
        }
        Ok(())
    }

    fn enter(&mut self) -> Result<(), Error> {
        if self.depth == MAX_DEPTH {
            return Err(self.damaged("its metadata is nested too deep".to_owned()));
        }
        self.depth += 1;
        Ok(())
    }
}

pub(super) fn write_varint(out: &mut Vec<u8>, mut value: u64) {
    while value >= 0x80 {
        out.push(value as u8 | 0x80);
        value >>= 7;
    }
    out.push(value as u8);
}
