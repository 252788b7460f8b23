//! Windows: 1e8 insertions, or 24h of time.

use super::count::{count, decimal_times};
use std::time::Duration;
use tamis::rate::Window;

const EXAMPLES: &str =
    "write a number of keys, such as 1e8, or a time, such as 90s, 30min, 24h, 7d or 2w";

/// The units of time, in nanoseconds. A longer name comes before what it ends with.
const UNITS: [(&str, u64); 6] = [
    ("min", 60_000_000_000),
    ("ms", 1_000_000),
    ("s", 1_000_000_000),
    ("h", 3_600_000_000_000),
    ("d", 86_400_000_000_000),
    ("w", 604_800_000_000_000),
];

/// A window: a count, or a number with a unit of time.
pub fn window(text: &str) -> Result<Window, String> {
    let text = text.trim();
    let lower = text.to_ascii_lowercase();
    if let Some((unit, nanoseconds)) = UNITS.into_iter().find(|(unit, _)| lower.ends_with(unit)) {
        let number = &text[..text.len() - unit.len()];
        let time = decimal_times(number, nanoseconds).map_err(|_| EXAMPLES.to_owned())?;
        return match time {
            0 => Err("it must be longer than nothing; ".to_owned() + EXAMPLES),
            time => Ok(Window::Time(Duration::from_nanos(time))),
        };
    }
    if lower.ends_with('m') {
        let number = &text[..text.len() - 1];
        return Err(format!("is it minutes or millions? write {number}min or {number}e6"));
    }
    match count(text).map_err(|_| EXAMPLES.to_owned())? {
        0 => Err("it must be at least 1; ".to_owned() + EXAMPLES),
        items => Ok(Window::Items(items)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn windows_as_people_write_them() {
        for (text, items) in [("1", 1), ("1e8", 100_000_000), ("5k", 5_000), ("2^10", 1_024)] {
            assert_eq!(window(text), Ok(Window::Items(items)), "{text}");
        }
        for (text, milliseconds) in [
            ("250ms", 250),
            ("90s", 90_000),
            ("1.5s", 1_500),
            ("30min", 1_800_000),
            ("24h", 86_400_000),
            ("24H", 86_400_000),
            ("7d", 604_800_000),
            ("2 w", 1_209_600_000),
        ] {
            let time = Duration::from_millis(milliseconds);
            assert_eq!(window(text), Ok(Window::Time(time)), "{text}");
        }
        for text in ["", "0", "0s", "h", "-1h", "1x", "1e30h", "99999999999w", "1é", "∞s"] {
            assert!(window(text).unwrap_err().contains("24h"), "{text}");
        }
        assert!(window("5m").unwrap_err().contains("write 5min or 5e6"));
        assert!(window("5M").unwrap_err().contains("write 5min or 5e6"));
    }
}
