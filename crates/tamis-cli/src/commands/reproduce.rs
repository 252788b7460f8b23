//! `tamis reproduce`: published numbers, recomputed.

use crate::output::{self, Content, Destination, progress, warn};
use anyhow::{Context, bail};
use clap::Args;
use std::path::{Path, PathBuf};
use tamis_lab::{Cell, Document, Report, Verdict};

/// Recompute the numbers of the documents behind tamis, and say which hold
#[derive(Args)]
#[command(after_help = "\
Documents:
  000  Odoh, UltraFilter: A Privacy-Preserving Bloom Filter (2025); 002 is another print of it
  001  Sánchez-O'Mullony Martínez, Designing a Bloom Filter for a Target False Positive Rate (2025)
  003  Kiss, Hosszu, Tapolcai, Rónyai, Rottenstreich, Bloom Filter with a False Positive Free Zone
  004  Levine, Bloom Filters, lecture notes (2018-2019)

Exit code: 0 every verdict is the one on record, 1 one changed, 2 an error.

JSON fields: cells, each with document, place (table, row, column), source (number, formula or \
law: what the document gives there), published, recomputed, tolerance and why, verdict (`holds`, \
`holds under reading R`, `differs`), recorded (the verdict on record), note, reading (R, or null) \
and readings (what others give: name, recomputed, verdict, recorded); slips, each with document, \
slip, evidence; and series, the data behind figures and tables, each with document, name, x_name, \
y_name, x, y. Whole numbers past 2^53 are strings, and so is what is no number.")]
pub(crate) struct Reproduce {
    /// The documents, by number [default: all]
    documents: Vec<String>,
    /// Ask fewer strangers: a million for each rate instead of four, fewer still for 003's many
    /// rates, and smaller filters for 000
    #[arg(long)]
    quick: bool,
    /// Print one JSON object
    #[arg(long)]
    json: bool,
    /// Write a page with tables, figures and slips into this folder, as index.html
    #[arg(long, value_name = "DIR")]
    report: Option<PathBuf>,
    /// Replace index.html even if it is no report
    #[arg(long, requires = "report")]
    force: bool,
}

impl Reproduce {
    /// Whether every verdict is the one on record.
    pub(crate) fn run(&self) -> anyhow::Result<bool> {
        let documents = self.chosen()?;
        let page = self.report.as_ref().map(|folder| page_in(folder, self.force)).transpose()?;
        let mut all = Report::default();
        for (i, document) in documents.iter().copied().enumerate() {
            let bar = progress::spinner(&format!(
                "recomputing {} ({} of {})",
                document.id(),
                i + 1,
                documents.len()
            ));
            let report = tamis_lab::reproduce_telling(document, self.quick, &|step| {
                bar.set_message(step.to_owned());
            });
            bar.finish_and_clear();
            if !self.json {
                output::print(&words(document, &report))?;
            }
            all.extend(report);
        }
        if let Some((path, destination)) = page {
            let bar = progress::spinner("drawing");
            let html = tamis_lab::page(&all, self.quick, &|step| bar.set_message(step.to_owned()));
            bar.finish_and_clear();
            destination.create()?.save_text(&html)?;
            warn(&format!("tamis: the report is {}", path.display()));
        }
        if self.json {
            output::print(&serde_json::to_string(&all)?)?;
        }
        Ok(all.cells.iter().all(Cell::as_recorded))
    }

    fn chosen(&self) -> anyhow::Result<Vec<Document>> {
        if self.documents.is_empty() {
            return Ok(Document::ALL.to_vec());
        }
        let find = |name: &String| match Document::numbered(name) {
            Some(document) => Ok(document),
            None => bail!("there is no document {name:?}; there are {}", names()),
        };
        self.documents.iter().map(find).collect()
    }
}

/// The page of a report in a folder, which is made if need be.
fn page_in(folder: &Path, force: bool) -> anyhow::Result<(PathBuf, Destination)> {
    std::fs::create_dir_all(folder)
        .with_context(|| format!("cannot make the folder {}", folder.display()))?;
    let path = folder.join("index.html");
    let destination = Destination::new(&path, Content::Page, force, [])?;
    Ok((path, destination))
}

/// The numbers of all documents, as a sentence has them.
fn names() -> String {
    let [others @ .., last] = Document::ALL.map(Document::id);
    format!("{} and {last}", others.join(", "))
}

fn words(document: Document, report: &Report) -> String {
    let mut lines = vec![format!("{}  {}", document.id(), document.title()), String::new()];
    for cells in report.cells.chunk_by(|a, b| a.readings.is_empty() == b.readings.is_empty()) {
        if cells[0].readings.is_empty() {
            lines.extend(plain(cells));
        } else {
            lines.extend(with_readings(cells));
        }
    }
    let holds = report.cells.iter().filter(|cell| cell.verdict == Verdict::Holds).count();
    lines.push(format!("\n{holds} of {} cells hold.\n", report.cells.len()));
    lines.extend(beyond(report));
    lines.push("Slips:".to_owned());
    for slip in &report.slips {
        lines.push(format!("- {}\n  {}", slip.slip, slip.evidence));
    }
    lines.push(String::new());
    lines.join("\n")
}

/// What goes beyond the document, curve by curve. The data of its own figures is in --json.
fn beyond(report: &Report) -> Vec<String> {
    let series: Vec<_> =
        report.series.iter().filter(|series| series.name.starts_with("Beyond")).collect();
    let mut lines = Vec::new();
    for curves in series.chunk_by(|a, b| a.name == b.name) {
        let row = |name: &str, values: &[f64]| {
            let values: Vec<String> = values.iter().map(|value| format!("{value:>8.4}")).collect();
            format!("  {name:<20}{}", values.join("  "))
        };
        lines.push(curves[0].name.clone());
        lines.push(row(curves[0].x_name, &curves[0].x));
        lines.extend(curves.iter().map(|curve| row(curve.y_name, &curve.y)));
        lines.push(String::new());
    }
    lines
}

/// The widths of the published and the recomputed numbers.
fn widths(cells: &[Cell]) -> (usize, usize) {
    let width = |of: fn(&Cell) -> String, least: usize| {
        cells.iter().map(|cell| of(cell).chars().count()).max().unwrap_or(0).max(least)
    };
    (width(Cell::published_words, 9), width(|cell| cell.recomputed.clone(), 10))
}

fn changed(cell: &Cell) -> &'static str {
    if cell.as_recorded() { "" } else { "  CHANGED: the record says otherwise" }
}

/// Two lines a cell: the number, and what there is to say.
fn plain(cells: &[Cell]) -> Vec<String> {
    let (published, recomputed) = widths(cells);
    let mut lines = vec![format!(
        "{:<9}{:<published$}  {:<recomputed$}  place",
        "verdict", "published", "recomputed"
    )];
    for cell in cells {
        lines.push(format!(
            "{:<9}{:<published$}  {:<recomputed$}  {}{}",
            cell.verdict,
            cell.published_words(),
            cell.recomputed,
            cell.place,
            changed(cell)
        ));
        lines.push(format!(
            "{:<width$}  {}; {}",
            "",
            cell.tolerance,
            cell.note,
            width = 9 + published + 2 + recomputed
        ));
    }
    lines
}

/// One line a cell, with a column for each other reading, and what there is to say of all of them.
fn with_readings(cells: &[Cell]) -> Vec<String> {
    let (published, recomputed) = widths(cells);
    let names: Vec<&str> = cells[0].readings.iter().map(|reading| reading.name).collect();
    let mut lines = vec![
        format!("Recomputed: {}.", cells[0].note),
        "Beside it other readings; = marks those that hold. Tolerances are in --json.".to_owned(),
        format!(
            "{:<9}{:<published$}  {:<recomputed$}  {}  place",
            "verdict",
            "published",
            "recomputed",
            names.join("  ")
        ),
    ];
    for cell in cells {
        let readings: Vec<String> = cell
            .readings
            .iter()
            .map(|reading| {
                let mark = if reading.verdict == Verdict::Holds { "=" } else { "" };
                format!(
                    "{:<width$}",
                    format!("{mark:<2}{}", reading.recomputed),
                    width = reading.name.len()
                )
            })
            .collect();
        lines.push(format!(
            "{:<9}{:<published$}  {:<recomputed$}  {}  {}{}",
            cell.verdict,
            cell.published,
            cell.recomputed,
            readings.join("  "),
            cell.place,
            changed(cell)
        ));
    }
    let others = names.iter().enumerate().map(|(i, name)| {
        let holds = cells.iter().filter(|cell| cell.readings[i].verdict == Verdict::Holds).count();
        format!("{holds} with {name}")
    });
    let holds = cells.iter().filter(|cell| cell.verdict == Verdict::Holds).count();
    lines.push(format!(
        "Of {} cells {holds} hold as recomputed, {}.\n",
        cells.len(),
        others.collect::<Vec<_>>().join(", ")
    ));
    lines
}
