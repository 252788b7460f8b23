//! Twice the precision of f64, for the few formulas whose rounding decides a size.
//!
//! For 10^12 items at a rate of 1e-15 the bits have 47 binary digits; ordinary f64 arithmetic would
//! leave the last ones to chance, and a plan is exact.

/// An unevaluated sum of two f64: about 106 significant bits.
#[derive(Clone, Copy, Debug)]
struct Double {
    high: f64,
    low: f64,
}

const LN_2: Double = Double { high: std::f64::consts::LN_2, low: 2.319_046_813_846_299_6e-17 };
/// (ln 2)^2.
const LN_2_SQUARED: Double =
    Double { high: 0.480_453_013_918_201_44, low: -1.898_786_250_636_575e-17 };

/// The exact sum of two f64.
fn sum(a: f64, b: f64) -> Double {
    let high = a + b;
    let part = high - a;
    Double { high, low: (a - (high - part)) + (b - part) }
}

/// The exact product of two f64.
fn product(a: f64, b: f64) -> Double {
    let high = a * b;
    Double { high, low: a.mul_add(b, -high) }
}

impl Double {
    fn from_u64(value: u64) -> Double {
        let high = value as f64;
        // The difference fits: a u64 is within 2^10 of its nearest f64.
        let low = (i128::from(value) - high as i128) as f64;
        sum(high, low)
    }

    fn add(self, other: Double) -> Double {
        let high = sum(self.high, other.high);
        sum(high.high, high.low + self.low + other.low)
    }

    fn mul(self, other: Double) -> Double {
        let high = product(self.high, other.high);
        sum(high.high, high.low + (self.high * other.low + self.low * other.high))
    }

    fn div(self, other: Double) -> Double {
        let first = self.high / other.high;
        let rest = self.add(other.mul(Double { high: -first, low: 0.0 }));
        let second = rest.high / other.high;
        let rest = rest.add(other.mul(Double { high: -second, low: 0.0 }));
        let quotient = sum(first, second);
        quotient.add(Double { high: rest.high / other.high, low: 0.0 })
    }

    /// e^x, by halving x until the series is short and squaring back.
    fn exp(x: f64) -> Double {
        const HALVINGS: i32 = 9;
        let powers = (x / LN_2.high).round();
        let rest = Double { high: x, low: 0.0 }
            .add(LN_2.mul(Double { high: -powers, low: 0.0 }))
            .scale(-HALVINGS);
        let one = Double { high: 1.0, low: 0.0 };
        let series = (1..=14).rev().fold(one, |acc, i| {
            one.add(rest.mul(acc).div(Double { high: f64::from(i), low: 0.0 }))
        });
        (0..HALVINGS).fold(series, |square, _| square.mul(square)).scale(powers as i32)
    }

    fn scale(self, power: i32) -> Double {
        let factor = 2f64.powi(power);
        Double { high: self.high * factor, low: self.low * factor }
    }

    /// ln x: the f64 logarithm, corrected by one Newton step.
    fn ln(x: f64) -> Double {
        let guess = x.ln();
        let ratio = Double::exp(-guess).mul(Double { high: x, low: 0.0 });
        // ratio is 1 + d with d below 1e-15, so ln(ratio) = d - d^2/2 is exact enough.
        let d = ratio.add(Double { high: -1.0, low: 0.0 });
        let correction = d.high - d.high * d.high / 2.0;
        sum(guess, correction).add(Double { high: d.low, low: 0.0 })
    }

    /// The largest integer not above it; it must be non-negative.
    fn floor(self) -> u128 {
        let whole = self.high.floor();
        let rest = (self.high - whole + self.low).floor();
        (whole as i128 + rest as i128).max(0) as u128
    }
}

/// ceil(-items ln(fpr) / (ln 2)^2).
pub(super) fn bits(items: u64, fpr: f64) -> u128 {
    // Never an integer itself: ln 2 is irrational, and so is every such quotient.
    Double::from_u64(items).mul(minus_ln(fpr)).div(LN_2_SQUARED).floor() + 1
}

/// floor(-bits (ln 2)^2 / ln(fpr)).
pub(super) fn items(bits: u64, fpr: f64) -> u64 {
    Double::from_u64(bits).mul(LN_2_SQUARED).div(minus_ln(fpr)).floor() as u64
}

fn minus_ln(fpr: f64) -> Double {
    let ln = Double::ln(fpr);
    Double { high: -ln.high, low: -ln.low }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The rows were computed with 60 decimal digits (Python's mpmath).
    #[test]
    fn sizes_are_exact() {
        let mut rows = 0;
        for row in include_str!("../../tests/sizes.csv").lines().skip(1) {
            let cell: Vec<&str> = row.split(',').collect();
            let [n, given, m, fits] =
                [cell[0], cell[3], cell[2], cell[4]].map(|c| c.parse::<u64>().unwrap());
            let fpr: f64 = cell[1].parse().unwrap();
            assert_eq!(bits(n, fpr), u128::from(m), "{row}");
            assert_eq!(items(given, fpr), fits, "{row}");
            rows += 1;
        }
        assert!(rows > 300);
    }

    #[test]
    fn plain_floats_would_not_do() {
        let wrong = include_str!("../../tests/sizes.csv").lines().skip(1).filter(|row| {
            let cell: Vec<&str> = row.split(',').collect();
            let (n, fpr): (f64, f64) = (cell[0].parse().unwrap(), cell[1].parse().unwrap());
            let m = (-n * fpr.ln() / std::f64::consts::LN_2.powi(2)).ceil();
            m != cell[2].parse::<f64>().unwrap()
        });
        assert!(wrong.count() > 0, "then this module could go");
    }
}
