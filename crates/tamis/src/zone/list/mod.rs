//! From cells back to elements.
//!
//! | from | where | how |
//! |---|---|---|
//! | bits or counters | `residues::join` | join the occupied residues of a few moduli |
//! | bits or counters | `reed_solomon::join` | interpolate through positions of a few blocks |
//! | bits, with the number of items | `residues::peel` | algebra from blocks without collisions |
//! | bits, with the number of items | `reed_solomon::peel` | the same |
//! | counters | `residues::algebra` | symmetric polynomials, then roots modulo a prime |
//! | counters | `residues::sturm` | symmetric polynomials, then roots by Sturm sequences |
//! | counters | `reed_solomon::algebra` | interpolation, then the roots of Roth and Ruckenstein |

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
