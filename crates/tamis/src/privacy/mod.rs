//! The privacy promise: what is published says of any one item at most a factor e^epsilon.

mod epsilon;
pub mod noise;

pub use epsilon::Epsilon;
