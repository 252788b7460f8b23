//! Privacy losses.

use crate::output::warn;
use tamis::privacy::Epsilon;

/// The decimals that a loss has.
const DECIMALS: usize = 9;

/// The smallest loss above 0.
const SMALLEST: f64 = 1e-9;

/// A privacy loss. More than nine decimals are rounded down, and said so: a smaller loss is always
/// allowed.
pub fn epsilon(text: &str) -> Result<Epsilon, String> {
    if text.trim().parse().is_ok_and(|loss: f64| loss > 0.0 && loss < SMALLEST) {
        return Err("it is too small; the smallest loss above 0 is 1e-9".to_owned());
    }
    let rounded = rounded_down(text);
    let parsed =
        rounded.unwrap_or(text).parse().map_err(|error: tamis::Error| error.to_string())?;
    if let Some(rounded) = rounded {
        warn(&format!("tamis: notice: epsilon {text} is rounded down to {rounded}"));
    }
    Ok(parsed)
}

/// The number with nine decimals, if it has more.
fn rounded_down(text: &str) -> Option<&str> {
    let (whole, part) = text.split_once('.')?;
    let digits = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
    let is_longer = part.len() > DECIMALS && part[DECIMALS..].bytes().any(|byte| byte != b'0');
    (digits(whole) && digits(part) && is_longer).then(|| &text[..whole.len() + 1 + DECIMALS])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_losses_are_rounded_down() {
        assert_eq!(epsilon("2.70805020110221").unwrap().to_string(), "2.708050201");
        assert_eq!(epsilon("0.9999999999").unwrap().to_string(), "0.999999999");
        assert_eq!(epsilon("2.0000000000").unwrap().to_string(), "2");
        assert_eq!(rounded_down("2.5"), None);
        for text in ["1e-12", "0.0000000000001", "0.0000000009"] {
            assert!(epsilon(text).unwrap_err().contains("smallest loss above 0 is 1e-9"), "{text}");
        }
        assert_eq!(epsilon("1e-9").unwrap().to_string(), "0.000000001");
        for text in ["0.0000000001", "-1", "1e-10", "1.00000000000x", "é.0000000000é"] {
            assert!(epsilon(text).is_err(), "{text}");
        }
    }
}
