//! The zone promise: in a finite universe and with at most d items, nobody is answered wrongly.
//!
//! | filter | a cell is | it can |
//! |---|---|---|
//! | [`Filter`] | a bit | insert, ask, list, merge, grow |
//! | [`CountingFilter`] | a counter | all that, and remove |
//!
//! A [`Universe`] numbers the things that may be stored; a [`Plan`] chooses a [`Code`] and proves
//! its zone; past the zone the filter refuses, or goes on when asked to and says so ever after.
#![doc = include_str!("../../doc/matrix.svg")]

mod certificate;
mod code;
mod coprime;
mod crt;
mod divisor;
mod field;
mod filter;
mod inverse;
mod list;
mod plan;
mod reed_solomon;
mod universe;

pub use certificate::{Certificate, Packing, packing, zone};
pub use code::{Code, Occupancy};
pub use crt::Residues;
pub(crate) use filter::State;
pub use filter::{Bits, CellKind, Counters, CountingFilter, Filter, List, Method, ZoneFilter};
pub use inverse::{Guideline, guideline, largest_items, largest_universe};
pub use list::crt::chinese_remainder;
pub use plan::{CodeKind, Plan, Prefer};
pub(crate) use plan::{MOST_MODULI, Scheme};
pub(crate) use reed_solomon::Choice;
pub use reed_solomon::ReedSolomon;
pub use universe::Universe;
