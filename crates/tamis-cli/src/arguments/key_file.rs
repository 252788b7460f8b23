//! The secret key of a keyed filter.

use anyhow::{Context, bail};
use clap::parser::ValueSource;
use clap::{Arg, ArgMatches, Args, Command, FromArgMatches, value_parser};
use std::ffi::OsString;
use std::fs::File;
use std::io::Read;
use std::path::PathBuf;
use tamis::SecretKey;
use zeroize::Zeroizing;

/// No secret is longer; the wrong file may be.
const MAX_SECRET: u64 = 1 << 20;

/// The file with the secret key, from `--key-file` or from the environment.
pub(crate) struct KeyFile {
    path: Option<PathBuf>,
    /// Whether the command line names it.
    on_command_line: bool,
}

impl KeyFile {
    pub(crate) fn path(&self) -> Option<&PathBuf> {
        self.path.as_ref()
    }

    /// Whether the command line names the file, and not only the environment.
    pub(crate) fn is_on_command_line(&self) -> bool {
        self.on_command_line
    }

    /// The key, if a file is named.
    pub(crate) fn read(&self) -> anyhow::Result<Option<SecretKey>> {
        let Some(path) = &self.path else { return Ok(None) };
        let context = || format!("cannot read the key file {}", path.display());
        let mut secret = Zeroizing::new(Vec::new());
        let file = File::open(path).with_context(context)?;
        file.take(MAX_SECRET + 1).read_to_end(&mut secret).with_context(context)?;
        if secret.len() as u64 > MAX_SECRET {
            bail!(
                "the key file {} is longer than {MAX_SECRET} bytes; is it the right file?",
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

const ID: &str = "key_file";

impl Args for KeyFile {
    fn augment_args(command: Command) -> Command {
        command.arg(
            Arg::new(ID)
                .long("key-file")
                .value_name("FILE")
                .env("TAMIS_KEY_FILE")
                .value_parser(value_parser!(OsString))
                .help("The file with the secret key: at least 16 bytes; a line end does not count")
                .long_help(
                    "The file with the secret key: at least 16 bytes; a line end does not count\n\n\
                     The key is never written into a filter. Make one with: \
                     head -c 32 /dev/urandom > key",
                ),
        )
    }

    fn augment_args_for_update(command: Command) -> Command {
        Self::augment_args(command)
    }
}

impl FromArgMatches for KeyFile {
    fn from_arg_matches(matches: &ArgMatches) -> Result<KeyFile, clap::Error> {
        // An empty variable is as good as none.
        let path = matches.get_one::<OsString>(ID).filter(|path| !path.is_empty());
        Ok(KeyFile {
            path: path.map(PathBuf::from),
            on_command_line: matches.value_source(ID) == Some(ValueSource::CommandLine),
        })
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), clap::Error> {
        *self = KeyFile::from_arg_matches(matches)?;
        Ok(())
    }
}
