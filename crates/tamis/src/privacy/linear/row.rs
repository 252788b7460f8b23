//! A key's row of the system.

use super::LinearPlan;
use crate::Digest;
use crate::hash::{mix, scale};

/// FORMAT v1: frozen. How many columns a row spans.
pub(super) const BAND: u64 = 128;

/// The coefficients of one equation: bit j is that of column `start + j`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Row {
    pub(super) start: u64,
    pub(super) coefficients: u128,
}

impl Row {
    /// The row that a digest owns, and the shard that it lies in. The shard and the start come from
    /// `h1`, the coefficients from `h2` and, so that two digests seldom share more than half of
    /// them, from both.
    #[inline(always)]
    // FORMAT v1: frozen
    pub(super) fn of(digest: Digest, plan: &LinearPlan) -> (u64, Row) {
        let spread = u128::from(digest.h1) * u128::from(plan.shards());
        // The low half of the product is what the choice of the shard has left over.
        let start = scale(spread as u64, plan.columns() - BAND);
        let high = mix(digest.h2.wrapping_add(digest.h1.rotate_left(32)));
        let coefficients = u128::from(high) << 64 | u128::from(digest.h2 | 1);
        ((spread >> 64) as u64, Row { start, coefficients })
    }
}

#[test]
fn the_rows_of_the_specification_hold() {
    let plan = LinearPlan::from_fields(1, "1".parse().unwrap(), 2, 1024, 3).unwrap();
    let hash = crate::HashFamily::fast(0);
    for (key, name) in
        [(hash.digest("ant"), "`ant`"), (hash.digest("Zoë"), "`Zoë`"), (hash.digest(7), "7")]
    {
        let (shard, row) = Row::of(key.unwrap(), &plan);
        let line = format!("| {name} | {shard} | {} | `{:032x}` |", row.start, row.coefficients);
        assert!(include_str!("../../../FORMAT.md").contains(&line), "{line}");
    }
}
