//! Keys from files and pipes, in batches: lines, NUL-separated records, a column of CSV, a field of
//! JSON lines, or a column of Parquet or Arrow.

mod batch;
#[cfg(feature = "columnar")]
mod columnar;
mod csv;
mod decode;
mod files;
pub(crate) mod json_field;
mod lines;
mod records;
mod threads;

pub use batch::Batch;
pub(crate) use batch::Kind;
use batch::Refused;
use decode::Purpose;
pub use files::Files;
pub(crate) use files::{input_path, names_standard_input};
pub(crate) use records::{Bytes, Opened, open};
pub use threads::Reading;

use self::json_field::FieldPath;
use crate::output::warn;
use anyhow::{Context, bail};
use clap::{Args, ValueEnum};
use indicatif::ProgressBar;
use std::fs::File;
use std::io::{self, IsTerminal, Read, Write};
use std::path::{Path, PathBuf};
use tamis::Kinds;
use tamis::zone::Universe;
use tamis_foreign::KeyKind as ForeignKind;

/// Where keys come from, and how they are told apart.
#[derive(Args)]
pub struct Input {
    /// The files of keys.
    #[command(flatten)]
    pub(crate) files: Files,
    /// How keys are told apart.
    #[command(flatten)]
    pub format: KeyFormat,
}

/// How keys are told apart.
#[derive(Args, Clone)]
pub struct KeyFormat {
    /// Keys end with a NUL byte instead of a line end, as `find -print0` writes them; with --csv,
    /// only those printed
    #[arg(short = '0', long)]
    null: bool,
    /// Take keys from this column of CSV, by its name in the first row or its number from 1
    ///
    /// With a number, the first row is data too, unless --header says that it is not. A column
    /// whose name is a number is written with an equals sign: --csv =2024
    #[arg(long, value_name = "COLUMN")]
    csv: Option<String>,
    /// What separates the columns of CSV: one character, or \\t for a tab
    #[arg(long, value_name = "C", requires = "csv", default_value = ",", value_parser = delimiter)]
    delimiter: u8,
    /// The first row of CSV is a header even though the column is given by number
    #[arg(long, requires = "csv")]
    header: bool,
    /// Take keys from this field of JSON lines: a name, or names with dots such as user.email
    ///
    /// A string gives its text; a number, true or false is taken as it is written.
    #[arg(long, value_name = "FIELD", conflicts_with_all = ["csv", "comments"])]
    json_field: Option<FieldPath>,
    /// Take keys from this column of a Parquet or Arrow file; a null is no key
    #[arg(long, value_name = "COLUMN", conflicts_with_all = ["csv", "json_field", "null", "raw"])]
    column: Option<String>,
    /// JSON records that lack the field, or have null there, are no keys
    #[arg(long, requires = "json_field")]
    skip_missing: bool,
    /// Take the bytes as they are: no decompression, no decoding, no carriage returns cut off
    ///
    /// Without it, gzip, zstd, xz, bzip2 and UTF-16 are recognised by their first bytes and read,
    /// a byte-order mark is dropped, and a line may end with a carriage return.
    #[arg(long, conflicts_with = "csv")]
    raw: bool,
    /// Lines that begin with this are no keys
    #[arg(long, value_name = "PREFIX", allow_hyphen_values = true)]
    comments: Option<String>,
    /// Take keys as text or as integers [default: as the filter has them; text for a new one]
    ///
    /// The other kinds go with filters of other programs, which do not say what their keys are.
    #[arg(long, value_name = "KIND")]
    keys: Option<KeyKind>,
    /// Whether the keys are for a filter of another program.
    #[arg(skip)]
    foreign: bool,
    /// Whether keys are taken as text and as integers.
    #[arg(skip)]
    both: bool,
    /// Whether blank lines are no keys: they are neither numbers nor addresses.
    #[arg(skip)]
    skip_blank: bool,
}

#[derive(ValueEnum, Clone, Copy, PartialEq, Eq)]
enum KeyKind {
    /// The bytes as they are
    Text,
    /// Whole numbers from -2^63 to 2^64-1: 7, +7 and 007 are one key, and none of them is the text
    /// "7"
    Integers,
    /// Text as UTF-16 units, as Guava's unencodedCharsFunnel takes it
    Chars,
    /// Whole numbers of 64 bits
    Long,
    /// Whole numbers of 32 bits
    Int,
    /// Floating-point numbers of 32 bits
    Float,
    /// Floating-point numbers of 64 bits
    Double,
    /// Bytes, as hexadecimal digits
    Hex,
    /// The first 16 bytes of the SHA-256 of the text, for rbloom
    Sha256,
    /// Hashes of 128 bits as 32 hexadecimal digits, for rbloom
    Hash,
}

fn delimiter(text: &str) -> Result<u8, String> {
    match text.as_bytes() {
        b"\\t" => Ok(b'\t'),
        [one] if *one != b'"' && *one != b'\n' => Ok(*one),
        _ => Err("write one character, such as ; or | or \\t".to_owned()),
    }
}

/// A longer key is taken for a mistake (a binary file, or the wrong separator) before it fills the
/// memory.
pub(crate) const MAX_RECORD: usize = 16 << 20;
/// How much is read at a time.
const CHUNK: usize = 1 << 18;

/// What takes batches until it answers `false`.
type Take<'a> = &'a mut dyn FnMut(&mut Batch) -> anyhow::Result<bool>;

impl Input {
    /// Whether no input is a pipe or the like, which cannot be read twice. (A file that is not
    /// there can: the attempt says so best.)
    pub(crate) fn can_be_counted(&self) -> bool {
        let once = |file: &PathBuf| {
            file == Path::new("-")
                || file.metadata().is_ok_and(|metadata| !metadata.is_file() && !metadata.is_dir())
        };
        !self.files.is_empty() && !self.files.iter().any(once)
    }

    /// How many keys there are, at least 1, if they can be read twice.
    pub(crate) fn count(&self, format: &KeyFormat) -> anyhow::Result<u64> {
        if !self.can_be_counted() {
            bail!(
                "standard input and pipes cannot be read twice to count their keys; say how many: \
                 --items N"
            );
        }
        let mut keys = 0;
        format.each(&self.files, "counting", Reading::AnyOrder, |batch| {
            keys += batch.len() as u64;
            Ok(true)
        })?;
        Ok(keys.max(1))
    }
}

impl KeyFormat {
    /// Takes keys as the filter has them, unless told otherwise. A filter that has text and
    /// integers is asked for both.
    pub(crate) fn for_kinds(&self, kinds: Kinds) -> KeyFormat {
        let (text, integers) = (kinds.has(Kinds::BYTES), kinds.has(Kinds::INTEGERS));
        let keys = self.keys.or((integers && !text).then_some(KeyKind::Integers));
        KeyFormat {
            keys,
            both: keys.is_none() && integers && text,
            skip_blank: keys == Some(KeyKind::Integers),
            ..self.clone()
        }
    }

    /// Whether each key is taken as text and as an integer.
    pub(crate) fn takes_both(&self) -> bool {
        self.both
    }

    /// What keys are taken as, in words.
    pub(crate) fn asked(&self) -> &'static str {
        match self.kind() {
            Kind::Text => "text",
            Kind::Integers => "integers",
            Kind::Both => "text and integers",
        }
    }

    /// The keys of a zone filter are elements of its universe, written as text.
    pub(crate) fn for_universe(&self, universe: &Universe) -> anyhow::Result<KeyFormat> {
        if self.keys.is_some() {
            bail!(
                "--keys goes with rate filters; the keys of a zone filter are elements of its \
                 universe: leave it out"
            );
        }
        Ok(KeyFormat {
            keys: Some(KeyKind::Text),
            skip_blank: universe.fingerprint().is_none(),
            ..self.clone()
        })
    }

    /// For a new filter: as the command line says.
    #[must_use]
    pub fn for_new_filter(&self) -> KeyFormat {
        self.for_kinds(Kinds::default())
    }

    /// For a filter of another program, with keys of this kind. Where the filter itself is a column
    /// of a file, `--column` names that.
    pub(crate) fn for_foreign(&self, kind: ForeignKind, is_column: bool) -> KeyFormat {
        use ForeignKind::{Double, Float, Int, Long};
        KeyFormat {
            both: false,
            foreign: true,
            // A blank line is no number.
            skip_blank: matches!(kind, Long | Int | Float | Double),
            column: if is_column { None } else { self.column.clone() },
            ..self.clone()
        }
    }

    /// The kind of keys of another program that was said.
    pub(crate) fn foreign_kind(&self) -> anyhow::Result<Option<ForeignKind>> {
        Ok(match self.keys {
            None => None,
            Some(KeyKind::Integers) => bail!(
                "--keys integers goes with filters of tamis; other programs have --keys long, of \
                 64 bits, and --keys int, of 32"
            ),
            Some(KeyKind::Text) => Some(ForeignKind::Text),
            Some(KeyKind::Chars) => Some(ForeignKind::Chars),
            Some(KeyKind::Long) => Some(ForeignKind::Long),
            Some(KeyKind::Int) => Some(ForeignKind::Int),
            Some(KeyKind::Float) => Some(ForeignKind::Float),
            Some(KeyKind::Double) => Some(ForeignKind::Double),
            Some(KeyKind::Hex) => Some(ForeignKind::Hex),
            Some(KeyKind::Sha256) => Some(ForeignKind::Sha256),
            Some(KeyKind::Hash) => Some(ForeignKind::Hash),
        })
    }

    /// The column of a Parquet or Arrow file.
    pub(crate) fn column(&self) -> Option<&str> {
        self.column.as_deref()
    }

    /// Refuses kinds of keys that filters of tamis do not have.
    fn check_kind(&self) -> anyhow::Result<()> {
        if self.foreign || matches!(self.keys, None | Some(KeyKind::Text | KeyKind::Integers)) {
            return Ok(());
        }
        bail!(
            "these --keys go with filters of other programs; a filter of tamis has text or integers"
        );
    }

    /// Plain lines.
    pub(crate) fn lines() -> KeyFormat {
        KeyFormat {
            null: false,
            csv: None,
            delimiter: b',',
            header: false,
            json_field: None,
            column: None,
            skip_missing: false,
            raw: false,
            comments: None,
            keys: None,
            foreign: false,
            both: false,
            skip_blank: false,
        }
    }

    /// What to say when keys are asked for of a kind that the filter has never been given.
    pub(crate) fn warning_for(&self, kinds: Kinds) -> Option<String> {
        let asked = match self.keys? {
            KeyKind::Text => Kinds::BYTES,
            KeyKind::Integers => Kinds::INTEGERS,
            // They are refused when keys are read.
            _ => return None,
        };
        let strange = kinds != Kinds::default() && !kinds.has(asked) && !kinds.has(Kinds::DIGESTS);
        strange.then(|| format!("the filter holds only {kinds}: no member passes as {asked}"))
    }

    /// Writes a key as keys are told apart: with a line end, or a NUL byte.
    pub(crate) fn write(&self, out: &mut impl Write, text: &[u8]) -> io::Result<()> {
        out.write_all(text)?;
        out.write_all(if self.null { b"\0" } else { b"\n" })
    }

    /// Whether keys come from a column of Parquet or Arrow.
    pub(crate) fn is_column(&self) -> bool {
        self.column.is_some()
    }

    fn is_comment(&self, record: &[u8]) -> bool {
        let prefix = self.comments.as_ref().filter(|prefix| !prefix.is_empty());
        prefix.is_some_and(|prefix| record.starts_with(prefix.as_bytes()))
    }

    fn kind(&self) -> Kind {
        match self.keys {
            Some(KeyKind::Integers) => Kind::Integers,
            _ if self.both => Kind::Both,
            _ => Kind::Text,
        }
    }

    /// Reads one file; says whether to go on.
    fn read_file(
        &self,
        file: &Path,
        progress: &ProgressBar,
        rows: bool,
        take: Take<'_>,
    ) -> anyhow::Result<bool> {
        if file == Path::new("-") {
            if self.column.is_some() {
                bail!("--column reads a file from its end; name the file instead of a pipe");
            }
            if io::stdin().is_terminal() {
                warn("tamis: reading keys from the terminal; end with Ctrl-D");
            }
            let input = progress.wrap_read(io::stdin());
            return self.read("standard input", input, rows, take);
        }
        let name = file.display().to_string();
        if !file.exists() {
            // Perhaps a key, typed where its file belongs.
            bail!(
                "there is no file of keys {name}; to give a key itself, pipe it in: \
                 echo KEY | tamis ..."
            );
        }
        let opened = File::open(file).with_context(|| format!("cannot open {name}"))?;
        match &self.column {
            Some(column) => {
                progress.inc(opened.metadata().map_or(0, |metadata| metadata.len()));
                self.read_column(&name, opened, column, take)
            }
            None => self.read(&name, progress.wrap_read(opened), rows, take),
        }
    }

    #[cfg(feature = "columnar")]
    fn read_column(
        &self,
        name: &str,
        mut file: File,
        column: &str,
        take: Take<'_>,
    ) -> anyhow::Result<bool> {
        use std::io::Seek;
        let context = || format!("cannot read {name}");
        let mut start = Vec::new();
        Read::by_ref(&mut file).take(8).read_to_end(&mut start).with_context(context)?;
        file.rewind().with_context(context)?;
        let kind = columnar::Kind::of(&start).with_context(|| {
            format!("{name} is no Parquet or Arrow file; --column goes with those, --csv with CSV")
        })?;
        columnar::read(self, name, kind, file, column, take)
    }

    #[cfg(not(feature = "columnar"))]
    fn read_column(&self, _: &str, _: File, _: &str, _: Take<'_>) -> anyhow::Result<bool> {
        bail!(
            "this tamis was built without Parquet and Arrow; install it with: \
             cargo install --path crates/tamis-cli --features columnar"
        )
    }

    fn read(
        &self,
        name: &str,
        input: impl Read + Send,
        rows: bool,
        take: Take<'_>,
    ) -> anyhow::Result<bool> {
        let input: decode::Decoded<'_> = if self.raw {
            Box::new(input)
        } else {
            decode::decoded(input, !self.null, Purpose::Keys)
                .with_context(|| format!("cannot read {name}"))?
        };
        match &self.csv {
            Some(column) => csv::read(self, name, column, input, rows, take),
            None => lines::read(self, name, input, rows, take),
        }
    }
}

/// Says why a record is not taken.
fn explain(refused: &Refused, name: &str, line: u64, record: &[u8]) -> anyhow::Error {
    if let Refused::Memory(needed) = *refused {
        return tamis::Error::Memory { needed, allowed: None }.into();
    }
    let shown: String = String::from_utf8_lossy(record).chars().take(60).collect();
    anyhow::anyhow!(
        "{name}, line {line}: {shown:?} is not an integer from -2^63 to 2^64-1; to take the lines \
         as text, say --keys text"
    )
}
