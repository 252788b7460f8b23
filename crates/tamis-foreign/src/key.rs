//! How keys that are written as text become the bytes that a program hashes.

use crate::{Error, Format};
use sha2::{Digest, Sha256};
use std::fmt;
use std::str::FromStr;

/// What a key is. No format but Parquet says so in its bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum KeyKind {
    /// Text as UTF-8.
    Text,
    /// Text as UTF-16 units, as Guava's `unencodedCharsFunnel` takes it.
    Chars,
    /// An integer of 64 bits.
    Long,
    /// An integer of 32 bits.
    Int,
    /// A floating-point number of 32 bits.
    Float,
    /// A floating-point number of 64 bits.
    Double,
    /// Bytes, written as hexadecimal digits.
    Hex,
    /// The first 16 bytes of the SHA-256 of a text: the hash that rbloom's manual suggests.
    Sha256,
    /// A hash of 128 bits, written as 32 hexadecimal digits, the highest first.
    Hash,
}

impl KeyKind {
    /// All of them.
    pub const ALL: [KeyKind; 9] = [
        KeyKind::Text,
        KeyKind::Chars,
        KeyKind::Long,
        KeyKind::Int,
        KeyKind::Float,
        KeyKind::Double,
        KeyKind::Hex,
        KeyKind::Sha256,
        KeyKind::Hash,
    ];

    /// The name, the same everywhere.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            KeyKind::Text => "text",
            KeyKind::Chars => "chars",
            KeyKind::Long => "long",
            KeyKind::Int => "int",
            KeyKind::Float => "float",
            KeyKind::Double => "double",
            KeyKind::Hex => "hex",
            KeyKind::Sha256 => "sha256",
            KeyKind::Hash => "hash",
        }
    }
}

impl KeyKind {
    /// The bytes of the other zero, if these are those of +0.0 or -0.0. Zero has two signs, which
    /// are different keys to a filter and the same number to a person.
    #[must_use]
    pub fn other_zero(self, key: &[u8]) -> Option<Vec<u8>> {
        if !matches!(self, KeyKind::Float | KeyKind::Double) {
            return None;
        }
        let (last, rest) = key.split_last()?;
        let is_zero = matches!(last, 0 | 0x80) && rest.iter().all(|byte| *byte == 0);
        is_zero.then(|| [rest, &[last ^ 0x80]].concat())
    }
}

impl fmt::Display for KeyKind {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.pad(self.name())
    }
}

impl FromStr for KeyKind {
    type Err = String;

    fn from_str(name: &str) -> Result<KeyKind, String> {
        KeyKind::ALL.into_iter().find(|kind| kind.name() == name).ok_or_else(|| {
            let names: Vec<&str> = KeyKind::ALL.iter().map(|kind| kind.name()).collect();
            format!("there are no keys {name:?}; there are: {}", names.join(", "))
        })
    }
}

impl Format {
    /// The kinds of keys that its programs take; the first is meant when none is said. The kind of
    /// rbloom's keys must always be said.
    #[must_use]
    pub fn key_kinds(self) -> &'static [KeyKind] {
        use KeyKind::{Chars, Double, Float, Hash, Hex, Int, Long, Sha256, Text};
        match self {
            Format::Parquet => &[Text, Hex, Int, Long, Float, Double],
            Format::Guava => &[Text, Chars, Long, Int, Hex, Float, Double],
            Format::Spark => &[Text, Long, Int, Hex],
            Format::Fastbloom => &[Text, Hex, Long, Int],
            Format::Rbloom => &[Sha256, Hash],
            Format::PybloomLive => &[Text, Hex],
            _ => &[Text, Hex],
        }
    }

    /// Refuses kinds of keys that its programs do not take.
    pub fn check_key_kind(self, kind: KeyKind) -> Result<(), Error> {
        let kinds = self.key_kinds();
        if kinds.contains(&kind) {
            return Ok(());
        }
        let names: Vec<&str> = kinds.iter().map(|kind| kind.name()).collect();
        Err(Error::Unsupported {
            format: self,
            why: format!("has no keys of the kind {kind}; its kinds are {}", names.join(", ")),
        })
    }

    /// Appends the bytes that its programs hash for a key that is written as text.
    ///
    /// A key of kind [`KeyKind::Float`] or [`KeyKind::Double`] that is zero becomes the bytes of
    /// +0.0 or of -0.0, as it is written: they are different keys.
    pub fn encode(self, kind: KeyKind, text: &[u8], out: &mut Vec<u8>) -> Result<(), Error> {
        self.check_key_kind(kind)?;
        match kind {
            KeyKind::Text if self == Format::Fastbloom => {
                // A Rust string is hashed with a byte behind it that no UTF-8 has.
                out.extend_from_slice(text);
                out.push(0xff);
            }
            KeyKind::Text => out.extend_from_slice(text),
            KeyKind::Chars => {
                let text = std::str::from_utf8(text).map_err(|_| refused(text, "UTF-8 text"))?;
                text.encode_utf16().for_each(|unit| out.extend(unit.to_le_bytes()));
            }
            KeyKind::Long => out.extend(self.long(text)?.to_le_bytes()),
            // All integers of Spark are long ones.
            KeyKind::Int if self == Format::Spark => {
                out.extend(i64::from(self.int(text)? as i32).to_le_bytes());
            }
            KeyKind::Int => out.extend(self.int(text)?.to_le_bytes()),
            KeyKind::Float => {
                let number: f32 = number(text, "a number")?;
                not_nan(f64::from(number), text)?;
                out.extend(number.to_le_bytes());
            }
            KeyKind::Double => {
                let number: f64 = number(text, "a number")?;
                not_nan(number, text)?;
                out.extend(number.to_le_bytes());
            }
            KeyKind::Hex => {
                let bytes = unhex(text)?;
                if self == Format::Fastbloom {
                    // A Rust slice is hashed with its length before it.
                    out.extend((bytes.len() as u64).to_le_bytes());
                }
                out.extend(bytes);
            }
            KeyKind::Sha256 => {
                let digest = Sha256::digest(text);
                out.extend(digest[..16].iter().rev());
            }
            KeyKind::Hash => {
                let bytes = unhex(text)?;
                if bytes.len() != 16 {
                    return Err(refused(text, "a hash of 128 bits as 32 hexadecimal digits"));
                }
                out.extend(bytes.iter().rev());
            }
        }
        Ok(())
    }

    /// The bits of an integer of 64 bits. Parquet has unsigned columns, too.
    fn long(self, text: &[u8]) -> Result<u64, Error> {
        if self == Format::Parquet
            && let Ok(natural) = number::<u64>(text, "")
        {
            return Ok(natural);
        }
        Ok(number::<i64>(text, "an integer of 64 bits")? as u64)
    }

    /// The bits of an integer of 32 bits. Parquet has unsigned columns, too.
    fn int(self, text: &[u8]) -> Result<u32, Error> {
        if self == Format::Parquet
            && let Ok(natural) = number::<u32>(text, "")
        {
            return Ok(natural);
        }
        Ok(number::<i32>(text, "an integer of 32 bits")? as u32)
    }
}

fn refused(text: &[u8], wanted: &str) -> Error {
    let shown: String = String::from_utf8_lossy(text).chars().take(60).collect();
    Error::Key { why: format!("{shown:?} is not {wanted}; another kind of keys: --keys KIND") }
}

fn number<T: FromStr>(text: &[u8], wanted: &str) -> Result<T, Error> {
    let parsed = std::str::from_utf8(text).ok().and_then(|text| text.trim().parse().ok());
    parsed.ok_or_else(|| refused(text, wanted))
}

/// NaN has many bit patterns, and a filter has at most those that were put in.
fn not_nan(number: f64, text: &[u8]) -> Result<(), Error> {
    if number.is_nan() {
        return Err(refused(text, "one key: NaN has many bit patterns; give its bytes"));
    }
    Ok(())
}

fn unhex(text: &[u8]) -> Result<Vec<u8>, Error> {
    let wanted = "bytes as pairs of hexadecimal digits";
    let digits = text.trim_ascii();
    let digit = |byte: u8| (byte as char).to_digit(16).map(|digit| digit as u8);
    let (pairs, []) = digits.as_chunks::<2>() else { return Err(refused(text, wanted)) };
    let byte = |[high, low]: &[u8; 2]| Some(digit(*high)? << 4 | digit(*low)?);
    pairs.iter().map(byte).collect::<Option<Vec<u8>>>().ok_or_else(|| refused(text, wanted))
}
