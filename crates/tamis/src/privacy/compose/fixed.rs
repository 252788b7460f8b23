//! Numbers from 0 to a little above 1, as multiples of 2^-120, rounded the way that is asked for.

use crate::privacy::Epsilon;
use crate::privacy::noise::exp_minus_bounds;
use std::sync::LazyLock;

/// Binary digits after the point.
pub(super) const DIGITS: u32 = 120;

/// The number 1.
pub(super) const ONE: u128 = 1 << DIGITS;

const LOW: u128 = u64::MAX as u128;

/// The product: the whole multiples, and whether something is left. Both factors are below 2.
#[inline]
fn multiply(a: u128, b: u128) -> (u128, bool) {
    let ((a1, a0), (b1, b0)) = ((a >> 64, a & LOW), (b >> 64, b & LOW));
    // The high halves are below 2^57, so nothing overflows but the sum of the low parts.
    let middle = a1 * b0 + a0 * b1;
    let (low, carry) = (a0 * b0).overflowing_add(middle << 64);
    let high = a1 * b1 + (middle >> 64) + u128::from(carry);
    (high << (128 - DIGITS) | low >> DIGITS, low & (ONE - 1) != 0)
}

/// The product, rounded down.
#[inline]
pub(super) fn times_down(a: u128, b: u128) -> u128 {
    multiply(a, b).0
}

/// The product, rounded up.
#[inline]
pub(super) fn times_up(a: u128, b: u128) -> u128 {
    let (product, rest) = multiply(a, b);
    product + u128::from(rest)
}

/// The quotient of two numbers up to 1, rounded down; the divisor is at least 1/2, and no smaller
/// than the dividend.
fn divide_down(a: u128, b: u128) -> u128 {
    use num_bigint::BigUint;
    u128::try_from((BigUint::from(a) << DIGITS) / b).unwrap_or(ONE)
}

/// e^-x for every x of 2^i billionths: bounds below and above.
static POWERS: LazyLock<Vec<(u128, u128)>> = LazyLock::new(|| {
    // e^-x is below one unit from 84 on, and 2^37 billionths are 137.
    (0..37)
        .map(|i| {
            let epsilon = Epsilon::from_billionths(1 << i).unwrap_or(Epsilon::MAX);
            let (low, high) = exp_minus_bounds(epsilon, u64::from(DIGITS));
            (u128::try_from(low).unwrap_or(0), u128::try_from(high).unwrap_or(ONE).min(ONE))
        })
        .collect()
});

fn powers_of(billionths: u64) -> impl Iterator<Item = &'static (u128, u128)> {
    let powers: &'static Vec<(u128, u128)> = &POWERS;
    powers.iter().enumerate().filter(move |(i, _)| billionths >> i & 1 == 1).map(|(_, power)| power)
}

/// e^-x for x in billionths, rounded down.
pub(super) fn exp_minus_down(billionths: u64) -> u128 {
    if billionths >> 37 != 0 {
        return 0;
    }
    powers_of(billionths).fold(ONE, |product, (low, _)| times_down(product, *low))
}

/// e^-x for x in billionths, rounded up.
pub(super) fn exp_minus_up(billionths: u64) -> u128 {
    if billionths >> 37 != 0 {
        return 1;
    }
    powers_of(billionths).fold(ONE, |product, (_, high)| times_up(product, *high))
}

/// What a coin that loses epsilon says: the truth with chance e^epsilon / (1 + e^epsilon), else a
/// lie. Both chances, rounded up.
pub(super) fn coin_up(epsilon: Epsilon) -> (u128, u128) {
    let billionths = epsilon.billionths();
    let truth = divide_down(ONE, ONE + exp_minus_down(billionths)) + 1;
    let high = exp_minus_up(billionths);
    (truth, divide_down(high, ONE + high) + 1)
}

#[cfg(test)]
mod tests {
    use super::*;
    use num_bigint::BigUint;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn products_are_rounded_as_they_say(a in 0..2 * ONE, b in 0..2 * ONE) {
            let exact = BigUint::from(a) * b;
            let (down, up) = (times_down(a, b), times_up(a, b));
            prop_assert_eq!(BigUint::from(down), &exact >> DIGITS);
            prop_assert_eq!(BigUint::from(up), (exact + (ONE - 1)) >> DIGITS);
        }

        #[test]
        fn powers_of_e_lie_between_their_bounds(billionths in 0u64..200_000_000_000) {
            let (down, up) = (exp_minus_down(billionths), exp_minus_up(billionths));
            let epsilon = Epsilon::from_billionths(billionths).unwrap();
            let (low, high) = exp_minus_bounds(epsilon, 256);
            prop_assert!(BigUint::from(down) << 136 <= low);
            prop_assert!(BigUint::from(up) << 136 >= high);
            prop_assert!(up - down <= 200, "{}", up - down);
        }

        #[test]
        fn coins_are_a_little_more_than_certain(billionths in 0u64..100_000_000_000) {
            let (truth, lie) = coin_up(Epsilon::from_billionths(billionths).unwrap());
            prop_assert!(truth + 200 >= lie && (ONE..ONE + 400).contains(&(truth + lie)));
        }
    }
}
