//! From cells back to elements.
//!
//! | from | code | how |
//! |---|---|---|
//! | bits or counters | residues | join the occupied residues of a few moduli (`residues::join`) |
//! | bits or counters | Reed-Solomon | interpolate through the occupied positions of a few blocks (`reed_solomon::join`) |
//! | counters | residues | elementary symmetric polynomials, then roots modulo a prime (`residues::algebra`) or by Sturm sequences (`residues::sturm`) |
//! | counters | Reed-Solomon | interpolation, then the roots of Roth and Ruckenstein (`reed_solomon::algebra`) |

pub(crate) mod progress;
pub(crate) mod reed_solomon;
pub(crate) mod residues;

/// Which positions of the blocks of a filter are occupied.
pub(crate) trait Occupancy {
    /// How many positions of a block are occupied.
    fn count(&self, block: usize) -> u64;
    /// The occupied positions of a block, ascending.
    fn occupied(&self, block: usize) -> Vec<u64>;
    /// Whether a position of a block is occupied.
    fn is_occupied(&self, block: usize, position: u64) -> bool;
}
