//! Zone filters, written once over any code, with bits or with counters.
//!
//! | file | what it holds |
//! |---|---|
//! | `kind` | the two kinds of cells: [`Bits`] and [`Counters`] |
//! | `cells` | reading and writing the cells of an element |
//! | `members` | insert, contains, remove |
//! | `listing` | from the cells back to the items |
//! | `merge` | union and intersection |
//! | `resize` | grow and shrink |

mod cells;
mod kind;
mod listing;
mod members;
mod merge;
mod resize;

pub use kind::{Bits, CellKind, Counters};
pub use listing::{List, Method};

use super::list::Occupancy;
use super::plan::Plan;
use crate::store::Store;
use crate::{Error, Health};
use std::fmt;
use std::marker::PhantomData;

/// A set that is never wrong while it holds at most d items of a finite universe.
///
/// | key | `contains` |
/// |---|---|
/// | inserted | `true` |
/// | another element of the universe | `false`, up to d items |
/// | no element of the universe | an error |
///
/// It can list what it holds. The (d+1)-th item is refused, unless
/// [`insert_beyond`](ZoneFilter::insert_beyond) asks for it: from then on strangers may pass and
/// [`health`](ZoneFilter::health) says so.
///
/// ```
/// use tamis::zone::{Filter, Plan, Prefer, Universe};
/// let plan = Plan::new(Universe::interval(1, 606)?, 3, Prefer::Bits)?;
/// let mut tags = Filter::with_plan(plan)?;
/// assert!(tags.insert(7u32)?);
/// assert!(!tags.insert(7u32)?);                       // it is there already, for certain
/// tags.insert(8u32)?;
/// tags.insert(606u32)?;
/// assert!(!tags.contains(9u32)?);                     // for certain
/// assert!(tags.contains(0u32).is_err());              // not in the universe
/// assert!(tags.insert(9u32).is_err());                // the fourth of three
/// assert_eq!(tags.list()?.names(&tags), ["7", "8", "606"]);
/// # Ok::<(), tamis::Error>(())
/// ```
pub type Filter = ZoneFilter<Bits>;

/// A set that is never wrong while it holds at most d items of a finite universe, and from which
/// items can be removed.
///
/// It is a [`Filter`] with counters instead of bits. Each counter is just wide enough to count to
/// d. Removing an absent item is an error and changes nothing.
///
/// ```
/// use tamis::zone::{CountingFilter, Plan, Prefer, Universe};
/// let plan = Plan::new(Universe::ipv4(), 4, Prefer::Bits)?.counting();
/// let mut suspects = CountingFilter::with_plan(plan)?;
/// suspects.insert("10.0.0.1")?;
/// suspects.insert("10.0.0.2")?;
/// suspects.remove("10.0.0.1")?;
/// assert!(suspects.remove("10.0.0.3").is_err());
/// assert_eq!(suspects.list()?.names(&suspects), ["10.0.0.2"]);
/// # Ok::<(), tamis::Error>(())
/// ```
pub type CountingFilter = ZoneFilter<Counters>;

/// What [`Filter`] and [`CountingFilter`] have in common.
pub struct ZoneFilter<C: CellKind> {
    plan: Plan,
    /// The first cell of each block.
    starts: Vec<u64>,
    body: Store,
    len: u64,
    state: State,
    cells: PhantomData<C>,
}

/// What is known of the contents besides the cells.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct State {
    /// The filter has held more items than its plan allows.
    pub(crate) beyond: bool,
    /// `len` is an upper bound, and the cells may not be those of a set: a union or an
    /// intersection could not be listed.
    pub(crate) len_is_bound: bool,
}

impl<C: CellKind> ZoneFilter<C> {
    /// An empty filter as planned.
    pub fn with_plan(plan: Plan) -> Result<Self, Error> {
        let plan = if C::COUNTING { plan.counting() } else { plan };
        let body = Store::zeroed(plan.bytes())?;
        Self::from_parts(plan, body, 0, State::default())
    }

    pub(crate) fn from_parts(
        plan: Plan,
        body: Store,
        len: u64,
        state: State,
    ) -> Result<Self, Error> {
        if C::COUNTING != plan.is_counting() {
            return Err(Error::Field {
                field: "counter width",
                got: plan.counter_bits().to_string(),
            });
        }
        let starts = plan
            .blocks()
            .iter()
            .scan(0, |next, size| {
                *next += size;
                Some(*next - size)
            })
            .collect();
        Ok(ZoneFilter { plan, starts, body, len, state, cells: PhantomData })
    }

    /// How many items there are. The number is exact within the zone, with one exception: see
    /// [`len_is_exact`](Self::len_is_exact).
    #[must_use]
    pub fn len(&self) -> u64 {
        self.len
    }

    /// Whether there are none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.body.bytes().iter().all(|byte| *byte == 0)
    }

    /// Whether [`len`](Self::len) is exact. It is not in two cases. After a union that was too
    /// large to list, it is an upper bound. Beyond the zone, it counts the insertions of items
    /// that did not pass before, or, with counters, all insertions.
    #[must_use]
    pub fn len_is_exact(&self) -> bool {
        !self.state.len_is_bound && !self.state.beyond
    }

    /// Whether the filter has never held more than its plan allows.
    #[must_use]
    pub fn health(&self) -> Health {
        if self.state.beyond { Health::Beyond } else { Health::Within }
    }

    /// The plan that the filter was made by.
    #[must_use]
    pub fn plan(&self) -> &Plan {
        &self.plan
    }

    /// The cells, block after block, as FORMAT.md lays them out.
    #[must_use]
    pub fn body(&self) -> &[u8] {
        self.body.bytes()
    }

    pub(crate) fn state(&self) -> State {
        self.state
    }

    /// The share of strangers that pass. It is 0 within the zone. Beyond it, this is the share for
    /// elements drawn at random.
    #[must_use]
    pub fn expected_fpr(&self) -> f64 {
        if !self.state.beyond {
            return 0.0;
        }
        let full = |(block, size): (usize, &u64)| self.count(block) as f64 / *size as f64;
        self.plan.blocks().iter().enumerate().map(full).product()
    }

    /// The share of cells that are not empty.
    #[must_use]
    pub fn fill(&self) -> f64 {
        let occupied: u64 = (0..self.plan.blocks().len()).map(|block| self.count(block)).sum();
        occupied as f64 / self.plan.cells() as f64
    }

    /// Whether the cells can be those of as many items as the filter says it holds. Each item has
    /// one cell in every block.
    pub(crate) fn is_consistent(&self) -> bool {
        if self.state.beyond {
            return true;
        }
        (0..self.starts.len()).all(|block| {
            let occupied = self.count(block);
            let counted = if C::COUNTING {
                (0..self.plan.encoder().size(block))
                    .map(|position| self.cell(block, position))
                    .sum()
            } else {
                occupied
            };
            let full = occupied > 0 || self.len == 0;
            full && counted <= self.len && (!C::COUNTING || counted == self.len)
        })
    }

    /// Empties the filter, which is then within its zone again.
    pub fn clear(&mut self) {
        self.body.bytes_mut().fill(0);
        self.len = 0;
        self.state = State::default();
    }
}

impl<C: CellKind> Clone for ZoneFilter<C> {
    fn clone(&self) -> Self {
        ZoneFilter {
            plan: self.plan.clone(),
            starts: self.starts.clone(),
            body: self.body.clone(),
            len: self.len,
            state: self.state,
            cells: PhantomData,
        }
    }
}

impl<C: CellKind> PartialEq for ZoneFilter<C> {
    fn eq(&self, other: &Self) -> bool {
        self.plan == other.plan
            && (self.len, self.state) == (other.len, other.state)
            && self.body() == other.body()
    }
}

impl<C: CellKind> Eq for ZoneFilter<C> {}

impl<C: CellKind> fmt::Debug for ZoneFilter<C> {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.debug_struct("ZoneFilter")
            .field("plan", &self.plan)
            .field("len", &self.len)
            .field("health", &self.health())
            .finish_non_exhaustive()
    }
}
