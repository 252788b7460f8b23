//! Each record once: a filter remembers what was seen, and what was seen before is left out.
//!
//! The filter errs on one side. A record that it lets through is certainly new; a new one is left
//! out by mistake at the planned rate.

mod count;
mod output;
mod pipeline;
mod resume;
mod rule;
mod seen;
#[cfg(test)]
mod tests;

pub(crate) use count::count;
pub(crate) use output::Output;
pub(crate) use pipeline::{Shape, Source};
pub(crate) use resume::{Progress, SavedRun};
pub(crate) use rule::{Rule, Unit};
pub(crate) use seen::{Seen, plan};

use anyhow::{Context, bail};
use pipeline::Piece;
use rule::Found;
use serde::{Deserialize, Serialize};
use std::io::Write;
use tamis::{Digest, HashFamily};

/// What a run has done so far.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Tally {
    /// Records read, and those kept, whole or in part.
    pub(crate) records: u64,
    pub(crate) kept: u64,
    /// Records kept in part.
    pub(crate) changed: u64,
    /// Blank lines between JSON records, which were left out and are no records.
    pub(crate) blank: u64,
    /// Records that had nothing to compare, and were kept.
    pub(crate) without_field: u64,
    /// Units compared, and those seen before.
    pub(crate) units: u64,
    pub(crate) repeated: u64,
    pub(crate) bytes_read: u64,
    pub(crate) bytes_kept: u64,
}

impl Tally {
    /// Whether there were records, and none of them had anything to compare.
    pub(crate) fn all_lack_the_field(&self) -> bool {
        self.records > 0 && self.without_field == self.records
    }
}

/// The filter is full before the input has ended.
#[derive(Debug)]
pub(crate) struct Full {
    pub(crate) distinct: u64,
    pub(crate) planned: u64,
    /// How much of the input came before.
    pub(crate) bytes: u64,
}

impl std::fmt::Display for Full {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Full { distinct, planned, .. } = self;
        write!(out, "the filter is full: {distinct} distinct units, and {planned} were planned")
    }
}

impl std::error::Error for Full {}

/// Puts the units of records that were kept before into the filter.
pub(crate) fn remember(
    kept: Source,
    shape: Shape,
    rule: &Rule,
    seen: &mut Seen,
) -> anyhow::Result<()> {
    pipeline::run(vec![kept], shape, rule, &HashFamily::default(), |piece| {
        seen.insert(&piece.digests).map(drop)
    })?;
    check_room(seen, 0)
}

fn check_room(seen: &Seen, bytes: u64) -> anyhow::Result<()> {
    if seen.is_overfull() {
        bail!(Full { distinct: seen.distinct(), planned: seen.plan().items(), bytes });
    }
    Ok(())
}

/// Leaves out of the sources what was seen before. On an error, what was done before it is counted,
/// written and saved.
pub(crate) fn run<W: Write>(
    sources: Vec<Source>,
    shape: Shape,
    rule: &Rule,
    seen: &mut Seen,
    tally: &mut Tally,
    out: &mut Output<W>,
    mut tick: impl FnMut(),
) -> anyhow::Result<()> {
    let mut kept = Vec::new();
    let done = pipeline::run(sources, shape, rule, &HashFamily::default(), |piece| {
        kept.clear();
        let mut after = *tally;
        take(piece, shape, rule, seen, &mut kept, &mut after)?;
        after.bytes_read += piece.bytes().len() as u64;
        after.bytes_kept += kept.len() as u64;
        out.write(&kept).context("cannot write the records that are kept")?;
        *tally = after;
        tick();
        out.piece_done(piece.place, tally)
    });
    // The output is of use up to here, whatever happened.
    let saved = out.save();
    done.and(saved)
}

/// Puts what is kept of a piece into `kept`.
fn take(
    piece: &Piece,
    shape: Shape,
    rule: &Rule,
    seen: &mut Seen,
    kept: &mut Vec<u8>,
    tally: &mut Tally,
) -> anyhow::Result<()> {
    let before = tally.bytes_read;
    // Close to its capacity the filter gets one record after the other, so that none is judged by
    // an overfull one.
    let at_once = !rule.unit.is_judged_by_record() && piece.digests.len() as u64 <= seen.room();
    let new = if at_once { seen.insert(&piece.digests)? } else { Vec::new() };
    let mut first = 0;
    for record in &piece.records {
        let bytes = &piece.bytes()[record.start..record.end];
        let verdict = match record.found {
            Found::Blank => {
                tally.blank += 1;
                continue;
            }
            Found::Nothing => {
                tally.without_field += 1;
                Verdict::Keep
            }
            Found::Units(count) => {
                let units = first..first + count;
                first = units.end;
                tally.units += count as u64;
                if !at_once {
                    check_room(seen, before + record.start as u64)?;
                }
                let (verdict, repeated) = match rule.unit {
                    Unit::Ngrams { threshold, .. } => {
                        judge_by_share(&piece.digests[units], threshold, seen)?
                    }
                    Unit::Record | Unit::Paragraphs if at_once => {
                        judge_by_unit(rule, bytes, &new[units])?
                    }
                    Unit::Record | Unit::Paragraphs => {
                        judge_by_unit(rule, bytes, &seen.insert(&piece.digests[units])?)?
                    }
                };
                tally.repeated += repeated as u64;
                verdict
            }
        };
        tally.records += 1;
        match verdict {
            Verdict::Drop => continue,
            // The separator follows, except perhaps at the end.
            Verdict::Keep if record.end < piece.bytes().len() => {
                kept.extend_from_slice(&piece.bytes()[record.start..=record.end]);
            }
            Verdict::Keep => {
                kept.extend_from_slice(bytes);
                kept.push(shape.separator);
            }
            Verdict::Change(changed) => {
                tally.changed += 1;
                kept.extend_from_slice(&changed);
                kept.push(shape.separator);
            }
        }
        tally.kept += 1;
    }
    Ok(())
}

/// What becomes of a record.
enum Verdict {
    Keep,
    Change(Vec<u8>),
    Drop,
}

/// A record that has too many units that were seen before goes, and nothing of it is remembered.
/// Says also how many there are.
fn judge_by_share(
    units: &[Digest],
    threshold: f64,
    seen: &mut Seen,
) -> anyhow::Result<(Verdict, usize)> {
    let repeated = seen.count(units)?;
    if repeated as f64 >= threshold * units.len() as f64 {
        return Ok((Verdict::Drop, repeated));
    }
    seen.insert(units)?;
    Ok((Verdict::Keep, repeated))
}

/// Every unit that was seen before goes, and the record with the last of them. Says also how many
/// there are.
fn judge_by_unit(rule: &Rule, record: &[u8], new: &[bool]) -> anyhow::Result<(Verdict, usize)> {
    let repeated = new.iter().filter(|new| !**new).count();
    let verdict = match repeated {
        0 => Verdict::Keep,
        all if all == new.len() => Verdict::Drop,
        _ => Verdict::Change(rule.with_paragraphs(record, new)?),
    };
    Ok((verdict, repeated))
}
