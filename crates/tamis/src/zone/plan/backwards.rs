//! The largest universe, or the most items, for a number of bits.

use super::{MAX_WORK, Plan, last};
use crate::zone::arith::{chinese::product_of, primes::primes_within};
use crate::zone::code::{CodeKind, MAX_MODULI, reed_solomon};
use crate::zone::universe::Universe;
use num_bigint::BigUint;

/// The largest universe, up to 2^64, of which a filter of at most `bits` bits with this code keeps
/// `items` free of false positives. `None` if not even a universe of two elements fits.
///
/// The moduli of `coprime` are found by a search. There the answer is a universe that fits for
/// certain, but perhaps not the largest one.
///
/// ```
/// use tamis::zone::{CodeKind, largest_universe};
/// assert_eq!(largest_universe(CodeKind::Egh, 440, 5), Some(18_062));
/// assert_eq!(largest_universe(CodeKind::Rs, 440, 5), Some(531_441));
/// ```
#[must_use]
pub fn largest_universe(code: CodeKind, bits: u64, items: u64) -> Option<u128> {
    let max = match code {
        CodeKind::Egh => egh_universe(bits, items)?,
        CodeKind::Coprime => {
            // A bitmap fits if the universe has no more elements than there are bits. Otherwise
            // the moduli are searched for, up to a size where that is quick.
            let bitmap = u128::from(bits.min(u64::from(u32::MAX)));
            let fits = |n: u128| {
                n <= bitmap || plan_bits(n, items, code).is_some_and(|needed| needed <= bits)
            };
            let searched = if bits <= MAX_SEARCHED {
                last(u128::from(items).max(2), 1 << 64, fits)
            } else {
                None
            };
            searched.unwrap_or(0).max(bitmap).max(egh_universe(bits, items).unwrap_or(0))
        }
        CodeKind::Rs => rs_universe(bits, items)?,
    };
    // A set of items needs at least as many elements.
    (max >= 2 && max >= u128::from(items)).then_some(max.min(1 << 64))
}

/// The most bits for which the largest universe is found by planning many coprime codes.
const MAX_SEARCHED: u64 = 10_000;

/// The d-th root of the product of the primes whose sum fits: n_d in the paper, exactly.
fn egh_universe(bits: u64, items: u64) -> Option<u128> {
    let items = u32::try_from(items).ok().filter(|items| *items > 0)?;
    let mut moduli = primes_within(bits);
    moduli.truncate(MAX_MODULI);
    let product = product_of(&moduli);
    // A power with more bits than the product is larger. It may be far too large to compute.
    let too_long = |n: u128| u64::from(n.ilog2()) * u64::from(items) > product.bits().min(MAX_WORK);
    let fits = |n: u128| !too_long(n) && BigUint::from(n).pow(items) <= product;
    last(1, 1 << 64, fits)
}

/// q^(t+1) for the best q and t with q (t d + 1) <= bits and t d + 1 <= q + 1.
fn rs_universe(bits: u64, items: u64) -> Option<u128> {
    let reach = |order: u32| {
        let q = u64::from(order);
        let blocks = (bits / q).min(q + 1);
        let degree = blocks.checked_sub(1)?.checked_div(items)?.min(64);
        let reach = (0..=degree).try_fold(1u128, |reach, _| reach.checked_mul(u128::from(q)));
        Some(reach.unwrap_or(1 << 64).min(1 << 64))
    };
    reed_solomon::orders().take_while(|q| u64::from(*q) <= bits).filter_map(reach).max()
}

/// The most items that a filter of at most `bits` bits keeps free of false positives in a universe
/// of `size`, with the code.
///
/// ```
/// use tamis::zone::{CodeKind, largest_items};
/// assert_eq!(largest_items(CodeKind::Egh, 440, 18_062), Some(5));
/// assert_eq!(largest_items(CodeKind::Rs, 440, 18_062), Some(7));
/// ```
#[must_use]
pub fn largest_items(code: CodeKind, bits: u64, size: u128) -> Option<u64> {
    if size == 0 || size > 1 << 64 {
        return None;
    }
    if code == CodeKind::Coprime && size <= u128::from(bits.min(u64::from(u32::MAX))) && size >= 2 {
        return Some(size as u64); // a bit for each element
    }
    // The moduli are searched for up to a size where that is quick. For more bits, the first primes
    // give the answer.
    let code = if code == CodeKind::Coprime && bits > MAX_SEARCHED { CodeKind::Egh } else { code };
    let fits = |items: u128| {
        u64::try_from(items)
            .is_ok_and(|items| plan_bits(size, items, code).is_some_and(|needed| needed <= bits))
    };
    last(1, size.min(1 << 32), fits).map(|items| items as u64)
}

fn plan_bits(size: u128, items: u64, code: CodeKind) -> Option<u64> {
    let universe = Universe::interval(0, u64::try_from(size.checked_sub(1)?).ok()?).ok()?;
    Plan::with_code(universe, items, code).ok().map(|plan| plan.bits())
}
