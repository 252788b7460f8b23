//! Finite fields GF(q) for prime powers q = p^e up to 65536.
//!
//! An element is a number below q whose base-p digits are the coefficients of a polynomial over
//! Z_p, the least significant digit being the constant term. Products are taken modulo the monic
//! irreducible polynomial of degree e whose lower coefficients, read as such a number, are
//! smallest; this choice fixes the numbering of the field once and for all.
//!
//! Products go through logarithms to a generator. Sums are an exclusive or when p = 2, modular when
//! e = 1, and otherwise use Zech logarithms: a + b = a (1 + b / a), with log(1 + g^i) in a table.

use super::primes::prime_power;
use super::ring::{Ring, plus_one};

/// The largest order for which tables are built; every element then fits in 16 bits.
const MAX_ORDER: u32 = 1 << 16;

/// How sums are computed, which depends on the shape of q.
#[derive(Clone, Debug)]
enum Sum {
    /// p = 2: digits add without carry in binary.
    Binary,
    /// e = 1: integers modulo q.
    Prime,
    /// Odd p and e > 1: `zech[i]` is the logarithm of 1 + g^i.
    Zech(Vec<u32>),
}

/// The field GF(q). Operands are numbers below q; any other operand gives some number without
/// meaning (never a panic), so that the inner loops of callers need no checks.
#[derive(Clone, Debug)]
pub(crate) struct Field {
    order: u32,
    /// `powers[i]` = g^i for i < 2(q - 1): two periods, so that a sum of two logarithms needs no
    /// reduction.
    powers: Vec<u16>,
    /// `logs[a]` for a in 0..q; the logarithm of 0 lies behind the table of powers, where all
    /// reads give 0.
    logs: Vec<u32>,
    sum: Sum,
}

impl Field {
    /// The field with `q` elements; `None` unless q is a prime power with 2 <= q <= 65536.
    pub(crate) fn new(q: u32) -> Option<Field> {
        if q > MAX_ORDER {
            return None;
        }
        let (p, e) = prime_power(q)?;
        let ring = Ring::new(p, e, q);
        let cycle = ring.cycle(ring.generator()?);
        let period = cycle.len();
        let mut logs = vec![2 * (q - 1); q as usize];
        for (exponent, &element) in (0u32..).zip(&cycle) {
            logs[element as usize] = exponent;
        }
        let powers = (0..2 * period).map(|i| cycle[i % period] as u16).collect();
        let sum = match (ring.p, e) {
            (2, _) => Sum::Binary,
            (_, 1) => Sum::Prime,
            (p, _) => Sum::Zech(cycle.iter().map(|&a| logs[plus_one(p, a) as usize]).collect()),
        };
        Some(Field { order: q, powers, logs, sum })
    }

    /// The number of elements q.
    pub(crate) fn order(&self) -> u32 {
        self.order
    }

    /// a + b
    #[inline]
    pub(crate) fn add(&self, a: u32, b: u32) -> u32 {
        match &self.sum {
            Sum::Binary => a ^ b,
            Sum::Prime => self.add_prime(a, b),
            Sum::Zech(zech) => self.add_zech(zech, a, b),
        }
    }

    /// a - b
    #[inline]
    pub(crate) fn sub(&self, a: u32, b: u32) -> u32 {
        match &self.sum {
            Sum::Binary => a ^ b,
            Sum::Prime => self.add_prime(a, self.order.wrapping_sub(b)),
            Sum::Zech(zech) => self.add_zech(zech, a, self.neg(b)),
        }
    }

    /// -a, which is a itself when p = 2. For odd q, -1 is the generator to the power (q - 1) / 2.
    #[inline]
    pub(crate) fn neg(&self, a: u32) -> u32 {
        match self.sum {
            Sum::Binary => a,
            _ => self.power(self.log(a) + (self.order - 1) / 2),
        }
    }

    /// a b
    #[inline]
    pub(crate) fn mul(&self, a: u32, b: u32) -> u32 {
        self.power(self.log(a) + self.log(b))
    }

    /// 1 / a; `None` for 0 and for numbers outside the field.
    #[inline]
    pub(crate) fn inv(&self, a: u32) -> Option<u32> {
        let log = self.log(a);
        (log < self.order).then(|| self.power(self.order - 1 - log))
    }

    /// a to the power `exponent`, with 0^0 = 1.
    pub(crate) fn pow(&self, a: u32, exponent: u64) -> u32 {
        if exponent == 0 {
            return 1;
        }
        let log = self.log(a);
        if log >= self.order {
            return 0;
        }
        let period = u64::from(self.order - 1);
        self.power((u64::from(log) * (exponent % period) % period) as u32)
    }

    /// Adds `factor` times `from` to `into`, entry by entry, as far as the shorter of the two
    /// reaches. The kind of sum and the logarithm of the factor are looked at once, not for
    /// every entry.
    pub(crate) fn add_scaled(&self, into: &mut [u32], from: &[u32], factor: u32) {
        if factor == 0 {
            return;
        }
        let log = self.log(factor);
        let pairs = into.iter_mut().zip(from);
        match &self.sum {
            Sum::Binary => pairs.for_each(|(a, &b)| *a ^= self.power(log + self.log(b))),
            Sum::Prime => {
                pairs.for_each(|(a, &b)| *a = self.add_prime(*a, self.power(log + self.log(b))));
            }
            Sum::Zech(zech) => {
                pairs.for_each(|(a, &b)| {
                    *a = self.add_zech(zech, *a, self.power(log + self.log(b)));
                });
            }
        }
    }

    /// The logarithm; for 0, and for what is not an element, a number from 2(q - 1) on.
    #[inline]
    fn log(&self, a: u32) -> u32 {
        self.logs.get(a as usize).copied().unwrap_or(2 * (self.order - 1))
    }

    /// The generator to the power `exponent`, and 0 behind the table, where the logarithm of 0
    /// leads.
    #[inline]
    fn power(&self, exponent: u32) -> u32 {
        self.powers.get(exponent as usize).map_or(0, |&a| u32::from(a))
    }

    #[inline]
    fn add_prime(&self, a: u32, b: u32) -> u32 {
        let sum = a.wrapping_add(b);
        if sum >= self.order { sum.wrapping_sub(self.order) } else { sum }
    }

    #[inline]
    fn add_zech(&self, zech: &[u32], a: u32, b: u32) -> u32 {
        if a == 0 {
            return b;
        }
        if b == 0 {
            return a;
        }
        let (low, high) = (self.log(a), self.log(b));
        let quotient =
            if high >= low { high - low } else { (high + self.order - 1).wrapping_sub(low) };
        self.power(low + zech.get(quotient as usize).copied().unwrap_or(0))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::zone::arith::ring::{number, smallest_irreducible};
    use tamis_random::SplitMix64;

    fn field(q: u32) -> Field {
        Field::new(q).unwrap()
    }

    /// Digit-wise sum, straight from the definition.
    fn plain_sum(p: u32, e: u32, a: u32, b: u32) -> u32 {
        (0..e).map(|k| p.pow(k)).map(|place| (a / place % p + b / place % p) % p * place).sum()
    }

    fn check_pair(field: &Field, p: u32, e: u32, a: u32, b: u32) {
        let q = field.order();
        assert_eq!(field.add(a, b), plain_sum(p, e, a, b));
        assert_eq!(field.add(field.sub(a, b), b), a);
        assert_eq!(field.add(a, field.neg(a)), 0);
        assert_eq!(field.mul(a, b), field.mul(b, a));
        assert!(field.mul(a, b) < q && field.add(a, b) < q && field.sub(a, b) < q);
        assert_eq!(field.mul(a, b), Ring::new(p, e, q).mul(a, b));
        let mut scaled = [b, 0, 1];
        field.add_scaled(&mut scaled, &[b, b, 0], a);
        assert_eq!(scaled, [field.add(b, field.mul(a, b)), field.mul(a, b), 1]);
    }

    fn check_triple(field: &Field, a: u32, b: u32, c: u32) {
        assert_eq!(field.add(field.add(a, b), c), field.add(a, field.add(b, c)));
        assert_eq!(field.mul(field.mul(a, b), c), field.mul(a, field.mul(b, c)));
        assert_eq!(field.mul(a, field.add(b, c)), field.add(field.mul(a, b), field.mul(a, c)));
    }

    fn check_single(field: &Field, a: u32) {
        assert_eq!((field.add(a, 0), field.mul(a, 1), field.mul(a, 0)), (a, a, 0));
        assert_eq!(field.inv(a).is_none(), a == 0);
        assert!(field.inv(a).is_none_or(|inverse| field.mul(a, inverse) == 1));
        assert_eq!((field.pow(a, 0), field.pow(a, 1)), (1, a));
        assert_eq!(field.pow(a, 3), field.mul(a, field.mul(a, a)));
        assert_eq!(field.pow(a, u64::from(field.order())), a);
    }

    #[test]
    fn axioms_hold_everywhere_in_small_fields() {
        for q in 2..=64 {
            let Some((p, e)) = prime_power(q) else {
                assert!(Field::new(q).is_none());
                continue;
            };
            let field = field(q);
            for a in 0..q {
                check_single(&field, a);
                for b in 0..q {
                    check_pair(&field, p, e, a, b);
                    (0..q).for_each(|c| check_triple(&field, a, b, c));
                }
            }
        }
    }

    #[test]
    fn axioms_hold_in_samples_of_large_fields() {
        let mut random = SplitMix64::new(1);
        let mut draw = |q: u32| random.below(q.into()) as u32;
        for q in [81, 125, 243, 256, 1024, 4096, 6561, 59049, 63001, 65521, 65536] {
            let (p, e) = prime_power(q).unwrap();
            let field = field(q);
            (0..q).for_each(|a| check_single(&field, a));
            for _ in 0..200 {
                check_pair(&field, p, e, draw(q), draw(q));
            }
            for _ in 0..20000 {
                check_triple(&field, draw(q), draw(q), draw(q));
            }
        }
    }

    #[test]
    fn moduli_are_the_smallest() {
        let lower = |p: u32, e: u32| number(p, &smallest_irreducible(p, e, p.pow(e))) - p.pow(e);
        assert_eq!(lower(2, 2), 0b11);
        assert_eq!(lower(2, 3), 0b011);
        assert_eq!(lower(3, 2), 1);
        assert_eq!(lower(2, 8), 0b11011);
        assert_eq!(lower(2, 16), 0b101011);
        assert_eq!(lower(5, 2), 2);
    }

    #[test]
    fn known_products() {
        assert_eq!((field(4).mul(2, 2), field(4).mul(2, 3), field(4).mul(3, 3)), (3, 1, 2));
        assert_eq!((field(8).mul(2, 4), field(8).mul(4, 4)), (3, 6));
        assert_eq!((field(9).mul(3, 3), field(9).add(4, 5), field(9).neg(1)), (2, 6, 2));
        assert_eq!((field(256).mul(0x57, 0x83), field(256).inv(0x53)), (0xc1, Some(0xca)));
        assert_eq!((field(7).mul(3, 5), field(7).sub(2, 5), field(7).inv(3)), (1, 4, Some(5)));
    }

    #[test]
    fn every_prime_power_has_a_field() {
        for q in 0..=4200 {
            let order = Field::new(q).map(|field| field.order());
            assert_eq!(order, prime_power(q).map(|_| q));
        }
        for p in 2u32..256 {
            let powers = (2..=16).filter_map(|e| p.checked_pow(e)).filter(|&q| q <= MAX_ORDER);
            powers.for_each(|q| assert_eq!(Field::new(q).is_some(), prime_power(p).is_some()));
        }
        for q in [0, 1, 6, 65537, 131072, u32::MAX] {
            assert!(Field::new(q).is_none());
        }
    }

    #[test]
    fn foreign_operands_do_no_harm() {
        for q in [2, 3, 4, 9, 65536] {
            let field = field(q);
            for (a, b) in [(q, 1), (u32::MAX, u32::MAX), (0, u32::MAX), (1, q)] {
                let sums = [field.add(a, b), field.sub(a, b), field.sub(b, a)];
                let products = [field.neg(a), field.mul(a, b), field.pow(b, u64::MAX)];
                std::hint::black_box((sums, products));
                field.add_scaled(&mut [a, b], &[b, a], a);
                assert!(field.inv(a.max(b)).is_none());
            }
        }
    }
}
