//! The privacy promise: what is published says of any one item at most a factor e^epsilon.

pub mod audit;
mod epsilon;
mod ledger;

pub use epsilon::Epsilon;
pub use ledger::{Entry, Ledger, Receipt, Utc};
