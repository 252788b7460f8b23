//! The one writer of files: a file appears whole, or not at all.

use std::fs::{self, File, Metadata};
use std::hash::{BuildHasher, Hasher, RandomState};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

/// Whether a new file may replace an existing one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Existing {
    /// It is replaced; its permissions are kept.
    Replace,
    /// It stays, and that is an error of kind `AlreadyExists`.
    Refuse,
}

/// Who may read a new file. A file that replaces another keeps that file's permissions.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Readers {
    /// As the system has it for new files.
    Usual,
    /// The owner alone, where the system knows of owners.
    OwnerOnly,
}

/// A file that is open for writing and not in its place yet. [`commit`](NewFile::commit) puts it
/// there; dropping it leaves everything as it was.
///
/// What is written goes to a temporary file in the same folder, which is synced and renamed: a
/// crash leaves the old file or the new one. What is not a regular file (a pipe, a device) is
/// written directly. A link is followed.
///
/// ```
/// use std::io::Write;
/// use tamis::format::{Existing, NewFile, Readers};
/// # let folder = tempfile::tempdir()?;
/// # let path = folder.path().join("notes.txt");
/// let mut file = NewFile::create(&path, Existing::Refuse, Readers::OwnerOnly)?;
/// file.write_all(b"whole or not at all")?;
/// assert!(!path.exists());
/// file.commit()?;
/// assert!(path.exists());
/// # Ok::<(), std::io::Error>(())
/// ```
#[derive(Debug)]
pub struct NewFile {
    place: Place,
    existing: Existing,
}

#[derive(Debug)]
enum Place {
    /// A pipe or a device.
    Device(File),
    /// A temporary file in the folder of its target.
    Temporary(Temporary, PathBuf),
}

impl NewFile {
    /// Opens a file. This fails where the file could not be written, before anything is lost.
    pub fn create(path: &Path, existing: Existing, readers: Readers) -> io::Result<NewFile> {
        let target = follow_links(path)?;
        let old = match fs::metadata(&target) {
            Ok(_) if existing == Existing::Refuse => {
                return Err(io::ErrorKind::AlreadyExists.into());
            }
            Ok(metadata) => Some(metadata),
            Err(e) if e.kind() == io::ErrorKind::NotFound => None,
            Err(e) => return Err(e),
        };
        let place = if old.as_ref().is_some_and(|metadata| !metadata.is_file()) {
            Place::Device(File::options().write(true).open(&target)?)
        } else {
            let temporary = Temporary::create(folder_of(&target)?, old.as_ref(), readers)?;
            Place::Temporary(temporary, target)
        };
        Ok(NewFile { place, existing })
    }

    /// Puts the file in its place, durably.
    pub fn commit(self) -> io::Result<()> {
        match self.place {
            Place::Device(mut file) => file.flush(),
            Place::Temporary(temporary, target) => {
                temporary.file.sync_all()?;
                temporary.rename_to(&target, self.existing)?;
                sync_folder(folder_of(&target)?)
            }
        }
    }

    fn file(&mut self) -> &mut File {
        match &mut self.place {
            Place::Device(file) => file,
            Place::Temporary(temporary, _) => &mut temporary.file,
        }
    }
}

impl Write for NewFile {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.file().write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file().flush()
    }
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

/// Where a path leads. A link stays a link; its target is replaced, or made if it does not exist
/// yet.
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

/// A temporary file. It is removed when it is dropped, unless it was renamed.
#[derive(Debug)]
struct Temporary {
    file: File,
    path: PathBuf,
    renamed: bool,
}

impl Temporary {
    /// A new file in the folder. If it will replace a file, it has that file's owner and
    /// permissions from the start, so that nobody else can read it in between.
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
            // A second name for the file, which unlike a rename fails if the name is taken;
            // dropping removes the first.
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

/// A random number, from the random keys of the standard library's maps.
fn random() -> u64 {
    RandomState::new().build_hasher().finish()
}

/// Writes both parts of a file.
pub(super) fn write_parts(mut out: impl Write, header: &[u8], body: &[&[u8]]) -> io::Result<()> {
    out.write_all(header)?;
    body.iter().try_for_each(|part| out.write_all(part))?;
    out.flush()
}
