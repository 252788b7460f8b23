//! Listing a set from the cells of a code of residues.

pub(crate) mod algebra;
mod combine;
pub(crate) mod join;
mod lift;
pub(crate) mod multisets;
pub(crate) mod peel;
mod roots;
#[cfg(test)]
mod sample;
pub(crate) mod sturm;
#[cfg(test)]
mod tests;
