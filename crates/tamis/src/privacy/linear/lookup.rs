//! Whether a key passes.

use super::LinearPlan;
use super::planes;
use super::row::Row;
use crate::Digest;
use crate::simd::{Kernels, Level, Work, dispatch};

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

/// The same in code that is not compiled for the processor. Parities need no instruction that
/// counts bits; sums modulo a prime do, and gain by a call to code that has it.
#[inline(always)]
pub(super) fn passes_alone(plan: &LinearPlan, body: &[u8], digest: Digest) -> bool {
    if plan.is_binary() {
        return passes(plan, body, digest);
    }
    dispatch!(Level::detect(), kernels => kernels.run(One { plan, body, digest }))
}

/// One lookup, to be compiled for each level.
struct One<'a> {
    plan: &'a LinearPlan,
    body: &'a [u8],
    digest: Digest,
}

impl Work for One<'_> {
    type Output = bool;

    #[inline(always)]
    fn run(self) -> bool {
        passes(self.plan, self.body, self.digest)
    }
}
