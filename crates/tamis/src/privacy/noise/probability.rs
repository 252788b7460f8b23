//! An exact probability: as many binary digits as a coin asks for.

use super::exponential::{Bounds, exp_at_least, exp_minus};
use crate::privacy::Epsilon;
use num_bigint::BigUint;
use num_traits::CheckedDiv;
use std::fmt;

/// A probability, exactly.
///
/// Its first 64 binary digits are at hand; further ones are computed when a coin needs them, which
/// one in 2^64 does.
///
/// ```
/// use tamis::privacy::{Epsilon, noise::Probability};
/// let epsilon: Epsilon = "1".parse()?;
/// let flip = Probability::logistic(epsilon, 1).unwrap();          // 1/(1+e)
/// assert_eq!(flip.to_f64(), 0.2689414213699951);
/// assert_eq!(flip.first_digits() >> 56, 0b01000100);              // 0.01000100...
/// assert!(Probability::ratio(3, 2).is_none());
/// # Ok::<(), tamis::Error>(())
/// ```
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Probability {
    number: Number,
    /// The first 64 digits, the first one highest; of 1, they are 0.111...
    head: u64,
    /// No digit after those is 1.
    ends: bool,
}

/// What the probability is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Number {
    One,
    /// A rational number below 1.
    Ratio {
        numerator: u64,
        denominator: u64,
    },
    /// e^-(epsilon/parts). From here on epsilon is not 0, so that the number is irrational and no
    /// digits repeat for ever.
    ExpMinus {
        epsilon: Epsilon,
        parts: u64,
    },
    /// 1/(1+e^(epsilon/parts)).
    Logistic {
        epsilon: Epsilon,
        parts: u64,
    },
    /// (q-e^epsilon)/(q-1), where e^epsilon is below q-1.
    Shortfall {
        q: u64,
        epsilon: Epsilon,
    },
}

impl Probability {
    /// A ratio, or `None` if it is above 1 or not a number.
    #[must_use]
    pub fn ratio(numerator: u64, denominator: u64) -> Option<Probability> {
        if denominator == 0 || numerator > denominator {
            return None;
        }
        Some(Self::new(if numerator == denominator {
            Number::One
        } else {
            Number::Ratio { numerator, denominator }
        }))
    }

    /// e^-(epsilon/parts), or `None` for no parts.
    #[must_use]
    pub fn exp_minus(epsilon: Epsilon, parts: u64) -> Option<Probability> {
        match (epsilon, parts) {
            (_, 0) => None,
            (Epsilon::ZERO, _) => Some(Self::new(Number::One)),
            _ => Some(Self::new(Number::ExpMinus { epsilon, parts })),
        }
    }

    /// 1/(1+e^(epsilon/parts)), or `None` for no parts. A bit that is flipped with this chance
    /// loses epsilon/parts.
    #[must_use]
    pub fn logistic(epsilon: Epsilon, parts: u64) -> Option<Probability> {
        match (epsilon, parts) {
            (_, 0) => None,
            (Epsilon::ZERO, _) => Self::ratio(1, 2),
            _ => Some(Self::new(Number::Logistic { epsilon, parts })),
        }
    }

    /// The larger of e^-epsilon and (q-e^epsilon)/(q-1), or `None` if `q` is below 2: how often a
    /// linear filter over `q` values leaves an item out.
    #[must_use]
    pub fn dropping(q: u64, epsilon: Epsilon) -> Option<Probability> {
        if q < 2 {
            return None;
        }
        if epsilon == Epsilon::ZERO {
            return Some(Self::new(Number::One));
        }
        // With e for e^epsilon, (q-e)/(q-1) is at least 1/e where (e-1)(e-(q-1)) is at most 0: for
        // e up to q-1.
        Some(Self::new(if exp_at_least(epsilon, q - 1) {
            Number::ExpMinus { epsilon, parts: 1 }
        } else {
            Number::Shortfall { q, epsilon }
        }))
    }

    fn new(number: Number) -> Probability {
        let ends = match number {
            Number::Ratio { numerator, denominator } => {
                (u128::from(numerator) << 64).is_multiple_of(u128::from(denominator))
            }
            _ => false,
        };
        Probability { number, head: number.digits(0), ends }
    }

    /// The first 64 binary digits after the point, the first one in the highest bit. Of 1 they are
    /// 0.111...
    #[must_use]
    pub fn first_digits(&self) -> u64 {
        self.head
    }

    /// The same number of digits after `64 * block` others.
    pub(super) fn digits(&self, block: u64) -> u64 {
        if block == 0 { self.head } else { self.number.digits(block) }
    }

    /// Whether it is exactly 1.
    #[must_use]
    pub fn is_one(&self) -> bool {
        matches!(self.number, Number::One)
    }

    /// Whether it is exactly 0.
    #[must_use]
    pub fn is_zero(&self) -> bool {
        self.ends && self.head == 0
    }

    /// How many digits come before endless zeros, if the first 64 digits hold them all.
    pub(super) fn length(&self) -> Option<u32> {
        self.ends.then(|| 64 - self.head.trailing_zeros())
    }

    /// A floating-point number within one unit of its last place, for reports.
    #[must_use]
    pub fn to_f64(&self) -> f64 {
        if self.is_one() {
            return 1.0;
        }
        // 64 digits past the smallest positive number, unless the first 64 are exact enough
        // already.
        let digits = if self.ends || self.head >> 54 != 0 { 64 } else { 1074 + 64 };
        let value = self.number.floor(digits);
        let shift = value.bits().saturating_sub(64);
        let top = low_word(&(value >> shift));
        libm::ldexp(top as f64, shift as i32 - digits as i32)
    }
}

impl fmt::Debug for Probability {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "Probability({:?} = {:e})", self.number, self.to_f64())
    }
}

impl Number {
    /// The digits from `64 * block` to `64 * block + 63`.
    fn digits(self, block: u64) -> u64 {
        match self {
            Number::One => u64::MAX,
            _ => low_word(&self.floor((block + 1) * 64)),
        }
    }

    /// The whole part of 2^digits times the number, from bounds that come closer until they agree
    /// on it. They do: the number is irrational (e to a rational power other than 0 is, by
    /// Lindemann's theorem), or the bounds agree at once.
    fn floor(self, digits: u64) -> BigUint {
        let mut spare = 64;
        loop {
            let Bounds { low, high } = self.bounds(digits + spare);
            let (low, high) = (low >> spare, high >> spare);
            if low == high {
                return low;
            }
            spare *= 2;
        }
    }

    /// Bounds of 2^precision times the number.
    fn bounds(self, precision: u64) -> Bounds {
        let one = || BigUint::from(1u8) << precision;
        match self {
            Number::One => Bounds { low: one(), high: one() },
            Number::Ratio { numerator, denominator } => {
                let floor = (BigUint::from(numerator) << precision) / denominator;
                Bounds { low: floor.clone(), high: floor }
            }
            Number::ExpMinus { epsilon, parts } => exp_minus(epsilon, parts, precision),
            Number::Logistic { epsilon, parts } => {
                // x/(1+x), which grows with x.
                let Bounds { low, high } = exp_minus(epsilon, parts, precision);
                let (above, below) = (one() + &high, one() + &low);
                Bounds { low: (low << precision) / below, high: (high << precision) / above + 1u8 }
            }
            Number::Shortfall { q, epsilon } => {
                // (q-1/x)/(q-1), which grows with x.
                let Bounds { low, high } = exp_minus(epsilon, 1, precision);
                let (square, q_units) =
                    (BigUint::from(1u8) << (2 * precision), BigUint::from(q) << precision);
                let share = |power: BigUint| (&q_units - power) / (q - 1);
                // `None` if `low` is 0, since then there is no upper bound of the power.
                let max = square.checked_div(&low).map(|power| power + 1u8);
                let least = square / high; // certainly below q-1
                Bounds {
                    low: max.filter(|power| *power <= q_units).map_or(BigUint::ZERO, share),
                    high: share(least) + 1u8,
                }
            }
        }
    }
}

/// The lowest 64 bits.
fn low_word(value: &BigUint) -> u64 {
    value.iter_u64_digits().next().unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Every row was computed with Python's mpmath, hundreds of bits beyond the digits shown.
    #[test]
    fn digits_are_exact() {
        let mut rows = 0;
        for row in include_str!("../../../tests/probabilities.csv").lines().skip(1) {
            let cell: Vec<&str> = row.split(',').collect();
            let [a, b, first] = [1, 2, 3].map(|i| cell[i].parse::<u64>().unwrap());
            let epsilon = |billionths| Epsilon::from_billionths(billionths).unwrap();
            let p = match cell[0] {
                "ratio" => Probability::ratio(a, b),
                "exp" => Probability::exp_minus(epsilon(a), b),
                "logistic" => Probability::logistic(epsilon(a), b),
                _ => Probability::dropping(a, epsilon(b)),
            };
            let p = p.unwrap();
            let digits: String =
                (first..first + 4).map(|block| format!("{:016x}", p.digits(block))).collect();
            assert_eq!(digits, cell[4], "{row}");
            let float: f64 = cell[5].parse().unwrap();
            assert!(p.to_f64().to_bits().abs_diff(float.to_bits()) <= 1, "{row}: {}", p.to_f64());
            rows += 1;
        }
        assert!(rows > 900);
    }

    /// e^-1000000 begins with 1,442,695 zeros. The digits after them take seconds and are needed
    /// never, but they are there.
    #[test]
    #[ignore = "seconds of arithmetic"]
    fn digits_beyond_a_million_zeros() {
        let p = Probability::exp_minus(Epsilon::MAX, 1).unwrap();
        assert_eq!(p.digits(22_542), 0x01f1_b14c_35ed_514b); // by Python's mpmath
    }

    #[test]
    fn what_is_no_probability_is_refused() {
        assert!(Probability::ratio(1, 0).is_none() && Probability::ratio(0, 0).is_none());
        assert!(Probability::ratio(3, 2).is_none());
        assert!(Probability::exp_minus(Epsilon::ZERO, 0).is_none());
        assert!(Probability::logistic(Epsilon::MAX, 0).is_none());
        assert!(
            Probability::dropping(0, Epsilon::ZERO).is_none()
                && Probability::dropping(1, Epsilon::MAX).is_none()
        );
    }

    #[test]
    fn zero_and_one_are_exact() {
        let one = [
            Probability::ratio(7, 7),
            Probability::exp_minus(Epsilon::ZERO, 3),
            Probability::dropping(2, Epsilon::ZERO),
            Probability::dropping(u64::MAX, Epsilon::ZERO),
        ];
        assert!(one.iter().flatten().all(|p| p.is_one() && !p.is_zero() && p.to_f64() == 1.0));
        let zero = Probability::ratio(0, 9).unwrap();
        assert!(zero.is_zero() && !zero.is_one() && zero.length() == Some(0));
        assert_eq!(Probability::logistic(Epsilon::ZERO, 5).unwrap().length(), Some(1));
        // Neither is so only nearly.
        let small = Probability::exp_minus(Epsilon::MAX, 1).unwrap();
        assert!(small.first_digits() == 0 && !small.is_zero() && small.length().is_none());
        let large = Probability::exp_minus(Epsilon::from_billionths(1).unwrap(), u64::MAX).unwrap();
        assert!(large.first_digits() == u64::MAX && !large.is_one());
    }

    proptest! {
        /// Floats, where they are good enough to compare with.
        #[test]
        fn floats_agree(
            billionths in 1u64..40_000_000_000,
            parts in 1u64..1000,
            q in 2u64..1 << 40,
        ) {
            let epsilon = Epsilon::from_billionths(billionths).unwrap();
            let x = epsilon.to_f64() / parts as f64;
            let near = |p: Option<Probability>, value: f64| {
                (p.unwrap().to_f64() / value - 1.0).abs() < 1e-12
            };
            prop_assert!(near(Probability::exp_minus(epsilon, parts), (-x).exp()));
            prop_assert!(near(Probability::logistic(epsilon, parts), 1.0 / (1.0 + x.exp())));
            let (e, q_float) = (epsilon.to_f64().exp(), q as f64);
            let dropped = (1.0 / e).max((q_float - e) / (q_float - 1.0));
            prop_assert!(near(Probability::dropping(q, epsilon), dropped));
        }

        #[test]
        fn ratios_by_long_division(numerator: u64, denominator in 1u64.., blocks in 1u64..20) {
            prop_assume!(numerator < denominator);
            let p = Probability::ratio(numerator, denominator).unwrap();
            let mut rest = u128::from(numerator);
            for block in 0..blocks {
                let digits = (rest << 64) / u128::from(denominator);
                prop_assert_eq!(u128::from(p.digits(block)), digits);
                rest = (rest << 64) % u128::from(denominator);
                prop_assert_eq!(p.length().is_some(), rest == 0);
            }
        }
    }
}
