//! Numbers for people and for programs.

pub(crate) use tamis_facts::{Elements, Integer};
pub(crate) use tamis_plot::{counted as count_of, grouped, percent as rate};

/// An estimate as a person reads it.
pub(crate) fn about(number: f64) -> String {
    grouped(number.round() as u64)
}
