//! Bytes from outside, read step by step. No length is believed: every step compares it with the
//! bytes that are there.

use crate::{Error, Format};

/// The rest of some bytes.
pub(crate) struct Cursor<'a> {
    rest: &'a [u8],
    format: Format,
}

impl<'a> Cursor<'a> {
    pub(crate) fn new(bytes: &'a [u8], format: Format) -> Cursor<'a> {
        Cursor { rest: bytes, format }
    }

    /// An error of this format.
    pub(crate) fn damaged(&self, why: impl Into<String>) -> Error {
        Error::Damaged { format: self.format, why: why.into() }
    }

    /// The next `len` bytes.
    pub(crate) fn take(&mut self, len: u64, what: &str) -> Result<&'a [u8], Error> {
        let taken = usize::try_from(len).ok().and_then(|len| self.rest.split_at_checked(len));
        let Some((taken, rest)) = taken else {
            let left = self.rest.len();
            return Err(self.damaged(format!("{what} takes {len} bytes, and {left} are left")));
        };
        self.rest = rest;
        Ok(taken)
    }

    fn array<const N: usize>(&mut self, what: &str) -> Result<[u8; N], Error> {
        let mut array = [0; N];
        array.copy_from_slice(self.take(N as u64, what)?);
        Ok(array)
    }

    pub(crate) fn u8(&mut self, what: &str) -> Result<u8, Error> {
        Ok(self.array::<1>(what)?[0])
    }

    pub(crate) fn u16_le(&mut self, what: &str) -> Result<u16, Error> {
        Ok(u16::from_le_bytes(self.array(what)?))
    }

    pub(crate) fn u32_le(&mut self, what: &str) -> Result<u32, Error> {
        Ok(u32::from_le_bytes(self.array(what)?))
    }

    pub(crate) fn u64_le(&mut self, what: &str) -> Result<u64, Error> {
        Ok(u64::from_le_bytes(self.array(what)?))
    }

    pub(crate) fn f64_le(&mut self, what: &str) -> Result<f64, Error> {
        Ok(f64::from_le_bytes(self.array(what)?))
    }

    pub(crate) fn i32_be(&mut self, what: &str) -> Result<i32, Error> {
        Ok(i32::from_be_bytes(self.array(what)?))
    }

    pub(crate) fn u64_be(&mut self, what: &str) -> Result<u64, Error> {
        Ok(u64::from_be_bytes(self.array(what)?))
    }

    /// What is left.
    pub(crate) fn rest(&self) -> &'a [u8] {
        self.rest
    }

    /// Refuses bytes that belong to nothing.
    pub(crate) fn end(&self) -> Result<(), Error> {
        if self.rest.is_empty() {
            return Ok(());
        }
        let left = self.rest.len();
        Err(self.damaged(format!("{left} bytes are left behind its end; cut them off")))
    }

    /// A number of hashes that a lookup can afford.
    pub(crate) fn hashes(&self, hashes: u64) -> Result<u32, Error> {
        match u32::try_from(hashes) {
            Ok(hashes @ 1..=crate::MAX_HASHES) => Ok(hashes),
            _ => Err(self.damaged(format!(
                "its keys have {hashes} bits each, and 1 to {} are read",
                crate::MAX_HASHES
            ))),
        }
    }

    /// A rate that can be one.
    pub(crate) fn rate(&self, rate: f64) -> Result<f64, Error> {
        if rate > 0.0 && rate < 1.0 {
            return Ok(rate);
        }
        Err(self.damaged(format!("its rate is {rate}, which is not between 0 and 1")))
    }
}
