//! The size and the accuracy of a linear filter, before anything is published.

use super::build::System;
use super::planes::BLOCK;
use super::row::BAND;
use crate::bits;
use crate::error::{Error, Fitting, Wanted};
use crate::privacy::noise::{Probability, exp_at_least, ln_upwards};
use crate::privacy::{Epsilon, check_epsilon, f1};

/// The most elements that a field may have: a value fits 16 bits.
pub(super) const MAX_Q: u32 = 1 << 16;
/// Primes are below this, for the sake of speed.
const MAX_PRIME: u32 = 1 << 15;
/// The items of a shard: few enough that it is solved in a cache or near it, and that many cores
/// can share the work.
const SHARD: u64 = 1 << 18;
/// Columns beyond the equations, for up to 8 bits a value. The rows that wait for a column are a
/// random walk that drifts down as fast as there are spare columns; where it grows past the band, a
/// stranger's row follows from the others' and passes for certain. At 6% (measured) this happened
/// in a part of 3 of 2,500 shards, to 3e-6 of all strangers.
const SLACK: f64 = 0.06;
/// Columns more for every bit more, since fewer strangers should pass.
const SLACK_A_BIT: f64 = 0.004;
/// Accept an error within 5% of the best.
const GOOD_ENOUGH: f64 = 1.05;
/// The fewest columns, so that every row reads three blocks.
const MIN_COLUMNS: u64 = 3 * BLOCK;
/// The most columns of a shard that a file may have: more than any plan gives it.
const MAX_COLUMNS: u64 = 1 << 20;

/// The size and the accuracy of a [`LinearFilter`](super::LinearFilter).
///
/// `fpr` and `fnr` are expectations over the seed and the coins, with a relative error of at most
/// one percent. The size depends on the public number of items alone.
///
/// ```
/// use tamis::privacy::LinearPlan;
/// let plan = LinearPlan::new(1_000_000, "2.71".parse()?)?;
/// assert_eq!((plan.q(), plan.epsilon().to_string()), (16, "2.708050202".to_owned()));   // ln 15
/// assert_eq!(plan.fpr(), 0.0625);
/// assert!((plan.fnr() - 0.0625).abs() < 1e-9);
/// assert!(plan.bits_per_item() < 4.0);
/// # Ok::<(), tamis::Error>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct LinearPlan {
    items: u64,
    epsilon: Epsilon,
    q: u32,
    columns: u64,
    shards: u64,
    /// It follows from epsilon and q, with some work.
    #[cfg_attr(feature = "serde", serde(skip))]
    drop_rate: Probability,
}

impl LinearPlan {
    /// The plan whose worse error, of the false positives and the false negatives, is the smallest
    /// that a loss of `epsilon` allows. It may spend less than that: with q elements it costs
    /// ln(q-1), and there is a field for primes and powers of two only.
    pub fn new(items: u64, epsilon: Epsilon) -> Result<LinearPlan, Error> {
        check_epsilon(epsilon)?;
        // A float may be off by a little: the exact comparison decides.
        let around = (epsilon.to_f64().exp() + 2.0).min(f64::from(MAX_Q)) as u32;
        let below =
            (3..=around).rev().find(|q| is_field(*q) && exp_at_least(epsilon, u64::from(*q) - 1));
        let above = (below.unwrap_or(2) + 1..=MAX_Q).find(|q| is_field(*q));
        let mut best = LinearPlan::sized(items, epsilon, 2)?;
        // Up to e^eps + 1 elements, the loss is ln(q-1) and the false positives are the worse
        // error; past it, all of epsilon is spent and the false negatives are.
        let symmetric = |q: u32| (q, ln_upwards(u64::from(q) - 1));
        for (q, spent) in below.map(symmetric).into_iter().chain(above.map(|q| (q, epsilon))) {
            let plan = LinearPlan::sized(items, spent, q)?;
            if plan.worse() < best.worse() {
                best = plan;
            }
        }
        // A power of two that is nearly as good takes fewer bits, and is faster.
        let power = below.map_or(2, |q| 1 << q.ilog2());
        if power > 2 {
            let (q, spent) = symmetric(power);
            let plan = LinearPlan::sized(items, spent, q)?;
            if plan.worse() <= GOOD_ENOUGH * best.worse() {
                best = plan;
            }
        }
        Ok(best)
    }

    /// The larger of its two errors.
    fn worse(&self) -> f64 {
        self.fpr().max(self.fnr())
    }

    /// The plan whose false positives are at most `fpr` at a loss of `epsilon`: fewer of them than
    /// [`new`](LinearPlan::new) has are paid for with more false negatives, and the reverse.
    ///
    /// ```
    /// use tamis::privacy::LinearPlan;
    /// let plan = LinearPlan::with_fpr(1_000, "2".parse()?, 0.01)?;
    /// assert_eq!(plan.q(), 101);
    /// assert!((plan.fnr() - 0.927).abs() < 0.001);
    /// # Ok::<(), tamis::Error>(())
    /// ```
    pub fn with_fpr(items: u64, epsilon: Epsilon, fpr: f64) -> Result<LinearPlan, Error> {
        check_epsilon(epsilon)?;
        let least = 1.0 / f64::from(MAX_Q);
        if !(least..=0.5).contains(&fpr) {
            let nearest = if fpr < least { least } else { 0.5 };
            return Err(Error::PrivateRate { got: fpr, min: least, nearest });
        }
        // MAX_Q is a power of two, so there is one.
        let q = (2..=MAX_Q).find(|q| is_field(*q) && 1.0 / f64::from(*q) <= fpr).unwrap_or(MAX_Q);
        LinearPlan::sized(items, epsilon, q)
    }

    fn sized(items: u64, epsilon: Epsilon, q: u32) -> Result<LinearPlan, Error> {
        if items == 0 {
            return Err(Error::Items { got: 0 });
        }
        let shards = items.div_ceil(SHARD);
        let drop_rate = drop_rate(q, epsilon);
        // A shard gets a binomial number of the items, and two standard deviations more have room.
        let share = (1.0 - drop_rate.to_f64()) / shards as f64;
        let mean = items as f64 * share;
        let rows = (mean + 2.0 * (mean * (1.0 - share)).sqrt()).min(items as f64);
        let slack =
            SLACK + SLACK_A_BIT * f64::from(System { columns: 0, q }.width().saturating_sub(8));
        // No row begins in the last band, so the slack must be among the columns before it.
        let columns =
            ((rows * (1.0 + slack)).ceil() as u64 + BAND).next_multiple_of(BLOCK).max(MIN_COLUMNS);
        let plan = LinearPlan { items, epsilon, q, columns, shards, drop_rate };
        let bits = u128::from(columns) * u128::from(shards) * u128::from(plan.width());
        if bits > u128::from(bits::MAX) {
            return Err(Error::TooManyBits {
                got: bits,
                wanted: Wanted::Private { items, epsilon },
                nearest: Fitting::FewerItems,
            });
        }
        Ok(plan)
    }

    /// The plan that a file describes, if it can be one.
    pub(crate) fn from_fields(
        items: u64,
        epsilon: Epsilon,
        q: u32,
        columns: u64,
        shards: u64,
    ) -> Result<LinearPlan, Error> {
        let refused = |field, got: u64| Err(Error::Field { field, got: got.to_string() });
        if items == 0 {
            return refused("number of items", items);
        }
        if !(2..=MAX_Q).contains(&q) || !is_field(q) {
            return refused("field size", u64::from(q));
        }
        if !columns.is_multiple_of(BLOCK) || !(MIN_COLUMNS..=MAX_COLUMNS).contains(&columns) {
            return refused("number of columns", columns);
        }
        let plan =
            LinearPlan { items, epsilon, q, columns, shards, drop_rate: drop_rate(q, epsilon) };
        let bits = u128::from(columns) * u128::from(shards) * u128::from(plan.width());
        if shards == 0 || bits > u128::from(bits::MAX) {
            return refused("number of shards", shards);
        }
        Ok(plan)
    }

    /// The items it is planned for. The number is public, and does not depend on the set.
    #[must_use]
    pub fn items(&self) -> u64 {
        self.items
    }

    /// What a release costs, for sets of which one has one item more. Replacing an item by another
    /// is two such steps.
    #[must_use]
    pub fn epsilon(&self) -> Epsilon {
        self.epsilon
    }

    /// What a release costs for sets in which one item is replaced by another: twice as much.
    #[must_use]
    pub fn epsilon_replace(&self) -> Option<Epsilon> {
        self.epsilon.checked_mul(2)
    }

    /// The elements of the field or space that equations are solved over: a prime or a power of
    /// two.
    #[must_use]
    pub fn q(&self) -> u32 {
        self.q
    }

    /// The chance that an item is dropped: max(e^-eps, (q-e^eps)/(q-1)), and 1/(q-1) exactly where
    /// the loss is ln(q-1).
    #[must_use]
    pub fn drop_rate(&self) -> Probability {
        self.drop_rate
    }

    /// The share of strangers that pass: 1/q.
    #[must_use]
    pub fn fpr(&self) -> f64 {
        1.0 / f64::from(self.q)
    }

    /// The share of members that do not pass: those dropped, except the 1/q of them that pass by
    /// chance.
    #[must_use]
    pub fn fnr(&self) -> f64 {
        self.drop_rate().to_f64() * (1.0 - self.fpr())
    }

    /// The harmonic mean of precision and recall, over as many members as strangers.
    #[must_use]
    pub fn f1(&self) -> f64 {
        f1(self.fpr(), self.fnr())
    }

    /// The bits of the body.
    #[must_use]
    pub fn bits(&self) -> u64 {
        self.columns * self.shards * u64::from(self.width())
    }

    /// The bytes of the body, in memory and in the file.
    #[must_use]
    pub fn bytes(&self) -> u64 {
        self.bits() / 8
    }

    /// The bytes of a file with such a filter, exactly: its header and its body.
    #[must_use]
    pub fn file_bytes(&self) -> u64 {
        crate::format::SHORT_HEADER + self.bytes()
    }

    /// Refuses the plan if publishing `keys` keys by it would take more than `max` bytes of
    /// memory: the body, and 16 bytes for each key that is read.
    pub fn check_memory(&self, keys: u64, max: u64) -> Result<(), Error> {
        crate::store::check_memory(self.bytes().saturating_add(keys.saturating_mul(16)), max)
    }

    /// The bits an item.
    #[must_use]
    pub fn bits_per_item(&self) -> f64 {
        self.bits() as f64 / self.items as f64
    }

    /// The parts that are solved separately.
    #[must_use]
    pub fn shards(&self) -> u64 {
        self.shards
    }

    /// The columns of a shard.
    #[must_use]
    pub fn columns(&self) -> u64 {
        self.columns
    }

    /// What a shard has to solve.
    pub(super) fn system(&self) -> System {
        System { columns: self.columns, q: self.q }
    }

    /// The bits of a value.
    #[inline]
    pub(super) fn width(&self) -> u32 {
        self.system().width()
    }

    /// Whether values are added bit by bit, or modulo q.
    pub(super) fn is_binary(&self) -> bool {
        self.q.is_power_of_two()
    }

    /// The bytes of a shard.
    pub(super) fn shard_bytes(&self) -> usize {
        (self.columns / 8) as usize * self.width() as usize
    }
}

/// Whether equations can be solved over q elements here: a power of two, or a prime below 2^15.
fn is_field(q: u32) -> bool {
    q.is_power_of_two()
        || q < MAX_PRIME && (2..).take_while(|d| d * d <= q).all(|d| !q.is_multiple_of(d))
}

fn drop_rate(q: u32, epsilon: Epsilon) -> Probability {
    let rest = u64::from(q) - 1;
    let chance = if q > 2 && is_ln_upwards(epsilon, rest) {
        Probability::ratio(1, rest)
    } else {
        Probability::dropping(u64::from(q), epsilon)
    };
    chance.expect("a field has two elements or more")
}

/// Whether the loss is ln `n` rounded up. Every file that is opened asks, so this takes two
/// comparisons, where [`ln_upwards`] takes dozens.
fn is_ln_upwards(epsilon: Epsilon, n: u64) -> bool {
    let below = epsilon.billionths().checked_sub(1).and_then(Epsilon::from_billionths);
    exp_at_least(epsilon, n) && below.is_some_and(|below| !exp_at_least(below, n))
}

#[test]
fn a_loss_is_known_to_be_a_logarithm() {
    for n in 2..300 {
        let loss = ln_upwards(n).billionths();
        for billionths in loss.saturating_sub(2)..loss + 3 {
            let epsilon = Epsilon::from_billionths(billionths).expect("below the most");
            assert_eq!(is_ln_upwards(epsilon, n), billionths == loss, "{n} {billionths}");
        }
    }
    assert!(!is_ln_upwards(Epsilon::ZERO, 2) && !is_ln_upwards(Epsilon::MAX, u64::MAX));
}
