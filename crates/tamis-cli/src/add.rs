//! `tamis add`: more keys for a filter.

use crate::filter::{self, Access, Contents, Lock};
use crate::input::Input;
use crate::output::{self, grouped, integer, number, object, rate};
use anyhow::bail;
use clap::Args;
use serde_json::json;
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};
use tamis::Health;

/// Add keys to a filter
///
/// The file is replaced in one step: a crash leaves the old filter or the new one.
#[derive(Args)]
#[command(after_help = "\
Examples:
  tamis add seen.tamis today.txt
  echo ant | tamis add seen.tamis
  tamis add --print-new seen.tamis log.txt > fresh.txt    deduplicate: what was never seen, once each

JSON fields: file, keys, certainly_new, estimated_items, exact (whether that is no estimate), fpr_now, \
health.")]
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
        filter::check_sources(&self.filter, &self.input)?;
        if self.print_new && self.filter == Path::new("-") {
            bail!(
                "the filter and the new keys cannot both go to standard output; name a file for the filter"
            );
        }
        let _lock = Lock::new(&self.filter)?;
        let mut any = self.access.open(&self.filter, true)?;
        filter::check_unpublished(&any)?;
        let manner = filter::suited(&any, &self.input.manner)?;
        let (mut keys, mut new) = (0, 0);
        let mut out = BufWriter::new(std::io::stdout().lock());
        manner.each(&self.input.files, "adding", false, |batch| {
            keys += batch.len() as u64;
            if !self.print_new {
                new += filter::insert(&mut any, batch, self.beyond)?;
                return Ok(true);
            }
            let added = filter::insert_each(&mut any, batch, self.beyond)?;
            let fresh = batch.printed().into_iter().zip(added).filter(|(_, new)| *new);
            let fresh: Vec<_> = fresh.map(|(text, _)| text).collect();
            new += fresh.len() as u64;
            let printed = fresh
                .iter()
                .try_for_each(|text| manner.write(&mut out, text))
                .and_then(|()| out.flush());
            match printed {
                // Whoever read along has seen enough; the keys are to be added all the same.
                Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(true),
                other => other.map(|()| true).map_err(Into::into),
            }
        })?;
        drop(out);
        filter::save(&any, &self.filter)?;
        let contents = Contents::of(&any);
        if self.json {
            output::report_json(
                &self.filter,
                object([
                    ("file", json!(self.filter.display().to_string())),
                    ("keys", integer(keys)),
                    ("certainly_new", integer(new)),
                    ("estimated_items", number(contents.items)),
                    ("exact", json!(contents.exact)),
                    ("fpr_now", number(any.expected_fpr())),
                    ("health", json!(any.health().to_string())),
                ]),
            )?;
        } else {
            let text = format!(
                "{}: {} added, {}{} of them new; {contents}; {} plan",
                self.filter.display(),
                output::of(keys, "key"),
                if contents.exact { "" } else { "at least " },
                grouped(new),
                any.health(),
            );
            // What is printed may be on its way into a file of keys.
            if self.print_new {
                output::complain(&text)
            } else {
                output::report(&self.filter, &text)?
            }
        }
        if any.health() == Health::Beyond {
            output::complain(&format!(
                "tamis: warning: the filter is beyond its plan: {} of strangers pass; rebuild it with more --items",
                rate(any.expected_fpr()),
            ));
        }
        Ok(())
    }
}
