//! What an audit found.

use super::Event;
use crate::privacy::Epsilon;
use std::fmt;

/// Whether the claim stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Verdict {
    /// Nothing that was seen speaks against the claim, which is no proof of it.
    Consistent,
    /// The loss is larger than claimed.
    Violated,
}

impl fmt::Display for Verdict {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.pad(match self {
            Verdict::Consistent => "consistent",
            Verdict::Violated => "violated",
        })
    }
}

/// What an audit found.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Finding {
    /// What was audited.
    pub name: String,
    /// What it claims.
    pub claim: Epsilon,
    /// The runs of each side.
    pub runs: u64,
    /// How often each outcome was seen with the target item.
    pub with: Vec<u64>,
    /// How often without it.
    pub without: Vec<u64>,
    /// The loss is at least this, except with a probability of alpha.
    pub epsilon: f64,
    /// The event that shows it.
    pub witness: Witness,
    /// Whether the claim stands.
    pub verdict: Verdict,
}

/// The event that tells most about the item.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Witness {
    /// The event.
    pub event: Event,
    /// The event in words.
    pub words: String,
    /// In how many runs with the target item it was seen.
    pub with: u64,
    /// In how many without it.
    pub without: u64,
    /// Whether it is likelier with the item; else it is likelier without it.
    pub speaks_for_target: bool,
    /// The likelier side's chance is at least this.
    pub low: f64,
    /// The other side's chance is at most this.
    pub high: f64,
}

impl Witness {
    /// The loss that the event shows: the logarithm of the ratio of the bounds, or 0 if that is
    /// negative.
    #[must_use]
    pub fn epsilon(&self) -> f64 {
        (self.low / self.high).ln().max(0.0)
    }
}

impl fmt::Display for Finding {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Finding { name, claim, runs, epsilon, witness, .. } = self;
        match self.verdict {
            Verdict::Consistent => {
                write!(
                    out,
                    "{name}: consistent with its claim of {claim}: a loss of {epsilon:.4} is shown"
                )?;
            }
            Verdict::Violated => {
                write!(
                    out,
                    "{name}: violated: the loss is at least {epsilon:.4}, and {claim} is claimed"
                )?;
            }
        }
        let Witness { words, with, without, .. } = witness;
        write!(
            out,
            ", by \"{words}\" in {with} of {runs} runs with the item and {without} of {runs} \
             without it"
        )
    }
}
