//! The published experiments behind tamis, recomputed: each number beside the published one, with a
//! verdict, and each slip of the documents with its evidence.
//!
//! ```
//! let report = tamis_lab::reproduce(tamis_lab::Document::LectureNotes, true);
//! assert!(report.cells.iter().all(|cell| cell.as_recorded()));
//! ```

mod egh;
pub mod explain;
mod extra;
pub mod faults;
mod lecture_notes;
mod page;
mod sizing_report;
mod threads;
mod ultrafilter;

mod cell;

pub use cell::{Cell, Place, Reading, Source, Tolerance, Verdict};
pub use page::page;
use serde::Serialize;
use tamis_random::SplitMix64;

/// A document whose experiments can be recomputed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Document {
    /// K. Odoh, "UltraFilter: A Privacy-Preserving Bloom Filter", WWW Companion 2025. Document 002
    /// is another print of it.
    UltraFilter,
    /// M. I. Sánchez-O'Mullony Martínez, "Designing a Bloom Filter for a Target False Positive
    /// Rate", 2025.
    SizingReport,
    /// S. Z. Kiss, É. Hosszu, J. Tapolcai, L. Rónyai, O. Rottenstreich, "Bloom Filter with a False
    /// Positive Free Zone".
    Egh,
    /// B. Levine, lecture notes on Bloom filters, 2019.
    LectureNotes,
}

impl Document {
    /// All of them, in order.
    pub const ALL: [Document; 4] =
        [Document::UltraFilter, Document::SizingReport, Document::Egh, Document::LectureNotes];

    /// The document asked for by this number, which may be that of another print.
    ///
    /// ```
    /// use tamis_lab::Document;
    /// assert_eq!(Document::numbered("002"), Some(Document::UltraFilter));
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
            Document::UltraFilter => "000",
            Document::SizingReport => "001",
            Document::Egh => "003",
            Document::LectureNotes => "004",
        }
    }

    /// Author and title.
    #[must_use]
    pub fn title(self) -> &'static str {
        match self {
            Document::UltraFilter => {
                "K. Odoh, UltraFilter: A Privacy-Preserving Bloom Filter (2025)"
            }
            Document::SizingReport => {
                "M. I. Sánchez-O'Mullony Martínez, Designing a Bloom Filter for a Target False \
                 Positive Rate (2025)"
            }
            Document::Egh => {
                "S. Z. Kiss, É. Hosszu, J. Tapolcai, L. Rónyai, O. Rottenstreich, Bloom Filter \
                 with a False Positive Free Zone"
            }
            Document::LectureNotes => {
                "B. Levine, Bloom Filters, lecture notes of CompSci 661/461 (2018-2019)"
            }
        }
    }
}

/// A mistake in a document.
#[derive(Debug, Clone, Serialize)]
pub struct Slip {
    /// The document's number.
    pub document: &'static str,
    /// Where it is, what it says, and what is true.
    pub slip: String,
    /// What we computed to show it.
    pub evidence: String,
}

/// The data behind a figure or a table, recomputed or measured here; none of it is a published
/// number.
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

/// The numbers of a document, recomputed.
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

/// Recomputes a document's numbers. A quick run asks fewer strangers (for 001 and 004 still a
/// million for each rate) and fills smaller filters for 000.
#[must_use]
pub fn reproduce(document: Document, quick: bool) -> Report {
    reproduce_telling(document, quick, &|_| ())
}

/// [`reproduce`], which calls `tell` with a few words before each step.
#[must_use]
pub fn reproduce_telling(document: Document, quick: bool, tell: &dyn Fn(&str)) -> Report {
    let strangers = if quick { 1_000_000 } else { 4_000_000 };
    let mut book = Notebook { document: document.id(), report: Report::default(), tell };
    match document {
        Document::UltraFilter => ultrafilter::reproduce(&mut book, quick),
        Document::SizingReport => sizing_report::reproduce(&mut book, strangers),
        Document::Egh => egh::reproduce(&mut book, quick),
        Document::LectureNotes => lecture_notes::reproduce(&mut book, strangers),
    }
    book.report
}

/// Collects the cells and slips of one document.
struct Notebook<'a> {
    document: &'static str,
    report: Report,
    tell: &'a dyn Fn(&str),
}

impl Notebook<'_> {
    /// Says what is done next.
    fn step(&self, what: &str) {
        (self.tell)(what);
    }

    /// A number that must be equal.
    fn exact(
        &mut self,
        place: impl Into<Place>,
        published: impl ToString,
        recomputed: impl ToString,
        note: &str,
    ) {
        let (published, recomputed) = (published.to_string(), recomputed.to_string());
        let holds = published == recomputed;
        self.cell(
            place,
            published,
            recomputed,
            Tolerance { within: 0.0, why: "exact".to_owned() },
            holds,
            note,
        );
    }

    /// A number that must lie within `tolerance` of ours, for the reason given.
    fn near(
        &mut self,
        place: impl Into<Place>,
        published: f64,
        recomputed: f64,
        tolerance: f64,
        why: &str,
        note: &str,
    ) {
        let holds = (published - recomputed).abs() <= tolerance;
        let tolerance = Tolerance { within: tolerance, why: why.to_owned() };
        self.cell(place, published.to_string(), significant(recomputed), tolerance, holds, note);
    }

    /// A formula of the document, evaluated by us on both sides: the document prints no number for
    /// it.
    fn formula(
        &mut self,
        place: impl Into<Place>,
        derived: f64,
        recomputed: f64,
        tolerance: f64,
        why: &str,
        note: &str,
    ) {
        self.near(place, derived, recomputed, tolerance, why, note);
        if let Some(cell) = self.report.cells.last_mut() {
            (cell.source, cell.published) = (Source::Formula, significant(derived));
        }
    }

    /// The same for a whole number.
    fn exact_formula(
        &mut self,
        place: impl Into<Place>,
        derived: impl ToString,
        recomputed: impl ToString,
        note: &str,
    ) {
        self.exact(place, derived, recomputed, note);
        if let Some(cell) = self.report.cells.last_mut() {
            cell.source = Source::Formula;
        }
    }

    /// Our measurement held against a law of ours: the document has no number.
    fn law(&mut self, place: impl Into<Place>, recomputed: f64, max: f64, why: &str, note: &str) {
        let tolerance = Tolerance { within: max, why: why.to_owned() };
        self.cell(
            place,
            String::new(),
            significant(recomputed),
            tolerance,
            recomputed <= max,
            note,
        );
        if let Some(cell) = self.report.cells.last_mut() {
            cell.source = Source::Law;
        }
    }

    /// Records that the last cell differs: the document is known to be wrong there.
    fn known_to_differ(&mut self) {
        if let Some(cell) = self.report.cells.last_mut() {
            cell.recorded = Verdict::Differs;
        }
    }

    fn cell(
        &mut self,
        place: impl Into<Place>,
        published: String,
        recomputed: String,
        tolerance: Tolerance,
        holds: bool,
        note: &str,
    ) {
        self.report.cells.push(Cell {
            document: self.document,
            place: place.into(),
            source: Source::Number,
            published,
            recomputed,
            tolerance,
            verdict: Verdict::of(holds),
            // `known_to_differ` changes this where the document is known to be wrong.
            recorded: Verdict::Holds,
            note: note.to_owned(),
            reading: None,
            readings: Vec::new(),
        });
    }

    /// Says how the document was read for the last cell, where it can be read in several ways.
    fn read_as(&mut self, reading: &'static str) {
        if let Some(cell) = self.report.cells.last_mut() {
            cell.reading = Some(reading);
        }
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

/// Random letters, as the sizing report's `random.choice(string.ascii_letters)` draws them.
fn letters(random: &mut SplitMix64, length: usize) -> String {
    const LETTERS: &[u8; 52] = b"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ";
    (0..length).map(|_| char::from(LETTERS[random.below(52) as usize])).collect()
}

/// Four significant digits.
fn significant(value: f64) -> String {
    if value != 0.0 && value.abs() < 1e-4 {
        return format!("{value:.3e}");
    }
    let decimals =
        if value == 0.0 { 0.0 } else { (3.0 - value.abs().log10().floor()).clamp(0.0, 20.0) };
    format!("{value:.*}", decimals as usize)
}
