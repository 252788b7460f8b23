//! Opening filters of other programs: by shape, or as the format that is named.

use super::ask::Asker;
use crate::arguments::MemoryLimit;
use crate::input::KeyFormat;
use crate::output::LEDGER;
use anyhow::{Context, bail};
use clap::Args;
use std::fs::File;
use std::io::Read;
use std::path::Path;
use tamis_foreign::parquet::{Column, ParquetFile};
use tamis_foreign::{Error, ForeignFilter, Format, Open};

/// Which program wrote a filter.
#[derive(Args)]
pub(crate) struct From {
    /// The program that wrote the filter, where its shape does not tell: parquet, guava, spark,
    /// dcso, bits-and-blooms, redisbloom, valkey-bloom, rbloom, fastbloom, bloomfilter,
    /// pybloom-live
    #[arg(long, value_name = "NAME")]
    from: Option<Format>,
}

/// Keys that must pass.
#[derive(Args)]
pub(crate) struct Expecting {
    /// A key that is in a filter of another program: if it does not pass, the keys are not taken as
    /// that program took them, and the command stops
    #[arg(long, value_name = "KEY", allow_hyphen_values = true)]
    expect: Vec<String>,
}

/// What a file holds.
pub(crate) enum Found {
    /// A filter.
    Filter(Box<ForeignFilter>),
    /// Columns that may have filters.
    Parquet(Box<ParquetFile<File>>),
}

impl From {
    /// Looks at a file; `None` if it is a tamis filter, or nothing that another program wrote. The
    /// caller then opens it as a tamis filter, and says what is wrong with it.
    pub(crate) fn open(&self, path: &Path, memory: &MemoryLimit) -> anyhow::Result<Option<Found>> {
        let is_standard_input = path == Path::new("-");
        let name = if is_standard_input { "standard input".into() } else { path.to_string_lossy() };
        self.look(path, memory).with_context(|| format!("cannot open {name}"))
    }

    fn look(&self, path: &Path, memory: &MemoryLimit) -> anyhow::Result<Option<Found>> {
        if path == Path::new("-") {
            let Some(format) = self.from else { return Ok(None) };
            let bytes = memory.read_all(std::io::stdin().lock())?;
            return Ok(Some(self.read(&bytes, Some(format), memory)?));
        }
        let is_file = std::fs::metadata(path).is_ok_and(|metadata| metadata.is_file());
        if !is_file && self.from.is_none() {
            return Ok(None);
        }
        let mut file = File::open(path)?;
        let mut start = Vec::new();
        Read::by_ref(&mut file).take(LEDGER.len() as u64).read_to_end(&mut start)?;
        if start.starts_with(&tamis::format::MAGIC) || start.starts_with(LEDGER) {
            if self.from.is_some() {
                bail!("tamis itself wrote it; leave --from out");
            }
            return Ok(None);
        }
        let may_be_parquet = matches!(self.from, None | Some(Format::Parquet));
        if may_be_parquet && is_file && start.starts_with(b"PAR1") {
            if let Some(parquet) = ParquetFile::open(file)? {
                return Ok(Some(Found::Parquet(Box::new(parquet))));
            }
            return Ok(None);
        }
        let mut bytes = start;
        if let Some(allowed) = memory.bytes().filter(|_| is_file) {
            let needed = file.metadata()?.len();
            if needed > allowed {
                return Err(Error::Memory { needed, allowed: Some(allowed) }.into());
            }
        }
        bytes.extend(memory.read_all(file)?);
        match self.read(&bytes, self.from, memory) {
            Err(error) if matches!(error.downcast_ref(), Some(Error::Unknown)) => Ok(None),
            other => other.map(Some),
        }
    }

    fn read(
        &self,
        bytes: &[u8],
        from: Option<Format>,
        memory: &MemoryLimit,
    ) -> anyhow::Result<Found> {
        let mut open = Open::new();
        if let Some(format) = from {
            open = open.from(format);
        }
        if let Some(max) = memory.bytes() {
            open = open.max_memory(max);
        }
        Ok(Found::Filter(Box::new(open.bytes(bytes)?)))
    }
}

impl Found {
    /// The one filter of a file: of a Parquet file, that of a column and a row group.
    pub(crate) fn one(
        self,
        column: Option<&str>,
        row_group: Option<usize>,
    ) -> anyhow::Result<(ForeignFilter, Option<Column>)> {
        let mut file = match self {
            Found::Filter(_) if row_group.is_some() => {
                bail!("--row-group goes with Parquet files; leave it out")
            }
            Found::Filter(filter) => return Ok((*filter, None)),
            Found::Parquet(file) => file,
        };
        let column = named_column(&file, column)?;
        let with_filter: Vec<usize> = (0..column.chunks.len())
            .filter(|group| column.chunks[*group].is_some_and(|chunk| chunk.has_filter()))
            .collect();
        let group = match (row_group, &with_filter[..]) {
            (Some(group), _) => group,
            (None, [group]) => *group,
            (None, []) => bail!("the column {:?} has no filter in any row group", column.name),
            (None, groups) => bail!(
                "the column {:?} has {} filters; say which: --row-group N (tamis info lists them)",
                column.name,
                groups.len()
            ),
        };
        let chunk = chunk_of(&column, group)?;
        let filter = file.filter(&chunk)?.with_context(|| {
            format!("row group {group} has no filter for the column {:?}", column.name)
        })?;
        Ok((filter, Some(column)))
    }
}

/// The column that was named.
pub(super) fn named_column(
    file: &ParquetFile<File>,
    column: Option<&str>,
) -> anyhow::Result<Column> {
    let Some(name) = column else {
        let is_filtered =
            |column: &&Column| column.chunks.iter().flatten().any(|chunk| chunk.has_filter());
        let names: Vec<&str> = file
            .columns()
            .iter()
            .filter(is_filtered)
            .take(20)
            .map(|column| column.name.as_str())
            .collect();
        match names.is_empty() {
            true => {
                bail!("it is a Parquet file without filters; its writer was not told to add any")
            }
            false => {
                bail!("it is a Parquet file; say which column: --column {}", names.join(" or "))
            }
        }
    };
    Ok(file.column(name)?.clone())
}

/// What a row group has of a column.
fn chunk_of(column: &Column, group: usize) -> anyhow::Result<tamis_foreign::parquet::ColumnChunk> {
    let groups = column.chunks.len();
    match column.chunks.get(group) {
        Some(Some(chunk)) => Ok(*chunk),
        Some(None) => bail!("row group {group} has no column {:?} that can be read", column.name),
        None => bail!("there is no row group {group}; the file has {groups}, from 0 on"),
    }
}

impl Expecting {
    /// Stops if a key that should pass does not.
    pub(crate) fn check(&self, asker: &Asker) -> anyhow::Result<()> {
        for key in &self.expect {
            if asker.contains_text(key.as_bytes())? {
                continue;
            }
            let passing = asker.other_kinds_that_pass(key.as_bytes());
            let hint = match passing.is_empty() {
                true => {
                    "nor does it as any other kind: it is another filter, or another key".to_owned()
                }
                false => format!("it does as --keys {}", passing.join(" or --keys ")),
            };
            bail!("{key:?} should pass and does not as --keys {}; {hint}", asker.kind());
        }
        Ok(())
    }

    pub(super) fn keys(&self) -> &[String] {
        &self.expect
    }

    /// Whether some key was named.
    pub(crate) fn is_given(&self) -> bool {
        !self.expect.is_empty()
    }

    /// Refuses the option for a filter of tamis, which knows its keys.
    pub(crate) fn check_unused(&self) -> anyhow::Result<()> {
        if self.is_given() {
            bail!("--expect goes with filters of other programs; leave it out");
        }
        Ok(())
    }
}

/// Whether a file is a filter of another program, by its shape.
pub(crate) fn is_filter(path: &Path) -> bool {
    let bytes = std::fs::read(path);
    bytes.is_ok_and(|bytes| {
        !matches!(Open::new().bytes(&bytes), Err(Error::Unknown | Error::Damaged { .. }))
    })
}

/// The kind of keys to ask for: as it was said, as the column has it, or the usual one of the
/// format.
pub(super) fn kind_of(
    filter: &ForeignFilter,
    column: Option<&Column>,
    format: &KeyFormat,
) -> anyhow::Result<(tamis_foreign::KeyKind, bool)> {
    let said = format.foreign_kind()?;
    let physical = column.and_then(|column| column.chunks.iter().flatten().next());
    if let Some(chunk) = physical {
        let kinds = chunk.physical.key_kinds();
        let usual = kinds.first().copied();
        let kind = said.or(usual).context("a column of truth values has no filter")?;
        if !kinds.contains(&kind) {
            bail!(
                "the column holds {}: its keys are --keys {}, not {kind}",
                chunk.physical,
                kinds.iter().map(|kind| kind.name()).collect::<Vec<_>>().join(" or ")
            );
        }
        return Ok((kind, true));
    }
    if said.is_none() && filter.format() == Format::Rbloom {
        bail!(
            "rbloom does not store its hash. If keys were hashed with SHA-256, of which the first \
             16 bytes were taken, say --keys sha256; else compute the hashes and give them as \
             --keys hash"
        );
    }
    let usual = filter.format().key_kinds().first().copied();
    let kind = said.or(usual).context("a format has some kind of keys")?;
    filter.format().check_key_kind(kind)?;
    // Where there are no other kinds than bytes, there is nothing to say.
    let known = said.is_some() || filter.format().key_kinds().len() == 2;
    Ok((kind, known))
}
