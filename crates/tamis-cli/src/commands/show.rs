//! `tamis show`: a filter as a person sees it.

use crate::filters::Opening;
use crate::foreign::From;
use crate::output::{Content, Destination, count_of, output_path, rate};
use anyhow::{Context, bail};
use clap::Args;
use std::path::PathBuf;

/// Draw a filter as an SVG: small ones bit by bit, large ones by region
#[derive(Args)]
#[command(after_help = "\
Examples:
  tamis show seen.tamis -o seen.svg
  tamis show hosts.tamis -o - > hosts.svg

A rate filter is drawn by the fill of its regions, a zone filter block by block with the residues \
that are occupied, a published filter as the noise that it is. The drawing follows the reader's \
light or dark colours.")]
pub(crate) struct Show {
    /// The filter
    filter: PathBuf,
    /// The SVG file to write; `-` is standard output
    #[arg(short, long, value_name = "FILE.svg", value_parser = output_path())]
    output: PathBuf,
    /// Replace the file even if it is no SVG
    #[arg(long)]
    force: bool,
    /// Draw the filter of this column of a Parquet file
    #[arg(long, value_name = "COLUMN")]
    column: Option<String>,
    /// Draw the filter of this row group of a Parquet file, counted from 0
    #[arg(long, value_name = "N")]
    row_group: Option<usize>,
    #[command(flatten)]
    from: From,
    #[command(flatten)]
    opening: Opening,
}

impl Show {
    pub(crate) fn run(&self) -> anyhow::Result<()> {
        let destination =
            Destination::new(&self.output, Content::Drawing, self.force, [&self.filter])?;
        let name = self.filter.file_name().unwrap_or(self.filter.as_os_str()).to_string_lossy();
        if let Some(found) = self.from.open(&self.filter, self.opening.memory())? {
            let (filter, _) = found.one(self.column.as_deref(), self.row_group)?;
            let title = format!("{name}: a {} filter", filter.format());
            let parts = filter.parts();
            let bodies: Vec<_> = parts.iter().map(|part| (part.body, part.bits)).collect();
            let note = format!(
                "{:.1}% of {} are set; of strangers {} pass now.",
                100.0 * filter.fill(),
                count_of(filter.bits(), "bit"),
                rate(filter.expected_fpr())
            );
            let drawing = tamis_plot::picture::of_bits(&bodies, title, note);
            return destination.create()?.save_text(&tamis_plot::standalone(&drawing.svg()));
        }
        if self.column.is_some() || self.row_group.is_some() {
            bail!("--column and --row-group go with Parquet files; leave them out");
        }
        let any = self.opening.open(&self.filter)?;
        let title = format!("{name}: a {} filter", any.kind());
        let drawing = tamis_plot::picture::of(&any, title)
            .with_context(|| format!("a {} filter cannot be drawn by this release", any.kind()))?;
        destination.create()?.save_text(&tamis_plot::standalone(&drawing.svg()))
    }
}
