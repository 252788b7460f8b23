//! What goes beyond the documents: data for the report.

pub(crate) mod compare;
pub(crate) mod frontier;
pub(crate) mod keys;
pub(crate) mod memory;
