//! How far a run has come.

use crate::dedup::Source;
use crate::input::Bytes;
use crate::output::progress;
use indicatif::ProgressBar;
use std::path::PathBuf;
use std::sync::Arc;

/// How much of the files was read, on a bar: as they are on the disk, before decompression.
pub(super) struct Meter {
    bar: ProgressBar,
    bytes: Vec<Arc<Bytes>>,
    total: Option<u64>,
}

impl Default for Meter {
    fn default() -> Meter {
        Meter { bar: ProgressBar::hidden(), bytes: Vec::new(), total: None }
    }
}

impl Meter {
    pub(super) fn new(files: &[PathBuf], sources: &[Source], doing: &str) -> Meter {
        Meter {
            bar: progress::reading(files, doing),
            bytes: sources.iter().map(|source| Arc::clone(&source.bytes)).collect(),
            total: sources.iter().map(|source| source.size).sum(),
        }
    }

    fn consumed(&self) -> u64 {
        self.bytes.iter().map(|bytes| bytes.consumed()).sum()
    }

    pub(super) fn tick(&self) {
        if !self.bar.is_hidden() {
            self.bar.set_position(self.consumed());
        }
    }

    pub(super) fn finish(&self) {
        self.bar.finish_and_clear();
    }

    /// Which share of the input is before this byte of what was decoded, if its size is known. Some
    /// of what was read is still on its way.
    pub(super) fn share_before(&self, byte: u64) -> Option<f64> {
        let total = self.total.filter(|total| *total > 0)?;
        let decoded: u64 = self.bytes.iter().map(|bytes| bytes.decoded()).sum();
        let read = self.consumed() as f64 / total as f64;
        Some(read * byte as f64 / decoded.max(1) as f64)
    }
}
