//! `tamis ledger`: what releases may cost in all, and what they have.

use crate::filter::Target;
use crate::output::{self, integer, object};
use crate::plan_privacy::{self, PrivatePlan, decimal};
use anyhow::Context;
use clap::{Args, Subcommand};
use serde_json::{Value, json};
use std::path::{Path, PathBuf};
use tamis::privacy::{Epsilon, Ledger as Book};

/// Keep a budget of privacy losses
///
/// Releases of the same data add up. A ledger is charged before a release exists, refuses what is
/// past its budget, and never gives back.
#[derive(Args)]
pub(crate) struct Ledger {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    New(New),
    Show(Show),
    Repair(Repair),
}

/// Start a ledger
#[derive(Args)]
#[command(after_help = "\
Examples:
  tamis ledger new suspects.ledger --budget 8 --about 'suspects, quarterly'

JSON fields: those of `ledger show`.")]
struct New {
    /// The file; one that exists is left alone
    ledger: PathBuf,
    /// The largest loss you accept in all
    #[arg(long, value_name = "E", value_parser = plan_privacy::epsilon, allow_negative_numbers = true)]
    budget: Epsilon,
    /// What it is for, in a line
    #[arg(long, value_name = "TEXT", default_value = "")]
    about: String,
    /// Print one JSON object
    #[arg(long)]
    json: bool,
}

/// Show what was spent and what is left
#[derive(Args)]
#[command(after_help = "\
Examples:
  tamis ledger show suspects.ledger
  tamis ledger show --json suspects.ledger | jq .left

JSON fields: file, about, budget, spent, left, entries (sequence, epsilon, time, note).")]
struct Show {
    /// The ledger
    ledger: PathBuf,
    /// Print one JSON object
    #[arg(long)]
    json: bool,
}

/// Make a torn or damaged ledger whole, counting as spent whatever cannot be read
#[derive(Args)]
#[command(after_help = "\
Restore a good copy if you have one. Else the lines up to the damage stay, and the rest counts as one charge: of the amount that \
was being written where that can be read, of all that is left where it cannot.

JSON fields: those of `ledger show`.")]
struct Repair {
    /// The ledger
    ledger: PathBuf,
    /// Print one JSON object
    #[arg(long)]
    json: bool,
}

impl Ledger {
    pub(crate) fn run(&self) -> anyhow::Result<()> {
        match &self.command {
            Command::New(new) => {
                let book = Book::create(&new.ledger, new.budget, &new.about)
                    .with_context(|| format!("cannot start {}", new.ledger.display()))?;
                show(&new.ledger, &book, new.json)
            }
            Command::Show(asked) => show(&asked.ledger, &open(&asked.ledger)?, asked.json),
            Command::Repair(asked) => {
                let book = Book::repair(&asked.ledger)
                    .with_context(|| format!("cannot repair {}", asked.ledger.display()))?;
                show(&asked.ledger, &book, asked.json)
            }
        }
    }
}

fn open(path: &Path) -> anyhow::Result<Book> {
    match Book::open(path) {
        Err(tamis::Error::Torn { line }) => Err(tamis::Error::Torn { line }).with_context(|| {
            format!("{} (to repair it: tamis ledger repair {})", path.display(), path.display())
        }),
        Err(tamis::Error::Io(error)) if error.kind() == std::io::ErrorKind::NotFound => {
            anyhow::bail!(
                "there is no ledger {}; start it with tamis ledger new {} --budget E",
                path.display(),
                path.display()
            )
        }
        other => other.with_context(|| format!("cannot read {}", path.display())),
    }
}

fn show(path: &Path, book: &Book, json: bool) -> anyhow::Result<()> {
    if json {
        let entries: Vec<Value> = book
            .entries()
            .iter()
            .map(|entry| {
                Value::Object(object([
                    ("sequence", integer(entry.sequence)),
                    ("epsilon", decimal(entry.epsilon)),
                    ("time", json!(entry.time.to_string())),
                    ("note", json!(entry.note)),
                ]))
            })
            .collect();
        return output::print_json(object([
            ("file", json!(path.display().to_string())),
            ("about", json!(book.about())),
            ("budget", decimal(book.budget())),
            ("spent", decimal(book.spent())),
            ("left", decimal(book.left())),
            ("entries", json!(entries)),
        ]));
    }
    let about =
        if book.about().is_empty() { String::new() } else { format!(" ({})", book.about()) };
    let mut text = format!(
        "{}{about}\nbudget    {}\nspent     {} in {}\nleft      {}",
        path.display(),
        book.budget(),
        book.spent(),
        output::of(book.entries().len() as u64, "charge"),
        book.left(),
    );
    for entry in book.entries() {
        text.push_str(&format!(
            "\n  {:>4}  {:>11}  {}  {}",
            entry.sequence, entry.epsilon, entry.time, entry.note
        ));
    }
    output::print(&text)
}

/// What pays for a release.
#[derive(Args)]
pub(crate) struct Payment {
    /// The ledger to charge before the release exists; past its budget nothing is released
    #[arg(long, value_name = "FILE")]
    pub(crate) ledger: Option<PathBuf>,
}

impl Payment {
    /// Charges for a release into `output`. Without a ledger, says that somebody should keep one.
    pub(crate) fn charge(&self, epsilon: Epsilon, output: &Path) -> anyhow::Result<Paid> {
        let Some(path) = &self.ledger else {
            output::complain(&format!(
                "tamis: notice: no --ledger, so nothing adds up what is spent: each further release of these keys costs another {epsilon}"
            ));
            return Ok(Paid { left: None });
        };
        let note = if output == Path::new("-") {
            "standard output".into()
        } else {
            output.to_string_lossy()
        };
        let receipt = open(path)?
            .charge(epsilon, &note)
            .with_context(|| format!("{} does not pay for this release", path.display()))?;
        Ok(Paid { left: Some(receipt.left) })
    }
}

/// What was paid for a release.
#[derive(Default)]
pub(crate) struct Paid {
    /// What is left of the budget of the ledger that was charged.
    left: Option<Epsilon>,
}

impl Paid {
    /// Reports a release that was written to the target.
    pub(crate) fn report<const N: usize>(
        &self,
        target: &Target,
        plan: &PrivatePlan,
        own: [(&str, Value); N],
    ) -> anyhow::Result<()> {
        let file = target.output.display();
        if target.json {
            let mut fields = object([("file", json!(file.to_string()))]);
            fields.extend(object(own));
            fields.extend(object([
                ("charged", json!(self.left.is_some())),
                ("left", self.left.map_or(json!(null), decimal)),
            ]));
            fields.extend(plan.fields());
            return output::report_json(&target.output, fields);
        }
        let paid =
            self.left.map_or(String::new(), |left| format!("\nledger    charged; {left} is left"));
        output::report(&target.output, &format!("{file}: may be published\n{}{paid}", plan.lines()))
    }
}
