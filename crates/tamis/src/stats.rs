//! Confidence intervals for measured rates: public, so that users of a filter can measure it too.

/// The exact (Clopper-Pearson) interval for the chance behind `hits` of `trials`: the true chance
/// lies outside it with a probability of at most `alpha`.
///
/// ```
/// let (low, high) = tamis::stats::clopper_pearson(0, 100, 0.05);
/// assert_eq!(low, 0.0);
/// assert!((high - 0.0362).abs() < 0.0001);   // the rule of three, nearly: 3.6/100
/// ```
#[must_use]
pub fn clopper_pearson(hits: u64, trials: u64, alpha: f64) -> (f64, f64) {
    if trials == 0 {
        return (0.0, 1.0);
    }
    let (hits, misses) = (hits.min(trials) as f64, trials.saturating_sub(hits) as f64);
    // P[Bin(trials, p) >= hits] is the regularised incomplete beta function at p, growing in p.
    let low = if hits == 0.0 { 0.0 } else { solve(|p| beta(p, hits, misses + 1.0), alpha / 2.0) };
    let high =
        if misses == 0.0 { 1.0 } else { solve(|p| beta(p, hits + 1.0, misses), 1.0 - alpha / 2.0) };
    (low, high)
}

/// Where a growing function from 0 to 1 reaches `target`.
fn solve(f: impl Fn(f64) -> f64, target: f64) -> f64 {
    let (mut low, mut high) = (0.0, 1.0);
    for _ in 0..200 {
        let middle = (low + high) / 2.0;
        if f(middle) < target {
            low = middle;
        } else {
            high = middle;
        }
    }
    (low + high) / 2.0
}

/// The regularised incomplete beta function I_x(a, b), by its continued fraction (Lentz's method).
fn beta(x: f64, a: f64, b: f64) -> f64 {
    if x <= 0.0 {
        return 0.0;
    }
    if x >= 1.0 {
        return 1.0;
    }
    if x > (a + 1.0) / (a + b + 2.0) {
        return 1.0 - beta(1.0 - x, b, a); // the fraction converges fast on this side only
    }
    let front =
        libm::lgamma(a + b) - libm::lgamma(a) - libm::lgamma(b) + a * x.ln() + b * (-x).ln_1p();
    let tiny = 1e-300;
    let nonzero = |v: f64| if v.abs() < tiny { tiny } else { v };
    let (mut c, mut d) = (1.0, 1.0 / nonzero(1.0 - (a + b) * x / (a + 1.0)));
    let mut value = d;
    for i in 1..100_000 {
        let m = f64::from(i);
        for numerator in [
            m * (b - m) * x / ((a + 2.0 * m - 1.0) * (a + 2.0 * m)),
            -(a + m) * (a + b + m) * x / ((a + 2.0 * m) * (a + 2.0 * m + 1.0)),
        ] {
            d = 1.0 / nonzero(1.0 + numerator * d);
            c = nonzero(1.0 + numerator / c);
            value *= c * d;
        }
        if (c * d - 1.0).abs() < 1e-15 {
            break;
        }
    }
    (front.exp() * value / a).clamp(0.0, 1.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The defining property, checked with exact binomial sums: outside the interval, each tail is
    /// below alpha/2.
    #[test]
    fn the_ends_are_where_the_tails_are_half_of_alpha() {
        let tail = |p: f64, n: u64, from: u64| -> f64 {
            let mut term = (1.0 - p).powi(n as i32);
            let mut sum = if from == 0 { term } else { 0.0 };
            for i in 1..=n {
                term *= (n - i + 1) as f64 / i as f64 * p / (1.0 - p);
                sum += if i >= from { term } else { 0.0 };
            }
            sum
        };
        for (hits, n, alpha) in
            [(1, 10, 0.05), (5, 10, 0.05), (9, 10, 0.01), (3, 300, 1e-3), (150, 300, 0.05)]
        {
            let (low, high) = clopper_pearson(hits, n, alpha);
            assert!((tail(low, n, hits) - alpha / 2.0).abs() < 1e-9, "{hits} {n}");
            assert!((1.0 - tail(high, n, hits + 1) - alpha / 2.0).abs() < 1e-9, "{hits} {n}");
        }
    }

    #[test]
    fn edges() {
        assert_eq!(clopper_pearson(0, 0, 0.05), (0.0, 1.0));
        assert_eq!(clopper_pearson(0, 5, 0.05).0, 0.0);
        assert_eq!(clopper_pearson(5, 5, 0.05).1, 1.0);
        let (low, high) = clopper_pearson(10_000, 1_000_000, 0.05);
        assert!(low > 0.0098 && low < 0.01 && high > 0.01 && high < 0.0102, "{low} {high}");
    }
}
