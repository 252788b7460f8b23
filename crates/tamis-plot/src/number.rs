//! Numbers as people read them.

/// Digits in groups of three.
#[must_use]
pub fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let mut out = String::new();
    for (i, digit) in digits.chars().enumerate() {
        if i > 0 && (digits.len() - i).is_multiple_of(3) {
            out.push(',');
        }
        out.push(digit);
    }
    out
}

/// A number of things: `counted(2, "block")` is "2 blocks".
#[must_use]
pub fn counted(number: u64, thing: &str) -> String {
    format!("{} {thing}{}", grouped(number), if number == 1 { "" } else { "s" })
}

/// A rate as a percentage with four significant digits, or as a power of ten below 0.01%.
#[must_use]
pub fn percent(rate: f64) -> String {
    if rate == 0.0 {
        "0%".to_owned()
    } else if rate >= 1e-4 {
        let decimals = (3.0 - (rate * 100.0).log10().floor()).max(0.0) as usize;
        format!("{}%", trimmed(&format!("{:.decimals$}", rate * 100.0)))
    } else {
        format!("{rate:.2e}")
    }
}

/// Four significant digits, with a power of ten for what is very large or very small.
#[must_use]
pub fn readable(value: f64) -> String {
    let size = value.abs();
    if value == 0.0 {
        return "0".to_owned();
    }
    if !value.is_finite() {
        return "none".to_owned();
    }
    if !(1e-4..1e7).contains(&size) {
        let power = size.log10().floor() as i32;
        let digits = value / 10f64.powi(power);
        return format!("{} × 10{}", trimmed(&format!("{digits:.2}")), raised(power));
    }
    let decimals = (3.0 - size.log10().floor()).clamp(0.0, 7.0) as usize;
    trimmed(&format!("{value:.decimals$}"))
}

/// The number without zeros at the end of its fraction.
fn trimmed(number: &str) -> String {
    if !number.contains('.') {
        return number.to_owned();
    }
    number.trim_end_matches('0').trim_end_matches('.').to_owned()
}

/// A power in raised digits.
pub(crate) fn raised(power: i32) -> String {
    let digit = |letter: char| match letter {
        '-' => '⁻',
        '1' => '¹',
        '2' => '²',
        '3' => '³',
        '4' => '⁴',
        '5' => '⁵',
        '6' => '⁶',
        '7' => '⁷',
        '8' => '⁸',
        '9' => '⁹',
        _ => '⁰',
    };
    power.to_string().chars().map(digit).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_read_well() {
        assert_eq!(readable(0.0), "0");
        assert_eq!(readable(0.018_987), "0.01899");
        assert_eq!(readable(1_670.0), "1670");
        assert_eq!(readable(1.5e-7), "1.5 × 10⁻⁷");
        assert_eq!(readable(6.4e12), "6.4 × 10¹²");
        assert_eq!(readable(f64::NAN), "none");
        assert_eq!(grouped(0), "0");
        assert_eq!(grouped(999), "999");
        assert_eq!(grouped(1_000), "1,000");
        assert_eq!(grouped(12_345_678), "12,345,678");
        assert_eq!(counted(1, "block"), "1 block");
        assert_eq!(counted(4_096, "block"), "4,096 blocks");
        assert_eq!(percent(0.01), "1%");
        assert_eq!(percent(0.010_039), "1.004%");
        assert_eq!(percent(0.5), "50%");
        assert_eq!(percent(0.999), "99.9%");
        assert_eq!(percent(0.001), "0.1%");
        assert_eq!(percent(1e-6), "1.00e-6");
        assert_eq!(percent(0.0), "0%");
    }
}
