//! `tamis man`: manual pages.

use anyhow::Context;
use clap::{Args, CommandFactory};
use std::io::Write;
use std::path::PathBuf;

/// Print the manual page, or write one page for each command into a folder
#[derive(Args)]
#[command(after_help = "\
Examples:
  tamis man | man -l -
  tamis man --all ~/.local/share/man/man1        then: man tamis-build-rate")]
pub(crate) struct Man {
    /// Write the pages of all commands into this folder
    #[arg(long, value_name = "DIR")]
    all: Option<PathBuf>,
}

impl Man {
    pub(crate) fn run(&self) -> anyhow::Result<()> {
        let command = super::Cli::command();
        match &self.all {
            Some(folder) => clap_mangen::generate_to(command, folder)
                .with_context(|| format!("cannot write into {}", folder.display())),
            None => {
                let mut page = Vec::new();
                clap_mangen::Man::new(command).render(&mut page)?;
                Ok(std::io::stdout().lock().write_all(&page)?)
            }
        }
    }
}
