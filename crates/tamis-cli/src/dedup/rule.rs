//! What makes a record a repetition: the whole of it, its paragraphs, or its runs of words.

use crate::input::json_field::{FieldPath, text_of};
use anyhow::Context;
use serde::{Deserialize, Serialize};
use std::borrow::Cow;
use tamis::{Digest, HashFamily};

/// What is compared.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Unit {
    /// The record, or its field, as a whole.
    Record,
    /// Every paragraph of the field by itself. Paragraphs end with a line end.
    Paragraphs,
    /// Every run of so many words. A record is a repetition if the share of its runs that were
    /// seen before reaches the threshold.
    Ngrams { words: usize, threshold: f64 },
}

impl Unit {
    /// Whether a record is judged as a whole, and its units are remembered only if it is kept.
    pub(crate) fn is_judged_by_record(self) -> bool {
        matches!(self, Unit::Ngrams { .. })
    }
}

/// How records are compared.
#[derive(Debug, Clone)]
pub(crate) struct Rule {
    pub(crate) unit: Unit,
    /// The field of a JSON record that counts; without it, the whole record counts.
    pub(crate) field: Option<FieldPath>,
    /// Whether a carriage return before the line end is left out of the comparison.
    pub(crate) trim_return: bool,
}

/// What a rule says of one record.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Found {
    /// So many digests were added.
    Units(usize),
    /// The record lacks the field, or the field is empty. It is kept as it is.
    Nothing,
    /// A blank line where a JSON record could be.
    Blank,
}

impl Rule {
    /// Adds the digests of the record's units to `digests`.
    pub(crate) fn digests(
        &self,
        hash: &HashFamily,
        record: &[u8],
        digests: &mut Vec<Digest>,
    ) -> anyhow::Result<Found> {
        if self.field.is_some() && record.trim_ascii().is_empty() {
            return Ok(Found::Blank);
        }
        let Some(text) = self.text(record)? else { return Ok(Found::Nothing) };
        let before = digests.len();
        let mut add = |unit: &[u8]| digests.extend(hash.digest(unit));
        match self.unit {
            Unit::Record => add(&text),
            Unit::Paragraphs => {
                paragraphs(&text).filter(|(_, key)| !key.is_empty()).for_each(|(_, key)| add(key));
            }
            Unit::Ngrams { words, .. } => each_ngram(&text, words, add),
        }
        match digests.len() - before {
            0 => Ok(Found::Nothing),
            added => Ok(Found::Units(added)),
        }
    }

    /// The part of a record that counts.
    fn text<'a>(&self, record: &'a [u8]) -> anyhow::Result<Option<Cow<'a, [u8]>>> {
        let Some(field) = &self.field else {
            let trimmed = record.strip_suffix(b"\r").filter(|_| self.trim_return);
            return Ok(Some(Cow::Borrowed(trimmed.unwrap_or(record))));
        };
        Ok(field.text(record)?.map(|text| match text {
            Cow::Borrowed(text) => Cow::Borrowed(text.as_bytes()),
            Cow::Owned(text) => Cow::Owned(text.into_bytes()),
        }))
    }

    /// The record with only those paragraphs of its field for which `keep` says so, one answer for
    /// each paragraph that is not blank. Blank ones stay. Every other byte stays as it was.
    pub(crate) fn with_paragraphs(&self, record: &[u8], keep: &[bool]) -> anyhow::Result<Vec<u8>> {
        let field = self.field.as_ref().context("paragraphs are parts of a JSON field")?;
        let value = field.find(record)?.context("the record has lost its field")?;
        let text = text_of(value)?;
        let mut answers = keep.iter();
        let mut kept = String::with_capacity(text.len());
        for (whole, key) in paragraphs(text.as_bytes()) {
            if key.is_empty() || answers.next() == Some(&true) {
                kept.push_str(std::str::from_utf8(whole).context("a paragraph is not UTF-8")?);
            }
        }
        let raw = value.get();
        let start = raw.as_ptr() as usize - record.as_ptr() as usize;
        let mut out = record[..start].to_vec();
        serde_json::to_writer(&mut out, &kept)?;
        out.extend_from_slice(&record[start + raw.len()..]);
        Ok(out)
    }
}

/// The paragraphs of a text: each with its line end, and without it and the blanks around it.
fn paragraphs(text: &[u8]) -> impl Iterator<Item = (&[u8], &[u8])> {
    text.split_inclusive(|&byte| byte == b'\n').map(|whole| (whole, whole.trim_ascii()))
}

/// Gives every run of `words` words to `take`, with single spaces between the words; a shorter
/// text is one run.
fn each_ngram(text: &[u8], words: usize, mut take: impl FnMut(&[u8])) {
    let mut joined = Vec::with_capacity(text.len() + 1);
    // Where each word begins in `joined`, and where it ends.
    let mut spans = Vec::new();
    for word in String::from_utf8_lossy(text).split_whitespace() {
        if !joined.is_empty() {
            joined.push(b' ');
        }
        let start = joined.len();
        joined.extend_from_slice(word.as_bytes());
        spans.push((start, joined.len()));
    }
    if spans.len() < words {
        if !joined.is_empty() {
            take(&joined);
        }
        return;
    }
    for run in spans.windows(words) {
        if let ([(start, _), ..], [.., (_, end)]) = (run, run) {
            take(&joined[*start..*end]);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rule(unit: Unit, field: Option<&str>) -> Rule {
        Rule { unit, field: field.map(|path| path.parse().unwrap()), trim_return: true }
    }

    fn ngrams(text: &str, words: usize) -> Vec<String> {
        let mut all = Vec::new();
        each_ngram(text.as_bytes(), words, |run| all.push(String::from_utf8(run.into()).unwrap()));
        all
    }

    #[test]
    fn runs_of_words() {
        assert_eq!(ngrams("a  b\tc\nd", 2), ["a b", "b c", "c d"]);
        assert_eq!(ngrams("a b", 2), ["a b"]);
        assert_eq!(ngrams("a b", 3), ["a b"]);
        assert_eq!(ngrams(" \n ", 3), [""; 0]);
        assert_eq!(ngrams("é ü é", 1), ["é", "ü", "é"]);
    }

    #[test]
    fn a_record_changes_in_its_field_only() {
        let rule = rule(Unit::Paragraphs, Some("d.text"));
        let record = br#"{"n": 1.10, "d": {"text" : "one\n\ntwo \u00e9\nthree"}, "x": [ ] }"#;
        let mut digests = Vec::new();
        let hash = HashFamily::default();
        assert_eq!(rule.digests(&hash, record, &mut digests).unwrap(), Found::Units(3));
        let all = rule.with_paragraphs(record, &[true, true, true]).unwrap();
        let same: serde_json::Value = serde_json::from_slice(&all).unwrap();
        assert_eq!(same, serde_json::from_slice::<serde_json::Value>(record).unwrap());
        let some = rule.with_paragraphs(record, &[true, false, true]).unwrap();
        let expected = r#"{"n": 1.10, "d": {"text" : "one\n\nthree"}, "x": [ ] }"#;
        assert_eq!(String::from_utf8(some).unwrap(), expected);
    }

    #[test]
    fn records_without_the_field_have_nothing_to_compare() {
        let (hash, mut digests) = (HashFamily::default(), Vec::new());
        let rule = rule(Unit::Record, Some("text"));
        for record in ["{}", r#"{"text":null}"#] {
            let found = rule.digests(&hash, record.as_bytes(), &mut digests).unwrap();
            assert_eq!(found, Found::Nothing);
        }
        for blank in ["", " ", "\r"] {
            let found = rule.digests(&hash, blank.as_bytes(), &mut digests).unwrap();
            assert_eq!(found, Found::Blank);
        }
        assert!(rule.digests(&hash, b"not JSON", &mut digests).is_err());
        assert!(digests.is_empty());
    }
}
