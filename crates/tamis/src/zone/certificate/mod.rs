//! Proofs of the zone of a coprime filter.
//!
//! A filter over `n` consecutive integers has pairwise coprime moduli; an element sets one bit for
//! each modulus, its remainder. A stranger is a false positive exactly when each modulus divides
//! the difference of the stranger and some stored element. Give each modulus to one such element:
//! as the moduli are coprime, the product of the moduli given to one element divides a difference,
//! which is at most `n - 1`. Conversely, moduli packed into `d` bins of product at most `n - 1`
//! give a false positive: the stranger is the first element, and the stored ones lie one bin's
//! product after it.
//!
//! So the filter is exact for every set of at most `d` elements if and only if its moduli do not
//! fit into `d` bins of product at most `n - 1`. So any lower bound on the number of bins is a
//! proof. The bounds here are the classical ones of bin packing, written with products in place of
//! sums, so that integers decide them exactly.

mod bounds;
mod packing;
#[cfg(test)]
mod tests;
mod zone;

pub(crate) use bounds::{bins_together, root_levels, weight};
pub(crate) use packing::{EFFORT, Packing, search_packing};
pub(crate) use zone::{Proved, certify, zone_of_code, zone_of_moduli};

use std::fmt;

/// Why a number of stored elements is safe. An element *covers* a modulus if it has the same
/// remainder as the stranger.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Certificate {
    /// Nothing is proved beyond the empty set.
    Empty,
    /// This modulus is at least the universe: its block is an exact bitmap.
    Unlimited {
        /// The modulus.
        modulus: u64,
    },
    /// The product of all moduli exceeds (n-1)(n-2)...(n-d).
    Product,
    /// The moduli are weighed by the roots of `n - 1`: with `root` 1, each modulus above the square
    /// root needs a separate bin; with `root` r, at most r moduli above the (r+1)-th root share
    /// one.
    Count {
        /// One less than the degree of the root.
        root: u32,
    },
    /// No more than `max` of the moduli of at least `smallest` have a product below the universe.
    Together {
        /// The smallest modulus counted.
        smallest: u64,
        /// How many share a bin at most.
        max: u32,
    },
    /// The moduli are weighed by the powers of `base` that they reach.
    Levels {
        /// The base of the powers.
        base: u64,
    },
    /// Moduli below `threshold` are left out. Those that are too large to share a bin with a
    /// modulus of at least `threshold` have separate bins. The product of the others is too large
    /// for the remaining bins.
    Packing {
        /// The smallest modulus counted.
        threshold: u64,
    },
    /// A search through all packings found none.
    Exhaustive,
}

impl Certificate {
    /// The reason in plain words.
    pub(crate) fn explain(&self) -> String {
        match self {
            Self::Empty => String::from("nothing is proved beyond the empty set"),
            Self::Unlimited { modulus } => {
                format!(
                    "the modulus {modulus} is not below the universe, so its block is an exact \
                     bitmap"
                )
            }
            Self::Product => String::from(
                "the product of all moduli exceeds every product of that many distinct differences",
            ),
            Self::Count { root: 1 } => {
                String::from("no stored element covers two moduli above the square root")
            }
            Self::Count { root } => format!(
                "a modulus weighs the power of the {}-th root of the universe that it exceeds (a \
                 large one what it leaves of {root}), and one stored element covers a weight of \
                 {root} at most",
                root + 1
            ),
            Self::Together { smallest, max } => format!(
                "no stored element covers more than {max} of the moduli of at least {smallest}"
            ),
            Self::Levels { base } => format!(
                "a modulus weighs the power of {base} that it reaches (a large one what it leaves \
                 of the universe's), and one stored element covers no more than the universe \
                 weighs"
            ),
            Self::Packing { threshold } => format!(
                "of the moduli of at least {threshold}, those too large to share a stored element \
                 have their own, and the product of the others exceeds what the remaining ones \
                 cover"
            ),
            Self::Exhaustive => String::from(
                "a search through all ways to share the moduli among the stored elements found \
                 none",
            ),
        }
    }
}

impl fmt::Display for Certificate {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.explain())
    }
}
