//! A drawing of cells in rows: what a filter holds.

use crate::text::{escaped, wrapped};
use std::fmt::Write;

const WIDTH: f64 = 440.0;
const LETTER: f64 = 12.5;

/// Panels of cells, one below the other, with a title and notes.
#[derive(Debug, Clone)]
pub struct Raster {
    /// What it shows.
    pub title: String,
    /// What is to be said of it, a line each.
    pub notes: Vec<String>,
    /// The panels.
    pub panels: Vec<Panel>,
}

/// Cells in rows of equal length.
#[derive(Debug, Clone)]
pub struct Panel {
    /// What stands above it, if anything does.
    pub name: String,
    /// From 0 (paper) to 1 (full colour).
    pub shades: Vec<f64>,
    /// The cells of a row.
    pub columns: usize,
}

impl Panel {
    /// Cells in about as many columns as fit the drawing.
    #[must_use]
    pub fn new(name: &str, shades: Vec<f64>, columns: usize) -> Panel {
        Panel { name: name.to_owned(), shades, columns: columns.max(1) }
    }
}

impl Raster {
    /// The drawing. Cells are as large as they can be, up to 14 units.
    #[must_use]
    pub fn svg(&self) -> String {
        let mut body = String::new();
        let mut y = 20.0;
        let letters = ((WIDTH - 16.0) / (LETTER * 0.54)) as usize;
        for (number, line) in wrapped(&self.title, letters - 6).iter().enumerate() {
            let _ = write!(
                body,
                "<text x=\"8\" y=\"{:.1}\" font-weight=\"600\">{}</text>",
                y + 16.0 * number as f64,
                escaped(line)
            );
            y += if number > 0 { 16.0 } else { 0.0 };
        }
        for line in self.notes.iter().flat_map(|note| wrapped(note, letters)) {
            y += 16.0;
            let _ = write!(
                body,
                "<text x=\"8\" y=\"{y:.1}\" style=\"fill:var(--soft)\">{}</text>",
                escaped(&line)
            );
        }
        y += 12.0;
        let widest = self.panels.iter().map(|panel| panel.columns).max().unwrap_or(1) as f64;
        let side = ((WIDTH - 16.0) / widest).min(14.0);
        for panel in &self.panels {
            if !panel.name.is_empty() {
                let _ = write!(
                    body,
                    "<text x=\"8\" y=\"{:.1}\">{}</text>",
                    y + 12.0,
                    escaped(&panel.name)
                );
                y += 17.0;
            }
            y = panel.draw(&mut body, y, side) + 6.0;
        }
        format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {WIDTH} {:.1}\" role=\"img\" \
             font-size=\"{LETTER}\"><title>{}</title>{body}</svg>",
            y + 6.0,
            escaped(&self.title)
        )
    }
}

impl Panel {
    /// Draws the cells and says where they end. Cells of one shade are one path, so that the file
    /// stays small.
    fn draw(&self, out: &mut String, top: f64, side: f64) -> f64 {
        let gap = if side >= 5.0 { 1.0 } else { 0.0 };
        let mut paths: [String; 17] = Default::default();
        for (i, shade) in self.shades.iter().enumerate() {
            let (x, y) =
                (8.0 + (i % self.columns) as f64 * side, top + (i / self.columns) as f64 * side);
            // Something is never drawn as nothing.
            let level = match (shade.clamp(0.0, 1.0) * 16.0).round() as usize {
                0 if *shade > 0.0 => 1,
                level => level.min(16),
            };
            let _ = write!(paths[level], "M{x:.1} {y:.1}h{s:.1}v{s:.1}h-{s:.1}z", s = side - gap);
        }
        for (level, path) in paths.iter().enumerate().filter(|(_, path)| !path.is_empty()) {
            let _ = match level {
                0 => write!(out, "<path d=\"{path}\" fill=\"var(--rule)\" fill-opacity=\"0.45\"/>"),
                _ => write!(
                    out,
                    "<path d=\"{path}\" fill=\"var(--c0)\" fill-opacity=\"{:.2}\"/>",
                    0.12 + 0.88 * level as f64 / 16.0
                ),
            };
        }
        top + self.shades.len().div_ceil(self.columns) as f64 * side
    }
}
