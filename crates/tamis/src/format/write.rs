//! The door out: a file appears whole, or not at all.

use super::header::{RATE_HEADER, RateHeader};
use crate::Error;
use crate::rate::{Filter, Layout, RateFilter};
use std::fs::{self, File};
use std::io::{self, Write};
use std::path::Path;

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
    /// written directly. A link is followed, and an existing file's permissions are kept.
    pub fn save(&self, path: impl AsRef<Path>) -> Result<(), Error> {
        save(self, path.as_ref())
    }
}

pub(super) fn to_bytes(filter: &dyn RateFilter) -> Vec<u8> {
    [&RateHeader::write(filter)[..], filter.body()].concat()
}

fn write_to(filter: &dyn RateFilter, mut out: impl Write) -> io::Result<()> {
    out.write_all(&RateHeader::write(filter))?;
    out.write_all(filter.body())?;
    out.flush()
}

pub(super) fn save(filter: &dyn RateFilter, path: &Path) -> Result<(), Error> {
    debug_assert_eq!(RATE_HEADER % 64, 0, "a mapped body is aligned to cache lines");
    let existing = match fs::metadata(path) {
        Ok(metadata) => Some(metadata),
        Err(e) if e.kind() == io::ErrorKind::NotFound => None,
        Err(e) => return Err(e.into()),
    };
    if existing.as_ref().is_some_and(|metadata| !metadata.is_file()) {
        return Ok(write_to(filter, File::options().write(true).open(path)?)?);
    }
    // A link stays a link: what it points to is replaced.
    let target = if existing.is_some() { fs::canonicalize(path)? } else { path.to_owned() };
    let folder = match target.parent() {
        Some(parent) if parent != Path::new("") => parent,
        _ => Path::new("."),
    };
    let mut builder = tempfile::Builder::new();
    builder.prefix(".tamis-");
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        // The umask applies, as to any new file.
        builder.permissions(fs::Permissions::from_mode(0o666));
    }
    let mut file = builder.tempfile_in(folder)?;
    write_to(filter, &mut file)?;
    if let Some(metadata) = existing {
        file.as_file().set_permissions(metadata.permissions())?;
    }
    file.as_file().sync_all()?;
    file.persist(&target).map_err(|e| e.error)?;
    // The new name is durable once the folder is.
    #[cfg(unix)]
    File::open(folder)?.sync_all()?;
    Ok(())
}
