//! Decimal numbers, exactly.

/// Why a text is no number of units.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum DecimalFault {
    /// It is not a number.
    NotANumber,
    /// It has a minus sign.
    Negative,
    /// A unit is more than its last digit.
    TooManyDecimals,
    /// It does not fit 64 bits.
    TooLarge,
}

/// How many units of 10^-decimals a number is, such as `2`, `0.5` or `1e-3`.
pub(super) fn parse_units(text: &str, decimals: u8) -> Result<u64, DecimalFault> {
    let (digits, shift) = match text.split_once(['e', 'E']) {
        Some((digits, exponent)) => {
            (digits, exponent.parse::<i8>().map_err(|_| DecimalFault::NotANumber)?)
        }
        None => (text, 0),
    };
    let positive = digits.strip_prefix('-').unwrap_or(digits);
    let (whole, part) = positive.split_once('.').unwrap_or((positive, ""));
    let all = [whole, part].concat();
    if all.is_empty() || !all.bytes().all(|c| c.is_ascii_digit()) {
        return Err(DecimalFault::NotANumber);
    }
    if positive.len() < digits.len() {
        return Err(DecimalFault::Negative);
    }
    // The number is `significant` times 10^places units.
    let zeros_dropped = all.trim_end_matches('0');
    let places = i64::from(decimals) + i64::from(shift) - part.len() as i64
        + (all.len() - zeros_dropped.len()) as i64;
    let significant = zeros_dropped.trim_start_matches('0');
    if significant.is_empty() {
        return Ok(0);
    }
    if places < 0 {
        return Err(DecimalFault::TooManyDecimals);
    }
    let unit = u32::try_from(places).ok().and_then(|places| 10u64.checked_pow(places));
    let units = unit.and_then(|unit| significant.parse::<u64>().ok()?.checked_mul(unit));
    units.ok_or(DecimalFault::TooLarge)
}

#[test]
fn every_fault_is_told() {
    use DecimalFault::{Negative, NotANumber, TooLarge, TooManyDecimals};
    for (text, units) in [
        ("-1", Err(Negative)),
        ("-0", Err(Negative)),
        ("-", Err(NotANumber)),
        ("-x", Err(NotANumber)),
        ("--1", Err(NotANumber)),
        ("1e200", Err(NotANumber)),
        ("0.0001", Err(TooManyDecimals)),
        ("1e-4", Err(TooManyDecimals)),
        ("1e99", Err(TooLarge)),
        ("99999999999999999999", Err(TooLarge)),
        ("18446744073709551.616", Err(TooLarge)),
        ("18446744073709551.615", Ok(u64::MAX)),
        ("0.0010000", Ok(1)),
        ("10e-4", Ok(1)),
        ("000e120", Ok(0)),
        ("1.5e1", Ok(15_000)),
    ] {
        assert_eq!(parse_units(text, 3), units, "{text}");
    }
}
