//! Why a mechanism could not be audited.

use super::{MAX_OUTCOMES, MAX_RUNS};
use std::fmt;

/// Why a mechanism could not be audited.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum AuditError {
    /// The number of runs is out of range.
    Runs {
        /// The runs of each side.
        got: u64,
    },
    /// The chance of an unjust verdict is out of range.
    Alpha {
        /// What was asked for.
        got: f64,
    },
    /// The number of outcomes is out of range.
    Outcomes {
        /// The outcomes that the mechanism says it has.
        got: u32,
    },
    /// A run had an outcome that the mechanism does not have.
    UnknownOutcome {
        /// The outcome of the run.
        got: u32,
        /// The outcomes that the mechanism says it has.
        outcomes: u32,
    },
}

impl fmt::Display for AuditError {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            AuditError::Runs { got } => write!(
                out,
                "an audit cannot have {got} runs a side; take from 1 to {MAX_RUNS}, such as a \
                 million"
            ),
            AuditError::Alpha { got } => write!(
                out,
                "the chance of an unjust verdict cannot be {got}; take one from 1e-9 to 0.5"
            ),
            AuditError::Outcomes { got } => write!(
                out,
                "a mechanism cannot have {got} outcomes; tell apart at least 2 and at most \
                 {MAX_OUTCOMES}"
            ),
            AuditError::UnknownOutcome { got, outcomes } => write!(
                out,
                "a run had outcome {got}, and the mechanism has {outcomes}, counted from 0; \
                 correct the mechanism's number of outcomes"
            ),
        }
    }
}

impl std::error::Error for AuditError {}
