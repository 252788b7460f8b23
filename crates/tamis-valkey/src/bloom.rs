//! What `BF.*` keeps: a filter of the size that was reserved, and a chain for what comes after.
//!
//! The promised rate holds for all of it together, however far it grows:
//!
//! | reserved | the first filter | its share of the rate |
//! |---|---|---|
//! | not scaling | bits, by the layout | all |
//! | for 65,536 items or more, or with a layout | bits, by the layout | 31/32 |
//! | for fewer, without a layout | the chain's first link | 1/5 |
//!
//! A large reserve is most likely large enough. So it takes as few bits as one that cannot grow,
//! and what comes after pays. A small one will grow, and its own bits do not matter.

use crate::loaded::{Keys, bytes_of};
use crate::refusal::Refusal;
use crate::settings::{self, Layout};
use crate::value::{Part, no_memory, too_large};
use tamis::rate::{Kind, Plan, ScalablePlan};
use tamis::{
    AnyFilter, BlockedBloom, Bloom as Classic, Error, HashFamily, QuotientFilter, Scalable,
    SplitBloom,
};

/// From so many items on a reserve is taken to be enough.
const LARGE: u64 = 1 << 16;
/// The part of the rate that a large reserve leaves to the items after it.
const LEFT: f64 = 1.0 / 32.0;

/// What a filter is made for.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Reserve {
    pub(crate) capacity: u64,
    pub(crate) rate: f64,
    /// How many times as large each further link is; `None` if there is none.
    pub(crate) expansion: Option<u32>,
    pub(crate) layout: Layout,
    /// Of the hash.
    pub(crate) seed: u64,
}

impl Reserve {
    /// What a command without options makes.
    pub(crate) fn default_settings() -> Reserve {
        Reserve {
            capacity: settings::capacity(),
            rate: settings::rate(),
            expansion: u32::try_from(settings::expansion()).ok().filter(|one| *one > 0),
            layout: settings::layout(),
            seed: 0,
        }
    }
}

/// Why an item was not put in.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Stop {
    /// The filter does not scale, and is full.
    Full,
    /// It cannot grow.
    NoGrowth(String),
}

/// A filter of `BF.*`.
#[derive(Clone)]
pub(crate) struct Bloom {
    pub(crate) keys: Keys,
    shape: Shape,
}

#[derive(Clone)]
#[allow(clippy::large_enum_variant)] // a value has a box of its own
enum Shape {
    Chain(Scalable),
    Sized(Sized),
}

/// A filter of bits, and the chain after it.
#[derive(Clone)]
struct Sized {
    filter: AnyFilter,
    /// Items that were certainly new.
    items: u64,
    capacity: u64,
    /// What was promised for the whole.
    rate: f64,
    expansion: Option<u32>,
    after: Option<Scalable>,
}

impl Bloom {
    /// An empty filter of at most so many bytes.
    pub(crate) fn new(reserve: Reserve, max_bytes: u64) -> Result<Bloom, Refusal> {
        let Reserve { capacity, rate, expansion, seed, .. } = reserve;
        let planned = planned(reserve)?;
        check(planned.first().bytes(), max_bytes)?;
        let hash = HashFamily::fast(seed);
        let shape = match planned {
            Planned::Chain(plan, _) => {
                Shape::Chain(Scalable::with_plan(plan, hash).map_err(refuse)?)
            }
            Planned::Sized(plan) => {
                let filter: AnyFilter = match plan.filter() {
                    Kind::Blocked => BlockedBloom::with_plan(plan, hash).map_err(refuse)?.into(),
                    Kind::Split => SplitBloom::with_plan(plan, hash).map_err(refuse)?.into(),
                    _ => Classic::with_plan(plan, hash).map_err(refuse)?.into(),
                };
                let (items, after) = (0, None);
                Shape::Sized(Sized { filter, items, capacity, rate, expansion, after })
            }
        };
        Ok(Bloom { keys: Keys::Text, shape })
    }

    /// Whether a file's filter is one that `BF.*` keeps.
    pub(crate) fn takes(filter: &AnyFilter) -> bool {
        use AnyFilter::{Blocked, Scalable, Split};
        matches!(filter, AnyFilter::Bloom(_) | Blocked(_) | Split(_) | Scalable(_))
    }

    /// A filter from a file, which keeps its size. `None` unless `takes` says yes.
    pub(crate) fn from_file(filter: AnyFilter, keys: Keys) -> Option<Bloom> {
        let shape = match filter {
            AnyFilter::Scalable(chain) => Shape::Chain(chain),
            AnyFilter::Bloom(_) | AnyFilter::Blocked(_) | AnyFilter::Split(_) => {
                let (capacity, rate) = (filter.plan().items(), filter.plan().fpr());
                // The file does not say how many were inserted.
                let items = filter.estimated_items().unwrap_or(0.0) as u64;
                Shape::Sized(Sized { filter, items, capacity, rate, expansion: None, after: None })
            }
            _ => return None,
        };
        Some(Bloom { keys, shape })
    }

    /// Puts an item in, and says whether it was certainly new.
    #[inline]
    pub(crate) fn insert(&mut self, item: &[u8], max_bytes: u64) -> Result<bool, Stop> {
        let key = self.keys.key(item);
        match &mut self.shape {
            Shape::Chain(chain) => {
                chain.limit_memory(Some(max_bytes));
                // Moving a large link's keys would keep the server from all else.
                chain.open_whole_links(true);
                chain.insert(key).map_err(stop)
            }
            Shape::Sized(sized) => {
                if sized.items < sized.capacity {
                    let new = sized.filter.insert(key).map_err(stop)?;
                    sized.items += u64::from(new);
                    return Ok(new);
                }
                if sized.filter.contains(key).map_err(stop)? {
                    return Ok(false);
                }
                let held = bytes_of(&sized.filter);
                let after = sized.after(max_bytes.saturating_sub(held))?;
                after.limit_memory(Some(max_bytes.saturating_sub(held)));
                after.open_whole_links(true);
                after.insert(key).map_err(stop)
            }
        }
    }

    #[inline]
    pub(crate) fn contains(&self, item: &[u8]) -> bool {
        let key = self.keys.key(item);
        match &self.shape {
            Shape::Chain(chain) => chain.contains(key),
            Shape::Sized(sized) => {
                sized.filter.contains(key).unwrap_or(false)
                    || sized.after.as_ref().is_some_and(|after| after.contains(key))
            }
        }
    }

    pub(crate) fn contains_many<'a>(&self, items: impl Iterator<Item = &'a [u8]>) -> Vec<bool> {
        let keys: Vec<_> = items.map(|item| self.keys.key(item)).collect();
        match &self.shape {
            Shape::Chain(chain) => chain.contains_many(&keys),
            Shape::Sized(sized) => {
                let answers = sized.filter.contains_many(&keys);
                let mut answers = answers.unwrap_or_else(|_| vec![false; keys.len()]);
                if let Some(after) = &sized.after {
                    let more = after.contains_many(&keys);
                    answers.iter_mut().zip(more).for_each(|(one, other)| *one |= other);
                }
                answers
            }
        }
    }

    /// Items that were certainly new.
    pub(crate) fn len(&self) -> u64 {
        match &self.shape {
            Shape::Chain(chain) => chain.len(),
            Shape::Sized(sized) => sized.items + sized.after.as_ref().map_or(0, Scalable::len),
        }
    }

    /// How many items there is room for before it grows, or refuses.
    pub(crate) fn capacity(&self) -> u64 {
        match &self.shape {
            Shape::Chain(chain) => chain.capacity(),
            Shape::Sized(sized) => {
                let after = sized.after.as_ref().map_or(0, Scalable::capacity);
                sized.capacity.saturating_add(after)
            }
        }
    }

    /// The bytes of all cells.
    pub(crate) fn bytes(&self) -> u64 {
        match &self.shape {
            Shape::Chain(chain) => chain.bytes(),
            Shape::Sized(sized) => {
                bytes_of(&sized.filter) + sized.after.as_ref().map_or(0, Scalable::bytes)
            }
        }
    }

    /// How many filters are asked.
    pub(crate) fn links(&self) -> u64 {
        match &self.shape {
            Shape::Chain(chain) => chain.links().len() as u64,
            Shape::Sized(sized) => {
                1 + sized.after.as_ref().map_or(0, |after| after.links().len() as u64)
            }
        }
    }

    /// A line for each filter that is asked, as RedisBloom writes it.
    pub(crate) fn describe_links(&self) -> Vec<String> {
        let line = |bytes: u64, bits: u64, hashes: u32, capacity: u64, size: u64, ratio: f64| {
            format!(
                "bytes:{bytes} bits:{bits} hashes:{hashes} hashwidth:64 capacity:{capacity} \
                 size:{size} ratio:{ratio}"
            )
        };
        let of_chain = |chain: &Scalable| -> Vec<String> {
            let of_link = |link: &QuotientFilter| {
                let plan = link.plan();
                let (bytes, bits, items) = (plan.bytes(), plan.bits(), plan.items());
                line(bytes, bits, plan.hashes(), items, link.len(), plan.fpr())
            };
            chain.links().iter().map(of_link).collect()
        };
        match &self.shape {
            Shape::Chain(chain) => of_chain(chain),
            Shape::Sized(sized) => {
                let plan = sized.filter.plan();
                let hashes = plan.rate().map_or(0, Plan::hashes);
                let (bytes, bits, rate) = (plan.bytes(), plan.bits(), plan.fpr());
                let mut lines = vec![line(bytes, bits, hashes, sized.capacity, sized.items, rate)];
                lines.extend(sized.after.iter().flat_map(of_chain));
                lines
            }
        }
    }

    pub(crate) fn expansion(&self) -> Option<u32> {
        match &self.shape {
            Shape::Chain(chain) => chain.plan().growth(),
            Shape::Sized(sized) => sized.expansion,
        }
    }

    /// The rate that was promised.
    pub(crate) fn rate(&self) -> f64 {
        match &self.shape {
            Shape::Chain(chain) => chain.plan().fpr(),
            Shape::Sized(sized) => sized.rate,
        }
    }

    /// The share of strangers that pass now.
    pub(crate) fn expected_rate(&self) -> f64 {
        match &self.shape {
            Shape::Chain(chain) => chain.expected_fpr(),
            Shape::Sized(sized) => {
                let after = sized.after.as_ref().map_or(0.0, Scalable::expected_fpr);
                let first = sized.filter.expected_fpr();
                first + after - first * after
            }
        }
    }

    /// The share of cells that are not empty.
    pub(crate) fn fill(&self) -> f64 {
        match &self.shape {
            Shape::Chain(chain) => chain.fill(),
            Shape::Sized(sized) => sized.filter.fill(),
        }
    }

    /// The layout of its first filter.
    pub(crate) fn layout(&self) -> &'static str {
        match &self.shape {
            Shape::Chain(_) => "chain",
            Shape::Sized(sized) => sized.filter.kind(),
        }
    }

    /// The classic filter of bits that it is, if it is one and has not grown.
    pub(crate) fn classic(&self) -> Option<&Classic> {
        match &self.shape {
            Shape::Sized(Sized { filter: AnyFilter::Bloom(classic), after: None, .. }) => {
                Some(classic)
            }
            _ => None,
        }
    }

    pub(crate) fn seed(&self) -> u64 {
        let hash = match &self.shape {
            Shape::Chain(chain) => Some(chain.hash()),
            Shape::Sized(sized) => sized.filter.hash(),
        };
        hash.and_then(HashFamily::seed).unwrap_or(0)
    }

    /// The one file that holds it; `None` if it has grown past a filter of bits, so that it would
    /// take two.
    pub(crate) fn file(&self) -> Option<Vec<u8>> {
        match &self.shape {
            Shape::Chain(chain) => Some(chain.to_bytes()),
            Shape::Sized(Sized { filter, after: None, .. }) => Some(filter.to_bytes()),
            Shape::Sized(_) => None,
        }
    }

    /// Whether it is one filter of bits, whose size stays.
    pub(crate) fn is_fixed(&self) -> bool {
        matches!(&self.shape, Shape::Sized(Sized { after: None, .. }))
    }

    /// Takes in all that `other` holds.
    pub(crate) fn union(&mut self, other: &Bloom) -> Result<(), Refusal> {
        match (&mut self.shape, &other.shape) {
            (Shape::Chain(ours), Shape::Chain(theirs)) => ours.union(theirs)?,
            (Shape::Sized(ours), Shape::Sized(theirs)) => {
                match (&mut ours.after, &theirs.after) {
                    (_, None) => {}
                    (None, Some(theirs)) => ours.after = Some(theirs.clone()),
                    (Some(ours), Some(theirs)) => ours.union(theirs)?,
                }
                ours.filter.union(&theirs.filter)?;
                ours.items = ours.filter.estimated_items().unwrap_or(0.0) as u64;
            }
            _ => {
                return Err(Refusal::new(
                    "ERR filters reserved small and large cannot be united: reserve both alike",
                ));
            }
        }
        Ok(())
    }

    /// Keeps what both hold. Only filters of bits that have not grown can tell.
    pub(crate) fn intersect(&mut self, other: &Bloom) -> Result<(), Refusal> {
        let both = (&mut self.shape, &other.shape);
        let (Shape::Sized(ours), Shape::Sized(theirs)) = both else {
            return Err(Refusal::new(
                "ERR a filter that was reserved small cannot: reserve with LAYOUT bloom",
            ));
        };
        if ours.after.is_some() || theirs.after.is_some() {
            return Err(Refusal::new("ERR filters that have grown cannot be intersected"));
        }
        ours.filter.intersect(&theirs.filter)?;
        ours.items = ours.filter.estimated_items().unwrap_or(0.0) as u64;
        Ok(())
    }

    /// The settings of a preamble: how items are read; and of a filter of bits its items, capacity,
    /// rate (the bits of a double) and expansion (0 for none).
    pub(crate) fn settings(&self) -> Vec<u64> {
        let mut settings = vec![self.keys as u64];
        if let Shape::Sized(sized) = &self.shape {
            let expansion = sized.expansion.map_or(0, u64::from);
            settings.extend([sized.items, sized.capacity, sized.rate.to_bits(), expansion]);
        }
        settings
    }

    pub(crate) fn parts(&self) -> Vec<Part<'_>> {
        match &self.shape {
            Shape::Chain(chain) => vec![Part::Chain(chain)],
            Shape::Sized(sized) => {
                let after = sized.after.iter().map(Part::Chain);
                std::iter::once(Part::File(&sized.filter)).chain(after).collect()
            }
        }
    }

    pub(crate) fn from_parts(settings: &[u64], parts: Vec<AnyFilter>) -> Option<Bloom> {
        let mut parts = parts.into_iter();
        let (first, second) = (parts.next()?, parts.next());
        if parts.next().is_some() {
            return None;
        }
        let (shape, keys) = match (settings, first) {
            ([keys], AnyFilter::Scalable(chain)) if second.is_none() => {
                (Shape::Chain(chain), *keys)
            }
            (
                [keys, items, capacity, rate, expansion],
                filter @ (AnyFilter::Bloom(_) | AnyFilter::Blocked(_) | AnyFilter::Split(_)),
            ) => {
                let after = second.map(Scalable::try_from).transpose().ok()?;
                let rate = f64::from_bits(*rate);
                let expansion = u32::try_from(*expansion).ok()?;
                let sound = (0.0..1.0).contains(&rate)
                    && *capacity > 0
                    && *items <= 1 << 62
                    && expansion <= tamis::rate::MAX_GROWTH;
                if !sound {
                    return None;
                }
                let expansion = Some(expansion).filter(|one| *one > 0);
                let (items, capacity) = (*items, *capacity);
                let sized = Sized { filter, items, capacity, rate, expansion, after };
                (Shape::Sized(sized), *keys)
            }
            _ => return None,
        };
        Some(Bloom { keys: Keys::from_word(keys)?, shape })
    }
}

impl Sized {
    /// The chain for the items past the reserve.
    fn after(&mut self, max_bytes: u64) -> Result<&mut Scalable, Stop> {
        let Some(growth) = self.expansion else { return Err(Stop::Full) };
        if self.after.is_none() {
            let plan = chain_after(self.capacity, self.rate, growth).map_err(stop)?;
            let needed = plan.bytes_for(plan.items()).map_err(stop)?;
            if needed > max_bytes {
                return Err(Stop::NoGrowth(too_large(needed, max_bytes).text().to_owned()));
            }
            let hash = self.filter.hash().cloned().unwrap_or_default();
            self.after = Some(Scalable::with_plan(plan, hash).map_err(stop)?);
        }
        self.after.as_mut().ok_or(Stop::Full)
    }
}

/// What a reserve becomes, before memory is taken.
pub(crate) enum Planned {
    /// A chain, and its first link.
    Chain(ScalablePlan, Plan),
    /// A filter of bits.
    Sized(Plan),
}

impl Planned {
    /// The plan of the filter that is made at once.
    pub(crate) fn first(&self) -> &Plan {
        match self {
            Planned::Chain(_, plan) | Planned::Sized(plan) => plan,
        }
    }

    pub(crate) fn layout(&self) -> &'static str {
        match self {
            Planned::Chain(..) => "chain",
            Planned::Sized(plan) => plan.filter().name(),
        }
    }
}

/// What a reserve becomes.
pub(crate) fn planned(reserve: Reserve) -> Result<Planned, Error> {
    let Reserve { capacity, rate, expansion, layout, .. } = reserve;
    match expansion {
        Some(growth) if capacity < LARGE && layout == Layout::Auto => {
            let plan = ScalablePlan::new(capacity, rate)?.with_growth(growth)?;
            let links = plan.links_for(1)?;
            let first = links.first().copied().map_or_else(|| sized(layout, capacity, rate), Ok)?;
            Ok(Planned::Chain(plan, first))
        }
        _ => {
            // The rate itself is checked before its share is taken.
            Plan::from_items_fpr(Kind::Bloom, capacity, rate)?;
            let share = if expansion.is_some() { 1.0 - LEFT } else { 1.0 };
            Ok(Planned::Sized(sized(layout, capacity, rate * share)?))
        }
    }
}

/// The bytes of a filter that has grown to so many items.
pub(crate) fn bytes_for(reserve: Reserve, items: u64) -> Result<u64, Error> {
    match planned(reserve)? {
        Planned::Chain(plan, _) => plan.bytes_for(items),
        Planned::Sized(plan) => {
            let after = items.saturating_sub(reserve.capacity);
            if after == 0 {
                return Ok(plan.bytes());
            }
            let chain = chain_after(reserve.capacity, reserve.rate, reserve.expansion.unwrap_or(1));
            Ok(plan.bytes().saturating_add(chain?.bytes_for(after)?))
        }
    }
}

/// The plan of the chain after a filter of bits.
fn chain_after(capacity: u64, rate: f64, growth: u32) -> Result<ScalablePlan, Error> {
    let items = capacity.saturating_mul(u64::from(growth));
    ScalablePlan::new(items, rate * LEFT)?.with_growth(growth)
}

/// The plan of a filter of bits.
fn sized(layout: Layout, items: u64, rate: f64) -> Result<Plan, Error> {
    let classic = || Plan::from_items_fpr(Kind::Bloom, items, rate);
    match layout {
        Layout::Bloom => classic(),
        Layout::Blocked => Plan::from_items_fpr(Kind::Blocked, items, rate),
        Layout::Split => Plan::from_items_fpr(Kind::Split, items, rate),
        Layout::Auto => {
            let classic = classic()?;
            let blocked = Plan::from_items_fpr(Kind::Blocked, items, rate);
            Ok(blocked
                .ok()
                .filter(|blocked| blocked.bits() <= classic.bits() + classic.bits() / 10)
                .unwrap_or(classic))
        }
    }
}

pub(crate) fn check(bytes: u64, most: u64) -> Result<(), Refusal> {
    if bytes > most { Err(too_large(bytes, most)) } else { Ok(()) }
}

/// A filter that could not be made.
pub(crate) fn refuse(error: Error) -> Refusal {
    match error {
        Error::Memory { .. } => no_memory(),
        other => other.into(),
    }
}

fn stop(error: Error) -> Stop {
    match error {
        Error::ChainFull { links: 1, .. } => Stop::Full,
        other => Stop::NoGrowth(other.to_string()),
    }
}
