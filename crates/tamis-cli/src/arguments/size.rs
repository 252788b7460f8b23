//! Numbers of bytes: 1000, 64k, 64MB, 1.5GiB.

use super::count::times;

/// A number of bytes. As `dd` and `ls` read them: k, M, G, T and KiB, MiB, GiB, TiB are powers of
/// 1024; kB, MB, GB and TB are powers of 1000. Case does not matter.
pub fn size(text: &str) -> Result<u64, String> {
    let remedy = || "write a number of bytes, such as 1000, 64k, 64MB or 1.5GiB".to_owned();
    let text = text.trim();
    if text.contains('^') {
        return super::count(text).map_err(|_| remedy());
    }
    let letters = text.trim_end_matches(|c: char| c.is_ascii_alphabetic());
    let (number, unit) = (letters, &text[letters.len()..]);
    let unit = match unit.to_ascii_lowercase().as_str() {
        "" | "b" => 1,
        "k" | "kib" => 1 << 10,
        "m" | "mib" => 1 << 20,
        "g" | "gib" => 1 << 30,
        "t" | "tib" => 1 << 40,
        "kb" => 1_000,
        "mb" => 1_000_000,
        "gb" => 1_000_000_000,
        "tb" => 1_000_000_000_000,
        _ => return Err(remedy()),
    };
    times(number, unit).map_err(|_| remedy())
}

#[cfg(test)]
mod tests {
    use super::size;

    #[test]
    fn sizes_as_people_write_them() {
        for (text, bytes) in [
            ("0", 0),
            ("1000", 1_000),
            ("64k", 65_536),
            ("1K", 1_024),
            ("3M", 3 << 20),
            ("2G", 2 << 30),
            ("2g", 2 << 30),
            ("1T", 1 << 40),
            ("1e6", 1_000_000),
            ("1.5GiB", 3 << 29),
            ("1.5M", 3 << 19),
            ("64MB", 64_000_000),
            ("64 MB", 64_000_000),
            ("1kB", 1_000),
            ("5B", 5),
            ("1,024", 1_024),
            ("2^20", 1 << 20),
        ] {
            assert_eq!(size(text), Ok(bytes), "{text}");
        }
        for text in ["", "k", "-1", "1.5.2M", "5 mm", "99999999999T", "1é", "∞", "0.3B", "1e30G"]
        {
            assert!(size(text).unwrap_err().contains("1.5GiB"), "{text}");
        }
    }
}
