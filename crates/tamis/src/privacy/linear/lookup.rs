//! Whether a key passes.

use super::LinearPlan;
use super::planes;
use super::row::Row;
use crate::Digest;

/// Whether the key with this digest passes.
#[inline(always)]
pub(super) fn passes(plan: &LinearPlan, body: &[u8], digest: Digest) -> bool {
    let (shard, row) = Row::of(digest, plan);
    let planes = &body[shard as usize * plan.shard_bytes()..];
    if plan.is_binary() {
        planes::orthogonal_binary(planes, plan.width(), row)
    } else {
        planes::orthogonal_prime(planes, plan.width(), plan.q(), row)
    }
}
