//! What can go wrong with a filter of another program, in words.

use crate::Format;
use std::fmt;

/// Why bytes are no filter, or why a filter does not do what was asked. Every message names the
/// value and the remedy.
#[derive(Debug)]
#[non_exhaustive]
pub enum Error {
    /// The bytes are not a filter of this format.
    Damaged {
        /// The format that they were read as.
        format: Format,
        /// What is wrong, with the value.
        why: String,
    },
    /// The bytes have the shape of no format that is known here.
    Unknown,
    /// The bytes have the shape of several formats, or of one that almost any bytes have.
    Ambiguous {
        /// The formats that they could be.
        candidates: Vec<Format>,
    },
    /// No filter of this format has the size that was asked for.
    Plan {
        /// The format.
        format: Format,
        /// What cannot be, and what can.
        why: String,
    },
    /// A key is not of the kind that was said.
    Key {
        /// The key and the kind.
        why: String,
    },
    /// Filters of this format cannot do that.
    Unsupported {
        /// The format.
        format: Format,
        /// What cannot be done, and what can.
        why: String,
    },
    /// Two filters are too different for a union.
    Mismatch {
        /// In what they differ.
        field: &'static str,
        /// What the first has.
        left: String,
        /// What the second has.
        right: String,
    },
    /// The filter takes no more keys.
    Full {
        /// The format.
        format: Format,
        /// How many it takes.
        capacity: u64,
    },
    /// More memory than the system or the caller grants.
    Memory {
        /// How many bytes.
        needed: u64,
        /// What the caller allowed, if that was the reason.
        allowed: Option<u64>,
    },
    /// The file could not be read.
    Io(std::io::Error),
}

impl fmt::Display for Error {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Error::Damaged { format, why } => write!(out, "not a {format} filter: {why}"),
            Error::Unknown => {
                let names: Vec<&str> = Format::ALL.iter().map(|format| format.name()).collect();
                write!(
                    out,
                    "neither a tamis filter nor one of another program that can be told by its \
                     shape ({}); if it is one of these, say which: --from NAME",
                    names.join(", ")
                )
            }
            Error::Ambiguous { candidates } => {
                let names: Vec<&str> = candidates.iter().map(|format| format.name()).collect();
                write!(
                    out,
                    "its shape fits {}, but does not prove it; say which program wrote it: \
                     --from {}",
                    names.join(" or "),
                    names.join(" or --from ")
                )
            }
            Error::Plan { format, why } => write!(out, "no such {format} filter: {why}"),
            Error::Key { why } => out.write_str(why),
            Error::Unsupported { format, why } => write!(out, "a {format} filter {why}"),
            Error::Mismatch { field, left, right } => write!(
                out,
                "the filters differ in their {field} ({left} and {right}); rebuild one to match"
            ),
            Error::Full { format, capacity } => write!(
                out,
                "the {format} filter is full: it does not scale and takes {capacity} keys; \
                 build a larger one"
            ),
            Error::Memory { needed, allowed: Some(allowed) } => {
                write!(out, "it needs {needed} bytes of memory, and {allowed} are allowed")
            }
            Error::Memory { needed, allowed: None } => {
                write!(out, "the system does not grant {needed} bytes of memory")
            }
            Error::Io(error) => write!(out, "{error}"),
        }
    }
}

impl std::error::Error for Error {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Error::Io(error) => Some(error),
            _ => None,
        }
    }
}

impl From<std::io::Error> for Error {
    fn from(error: std::io::Error) -> Error {
        Error::Io(error)
    }
}
