//! From the cells back to the items.

use super::{CellKind, ZoneFilter};
use crate::Error;
use crate::zone::error::ListError;
use crate::zone::list::progress::{Progress, Watch};
use crate::zone::universe::Size;
use std::fmt;
use std::ops::ControlFlow;

/// The ways to list a filter.
///
/// ```
/// use tamis::zone::{CodeKind, CountingFilter, Method, Plan, Universe};
/// let plan = Plan::with_code(Universe::sized(1000)?, 3, CodeKind::Egh)?;
/// let mut filter = CountingFilter::with_plan(plan)?;
/// for element in [998u32, 999, 0] {
///     filter.insert(element)?;
/// }
/// for method in [Method::Join, Method::Algebra, Method::Sturm] {
///     assert_eq!(filter.list_by(method)?.numbers, [0, 998, 999]);
/// }
/// # Ok::<(), tamis::Error>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Method {
    /// Join the occupied positions of a few blocks into candidates and test each.
    Join,
    /// Solve for the elements from the counters.
    Algebra,
    /// Solve for the elements from the number of items and the occupied positions, beginning with
    /// the blocks in which no two items meet. It lists bits where a join would test too many
    /// candidates. It fails if items meet in too many blocks.
    Peel,
    /// The EGH paper's own way from counters, by Sturm sequences: a slow reference, for codes of
    /// residues.
    Sturm,
}

// As for `Promise`: plainer than a macro.
impl Method {
    /// The name: `join`, `algebra`, `peel` or `sturm`.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Method::Join => "join",
            Method::Algebra => "algebra",
            Method::Peel => "peel",
            Method::Sturm => "sturm",
        }
    }
}

impl fmt::Display for Method {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.pad(self.name())
    }
}

/// What a filter holds, as numbers of its universe.
///
/// ```
/// use tamis::zone::{Filter, Plan, Prefer, Universe};
/// let mut filter = Filter::with_plan(Plan::new(Universe::interval(100, 199)?, 2, Prefer::Bits)?)?;
/// filter.insert(107u32)?;
/// let list = filter.list()?;
/// assert!(list.exact);
/// assert_eq!((list.numbers.clone(), list.names(&filter)), (vec![7], vec!["107".to_owned()]));
/// # Ok::<(), tamis::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct List {
    /// The numbers, ascending.
    pub numbers: Vec<u128>,
    /// Whether these are exactly the items. If not, the filter is beyond its zone, and these are
    /// all elements that pass. Every item is among them, unless a stranger was removed; others
    /// may be among them too.
    pub exact: bool,
}

impl List {
    /// The elements as text.
    #[must_use]
    pub fn names<C: CellKind>(&self, filter: &ZoneFilter<C>) -> Vec<String> {
        let name = |number: &u128| {
            String::from_utf8_lossy(&filter.plan.universe().name(*number)).into_owned()
        };
        self.numbers.iter().map(name).collect()
    }
}

impl<C: CellKind> ZoneFilter<C> {
    /// Lists the items, by the fastest method that is exact. See [`List::exact`] for filters beyond
    /// their zone, and [`Plan::listable`](crate::zone::Plan::listable) for how many items can be
    /// listed.
    pub fn list(&self) -> Result<List, Error> {
        self.list_with(None, &mut |_| ControlFlow::Continue(()))
    }

    /// Lists the items by a method of the caller's choice.
    pub fn list_by(&self, method: Method) -> Result<List, Error> {
        self.list_with(Some(method), &mut |_| ControlFlow::Continue(()))
    }

    /// Lists the items by a method, or by the fastest one, and reports how far it has come. The
    /// caller can stop it: it then ends with [`ListError::Stopped`].
    pub fn list_with(
        &self,
        method: Option<Method>,
        report: &mut dyn FnMut(Progress) -> ControlFlow<()>,
    ) -> Result<List, Error> {
        let mut watch = Watch::new(report);
        let listed = match method {
            Some(method) => self.list_watched(method, &mut watch),
            None => self.list_fastest(&mut watch),
        };
        if watch.is_stopped() {
            return Err(ListError::Stopped.into());
        }
        Ok(listed?)
    }

    fn list_fastest(&self, watch: &mut Watch) -> Result<List, ListError> {
        if !C::COUNTING {
            // Peeling is faster than testing many candidates. It may fail, and then a join may be
            // possible nevertheless.
            if self.len_is_exact() && !self.plan.is_quick_to_join(self.len) {
                match self.list_watched(Method::Peel, watch) {
                    Err(_) if !watch.is_stopped() => {}
                    done => return done,
                }
            }
            return self.list_watched(Method::Join, watch);
        }
        let method = self.plan.listing_method(self.len.min(self.plan.items()));
        if method == Some(Method::Join) && !self.state.beyond {
            return self.list_watched(Method::Join, watch);
        }
        match self.list_watched(Method::Algebra, watch) {
            Err(error) if !watch.is_stopped() => {
                self.list_watched(Method::Join, watch).map_err(|_| error)
            }
            done => done,
        }
    }

    fn list_watched(&self, method: Method, watch: &mut Watch) -> Result<List, ListError> {
        match method {
            Method::Join => self.join(watch),
            Method::Peel => self.peel(watch),
            Method::Algebra | Method::Sturm if !C::COUNTING => {
                Err(ListError::NeedsCounters { method })
            }
            Method::Algebra => {
                self.solve(|positions, size| self.plan.encoder().algebra(positions, size, watch))
            }
            Method::Sturm => {
                let code = self.plan.code().kind();
                let residues =
                    self.plan.encoder().as_residues().ok_or(ListError::NeedsResidues { code })?;
                self.solve(|positions, size| residues.sturm(positions, size, watch))
            }
        }
    }

    fn join(&self, watch: &mut Watch) -> Result<List, ListError> {
        let (size, candidates) = (self.plan.universe().size(), self.plan.max_candidates());
        let numbers = self.plan.encoder().join(self, size, candidates, watch).ok_or(
            ListError::TooManyCandidates { items: self.len, candidates, counting: C::COUNTING },
        )?;
        let found = numbers.len() as u64;
        if self.len_is_exact() && found != self.len {
            return Err(ListError::WrongCount { found, items: self.len });
        }
        Ok(List { numbers, exact: !self.state.beyond })
    }

    /// Lists from the occupied positions and the number of items. Within the zone only items pass.
    /// So as many distinct elements that pass as there are items are the items.
    fn peel(&self, watch: &mut Watch) -> Result<List, ListError> {
        if !self.len_is_exact() {
            return Err(ListError::Undetermined);
        }
        let (items, blocks) = (self.plan.max_solved(), self.plan.probes());
        if self.len > items {
            return Err(ListError::TooManyItems { items, blocks });
        }
        let (size, len) = (self.plan.universe().size(), self.len as usize);
        let peeled = if len == 0 {
            Some(Vec::new())
        } else {
            self.plan.encoder().peel(self, len, size, watch)
        };
        let mut numbers = peeled.ok_or(ListError::Collisions { items: self.len })?;
        numbers.sort_unstable();
        numbers.dedup();
        if numbers.len() != len || !numbers.iter().all(|number| self.holds_number(*number)) {
            return Err(ListError::Collisions { items: self.len });
        }
        Ok(List { numbers, exact: true })
    }

    /// Lists from the counters: every block must count the same number of items.
    fn solve(
        &self,
        method: impl FnOnce(&[Vec<u64>], Size) -> Option<Vec<u128>>,
    ) -> Result<List, ListError> {
        // The least of the counters of two sets may happen to be the counters of a third.
        if self.state.beyond && self.state.len_is_bound {
            return Err(ListError::Undetermined);
        }
        let (items, blocks) = (self.plan.max_solved(), self.plan.probes());
        let mut counted: Vec<Vec<u64>> = Vec::with_capacity(self.starts.len());
        for block in 0..self.starts.len() {
            let mut positions = Vec::new();
            for position in 0..self.plan.encoder().size(block) {
                let count = self.cell(block, position);
                let stuck = self.state.beyond && count == self.packed().ceiling();
                if stuck {
                    return Err(ListError::Undetermined);
                }
                if positions.len() as u64 + count > items {
                    return Err(ListError::TooManyItems { items, blocks });
                }
                positions.extend((0..count).map(|_| position));
            }
            if counted.first().is_some_and(|first| first.len() != positions.len()) {
                return Err(ListError::Undetermined);
            }
            counted.push(positions);
        }
        let numbers = method(&counted, self.plan.universe().size());
        Ok(List { numbers: numbers.ok_or(ListError::Undetermined)?, exact: true })
    }
}
