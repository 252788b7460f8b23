//! Where kept records go: to a reader, or to a file with a note of how far the run has come.

use super::Tally;
use super::pipeline::Place;
use super::resume::Progress;
use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::PathBuf;
use std::time::{Duration, Instant};

/// How often progress is written down.
const SAVE_EVERY: Duration = Duration::from_secs(5);

/// Where kept records go.
pub(crate) enum Output<W: Write> {
    /// To a reader, who gets them at once.
    Stream(W),
    /// To a file, with what it takes to go on after an interruption.
    Saved(Box<Saved>),
}

/// A file of kept records, and what it takes to go on after an interruption.
pub(crate) struct Saved {
    file: BufWriter<File>,
    progress: Progress,
    /// Where the progress is written down, and when it last was.
    path: PathBuf,
    at: Instant,
}

impl<W: Write> Output<W> {
    pub(crate) fn saved(file: File, progress: Progress, path: PathBuf) -> Output<W> {
        let file = BufWriter::with_capacity(1 << 18, file);
        Output::Saved(Box::new(Saved { file, progress, path, at: Instant::now() }))
    }

    pub(super) fn write(&mut self, bytes: &[u8]) -> std::io::Result<()> {
        match self {
            Output::Stream(out) => out.write_all(bytes),
            Output::Saved(saved) => saved.file.write_all(bytes),
        }
    }

    /// A piece of the input is done. Readers get what there is; files are synced from time to time.
    pub(super) fn piece_done(&mut self, place: Place, tally: &Tally) -> anyhow::Result<()> {
        match self {
            Output::Stream(out) => out.flush()?,
            Output::Saved(saved) => {
                saved.progress.place = place;
                saved.progress.kept_bytes = tally.bytes_kept;
                saved.progress.tally = *tally;
                if saved.at.elapsed() >= SAVE_EVERY {
                    self.save()?;
                }
            }
        }
        Ok(())
    }

    /// Writes down how far the run has come; first what was kept, then that it was.
    pub(super) fn save(&mut self) -> anyhow::Result<()> {
        if let Output::Saved(saved) = self {
            saved.file.flush()?;
            saved.file.get_ref().sync_data()?;
            saved.progress.write(&saved.path)?;
            saved.at = Instant::now();
        }
        Ok(())
    }
}
