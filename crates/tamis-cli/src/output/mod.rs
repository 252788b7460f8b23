//! What a command prints and writes: a report as text or as JSON, warnings, files.

mod file;
mod numbers;
pub(crate) mod progress;
mod report;
mod target;

pub(crate) use numbers::{Elements, Integer, about, count_of, grouped, rate};
pub(crate) use report::{Report, print, print_report, report_on, warn};
pub(crate) use target::{
    Content, Destination, LEDGER, Target, check_sources, output_path, standard_input_once,
};
