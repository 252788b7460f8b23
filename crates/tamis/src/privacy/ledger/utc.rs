//! A moment, to the second.

use std::fmt;
use std::time::{SystemTime, UNIX_EPOCH};

/// A moment in seconds, written as in `2026-03-01T12:00:00Z`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Utc(u64);

const DAY: u64 = 24 * 60 * 60;
/// The last second of the year 9999: beyond it, a year has five digits.
const LAST: u64 = 253_402_300_799;

impl Utc {
    /// This many seconds after 1970 began. `None` after the year 9999.
    pub(super) fn from_seconds(seconds: u64) -> Utc {
        Utc(seconds.min(LAST))
    }

    /// Now, by the system's clock. A clock that is set before 1970 reads as 1970.
    pub(super) fn now() -> Utc {
        Utc::from_seconds(
            SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |past| past.as_secs()),
        )
    }

    /// The seconds since 1970 began, leap seconds not counted.
    #[must_use]
    pub fn seconds(self) -> u64 {
        self.0
    }

    /// The moment that the text stands for, or `None`.
    pub(super) fn parse(text: &str) -> Option<Utc> {
        if text.len() != 20 || !Utc::may_begin(text) {
            return None;
        }
        let number = |from: usize, to: usize| text[from..to].parse::<u64>().ok();
        let (year, month, day) = (number(0, 4)?, number(5, 7)?, number(8, 10)?);
        if year < 1970 || !(1..=12).contains(&month) || day == 0 {
            return None;
        }
        // As in Display, which explains it.
        let (year, march) = if month <= 2 { (year - 1, month + 9) } else { (year, month - 3) };
        let (era, year) = (year / 400, year % 400);
        let days = 146_097 * era + 365 * year + year / 4 - year / 100 + (153 * march + 2) / 5 + day
            - 1
            - 719_468;
        let moment =
            Utc(days * DAY + number(11, 13)? * 3_600 + number(14, 16)? * 60 + number(17, 19)?);
        // The 30th of February and the 25th hour print as something else.
        (moment.to_string() == text).then_some(moment)
    }

    /// Whether the text of a moment can begin with this.
    pub(super) fn may_begin(text: &str) -> bool {
        let pattern = "dddd-dd-ddTdd:dd:ddZ";
        text.len() <= pattern.len()
            && text
                .bytes()
                .zip(pattern.bytes())
                .all(|(c, p)| if p == b'd' { c.is_ascii_digit() } else { c == p })
    }
}

impl fmt::Display for Utc {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        // The calendar is counted in eras of 400 years of 146,097 days, and in years that begin in
        // March, so that the leap day is a year's last: H. Hinnant, "chrono-Compatible
        // Low-Level Date Algorithms".
        let (days, second) = (self.0 / DAY + 719_468, self.0 % DAY);
        let (era, day) = (days / 146_097, days % 146_097);
        let year = (day - day / 1_460 + day / 36_524 - day / 146_096) / 365;
        let day = day - (365 * year + year / 4 - year / 100);
        let march = (5 * day + 2) / 153; // months since March
        let (month, day) =
            (if march < 10 { march + 3 } else { march - 9 }, day - (153 * march + 2) / 5 + 1);
        let year = 400 * era + year + u64::from(month <= 2);
        let (hour, minute, second) = (second / 3_600, second / 60 % 60, second % 60);
        out.pad(&format!("{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}Z"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn known_moments() {
        for (text, seconds) in [
            ("1970-01-01T00:00:00Z", 0),
            ("2000-02-29T00:00:00Z", 951_782_400),
            ("2001-09-09T01:46:40Z", 1_000_000_000),
            ("2038-01-19T03:14:08Z", 1 << 31),
            ("9999-12-31T23:59:59Z", LAST),
        ] {
            assert_eq!(Utc(seconds).to_string(), text);
            assert_eq!(Utc::parse(text), Some(Utc(seconds)));
        }
        assert_eq!(Utc::from_seconds(u64::MAX), Utc(LAST));
    }

    #[test]
    fn every_day_follows_the_one_before() {
        let leap = |year: u64| {
            year.is_multiple_of(4) && (!year.is_multiple_of(100) || year.is_multiple_of(400))
        };
        let (mut year, mut month, mut day) = (1970, 1, 1);
        for days in 0..150_000 {
            let text = format!("{year:04}-{month:02}-{day:02}T00:00:00Z");
            assert_eq!(Utc(days * DAY).to_string(), text);
            assert_eq!(Utc::parse(&text), Some(Utc(days * DAY)));
            let last = match month {
                2 => 28 + u64::from(leap(year)),
                4 | 6 | 9 | 11 => 30,
                _ => 31,
            };
            (month, day) = if day == last { (month + 1, 1) } else { (month, day + 1) };
            (year, month) = if month == 13 { (year + 1, 1) } else { (year, month) };
        }
    }

    #[test]
    fn what_is_no_moment_is_refused() {
        for text in [
            "",
            "2026-03-01",
            "2026-02-29T00:00:00Z",
            "2026-00-01T00:00:00Z",
            "2026-13-01T00:00:00Z",
            "2026-01-00T00:00:00Z",
            "2026-01-01T24:00:00Z",
            "2026-01-01T00:60:00Z",
            "1969-12-31T23:59:59Z",
            "2026-01-01 00:00:00Z",
            "2026-01-01T00:00:0éZ",
            "+026-01-01T00:00:00Z",
        ] {
            assert_eq!(Utc::parse(text), None, "{text}");
        }
    }

    proptest! {
        #[test]
        fn printing_and_parsing_agree(seconds in 0..=LAST) {
            let text = Utc(seconds).to_string();
            prop_assert_eq!(Utc::parse(&text), Some(Utc(seconds)));
            prop_assert!((0..=text.len()).all(|end| Utc::may_begin(&text[..end])));
        }
    }
}
