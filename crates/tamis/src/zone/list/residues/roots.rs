//! The roots of a polynomial in the field modulo a Mersenne prime.

use crate::zone::arith::mersenne::Field;
use crate::zone::arith::polynomial::Quotient;
use crate::zone::list::progress::Watch;

/// Tries at splitting one polynomial; each fails with a probability of about a quarter at worst.
const ATTEMPTS: usize = 100;

impl Field {
    /// The distinct roots of a monic polynomial in the field. `None` if chance fails to split it,
    /// or the caller stops it.
    pub(super) fn roots(self, polynomial: Vec<u64>, watch: &mut Watch) -> Option<Vec<u64>> {
        let mut found = Vec::with_capacity(polynomial.len());
        let mut shifts = Shifts { field: self, state: 0 };
        let mut pending = self.linear_part(polynomial);
        // Splitting leaves two factors of lower degree, so there are fewer splits than roots.
        while let Some(factor) = pending.pop() {
            watch.step()?;
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
