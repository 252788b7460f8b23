//! Why a ledger could not be made, read or charged.

use super::MAX_BYTES;
use super::book::MAX_COMPOSED;
use super::line::MAX_TEXT;
use crate::privacy::Epsilon;
use std::fmt;

/// Why a ledger could not be made, read or charged.
///
/// ```
/// use tamis::Error;
/// use tamis::privacy::{Ledger, LedgerError};
/// # let folder = tempfile::tempdir()?;
/// # let path = folder.path().join("patients.ledger");
/// let mut ledger = Ledger::create(&path, "1".parse()?, "patients")?;
/// let refused = ledger.charge("2".parse()?, "too much");
/// assert!(matches!(refused, Err(Error::Ledger(LedgerError::Budget { .. }))));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum LedgerError {
    /// The budget does not allow the charge. Nothing was charged.
    Budget {
        /// The whole budget.
        budget: Epsilon,
        /// What is left of it.
        left: Epsilon,
        /// What was asked for.
        asked: Epsilon,
    },
    /// A receipt pays less than the release costs. Nothing was released.
    Unpaid {
        /// What the receipt pays.
        paid: Epsilon,
        /// What the release costs.
        cost: Epsilon,
    },
    /// A budget of 0 pays for nothing.
    NoBudget,
    /// A charge of 0 pays for nothing.
    NoCharge,
    /// The file exists, and a ledger is never overwritten.
    Exists,
    /// The ledger is a folder, a pipe or a device.
    NotAFile,
    /// The file does not begin as a ledger does.
    NotALedger,
    /// The last line is not whole.
    Torn {
        /// The line, counted from 1.
        line: u64,
    },
    /// A line is not as it was written.
    Damaged {
        /// The line, counted from 1.
        line: u64,
        /// What is wrong with it.
        fault: LineFault,
    },
    /// Charges that were in the ledger when it was opened are gone.
    ChargesGone,
    /// Another file took the place of the ledger while it was charged.
    Replaced,
    /// The file would be too large.
    TooLarge,
    /// A ledger with a delta has as many charges as it takes.
    Full,
    /// A text does not fit into its line.
    LongText {
        /// Which text.
        text: LedgerText,
        /// The bytes that it takes.
        bytes: usize,
    },
}

/// A text in a ledger.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LedgerText {
    /// What the ledger is for.
    Description,
    /// What a charge is for.
    Note,
}

/// What is wrong with a line of a ledger.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum LineFault {
    /// It is not UTF-8.
    NotText,
    /// The first line has no version.
    NoVersion,
    /// A field is missing.
    TooFewFields,
    /// The amount is no number.
    Amount,
    /// The time is no time.
    Time,
    /// The text is too long.
    LongText,
    /// Its checksum does not match: this line, or one before it, was changed, removed or moved.
    Checksum,
    /// It charges nothing.
    ChargesNothing,
    /// It charges more than was left.
    ChargesTooMuch,
    /// It is one more than a ledger with a delta takes.
    TooManyCharges,
}

impl fmt::Display for LedgerError {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            LedgerError::Budget { budget, left, asked } => write!(
                out,
                "a charge of {asked} is more than the {left} that is left of the budget of \
                 {budget}, so nothing was charged; charge no more than is left, or publish an \
                 earlier release again byte for byte, which costs nothing"
            ),
            LedgerError::Unpaid { paid, cost } => write!(
                out,
                "the receipt pays {paid} and the release costs {cost}, so nothing was released; \
                 charge the epsilon of the plan"
            ),
            LedgerError::NoBudget => write!(
                out,
                "a budget of 0 pays for nothing; give the largest loss you accept in all"
            ),
            LedgerError::NoCharge => {
                write!(out, "a charge of 0 pays for nothing; charge the epsilon of the release")
            }
            LedgerError::Exists => write!(
                out,
                "the file exists, and a ledger is never overwritten: that would forget what was \
                 spent; open it, or choose another name"
            ),
            LedgerError::NotAFile => {
                write!(out, "the ledger is not a regular file; check the path")
            }
            LedgerError::NotALedger => write!(
                out,
                "not a tamis ledger: it does not begin with the signature of one; check the path"
            ),
            LedgerError::Torn { line } => write!(
                out,
                "line {line} of the ledger, the last one, is torn: a charge was interrupted, or \
                 the file was cut; restore a good copy, or repair the ledger, which counts the \
                 torn charge as spent"
            ),
            LedgerError::Damaged { line, fault } => {
                write!(out, "line {line} of the ledger {fault}; restore a good copy")
            }
            LedgerError::ChargesGone => write!(
                out,
                "the ledger no longer holds the charges that it held when it was opened; restore \
                 a copy that has them"
            ),
            LedgerError::Replaced => write!(
                out,
                "another file was put in the place of the ledger while it was charged; charge \
                 that one"
            ),
            LedgerError::TooLarge => write!(
                out,
                "a ledger has at most {MAX_BYTES} bytes, and this one would have more; start \
                 another with what is left as its budget, and charge no more to this one"
            ),
            LedgerError::Full => write!(
                out,
                "a ledger with a delta takes {MAX_COMPOSED} charges, and this one has them; start \
                 another with what is left as its budget, and charge no more to this one"
            ),
            LedgerError::LongText { text, bytes } => {
                let text = match text {
                    LedgerText::Description => "the description",
                    LedgerText::Note => "the note",
                };
                write!(
                    out,
                    "{text} takes {bytes} bytes, and there is room for {MAX_TEXT}; shorten it"
                )
            }
        }
    }
}

impl std::error::Error for LedgerError {}

impl fmt::Display for LineFault {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(match self {
            LineFault::NotText => "is not UTF-8",
            LineFault::NoVersion => "has no version",
            LineFault::TooFewFields => "has too few fields",
            LineFault::Amount => "has an amount that is no number",
            LineFault::Time => "has a time that is no time",
            LineFault::LongText => "has a text that is too long",
            LineFault::Checksum => {
                "does not match its checksum, so it, or a line before it, was changed, removed or \
                 moved"
            }
            LineFault::ChargesNothing => "charges nothing",
            LineFault::ChargesTooMuch => "charges more than was left",
            LineFault::TooManyCharges => "is one more than a ledger with a delta takes",
        })
    }
}
