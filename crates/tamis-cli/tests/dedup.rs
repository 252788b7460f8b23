//! `tamis dedup` from the shell.

#![allow(clippy::unwrap_used)]

mod shell;

use shell::{Shell, lines};
use std::collections::HashSet;
use std::process::{Command, Stdio};
use std::time::Duration;

/// Lines of which every third repeats an earlier one.
fn repeating(count: u32) -> String {
    (0..count).map(|i| format!("line {}\n", if i % 3 == 2 { i / 2 } else { i })).collect()
}

fn once(text: &str) -> String {
    let mut known = HashSet::new();
    text.lines().filter(|line| known.insert(*line)).map(|line| format!("{line}\n")).collect()
}

#[test]
fn lines_come_once_and_in_order() {
    let shell = Shell::new();
    let text = repeating(30_000);
    shell.file("in.txt", &text);
    assert_eq!(shell.run("dedup in.txt").ok(), once(&text));
    assert_eq!(shell.with_input("dedup --items 1e5", &text).ok(), once(&text));
    assert_eq!(shell.with_input("dedup --max-memory 10MB -", &text).ok(), once(&text));
    assert_eq!(shell.with_input("dedup -0 --items 9", "a\0b\0a\0\n\0\n").ok(), "a\0b\0\n\0");
    assert_eq!(shell.with_input("dedup --items 9", "").ok(), "");
    assert_eq!(shell.run("dedup in.txt in.txt").ok(), once(&text));

    let report = shell.run("dedup in.txt -o out.txt --json").json();
    assert_eq!(std::fs::read_to_string(shell.path("out.txt")).unwrap(), once(&text));
    assert_eq!(report["records"], 30_000);
    let kept = once(&text).lines().count();
    assert_eq!(report["kept"], kept);
    assert_eq!(report["distinct"], kept);
    assert_eq!(report["repeated"], 30_000 - kept);
    assert_eq!(report["bytes_read"], text.len());
    assert_eq!(report["bytes_kept"], once(&text).len());
    assert!(report["expected_mistakes"].as_f64().unwrap() < 0.1);
    assert_eq!(shell.entries(), ["in.txt", "out.txt"]);
    // The memory is that of the filter, and it can be limited.
    let small = shell.run("dedup in.txt -o small.txt --json --max-memory 120kB").json();
    assert!(small["bytes"].as_u64().unwrap() <= 120_000);
    assert_eq!(small["filter"], "bloom");
    shell.run("dedup in.txt -o none.txt --max-memory 1kB").refused(&[
        "30000",
        "--max-memory allows 1000",
        "--fpr",
    ]);
}

/// A compressed file is read as it is; a pipe, too.
#[test]
#[cfg(feature = "compression")]
fn compressed_records_are_read() {
    use std::io::Write;
    let shell = Shell::new();
    let text = repeating(3_000);
    let mut gzip = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    gzip.write_all(text.as_bytes()).unwrap();
    let mut bytes = gzip.finish().unwrap();
    shell.file("in.txt.gz", &bytes);
    assert_eq!(shell.run("dedup in.txt.gz").ok(), once(&text));
    assert_eq!(shell.with_input("dedup --items 3000", &bytes).ok(), once(&text));
    // A stopped run goes on in the middle of a compressed file.
    shell.run("dedup --items 30 in.txt.gz -o out.txt").refused(&["--resume"]);
    shell.run("dedup --resume --items 3000 in.txt.gz -o out.txt").ok();
    assert_eq!(std::fs::read_to_string(shell.path("out.txt")).unwrap(), once(&text));
    // A file that is compressed over and over is refused.
    for _ in 0..4 {
        let mut again = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
        again.write_all(&bytes).unwrap();
        bytes = again.finish().unwrap();
    }
    shell.with_input("dedup --items 9", &bytes).refused(&["more than 4 times"]);
}

#[test]
fn pipes_devices_and_the_files_of_others() {
    let shell = Shell::new();
    // From a pipe into a file; such a run cannot be resumed.
    shell.with_input("dedup --items 9 -o out.txt", "a\nb\na\n").ok();
    assert_eq!(std::fs::read_to_string(shell.path("out.txt")).unwrap(), "a\nb\n");
    let refused = shell.with_input("dedup --resume --items 9 -o new.txt", "a\n");
    refused.refused(&["standard input cannot be read again"]);
    shell.file("in.txt", "a\nb\n");
    shell.run("dedup --resume in.txt").refused(&["-o FILE"]);
    // A device stays one.
    shell.run("dedup in.txt -o /dev/null").ok();
    assert!(!std::fs::metadata("/dev/null").unwrap().is_file());
    // A file that happens to have the name of the records on their way stays.
    shell.file("other.part", "mine");
    shell.run("dedup in.txt -o other").refused(&["other.part exists", "--force"]);
    assert_eq!(std::fs::read_to_string(shell.path("other.part")).unwrap(), "mine");
}

#[test]
fn documents_by_field_by_paragraph_and_by_runs_of_words() {
    let shell = Shell::new();
    let documents = concat!(
        "{\"id\":1,\"d\":{\"text\":\"one\\ntwo\"}}\n",
        "{\"id\":2,\"d\":{\"text\":\"one\\ntwo\"}}\n",
        "{\"id\":3,\"d\":{\"text\":\"two\\nthree\"}}\n",
        "{\"id\":4}\n",
    );
    let ids = |line: &str| -> Vec<u64> {
        let out = shell.with_input(line, documents).ok();
        out.lines()
            .map(|line| serde_json::from_str::<serde_json::Value>(line).unwrap())
            .map(|document| document["id"].as_u64().unwrap())
            .collect()
    };
    assert_eq!(ids("dedup --json-field d.text --items 100"), [1, 3, 4]);
    assert_eq!(ids("dedup --json-field d.text --by paragraphs --items 100"), [1, 3, 4]);
    assert_eq!(ids("dedup --json-field d.text --by ngrams --words 2 --items 100"), [1, 3, 4]);
    let out = shell.with_input("dedup --json-field d.text --by paragraphs --items 9", documents);
    assert!(out.err.contains("1 of those kept lost paragraphs"), "{}", out.err);
    assert!(out.err.contains("1 record without anything to compare"), "{}", out.err);
    assert!(out.ok().contains("{\"id\":3,\"d\":{\"text\":\"three\"}}\n"));
    let bad = shell.with_input("dedup --json-field d.text --items 9", "{}\nplain text\n");
    assert_eq!(bad.code, 2);
    assert!(bad.err.contains("standard input: record 2 is not JSON"), "{}", bad.err);
}

#[test]
fn arguments_that_make_no_sense_are_refused() {
    let shell = Shell::new();
    shell.file("in.txt", lines(0..10)).file("other.txt", "mine");
    shell.run("dedup --by paragraphs in.txt").refused(&["--json-field"]);
    shell.run("dedup --by ngrams --words 0 in.txt").refused(&["--words 0"]);
    shell.run("dedup --words 5 in.txt").refused(&["--words goes with --by ngrams"]);
    shell.run("dedup --threshold 50% in.txt").refused(&["--threshold goes with --by ngrams"]);
    shell.run("dedup --by ngrams --threshold 0 in.txt").refused(&["--threshold 0", "80%"]);
    shell.run("dedup --by ngrams --threshold 120% in.txt").refused(&["--threshold 1.2"]);
    shell.run("dedup --json-field a..b in.txt").refused(&["a..b", "user.email"]);
    shell.run("dedup --items -5 in.txt").refused(&["-5", "negative"]);
    shell.run("dedup --fpr 0 in.txt").refused(&["0"]);
    shell.run("dedup nothere.txt").refused(&["nothere.txt"]);
    shell.run("dedup - -").refused(&["standard input"]);
    shell.run("dedup in.txt -o other.txt").refused(&["other.txt", "--force"]);
    shell.run("dedup in.txt -o in.txt --force").refused(&["in.txt", "another file"]);
    shell.run("dedup in.txt -o .").refused(&["cannot write .: it is a folder"]);
    #[cfg(target_os = "linux")]
    shell.run("dedup in.txt -o /dev/full").refused(&["cannot write the records", "No space"]);
    shell.run("dedup --resume -o new.txt in.txt").refused(&["no interrupted run"]);
    assert_eq!(shell.entries(), ["in.txt", "other.txt"]);
    assert_eq!(std::fs::read_to_string(shell.path("other.txt")).unwrap(), "mine");
    shell.run("dedup in.txt -o other.txt --force").ok();
    assert_eq!(std::fs::read_to_string(shell.path("other.txt")).unwrap(), lines(0..10));
}

#[test]
fn a_full_filter_stops_and_the_run_goes_on_with_a_larger_one() {
    let shell = Shell::new();
    let text = repeating(200_000);
    shell.file("a.txt", &text).file("b.txt", lines(0..50_000));
    let stopped = shell.run("dedup --items 60000 a.txt b.txt -o out.txt");
    stopped.refused(&["planned for 60,000 distinct records", "--resume --items"]);
    assert_eq!(shell.entries(), ["a.txt", "b.txt", "out.txt.part", "out.txt.progress"]);
    shell.run("dedup a.txt b.txt -o out.txt").refused(&["was interrupted", "--resume", "--force"]);
    shell.run("dedup --resume b.txt -o out.txt").refused(&["other inputs"]);
    // What somebody put there in the meantime stays.
    shell.file("out.txt", "mine");
    shell.run("dedup --resume --items 1e6 a.txt b.txt -o out.txt").refused(&["out.txt exists"]);
    std::fs::remove_file(shell.path("out.txt")).unwrap();
    shell.run("dedup --resume -0 a.txt b.txt -o out.txt").refused(&["what is compared"]);
    // A crash may leave records behind the last note; they are read again, not twice.
    let mut part = std::fs::read(shell.path("out.txt.part")).unwrap();
    part.extend_from_slice(b"half a rec");
    shell.file("out.txt.part", &part);
    shell.run("dedup --resume --items 80000 a.txt b.txt -o out.txt").refused(&["is full"]);
    shell.run("dedup --resume --items 1e6 a.txt b.txt -o out.txt").ok();
    let expected = once(&(text + &lines(0..50_000)));
    assert_eq!(std::fs::read_to_string(shell.path("out.txt")).unwrap(), expected);
    assert_eq!(shell.entries(), ["a.txt", "b.txt", "out.txt"]);
    // Without a file there is nothing to resume.
    let stream = shell.run("dedup --items 6 b.txt");
    assert_eq!(stream.code, 2);
    assert!(stream.err.contains("start again with --items"), "{}", stream.err);
}

#[test]
fn a_killed_run_goes_on() {
    let shell = Shell::new();
    let text = repeating(400_000);
    shell.file("in.txt", &text);
    let words = "dedup --items 1e6 in.txt -o out.txt";
    for wait in [5, 20, 60] {
        let mut child = Command::new(env!("CARGO_BIN_EXE_tamis"))
            .args(
                words
                    .split(' ')
                    .chain(shell.path("out.txt.progress").exists().then_some("--resume")),
            )
            .current_dir(shell.folder.path())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        std::thread::sleep(Duration::from_millis(wait));
        child.kill().unwrap();
        child.wait().unwrap();
        if shell.path("out.txt").exists() {
            break; // it was faster
        }
    }
    if !shell.path("out.txt").exists() {
        let resume = if shell.path("out.txt.progress").exists() { " --resume" } else { "" };
        shell.run(&format!("{words}{resume}")).ok();
    }
    assert_eq!(std::fs::read_to_string(shell.path("out.txt")).unwrap(), once(&text));
}

#[test]
fn damaged_notes_are_refused() {
    let shell = Shell::new();
    shell.file("in.txt", lines(0..200_000));
    shell.run("dedup --items 150000 in.txt -o out.txt").refused(&["full"]);
    let note = std::fs::read_to_string(shell.path("out.txt.progress")).unwrap();
    for (bad, words) in [
        ("{}".to_owned(), "cannot read out.txt.progress"),
        (note.replace("\"version\":1", "\"version\":2"), "another version"),
        (note.replace("\"source\":0", "\"source\":7"), "damaged"),
        (note.replace("\"kept_bytes\":", "\"kept_bytes\":1"), "damaged"),
        (
            note.replace(
                "\"place\":{\"source\":0,\"bytes\":",
                "\"place\":{\"source\":0,\"bytes\":1",
            ),
            "damaged",
        ),
        (note[..note.len() / 2].to_owned(), "cannot read out.txt.progress"),
    ] {
        shell.file("out.txt.progress", bad);
        shell.run("dedup --resume in.txt -o out.txt").refused(&[words]);
    }
    shell.file("out.txt.progress", &note).file("out.txt.part", "");
    shell.run("dedup --resume in.txt -o out.txt").refused(&["shorter than it was"]);
    shell.run("dedup --force in.txt -o out.txt").ok();
    assert_eq!(std::fs::read_to_string(shell.path("out.txt")).unwrap(), lines(0..200_000));
}

#[test]
fn blank_lines_and_missing_fields_are_told() {
    let shell = Shell::new();
    let text = "{\"t\":1}\n\n{\"t\":1}\r\n  \n{\"t\":2}\n\n";
    let ran = shell.with_input("dedup --json-field t --items 9", text);
    assert!(ran.err.contains("records   3 read, 2 kept") && ran.err.contains("3 blank lines"));
    assert!(!ran.err.contains("warning"), "{}", ran.err);
    assert_eq!(ran.ok(), "{\"t\":1}\n{\"t\":2}\n");
    let ran = shell.with_input("dedup --json-field nosuch --items 9", text);
    assert!(ran.err.contains("warning: no record has the field nosuch"), "{}", ran.err);
    assert_eq!(ran.ok().lines().count(), 3);
    // Lines may be blank: they are records like others.
    assert_eq!(shell.with_input("dedup --items 9", "\na\n\n").ok(), "\na\n");
}

/// The sample that plans the filter sees through compression: the plan holds all there is, and not
/// much more.
#[cfg(feature = "compression")]
#[test]
fn paragraphs_of_compressed_files_are_estimated() {
    use std::io::Write;
    let shell = Shell::new();
    let document = |i: u32| {
        let paragraph =
            |j: u32| format!("{}\\n", "very common words ".repeat(8) + &(i * 8 + j).to_string());
        format!("{{\"t\":\"{}\"}}\n", (0..8).map(paragraph).collect::<String>())
    };
    let count = 22_000;
    let text: String = (0..count).map(document).collect();
    assert!(text.len() > 25 << 20, "more than is sampled");
    let mut gzip = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    gzip.write_all(text.as_bytes()).unwrap();
    let gzip = gzip.finish().unwrap();
    let zstd = zstd::encode_all(text.as_bytes(), 3).unwrap();
    assert!(zstd.len() < text.len() / 10);
    shell.file("a.gz", gzip).file("a.zst", zstd);
    for name in ["a.gz", "a.zst"] {
        let line = format!("dedup --json-field t --by paragraphs --json -o out.{name} {name}");
        let report = shell.run(&line).json();
        let (items, paragraphs) = (report["items"].as_u64().unwrap(), u64::from(count) * 8);
        assert_eq!(report["distinct"], paragraphs, "{name}");
        assert!((paragraphs..paragraphs * 5 / 4).contains(&items), "{name}: {items} planned");
    }
}

/// What is suggested for a full filter suffices.
#[test]
fn a_full_filter_says_how_many_items_suffice() {
    let shell = Shell::new();
    shell.file("in.txt", lines(0..100_000));
    let stopped = shell.run("dedup --items 50 in.txt -o out.txt").refused(&["--resume --items"]);
    let (_, more) = stopped.err.trim().rsplit_once(' ').unwrap();
    let more = more.to_owned();
    shell.run(&format!("dedup --resume --items {more} in.txt -o out.txt")).ok();
    assert_eq!(std::fs::read_to_string(shell.path("out.txt")).unwrap(), lines(0..100_000));
}

/// A run that is under way keeps its note and its records, whatever another run tries.
#[test]
fn a_live_run_is_left_alone() {
    let shell = Shell::new();
    shell.file("other.txt", lines(0..10));
    let mut child = Command::new(env!("CARGO_BIN_EXE_tamis"))
        .args(["dedup", "--items", "9", "-", "-o", "out.txt"])
        .current_dir(shell.folder.path())
        .stdin(Stdio::piped())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let start = std::time::Instant::now();
    while !shell.path("out.txt.progress").exists() {
        assert!(start.elapsed() < Duration::from_secs(20), "no note");
        std::thread::sleep(Duration::from_millis(5));
    }
    let note = std::fs::read(shell.path("out.txt.progress")).unwrap();
    for options in ["--force", "--resume"] {
        shell.run(&format!("dedup {options} other.txt -o out.txt")).refused(&[]);
        assert_eq!(std::fs::read(shell.path("out.txt.progress")).unwrap(), note, "{options}");
    }
    shell.run("dedup --force other.txt -o out.txt").refused(&["another run is writing out.txt"]);
    std::io::Write::write_all(&mut child.stdin.take().unwrap(), b"ant\nant\nbee\n").unwrap();
    assert!(child.wait().unwrap().success());
    assert_eq!(std::fs::read_to_string(shell.path("out.txt")).unwrap(), "ant\nbee\n");
    assert_eq!(shell.entries(), ["other.txt", "out.txt"]);
}
