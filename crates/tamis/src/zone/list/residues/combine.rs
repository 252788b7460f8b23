//! From residues modulo the moduli to the residue modulo a prime, in one pass of machine words.

use crate::zone::arith::chinese::Crt;
use crate::zone::arith::mersenne::Field;
use num_bigint::BigUint;
use num_traits::ToPrimitive;

/// Fractions are counted in units of 2^-96: a residue below 2^32 times such a reciprocal fits 128
/// bits.
const UNIT: u32 = 96;

/// Carries numbers from residues modulo the moduli to the residue modulo a prime, in one pass of
/// words.
///
/// With weights w_i = a_i q_i mod p_i the number is sum w_i N_i - t P, where t is the whole part of
/// sum w_i / p_i. So it is enough to know t, and fixed point fractions give it.
pub(super) struct Combiner<'a> {
    field: Field,
    moduli: &'a [u64],
    crt: &'a Crt,
    /// 1/p_i, rounded down.
    reciprocals: Vec<u128>,
    /// N_i modulo the prime.
    cofactors: Vec<u64>,
    /// P modulo the prime.
    product: u64,
    /// Bounds the units that rounding takes from the sum of fractions: less than w_i a term.
    error: u128,
}

impl<'a> Combiner<'a> {
    pub(super) fn new(moduli: &'a [u64], crt: &'a Crt, field: Field) -> Combiner<'a> {
        // Each cofactor is the product of the moduli before it and of those after it.
        let mut cofactors = Vec::with_capacity(moduli.len());
        let mut product = 1;
        for &modulus in moduli {
            cofactors.push(product);
            product = field.multiply(product, field.reduce(modulus.into()));
        }
        let mut after = 1;
        for (cofactor, &modulus) in cofactors.iter_mut().zip(moduli).rev() {
            *cofactor = field.multiply(*cofactor, after);
            after = field.multiply(after, field.reduce(modulus.into()));
        }
        let reciprocals =
            moduli.iter().map(|&modulus| (1 << UNIT) / u128::from(modulus).max(1)).collect();
        let error = moduli.iter().map(|&modulus| u128::from(modulus)).sum();
        Combiner { field, moduli, crt, reciprocals, cofactors, product, error }
    }

    /// Whether numbers up to `largest` are so far below P that the error cannot carry the sum of
    /// fractions, t + number/P, to the next whole number.
    pub(super) fn separates(&self, largest: &BigUint) -> bool {
        let slack = ((&self.crt.product * self.error) >> UNIT) + 1u32;
        largest + slack <= self.crt.product
    }

    /// The number modulo the prime, if it is small enough in the sense of `separates`.
    pub(super) fn combine(&self, residues: &[u64]) -> u64 {
        let mut fractions = self.error;
        let mut sum = 0u128;
        for (index, &residue) in residues.iter().enumerate() {
            let weight = residue * self.crt.basis[index] % self.moduli[index];
            fractions += u128::from(weight) * self.reciprocals[index];
            sum += u128::from(weight) * u128::from(self.cofactors[index]);
        }
        let whole = self.field.reduce(fractions >> UNIT);
        self.field.subtract(self.field.reduce(sum), self.field.multiply(whole, self.product))
    }

    /// The same by big numbers, for the rare product of moduli that is hardly larger than a
    /// coefficient.
    pub(super) fn combine_long(&self, residues: &[u64]) -> Option<u64> {
        (self.crt.solve(residues)? % self.field.prime).to_u64()
    }
}
