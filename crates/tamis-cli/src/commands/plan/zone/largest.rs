//! Backwards: the largest universe, or the most items, for so many bits.

use super::PlanZone;
use crate::output::{self, Integer, Report};
use serde::Serialize;
use std::collections::BTreeMap;
use tamis::zone::CodeKind;

impl PlanZone {
    /// One answer a code.
    pub(super) fn print_largest(
        &self,
        title: &str,
        find: impl Fn(CodeKind) -> Option<u128>,
        answer: impl Fn(ByCode) -> Largest,
    ) -> anyhow::Result<()> {
        let codes = self.size.code.name().map_or(CodeKind::ALL.to_vec(), |code| vec![code]);
        let found: Vec<(CodeKind, Option<u128>)> =
            codes.into_iter().map(|code| (code, find(code))).collect();
        let by_code =
            found.iter().map(|(code, most)| (code.name(), most.map(Integer))).collect::<ByCode>();
        let mut lines = vec![title.to_owned()];
        for (code, most) in found {
            let most = most.map_or_else(|| "none".to_owned(), |most| most.to_string());
            lines.push(format!("{code:<10}{most}"));
        }
        let report = LargestReport { answer: answer(by_code), text: lines.join("\n") };
        output::print_report(&report, self.json)
    }
}

/// The largest number for each code, by its name.
pub(super) type ByCode = BTreeMap<&'static str, Option<Integer>>;

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
    #[serde(skip)]
    text: String,
}

impl Report for LargestReport {
    fn text(&self) -> String {
        self.text.clone()
    }
}
