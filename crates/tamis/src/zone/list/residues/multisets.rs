//! The residues of an unknown set, one multiset a modulus, as both algebraic methods read them.

use crate::zone::arith::chinese::Crt;
use crate::zone::arith::divisor::Divisor;
use crate::zone::universe::Size;
use num_bigint::{BigInt, BigUint, Sign};
use num_traits::One;

/// The residues of one unknown set modulo every modulus, checked for shape and sorted.
pub(super) struct Multisets<'a> {
    pub(super) moduli: &'a [u64],
    pub(super) size: usize,
    pub(super) universe: Size,
    residues: Vec<Vec<u64>>,
}

impl<'a> Multisets<'a> {
    /// `None` when the input cannot come from a set of distinct numbers in `0..universe`, or when a
    /// modulus is 2^32 or more: products of two residues must fit a word.
    pub(super) fn new(
        moduli: &'a [u64],
        residues: &[Vec<u64>],
        universe: Size,
    ) -> Option<Multisets<'a>> {
        let size = residues.first()?.len();
        let shaped = moduli.len() == residues.len() && residues.iter().all(|one| one.len() == size);
        let small = moduli.iter().all(|&modulus| modulus <= u64::from(u32::MAX));
        let possible = size == 0 || universe.holds(size as u128 - 1);
        let reduced =
            moduli.iter().zip(residues).all(|(&modulus, one)| one.iter().all(|&x| x < modulus));
        if !(shaped && small && possible && reduced) {
            return None;
        }
        let mut residues = residues.to_vec();
        residues.iter_mut().for_each(|one| one.sort_unstable());
        Some(Multisets { moduli, size, universe, residues })
    }

    /// The largest C(s,j) (n-1)^j over all j, if it is below the product: only then are the
    /// elementary symmetric polynomials of the set, as integers, determined by their residues.
    pub(super) fn largest_coefficient(&self, product: &BigUint) -> Option<BigUint> {
        largest_coefficient(self.size, self.universe, product)
    }

    /// For every modulus the elementary symmetric polynomials of degrees 1 to s of its residues.
    pub(super) fn symmetric(&self) -> Vec<Vec<u64>> {
        self.moduli
            .iter()
            .zip(&self.residues)
            .map(|(&modulus, one)| symmetric(one, modulus))
            .collect()
    }

    /// Algorithm 3: f(z) = z^s - A_1 z^(s-1) + A_2 z^(s-2) - ..., every A_j by Chinese
    /// remaindering. The lowest coefficient comes first.
    pub(super) fn polynomial(&self) -> Option<Vec<BigInt>> {
        let crt = Crt::new(self.moduli)?;
        self.largest_coefficient(&crt.product)?;
        let symmetric = self.symmetric();
        let column = |degree: usize| symmetric.iter().map(|one| one[degree]).collect::<Vec<u64>>();
        let solved = (0..self.size).map(|degree| crt.solve(&column(degree)));
        Some(signed(solved.collect::<Option<Vec<BigUint>>>()?))
    }

    /// Keeps the candidates whose residues occur in every multiset. When `largest_coefficient`
    /// exists this is exact: the product of all (candidate - x) is below P in size and
    /// divisible by P, so it is zero. The last moduli go first: they tend to be the largest and
    /// to turn most candidates away.
    pub(super) fn keep_members(&self, candidates: &mut Vec<u128>) {
        for (&modulus, one) in self.moduli.iter().zip(&self.residues).rev() {
            let modulus = Divisor::new(modulus);
            let residue = |candidate: u128| modulus.remainder_of_wide(candidate);
            candidates.retain(|&candidate| one.binary_search(&residue(candidate)).is_ok());
        }
    }

    /// The elements in rising order, if they are a set in the universe that has exactly these
    /// multisets.
    pub(super) fn confirm(&self, mut elements: Vec<u128>) -> Option<Vec<u128>> {
        elements.sort_unstable();
        let distinct = elements.windows(2).all(|pair| pair[0] != pair[1]);
        let inside = elements.last().is_none_or(|&last| self.universe.holds(last));
        if elements.len() != self.size || !distinct || !inside {
            return None;
        }
        let mut image = Vec::with_capacity(self.size);
        for (&modulus, one) in self.moduli.iter().zip(&self.residues) {
            let modulus = Divisor::new(modulus.max(1));
            image.clear();
            image.extend(elements.iter().map(|&element| modulus.remainder_of_wide(element)));
            image.sort_unstable();
            if &image != one {
                return None;
            }
        }
        Some(elements)
    }
}

/// The monic polynomial with these elementary symmetric polynomials of its roots, of degree 1 and
/// up. The lowest coefficient comes first.
pub(super) fn signed(symmetric: Vec<BigUint>) -> Vec<BigInt> {
    let mut polynomial = vec![BigInt::one()];
    for (index, one) in symmetric.into_iter().enumerate() {
        let sign = if index % 2 == 0 { Sign::Minus } else { Sign::Plus };
        polynomial.push(BigInt::from_biguint(sign, one));
    }
    polynomial.reverse();
    polynomial
}

/// The largest C(s,j) (n-1)^j over all j, for s elements of a universe of n, if it is below the
/// product.
pub(crate) fn largest_coefficient(
    size: usize,
    universe: Size,
    product: &BigUint,
) -> Option<BigUint> {
    let greatest = universe.last();
    let mut largest = BigUint::one();
    let mut term = BigUint::one();
    for chosen in 1..=size {
        term = term * (size - chosen + 1) * greatest / chosen;
        if &term >= product {
            return None;
        }
        if term > largest {
            largest.clone_from(&term);
        }
    }
    Some(largest)
}

/// How many residues `symmetric` takes in together: nine products of numbers below 2^30 still fit a
/// word.
const BATCH: usize = 8;

/// Algorithm 2: sigma_j of the first i residues is sigma_j + x_i sigma_(j-1) of the first i-1.
/// A batch of residues is taken in at once, by its own symmetric polynomials, so that one reduction
/// serves a whole batch. Residues of 30 bits and more leave no room for that and go one by one.
pub(super) fn symmetric(residues: &[u64], modulus: u64) -> Vec<u64> {
    let divisor = Divisor::new(modulus.max(1));
    let batch = if modulus < 1 << 30 { BATCH } else { 1 };
    // Leading zeros stand for the polynomials of negative degree, so that no index needs a case.
    let mut sigma = vec![0; BATCH + residues.len() + 1];
    sigma[BATCH] = 1 % modulus.max(1);
    let mut known = 0;
    for group in residues.chunks(batch) {
        let factor = symmetric_batch(group, divisor);
        known += group.len();
        for top in (BATCH + 1..=BATCH + known).rev() {
            let below = &sigma[top - BATCH..=top];
            let sum = if batch == 1 {
                below[BATCH] + below[BATCH - 1] * factor[BATCH - 1]
            } else {
                below.iter().zip(&factor).map(|(&one, &other)| one * other).sum()
            };
            sigma[top] = divisor.remainder(sum);
        }
    }
    sigma.split_off(BATCH + 1)
}

/// The symmetric polynomials of at most `BATCH` residues, the one of degree 0 last.
fn symmetric_batch(residues: &[u64], divisor: Divisor) -> [u64; BATCH + 1] {
    let mut sigma = [0; BATCH + 1];
    sigma[BATCH] = 1;
    for &residue in residues {
        for index in 0..BATCH {
            sigma[index] = divisor.remainder(sigma[index] + residue * sigma[index + 1]);
        }
    }
    sigma
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn shapes_are_checked() {
        let made = |moduli, residues: &[Vec<u64>], universe| {
            Multisets::new(moduli, residues, Size::of(universe)).is_some()
        };
        assert!(!made(&[], &[], 10));
        assert!(!made(&[2, 3], &[vec![0]], 10));
        assert!(!made(&[2, 3], &[vec![0], vec![0, 1]], 10));
        assert!(!made(&[2, 3], &[vec![2], vec![0]], 10));
        assert!(!made(&[2], &[vec![0, 1]], 1));
        assert!(!made(&[1 << 32], &[vec![0]], 10));
        assert!(made(&[2, 3], &[vec![1], vec![2]], 6));
        assert!(made(&[2, 3], &[vec![1], vec![2]], u128::MAX));
    }

    proptest! {
        #[test]
        fn symmetric_is_the_plain_recurrence(
            raw in prop::collection::vec(any::<u64>(), 0..40),
            modulus in prop_oneof![1..100u64, 1..1u64 << 32, (1u64 << 32) - 100..1u64 << 32],
        ) {
            let residues: Vec<u64> = raw.iter().map(|x| x % modulus).collect();
            let mut sigma = vec![0u128; residues.len() + 1];
            sigma[0] = 1;
            for &x in &residues {
                for j in (1..sigma.len()).rev() {
                    sigma[j] = (sigma[j] + u128::from(x) * sigma[j - 1]) % u128::from(modulus);
                }
            }
            let expected: Vec<u64> = sigma[1..].iter().map(|&x| x as u64).collect();
            prop_assert_eq!(symmetric(&residues, modulus), expected);
        }
    }
}
