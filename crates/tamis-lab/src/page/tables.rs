//! Published numbers beside ours, table by table.

use crate::{Cell, Verdict};
use std::fmt::Write;
use tamis_plot::{escaped, readable};

/// Every table of a document.
pub(super) fn html(cells: &[&Cell]) -> String {
    let mut tables: Vec<(&str, Vec<&Cell>)> = Vec::new();
    for cell in cells {
        match tables.iter_mut().find(|(name, _)| *name == cell.place.table) {
            Some((_, of_table)) => of_table.push(cell),
            None => tables.push((&cell.place.table, vec![cell])),
        }
    }
    let mut out = String::new();
    for (name, cells) in &tables {
        // A table with rows is drawn as one, with our number below the published one.
        let rows = cells.iter().filter(|cell| !cell.place.row.is_empty()).count();
        if rows > 4 && *name != "Laws" {
            let _ = write!(out, "<h3>{}</h3>{}", escaped(name), crossed(cells));
            let _ = write!(
                out,
                "<details><summary>Cell by cell, with tolerances and notes</summary>{}</details>",
                listed(cells)
            );
        } else {
            let _ = write!(out, "<h3>{}</h3>{}", escaped(name), listed(cells));
        }
    }
    out
}

/// A long whole number as a power of ten, anything else as it is.
fn short(text: &str) -> String {
    match text.parse::<f64>() {
        Ok(number) if text.len() > 8 && text.bytes().all(|byte| byte.is_ascii_digit()) => {
            readable(number)
        }
        _ => text.to_owned(),
    }
}

fn mark(cell: &Cell) -> (&'static str, &'static str) {
    match cell.verdict {
        Verdict::Holds => ("", ""),
        Verdict::Differs => (" differs", "<span class=\"mark\">≠ </span>"),
    }
}

/// Rows and columns as in the document: the published number, and ours below it.
fn crossed(cells: &[&Cell]) -> String {
    let cells: Vec<&&Cell> = cells.iter().filter(|cell| !cell.place.row.is_empty()).collect();
    // A table of one metric has two parameters, of which the second goes across.
    let single = cells.iter().all(|cell| cell.place.column == cells[0].place.column);
    let place = |cell: &Cell| match cell.place.row.split_once(", ") {
        Some((row, column)) if single => {
            (row.to_owned(), format!("{}, {column}", cell.place.column))
        }
        _ => (cell.place.row.clone(), cell.place.column.clone()),
    };
    let (mut rows, mut columns): (Vec<String>, Vec<String>) = (Vec::new(), Vec::new());
    for cell in &cells {
        let (row, column) = place(cell);
        if !rows.contains(&row) {
            rows.push(row);
        }
        if !columns.contains(&column) {
            columns.push(column);
        }
    }
    let mut out =
        "<p class=\"note\">Above as published, below as recomputed; ≠ marks a difference.</p>\
                   <div class=\"scroll\"><table><tr><th></th>"
            .to_owned();
    for column in &columns {
        let _ = write!(out, "<th>{}</th>", escaped(column));
    }
    for row in &rows {
        let _ = write!(out, "</tr><tr><td class=\"words place\">{}</td>", escaped(row));
        for column in &columns {
            match cells.iter().find(|cell| place(cell) == (row.clone(), column.clone())) {
                Some(cell) => {
                    let (class, sign) = mark(cell);
                    let _ = write!(
                        out,
                        "<td class=\"{class}\">{sign}{}<span class=\"ours\">{}</span></td>",
                        escaped(&short(&cell.published)),
                        escaped(&short(&cell.recomputed))
                    );
                }
                None => out.push_str("<td></td>"),
            }
        }
    }
    out.push_str("</tr></table></div>");
    out
}

/// One row for each cell, with its tolerance and notes.
fn listed(cells: &[&Cell]) -> String {
    let mut out = "<div class=\"scroll\"><table><tr><th \
        class=\"words\">place</th><th>published</th><th>recomputed</th>\
                   <th>verdict</th>"
        .to_owned();
    let readings: Vec<&str> =
        cells.first().map_or(Vec::new(), |cell| cell.readings.iter().map(|r| r.name).collect());
    for name in &readings {
        let _ = write!(out, "<th>{}</th>", escaped(name));
    }
    out.push_str("<th class=\"words\">tolerance, and what else there is to say</th></tr>");
    for cell in cells {
        let (class, sign) = mark(cell);
        let place = [cell.place.row.as_str(), cell.place.column.as_str()];
        let place: Vec<&str> = place.into_iter().filter(|part| !part.is_empty()).collect();
        let changed = if cell.as_recorded() { "" } else { " (changed)" };
        let _ = write!(
            out,
            "<tr><td class=\"words place\">{}</td><td>{}</td><td>{}</td><td \
             class=\"verdict{class}\">{sign}{}{changed}</td>",
            escaped(&place.join(", ")),
            escaped(&cell.published_words()),
            escaped(&cell.recomputed),
            cell.verdict_in_full()
        );
        for reading in &cell.readings {
            let sign = if reading.verdict == Verdict::Holds { "= " } else { "" };
            let _ = write!(out, "<td>{sign}{}</td>", escaped(&reading.recomputed));
        }
        let _ = write!(
            out,
            "<td class=\"words prose\">{}; {}</td></tr>",
            escaped(&cell.tolerance.to_string()),
            escaped(&cell.note)
        );
    }
    out.push_str("</table></div>");
    out
}
