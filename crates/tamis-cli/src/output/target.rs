//! The file that a command writes.

use anyhow::{Context, anyhow, bail};
use clap::Args;
use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};
use tamis::AnyFilter;

use crate::input::Input;

/// The file that a new filter goes to.
#[derive(Args)]
pub(crate) struct Target {
    /// The file to write; an existing filter is replaced in one step; `-` is standard output
    #[arg(short, long, value_name = "FILE")]
    pub(crate) output: PathBuf,
    /// Replace the file even if it is no filter
    #[arg(long)]
    pub(crate) force: bool,
    /// Print one JSON object
    #[arg(long)]
    pub(crate) json: bool,
}

/// The files that keys come from, and the filter: standard input may be one of them.
pub(crate) fn check_sources(filter: &Path, input: &Input) -> anyhow::Result<()> {
    let standard_input = [PathBuf::from("-")];
    let files = if input.files.is_empty() { &standard_input[..] } else { &input.files };
    standard_input_once(files.iter().map(PathBuf::as_path).chain([filter]))
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

/// Refuses to write a filter over what it is made from, or over something else that is no filter.
pub(crate) fn spare_sources<'a>(
    target: &Target,
    sources: impl IntoIterator<Item = &'a PathBuf> + Clone,
) -> anyhow::Result<()> {
    let output = &target.output;
    standard_input_once(sources.clone().into_iter().map(PathBuf::as_path))?;
    if let Ok(existing) = output.canonicalize()
        && existing.is_file()
        && sources
            .into_iter()
            .any(|source| source.canonicalize().is_ok_and(|source| source == existing))
    {
        bail!(
            "-o {} would overwrite what the filter is made from; name another file",
            output.display()
        );
    }
    spare_other_files(target)
}

/// Refuses to replace a file that is no filter, unless forced to: a slip of the hand, more often
/// than not.
pub(crate) fn spare_other_files(target: &Target) -> anyhow::Result<()> {
    let path = &target.output;
    if target.force || path == Path::new("-") || !path.is_file() {
        return Ok(());
    }
    let mut start = Vec::new();
    let file = File::open(path).with_context(|| format!("cannot open {}", path.display()))?;
    file.take(tamis::format::MAGIC.len() as u64).read_to_end(&mut start)?;
    if !start.is_empty() && start != tamis::format::MAGIC {
        bail!(
            "{} exists and is no filter; name another file, or replace it with --force",
            path.display()
        );
    }
    Ok(())
}

/// Refuses a target that surely cannot be written, before that costs anything.
pub(crate) fn check_folder(target: &Target) -> anyhow::Result<()> {
    match target.output.parent() {
        Some(folder) if folder != Path::new("") && !folder.is_dir() => {
            bail!(
                "cannot write {}: there is no folder {}",
                target.output.display(),
                folder.display()
            )
        }
        _ if target.output.is_dir() => {
            bail!("cannot write {}: it is a folder", target.output.display())
        }
        _ => Ok(()),
    }
}

/// Writes a filter; `-` is standard output.
pub(crate) fn save(filter: &AnyFilter, path: &Path) -> anyhow::Result<()> {
    if path == Path::new("-") {
        // Half a filter is no use to anyone, so a reader that went away is an error here.
        return filter
            .write_to(std::io::stdout().lock())
            .map_err(|error| anyhow!("cannot write the filter to standard output: {error}"));
    }
    filter.save(path).with_context(|| format!("cannot write {}", path.display()))
}
