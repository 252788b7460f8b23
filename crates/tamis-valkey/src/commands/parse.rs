//! Numbers and options, as the server's own commands read them.

use crate::refusal::Refusal;
use crate::server::Arguments;

/// A whole number without a plus, a leading zero or spaces.
pub(crate) fn integer(text: &[u8]) -> Option<i64> {
    let digits = text.strip_prefix(b"-").unwrap_or(text);
    let plain = match digits {
        [b'0'] => text.len() == 1,
        [first, ..] => (b'1'..=b'9').contains(first),
        [] => false,
    };
    std::str::from_utf8(text).ok().filter(|_| plain)?.parse().ok()
}

/// A whole number from 0 on.
pub(crate) fn natural(text: &[u8]) -> Option<u64> {
    u64::try_from(integer(text)?).ok()
}

/// A decimal number that is finite.
pub(crate) fn decimal(text: &[u8]) -> Option<f64> {
    let number: f64 = std::str::from_utf8(text).ok()?.parse().ok()?;
    number.is_finite().then_some(number)
}

/// Whether the text is this word, in capitals or not.
pub(crate) fn is(text: &[u8], word: &str) -> bool {
    text.eq_ignore_ascii_case(word.as_bytes())
}

/// Words and values, one after another.
pub(crate) struct Words<'a> {
    rest: Arguments<'a>,
}

impl<'a> Words<'a> {
    pub(crate) fn new(rest: Arguments<'a>) -> Words<'a> {
        Words { rest }
    }

    pub(crate) fn next(&mut self) -> Option<&'a [u8]> {
        let word = self.rest.get(0)?.bytes();
        self.rest = self.rest.from(1);
        Some(word)
    }

    /// The value after a word, or why it is refused.
    pub(crate) fn value<T>(
        &mut self,
        parse: impl FnOnce(&'a [u8]) -> Option<T>,
        refusal: &'static str,
    ) -> Result<T, Refusal> {
        self.next().and_then(parse).ok_or(Refusal::new(refusal))
    }

    /// What follows.
    pub(crate) fn rest(&self) -> Arguments<'a> {
        self.rest
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_read_as_the_server_reads_them() {
        assert_eq!(integer(b"-42"), Some(-42));
        assert_eq!(integer(b"9223372036854775807"), Some(i64::MAX));
        for text in ["", "+1", "01", "-0", "1 ", "1.0", "1e3", "9223372036854775808", "x"] {
            assert_eq!(integer(text.as_bytes()), None, "{text:?}");
        }
        assert_eq!(natural(b"-1"), None);
        assert_eq!(decimal(b"1e-3"), Some(0.001));
        for text in ["", "nan", "inf", "-inf", "1e999", "0.1x", " 1"] {
            assert_eq!(decimal(text.as_bytes()), None, "{text:?}");
        }
    }
}
