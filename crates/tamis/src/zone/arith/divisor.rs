//! Division by a fixed number, as a multiplication by its reciprocal. A division instruction takes
//! several times as long.

/// A divisor and its reciprocal.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Divisor {
    value: u64,
    /// (2^64 - 1) / value, rounded down.
    reciprocal: u64,
}

impl Divisor {
    /// Of a number from 1 to 2^63.
    pub(crate) fn new(value: u64) -> Divisor {
        Divisor { value, reciprocal: u64::MAX / value }
    }

    pub(crate) fn value(self) -> u64 {
        self.value
    }

    /// The quotient and the remainder of `x`.
    ///
    /// Let p be the divisor and m its reciprocal: p m = 2^64 - 1 - e with e < p, so
    ///
    /// > x m / 2^64 = x / p - x (1 + e) / (p 2^64),
    ///
    /// and the last term is below 1, as x < 2^64 and 1 + e <= p. Rounded down, x m / 2^64 is the
    /// quotient or one less. The remainder that goes with it is below 2 p, which fits 64 bits,
    /// and one step at most corrects both.
    #[inline(always)]
    pub(crate) fn divide(self, x: u64) -> (u64, u64) {
        let quotient = ((u128::from(x) * u128::from(self.reciprocal)) >> 64) as u64;
        let rest = x.wrapping_sub(quotient.wrapping_mul(self.value));
        if rest >= self.value {
            (quotient.wrapping_add(1), rest - self.value)
        } else {
            (quotient, rest)
        }
    }

    #[inline(always)]
    pub(crate) fn remainder(self, x: u64) -> u64 {
        self.divide(x).1
    }

    /// The remainder of a number of up to 128 bits. The divisor must be below 2^32: the high half
    /// counts 2^64 mod p times, and that product of two residues fits 64 bits.
    #[inline(always)]
    pub(crate) fn remainder_of_wide(self, x: u128) -> u64 {
        let (high, low) = ((x >> 64) as u64, x as u64);
        if high == 0 {
            return self.remainder(low);
        }
        // At most p, since p m = 2^64 - 1 - e with e < p.
        let turn = u64::MAX - self.reciprocal * self.value + 1;
        self.remainder(self.remainder(high) * turn + self.remainder(low))
    }

    /// The quotient and the remainder of a number of up to 128 bits, in pieces of 32 bits. The
    /// divisor must be below 2^32.
    #[inline(always)]
    pub(crate) fn divide_wide(self, x: u128) -> (u128, u64) {
        let (high, low) = ((x >> 64) as u64, x as u64);
        if high == 0 {
            let (quotient, rest) = self.divide(low);
            return (quotient.into(), rest);
        }
        let (top, rest) = self.divide(high);
        let (upper, rest) = self.divide(rest << 32 | low >> 32);
        let (lower, rest) = self.divide(rest << 32 | low & u64::from(u32::MAX));
        (u128::from(top) << 64 | u128::from(upper) << 32 | u128::from(lower), rest)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn check(x: u64, value: u64) {
        assert_eq!(Divisor::new(value).divide(x), (x / value, x % value), "{x} by {value}");
    }

    #[test]
    fn small_numbers_are_divided_correctly() {
        for value in 1..=300 {
            (0..2000).for_each(|x| check(x, value));
        }
    }

    /// Numbers beside multiples of extreme divisors, and the largest numbers.
    #[test]
    fn extremes_are_divided_correctly() {
        let powers = (1..64).flat_map(|shift| [(1u64 << shift) - 1, 1 << shift, (1 << shift) + 1]);
        let values: Vec<u64> = powers
            .chain([3, 10, 65_521, 4_294_967_291, u64::from(u32::MAX)])
            .filter(|p| *p <= 1 << 63)
            .collect();
        for value in values {
            let last = u64::MAX / value;
            for quotient in (0..40).chain([last / 3, last / 2, last - last.min(1), last]) {
                let multiple = quotient.min(last) * value;
                for x in [multiple.wrapping_sub(1), multiple, multiple.wrapping_add(1)] {
                    check(x, value);
                }
            }
            (0..3).for_each(|below| check(u64::MAX - below, value));
        }
    }

    proptest! {
        #[test]
        fn any_number_is_divided_correctly(x: u64, value in 1..=1u64 << 63, shift in 0..63u32) {
            check(x, value);
            check(x, (value >> shift).max(1));
        }

        #[test]
        fn wide_numbers_are_divided_correctly(
            x: u128,
            bits in 0..128u32,
            value in prop_oneof![
                1..=u64::from(u32::MAX),
                1..300u64,
                u64::from(u32::MAX) - 300..=u64::from(u32::MAX),
            ],
        ) {
            let (divisor, whole) = (Divisor::new(value), u128::from(value));
            for x in [x >> bits, (x >> bits) / whole * whole, u128::MAX - (x >> 120)] {
                let rest = (x % whole) as u64;
                prop_assert_eq!(divisor.divide_wide(x), (x / whole, rest));
                prop_assert_eq!(divisor.remainder_of_wide(x), rest);
            }
        }
    }
}
