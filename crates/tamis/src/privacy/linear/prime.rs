//! Solutions over the integers modulo a prime.

use super::planes;
use super::row::{BAND, Row};
use crate::Error;
use crate::privacy::noise::Coins;
use crate::store::filled;

/// The integers modulo an odd prime below 2^15, so that sums of two fit a lane of 16 bits.
struct Field {
    q: u16,
    /// 1 / q modulo 2^16, for Montgomery's multiplication: a processor multiplies eight or sixteen
    /// lanes at once, but divides none.
    inverse: u16,
}

impl Field {
    fn new(q: u16) -> Field {
        // Newton's iteration: q is its own inverse modulo 8, and each step doubles the bits that
        // are right.
        let inverse = (0..4).fold(q, |x, _| x.wrapping_mul(2u16.wrapping_sub(q.wrapping_mul(x))));
        Field { q, inverse }
    }

    /// `a * 2^16` modulo q, by which [`times_lifted`](Field::times_lifted) multiplies by `a`.
    fn lift(&self, a: u16) -> u16 {
        ((u32::from(a) << 16) % u32::from(self.q)) as u16
    }

    /// `a * b` modulo q, where `lifted` is a's lift.
    #[inline(always)]
    fn times_lifted(&self, lifted: u16, b: u16) -> u16 {
        let product = u32::from(lifted) * u32::from(b);
        let times = (product as u16).wrapping_mul(self.inverse);
        let rest = ((product >> 16) as u16)
            .wrapping_sub(((u32::from(times) * u32::from(self.q)) >> 16) as u16);
        rest.min(rest.wrapping_add(self.q)) // below zero is far above q
    }

    #[inline(always)]
    fn add(&self, a: u16, b: u16) -> u16 {
        (a + b).min((a + b).wrapping_sub(self.q))
    }

    /// 1 / a, by Fermat: a^(q-2).
    fn invert(&self, a: u16) -> u16 {
        let (mut power, mut exponent, mut result) = (a, self.q - 2, 1);
        while exponent > 0 {
            let lifted = self.lift(power);
            if exponent & 1 == 1 {
                result = self.times_lifted(lifted, result);
            }
            power = self.times_lifted(lifted, power);
            exponent >>= 1;
        }
        result
    }
}

/// Draws x uniformly from the solutions of all rows, and writes it into zeroed planes. The rows are
/// sorted by their starts and end within the columns, so that no row reaches past its own band (see
/// [`binary::solve`](super::binary::solve)).
pub(super) fn solve(
    rows: &[Row],
    columns: u64,
    q: u16,
    width: u32,
    coins: &mut (impl Coins + ?Sized),
    out: &mut [u8],
) -> Result<(), Error> {
    const SPAN: usize = BAND as usize;
    let field = Field::new(q);
    let columns = columns as usize;
    // The equation whose first column is i, from there on, scaled so that it begins with 1. None
    // begins with 0.
    let mut pivots = filled([0u16; SPAN], columns)?;
    for row in rows {
        let mut rest: [u16; SPAN] = std::array::from_fn(|j| (row.coefficients >> j & 1) as u16);
        for first in 0..SPAN {
            if rest[first] == 0 {
                continue;
            }
            let rest = &mut rest[first..];
            let pivot = &mut pivots[row.start as usize + first];
            if pivot[0] == 0 {
                let inverse = field.lift(field.invert(rest[0]));
                pivot
                    .iter_mut()
                    .zip(&*rest)
                    .for_each(|(to, from)| *to = field.times_lifted(inverse, *from));
                break;
            }
            let times = field.lift(q - rest[0]);
            rest.iter_mut()
                .zip(&*pivot)
                .for_each(|(to, from)| *to = field.add(*to, field.times_lifted(times, *from)));
        }
    }
    let mut values = filled(0u16, columns + SPAN)?;
    for column in (0..columns).rev() {
        let pivot = &pivots[column];
        values[column] = if pivot[0] == 0 {
            coins.below(u64::from(q)) as u16
        } else {
            let pairs = pivot[1..].iter().zip(&values[column + 1..]);
            let sum: u64 = pairs.map(|(a, b)| u64::from(*a) * u64::from(*b)).sum();
            let rest = (sum % u64::from(q)) as u16;
            if rest == 0 { 0 } else { q - rest }
        };
        planes::set(out, width, column as u64, u32::from(values[column]));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn products_sums_and_inverses_are_those_of_the_integers() {
        for q in [3, 5, 7, 53, 251, 257, 32_749] {
            let field = Field::new(q);
            let some: Vec<u16> = (0..q).filter(|a| *a < 60 || *a > q - 60 || a % 97 == 0).collect();
            for &a in &some {
                for &b in &some {
                    let (wide_a, wide_b, wide_q) = (u32::from(a), u32::from(b), u32::from(q));
                    assert_eq!(
                        u32::from(field.times_lifted(field.lift(a), b)),
                        wide_a * wide_b % wide_q,
                        "{a} {b} {q}"
                    );
                    assert_eq!(u32::from(field.add(a, b)), (wide_a + wide_b) % wide_q);
                }
                if a > 0 {
                    assert_eq!(field.times_lifted(field.lift(a), field.invert(a)), 1, "{a} {q}");
                }
            }
        }
    }
}
