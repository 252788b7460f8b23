//! Landau's problem: prime powers with a large product for their sum.

use crate::zone::arith::chinese::product_of;
use crate::zone::arith::primes::Sieve;
use crate::zone::universe::Size;
use num_bigint::BigUint;
use num_traits::One;

/// The most cells of the table for Landau's problem.
const TABLE_CELLS: usize = 1 << 23;
/// The rounds of exchanges where the table would be too large.
const EXCHANGES: u32 = 200;

/// Prime powers with product above (n-1)(n-2)...(n-d) and a small sum, below `bits` if all goes
/// well.
pub(super) fn landau(universe: Size, items: u32, bits: u64, sieve: &Sieve) -> Vec<u64> {
    let target = differences(universe, items);
    let logarithm = logarithm_of(&target);
    let width = usize::try_from(bits).unwrap_or(usize::MAX);
    // Larger primes than these cost more bits than they are worth.
    let largest = sieve.limit() / 2 + 16;
    let primes: Vec<u32> =
        sieve.primes().iter().copied().filter(|&prime| prime < largest).collect();
    if width.saturating_mul(primes.len()) <= TABLE_CELLS {
        return landau_by_table(&target, logarithm, width, &primes);
    }
    // If rounding misled the floats, a slightly larger target helps.
    for surplus in [0.0, 1e-9, 1e-6] {
        let powers = landau_by_exchange(logarithm * (1.0 + surplus), &primes);
        if product_of(&powers) > target {
            return powers;
        }
    }
    Vec::new()
}

/// The largest product of `items` distinct differences.
fn differences(universe: Size, items: u32) -> BigUint {
    let largest = universe.last();
    let mut product = BigUint::one();
    for item in 0..u128::from(items).min(largest) {
        product *= largest - item;
    }
    product
}

/// The natural logarithm of a large number, nearly.
fn logarithm_of(number: &BigUint) -> f64 {
    let shift = number.bits().saturating_sub(64);
    let leading = u64::try_from(number >> shift).unwrap_or(u64::MAX);
    (leading as f64).ln() + shift as f64 * std::f64::consts::LN_2
}

/// The best product for each sum below `width`, prime by prime; then the least sum that suffices.
fn landau_by_table(target: &BigUint, logarithm: f64, width: usize, primes: &[u32]) -> Vec<u64> {
    let mut best = vec![0.0f64; width];
    let mut exponents = vec![0u8; width * primes.len()];
    for (row, &prime) in primes.iter().enumerate() {
        let choice = &mut exponents[row * width..(row + 1) * width];
        let gain = f64::from(prime).ln();
        for total in (prime as usize..width).rev() {
            let mut power = prime as usize;
            let mut exponent = 1u8;
            while power <= total {
                let reached = best[total - power] + gain * f64::from(exponent);
                if reached > best[total] {
                    best[total] = reached;
                    choice[total] = exponent;
                }
                power = power.saturating_mul(prime as usize);
                exponent += 1;
            }
        }
    }
    let first = best.partition_point(|&reached| reached < logarithm * (1.0 - 1e-12));
    for total in first..width.min(first + 8) {
        let powers = read_table(&exponents, width, primes, total);
        if product_of(&powers) > *target {
            return powers;
        }
    }
    Vec::new()
}

/// The prime powers behind one entry of the table.
fn read_table(exponents: &[u8], width: usize, primes: &[u32], mut total: usize) -> Vec<u64> {
    let mut powers = Vec::new();
    for (row, &prime) in primes.iter().enumerate().rev() {
        let exponent = exponents[row * width + total];
        if exponent > 0 {
            let power = u64::from(prime).pow(u32::from(exponent));
            powers.push(power);
            total = total.saturating_sub(power as usize);
        }
    }
    powers
}

/// A step of one prime to another exponent: the change of the logarithm and of the sum.
struct Step {
    row: usize,
    exponent: u32,
    logarithm: f64,
    bits: f64,
}

/// Prime powers by a price for the logarithm, then exchanges that use up the surplus.
fn landau_by_exchange(logarithm: f64, primes: &[u32]) -> Vec<u64> {
    let mut exponents = exponents_at_least(logarithm, primes);
    for _ in 0..EXCHANGES {
        let reached: f64 =
            primes.iter().zip(&exponents).map(|(&p, &e)| f64::from(p).ln() * f64::from(e)).sum();
        let Some((down, up)) = best_exchange(primes, &exponents, reached - logarithm) else {
            break;
        };
        exponents[down.row] = down.exponent;
        if let Some(up) = up {
            exponents[up.row] = up.exponent;
        }
    }
    let chosen = primes.iter().zip(&exponents).filter(|&(_, &exponent)| exponent > 0);
    chosen.map(|(&prime, &exponent)| u64::from(prime).pow(exponent)).collect()
}

/// The exponents at the lowest price that reaches the logarithm.
fn exponents_at_least(logarithm: f64, primes: &[u32]) -> Vec<u32> {
    let (mut low, mut high) = (0.0, 1e12);
    for _ in 0..80 {
        let price = (low + high) / 2.0;
        let reached: f64 = primes
            .iter()
            .map(|&prime| f64::from(prime).ln() * f64::from(exponent_at(price, prime)))
            .sum();
        if reached > logarithm {
            high = price;
        } else {
            low = price;
        }
    }
    primes.iter().map(|&prime| exponent_at(high, prime)).collect()
}

/// The exponent from which on another factor costs more than `price` for each unit of logarithm.
fn exponent_at(price: f64, prime: u32) -> u32 {
    let prime = f64::from(prime);
    let mut exponent = 0;
    let mut power = 1.0;
    // Powers stay far below 2^53, so they fit 64 bits.
    while exponent < 40
        && power * prime < 9e15
        && step_bits(power, power * prime) <= price * prime.ln()
    {
        power *= prime;
        exponent += 1;
    }
    exponent
}

/// The bits that a step from one power to another adds; the power 1 is no modulus at all.
fn step_bits(from: f64, to: f64) -> f64 {
    let bits = |power: f64| if power <= 1.0 { 0.0 } else { power };
    bits(to) - bits(from)
}

/// The exchange that saves most bits: one prime loses a factor, and perhaps another gains one.
fn best_exchange(primes: &[u32], exponents: &[u32], surplus: f64) -> Option<(Step, Option<Step>)> {
    let mut downs = Vec::new();
    let mut ups = Vec::new();
    for (row, (&prime, &exponent)) in primes.iter().zip(exponents).enumerate() {
        let prime = f64::from(prime);
        let power = prime.powi(exponent as i32);
        let logarithm = prime.ln();
        if exponent > 0 {
            let bits = step_bits(power / prime, power);
            downs.push(Step { row, exponent: exponent - 1, logarithm, bits });
        }
        if power * prime < 1e12 {
            let bits = step_bits(power, power * prime);
            ups.push(Step { row, exponent: exponent + 1, logarithm, bits });
        }
    }
    ups.sort_by(|left, right| right.logarithm.total_cmp(&left.logarithm));
    // The cheapest of the steps up with at least this much logarithm.
    let mut cheapest: Vec<usize> = Vec::with_capacity(ups.len());
    for index in 0..ups.len() {
        let previous = cheapest.last().copied().unwrap_or(index);
        cheapest.push(if ups[index].bits < ups[previous].bits { index } else { previous });
    }
    let mut best: Option<(f64, usize, Option<usize>)> = None;
    for (index, down) in downs.iter().enumerate() {
        let missing = down.logarithm - surplus;
        let (saved, up) = if missing <= 0.0 {
            (down.bits, None)
        } else {
            let enough = ups.partition_point(|up| up.logarithm >= missing);
            let Some(&up) = enough.checked_sub(1).and_then(|last| cheapest.get(last)) else {
                continue;
            };
            if ups[up].row == down.row {
                continue;
            }
            (down.bits - ups[up].bits, Some(up))
        };
        if saved > 0.5 && best.is_none_or(|(max, _, _)| saved > max) {
            best = Some((saved, index, up));
        }
    }
    let (_, down, up) = best?;
    Some((downs.swap_remove(down), up.map(|up| ups.swap_remove(up))))
}
