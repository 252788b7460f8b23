//! The door out: a file appears whole, or not at all.

use super::header;
use crate::Error;
use crate::privacy::{LinearFilter, PublicBloom};
use crate::rate::{Filter, Layout};
use crate::zone::{CellKind, ZoneFilter};
use std::fs::{self, File};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

/// A filter that can be written: a header and a body.
pub(super) trait Stored {
    fn header(&self) -> Vec<u8>;
    fn body(&self) -> &[u8];

    fn concatenated(&self) -> Vec<u8> {
        [&self.header()[..], self.body()].concat()
    }

    fn write(&self, out: impl Write) -> Result<(), Error> {
        Ok(write_parts(&self.header(), self.body(), out)?)
    }

    fn replace(&self, path: &Path) -> Result<(), Error> {
        save_parts(&self.header(), self.body(), path)
    }
}

impl<L: Layout + Send + Sync> Stored for Filter<L> {
    fn header(&self) -> Vec<u8> {
        header::of_rate(self)
    }
    fn body(&self) -> &[u8] {
        self.body()
    }
}

impl<C: CellKind> Stored for ZoneFilter<C> {
    fn header(&self) -> Vec<u8> {
        header::of_zone(self)
    }
    fn body(&self) -> &[u8] {
        self.body()
    }
}

impl Stored for PublicBloom {
    fn header(&self) -> Vec<u8> {
        header::of_public_bloom(self)
    }
    fn body(&self) -> &[u8] {
        self.body()
    }
}

impl Stored for LinearFilter {
    fn header(&self) -> Vec<u8> {
        header::of_linear(self)
    }
    fn body(&self) -> &[u8] {
        self.body()
    }
}

impl<L: Layout + Send + Sync> Filter<L> {
    /// The bytes of the filter's file.
    #[must_use]
    pub fn to_bytes(&self) -> Vec<u8> {
        self.concatenated()
    }

    /// Writes the filter's file to a stream.
    pub fn write_to(&self, out: impl Write) -> Result<(), Error> {
        self.write(out)
    }

    /// Writes the filter to a file, whole or not at all: a temporary file in the same folder is
    /// written, synced and renamed, so a crash leaves the old file or the new one. What is not
    /// a regular file (a pipe, a device) is written directly. A link is followed, and an
    /// existing file's permissions are kept (its owner too, where the system allows it).
    pub fn save(&self, path: impl AsRef<Path>) -> Result<(), Error> {
        self.replace(path.as_ref())
    }
}

impl<C: CellKind> ZoneFilter<C> {
    /// The bytes of the filter's file.
    #[must_use]
    pub fn to_bytes(&self) -> Vec<u8> {
        self.concatenated()
    }

    /// Writes the filter's file to a stream.
    pub fn write_to(&self, out: impl Write) -> Result<(), Error> {
        self.write(out)
    }

    /// Writes the filter to a file, whole or not at all, as
    /// [`rate::Filter::save`](crate::rate::Filter::save) does.
    pub fn save(&self, path: impl AsRef<Path>) -> Result<(), Error> {
        self.replace(path.as_ref())
    }
}

impl PublicBloom {
    /// The bytes of the filter's file.
    #[must_use]
    pub fn to_bytes(&self) -> Vec<u8> {
        self.concatenated()
    }

    /// Writes the filter's file to a stream.
    pub fn write_to(&self, out: impl Write) -> Result<(), Error> {
        self.write(out)
    }

    /// Writes the filter to a file, whole or not at all, as
    /// [`rate::Filter::save`](crate::rate::Filter::save) does.
    pub fn save(&self, path: impl AsRef<Path>) -> Result<(), Error> {
        self.replace(path.as_ref())
    }
}

impl LinearFilter {
    /// The bytes of the filter's file.
    #[must_use]
    pub fn to_bytes(&self) -> Vec<u8> {
        self.concatenated()
    }

    /// Writes the filter's file to a stream.
    pub fn write_to(&self, out: impl Write) -> Result<(), Error> {
        self.write(out)
    }

    /// Writes the filter to a file, whole or not at all, as
    /// [`rate::Filter::save`](crate::rate::Filter::save) does.
    pub fn save(&self, path: impl AsRef<Path>) -> Result<(), Error> {
        self.replace(path.as_ref())
    }
}

fn write_parts(header: &[u8], body: &[u8], mut out: impl Write) -> io::Result<()> {
    out.write_all(header)?;
    out.write_all(body)?;
    out.flush()
}

fn save_parts(header: &[u8], body: &[u8], path: &Path) -> Result<(), Error> {
    let target = followed(path)?;
    let existing = match fs::metadata(&target) {
        Ok(metadata) => Some(metadata),
        Err(e) if e.kind() == io::ErrorKind::NotFound => None,
        Err(e) => return Err(e.into()),
    };
    if existing.as_ref().is_some_and(|metadata| !metadata.is_file()) {
        return Ok(write_parts(header, body, File::options().write(true).open(&target)?)?);
    }
    let folder = folder_of(&target)?;
    let mut file = temporary(folder, existing.as_ref())?;
    write_parts(header, body, &mut file)?;
    file.as_file().sync_all()?;
    file.persist(&target).map_err(|e| e.error)?;
    Ok(sync_folder(folder)?)
}

/// The folder that a file is to stand in.
pub(crate) fn folder_of(file: &Path) -> io::Result<&Path> {
    let folder = match file.parent() {
        Some(parent) if parent != Path::new("") => parent,
        _ => Path::new("."),
    };
    if !folder.is_dir() {
        let text = format!("there is no folder {}", folder.display());
        return Err(io::Error::new(io::ErrorKind::NotFound, text));
    }
    Ok(folder)
}

/// A new name is durable once the folder is. Where the folder cannot be opened, the file is still
/// whole.
pub(crate) fn sync_folder(folder: &Path) -> io::Result<()> {
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

/// A temporary file in the folder, with the owner and permissions of the file that it will replace,
/// from the start no more readable than that; or, for a new file, with those of any new file.
#[cfg(unix)]
pub(crate) fn temporary(
    folder: &Path,
    existing: Option<&fs::Metadata>,
) -> io::Result<tempfile::NamedTempFile> {
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
pub(crate) fn temporary(
    folder: &Path,
    _: Option<&fs::Metadata>,
) -> io::Result<tempfile::NamedTempFile> {
    tempfile::Builder::new().prefix(".tamis-").tempfile_in(folder)
}
