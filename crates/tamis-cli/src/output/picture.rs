//! Writing drawings and pages: whole or not at all, and never over something else.

use crate::output::print;
use anyhow::{Context, bail};
use std::fs::{self, File, OpenOptions};
use std::io::{Read, Write};
use std::path::{Path, PathBuf};

/// Refuses to replace a file that does not begin like one of ours, unless forced to.
fn spare(path: &Path, mark: &str, what: &str, force: bool) -> anyhow::Result<()> {
    if path.is_dir() {
        bail!("cannot write {}: it is a folder", path.display());
    }
    if let Some(folder) =
        path.parent().filter(|folder| *folder != Path::new("") && !folder.is_dir())
    {
        bail!("cannot write {}: there is no folder {}", path.display(), folder.display());
    }
    if force || !path.is_file() {
        return Ok(());
    }
    let mut start = Vec::new();
    let file = File::open(path).with_context(|| format!("cannot open {}", path.display()))?;
    file.take(1024).read_to_end(&mut start)?;
    if !start.is_empty() && !String::from_utf8_lossy(&start).contains(mark) {
        bail!(
            "{} exists and is no {what}; name another file, or replace it with --force",
            path.display()
        );
    }
    Ok(())
}

/// Refuses to replace what is no SVG, before anything is computed.
pub(crate) fn check(path: &Path, force: bool) -> anyhow::Result<()> {
    if path == Path::new("-") { Ok(()) } else { spare(path, "<svg", "SVG", force) }
}

/// Writes a drawing as a file of its own; `-` is standard output.
pub(crate) fn save(path: &Path, svg: &str, force: bool) -> anyhow::Result<()> {
    let text = tamis_plot::standalone(svg);
    if path == Path::new("-") {
        return print(text.trim_end());
    }
    check(path, force)?;
    replace(path, &text)
}

/// The page of a report in a folder, which is made if need be.
pub(crate) fn page_in(folder: &Path, force: bool) -> anyhow::Result<PathBuf> {
    fs::create_dir_all(folder)
        .with_context(|| format!("cannot make the folder {}", folder.display()))?;
    let path = folder.join("index.html");
    spare(&path, "recomputed by tamis", "report of tamis", force)?;
    Ok(path)
}

/// Puts a text in place of a file in one step.
pub(crate) fn replace(path: &Path, text: &str) -> anyhow::Result<()> {
    let name = path.file_name().context("it has no name")?.to_string_lossy();
    let beside = path.with_file_name(format!(".{name}.{}.part", std::process::id()));
    let write = || -> std::io::Result<()> {
        let mut file = OpenOptions::new().write(true).create_new(true).open(&beside)?;
        file.write_all(text.as_bytes())?;
        file.sync_all()?;
        fs::rename(&beside, path)
    };
    write()
        .inspect_err(|_| drop(fs::remove_file(&beside)))
        .with_context(|| format!("cannot write {}", path.display()))
}
