//! Listing a set from the cells of a Reed-Solomon code.
//!
//! An element is written in base q with digits c_0 .. c_t and stands for the polynomial
//! f(a) = c_0 + c_1 a + .. + c_t a^t over GF(q). Block i < q counts the values f(i) of a set, and
//! block q, the point at infinity, counts c_t. Two elements agree in at most t blocks, since their
//! difference has at most t roots.

mod algebra;
mod expansion;
mod join;
mod peel;
#[cfg(test)]
mod tests;

pub(crate) use algebra::algebra;
pub(crate) use join::join;
pub(crate) use peel::peel;

use crate::zone::arith::field::Field;
use crate::zone::universe::Size;

/// Elements are below 2^128 and q is at least 2, so no element needs more digits than t + 1 = 128.
const MAX_DEGREE: u32 = 127;

/// The position of an element in a block: f(block), or the top digit for block q, the point at
/// infinity. `None` if the element has more than t + 1 digits or there is no such block.
#[cfg(test)]
fn position(field: &Field, t: u32, element: u128, block: u32) -> Option<u32> {
    if t > MAX_DEGREE || block > field.order() {
        return None;
    }
    let q = u128::from(field.order());
    let mut rest = element;
    let mut digits = Vec::new();
    for _ in 0..=t {
        digits.push((rest % q) as u32);
        rest /= q;
    }
    (rest == 0).then(|| value(field, &digits, block))
}

/// Whether all numbers of the universe have t + 1 digits. Otherwise two elements could share all
/// their positions.
fn representable(field: &Field, t: u32, universe: Size) -> bool {
    let q = u128::from(field.order());
    t <= MAX_DEGREE && q.checked_pow(t + 1).is_none_or(|all| universe <= all)
}

/// The value of a polynomial (constant term first) at a field element, or its top coefficient at
/// infinity.
fn value(field: &Field, polynomial: &[u32], block: u32) -> u32 {
    if block == field.order() {
        return polynomial.last().copied().unwrap_or(0);
    }
    polynomial
        .iter()
        .rev()
        .fold(0, |sum, &coefficient| field.add(field.mul(sum, block), coefficient))
}

/// The element with the given digits, if it is in the universe.
fn element(field: &Field, digits: &[u32], universe: Size) -> Option<u128> {
    let q = u128::from(field.order());
    let step = |number: u128, &digit: &u32| number.checked_mul(q)?.checked_add(u128::from(digit));
    let number = digits.iter().rev().try_fold(0, step)?;
    universe.holds(number).then_some(number)
}

/// The product of z - v over all v of a block, constant term first.
fn product(field: &Field, block: &[u32]) -> Vec<u32> {
    let mut result = Vec::with_capacity(block.len() + 1);
    let mut previous = Vec::with_capacity(block.len() + 1);
    result.push(1);
    for &position in block {
        std::mem::swap(&mut result, &mut previous);
        result.clear();
        result.push(0);
        result.extend_from_slice(&previous);
        field.add_scaled(&mut result, &previous, field.neg(position));
    }
    result
}
