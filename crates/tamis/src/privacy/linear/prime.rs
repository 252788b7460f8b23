//! Solutions over the integers modulo a prime.

use super::planes;
use super::row::{BAND, Row};
use crate::Error;
use crate::privacy::noise::Coins;
use crate::simd::{Kernels, Level, Work, dispatch};
use crate::store::filled;

/// The integers modulo an odd prime below 2^15, so that sums of two fit a lane of 16 bits.
struct Field {
    q: u16,
    /// 1 / q modulo 2^16, for Montgomery's multiplication: a processor multiplies eight or sixteen
    /// lanes at once, but divides none.
    inverse: u16,
    /// 2^16 / q, rounded down, for [`reduce`](Field::reduce).
    reciprocal: u16,
}

impl Field {
    fn new(q: u16) -> Field {
        // Newton's iteration: q is its own inverse modulo 8, and each step doubles the bits that
        // are right.
        let inverse = (0..4).fold(q, |x, _| x.wrapping_mul(2u16.wrapping_sub(q.wrapping_mul(x))));
        Field { q, inverse, reciprocal: ((1 << 16) / u32::from(q)) as u16 }
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

    /// `a` modulo q, for any `a` if q is below 2^8, else for those below 2 q.
    #[inline(always)]
    fn reduce(&self, a: u16) -> u16 {
        // The quotient is too small by 1 at most, since a / 2^16 is below 1, and so is the part of
        // the reciprocal that was cut off.
        let quotient = ((u32::from(a) * u32::from(self.reciprocal)) >> 16) as u16;
        let rest = a.wrapping_sub(quotient.wrapping_mul(self.q));
        rest.min(rest.wrapping_sub(self.q))
    }

    /// 1 / a for each a, if so many rows are worth a table; else none.
    fn inverses(&self, rows: usize) -> Result<Vec<u16>, Error> {
        let q = usize::from(self.q);
        if rows < q {
            return Ok(Vec::new());
        }
        // q = (q / a) a + q % a, so 1 / a = -(q / a) / (q % a).
        let mut all = filled(1u16, q)?;
        for a in 2..q {
            let quotient = (q - q / a) as u32;
            all[a] = (quotient * u32::from(all[q % a]) % u32::from(self.q)) as u16;
        }
        Ok(all)
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

/// The columns of a row.
const SPAN: usize = BAND as usize;

/// A coefficient as it is kept: a byte where the field has at most 256 elements.
trait Lane: Copy + Default + Send + Sync {
    fn wide(self) -> u16;
    /// A number that fits.
    fn narrow(value: u16) -> Self;
}

impl Lane for u8 {
    #[inline(always)]
    fn wide(self) -> u16 {
        self.into()
    }

    #[inline(always)]
    fn narrow(value: u16) -> u8 {
        value as u8
    }
}

impl Lane for u16 {
    #[inline(always)]
    fn wide(self) -> u16 {
        self
    }

    #[inline(always)]
    fn narrow(value: u16) -> u16 {
        value
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
    if q < 1 << 8 {
        solve_by::<u8>(rows, columns, q, width, coins, out)
    } else {
        solve_by::<u16>(rows, columns, q, width, coins, out)
    }
}

/// The same, with equations of this kind of lanes.
///
/// The coefficient of column c is in lane c modulo the band, in every array. So a row and the
/// pivots that reduce it need no shifting, and each loop runs over all lanes: no pivot has anything
/// past the row's band, nor before its own first column.
fn solve_by<L: Lane>(
    rows: &[Row],
    columns: u64,
    q: u16,
    width: u32,
    coins: &mut (impl Coins + ?Sized),
    out: &mut [u8],
) -> Result<(), Error> {
    let field = Field::new(q);
    let columns = columns as usize;
    // The equation whose first column is i, scaled so that it begins with 1. None begins with 0.
    let mut pivots = filled([L::default(); SPAN], columns)?;
    let inverses = field.inverses(rows.len())?;
    let level = Level::detect();
    dispatch!(level, kernels => kernels.run(Eliminate {
        field: &field,
        inverses: &inverses,
        rows,
        pivots: &mut pivots,
    }));
    // The values of the columns after this one.
    let mut values = [0u16; SPAN];
    for column in (0..columns).rev() {
        let (pivot, lane) = (&pivots[column], column % SPAN);
        // That of the column one band further on is needed no more.
        values[lane] = 0;
        values[lane] = if pivot[lane].wide() == 0 {
            coins.below(u64::from(q)) as u16
        } else {
            let rest =
                dispatch!(level, kernels => kernels.run(Product { q, pivot, values: &values }));
            if rest == 0 { 0 } else { q - rest }
        };
        planes::set(out, width, column as u64, u32::from(values[lane]));
    }
    Ok(())
}

/// Elimination, to be compiled for each level: all lanes of a row at once.
struct Eliminate<'a, L> {
    field: &'a Field,
    inverses: &'a [u16],
    rows: &'a [Row],
    pivots: &'a mut [[L; SPAN]],
}

impl<L: Lane> Work for Eliminate<'_, L> {
    type Output = ();

    // Loops, not iterators: closures would be compiled into functions that lack the instructions.
    #[inline(always)]
    fn run(self) {
        let Eliminate { field, inverses, rows, pivots } = self;
        let q = field.q;
        // How many products can be added to a lane before it must be reduced: none in a field of
        // two bytes.
        let most = if q < 1 << 8 { (u16::MAX - (q - 1)) / ((q - 1) * (q - 1)) } else { 0 };
        for row in rows {
            let start = row.start as usize;
            let mut rest = lanes(row.coefficients.rotate_left((start % SPAN) as u32));
            let mut added = 0;
            for offset in 0..SPAN {
                let column = start + offset;
                let lane = column % SPAN;
                let first = field.reduce(rest[lane]);
                if first == 0 {
                    continue;
                }
                let pivot = &mut pivots[column];
                if pivot[lane].wide() == 0 {
                    let inverse = match inverses.get(usize::from(first)) {
                        Some(inverse) => *inverse,
                        None => field.invert(first),
                    };
                    let lifted = field.lift(inverse);
                    for j in 0..SPAN {
                        pivot[j] = L::narrow(field.times_lifted(lifted, field.reduce(rest[j])));
                    }
                    break;
                }
                let times = q - first;
                if most == 0 {
                    let lifted = field.lift(times);
                    for j in 0..SPAN {
                        let product = field.times_lifted(lifted, pivot[j].wide());
                        rest[j] = field.add(rest[j], product);
                    }
                    continue;
                }
                if added == most {
                    for value in &mut rest {
                        *value = field.reduce(*value);
                    }
                    added = 0;
                }
                added += 1;
                for j in 0..SPAN {
                    rest[j] += times * pivot[j].wide();
                }
            }
        }
    }
}

/// The bits of a row, one to a lane.
#[inline(always)]
fn lanes(bits: u128) -> [u16; SPAN] {
    let mut all = [0; SPAN];
    for (i, lanes) in all.chunks_exact_mut(16).enumerate() {
        let word = (bits >> (16 * i)) as u16;
        for (j, lane) in lanes.iter_mut().enumerate() {
            *lane = u16::from(word & (1 << j) != 0);
        }
    }
    all
}

/// The sum of the products of all lanes, modulo q.
struct Product<'a, L> {
    q: u16,
    pivot: &'a [L; SPAN],
    values: &'a [u16; SPAN],
}

impl<L: Lane> Work for Product<'_, L> {
    type Output = u16;

    #[inline(always)]
    fn run(self) -> u16 {
        let Product { q, pivot, values } = self;
        if q <= 1 << 12 {
            // At most 2^31: processors multiply pairs of 16 bits and add them up.
            let mut sum = 0i32;
            for j in 0..SPAN {
                sum = sum
                    .wrapping_add(i32::from(pivot[j].wide() as i16) * i32::from(values[j] as i16));
            }
            return (sum as u32 % u32::from(q)) as u16;
        }
        let mut sum = 0u64;
        for j in 0..SPAN {
            sum += u64::from(u32::from(pivot[j].wide()) * u32::from(values[j]));
        }
        (sum % u64::from(q)) as u16
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::privacy::noise::SeededCoins;

    /// Elimination as anybody would write it, one coefficient at a time.
    fn naive(rows: &[Row], columns: usize, q: u64, coins: &mut SeededCoins) -> Vec<u64> {
        let inverse = |a: u64| (1..q).find(|b| a * b % q == 1).unwrap();
        let mut pivots: Vec<Option<Vec<u64>>> = vec![None; columns];
        for row in rows {
            let mut rest = vec![0; columns];
            (0..SPAN)
                .for_each(|j| rest[row.start as usize + j] = (row.coefficients >> j & 1) as u64);
            for column in 0..columns {
                if rest[column] == 0 {
                    continue;
                }
                let Some(pivot) = &pivots[column] else {
                    let scale = inverse(rest[column]);
                    pivots[column] = Some(rest.iter().map(|a| a * scale % q).collect());
                    break;
                };
                let times = q - rest[column];
                rest.iter_mut().zip(pivot).for_each(|(a, b)| *a = (*a + times * b) % q);
            }
        }
        let mut values = vec![0; columns];
        for column in (0..columns).rev() {
            values[column] = match &pivots[column] {
                None => coins.below(q),
                Some(pivot) => {
                    let sum: u64 = (column + 1..columns).map(|i| pivot[i] * values[i]).sum();
                    (q - sum % q) % q
                }
            };
        }
        values
    }

    /// Every element of a release is that of the plain elimination with the same coins.
    #[test]
    fn solutions_are_those_of_plain_elimination() {
        let mut random = tamis_random::SplitMix64::new(1);
        for q in [3u16, 5, 53, 127, 179, 181, 191, 251, 257, 1009, 4093, 4099, 32_749] {
            // As many rows as columns, and more: some follow from others.
            for items in [40, 300, 500] {
                let columns = 448u64;
                let mut rows: Vec<Row> = (0..items)
                    .map(|_| Row {
                        start: random.below(columns - BAND),
                        coefficients: random.next_u128() | 1,
                    })
                    .collect();
                rows.sort_unstable_by_key(|row| row.start);
                let width = u32::from(q - 1).ilog2() + 1;
                let mut planes = vec![0; columns as usize / 8 * width as usize];
                solve(&rows, columns, q, width, &mut SeededCoins::new(7), &mut planes).unwrap();
                let plain = naive(&rows, columns as usize, q.into(), &mut SeededCoins::new(7));
                for (column, value) in plain.into_iter().enumerate() {
                    let own = planes::get(&planes, width, column as u64);
                    assert_eq!(u64::from(own), value, "{q} {items} {column}");
                }
            }
        }
    }

    #[test]
    fn products_sums_and_inverses_are_those_of_the_integers() {
        for q in [3, 5, 7, 53, 251, 257, 32_749] {
            let field = Field::new(q);
            let most = if q < 256 { u16::MAX } else { 2 * q - 1 };
            assert!((0..=most).all(|a| field.reduce(a) == a % q), "{q}");
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
                    let table = field.inverses(usize::from(q)).unwrap();
                    assert_eq!(table[usize::from(a)], field.invert(a), "{a} {q}");
                }
            }
        }
    }
}
