//! The one writer of files: a file appears whole, or not at all.

use std::fs::{self, File, Metadata};
use std::hash::{BuildHasher, Hasher, RandomState};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

/// Whether a file may take the place of one that is there.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Existing {
    /// It is replaced; its permissions are kept.
    Replace,
    /// It stays, and that is an error of kind `AlreadyExists`.
    #[cfg_attr(not(feature = "privacy"), allow(dead_code))] // ledgers do
    Refuse,
}

/// Who may read a new file. One that replaces another keeps its permissions.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Readers {
    /// As the system has it for new files.
    Usual,
    /// The owner alone, where the system knows of owners.
    #[cfg_attr(not(feature = "privacy"), allow(dead_code))] // ledgers are
    OwnerOnly,
}

/// Writes a file: a temporary file in the same folder is written, synced and renamed, so a crash
/// leaves the old file or the new one. What is not a regular file (a pipe, a device) is written
/// directly. A link is followed.
pub(crate) fn write(
    path: &Path,
    existing: Existing,
    readers: Readers,
    content: impl Fn(&mut File) -> io::Result<()>,
) -> io::Result<()> {
    let target = follow_links(path)?;
    let old = match fs::metadata(&target) {
        Ok(_) if existing == Existing::Refuse => return Err(io::ErrorKind::AlreadyExists.into()),
        Ok(metadata) => Some(metadata),
        Err(e) if e.kind() == io::ErrorKind::NotFound => None,
        Err(e) => return Err(e),
    };
    if old.as_ref().is_some_and(|metadata| !metadata.is_file()) {
        return content(&mut File::options().write(true).open(&target)?);
    }
    let folder = folder_of(&target)?;
    let mut temporary = Temporary::create(folder, old.as_ref(), readers)?;
    content(&mut temporary.file)?;
    temporary.file.sync_all()?;
    temporary.rename_to(&target, existing)?;
    sync_folder(folder)
}

/// The folder that a file is to stand in.
fn folder_of(file: &Path) -> io::Result<&Path> {
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

/// A file with a name of its own that is removed when it is dropped, unless it was renamed.
struct Temporary {
    file: File,
    path: PathBuf,
    renamed: bool,
}

impl Temporary {
    /// A new file in the folder, with the owner and permissions of the file that it will replace,
    /// from the start no more readable than that; or, for a new file, with those of any new file.
    fn create(folder: &Path, old: Option<&Metadata>, readers: Readers) -> io::Result<Temporary> {
        const MAX_TRIES: u32 = 100;
        let mut options = File::options();
        options.write(true).read(true).create_new(true);
        #[cfg(not(unix))]
        let _ = readers;
        #[cfg(unix)]
        if old.is_some() || readers == Readers::OwnerOnly {
            std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
        }
        for _ in 0..MAX_TRIES {
            let path = folder.join(format!(".tamis-{:016x}", random()));
            match options.open(&path) {
                Err(e) if e.kind() == io::ErrorKind::AlreadyExists => {}
                Err(e) => return Err(e),
                Ok(file) => {
                    let temporary = Temporary { file, path, renamed: false };
                    temporary.take_permissions(old)?;
                    return Ok(temporary);
                }
            }
        }
        Err(io::Error::other("found no free name for a temporary file"))
    }

    #[cfg(unix)]
    fn take_permissions(&self, old: Option<&Metadata>) -> io::Result<()> {
        use std::os::unix::fs::{MetadataExt, fchown};
        let Some(metadata) = old else { return Ok(()) };
        // Only root may give files away; for others the owner is the same already, or cannot be
        // kept.
        let _ = fchown(&self.file, Some(metadata.uid()), Some(metadata.gid()));
        self.file.set_permissions(metadata.permissions())
    }

    #[cfg(not(unix))]
    fn take_permissions(&self, _: Option<&Metadata>) -> io::Result<()> {
        Ok(())
    }

    fn rename_to(mut self, target: &Path, existing: Existing) -> io::Result<()> {
        match existing {
            Existing::Replace => {
                fs::rename(&self.path, target)?;
                self.renamed = true;
                Ok(())
            }
            // A second name for the file, which unlike a rename fails if the name is taken; dropping
            // removes the first.
            Existing::Refuse => fs::hard_link(&self.path, target),
        }
    }
}

impl Drop for Temporary {
    fn drop(&mut self) {
        if !self.renamed {
            let _ = fs::remove_file(&self.path);
        }
    }
}

/// A number that others do not have: the keys of the standard library's maps are random.
fn random() -> u64 {
    RandomState::new().build_hasher().finish()
}

/// Writes both parts of a file.
pub(super) fn write_parts(mut out: impl Write, header: &[u8], body: &[u8]) -> io::Result<()> {
    out.write_all(header)?;
    out.write_all(body)?;
    out.flush()
}
