//! The report: one page that needs nothing else.

mod figures;
mod tables;

use crate::extra::compare::Row;
use crate::extra::{compare, frontier, memory};
use crate::{Cell, Document, Report, Verdict};
use std::fmt::Write;
use tamis_plot::{Chart, STYLE, escaped, readable};

/// A chart with its caption.
struct Figure {
    chart: Chart,
    caption: String,
}

/// The report as an HTML page. It also computes what goes beyond the documents: the privacy
/// frontier with 000, memory with 003, and a comparison of all filters with all documents.
#[must_use]
pub fn page(report: &Report, quick: bool, tell: &dyn Fn(&str)) -> String {
    let documents: Vec<Document> = Document::ALL
        .into_iter()
        .filter(|document| report.cells.iter().any(|c| c.document == document.id()))
        .collect();
    let mut sections =
        vec![("glance".to_owned(), "At a glance".to_owned(), glance(report, &documents, quick))];
    for document in &documents {
        let title = format!("{}: {}", document.id(), document.title());
        sections.push((format!("d{}", document.id()), title, section(report, *document)));
    }
    if documents.contains(&Document::UltraFilter) {
        tell("the privacy frontier");
        let figures = figures::frontier(&frontier::points(quick));
        sections.push(("frontier".to_owned(), "The privacy frontier".to_owned(), grid(&figures)));
    }
    if documents.contains(&Document::Egh) {
        tell("memory against universe");
        let figures: Vec<Figure> = [5, 20]
            .iter()
            .map(|items| figures::memory(*items, &memory::against_universe(*items, quick)))
            .collect();
        sections.push(("memory".to_owned(), "Memory against universe".to_owned(), grid(&figures)));
    }
    if documents.len() == Document::ALL.len() {
        tell("all filters side by side");
        let text = comparison(&compare::rows(quick));
        sections.push(("compare".to_owned(), "All filters side by side".to_owned(), text));
    }
    let mut body = String::new();
    let mut links = String::new();
    for (id, title, text) in &sections {
        // The link of a document has its number and its first author.
        let short = title.split(", ").next().unwrap_or(title);
        let _ = write!(links, "<a href=\"#{id}\">{}</a>", escaped(short));
        let _ =
            writeln!(body, "<section id=\"{id}\"><h2>{}</h2>\n{text}</section>", escaped(title));
    }
    format!(
        "<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">\
         <meta name=\"viewport\" content=\"width=device-width,initial-scale=1\">\
         <meta name=\"color-scheme\" content=\"light dark\"><link rel=\"icon\" href=\"data:,\">\
         <title>Published filters, recomputed by \
         tamis</title>\n<style>{STYLE}\n{}</style></head>\n<body>\
         <h1>Published filters, recomputed</h1>\
         <p>Every table, figure and worked example of the documents behind tamis {}, computed \
         again: each published number beside ours, the figures drawn from our data with the \
         published points on them, and the slips found.</p>\
         <nav>{links}</nav>\n{body}</body></html>\n",
        include_str!("style.css"),
        env!("CARGO_PKG_VERSION"),
    )
}

fn glance(report: &Report, documents: &[Document], quick: bool) -> String {
    let mut rows = vec![
        [
            "document",
            "cells",
            "hold",
            "hold under a reading",
            "differ, as known",
            "changed",
            "slips",
        ]
        .map(str::to_owned)
        .to_vec(),
    ];
    for document in documents {
        let cells: Vec<&Cell> =
            report.cells.iter().filter(|cell| cell.document == document.id()).collect();
        let count = |wanted: &dyn Fn(&Cell) -> bool| {
            cells.iter().filter(|cell| wanted(cell)).count().to_string()
        };
        rows.push(vec![
            format!(
                "{}: {}",
                document.id(),
                document.title().split(", ").next().unwrap_or_default()
            ),
            cells.len().to_string(),
            count(&|cell| cell.verdict == Verdict::Holds && cell.reading.is_none()),
            count(&|cell| cell.verdict == Verdict::Holds && cell.reading.is_some()),
            count(&|cell| cell.verdict == Verdict::Differs && cell.as_recorded()),
            count(&|cell| !cell.as_recorded()),
            report.slips.iter().filter(|slip| slip.document == document.id()).count().to_string(),
        ]);
    }
    let changed = report.cells.iter().filter(|cell| !cell.as_recorded()).count();
    let verdict = if changed == 0 {
        "Every verdict is the one on record.".to_owned()
    } else {
        format!(
            "{changed} verdicts are not the ones on record: the program or the record is wrong."
        )
    };
    let speed = if quick { " This was a quick run, with smaller samples." } else { "" };
    format!(
        "<p>{verdict}{speed} A cell holds if both numbers agree within a tolerance that is given \
         with its reason; it holds under a reading if the document can be read in several ways and \
         one of them gives its numbers.</p>{}",
        plain_table(&rows, 1)
    )
}

fn section(report: &Report, document: Document) -> String {
    let mut out = String::new();
    let figures = figures::of(report, document);
    if !figures.is_empty() {
        let _ = write!(out, "<h3>Figures</h3>{}", grid(&figures));
    }
    let cells: Vec<&Cell> =
        report.cells.iter().filter(|cell| cell.document == document.id()).collect();
    let _ = write!(out, "<h3>Tables: published beside recomputed</h3>{}", tables::html(&cells));
    let _ = write!(out, "<h3>Slips</h3><dl class=\"slips\">");
    for slip in report.slips.iter().filter(|slip| slip.document == document.id()) {
        let _ = write!(out, "<dt>{}</dt><dd>{}</dd>", escaped(&slip.slip), escaped(&slip.evidence));
    }
    out.push_str("</dl>");
    out
}

/// Figures with their numbers behind a fold.
fn grid(figures: &[Figure]) -> String {
    let mut out = "<div class=\"figures\">".to_owned();
    for figure in figures {
        let _ = writeln!(
            out,
            "<figure><h3>{}</h3>{}<figcaption>{}</figcaption><details><summary>The \
             numbers</summary>{}</details></figure>",
            escaped(&figure.chart.title),
            figure.chart.svg(),
            escaped(&figure.caption),
            plain_table(&figure.chart.rows(), 0)
        );
    }
    out.push_str("</div>");
    out
}

/// A table that scrolls in its own box. The first row has the names; the first `words` columns are
/// text.
fn plain_table(rows: &[Vec<String>], words: usize) -> String {
    let mut out = "<div class=\"scroll\"><table>".to_owned();
    for (i, row) in rows.iter().enumerate() {
        out.push_str("<tr>");
        for (column, text) in row.iter().enumerate() {
            let class = if column < words { " class=\"words place\"" } else { "" };
            let tag = if i == 0 { "th" } else { "td" };
            let _ = write!(out, "<{tag}{class}>{}</{tag}>", escaped(text));
        }
        out.push_str("</tr>");
    }
    out.push_str("</table></div>");
    out
}

fn comparison(rows: &[Row]) -> String {
    let names = [
        "filter",
        "promise",
        "bits an item",
        "FP",
        "95% sure of",
        "FN",
        "ns a lookup",
        "items",
        "privacy",
        "lists",
        "removes",
    ];
    let mut table = vec![names.map(str::to_owned).to_vec()];
    for row in rows {
        table.push(vec![
            row.name.to_owned(),
            row.promise.to_owned(),
            format!("{:.1}", row.bits_per_item),
            readable(row.fp),
            format!("{} to {}", readable(row.interval.0), readable(row.interval.1)),
            readable(row.missed),
            format!("{:.0}", row.nanoseconds),
            row.items.to_string(),
            row.privacy.to_owned(),
            row.lists.to_owned(),
            row.removes.to_owned(),
        ]);
    }
    format!(
        "<p>One set of keys like real ones, made from a seed: skewed names in many scripts. A \
         fifth of the members differ from another member in one character. There are twice as many \
         strangers, and half of them differ from a member in one character. Zone filters hold 20 \
         of the keys, and all keys are their universe; their bits are those of the body, without \
         the dictionary. The times are the medians of seven rounds of 20,000 single lookups on \
         this machine. Half of the lookups are of members; the first keys come more often.</p>{}{}",
        plain_table(&table, 2),
        grid(&[figures::comparison(rows)])
    )
}
