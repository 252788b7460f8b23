//! The rate promise: members always pass, strangers pass at about the planned rate.
//!
//! | filter | size at 1% | a lookup touches | removal |
//! |---|---|---|---|
//! | [`Bloom`] | 9.6 bits an item | up to k places, a stranger 2 on average | no |
//! | [`BlockedBloom`] | 10.1 bits an item | one cache line | no |
//! | [`SplitBloom`] | 10.5 bits an item | half a cache line | no |
//! | [`CountingBloom`] | 38.3 bits an item | as `Bloom` | yes |
//! | [`QuotientFilter`] | 9.6 bits an item | one or two cache lines | yes |
//! | [`Scalable`], grows | 14 to 16 bits an item, full | one or two cache lines a link | no |
//! | [`Rolling`], forgets | 14.6 bits an item of its window | the same | by itself |
//! | [`StaticFilter`] | 6.8 bits an item | about two neighbouring cache lines | no, nor insertion |
//!
//! A [`Plan`] decides the size; [`Filter`] is the one implementation of the first four, which are
//! its layouts. A [`StaticFilter`] is built once, from all keys, by a [`StaticPlan`]. [`Scalable`]
//! and [`Rolling`] are chains of quotient filters.
#![doc = include_str!("../../doc/blocks.svg")]

mod blocked;
mod bloom;
mod chain;
mod concurrent;
mod counting;
mod expected;
mod filter;
pub mod parquet_blocks;
mod plan;
mod precise;
mod quotient;
mod ribbon;
mod sorted;
mod split;

use crate::{AnyFilter, Error, HashFamily};

pub use crate::Health;
pub use blocked::{Blocked, BlockedBloom};
pub use bloom::{Bloom, Classic};
pub use chain::{MAX_GROWTH, MAX_LINKS, Rolling, RollingPlan, Scalable, ScalablePlan, Window};
pub use concurrent::{
    ConcurrentBlockedBloom, ConcurrentBloom, ConcurrentFilter, ConcurrentLayout,
    ConcurrentSplitBloom,
};
pub use counting::{Counting, CountingBloom};
pub use filter::{Filter, Layout};
pub use plan::{Kind, MAX_BITS, MAX_FPR, MAX_HASHES, MIN_FPR, Plan};
pub use quotient::QuotientFilter;
pub(crate) use ribbon::{Joining, Shape};
pub use ribbon::{Shard, StaticBuilder, StaticFilter, StaticPlan};
pub use split::{Split, SplitBloom};

impl AnyFilter {
    /// An empty rate filter of the kind that the plan names.
    ///
    /// ```
    /// use tamis::{AnyFilter, HashFamily, rate::{Kind, Plan}};
    /// let plan = Plan::from_items_fpr(Kind::Counting, 100, 0.01)?;
    /// let filter = AnyFilter::with_rate_plan(plan, HashFamily::default())?;
    /// assert_eq!(filter.kind(), "counting");
    /// # Ok::<(), tamis::Error>(())
    /// ```
    pub fn with_rate_plan(plan: Plan, hash: HashFamily) -> Result<AnyFilter, Error> {
        Ok(match plan.filter() {
            Kind::Bloom => Bloom::with_plan(plan, hash)?.into(),
            Kind::Blocked => BlockedBloom::with_plan(plan, hash)?.into(),
            Kind::Split => SplitBloom::with_plan(plan, hash)?.into(),
            Kind::Counting => CountingBloom::with_plan(plan, hash)?.into(),
            Kind::Quotient => QuotientFilter::with_plan(plan, hash)?.into(),
        })
    }
}
