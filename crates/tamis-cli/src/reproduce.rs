//! `tamis reproduce`: published numbers, recomputed.

use crate::{output, progress};
use anyhow::bail;
use clap::Args;
use serde_json::json;
use tamis_lab::{Document, Report, Verdict};

/// Recompute the numbers of the documents behind tamis, and say which hold
#[derive(Args)]
#[command(after_help = "\
Documents:
  001  Sánchez-O'Mullony Martínez, Designing a Bloom Filter for a Target False Positive Rate (2025)
  003  Kiss, Hosszu, Tapolcai, Rónyai, Rottenstreich, Bloom Filter with a False Positive Free Zone
  004  Levine, Bloom Filters, lecture notes (2018-2019)

Exit code: 0 every verdict is the one on record, 1 one changed, 2 an error.

JSON fields: cells, each with document, place, published, recomputed, tolerance, verdict (holds or differs), recorded \
(the verdict on record), note; slips, each with document, slip, evidence; and series, the data behind figures and tables, each with document, \
name, x_name, y_name, x, y.")]
pub(crate) struct Reproduce {
    /// The documents, by number [default: all]
    documents: Vec<String>,
    /// Ask fewer strangers: a million for each rate instead of four, and fewer still for 003's many rates
    #[arg(long)]
    quick: bool,
    /// Print one JSON object
    #[arg(long)]
    json: bool,
}

impl Reproduce {
    /// Whether every verdict is the one on record.
    pub(crate) fn run(&self) -> anyhow::Result<bool> {
        let documents = self.chosen()?;
        let mut all = Report::default();
        for document in documents {
            let bar = progress::spinner(&format!("recomputing {}", document.id()));
            let report = tamis_lab::reproduce(document, self.quick);
            bar.finish_and_clear();
            if !self.json {
                output::print(&words(document, &report))?;
            }
            all.extend(report);
        }
        if self.json {
            output::print(&json!(all).to_string())?;
        }
        Ok(all.cells.iter().all(tamis_lab::Cell::as_recorded))
    }

    fn chosen(&self) -> anyhow::Result<Vec<Document>> {
        if self.documents.is_empty() {
            return Ok(Document::ALL.to_vec());
        }
        let find = |name: &String| match Document::ALL.iter().find(|document| document.id() == name) {
            Some(document) => Ok(*document),
            None => bail!("there is no document {name:?}; there are {}", names()),
        };
        self.documents.iter().map(find).collect()
    }
}

/// The numbers of all documents, as a sentence has them.
fn names() -> String {
    let [others @ .., last] = Document::ALL.map(Document::id);
    format!("{} and {last}", others.join(", "))
}

fn words(document: Document, report: &Report) -> String {
    let mut lines = vec![format!("{}  {}", document.id(), document.title()), String::new()];
    let width = |of: fn(&tamis_lab::Cell) -> &str, least: usize| {
        report.cells.iter().map(|cell| of(cell).chars().count()).max().unwrap_or(0).max(least)
    };
    let (published, recomputed) = (width(|c| &c.published, 9), width(|c| &c.recomputed, 10));
    lines.push(format!("{:<9}{:<published$}  {:<recomputed$}  place", "verdict", "published", "recomputed"));
    for cell in &report.cells {
        let changed = if cell.as_recorded() { "" } else { "  CHANGED: the record says otherwise" };
        lines.push(format!(
            "{:<9}{:<published$}  {:<recomputed$}  {}{changed}",
            cell.verdict, cell.published, cell.recomputed, cell.place
        ));
        lines.push(format!(
            "{:<width$}  {}; {}",
            "",
            cell.tolerance,
            cell.note,
            width = 9 + published + 2 + recomputed
        ));
    }
    let holds = report.cells.iter().filter(|cell| cell.verdict == Verdict::Holds).count();
    lines.push(format!("\n{holds} of {} cells hold.\n", report.cells.len()));
    lines.push("Slips:".to_owned());
    for slip in &report.slips {
        lines.push(format!("- {}\n  {}", slip.slip, slip.evidence));
    }
    lines.push(String::new());
    lines.join("\n")
}
