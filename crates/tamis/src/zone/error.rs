//! Why a filter could not be listed.

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
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ListError {
    /// The method reads counters, and the filter has bits.
    #[error(
        "listing by {method} needs counters, and this filter has bits; list it by join, or build \
         it with counters"
    )]
    NeedsCounters {
        /// The method.
        method: super::Method,
    },
    /// The method is for codes of residues.
    #[error(
        "Sturm sequences list the codes egh and coprime, and this filter has the code {code}; \
         list it by algebra"
    )]
    NeedsResidues {
        /// The filter's code.
        code: super::CodeKind,
    },
    /// A join would take too long.
    #[error(
        "listing {items} items by join would test more than {candidates} candidates; {}",
        if *counting { "build a filter for fewer items, or with the code egh or rs" }
        else { "build it with counters" }
    )]
    TooManyCandidates {
        /// The items that the filter says it holds.
        items: u64,
        /// The most candidates that a join tests.
        candidates: u64,
        /// Whether the filter has counters.
        counting: bool,
    },
    /// Solving would take too long.
    #[error(
        "solving for more than {items} items of {blocks} blocks would take too long; keep a list \
         of the items beside the filter"
    )]
    TooManyItems {
        /// The most items that are solved for.
        items: u64,
        /// The filter's blocks.
        blocks: u64,
    },
    /// More than one set has these counters, or none.
    #[error("the counters do not determine the items; list the filter by join")]
    Undetermined,
    /// The filter is beyond its zone, where a list may hold strangers.
    #[error(
        "a filter beyond its zone cannot list its items exactly, so it cannot grow; build a \
         larger one from the keys"
    )]
    BeyondZone,
    /// The number of elements that pass is not the number of items that the filter says it holds.
    #[error(
        "{found} elements pass a filter that says it holds {items} items; the file is damaged or \
         was not written by tamis: build it again"
    )]
    WrongCount {
        /// The elements that pass.
        found: u64,
        /// The items that the filter says it holds.
        items: u64,
    },
    /// The caller stopped the listing.
    #[error("the listing was stopped before its end; start it again")]
    Stopped,
}
