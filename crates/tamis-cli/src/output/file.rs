//! A file that appears whole or not at all.

use anyhow::{Context, anyhow};
use std::fs::{self, File, Metadata};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use tamis::AnyFilter;
use tempfile::NamedTempFile;

/// A file that is open for writing and not in its place yet. Dropping it leaves everything as it
/// was.
pub(crate) struct NewFile {
    place: Place,
    shown: PathBuf,
}

enum Place {
    StandardOutput,
    /// A pipe or a device, written directly.
    Device(File),
    /// A temporary file in the folder of its target.
    Temporary {
        file: NamedTempFile,
        target: PathBuf,
    },
}

impl NewFile {
    /// Opens a file. A link is followed. An existing file's permissions are kept (its owner too,
    /// where the system allows it); a new private file is for its owner alone.
    pub(super) fn create(path: &Path, private: bool) -> io::Result<NewFile> {
        let shown = path.to_owned();
        if path == Path::new("-") {
            return Ok(NewFile { place: Place::StandardOutput, shown });
        }
        let target = follow_links(path)?;
        let existing = match fs::metadata(&target) {
            Ok(metadata) => Some(metadata),
            Err(e) if e.kind() == io::ErrorKind::NotFound => None,
            Err(e) => return Err(e),
        };
        let place = if existing.as_ref().is_some_and(|metadata| !metadata.is_file()) {
            Place::Device(File::options().write(true).open(&target)?)
        } else {
            let file = temporary(folder_of(&target), existing.as_ref(), private);
            Place::Temporary { file: file.map_err(without_temporary_name)?, target }
        };
        Ok(NewFile { place, shown })
    }

    /// Writes a filter and puts the file in its place.
    pub(crate) fn save(self, filter: &AnyFilter) -> anyhow::Result<()> {
        if matches!(self.place, Place::StandardOutput) {
            // Half a filter is no use to anyone, so a reader that went away is an error here.
            return filter
                .write_to(io::stdout().lock())
                .map_err(|error| anyhow!("cannot write the filter to standard output: {error}"));
        }
        self.write(|file| match filter.write_to(file) {
            Err(tamis::Error::Io(error)) => Err(error),
            other => other.map_err(io::Error::other),
        })
    }

    /// Writes a text and puts the file in its place.
    pub(crate) fn save_text(self, text: &str) -> anyhow::Result<()> {
        if matches!(self.place, Place::StandardOutput) {
            return super::print(text.trim_end());
        }
        self.write(|mut file| file.write_all(text.as_bytes()))
    }

    fn write(self, content: impl FnOnce(&File) -> io::Result<()>) -> anyhow::Result<()> {
        let context = || format!("cannot write {}", self.shown.display());
        match self.place {
            Place::StandardOutput => Ok(()),
            Place::Device(file) => content(&file).with_context(context),
            Place::Temporary { file, target } => {
                content(file.as_file()).with_context(context)?;
                file.as_file().sync_all().with_context(context)?;
                file.persist(&target).map_err(|e| e.error).with_context(context)?;
                sync_folder(folder_of(&target)).with_context(context)
            }
        }
    }
}

fn folder_of(file: &Path) -> &Path {
    match file.parent() {
        Some(parent) if parent != Path::new("") => parent,
        _ => Path::new("."),
    }
}

/// Nobody asked for the temporary file, so its name helps nobody.
fn without_temporary_name(error: io::Error) -> io::Error {
    let reason = error.get_ref().and_then(|inner| inner.source()).map(ToString::to_string);
    match reason {
        Some(reason) => io::Error::new(error.kind(), reason),
        None => error,
    }
}

/// A new name is durable once the folder is. Where the folder cannot be opened, the file is still
/// whole.
fn sync_folder(folder: &Path) -> io::Result<()> {
    #[cfg(unix)]
    if let Ok(folder) = File::open(folder) {
        folder.sync_all()?;
    }
    #[cfg(not(unix))]
    let _ = folder;
    Ok(())
}

/// Where a path leads: a link stays a link, and what it points to is replaced, also if that is not
/// there yet.
fn follow_links(path: &Path) -> io::Result<PathBuf> {
    const MAX_LINKS: u32 = 40;
    let mut target = path.to_owned();
    for _ in 0..MAX_LINKS {
        match fs::read_link(&target) {
            Ok(next) => target = target.parent().unwrap_or(Path::new("")).join(next),
            Err(_) => return Ok(target),
        }
    }
    Err(io::Error::other("too many links"))
}

/// A temporary file with the owner and permissions of the file that it will replace, from the start
/// no more readable than that; or, for a new file, with those of any new file (the umask applies).
#[cfg(unix)]
fn temporary(
    folder: &Path,
    existing: Option<&Metadata>,
    private: bool,
) -> io::Result<NamedTempFile> {
    use std::os::unix::fs::{MetadataExt, PermissionsExt, fchown};
    let mode = if existing.is_some() || private { 0o600 } else { 0o666 };
    let file = tempfile::Builder::new()
        .prefix(".tamis-")
        .permissions(fs::Permissions::from_mode(mode))
        .tempfile_in(folder)?;
    if let Some(metadata) = existing {
        // Only root may give files away; for others the owner is the same already, or cannot be
        // kept.
        let _ = fchown(file.as_file(), Some(metadata.uid()), Some(metadata.gid()));
        file.as_file().set_permissions(metadata.permissions())?;
    }
    Ok(file)
}

#[cfg(not(unix))]
fn temporary(folder: &Path, _: Option<&Metadata>, _: bool) -> io::Result<NamedTempFile> {
    tempfile::Builder::new().prefix(".tamis-").tempfile_in(folder)
}
