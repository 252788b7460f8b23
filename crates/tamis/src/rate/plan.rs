//! Sizes before anything is allocated.

use super::expected::{self, Blocks, LANES};
use super::{precise, quotient};
use crate::error::{Error, Fitting, Wanted};
use crate::store;
use std::fmt;

/// The most bits that a filter can address: 2^50, 128 TiB.
pub const MAX_BITS: u64 = crate::bits::MAX;
/// The most positions a key may have.
pub const MAX_HASHES: u32 = crate::hash::MAX_HASHES;
/// The lowest rate that can be asked for.
pub const MIN_FPR: f64 = 1e-15;
/// The highest rate that can be asked for.
pub const MAX_FPR: f64 = 0.999;

/// Counters are 4 bits wide unless asked otherwise: a counter of a filter within its plan passes 15
/// with a chance of about 1e-15.
const COUNTER_BITS: u32 = 4;

/// The layouts that keep the rate promise.
///
/// ```
/// use tamis::rate::{Kind, Plan};
/// let bits = |kind| Plan::from_items_fpr(kind, 1_000_000, 0.01).map(|plan| plan.bits());
/// assert!(bits(Kind::Bloom)? < bits(Kind::Blocked)?);
/// assert!(bits(Kind::Blocked)? < bits(Kind::Counting)?);
/// # Ok::<(), tamis::Error>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "lowercase"))]
#[non_exhaustive]
pub enum Kind {
    /// [`Bloom`](super::Bloom): the usual one, the fewest bits of the layouts.
    Bloom,
    /// [`BlockedBloom`](super::BlockedBloom): one cache line a lookup.
    Blocked,
    /// [`SplitBloom`](super::SplitBloom): half a cache line a lookup.
    Split,
    /// [`CountingBloom`](super::CountingBloom): keys can be removed.
    Counting,
    /// [`QuotientFilter`](super::QuotientFilter): keys can be removed, at a quarter of the size.
    Quotient,
}

impl Kind {
    /// The name on the command line and in JSON.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Kind::Bloom => "bloom",
            Kind::Blocked => "blocked",
            Kind::Split => "split",
            Kind::Counting => "counting",
            Kind::Quotient => "quotient",
        }
    }

    /// So many blocks of the layout with so many words a key, if it has blocks.
    fn blocks(self, count: u64, bits_per_lane: u32) -> Option<Blocks> {
        match self {
            Kind::Bloom | Kind::Counting | Kind::Quotient => None,
            Kind::Blocked => Some(Blocks { count, lane: 64, bits_per_lane, word_bits: None }),
            Kind::Split => Some(Blocks { count, lane: 32, bits_per_lane, word_bits: Some(32) }),
        }
    }

    /// The bits of a block, if the layout has blocks.
    fn block(self) -> Option<u64> {
        Some(self.blocks(1, 1)?.bits())
    }

    /// How many words a key may have in its block.
    fn max_words(self) -> u32 {
        if self == Kind::Blocked { 2 } else { 1 }
    }
}

impl fmt::Display for Kind {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.pad(self.name())
    }
}

/// The size of a filter, decided before anything is allocated: from any two of items, rate and
/// bits, the third.
///
/// Sizes are exact: [`bits`](Plan::bits) is what the formula gives in 100 binary digits (above a
/// rate of one half: in 53), not rounded up to a power of two, and [`bytes`](Plan::bytes) is what
/// the filter's body takes, in memory and in the file. The rate is an expectation:
/// [`expected_fpr`](Plan::expected_fpr) says what a filter of these bits and hashes will show at
/// any number of items.
///
/// ```
/// use tamis::rate::{Kind, Plan};
/// let plan = Plan::from_items_fpr(Kind::Bloom, 10_000, 0.01)?;
/// assert_eq!((plan.bits(), plan.hashes(), plan.bytes()), (95_851, 7, 11_982));
/// assert_eq!(Plan::from_fpr_bits(Kind::Bloom, 0.01, 95_851)?.items(), 10_000);
/// assert!(Plan::from_items_bits(Kind::Bloom, 10_000, 143_776)?.fpr() < 0.00101);
/// # Ok::<(), tamis::Error>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct Plan {
    filter: Kind,
    items: u64,
    fpr: f64,
    cells: u64,
    hashes: u32,
    counter_bits: u32,
    counted: bool,
}

impl Plan {
    /// The bits for `items` at the rate `fpr`.
    ///
    /// For a Bloom filter, bits = ceil(-n ln p / (ln 2)^2) and hashes = round(bits/n ln 2). Since
    /// hashes must be whole, the expected rate may lie a few percent above `fpr` (at 1% it is
    /// 1.004%). Above one half, where that formula would want less than one hash, the plan
    /// takes one hash and the bits that it needs.
    pub fn from_items_fpr(filter: Kind, items: u64, fpr: f64) -> Result<Plan, Error> {
        check_items(items)?;
        check_fpr(fpr)?;
        if filter == Kind::Quotient {
            return quotient::plan_items_fpr(items, fpr);
        }
        let too_many = |got: u128| {
            let nearest = match Plan::from_fpr_bits(filter, fpr, MAX_BITS) {
                Ok(most) => Fitting::Items(most.items),
                Err(_) => Fitting::HigherRate,
            };
            Error::TooManyBits { got, wanted: Wanted::Items { items, fpr }, nearest }
        };
        let (cells, hashes) = match filter {
            Kind::Blocked | Kind::Split => blocked_cells(filter, items, fpr)
                .ok_or_else(|| too_many(u128::from(MAX_BITS) + 1))?,
            Kind::Bloom | Kind::Counting | Kind::Quotient => {
                let cells = classic_cells(items, fpr);
                let wide = cells.saturating_mul(u128::from(Plan::width_of(filter)));
                if wide > u128::from(MAX_BITS) {
                    return Err(too_many(wide));
                }
                (cells as u64, classic_hashes(cells as u64, items))
            }
        };
        let counter_bits = Plan::width_of(filter);
        Ok(Plan { filter, items, fpr, cells, hashes, counter_bits, counted: false })
    }

    /// The rate that `items` in `bits` will show.
    pub fn from_items_bits(filter: Kind, items: u64, bits: u64) -> Result<Plan, Error> {
        Plan::from_items_bits_of(filter, Plan::width_of(filter), items, bits)
    }

    /// The rate that a counting filter with counters of this width will show.
    pub fn counting_from_items_bits(
        items: u64,
        bits: u64,
        counter_bits: u32,
    ) -> Result<Plan, Error> {
        check_counter_bits(counter_bits)?;
        Plan::from_items_bits_of(Kind::Counting, counter_bits, items, bits)
    }

    fn from_items_bits_of(filter: Kind, width: u32, items: u64, bits: u64) -> Result<Plan, Error> {
        check_items(items)?;
        check_bits(bits)?;
        if filter == Kind::Quotient {
            return quotient::plan_items_bits(items, bits);
        }
        let wanted = Wanted::ItemsAtMost { items, fpr: MAX_FPR };
        let cells = bits / u64::from(width);
        let (cells, hashes) = match filter.block() {
            Some(block) => (
                cells / block * block,
                if cells < block { 0 } else { blocked_hashes(filter, cells / block, items) },
            ),
            None => (cells, classic_hashes(cells.max(1), items)),
        };
        let (fpr, counter_bits) = (MAX_FPR, width);
        let mut plan = Plan { filter, items, fpr, cells, hashes, counter_bits, counted: false };
        if cells > 0 {
            plan.fpr = plan.expected_fpr(items);
        }
        if cells == 0 || plan.fpr > MAX_FPR {
            let nearest = Plan::from_items_fpr(filter, items, MAX_FPR)?.cells * u64::from(width);
            return Err(Error::TooFewBits { got: bits, wanted, nearest });
        }
        Ok(plan)
    }

    /// The items that `bits` can hold at the rate `fpr`.
    pub fn from_fpr_bits(filter: Kind, fpr: f64, bits: u64) -> Result<Plan, Error> {
        Plan::items_of(filter, Plan::width_of(filter), fpr, bits)
    }

    /// The items that a counting filter with counters of this width can hold.
    pub fn counting_from_fpr_bits(fpr: f64, bits: u64, counter_bits: u32) -> Result<Plan, Error> {
        check_counter_bits(counter_bits)?;
        Plan::items_of(Kind::Counting, counter_bits, fpr, bits)
    }

    fn items_of(filter: Kind, width: u32, fpr: f64, bits: u64) -> Result<Plan, Error> {
        check_fpr(fpr)?;
        check_bits(bits)?;
        if filter == Kind::Quotient {
            return quotient::plan_fpr_bits(fpr, bits);
        }
        let cells = bits / u64::from(width);
        let items = match filter.block() {
            Some(block) => blocked_items(filter, cells / block, fpr),
            None if fpr > 0.5 => single_hash_items(cells, fpr),
            None => precise::items(cells, fpr),
        };
        if items == 0 {
            let nearest = Plan::from_items_fpr(filter, 1, fpr)?.cells * u64::from(width);
            return Err(Error::TooFewBits {
                got: bits,
                wanted: Wanted::Items { items: 1, fpr },
                nearest,
            });
        }
        let (cells, hashes) = match filter.block() {
            Some(block) => (cells / block * block, blocked_hashes(filter, cells / block, items)),
            None => (cells, classic_hashes(cells, items)),
        };
        Ok(Plan { filter, items, fpr, cells, hashes, counter_bits: width, counted: false })
    }

    /// The plan of a quotient filter.
    pub(super) fn of_slots(slots: u64, width: u32, items: u64, fpr: f64) -> Plan {
        Plan {
            filter: Kind::Quotient,
            items,
            fpr,
            cells: slots,
            hashes: 1,
            counter_bits: width,
            counted: false,
        }
    }

    /// The same plan for another rate.
    pub(super) fn with_rate(self, fpr: f64) -> Plan {
        Plan { fpr, ..self }
    }

    /// A counting plan with counters of another width, from 2 to 16 bits, for the same cells.
    pub fn with_counter_bits(mut self, counter_bits: u32) -> Result<Plan, Error> {
        if self.filter != Kind::Counting {
            return Err(Error::Kind { planned: self.filter.name(), wanted: "counting" });
        }
        check_counter_bits(counter_bits)?;
        if self.cells > MAX_BITS / u64::from(counter_bits) {
            return Err(Error::TooManyBits {
                got: u128::from(self.cells) * u128::from(counter_bits),
                wanted: Wanted::Counters { counters: self.cells, counter_bits },
                nearest: Fitting::NarrowerCounters,
            });
        }
        self.counter_bits = counter_bits;
        Ok(self)
    }

    /// A plan for the same items and bits with another number of hashes, from 1 to 64, and the rate
    /// that it will show. Those of filters of blocks or slots are fixed by their layout.
    ///
    /// ```
    /// use tamis::rate::{Kind, Plan};
    /// let best = Plan::from_items_bits(Kind::Bloom, 1_000, 10_000)?;
    /// assert!(best.with_hashes(3)?.fpr() > best.fpr());
    /// # Ok::<(), tamis::Error>(())
    /// ```
    pub fn with_hashes(mut self, hashes: u32) -> Result<Plan, Error> {
        if self.filter.block().is_some() || self.filter == Kind::Quotient {
            return Err(Error::Kind { planned: self.filter.name(), wanted: "bloom" });
        }
        if !(1..=MAX_HASHES).contains(&hashes) {
            return Err(Error::Hashes { got: hashes, nearest: hashes.clamp(1, MAX_HASHES) });
        }
        self.hashes = hashes;
        self.fpr = self.expected_fpr(self.items);
        if self.fpr > MAX_FPR {
            return Err(Error::Rate { got: self.fpr, nearest: MAX_FPR });
        }
        Ok(self)
    }

    /// The same plan, marked: its number of items was found by counting the keys. A file keeps the
    /// mark. Publishing refuses such a plan, because the header would tell how many keys there are.
    ///
    /// ```
    /// use tamis::rate::{Kind, Plan};
    /// let keys = ["ant", "bee"];
    /// let plan = Plan::from_items_fpr(Kind::Bloom, keys.len() as u64, 0.01)?.counted();
    /// assert!(plan.is_counted() && !plan.with_public_size().is_counted());
    /// # Ok::<(), tamis::Error>(())
    /// ```
    #[must_use]
    pub fn counted(mut self) -> Plan {
        self.counted = true;
        self
    }

    /// The same plan without that mark: you affirm that everybody may know the number of items.
    #[must_use]
    pub fn with_public_size(mut self) -> Plan {
        self.counted = false;
        self
    }

    /// Whether the number of items was found by counting the keys.
    #[must_use]
    pub fn is_counted(&self) -> bool {
        self.counted
    }

    /// The plan that a file states, if a plan can be so.
    pub(crate) fn from_fields(
        filter: Kind,
        items: u64,
        fpr: f64,
        cells: u64,
        hashes: u32,
        counter_bits: u32,
    ) -> Result<Plan, Error> {
        let refuse = |field, got: String| Err(Error::Field { field, got });
        // A plan made from items and bits may expect less than the lowest rate that can be asked
        // for.
        if !(0.0..=MAX_FPR).contains(&fpr) || fpr.is_sign_negative() {
            return refuse("rate", fpr.to_string());
        }
        let width_fits = match filter {
            Kind::Counting => (2..=16).contains(&counter_bits),
            Kind::Quotient => quotient::width_fits(counter_bits),
            _ => counter_bits == 1,
        };
        if !width_fits {
            return refuse("counter width", counter_bits.to_string());
        }
        if items == 0 || (filter == Kind::Quotient && items > cells) {
            return refuse("number of items", items.to_string());
        }
        if cells == 0
            || cells > MAX_BITS / u64::from(counter_bits)
            || filter.block().is_some_and(|block| !cells.is_multiple_of(block))
            || (filter == Kind::Quotient && !quotient::slots_fit(cells, counter_bits))
        {
            return refuse("number of cells", cells.to_string());
        }
        let hashes_fit = match filter {
            Kind::Blocked => hashes == 8 || hashes == 16,
            Kind::Split => hashes == 8,
            Kind::Quotient => hashes == 1,
            Kind::Bloom | Kind::Counting => (1..=MAX_HASHES).contains(&hashes),
        };
        if !hashes_fit {
            return refuse("number of hashes", hashes.to_string());
        }
        Ok(Plan { filter, items, fpr, cells, hashes, counter_bits, counted: false })
    }

    fn width_of(filter: Kind) -> u32 {
        if filter == Kind::Counting { COUNTER_BITS } else { 1 }
    }

    /// The layout planned.
    #[must_use]
    pub fn filter(&self) -> Kind {
        self.filter
    }

    /// The items that the filter is planned to hold.
    #[must_use]
    pub fn items(&self) -> u64 {
        self.items
    }

    /// The rate asked for; or, when items and bits were given, the rate they will show.
    #[must_use]
    pub fn fpr(&self) -> f64 {
        self.fpr
    }

    /// The bits of the body, all told.
    #[must_use]
    pub fn bits(&self) -> u64 {
        match self.filter {
            Kind::Quotient => quotient::bits(self.cells, self.counter_bits),
            _ => self.cells * u64::from(self.counter_bits),
        }
    }

    /// The bytes of the body, exactly; a file adds a header of 128 bytes.
    #[must_use]
    pub fn bytes(&self) -> u64 {
        self.bits().div_ceil(8)
    }

    /// The bytes of a file with such a filter, exactly: its header and its body.
    #[must_use]
    pub fn file_bytes(&self) -> u64 {
        crate::format::SHORT_HEADER + self.bytes()
    }

    /// Refuses the plan if a filter by it would take more than `most` bytes of memory: a cap to put
    /// on what others ask for.
    ///
    /// ```
    /// use tamis::rate::{Kind, Plan};
    /// let asked = Plan::from_items_fpr(Kind::Bloom, 1_000_000_000, 0.01)?;
    /// assert!(asked.check_memory(1 << 20).unwrap_err().to_string().contains("allowed 1048576"));
    /// # Ok::<(), tamis::Error>(())
    /// ```
    pub fn check_memory(&self, most: u64) -> Result<(), Error> {
        store::check_memory(self.bytes(), most)
    }

    /// The bits an item takes.
    #[must_use]
    pub fn bits_per_item(&self) -> f64 {
        self.bits() as f64 / self.items as f64
    }

    /// The positions that hashes choose from: bits, or counters in a counting filter, or slots in a
    /// quotient filter.
    #[must_use]
    pub fn cells(&self) -> u64 {
        self.cells
    }

    /// The positions of a key.
    #[must_use]
    pub fn hashes(&self) -> u32 {
        self.hashes
    }

    /// The width of a cell: 1, except in a counting filter; in a quotient filter, of a remainder.
    #[must_use]
    pub fn counter_bits(&self) -> u32 {
        self.counter_bits
    }

    /// The share of strangers that will pass when the filter holds `items`, as an expectation over
    /// random hashes: for the classic layouts E[(X/m)^k] over the number X of bits set, for those
    /// of blocks the binomial mixture over the load of a block. (Digests have 128 bits: rates near
    /// 2^-128, which no plan can ask for, are lower here than in life.)
    #[must_use]
    pub fn expected_fpr(&self, items: u64) -> f64 {
        match self.block_shape() {
            Some(blocks) => expected::blocked_fpr(blocks, items),
            None if self.filter == Kind::Quotient => {
                quotient::expected_fpr(self.cells, self.counter_bits, items)
            }
            None => expected::classic_fpr(self.cells, self.hashes, items),
        }
    }

    /// The usual approximation of the same: (1 - e^(-kn/m))^k, or a Poisson mixture of the blocks.
    #[must_use]
    pub fn approximate_fpr(&self, items: u64) -> f64 {
        match self.block_shape() {
            Some(blocks) => expected::blocked_approximation(blocks, items),
            // Each item takes one fingerprint.
            None if self.filter == Kind::Quotient => {
                items as f64 / (self.cells as f64 * f64::from(self.counter_bits).exp2())
            }
            None => expected::classic_approximation(self.cells, self.hashes, items),
        }
    }

    /// How many items most likely set `occupied` of the cells; infinite when all are.
    pub(super) fn items_for(&self, occupied: u64) -> f64 {
        let left_empty_by_one = match self.block_shape() {
            Some(blocks) => {
                let hit = 1.0 - (1.0 - 1.0 / blocks.lane as f64).powi(self.bits_per_lane() as i32);
                (-hit / blocks.count as f64).ln_1p()
            }
            None => f64::from(self.hashes) * (-1.0 / self.cells as f64).ln_1p(),
        };
        if occupied == 0 {
            0.0
        } else if occupied >= self.cells {
            f64::INFINITY
        } else {
            (-(occupied as f64) / self.cells as f64).ln_1p() / left_empty_by_one
        }
    }

    /// The most cells that the planned items can be believed to have set: each sets at most
    /// `hashes` of them, and chance explains five standard deviations above the mean.
    pub(super) fn most_occupied(&self) -> f64 {
        let n = self.items as f64;
        let throws = n * f64::from(self.hashes);
        let (mean, variance) = match self.block_shape() {
            Some(blocks) => expected::blocked_ones(blocks, n),
            None => (
                self.cells as f64 * expected::occupied(self.cells, throws),
                expected::occupied_variance(self.cells, throws),
            ),
        };
        throws.min(mean + 5.0 * variance.sqrt())
    }

    /// The blocks, if the layout has blocks.
    pub(super) fn block_shape(&self) -> Option<Blocks> {
        let count = self.cells / self.filter.block()?;
        self.filter.blocks(count, self.bits_per_lane())
    }

    /// Bits that an item sets in each lane of its block.
    pub(super) fn bits_per_lane(&self) -> u32 {
        self.hashes / LANES as u32
    }
}

pub(super) fn check_items(items: u64) -> Result<(), Error> {
    if items == 0 { Err(Error::Items { got: items }) } else { Ok(()) }
}

pub(super) fn check_fpr(fpr: f64) -> Result<(), Error> {
    if (MIN_FPR..=MAX_FPR).contains(&fpr) {
        return Ok(());
    }
    let nearest = if fpr.is_nan() { 0.01 } else { fpr.clamp(MIN_FPR, MAX_FPR) };
    Err(Error::Rate { got: fpr, nearest })
}

fn check_counter_bits(counter_bits: u32) -> Result<(), Error> {
    if (2..=16).contains(&counter_bits) {
        return Ok(());
    }
    Err(Error::CounterBits { got: counter_bits, nearest: counter_bits.clamp(2, 16) })
}

fn check_bits(bits: u64) -> Result<(), Error> {
    if bits > MAX_BITS {
        return Err(Error::TooManyBits {
            got: u128::from(bits),
            wanted: Wanted::Bits,
            nearest: Fitting::Bits(MAX_BITS),
        });
    }
    Ok(())
}

fn classic_cells(items: u64, fpr: f64) -> u128 {
    if fpr > 0.5 { single_hash_cells(items, fpr) } else { precise::bits(items, fpr) }
}

/// The fewest cells where one hash meets the rate: 1 - (1-1/m)^n <= p.
fn single_hash_cells(items: u64, fpr: f64) -> u128 {
    // One item may hit at most this share of the cells.
    let share = -((-fpr).ln_1p() / items as f64).exp_m1();
    (1.0 / share).ceil().max(1.0) as u128
}

/// The most items that `cells` hold with one hash.
fn single_hash_items(cells: u64, fpr: f64) -> u64 {
    // -ln(1 - 0.999) is below 7, so no cell holds 8 items.
    first(1, cells.saturating_mul(8).max(1), |items| classic_cells(items, fpr) > u128::from(cells))
        - 1
}

fn classic_hashes(cells: u64, items: u64) -> u32 {
    let best = cells as f64 / items as f64 * std::f64::consts::LN_2;
    best.round().clamp(1.0, f64::from(MAX_HASHES)) as u32
}

/// The lowest rate of so many blocks, with one word a key or with two, and its number of words.
fn blocked_rate(filter: Kind, count: u64, items: u64) -> (f64, u32) {
    (1..=filter.max_words())
        .filter_map(|words| {
            Some((expected::blocked_fpr(filter.blocks(count, words)?, items), words))
        })
        .min_by(|(left, _), (right, _)| left.total_cmp(right))
        .unwrap_or((1.0, 1))
}

/// The bits that each item sets: eight for every word.
fn blocked_hashes(filter: Kind, count: u64, items: u64) -> u32 {
    LANES as u32 * blocked_rate(filter, count, items).1
}

/// The fewest blocks, in cells, that keep the rate, and their hashes; `None` past [`MAX_BITS`].
fn blocked_cells(filter: Kind, items: u64, fpr: f64) -> Option<(u64, u32)> {
    let block = filter.block()?;
    let fits = |count: u64| blocked_rate(filter, count, items).0 <= fpr;
    let most = MAX_BITS / block;
    if !fits(most) {
        return None;
    }
    let count = first(1, most, fits);
    Some((count * block, blocked_hashes(filter, count, items)))
}

/// The most items that so many blocks hold at the rate.
fn blocked_items(filter: Kind, count: u64, fpr: f64) -> u64 {
    let Some(block) = filter.block().filter(|_| count > 0) else { return 0 };
    let beyond = |items: u64| blocked_rate(filter, count, items).0 > fpr;
    // 8 bits an item cannot fill lanes past a rate of 0.999 with fewer than 9 items a bit.
    first(1, count * block * 9, beyond) - 1
}

/// The first number from `low` to `high` for which `holds` is true; it must be true at `high`, and
/// go from false to true once.
fn first(mut low: u64, mut high: u64, holds: impl Fn(u64) -> bool) -> u64 {
    while low < high {
        let middle = low + (high - low) / 2;
        if holds(middle) {
            high = middle;
        } else {
            low = middle + 1;
        }
    }
    low
}
