//! Opening filter files, with the secrets and dictionaries that they may need.

use crate::arguments::{FilterUniverse, KeyFile, MemoryLimit};
use crate::output::LEDGER;
use anyhow::{Context, bail};
use clap::Args;
use std::fs::File;
use std::io::Read;
use std::path::Path;
use std::time::{Duration, SystemTime, UNIX_EPOCH};
use tamis::format::PART_MAGIC;
use tamis::{AnyFilter, Error, Open, SecretKey};

/// What a filter may need to be opened: its secret key, its dictionary.
#[derive(Args)]
pub(crate) struct Access {
    #[command(flatten)]
    key: KeyFile,
    #[command(flatten)]
    universe: FilterUniverse,
    #[command(flatten)]
    memory: MemoryLimit,
}

/// Whether a file, or the bytes read of it, is a ledger.
fn is_ledger(path: &Path, bytes: Option<&[u8]>) -> bool {
    begins(path, bytes, LEDGER)
}

/// Whether a file, or the bytes read of it, begins so.
fn begins(path: &Path, bytes: Option<&[u8]>, with: &[u8]) -> bool {
    let mut start = Vec::new();
    match bytes {
        Some(bytes) => bytes.starts_with(with),
        None => {
            let read = File::open(path)
                .and_then(|file| file.take(with.len() as u64).read_to_end(&mut start));
            read.is_ok() && start == with
        }
    }
}

/// How to open a filter that is only read.
#[derive(Args)]
pub(crate) struct Opening {
    #[command(flatten)]
    access: Access,
    /// Trust the body without checking its checksum, which reads all of it
    #[arg(long)]
    pub(crate) no_verify: bool,
}

impl Opening {
    /// The limit of memory.
    pub(crate) fn memory(&self) -> &MemoryLimit {
        &self.access.memory
    }

    /// The files that opening the filter may read, besides the filter.
    pub(crate) fn dictionary_path(&self) -> Option<&Path> {
        self.access.dictionary_path()
    }

    pub(crate) fn open(&self, path: &Path) -> anyhow::Result<AnyFilter> {
        self.access.open(path, !self.no_verify)
    }

    /// Opens a filter to learn of it: without its dictionary, if none is named.
    pub(crate) fn look_at(&self, path: &Path) -> anyhow::Result<AnyFilter> {
        let options = Open::new().without_dictionary();
        self.access.open_with(options, path, !self.no_verify)
    }
}

impl Access {
    /// The limit of memory.
    pub(crate) fn memory(&self) -> &MemoryLimit {
        &self.memory
    }

    /// The files that opening the filter may read, besides the filter.
    pub(crate) fn dictionary_path(&self) -> Option<&Path> {
        self.universe.file()
    }

    /// Opens a filter; `-` is standard input. A key is read only if the filter needs one. Verify a
    /// filter that you change: a damaged body would get a good checksum.
    pub(crate) fn open(&self, path: &Path, verify: bool) -> anyhow::Result<AnyFilter> {
        self.open_with(Open::new(), path, verify)
    }

    fn open_with(&self, options: Open, path: &Path, verify: bool) -> anyhow::Result<AnyFilter> {
        if path != Path::new("-") && !path.exists() {
            bail!("there is no filter {}; make it with tamis build", path.display());
        }
        let is_standard_input = path == Path::new("-");
        let name = if is_standard_input { "standard input".into() } else { path.to_string_lossy() };
        self.open_any(options, path, verify).with_context(|| format!("cannot open {name}"))
    }

    fn open_any(&self, options: Open, path: &Path, verify: bool) -> anyhow::Result<AnyFilter> {
        let mut options = options.verify(verify);
        if let Some(most) = self.memory.bytes() {
            options = options.max_memory(most);
        }
        let universe = self.universe.read()?;
        if let Some(dictionary) =
            universe.as_ref().filter(|universe| universe.fingerprint().is_some())
        {
            options = options.dictionary(dictionary.clone());
        }
        // What can be read only once is read into memory, so that it can be looked at twice.
        let once = match path == Path::new("-") || !std::fs::metadata(path)?.is_file() {
            true if path == Path::new("-") => Some(self.memory.read_all(std::io::stdin().lock())?),
            true => Some(self.memory.read_all(File::open(path)?)?),
            false => None,
        };
        let open = |options: &Open| match &once {
            Some(bytes) => options.bytes(bytes),
            None => options.path(path),
        };
        let opened = match open(&options) {
            Err(Error::NotTamis) if is_ledger(path, once.as_deref()) => {
                bail!("it is a ledger; to see it: tamis ledger show {}", path.display())
            }
            Err(Error::NotTamis) if begins(path, once.as_deref(), &PART_MAGIC) => {
                bail!("it is a part of a filter; join all parts first: tamis join PART... -o FILE")
            }
            Err(error @ Error::NotTamis) => {
                return Err(error).context(
                    "if another program wrote it, say which: --from NAME (tamis help query)",
                );
            }
            Err(Error::KeyNeeded) => match self.key.read()? {
                Some(key) => Ok(open(&options.key(key))?),
                None => bail!("its hash is keyed; name the file with its key: --key-file FILE"),
            },
            Err(error @ Error::DictionaryNeeded { .. }) => {
                return Err(error).context("name its dictionary: --universe dictionary:FILE");
            }
            other => Ok::<AnyFilter, anyhow::Error>(other?),
        }?;
        match (universe, opened.plan().zone().map(|plan| plan.universe())) {
            (Some(named), Some(own)) if named != *own => {
                bail!("its universe is {own}, not {named}; leave --universe out")
            }
            (Some(_), None) => {
                bail!(
                    "it is a {} filter, which has no universe; leave --universe out",
                    opened.kind()
                )
            }
            _ => Ok(forgetful(opened, self.memory.bytes())),
        }
    }

    /// The key that is named, if one is.
    pub(crate) fn secret(&self) -> anyhow::Result<Option<SecretKey>> {
        self.key.read()
    }

    /// The most memory to take.
    pub(crate) fn max_memory(&self) -> Option<u64> {
        self.memory.bytes()
    }
}

/// What the clock shows, since the Unix epoch.
pub(crate) fn now() -> Duration {
    SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default()
}

/// A chain within its limit of memory; one that forgets is told the time.
fn forgetful(mut any: AnyFilter, max_memory: Option<u64>) -> AnyFilter {
    match &mut any {
        AnyFilter::Rolling(rolling) => {
            rolling.limit_memory(max_memory);
            rolling.advance(now());
        }
        AnyFilter::Scalable(chain) => chain.limit_memory(max_memory),
        _ => {}
    }
    any
}
