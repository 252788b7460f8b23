//! The first bytes of a file: what all kinds have in common.

use super::checksum;
#[cfg(feature = "zone")]
use crate::zone::Universe;
use crate::{Error, HashFamily, SecretKey};

// FORMAT v1: frozen. Every offset, size and number of this module and of its neighbours `rate`,
// `zone` and `published` is in FORMAT.md, and tests/golden holds files that were written by a
// second implementation of it.

/// The format version that this release writes, and the newest that it reads.
pub const VERSION: u16 = 1;

/// The first bytes of every tamis file: not valid UTF-8, and broken by anything that converts line
/// ends.
pub const MAGIC: [u8; 8] = *b"\x89TAMIS\r\n";

/// The bytes that are the same for every kind.
pub(super) const PROLOGUE: usize = 32;
/// The shortest header, which most filters have.
pub(super) const SHORTEST: usize = 128;
/// The same as a length of a file.
pub(crate) const SHORT_HEADER: u64 = SHORTEST as u64;
/// The longest header: one of a zone filter with the most moduli.
pub(super) const LONGEST: usize = (MODULI + 4 * MAX_MODULI + 4).next_multiple_of(LINE);
/// Headers are whole cache lines, so that a mapped body is aligned.
pub(super) const LINE: usize = 64;
/// Where the moduli of a zone filter begin.
pub(super) const MODULI: usize = 96;
/// The most moduli that a header lists.
pub(super) const MAX_MODULI: usize = 8192;

/// What the prologue says.
pub(super) struct Prologue {
    pub(super) kind: u16,
    pub(super) header: usize,
    pub(super) body: u64,
    pub(super) body_checksum: u32,
}

impl Prologue {
    /// Reads the first bytes of a file; `present` is how many there were to read, at most
    /// [`PROLOGUE`].
    pub(super) fn parse(bytes: &[u8; PROLOGUE], present: usize) -> Result<Prologue, Error> {
        if present < MAGIC.len() || bytes[..8] != MAGIC {
            return Err(Error::NotTamis);
        }
        if present < PROLOGUE {
            return Err(Error::Length { expected: SHORTEST as u64, got: present as u64 });
        }
        let version = u16::from_le_bytes(take(bytes, 8));
        if version > VERSION {
            return Err(Error::TooNew { version, newest: VERSION });
        }
        if version == 0 {
            return Err(refused("version", 0));
        }
        let header = u32::from_le_bytes(take(bytes, 12));
        if !(SHORTEST..=LONGEST).contains(&(header as usize))
            || !(header as usize).is_multiple_of(LINE)
        {
            return Err(refused("header length", header));
        }
        let body = u64::from_le_bytes(take(bytes, 16));
        if body.checked_add(u64::from(header)).is_none() {
            return Err(refused("body length", body));
        }
        Ok(Prologue {
            kind: u16::from_le_bytes(take(bytes, 10)),
            header: header as usize,
            body,
            body_checksum: u32::from_le_bytes(take(bytes, 24)),
        })
    }

    /// The length of the whole file.
    pub(super) fn file_length(&self) -> u64 {
        self.header as u64 + self.body
    }
}

/// What the caller gave of the dictionary that a zone filter may need.
#[cfg(feature = "zone")]
#[derive(Debug, Clone, Copy)]
pub(super) enum Dictionary<'a> {
    Given(&'a Universe),
    /// None was given, and a filter over a dictionary is refused.
    Needed,
    /// None was given, and the elements of such a filter have no names.
    Unneeded,
}

/// The fields of a header, and what the caller gave to read them with.
pub(crate) struct Fields<'a> {
    /// All bytes before the checksum, which was right.
    bytes: &'a [u8],
    /// The length of the body that the prologue states.
    #[cfg(feature = "zone")]
    pub(super) body: u64,
    key: Option<&'a SecretKey>,
    #[cfg(feature = "zone")]
    pub(super) dictionary: Dictionary<'a>,
}

impl<'a> Fields<'a> {
    /// Checks the checksum of a whole header.
    pub(super) fn parse(
        header: &'a [u8],
        key: Option<&'a SecretKey>,
        #[cfg(feature = "zone")] body: u64,
        #[cfg(feature = "zone")] dictionary: Dictionary<'a>,
    ) -> Result<Fields<'a>, Error> {
        let (bytes, checksum) = header.split_at(header.len() - 4);
        if crc32c::crc32c(bytes).to_le_bytes() != checksum {
            return Err(Error::Checksum { part: "header" });
        }
        Ok(Fields {
            bytes,
            key,
            #[cfg(feature = "zone")]
            body,
            #[cfg(feature = "zone")]
            dictionary,
        })
    }

    pub(super) fn u8(&self, at: usize) -> u8 {
        self.bytes[at]
    }

    pub(super) fn u32(&self, at: usize) -> u32 {
        u32::from_le_bytes(take(self.bytes, at))
    }

    pub(super) fn u64(&self, at: usize) -> u64 {
        u64::from_le_bytes(take(self.bytes, at))
    }

    pub(super) fn f64(&self, at: usize) -> f64 {
        f64::from_le_bytes(take(self.bytes, at))
    }

    /// The length of the header, with its checksum.
    pub(super) fn header_length(&self) -> usize {
        self.bytes.len() + 4
    }

    /// Refuses a header that is not of this length.
    pub(super) fn check_length(&self, length: usize) -> Result<(), Error> {
        if self.header_length() == length {
            return Ok(());
        }
        Err(refused("header length", self.header_length()))
    }

    /// Refuses bytes that should be zero: those from the first to before the second of each pair,
    /// and all from `rest` on.
    pub(super) fn check_reserved(
        &self,
        ranges: &[(usize, usize)],
        rest: usize,
    ) -> Result<(), Error> {
        let zero = |bytes: &[u8]| bytes.iter().all(|byte| *byte == 0);
        let ranges_are_zero = ranges.iter().all(|(from, to)| zero(&self.bytes[*from..*to]));
        if ranges_are_zero && zero(&self.bytes[rest..]) {
            return Ok(());
        }
        Err(Error::NotZero { part: "reserved space" })
    }

    /// The hash family of byte 32, with the seed or key check of byte 40.
    pub(super) fn hash(&self) -> Result<HashFamily, Error> {
        HashFamily::from_fields(self.u8(32), self.u64(40), self.key)
    }
}

pub(super) fn refused(field: &'static str, got: impl ToString) -> Error {
    Error::Field { field, got: got.to_string() }
}

/// A header on its way out.
pub(super) struct Draft(Vec<u8>);

impl Draft {
    /// The prologue of a header of `length` bytes, the rest zero.
    pub(super) fn new(kind: u16, length: usize, body: &[u8]) -> Draft {
        Draft::of_parts(kind, length, &[body])
    }

    /// The same for a body in several parts.
    pub(super) fn of_parts(kind: u16, length: usize, parts: &[&[u8]]) -> Draft {
        let body: u64 = parts.iter().map(|part| part.len() as u64).sum();
        let mut draft = Draft(vec![0; length]);
        draft.put(0, &MAGIC);
        draft.put(8, &VERSION.to_le_bytes());
        draft.put(10, &kind.to_le_bytes());
        draft.put(12, &(length as u32).to_le_bytes());
        draft.put(16, &body.to_le_bytes());
        draft.put(24, &checksum::of_parts(parts).to_le_bytes());
        draft
    }

    pub(super) fn put(&mut self, at: usize, value: &[u8]) {
        self.0[at..at + value.len()].copy_from_slice(value);
    }

    /// The hash family in byte 32, and its seed or key check in byte 40.
    pub(super) fn put_hash(&mut self, hash: &HashFamily) {
        self.put(32, &[hash.id()]);
        self.put(40, &hash.seed_field().to_le_bytes());
    }

    /// The header, with its checksum at the end.
    pub(super) fn finish(mut self) -> Vec<u8> {
        let end = self.0.len() - 4;
        let checksum = crc32c::crc32c(&self.0[..end]);
        self.put(end, &checksum.to_le_bytes());
        self.0
    }
}

/// The `N` bytes at `at`.
fn take<const N: usize>(bytes: &[u8], at: usize) -> [u8; N] {
    let mut field = [0; N];
    field.copy_from_slice(&bytes[at..at + N]);
    field
}
