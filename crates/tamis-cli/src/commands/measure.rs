//! `tamis measure`: how often a filter is wrong, counted.

use crate::arguments::count;
use crate::filters::{self, Opening};
use crate::foreign::{Asker, Expecting, From};
use crate::input::{Batch, KeyFormat, Reading};
use crate::output::{self, Integer, Report, grouped, progress, rate, warn};
use anyhow::bail;
use clap::Args;
use serde::Serialize;
use std::path::{Path, PathBuf};
use tamis::stats::clopper_pearson;
use tamis::zone::Plan;
use tamis::{AnyFilter, KeyRef, Kinds, Promise};
use tamis_random::SplitMix64;

/// Count how often a filter is wrong
///
/// Without files, random strangers are asked and the false-positive rate is estimated with a
/// confidence interval. With --members, --strangers or both, the answers to these keys are counted.
#[derive(Args)]
#[command(after_help = "\
Examples:
  tamis measure seen.tamis
  tamis measure seen.tamis --trials 1e8
  tamis measure seen.tamis --members seen.txt --strangers others.txt

JSON fields: file, promise, fpr_now; then without files: trials, passed, fpr, fpr_low, fpr_high, \
confidence; with files: fnr_now (of a published filter; else 0), true_positives, false_negatives, \
false_positives, true_negatives, fpr, fpr_low, fpr_high, fnr, fnr_low, fnr_high, confidence, \
precision, recall, f1 (null where undefined).")]
pub(crate) struct Measure {
    /// The filter
    filter: PathBuf,
    /// A file of keys that were put into the filter
    #[arg(long, value_name = "FILE")]
    members: Option<PathBuf>,
    /// A file of keys that were not
    #[arg(long, value_name = "FILE")]
    strangers: Option<PathBuf>,
    /// How many random strangers to ask when no files are given
    #[arg(long, value_name = "N", value_parser = count, default_value = "1000000")]
    #[arg(allow_negative_numbers = true, conflicts_with_all = FILES)]
    trials: u64,
    /// The seed of the random strangers; another seed, other strangers
    #[arg(long, value_name = "S", value_parser = count, default_value = "0")]
    #[arg(allow_negative_numbers = true, conflicts_with_all = FILES)]
    seed: u64,
    /// Print one JSON object
    #[arg(long)]
    json: bool,
    /// Measure the filter of this row group of a Parquet file, counted from 0
    #[arg(long, value_name = "N")]
    row_group: Option<usize>,
    #[command(flatten)]
    expecting: Expecting,
    #[command(flatten)]
    from: From,
    #[command(flatten)]
    opening: Opening,
    #[command(flatten)]
    format: KeyFormat,
}

/// The filter that is measured.
enum Measured {
    Own(Box<AnyFilter>),
    Foreign(Asker),
}

impl Measured {
    fn promise(&self) -> Promise {
        match self {
            Measured::Own(filter) => filter.promise(),
            Measured::Foreign(_) => Promise::Rate,
        }
    }

    fn expected_fpr(&self) -> f64 {
        match self {
            Measured::Own(filter) => filter.expected_fpr(),
            Measured::Foreign(asker) => asker.filter().expected_fpr(),
        }
    }

    fn expected_fnr(&self) -> f64 {
        match self {
            Measured::Own(filter) => filter.expected_fnr(),
            Measured::Foreign(_) => 0.0,
        }
    }

    fn planned_fpr(&self) -> f64 {
        match self {
            Measured::Own(filter) => filter.plan().fpr(),
            Measured::Foreign(asker) => asker.filter().planned().fpr,
        }
    }

    /// How to read keys for it; says what a person should know of them.
    fn format_to_ask(&self, format: &KeyFormat) -> anyhow::Result<KeyFormat> {
        let (format, notice) = match self {
            Measured::Own(filter) => {
                let format = filters::format_to_ask(filter, format)?;
                let notice = filters::kind_notice(filter, &format);
                (format, notice)
            }
            Measured::Foreign(asker) => (asker.format().clone(), asker.notice()),
        };
        if let Some(notice) = notice {
            warn(&format!("tamis: notice: {notice}"));
        }
        Ok(format)
    }

    fn contains(&self, batch: &Batch) -> anyhow::Result<Vec<bool>> {
        match self {
            Measured::Own(filter) => filters::contains(filter, batch),
            Measured::Foreign(asker) => asker.contains(batch),
        }
    }
}

/// The options that name files of keys, in the place of random ones.
const FILES: [&str; 2] = ["members", "strangers"];

/// The chance that the true rate lies outside the interval printed.
const ALPHA: f64 = 0.05;

impl Measure {
    pub(crate) fn run(&self) -> anyhow::Result<()> {
        let files = self.members.iter().chain(&self.strangers).chain([&self.filter]);
        let files = files.map(PathBuf::as_path).chain(self.opening.dictionary_path());
        output::standard_input_once(files)?;
        let filter = match self.from.open(&self.filter, self.opening.memory())? {
            Some(found) => {
                let format = &self.format;
                Measured::Foreign(Asker::new(found, self.row_group, format, &self.expecting)?)
            }
            None => {
                self.expecting.check_unused()?;
                if self.row_group.is_some() {
                    bail!("--row-group goes with Parquet files; leave it out");
                }
                Measured::Own(Box::new(self.opening.open(&self.filter)?))
            }
        };
        if self.members.is_none() && self.strangers.is_none() {
            self.random(&filter)
        } else {
            self.files(&filter)
        }
    }

    fn random(&self, filter: &Measured) -> anyhow::Result<()> {
        if self.trials == 0 {
            bail!("--trials must be at least 1 (got 0)");
        }
        let passed = match filter {
            Measured::Foreign(asker) => asker.count_random(self.trials, self.seed),
            Measured::Own(filter) => match filter.plan().zone() {
                Some(plan) => count_elements(filter, plan, self.trials, self.seed)?,
                None => count_random(filter, self.trials, self.seed)?,
            },
        };
        let (low, high) = clopper_pearson(passed, self.trials, ALPHA);
        let measured = passed as f64 / self.trials as f64;
        let expected = filter.expected_fpr();
        let report = RandomReport {
            file: self.filter.display().to_string(),
            promise: filter.promise().name(),
            fpr_now: expected,
            trials: self.trials.into(),
            passed: passed.into(),
            fpr: measured,
            fpr_low: low,
            fpr_high: high,
            confidence: 1.0 - ALPHA,
            text: format!(
                "{}: {} of {} random strangers pass\n\
                 measured  {} (95% sure: {} to {})\n\
                 expected  {} by the filter's own fill; planned {}",
                self.filter.display(),
                grouped(passed),
                grouped(self.trials),
                rate(measured),
                rate(low),
                rate(high),
                rate(expected),
                rate(filter.planned_fpr()),
            ),
        };
        output::print_report(&report, self.json)
    }

    fn files(&self, filter: &Measured) -> anyhow::Result<()> {
        let [true_positives, false_negatives] = self.count(filter, self.members.as_deref())?;
        let [false_positives, true_negatives] = self.count(filter, self.strangers.as_deref())?;
        // 0 of 0 is NaN, which is null in JSON.
        let share = |part: u64, rest: u64| part as f64 / (part + rest) as f64;
        let (members, strangers) =
            (true_positives + false_negatives, false_positives + true_negatives);
        let (fpr, fnr) =
            (share(false_positives, true_negatives), share(false_negatives, true_positives));
        let (fpr_low, fpr_high) = clopper_pearson(false_positives, strangers, ALPHA);
        let (fnr_low, fnr_high) = clopper_pearson(false_negatives, members, ALPHA);
        let both = self.members.is_some() && self.strangers.is_some();
        let precision = if both { share(true_positives, false_positives) } else { f64::NAN };
        let recall = share(true_positives, false_negatives);
        let f1 = 2.0 * precision * recall / (precision + recall);
        let width = grouped(members.max(strangers)).len().max(9);
        let mut lines = vec![format!("{:<12}{:>width$}  {:>width$}", "", "pass", "do not")];
        let [tp, fn_, fp, tn] =
            [true_positives, false_negatives, false_positives, true_negatives].map(grouped);
        if self.members.is_some() {
            lines.push(format!("{:<12}{tp:>width$}  {fn_:>width$}", "members"));
        }
        if self.strangers.is_some() {
            lines.push(format!("{:<12}{fp:>width$}  {tn:>width$}", "strangers"));
        }
        let shown = |value: f64| {
            if value.is_nan() { "undefined".to_owned() } else { format!("{value:.6}") }
        };
        if self.strangers.is_some() {
            lines.push(format!(
                "FPR         {} (95% sure: {} to {})",
                shown(fpr),
                rate(fpr_low),
                rate(fpr_high)
            ));
            lines.push(format!("  expected  {}", shown(filter.expected_fpr())));
        }
        if self.members.is_some() {
            lines.push(format!(
                "FNR         {} (95% sure: {} to {})",
                shown(fnr),
                rate(fnr_low),
                rate(fnr_high)
            ));
        }
        if self.members.is_some() && filter.promise() == Promise::Privacy {
            lines.push(format!("  expected  {}", shown(filter.expected_fnr())));
        } else if false_negatives > 0 {
            lines.push(
                "  members always pass: these were not put into this filter, or not as such keys \
                 (--csv, --keys, -0?)"
                    .to_owned(),
            );
        }
        if both {
            lines.push(format!("precision   {}", shown(precision)));
        }
        if self.members.is_some() {
            lines.push(format!("recall      {}", shown(recall)));
        }
        if both {
            lines.push(format!("F1          {}", shown(f1)));
        }
        let report = FilesReport {
            file: self.filter.display().to_string(),
            promise: filter.promise().name(),
            fpr_now: filter.expected_fpr(),
            fnr_now: filter.expected_fnr(),
            true_positives: true_positives.into(),
            false_negatives: false_negatives.into(),
            false_positives: false_positives.into(),
            true_negatives: true_negatives.into(),
            fpr,
            fpr_low,
            fpr_high,
            fnr,
            fnr_low,
            fnr_high,
            confidence: 1.0 - ALPHA,
            precision,
            recall,
            f1,
            text: lines.join("\n"),
        };
        output::print_report(&report, self.json)
    }

    /// How many keys of a file pass, and how many do not.
    fn count(&self, filter: &Measured, file: Option<&Path>) -> anyhow::Result<[u64; 2]> {
        let Some(file) = file else { return Ok([0, 0]) };
        let format = filter.format_to_ask(&self.format)?;
        let mut counts = [0, 0];
        format.each(&[file.to_owned()], "measuring", Reading::InOrder, |batch| {
            for passed in filter.contains(batch)? {
                counts[usize::from(!passed)] += 1;
            }
            Ok(true)
        })?;
        Ok(counts)
    }
}

#[derive(Serialize)]
struct RandomReport {
    file: String,
    promise: &'static str,
    fpr_now: f64,
    trials: Integer,
    passed: Integer,
    fpr: f64,
    fpr_low: f64,
    fpr_high: f64,
    confidence: f64,
    #[serde(skip)]
    text: String,
}

impl Report for RandomReport {
    fn text(&self) -> String {
        self.text.clone()
    }
}

/// Counts and rates; a rate of nothing is NaN, which is null in JSON.
#[derive(Serialize)]
struct FilesReport {
    file: String,
    promise: &'static str,
    fpr_now: f64,
    fnr_now: f64,
    true_positives: Integer,
    false_negatives: Integer,
    false_positives: Integer,
    true_negatives: Integer,
    fpr: f64,
    fpr_low: f64,
    fpr_high: f64,
    fnr: f64,
    fnr_low: f64,
    fnr_high: f64,
    confidence: f64,
    precision: f64,
    recall: f64,
    f1: f64,
    #[serde(skip)]
    text: String,
}

impl Report for FilesReport {
    fn text(&self) -> String {
        self.text.clone()
    }
}

/// Asks strangers that nobody has inserted: 128 random bits as text, or 64 as an integer where the
/// filter has only integers.
fn count_random(filter: &AnyFilter, trials: u64, seed: u64) -> anyhow::Result<u64> {
    const BATCH: u64 = 4096;
    let kinds = filter.kinds();
    let integers = kinds.has(Kinds::INTEGERS) && !kinds.has(Kinds::BYTES);
    let mut random = SplitMix64::new(seed);
    let bar = progress::bar(
        Some(trials),
        "measuring",
        "{prefix} [{wide_bar}] {pos} of {len}, {eta} left",
    );
    let (mut passed, mut asked) = (0, 0);
    while asked < trials {
        let count = BATCH.min(trials - asked);
        let numbers: Vec<[u64; 2]> =
            (0..count).map(|_| [random.next_u64(), random.next_u64()]).collect();
        let texts: Vec<String> = if integers {
            Vec::new()
        } else {
            numbers.iter().map(|[a, b]| format!("{a:016x}{b:016x}")).collect()
        };
        let keys: Vec<KeyRef<'_>> = if integers {
            numbers.iter().map(|[a, _]| KeyRef::Natural(*a)).collect()
        } else {
            texts.iter().map(|text| KeyRef::Bytes(text.as_bytes())).collect()
        };
        passed += filter.contains_many(&keys)?.iter().filter(|passed| **passed).count() as u64;
        asked += count;
        bar.inc(count);
    }
    bar.finish_and_clear();
    Ok(passed)
}

/// Asks elements of the universe at random that the filter does not hold. Beyond the zone the
/// filter cannot tell them from its items, which then must be too few to matter.
fn count_elements(filter: &AnyFilter, plan: &Plan, trials: u64, seed: u64) -> anyhow::Result<u64> {
    let size = plan.universe().size();
    let members: Vec<u128> = match filter.list() {
        Ok(list) if list.exact => list.numbers,
        _ if size > u128::from(filter.len().unwrap_or_default()).saturating_mul(1000) => Vec::new(),
        _ => bail!(
            "the filter cannot list its items, and a random element may be one; name strangers: \
             --strangers FILE"
        ),
    };
    // The last rank of a stranger among strangers.
    let Some(last) = size.last().checked_sub(members.len() as u128) else {
        bail!("the filter holds the whole universe: there are no strangers to ask");
    };
    let mut random = SplitMix64::new(seed);
    let bar = progress::bar(
        Some(trials),
        "measuring",
        "{prefix} [{wide_bar}] {pos} of {len}, {eta} left",
    );
    let mut passed = 0;
    for _ in 0..trials {
        // The rank of a stranger among strangers, and from it its number: each member before it
        // moves it up by one.
        let draw = random.next_u128();
        let rank = last.checked_add(1).map_or(draw, |strangers| draw % strangers);
        let (mut low, mut high) = (0, members.len());
        while low < high {
            let middle = low + (high - low) / 2;
            if members[middle] - middle as u128 <= rank { low = middle + 1 } else { high = middle }
        }
        passed += u64::from(filter.contains_number(rank + low as u128)?);
        bar.inc(1);
    }
    bar.finish_and_clear();
    Ok(passed)
}
