//! What a run has to say at its end.

use super::{By, Dedup};
use crate::dedup::{Seen, Tally};
use crate::output::{Integer, Report, count_of, grouped, rate};
use serde::Serialize;
use std::time::Instant;

impl Dedup {
    pub(super) fn report(&self, tally: &Tally, seen: &Seen, start: Instant) -> DedupReport {
        let plan = seen.plan();
        DedupReport {
            records: tally.records.into(),
            kept: tally.kept.into(),
            changed: tally.changed.into(),
            without_field: tally.without_field.into(),
            blank: tally.blank.into(),
            units: tally.units.into(),
            repeated: tally.repeated.into(),
            distinct: seen.distinct().into(),
            bytes_read: tally.bytes_read.into(),
            bytes_kept: tally.bytes_kept.into(),
            filter: plan.filter().name(),
            items: plan.items().into(),
            fpr: plan.fpr(),
            bytes: plan.bytes().into(),
            expected_mistakes: seen.expected_mistakes(),
            seconds: start.elapsed().as_secs_f64(),
            text: self.text(tally, seen),
        }
    }

    fn text(&self, tally: &Tally, seen: &Seen) -> String {
        let left_out = tally.records - tally.kept;
        let share = left_out as f64 / tally.records.max(1) as f64;
        let mut text = format!(
            "records   {} read, {} kept, {} left out ({})",
            grouped(tally.records),
            grouped(tally.kept),
            grouped(left_out),
            rate(share)
        );
        if tally.changed > 0 {
            text += &format!("; {} of those kept lost paragraphs", grouped(tally.changed));
        }
        if tally.without_field > 0 {
            text += &format!(
                "\nnote      {} without anything to compare, kept",
                count_of(tally.without_field, "record")
            );
        }
        if tally.blank > 0 {
            text += &format!(
                "\nnote      {} between the records, left out",
                count_of(tally.blank, "blank line")
            );
        }
        if self.by != By::Records {
            text += &format!(
                "\ncompared  {} {}, {} of them seen before",
                grouped(tally.units),
                self.by.things(tally.units),
                grouped(tally.repeated)
            );
        }
        let plan = seen.plan();
        text += &format!(
            "\nfilter    {}, {}, for {} distinct {}; it holds {}",
            plan.filter(),
            count_of(plan.bytes(), "byte"),
            grouped(plan.items()),
            self.by.things(plan.items()),
            grouped(seen.distinct())
        );
        text + &format!(
            "\nmistakes  about {:.2} new {} were taken for repetitions",
            seen.expected_mistakes(),
            self.by.things(0)
        )
    }
}

#[derive(Serialize)]
pub(super) struct DedupReport {
    records: Integer,
    kept: Integer,
    changed: Integer,
    without_field: Integer,
    blank: Integer,
    units: Integer,
    repeated: Integer,
    distinct: Integer,
    bytes_read: Integer,
    bytes_kept: Integer,
    filter: &'static str,
    items: Integer,
    fpr: f64,
    bytes: Integer,
    expected_mistakes: f64,
    seconds: f64,
    #[serde(skip)]
    text: String,
}

impl Report for DedupReport {
    fn text(&self) -> String {
        self.text.clone()
    }
}
