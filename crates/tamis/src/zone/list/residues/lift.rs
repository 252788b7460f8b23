//! The integer roots of a polynomial: its roots modulo a prime, lifted to a power of the prime.

use super::sturm::{self, Polynomial};
use crate::zone::arith::mersenne::Field;
use crate::zone::list::progress::Watch;
use crate::zone::universe::Size;
use num_bigint::BigInt;
use num_integer::Integer;
use num_traits::{ToPrimitive, Zero};

/// The roots of a monic polynomial if all of them are distinct numbers of the universe. If not,
/// there may be an answer nevertheless, so the caller must confirm it.
///
/// Newton's step turns a root modulo p^k into one modulo p^(2k). It needs a root that is simple
/// modulo p. If two elements have the same remainder, Sturm sequences find the roots.
pub(super) fn integer_roots(
    polynomial: Polynomial,
    universe: Size,
    watch: &mut Watch,
) -> Option<Vec<u128>> {
    let degree = polynomial.len().checked_sub(1)?;
    let field = Field::for_universe(Size::up_to(u64::MAX.into()));
    let prime = BigInt::from(field.prime);
    let reduced: Vec<u64> =
        polynomial.iter().filter_map(|one| one.mod_floor(&prime).to_u64()).collect();
    watch.begin(4 * degree); // splits into factors, lifts
    let roots = field.roots(reduced, watch)?;
    if roots.len() != degree {
        watch.begin(3 * degree);
        return sturm::roots(polynomial, universe, watch);
    }
    let derivative = sturm::derivative(&polynomial);
    // Two steps lift to p^4, which is above 2^128.
    let powers = [prime.pow(2), prime.pow(4)];
    let mut elements = Vec::with_capacity(degree);
    for root in roots {
        watch.step()?;
        let mut root = BigInt::from(root);
        // The inverse of the derivative at the root improves with the root.
        let slope = value(&derivative, &root, &prime).to_u64()?;
        let mut inverse = BigInt::from(field.inverse(slope));
        for power in &powers {
            let slope = value(&derivative, &root, power);
            let correction: BigInt = 2 - slope * &inverse;
            inverse = (inverse * correction).mod_floor(power);
            root = (&root - value(&polynomial, &root, power) * &inverse).mod_floor(power);
        }
        elements.push(u128::try_from(root).ok().filter(|root| universe.holds(*root))?);
    }
    Some(elements)
}

/// The value at a point modulo a number, by Horner's rule.
fn value(polynomial: &[BigInt], point: &BigInt, modulus: &BigInt) -> BigInt {
    let step = |value: BigInt, one: &BigInt| (value * point + one).mod_floor(modulus);
    polynomial.iter().rev().fold(BigInt::zero(), step)
}
