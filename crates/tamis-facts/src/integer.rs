//! Integers that every reader of JSON reads exactly.

use serde::{Serialize, Serializer};
use tamis::zone::Size;

/// An integer in JSON: an exact number, or a string past 2^53, where readers that use floats would
/// lose digits.
#[derive(Debug, Clone, Copy)]
pub struct Integer(pub u128);

impl From<u64> for Integer {
    fn from(number: u64) -> Integer {
        Integer(u128::from(number))
    }
}

impl From<u128> for Integer {
    fn from(number: u128) -> Integer {
        Integer(number)
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

/// How many elements a universe has: up to 2^128.
#[derive(Debug, Clone, Copy)]
pub struct Elements(pub Size);

impl Serialize for Elements {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self.0.get() {
            Some(number) => Integer(number).serialize(serializer),
            None => serializer.collect_str(&self.0),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn integers_past_two_to_the_53_are_strings() {
        let json = |number: u128| serde_json::to_string(&Integer(number)).unwrap();
        assert_eq!(json(1 << 53), "9007199254740992");
        assert_eq!(json((1 << 53) + 1), "\"9007199254740993\"");
        assert_eq!(json(1 << 64), "\"18446744073709551616\"");
        let whole = Elements(Size::up_to(u128::MAX));
        let expected = "\"340282366920938463463374607431768211456\"";
        assert_eq!(serde_json::to_string(&whole).unwrap(), expected);
        assert_eq!(serde_json::to_string(&Elements(Size::up_to(9))).unwrap(), "10");
        assert_eq!(serde_json::to_string(&f64::INFINITY).unwrap(), "null");
    }
}
