//! How far a run has come, so that the next can go on from there.
//!
//! What was kept is what was seen, so the filter can be made again from the kept records. Little
//! has to be written down, and a run may go on with a larger filter than it began with.

use super::pipeline::Place;
use super::{Rule, Tally, Unit};
use crate::filters::is_at;
use anyhow::{Context, bail};
use serde::{Deserialize, Serialize};
use std::fs::{self, File, OpenOptions, TryLockError};
use std::io::{Read, Write};
use std::path::{Path, PathBuf};
use std::time::UNIX_EPOCH;
use tamis::format::{Existing, NewFile, Readers};

/// What is written down while a run goes on.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct Progress {
    /// The version of this file.
    version: u32,
    inputs: Vec<Input>,
    unit: Unit,
    field: Option<String>,
    separator: u8,
    raw: bool,
    /// What the inputs are done up to.
    pub(crate) place: Place,
    /// How much of the kept records belongs to that.
    pub(crate) kept_bytes: u64,
    pub(crate) tally: Tally,
}

/// An input as it was when the run began.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
struct Input {
    path: PathBuf,
    bytes: u64,
    /// Nanoseconds since 1970.
    modified: u64,
}

impl Input {
    fn of(path: &Path) -> anyhow::Result<Input> {
        if path == Path::new("-") {
            return Ok(Input { path: path.to_owned(), bytes: 0, modified: 0 });
        }
        let context = || format!("cannot read {}", path.display());
        let metadata = fs::metadata(path).with_context(context)?;
        let modified =
            metadata.modified().ok().and_then(|time| time.duration_since(UNIX_EPOCH).ok());
        Ok(Input {
            path: path.to_owned(),
            bytes: metadata.len(),
            modified: modified.map_or(0, |time| time.as_nanos() as u64),
        })
    }
}

const VERSION: u32 = 1;
/// No note is longer.
const MAX_NOTE: u64 = 1 << 28;

impl Progress {
    /// A run that is about to begin.
    pub(crate) fn new(
        inputs: &[PathBuf],
        rule: &Rule,
        separator: u8,
        raw: bool,
    ) -> anyhow::Result<Progress> {
        Ok(Progress {
            version: VERSION,
            inputs: inputs.iter().map(|path| Input::of(path)).collect::<anyhow::Result<_>>()?,
            unit: rule.unit,
            field: rule.field.as_ref().map(ToString::to_string),
            separator,
            raw,
            place: Place::default(),
            kept_bytes: 0,
            tally: Tally::default(),
        })
    }

    /// What an earlier run of the same kind wrote down.
    fn read(path: &Path, beginning: &Progress) -> anyhow::Result<Progress> {
        let context = || format!("cannot read {}", path.display());
        let mut bytes = Vec::new();
        let file = File::open(path).with_context(context)?;
        file.take(MAX_NOTE).read_to_end(&mut bytes).with_context(context)?;
        let earlier: Progress = serde_json::from_slice(&bytes).with_context(context)?;
        let differs = |what: &str| {
            bail!(
                "the run to resume had other {what}; give the same ones again, or start over with \
                 --force"
            )
        };
        if earlier.version != VERSION {
            bail!("{} is of another version of tamis; start over with --force", path.display());
        }
        if earlier.inputs != beginning.inputs {
            return differs("inputs (names, sizes or times of change)");
        }
        let rule = |run: &Progress| (run.unit, run.field.clone(), run.separator, run.raw);
        if rule(&earlier) != rule(beginning) {
            return differs("options for what is compared");
        }
        let tally = &earlier.tally;
        let place = earlier.place;
        let adds_up = tally.kept <= tally.records
            && tally.repeated <= tally.units
            && tally.bytes_kept == earlier.kept_bytes
            && tally.bytes_read >= place.bytes
            && (tally.bytes_read == place.bytes || place.source > 0);
        if place.source >= earlier.inputs.len() || !adds_up {
            bail!("{} is damaged; start over with --force", path.display());
        }
        Ok(earlier)
    }

    /// Writes it down, whole or not at all.
    pub(crate) fn write(&self, path: &Path) -> anyhow::Result<()> {
        let context = || format!("cannot write {}", path.display());
        let file = NewFile::create(path, Existing::Replace, Readers::Usual);
        let mut file = file.with_context(context)?;
        file.write_all(&serde_json::to_vec(self)?).with_context(context)?;
        file.commit().with_context(context)
    }
}

/// What a run leaves beside its output until it is done, so that another can go on.
pub(crate) struct SavedRun {
    output: PathBuf,
    /// What was kept so far.
    kept: PathBuf,
    /// How far the run has come.
    note: PathBuf,
}

impl SavedRun {
    pub(crate) fn new(output: &Path) -> SavedRun {
        SavedRun {
            output: output.to_owned(),
            kept: beside(output, "part"),
            note: beside(output, "progress"),
        }
    }

    /// Where kept records are, until the run is done.
    pub(crate) fn kept(&self) -> &Path {
        &self.kept
    }

    /// Where progress is written down.
    pub(crate) fn note(&self) -> &Path {
        &self.note
    }

    /// Begins a run: gives the file for the records that are kept. What an earlier run has left is
    /// replaced by force only; what a run is writing now, never.
    pub(crate) fn begin(&self, beginning: &Progress, force: bool) -> anyhow::Result<File> {
        if !force && self.note.exists() {
            bail!(
                "a run for {} was interrupted; go on with --resume, or start over with --force",
                self.output.display()
            );
        }
        // The lock comes first: the note may be that of another run.
        let file = self.take_kept(true)?;
        if !force && file.metadata().with_context(|| self.cannot_write())?.len() > 0 {
            bail!(
                "{} exists, and the records would go there first; move it, or replace it with \
                 --force",
                self.kept.display()
            );
        }
        file.set_len(0).with_context(|| self.cannot_write())?;
        beginning.write(&self.note)?;
        Ok(file)
    }

    /// Goes on with a run that was interrupted: gives the records that it kept, and how far it
    /// came.
    pub(crate) fn go_on(&self, beginning: &Progress) -> anyhow::Result<(File, Progress)> {
        if !self.note.is_file() {
            bail!("there is no interrupted run for {}; leave --resume out", self.output.display());
        }
        let kept_nothing = Progress::read(&self.note, beginning)?.kept_bytes == 0;
        let file = self.take_kept(kept_nothing)?;
        // The run may have come further before its lock was free.
        let progress = Progress::read(&self.note, beginning)?;
        if file.metadata().with_context(|| self.cannot_write())?.len() < progress.kept_bytes {
            bail!("{} is shorter than it was; start over with --force", self.kept.display());
        }
        // What came after the last note is done again.
        file.set_len(progress.kept_bytes).with_context(|| self.cannot_write())?;
        Ok((file, progress))
    }

    /// Opens the file of kept records, and keeps other runs away from it as long as it is open.
    fn take_kept(&self, create: bool) -> anyhow::Result<File> {
        let context = || self.cannot_write();
        let mut options = OpenOptions::new();
        options.read(true).write(true).truncate(false).create(create);
        let file = options.open(&self.kept).with_context(context)?;
        match file.try_lock() {
            // The run that had it may just have given it its name.
            Ok(()) if !is_at(&file, &self.kept).with_context(context)? => self.busy(),
            Err(TryLockError::WouldBlock) => self.busy(),
            // A file system without locks has to do without.
            Ok(()) | Err(TryLockError::Error(_)) => Ok(file),
        }
    }

    fn busy(&self) -> anyhow::Result<File> {
        bail!("another run is writing {}; wait for its end", self.output.display())
    }

    fn cannot_write(&self) -> String {
        format!("cannot write {}", self.output.display())
    }

    /// Gives the kept records their name.
    pub(crate) fn finish(&self) -> anyhow::Result<()> {
        fs::rename(&self.kept, &self.output).with_context(|| self.cannot_write())?;
        fs::remove_file(&self.note)
            .with_context(|| format!("cannot remove {}", self.note.display()))
    }
}

/// The path with one more ending.
fn beside(path: &Path, ending: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(".");
    name.push(ending);
    name.into()
}
