//! A file that appears whole or not at all, or standard output.

use anyhow::{Context, anyhow};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use tamis::AnyFilter;
use tamis::format::{self, Existing, Part, Readers};

/// A file that is open for writing and not in its place yet. Dropping it leaves everything as it
/// was.
pub(crate) struct NewFile {
    /// None for standard output.
    file: Option<format::NewFile>,
    shown: PathBuf,
}

impl NewFile {
    /// Opens a file, which may replace another. A new private file is for its owner alone.
    pub(super) fn create(path: &Path, private: bool) -> io::Result<NewFile> {
        let shown = path.to_owned();
        if path == Path::new("-") {
            return Ok(NewFile { file: None, shown });
        }
        let readers = if private { Readers::OwnerOnly } else { Readers::Usual };
        let file = format::NewFile::create(path, Existing::Replace, readers)?;
        Ok(NewFile { file: Some(file), shown })
    }

    /// Writes a filter and puts the file in its place.
    pub(crate) fn save(self, filter: &AnyFilter) -> anyhow::Result<()> {
        let Some(mut file) = self.file else {
            // Half a filter is no use to anyone, so a reader that went away is an error here.
            return filter
                .write_to(io::stdout().lock())
                .map_err(|error| anyhow!("cannot write the filter to standard output: {error}"));
        };
        let context = || format!("cannot write {}", self.shown.display());
        filter.write_to(&mut file).with_context(context)?;
        file.commit().with_context(context)
    }

    /// Writes a part of a filter and puts the file in its place.
    pub(crate) fn save_part(self, part: &Part) -> anyhow::Result<()> {
        let Some(mut file) = self.file else {
            return part
                .write_to(io::stdout().lock())
                .map_err(|error| anyhow!("cannot write the part to standard output: {error}"));
        };
        let context = || format!("cannot write {}", self.shown.display());
        part.write_to(&mut file).with_context(context)?;
        file.commit().with_context(context)
    }

    /// Writes the bytes of a filter of another program and puts the file in its place.
    pub(crate) fn save_bytes(self, bytes: &[u8]) -> anyhow::Result<()> {
        let Some(mut file) = self.file else {
            return io::stdout()
                .lock()
                .write_all(bytes)
                .map_err(|error| anyhow!("cannot write the filter to standard output: {error}"));
        };
        let context = || format!("cannot write {}", self.shown.display());
        file.write_all(bytes).with_context(context)?;
        file.commit().with_context(context)
    }

    /// Writes a text and puts the file in its place.
    pub(crate) fn save_text(self, text: &str) -> anyhow::Result<()> {
        let Some(mut file) = self.file else { return super::print(text.trim_end()) };
        let context = || format!("cannot write {}", self.shown.display());
        file.write_all(text.as_bytes()).with_context(context)?;
        file.commit().with_context(context)
    }
}
