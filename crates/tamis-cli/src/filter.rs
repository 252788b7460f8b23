//! Opening filter files, and the secrets they may need.

use crate::input::{Input, Manner};
use anyhow::{Context, bail};
use clap::Args;
use std::path::{Path, PathBuf};
use tamis::{AnyFilter, Open, SecretKey};
use zeroize::Zeroizing;

/// The secret key of a keyed filter.
#[derive(Args)]
pub(crate) struct KeyFile {
    /// The file with the secret key of a keyed filter: at least 16 bytes, a line end not counted
    ///
    /// The key is never written into a filter. Make one with: head -c 32 /dev/urandom > key
    #[arg(long, value_name = "FILE", env = "TAMIS_KEY_FILE")]
    pub(crate) key_file: Option<PathBuf>,
}

impl KeyFile {
    pub(crate) fn read(&self) -> anyhow::Result<Option<SecretKey>> {
        let Some(path) = &self.key_file else { return Ok(None) };
        let context = || format!("cannot read the key file {}", path.display());
        // Nobody's secret is megabytes long; a wrong path may be.
        if std::fs::metadata(path).with_context(context)?.len() > 1 << 20 {
            bail!("the key file {} is longer than a mebibyte; is it the right file?", path.display());
        }
        let secret = Zeroizing::new(std::fs::read(path).with_context(context)?);
        let secret = secret.strip_suffix(b"\n").unwrap_or(&secret);
        let secret = secret.strip_suffix(b"\r").unwrap_or(secret);
        Ok(Some(SecretKey::new(secret).with_context(|| format!("the key file {}", path.display()))?))
    }
}

/// How to open a filter file.
#[derive(Args)]
pub(crate) struct Opening {
    #[command(flatten)]
    pub(crate) key: KeyFile,
    /// Trust the body without checking its checksum, which reads all of it
    #[arg(long)]
    pub(crate) no_verify: bool,
}

impl Opening {
    /// Opens a filter for keys to come, and says how to take them.
    pub(crate) fn open_for(&self, path: &Path, input: &Input) -> anyhow::Result<(AnyFilter, Manner)> {
        let standard_input = Path::new("-");
        if path == standard_input
            && (input.files.is_empty() || input.files.iter().any(|file| file == standard_input))
        {
            bail!(
                "the filter and the keys cannot both come from standard input; name a file for one of them"
            );
        }
        let filter = self.open(path)?;
        let manner = input.manner.suiting(filter.as_rate().kinds());
        Ok((filter, manner))
    }

    pub(crate) fn open(&self, path: &Path) -> anyhow::Result<AnyFilter> {
        let options = Open::new().verify(!self.no_verify);
        let open = |options: Open| {
            if path == Path::new("-") { options.reader(std::io::stdin().lock()) } else { options.path(path) }
        };
        // A key in the environment must not keep unkeyed filters from being opened.
        let result = match self.key.read()? {
            Some(key) => match open(options.clone().key(key)) {
                Err(tamis::Error::KeyUnneeded { .. }) if path != Path::new("-") => open(options),
                other => other,
            },
            None => open(options),
        };
        result.map_err(|error| match error {
            tamis::Error::KeyNeeded => anyhow::anyhow!(
                "{} has a keyed hash; name the file with its key: --key-file FILE",
                path.display()
            ),
            other => anyhow::Error::from(other).context(format!("cannot open {}", path.display())),
        })
    }
}

/// Writes a filter; `-` is standard output.
pub(crate) fn save(filter: &AnyFilter, path: &Path) -> anyhow::Result<()> {
    if path == Path::new("-") {
        use std::io::Write;
        let mut out = std::io::stdout().lock();
        out.write_all(&filter.to_bytes())?;
        return Ok(out.flush()?);
    }
    filter.save(path).with_context(|| format!("cannot write {}; nothing was changed", path.display()))
}
