//! `tamis show`: a filter as a person sees it.

use crate::filters::Opening;
use crate::output::{Content, Destination, output_path};
use anyhow::Context;
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
    #[command(flatten)]
    opening: Opening,
}

impl Show {
    pub(crate) fn run(&self) -> anyhow::Result<()> {
        let destination =
            Destination::new(&self.output, Content::Drawing, self.force, [&self.filter])?;
        let any = self.opening.open(&self.filter)?;
        let name = self.filter.file_name().unwrap_or(self.filter.as_os_str()).to_string_lossy();
        let title = format!("{name}: a {} filter", any.kind());
        let drawing = tamis_plot::picture::of(&any, title)
            .with_context(|| format!("a {} filter cannot be drawn by this release", any.kind()))?;
        destination.create()?.save_text(&tamis_plot::standalone(&drawing.svg()))
    }
}
