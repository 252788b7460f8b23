//! Universes: 65536, 1..48, ipv4, dictionary:FILE.

use super::count;
use crate::input::{KeyFormat, Reading, names_standard_input};
use anyhow::{Context, bail};
use clap::Args;
use std::net::Ipv4Addr;
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
    if text.eq_ignore_ascii_case("ipv4") {
        return Ok(Universe::ipv4());
    }
    if let Some(path) = dictionary_file(text) {
        if path == Path::new("") {
            bail!("dictionary: needs a file of keys, one a line: dictionary:FILE");
        }
        return dictionary(path);
    }
    if let Some((first, length)) = text.split_once('/')
        && let Ok(first) = first.parse::<Ipv4Addr>()
    {
        return network(text, first, length);
    }
    if let Some((first, last)) = text.split_once("..") {
        let last = last.strip_prefix('=').unwrap_or(last);
        if let (Ok(first), Ok(last)) = (first.parse::<Ipv4Addr>(), last.parse::<Ipv4Addr>()) {
            if first > last {
                bail!("the range {first}..{last} is empty; write {last}..{first}");
            }
            return Ok(Universe::ipv4_range(first, last)?);
        }
        let end = |text: &str| {
            count(text)
                .map_err(|why| anyhow::anyhow!("the universe {text:?} has no such end: {why}"))
        };
        return Ok(Universe::interval(end(first)?, end(last)?)?);
    }
    match count(text) {
        Ok(size) => Ok(Universe::sized(size)?),
        Err(_) if text == "18446744073709551616" || text == "2^64" => {
            Ok(Universe::interval(0, u64::MAX)?)
        }
        Err(_) => bail!(
            "{text:?} is no universe; write a size (65536), an interval (1..48), ipv4, a network \
             (10.0.0.0/8), or dictionary:FILE (one key a line)"
        ),
    }
}

/// The addresses of a network such as 10.0.0.0/8.
fn network(text: &str, address: Ipv4Addr, length: &str) -> anyhow::Result<Universe> {
    let length: u32 = match length.parse() {
        Ok(length @ 0..=32) => length,
        _ => bail!("the universe {text:?} has no such network: its length is from /0 to /32"),
    };
    let hosts = u32::MAX.checked_shr(length).unwrap_or(0);
    let first = u32::from(address) & !hosts;
    if first != u32::from(address) {
        bail!(
            "{text:?} has bits past /{length}; for the whole network write {}/{length}",
            Ipv4Addr::from(first)
        );
    }
    Ok(Universe::ipv4_range(first.into(), (first | hosts).into())?)
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
