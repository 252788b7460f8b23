//! What a command prints: a report as text or as JSON, warnings, drawings.

mod numbers;
pub(crate) mod picture;
pub(crate) mod progress;
mod report;
mod target;

pub(crate) use numbers::{Integer, about, count_of, grouped, rate};
pub(crate) use report::{Report, print, print_report, report_on, warn};
pub(crate) use target::{
    Target, check_folder, check_sources, save, spare_other_files, spare_sources,
    standard_input_once,
};
