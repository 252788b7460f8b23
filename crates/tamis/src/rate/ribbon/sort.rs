//! Digests in order, each once.

use crate::store::filled;
use crate::{Digest, Error};

/// The bits of a digit: 2048 counters stay in the first cache.
const DIGIT: u32 = 11;
/// Up to so many are sorted by comparison.
const FEW: usize = 256;

/// Sorts by h1, then by h2, and drops what comes again.
///
/// The order is that of the blocks, whatever the number of blocks.
pub(super) fn sort_and_dedup(
    digests: &mut Vec<Digest>,
    scratch: &mut Vec<Digest>,
) -> Result<(), Error> {
    let count = digests.len();
    if count < FEW {
        digests.sort_unstable_by_key(order);
        digests.dedup();
        return Ok(());
    }
    let (low, high) = digests
        .iter()
        .fold((u64::MAX, 0), |(low, high), digest| (low.min(digest.h1), high.max(digest.h1)));
    // So many high bits of the range that few digests have all of them in common.
    let range = (64 - (high - low).leading_zeros()).max(1);
    let wanted = (count.ilog2() + 2).min(range);
    let passes = wanted.div_ceil(DIGIT);
    let digit = wanted.div_ceil(passes);
    let shift = range.saturating_sub(digit * passes);
    if scratch.len() < count {
        *scratch = filled(Digest { h1: 0, h2: 0 }, count)?;
    }
    scratch.truncate(count);
    let key = |digest: &Digest| (digest.h1 - low) >> shift;
    for pass in 0..passes {
        let of = |digest: &Digest| (key(digest) >> (pass * digit)) as usize & ((1 << digit) - 1);
        let mut starts = vec![0usize; 1 << digit];
        for digest in digests.iter() {
            starts[of(digest)] += 1;
        }
        let mut sum = 0;
        for start in &mut starts {
            (*start, sum) = (sum, sum + *start);
        }
        for digest in digests.iter() {
            let start = &mut starts[of(digest)];
            scratch[*start] = *digest;
            *start += 1;
        }
        std::mem::swap(digests, scratch);
    }
    // Keys that somebody chose may agree in all digits: those are sorted by comparison.
    for run in digests.chunk_by_mut(|left, right| key(left) == key(right)) {
        if run.len() > 1 {
            run.sort_unstable_by_key(order);
        }
    }
    digests.dedup();
    Ok(())
}

fn order(digest: &Digest) -> (u64, u64) {
    (digest.h1, digest.h2)
}

#[cfg(test)]
mod tests {
    use super::*;
    use tamis_random::SplitMix64;

    #[test]
    fn the_order_is_that_of_a_plain_sort() {
        let mut random = SplitMix64::new(7);
        for count in [0, 1, 2, 255, 256, 257, 5_000, 70_000] {
            for narrow in [0, 20, 50, 63, 64] {
                let mut digests: Vec<Digest> = (0..count)
                    .map(|_| {
                        let h1 = random.next_u64().checked_shr(narrow).unwrap_or(9);
                        Digest { h1: h1.wrapping_add(1 << 40), h2: random.next_u64() % 3 }
                    })
                    .collect();
                let mut plain = digests.clone();
                plain.sort_unstable_by_key(order);
                plain.dedup();
                sort_and_dedup(&mut digests, &mut Vec::new()).unwrap();
                assert!(digests == plain, "{count} digests, {narrow} bits less");
            }
        }
    }
}
