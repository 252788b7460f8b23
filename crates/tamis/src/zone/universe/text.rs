//! A universe as text.

use super::notation::{Address, hosts, prefix_length};
use super::{MAX_IPV6_PREFIX, Names, Universe};
use crate::Error;
use std::net::{Ipv4Addr, Ipv6Addr};
use std::str::FromStr;

impl Universe {
    /// The universe as text that [`FromStr`] reads. `None` for a dictionary.
    ///
    /// ```
    /// use tamis::zone::Universe;
    /// let days: Universe = "1..366".parse()?;
    /// assert_eq!(days.text().as_deref(), Some("1..366"));
    /// # Ok::<(), tamis::Error>(())
    /// ```
    #[must_use]
    pub fn text(&self) -> Option<String> {
        let (first, last) = (self.first, self.last);
        let whole = |bits: u32| first == 0 && last == u128::MAX >> (u128::BITS - bits);
        Some(match self.names {
            Names::Ipv4 if !whole(Ipv4Addr::BITS) => {
                let [first, last] = [first, last].map(<Ipv4Addr as Address>::of);
                format!("{first}..{last}")
            }
            Names::Ipv6 if !whole(Ipv6Addr::BITS) => {
                let [first, last] = [first, last].map(Ipv6Addr::from);
                format!("{first}..{last}")
            }
            Names::Integers => format!("{first}..{last}"),
            Names::Hex(digits) => format!("hex:{digits}"),
            Names::Ipv4Prefixes(longest) | Names::Ipv6Prefixes(longest) => {
                format!("{}:{longest}", self.kind())
            }
            Names::Ipv4 | Names::Ipv6 | Names::Uuid | Names::Mac => self.kind().to_owned(),
            Names::Dictionary(_) | Names::Unnamed { .. } => return None,
        })
    }
}

/// Reads a size (`65536`, `2^64`), an interval (`1..48`), `ipv4`, `ipv6`, a network (`10.0.0.0/8`,
/// `2001:db8::/32`), a range of addresses, `uuid`, `mac`, `hex:20`, `ipv4-prefixes`,
/// `ipv4-prefixes:24` or `ipv6-prefixes:48`.
impl FromStr for Universe {
    type Err = Error;

    fn from_str(text: &str) -> Result<Universe, Error> {
        let refuse = |remedy: &str| {
            let shown = text.chars().take(60).collect();
            Err(Error::NoUniverse { text: shown, remedy: remedy.to_owned() })
        };
        let lower = text.to_ascii_lowercase();
        let (word, number) = match lower.split_once(':') {
            Some((word, number)) => (word, Some(number)),
            None => (&lower[..], None),
        };
        let length = |whole: u32| match number {
            Some(number) => prefix_length(number),
            None => Some(whole),
        };
        match (word, number) {
            ("ipv4", None) => return Ok(Universe::ipv4()),
            ("ipv6", None) => return Ok(Universe::ipv6()),
            ("uuid", None) => return Ok(Universe::uuid()),
            ("mac", None) => return Ok(Universe::mac()),
            ("hex", _) => {
                return match number.and_then(prefix_length) {
                    Some(digits) => Universe::hex(digits),
                    None => refuse("write how many hexadecimal digits there are, as hex:20"),
                };
            }
            ("ipv4-prefixes", _) => {
                return match length(Ipv4Addr::BITS) {
                    Some(longest) => Universe::ipv4_prefixes(longest),
                    None => refuse("write the longest prefix as ipv4-prefixes:24"),
                };
            }
            ("ipv6-prefixes", _) => {
                return match length(MAX_IPV6_PREFIX) {
                    Some(longest) => Universe::ipv6_prefixes(longest),
                    None => refuse("write the longest prefix as ipv6-prefixes:48"),
                };
            }
            _ => {}
        }
        if let Some((address, length)) = text.split_once('/') {
            if let Ok(address) = address.parse::<Ipv4Addr>() {
                let (first, last) = network(text, address, length)?;
                return Universe::ipv4_range(first, last);
            }
            if let Ok(address) = address.parse::<Ipv6Addr>() {
                let (first, last) = network(text, address, length)?;
                return Universe::ipv6_range(first, last);
            }
        }
        if let Some((first, last)) = text.split_once("..") {
            let last = last.strip_prefix('=').unwrap_or(last);
            if let Some((first, last)) = ends::<Ipv4Addr>(text, first, last)? {
                return Universe::ipv4_range(first, last);
            }
            if let Some((first, last)) = ends::<Ipv6Addr>(text, first, last)? {
                return Universe::ipv6_range(first, last);
            }
            let (first, last) = (first.trim(), last.trim());
            return match (natural(first), natural(last)) {
                (Some(first), Some(last)) => Universe::interval(first, last),
                (None, _) => refuse(&format!("it has no such end: {first:?}")),
                (_, None) => refuse(&format!("it has no such end: {last:?}")),
            };
        }
        if text == "2^128" || text == "340282366920938463463374607431768211456" {
            return Universe::interval(0, u128::MAX);
        }
        match natural(text) {
            Some(size) => Universe::sized(size),
            None => refuse(
                "write a size (65536), an interval (1..48), ipv4, ipv6, a network (10.0.0.0/8), \
                 uuid, mac, hex:20, ipv4-prefixes or ipv6-prefixes:48",
            ),
        }
    }
}

/// A decimal number, or a power such as 2^64.
fn natural(text: &str) -> Option<u128> {
    if let Some((base, exponent)) = text.split_once('^') {
        return natural(base)?.checked_pow(prefix_length(exponent)?);
    }
    let digits = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    digits.then(|| text.parse().ok()).flatten()
}

/// The first and the last address of a network.
fn network<A: Address>(text: &str, address: A, length: &str) -> Result<(A, A), Error> {
    let refuse = |remedy: String| Err(Error::NoUniverse { text: text.to_owned(), remedy });
    let Some(length) = prefix_length(length).filter(|length| *length <= A::BITS) else {
        return refuse(format!("the length of a network is from /0 to /{}", A::BITS));
    };
    let hosts = hosts::<A>(length);
    let first = address.number() & !hosts;
    if first != address.number() {
        return refuse(format!(
            "it has bits past /{length}; for the whole network write {}/{length}",
            A::of(first)
        ));
    }
    Ok((A::of(first), A::of(first | hosts)))
}

/// Two addresses that are the ends of a range, if both are addresses.
fn ends<A: Address>(text: &str, first: &str, last: &str) -> Result<Option<(A, A)>, Error> {
    let (Ok(first), Ok(last)) = (first.parse::<A>(), last.parse::<A>()) else {
        return Ok(None);
    };
    if first.number() > last.number() {
        let remedy = format!("the range is empty; write {last}..{first}");
        return Err(Error::NoUniverse { text: text.to_owned(), remedy });
    }
    Ok(Some((first, last)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn universes_are_read_as_they_are_written() {
        for (text, same) in [
            ("65536", "0..65535"),
            ("2^16", "0..65535"),
            ("10^3", "0..999"),
            ("2^64", "0..18446744073709551615"),
            ("2^128", "0..340282366920938463463374607431768211455"),
            ("1..48", "1..48"),
            ("0..=5", "0..5"),
            ("IPv4", "ipv4"),
            ("10.0.0.0/8", "10.0.0.0..10.255.255.255"),
            ("0.0.0.0/0", "ipv4"),
            ("::/0", "ipv6"),
            ("2001:db8::/32", "2001:db8::..2001:db8:ffff:ffff:ffff:ffff:ffff:ffff"),
            ("::1/128", "::1..::1"),
            ("::1..::ff", "::1..::ff"),
            ("uuid", "uuid"),
            ("MAC", "mac"),
            ("hex:20", "hex:20"),
            ("ipv4-prefixes", "ipv4-prefixes:32"),
            ("ipv4-prefixes:24", "ipv4-prefixes:24"),
            ("ipv6-prefixes:48", "ipv6-prefixes:48"),
        ] {
            let universe: Universe = text.parse().unwrap();
            assert_eq!(universe.text().as_deref(), Some(same), "{text}");
            assert_eq!(same.parse::<Universe>().unwrap(), universe, "{text}");
        }
        assert_eq!(Universe::dictionary(["a"]).unwrap().text(), None);
    }

    #[test]
    fn other_texts_are_refused_with_a_remedy() {
        for (text, word) in [
            ("", "is no universe"),
            ("-5", "is no universe"),
            ("0", "no elements"),
            ("2^129", "is no universe"),
            ("9..3", "3..9"),
            ("1..x", "no such end: \"x\""),
            ("..", "no such end"),
            ("10.0.0.1/8", "10.0.0.0/8"),
            ("10.0.0.0/33", "/32"),
            ("2001:db8::1/32", "2001:db8::/32"),
            ("::/129", "/128"),
            ("::2..::1", "write ::1..::2"),
            ("::1..1.2.3.4", "no such end"),
            ("hex", "hex:20"),
            ("hex:0", "32"),
            ("hex:33", "32"),
            ("hex:x", "hex:20"),
            ("ipv4-prefixes:33", "32"),
            ("ipv6-prefixes:128", "127"),
            ("uuid:4", "is no universe"),
        ] {
            let said = text.parse::<Universe>().unwrap_err().to_string();
            assert!(said.contains(word), "{text}: {said}");
        }
    }
}
