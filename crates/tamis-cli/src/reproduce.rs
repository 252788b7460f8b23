//! `tamis reproduce`: published numbers, recomputed.

use clap::Args;

/// Recompute the documents' experiments
#[derive(Args)]
pub(crate) struct Reproduce {}

impl Reproduce {
    pub(crate) fn run(&self) -> anyhow::Result<bool> {
        Ok(true)
    }
}
