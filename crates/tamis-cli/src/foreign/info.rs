//! What a filter of another program is, in words.

use super::contents;
use crate::output::{self, Integer, Report, about, count_of, grouped, rate};
use serde::Serialize;
use std::fs::File;
use std::path::Path;
use tamis::Health;
use tamis_facts::ForeignInfo;
use tamis_foreign::parquet::ParquetFile;
use tamis_foreign::{ForeignFilter, Format, Part};

/// Shows one filter.
pub(crate) fn show(path: &Path, filter: &ForeignFilter, json: bool) -> anyhow::Result<()> {
    let file = path.display().to_string();
    let text = text(&file, filter, &filter.parts());
    let report = InfoReport { info: ForeignInfo::new(filter), text, file };
    output::print_report(&report, json)
}

fn text(file: &str, filter: &ForeignFilter, parts: &[Part<'_>]) -> String {
    let planned = filter.planned();
    let promise = match planned.stored {
        true => format!(
            "made for {} at a rate of {}",
            count_of(planned.items, "item"),
            rate(planned.fpr)
        ),
        false => format!(
            "not stored; its bits and hashes suit {} at a rate of {}",
            count_of(planned.items, "item"),
            rate(planned.fpr)
        ),
    };
    let counted = filter
        .counted_items()
        .map_or(String::new(), |count| format!("; the file counts {}", grouped(count)));
    let hashes = match parts {
        [part] if part.hashes == 1 => "1 hash".to_owned(),
        [part] => format!("{} hashes", part.hashes),
        _ => format!("in a chain of {} filters", parts.len()),
    };
    let health = match filter.health() {
        Health::Within => "within plan".to_owned(),
        Health::Beyond => "beyond plan: build a larger one".to_owned(),
    };
    let mut text = format!(
        "{file}: a {} filter ({}), {}\n\
         plan      {promise}\n\
         holds     {}{counted}\n\
         fill      {:.1}% of {}, {hashes}\n\
         now       {} of strangers pass\n\
         health    {health}\n\
         keys      {}",
        filter.format(),
        filter.format().program(),
        filter.variant(),
        contents(filter),
        100.0 * filter.fill(),
        count_of(filter.bits(), "bit"),
        rate(filter.expected_fpr()),
        keys(filter.format()),
    );
    if parts.len() > 1 {
        for (i, part) in parts.iter().enumerate() {
            let planned = part.planned();
            text.push_str(&format!(
                "\nfilter {:<3}{} of {} items at {}; {:.1}% of {}, {} hashes; {} pass",
                i + 1,
                part.counted.map_or_else(|| about(part.estimated_items()), grouped),
                grouped(planned.items),
                rate(planned.fpr),
                100.0 * part.fill(),
                count_of(part.bits, "bit"),
                part.hashes,
                rate(part.expected_fpr()),
            ));
        }
    }
    if parts.iter().any(|part| part.reach < part.bits) {
        text.push_str(
            "\nreach     its hashes reach only the first 2^31 bits: the others are never used",
        );
    }
    if !filter.data().is_empty() {
        let start: String = String::from_utf8_lossy(filter.data())
            .chars()
            .take(60)
            .flat_map(char::escape_debug)
            .collect();
        let len = count_of(filter.data().len() as u64, "byte");
        text.push_str(&format!("\ndata      {len} of the user: {start}"));
    }
    text
}

/// What is known of its keys.
fn keys(format: Format) -> String {
    let kinds = format.key_kinds();
    let names: Vec<&str> = kinds.iter().map(|kind| kind.name()).collect();
    match (format, kinds) {
        (Format::Rbloom, _) => {
            "hashes that the file does not explain: --keys sha256 or --keys hash".to_owned()
        }
        (_, [_, _]) => "text (--keys hex: bytes)".to_owned(),
        _ => format!("not stored: taken as text unless said (--keys {})", names[1..].join(", ")),
    }
}

#[derive(Serialize)]
struct InfoReport {
    file: String,
    #[serde(flatten)]
    info: ForeignInfo,
    #[serde(skip)]
    text: String,
}

impl Report for InfoReport {
    fn text(&self) -> String {
        self.text.clone()
    }
}

/// A filter of a Parquet file lets through more than this: it spares few readers their work.
const CROWDED: f64 = 0.05;
/// Below this rate, half the bits would do for almost all uses.
const AMPLE: f64 = 0.0001;

/// Whether the writer chose a good size.
fn sizing(fpr: f64) -> &'static str {
    match fpr {
        fpr if fpr > CROWDED => "too small",
        fpr if fpr < AMPLE => "larger than useful",
        _ => "good",
    }
}

/// Shows the filters of a Parquet file, one after the other.
pub(crate) fn show_file(
    path: &Path,
    mut parquet: ParquetFile<File>,
    json: bool,
) -> anyhow::Result<()> {
    let columns = parquet.columns().to_vec();
    let mut filters = Vec::new();
    for column in &columns {
        for (group, chunk) in column.chunks.iter().enumerate() {
            let Some(chunk) = chunk else { continue };
            let Some(filter) = parquet.filter(chunk)? else { continue };
            let fpr_now = filter.expected_fpr();
            filters.push(FilterFacts {
                column: column.name.clone(),
                physical: chunk.physical.name(),
                row_group: group,
                rows: parquet.rows()[group].into(),
                bits: filter.bits().into(),
                fill: filter.fill(),
                estimated_items: filter.estimated_items(),
                fpr_now,
                sizing: sizing(fpr_now),
            });
        }
    }
    let report = FileReport {
        file: path.display().to_string(),
        format: Format::Parquet.name(),
        created_by: parquet.created_by().to_owned(),
        row_groups: parquet.rows().len(),
        columns: columns.len(),
        filters,
    };
    output::print_report(&report, json)
}

#[derive(Serialize)]
struct FileReport {
    file: String,
    format: &'static str,
    created_by: String,
    row_groups: usize,
    columns: usize,
    filters: Vec<FilterFacts>,
}

#[derive(Serialize)]
struct FilterFacts {
    column: String,
    physical: &'static str,
    row_group: usize,
    rows: Integer,
    bits: Integer,
    fill: f64,
    estimated_items: f64,
    fpr_now: f64,
    sizing: &'static str,
}

impl Report for FileReport {
    fn text(&self) -> String {
        let writer = match self.created_by.as_str() {
            "" => "a program that it does not name".to_owned(),
            // It is shown on a terminal, and may hold anything.
            by => by.chars().filter(|c| !c.is_control()).collect(),
        };
        let mut text = format!(
            "{}: a Parquet file of {writer}: {}, {}, {}",
            self.file,
            count_of(self.columns as u64, "column"),
            count_of(self.row_groups as u64, "row group"),
            count_of(self.filters.len() as u64, "filter"),
        );
        if self.filters.is_empty() {
            return text;
        }
        let header = ["column", "group", "type", "rows", "bits", "fill", "items", "now", "size"];
        let mut rows = vec![header.map(str::to_owned)];
        for filter in &self.filters {
            rows.push([
                filter.column.chars().filter(|c| !c.is_control()).collect(),
                filter.row_group.to_string(),
                filter.physical.to_owned(),
                grouped(filter.rows.0 as u64),
                grouped(filter.bits.0 as u64),
                format!("{:.1}%", 100.0 * filter.fill),
                match filter.estimated_items {
                    items if items.is_finite() => about(items),
                    _ => "full".to_owned(),
                },
                rate(filter.fpr_now),
                filter.sizing.to_owned(),
            ]);
        }
        let width = |i: usize| rows.iter().map(|row| row[i].chars().count()).max().unwrap_or(0);
        let widths: Vec<usize> = (0..header.len()).map(width).collect();
        for row in &rows {
            text.push('\n');
            for (i, (cell, width)) in row.iter().zip(&widths).enumerate() {
                // Words to the left, numbers to the right.
                match i {
                    0 => text.push_str(&format!("{cell:<width$}")),
                    2 => text.push_str(&format!("  {cell:<width$}")),
                    8 => text.push_str(&format!("  {cell}")),
                    _ => text.push_str(&format!("  {cell:>width$}")),
                }
            }
        }
        text
    }
}
