//! How far a run has come, so that the next can go on from there.
//!
//! What was kept is what was seen, so the filter can be made again from the kept records. Little
//! has to be written down, and a run may go on with a larger filter than it began with.

use super::pipeline::Place;
use super::{Rule, Tally, Unit};
use anyhow::{Context, bail};
use serde::{Deserialize, Serialize};
use std::fs;
use std::io::Write;
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

impl Progress {
    /// A run that is about to begin.
    pub(crate) fn new(inputs: &[PathBuf], rule: &Rule, separator: u8) -> anyhow::Result<Progress> {
        Ok(Progress {
            version: VERSION,
            inputs: inputs.iter().map(|path| Input::of(path)).collect::<anyhow::Result<_>>()?,
            unit: rule.unit,
            field: rule.field.as_ref().map(ToString::to_string),
            separator,
            place: Place::default(),
            kept_bytes: 0,
            tally: Tally::default(),
        })
    }

    /// What an earlier run of the same kind wrote down.
    pub(crate) fn read(path: &Path, beginning: &Progress) -> anyhow::Result<Progress> {
        let context = || format!("cannot read {}", path.display());
        let bytes = fs::read(path).with_context(context)?;
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
        let rule = |run: &Progress| (run.unit, run.field.clone(), run.separator);
        if rule(&earlier) != rule(beginning) {
            return differs("options for what is compared");
        }
        if earlier.place.source >= earlier.inputs.len() {
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

/// The path with one more ending.
pub(crate) fn beside(path: &Path, ending: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(".");
    name.push(ending);
    name.into()
}
