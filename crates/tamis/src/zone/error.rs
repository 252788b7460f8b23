//! Why a filter could not be listed.

use std::fmt;

/// Why a filter could not be listed by the method that was tried last.
///
/// ```
/// use tamis::Error;
/// use tamis::zone::{Filter, ListError, Method, Plan, Prefer, Universe};
/// let filter = Filter::with_plan(Plan::new(Universe::sized(100)?, 2, Prefer::Bits)?)?;
/// let refused = filter.list_by(Method::Algebra);
/// assert!(matches!(refused, Err(Error::Listing(ListError::NeedsCounters { .. }))));
/// # Ok::<(), tamis::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum ListError {
    /// The method reads counters, and the filter has bits.
    NeedsCounters {
        /// The method.
        method: super::Method,
    },
    /// The method is for codes of residues.
    NeedsResidues {
        /// The filter's code.
        code: super::CodeKind,
    },
    /// A join would take too long.
    TooManyCandidates {
        /// The items that the filter says it holds.
        items: u64,
        /// The most candidates that a join tests.
        candidates: u64,
        /// Whether the filter has counters.
        counting: bool,
    },
    /// Solving would take too long.
    TooManyItems {
        /// The most items that are solved for.
        items: u64,
        /// The filter's blocks.
        blocks: u64,
    },
    /// Too many blocks hold fewer positions than there are items.
    Collisions {
        /// The items held.
        items: u64,
    },
    /// More than one set has these counters, or none.
    Undetermined,
    /// The filter is beyond its zone, where a list may hold strangers.
    BeyondZone,
    /// The number of elements that pass is not the number of items that the filter says it holds.
    WrongCount {
        /// The elements that pass.
        found: u64,
        /// The items that the filter says it holds.
        items: u64,
    },
    /// The caller stopped the listing.
    Stopped,
}

impl fmt::Display for ListError {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ListError::NeedsCounters { method } => write!(
                out,
                "listing by {method} needs counters, and this filter has bits; list it by join, \
                 or build it with counters"
            ),
            ListError::NeedsResidues { code } => write!(
                out,
                "Sturm sequences list the codes egh and coprime, and this filter has the code \
                 {code}; list it by algebra"
            ),
            ListError::TooManyCandidates { items, candidates, counting } => write!(
                out,
                "listing {items} items by join would test more than {candidates} candidates; {}",
                if *counting {
                    "build a filter for fewer items, or with the code egh or rs"
                } else {
                    "build it with counters"
                }
            ),
            ListError::TooManyItems { items, blocks } => write!(
                out,
                "solving for more than {items} items of {blocks} blocks would take too long; keep \
                 a list of the items beside the filter"
            ),
            ListError::Collisions { items } => write!(
                out,
                "the {items} items meet in too many blocks to be told apart by peeling; list the \
                 filter by join, or build it with counters"
            ),
            ListError::Undetermined => {
                write!(out, "the counters do not determine the items; list the filter by join")
            }
            ListError::BeyondZone => write!(
                out,
                "a filter beyond its zone cannot list its items exactly, so it cannot grow; build \
                 a larger one from the keys"
            ),
            ListError::WrongCount { found, items } => write!(
                out,
                "{found} elements pass a filter that says it holds {items} items; the file is \
                 damaged or was not written by tamis: build it again"
            ),
            ListError::Stopped => {
                write!(out, "the listing was stopped before its end; start it again")
            }
        }
    }
}

impl std::error::Error for ListError {}
