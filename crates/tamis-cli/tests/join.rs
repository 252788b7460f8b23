//! `build --shard` and `join`: several machines build one filter.

#![allow(clippy::unwrap_used)]

mod shell;

use shell::{Shell, lines};

fn read(shell: &Shell, name: &str) -> Vec<u8> {
    std::fs::read(shell.path(name)).unwrap()
}

/// Every machine reads all keys; the joined file is that of one machine.
#[test]
fn parts_of_a_static_filter() {
    let shell = Shell::new();
    // Two shards and more.
    let keys: String = (0..1_300_000).map(|i| format!("{i}\n")).collect();
    shell.file("keys.txt", &keys);
    shell.run("build rate --filter static -o whole keys.txt").ok();
    let build = "build rate --filter static --items 1300000 --fpr 1%";
    let mut kept = 0;
    for i in 1..=3 {
        // Keys that do not fit into memory make no difference.
        let memory = if i == 2 { "--max-memory 110MB" } else { "" };
        let line = format!("{build} --shard {i}/3 {memory} -o part{i} keys.txt --json");
        let report = shell.run(&line).json();
        assert_eq!((&report["part"], &report["of"]), (&i.into(), &3.into()));
        assert_eq!((&report["keys"], &report["secret"]), (&1_300_000.into(), &false.into()));
        kept += report["kept"].as_u64().unwrap();
    }
    assert_eq!(kept, 1_300_000);
    let report = shell.run("join part3 part1 part2 -o all --json").json();
    assert_eq!((&report["parts"], &report["items"]), (&3.into(), &1_300_000.into()));
    assert_eq!((&report["filter"], &report["health"]), (&"static".into(), &"within".into()));
    assert!(read(&shell, "all") == read(&shell, "whole"));

    shell.run("join part1 part2 -o out").refused(&["part 3/3 is missing"]);
    shell.run("join part1 part1 part2 -o out").refused(&["part1", "1/3 was given twice"]);
    shell.run("join part1 keys.txt -o out").refused(&["keys.txt", "not a part"]);
    shell.run("join all -o out").refused(&["not a part", "union"]);
    shell.run("join none -o out").refused(&["no part none", "build --shard"]);
    shell.run("join -o out").refused(&["PART"]);
    shell.run("info part1").refused(&["part of a filter", "tamis join"]);
    shell.run("join part1 part2 part3 -o part2").refused(&["overwrite what it is made from"]);
    shell.run("join part1 part2 part3 -o out --ledger l").refused(&["no release"]);
    shell.run("join part1 part2 part3 -o out --max-memory 1k").refused(&["allowed 1000"]);
    assert!(!shell.path("out").exists());
}

/// A machine that read its own keys only would lose those of the other parts.
#[test]
fn parts_from_other_keys_are_refused() {
    let shell = Shell::new();
    shell.file("a", lines(0..500)).file("b", lines(500..1_000));
    let build = "build rate --filter static --items 1000";
    shell.run(&format!("{build} --shard 1/2 -o p1 a")).ok();
    shell.run(&format!("{build} --shard 2/2 -o p2 b")).ok();
    shell.run("join p1 p2 -o out").refused(&["other keys", "give all keys"]);
    // In another order, they are the same keys.
    shell.run(&format!("{build} --shard 1/2 -o p1 a b")).ok();
    shell.run(&format!("{build} --shard 2/2 -o p2 b a")).ok();
    shell.run("join p1 p2 -o out").ok();
    shell.run("build rate --filter static -o whole a b").ok();
    assert_eq!(read(&shell, "out"), read(&shell, "whole"));
    shell.run(&format!("{build} --seed 1 --shard 2/2 -o p2 b a")).ok();
    shell.run("join p1 p2 -o out").refused(&["p2"]);
    shell.run("build rate --filter static --items 900 --shard 1/1 -o p1 a b").ok();
    shell.run("join p1 -o out").refused(&["1000 distinct keys", "900 were planned"]);
}

/// Every machine reads its own keys.
#[test]
fn parts_of_filters_that_are_merged() {
    let shell = Shell::new();
    shell.file("a", lines(0..500)).file("b", lines(500..1_000)).file("both", lines(0..1_000));
    for kind in ["bloom", "blocked", "split", "counting", "quotient"] {
        let build = format!("build rate --filter {kind} --items 1000 --fpr 1%");
        shell.run(&format!("{build} --shard 1/2 -o p1 a")).ok();
        let text = shell.run(&format!("{build} --shard 2/2 -o p2 b")).ok();
        assert!(text.contains(&format!("part 2/2 of a {kind} filter for 1,000 items")), "{text}");
        shell.run("join p2 p1 -o out").ok();
        shell.run(&format!("{build} -o whole both")).ok();
        assert_eq!(read(&shell, "out"), read(&shell, "whole"), "{kind}");
        shell.run("join p2 -o out").refused(&["part 1/2 is missing"]);
    }
    shell.run("build rate --items 999 --shard 1/2 -o p1 a").ok();
    shell.run("build rate --items 1000 --shard 2/2 -o p2 b").ok();
    shell.run("join p1 p2 -o out").refused(&["p2", "another filter", "1000 items"]);
}

#[test]
fn a_secret_key_goes_with_its_parts() {
    let shell = Shell::new();
    shell.file("a", lines(0..500)).file("key", [7; 32]);
    for i in 1..=2 {
        let line = "build rate --filter static --items 500 --key-file key";
        shell.run(&format!("{line} --shard {i}/2 -o p{i} a")).ok();
    }
    shell.run("join p1 p2 -o out").refused(&["keyed", "--key-file"]);
    shell.run("join p1 p2 -o out --key-file key").ok();
    let found = shell.run("query out a --key-file key").ok();
    assert_eq!(found.lines().count(), 500);
}

/// The parts are secret, and the release is charged once: when they are joined.
#[test]
fn parts_of_a_private_filter() {
    let shell = Shell::new();
    shell.file("keys", lines(0..20_000)).file("others", lines(50_000..70_000));
    shell.run("ledger new book --budget 5").ok();
    let build = "build privacy --items 20000 --epsilon 4 --seed 9";
    for i in 1..=3 {
        let text = shell.run(&format!("{build} --shard {i}/3 -o p{i} keys")).ok();
        assert!(text.contains("keep it to yourself") && text.contains("20,000 read"), "{text}");
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt;
            let mode = shell.path(&format!("p{i}")).metadata().unwrap().permissions().mode();
            assert_eq!(mode & 0o777, 0o600);
        }
    }
    assert_eq!(shell.run("ledger show book --json").json()["spent"], 0.0);
    // What cannot be joined is not charged.
    shell.run("join p1 p2 -o public --ledger book").refused(&["part 3/3 is missing"]);
    shell.run("join p1 p1 p2 p3 -o public --ledger book").refused(&["twice"]);
    assert_eq!(shell.run("ledger show book --json").json()["spent"], 0.0);
    let report = shell.run("join p1 p2 p3 -o public --ledger book --json").json();
    assert_eq!((&report["charged"], &report["method"]), (&true.into(), &"linear".into()));
    let book = shell.run("ledger show book --json").json();
    assert_eq!(book["entries"].as_array().unwrap().len(), 1);
    assert!((book["spent"].as_f64().unwrap() - 3.951_243_719).abs() < 1e-9);
    // The budget does not allow a second release, so none is written.
    shell.run("join p1 p2 p3 -o second --ledger book").refused(&["book"]);
    assert!(!shell.path("second").exists());
    // The join draws nothing: the same parts give the same file.
    shell.run("join p3 p2 p1 -o again").ok();
    assert_eq!(read(&shell, "again"), read(&shell, "public"));
    let measured = shell.run("measure public --members keys --strangers others --json").json();
    // 1.89% of 20,000 each: 377, and five sigma.
    for field in ["false_negatives", "false_positives"] {
        let wrong = measured[field].as_u64().unwrap();
        assert!((280..480).contains(&wrong), "{field}: {wrong}");
    }
}

#[test]
fn shards_are_refused_with_a_remedy() {
    let shell = Shell::new();
    shell.file("keys", lines(0..10)).file("key", [7; 32]);
    shell.run("ledger new book --budget 5").ok();
    for (line, words) in [
        ("rate --shard 3 --items 9", &["no part", "3/16"][..]),
        ("rate --shard 0/4 --items 9", &["0/4", "from 1/N"]),
        ("rate --shard 5/4 --items 9", &["5/4"]),
        ("rate --shard -1/4 --items 9", &["-1/4"]),
        ("rate --shard 1/9999999 --items 9", &["1048576"]),
        ("rate --shard 1/4", &["--items"]),
        ("rate --filter static --shard 1/4", &["--items"]),
        ("rate --filter scalable --shard 1/4 --first 9", &["--items"]),
        ("rate --filter rolling --shard 1/4 --items 9 --window 9", &["grow or forget"]),
        ("rate --as guava --shard 1/4 --items 9", &["--shard"]),
        ("privacy --items 9 --epsilon 4 --shard 1/4", &["--seed"]),
        ("privacy --items 9 --epsilon 4 --seed 1", &["--shard"]),
        ("privacy --items 9 --epsilon 4 --seed 1 --shard 1/4 --ledger book", &["tamis join"]),
        ("privacy --items 9 --epsilon 4 --seed 1 --shard 1/4 --key-file key", &["--seed"]),
        ("privacy --items 9 --epsilon 4 --seed 1 --shard 1/4 --method bloom", &["tamis union"]),
    ] {
        shell.run(&format!("build {line} -o out keys")).refused(words);
    }
    assert!(!shell.path("out").exists());
    // A part replaces a part, and nothing else.
    shell.run("build rate --shard 1/4 --items 9 -o keys keys").refused(&["overwrite"]);
    shell.file("note", "words\n");
    shell.run("build rate --shard 1/4 --items 9 -o note keys").refused(&["no part of a filter"]);
    shell.run("build rate --shard 1/4 --items 9 -o out keys").ok();
    shell.run("build rate --shard 1/4 --items 9 -o out keys").ok();
}
