//! The coins of a private release.
//!
//! A release keeps its promise only if its coins fall as the proof says. So a [`Probability`] is an
//! exact real number, known to as many binary digits as anyone asks for, and a coin compares a
//! uniform random number with it digit by digit until the two differ. No floating-point number
//! decides anything: rounded noise has been undone before (Mironov, "On significance of the
//! least significant bits for differential privacy", CCS 2012).

mod bulk;
mod chacha;
mod coins;
mod exponential;
mod probability;
mod words;

pub use chacha::{SecretCoins, SeededCoins};
pub use coins::Coins;
pub(crate) use exponential::{exp_at_least, exp_minus_bounds, ln_upwards};
pub use probability::Probability;
