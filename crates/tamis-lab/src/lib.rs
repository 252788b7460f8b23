//! The published experiments behind tamis, recomputed: each number beside the published one, with a verdict, and each
//! slip of the documents with its evidence.
//!
//! ```
//! let report = tamis_lab::reproduce(tamis_lab::Document::Notes004, true);
//! assert!(report.cells.iter().all(|cell| cell.as_recorded()));
//! ```

mod egh003;
pub mod faults;
mod notes004;
mod random;
mod report001;
mod threads;
mod ultra000;

pub use random::SplitMix64;
use serde::Serialize;

/// A document whose experiments can be recomputed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Document {
    /// K. Odoh, "UltraFilter: A Privacy-Preserving Bloom Filter", WWW Companion 2025. Document 002 is another print of it.
    Paper000,
    /// M. I. Sánchez-O'Mullony Martínez, "Designing a Bloom Filter for a Target False Positive Rate", 2025.
    Report001,
    /// S. Z. Kiss, É. Hosszu, J. Tapolcai, L. Rónyai, O. Rottenstreich, "Bloom Filter with a False Positive Free Zone".
    Paper003,
    /// B. Levine, lecture notes on Bloom filters, 2019.
    Notes004,
}

impl Document {
    /// All of them, in order.
    pub const ALL: [Document; 4] =
        [Document::Paper000, Document::Report001, Document::Paper003, Document::Notes004];

    /// The document asked for by this number, which may be that of another print.
    ///
    /// ```
    /// use tamis_lab::Document;
    /// assert_eq!(Document::numbered("002"), Some(Document::Paper000));
    /// assert_eq!(Document::numbered("999"), None);
    /// ```
    #[must_use]
    pub fn numbered(number: &str) -> Option<Document> {
        let number = if number == "002" { "000" } else { number };
        Document::ALL.into_iter().find(|document| document.id() == number)
    }

    /// The number by which it is asked for.
    #[must_use]
    pub fn id(self) -> &'static str {
        match self {
            Document::Paper000 => "000",
            Document::Report001 => "001",
            Document::Paper003 => "003",
            Document::Notes004 => "004",
        }
    }

    /// Author and title.
    #[must_use]
    pub fn title(self) -> &'static str {
        match self {
            Document::Paper000 => "K. Odoh, UltraFilter: A Privacy-Preserving Bloom Filter (2025)",
            Document::Report001 => {
                "M. I. Sánchez-O'Mullony Martínez, Designing a Bloom Filter for a Target False Positive Rate (2025)"
            }
            Document::Paper003 => {
                "S. Z. Kiss, É. Hosszu, J. Tapolcai, L. Rónyai, O. Rottenstreich, Bloom Filter with a False Positive Free Zone"
            }
            Document::Notes004 => "B. Levine, Bloom Filters, lecture notes of CompSci 661/461 (2018-2019)",
        }
    }
}

/// Whether a published number is what a recomputation gives.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Verdict {
    /// It is, within the tolerance.
    Holds,
    /// It is not.
    Differs,
}

impl std::fmt::Display for Verdict {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        out.pad(match self {
            Verdict::Holds => "holds",
            Verdict::Differs => "differs",
        })
    }
}

/// One published number beside ours.
#[derive(Debug, Clone, Serialize)]
pub struct Cell {
    /// The document's number.
    pub document: &'static str,
    /// Where in the document it stands.
    pub place: String,
    /// The number as published; `(formula: ...)` where the document gives a formula and no number, `(law)` where it has
    /// neither and we hold our measurement against our own law.
    pub published: String,
    /// Ours.
    pub recomputed: String,
    /// How far they may lie apart, and why.
    pub tolerance: String,
    /// Whether they agree.
    pub verdict: Verdict,
    /// What the repository records as the verdict.
    pub recorded: Verdict,
    /// What else there is to say.
    pub note: String,
    /// What other readings of the document give, where it can be read in several ways; the verdict is that of the
    /// reading that fits best.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub readings: Vec<Reading>,
}

/// The same number under another reading of the document.
#[derive(Debug, Clone, Serialize)]
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
}

/// A mistake in a document.
#[derive(Debug, Clone, Serialize)]
pub struct Slip {
    /// The document's number.
    pub document: &'static str,
    /// What it says where, and what is so.
    pub slip: String,
    /// What we computed to know.
    pub evidence: String,
}

/// The data behind a figure or a table, recomputed or measured here; none of it is a published number.
#[derive(Debug, Clone, Serialize)]
pub struct Series {
    /// The document's number.
    pub document: &'static str,
    /// The figure or table, and which of its curves.
    pub name: String,
    /// What x is.
    pub x_name: &'static str,
    /// What y is.
    pub y_name: &'static str,
    /// The points' x, ascending.
    pub x: Vec<f64>,
    /// Their y.
    pub y: Vec<f64>,
}

/// What became of a document's numbers.
#[derive(Debug, Clone, Default, Serialize)]
pub struct Report {
    /// Every published number.
    pub cells: Vec<Cell>,
    /// Every mistake found.
    pub slips: Vec<Slip>,
    /// The data behind figures, where the document has any.
    pub series: Vec<Series>,
}

impl Report {
    /// Takes in another report.
    pub fn extend(&mut self, other: Report) {
        self.cells.extend(other.cells);
        self.slips.extend(other.slips);
        self.series.extend(other.series);
    }
}

/// Recomputes a document's numbers. Quick runs ask fewer strangers, for 001 and 004 still a million for each rate, and
/// fill smaller filters for 000.
#[must_use]
pub fn reproduce(document: Document, quick: bool) -> Report {
    let strangers = if quick { 1_000_000 } else { 4_000_000 };
    match document {
        Document::Paper000 => ultra000::reproduce(quick),
        Document::Report001 => report001::reproduce(strangers),
        Document::Paper003 => egh003::reproduce(quick),
        Document::Notes004 => notes004::reproduce(strangers),
    }
}

/// Collects the cells and slips of one document.
struct Notebook {
    document: &'static str,
    report: Report,
}

impl Notebook {
    fn new(document: Document) -> Notebook {
        Notebook { document: document.id(), report: Report::default() }
    }

    /// A number that must be equal.
    fn exact(&mut self, place: &str, published: impl ToString, recomputed: impl ToString, note: &str) {
        let (published, recomputed) = (published.to_string(), recomputed.to_string());
        let verdict = if published == recomputed { Verdict::Holds } else { Verdict::Differs };
        self.cell(place, published, recomputed, "exact".to_owned(), verdict, note);
    }

    /// A number that must lie within `tolerance` of ours, for the reason given.
    fn near(&mut self, place: &str, published: f64, recomputed: f64, tolerance: f64, why: &str, note: &str) {
        let verdict =
            if (published - recomputed).abs() <= tolerance { Verdict::Holds } else { Verdict::Differs };
        self.cell(
            place,
            published.to_string(),
            significant(recomputed),
            format!("within {} ({why})", significant(tolerance)),
            verdict,
            note,
        );
    }

    /// A formula of the document, evaluated by us on both sides: the document prints no number for it.
    fn formula(&mut self, place: &str, derived: f64, recomputed: f64, tolerance: f64, why: &str, note: &str) {
        self.near(place, derived, recomputed, tolerance, why, note);
        if let Some(cell) = self.report.cells.last_mut() {
            cell.published = format!("(formula: {})", significant(derived));
        }
    }

    /// The same for a whole number.
    fn exact_formula(&mut self, place: &str, derived: impl ToString, recomputed: impl ToString, note: &str) {
        self.exact(place, derived, recomputed, note);
        if let Some(cell) = self.report.cells.last_mut() {
            cell.published = format!("(formula: {})", cell.published);
        }
    }

    /// Puts on record that the last cell differs: the document is known to be wrong there.
    fn known_to_differ(&mut self) {
        if let Some(cell) = self.report.cells.last_mut() {
            cell.recorded = Verdict::Differs;
        }
    }

    fn cell(
        &mut self,
        place: &str,
        published: String,
        recomputed: String,
        tolerance: String,
        verdict: Verdict,
        note: &str,
    ) {
        self.report.cells.push(Cell {
            document: self.document,
            place: place.to_owned(),
            published,
            recomputed,
            tolerance,
            verdict,
            // What does not hold is said to by `known_to_differ`.
            recorded: Verdict::Holds,
            note: note.to_owned(),
            readings: Vec::new(),
        });
    }

    /// Adds another reading to the last cell.
    fn reading(&mut self, reading: Reading) {
        if let Some(cell) = self.report.cells.last_mut() {
            cell.readings.push(reading);
        }
    }

    fn series(
        &mut self,
        name: String,
        x_name: &'static str,
        y_name: &'static str,
        points: impl IntoIterator<Item = (f64, f64)>,
    ) {
        let (x, y) = points.into_iter().unzip();
        self.report.series.push(Series { document: self.document, name, x_name, y_name, x, y });
    }

    fn slip(&mut self, slip: &str, evidence: String) {
        self.report.slips.push(Slip { document: self.document, slip: slip.to_owned(), evidence });
    }
}

/// Four significant digits.
fn significant(value: f64) -> String {
    if value != 0.0 && value.abs() < 1e-4 {
        return format!("{value:.3e}");
    }
    let decimals = if value == 0.0 { 0.0 } else { (3.0 - value.abs().log10().floor()).clamp(0.0, 20.0) };
    format!("{value:.*}", decimals as usize)
}
