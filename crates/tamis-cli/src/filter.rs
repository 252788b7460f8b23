//! Opening and saving filter files, the secrets they may need, and the lock that keeps two writers
//! apart.

use crate::input::{Batch, Input, Manner};
use crate::memory::Memory;
use crate::output;
use crate::universe::OpenUniverse;
use anyhow::{Context, anyhow, bail};
use clap::Args;
use std::fs::{File, TryLockError};
use std::io::Read;
use std::path::{Path, PathBuf};
use tamis::{AnyFilter, Error, Health, KeyRef, Open, SecretKey};
use zeroize::Zeroizing;

/// The secret key of a keyed filter.
#[derive(Args)]
pub(crate) struct KeyFile {
    /// The file with the secret key of a keyed filter: at least 16 bytes, a line end not counted
    ///
    /// The environment variable TAMIS_KEY_FILE can name it instead. The key is never written into
    /// a filter. Make one with: head -c 32 /dev/urandom > key
    #[arg(long, value_name = "FILE")]
    pub(crate) key_file: Option<PathBuf>,
}

/// Nobody's secret is longer; a wrong path may be.
const LONGEST_SECRET: u64 = 1 << 20;

impl KeyFile {
    /// The file named on the command line, or else in the environment.
    fn path(&self) -> Option<PathBuf> {
        let environment = || {
            std::env::var_os("TAMIS_KEY_FILE").filter(|value| !value.is_empty()).map(PathBuf::from)
        };
        self.key_file.clone().or_else(environment)
    }

    pub(crate) fn read(&self) -> anyhow::Result<Option<SecretKey>> {
        let Some(path) = self.path() else { return Ok(None) };
        let context = || format!("cannot read the key file {}", path.display());
        let mut secret = Zeroizing::new(Vec::new());
        let file = File::open(&path).with_context(context)?;
        file.take(LONGEST_SECRET + 1).read_to_end(&mut secret).with_context(context)?;
        if secret.len() as u64 > LONGEST_SECRET {
            bail!(
                "the key file {} is longer than {LONGEST_SECRET} bytes; is it the right file?",
                path.display()
            );
        }
        let secret = secret.strip_suffix(b"\n").unwrap_or(&secret);
        let secret = secret.strip_suffix(b"\r").unwrap_or(secret);
        Ok(Some(
            SecretKey::new(secret).with_context(|| format!("the key file {}", path.display()))?,
        ))
    }
}

/// What a filter may need to be opened: its secret key, its dictionary.
#[derive(Args)]
pub(crate) struct Access {
    #[command(flatten)]
    key: KeyFile,
    #[command(flatten)]
    universe: OpenUniverse,
    #[command(flatten)]
    memory: Memory,
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
    pub(crate) fn open(&self, path: &Path) -> anyhow::Result<AnyFilter> {
        self.access.open(path, !self.no_verify)
    }
}

/// Takes keys as the filter has them, and warns of keys that it cannot have.
pub(crate) fn suited(filter: &AnyFilter, manner: &Manner) -> anyhow::Result<Manner> {
    if let Some(zone) = filter.as_zone() {
        return manner.of_zone(zone.plan().universe());
    }
    let kinds = filter.as_rate().map(|rate| rate.kinds()).unwrap_or_default();
    if let Some(warning) = manner.unsuited(kinds) {
        output::complain(&format!("tamis: warning: {warning}"));
    }
    Ok(manner.suiting(kinds))
}

/// Whether each key of a batch passes.
pub(crate) fn contains(filter: &AnyFilter, batch: &Batch) -> anyhow::Result<Vec<bool>> {
    let Some(zone) = filter.as_zone() else { return Ok(filter.contains_many(&batch.keys())?) };
    let universe = zone.plan().universe();
    batch.texts().map(|text| Ok(zone.contains_number(universe.number_of_text(text)?)?)).collect()
}

/// Puts in the keys of a batch, and says how many were (certainly) new.
pub(crate) fn insert(filter: &mut AnyFilter, batch: &Batch, beyond: bool) -> anyhow::Result<u64> {
    match filter.as_rate_mut() {
        Some(rate) => Ok(rate.insert_many(&batch.keys())),
        None => Ok(insert_each(filter, batch, beyond)?.into_iter().map(u64::from).sum()),
    }
}

/// The same, saying of each key whether it was new.
pub(crate) fn insert_each(
    filter: &mut AnyFilter,
    batch: &Batch,
    beyond: bool,
) -> anyhow::Result<Vec<bool>> {
    if let Some(rate) = filter.as_rate_mut() {
        return Ok(batch.keys().into_iter().map(|key| rate.insert(key)).collect());
    }
    let Some(zone) = filter.as_zone_mut() else { return Ok(Vec::new()) };
    let insert = |text: &[u8]| {
        let number = zone.plan().universe().number_of_text(text)?;
        zone.insert_number(number, beyond).with_context(|| {
            format!(
                "{:?} is one item too many (--beyond takes it all the same)",
                String::from_utf8_lossy(text)
            )
        })
    };
    batch.texts().map(insert).collect()
}

/// Refuses filters that cannot forget.
pub(crate) fn check_forgets(filter: &AnyFilter) -> anyhow::Result<()> {
    check_unpublished(filter)?;
    match filter {
        AnyFilter::Counting(_) | AnyFilter::ZoneCounting(_) => Ok(()),
        other => bail!(
            "a {} filter cannot forget a key; build it with {} to remove keys",
            other.kind(),
            if other.as_zone().is_some() { "--counting" } else { "--filter counting" }
        ),
    }
}

/// Refuses filters that stay as they were published.
pub(crate) fn check_unpublished(filter: &AnyFilter) -> anyhow::Result<()> {
    match filter.as_published() {
        Some(_) => Err(Error::Published { changed: "changed" }.into()),
        None => Ok(()),
    }
}

/// Takes one key out.
pub(crate) fn remove(
    filter: &mut AnyFilter,
    key: KeyRef<'_>,
    text: &[u8],
) -> anyhow::Result<Result<(), Error>> {
    Ok(match filter {
        AnyFilter::Counting(counting) => counting.remove(key),
        AnyFilter::ZoneCounting(counting) => {
            let number = counting.plan().universe().number_of_text(text)?;
            counting.remove_number(number)
        }
        other => return check_forgets(other).map(Ok),
    })
}

/// What a zone filter promises, in words.
pub(crate) fn zone_promise(filter: &AnyFilter) -> String {
    match filter.health() {
        Health::Within => "nobody is answered wrongly".to_owned(),
        Health::Beyond => {
            format!(
                "items always pass; of other elements, about {} do",
                output::rate(filter.expected_fpr())
            )
        }
    }
}

/// What is known of how much a filter holds.
pub(crate) struct Contents {
    /// The items held: exact, or an estimate.
    pub(crate) items: f64,
    pub(crate) exact: bool,
    pub(crate) planned: u64,
}

impl Contents {
    pub(crate) fn of(filter: &AnyFilter) -> Contents {
        if let Some(zone) = filter.as_zone() {
            let exact = zone.len_is_exact();
            return Contents { items: zone.len() as f64, exact, planned: zone.plan().items() };
        }
        match filter.as_rate() {
            Some(rate) => Contents {
                items: rate.estimated_items(),
                exact: false,
                planned: rate.plan().items(),
            },
            None => Contents { items: 0.0, exact: true, planned: 0 },
        }
    }
}

impl std::fmt::Display for Contents {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let about = if self.exact { "" } else { "about " };
        write!(
            out,
            "{about}{} of {} planned items",
            output::about(self.items),
            output::grouped(self.planned)
        )
    }
}

impl Access {
    /// Opens a filter; `-` is standard input. A key is read only if the filter needs one. Whoever
    /// changes a filter verifies it first: a damaged body would get a good checksum.
    pub(crate) fn open(&self, path: &Path, verify: bool) -> anyhow::Result<AnyFilter> {
        if path != Path::new("-") && !path.exists() {
            bail!("there is no filter {}; make it with tamis build", path.display());
        }
        self.open_any(path, verify).with_context(|| format!("cannot open {}", path.display()))
    }

    fn open_any(&self, path: &Path, verify: bool) -> anyhow::Result<AnyFilter> {
        let mut options = Open::new().verify(verify);
        if let Some(most) = self.memory.most()? {
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
            Err(Error::KeyNeeded) => match self.key.read()? {
                Some(key) => Ok(open(&options.key(key))?),
                None => bail!("its hash is keyed; name the file with its key: --key-file FILE"),
            },
            Err(Error::DictionaryNeeded { keys }) => {
                bail!(
                    "its universe is a dictionary of {keys} keys; name it: --universe dictionary:FILE"
                )
            }
            other => Ok::<AnyFilter, anyhow::Error>(other?),
        }?;
        match (universe, opened.as_zone().map(|zone| zone.plan().universe())) {
            (Some(named), Some(own)) if named != *own => {
                bail!("its universe is {own}, not {named}; leave --universe out")
            }
            (Some(_), None) => {
                bail!(
                    "it is a {} filter, which has no universe; leave --universe out",
                    opened.kind()
                )
            }
            _ => Ok(opened),
        }
    }
}

/// The files that keys come from, and the filter: standard input may be one of them.
pub(crate) fn check_sources(filter: &Path, input: &Input) -> anyhow::Result<()> {
    let standard_input = [PathBuf::from("-")];
    let files = if input.files.is_empty() { &standard_input[..] } else { &input.files };
    standard_input_once(files.iter().map(PathBuf::as_path).chain([filter]))
}

/// Refuses to read standard input for two purposes: the second would find nothing.
pub(crate) fn standard_input_once<'a>(
    files: impl IntoIterator<Item = &'a Path>,
) -> anyhow::Result<()> {
    if files.into_iter().filter(|file| *file == Path::new("-")).count() > 1 {
        bail!("standard input can be read only once; name a file for the other use of it");
    }
    Ok(())
}

/// The file that a new filter goes to.
#[derive(Args)]
pub(crate) struct Target {
    /// The file to write; an existing filter is replaced in one step; `-` is standard output
    #[arg(short, long, value_name = "FILE")]
    pub(crate) output: PathBuf,
    /// Replace the file even if it is no filter
    #[arg(long)]
    pub(crate) force: bool,
    /// Print one JSON object
    #[arg(long)]
    pub(crate) json: bool,
}

/// Refuses to write a filter over what it is made from, or over something else that is no filter.
pub(crate) fn spare_sources<'a>(
    target: &Target,
    sources: impl IntoIterator<Item = &'a PathBuf> + Clone,
) -> anyhow::Result<()> {
    let output = &target.output;
    standard_input_once(sources.clone().into_iter().map(PathBuf::as_path))?;
    if let Ok(existing) = output.canonicalize()
        && existing.is_file()
        && sources
            .into_iter()
            .any(|source| source.canonicalize().is_ok_and(|source| source == existing))
    {
        bail!(
            "-o {} would overwrite what the filter is made from; name another file",
            output.display()
        );
    }
    spare_other_files(target)
}

/// Refuses to replace a file that is no filter, unless forced to: a slip of the hand, more often
/// than not.
pub(crate) fn spare_other_files(target: &Target) -> anyhow::Result<()> {
    let path = &target.output;
    if target.force || path == Path::new("-") || !path.is_file() {
        return Ok(());
    }
    let mut start = Vec::new();
    let file = File::open(path).with_context(|| format!("cannot open {}", path.display()))?;
    file.take(tamis::format::MAGIC.len() as u64).read_to_end(&mut start)?;
    if !start.is_empty() && start != tamis::format::MAGIC {
        bail!(
            "{} exists and is no filter; name another file, or replace it with --force",
            path.display()
        );
    }
    Ok(())
}

/// Refuses a target that surely cannot be written, before that costs anything.
pub(crate) fn check_folder(target: &Target) -> anyhow::Result<()> {
    match target.output.parent() {
        Some(folder) if folder != Path::new("") && !folder.is_dir() => {
            bail!(
                "cannot write {}: there is no folder {}",
                target.output.display(),
                folder.display()
            )
        }
        _ if target.output.is_dir() => {
            bail!("cannot write {}: it is a folder", target.output.display())
        }
        _ => Ok(()),
    }
}

/// Writes a filter; `-` is standard output.
pub(crate) fn save(filter: &AnyFilter, path: &Path) -> anyhow::Result<()> {
    if path == Path::new("-") {
        // Half a filter is no use to anyone, so a reader that went away is an error here.
        return filter
            .write_to(std::io::stdout().lock())
            .map_err(|error| anyhow!("cannot write the filter to standard output: {error}"));
    }
    filter.save(path).with_context(|| format!("cannot write {}", path.display()))
}

/// Keeps other processes from changing a filter between our reading and our replacing it.
pub(crate) struct Lock {
    _file: Option<File>,
}

impl Lock {
    /// Waits for the lock on a filter that is to be changed. What is no regular file is not locked.
    pub(crate) fn new(path: &Path) -> anyhow::Result<Lock> {
        if path == Path::new("-") || !path.is_file() {
            return Ok(Lock { _file: None });
        }
        let context = || format!("cannot lock {}", path.display());
        let mut told = false;
        loop {
            let file =
                File::open(path).with_context(|| format!("cannot open {}", path.display()))?;
            match file.try_lock() {
                Ok(()) => {}
                Err(TryLockError::WouldBlock) => {
                    if !told {
                        output::complain(&format!(
                            "tamis: waiting for another process that is changing {}",
                            path.display()
                        ));
                        told = true;
                    }
                    file.lock().with_context(context)?;
                }
                Err(TryLockError::Error(error)) => return Err(error).with_context(context),
            }
            // Whoever had it has put a new file in its place: then this lock is on the old one.
            if same_file(&file, path)? {
                return Ok(Lock { _file: Some(file) });
            }
        }
    }
}

#[cfg(unix)]
fn same_file(file: &File, path: &Path) -> std::io::Result<bool> {
    use std::os::unix::fs::MetadataExt;
    let (held, named) = (file.metadata()?, std::fs::metadata(path)?);
    Ok((held.dev(), held.ino()) == (named.dev(), named.ino()))
}

#[cfg(not(unix))]
fn same_file(_: &File, _: &Path) -> std::io::Result<bool> {
    Ok(true)
}
