//! The command line of tamis, as a library: the binary `tamis` calls [`run`], and tests and fuzz
//! targets call the parsers and the readers.
//!
//! | folder | what |
//! |---|---|
//! | `commands` | one file a command: its arguments, its work, its report |
//! | `arguments` | parsers: counts, sizes, shares, losses, universes, key files |
//! | `input` | keys from files and pipes, in batches |
//! | `dedup` | the engine of `tamis dedup`: records once, in order, on all cores |
//! | `foreign` | filters of other programs: opening, asking, describing, writing |
//! | `filters` | opening, locking, asking and changing filters of any kind |
//! | `serve` | the web server of `tamis explore` |
//! | `spool` | digests of a set that may be larger than memory |
//! | `output` | reports, warnings, progress, drawings, and the file that a command writes |

pub mod arguments;
mod commands;
mod dedup;
mod filters;
mod foreign;
pub mod input;
mod output;
#[cfg(feature = "explore")]
mod serve;
mod spool;
mod threads;

use clap::Parser;
use std::io;
use std::process::ExitCode;

pub use commands::Cli;

/// Runs the command that the process was called with, and says how it ended.
pub fn run() -> ExitCode {
    match Cli::parse().run() {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::from(1),
        // The reader of our output has seen enough: that is no failure.
        Err(error) if is_broken_pipe(&error) => ExitCode::SUCCESS,
        Err(error) => {
            output::warn(&format!("tamis: {error:#}"));
            ExitCode::from(2)
        }
    }
}

fn is_broken_pipe(error: &anyhow::Error) -> bool {
    error.chain().any(|cause| {
        let io = cause.downcast_ref::<io::Error>();
        io.is_some_and(|e| e.kind() == io::ErrorKind::BrokenPipe)
    })
}
