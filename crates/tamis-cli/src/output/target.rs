//! The file that a command writes. One function decides for all commands whether it may be
//! replaced: [`Destination::new`].

use super::file::NewFile;
use crate::filters::Lock;
use crate::input::Input;
use anyhow::{Context, bail};
use clap::Args;
use std::fs::File;
use std::io::{IsTerminal, Read};
use std::path::{Path, PathBuf};
use tamis::AnyFilter;

/// The file that a new filter goes to.
#[derive(Args)]
pub(crate) struct Target {
    /// The file to write; an existing filter is replaced in one step; `-` is standard output
    #[arg(short, long, value_name = "FILE", value_parser = output_path())]
    pub(crate) output: PathBuf,
    /// Replace the file even if it is no filter (a ledger is never replaced)
    #[arg(long)]
    pub(crate) force: bool,
    /// Print one JSON object
    #[arg(long)]
    pub(crate) json: bool,
}

impl Target {
    /// Where the new filter goes, if it may go there.
    pub(crate) fn destination<'a>(
        &self,
        sources: impl IntoIterator<Item = &'a PathBuf>,
    ) -> anyhow::Result<Destination> {
        Destination::new(&self.output, Content::Filter, self.force, sources)
    }
}

impl Target {
    /// Where a part of a filter goes, if it may go there.
    pub(crate) fn part_destination<'a>(
        &self,
        sources: impl IntoIterator<Item = &'a PathBuf>,
    ) -> anyhow::Result<Destination> {
        Destination::new(&self.output, Content::Part, self.force, sources)
    }
}

/// A path to write to. The names that systems have for standard output are read as `-`.
pub(crate) fn output_path() -> impl clap::builder::TypedValueParser<Value = PathBuf> {
    use clap::builder::TypedValueParser;
    clap::builder::PathBufValueParser::new().map(|path| {
        let is_standard_output = ["/dev/stdout", "/dev/fd/1", "/proc/self/fd/1"]
            .iter()
            .any(|name| path == Path::new(name));
        if is_standard_output { PathBuf::from("-") } else { path }
    })
}

/// What is to be written.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Content {
    /// A filter: binary.
    Filter,
    /// A filter of another program.
    Foreign,
    /// A part of a filter.
    Part,
    /// A filter that is published. A private one is not replaced by it.
    Release,
    /// An SVG.
    Drawing,
    /// Records of any kind: no file is known to be one.
    Records,
    /// The page of `tamis reproduce`.
    #[cfg(feature = "lab")]
    Page,
}

impl Content {
    fn name(self) -> &'static str {
        match self {
            Content::Filter | Content::Foreign => "filter",
            Content::Part => "part of a filter",
            Content::Release => "published filter",
            Content::Drawing => "SVG",
            Content::Records => "output of dedup",
            #[cfg(feature = "lab")]
            Content::Page => "report of tamis",
        }
    }

    /// Whether a file that begins so is of this kind.
    fn begins(self, start: &[u8], path: &Path) -> bool {
        match self {
            Content::Foreign => {
                Content::Filter.begins(start, path) || crate::foreign::is_filter(path)
            }
            Content::Filter => start.starts_with(&tamis::format::MAGIC),
            Content::Part => start.starts_with(&tamis::format::PART_MAGIC),
            Content::Release => {
                // The kind of a filter stands at byte 10; 6 and 7 are published ones.
                start.starts_with(&tamis::format::MAGIC) && matches!(start.get(10), Some(6 | 7))
            }
            Content::Drawing => String::from_utf8_lossy(start).contains("<svg"),
            Content::Records => false,
            #[cfg(feature = "lab")]
            Content::Page => String::from_utf8_lossy(start).contains("recomputed by tamis"),
        }
    }
}

/// How a ledger begins.
pub(crate) const LEDGER: &[u8] = b"tamis-ledger-";

/// A target that may be written. While it exists, other processes do not change the file.
pub(crate) struct Destination {
    path: PathBuf,
    private: bool,
    _lock: Lock,
}

impl Destination {
    /// Decides whether a file may be written, for every command:
    ///
    /// * a ledger is never replaced, not even by force;
    /// * what the result is made from is not replaced;
    /// * a file of another kind is replaced only by force;
    /// * a filter is not written to a terminal;
    /// * a folder that does not exist or cannot be written to is refused, before anything is
    ///   computed or charged.
    pub(crate) fn new<'a>(
        path: &Path,
        content: Content,
        force: bool,
        sources: impl IntoIterator<Item = &'a PathBuf>,
    ) -> anyhow::Result<Destination> {
        let is_binary = matches!(
            content,
            Content::Filter | Content::Foreign | Content::Part | Content::Release
        );
        if path == Path::new("-") {
            if is_binary {
                refuse_terminal(std::io::stdout().is_terminal())?;
            }
            return Ok(Destination::at(path, Lock::none()));
        }
        let shown = path.display();
        if path.is_dir() {
            bail!("cannot write {shown}: it is a folder");
        }
        let folder = match path.parent() {
            Some(parent) if parent != Path::new("") => parent,
            _ => Path::new("."),
        };
        if !folder.is_dir() {
            bail!("cannot write {shown}: there is no folder {}", folder.display());
        }
        if is_binary && path.exists() && !path.is_file() {
            // Opening a pipe would wait for its reader; no pipe is a terminal.
            refuse_terminal(is_character_device(path) && opens_as_terminal(path))?;
        }
        let lock = Lock::new(path)?;
        if path.is_file() {
            let mut start = Vec::new();
            let file = File::open(path).with_context(|| format!("cannot open {shown}"))?;
            file.take(1024).read_to_end(&mut start)?;
            if start.starts_with(LEDGER) {
                bail!(
                    "{shown} is a ledger, which nothing may overwrite, not even --force; name \
                     another file"
                );
            }
            let existing = path.canonicalize()?;
            let is_source = |source: &PathBuf| {
                if source == Path::new("-") {
                    return is_read_on_standard_input(&existing);
                }
                source.canonicalize().is_ok_and(|source| source == existing)
            };
            if sources.into_iter().any(is_source) {
                bail!("-o {shown} would overwrite what it is made from; name another file");
            }
            if !force && !start.is_empty() && !content.begins(&start, path) {
                bail!(
                    "{shown} exists and is no {}; name another file, or replace it with --force",
                    content.name()
                );
            }
        }
        let destination = Destination::at(path, lock);
        // Find out now whether it can be written, and leave nothing behind.
        if !path.exists() || path.is_file() {
            drop(destination.create()?);
        }
        Ok(destination)
    }

    /// The filter that a command changes, in its place. `-` is standard input and then standard
    /// output.
    pub(crate) fn in_place(filter: &Path) -> anyhow::Result<Destination> {
        if filter == Path::new("-") {
            refuse_terminal(std::io::stdout().is_terminal())?;
        }
        Ok(Destination::at(filter, Lock::new(filter)?))
    }

    fn at(path: &Path, lock: Lock) -> Destination {
        Destination { path: path.to_owned(), private: false, _lock: lock }
    }

    /// Only the owner may read what is written.
    pub(crate) fn private(self) -> Destination {
        Destination { private: true, ..self }
    }

    /// Opens the file for writing. Nothing is replaced yet.
    pub(crate) fn create(&self) -> anyhow::Result<NewFile> {
        NewFile::create(&self.path, self.private)
            .with_context(|| format!("cannot write {}", self.path.display()))
    }

    /// Writes the bytes of a filter of another program, whole or not at all.
    pub(crate) fn save_bytes(&self, bytes: &[u8]) -> anyhow::Result<()> {
        self.create()?.save_bytes(bytes)
    }

    /// Writes a part of a filter, whole or not at all.
    pub(crate) fn save_part(&self, part: &tamis::format::Part) -> anyhow::Result<()> {
        self.create()?.save_part(part)
    }

    /// Writes a filter, whole or not at all.
    pub(crate) fn save(&self, filter: &AnyFilter) -> anyhow::Result<()> {
        self.create()?.save(filter)
    }
}

fn opens_as_terminal(device: &Path) -> bool {
    File::options().write(true).open(device).is_ok_and(|device| device.is_terminal())
}

#[cfg(unix)]
fn is_character_device(path: &Path) -> bool {
    use std::os::unix::fs::FileTypeExt;
    path.metadata().is_ok_and(|it| it.file_type().is_char_device())
}

#[cfg(not(unix))]
fn is_character_device(_: &Path) -> bool {
    false
}

/// Whether standard input is read from this very file.
#[cfg(unix)]
fn is_read_on_standard_input(file: &Path) -> bool {
    use std::os::fd::AsFd;
    use std::os::unix::fs::MetadataExt;
    let metadata =
        |fd: std::os::fd::BorrowedFd<'_>| File::from(fd.try_clone_to_owned()?).metadata();
    match (metadata(std::io::stdin().as_fd()), file.metadata()) {
        (Ok(input), Ok(file)) => (input.dev(), input.ino()) == (file.dev(), file.ino()),
        _ => false,
    }
}

#[cfg(not(unix))]
fn is_read_on_standard_input(_: &Path) -> bool {
    false
}

fn refuse_terminal(is_terminal: bool) -> anyhow::Result<()> {
    if is_terminal {
        bail!("a filter is binary and is not written to a terminal; redirect it, or name a file");
    }
    Ok(())
}

/// The files that keys come from, the filter and the dictionary: standard input may be one of them.
pub(crate) fn check_sources<'a>(
    input: &'a Input,
    others: impl IntoIterator<Item = &'a Path>,
) -> anyhow::Result<()> {
    let default = input.files.is_empty().then_some(Path::new("-"));
    standard_input_once(input.files.iter().map(PathBuf::as_path).chain(default).chain(others))
}

/// Refuses to read standard input for two purposes: the second would find nothing.
pub(crate) fn standard_input_once<'a>(
    files: impl IntoIterator<Item = &'a Path>,
) -> anyhow::Result<()> {
    if files.into_iter().filter(|file| *file == Path::new("-")).count() > 1 {
        bail!("standard input can be read only once; name a file for the other use of it");
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn filters_are_not_written_to_a_terminal() {
        assert!(refuse_terminal(true).unwrap_err().to_string().contains("terminal"));
        assert!(refuse_terminal(false).is_ok());
    }
}
