//! `tamis add`: more keys for a filter.

use crate::filters::{self, Access, Contents};
use crate::input::{Input, Reading};
use crate::output::{self, Destination, Integer, Report, count_of, grouped, rate, warn};
use anyhow::bail;
use clap::Args;
use serde::Serialize;
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};
use tamis::{Health, Promise};

/// Add keys to a filter
///
/// The file is replaced in one step: a crash leaves the old filter or the new one.
#[derive(Args)]
#[command(after_help = "\
Examples:
  tamis add seen.tamis today.txt
  echo ant | tamis add seen.tamis
  tamis add --print-new seen.tamis log.txt > fresh.txt    what was never seen, once each

JSON fields: file, keys, certainly_new, estimated_items, exact (whether that is no estimate), \
fpr_now, health.")]
pub(crate) struct Add {
    /// The filter to change
    filter: PathBuf,
    /// Print each key that was certainly not there before: the input without what was seen,
    /// repeats included
    #[arg(long, conflicts_with = "json")]
    print_new: bool,
    /// Take items even past the zone of a zone filter; strangers may pass then
    #[arg(long)]
    beyond: bool,
    /// Print one JSON object
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    access: Access,
    #[command(flatten)]
    input: Input,
}

impl Add {
    pub(crate) fn run(&self) -> anyhow::Result<()> {
        output::check_sources(
            &self.input,
            self.access.dictionary_path().into_iter().chain([&*self.filter]),
        )?;
        if self.print_new && self.filter == Path::new("-") {
            bail!(
                "the filter and the new keys cannot both go to standard output; name a file for \
                 the filter"
            );
        }
        let destination = Destination::in_place(&self.filter)?;
        let mut any = self.access.open(&self.filter, true)?;
        filters::check_changeable(&any)?;
        let format = filters::format_to_add(&any, &self.input.format)?;
        let (mut keys, mut new) = (0, 0);
        let mut out = BufWriter::new(std::io::stdout().lock());
        let reading = if self.print_new || any.promise() == Promise::Zone {
            Reading::InOrder
        } else {
            Reading::AnyOrder
        };
        format.each(&self.input.files, "adding", reading, |batch| {
            keys += batch.len() as u64;
            if !self.print_new {
                new += filters::insert(&mut any, batch, self.beyond)?;
                return Ok(true);
            }
            let added = filters::insert_each(&mut any, batch, self.beyond)?;
            let fresh = batch.printed().into_iter().zip(added).filter(|(_, new)| *new);
            let fresh: Vec<_> = fresh.map(|(text, _)| text).collect();
            new += fresh.len() as u64;
            let printed = fresh
                .iter()
                .try_for_each(|text| format.write(&mut out, text))
                .and_then(|()| out.flush());
            match printed {
                // Keys that nobody received must not be remembered.
                Err(error) if error.kind() == io::ErrorKind::BrokenPipe => bail!(
                    "the reader of the new keys went away before the end; nothing was added to {}",
                    self.filter.display()
                ),
                other => other.map(|()| true).map_err(Into::into),
            }
        })?;
        drop(out);
        destination.save(&any)?;
        let contents = Contents::of(&any);
        let report = AddReport {
            file: self.filter.display().to_string(),
            keys: keys.into(),
            certainly_new: new.into(),
            estimated_items: contents.items,
            exact: contents.exact,
            fpr_now: any.expected_fpr(),
            health: any.health().to_string(),
            text: format!(
                "{}: {} added, {}{} of them new; {contents}; {} plan",
                self.filter.display(),
                count_of(keys, "key"),
                if contents.exact { "" } else { "at least " },
                grouped(new),
                any.health(),
            ),
        };
        if self.print_new {
            // Standard output may be on its way into a file of keys.
            warn(&report.text);
        } else {
            output::report_on(&self.filter, &report, self.json)?;
        }
        if any.health() == Health::Beyond {
            warn(&format!(
                "tamis: warning: the filter is beyond its plan: {} of strangers pass; rebuild it \
                 with more --items",
                rate(any.expected_fpr()),
            ));
        }
        Ok(())
    }
}

#[derive(Serialize)]
struct AddReport {
    file: String,
    keys: Integer,
    certainly_new: Integer,
    estimated_items: f64,
    exact: bool,
    fpr_now: f64,
    health: String,
    #[serde(skip)]
    text: String,
}

impl Report for AddReport {
    fn text(&self) -> String {
        self.text.clone()
    }
}
