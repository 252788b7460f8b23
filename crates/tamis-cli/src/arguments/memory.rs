//! A limit on the memory that a filter may take.

use super::size;
use clap::Args;
use std::io::Read;
use tamis::Error;

const VARIABLE: &str = "TAMIS_MAX_MEMORY";
/// No header is longer.
const MAX_HEADER: u64 = 1 << 16;

/// The limit, from `--max-memory` or from the environment.
#[derive(Args)]
pub(crate) struct MemoryLimit {
    /// Refuse a filter that takes more memory than this (1000, 64k, 100MB, 1.5GiB)
    ///
    /// k, M and G are thousands, millions and billions, as in counts, and so are kB, MB and GB.
    /// KiB, MiB and GiB are powers of 1024.
    ///
    /// The check comes before any memory is taken. The limit is for one filter; several filters
    /// that are merged may take as much each.
    #[arg(long, value_name = "SIZE", value_parser = limit, env = VARIABLE)]
    #[arg(allow_negative_numbers = true)]
    max_memory: Option<Limit>,
}

/// A number of bytes; none if the variable is empty.
#[derive(Clone, Copy)]
struct Limit(Option<u64>);

fn limit(text: &str) -> Result<Limit, String> {
    let variable = std::env::var_os(VARIABLE);
    if text.is_empty() && variable.is_some_and(|value| value.is_empty()) {
        return Ok(Limit(None));
    }
    match size(text) {
        Ok(bytes) => Ok(Limit(Some(bytes))),
        Err(remedy) => Err(format!("{remedy}, in --max-memory or in {VARIABLE}")),
    }
}

impl MemoryLimit {
    /// The most bytes allowed, if there is a limit.
    pub(crate) fn bytes(&self) -> Option<u64> {
        self.max_memory.and_then(|limit| limit.0)
    }

    /// The bytes of a filter that comes from a stream.
    pub(crate) fn read_all(&self, mut input: impl Read) -> anyhow::Result<Vec<u8>> {
        let mut bytes = Vec::new();
        let Some(allowed) = self.bytes() else {
            input.read_to_end(&mut bytes)?;
            return Ok(bytes);
        };
        let limit = allowed.saturating_add(MAX_HEADER);
        input.take(limit.saturating_add(1)).read_to_end(&mut bytes)?;
        if bytes.len() as u64 > limit {
            let needed = bytes.len() as u64;
            return Err(Error::Memory { needed, allowed: Some(allowed) }.into());
        }
        Ok(bytes)
    }
}
