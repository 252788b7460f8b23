//! `tamis list`: what a zone filter holds.

use crate::filters::Opening;
use crate::output::{self, Report, count_of, progress, warn};
use anyhow::bail;
use clap::{Args, ValueEnum};
use serde::Serialize;
use std::io::{BufWriter, Write};
use std::ops::ControlFlow;
use std::path::PathBuf;
use tamis::zone::Method;
use tamis_facts::ListFacts;

/// Print what a zone filter holds, one element a line
///
/// Within its zone the list is exact. Beyond it, all elements that pass are listed: every item is
/// among them, and others may be; standard error says so.
#[derive(Args)]
#[command(after_help = "\
Exit code: 0 something was listed, 1 the filter is empty, 2 an error.

Examples:
  tamis list suspects.tamis
  tamis list --method sturm tags.tamis          as the EGH paper lists (with counters)

JSON fields: file, exact, len, elements.")]
pub(crate) struct List {
    /// The filter
    filter: PathBuf,
    /// How to find the list [default: the fastest]
    #[arg(long, value_enum)]
    method: Option<ListMethod>,
    /// End each element with a NUL byte instead of a line end
    #[arg(short = '0', long, conflicts_with = "json")]
    null: bool,
    /// Print one JSON object
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    opening: Opening,
}

#[derive(ValueEnum, Clone, Copy)]
enum ListMethod {
    /// Join the occupied positions of a few blocks into candidates and test each
    Join,
    /// Solve for the elements from counters
    Algebra,
    /// Solve for the elements from bits, beginning with the blocks in which no two items meet
    Peel,
    /// The EGH paper's own way from counters: slow, for reference
    Sturm,
}

impl List {
    /// Whether anything was listed.
    pub(crate) fn run(&self) -> anyhow::Result<bool> {
        let any = self.opening.open(&self.filter)?;
        let Some(plan) = any.plan().zone() else {
            bail!(
                "{} is a {} filter, which cannot list what it holds; only zone filters can (tamis \
                 build zone)",
                self.filter.display(),
                any.kind()
            );
        };
        let method = self.method.map(|method| match method {
            ListMethod::Join => Method::Join,
            ListMethod::Algebra => Method::Algebra,
            ListMethod::Peel => Method::Peel,
            ListMethod::Sturm => Method::Sturm,
        });
        // A large filter may take long. Ctrl-C ends it: nothing is written that could be torn.
        let bar = progress::spinner("listing");
        let list = any.list_with(method, &mut |done| {
            bar.set_message(format!("{:.0}%", 100.0 * done.share()));
            ControlFlow::Continue(())
        });
        bar.finish_and_clear();
        let list = list?;
        let universe = plan.universe();
        let names = list.numbers.iter().map(|number| universe.name(*number));
        if self.json {
            let file = self.filter.display().to_string();
            let report = ListReport { file, list: ListFacts::new(&list, universe) };
            output::print_report(&report, true)?;
        } else {
            let mut out = BufWriter::new(std::io::stdout().lock());
            for name in names {
                out.write_all(&name)?;
                out.write_all(if self.null { b"\0" } else { b"\n" })?;
            }
            out.flush()?;
        }
        if !list.exact {
            warn(&format!(
                "tamis: warning: {} is beyond its zone of {}: all its items are listed, but others \
                 may be too",
                self.filter.display(),
                count_of(plan.items(), "item")
            ));
        }
        Ok(!list.numbers.is_empty())
    }
}

#[derive(Serialize)]
struct ListReport {
    file: String,
    #[serde(flatten)]
    list: ListFacts,
}

impl Report for ListReport {
    fn text(&self) -> String {
        self.list.elements().join("\n")
    }
}
