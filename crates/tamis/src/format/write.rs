//! The door out: a file appears whole, or not at all.

use super::header::{RATE_HEADER, RateHeader};
use crate::Error;
use crate::rate::{Filter, Layout, RateFilter};
use std::fs::{self, File};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

impl<L: Layout + Send + Sync> Filter<L> {
    /// The bytes of the filter's file.
    #[must_use]
    pub fn to_bytes(&self) -> Vec<u8> {
        to_bytes(self)
    }

    /// Writes the filter's file to a stream.
    pub fn write_to(&self, out: impl Write) -> Result<(), Error> {
        Ok(write_to(self, out)?)
    }

    /// Writes the filter to a file, whole or not at all: a temporary file in the same folder is written, synced and
    /// renamed, so a crash leaves the old file or the new one. What is not a regular file (a pipe, a device) is
    /// written directly. A link is followed, and an existing file's permissions are kept
    /// (its owner too, where the system allows it).
    pub fn save(&self, path: impl AsRef<Path>) -> Result<(), Error> {
        save(self, path.as_ref())
    }
}

pub(super) fn to_bytes(filter: &dyn RateFilter) -> Vec<u8> {
    [&RateHeader::write(filter)[..], filter.body()].concat()
}

pub(super) fn write_to(filter: &dyn RateFilter, mut out: impl Write) -> io::Result<()> {
    out.write_all(&RateHeader::write(filter))?;
    out.write_all(filter.body())?;
    out.flush()
}

pub(super) fn save(filter: &dyn RateFilter, path: &Path) -> Result<(), Error> {
    debug_assert_eq!(RATE_HEADER % 64, 0, "a mapped body is aligned to cache lines");
    let target = followed(path)?;
    let existing = match fs::metadata(&target) {
        Ok(metadata) => Some(metadata),
        Err(e) if e.kind() == io::ErrorKind::NotFound => None,
        Err(e) => return Err(e.into()),
    };
    if existing.as_ref().is_some_and(|metadata| !metadata.is_file()) {
        return Ok(write_to(filter, File::options().write(true).open(&target)?)?);
    }
    let folder = match target.parent() {
        Some(parent) if parent != Path::new("") => parent,
        _ => Path::new("."),
    };
    if !folder.is_dir() {
        let text = format!("there is no folder {}", folder.display());
        return Err(io::Error::new(io::ErrorKind::NotFound, text).into());
    }
    let mut file = temporary(folder, existing.as_ref())?;
    write_to(filter, &mut file)?;
    file.as_file().sync_all()?;
    file.persist(&target).map_err(|e| e.error)?;
    // The new name is durable once the folder is. Where the folder cannot be opened, the file is still whole.
    #[cfg(unix)]
    if let Ok(folder) = File::open(folder) {
        folder.sync_all()?;
    }
    Ok(())
}

/// Where a path leads: a link stays a link, and what it points to is replaced, also if that is not there yet.
fn followed(path: &Path) -> io::Result<PathBuf> {
    const MOST_LINKS: u32 = 40;
    let mut target = path.to_owned();
    for _ in 0..MOST_LINKS {
        match fs::read_link(&target) {
            Ok(next) => target = target.parent().unwrap_or(Path::new("")).join(next),
            Err(_) => return Ok(target),
        }
    }
    Err(io::Error::other("too many links"))
}

/// A temporary file in the folder, with the owner and permissions of the file that it will replace, from the start no more
/// readable than that; or, for a new file, with those of any new file.
#[cfg(unix)]
fn temporary(folder: &Path, existing: Option<&fs::Metadata>) -> io::Result<tempfile::NamedTempFile> {
    use std::os::unix::fs::{MetadataExt, PermissionsExt, fchown};
    let mut builder = tempfile::Builder::new();
    builder.prefix(".tamis-");
    let Some(metadata) = existing else {
        // The umask applies.
        return builder.permissions(fs::Permissions::from_mode(0o666)).tempfile_in(folder);
    };
    let file = builder.permissions(fs::Permissions::from_mode(0o600)).tempfile_in(folder)?;
    // Only root may give files away; for others the owner is the same already, or cannot be kept.
    let _ = fchown(file.as_file(), Some(metadata.uid()), Some(metadata.gid()));
    file.as_file().set_permissions(metadata.permissions())?;
    Ok(file)
}

#[cfg(not(unix))]
fn temporary(folder: &Path, _: Option<&fs::Metadata>) -> io::Result<tempfile::NamedTempFile> {
    tempfile::Builder::new().prefix(".tamis-").tempfile_in(folder)
}
