//! The zone promise: in a finite universe and with at most d items, no answer is wrong.
//!
//! | filter | a cell is | it can |
//! |---|---|---|
//! | [`Filter`] | a bit | insert, ask, list, merge, grow |
//! | [`CountingFilter`] | a counter | all that, and remove |
//!
//! A [`Universe`] numbers the things that may be stored. A [`Plan`] chooses a [`Code`] and proves
//! its zone. Past the zone the filter refuses items. If it is told to take them, it says from
//! then on that strangers may pass.
#![doc = include_str!("../../doc/matrix.svg")]

mod arith;
mod certificate;
mod code;
mod coprime;
mod error;
mod filter;
mod list;
mod plan;
mod universe;

pub(crate) use code::MAX_MODULI;
pub use code::{Code, CodeKind};
pub use error::ListError;
pub(crate) use filter::State;
pub use filter::{Bits, CellKind, Counters, CountingFilter, Filter, List, Method, ZoneFilter};
pub use list::progress::Progress;
pub use plan::{Growth, Guideline, Plan, Prefer, guideline, largest_items, largest_universe};
pub use universe::{Size, Universe};
