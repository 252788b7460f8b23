//! A filter that is built once, near the smallest size there can be: a bumped ribbon filter
//! (Dillinger, Hübschle-Schneider, Sanders and Walzer, 2022).
//!
//! Every key has a row: 64 coefficients of 0 or 1, from a column on that h1 chooses. The filter is
//! a value for each column, such that the columns of a member's row add up to its fingerprint. So a
//! lookup adds up a few neighbouring bytes, and a stranger's sum is right by chance.
//!
//! There are fewer columns than keys. Where they do not suffice, the keys of some blocks are
//! bumped: they go to a second layer of the same kind, and the few that are left to a last one.
//! Thresholds of two bits tell which blocks have been bumped. `FORMAT.md` has all of it.
//!
//! | file | what |
//! |---|---|
//! | `plan.rs` | how many columns for so many keys |
//! | `shape.rs` | where everything lies in the body |
//! | `row.rs` | the row of a key, and its fingerprint |
//! | `build.rs`, `sort.rs` | keys to distinct digests in order |
//! | `shard.rs`, `solve.rs` | digests to the bytes of a shard: which are bumped, elimination |
//! | `join.rs` | shards to a filter |
//! | `filter.rs`, `lookup.rs` | the filter |

mod build;
mod filter;
mod join;
mod lookup;
mod plan;
mod row;
mod shape;
mod shard;
mod solve;
mod sort;

pub use build::StaticBuilder;
pub use filter::StaticFilter;
pub(crate) use join::Joining;
pub use plan::StaticPlan;
pub(crate) use shape::Shape;
pub use shard::Shard;
