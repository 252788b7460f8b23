//! Small sums: all pairwise coprime sets.

use super::Best;
use crate::zone::arith::primes::Sieve;
use crate::zone::certificate::{self, Packing};
use crate::zone::universe::Size;
use num_integer::Integer;

/// The sizes of the products that are enumerated, one after another, as powers of `(n - 1) ^ d`.
const SMALL_SHARES: [f64; 6] = [0.95, 0.9, 0.85, 0.8, 0.7, 0.5];
/// The numbers looked at by one enumeration.
const SMALL_STEPS: u64 = 1_000_000;
/// The nodes of the exhaustive searches of one enumeration: all together, and one.
const SMALL_EFFORT: u64 = 150_000;
const SMALL_EFFORT_EACH: u64 = 20_000;
/// The enumeration ends when this many sums in a row have failed.
const SMALL_PATIENCE: u64 = 6;

/// Lowers the sum as long as some pairwise coprime set of that sum is proved, at times by
/// exhaustion.
///
/// Safe sets of small sum rarely have a product far below the largest that fits, so such sets come
/// last.
pub(super) fn enumerate(best: &mut Best) {
    for share in SMALL_SHARES {
        enumerate_share(best, share);
    }
}

/// Enumerates the sets whose product is at least a power of `(n - 1) ^ d`, the share.
fn enumerate_share(best: &mut Best, share: f64) {
    let mut sets = Sets::new(best, share);
    for bits in (2..best.bits()).rev() {
        if let Some(mut moduli) = sets.find(bits, bits, 0.0) {
            moduli.sort_unstable();
            best.moduli = Some(moduli);
        } else if bits + SMALL_PATIENCE < best.bits() {
            return;
        }
        sets.stack.clear();
    }
}

/// The enumeration of pairwise coprime sets.
struct Sets {
    universe: Size,
    items: u32,
    /// The logarithm of the largest product for each sum.
    largest: Vec<f64>,
    /// The logarithm of the product that is needed at least.
    needed: f64,
    /// Descending coprime numbers.
    stack: Vec<u64>,
    steps: u64,
    effort: u64,
}

impl Sets {
    fn new(best: &Best, share: f64) -> Self {
        // First fit leaves no two bins that fit together: without a packing into d bins, it pairs
        // up d + 1 bins so that each pair exceeds n - 1. A smaller product than that is
        // hopeless.
        let needed = (best.universe.last() as f64).ln() * f64::from(best.items + 1) / 2.0 - 1e-6;
        let usual = share * f64::from(best.items) * (best.universe.last() as f64).ln();
        let needed = needed.max(usual);
        let largest = largest_products(best.bits() as usize + 1);
        let (steps, effort) = (SMALL_STEPS, SMALL_EFFORT);
        Self {
            universe: best.universe,
            items: best.items,
            largest,
            needed,
            stack: Vec::new(),
            steps,
            effort,
        }
    }

    /// Extends the stack by coprime numbers below `below` that sum up to `rest`, until it is proved
    /// safe.
    fn find(&mut self, rest: u64, below: u64, logarithm: f64) -> Option<Vec<u64>> {
        if rest == 0 {
            return self.safe().then(|| self.stack.clone());
        }
        if logarithm + self.largest.get(rest as usize)? < self.needed {
            return None;
        }
        for number in (2..=rest.min(below.saturating_sub(1))).rev() {
            self.steps = self.steps.checked_sub(1)?;
            // Distinct numbers up to this one sum up to at most its triangle.
            if number * (number + 1) / 2 < rest || self.effort == 0 {
                return None;
            }
            if self.stack.iter().all(|other| other.gcd(&number) == 1) {
                self.stack.push(number);
                let found = self.find(rest - number, number, logarithm + (number as f64).ln());
                self.stack.pop();
                if found.is_some() {
                    return found;
                }
            }
        }
        None
    }

    /// Whether the exhaustive search proves the stack.
    fn safe(&mut self) -> bool {
        let allowed = SMALL_EFFORT_EACH.min(self.effort);
        let mut left = allowed;
        let answer = certificate::search_packing(&self.stack, self.universe, self.items, &mut left);
        self.effort -= allowed - left;
        answer == Packing::Impossible
    }
}

/// The logarithm of the largest product of coprime numbers for each sum below `width`.
fn largest_products(width: usize) -> Vec<f64> {
    let mut best = vec![0.0f64; width];
    for &prime in Sieve::new(width).primes() {
        let gain = f64::from(prime).ln();
        for total in (prime as usize..width).rev() {
            let mut power = prime as usize;
            let mut logarithm = gain;
            while power <= total {
                best[total] = best[total].max(best[total - power] + logarithm);
                power *= prime as usize;
                logarithm += gain;
            }
        }
    }
    best
}
