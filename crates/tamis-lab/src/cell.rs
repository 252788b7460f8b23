//! One published number beside ours, and how it is written as JSON.

use crate::significant;
use serde::Serialize;
use serde::ser::{SerializeStruct, Serializer};
use std::fmt;

/// Whether a published number is what a recomputation gives.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Verdict {
    /// It is, within the tolerance.
    Holds,
    /// It is not.
    Differs,
}

impl Verdict {
    pub(crate) fn of(holds: bool) -> Verdict {
        if holds { Verdict::Holds } else { Verdict::Differs }
    }
}

impl fmt::Display for Verdict {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.pad(match self {
            Verdict::Holds => "holds",
            Verdict::Differs => "differs",
        })
    }
}

/// Where in a document a number stands.
///
/// ```
/// let place = tamis_lab::Place::new("Table II", "m = 440", "n_5");
/// assert_eq!(place.to_string(), "Table II, m = 440, n_5");
/// use tamis_lab::Place;
/// assert_eq!(Place::from("Table I, rows"), Place::new("Table I", "", "rows"));
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Place {
    /// The table, section or example.
    pub table: String,
    /// Its row, if it has rows.
    pub row: String,
    /// Its column, or which of its numbers.
    pub column: String,
}

impl Place {
    /// A place in a table. `row` is empty where there are no rows.
    #[must_use]
    pub fn new(
        table: impl Into<String>,
        row: impl Into<String>,
        column: impl Into<String>,
    ) -> Place {
        Place { table: table.into(), row: row.into(), column: column.into() }
    }
}

/// What is before the first comma is the table, section or example.
impl From<&str> for Place {
    fn from(text: &str) -> Place {
        let (table, column) = text.split_once(", ").unwrap_or((text, ""));
        Place::new(table, "", column)
    }
}

impl From<&String> for Place {
    fn from(text: &String) -> Place {
        Place::from(text.as_str())
    }
}

impl fmt::Display for Place {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let parts = [&self.table, &self.row, &self.column];
        let parts: Vec<&str> =
            parts.into_iter().map(String::as_str).filter(|part| !part.is_empty()).collect();
        out.write_str(&parts.join(", "))
    }
}

/// How far two numbers may lie apart.
#[derive(Debug, Clone, PartialEq)]
pub struct Tolerance {
    /// The largest difference allowed.
    pub within: f64,
    /// Why that much.
    pub why: String,
}

impl fmt::Display for Tolerance {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.within == 0.0 {
            return out.write_str(&self.why);
        }
        write!(out, "within {} ({})", significant(self.within), self.why)
    }
}

/// What a document gives.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Source {
    /// A number or a word, as printed.
    Number,
    /// A formula and no number: the published side is the formula's value.
    Formula,
    /// Neither: our measurement is held against our own law.
    Law,
}

/// One published number beside ours.
#[derive(Debug, Clone)]
pub struct Cell {
    /// The document's number.
    pub document: &'static str,
    /// Where in the document it stands.
    pub place: Place,
    /// What the document gives there.
    pub source: Source,
    /// The number as published, or the value of the formula; empty for a law.
    pub published: String,
    /// Ours.
    pub recomputed: String,
    /// How far they may lie apart, and why.
    pub tolerance: Tolerance,
    /// Whether they agree.
    pub verdict: Verdict,
    /// What the repository records as the verdict.
    pub recorded: Verdict,
    /// What else there is to say.
    pub note: String,
    /// How the document was read, where it can be read in several ways: the reading that fits
    /// best.
    pub reading: Option<&'static str>,
    /// What the other readings give.
    pub readings: Vec<Reading>,
}

/// The same number under another reading of the document.
#[derive(Debug, Clone)]
pub struct Reading {
    /// The reading.
    pub name: &'static str,
    /// Ours.
    pub recomputed: String,
    /// Whether it agrees with the published number.
    pub verdict: Verdict,
    /// What the repository records as the verdict.
    pub recorded: Verdict,
}

impl Cell {
    /// Whether every verdict is the one recorded: if not, either the code or the record is wrong.
    #[must_use]
    pub fn as_recorded(&self) -> bool {
        self.verdict == self.recorded
            && self.readings.iter().all(|reading| reading.verdict == reading.recorded)
    }

    /// The verdict in full: `holds`, `holds under reading R`, or `differs`.
    #[must_use]
    pub fn verdict_in_full(&self) -> String {
        self.in_full(self.verdict)
    }

    fn in_full(&self, verdict: Verdict) -> String {
        match (verdict, self.reading) {
            (Verdict::Holds, Some(reading)) => format!("holds under reading {reading}"),
            (verdict, _) => verdict.to_string(),
        }
    }

    /// What the document has there, as a person reads it.
    #[must_use]
    pub fn published_words(&self) -> String {
        match self.source {
            Source::Number => self.published.clone(),
            Source::Formula => format!("(formula: {})", self.published),
            Source::Law => "(law)".to_owned(),
        }
    }
}

impl Serialize for Cell {
    fn serialize<S: Serializer>(&self, out: S) -> Result<S::Ok, S::Error> {
        let mut record = out.serialize_struct("Cell", 12)?;
        record.serialize_field("document", self.document)?;
        record.serialize_field("place", &self.place)?;
        record.serialize_field("source", &self.source)?;
        record.serialize_field("published", &Text(&self.published))?;
        record.serialize_field("recomputed", &Text(&self.recomputed))?;
        record.serialize_field("tolerance", &self.tolerance.within)?;
        record.serialize_field("why", &self.tolerance.why)?;
        record.serialize_field("verdict", &self.verdict_in_full())?;
        record.serialize_field("recorded", &self.in_full(self.recorded))?;
        record.serialize_field("note", &self.note)?;
        record.serialize_field("reading", &self.reading)?;
        record.serialize_field("readings", &self.readings)?;
        record.end()
    }
}

impl Serialize for Reading {
    fn serialize<S: Serializer>(&self, out: S) -> Result<S::Ok, S::Error> {
        let mut record = out.serialize_struct("Reading", 4)?;
        record.serialize_field("name", self.name)?;
        record.serialize_field("recomputed", &Text(&self.recomputed))?;
        record.serialize_field("verdict", &self.verdict)?;
        record.serialize_field("recorded", &self.recorded)?;
        record.end()
    }
}

/// The text as a number if a double keeps all its digits; null if it is empty.
struct Text<'a>(&'a str);

impl Serialize for Text<'_> {
    fn serialize<S: Serializer>(&self, out: S) -> Result<S::Ok, S::Error> {
        match (self.0.parse::<u64>(), self.0.parse::<f64>()) {
            _ if self.0.is_empty() => out.serialize_none(),
            (Ok(whole), _) if whole <= 1 << 53 => out.serialize_u64(whole),
            (Err(_), Ok(number)) if number.is_finite() && !is_long(self.0) => {
                out.serialize_f64(number)
            }
            _ => out.serialize_str(self.0),
        }
    }
}

/// Whether the text is a whole number of more digits than a double keeps.
fn is_long(text: &str) -> bool {
    text.len() > 15 && text.bytes().all(|byte| byte.is_ascii_digit())
}
