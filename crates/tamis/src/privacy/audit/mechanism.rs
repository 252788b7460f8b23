//! What can be audited.

use crate::Error;
use crate::privacy::Epsilon;

/// What is audited: a way to release a set, and what an observer who looks for one item sees of a
/// release.
pub trait Mechanism: Sync {
    /// What to call it.
    fn name(&self) -> &str;

    /// The loss that it claims for adding or removing one item.
    fn claim(&self) -> Epsilon;

    /// How many outcomes are told apart, from 0 on: 2 if the item is rejected or accepted, k + 1 if
    /// the ones among its k bits are counted. Order them so that outcomes that speak for the item
    /// are at one end: the audit looks whether an outcome is above or below a threshold.
    fn outcomes(&self) -> u32;

    /// An event in words, as in "the item is rejected".
    fn describe(&self, event: Event) -> String {
        match event {
            Event::AtLeast(t) => format!("the outcome is at least {t}"),
            Event::Below(t) => format!("the outcome is below {t}"),
        }
    }

    /// Makes a fresh release of a small set, with or without the target item, and returns the
    /// outcome.
    ///
    /// All chance comes from the coins, both the public seed and the private noise: the same coins
    /// make the same run, and no two runs of an audit get the same. What the public seed gives
    /// away belongs to the outcome.
    fn run(&self, with_target: bool, coins: u64) -> Result<u32, Error>;
}

/// Something that a run shows, or does not.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Event {
    /// The outcome is this or more.
    AtLeast(u32),
    /// The outcome is less.
    Below(u32),
}
