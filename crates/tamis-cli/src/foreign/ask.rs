//! Batches of keys in and out of a filter of another program.

use super::open::{Expecting, Found, kind_of, named_column};
use crate::input::{Batch, KeyFormat};
use crate::output::warn;
use anyhow::{Context, bail};
use std::fs::File;
use tamis_foreign::parquet::ParquetFile;
use tamis_foreign::{ForeignFilter, KeyKind};
use tamis_random::SplitMix64;

/// A filter, and how its keys are taken.
pub(crate) struct Asker {
    filter: ForeignFilter,
    kind: KeyKind,
    /// Whether the kind was said, or follows from the file.
    known: bool,
    format: KeyFormat,
}

impl Asker {
    /// The one filter of a file, once the keys that should pass do.
    pub(crate) fn new(
        found: Found,
        row_group: Option<usize>,
        format: &KeyFormat,
        expecting: &Expecting,
    ) -> anyhow::Result<Asker> {
        let (filter, column) = found.one(format.column(), row_group)?;
        let (kind, known) = kind_of(&filter, column.as_ref(), format)?;
        let format = format.for_foreign(kind, column.is_some());
        let asker = Asker { filter, kind, known: known || expecting.is_given(), format };
        expecting.check(&asker)?;
        Ok(asker)
    }

    pub(crate) fn filter(&self) -> &ForeignFilter {
        &self.filter
    }

    pub(crate) fn kind(&self) -> KeyKind {
        self.kind
    }

    /// How to read keys for it.
    pub(crate) fn format(&self) -> &KeyFormat {
        &self.format
    }

    /// What a person should know of the kind of keys that are asked for.
    pub(crate) fn notice(&self) -> Option<String> {
        let others: Vec<&str> = self.filter.format().key_kinds()[1..]
            .iter()
            .filter(|kind| **kind != self.kind)
            .map(|kind| kind.name())
            .collect();
        (!self.known).then(|| {
            format!(
                "keys are taken as {}; the file does not say what they are (--keys {}; --expect \
                 KEY checks it by a member)",
                self.kind,
                others.join(", ")
            )
        })
    }

    fn encode(&self, text: &[u8]) -> anyhow::Result<Vec<u8>> {
        let mut key = Vec::with_capacity(text.len() + 8);
        self.filter.format().encode(self.kind, text, &mut key)?;
        Ok(key)
    }

    /// Whether a key passes that is written as text.
    pub(crate) fn contains_text(&self, text: &[u8]) -> anyhow::Result<bool> {
        let key = self.encode(text)?;
        Ok(passes(&self.filter, self.kind, &key))
    }

    /// The other kinds as which a key would pass.
    pub(crate) fn other_kinds_that_pass(&self, text: &[u8]) -> Vec<&'static str> {
        let format = self.filter.format();
        let passes = |kind: &&KeyKind| {
            let mut key = Vec::new();
            **kind != self.kind
                && format.encode(**kind, text, &mut key).is_ok()
                && passes(&self.filter, **kind, &key)
        };
        format.key_kinds().iter().filter(passes).map(|kind| kind.name()).collect()
    }

    /// The keys of a batch as bytes.
    fn encoded(&self, batch: &Batch) -> anyhow::Result<Vec<Vec<u8>>> {
        let encode = |(index, text)| self.encode(text).with_context(|| batch.place_of(index));
        batch.texts().enumerate().map(encode).collect()
    }

    /// Whether each key of a batch passes.
    pub(crate) fn contains(&self, batch: &Batch) -> anyhow::Result<Vec<bool>> {
        Ok(answers(&self.filter, self.kind, &self.encoded(batch)?))
    }

    /// Puts in the keys of a batch, and says of each whether it was certainly new.
    pub(crate) fn insert(&mut self, batch: &Batch) -> anyhow::Result<Vec<bool>> {
        let keys = self.encoded(batch)?;
        keys.iter()
            .enumerate()
            .map(|(index, key)| self.filter.insert(key).with_context(|| batch.place_of(index)))
            .collect()
    }

    /// How many of so many random strangers pass.
    pub(crate) fn count_random(&self, trials: u64, seed: u64) -> u64 {
        let mut random = SplitMix64::new(seed);
        let (mut asked, mut passed) = (0, 0);
        while asked < trials {
            let keys = random_keys(self.kind, (trials - asked).min(4096), &mut random);
            let slices: Vec<&[u8]> = keys.iter().map(Vec::as_slice).collect();
            let answers = self.filter.contains_many(&slices);
            passed += answers.iter().filter(|passed| **passed).count() as u64;
            asked += keys.len() as u64;
        }
        passed
    }
}

/// Keys that nobody has inserted: 128 random bits, or as many as the kind has.
fn random_keys(kind: KeyKind, count: u64, random: &mut SplitMix64) -> Vec<Vec<u8>> {
    let width = match kind {
        KeyKind::Long | KeyKind::Double => 8,
        KeyKind::Int | KeyKind::Float => 4,
        _ => 16,
    };
    let mut key = || {
        let words = [random.next_u64(), random.next_u64()];
        words.iter().flat_map(|word| word.to_le_bytes()).take(width).collect()
    };
    (0..count).map(|_| key()).collect()
}

fn passes(filter: &ForeignFilter, kind: KeyKind, key: &[u8]) -> bool {
    filter.contains(key) || kind.other_zero(key).is_some_and(|other| filter.contains(&other))
}

fn answers(filter: &ForeignFilter, kind: KeyKind, keys: &[Vec<u8>]) -> Vec<bool> {
    let slices: Vec<&[u8]> = keys.iter().map(Vec::as_slice).collect();
    let mut answers = filter.contains_many(&slices);
    for (answer, key) in answers.iter_mut().zip(keys) {
        *answer = *answer || kind.other_zero(key).is_some_and(|other| filter.contains(&other));
    }
    answers
}

/// The filters of a column of a Parquet file, one for each row group.
pub(crate) struct Groups {
    /// The number of a row group, and its filter if it has one.
    filters: Vec<(usize, Option<ForeignFilter>)>,
    kind: KeyKind,
    format: KeyFormat,
}

impl Groups {
    pub(crate) fn new(
        mut file: ParquetFile<File>,
        row_group: Option<usize>,
        format: &KeyFormat,
        expecting: &Expecting,
    ) -> anyhow::Result<Groups> {
        let column = named_column(&file, format.column())?;
        let all = column.chunks.len();
        if let Some(group) = row_group.filter(|group| *group >= all) {
            bail!("there is no row group {group}; the file has {all}, from 0 on");
        }
        let mut filters = Vec::new();
        for (group, chunk) in column.chunks.iter().enumerate() {
            if row_group.is_some_and(|only| only != group) {
                continue;
            }
            let filter = match chunk {
                Some(chunk) => file.filter(chunk).with_context(|| format!("row group {group}"))?,
                None => None,
            };
            filters.push((group, filter));
        }
        let Some(first) = filters.iter().find_map(|(_, filter)| filter.as_ref()) else {
            bail!("the column {:?} has no filter; all keys may be in it", column.name);
        };
        let (kind, _) = kind_of(first, Some(&column), format)?;
        let format = format.for_foreign(kind, true);
        let groups = Groups { filters, kind, format };
        for key in expecting.keys() {
            let mut encoded = Vec::new();
            tamis_foreign::Format::Parquet.encode(kind, key.as_bytes(), &mut encoded)?;
            if !groups.answers(&[encoded]).iter().any(|group| group[0]) {
                bail!("{key:?} should pass and does not in any row group");
            }
        }
        let without = groups.filters.iter().filter(|(_, filter)| filter.is_none()).count();
        if without > 0 {
            warn(&format!(
                "tamis: notice: {without} of {} row groups have no filter: all keys may be in them",
                groups.filters.len()
            ));
        }
        Ok(groups)
    }

    /// How to read keys for it.
    pub(crate) fn format(&self) -> &KeyFormat {
        &self.format
    }

    pub(crate) fn kind(&self) -> KeyKind {
        self.kind
    }

    /// The numbers of the row groups.
    pub(crate) fn numbers(&self) -> impl Iterator<Item = usize> {
        self.filters.iter().map(|(group, _)| *group)
    }

    /// The share of strangers that passes, by row group.
    pub(crate) fn rates(&self) -> impl Iterator<Item = f64> {
        self.filters
            .iter()
            .map(|(_, filter)| filter.as_ref().map_or(1.0, ForeignFilter::expected_fpr))
    }

    /// For each row group, whether each key of a batch may be in it.
    pub(crate) fn contains(&self, batch: &Batch) -> anyhow::Result<Vec<Vec<bool>>> {
        let encode = |(index, text)| {
            let mut key = Vec::new();
            tamis_foreign::Format::Parquet
                .encode(self.kind, text, &mut key)
                .with_context(|| batch.place_of(index))?;
            Ok(key)
        };
        let keys: Vec<Vec<u8>> =
            batch.texts().enumerate().map(encode).collect::<anyhow::Result<_>>()?;
        Ok(self.answers(&keys))
    }

    fn answers(&self, keys: &[Vec<u8>]) -> Vec<Vec<bool>> {
        self.filters
            .iter()
            .map(|(_, filter)| match filter {
                Some(filter) => answers(filter, self.kind, keys),
                None => vec![true; keys.len()],
            })
            .collect()
    }
}
