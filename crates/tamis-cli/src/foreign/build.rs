//! `tamis build rate --as`: a filter that another program reads.

use super::beyond_warning;
use crate::arguments::MemoryLimit;
use crate::input::{Input, Reading};
use crate::output::{self, Destination, Integer, Report, count_of, grouped, rate, warn};
use anyhow::{Context, bail};
use serde::Serialize;
use std::path::Path;
use tamis_foreign::{ForeignFilter, Format, KeyKind, Plan, Target};

/// What to build.
pub(crate) struct BuildForeign<'a> {
    pub(crate) target: Target,
    /// Counted, if it is not said.
    pub(crate) items: Option<u64>,
    pub(crate) fpr: f64,
    pub(crate) input: &'a Input,
    pub(crate) memory: &'a MemoryLimit,
    pub(crate) destination: Destination,
    pub(crate) output: &'a Path,
    pub(crate) json: bool,
}

impl BuildForeign<'_> {
    /// The kind of keys: as it was said, or the usual one of the format.
    fn kind(&self) -> anyhow::Result<KeyKind> {
        let format = self.target.format;
        let said = self.input.format.foreign_kind()?;
        if said.is_none() && format == Format::Rbloom {
            bail!(
                "rbloom takes hashes of 128 bits; say which: --keys sha256 hashes text with \
                 SHA-256, --keys hash takes hashes as they are"
            );
        }
        let kind = said.or(format.key_kinds().first().copied());
        let kind = kind.context("a format has some kind of keys")?;
        format.check_key_kind(kind)?;
        Ok(kind)
    }

    pub(crate) fn run(&self) -> anyhow::Result<()> {
        let format = self.target.format;
        let kind = self.kind()?;
        let reading = self.input.format.for_foreign(kind, false);
        let items = match self.items {
            Some(items) => items,
            None => self.input.count(&reading)?,
        };
        let plan = Plan::with_form(self.target, items, self.fpr)?;
        if let Some(allowed) = self.memory.bytes().filter(|max| plan.bytes() > *max) {
            let needed = plan.bytes();
            return Err(tamis_foreign::Error::Memory { needed, allowed: Some(allowed) }.into());
        }
        let mut filter = ForeignFilter::with_plan(&plan)?;
        let (mut keys, mut new) = (0u64, 0u64);
        let mut key = Vec::new();
        // A chain depends on the order of its keys.
        reading.each(&self.input.files, "building", Reading::InOrder, |batch| {
            keys += batch.len() as u64;
            for (index, text) in batch.texts().enumerate() {
                key.clear();
                let inserted =
                    format.encode(kind, text, &mut key).and_then(|()| filter.insert(&key));
                new += u64::from(inserted.with_context(|| batch.place_of(index))?);
            }
            Ok(true)
        })?;
        let bytes = filter.to_bytes()?;
        self.destination.save_bytes(&bytes)?;
        let report = BuildReport {
            file: self.output.display().to_string(),
            format: format.name(),
            variant: filter.variant(),
            asked: kind.name(),
            keys: keys.into(),
            certainly_new: new.into(),
            items: plan.items().into(),
            fpr: plan.fpr(),
            bits: plan.bits().into(),
            hashes: plan.hashes(),
            file_bytes: (bytes.len() as u64).into(),
            expected_fpr: plan.expected_fpr(plan.items()),
            health: filter.health().to_string(),
            estimated_items: filter.estimated_items(),
            fill: filter.fill(),
            fpr_now: filter.expected_fpr(),
            text: format!(
                "{}: a {} filter ({}), {}, {}\n\
                 keys      {} read as {kind}, at least {} of them distinct\n\
                 promise   every one of them passes; of strangers, about {} now, and {} with {}\n\
                 health    {} plan",
                self.output.display(),
                plan.target(),
                format.program(),
                filter.variant(),
                count_of(bytes.len() as u64, "byte"),
                grouped(keys),
                grouped(new),
                rate(filter.expected_fpr()),
                rate(plan.expected_fpr(plan.items())),
                count_of(plan.items(), "item"),
                filter.health(),
            ),
        };
        output::report_on(self.output, &report, self.json)?;
        if let Some(warning) = beyond_warning(&filter) {
            warn(&warning);
        }
        Ok(())
    }
}

#[derive(Serialize)]
struct BuildReport {
    file: String,
    format: &'static str,
    variant: String,
    asked: &'static str,
    keys: Integer,
    certainly_new: Integer,
    items: Integer,
    fpr: f64,
    bits: Integer,
    hashes: u32,
    file_bytes: Integer,
    expected_fpr: f64,
    health: String,
    estimated_items: f64,
    fill: f64,
    fpr_now: f64,
    #[serde(skip)]
    text: String,
}

impl Report for BuildReport {
    fn text(&self) -> String {
        self.text.clone()
    }
}
