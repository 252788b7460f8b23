//! Fields modulo a Mersenne prime, where shifts and additions reduce.

use crate::zone::universe::Size;

/// The field of integers modulo the Mersenne prime 2^bits - 1, where shifts and additions reduce.
/// A polynomial is the list of its coefficients, lowest first, without zeros at the end.
#[derive(Clone, Copy)]
pub(crate) struct Field {
    pub(crate) bits: u32,
    pub(crate) prime: u64,
}

impl Field {
    /// The shorter prime halves the work but leaves up to five candidates a root: no more than
    /// that.
    pub(crate) fn for_universe(universe: Size) -> Field {
        let bits = if universe <= 1 << 33 { 31 } else { 61 };
        Field { bits, prime: (1 << bits) - 1 }
    }

    /// A smaller number of the same residue, since 2^bits is 1.
    pub(crate) fn fold(self, value: u128) -> u128 {
        (value & u128::from(self.prime)) + (value >> self.bits)
    }

    /// Folding lowers every number above the prime, so this ends, after five folds at most.
    pub(crate) fn reduce(self, mut value: u128) -> u64 {
        while value > u128::from(self.prime) {
            value = self.fold(value);
        }
        if value == u128::from(self.prime) { 0 } else { value as u64 }
    }

    pub(crate) fn add(self, left: u64, right: u64) -> u64 {
        let sum = left + right;
        if sum >= self.prime { sum - self.prime } else { sum }
    }

    pub(crate) fn subtract(self, left: u64, right: u64) -> u64 {
        if left >= right { left - right } else { left + self.prime - right }
    }

    /// Two folds bring a product of two elements to the prime plus 1 at most.
    pub(crate) fn multiply(self, left: u64, right: u64) -> u64 {
        let value = self.fold(self.fold(u128::from(left) * u128::from(right))) as u64;
        if value >= self.prime { value - self.prime } else { value }
    }

    /// `base` to the power 2^ones - 1, all of whose binary digits are ones.
    pub(crate) fn power(self, base: u64, ones: u32) -> u64 {
        (0..ones).fold(1, |power, _| self.multiply(self.multiply(power, power), base))
    }

    /// By Fermat the power p - 2, which is 4 (2^(bits-2) - 1) + 1.
    pub(crate) fn inverse(self, value: u64) -> u64 {
        let power = self.power(value, self.bits - 2);
        let square = self.multiply(power, power);
        self.multiply(self.multiply(square, square), value)
    }

    /// A square root, if there is one: the power (p+1)/4, for these primes are 3 modulo 4.
    pub(crate) fn root(self, value: u64) -> Option<u64> {
        let root = (2..self.bits).fold(value, |power, _| self.multiply(power, power));
        (self.multiply(root, root) == value).then_some(root)
    }
}
