//! Zone filters, written once over any code, with bits or with counters.

use super::code::Occupancy;
use super::crt::Residues;
use super::plan::{CodeName, Plan, Scheme};
use super::reed_solomon::Choice;
use crate::bits::{self, Packed};
use crate::store::Store;
use crate::{Error, Health, Key};
use std::fmt;
use std::marker::PhantomData;

/// What a cell is: a bit or a counter. Closed to others.
pub trait Cells: sealed::Sealed + 'static {
    /// Whether cells count.
    const COUNTING: bool;
}

mod sealed {
    /// Keeps the trait closed.
    pub trait Sealed {}
    impl Sealed for super::Bits {}
    impl Sealed for super::Counters {}
}

/// A cell is a bit.
#[derive(Debug)]
pub struct Bits;

/// A cell is a counter.
#[derive(Debug)]
pub struct Counters;

impl Cells for Bits {
    const COUNTING: bool = false;
}

impl Cells for Counters {
    const COUNTING: bool = true;
}

/// A set that is never wrong, while it holds at most d items of a finite universe.
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

/// A set that is never wrong, while it holds at most d items of a finite universe, and forgets what
/// is removed.
///
/// As [`Filter`], with counters instead of bits, each just wide enough for d. Removing an absent
/// item is an error and changes nothing.
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
pub struct ZoneFilter<C: Cells> {
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
    /// More than the plan's items were taken in, once.
    pub(crate) beyond: bool,
    /// `len` is an upper bound, and the cells may not be those of a set: a union or an
    /// intersection could not be listed.
    pub(crate) len_is_bound: bool,
}

/// How a list is to be found.
///
/// ```
/// use tamis::zone::{CodeName, CountingFilter, Method, Plan, Universe};
/// let plan = Plan::with_code(Universe::sized(1000)?, 3, CodeName::Egh)?;
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
    pub fn names<C: Cells>(&self, filter: &ZoneFilter<C>) -> Vec<String> {
        let name = |number: &u64| {
            String::from_utf8_lossy(&filter.plan.universe().name(*number)).into_owned()
        };
        self.numbers.iter().map(name).collect()
    }
}

/// The most candidates that a join tests, and the most probes that it makes for them: some seconds.
pub(crate) const MOST_CANDIDATES: u64 = 1 << 25;
const MOST_PROBES: u64 = 1 << 28;
/// Up to so many candidates a join is faster than algebra.
const FEW_CANDIDATES: u128 = 1 << 11;

impl<C: Cells> ZoneFilter<C> {
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

    fn packed(&self) -> Packed {
        Packed { width: self.plan.counter_bits() }
    }

    fn cell(&self, block: usize, position: u64) -> u64 {
        self.packed().get(self.body.bytes(), self.starts[block] + position)
    }

    fn holds(&self, positions: &[u64]) -> bool {
        positions.iter().enumerate().all(|(block, position)| self.is_occupied(block, *position))
    }

    /// The same for a lookup, which ends at the first empty cell and allocates nothing. Where the
    /// body lies is found once.
    #[inline]
    fn holds_number(&self, number: u64) -> bool {
        let (code, bytes, starts) = (self.plan.coding(), self.body.bytes(), &self.starts[..]);
        if C::COUNTING {
            let packed = self.packed();
            return code
                .all(number, |block, position| packed.get(bytes, starts[block] + position) != 0);
        }
        code.all(number, |block, position| bits::get(bytes, starts[block] + position))
    }

    fn positions(&self, number: u64) -> Vec<u64> {
        let mut positions = Vec::with_capacity(self.starts.len());
        self.plan.coding().positions(number, &mut positions);
        positions
    }

    /// Adds one to every cell of an element; a counter at its ceiling stays there.
    fn put(&mut self, positions: &[u64]) {
        let packed = self.packed();
        for (block, position) in positions.iter().enumerate() {
            let cell = self.starts[block] + position;
            let count = packed.get(self.body.bytes(), cell);
            packed.set(self.body.bytes_mut(), cell, (count + 1).min(packed.ceiling()));
        }
    }

    /// Puts an item in, and says whether it was new. One that is there already changes nothing. An
    /// item too many is refused with [`Error::Full`], and changes nothing either.
    ///
    /// Beyond the zone nobody can tell an item that is there already from one that only seems to
    /// be. There a counting filter counts every item put in, the same one again as often as it
    /// comes, and forgets it when it was taken out as often.
    pub fn insert(&mut self, key: impl Key) -> Result<bool, Error> {
        let number = self.plan.universe().number(key)?;
        self.insert_number(number, false)
    }

    /// Puts an item in even if it is one too many; from then on the filter is [`Health::Beyond`].
    pub fn insert_beyond(&mut self, key: impl Key) -> Result<bool, Error> {
        let number = self.plan.universe().number(key)?;
        self.insert_number(number, true)
    }

    /// [`insert`](Self::insert), or [`insert_beyond`](Self::insert_beyond), by the element's number
    /// in the universe.
    pub fn insert_number(&mut self, number: u64, beyond: bool) -> Result<bool, Error> {
        self.check_number(number)?;
        let positions = self.positions(number);
        if self.holds(&positions) {
            // A stranger that passes must be counted: once those it hides behind are taken out, it
            // would be lost.
            if C::COUNTING && self.state.beyond {
                self.put(&positions);
                self.len = self.len.saturating_add(1);
            }
            return Ok(false);
        }
        if self.len >= self.plan.items() {
            if !beyond && !self.state.beyond {
                return Err(Error::Full { zone: self.plan.items() });
            }
            self.state.beyond = true;
        }
        self.put(&positions);
        self.len = self.len.saturating_add(1);
        Ok(true)
    }

    fn check_number(&self, number: u64) -> Result<(), Error> {
        if u128::from(number) < self.plan.universe().size() {
            return Ok(());
        }
        Err(Error::Outside {
            key: format!("number {number}"),
            universe: self.plan.universe().to_string(),
        })
    }

    /// Whether an element is in the set: exactly, within the zone. What is no element of the
    /// universe is an error.
    pub fn contains(&self, key: impl Key) -> Result<bool, Error> {
        let number = self.plan.universe().number(key)?;
        Ok(self.holds_number(number))
    }

    /// [`contains`](Self::contains) by the element's number in the universe.
    pub fn contains_number(&self, number: u64) -> Result<bool, Error> {
        self.check_number(number)?;
        Ok(self.holds_number(number))
    }

    /// Whether each of many elements is in the set, in their order.
    pub fn contains_many<K: Key>(&self, keys: &[K]) -> Result<Vec<bool>, Error> {
        // Nothing is fetched ahead: most strangers end in one block, which stays in the first
        // cache.
        let mut answers = Vec::with_capacity(keys.len());
        for key in keys {
            answers.push(self.contains(key)?);
        }
        Ok(answers)
    }

    /// How many items there are: exactly, within the zone; but see
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

    /// Whether [`len`](Self::len) is exact. Otherwise it is an upper bound after a union that was
    /// too large to list, or, beyond the zone, a count of those items that did not seem to be
    /// there already; with counters, of all that were put in.
    #[must_use]
    pub fn len_is_exact(&self) -> bool {
        !self.state.len_is_bound && !self.state.beyond
    }

    /// Whether the filter has never held more than its plan allows.
    #[must_use]
    pub fn health(&self) -> Health {
        if self.state.beyond { Health::Beyond } else { Health::Within }
    }

    /// The plan it was made by.
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

    /// The share of strangers that pass: 0 within the zone; beyond it, the share for elements drawn
    /// at random.
    #[must_use]
    pub fn expected_fpr(&self) -> f64 {
        if !self.state.beyond {
            return 0.0;
        }
        let full = |(block, size): (usize, &u64)| self.count(block) as f64 / *size as f64;
        self.plan.blocks().iter().enumerate().map(full).product()
    }

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
                    (false, CodeName::Rs) => {
                        "build it with counters, or with --code egh or coprime"
                    }
                    (false, _) => "build it with counters",
                    (true, CodeName::Coprime) => "build it with --code egh or rs",
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

    /// Takes in all that `other` holds. Filters of different lengths are joined in the blocks they
    /// share, which may shrink the zone; more items than it allows put the result beyond it.
    pub fn union(&mut self, other: &Self) -> Result<(), Error> {
        let plan = self.common(other)?;
        let within = !self.state.beyond && !other.state.beyond;
        if within && let (Ok(mine), Ok(theirs)) = (self.list(), other.list()) {
            let mut numbers = mine.numbers;
            numbers.extend(theirs.numbers);
            numbers.sort_unstable();
            numbers.dedup();
            *self = Self::of_numbers(plan, &numbers)?;
            return Ok(());
        }
        let (mine, theirs) = (self.shortened(&plan)?, other.shortened(&plan)?);
        *self = mine;
        let ceiling = self.packed().ceiling();
        self.combine(&theirs, |l, r| if C::COUNTING { (l + r).min(ceiling) } else { l | r });
        self.len = self.len.saturating_add(theirs.len);
        self.state.len_is_bound = true;
        // Counters hold an item of both twice, and do not let go of it when it is taken out once.
        self.state.beyond = !within || C::COUNTING || self.len > self.plan.items();
        Ok(())
    }

    /// Keeps what both hold. Filters of different lengths are compared in the blocks they share.
    pub fn intersect(&mut self, other: &Self) -> Result<(), Error> {
        let plan = self.common(other)?;
        if !self.state.beyond && !other.state.beyond {
            // Either list will do; the shorter one is the faster, and may be the only one to be
            // had.
            let [listed, asked] =
                if self.len <= other.len { [&*self, other] } else { [other, &*self] };
            let found = listed
                .list()
                .map(|list| (list, asked))
                .or_else(|_| asked.list().map(|list| (list, listed)));
            if let Ok((list, asked)) = found {
                let held = |number: &u64| asked.holds(&asked.positions(*number));
                let numbers: Vec<u64> = list.numbers.into_iter().filter(held).collect();
                *self = Self::of_numbers(plan, &numbers)?;
                return Ok(());
            }
        }
        let (mine, theirs) = (self.shortened(&plan)?, other.shortened(&plan)?);
        let len = mine.len.min(theirs.len);
        *self = mine;
        self.combine(&theirs, u64::min);
        self.len = len;
        // Cells that different items share remain: the result is not the code of a set, and its
        // zone is lost.
        self.state = State { beyond: true, len_is_bound: true };
        Ok(())
    }

    /// The plan of the blocks that both have.
    fn common(&self, other: &Self) -> Result<Plan, Error> {
        let differ = |field, left: &dyn fmt::Display, right: &dyn fmt::Display| {
            Err(Error::Mismatch { field, left: left.to_string(), right: right.to_string() })
        };
        let (l, r) = (&self.plan, &other.plan);
        if l.code() != r.code() {
            return differ("code", &l.code(), &r.code());
        }
        if l.universe() != r.universe() {
            return differ("universe", l.universe(), r.universe());
        }
        if let (Scheme::Rs(left), Scheme::Rs(right)) = (l.scheme(), r.scheme())
            && (left.order, left.degree) != (right.order, right.degree)
        {
            let shown =
                |choice: &Choice| format!("GF({}) to degree {}", choice.order, choice.degree);
            return differ("field", &shown(left), &shown(right));
        }
        let (shorter, longer) = if l.probes() <= r.probes() { (l, r) } else { (r, l) };
        let shared = shorter.blocks().len();
        let (left, right) = (shorter.blocks(), longer.blocks());
        if left[..] != right[..shared] {
            return differ("blocks", &format!("{left:?}"), &format!("{:?}", &right[..shared]));
        }
        let plan = shorter.with_blocks(shared as u64)?;
        Ok(plan.allowing(l.items().max(r.items())))
    }

    /// A filter of these numbers, beyond its zone if they are too many.
    fn of_numbers(plan: Plan, numbers: &[u64]) -> Result<Self, Error> {
        let body = Store::zeroed(plan.bytes())?;
        let mut filter = Self::from_parts(plan, body, 0, State::default())?;
        for number in numbers {
            let positions = filter.positions(*number);
            filter.put(&positions);
        }
        filter.len = numbers.len() as u64;
        filter.state.beyond = filter.len > filter.plan.items();
        Ok(filter)
    }

    /// The first blocks, cell for cell, under a plan of as many blocks.
    fn shortened(&self, plan: &Plan) -> Result<Self, Error> {
        let body = Store::zeroed(plan.bytes())?;
        let mut shorter = Self::from_parts(plan.clone(), body, self.len, self.state)?;
        let (own, ceiling) = (self.packed().ceiling(), shorter.packed().ceiling());
        for cell in 0..plan.cells() {
            let count = self.packed().get(self.body.bytes(), cell);
            // A counter that may have overflowed says so at its ceiling, and must in wider ones
            // too.
            let stuck = C::COUNTING && self.state.beyond && count == own;
            let count = if stuck { ceiling } else { count };
            shorter.packed().set(shorter.body.bytes_mut(), cell, count.min(ceiling));
        }
        Ok(shorter)
    }

    fn combine(&mut self, other: &Self, with: impl Fn(u64, u64) -> u64) {
        let packed = self.packed();
        for cell in 0..self.plan.cells() {
            let both =
                with(packed.get(self.body.bytes(), cell), packed.get(other.body.bytes(), cell));
            packed.set(self.body.bytes_mut(), cell, both);
        }
    }

    /// Makes the filter longer, to `blocks` blocks, and its zone as large as they allow. It lists
    /// itself for that, so it must be within its zone.
    pub fn grow(&mut self, blocks: u64) -> Result<(), Error> {
        if blocks < self.plan.probes() {
            return Err(Error::Universe {
                why: format!("{blocks} blocks are fewer than the {} there are", self.plan.probes()),
                remedy: "shrink it instead".to_owned(),
            });
        }
        self.rebuild(self.plan.with_blocks(blocks)?)
    }

    /// Makes the filter accept `items` items, with no more blocks than that takes, but no fewer
    /// than it has.
    pub fn grow_for(&mut self, items: u64) -> Result<(), Error> {
        let mut plan = self.plan.for_items(items)?;
        if plan.probes() < self.plan.probes() {
            plan = self.plan.with_blocks(self.plan.probes())?.allowing(items);
        }
        self.rebuild(plan)
    }

    /// Lists the filter, and makes it anew under another plan.
    fn rebuild(&mut self, plan: Plan) -> Result<(), Error> {
        if self.state.beyond {
            return Err(Error::Listing {
                why: "a filter beyond its zone cannot list itself, and so cannot grow".to_owned(),
                remedy: "build a larger one from the keys".to_owned(),
            });
        }
        *self = Self::of_numbers(plan, &self.list()?.numbers)?;
        Ok(())
    }

    /// Makes the filter shorter, to as few blocks as `items` items take.
    pub fn shrink_for(&mut self, items: u64) -> Result<(), Error> {
        let plan = self.plan.for_items(items)?;
        self.shrink(plan.probes())
    }

    /// Whether the cells can be those of as many items as the filter says it holds: each has one
    /// cell in every block.
    pub(crate) fn is_consistent(&self) -> bool {
        if self.state.beyond {
            return true;
        }
        (0..self.starts.len()).all(|block| {
            let occupied = self.count(block);
            let counted = if C::COUNTING {
                (0..self.plan.coding().size(block)).map(|position| self.cell(block, position)).sum()
            } else {
                occupied
            };
            let full = occupied > 0 || self.len == 0;
            full && counted <= self.len && (!C::COUNTING || counted == self.len)
        })
    }

    /// Makes the filter shorter, to its first `blocks` blocks. If that leaves too small a zone for
    /// what it holds, the filter is beyond it.
    pub fn shrink(&mut self, blocks: u64) -> Result<(), Error> {
        if blocks > self.plan.probes() {
            return Err(Error::Universe {
                why: format!("{blocks} blocks are more than the {} there are", self.plan.probes()),
                remedy: "grow it instead".to_owned(),
            });
        }
        let mut shorter = self.shortened(&self.plan.with_blocks(blocks)?)?;
        shorter.state.beyond |= shorter.len > shorter.plan.items();
        *self = shorter;
        Ok(())
    }

    /// Empties the filter, which is then within its zone again.
    pub fn clear(&mut self) {
        self.body.bytes_mut().fill(0);
        self.len = 0;
        self.state = State::default();
    }
}

impl<C: Cells> Occupancy for ZoneFilter<C> {
    fn count(&self, block: usize) -> u64 {
        let (start, size) = (self.starts[block], self.plan.coding().size(block));
        if C::COUNTING {
            return (0..size).filter(|position| self.cell(block, *position) != 0).count() as u64;
        }
        bits::words(self.body.bytes(), start, size)
            .map(|(_, word)| u64::from(word.count_ones()))
            .sum()
    }

    fn occupied(&self, block: usize) -> Vec<u64> {
        let (start, size) = (self.starts[block], self.plan.coding().size(block));
        if C::COUNTING {
            return (0..size).filter(|position| self.cell(block, *position) != 0).collect();
        }
        let mut positions = Vec::new();
        for (base, mut word) in bits::words(self.body.bytes(), start, size) {
            while word != 0 {
                positions.push(base + u64::from(word.trailing_zeros()));
                word &= word - 1;
            }
        }
        positions
    }

    fn is_occupied(&self, block: usize, position: u64) -> bool {
        if C::COUNTING {
            self.cell(block, position) != 0
        } else {
            bits::get(self.body.bytes(), self.starts[block] + position)
        }
    }
}

/// The most work that algebra is asked for, as items squared times blocks: some ten seconds.
const MOST_SOLVING: u64 = 1 << 33;

impl CountingFilter {
    /// Takes an item out. [`Error::Absent`], and no change, if it is not there; beyond the zone,
    /// only if it is certainly not: there, removing a stranger that passes takes the cells of
    /// items with it, and loses them.
    pub fn remove(&mut self, key: impl Key) -> Result<(), Error> {
        let number = self.plan.universe().number(key)?;
        self.remove_number(number)
    }

    /// [`remove`](Self::remove) by the element's number in the universe.
    pub fn remove_number(&mut self, number: u64) -> Result<(), Error> {
        self.check_number(number)?;
        let positions = self.positions(number);
        if !self.holds(&positions) {
            return Err(Error::Absent);
        }
        let packed = self.packed();
        for (block, position) in positions.iter().enumerate() {
            let cell = self.starts[block] + position;
            let count = packed.get(self.body.bytes(), cell);
            // Within the zone no counter overflows; beyond it, one at its ceiling may have, and
            // stays.
            if !(self.state.beyond && count == packed.ceiling()) {
                packed.set(self.body.bytes_mut(), cell, count - 1);
            }
        }
        self.len = self.len.saturating_sub(1);
        // Beyond the zone it may have been a stranger, whose cells belonged to others: nothing is
        // certain any more.
        self.state.len_is_bound |= self.state.beyond;
        Ok(())
    }
}

/// A zone filter with bits or with counters, for code that decides at run time. The methods are
/// those of [`ZoneFilter`].
///
/// ```
/// use tamis::{AnyFilter, zone::{Filter, Plan, Prefer, Universe}};
/// let mut any = AnyFilter::from(Filter::with_plan(Plan::new(Universe::sized(100)?, 2, Prefer::Bits)?)?);
/// let zone = any.as_zone_mut().expect("it is a zone filter");
/// zone.insert_number(7, false)?;
/// assert_eq!(zone.list()?.numbers, [7]);
/// # Ok::<(), tamis::Error>(())
/// ```
pub trait AnyZone: Send + Sync {
    /// See [`ZoneFilter::insert_number`].
    fn insert_number(&mut self, number: u64, beyond: bool) -> Result<bool, Error>;
    /// See [`ZoneFilter::contains_number`].
    fn contains_number(&self, number: u64) -> Result<bool, Error>;
    /// See [`ZoneFilter::len`].
    fn len(&self) -> u64;
    /// See [`ZoneFilter::is_empty`].
    fn is_empty(&self) -> bool;
    /// See [`ZoneFilter::len_is_exact`].
    fn len_is_exact(&self) -> bool;
    /// See [`ZoneFilter::list`].
    fn list(&self) -> Result<List, Error>;
    /// See [`ZoneFilter::list_by`].
    fn list_by(&self, method: Method) -> Result<List, Error>;
    /// See [`ZoneFilter::grow`].
    fn grow(&mut self, blocks: u64) -> Result<(), Error>;
    /// See [`ZoneFilter::shrink`].
    fn shrink(&mut self, blocks: u64) -> Result<(), Error>;
    /// See [`ZoneFilter::grow_for`].
    fn grow_for(&mut self, items: u64) -> Result<(), Error>;
    /// See [`ZoneFilter::shrink_for`].
    fn shrink_for(&mut self, items: u64) -> Result<(), Error>;
    /// See [`ZoneFilter::plan`].
    fn plan(&self) -> &Plan;
    /// See [`ZoneFilter::body`].
    fn body(&self) -> &[u8];
}

impl<C: Cells + Send + Sync> AnyZone for ZoneFilter<C> {
    fn insert_number(&mut self, number: u64, beyond: bool) -> Result<bool, Error> {
        ZoneFilter::insert_number(self, number, beyond)
    }
    fn contains_number(&self, number: u64) -> Result<bool, Error> {
        ZoneFilter::contains_number(self, number)
    }
    fn len(&self) -> u64 {
        ZoneFilter::len(self)
    }
    fn is_empty(&self) -> bool {
        ZoneFilter::is_empty(self)
    }
    fn len_is_exact(&self) -> bool {
        ZoneFilter::len_is_exact(self)
    }
    fn list(&self) -> Result<List, Error> {
        ZoneFilter::list(self)
    }
    fn list_by(&self, method: Method) -> Result<List, Error> {
        ZoneFilter::list_by(self, method)
    }
    fn grow(&mut self, blocks: u64) -> Result<(), Error> {
        ZoneFilter::grow(self, blocks)
    }
    fn shrink(&mut self, blocks: u64) -> Result<(), Error> {
        ZoneFilter::shrink(self, blocks)
    }
    fn grow_for(&mut self, items: u64) -> Result<(), Error> {
        ZoneFilter::grow_for(self, items)
    }
    fn shrink_for(&mut self, items: u64) -> Result<(), Error> {
        ZoneFilter::shrink_for(self, items)
    }
    fn plan(&self) -> &Plan {
        ZoneFilter::plan(self)
    }
    fn body(&self) -> &[u8] {
        ZoneFilter::body(self)
    }
}

impl<C: Cells> Clone for ZoneFilter<C> {
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

impl<C: Cells> PartialEq for ZoneFilter<C> {
    fn eq(&self, other: &Self) -> bool {
        self.plan == other.plan
            && (self.len, self.state) == (other.len, other.state)
            && self.body() == other.body()
    }
}

impl<C: Cells> Eq for ZoneFilter<C> {}

impl<C: Cells> fmt::Debug for ZoneFilter<C> {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.debug_struct("ZoneFilter")
            .field("plan", &self.plan)
            .field("len", &self.len)
            .field("health", &self.health())
            .finish_non_exhaustive()
    }
}
