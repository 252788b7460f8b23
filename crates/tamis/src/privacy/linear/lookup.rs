//! Whether keys pass, one at a time or a batch.

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

/// Whether each key passes, appended in their order.
pub(super) fn batch(plan: &LinearPlan, body: &[u8], digests: &[Digest], answers: &mut Vec<bool>) {
    dispatch!(Level::detect(), kernels => kernels.run(Batch { plan, body, digests, answers }));
}

/// Lookups, to be compiled for processors that count bits in one instruction: a lookup is little
/// else.
struct Batch<'a> {
    plan: &'a LinearPlan,
    body: &'a [u8],
    digests: &'a [Digest],
    answers: &'a mut Vec<bool>,
}

impl Work for Batch<'_> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        // A loop, not an iterator: its closure would be compiled into a function that lacks the
        // instructions.
        for digest in self.digests {
            self.answers.push(passes(self.plan, self.body, *digest));
        }
    }
}
