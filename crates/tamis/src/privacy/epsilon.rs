//! A privacy loss, exactly.

use super::decimal::{DecimalFault, parse_units};
use crate::Error;
use std::fmt;
use std::str::FromStr;

/// A privacy loss: every release is at most e^epsilon times likelier with an item than without it,
/// and the reverse.
///
/// It is a whole number of billionths, so that losses add up without rounding and a budget cannot
/// be overdrawn by a rounding error. Any other number, such as ln 15, is rounded up.
///
/// ```
/// use tamis::privacy::Epsilon;
/// let (once, twice): (Epsilon, Epsilon) = ("0.1".parse()?, "0.2".parse()?);
/// assert_eq!(once.checked_add(twice).unwrap().to_string(), "0.3");
/// assert!("-1".parse::<Epsilon>().is_err());
/// assert!(Epsilon::try_from(f64::NAN).is_err());
/// # Ok::<(), tamis::Error>(())
/// ```
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Epsilon(u64);

/// The decimals that are kept.
const DECIMALS: u8 = 9;
const ONE: u64 = 1_000_000_000;

impl Epsilon {
    /// Nothing is lost.
    pub const ZERO: Epsilon = Epsilon(0);
    /// The largest loss that can be written: one million.
    pub const MAX: Epsilon = Epsilon(1_000_000 * ONE);

    /// This many billionths, or `None` above [`Epsilon::MAX`].
    #[must_use]
    pub const fn from_billionths(billionths: u64) -> Option<Epsilon> {
        if billionths <= Self::MAX.0 { Some(Epsilon(billionths)) } else { None }
    }

    /// How many billionths it is.
    #[must_use]
    pub const fn billionths(self) -> u64 {
        self.0
    }

    /// The sum, or `None` above [`Epsilon::MAX`].
    #[must_use]
    pub fn checked_add(self, other: Epsilon) -> Option<Epsilon> {
        Epsilon::from_billionths(self.0 + other.0)
    }

    /// What remains, or `None` below zero.
    #[must_use]
    pub fn checked_sub(self, other: Epsilon) -> Option<Epsilon> {
        self.0.checked_sub(other.0).map(Epsilon)
    }

    /// This many times as much, or `None` above [`Epsilon::MAX`].
    #[must_use]
    pub fn checked_mul(self, times: u64) -> Option<Epsilon> {
        self.0.checked_mul(times).and_then(Epsilon::from_billionths)
    }

    /// The nearest floating-point number, for reports.
    #[must_use]
    pub fn to_f64(self) -> f64 {
        self.0 as f64 / ONE as f64
    }
}

/// Why a number cannot be the privacy loss of a release.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum EpsilonFault {
    /// It is not a number.
    NotANumber,
    /// It is below zero.
    Negative,
    /// It has more than nine decimals.
    TooManyDecimals,
    /// It is above [`Epsilon::MAX`].
    TooLarge,
    /// It is zero, and a release at no loss says nothing.
    Zero,
}

impl fmt::Display for EpsilonFault {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(match self {
            EpsilonFault::NotANumber => "it is not a number",
            EpsilonFault::Negative => "a loss is not negative",
            EpsilonFault::TooManyDecimals => "it has more than nine decimals",
            EpsilonFault::TooLarge => "it is above one million",
            EpsilonFault::Zero => "a release at no loss says nothing",
        })
    }
}

impl FromStr for Epsilon {
    type Err = Error;

    /// A decimal number such as `2`, `0.5` or `1e-3`, from 0 to a million and with at most nine
    /// decimals.
    fn from_str(text: &str) -> Result<Epsilon, Error> {
        let text = text.trim();
        let units = parse_units(text, DECIMALS).map_err(|fault| match fault {
            DecimalFault::NotANumber => EpsilonFault::NotANumber,
            DecimalFault::Negative => EpsilonFault::Negative,
            DecimalFault::TooManyDecimals => EpsilonFault::TooManyDecimals,
            DecimalFault::TooLarge => EpsilonFault::TooLarge,
        });
        units
            .and_then(|units| Epsilon::from_billionths(units).ok_or(EpsilonFault::TooLarge))
            .map_err(|fault| Error::Epsilon { got: text.to_owned(), fault })
    }
}

impl TryFrom<f64> for Epsilon {
    type Error = Error;

    /// The number as it prints, rounded up to billionths.
    fn try_from(value: f64) -> Result<Epsilon, Error> {
        let refused = |fault| Error::Epsilon { got: value.to_string(), fault };
        if value.is_nan() {
            return Err(refused(EpsilonFault::NotANumber));
        }
        if value < 0.0 {
            return Err(refused(EpsilonFault::Negative));
        }
        if value > Self::MAX.to_f64() {
            return Err(refused(EpsilonFault::TooLarge));
        }
        let text = value.to_string(); // plain decimals, the shortest that round-trip
        let (whole, part) = text.split_once('.').unwrap_or((&text, ""));
        let (kept, cut) = part.split_at(part.len().min(DECIMALS.into()));
        let floor: Epsilon = format!("{whole}.{kept}").parse()?;
        Ok(if cut.bytes().any(|c| c != b'0') {
            Epsilon((floor.0 + 1).min(Self::MAX.0))
        } else {
            floor
        })
    }
}

impl fmt::Display for Epsilon {
    /// A plain decimal, no longer than needed.
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (whole, part) = (self.0 / ONE, self.0 % ONE);
        let decimals = format!("{part:09}");
        let decimals = decimals.trim_end_matches('0');
        out.pad(&if decimals.is_empty() {
            whole.to_string()
        } else {
            format!("{whole}.{decimals}")
        })
    }
}

#[cfg(feature = "serde")]
impl serde::Serialize for Epsilon {
    /// The decimal number as text, since no digit of it may be lost.
    fn serialize<S: serde::Serializer>(&self, out: S) -> Result<S::Ok, S::Error> {
        out.collect_str(self)
    }
}

impl fmt::Debug for Epsilon {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "Epsilon({self})")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn decimals_are_exact() {
        for (text, billionths) in [
            ("0", 0),
            ("2", 2 * ONE),
            ("2.", 2 * ONE),
            (".5", ONE / 2),
            ("0.000000001", 1),
            ("1e-3", 1_000_000),
            ("12.5E1", 125 * ONE),
            ("1000000", 1_000_000 * ONE),
            ("1.500000000000", 3 * ONE / 2),
            ("0e99", 0),
        ] {
            assert_eq!(text.parse::<Epsilon>().unwrap().0, billionths, "{text}");
        }
        for text in [
            "",
            ".",
            "-1",
            "-0",
            "NaN",
            "inf",
            "1,5",
            "0x1",
            "1e",
            "0.0000000001",
            "1e-10",
            "1000000.000000001",
            "1e99",
            "+1",
            "1e-99",
            "1_0",
        ] {
            assert!(text.parse::<Epsilon>().is_err(), "{text}");
        }
    }

    #[test]
    fn floats_round_up() {
        assert_eq!(Epsilon::try_from(0.1).unwrap().0, ONE / 10);
        assert_eq!(Epsilon::try_from(15f64.ln()).unwrap().to_string(), "2.708050202");
        assert_eq!(Epsilon::try_from(1e-300).unwrap().0, 1);
        for bad in [-1.0, f64::NAN, f64::INFINITY, 1e7] {
            assert!(Epsilon::try_from(bad).is_err());
        }
    }

    proptest! {
        #[test]
        fn printing_and_parsing_agree(billionths in 0..=Epsilon::MAX.0) {
            let epsilon = Epsilon(billionths);
            prop_assert_eq!(epsilon.to_string().parse::<Epsilon>().unwrap(), epsilon);
        }

        #[test]
        fn a_float_is_never_rounded_down(value in 0.0..1e6) {
            let epsilon = Epsilon::try_from(value).unwrap();
            prop_assert!(epsilon.to_f64() >= value);
            prop_assert!(epsilon.to_f64() - value < 2e-9);
        }
    }
}
