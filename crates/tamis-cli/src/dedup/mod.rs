//! Each record once: a filter remembers what was seen, and what was seen before is left out.
//!
//! The filter errs on one side. A record that it lets through is certainly new; a new one is left
//! out by mistake at the planned rate.

mod pipeline;
mod resume;
mod rule;
mod seen;

pub(crate) use pipeline::{Shape, Source};
pub(crate) use resume::{Progress, beside};
pub(crate) use rule::{Rule, Unit};
pub(crate) use seen::{Seen, plan};

use anyhow::bail;
use pipeline::Digested;
use rule::Found;
use serde::{Deserialize, Serialize};
use std::fs::File;
use std::io::{BufWriter, Read, Write};
use std::path::PathBuf;
use std::time::{Duration, Instant};
use tamis::{Digest, HashFamily};

/// How often progress is written down.
const SAVE_EVERY: Duration = Duration::from_secs(5);

/// What a run has done so far.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Tally {
    /// Records read, and those kept, whole or in part.
    pub(crate) records: u64,
    pub(crate) kept: u64,
    /// Records kept in part.
    pub(crate) changed: u64,
    /// Records that had nothing to compare, and were kept.
    pub(crate) without_field: u64,
    /// Units compared, and those seen before.
    pub(crate) units: u64,
    pub(crate) repeated: u64,
    pub(crate) bytes_read: u64,
    pub(crate) bytes_kept: u64,
}

/// Where kept records go.
pub(crate) enum Output<W: Write> {
    /// To a reader, who gets them at once.
    Stream(W),
    /// To a file, with what it takes to go on after an interruption.
    Saved(Box<Saved>),
}

/// A file of kept records, and what it takes to go on after an interruption.
pub(crate) struct Saved {
    file: BufWriter<File>,
    progress: Progress,
    /// Where the progress is written down, and when it last was.
    path: PathBuf,
    at: Instant,
}

impl<W: Write> Output<W> {
    pub(crate) fn saved(file: File, progress: Progress, path: PathBuf) -> Output<W> {
        let file = BufWriter::with_capacity(1 << 20, file);
        Output::Saved(Box::new(Saved { file, progress, path, at: Instant::now() }))
    }

    fn write(&mut self, bytes: &[u8]) -> std::io::Result<()> {
        match self {
            Output::Stream(out) => out.write_all(bytes),
            Output::Saved(saved) => saved.file.write_all(bytes),
        }
    }

    /// A piece of the input is done. Readers get what there is; files are synced from time to time.
    fn piece_done(&mut self, place: pipeline::Place, tally: &Tally) -> anyhow::Result<()> {
        match self {
            Output::Stream(out) => out.flush()?,
            Output::Saved(saved) => {
                saved.progress.place = place;
                saved.progress.kept_bytes = tally.bytes_kept;
                saved.progress.tally = *tally;
                if saved.at.elapsed() >= SAVE_EVERY {
                    self.save()?;
                }
            }
        }
        Ok(())
    }

    /// Writes down how far the run has come; first what was kept, then that it was.
    pub(crate) fn save(&mut self) -> anyhow::Result<()> {
        if let Output::Saved(saved) = self {
            saved.file.flush()?;
            saved.file.get_ref().sync_data()?;
            saved.progress.write(&saved.path)?;
            saved.at = Instant::now();
        }
        Ok(())
    }
}

/// The filter is full before the input has ended.
#[derive(Debug)]
pub(crate) struct Full {
    pub(crate) distinct: u64,
    pub(crate) planned: u64,
}

impl std::fmt::Display for Full {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Full { distinct, planned } = self;
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
    let mut new = Vec::new();
    pipeline::run(vec![kept], shape, rule, &HashFamily::default(), |piece| {
        new.clear();
        seen.insert(&piece.digests, &mut new)
    })?;
    check_room(seen)
}

/// How much of the input is looked at to judge how many units it holds.
const SAMPLE: u64 = 64 << 20;

/// How many units the sources hold: records are counted, others judged by a sample of each source,
/// with a tenth to spare.
pub(crate) fn count(
    sources: Vec<Source>,
    total_bytes: u64,
    shape: Shape,
    rule: &Rule,
    mut tick: impl FnMut(u64),
) -> anyhow::Result<u64> {
    if rule.unit == Unit::Record {
        return pipeline::count_records(sources, shape, tick);
    }
    let share = SAMPLE / sources.len().max(1) as u64;
    let sample = |source: Source| Source { reader: Box::new(source.reader.take(share)), ..source };
    let sampled = sources.into_iter().map(sample).collect();
    let (mut units, mut bytes) = (0, 0);
    pipeline::run(sampled, shape, rule, &HashFamily::default(), |piece| {
        units += piece.digests.len() as u64;
        bytes += piece.bytes.len() as u64;
        tick(piece.bytes.len() as u64);
        Ok(())
    })?;
    let scale = (total_bytes as f64 / bytes.max(1) as f64).max(1.0);
    Ok((units as f64 * scale * 1.1) as u64)
}

fn check_room(seen: &Seen) -> anyhow::Result<()> {
    if seen.is_overfull() {
        bail!(Full { distinct: seen.distinct(), planned: seen.plan().items() });
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
    mut tick: impl FnMut(u64),
) -> anyhow::Result<()> {
    let (mut new, mut kept) = (Vec::new(), Vec::new());
    let done = pipeline::run(sources, shape, rule, &HashFamily::default(), |piece| {
        kept.clear();
        let mut after = *tally;
        take(&piece, shape, rule, seen, &mut new, &mut kept, &mut after)?;
        after.bytes_read += piece.bytes.len() as u64;
        after.bytes_kept += kept.len() as u64;
        out.write(&kept)?;
        *tally = after;
        tick(piece.bytes.len() as u64);
        out.piece_done(piece.place, tally)
    });
    // The output is of use up to here, whatever happened.
    let saved = out.save();
    done.and(saved)
}

/// Puts what is kept of a piece into `kept`.
fn take(
    piece: &Digested,
    shape: Shape,
    rule: &Rule,
    seen: &mut Seen,
    new: &mut Vec<bool>,
    kept: &mut Vec<u8>,
    tally: &mut Tally,
) -> anyhow::Result<()> {
    new.clear();
    // Close to its capacity the filter gets one record after the other, so that none is judged by
    // an overfull one.
    let at_once = !rule.unit.is_judged_by_record() && piece.digests.len() as u64 <= seen.room();
    if at_once {
        seen.insert(&piece.digests, new)?;
    }
    let mut first = 0;
    for record in &piece.records {
        let bytes = &piece.bytes[record.start..record.end];
        let verdict = match record.found {
            Found::Nothing => {
                tally.without_field += 1;
                Verdict::Keep
            }
            Found::Units(count) => {
                let units = first..first + count;
                first = units.end;
                tally.units += count as u64;
                if !at_once {
                    check_room(seen)?;
                }
                let (verdict, repeated) = match rule.unit {
                    Unit::Ngrams { threshold, .. } => {
                        judge_by_share(&piece.digests[units], threshold, seen)?
                    }
                    Unit::Record | Unit::Paragraphs => {
                        if !at_once {
                            seen.insert(&piece.digests[units.clone()], new)?;
                        }
                        judge_by_unit(rule, bytes, &new[units])?
                    }
                };
                tally.repeated += repeated as u64;
                verdict
            }
        };
        tally.records += 1;
        match &verdict {
            Verdict::Drop => continue,
            Verdict::Keep => kept.extend_from_slice(bytes),
            Verdict::Change(changed) => {
                tally.changed += 1;
                kept.extend_from_slice(changed);
            }
        }
        tally.kept += 1;
        kept.push(shape.separator);
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
    seen.insert(units, &mut Vec::with_capacity(units.len()))?;
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

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashSet;

    const SHAPE: Shape = Shape { separator: b'\n', longest: 1 << 20 };

    /// Gives a few bytes a call, so that a short text is many pieces.
    struct Trickle(std::vec::IntoIter<u8>, usize);

    impl Read for Trickle {
        fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
            let mut read = 0;
            for (place, byte) in buffer.iter_mut().take(self.1).zip(&mut self.0) {
                *place = byte;
                read += 1;
            }
            Ok(read)
        }
    }

    fn source(text: &str, at_once: usize, skip: u64) -> Source {
        let reader = Box::new(Trickle(text.to_owned().into_bytes().into_iter(), at_once));
        Source { name: "test".to_owned(), reader, skip, skipped_records: 0 }
    }

    fn rule(unit: Unit, field: Option<&str>) -> Rule {
        Rule { unit, field: field.map(|path| path.parse().unwrap()), trim_return: true }
    }

    fn seen(items: u64) -> Seen {
        Seen::new(plan(Some(items), 1e-9, None).unwrap()).unwrap()
    }

    /// What is kept of some texts, and the tally.
    fn dedup(texts: &[&str], at_once: usize, rule: &Rule) -> (String, Tally) {
        let (mut kept, mut tally) = (Vec::new(), Tally::default());
        let sources = texts.iter().map(|text| source(text, at_once, 0)).collect();
        let mut out = Output::Stream(&mut kept);
        run(sources, SHAPE, rule, &mut seen(10_000), &mut tally, &mut out, |_| ()).unwrap();
        (String::from_utf8(kept).unwrap(), tally)
    }

    /// Words that repeat, in an order that looks random.
    fn words(count: u64) -> String {
        let word = |i: u64| format!("w{}\n", i.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 50 & 511);
        (0..count).map(word).collect()
    }

    #[test]
    fn lines_are_kept_once_as_a_set_would() {
        let rule = rule(Unit::Record, None);
        for at_once in [1, 7, 64, 1 << 20] {
            for text in ["", "\n", "a", "a\na", "\n\n\n", "a\r\na\nb", &words(3_000)] {
                let mut known = HashSet::new();
                let lines = text.lines().filter(|line| known.insert(line.to_owned()));
                let expected: Vec<&str> = lines.collect();
                let (kept, tally) = dedup(&[text], at_once, &rule);
                let kept: Vec<&str> = kept.lines().collect();
                assert_eq!(kept, expected, "{at_once} bytes at once");
                assert_eq!(tally.records, text.lines().count() as u64);
                assert_eq!(tally.kept, expected.len() as u64);
                assert_eq!(tally.repeated, tally.records - tally.kept);
            }
        }
    }

    #[test]
    fn files_are_one_input() {
        let (kept, _) = dedup(&["a\nb", "b\nc\n", "", "a\nd"], 3, &rule(Unit::Record, None));
        assert_eq!(kept, "a\nb\nc\nd\n");
    }

    #[test]
    fn documents_are_compared_by_field() {
        let text = "{\"id\":1,\"t\":\"x\"}\n{\"id\":2,\"t\":\"x\"}\n{\"id\":3}\n{\"id\":4}\n";
        let (kept, tally) = dedup(&[text], 5, &rule(Unit::Record, Some("t")));
        assert_eq!(kept, "{\"id\":1,\"t\":\"x\"}\n{\"id\":3}\n{\"id\":4}\n");
        assert_eq!((tally.without_field, tally.kept), (2, 3));
    }

    #[test]
    fn paragraphs_are_left_out_one_by_one() {
        let text = "{\"t\":\"a\\nb\\na\"}\n{\"t\":\"b\\n a \"}\n{\"t\":\"c\\nb\"}\n";
        let (kept, tally) = dedup(&[text], 9, &rule(Unit::Paragraphs, Some("t")));
        assert_eq!(kept, "{\"t\":\"a\\nb\\n\"}\n{\"t\":\"c\\n\"}\n");
        assert_eq!((tally.changed, tally.kept, tally.records), (2, 2, 3));
        assert_eq!((tally.units, tally.repeated), (7, 4));
    }

    #[test]
    fn a_share_of_known_runs_makes_a_repetition() {
        let unit = Unit::Ngrams { words: 2, threshold: 0.5 };
        // The second has one of four runs; the third has two of four; the fourth is the first.
        let text = "a b c d e\na b x y z\na b c q r\na  b c d e\nshort\nshort\n";
        let (kept, tally) = dedup(&[text], 100, &rule(unit, None));
        assert_eq!(kept, "a b c d e\na b x y z\nshort\n");
        assert_eq!(tally.units, 4 * 4 + 2);
    }

    #[test]
    fn a_full_filter_stops_the_run_and_what_was_kept_is_right() {
        let mut seen = seen(100);
        let (mut kept, mut tally) = (Vec::new(), Tally::default());
        let text: String = (0..5_000).map(|i| format!("{i}\n")).collect();
        let mut out = Output::Stream(&mut kept);
        let rule = rule(Unit::Record, None);
        let outcome =
            run(vec![source(&text, 64, 0)], SHAPE, &rule, &mut seen, &mut tally, &mut out, |_| ());
        let full = outcome.unwrap_err();
        assert!(full.downcast_ref::<Full>().is_some_and(|full| full.planned == 100), "{full}");
        assert!(text.starts_with(std::str::from_utf8(&kept).unwrap()));
        assert!((80..=101).contains(&tally.kept), "{}", tally.kept);
        assert_eq!(tally.records, tally.kept);
    }

    /// Whatever the place of an interruption, the kept records tell what was seen, and the rest of
    /// the input goes on as if nothing had happened.
    #[test]
    fn a_run_goes_on_where_another_stopped() {
        let documents: String = (0..400u64)
            .map(|i| format!("{{\"t\":\"p{} q\\np{}\\nz{i}\"}}\n", i * i % 53, i * 7 % 31))
            .collect();
        let unit = Unit::Ngrams { words: 2, threshold: 0.9 };
        let cases =
            [rule(Unit::Record, None), rule(Unit::Paragraphs, Some("t")), rule(unit, Some("t"))];
        for rule in cases {
            let text = if rule.field.is_some() { documents.clone() } else { words(2_000) };
            let (whole, whole_tally) = dedup(&[&text], 100, &rule);
            for stop in [1, 2, 30, 31, 70] {
                // The first run ends after so many pieces.
                let (mut kept, mut tally) = (Vec::new(), Tally::default());
                let (mut first, mut place) = (seen(10_000), pipeline::Place::default());
                let mut pieces = 0;
                let _ = pipeline::run(
                    vec![source(&text, 100, 0)],
                    SHAPE,
                    &rule,
                    &HashFamily::default(),
                    |piece| {
                        if pieces == stop {
                            bail!("interrupted");
                        }
                        pieces += 1;
                        place = piece.place;
                        take(
                            &piece,
                            SHAPE,
                            &rule,
                            &mut first,
                            &mut Vec::new(),
                            &mut kept,
                            &mut tally,
                        )
                    },
                );
                // The second has another filter, made from what was kept.
                let mut second = seen(20_000);
                let before = String::from_utf8(kept.clone()).unwrap();
                remember(source(&before, 50, 0), SHAPE, &rule, &mut second).unwrap();
                let mut out = Output::Stream(&mut kept);
                let rest = vec![source(&text, 90, place.bytes)];
                run(rest, SHAPE, &rule, &mut second, &mut tally, &mut out, |_| ()).unwrap();
                assert_eq!(String::from_utf8(kept).unwrap(), whole, "{:?}, {stop}", rule.unit);
                assert_eq!((tally.kept, tally.repeated), (whole_tally.kept, whole_tally.repeated));
            }
        }
    }

    #[test]
    fn errors_name_the_record() {
        let (mut kept, mut tally) = (Vec::new(), Tally::default());
        let text = "{\"t\":\"a\"}\n{\"t\":\"b\"}\nnot JSON\n{\"t\":\"c\"}\n";
        let mut out = Output::Stream(&mut kept);
        let rule = rule(Unit::Record, Some("t"));
        for at_once in [4, 1_000] {
            let sources = vec![source(text, at_once, 0)];
            let outcome = run(sources, SHAPE, &rule, &mut seen(9), &mut tally, &mut out, |_| ());
            let message = format!("{:#}", outcome.unwrap_err());
            assert!(message.starts_with("cannot read test: record 3 is not JSON"), "{message}");
        }
        let shape = Shape { longest: 100, ..SHAPE };
        let endless = "x".repeat(500);
        let outcome = run(
            vec![source(&endless, 60, 0)],
            shape,
            &rule,
            &mut seen(9),
            &mut tally,
            &mut out,
            |_| (),
        );
        assert!(format!("{:#}", outcome.unwrap_err()).contains("longer than 100 bytes"));
    }
}
