//! Listing a set from its residue multisets by finding roots in a prime field.
//! The multisets give the coefficients of f(z) = product of (z - x) exactly, hence also modulo a
//! prime p; the roots of f modulo p are the elements modulo p, and the multisets tell which numbers
//! they stand for.

use super::crt::{Crt, Multisets};
use num_bigint::BigUint;
use num_traits::ToPrimitive;

/// The set of distinct numbers in `0..universe` that has the residues `residues[i]` modulo
/// `moduli[i]`.
///
/// `None` when there is no such set, or when the product of the moduli does not exceed every
/// C(s,j) (n-1)^j, so that the coefficients are not determined.
pub(crate) fn algebra(moduli: &[u64], residues: &[Vec<u64>], universe: u128) -> Option<Vec<u64>> {
    let multisets = Multisets::new(moduli, residues, universe)?;
    let field = Field::for_universe(universe);
    let polynomial = coefficients(&multisets, field)?;
    let roots = field.roots(polynomial)?;
    let mut elements: Vec<u64> =
        roots.into_iter().flat_map(|root| lifts(root, field, universe)).collect();
    if elements.len() > multisets.size {
        multisets.keep_members(&mut elements);
    }
    multisets.confirm(elements)
}

/// The numbers of the universe congruent to the root: nine at most, for the prime is at least 2^61
/// - 1 or at least an eighth of the universe.
fn lifts(root: u64, field: Field, universe: u128) -> impl Iterator<Item = u64> {
    let multiples = (0..=8).map(move |count| u128::from(root) + count * u128::from(field.prime));
    multiples.take_while(move |&number| number < universe).map(|number| number as u64)
}

/// Algorithm 3 modulo the prime: f(z) = z^s - A_1 z^(s-1) + A_2 z^(s-2) - ..., lowest coefficient
/// first.
fn coefficients(multisets: &Multisets, field: Field) -> Option<Vec<u64>> {
    let crt = Crt::new(multisets.moduli)?;
    let largest = multisets.largest_coefficient(&crt.product)?;
    let combiner = Combiner::new(multisets.moduli, &crt, field);
    let short = combiner.separates(&largest);
    let symmetric = multisets.symmetric();
    let mut polynomial = vec![1];
    for degree in 0..multisets.size {
        let column: Vec<u64> = symmetric.iter().map(|one| one[degree]).collect();
        let coefficient =
            if short { combiner.combine(&column) } else { combiner.combine_long(&column)? };
        polynomial.push(if degree % 2 == 0 { field.subtract(0, coefficient) } else { coefficient });
    }
    polynomial.reverse();
    Some(polynomial)
}

/// Fractions are counted in units of 2^-96: a residue below 2^32 times such a reciprocal fits 128
/// bits.
const UNIT: u32 = 96;

/// Carries numbers from residues modulo the moduli to the residue modulo a prime, in one pass of
/// words.
///
/// With weights w_i = a_i q_i mod p_i the number is sum w_i N_i - t P, where t is the whole part of
/// sum w_i / p_i. So it is enough to know t, and fixed point fractions give it.
struct Combiner<'a> {
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
    fn new(moduli: &'a [u64], crt: &'a Crt, field: Field) -> Combiner<'a> {
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
    fn separates(&self, largest: &BigUint) -> bool {
        let slack = ((&self.crt.product * self.error) >> UNIT) + 1u32;
        largest + slack <= self.crt.product
    }

    /// The number modulo the prime, if it is small enough in the sense of `separates`.
    fn combine(&self, residues: &[u64]) -> u64 {
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

    /// The same by big numbers, for those few products that exceed the coefficients by a hair.
    fn combine_long(&self, residues: &[u64]) -> Option<u64> {
        (self.crt.solve(residues)? % self.field.prime).to_u64()
    }
}

/// The field of integers modulo the Mersenne prime 2^bits - 1, where shifts and additions reduce.
/// A polynomial is the list of its coefficients, lowest first, without zeros at the end.
#[derive(Clone, Copy)]
struct Field {
    bits: u32,
    prime: u64,
}

/// Products of two elements summed between two reductions: 2^5 products below 2^122 fit 128 bits.
const RUN: usize = 32;

/// From this many coefficients on Karatsuba's method pays.
const KARATSUBA: usize = 48;

/// Tries at splitting one polynomial; each fails with a probability of about a quarter at worst.
const ATTEMPTS: usize = 100;

impl Field {
    /// The shorter prime halves the work but leaves up to five candidates a root: no more than
    /// that.
    fn for_universe(universe: u128) -> Field {
        let bits = if universe <= 1 << 33 { 31 } else { 61 };
        Field { bits, prime: (1 << bits) - 1 }
    }

    /// A smaller number of the same residue, since 2^bits is 1.
    fn fold(self, value: u128) -> u128 {
        (value & u128::from(self.prime)) + (value >> self.bits)
    }

    /// Folding lowers every number above the prime, so this ends, after five folds at most.
    fn reduce(self, mut value: u128) -> u64 {
        while value > u128::from(self.prime) {
            value = self.fold(value);
        }
        if value == u128::from(self.prime) { 0 } else { value as u64 }
    }

    fn add(self, left: u64, right: u64) -> u64 {
        let sum = left + right;
        if sum >= self.prime { sum - self.prime } else { sum }
    }

    fn subtract(self, left: u64, right: u64) -> u64 {
        if left >= right { left - right } else { left + self.prime - right }
    }

    /// Two folds bring a product of two elements to the prime plus 1 at most.
    fn multiply(self, left: u64, right: u64) -> u64 {
        let value = self.fold(self.fold(u128::from(left) * u128::from(right))) as u64;
        if value >= self.prime { value - self.prime } else { value }
    }

    /// `base` to the power 2^ones - 1, all of whose binary digits are ones.
    fn power(self, base: u64, ones: u32) -> u64 {
        (0..ones).fold(1, |power, _| self.multiply(self.multiply(power, power), base))
    }

    /// By Fermat the power p - 2, which is 4 (2^(bits-2) - 1) + 1.
    fn inverse(self, value: u64) -> u64 {
        let power = self.power(value, self.bits - 2);
        let square = self.multiply(power, power);
        self.multiply(self.multiply(square, square), value)
    }

    /// A square root, if there is one: the power (p+1)/4, for these primes are 3 modulo 4.
    fn root(self, value: u64) -> Option<u64> {
        let root = (2..self.bits).fold(value, |power, _| self.multiply(power, power));
        (self.multiply(root, root) == value).then_some(root)
    }

    /// The distinct roots of a monic polynomial in the field. `None` if chance fails to split it.
    fn roots(self, polynomial: Vec<u64>) -> Option<Vec<u64>> {
        let mut found = Vec::with_capacity(polynomial.len());
        let mut shifts = Shifts { field: self, state: 0 };
        let mut pending = self.linear_part(polynomial);
        // Splitting leaves two factors of lower degree, so there are fewer splits than roots.
        while let Some(factor) = pending.pop() {
            match factor.as_slice() {
                [] | [_] => {}
                [constant, _] => found.push(self.subtract(0, *constant)),
                [constant, linear, _] => found.extend(self.quadratic_roots(*constant, *linear)),
                _ => pending.extend(self.split(&factor, &mut shifts)?),
            }
        }
        Some(found)
    }

    /// z^2 + linear z + constant is (z + half)^2 - (half^2 - constant).
    fn quadratic_roots(self, constant: u64, linear: u64) -> Vec<u64> {
        let half = self.multiply(linear, self.prime.div_ceil(2));
        let Some(root) = self.root(self.subtract(self.multiply(half, half), constant)) else {
            return Vec::new();
        };
        let mut roots =
            vec![self.subtract(root, half), self.subtract(self.subtract(0, root), half)];
        roots.dedup();
        roots
    }

    /// The product of (z - r) over the distinct roots r, which is what the polynomial shares with
    /// z^p - z. On the way there lies z^((p-1)/2), so the product comes split once where that
    /// splits it. Degrees up to 2 are solved directly and need no preparation.
    fn linear_part(self, polynomial: Vec<u64>) -> Vec<Vec<u64>> {
        if polynomial.len() <= 3 {
            return vec![polynomial];
        }
        let quotient = Quotient::new(self, &polynomial);
        let half = quotient.power(0, self.bits - 1);
        let frobenius = quotient.times_linear(quotient.square(&half), 0);
        let whole = self.common_divisor(polynomial.clone(), self.difference(frobenius, &[0, 1]));
        match self.proper_factor(&whole, half) {
            Some(factors) => factors.into(),
            None => vec![whole],
        }
    }

    /// The polynomial as two factors, of which the first holds the roots where the power is 1.
    /// `None` if those are all roots or none.
    fn proper_factor(self, polynomial: &[u64], power: Vec<u64>) -> Option<[Vec<u64>; 2]> {
        let factor = self.common_divisor(polynomial.to_vec(), self.difference(power, &[1]));
        if factor.len() <= 1 || factor.len() >= polynomial.len() {
            return None;
        }
        let (other, _) = self.divide(polynomial.to_vec(), &factor);
        Some([factor, other])
    }

    /// Two proper factors of a product of distinct (z - r). The power (p-1)/2 of r + shift is 1 for
    /// half of the shifts, as good as independently for every r.
    fn split(self, polynomial: &[u64], shifts: &mut Shifts) -> Option<[Vec<u64>; 2]> {
        let quotient = Quotient::new(self, polynomial);
        let mut powers = shifts.take(ATTEMPTS).map(|shift| quotient.power(shift, self.bits - 1));
        powers.find_map(|power| self.proper_factor(polynomial, power))
    }

    /// `left - right`, without zeros at the end.
    fn difference(self, mut left: Vec<u64>, right: &[u64]) -> Vec<u64> {
        left.resize(left.len().max(right.len()), 0);
        for (one, &other) in left.iter_mut().zip(right) {
            *one = self.subtract(*one, other);
        }
        trim(left)
    }

    /// Euclid's algorithm; the divisor is monic. Every step lowers the degree.
    fn common_divisor(self, mut left: Vec<u64>, mut right: Vec<u64>) -> Vec<u64> {
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
    fn divide(self, mut rest: Vec<u64>, divisor: &[u64]) -> (Vec<u64>, Vec<u64>) {
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
    fn product(self, left: &[u64], right: &[u64], length: usize) -> Vec<u64> {
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
struct Quotient<'a> {
    field: Field,
    modulus: &'a [u64],
    degree: usize,
    /// The power series inverse to the modulus read from its highest coefficient: it turns the
    /// division of a square by the modulus into two products.
    inverse: Vec<u64>,
}

impl<'a> Quotient<'a> {
    fn new(field: Field, modulus: &'a [u64]) -> Quotient<'a> {
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
    fn power(&self, shift: u64, ones: u32) -> Vec<u64> {
        let one = vec![1];
        (0..ones).fold(one, |power, _| self.times_linear(self.square(&power), shift))
    }

    fn square(&self, value: &[u64]) -> Vec<u64> {
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
    fn times_linear(&self, mut value: Vec<u64>, shift: u64) -> Vec<u64> {
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

/// Shifts that look random: a linear congruential generator with a full period, of which the high
/// bits serve.
struct Shifts {
    field: Field,
    state: u64,
}

impl Iterator for Shifts {
    type Item = u64;

    fn next(&mut self) -> Option<u64> {
        self.state = self
            .state
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        Some(self.field.reduce(u128::from(self.state >> (64 - self.field.bits))))
    }
}

#[cfg(test)]
mod tests {
    use super::super::crt::sample;
    use super::*;
    use proptest::prelude::*;

    fn list(set: &[u64], universe: u128) -> Option<Vec<u64>> {
        sample::list(algebra, set, universe)
    }

    #[test]
    fn examples_and_extremes() {
        sample::check_paper_example(algebra);
        sample::check_extremes(algebra, 40);
    }

    #[test]
    fn elements_that_agree_modulo_the_prime() {
        for (bits, universe) in [(31, 1u128 << 33), (61, 1 << 64)] {
            let prime = (1u64 << bits) - 1;
            let set: Vec<u64> =
                (0..4).flat_map(|count| [count * prime, count * prime + 5]).collect();
            assert_eq!(list(&set, universe), Some(set));
        }
    }

    #[test]
    fn many_elements() {
        let set: Vec<u64> = (0..200u64).map(|x| x * x * 99_991 + x).collect();
        assert_eq!(list(&set, 1 << 32), Some(set.clone()));
        let run: Vec<u64> = (u64::MAX - 149..=u64::MAX).collect();
        assert_eq!(list(&run, 1 << 64), Some(run));
    }

    #[test]
    fn product_a_hair_above_the_coefficients() {
        // 2 * 3 * 5 * 7 = 210 against a largest coefficient of 209, and of 210.
        let moduli = [2, 3, 5, 7];
        assert_eq!(algebra(&moduli, &sample::residues(&[209], &moduli), 210), Some(vec![209]));
        assert_eq!(algebra(&moduli, &sample::residues(&[209], &moduli), 211), None);
    }

    #[test]
    fn odd_moduli() {
        sample::check_wide_moduli(algebra);
        sample::check_bad_moduli(algebra);
    }

    proptest! {
        #[test]
        fn sets_are_recovered((universe, set) in sample::sets(40)) {
            prop_assert_eq!(list(&set, universe), Some(set));
        }

        #[test]
        fn spare_moduli_expose_a_wrong_counter(
            (universe, set) in sample::sets(12),
            places in any::<[prop::sample::Index; 2]>(),
            change in any::<u64>(),
        ) {
            sample::check_wrong_counter(algebra, universe, &set, places, change)?;
        }

        #[test]
        fn too_few_moduli_list_nothing((universe, set) in sample::sets(12)) {
            sample::check_too_few_moduli(algebra, universe, &set)?;
        }

        #[test]
        fn any_input_lists_what_it_says(
            table in prop::collection::vec((0..40u64, prop::collection::vec(0..40u64, 2)), 0..8),
            universe in 0..60u128,
        ) {
            let (moduli, residues): (Vec<u64>, Vec<Vec<u64>>) = table.into_iter().unzip();
            if let Some(set) = algebra(&moduli, &residues, universe) {
                let mut image = sample::residues(&set, &moduli);
                let mut given = residues;
                image.iter_mut().chain(&mut given).for_each(|one| one.sort_unstable());
                prop_assert_eq!(image, given);
            }
        }

        #[test]
        fn products_agree_with_the_definition(
            left in prop::collection::vec(any::<u64>(), 1..300),
            right in prop::collection::vec(any::<u64>(), 1..300),
            length in 1usize..700,
            universe in prop::sample::select(vec![1u128 << 32, 1 << 64]),
        ) {
            let field = Field::for_universe(universe);
            let reduce = |one: &[u64]| one.iter().map(|&x| field.reduce(x.into())).collect::<Vec<u64>>();
            let (left, right) = (reduce(&left), reduce(&right));
            let mut expected = vec![0; length.max(left.len() + right.len())];
            for (i, &x) in left.iter().enumerate() {
                for (j, &y) in right.iter().enumerate() {
                    let product = u128::from(x) * u128::from(y) % u128::from(field.prime);
                    expected[i + j] = field.add(expected[i + j], product as u64);
                }
            }
            expected.truncate(length);
            prop_assert_eq!(field.product(&left, &right, length), expected);
        }

        #[test]
        fn inverses_and_roots(
            value in any::<u64>(),
            universe in prop::sample::select(vec![1u128 << 32, 1 << 64]),
        ) {
            let field = Field::for_universe(universe);
            let value = field.reduce(value.into()).max(1);
            prop_assert_eq!(field.multiply(value, field.inverse(value)), 1);
            let root = field.root(field.multiply(value, value)).unwrap();
            prop_assert!(root == value || root == field.prime - value);
        }
    }
}
