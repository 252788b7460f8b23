//! The largest universe, or the most items, for a number of bits.

use super::{MAX_WORK, Plan, last};
use crate::zone::arith::{chinese::product_of, primes::primes_within};
use crate::zone::code::{CodeKind, MAX_MODULI, reed_solomon};
use crate::zone::universe::{Size, Universe};

/// The largest universe, up to 2^128, of which a filter of at most `bits` bits with this code keeps
/// `items` free of false positives. `None` if not even a universe of two elements fits.
///
/// It is a lower bound if the [code is searched for](CodeKind::is_searched): such a universe fits
/// for certain, but perhaps a larger one does too.
///
/// ```
/// use tamis::zone::{CodeKind, largest_universe};
/// assert_eq!(largest_universe(CodeKind::Egh, 440, 5).and_then(|size| size.get()), Some(18_062));
/// assert_eq!(largest_universe(CodeKind::Rs, 440, 5).and_then(|size| size.get()), Some(531_441));
/// ```
#[must_use]
pub fn largest_universe(code: CodeKind, bits: u64, items: u64) -> Option<Size> {
    let max = match code {
        CodeKind::Egh => egh_universe(bits, items)?,
        CodeKind::Coprime => {
            // A bitmap fits if the universe has no more elements than there are bits. Otherwise
            // the moduli are searched for, up to a size where that is quick.
            let bitmap = Size::new(bits.min(u64::from(u32::MAX)).into());
            let fits = |last: u128| {
                let size = Size::up_to(last);
                bitmap.is_some_and(|bitmap| size <= bitmap)
                    || plan_bits(size, items, code).is_some_and(|needed| needed <= bits)
            };
            let searched = if bits <= MAX_SEARCHED {
                last(u128::from(items).max(2) - 1, u128::MAX, fits).map(Size::up_to)
            } else {
                None
            };
            searched.max(bitmap).max(egh_universe(bits, items))?
        }
        CodeKind::Rs => rs_universe(bits, items)?,
    };
    // A set of items needs at least as many elements.
    (max >= 2 && max >= u128::from(items)).then_some(max)
}

/// The most bits for which the largest universe is found by planning many coprime codes.
const MAX_SEARCHED: u64 = 10_000;

/// The d-th root of the product of the primes whose sum fits: n_d in the paper, exactly.
fn egh_universe(bits: u64, items: u64) -> Option<Size> {
    let items = u32::try_from(items).ok().filter(|items| *items > 0)?;
    let mut moduli = primes_within(bits);
    moduli.truncate(MAX_MODULI);
    let product = product_of(&moduli);
    // A power with more bits than the product is larger. It may be far too large to compute.
    let too_long =
        |size: Size| (size.big().bits() - 1) * u64::from(items) > product.bits().min(MAX_WORK);
    let fits = |last: u128| {
        let size = Size::up_to(last);
        !too_long(size) && size.big().pow(items) <= product
    };
    last(0, u128::MAX, fits).map(Size::up_to)
}

/// q^(t+1) for the best q and t with q (t d + 1) <= bits and t d + 1 <= q + 1.
fn rs_universe(bits: u64, items: u64) -> Option<Size> {
    let reach = |order: u32| {
        let q = u64::from(order);
        let blocks = (bits / q).min(q + 1);
        let degree = blocks.checked_sub(1)?.checked_div(items)?.min(MAX_DEGREE);
        let reach = u128::from(q).checked_pow(degree as u32 + 1); // a degree below 128
        Some(reach.and_then(Size::new).unwrap_or(Size::up_to(u128::MAX)))
    };
    reed_solomon::orders().take_while(|q| u64::from(*q) <= bits).filter_map(reach).max()
}

/// 2^(127 + 1) elements: no universe needs polynomials of a higher degree, over any field.
const MAX_DEGREE: u64 = 127;

/// The most items that a filter of at most `bits` bits keeps free of false positives in a universe
/// of `size`, with the code. It is a lower bound if the
/// [code is searched for](CodeKind::is_searched).
///
/// ```
/// use tamis::zone::{CodeKind, Universe, largest_items};
/// let universe = Universe::sized(18_062)?.size();
/// assert_eq!(largest_items(CodeKind::Egh, 440, universe), Some(5));
/// assert_eq!(largest_items(CodeKind::Rs, 440, universe), Some(7));
/// # Ok::<(), tamis::Error>(())
/// ```
#[must_use]
pub fn largest_items(code: CodeKind, bits: u64, size: Size) -> Option<u64> {
    if code == CodeKind::Coprime && size <= u128::from(bits.min(u64::from(u32::MAX))) && size >= 2 {
        return Some(size.whole()); // a bit for each element
    }
    // The moduli are searched for up to a size where that is quick. For more bits, the first primes
    // give the answer.
    let code = if code == CodeKind::Coprime && bits > MAX_SEARCHED { CodeKind::Egh } else { code };
    let fits = |items: u128| {
        u64::try_from(items)
            .is_ok_and(|items| plan_bits(size, items, code).is_some_and(|needed| needed <= bits))
    };
    last(1, size.saturated().min(1 << 32), fits).map(|items| items as u64)
}

fn plan_bits(size: Size, items: u64, code: CodeKind) -> Option<u64> {
    let universe = Universe::interval(0, size.last()).ok()?;
    Plan::with_code(universe, items, code).ok().map(|plan| plan.bits())
}
