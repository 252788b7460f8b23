//! Polynomials over the field modulo a Mersenne prime.
//!
//! A polynomial is the list of its coefficients, lowest first, without zeros at the end.

use super::mersenne::Field;

/// Products of two elements summed between two reductions: 2^5 products below 2^122 fit 128 bits.
const RUN: usize = 32;

/// From this many coefficients on Karatsuba's method pays.
const KARATSUBA: usize = 48;

impl Field {
    /// `left - right`, without zeros at the end.
    pub(crate) fn difference(self, mut left: Vec<u64>, right: &[u64]) -> Vec<u64> {
        left.resize(left.len().max(right.len()), 0);
        for (one, &other) in left.iter_mut().zip(right) {
            *one = self.subtract(*one, other);
        }
        trim(left)
    }

    /// Euclid's algorithm; the divisor is monic. Every step lowers the degree.
    pub(crate) fn common_divisor(self, mut left: Vec<u64>, mut right: Vec<u64>) -> Vec<u64> {
        while let Some(&leading) = right.last() {
            let scale = self.inverse(leading);
            right.iter_mut().for_each(|one| *one = self.multiply(*one, scale));
            let (_, rest) = self.divide(left, &right);
            left = right;
            right = rest;
        }
        left
    }

    /// Quotient and remainder by a monic divisor.
    pub(crate) fn divide(self, mut rest: Vec<u64>, divisor: &[u64]) -> (Vec<u64>, Vec<u64>) {
        let Some((_, lower)) = divisor.split_last() else {
            return (Vec::new(), rest);
        };
        let mut quotient = Vec::new();
        while rest.len() > lower.len() {
            let Some(leading) = rest.pop() else { break };
            let start = rest.len() - lower.len();
            let negative = self.subtract(0, leading);
            for (one, &other) in rest[start..].iter_mut().zip(lower) {
                *one = self.add(*one, self.multiply(negative, other));
            }
            quotient.push(leading);
        }
        quotient.reverse();
        (quotient, trim(rest))
    }

    /// The lowest `length` coefficients of the product.
    pub(crate) fn product(self, left: &[u64], right: &[u64], length: usize) -> Vec<u64> {
        let left = &left[..left.len().min(length)];
        let right = &right[..right.len().min(length)];
        if left.is_empty() || right.is_empty() {
            return vec![0; length];
        }
        let mut product = if left.len().min(right.len()) < KARATSUBA {
            self.schoolbook(left, right, length)
        } else {
            self.karatsuba(left, right)
        };
        product.resize(length, 0);
        product
    }

    /// Column by column, so that a column needs one reduction.
    fn schoolbook(self, left: &[u64], right: &[u64], length: usize) -> Vec<u64> {
        let columns = (left.len() + right.len() - 1).min(length);
        let column = |index: usize| {
            let first = (index + 1).saturating_sub(right.len());
            let last = index.min(left.len() - 1);
            self.convolve(&left[first..=last], &right[index - last..=index - first])
        };
        (0..columns).map(column).collect()
    }

    /// The sum of the products of the first by the last, the second by the last but one, and so on.
    fn convolve(self, left: &[u64], right: &[u64]) -> u64 {
        let mut sum = 0;
        for (some, others) in left.chunks(RUN).zip(right.rchunks(RUN)) {
            let products = some.iter().zip(others.iter().rev());
            sum = self.fold(sum)
                + products.map(|(&x, &y)| u128::from(x) * u128::from(y)).sum::<u128>();
        }
        self.reduce(sum)
    }

    /// Three products of half the length. Halves are cut at the same place on both sides.
    fn karatsuba(self, left: &[u64], right: &[u64]) -> Vec<u64> {
        let length = left.len() + right.len() - 1;
        let cut = left.len().max(right.len()).div_ceil(2);
        let (left_low, left_high) = left.split_at(cut.min(left.len()));
        let (right_low, right_high) = right.split_at(cut.min(right.len()));
        let low = self.product(left_low, right_low, 2 * cut);
        let high = self.product(left_high, right_high, 2 * cut);
        let (left_sum, right_sum) =
            (self.sum(left_low, left_high), self.sum(right_low, right_high));
        let mixed = self.product(&left_sum, &right_sum, 2 * cut);
        let mut product = vec![0; 4 * cut];
        product[..2 * cut].copy_from_slice(&low);
        product[2 * cut..].copy_from_slice(&high);
        for index in 0..2 * cut {
            let middle = self.subtract(mixed[index], self.add(low[index], high[index]));
            product[cut + index] = self.add(product[cut + index], middle);
        }
        product.truncate(length);
        product
    }

    /// The sum of a lower and a not longer upper half.
    fn sum(self, low: &[u64], high: &[u64]) -> Vec<u64> {
        let upper = high.iter().copied().chain(std::iter::repeat(0));
        low.iter().zip(upper).map(|(&one, other)| self.add(one, other)).collect()
    }
}

/// The polynomial without zeros at its end.
fn trim(mut polynomial: Vec<u64>) -> Vec<u64> {
    let length = polynomial.iter().rposition(|&one| one != 0).map_or(0, |last| last + 1);
    polynomial.truncate(length);
    polynomial
}

/// Arithmetic modulo a monic polynomial of degree 1 at least.
pub(crate) struct Quotient<'a> {
    field: Field,
    modulus: &'a [u64],
    degree: usize,
    /// The power series inverse to the modulus read from its highest coefficient: it turns the
    /// division of a square by the modulus into two products.
    inverse: Vec<u64>,
}

impl<'a> Quotient<'a> {
    pub(crate) fn new(field: Field, modulus: &'a [u64]) -> Quotient<'a> {
        let degree = modulus.len().saturating_sub(1);
        let reversed: Vec<u64> = modulus.iter().rev().copied().collect();
        // Newton's step g - g (f g - 1) doubles the number of right coefficients.
        let mut inverse = vec![1];
        while inverse.len() < degree {
            let length = (2 * inverse.len()).min(degree);
            let error = field.difference(field.product(&inverse, &reversed, length), &[1]);
            let correction = field.product(&inverse, &error, length);
            inverse.resize(length, 0);
            for (one, &other) in inverse.iter_mut().zip(&correction) {
                *one = field.subtract(*one, other);
            }
        }
        Quotient { field, modulus, degree, inverse }
    }

    /// (z + shift) to the power 2^ones - 1.
    pub(crate) fn power(&self, shift: u64, ones: u32) -> Vec<u64> {
        let one = vec![1];
        (0..ones).fold(one, |power, _| self.times_linear(self.square(&power), shift))
    }

    pub(crate) fn square(&self, value: &[u64]) -> Vec<u64> {
        let full = self.field.product(value, value, (2 * value.len()).saturating_sub(1));
        let excess = full.len().saturating_sub(self.degree);
        if excess == 0 {
            return full;
        }
        let top: Vec<u64> = full.iter().rev().take(excess).copied().collect();
        let mut multiple = self.field.product(&top, &self.inverse, excess);
        multiple.reverse();
        let surplus = self.field.product(&multiple, self.modulus, self.degree);
        surplus.iter().zip(&full).map(|(&one, &whole)| self.field.subtract(whole, one)).collect()
    }

    /// The value times z + shift.
    pub(crate) fn times_linear(&self, mut value: Vec<u64>, shift: u64) -> Vec<u64> {
        let field = self.field;
        let leading = if value.len() < self.degree { None } else { value.last().copied() };
        let negative = field.subtract(0, leading.unwrap_or(0));
        if leading.is_none() {
            value.push(0);
        }
        let mut below = 0;
        for (one, &coefficient) in value.iter_mut().zip(self.modulus) {
            let current = *one;
            let kept = field.add(below, field.multiply(current, shift));
            *one = field.add(kept, field.multiply(negative, coefficient));
            below = current;
        }
        value
    }
}
