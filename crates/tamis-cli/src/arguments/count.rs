//! Whole numbers: 1000, 1_000, 1,000, 1e3, 1k, 2^10.

const EXAMPLES: &str = "write a whole number, such as 1000000, 1_000_000, 1e6, 1M or 2^20";

/// A whole number: `1000`, `1_000`, `1,000`, `1e3`, `1.5e3`, `1k` or `2^10`.
///
/// The letters k, M, G and T are thousands, millions, billions and trillions; case does not matter.
pub fn count(text: &str) -> Result<u64, String> {
    match exact(text) {
        Ok(number) => Ok(number),
        Err(Refused::Syntax) => Err(EXAMPLES.to_owned()),
        Err(Refused::Negative) => {
            Err("it must not be negative; the nearest feasible number is 1".to_owned())
        }
        Err(Refused::Fraction(nearest)) => {
            Err(format!("it must be whole; the nearest is {nearest}"))
        }
        Err(Refused::TooLarge) => {
            Err(format!("it is too large; the largest number is {} (2^64 - 1)", u64::MAX))
        }
    }
}

/// A count that fits 32 bits, such as a number of hashes.
pub fn small_count(text: &str) -> Result<u32, String> {
    u32::try_from(count(text)?)
        .map_err(|_| format!("it is too large; the largest number is {}", u32::MAX))
}

/// Why a text is no whole number.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Refused {
    Syntax,
    Negative,
    /// It has a fraction; the nearest whole number.
    Fraction(u64),
    TooLarge,
}

fn exact(text: &str) -> Result<u64, Refused> {
    let text = text.trim();
    if let Some((base, exponent)) = text.split_once('^') {
        let base = digits(base)?.parse::<u64>().map_err(|_| Refused::TooLarge)?;
        let exponent = digits(exponent)?.parse::<u32>().map_err(|_| Refused::TooLarge)?;
        return base.checked_pow(exponent).ok_or(Refused::TooLarge);
    }
    let (number, unit) = match text.char_indices().last() {
        Some((at, 'k' | 'K')) => (&text[..at], 1_000),
        Some((at, 'm' | 'M')) => (&text[..at], 1_000_000),
        Some((at, 'g' | 'G')) => (&text[..at], 1_000_000_000),
        Some((at, 't' | 'T')) => (&text[..at], 1_000_000_000_000),
        _ => (text, 1),
    };
    decimal_times(number, unit)
}

/// A decimal number times a unit, computed exactly.
pub(super) fn decimal_times(number: &str, unit: u64) -> Result<u64, Refused> {
    let number = number.trim();
    if let Some(positive) = number.strip_prefix('-') {
        let is_number =
            !positive.starts_with(['-', '+']) && decimal_times(positive, 1) != Err(Refused::Syntax);
        return Err(if is_number { Refused::Negative } else { Refused::Syntax });
    }
    let number = number.strip_prefix('+').unwrap_or(number);
    let (mantissa, exponent) = match number.split_once(['e', 'E']) {
        Some((mantissa, exponent)) => {
            (mantissa, exponent.parse::<i32>().map_err(|_| Refused::Syntax)?)
        }
        None => (number, 0),
    };
    let (whole, part) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    let whole = digits(whole)?;
    if !part.bytes().all(|byte| byte.is_ascii_digit()) {
        return Err(Refused::Syntax);
    }
    let all = whole + part.trim_end_matches('0');
    let value = all.parse::<u128>().map_err(|_| Refused::TooLarge)?;
    if value == 0 {
        return Ok(0);
    }
    let value = value.checked_mul(u128::from(unit)).ok_or(Refused::TooLarge)?;
    let places = exponent.saturating_sub(part.trim_end_matches('0').len() as i32);
    let power = 10u128.checked_pow(places.unsigned_abs());
    let fits = |value: u128| u64::try_from(value).map_err(|_| Refused::TooLarge);
    if places >= 0 {
        return fits(power.and_then(|power| value.checked_mul(power)).ok_or(Refused::TooLarge)?);
    }
    let power = power.ok_or(Refused::Fraction(0))?;
    if value % power != 0 {
        return Err(Refused::Fraction(fits((value + power / 2) / power)?));
    }
    fits(value / power)
}

/// The digits of a whole number, without `_` and without commas between groups of three. A comma
/// anywhere else may be meant as a decimal point, so it is refused.
fn digits(text: &str) -> Result<String, Refused> {
    let mut groups = text.split(',');
    let first = groups.next().unwrap_or("");
    let mut all = first.replace('_', "");
    for group in groups {
        if group.len() != 3 || first.is_empty() || first.len() > 3 {
            return Err(Refused::Syntax);
        }
        all.push_str(group);
    }
    let good = !all.is_empty() && all.bytes().all(|byte| byte.is_ascii_digit());
    if good { Ok(all) } else { Err(Refused::Syntax) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_as_people_write_them() {
        for (text, number) in [
            ("0", 0),
            ("1000", 1_000),
            (" 7 ", 7),
            ("+7", 7),
            ("007", 7),
            ("1_000_000", 1_000_000),
            ("1,000,000", 1_000_000),
            ("1e3", 1_000),
            ("1.5e3", 1_500),
            ("1E18", 1_000_000_000_000_000_000),
            ("1k", 1_000),
            ("1K", 1_000),
            ("1M", 1_000_000),
            ("2.5M", 2_500_000),
            ("1G", 1_000_000_000),
            ("3T", 3_000_000_000_000),
            ("2^32", 1 << 32),
            ("2^0", 1),
            ("1000.0", 1_000),
            ("1500e-2", 15),
            ("18446744073709551615", u64::MAX),
            ("18446744073709551.615e3", u64::MAX),
        ] {
            assert_eq!(count(text), Ok(number), "{text}");
        }
    }

    #[test]
    fn other_texts_are_refused_with_a_reason() {
        for text in [
            "", "many", "1,5", "1,0000", ",100", "1e", "1e1.5", "k", "0x10", "1 000", "nan", "inf",
            "2^", "^2", "1..2", "1.x", "--1", "1é", "∞",
        ] {
            assert_eq!(count(text), Err(EXAMPLES.to_owned()), "{text}");
        }
        for text in ["-5", "-0.1", "-1e3"] {
            assert!(count(text).unwrap_err().contains("negative"), "{text}");
        }
        assert!(count("1.5").unwrap_err().contains("nearest is 2"));
        assert!(count("1e-999").unwrap_err().contains("nearest is 0"));
        for text in ["18446744073709551616", "1e20", "2^64", "1e999999999", "99999999999T"] {
            assert!(count(text).unwrap_err().contains("too large"), "{text}");
        }
        assert!(small_count("4294967296").is_err());
        assert_eq!(small_count("2^3"), Ok(8));
    }
}
