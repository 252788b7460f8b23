//! `--filter static`: the smallest filter, from sets that may be larger than memory.

#![allow(clippy::unwrap_used)]

mod shell;

use shell::{Shell, lines};

#[test]
fn it_is_planned_built_and_asked() {
    let shell = Shell::new();
    shell.file("keys.txt", lines(0..5_000)).file("others.txt", lines(5_000..25_000));
    let plan = shell.run("plan rate --items 5000 --fpr 1% --filter static --json").json();
    let built = shell.run("build rate --filter static -o f keys.txt --json").json();
    for field in ["promise", "filter", "items", "fpr", "bits", "bytes", "file_bytes", "shards"] {
        assert_eq!(plan[field], built[field], "{field}");
    }
    assert_eq!(plan["filter"], "static");
    assert_eq!(plan["fingerprint_bits"], 7);
    assert!(plan["bits_per_item"].as_f64().unwrap() < 7.3);
    assert_eq!((&built["keys"], &built["distinct"]), (&5_000.into(), &5_000.into()));
    assert_eq!((&built["health"], &built["spilled_bytes"]), (&"within".into(), &0.into()));
    let length = std::fs::metadata(shell.path("f")).unwrap().len();
    assert_eq!(plan["file_bytes"].as_u64(), Some(length));

    let info = shell.run("info f --json").json();
    assert_eq!((&info["filter"], &info["distinct"]), (&"static".into(), &5_000.into()));
    assert_eq!(info["bytes"], plan["bytes"]);
    let text = shell.run("info f").ok();
    assert!(text.contains("5,000 items") && text.contains("cannot be changed"), "{text}");
    let found = shell.run("query f keys.txt").ok();
    assert_eq!(found.lines().count(), 5_000);
    let measured = shell.run("measure f --members keys.txt --strangers others.txt --json").json();
    assert_eq!(measured["false_negatives"], 0);
    // 20,000 strangers at 1%: 200, and five sigma.
    let passed = measured["false_positives"].as_u64().unwrap();
    assert!((130..270).contains(&passed), "{passed}");
    assert!(shell.run("measure f").ok().contains("random strangers"));
    shell.run("show f -o f.svg").ok();
    let drawn = std::fs::read_to_string(shell.path("f.svg")).unwrap();
    assert!(drawn.contains("A solution of equations"), "{drawn}");
    let rate = shell.run("plan rate --items 1e6 --bits 8e6 --filter static --json").json();
    let items = shell.run("plan rate --fpr 1% --bits 8e6 --filter static --json").json();
    for plan in [&rate, &items] {
        assert!((7_900_000..=8_000_000).contains(&plan["bits"].as_u64().unwrap()), "{plan}");
    }
    assert!(rate["fpr"].as_f64().unwrap() < 0.0044 && items["items"].as_u64() > Some(1_170_000));
    shell.run("plan rate --items 1e6 --bits 9 --filter static").refused(&["too few", "nearest"]);
    shell.run("plan rate --bits 9 --filter static").refused(&["two of"]);
    shell.run("plan rate --items 1e6 --fpr 1% --filter static --plot p.svg").ok();
    assert!(std::fs::read_to_string(shell.path("p.svg")).unwrap().contains("this plan: static"));
    let advice = shell.run("plan rate --items 1e6 --fpr 1%").ok();
    assert!(advice.contains("--filter static takes 29% fewer bits: 6.78 an item"), "{advice}");
}

/// The order of keys, their repetition, pipes and several files: the same bytes.
#[test]
fn the_file_depends_on_the_set_alone() {
    let shell = Shell::new();
    let backwards: String = (1_000..3_000).rev().map(|i| lines(i..i + 1)).collect();
    shell.file("all.txt", lines(0..3_000)).file("a.txt", backwards);
    shell.file("b.txt", lines(0..1_500));
    shell.run("build rate --filter static -o one all.txt").ok();
    shell.run("build rate --filter static -o two a.txt b.txt a.txt").ok();
    let bytes = |name: &str| std::fs::read(shell.path(name)).unwrap();
    assert!(bytes("one") == bytes("two"));
    // A pipe needs no --items.
    shell.with_input("build rate --filter static -o three", lines(0..3_000)).ok();
    assert!(bytes("one") == bytes("three"));
    let warned = shell.run("build rate --filter static --items 10 -o four all.txt");
    assert!(warned.err.contains("3,000 distinct keys, more than the 10 of --items"));
    assert!(bytes("one") == bytes("four"));
    shell.run("build rate --filter static -o none /dev/null").ok();
    assert!(shell.run("info none").ok().contains("0 items"));
}

#[test]
fn what_it_cannot_do_is_refused() {
    let shell = Shell::new();
    shell.file("keys.txt", lines(0..100)).file("key", "0123456789abcdef0123456789abcdef");
    shell.run("build rate --filter static -o f keys.txt").ok();
    let before = std::fs::read(shell.path("f")).unwrap();
    for command in ["add f keys.txt", "remove f keys.txt", "union f f -o g", "intersect f f -o g"] {
        shell.run(command).refused(&["static", "build it again"]);
    }
    shell.run("list f").refused(&["static", "list"]);
    assert!(std::fs::read(shell.path("f")).unwrap() == before && !shell.path("g").exists());
    for (options, word) in [
        ("--bits 1000", "--bits"),
        ("--counter-bits 4", "--counter-bits"),
        ("--fpr 1", "1%"),
        ("--fpr 0", "1e-15"),
        ("--hash prefixed", "prefixed"),
        ("--temp-dir nowhere --max-memory 1k", "cannot make a temporary file in nowhere"),
    ] {
        shell.run(&format!("build rate --filter static {options} -o h keys.txt")).refused(&[word]);
        assert!(!shell.path("h").exists(), "{options}");
    }
    shell.run("build rate --temp-dir . -o h keys.txt").refused(&["--filter static"]);
    shell.run("plan rate --filter static --items 10").refused(&["--fpr"]);
    shell.run("build rate --filter static --hash keyed --key-file key -o h keys.txt").ok();
    shell.run("query h keys.txt").refused(&["key"]);
    assert_eq!(shell.run("query h keys.txt --key-file key").ok().lines().count(), 100);
}

/// Runs `tamis`, and says the most memory that it had, in bytes.
#[cfg(target_os = "linux")]
fn peak_memory(shell: &Shell, line: &str) -> u64 {
    let mut child = std::process::Command::new(env!("CARGO_BIN_EXE_tamis"))
        .args(line.split(' '))
        .current_dir(shell.folder.path())
        .stdout(std::process::Stdio::null())
        .spawn()
        .unwrap();
    let status = format!("/proc/{}/status", child.id());
    let mut peak = 0;
    while child.try_wait().unwrap().is_none() {
        let text = std::fs::read_to_string(&status).unwrap_or_default();
        let told = text.lines().find_map(|line| line.strip_prefix("VmHWM:"));
        let kilobytes = told.and_then(|told| told.trim().strip_suffix(" kB")?.parse().ok());
        peak = peak.max(1024 * kilobytes.unwrap_or(0u64));
        std::thread::sleep(std::time::Duration::from_millis(2));
    }
    assert!(child.wait().unwrap().success(), "{line}");
    peak
}

/// The digests of 4,000,000 keys are 64 MB, twice that while they are sorted. Within 80 MB they go
/// through a temporary file, and the filter is the same.
#[cfg(target_os = "linux")]
#[test]
fn the_limit_on_memory_is_kept() {
    let shell = Shell::new();
    shell.file("keys.txt", lines(0..4_000_000));
    let limit = 80_000_000;
    let line = format!("build rate --filter static --max-memory {limit} -o small keys.txt");
    let peak = peak_memory(&shell, &line);
    assert!((20_000_000..limit).contains(&peak), "{peak} bytes");
    // Nothing is left but the keys and the filter.
    assert_eq!(shell.folder.path().read_dir().unwrap().count(), 2);
    let large = peak_memory(&shell, "build rate --filter static -o large keys.txt");
    assert!(large > limit, "the test needs more keys: {large} bytes without a limit");
    let bytes = |name: &str| std::fs::read(shell.path(name)).unwrap();
    assert!(bytes("small") == bytes("large"));
    // What cannot be done within the limit is refused, and leaves nothing.
    shell
        .run("build rate --filter static --max-memory 30M -o none keys.txt")
        .refused(&["memory", "30000000"]);
    assert_eq!(shell.folder.path().read_dir().unwrap().count(), 3);
}

/// A run that is killed leaves no file behind.
#[cfg(unix)]
#[test]
fn an_interrupted_run_leaves_nothing() {
    let shell = Shell::new();
    let mut child = std::process::Command::new(env!("CARGO_BIN_EXE_tamis"))
        .args("build rate --filter static --max-memory 26M --temp-dir . -o f".split(' '))
        .current_dir(shell.folder.path())
        .stdin(std::process::Stdio::piped())
        .spawn()
        .unwrap();
    let mut input = child.stdin.take().unwrap();
    // Enough that keys are on the disk already.
    std::io::Write::write_all(&mut input, lines(0..300_000).as_ref()).unwrap();
    std::thread::sleep(std::time::Duration::from_millis(300));
    child.kill().unwrap();
    child.wait().unwrap();
    let left: Vec<_> = shell.folder.path().read_dir().unwrap().map(|e| e.unwrap().path()).collect();
    assert!(left.iter().all(|path| !path.ends_with("f")), "{left:?}");
    let hidden =
        left.iter().filter_map(|path| path.metadata().ok()).map(|it| it.len()).sum::<u64>();
    assert_eq!(hidden, 0, "{left:?}");
}
