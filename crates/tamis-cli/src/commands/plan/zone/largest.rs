//! Backwards: the largest universe, or the most items, for so many bits.

use super::PlanZone;
use crate::output::{self, Elements, Report};
use serde::Serialize;
use std::collections::BTreeMap;
use tamis::zone::{CodeKind, Size};

impl PlanZone {
    /// One answer a code.
    pub(super) fn print_largest(
        &self,
        title: &str,
        find: impl Fn(CodeKind) -> Option<Size>,
        answer: impl Fn(ByCode) -> Largest,
    ) -> anyhow::Result<()> {
        let codes = self.size.code.name().map_or(CodeKind::ALL.to_vec(), |code| vec![code]);
        let found: Vec<(CodeKind, Option<Size>)> =
            codes.into_iter().map(|code| (code, find(code))).collect();
        let by_code =
            found.iter().map(|(code, most)| (code.name(), most.map(Elements))).collect::<ByCode>();
        let mut lines = vec![title.to_owned()];
        for (code, most) in found {
            let bound = if code.is_searched() { "at least " } else { "" };
            let most = most.map_or_else(|| "none".to_owned(), |most| format!("{bound}{most}"));
            lines.push(format!("{code:<10}{most}"));
        }
        let lower_bounds = by_code.keys().copied().filter(|code| is_searched(code)).collect();
        let report =
            LargestReport { lower_bounds, answer: answer(by_code), text: lines.join("\n") };
        output::print_report(&report, self.json)
    }
}

fn is_searched(name: &str) -> bool {
    CodeKind::ALL.iter().any(|code| code.name() == name && code.is_searched())
}

/// The largest number for each code, by its name.
pub(super) type ByCode = BTreeMap<&'static str, Option<Elements>>;

#[derive(Serialize)]
#[serde(untagged)]
pub(super) enum Largest {
    Universe { promise: &'static str, largest_universe: ByCode },
    Items { promise: &'static str, largest_items: ByCode },
}

#[derive(Serialize)]
struct LargestReport {
    #[serde(flatten)]
    answer: Largest,
    /// The codes whose answer may be too small.
    lower_bounds: Vec<&'static str>,
    #[serde(skip)]
    text: String,
}

impl Report for LargestReport {
    fn text(&self) -> String {
        self.text.clone()
    }
}
