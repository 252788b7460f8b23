//! The privacy promise: what is published says of any one item at most a factor e^epsilon.
//!
//! | filter | made from | wrong about members and strangers | bits an item |
//! |---|---|---|---|
//! | [`LinearFilter`] | the whole set at once | 1/(e^eps+1) of each, the least | about 1.5 eps |
//! | [`PublicBloom`] | a private [`UltraFilter`] | several times as often | 16, or your choice |
//!
//! An [`UltraFilter`] goes on taking items after it was published.
//!
//! ```
//! use tamis::privacy::{Ledger, LinearFilter, LinearPlan};
//! # let folder = tempfile::tempdir()?;
//! # let path = folder.path().join("suspects.ledger");
//! let plan = LinearPlan::new(1_000, "4".parse()?)?;        // room for 1,000; spends at most 4
//! let mut ledger = Ledger::create(&path, "4".parse()?, "suspects")?;
//! let paid = ledger.charge(plan.epsilon(), "first release")?;   // on the disk before the release
//! let public = LinearFilter::publish(plan, ["Zoë", "李雷"], paid)?;
//! println!("{}", public.contains("Zoë"));                   // true, except for 1 in 53
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
#![doc = include_str!("../../doc/band.svg")]
//!
//! # What is promised
//!
//! Two sets are neighbours if one has one item more. Take any group of possible releases. Its
//! chance under one set is at most e^epsilon times its chance under the neighbour: pure
//! differential privacy, with no delta. Somebody who knows all other items, the program, the seed
//! and the plan learns no more than that about the last item. **Replacing** an item by another is
//! two such steps and costs 2 epsilon; a group of g items that are in the set together or not at
//! all costs g epsilon.
//!
//! The size of a release depends on the plan alone, never on the set. The coins are exact and come
//! from the operating system's entropy.
//!
//! # What is not
//!
//! - What is in the plan is public: the number of items it has room for, epsilon, the seed. Choose
//!   the room before you look at the set, or from what is public anyway. The number of your items
//!   rounded up will not do: one item more can change what it is rounded to.
//! - A trait of the whole set is not hidden, only each item's share in it: someone who asks for
//!   every name of a town learns roughly how many of them are in the set.
//! - Items that say something of each other (a household, one person's five addresses) are a group.
//! - The time that publishing takes, and the memory of the machine that does it, are not protected.
//! - Somebody who gets the private filter, or the keys, has the set. Many releases together give it
//!   away too:
//!
//! # What a second release costs
//!
//! As much as the first: losses add up, since the noise is fresh. Nine releases at epsilon 2 tell
//! members from strangers nearly always. Publish once and hand out copies of the same bytes, which
//! cost nothing; and keep a [`Ledger`].
//!
//! # When not to use this
//!
//! Not where a wrong answer hurts somebody: a release names some strangers, and misses some
//! members. Not for a handful of people, where each guess matters. Not above epsilon 10 or so,
//! which protects nobody: take a rate filter and say so. If people can ask a service instead, use
//! the service: it can refuse questions.

pub mod audit;
mod compose;
mod decimal;
mod epsilon;
mod estimate;
mod ledger;
mod linear;
pub mod noise;
#[cfg(test)]
mod outcomes;
mod overlap;
mod receipt;
mod release;
mod ultra;

use crate::{Error, HashFamily};
pub use compose::{Composition, Delta, DeltaFault};
pub use epsilon::{Epsilon, EpsilonFault};
pub use estimate::Estimate;
pub use ledger::{Entry, Ledger, LedgerError, LedgerText, LineFault, Utc};
pub(crate) use linear::LinearJoining;
pub use linear::{LinearDraft, LinearFilter, LinearPlan, LinearShard};
use noise::{Coins, SecretCoins};
pub use overlap::Overlap;
pub use receipt::Receipt;
pub use release::{Rehearsal, Release, ReleasePlan};
pub use ultra::{PublicBloom, UltraFilter, UltraPlan};

/// The smallest possible value of the larger error, of false positives and false negatives, at a
/// loss of `epsilon`: 1/(e^eps+1).
///
/// Members must not pass much more often than strangers: 1 - fnr <= e^eps fpr. Strangers must not
/// be refused much more often than members: 1 - fpr <= e^eps fnr. The two together give the bound.
///
/// ```
/// use tamis::privacy::{LinearPlan, floor};
/// let plan = LinearPlan::new(1_000, "4".parse()?)?;
/// assert!((plan.fpr() - 1.0 / 53.0).abs() < 1e-12);
/// assert!((floor(plan.epsilon()) - 1.0 / 53.0).abs() < 1e-9);     // it is reached
/// # Ok::<(), tamis::Error>(())
/// ```
#[must_use]
pub fn floor(epsilon: Epsilon) -> f64 {
    1.0 / (epsilon.to_f64().exp() + 1.0)
}

/// The harmonic mean of precision and recall, for as many members as strangers, at these error
/// rates.
#[must_use]
pub fn f1(fpr: f64, fnr: f64) -> f64 {
    let found = 1.0 - fnr;
    if found == 0.0 { 0.0 } else { 2.0 * found / (2.0 * found + fpr + fnr) }
}

/// Refuses a loss of 0: a release at no loss is nothing but noise.
fn check_epsilon(epsilon: Epsilon) -> Result<(), Error> {
    if epsilon == Epsilon::ZERO {
        return Err(Error::Epsilon { got: "0".to_owned(), fault: EpsilonFault::Zero });
    }
    Ok(())
}

/// The fast hash with a seed that was never used before. It is public.
fn fresh_hash() -> Result<HashFamily, Error> {
    let mut seed = [0; 8];
    SecretCoins::new()?.fill(&mut seed);
    Ok(HashFamily::fast(u64::from_le_bytes(seed)))
}
