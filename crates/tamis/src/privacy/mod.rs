//! The privacy promise: what is published says of any one item at most a factor e^epsilon.

mod epsilon;
mod linear;
pub mod noise;
mod published;
#[cfg(test)]
mod trial;
mod ultra;

use crate::{Error, Hash};
pub use epsilon::Epsilon;
pub use linear::{LinearFilter, LinearPlan};
use noise::{Coins, SecretCoins};
pub use published::Published;
pub use ultra::{PublicBloom, UltraFilter, UltraPlan};

/// The least that the worse of false positives and false negatives can be for whatever loses at most `epsilon`: 1/(e^eps+1).
///
/// For members must not pass much more often than strangers, 1 - fnr <= e^eps fpr, and the reverse, 1 - fpr <= e^eps fnr.
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

/// The harmonic mean of precision and recall over as many members as strangers, who are mistaken at these rates.
#[must_use]
pub fn f1(fpr: f64, fnr: f64) -> f64 {
    let found = 1.0 - fnr;
    if found == 0.0 { 0.0 } else { 2.0 * found / (2.0 * found + fpr + fnr) }
}

/// A release that was made with coins that anybody can predict. It can be asked, but not saved.
///
/// ```
/// use tamis::privacy::{LinearFilter, LinearPlan};
/// let plan = LinearPlan::new(100, "2".parse()?)?;
/// let trial = LinearFilter::rehearse(plan, 0..100u64, 7)?;
/// let again = LinearFilter::rehearse(plan, 0..100u64, 7)?;
/// assert_eq!(trial, again);
/// # Ok::<(), tamis::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Rehearsal<T>(T);

/// A loss of nothing allows nothing but noise.
fn check_epsilon(epsilon: Epsilon) -> Result<(), Error> {
    if epsilon == Epsilon::ZERO {
        return Err(Error::Epsilon { got: "0".to_owned(), why: "at no loss nothing can be told apart" });
    }
    Ok(())
}

/// The fast hash with a seed that was never used before. It is public.
fn fresh_hash() -> Result<Hash, Error> {
    let mut seed = [0; 8];
    SecretCoins::new()?.fill(&mut seed);
    Ok(Hash::fast(u64::from_le_bytes(seed)))
}
