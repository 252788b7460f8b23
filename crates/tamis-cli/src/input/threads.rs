//! Threads that read files of keys while others work on what was read.

use super::{Batch, KeyFormat};
use crate::output::progress;
use crate::threads::spawn;
use indicatif::ProgressBar;
use std::num::NonZero;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError, mpsc};
use std::thread;

/// How many batches may wait to be worked on.
const READ_AHEAD: usize = 4;

/// What a command needs of its keys.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Reading {
    /// Keys in any order: several files are read at once.
    AnyOrder,
    /// Keys in the order of the input.
    InOrder,
    /// The same, and the whole row of each key where it is a part of one.
    Rows,
}

/// What the threads that read share.
struct Shared {
    files: Vec<PathBuf>,
    /// The number of the next file that nobody reads yet.
    next: AtomicUsize,
    /// Batches to be filled again.
    emptied: Mutex<mpsc::Receiver<Batch>>,
}

impl Shared {
    fn next_file(&self) -> Option<&Path> {
        self.files.get(self.next.fetch_add(1, Ordering::Relaxed)).map(PathBuf::as_path)
    }

    /// No thread begins another file.
    fn stop(&self) {
        self.next.store(self.files.len(), Ordering::Relaxed);
    }

    fn spare_batch(&self) -> Batch {
        let emptied = self.emptied.lock().unwrap_or_else(PoisonError::into_inner);
        emptied.try_recv().unwrap_or_default()
    }
}

impl KeyFormat {
    /// Gives all keys of the files (of standard input, if there are none) to `take`, a batch at a
    /// time, until it answers `false`. While it works on one batch, other threads read the next.
    pub fn each(
        &self,
        files: &[PathBuf],
        doing: &'static str,
        reading: Reading,
        mut take: impl FnMut(&Batch) -> anyhow::Result<bool>,
    ) -> anyhow::Result<()> {
        self.check_kind()?;
        let files = if files.is_empty() { vec![PathBuf::from("-")] } else { files.to_vec() };
        let progress = progress::reading(&files, doing);
        let (full, filled) = mpsc::sync_channel::<Batch>(READ_AHEAD);
        let (empty, emptied) = mpsc::channel::<Batch>();
        let threads = match reading {
            Reading::AnyOrder => thread::available_parallelism().map_or(1, NonZero::get),
            Reading::InOrder | Reading::Rows => 1,
        };
        let threads = threads.min(files.len());
        let shared = Arc::new(Shared { files, next: AtomicUsize::new(0), emptied: emptied.into() });
        let readers: Vec<_> = (0..threads)
            .map(|_| {
                let (format, bar) = (self.clone(), progress.clone());
                let (shared, full) = (Arc::clone(&shared), full.clone());
                spawn(move || {
                    let outcome = format.read_files(&shared, &bar, reading, &full);
                    if outcome.is_err() {
                        shared.stop();
                    }
                    outcome
                })
            })
            .collect::<anyhow::Result<_>>()?;
        drop(full); // the readers alone hold it: when they are done, there are no more batches
        let mut each_batch = || {
            for batch in &filled {
                if !take(&batch)? {
                    return Ok(false);
                }
                let _ = empty.send(batch); // the readers may have ended
            }
            Ok(true)
        };
        let taken = each_batch();
        // Clear the terminal before anything else is printed there.
        progress.finish_and_clear();
        match taken {
            Ok(true) => readers.into_iter().try_for_each(|reader| {
                reader.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
            }),
            // A reader may be waiting for a pipe; do not wait for it.
            Ok(false) => Ok(()),
            Err(error) => Err(error),
        }
    }

    /// What a thread does that reads: one file after the other, until there are no more.
    fn read_files(
        &self,
        shared: &Shared,
        progress: &ProgressBar,
        reading: Reading,
        full: &mpsc::SyncSender<Batch>,
    ) -> anyhow::Result<()> {
        let mut give = |batch: &mut Batch| {
            Ok(full.send(std::mem::replace(batch, shared.spare_batch())).is_ok())
        };
        while let Some(file) = shared.next_file() {
            if !self.read_file(file, progress, reading == Reading::Rows, &mut give)? {
                break;
            }
        }
        Ok(())
    }
}
