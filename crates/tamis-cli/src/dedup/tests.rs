//! Kept records against a set of lines, at every place where an input can be cut.

use super::*;
use std::collections::HashSet;
use std::io::Read;
use std::sync::Arc;

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
    Source {
        name: "test".to_owned(),
        reader,
        size: None,
        bytes: Arc::default(),
        skip,
        skipped_records: 0,
    }
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
    run(sources, SHAPE, rule, &mut seen(10_000), &mut tally, &mut out, || ()).unwrap();
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
        run(vec![source(&text, 64, 0)], SHAPE, &rule, &mut seen, &mut tally, &mut out, || ());
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
                    take(piece, SHAPE, &rule, &mut first, &mut kept, &mut tally)
                },
            );
            // The second has another filter, made from what was kept.
            let mut second = seen(20_000);
            let before = String::from_utf8(kept.clone()).unwrap();
            remember(source(&before, 50, 0), SHAPE, &rule, &mut second).unwrap();
            let mut out = Output::Stream(&mut kept);
            let rest = vec![source(&text, 90, place.bytes)];
            run(rest, SHAPE, &rule, &mut second, &mut tally, &mut out, || ()).unwrap();
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
        let outcome = run(sources, SHAPE, &rule, &mut seen(9), &mut tally, &mut out, || ());
        let message = format!("{:#}", outcome.unwrap_err());
        assert!(message.starts_with("cannot read test: record 3 is not JSON"), "{message}");
    }
    let shape = Shape { longest: 100, ..SHAPE };
    let endless = "x".repeat(500);
    let outcome =
        run(vec![source(&endless, 60, 0)], shape, &rule, &mut seen(9), &mut tally, &mut out, || ());
    assert!(format!("{:#}", outcome.unwrap_err()).contains("longer than 100 bytes"));
}
