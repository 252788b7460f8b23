//! Numbers of bytes: 1000, 64k, 64MB, 1.5GiB.

use super::count::{self, decimal_times};

/// A number of bytes: a count, or a number with a unit. kB, MB, GB and TB are powers of 1000, and
/// so are k, M, G and T, as in counts. KiB, MiB, GiB and TiB are powers of 1024. Case does not
/// matter.
pub fn size(text: &str) -> Result<u64, String> {
    let remedy = || "write a number of bytes, such as 1000, 64k, 64MB or 1.5GiB".to_owned();
    let text = text.trim();
    let lower = text.to_ascii_lowercase();
    let binary = [("kib", 10), ("mib", 20), ("gib", 30), ("tib", 40)];
    if let Some((unit, power)) = binary.into_iter().find(|(unit, _)| lower.ends_with(unit)) {
        return decimal_times(&text[..text.len() - unit.len()], 1 << power).map_err(|_| remedy());
    }
    let number = if lower.ends_with('b') { &text[..text.len() - 1] } else { text };
    count::count(number).map_err(|_| remedy())
}

#[cfg(test)]
mod tests {
    use super::size;
    use crate::arguments::count;

    #[test]
    fn sizes_as_people_write_them() {
        for (text, bytes) in [
            ("0", 0),
            ("1000", 1_000),
            ("64k", 64_000),
            ("1K", 1_000),
            ("3M", 3_000_000),
            ("2G", 2_000_000_000),
            ("2g", 2_000_000_000),
            ("1T", 1_000_000_000_000),
            ("1e6", 1_000_000),
            ("64KiB", 65_536),
            ("1.5GiB", 3 << 29),
            ("1.5 gib", 3 << 29),
            ("1TiB", 1 << 40),
            ("64MB", 64_000_000),
            ("64 MB", 64_000_000),
            ("1kB", 1_000),
            ("5B", 5),
            ("1,024", 1_024),
            ("2^20", 1 << 20),
            ("2^20B", 1 << 20),
        ] {
            assert_eq!(size(text), Ok(bytes), "{text}");
        }
        for text in [
            "",
            "k",
            "b",
            "kib",
            "-1",
            "1.5.2M",
            "5 mm",
            "99999999999T",
            "1é",
            "∞",
            "0.3B",
            "1e30G",
        ] {
            assert!(size(text).unwrap_err().contains("1.5GiB"), "{text}");
        }
    }

    /// A letter means the same in a size and in a count.
    #[test]
    fn sizes_without_a_b_are_counts() {
        for text in
            ["7", "1k", "1K", "2.5M", "2m", "1G", "1g", "3T", "1_000", "1,000", "2^16", "1e9"]
        {
            assert_eq!(size(text), count(text), "{text}");
        }
    }
}
