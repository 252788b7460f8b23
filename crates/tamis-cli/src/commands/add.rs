//! `tamis add`: more keys for a filter.

use crate::arguments::{count, share, window};
use crate::commands::plan::chain::{rolling_plan, window_text};
use crate::filters::{self, Access, Contents};
use crate::foreign::{self, Asker, Expecting, Found, From};
use crate::input::{Batch, Input, KeyFormat, Reading};
use crate::output::{self, Destination, Integer, Report, count_of, grouped, rate, warn};
use anyhow::{anyhow, bail};
use clap::Args;
use serde::Serialize;
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};
use tamis::rate::Window;
use tamis::{AnyFilter, Error, HashFamily, Health, Promise, Rolling};

/// Add keys to a filter
///
/// The file is replaced in one step: a crash leaves the old filter or the new one.
///
/// With --window, a file that does not exist is made: a rolling filter, which remembers the keys of
/// the last insertions or of the last hours.
#[derive(Args)]
#[command(after_help = "\
Examples:
  tamis add seen.tamis today.txt
  echo ant | tamis add seen.tamis
  tamis add --print-new seen.tamis log.txt > fresh.txt    what was never seen, once each
  tamis add --window 1e8 --print-new last.tamis log.txt   not among the last 10^8 lines
  tamis add --window 24h --items 1e6 day.tamis log.txt    remember them for a day

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
    /// Remember so many keys (1e8), or the keys of a time (24h); the file is made if it is missing
    #[arg(long, value_name = "W", value_parser = window, allow_negative_numbers = true)]
    window: Option<Window>,
    /// How many keys come within a window of time, at most, for a file that is made
    #[arg(long, value_name = "N", value_parser = count, allow_negative_numbers = true)]
    #[arg(requires = "window")]
    items: Option<u64>,
    /// The share of strangers that may pass, for a file that is made [default: 0.01]
    #[arg(long, value_name = "P", value_parser = share, allow_negative_numbers = true)]
    #[arg(requires = "window")]
    fpr: Option<f64>,
    /// Print one JSON object
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    expecting: Expecting,
    #[command(flatten)]
    from: From,
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
        match self.from.open(&self.filter, self.access.memory())? {
            Some(found) => return self.add_foreign(found, &destination),
            None => self.expecting.check_unused()?,
        }
        let mut any = match self.window {
            Some(window) if !is_there(&self.filter) => self.new_rolling(window)?,
            _ => self.access.open(&self.filter, true)?,
        };
        filters::check_changeable(&any)?;
        self.check_window(&any)?;
        let format = filters::format_to_add(&any, &self.input.format)?;
        let (mut keys, mut new) = (0, 0);
        let mut out = BufWriter::new(std::io::stdout().lock());
        let in_order = any.promise() == Promise::Zone || matches!(any, AnyFilter::Rolling(_));
        let reading = if self.print_new || in_order { Reading::InOrder } else { Reading::AnyOrder };
        format.each(&self.input.files, "adding", reading, |batch| {
            keys += batch.len() as u64;
            if let AnyFilter::Rolling(rolling) = &mut any {
                rolling.advance(filters::now());
            }
            if !self.print_new {
                new += filters::insert(&mut any, batch, self.beyond)
                    .map_err(|error| self.offer_to_grow(error))?;
                return Ok(true);
            }
            let added = filters::insert_each(&mut any, batch, self.beyond)
                .map_err(|error| self.offer_to_grow(error))?;
            new += added.iter().map(|new| u64::from(*new)).sum::<u64>();
            self.print_new_keys(&format, batch, &added, &mut out)?;
            Ok(true)
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
            let remedy = match any {
                AnyFilter::Rolling(_) => "until they are forgotten; a new one needs more --items",
                _ => "rebuild it with more --items",
            };
            warn(&format!(
                "tamis: warning: the filter is beyond its plan: {} of strangers pass; {remedy}",
                rate(any.expected_fpr()),
            ));
        }
        Ok(())
    }

    /// Says how to make room in a quotient filter.
    fn offer_to_grow(&self, error: anyhow::Error) -> anyhow::Error {
        match error.downcast_ref::<Error>() {
            Some(Error::NoSlot { items, .. }) => anyhow!(
                "{} is full: it holds {}, and nothing was added; make room first: tamis grow {} \
                 --items {}",
                self.filter.display(),
                count_of(*items, "key"),
                self.filter.display(),
                items.saturating_mul(2)
            ),
            _ => error,
        }
    }

    /// A new filter that forgets.
    fn new_rolling(&self, window: Window) -> anyhow::Result<AnyFilter> {
        let plan = rolling_plan(window, self.items, self.fpr.unwrap_or(0.01))?;
        if let Some(most) = self.access.max_memory() {
            plan.check_memory(most)?;
        }
        let hash = self.access.secret()?.map(HashFamily::keyed).unwrap_or_default();
        let mut rolling = Rolling::with_plan(plan, hash)?;
        rolling.limit_memory(self.access.max_memory());
        rolling.advance(filters::now());
        Ok(rolling.into())
    }

    /// Refuses a window that the filter does not have: the same command can be given again and
    /// again, and another one is a mistake.
    fn check_window(&self, any: &AnyFilter) -> anyhow::Result<()> {
        let Some(window) = self.window else { return Ok(()) };
        let AnyFilter::Rolling(rolling) = any else {
            bail!(
                "{} is a {} filter, which has no window; leave --window out, or name another file",
                self.filter.display(),
                any.kind()
            );
        };
        let plan = rolling.plan();
        if plan.window() != window {
            bail!(
                "{} remembers the last {}, not the last {}; leave --window out, or name another \
                 file",
                self.filter.display(),
                window_text(plan.window()),
                window_text(window)
            );
        }
        let items = self.items.unwrap_or(plan.items());
        let fpr = self.fpr.unwrap_or(plan.fpr());
        if items != plan.items() || fpr != plan.fpr() {
            bail!(
                "{} is planned for {} at a rate of {}; leave --items and --fpr out, or name \
                 another file",
                self.filter.display(),
                count_of(plan.items(), "item"),
                rate(plan.fpr())
            );
        }
        Ok(())
    }

    /// Prints the keys that were certainly not there before.
    fn print_new_keys(
        &self,
        format: &KeyFormat,
        batch: &Batch,
        added: &[bool],
        out: &mut impl Write,
    ) -> anyhow::Result<()> {
        let fresh = batch.printed().into_iter().zip(added).filter(|(_, new)| **new);
        let printed = fresh
            .map(|(text, _)| text)
            .try_for_each(|text| format.write(out, text))
            .and_then(|()| out.flush());
        match printed {
            // Keys that nobody received must not be remembered.
            Err(error) if error.kind() == io::ErrorKind::BrokenPipe => bail!(
                "the reader of the new keys went away before the end; nothing was added to {}",
                self.filter.display()
            ),
            other => Ok(other?),
        }
    }

    /// Adds to a filter of another program, which is written again in its own form.
    fn add_foreign(&self, found: Found, destination: &Destination) -> anyhow::Result<()> {
        if self.window.is_some() {
            bail!("--window goes with rolling filters of tamis; leave it out");
        }
        if matches!(found, Found::Parquet(_)) {
            bail!(
                "the filters within a Parquet file belong to its data, and take no keys; its \
                 writer makes them"
            );
        }
        let mut asker = Asker::new(found, None, &self.input.format, &self.expecting)?;
        if let Some(notice) = asker.notice() {
            warn(&format!("tamis: notice: {notice}"));
        }
        let (mut keys, mut new) = (0, 0);
        let mut out = BufWriter::new(std::io::stdout().lock());
        let format = asker.format().clone();
        format.each(&self.input.files, "adding", Reading::InOrder, |batch| {
            keys += batch.len() as u64;
            let added = asker.insert(batch)?;
            new += added.iter().map(|new| u64::from(*new)).sum::<u64>();
            if self.print_new {
                self.print_new_keys(&format, batch, &added, &mut out)?;
            }
            Ok(true)
        })?;
        drop(out);
        let filter = asker.filter();
        destination.save_bytes(&filter.to_bytes()?)?;
        let report = AddReport {
            file: self.filter.display().to_string(),
            keys: keys.into(),
            certainly_new: new.into(),
            estimated_items: filter.estimated_items(),
            exact: false,
            fpr_now: filter.expected_fpr(),
            health: filter.health().to_string(),
            text: format!(
                "{}: {} added, at least {} of them new; {}; {} plan",
                self.filter.display(),
                count_of(keys, "key"),
                grouped(new),
                foreign::contents(filter),
                filter.health(),
            ),
        };
        if self.print_new {
            warn(&report.text);
        } else {
            output::report_on(&self.filter, &report, self.json)?;
        }
        if let Some(warning) = foreign::beyond_warning(filter) {
            warn(&warning);
        }
        Ok(())
    }
}

/// Whether there is a filter to change.
fn is_there(path: &Path) -> bool {
    path == Path::new("-") || path.exists()
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
