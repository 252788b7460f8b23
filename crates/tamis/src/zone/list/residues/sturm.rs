//! From counters, by Sturm's theorem, over the integers and exact throughout.
//!
//! The multisets give f(z) = product of (z - x); sign changes along its Sturm chain
//! count the roots in any interval (a, b], and bisection of integer intervals from (-1, n-1] on
//! isolates the roots.

use super::multisets::Multisets;
use crate::zone::list::progress::Watch;
use crate::zone::universe::Size;
use num_bigint::{BigInt, Sign};
use num_traits::{One, Signed, Zero};

/// A polynomial is the list of its coefficients, lowest first, without zeros at the end.
pub(super) type Polynomial = Vec<BigInt>;

/// The set of distinct numbers in `0..universe` that has the residues `residues[i]` modulo
/// `moduli[i]`.
///
/// `None` when there is no such set, or when the product of the moduli does not exceed every
/// C(s,j) (n-1)^j, so that the coefficients are not determined.
pub(crate) fn sturm(
    moduli: &[u64],
    residues: &[Vec<u64>],
    universe: Size,
    watch: &mut Watch,
) -> Option<Vec<u128>> {
    let multisets = Multisets::new(moduli, residues, universe)?;
    watch.begin(4 * multisets.size); // coefficients, members of the chain, intervals
    multisets.confirm(roots(multisets.polynomial()?, universe, watch)?)
}

/// The roots of a monic polynomial if all of them are distinct numbers of the universe.
pub(super) fn roots(
    polynomial: Polynomial,
    universe: Size,
    watch: &mut Watch,
) -> Option<Vec<u128>> {
    let chain = Chain::new(polynomial, watch)?;
    chain.integer_roots(BigInt::from(-1), BigInt::from(universe.last()), watch)
}

/// A Sturm chain f, f', ... of as many members as f has coefficients, all with positive leading
/// coefficients.
struct Chain {
    members: Vec<Polynomial>,
}

impl Chain {
    /// `None` unless all roots of the monic polynomial are real and distinct. Just then does the
    /// chain lose one degree a step and keep its leading coefficients positive, as it must to
    /// change sign s times at minus infinity and never at plus infinity.
    fn new(polynomial: Polynomial, watch: &mut Watch) -> Option<Chain> {
        let mut next = derivative(&polynomial);
        let mut members = vec![polynomial];
        for length in (1..members[0].len()).rev() {
            watch.step()?;
            if next.len() != length || !next.last()?.is_positive() {
                return None;
            }
            let following = negative_remainder(members.last()?, &next);
            members.push(next);
            next = following;
        }
        Some(Chain { members })
    }

    /// Sign changes along the chain at a point; zeros do not count.
    fn changes(&self, point: &BigInt) -> usize {
        let signs = self.members.iter().map(|member| sign(member, point));
        let signs: Vec<Sign> = signs.filter(|&sign| sign != Sign::NoSign).collect();
        signs.windows(2).filter(|pair| pair[0] != pair[1]).count()
    }

    /// The roots in (low, high], or `None` if one of them is not an integer.
    fn integer_roots(&self, low: BigInt, high: BigInt, watch: &mut Watch) -> Option<Vec<u128>> {
        let mut roots = Vec::new();
        let changes = (self.changes(&low), self.changes(&high));
        let mut pending = vec![(low, high, changes.0, changes.1)];
        // Every interval holds at least as many integers as roots, so there are few and all shrink.
        while let Some((low, high, changes_low, changes_high)) = pending.pop() {
            watch.step()?;
            let count = changes_low.checked_sub(changes_high)?;
            match count {
                0 => {}
                1 => roots.push(self.single_root(low, high)?),
                _ if &high - &low < BigInt::from(count) => return None,
                _ => {
                    let middle = &low + (&high - &low) / 2;
                    let changes = self.changes(&middle);
                    pending.push((low, middle.clone(), changes_low, changes));
                    pending.push((middle, high, changes, changes_high));
                }
            }
        }
        Some(roots)
    }

    /// The only root in (low, high], if it is an integer. The root is simple, so the polynomial has
    /// one sign between it and `high`, and the other sign before it: the rest of the chain is
    /// not needed.
    fn single_root(&self, mut low: BigInt, mut high: BigInt) -> Option<u128> {
        let polynomial = self.members.first()?;
        let above = sign(polynomial, &high);
        while above != Sign::NoSign && &high - &low > BigInt::one() {
            let middle = &low + (&high - &low) / 2;
            match sign(polynomial, &middle) {
                Sign::NoSign => return u128::try_from(middle).ok(),
                same if same == above => high = middle,
                _ => low = middle,
            }
        }
        if above == Sign::NoSign { u128::try_from(high).ok() } else { None }
    }
}

/// The sign of the value at a point, by Horner's rule.
fn sign(polynomial: &[BigInt], point: &BigInt) -> Sign {
    polynomial
        .iter()
        .rev()
        .fold(BigInt::zero(), |value, coefficient| value * point + coefficient)
        .sign()
}

pub(super) fn derivative(polynomial: &[BigInt]) -> Polynomial {
    let terms = polynomial.iter().enumerate().skip(1);
    terms.map(|(degree, coefficient)| coefficient * degree).collect()
}

/// Minus the remainder of a dividend by a divisor of one degree less, times b^2 / a^2 for their
/// leading coefficients a and b. That is a positive factor, so it changes no sign. Here b^2 makes
/// the division integral, and a^2 divides the outcome: for a chain that starts with a monic
/// polynomial and its derivative and loses one degree a step, it is a subresultant. So the numbers
/// stay short without a search for common divisors.
fn negative_remainder(dividend: &[BigInt], divisor: &[BigInt]) -> Polynomial {
    let (Some(first), Some((second, lower))) = (dividend.last(), divisor.split_last()) else {
        return Vec::new();
    };
    // The quotient is linear: second^2 * dividend = (linear z + constant) * divisor + remainder.
    let scale = second * second;
    let square = first * first;
    let linear = first * second;
    let next = lower.last().zip(dividend.iter().rev().nth(1));
    let constant = next.map_or_else(BigInt::zero, |(below, other)| second * other - first * below);
    let mut rest = Vec::with_capacity(lower.len());
    for (degree, coefficient) in lower.iter().enumerate() {
        let shifted =
            degree.checked_sub(1).map_or_else(BigInt::zero, |below| &linear * &lower[below]);
        rest.push((shifted + &constant * coefficient - &scale * &dividend[degree]) / &square);
    }
    let length = rest.iter().rposition(|one| !one.is_zero()).map_or(0, |last| last + 1);
    rest.truncate(length);
    rest
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::zone::list::progress::unwatched;

    fn chain(coefficients: &[i64]) -> Option<Chain> {
        unwatched(|watch| Chain::new(polynomial(coefficients), watch))
    }

    fn polynomial(coefficients: &[i64]) -> Polynomial {
        coefficients.iter().map(|&one| one.into()).collect()
    }

    #[test]
    fn chains_refuse_complex_and_multiple_roots() {
        assert!(chain(&[1, 0, 1]).is_none());
        assert!(chain(&[1, -2, 1]).is_none());
        assert!(chain(&[0, 0, 0, 1]).is_none());
        assert!(chain(&[-1, 0, 0, 1]).is_none());
        assert!(chain(&[0, -1, 0, 1]).is_some());
    }

    #[test]
    fn roots_between_integers_are_refused() {
        // The last is (z^2 - 3 z + 1)(z^2 - 5 z + 5), whose roots lie near 0.4, 1.4, 2.6 and 3.6.
        for coefficients in [&[-2, 0, 1][..], &[1, -3, 1], &[5, -20, 21, -8, 1]] {
            let chain = chain(coefficients).unwrap();
            assert_eq!(unwatched(|watch| chain.integer_roots((-1).into(), 10.into(), watch)), None);
        }
    }

    #[test]
    fn intervals_are_half_open() {
        // Roots 0, 1 and 5.
        let chain = chain(&[0, 5, -6, 1]).unwrap();
        let roots = |low: i32, high: i32| {
            let mut roots =
                unwatched(|watch| chain.integer_roots(low.into(), high.into(), watch)).unwrap();
            roots.sort_unstable();
            roots
        };
        assert_eq!(roots(-1, 5), [0, 1, 5]);
        assert_eq!(roots(0, 5), [1, 5]);
        assert_eq!(roots(-1, 4), [0, 1]);
        assert!(roots(1, 4).is_empty());
        assert_eq!(roots(-1, 0), [0]);
        assert!(roots(5, 9).is_empty());
    }
}
