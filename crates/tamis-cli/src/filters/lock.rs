//! The lock that keeps two writers apart.

use crate::output::warn;
use anyhow::Context;
use std::fs::{File, TryLockError};
use std::path::Path;

/// Keeps other processes from changing a filter between our reading and our replacing it.
pub(crate) struct Lock {
    _file: Option<File>,
}

impl Lock {
    /// Nothing to lock.
    pub(crate) fn none() -> Lock {
        Lock { _file: None }
    }

    /// Waits for the lock on a filter that is to be changed. What is no regular file is not locked.
    pub(crate) fn new(path: &Path) -> anyhow::Result<Lock> {
        let context = || format!("cannot lock {}", path.display());
        let mut told = false;
        loop {
            if path == Path::new("-") || !path.is_file() {
                return Ok(Lock::none());
            }
            let file =
                File::open(path).with_context(|| format!("cannot open {}", path.display()))?;
            match file.try_lock() {
                Ok(()) => {}
                Err(TryLockError::WouldBlock) => {
                    if !told {
                        warn(&format!(
                            "tamis: waiting for another process that is changing {}",
                            path.display()
                        ));
                        told = true;
                    }
                    file.lock().with_context(context)?;
                }
                Err(TryLockError::Error(error)) => return Err(error).with_context(context),
            }
            // The process that had it put a new file in its place: then this lock is on the old
            // one.
            if is_at(&file, path)? {
                return Ok(Lock { _file: Some(file) });
            }
        }
    }
}

/// Whether a file that is open is the one with this name.
#[cfg(unix)]
pub(crate) fn is_at(file: &File, path: &Path) -> std::io::Result<bool> {
    use std::os::unix::fs::MetadataExt;
    let held = file.metadata()?;
    let named = match std::fs::metadata(path) {
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(false),
        other => other?,
    };
    Ok((held.dev(), held.ino()) == (named.dev(), named.ino()))
}

#[cfg(not(unix))]
pub(crate) fn is_at(_: &File, _: &Path) -> std::io::Result<bool> {
    Ok(true)
}
