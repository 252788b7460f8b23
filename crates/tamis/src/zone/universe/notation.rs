//! How elements are written: addresses, prefixes, UUIDs, MAC addresses, hexadecimal codes.

use std::fmt::{Display, Write};
use std::net::{Ipv4Addr, Ipv6Addr};
use std::str::FromStr;

/// The number of exactly `digits` hexadecimal digits, at most 32, of either case.
pub(super) fn hex(text: &str, digits: u32) -> Option<u128> {
    let plain = text.len() == digits as usize && text.bytes().all(|byte| byte.is_ascii_hexdigit());
    plain.then(|| u128::from_str_radix(text, 16).ok()).flatten()
}

/// The parts of a text between separators. Each must have `digits` hexadecimal digits.
fn groups(text: &str, separator: char, digits: &[u32]) -> Option<u128> {
    let mut parts = text.split(separator);
    let mut number = 0;
    for &digits in digits {
        number = number << (4 * digits) | hex(parts.next()?, digits)?;
    }
    parts.next().is_none().then_some(number)
}

/// A UUID: with hyphens, or as 32 digits; `urn:uuid:` may stand before it.
pub(super) fn uuid(text: &str) -> Option<u128> {
    let text = text.strip_prefix("urn:uuid:").unwrap_or(text);
    groups(text, '-', &[8, 4, 4, 4, 12]).or_else(|| hex(text, 32))
}

/// A UUID as RFC 9562 prints it.
pub(super) fn uuid_text(number: u128) -> String {
    let digits = format!("{number:032x}");
    [&digits[..8], &digits[8..12], &digits[12..16], &digits[16..20], &digits[20..]].join("-")
}

/// A MAC address: six pairs with colons or hyphens, three groups of four digits with points, or 12
/// digits.
pub(super) fn mac(text: &str) -> Option<u128> {
    groups(text, ':', &[2; 6])
        .or_else(|| groups(text, '-', &[2; 6]))
        .or_else(|| groups(text, '.', &[4; 3]))
        .or_else(|| hex(text, 12))
}

/// A MAC address with colons.
pub(super) fn mac_text(number: u128) -> String {
    let mut text = String::with_capacity(17);
    for (place, byte) in number.to_be_bytes()[10..].iter().enumerate() {
        let separator = if place == 0 { "" } else { ":" };
        // Writing to a text never fails.
        let _ = write!(text, "{separator}{byte:02x}");
    }
    text
}

/// An address as a number of `BITS` bits.
pub(super) trait Address: FromStr + Display + Copy {
    const BITS: u32;
    fn number(self) -> u128;
    fn of(number: u128) -> Self;
}

impl Address for Ipv4Addr {
    const BITS: u32 = 32;
    fn number(self) -> u128 {
        u32::from(self).into()
    }
    fn of(number: u128) -> Ipv4Addr {
        (number as u32).into()
    }
}

impl Address for Ipv6Addr {
    const BITS: u32 = 128;
    fn number(self) -> u128 {
        self.into()
    }
    fn of(number: u128) -> Ipv6Addr {
        number.into()
    }
}

/// The length behind a slash: decimal digits without a sign or a leading zero.
pub(super) fn prefix_length(text: &str) -> Option<u32> {
    let plain = text.bytes().all(|byte| byte.is_ascii_digit()) && (text == "0" || text.len() < 4);
    let plain = plain && (text == "0" || !text.starts_with('0'));
    plain.then(|| text.parse().ok()).flatten()
}

/// The numbers of the addresses that have the first `length` bits free: all that follow.
pub(super) fn hosts<A: Address>(length: u32) -> u128 {
    (u128::MAX >> (u128::BITS - A::BITS)).checked_shr(length).unwrap_or(0)
}

// FORMAT v1: frozen. The number of a prefix.

/// The number of a prefix: shorter prefixes come first, and those of one length ascend. There are
/// 2^length - 1 shorter ones.
pub(super) fn prefix_number<A: Address>(text: &str, longest: u32) -> Option<u128> {
    let (address, length) = match text.split_once('/') {
        Some((address, length)) => (address, prefix_length(length)?),
        None => (text, A::BITS), // a lone address is the longest prefix of itself
    };
    if length > longest.min(A::BITS) {
        return None;
    }
    let address = address.parse::<A>().ok()?.number();
    // Bits past the length would make two texts of one prefix.
    let clean = address & hosts::<A>(length) == 0;
    let leading = address.checked_shr(A::BITS - length).unwrap_or(0);
    clean.then(|| ((1u128 << length) - 1) + leading)
}

/// The prefix with this number.
pub(super) fn prefix_text<A: Address>(number: u128) -> String {
    // No prefix has the last number, so adding 1 does not wrap.
    let above = number.saturating_add(1);
    let length = above.ilog2();
    let leading = above - (1 << length);
    let address = leading.checked_shl(A::BITS.saturating_sub(length)).unwrap_or(0);
    format!("{}/{length}", A::of(address))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn notations_are_read_and_printed() {
        let number = 0x0123_4567_89ab_cdef_0011_2233_4455_6677;
        let printed = "01234567-89ab-cdef-0011-223344556677";
        assert_eq!(uuid_text(number), printed);
        let plain = "0123456789ABCDEF0011223344556677";
        let urn = format!("urn:uuid:{printed}");
        for text in [printed, plain, &printed.to_uppercase(), &urn] {
            assert_eq!(uuid(text), Some(number), "{text}");
        }
        for text in ["", "0123", "01234567-89ab-cdef-0011-22334455667", "+123456789abcdef"] {
            assert_eq!(uuid(text), None, "{text}");
        }
        assert_eq!(mac_text(0xaabb_cc00_0102), "aa:bb:cc:00:01:02");
        for text in ["aa:bb:cc:00:01:02", "AA-BB-CC-00-01-02", "aabb.cc00.0102", "aabbcc000102"] {
            assert_eq!(mac(text), Some(0xaabb_cc00_0102), "{text}");
        }
        for text in ["aa:bb:cc:00:01", "aa:bb:cc:00:01:02:03", "aa:bb-cc:00:01:02", "a:b:c:d:e:f"] {
            assert_eq!(mac(text), None, "{text}");
        }
        assert_eq!((hex("0f", 2), hex("f", 2), hex("+f", 2)), (Some(15), None, None));
    }

    #[test]
    fn prefixes_are_numbered_without_gaps() {
        for number in 0..(1u128 << 12) - 1 {
            let text = prefix_text::<Ipv4Addr>(number);
            assert_eq!(prefix_number::<Ipv4Addr>(&text, 32), Some(number), "{text}");
            let text = prefix_text::<Ipv6Addr>(number);
            assert_eq!(prefix_number::<Ipv6Addr>(&text, 64), Some(number), "{text}");
        }
        assert_eq!(prefix_number::<Ipv4Addr>("0.0.0.0/0", 32), Some(0));
        assert_eq!(prefix_number::<Ipv4Addr>("10.0.0.0/8", 32), Some(255 + 10));
        assert_eq!(prefix_number::<Ipv4Addr>("255.255.255.255", 32), Some((1 << 33) - 2));
        assert_eq!(prefix_text::<Ipv4Addr>((1 << 33) - 2), "255.255.255.255/32");
        assert_eq!(prefix_number::<Ipv6Addr>("2001:db8::/32", 48), Some(0xffff_ffff + 0x2001_0db8));
        let last = u128::MAX - 1;
        assert_eq!(prefix_number::<Ipv6Addr>(&prefix_text::<Ipv6Addr>(last), 127), Some(last));
        for text in ["10.0.0.1/8", "10.0.0.0/33", "10.0.0.0/", "10.0.0.0/08", "10/8", "/8", "::/0"]
        {
            assert_eq!(prefix_number::<Ipv4Addr>(text, 32), None, "{text}");
        }
        assert_eq!(prefix_number::<Ipv4Addr>("10.0.0.0/8", 7), None);
        assert_eq!(prefix_number::<Ipv4Addr>("10.0.0.0", 24), None);
        assert_eq!(prefix_number::<Ipv6Addr>("::1", 127), None);
    }
}
