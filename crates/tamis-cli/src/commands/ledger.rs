//! `tamis ledger`: what releases may cost in all, and what they have.

use super::plan::privacy::lines;
use crate::arguments::epsilon;
use crate::output::{self, Integer, Report, Target, count_of, warn};
use anyhow::Context;
use clap::{Args, Subcommand};
use serde::Serialize;
use std::path::{Path, PathBuf};
use tamis::privacy::{Delta, Epsilon, Ledger as Book, LedgerError, Receipt};
use tamis_facts::{PrivacyFacts, PrivatePlan};

/// Keep a budget of privacy losses
///
/// Releases of the same data add up. A ledger is charged before a release exists, refuses what is
/// past its budget, and never gives back.
#[derive(Args)]
#[command(after_help = "\
Examples:
  tamis ledger new suspects.ledger --budget 8
  tamis publish private.tamis --epsilon 4 --ledger suspects.ledger -o public.tamis
  tamis ledger show suspects.ledger")]
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
  tamis ledger new daily.ledger --budget 5 --delta 1e-6

JSON fields: those of `ledger show`.")]
struct New {
    /// The file; one that exists is left alone
    ledger: PathBuf,
    /// The largest loss you accept in all
    #[arg(long, value_name = "E", value_parser = epsilon, allow_negative_numbers = true)]
    budget: Epsilon,
    /// Allow a larger loss with at most this chance; many small releases then cost less than their
    /// sum
    // A negative exponent makes clap take -1e-6 for an option.
    #[arg(long, value_name = "D", allow_hyphen_values = true)]
    delta: Option<Delta>,
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
  tamis ledger show daily.ledger --release 0.1

JSON fields: file, about, budget, delta, spent, sum, left, release (epsilon, count: how many more \
fit, counted up to 10000), entries (sequence, epsilon, time, note).")]
struct Show {
    /// The ledger
    ledger: PathBuf,
    /// Say how many more releases of this loss fit; without it, of the last one's
    #[arg(long, value_name = "E", value_parser = epsilon, allow_negative_numbers = true)]
    release: Option<Epsilon>,
    /// Print one JSON object
    #[arg(long)]
    json: bool,
}

/// Make a torn or damaged ledger whole, counting as spent whatever cannot be read
#[derive(Args)]
#[command(after_help = "\
Restore a good copy if you have one. Else the lines up to the damage stay, and the rest counts as \
one charge: of the amount that was being written where that can be read, of all that is left \
where it cannot.

Examples:
  tamis ledger repair suspects.ledger

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
                let book = match new.delta {
                    None => Book::create(&new.ledger, new.budget, &new.about),
                    Some(delta) => {
                        Book::create_with_delta(&new.ledger, new.budget, delta, &new.about)
                    }
                };
                let book =
                    book.with_context(|| format!("cannot start {}", new.ledger.display()))?;
                show(&new.ledger, &book, None, new.json)
            }
            Command::Show(asked) => {
                show(&asked.ledger, &open(&asked.ledger)?, asked.release, asked.json)
            }
            Command::Repair(asked) => {
                let book = Book::repair(&asked.ledger)
                    .with_context(|| format!("cannot repair {}", asked.ledger.display()))?;
                show(&asked.ledger, &book, None, asked.json)
            }
        }
    }
}

fn open(path: &Path) -> anyhow::Result<Book> {
    match Book::open(path) {
        Err(tamis::Error::Ledger(torn @ LedgerError::Torn { .. })) => Err(tamis::Error::from(torn))
            .with_context(|| {
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

#[derive(Serialize)]
struct LedgerReport<'a> {
    file: String,
    about: &'a str,
    budget: f64,
    delta: Option<f64>,
    spent: f64,
    sum: f64,
    left: f64,
    release: Option<ReleaseSize>,
    entries: Vec<EntryReport<'a>>,
    #[serde(skip)]
    book: &'a Book,
}

/// How many more releases of a loss fit.
#[derive(Serialize)]
struct ReleaseSize {
    epsilon: f64,
    count: Integer,
    #[serde(skip)]
    text: String,
}

/// Up to how many further releases are counted.
const MAX_COUNTED: u64 = 10_000;

impl ReleaseSize {
    fn new(book: &Book, epsilon: Epsilon) -> ReleaseSize {
        let count = book.charges_left(epsilon, MAX_COUNTED);
        let number =
            if count == MAX_COUNTED { format!("{MAX_COUNTED} or more") } else { count.to_string() };
        let text = format!("{number} more at {epsilon}");
        ReleaseSize { epsilon: epsilon.to_f64(), count: count.into(), text }
    }
}

#[derive(Serialize)]
struct EntryReport<'a> {
    sequence: Integer,
    epsilon: f64,
    time: String,
    note: &'a str,
}

fn show(path: &Path, book: &Book, release: Option<Epsilon>, json: bool) -> anyhow::Result<()> {
    if release == Some(Epsilon::ZERO) {
        anyhow::bail!("--release 0 costs nothing, so any number fits; give the loss of a release");
    }
    let release = release.or_else(|| book.entries().last().map(|entry| entry.epsilon));
    let entries = book.entries().iter().map(|entry| EntryReport {
        sequence: entry.sequence.into(),
        epsilon: entry.epsilon.to_f64(),
        time: entry.time.to_string(),
        note: &entry.note,
    });
    let report = LedgerReport {
        file: path.display().to_string(),
        about: book.about(),
        budget: book.budget().to_f64(),
        delta: book.delta().map(Delta::to_f64),
        spent: book.spent().to_f64(),
        sum: book.sum().to_f64(),
        release: release.map(|epsilon| ReleaseSize::new(book, epsilon)),
        left: book.left().to_f64(),
        entries: entries.collect(),
        book,
    };
    output::print_report(&report, json)
}

impl Report for LedgerReport<'_> {
    fn text(&self) -> String {
        let book = self.book;
        let about =
            if book.about().is_empty() { String::new() } else { format!(" ({})", book.about()) };
        let delta =
            book.delta().map_or(String::new(), |delta| format!(", but for a chance of {delta}"));
        let mut text = format!(
            "{}{about}\nbudget    {}{delta}\nspent     {} in {}{}\nleft      {}",
            self.file,
            book.budget(),
            book.spent(),
            count_of(book.entries().len() as u64, "charge"),
            gain(book),
            book.left(),
        );
        if let Some(release) = &self.release {
            text.push_str(&format!("\nfits      {}", release.text));
        }
        for entry in book.entries() {
            text.push_str(&format!(
                "\n  {:>4}  {:>11}  {}  {}",
                entry.sequence, entry.epsilon, entry.time, entry.note
            ));
        }
        text
    }
}

/// What a delta gains over adding up. Below a thousandth it is not worth a word.
fn gain(book: &Book) -> String {
    let (spent, sum) = (book.spent().billionths(), book.sum().billionths());
    match book.delta() {
        Some(_) if sum > 0 && sum - spent >= sum / 1_000 => {
            format!("; they add up to {}", book.sum())
        }
        Some(_) if sum > 0 => "; they are too few or too large to gain from a delta".to_owned(),
        _ => String::new(),
    }
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
    pub(crate) fn charge(&self, epsilon: Epsilon, output: &Path) -> anyhow::Result<Receipt> {
        let Some(path) = &self.ledger else {
            warn(&format!(
                "tamis: notice: no --ledger, so nothing adds up what is spent: each further \
                 release of these keys costs another {epsilon}"
            ));
            return Ok(Receipt::unrecorded(epsilon));
        };
        let note = if output == Path::new("-") {
            "standard output".into()
        } else {
            output.to_string_lossy()
        };
        open(path)?
            .charge(epsilon, &note)
            .with_context(|| format!("{} does not pay for this release", path.display()))
    }
}

impl Payment {
    /// Says of a release that could not be written that it was paid for all the same: it was drawn,
    /// and some of it may have been read.
    pub(crate) fn say_if_charged(&self, written: anyhow::Result<()>) -> anyhow::Result<()> {
        match (&self.ledger, written) {
            (Some(ledger), Err(error)) => Err(anyhow::anyhow!(
                "{error:#}; {} is charged all the same, since some of the release may be out",
                ledger.display()
            )),
            (_, written) => written,
        }
    }
}

/// What was released, or kept private, and what is left of the budget of the ledger charged.
#[derive(Serialize)]
pub(crate) struct ReleaseReport {
    file: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    private: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    keys: Option<Integer>,
    charged: bool,
    left: Option<f64>,
    #[serde(flatten)]
    plan: PrivacyFacts,
    #[serde(skip)]
    text: String,
}

impl ReleaseReport {
    pub(crate) fn new(target: &Target, plan: &PrivatePlan, left: Option<Epsilon>) -> ReleaseReport {
        let file = target.output.display().to_string();
        let paid =
            left.map_or(String::new(), |left| format!("\nledger    charged; {left} is left"));
        ReleaseReport {
            text: format!("{file}: may be published\n{}{paid}", lines(plan)),
            file,
            private: None,
            keys: None,
            charged: left.is_some(),
            left: left.map(Epsilon::to_f64),
            plan: PrivacyFacts::new(plan),
        }
    }

    /// Adds how many keys were read; a filter that stays private says so in other words.
    pub(crate) fn of_keys(self, keys: u64, private: Option<String>) -> ReleaseReport {
        ReleaseReport {
            private: Some(private.is_some()),
            keys: Some(keys.into()),
            text: private.unwrap_or(self.text),
            ..self
        }
    }
}

impl Report for ReleaseReport {
    fn text(&self) -> String {
        self.text.clone()
    }
}
