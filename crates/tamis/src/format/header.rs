//! The first bytes of a file, to and from what they say.

use crate::rate::{Kind, Plan, RateFilter};
use crate::{Error, Hash, Kinds, SecretKey};

/// The format version that this release writes, and the newest that it reads.
pub const VERSION: u16 = 1;

/// The first bytes of every tamis file: not valid UTF-8, and broken by anything that converts line ends.
pub const MAGIC: [u8; 8] = *b"\x89TAMIS\r\n";

/// The bytes that are the same for every kind.
pub(super) const PROLOGUE: usize = 32;
/// The header of a rate filter: a multiple of a cache line, so that a mapped body is aligned.
pub(super) const RATE_HEADER: usize = 128;

/// What the prologue says.
pub(super) struct Prologue {
    kind: u16,
    pub(super) header: usize,
    pub(super) body: u64,
    pub(super) body_checksum: u32,
}

impl Prologue {
    /// Reads the first bytes of a file; `present` is how many there were to read, at most [`PROLOGUE`].
    pub(super) fn parse(bytes: &[u8; PROLOGUE], present: usize) -> Result<Prologue, Error> {
        if present < MAGIC.len() || bytes[..8] != MAGIC {
            return Err(Error::NotTamis);
        }
        if present < PROLOGUE {
            return Err(Error::Length { expected: RATE_HEADER as u64, got: present as u64 });
        }
        let version = u16::from_le_bytes(take(bytes, 8));
        if version > VERSION {
            return Err(Error::TooNew { version, newest: VERSION });
        }
        if version == 0 {
            return Err(Error::Field { field: "version", got: "0".to_owned() });
        }
        let header = u32::from_le_bytes(take(bytes, 12));
        if header as usize != RATE_HEADER {
            return Err(Error::Field { field: "header length", got: header.to_string() });
        }
        let body = u64::from_le_bytes(take(bytes, 16));
        if body.checked_add(u64::from(header)).is_none() {
            return Err(Error::Field { field: "body length", got: body.to_string() });
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

/// What the header of a rate filter says.
pub(super) struct RateHeader {
    pub(super) plan: Plan,
    pub(super) hash: Hash,
    pub(super) kinds: Kinds,
}

impl RateHeader {
    /// Reads the whole header, checksum first, and refuses whatever no writer writes.
    pub(super) fn parse(
        prologue: &Prologue,
        bytes: &[u8; RATE_HEADER],
        key: Option<&SecretKey>,
    ) -> Result<RateHeader, Error> {
        let (fields, checksum) = bytes.split_at(RATE_HEADER - 4);
        if crc32c::crc32c(fields).to_le_bytes() != checksum {
            return Err(Error::Checksum { part: "header" });
        }
        let filter = match prologue.kind {
            1 => Kind::Bloom,
            2 => Kind::Blocked,
            3 => Kind::Counting,
            other => return Err(Error::Field { field: "kind", got: other.to_string() }),
        };
        let reserved = fields[28..32].iter().chain(&fields[34..36]).chain(&fields[76..]);
        if reserved.into_iter().any(|byte| *byte != 0) {
            return Err(Error::Field { field: "reserved space", got: "not zero".to_owned() });
        }
        let plan = Plan::from_fields(
            filter,
            u64::from_le_bytes(take(bytes, 48)),
            f64::from_le_bytes(take(bytes, 56)),
            u64::from_le_bytes(take(bytes, 64)),
            u32::from_le_bytes(take(bytes, 36)),
            u32::from_le_bytes(take(bytes, 72)),
        )?;
        if prologue.body != plan.bytes() {
            return Err(Error::Field { field: "body length", got: prologue.body.to_string() });
        }
        let kinds = Kinds(fields[33]);
        if kinds.0 & !Kinds::ALL != 0 {
            return Err(Error::Field { field: "kinds of keys", got: kinds.0.to_string() });
        }
        let hash = Hash::from_fields(fields[32], u64::from_le_bytes(take(bytes, 40)), key)?;
        Ok(RateHeader { plan, hash, kinds })
    }

    /// The header of a filter.
    pub(super) fn write(filter: &dyn RateFilter) -> [u8; RATE_HEADER] {
        let (plan, hash, body) = (filter.plan(), filter.hash(), filter.body());
        let kind: u16 = match plan.filter() {
            Kind::Bloom => 1,
            Kind::Blocked => 2,
            Kind::Counting => 3,
        };
        let mut bytes = [0; RATE_HEADER];
        let mut put = |at: usize, value: &[u8]| bytes[at..at + value.len()].copy_from_slice(value);
        put(0, &MAGIC);
        put(8, &VERSION.to_le_bytes());
        put(10, &kind.to_le_bytes());
        put(12, &(RATE_HEADER as u32).to_le_bytes());
        put(16, &(body.len() as u64).to_le_bytes());
        put(24, &crc32c::crc32c(body).to_le_bytes());
        put(32, &[hash.id(), filter.kinds().0]);
        put(36, &plan.hashes().to_le_bytes());
        put(40, &hash.seed_field().to_le_bytes());
        put(48, &plan.items().to_le_bytes());
        put(56, &plan.fpr().to_le_bytes());
        put(64, &plan.cells().to_le_bytes());
        put(72, &plan.counter_bits().to_le_bytes());
        let checksum = crc32c::crc32c(&bytes[..RATE_HEADER - 4]);
        bytes[RATE_HEADER - 4..].copy_from_slice(&checksum.to_le_bytes());
        bytes
    }
}

/// The `N` bytes at `at`.
fn take<const N: usize>(bytes: &[u8], at: usize) -> [u8; N] {
    let mut field = [0; N];
    field.copy_from_slice(&bytes[at..at + N]);
    field
}
