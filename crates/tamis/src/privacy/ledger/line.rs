//! One line of a ledger.
//!
//! A line is five fields with tabs between them: a label, an amount, a moment, a text and a
//! checksum. The first line's label is the signature with the version, and its amount is the
//! budget: epsilon, and in version 2 a space and delta. The other labels count from 1. The checksum
//! is the CRC-32C, in eight hexadecimal digits, of this line and all earlier lines, each without
//! its checksum. So if a line is changed, removed or moved, the checksums of all later lines fail.
//!
//! Every value has one spelling. A line is good if writing what it says gives the same bytes.

use super::{LedgerError, LedgerText, LineFault, Utc};
use std::fmt;
use std::str::FromStr;

/// The most bytes of a text.
pub(super) const MAX_TEXT: usize = 1_000;

/// The line and its checksum, given the checksum of the line before.
pub(super) fn format_line(
    before: u32,
    label: &str,
    amount: impl fmt::Display,
    time: Utc,
    text: &str,
) -> (String, u32) {
    let body = format!("{label}\t{amount}\t{time}\t{text}\t");
    let checksum = crc32c::crc32c_append(before, body.as_bytes());
    (format!("{body}{checksum:08x}\n"), checksum)
}

/// The fields after the label. The caller checks their spelling and the checksum.
pub(super) fn fields_of<A: FromStr>(line: &str) -> Result<(A, Utc, &str), LineFault> {
    let mut fields = line.split('\t');
    let mut field = || fields.next().ok_or(LineFault::TooFewFields);
    let epsilon = field()?.parse().map_err(|_| LineFault::Amount)?;
    let time = Utc::parse(field()?).ok_or(LineFault::Time)?;
    Ok((epsilon, time, field()?))
}

/// The characters before a tear, which may have cut a character in two. `None` if the bytes are no
/// characters.
pub(super) fn torn_text(bytes: &[u8]) -> Option<&str> {
    match str::from_utf8(bytes) {
        Ok(text) => Some(text),
        Err(e) if e.error_len().is_none() => str::from_utf8(&bytes[..e.valid_up_to()]).ok(),
        Err(_) => None,
    }
}

/// The text in one line, if there is room for it.
pub(super) fn text(which: LedgerText, text: &str) -> Result<String, LedgerError> {
    let escaped = escape(text);
    if escaped.len() > MAX_TEXT {
        return Err(LedgerError::LongText { text: which, bytes: escaped.len() });
    }
    Ok(escaped)
}

/// The text in one line. What would end the line, move the cursor or turn the reading direction is
/// escaped, so that a ledger shown in a terminal is what it says. Escaping twice is escaping once.
pub(super) fn escape(text: &str) -> String {
    let hidden = |c: char| {
        c.is_control()
            || matches!(c, '\u{61c}' | '\u{200e}' | '\u{200f}')
            || ('\u{2028}'..='\u{202e}').contains(&c)
            || ('\u{2066}'..='\u{2069}').contains(&c)
    };
    let mut escaped = String::with_capacity(text.len());
    for c in text.chars() {
        if hidden(c) { escaped.extend(c.escape_default()) } else { escaped.push(c) }
    }
    escaped
}

/// The beginning of some bytes, short enough to stand in a note.
pub(super) fn excerpt(bytes: &[u8]) -> String {
    // Each byte is at most one character, and a character's escape at most 8 bytes.
    escape(&String::from_utf8_lossy(&bytes[..bytes.len().min(100)]))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_are_one_line_and_not_too_long() {
        assert_eq!(escape("a\nb\t\u{1b}[2J\u{202e}é\\"), "a\\nb\\t\\u{1b}[2J\\u{202e}é\\");
        assert!(text(LedgerText::Note, &"x".repeat(MAX_TEXT)).is_ok());
        let error = text(LedgerText::Note, &"\n".repeat(MAX_TEXT / 2 + 1)).unwrap_err().to_string();
        assert!(error.contains("1002 bytes") && error.contains("shorten"), "{error}");
        let worst = ["\u{202e}".as_bytes(), &[0xff; 300], &[0; 300], "\u{10ffff}".as_bytes()];
        for bytes in worst {
            assert!(
                text(LedgerText::Note, &excerpt(&bytes.repeat(100)))
                    .is_ok_and(|text| text.len() < MAX_TEXT - 100)
            );
        }
    }
}
