//! The size of a static filter, decided before it is built.

use super::row::{COLUMNS, PAD};
use super::shape::{SHARD_UNIT, Shape};
use crate::error::{Error, Fitting, Wanted};
use crate::rate::{MAX_BITS, MAX_FPR, MIN_FPR};
use crate::{Digest, store};

/// Up to so many keys, the last layer alone is as small as several layers.
const FEW: f64 = 2_000.0;
/// The most keys of a shard, on average.
const SHARD_KEYS: u64 = 1 << 20;
/// The columns of the first two layers, for each key that comes to them. Fewer columns than keys:
/// what does not fit goes to the next layer, and nearly every column is used.
const COLUMNS_PER_KEY: f64 = 0.98;
/// The share of keys that these columns cannot take, measured.
const LEFT_OVER: f64 = 0.025;
/// The standard deviation of their number, over the square root of the number of keys, measured.
const DEVIATION: f64 = 0.3;
/// Columns of the last layer for each key in it. Its rows agree with any others, so it never
/// fails; with fewer columns, strangers would pass it more often.
const LAST_COLUMNS_PER_KEY: f64 = 1.15;

/// The size of a [`StaticFilter`](super::StaticFilter), from the number of distinct keys and the
/// rate, before anything is built.
///
/// Sizes are exact: [`bytes`](StaticPlan::bytes) is what the body takes, in memory and in the file,
/// whatever the keys are.
///
/// ```
/// use tamis::rate::StaticPlan;
/// let plan = StaticPlan::new(1_000_000, 0.01)?;
/// assert!(plan.bits_per_item() < 6.8);          // a Bloom filter takes 9.6
/// # Ok::<(), tamis::Error>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct StaticPlan {
    items: u64,
    fpr: f64,
    shape: Shape,
}

impl StaticPlan {
    /// The size for `items` distinct keys at the rate `fpr`. No item at all is fine, too.
    pub fn new(items: u64, fpr: f64) -> Result<StaticPlan, Error> {
        if !(MIN_FPR..=MAX_FPR).contains(&fpr) {
            let nearest = if fpr.is_nan() { 0.01 } else { fpr.clamp(MIN_FPR, MAX_FPR) };
            return Err(Error::Rate { got: fpr, nearest });
        }
        // Products with powers of two are exact, so the plan is the same on every machine.
        let width = (1..=super::shape::MAX_WIDTH)
            .find(|width| power_of_two(*width) * fpr >= 1.0)
            .unwrap_or(super::shape::MAX_WIDTH);
        let low_share = ((power_of_two(width) * fpr - 1.0) * power_of_two(64)) as u64;
        let (shards, blocks) = blocks(items);
        let shape = Shape { width, low_share, shards, blocks };
        if shape.check().is_err() {
            let most = (MAX_BITS as f64 / f64::from(width) / 1.1) as u64;
            return Err(Error::TooManyBits {
                got: u128::from(items) * u128::from(width - 1),
                wanted: Wanted::Items { items, fpr },
                nearest: Fitting::Items(most),
            });
        }
        Ok(StaticPlan { items, fpr, shape })
    }

    /// The lowest rate of `items` distinct keys in no more than `bits`.
    ///
    /// ```
    /// use tamis::rate::StaticPlan;
    /// let plan = StaticPlan::from_items_bits(1_000_000, 8_000_000)?;
    /// assert!(plan.bits() <= 8_000_000 && plan.fpr() < 0.0044);
    /// # Ok::<(), tamis::Error>(())
    /// ```
    pub fn from_items_bits(items: u64, bits: u64) -> Result<StaticPlan, Error> {
        let largest = StaticPlan::new(items, MAX_FPR)?;
        let fits = |fpr: f64| StaticPlan::new(items, fpr).ok().filter(|plan| plan.bits() <= bits);
        let Some(mut best) = fits(MAX_FPR) else {
            let wanted = Wanted::Items { items, fpr: MAX_FPR };
            return Err(Error::TooFewBits { got: bits, wanted, nearest: largest.bits() });
        };
        // Positive numbers are in the order of their bits.
        let (mut low, mut high) = (MIN_FPR.to_bits(), MAX_FPR.to_bits());
        while low < high {
            let middle = low + (high - low) / 2;
            match fits(f64::from_bits(middle)) {
                Some(plan) => (best, high) = (plan, middle),
                None => low = middle + 1,
            }
        }
        Ok(best)
    }

    /// The most distinct keys at the rate `fpr` in no more than `bits`.
    ///
    /// ```
    /// use tamis::rate::StaticPlan;
    /// let plan = StaticPlan::from_fpr_bits(0.01, 8_000_000)?;
    /// assert!(plan.bits() <= 8_000_000 && plan.items() > 1_170_000);
    /// # Ok::<(), tamis::Error>(())
    /// ```
    pub fn from_fpr_bits(fpr: f64, bits: u64) -> Result<StaticPlan, Error> {
        let smallest = StaticPlan::new(1, fpr)?;
        let fits = |items: u64| StaticPlan::new(items, fpr).ok().filter(|it| it.bits() <= bits);
        let Some(mut best) = fits(1) else {
            let wanted = Wanted::Items { items: 1, fpr };
            return Err(Error::TooFewBits { got: bits, wanted, nearest: smallest.bits() });
        };
        // At the highest rate two keys of a thousand have a bit.
        let (mut low, mut high) = (2, bits.min(MAX_BITS) * 1_000);
        while low <= high {
            let middle = low + (high - low) / 2;
            match fits(middle) {
                Some(plan) => (best, low) = (plan, middle + 1),
                None => high = middle - 1,
            }
        }
        Ok(best)
    }

    /// The plan that a file states, if a plan can be so.
    pub(crate) fn from_fields(items: u64, fpr: f64, shape: Shape) -> Result<StaticPlan, Error> {
        let refuse = |field, got: String| Err(Error::Field { field, got });
        if !(MIN_FPR..=MAX_FPR).contains(&fpr) {
            return refuse("rate", fpr.to_string());
        }
        if let Err((field, got)) = shape.check() {
            return refuse(field, got.to_string());
        }
        Ok(StaticPlan { items, fpr, shape })
    }

    pub(crate) fn shape(&self) -> &Shape {
        &self.shape
    }

    /// The distinct keys that it is for.
    #[must_use]
    pub fn items(&self) -> u64 {
        self.items
    }

    /// The rate asked for.
    #[must_use]
    pub fn fpr(&self) -> f64 {
        self.fpr
    }

    /// The bits of the body.
    #[must_use]
    pub fn bits(&self) -> u64 {
        8 * self.bytes()
    }

    /// The bytes of the body, exactly; a file adds a header of 128 bytes.
    #[must_use]
    pub fn bytes(&self) -> u64 {
        self.shape.bytes()
    }

    /// The bytes of a file with such a filter, exactly: its header and its body.
    #[must_use]
    pub fn file_bytes(&self) -> u64 {
        crate::format::SHORT_HEADER + self.bytes()
    }

    /// The bits an item takes; those of the whole filter, if there is no item.
    #[must_use]
    pub fn bits_per_item(&self) -> f64 {
        self.bits() as f64 / self.items.max(1) as f64
    }

    /// The bits of a fingerprint. If the rate is no power of two, some keys have one bit less.
    #[must_use]
    pub fn fingerprint_bits(&self) -> u32 {
        self.shape.width
    }

    /// The parts that can be built apart from each other: see
    /// [`build_shard`](StaticPlan::build_shard).
    #[must_use]
    pub fn shards(&self) -> u64 {
        self.shape.shards
    }

    /// The shard that a key belongs to.
    #[must_use]
    pub fn shard_of(&self, digest: Digest) -> u64 {
        super::row::shard(digest, self.shape.shards)
    }

    /// The share of strangers that will pass.
    #[must_use]
    pub fn expected_fpr(&self) -> f64 {
        let layers = self.shape.layers();
        let left = |blocks| if blocks == 0 { 1.0 } else { LEFT_OVER };
        let [first, second, _] = self.shape.blocks.map(left);
        (1.0 - first) * layers[0].fpr()
            + first * ((1.0 - second) * layers[1].fpr() + second * layers[2].fpr())
    }

    /// Refuses the plan if a filter by it would take more than `most` bytes of memory.
    pub fn check_memory(&self, most: u64) -> Result<(), Error> {
        store::check_memory(self.bytes(), most)
    }
}

/// Exact.
fn power_of_two(exponent: u32) -> f64 {
    f64::from_bits(u64::from(1023 + exponent) << 52)
}

/// How many shards, and how many blocks in each layer.
fn blocks(items: u64) -> (u64, [u64; 3]) {
    let n = items as f64;
    if n <= FEW {
        return (1, [0, 0, last_blocks(n * LAST_COLUMNS_PER_KEY)]);
    }
    let shards = items.div_ceil(SHARD_KEYS);
    let unit = if shards > 1 { SHARD_UNIT } else { 1 };
    let of_shard = |keys: f64| {
        let blocks = (keys * COLUMNS_PER_KEY / COLUMNS as f64) as u64;
        // A bucket at the end of each shard is lost to it.
        let lost = if shards > 1 { 3 } else { 0 };
        (blocks + lost).next_multiple_of(unit)
    };
    // The number of keys in a shard is known exactly if there is but one.
    let of_count = if shards > 1 { 1.0 } else { 0.0 };
    let keys = n / shards as f64;
    let bumped = keys * LEFT_OVER;
    // Squares of standard deviations.
    let bumped_variance = keys * (of_count + DEVIATION * DEVIATION);
    // Five standard deviations above the mean still leave a row for every column, and seldom are
    // there so many: so less is needed besides.
    let last = |mean: f64, variance: f64| {
        let columns = mean * (1.0 + LAST_COLUMNS_PER_KEY) / 2.0 + 5.0 * variance.sqrt();
        last_blocks(columns - (PAD * COLUMNS) as f64)
    };
    if bumped < FEW {
        let all = last(bumped * shards as f64, bumped_variance * shards as f64);
        return (shards, [of_shard(keys), 0, all]);
    }
    // Layer 2 has room for the mean. What a shard has above it goes on: of a normal distribution,
    // 0.4 standard deviations on average.
    let left = bumped * LEFT_OVER + 0.4 * bumped_variance.sqrt();
    // Shards above the mean and below it do not make up for each other, but they deviate less: the
    // part above the mean has 0.6 standard deviations, and some of the part below is felt, too.
    let felt = if shards > 1 { 0.8 * 0.8 } else { 1.0 };
    let all = last(left * shards as f64, felt * bumped_variance * shards as f64);
    (shards, [of_shard(keys), of_shard(bumped), all])
}

/// The blocks of the last layer that rows begin in, for so many columns.
fn last_blocks(columns: f64) -> u64 {
    ((columns / COLUMNS as f64).ceil() as u64).max(1)
}

/// The columns of the last layer.
pub(super) fn last_columns(shape: &Shape) -> u64 {
    (shape.blocks[2] + PAD) * COLUMNS
}
