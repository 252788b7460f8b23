//! Universes: 65536, 1..48, ipv6, hex:20, dictionary:FILE.

use super::count;
use crate::input::{KeyFormat, Reading, names_standard_input};
use anyhow::{Context, bail};
use clap::Args;
use std::path::Path;
use tamis::Error;
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
    if let Some(path) = dictionary_file(text) {
        if path == Path::new("") {
            bail!("dictionary: needs a file of keys, one a line: dictionary:FILE");
        }
        return dictionary(path);
    }
    // Numbers may be written as everywhere on the command line: 64k, 1e3.
    if let Ok(size) = count(text) {
        return Ok(Universe::sized(size.into())?);
    }
    if let Some((first, last)) = text.split_once("..")
        && let (Ok(first), Ok(last)) = (count(first), count(last.strip_prefix('=').unwrap_or(last)))
    {
        return Ok(Universe::interval(first.into(), last.into())?);
    }
    match text.parse() {
        Ok(universe) => Ok(universe),
        // The library knows nothing of files. A range is none.
        Err(Error::NoUniverse { text, remedy }) if !text.contains("..") => {
            bail!("{text:?} is no universe; {remedy}; dictionary:FILE names the lines of a file")
        }
        Err(other) => Err(other.into()),
    }
}

/// The file that `dictionary:FILE` names.
pub(crate) fn dictionary_file(universe: &str) -> Option<&Path> {
    let name = universe.strip_prefix("dictionary:")?;
    Some(Path::new(if names_standard_input(Path::new(name)) { "-" } else { name }))
}

/// The lines of a file, each a key known by its place.
fn dictionary(path: &Path) -> anyhow::Result<Universe> {
    let mut keys: Vec<Vec<u8>> = Vec::new();
    let context = format!("the dictionary {}", path.display());
    KeyFormat::lines().each(&[path.to_owned()], "reading", Reading::InOrder, |batch| {
        keys.extend(batch.texts().map(<[u8]>::to_vec));
        Ok(true)
    })?;
    Universe::dictionary(keys).with_context(|| context)
}

#[cfg(test)]
mod tests {
    use super::universe;

    #[test]
    fn universes_as_people_write_them() {
        for (text, shown) in [
            ("65536", "0..65535"),
            ("64k", "0..63999"),
            ("2^16", "0..65535"),
            ("1..48", "1..48"),
            ("0..=5", "0..5"),
            ("1..1e3", "1..1000"),
            ("2^64", "0..18446744073709551615"),
            ("ipv4", "the IPv4 addresses"),
            ("IPv4", "the IPv4 addresses"),
            ("10.0.0.0/8", "10.0.0.0..10.255.255.255"),
            ("0.0.0.0/0", "the IPv4 addresses"),
            ("192.0.2.7/32", "192.0.2.7..192.0.2.7"),
            ("224.0.0.0..239.255.255.255", "224.0.0.0..239.255.255.255"),
            ("224.0.0.0..=239.255.255.255", "224.0.0.0..239.255.255.255"),
            ("2^128", "0..340282366920938463463374607431768211455"),
            ("ipv6", "the IPv6 addresses"),
            ("2001:db8::/126", "2001:db8::..2001:db8::3"),
            ("uuid", "the UUIDs"),
            ("hex:20", "20 hexadecimal digits"),
            ("ipv4-prefixes:24", "up to /24"),
        ] {
            let made = universe(text).unwrap().to_string();
            assert!(made.ends_with(shown), "{text}: {made}");
        }
        for (text, why) in [
            ("-5", "is no universe"),
            ("10.0.0.1/8", "10.0.0.0/8"),
            ("10.0.0.0/33", "/32"),
            ("9..3", "3..9"),
            ("10.0.0.9..10.0.0.1", "write 10.0.0.1..10.0.0.9"),
            ("dictionary:", "dictionary:FILE"),
            ("1..x", "no such end"),
        ] {
            let refused = universe(text).unwrap_err().to_string();
            assert!(refused.contains(why), "{text}: {refused}");
        }
    }
}
