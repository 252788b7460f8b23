//! `--filter scalable`, which grows, and `--filter rolling`, which forgets.

#![allow(clippy::unwrap_used)]

mod shell;

use shell::{Shell, lines};
use std::thread::sleep;
use std::time::Duration;

#[test]
fn a_pipe_of_any_length_needs_no_items() {
    let shell = Shell::new();
    shell.file("keys.txt", lines(0..20_000)).file("others.txt", lines(20_000..60_000));
    let built = shell.with_input("build rate --filter scalable -o f --json", lines(0..20_000));
    let built = built.json();
    let plan = shell.run("plan rate --filter scalable --items 20000 --fpr 1% --json").json();
    for field in ["promise", "filter", "fpr", "bits", "bytes", "file_bytes", "first", "growth"] {
        assert_eq!(plan[field], built[field], "{field}");
    }
    assert_eq!((&plan["filter"], &plan["items"]), (&"scalable".into(), &20_000.into()));
    assert_eq!((&built["keys"], &built["items"]), (&20_000.into(), &25_000.into()));
    let links = built["links"].as_array().unwrap();
    assert_eq!(links.len(), plan["links"].as_array().unwrap().len());
    let held: u64 = links.iter().map(|link| link["len"].as_u64().unwrap()).sum();
    assert_eq!(built["certainly_new"].as_u64(), Some(held));
    let length = std::fs::metadata(shell.path("f")).unwrap().len();
    assert_eq!(plan["file_bytes"].as_u64(), Some(length));

    let info = shell.run("info f --json").json();
    assert_eq!((&info["len"], &info["health"]), (&held.into(), &"within".into()));
    assert_eq!((&info["links"], &info["bytes"]), (&built["links"], &built["bytes"]));
    let text = shell.run("info f").ok();
    assert!(text.contains("3 links for 73,000 items, then another one"), "{text}");
    assert_eq!(shell.run("query f keys.txt").ok().lines().count(), 20_000);
    let measured = shell.run("measure f --members keys.txt --strangers others.txt --json").json();
    assert_eq!(measured["false_negatives"], 0);
    assert!(measured["false_positives"].as_u64().unwrap() < 400, "{measured}");
    assert!(shell.run("measure f").ok().contains("planned 1%"));
    shell.run("show f -o f.svg").ok();
    let drawn = std::fs::read_to_string(shell.path("f.svg")).unwrap();
    assert!(drawn.contains("link 3: "), "{drawn}");

    // It grows on, and repeats change nothing.
    let before = std::fs::read(shell.path("f")).unwrap();
    let again = shell.run("add f keys.txt --json").json();
    assert_eq!(again["certainly_new"], 0);
    assert!(std::fs::read(shell.path("f")).unwrap() == before);
    shell.run("add f others.txt").ok();
    assert_eq!(shell.run("query f others.txt").ok().lines().count(), 40_000);
    assert!(shell.run("info f").ok().contains("3 links"));
}

#[test]
fn grown_filters_are_united() {
    let shell = Shell::new();
    shell.file("a.txt", lines(0..3_000)).file("b.txt", lines(2_000..9_000));
    shell.run("build rate --filter scalable --first 100 -o a a.txt").ok();
    shell.run("build rate --filter scalable --first 500 --growth 3 -o b b.txt").ok();
    let merged = shell.run("union a b -o c --json").json();
    assert_eq!(merged["health"], "within");
    for name in ["a.txt", "b.txt"] {
        let asked = shell.run(&format!("query -v -c c {name}"));
        assert_eq!((asked.code, asked.out.trim()), (1, "0"), "{name}");
    }
    shell.run("intersect a b -o d").refused(&["scalable", "cannot keep what both hold"]);
    shell.run("remove a a.txt").refused(&["scalable", "cannot forget", "quotient"]);
}

#[test]
fn the_last_keys_are_remembered() {
    let shell = Shell::new();
    let add = "add --window 1000 f";
    for part in 0..20 {
        shell.with_input(add, lines(500 * part..500 * (part + 1))).ok();
    }
    let passing = |range| shell.with_input("query -c f", lines(range)).out.trim().to_owned();
    assert_eq!(passing(9_000..10_000), "1000");
    let old: u32 = passing(0..8_000).parse().unwrap();
    assert!(old < 200, "{old}");
    let info = shell.run("info f --json").json();
    assert_eq!((&info["filter"], &info["window_insertions"]), (&"rolling".into(), &1_000.into()));
    assert!(shell.run("info f").ok().contains("the last 1,000 insertions"));
    // The same as one built at once.
    let built = shell.with_input("build rate --filter rolling --window 1e3 -o g", lines(0..10_000));
    built.ok();
    assert!(std::fs::read(shell.path("f")).unwrap() == std::fs::read(shell.path("g")).unwrap());
    // A key is new if it was not among the last four.
    let stream = ["a", "b", "a", "c"].repeat(3).join("\n");
    let fresh = shell.with_input("add --print-new --window 4 --fpr 1e-6 h", stream);
    assert_eq!(fresh.ok(), "a\nb\nc\n");
    let plan = shell.run("plan rate --filter rolling --window 1e6 --fpr 1% --json").json();
    assert_eq!((&plan["generations"], &plan["bytes"]), (&5.into(), &1_829_840.into()));

    shell.run("add --window 2000 f").refused(&["1,000 insertions", "2,000 insertions"]);
    shell.run("add --window 1h f").refused(&["1,000 insertions", "1 hour"]);
    shell.run("add --window 1000 --fpr 2% f").refused(&["1,000 items", "1%", "--fpr"]);
    shell.run("union f g -o u").refused(&["window of time"]);
    shell.run("show f -o f.svg").ok();
}

#[test]
fn time_passes() {
    let shell = Shell::new();
    let add = "add --window 2s --items 1000 f";
    shell.with_input(add, lines(0..500)).ok();
    assert_eq!(shell.with_input("query -c f", lines(0..500)).ok().trim(), "500");
    // Two filters by the same clock.
    shell.with_input("add --window 2s --items 1000 g", lines(500..600)).ok();
    shell.run("union f g -o u").ok();
    assert_eq!(shell.with_input("query -c u", lines(0..600)).ok().trim(), "600");
    sleep(Duration::from_millis(4_100));
    let forgotten = shell.with_input("query -c f", lines(0..500));
    assert_eq!((forgotten.code, forgotten.out.trim()), (1, "0"));
    shell.with_input(add, lines(0..10)).ok();
    assert_eq!(shell.with_input("query -c f", lines(0..500)).ok().trim(), "10");
}

/// Options that do not go together, and plans that cannot be.
#[test]
fn what_cannot_be_is_refused() {
    let shell = Shell::new();
    shell.file("keys.txt", lines(0..300));
    shell.run("build rate -o b keys.txt").ok();
    let cases: &[(&str, &[&str])] = &[
        ("build rate --filter scalable --items 5 -o f", &["needs no --items", "--first"]),
        ("build rate --filter scalable --bits 5 -o f", &["--bits", "--fpr"]),
        ("build rate --filter scalable --window 5 -o f", &["--window", "--filter rolling"]),
        ("build rate --filter scalable --first 0 -o f", &["at least 1 item"]),
        ("build rate --filter scalable --growth 0 -o f", &["1 to 32768"]),
        ("build rate --filter scalable --fpr 0 -o f", &["nearest"]),
        ("build rate --filter scalable --fpr 5 -o f", &["write 5%"]),
        ("build rate --filter scalable --hash prefixed -o f", &["128-bit digest"]),
        ("build rate --filter scalable --first 1e12 --fpr 1e-12 -o f", &["scalable", "nearest"]),
        ("build rate --filter rolling -o f", &["--window 24h"]),
        ("build rate --filter rolling --window 1h -o f", &["--items N"]),
        ("build rate --filter rolling --window 5 --items 6 -o f", &["leave --items out"]),
        ("build rate --filter rolling --window 5 --growth 2 -o f", &["--filter scalable"]),
        ("build rate --window 5 -o f keys.txt", &["--filter rolling"]),
        ("build rate --filter static --first 5 -o f keys.txt", &["--filter scalable"]),
        ("build rate --filter rolling --window 5m -o f", &["5min", "5e6"]),
        ("build rate --filter rolling --window 0 -o f", &["at least 1"]),
        ("build rate --filter rolling --window 1e9 --max-memory 1MB -o f", &["1000000"]),
        ("plan rate --filter scalable --items 1e6 --plot p.svg", &["--plot"]),
        ("plan rate --filter scalable --items 1e30", &["too large"]),
        ("plan rate --filter scalable --growth 1 --items 1e9 --fpr 1%", &["full", "128 links"]),
        ("add --window 5 b keys.txt", &["bloom", "no window"]),
        ("add f keys.txt", &["no filter", "tamis build"]),
        ("add --items 5 b keys.txt", &["--window"]),
        ("add --window 1h f keys.txt", &["--items N"]),
    ];
    for (line, words) in cases {
        shell.run(line).refused(words);
    }
    assert_eq!(shell.entries(), ["b", "keys.txt"]);
    let limited = "build rate --filter scalable --max-memory 2kB -o f";
    shell.with_input(limited, lines(0..100_000)).refused(&["allowed 2000"]);
    // A quotient filter that is full says how it grows, and is left as it was.
    shell.run("build rate --filter quotient --items 100 -o q").ok();
    let before = std::fs::read(shell.path("q")).unwrap();
    shell.run("add q keys.txt").refused(&["q is full", "tamis grow q --items 252"]);
    assert!(std::fs::read(shell.path("q")).unwrap() == before);
    shell.run("grow q --items 300").ok();
    shell.run("add q keys.txt").ok();
}
