//! Numbers for people and for programs.

use indicatif::HumanCount;
use serde::{Serialize, Serializer};

/// Digits in groups of three.
pub(crate) fn grouped(number: u64) -> String {
    HumanCount(number).to_string()
}

/// A rate as a person reads it: a percentage, or a power of ten where that would be all zeros.
pub(crate) fn rate(rate: f64) -> String {
    if rate == 0.0 {
        "0%".to_owned()
    } else if rate >= 1e-4 {
        let decimals = (3.0 - (rate * 100.0).log10().floor()).max(0.0) as usize;
        let text = format!("{:.decimals$}", rate * 100.0);
        let text = if text.contains('.') {
            text.trim_end_matches('0').trim_end_matches('.')
        } else {
            &text
        };
        format!("{text}%")
    } else {
        format!("{rate:.2e}")
    }
}

/// An estimate as a person reads it.
pub(crate) fn about(number: f64) -> String {
    if number.is_finite() {
        grouped(number.round() as u64)
    } else {
        "more than it can tell".to_owned()
    }
}

/// A number of things: "1 item", "2 items".
pub(crate) fn count_of(number: u64, thing: &str) -> String {
    format!("{} {thing}{}", grouped(number), if number == 1 { "" } else { "s" })
}

/// An integer in JSON: an exact number, or a string past 2^53, where readers that use floats would
/// lose digits.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Integer(pub(crate) u128);

impl From<u64> for Integer {
    fn from(number: u64) -> Integer {
        Integer(u128::from(number))
    }
}

impl Serialize for Integer {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match u64::try_from(self.0) {
            Ok(number) if number <= 1 << 53 => serializer.serialize_u64(number),
            _ => serializer.collect_str(&self.0),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_read_well() {
        assert_eq!(grouped(0), "0");
        assert_eq!(grouped(999), "999");
        assert_eq!(grouped(1_000), "1,000");
        assert_eq!(grouped(12_345_678), "12,345,678");
        assert_eq!(count_of(1, "item"), "1 item");
        assert_eq!(count_of(1_000, "item"), "1,000 items");
        assert_eq!(rate(0.01), "1%");
        assert_eq!(rate(0.010_039), "1.004%");
        assert_eq!(rate(0.5), "50%");
        assert_eq!(rate(0.999), "99.9%");
        assert_eq!(rate(0.001), "0.1%");
        assert_eq!(rate(1e-6), "1.00e-6");
        assert_eq!(rate(0.0), "0%");
    }

    #[test]
    fn integers_past_two_to_the_53_are_strings() {
        let json = |number: u128| serde_json::to_string(&Integer(number)).unwrap();
        assert_eq!(json(1 << 53), "9007199254740992");
        assert_eq!(json((1 << 53) + 1), "\"9007199254740993\"");
        assert_eq!(json(1 << 64), "\"18446744073709551616\"");
        assert_eq!(serde_json::to_string(&f64::INFINITY).unwrap(), "null");
    }
}
