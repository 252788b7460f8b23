//! Universes: 65536, 1..48, ipv4, dictionary:FILE.

use super::count;
use crate::input::KeyFormat;
use anyhow::{Context, bail};
use clap::Args;
use std::path::Path;
use tamis::zone::Universe;

/// The universe of a filter that is opened.
#[derive(Args)]
pub(crate) struct FilterUniverse {
    /// The universe of a zone filter: needed only for a dictionary, as dictionary:FILE
    #[arg(long, value_name = "U", allow_hyphen_values = true)]
    universe: Option<String>,
}

impl FilterUniverse {
    /// The file of a dictionary, if one is named.
    pub(crate) fn file(&self) -> Option<&Path> {
        dictionary_file(self.universe.as_deref()?)
    }

    /// The universe named, if any.
    pub(crate) fn read(&self) -> anyhow::Result<Option<Universe>> {
        self.universe.as_deref().map(universe).transpose()
    }
}

/// Reads a universe as it is written on the command line.
pub fn universe(text: &str) -> anyhow::Result<Universe> {
    if text == "ipv4" {
        return Ok(Universe::ipv4());
    }
    if let Some(path) = dictionary_file(text) {
        return dictionary(path);
    }
    if let Some((first, last)) = text.split_once("..") {
        let end = |text: &str| {
            count(text)
                .map_err(|why| anyhow::anyhow!("the universe {text:?} has no such end: {why}"))
        };
        return Ok(Universe::interval(end(first)?, end(last)?)?);
    }
    match count(text) {
        Ok(size) => Ok(Universe::sized(size)?),
        Err(_) if text == "18446744073709551616" => Ok(Universe::interval(0, u64::MAX)?),
        Err(_) => bail!(
            "{text:?} is no universe; write a size (65536), an interval (1..48), ipv4, \
             or dictionary:FILE (one key a line)"
        ),
    }
}

/// The file that `dictionary:FILE` names.
pub(crate) fn dictionary_file(universe: &str) -> Option<&Path> {
    universe.strip_prefix("dictionary:").map(Path::new)
}

/// The lines of a file, each a key known by its place.
fn dictionary(path: &Path) -> anyhow::Result<Universe> {
    let mut keys: Vec<Vec<u8>> = Vec::new();
    let context = format!("the dictionary {}", path.display());
    KeyFormat::lines().each(&[path.to_owned()], "reading", false, |batch| {
        keys.extend(batch.texts().map(<[u8]>::to_vec));
        Ok(true)
    })?;
    Universe::dictionary(keys).with_context(|| context)
}
