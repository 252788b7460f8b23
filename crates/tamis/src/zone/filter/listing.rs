//! From the cells back to the items.

use super::{CellKind, ZoneFilter};
use crate::Error;
use crate::zone::crt::Residues;
use crate::zone::plan::CodeKind;

/// How a list is to be found.
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
pub enum Method {
    /// Join the occupied positions of a few blocks into candidates and test each.
    Join,
    /// Solve for the elements from the counters.
    Algebra,
    /// The EGH paper's own way from counters, by Sturm sequences: a slow reference, for codes of
    /// residues.
    Sturm,
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
    pub numbers: Vec<u64>,
    /// Whether these are exactly the items held. If not, the filter is beyond its zone, and these
    /// are all elements that pass: every item is among them (unless strangers were removed),
    /// and others may be.
    pub exact: bool,
}

impl List {
    /// The elements as text.
    #[must_use]
    pub fn names<C: CellKind>(&self, filter: &ZoneFilter<C>) -> Vec<String> {
        let name = |number: &u64| {
            String::from_utf8_lossy(&filter.plan.universe().name(*number)).into_owned()
        };
        self.numbers.iter().map(name).collect()
    }
}

/// The most candidates that a join tests, and the most probes that it makes for them: some seconds.
const MOST_CANDIDATES: u64 = 1 << 25;
const MOST_PROBES: u64 = 1 << 28;
/// Up to so many candidates a join is faster than algebra.
const FEW_CANDIDATES: u128 = 1 << 11;
/// The most work that algebra is asked for, as items squared times blocks: some ten seconds.
const MOST_SOLVING: u64 = 1 << 33;

impl<C: CellKind> ZoneFilter<C> {
    /// Lists the items, by the fastest method that is exact; see [`List::exact`] for filters beyond
    /// their zone.
    pub fn list(&self) -> Result<List, Error> {
        let work = self
            .plan
            .coding()
            .join_work(self.len.min(self.plan.items()), self.plan.universe().size());
        if C::COUNTING && (work > FEW_CANDIDATES || self.state.beyond) {
            return self
                .list_by(Method::Algebra)
                .or_else(|error| self.list_by(Method::Join).map_err(|_| error));
        }
        self.list_by(Method::Join)
    }

    /// Lists the items by a method of the caller's choice.
    pub fn list_by(&self, method: Method) -> Result<List, Error> {
        match method {
            Method::Join => self.join(),
            Method::Algebra | Method::Sturm if !C::COUNTING => Err(Error::Listing {
                why: "algebra needs counters, and this filter has bits".to_owned(),
                remedy: "list it by joining, or build it with counters".to_owned(),
            }),
            Method::Algebra => {
                self.solve(|positions, size| self.plan.coding().algebra(positions, size))
            }
            Method::Sturm => {
                let moduli = self.plan.scheme().moduli().ok_or_else(|| Error::Listing {
                    why: format!(
                        "Sturm sequences list codes of residues, not {}",
                        self.plan.code()
                    ),
                    remedy: "list it by algebra".to_owned(),
                })?;
                let code = Residues::new(moduli, self.plan.universe().first())?;
                self.solve(|positions, size| code.sturm(positions, size))
            }
        }
    }

    fn join(&self) -> Result<List, Error> {
        let (code, size) = (self.plan.coding(), self.plan.universe().size());
        let most = MOST_CANDIDATES.min(MOST_PROBES / self.plan.probes());
        match code.join(self, size, most) {
            Some(numbers) if self.len_is_exact() && numbers.len() as u64 != self.len => {
                Err(Error::Listing {
                    why: format!(
                        "{} elements pass a filter that says it holds {}",
                        numbers.len(),
                        self.len
                    ),
                    remedy: "the file is damaged or not tamis's own: build it again".to_owned(),
                })
            }
            Some(numbers) => Ok(List { numbers, exact: !self.state.beyond }),
            None => Err(Error::Listing {
                why: format!(
                    "listing {} items by joining would test more than {most} candidates",
                    self.len
                ),
                remedy: match (C::COUNTING, self.plan.code()) {
                    (false, CodeKind::Rs) => {
                        "build it with counters, or with --code egh or coprime"
                    }
                    (false, _) => "build it with counters",
                    (true, CodeKind::Coprime) => "build it with --code egh or rs",
                    (true, _) => "build a larger one from the keys",
                }
                .to_owned(),
            }),
        }
    }

    /// Lists from the counters: every block must count the same number of items.
    fn solve(&self, method: impl Fn(&[Vec<u64>], u128) -> Option<Vec<u64>>) -> Result<List, Error> {
        let unsolved = || Error::Listing {
            why: "the counters do not determine the items".to_owned(),
            remedy: "list them by joining".to_owned(),
        };
        // The least of the counters of two sets may happen to be the counters of a third.
        if self.state.beyond && self.state.len_is_bound {
            return Err(unsolved());
        }
        let most = (MOST_SOLVING / self.plan.probes()).isqrt();
        let mut blocks: Vec<Vec<u64>> = Vec::with_capacity(self.starts.len());
        for block in 0..self.starts.len() {
            let mut positions = Vec::new();
            for position in 0..self.plan.coding().size(block) {
                let count = self.cell(block, position);
                let stuck = self.state.beyond && count == self.packed().ceiling();
                if stuck {
                    return Err(unsolved());
                }
                if positions.len() as u64 + count > most {
                    return Err(Error::Listing {
                        why: format!(
                            "solving for more than {most} items of {} blocks would take too long",
                            self.plan.probes()
                        ),
                        remedy: "keep a list beside so large a filter".to_owned(),
                    });
                }
                positions.extend((0..count).map(|_| position));
            }
            if blocks.first().is_some_and(|first| first.len() != positions.len()) {
                return Err(unsolved());
            }
            blocks.push(positions);
        }
        let numbers = method(&blocks, self.plan.universe().size()).ok_or_else(unsolved)?;
        Ok(List { numbers, exact: true })
    }
}
