//! Bounds of powers of e, as close as asked.

use crate::privacy::Epsilon;
use num_bigint::BigUint;

/// Two integers with a real number between them, both to be divided by a power of two that the
/// caller knows.
pub(super) struct Bounds {
    pub(super) low: BigUint,
    pub(super) high: BigUint,
}

/// Billionths in one.
const ONE: u64 = 1_000_000_000;

/// Bounds of e^-(epsilon/parts) times 2^precision, a few units apart; `parts` is at least 1.
pub(super) fn exp_minus(epsilon: Epsilon, parts: u64, precision: u64) -> Bounds {
    let numerator = epsilon.billionths();
    let denominator = u128::from(ONE) * u128::from(parts);
    if u128::from(numerator) >= denominator.saturating_mul(u128::from(precision)) {
        // e^-x is below 2^-x, and so below one unit.
        return Bounds { low: BigUint::ZERO, high: BigUint::from(1u8) };
    }
    // Halve the exponent until it is below 2^-shrink, sum the series there, and square as often as
    // it was halved. The higher the precision, the more terms a halving saves.
    let shrink = 8 + precision.isqrt() / 16;
    let above_log = i64::from(u64::BITS - numerator.leading_zeros()) + 1
        - i64::from(u128::BITS - denominator.leading_zeros());
    let halvings = (above_log + shrink as i64).max(0) as u64;
    let spare = halvings + 16; // a squaring doubles the error at most
    let working = precision + spare;
    let Bounds { mut low, mut high } = series(numerator, denominator, halvings, working);
    for _ in 0..halvings {
        low = (&low * &low) >> working;
        high = ((&high * &high) >> working) + 1u8;
    }
    Bounds { low: low >> spare, high: (high >> spare) + 1u8 }
}

/// Bounds of e^-y times 2^precision, for y = numerator / denominator / 2^halvings, at most 1/2.
fn series(numerator: u64, denominator: u128, halvings: u64, precision: u64) -> Bounds {
    let mut term = BigUint::from(1u8) << precision;
    // The sum of the even terms and that of the odd ones.
    let mut sums = [term.clone(), BigUint::ZERO];
    let mut count = 0u64;
    while term != BigUint::ZERO {
        count += 1;
        term = ((term * numerator) >> halvings) / denominator / count;
        sums[(count % 2) as usize] += &term;
    }
    // A term is rounded down by less than one unit and inherits at most half of the error before
    // it: less than two in all. So the last term is below two units, and all terms after it
    // together are below two as well.
    let error = 2 * (count + 2);
    let [even, odd] = sums;
    let sum = even - odd; // e^-y is at least 1/2, and the error a few units
    Bounds { low: &sum - error, high: sum + error }
}

/// Bounds of e^-epsilon times 2^precision, below and above, a few units apart.
pub(crate) fn exp_minus_bounds(epsilon: Epsilon, precision: u64) -> (BigUint, BigUint) {
    let Bounds { low, high } = exp_minus(epsilon, 1, precision);
    (low, high)
}

/// Whether e^epsilon is at least `n`, exactly.
pub(crate) fn exp_at_least(epsilon: Epsilon, n: u64) -> bool {
    if n <= 1 || epsilon == Epsilon::ZERO {
        return n <= 1;
    }
    if epsilon.billionths() >= u64::from(u64::BITS) * ONE {
        return true; // e^64 is above 2^64
    }
    // The question is whether n e^-epsilon is at most 1. It is never 1: e to a rational power other
    // than 0 is irrational (Lindemann), so some precision tells.
    let mut precision = 128;
    loop {
        let one = BigUint::from(1u8) << precision;
        let Bounds { low, high } = exp_minus(epsilon, 1, precision);
        if high * n <= one {
            return true;
        }
        if low * n > one {
            return false;
        }
        precision *= 2;
    }
}

/// The smallest loss that is at least ln `n`, exactly; nothing for 0 and 1.
pub(crate) fn ln_upwards(n: u64) -> Epsilon {
    let at_least = |billionths| {
        Epsilon::from_billionths(billionths).is_some_and(|epsilon| exp_at_least(epsilon, n))
    };
    let (mut low, mut high) = (0, u64::from(u64::BITS) * ONE);
    while low < high {
        let middle = low.midpoint(high);
        if at_least(middle) {
            high = middle;
        } else {
            low = middle + 1;
        }
    }
    Epsilon::from_billionths(low).unwrap_or(Epsilon::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Billionths of ln n, rounded up, by Python's mpmath.
    const LOGARITHMS: [(u64, u64); 26] = [
        (2, 693_147_181),
        (3, 1_098_612_289),
        (4, 1_386_294_362),
        (5, 1_609_437_913),
        (7, 1_945_910_150),
        (8, 2_079_441_542),
        (10, 2_302_585_093),
        (15, 2_708_050_202),
        (16, 2_772_588_723),
        (17, 2_833_213_345),
        (100, 4_605_170_186),
        (255, 5_541_263_546),
        (256, 5_545_177_445),
        (257, 5_549_076_085),
        (1_000, 6_907_755_279),
        (65_536, 11_090_354_889),
        (1_000_000, 13_815_510_558),
        (1_000_000_000, 20_723_265_837),
        (4_294_967_295, 22_180_709_778),
        (4_294_967_296, 22_180_709_778),
        (1_000_000_000_000, 27_631_021_116),
        (9_007_199_254_740_993, 36_736_800_570),
        (9_223_372_036_854_775_808, 43_668_272_376),
        (9_223_372_036_854_775_809, 43_668_272_376),
        (10_000_000_000_000_000_000, 43_749_116_767),
        (18_446_744_073_709_551_615, 44_361_419_556),
    ];

    #[test]
    fn both_sides_of_logarithms() {
        for (n, billionths) in LOGARITHMS {
            let epsilon = |billionths| Epsilon::from_billionths(billionths).unwrap();
            assert_eq!(ln_upwards(n), epsilon(billionths), "{n}");
            assert!(exp_at_least(epsilon(billionths), n), "{n}");
            assert!(!exp_at_least(epsilon(billionths - 1), n), "{n}");
        }
    }

    #[test]
    fn edges() {
        for n in [0, 1] {
            assert!(exp_at_least(Epsilon::ZERO, n) && exp_at_least(Epsilon::MAX, n));
            assert_eq!(ln_upwards(n), Epsilon::ZERO);
        }
        assert!(!exp_at_least(Epsilon::ZERO, 2) && exp_at_least(Epsilon::MAX, u64::MAX));
        assert!(!exp_at_least(Epsilon::from_billionths(1).unwrap(), 2));
    }

    proptest! {
        #[test]
        fn logarithms_are_the_smallest(n in 2u64..) {
            let least = ln_upwards(n);
            prop_assert!(exp_at_least(least, n));
            let below = Epsilon::from_billionths(least.billionths() - 1).unwrap();
            prop_assert!(!exp_at_least(below, n));
        }

        /// Bounds hold at every precision: the bounds of two precisions overlap, and they are
        /// close.
        #[test]
        fn bounds_hold_at_any_precision(
            billionths in 0..=Epsilon::MAX.billionths(),
            shift in 0u32..50,
            parts in 1u64..,
            [low, high] in [1u64..400, 1u64..400],
        ) {
            let epsilon = Epsilon::from_billionths(billionths >> shift).unwrap();
            let coarse = exp_minus(epsilon, parts, low);
            let fine = exp_minus(epsilon, parts, low + high);
            prop_assert!(coarse.low << high <= fine.high);
            prop_assert!(fine.low <= coarse.high << high);
            prop_assert!(fine.high - fine.low <= BigUint::from(4u8));
        }
    }
}
