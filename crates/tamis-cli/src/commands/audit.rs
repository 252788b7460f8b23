//! `tamis audit`: does a mechanism leak more than it claims?

use super::plan::privacy::Method;
use crate::arguments::{count, epsilon, small_count};
use crate::output::{self, Integer, Report, grouped, progress};
use clap::Args;
use serde::Serialize;
use tamis::privacy::audit::{Compared, Finding, Mechanism, Options, United, Verdict, audit};
use tamis::privacy::{Epsilon, LinearPlan, UltraPlan};
use tamis::rate::{Kind, Plan};
use tamis::stats::clopper_pearson;
#[cfg(feature = "lab")]
use tamis_lab::faults;

/// Try to catch a mechanism leaking more than it claims
///
/// A set of 16 items is released many times, and as often the same set with one item more. Nothing
/// that can be seen of that item may be more than e^epsilon times likelier on one side than on the
/// other. An audit can show a fault; it cannot prove that there is none.
#[derive(Args)]
#[command(after_help = "\
Exit code: 0 every claim stands (with --planted: and every fault was caught), 1 not so (or too \
few runs to tell), 2 an error.

Examples:
  tamis audit                                      both methods at epsilon 2, united, compared
  tamis audit --method linear --epsilon 2.7081     q = 16
  tamis audit --planted                            models with known faults, which it must catch

JSON fields: findings (name, claim, epsilon, verdict: consistent, violated or too few runs, \
planted, event, with, without, runs), as_expected.")]
pub(crate) struct Audit {
    /// The method to audit [default: both, two united filters, and two that are compared]
    #[arg(long, value_enum)]
    method: Option<Method>,
    /// The loss that is claimed
    #[arg(long, value_name = "E", value_parser = epsilon, default_value = "2")]
    #[arg(allow_negative_numbers = true)]
    epsilon: Epsilon,
    /// The bits of an item, for --method bloom
    #[arg(long, value_name = "K", value_parser = small_count, default_value = "2")]
    hashes: u32,
    /// How many releases with the item, and as many without
    #[arg(long, value_name = "N", value_parser = count, default_value = "1000000")]
    #[arg(allow_negative_numbers = true)]
    runs: u64,
    /// Another seed, other releases
    #[arg(long, value_name = "S", value_parser = count, default_value = "0")]
    #[arg(allow_negative_numbers = true)]
    seed: u64,
    /// Audit small models of both methods, right ones and ones with a fault planted in them
    #[cfg(feature = "lab")]
    #[arg(long, conflicts_with_all = ["method", "epsilon", "hashes"])]
    planted: bool,
    /// Print one JSON object
    #[arg(long)]
    json: bool,
}

/// A mechanism, and the fault that is known to be in it.
struct Suspect {
    mechanism: Box<dyn Mechanism>,
    fault: Option<&'static str>,
}

impl Audit {
    /// Whether all came out as it should.
    pub(crate) fn run(&self) -> anyhow::Result<bool> {
        let mut report = AuditReport { findings: Vec::new(), as_expected: true };
        for suspect in self.suspects()? {
            let finding = self.examine(&*suspect.mechanism)?;
            let expected =
                if suspect.fault.is_some() { Verdict::Violated } else { Verdict::Consistent };
            let enough = finding.verdict == Verdict::Violated || could_show(&finding);
            report.as_expected &= enough && finding.verdict == expected;
            let finding = FindingReport::new(finding, suspect.fault, enough);
            if !self.json {
                output::print(&finding.text())?;
            }
            report.findings.push(finding);
        }
        if self.json {
            output::print_report(&report, true)?;
        }
        Ok(report.as_expected)
    }

    fn suspects(&self) -> anyhow::Result<Vec<Suspect>> {
        #[cfg(feature = "lab")]
        if self.planted {
            let suspect = |model: faults::Model| {
                let fault = model.is_fault().then(|| model.sentence());
                Suspect { mechanism: Box::new(model), fault }
            };
            return Ok(faults::all().into_iter().map(suspect).collect());
        }
        // Room for the sixteen items of the audit, and so many bits that an item's rarely collide.
        let (items, bits) = (17, 1024);
        let mut suspects: Vec<Suspect> = Vec::new();
        if self.method != Some(Method::Bloom) {
            let plan = LinearPlan::new(items, self.epsilon)?;
            suspects.push(Suspect { mechanism: Box::new(plan), fault: None });
            if self.method.is_none() {
                let mechanism = Box::new(Compared([plan, plan]));
                suspects.push(Suspect { mechanism, fault: None });
            }
        }
        if self.method != Some(Method::Linear) {
            let bloom =
                Plan::from_items_bits(Kind::Bloom, items, bits)?.with_hashes(self.hashes)?;
            let plan = UltraPlan::of_bloom(bloom, self.epsilon)?;
            suspects.push(Suspect { mechanism: Box::new(plan), fault: None });
            if self.method.is_none() {
                suspects.push(Suspect { mechanism: Box::new(United(plan)), fault: None });
            }
        }
        Ok(suspects)
    }

    fn examine(&self, mechanism: &dyn Mechanism) -> anyhow::Result<Finding> {
        let options = Options { runs: self.runs, seed: self.seed, ..Options::default() };
        let bar = progress::bar(
            Some(2 * self.runs),
            &format!("auditing {}", mechanism.name()),
            "{prefix} [{wide_bar}] {pos} of {len} releases, {eta} left",
        );
        let finding = audit(mechanism, options, |done| bar.inc(done))?;
        bar.finish_and_clear();
        Ok(finding)
    }
}

/// Whether so many runs can show a loss above the claim at all: whether they would if the item were
/// seen in every run with it and in none without it.
fn could_show(finding: &Finding) -> bool {
    let alpha = Options::default().alpha;
    let (low, _) = clopper_pearson(finding.runs, finding.runs, alpha);
    let (_, high) = clopper_pearson(0, finding.runs, alpha);
    (low / high).ln() > finding.claim.to_f64()
}

#[derive(Serialize)]
struct AuditReport {
    findings: Vec<FindingReport>,
    as_expected: bool,
}

impl Report for AuditReport {
    fn text(&self) -> String {
        self.findings.iter().map(FindingReport::text).collect::<Vec<_>>().join("\n")
    }
}

#[derive(Serialize)]
struct FindingReport {
    name: String,
    claim: f64,
    epsilon: f64,
    verdict: String,
    planted: Option<&'static str>,
    event: String,
    with: Integer,
    without: Integer,
    runs: Integer,
    #[serde(skip)]
    text: String,
}

impl FindingReport {
    fn new(finding: Finding, fault: Option<&'static str>, enough: bool) -> FindingReport {
        let text = if enough {
            finding.to_string()
        } else {
            format!(
                "{}: too few runs: {} a side cannot show a loss of {}, however large it is; \
                 take more --runs",
                finding.name,
                grouped(finding.runs),
                finding.claim
            )
        };
        let verdict = if enough { finding.verdict.to_string() } else { "too few runs".to_owned() };
        FindingReport {
            text,
            claim: finding.claim.to_f64(),
            epsilon: finding.epsilon,
            verdict,
            planted: fault,
            with: finding.witness.with.into(),
            without: finding.witness.without.into(),
            runs: finding.runs.into(),
            name: finding.name,
            event: finding.witness.words,
        }
    }

    fn text(&self) -> String {
        match self.planted {
            Some(fault) => format!("{}\n  the fault: {fault}", self.text),
            None => self.text.clone(),
        }
    }
}
