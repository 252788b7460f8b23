//! How many elements a universe has.

use num_bigint::BigUint;
use std::cmp::Ordering;
use std::fmt;

/// The number of elements of a universe, from 1 to 2^128. No integer type holds 2^128.
///
/// ```
/// use tamis::zone::{Size, Universe};
/// let addresses = Universe::ipv6().size();
/// assert_eq!(addresses.to_string(), "340282366920938463463374607431768211456");
/// assert_eq!((addresses.get(), addresses.to_f64()), (None, 128f64.exp2()));
/// let days = Universe::interval(1, 366)?.size();
/// assert_eq!((days.get(), days == 366, days < addresses), (Some(366), true, true));
/// # Ok::<(), tamis::Error>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Size {
    /// One less, which always fits.
    last: u128,
}

impl Size {
    /// This many elements; `None` for 0.
    #[must_use]
    pub fn new(elements: u128) -> Option<Size> {
        elements.checked_sub(1).map(Size::up_to)
    }

    /// The elements from number 0 to number `last`.
    #[must_use]
    pub const fn up_to(last: u128) -> Size {
        Size { last }
    }

    /// The last number, which is one less than the size.
    #[must_use]
    pub const fn last(self) -> u128 {
        self.last
    }

    /// The size; `None` for 2^128.
    #[must_use]
    pub fn get(self) -> Option<u128> {
        self.last.checked_add(1)
    }

    /// The size, rounded.
    #[must_use]
    pub fn to_f64(self) -> f64 {
        self.last as f64 + 1.0
    }

    /// Whether there is an element with this number.
    #[must_use]
    pub fn holds(self, number: u128) -> bool {
        number <= self.last
    }

    /// The size, or 2^64 - 1 if there are more elements.
    pub(crate) fn whole(self) -> u64 {
        self.get().and_then(|size| u64::try_from(size).ok()).unwrap_or(u64::MAX)
    }

    /// The size, or 2^128 - 1 for 2^128.
    pub(crate) fn saturated(self) -> u128 {
        self.last.saturating_add(1)
    }

    pub(crate) fn big(self) -> BigUint {
        BigUint::from(self.last) + 1u32
    }

    /// The size that a test names.
    #[cfg(test)]
    pub(crate) fn of(elements: u128) -> Size {
        Size::new(elements).unwrap_or_else(|| panic!("a universe of no elements"))
    }
}

impl PartialEq<u128> for Size {
    fn eq(&self, other: &u128) -> bool {
        self.get() == Some(*other)
    }
}

impl PartialOrd<u128> for Size {
    fn partial_cmp(&self, other: &u128) -> Option<Ordering> {
        Some(self.get().map_or(Ordering::Greater, |size| size.cmp(other)))
    }
}

impl fmt::Display for Size {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.get() {
            Some(size) => size.fmt(out),
            None => out.pad("340282366920938463463374607431768211456"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_are_compared_and_printed_exactly() {
        assert_eq!(Size::new(0), None);
        let whole = Size::up_to(u128::MAX);
        assert!(whole > u128::MAX && whole > Size::of(u128::MAX) && whole != u128::MAX);
        assert_eq!(whole.to_string(), whole.big().to_string());
        assert_eq!(Size::of(u128::MAX).to_string(), u128::MAX.to_string());
        assert!(Size::of(1) == 1 && Size::of(7) < 8 && Size::of(1).holds(0));
        assert!(!Size::of(7).holds(7) && whole.holds(u128::MAX));
        assert_eq!((whole.whole(), Size::of(1 << 64).whole()), (u64::MAX, u64::MAX));
    }
}
