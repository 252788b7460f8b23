//! Which code, and how large, before anything is allocated.
//!
//! | file | what it holds |
//! |---|---|
//! | `choose` | the best code for a request |
//! | `resize` | the same code with more or fewer blocks |
//! | `listing` | up to how many items a filter can be listed, and how |
//! | `paper` | formulas of the EGH paper: rates beyond the zone, bounds |
//! | `backwards` | the largest universe, or the most items, for a number of bits |
//! | `guideline` | which zone is worth its bits |

mod backwards;
mod choose;
mod guideline;
mod listing;
mod paper;
mod resize;

pub use backwards::{largest_items, largest_universe};
pub use choose::Prefer;
pub use guideline::{Guideline, guideline};
pub use resize::Growth;

use super::certificate::{Proved, zone_of_code};
use super::code::{Code, Encoder};
use super::universe::Universe;
use crate::Error;
use std::fmt;

/// The most bits that d items of the universe may take as a list, log2(n^d), for the codes of
/// residues. Their proofs would take seconds for more.
const MAX_WORK: u64 = 1 << 17;

/// The size of a zone filter, decided before anything is allocated, with a proof of its promise.
///
/// ```
/// use tamis::zone::{CodeKind, Plan, Prefer, Universe};
/// let universe = Universe::interval(1, 606)?;
/// let egh = Plan::with_code(universe.clone(), 3, CodeKind::Egh)?;
/// assert_eq!((egh.bits(), egh.probes()), (100, 9));
/// let best = Plan::new(universe, 3, Prefer::Bits)?;
/// assert_eq!((best.bits(), best.probes(), best.code().kind()), (63, 7, CodeKind::Rs));
/// # Ok::<(), tamis::Error>(())
/// ```
#[derive(Clone)]
pub struct Plan {
    universe: Universe,
    items: u64,
    code: Code,
    counting: bool,
    encoder: Encoder,
    zone: u64,
    proof: String,
}

impl fmt::Debug for Plan {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            out,
            "Plan({} items of {}, {:?}, {} bits a cell)",
            self.items,
            self.universe,
            self.code,
            self.counter_bits()
        )
    }
}

impl PartialEq for Plan {
    fn eq(&self, other: &Plan) -> bool {
        let key = |plan: &Plan| (plan.items, plan.counting);
        key(self) == key(other) && self.universe == other.universe && self.code == other.code
    }
}

impl Eq for Plan {}

impl Plan {
    /// A plan of these parts. Its promise is proved again, since the parts may come from a file.
    pub(crate) fn from_parts(
        universe: Universe,
        items: u64,
        code: Code,
        counting: bool,
    ) -> Result<Plan, Error> {
        let Proved { encoder, zone, proof } = zone_of_code(&code, &universe, items)?;
        if items == 0 || items > zone {
            return Err(Error::Field { field: "number of items", got: items.to_string() });
        }
        let plan = Plan { universe, items, code, counting, encoder, zone, proof };
        let bits = plan.cells().checked_mul(u64::from(plan.counter_bits()));
        if bits.is_none_or(|bits| bits > crate::bits::MAX) {
            return Err(Error::Field { field: "number of cells", got: plan.cells().to_string() });
        }
        Ok(plan)
    }

    /// The same code with counters instead of bits, each just wide enough to count all items.
    #[must_use]
    pub fn counting(mut self) -> Plan {
        self.counting = true;
        self
    }

    /// The universe.
    #[must_use]
    pub fn universe(&self) -> &Universe {
        &self.universe
    }

    /// The items that the filter accepts: at most [`zone`](Plan::zone).
    #[must_use]
    pub fn items(&self) -> u64 {
        self.items
    }

    /// The items for which the code is proved to be free of false positives, at least the items
    /// asked for.
    #[must_use]
    pub fn zone(&self) -> u64 {
        self.zone
    }

    /// Why that is so, in words.
    #[must_use]
    pub fn certificate(&self) -> &str {
        &self.proof
    }

    /// The code with its parameters.
    #[must_use]
    pub fn code(&self) -> &Code {
        &self.code
    }

    /// The bits of the body in all.
    #[must_use]
    pub fn bits(&self) -> u64 {
        self.cells() * u64::from(self.counter_bits())
    }

    /// The bytes of the body, exactly.
    #[must_use]
    pub fn bytes(&self) -> u64 {
        self.bits().div_ceil(8)
    }

    /// Refuses the plan if a filter by it would take more than `max` bytes of memory.
    pub fn check_memory(&self, max: u64) -> Result<(), Error> {
        crate::store::check_memory(self.bytes(), max)
    }

    /// The blocks, one probe each.
    #[must_use]
    pub fn probes(&self) -> u64 {
        self.encoder.blocks() as u64
    }

    /// The positions of all blocks: bits, or counters.
    #[must_use]
    pub fn cells(&self) -> u64 {
        (0..self.encoder.blocks()).map(|block| self.encoder.size(block)).sum()
    }

    /// Whether cells are counters.
    #[must_use]
    pub fn is_counting(&self) -> bool {
        self.counting
    }

    /// The width of a cell: 1, or that of a counter that can count all items.
    #[must_use]
    pub fn counter_bits(&self) -> u32 {
        if self.counting { u64::BITS - self.items.leading_zeros() } else { 1 }
    }

    /// The sizes of the blocks.
    #[must_use]
    pub fn blocks(&self) -> Vec<u64> {
        (0..self.encoder.blocks()).map(|block| self.encoder.size(block)).collect()
    }

    pub(crate) fn encoder(&self) -> &Encoder {
        &self.encoder
    }
}

/// The last number from `low` to `high` for which `holds`, found by doubling and bisection. It must
/// go from true to false at most once.
fn last(low: u128, high: u128, holds: impl Fn(u128) -> bool) -> Option<u128> {
    if !holds(low) {
        return None;
    }
    let (mut good, mut step) = (low, 1u128);
    let mut bad = loop {
        if good >= high {
            return Some(good);
        }
        let next = good.saturating_add(step).min(high);
        if !holds(next) {
            break next;
        }
        (good, step) = (next, step.saturating_mul(2));
    };
    while bad - good > 1 {
        let middle = good + (bad - good) / 2;
        if holds(middle) { good = middle } else { bad = middle }
    }
    Some(good)
}
