//! A chance that a promise of privacy may fail, exactly.

use crate::Error;
use crate::privacy::decimal::{DecimalFault, parse_units};
use std::fmt;
use std::str::FromStr;

/// The chance that the loss of all releases together is above a bound: a multiple of 10^-18, above
/// 0 and below 1.
///
/// ```
/// use tamis::privacy::Delta;
/// let delta: Delta = "1e-6".parse()?;
/// assert_eq!(delta, "0.000001".parse()?);
/// assert_eq!(delta.to_string(), "1e-6");
/// assert!("0".parse::<Delta>().is_err());
/// # Ok::<(), tamis::Error>(())
/// ```
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Delta(u64);

const DECIMALS: u8 = 18;
const ONE: u64 = 1_000_000_000_000_000_000;

/// Why a number cannot be a delta.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum DeltaFault {
    /// It is not a number.
    NotANumber,
    /// It is not above 0 and below 1.
    OutOfRange,
    /// It has more than 18 decimals.
    TooManyDecimals,
}

impl fmt::Display for DeltaFault {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(match self {
            DeltaFault::NotANumber => "it is not a number",
            DeltaFault::OutOfRange => "it is not above 0 and below 1",
            DeltaFault::TooManyDecimals => "it has more than 18 decimals",
        })
    }
}

impl Delta {
    /// This many times 10^-18, or `None` if that is not above 0 and below 1.
    #[must_use]
    pub const fn from_units(units: u64) -> Option<Delta> {
        if 0 < units && units < ONE { Some(Delta(units)) } else { None }
    }

    /// How many times 10^-18 it is.
    #[must_use]
    pub const fn units(self) -> u64 {
        self.0
    }

    /// The nearest floating-point number, for reports.
    #[must_use]
    pub fn to_f64(self) -> f64 {
        self.0 as f64 / ONE as f64
    }

    /// A multiple of 2^-digits, rounded down; `digits` is at most 120.
    pub(super) fn binary(self, digits: u32) -> u128 {
        let scaled = num_bigint::BigUint::from(self.0) << digits;
        u128::try_from(scaled / ONE).unwrap_or(0)
    }
}

impl FromStr for Delta {
    type Err = Error;

    /// A decimal number such as `1e-6` or `0.001`.
    fn from_str(text: &str) -> Result<Delta, Error> {
        let text = text.trim();
        let units = parse_units(text, DECIMALS).map_err(|fault| match fault {
            DecimalFault::NotANumber => DeltaFault::NotANumber,
            DecimalFault::TooManyDecimals => DeltaFault::TooManyDecimals,
            DecimalFault::Negative | DecimalFault::TooLarge => DeltaFault::OutOfRange,
        });
        units
            .and_then(|units| Delta::from_units(units).ok_or(DeltaFault::OutOfRange))
            .map_err(|fault| Error::Delta { got: text.to_owned(), fault })
    }
}

impl fmt::Display for Delta {
    /// As `1e-6` or `2.5e-9`.
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let digits = self.0.to_string();
        let exponent = digits.len() as i64 - 1 - i64::from(DECIMALS);
        let (first, rest) = digits.split_at(1);
        let rest = rest.trim_end_matches('0');
        let point = if rest.is_empty() { "" } else { "." };
        out.pad(&format!("{first}{point}{rest}e{exponent}"))
    }
}

impl fmt::Debug for Delta {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "Delta({self})")
    }
}

#[cfg(feature = "serde")]
impl serde::Serialize for Delta {
    /// The decimal number as text, since no digit of it may be lost.
    fn serialize<S: serde::Serializer>(&self, out: S) -> Result<S::Ok, S::Error> {
        out.collect_str(self)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn decimals_are_exact() {
        for (text, units) in [
            ("1e-18", 1),
            ("1e-6", 1_000_000_000_000),
            ("0.000001", 1_000_000_000_000),
            ("2.50e-9", 2_500_000_000),
            (".5", ONE / 2),
            ("0.999999999999999999", ONE - 1),
            ("100e-3", ONE / 10),
        ] {
            assert_eq!(text.parse::<Delta>().unwrap().0, units, "{text}");
        }
        let bad = [
            "",
            ".",
            "0",
            "0.0",
            "1",
            "-1e-6",
            "1.5",
            "NaN",
            "1e-19",
            "1e-99",
            "1e",
            "0x1",
            "1e99",
            "0.0000000000000000001",
            "99999999999999999999e-20",
        ];
        for text in bad {
            assert!(text.parse::<Delta>().is_err(), "{text}");
        }
    }

    proptest! {
        #[test]
        fn printing_and_parsing_agree(units in 1..ONE) {
            let delta = Delta(units);
            prop_assert_eq!(delta.to_string().parse::<Delta>().unwrap(), delta);
        }
    }
}
