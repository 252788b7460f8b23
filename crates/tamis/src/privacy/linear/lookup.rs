//! Whether keys pass, one at a time or a batch.

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

/// Whether each key passes, appended in their order.
pub(super) fn batch(plan: &LinearPlan, body: &[u8], digests: &[Digest], answers: &mut Vec<bool>) {
    #[cfg(all(target_arch = "x86_64", not(miri)))]
    if std::arch::is_x86_feature_detected!("popcnt")
        && std::arch::is_x86_feature_detected!("avx2")
        && std::arch::is_x86_feature_detected!("bmi1")
        && std::arch::is_x86_feature_detected!("bmi2")
    {
        #[allow(unsafe_code)]
        // SAFETY: the processor has just been found to have these instructions.
        unsafe {
            batch_counting(plan, body, digests, answers);
        }
        return;
    }
    answers.extend(digests.iter().map(|digest| passes(plan, body, *digest)));
}

/// The same, compiled for processors that count bits in one instruction: a lookup is little else.
#[cfg(all(target_arch = "x86_64", not(miri)))]
#[target_feature(enable = "popcnt,avx2,bmi1,bmi2")]
fn batch_counting(plan: &LinearPlan, body: &[u8], digests: &[Digest], answers: &mut Vec<bool>) {
    // A loop, not an iterator: its closure would be compiled into a function that lacks the
    // instructions.
    for digest in digests {
        answers.push(passes(plan, body, *digest));
    }
}
