//! Progress, on standard error and only on a terminal.

use indicatif::{ProgressBar, ProgressStyle};
use std::io::{self, IsTerminal};
use std::path::PathBuf;
use std::time::Duration;

/// A bar for reading files; none where the output is being read on the same terminal.
pub(crate) fn reading(files: &[PathBuf], doing: &str) -> ProgressBar {
    if doing == "querying" && io::stdout().is_terminal() {
        return ProgressBar::hidden();
    }
    let size =
        |file: &PathBuf| file.metadata().ok().filter(std::fs::Metadata::is_file).map(|m| m.len());
    match files.iter().map(size).sum() {
        Some(total) => bar(
            Some(total),
            doing,
            "{prefix} [{wide_bar}] {bytes} of {total_bytes}, {bytes_per_sec}, {eta} left",
        ),
        None => bar(None, doing, "{prefix} {spinner} {bytes}, {bytes_per_sec}"),
    }
}

/// A bar on a terminal, nothing elsewhere.
pub(crate) fn bar(total: Option<u64>, doing: &str, template: &str) -> ProgressBar {
    if !io::stderr().is_terminal() {
        return ProgressBar::hidden();
    }
    let style =
        ProgressStyle::with_template(template).unwrap_or_else(|_| ProgressStyle::default_bar());
    let bar = total.map_or_else(ProgressBar::no_length, ProgressBar::new);
    bar.with_style(style.progress_chars("=> ")).with_prefix(doing.to_owned())
}

/// A sign of life for work of unknown length.
pub(crate) fn spinner(doing: &str) -> ProgressBar {
    let spinner = bar(None, doing, "{prefix} {spinner} {elapsed} {msg}");
    if !spinner.is_hidden() {
        spinner.enable_steady_tick(Duration::from_millis(200));
    }
    spinner
}
