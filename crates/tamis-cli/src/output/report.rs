//! One report a command: the same facts as text or as JSON.

use serde::Serialize;
use std::io::Write;
use std::path::Path;

/// What a command has to say. Its fields are its JSON, so their names are a contract.
pub(crate) trait Report: Serialize {
    /// The report as a person reads it.
    fn text(&self) -> String;
}

/// Prints a report on standard output.
pub(crate) fn print_report(report: &impl Report, json: bool) -> anyhow::Result<()> {
    print(&rendered(report, json)?)
}

/// Prints a report of what was written to `file`: on standard error where the file itself went to
/// standard output.
pub(crate) fn report_on(file: &Path, report: &impl Report, json: bool) -> anyhow::Result<()> {
    let text = rendered(report, json)?;
    if file == Path::new("-") {
        warn(&text);
        return Ok(());
    }
    print(&text)
}

fn rendered(report: &impl Report, json: bool) -> anyhow::Result<String> {
    Ok(if json { serde_json::to_string(report)? } else { report.text() })
}

/// Prints a line. If its reader went away, that is an error that `run` forgives.
pub(crate) fn print(text: &str) -> anyhow::Result<()> {
    let mut out = std::io::stdout().lock();
    writeln!(out, "{text}")?;
    Ok(out.flush()?)
}

/// Prints a line on standard error. If even that fails, there is nobody to tell.
pub(crate) fn warn(text: &str) {
    let _ = writeln!(std::io::stderr(), "{text}");
}
