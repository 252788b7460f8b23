//! A cap on the memory that a filter may take.

use anyhow::anyhow;
use clap::Args;
use std::io::Read;
use tamis::Error;

/// The variable that holds the cap where the command line has none.
const VARIABLE: &str = "TAMIS_MAX_MEMORY";
/// No header is longer.
const LONGEST_HEADER: u64 = 1 << 16;

/// The caller's cap.
#[derive(Args)]
pub(crate) struct Memory {
    /// Refuse a filter that takes more memory than this (1000, 64k, 100M, 2G), before any is taken
    ///
    /// The environment variable TAMIS_MAX_MEMORY can hold it instead. It is for one filter;
    /// several that are merged have as much each.
    #[arg(long, value_name = "SIZE", value_parser = size)]
    max_memory: Option<u64>,
}

impl Memory {
    /// The cap of the command line, or else of the environment.
    pub(crate) fn most(&self) -> anyhow::Result<Option<u64>> {
        match std::env::var_os(VARIABLE).filter(|value| !value.is_empty()) {
            Some(value) if self.max_memory.is_none() => {
                let text = value.to_string_lossy();
                size(&text)
                    .map(Some)
                    .map_err(|why| anyhow!("the environment's {VARIABLE} is {text:?}: {why}"))
            }
            _ => Ok(self.max_memory),
        }
    }

    /// The bytes of a filter that comes from a stream.
    pub(crate) fn read_all(&self, input: impl Read) -> anyhow::Result<Vec<u8>> {
        let mut bytes = Vec::new();
        match self.most()? {
            None => drop(read(input, &mut bytes)?),
            Some(most) => {
                let limit = most.saturating_add(LONGEST_HEADER);
                read(input.take(limit.saturating_add(1)), &mut bytes)?;
                if bytes.len() as u64 > limit {
                    let available = format!("is allowed {most}");
                    return Err(Error::Memory { needed: bytes.len() as u64, available }.into());
                }
            }
        }
        Ok(bytes)
    }
}

fn read(mut input: impl Read, bytes: &mut Vec<u8>) -> std::io::Result<usize> {
    input.read_to_end(bytes)
}

/// A number of bytes, in powers of 1024 if a letter says so.
fn size(text: &str) -> Result<u64, String> {
    let remedy = || "write a number of bytes, such as 1000, 64k, 100M or 2G".to_owned();
    let (digits, shift) = match text.trim().char_indices().last() {
        Some((at, 'k' | 'K')) => (&text.trim()[..at], 10),
        Some((at, 'M')) => (&text.trim()[..at], 20),
        Some((at, 'G')) => (&text.trim()[..at], 30),
        Some((at, 'T')) => (&text.trim()[..at], 40),
        _ => (text.trim(), 0),
    };
    let number = crate::plan::count(digits).map_err(|_| remedy())?;
    number.checked_mul(1 << shift).ok_or_else(remedy)
}

#[cfg(test)]
mod tests {
    #[test]
    fn sizes() {
        let good = [
            ("0", 0),
            ("1000", 1000),
            ("64k", 65_536),
            ("1K", 1024),
            ("3M", 3 << 20),
            ("2G", 2 << 30),
        ];
        for (text, bytes) in good {
            assert_eq!(super::size(text), Ok(bytes), "{text}");
        }
        assert_eq!(super::size("1e6"), Ok(1_000_000));
        assert_eq!(super::size("1T"), Ok(1 << 40));
        for text in ["", "k", "-1", "1.5.2M", "5 m", "2g", "99999999999T", "1é", "∞"] {
            assert!(super::size(text).is_err(), "{text}");
        }
    }
}
