//! What a rolling chain remembers, and for how long.

use super::MAX_LINKS;
use crate::format::chain_header;
use crate::rate::plan::{check_fpr, check_items};
use crate::rate::{MAX_FPR, Plan, quotient};
use crate::{Error, store};
use std::time::Duration;

/// What a [`Rolling`](super::Rolling) chain remembers at least.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[non_exhaustive]
pub enum Window {
    /// The keys of this many insertions, the latest ones. A key that comes again is an insertion.
    Items(u64),
    /// The keys that were inserted within this time.
    Time(Duration),
}

/// The most generations that a plan takes by itself: more of them save little, and each has to be
/// asked.
const MAX_CHOSEN: u32 = 8;

/// The plan of a [`Rolling`](super::Rolling) chain: its window, the keys that a window holds, the
/// rate of the whole chain, and its generations.
///
/// A window is divided among all generations except one: when the newest generation begins, the
/// others hold a whole window, and the one before them is forgotten. (The window is rounded up to
/// generations of whole insertions, or nanoseconds.) With few generations the last
/// one holds many keys too many; with many generations each must have a lower rate, and a lookup
/// asks all of them. Of the numbers from 2 to 8 the plan takes the smallest whose size is within 5%
/// of the best.
///
/// ```
/// use tamis::rate::RollingPlan;
/// let plan = RollingPlan::last_items(1_000_000, 0.01)?;
/// assert_eq!((plan.generations(), plan.bytes()), (5, 1_829_840));
/// # Ok::<(), tamis::Error>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct RollingPlan {
    window: Window,
    items: u64,
    fpr: f64,
    generations: u32,
}

impl RollingPlan {
    /// A chain that remembers the last `items` insertions, at the rate `fpr`.
    pub fn last_items(items: u64, fpr: f64) -> Result<RollingPlan, Error> {
        RollingPlan::choose(Window::Items(items), items, fpr)
    }

    /// A chain that remembers the keys of the last `time`, from a nanosecond to 584 years, of which
    /// there are `items`, at the rate `fpr`.
    pub fn last_time(time: Duration, items: u64, fpr: f64) -> Result<RollingPlan, Error> {
        if time.is_zero() || u64::try_from(time.as_nanos()).is_err() {
            return Err(Error::WindowTime { got: time });
        }
        RollingPlan::choose(Window::Time(time), items, fpr)
    }

    fn choose(window: Window, items: u64, fpr: f64) -> Result<RollingPlan, Error> {
        check_items(items)?;
        check_fpr(fpr)?;
        let with = |generations| RollingPlan { window, items, fpr, generations };
        let size = |generations| {
            let link = with(generations).link().ok()?;
            Some(u128::from(link.bits()) * u128::from(generations))
        };
        let least = (2..=MAX_CHOSEN).filter_map(size).min().unwrap_or(0);
        let nearly_least = |size: u128| 20 * size <= 21 * least;
        let chosen =
            (2..=MAX_CHOSEN).find(|generations| size(*generations).is_some_and(nearly_least));
        let plan = with(chosen.unwrap_or(2));
        plan.link()?;
        Ok(plan)
    }

    /// The same plan with another number of generations, from 2 to 128.
    pub fn with_generations(self, generations: u32) -> Result<RollingPlan, Error> {
        if !(2..=MAX_LINKS as u32).contains(&generations) {
            let nearest = generations.clamp(2, MAX_LINKS as u32);
            return Err(Error::Generations { got: generations, nearest });
        }
        let plan = RollingPlan { generations, ..self };
        plan.link()?;
        Ok(plan)
    }

    /// The plan that a file states, if a plan can be so.
    pub(crate) fn from_fields(
        window: Window,
        items: u64,
        fpr: f64,
        generations: u32,
    ) -> Result<RollingPlan, Error> {
        let refuse = |field, got: String| Err(Error::Field { field, got });
        let plan = RollingPlan { window, items, fpr, generations };
        if items == 0 || matches!(window, Window::Items(window) if window != items) {
            return refuse("number of items", items.to_string());
        }
        if plan.length() == 0 {
            return refuse("window", 0.to_string());
        }
        if !(fpr > 0.0 && fpr <= MAX_FPR) {
            return refuse("rate", fpr.to_string());
        }
        if !(2..=MAX_LINKS as u32).contains(&generations) {
            return refuse("number of generations", generations.to_string());
        }
        Ok(plan)
    }

    /// What is remembered.
    #[must_use]
    pub fn window(&self) -> Window {
        self.window
    }

    /// The keys that a window holds.
    #[must_use]
    pub fn items(&self) -> u64 {
        self.items
    }

    /// The rate that the whole chain stays below while no window holds more keys than planned.
    #[must_use]
    pub fn fpr(&self) -> f64 {
        self.fpr
    }

    /// How many generations there are, the newest included.
    #[must_use]
    pub fn generations(&self) -> u32 {
        self.generations
    }

    /// The bytes of all generations, exactly, while no window holds more keys than planned; a file
    /// adds its header.
    #[must_use]
    pub fn bytes(&self) -> u64 {
        self.link().map_or(u64::MAX, |link| link.bytes() * u64::from(self.generations))
    }

    /// The bytes of a file with such a chain whose generations all hold keys, exactly.
    #[must_use]
    pub fn file_bytes(&self) -> u64 {
        chain_header(self.generations as usize).saturating_add(self.bytes())
    }

    /// The bits a key of the window takes.
    #[must_use]
    pub fn bits_per_item(&self) -> f64 {
        self.bytes() as f64 * 8.0 / self.items as f64
    }

    /// Refuses the plan if a chain by it would take more than `most` bytes of memory.
    pub fn check_memory(&self, most: u64) -> Result<(), Error> {
        store::check_memory(self.bytes(), most)
    }

    /// The length of the window, in insertions or nanoseconds.
    pub(crate) fn length(&self) -> u64 {
        match self.window {
            Window::Items(items) => items,
            // `last_time` and files refuse longer ones.
            Window::Time(time) => time.as_nanos() as u64,
        }
    }

    /// How long a generation lasts, in insertions or nanoseconds.
    pub(super) fn span(&self) -> u64 {
        self.length().div_ceil(u64::from(self.generations) - 1)
    }

    /// The plan of a generation. The rates of all generations add up to the promise.
    pub(super) fn link(&self) -> Result<Plan, Error> {
        let items = self.items.div_ceil(u64::from(self.generations) - 1);
        let parts = f64::from(self.generations);
        quotient::plan_items_fpr(items, self.fpr / parts).map_err(|error| match error {
            Error::RateTooLow { nearest, .. } => Error::RateTooLow {
                kind: "rolling",
                items: self.items,
                got: self.fpr,
                nearest: nearest * parts,
            },
            other => other,
        })
    }
}
