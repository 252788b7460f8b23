//! The homogeneous linear filter: the fewest wrong answers that any private filter can have.
//!
//! Every key owns a public row: 128 random bits of a band that begins at a random column. To
//! publish a set, each item is dropped by a private coin, and x is drawn uniformly from all
//! solutions of "row(item) . x = 0 for every item kept", over a field (or a vector space over
//! GF(2)) of q elements. A key passes if row(key) . x = 0: a kept item always does, and any
//! other key does so with chance 1/q.
//!
//! Why that is private: let K be the items kept, and D_K(x) the chance of x. Add an item v to K.
//! Only the x with row(v) . x = 0 remain, and each of them is h times as likely as before:
//! D_{K+v}(x) is h D_K(x) or 0. Here h is the number of values that row(v) . x takes on the
//! solutions for K. It is from 1, if v's row depends on those of K, to q. Now v is dropped with
//! chance r. So x is r or r + (1-r) h times as likely with v as without v: a factor between r and
//! r + (1-r) q. With r = 1/(q-1) both ends are e^eps for eps = ln(q-1). Nothing in this depends on
//! the rows: rows that collide or depend on each other cost accuracy, never privacy.

mod binary;
mod build;
mod draft;
mod lookup;
mod plan;
mod planes;
mod prime;
mod release;
mod row;
mod shard;

pub use draft::LinearDraft;
pub use plan::LinearPlan;
pub use release::LinearFilter;
pub(crate) use shard::Joining as LinearJoining;
pub use shard::LinearShard;
