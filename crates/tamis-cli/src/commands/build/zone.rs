//! `tamis build zone`: a filter that is never wrong, up to d items of a finite universe.

use crate::arguments::{MemoryLimit, dictionary_file, universe};
use crate::commands::plan::zone::ZoneSize;
use crate::filters::{self, Contents};
use crate::input::{Input, Reading};
use crate::output::{self, Integer, Report, Target, count_of, grouped};
use anyhow::{Context, bail};
use clap::Args;
use serde::Serialize;
use std::collections::HashSet;
use std::path::Path;
use tamis::AnyFilter;
use tamis::zone::{CountingFilter, Filter, Universe};
use tamis_facts::ZoneFacts;

/// Nobody is answered wrongly, up to d items of a finite universe
#[derive(Args)]
#[command(after_help = "\
Universes: 65536 (0 to 65535), 1..48, 2^128, ipv4, 10.0.0.0/8, ipv6, 2001:db8::/32, uuid, mac,
hex:20 (codes of 20 hexadecimal digits), ipv4-prefixes, ipv6-prefixes:48, dictionary:FILE (its
lines).
Without --items, files are read twice: first to count their distinct items.

Examples:
  tamis build zone --universe 1..606 --items 3 -o tags.tamis tags.txt
  tamis build zone --universe 10.0.0.0/8 --items 4 --counting -o hosts.tamis hosts.txt
  tamis build zone --universe dictionary:words.txt --items 10 -o chosen.tamis chosen.txt

JSON fields: file, keys, len, len_is_exact, health, and those of `plan zone`.")]
pub(crate) struct BuildZone {
    #[command(flatten)]
    size: ZoneSize,
    /// Take items even past the zone; strangers may pass then
    #[arg(long)]
    beyond: bool,
    #[command(flatten)]
    memory: MemoryLimit,
    #[command(flatten)]
    target: Target,
    #[command(flatten)]
    input: Input,
}

impl BuildZone {
    pub(crate) fn run(&self) -> anyhow::Result<()> {
        let text = self.size.universe.as_deref();
        let dictionary = text.and_then(dictionary_file);
        output::check_sources(&self.input, dictionary)?;
        let dictionary = dictionary.map(Path::to_owned);
        let destination = self.target.destination(self.input.files.iter().chain(&dictionary))?;
        let universe = universe(text.context(
            "a zone filter needs its --universe: 65536, 1..48, ipv4, ipv6, uuid or dictionary:FILE",
        )?)?;
        let items = match self.size.items {
            Some(items) => items,
            None if self.input.can_be_counted() => self.distinct(&universe)?.max(1),
            None => bail!(
                "standard input and pipes cannot be read twice to count their items; say how many: \
                 --items D"
            ),
        };
        let plan = self.size.plan(universe, items)?;
        if let Some(most) = self.memory.bytes() {
            plan.check_memory(most)?;
        }
        let mut any = if plan.is_counting() {
            AnyFilter::from(CountingFilter::with_plan(plan)?)
        } else {
            AnyFilter::from(Filter::with_plan(plan)?)
        };
        let mut keys = 0;
        let format = filters::format_to_add(&any, &self.input.format)?;
        format.each(&self.input.files, "building", Reading::InOrder, |batch| {
            keys += batch.len() as u64;
            filters::insert(&mut any, batch, self.beyond)?;
            Ok(true)
        })?;
        destination.save(&any)?;
        self.report(&any, keys)
    }

    fn distinct(&self, universe: &Universe) -> anyhow::Result<u64> {
        let mut numbers = HashSet::new();
        self.input.format.for_universe(universe)?.each(
            &self.input.files,
            "counting",
            Reading::AnyOrder,
            |batch| {
                for (index, text) in batch.texts().enumerate() {
                    let number = universe.number_of_text(text);
                    numbers.insert(number.with_context(|| batch.place_of(index))?);
                }
                Ok(true)
            },
        )?;
        Ok(numbers.len() as u64)
    }

    fn report(&self, any: &AnyFilter, keys: u64) -> anyhow::Result<()> {
        let Some(plan) = any.plan().zone() else { return Ok(()) };
        let contents = Contents::of(any);
        let text = format!(
            "{}: a {} filter of {} ({}, code {}, {})\n\
             keys      {} read; it holds {contents}\n\
             promise   {}\n\
             health    {} its zone of {}",
            self.target.output.display(),
            any.kind(),
            count_of(plan.bytes(), "byte"),
            count_of(plan.bits(), "bit"),
            plan.code(),
            count_of(plan.probes(), "probe"),
            grouped(keys),
            filters::zone_promise(any),
            any.health(),
            count_of(plan.items(), "item"),
        );
        let report = BuildReport {
            file: self.target.output.display().to_string(),
            keys: keys.into(),
            len: any.len().unwrap_or_default().into(),
            len_is_exact: any.len_is_exact(),
            health: any.health().to_string(),
            plan: ZoneFacts::new(plan),
            text,
        };
        output::report_on(&self.target.output, &report, self.target.json)
    }
}

#[derive(Serialize)]
struct BuildReport {
    file: String,
    keys: Integer,
    len: Integer,
    len_is_exact: bool,
    health: String,
    #[serde(flatten)]
    plan: ZoneFacts,
    #[serde(skip)]
    text: String,
}

impl Report for BuildReport {
    fn text(&self) -> String {
        self.text.clone()
    }
}
