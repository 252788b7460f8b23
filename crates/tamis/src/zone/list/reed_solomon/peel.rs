//! From the occupied positions and the number of items: blocks without collisions come first.
//!
//! A block with as many occupied positions as there are items shows the whole multiset of their
//! values. The coefficient of z^(s-j) in the product of z - f(a) has degree at most j t in a. So
//! t + 1 such blocks give the coefficient of z^(s-1) everywhere. It tells which position counts
//! twice in every block with one collision. These blocks, with the others, give the next
//! coefficient, which settles the blocks with two collisions, and so on.

use super::{algebra, product, representable, value};
use crate::zone::arith::field::Field;
use crate::zone::list::progress::Watch;
use crate::zone::universe::Size;

/// Lists `size` elements whose occupied positions in block i are `occupied[i]`. `None` if too many
/// blocks have collisions. The caller must check that all elements pass.
pub(crate) fn peel(
    field: &Field,
    t: u32,
    occupied: &[Vec<u32>],
    size: usize,
    universe: Size,
    watch: &mut Watch,
) -> Option<Vec<u128>> {
    let possible = |block: &Vec<u32>| !block.is_empty() && block.len() <= size;
    if !representable(field, t, universe) || !occupied.iter().all(possible) {
        return None;
    }
    let most = occupied.iter().map(|block| size - block.len()).max()?;
    let mut blocks = occupied.to_vec();
    // The coefficients of z^(s-1), z^(s-2), .. as polynomials in the point.
    let mut coefficients: Vec<Vec<u32>> = Vec::with_capacity(most);
    watch.begin(most + 1);
    watch.step()?;
    for missing in 1..=most {
        watch.step()?;
        coefficients.push(coefficient(field, t as usize * missing, missing, &blocks, size)?);
        for (point, block) in (0u32..).zip(&mut blocks) {
            if size - block.len() == missing {
                let top: Vec<u32> =
                    coefficients.iter().map(|one| value(field, one, point)).collect();
                let repeated = repeated(field, block, &top)?;
                block.extend(repeated);
            }
        }
    }
    algebra(field, t, &blocks, universe, watch)
}

/// The coefficient of z^(s-missing) as a polynomial of this degree, from the blocks that are whole.
fn coefficient(
    field: &Field,
    degree: usize,
    missing: usize,
    blocks: &[Vec<u32>],
    size: usize,
) -> Option<Vec<u32>> {
    let at = |block: &Vec<u32>| product(field, block)[size - missing];
    let finite = (0..field.order()).zip(blocks).filter(|(_, block)| block.len() == size);
    let (points, mut values): (Vec<u32>, Vec<u32>) =
        finite.take(degree + 1).map(|(point, block)| (point, at(block))).unzip();
    if points.len() > degree {
        return Some(interpolate(field, &points, values));
    }
    // The block at infinity has the leading coefficient, which stands for one more point.
    let infinity = blocks.get(field.order() as usize).filter(|block| block.len() == size)?;
    if points.len() < degree {
        return None;
    }
    let lead = at(infinity);
    for (value, &point) in values.iter_mut().zip(&points) {
        *value = field.sub(*value, field.mul(lead, field.pow(point, degree as u64)));
    }
    let mut polynomial = interpolate(field, &points, values);
    polynomial.resize(degree, 0);
    polynomial.push(lead);
    Some(polynomial)
}

/// The polynomial, of degree below the number of points, with these values: Newton's divided
/// differences. The constant term comes first.
fn interpolate(field: &Field, points: &[u32], values: Vec<u32>) -> Vec<u32> {
    let mut differences = values;
    for step in 1..points.len() {
        for i in (step..points.len()).rev() {
            let rise = field.sub(differences[i], differences[i - 1]);
            let run = field.inv(field.sub(points[i], points[i - step])).unwrap_or(0);
            differences[i] = field.mul(rise, run);
        }
    }
    let mut polynomial: Vec<u32> = Vec::with_capacity(points.len());
    for (&point, &difference) in points.iter().zip(&differences).rev() {
        // Times a - point, plus the next difference.
        polynomial.insert(0, difference);
        for i in 1..polynomial.len() {
            let moved = field.mul(field.neg(point), polynomial[i]);
            polynomial[i - 1] = field.add(polynomial[i - 1], moved);
        }
    }
    polynomial
}

/// The positions that count more than once, from the occupied ones and the highest coefficients of
/// the whole product below its leading 1. As many are missing as coefficients are given.
fn repeated(field: &Field, occupied: &[u32], top: &[u32]) -> Option<Vec<u32>> {
    let known = product(field, occupied);
    // The quotient of the whole product by the known one, from its highest coefficient on.
    let mut quotient = vec![1];
    for (j, &coefficient) in top.iter().enumerate() {
        let place = j + 1;
        let mut rest = coefficient;
        for i in 1..=place.min(occupied.len()) {
            let part = field.mul(known[occupied.len() - i], quotient[place - i]);
            rest = field.sub(rest, part);
        }
        quotient.push(rest);
    }
    let mut found = Vec::with_capacity(top.len());
    for &position in occupied {
        // Horner's rule gives the quotient by z - position, and the value there last.
        loop {
            let mut carry = 0;
            let divided: Vec<u32> = quotient
                .iter()
                .map(|&one| {
                    carry = field.add(field.mul(carry, position), one);
                    carry
                })
                .collect();
            match divided.split_last() {
                Some((0, lower)) if !lower.is_empty() => quotient = lower.to_vec(),
                _ => break,
            }
            found.push(position);
        }
    }
    (found.len() == top.len()).then_some(found)
}
