//! Which zone is worth its bits, when the number of items is a matter of chance.

use super::{PlanZone, Preference};
use crate::output::{self, Integer, Report};
use anyhow::bail;
use serde::Serialize;
use tamis::zone::{self, CodeKind, Universe};

impl PlanZone {
    pub(super) fn guideline(&self, universe: &Universe) -> anyhow::Result<()> {
        if self.sizes.iter().any(|chance| !(0.0..=1.0).contains(chance))
            || (self.sizes.iter().sum::<f64>() - 1.0).abs() > 1e-6
        {
            bail!(
                "--sizes are chances from 0 to 1 that add up to 1 (they add up to {})",
                self.sizes.iter().sum::<f64>()
            );
        }
        if self.sizes.len() < 2 {
            bail!("--sizes are the chances of 0, 1, 2, ... items: give at least two");
        }
        if !self.worth.is_finite() || self.worth < 0.0 {
            bail!("--worth must be a number from 0 up (got {})", self.worth);
        }
        if self.size.counting || self.size.prefer == Preference::Probes {
            bail!("--sizes are weighed against bits; leave --counting and --prefer out");
        }
        let code = self.size.code.name().unwrap_or(CodeKind::Rs);
        let rows = zone::guideline(universe, &self.sizes, self.worth, code);
        let mut lines = vec![
            format!(
                "The worth of a query and its cost in bits, code {code}, a guaranteed answer worth \
                 {}",
                self.worth
            ),
            format!(
                "{:>6}{:>10}{:>10}{:>14}{:>14}",
                "items", "bits", "value", "value a bit", "gain a bit"
            ),
        ];
        let mut before: Option<&zone::Guideline> = None;
        for row in &rows {
            let gain = before.filter(|before| before.bits != row.bits).map_or_else(
                String::new,
                |before| {
                    format!(
                        "{:.3e}",
                        (row.value - before.value) / (row.bits as f64 - before.bits as f64)
                    )
                },
            );
            lines.push(format!(
                "{:>6}{:>10}{:>10.4}{:>14.3e}{gain:>14}",
                row.items,
                row.bits,
                row.value,
                row.value_per_bit()
            ));
            before = Some(row);
        }
        let guideline = rows
            .iter()
            .map(|row| GuidelineRow {
                items: row.items.into(),
                bits: row.bits.into(),
                value: row.value,
                value_per_bit: row.value_per_bit(),
            })
            .collect();
        let text = lines.join("\n");
        let report = GuidelineReport { promise: "zone", code: code.name(), guideline, text };
        output::print_report(&report, self.json)
    }
}

#[derive(Serialize)]
struct GuidelineReport {
    promise: &'static str,
    code: &'static str,
    guideline: Vec<GuidelineRow>,
    #[serde(skip)]
    text: String,
}

#[derive(Serialize)]
struct GuidelineRow {
    items: Integer,
    bits: Integer,
    value: f64,
    value_per_bit: f64,
}

impl Report for GuidelineReport {
    fn text(&self) -> String {
        self.text.clone()
    }
}
