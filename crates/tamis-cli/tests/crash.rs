//! Processes killed, disks filled and files limited in the middle of a change: afterwards there is
//! the old file or the new one, whole, and a ledger that counts every release that exists.
//!
//! What a killed process may leave behind is a temporary file, `.tamis-` and some letters, in the
//! folder of the file that was being written; nothing reads it, and it can be deleted.

#![cfg(unix)]
#![allow(clippy::unwrap_used)]

mod shell;

use shell::{Shell, lines};
use std::collections::BTreeSet;
use std::fs;
use std::os::unix::process::ExitStatusExt;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};
use tamis::privacy::{Ledger, LedgerError};
use tamis::{AnyFilter, Open};

/// Starts `tamis` and does not wait.
fn start(shell: &Shell, line: &str) -> Child {
    Command::new(env!("CARGO_BIN_EXE_tamis"))
        .args(line.split(' '))
        .current_dir(shell.folder.path())
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap()
}

/// Runs a command to its end, and says how long it took.
fn duration(shell: &Shell, line: &str) -> Duration {
    let begin = Instant::now();
    assert!(start(shell, line).wait().unwrap().success(), "{line}");
    begin.elapsed()
}

/// Runs the command many times and kills each run at another moment of its life; `check` looks at
/// what is there afterwards. Says how many were killed before they had ended by themselves.
fn kill_often(shell: &Shell, line: &str, rounds: u32, mut check: impl FnMut(u32)) -> u32 {
    // The first run may be slower than others.
    let whole = (0..3).map(|_| {
        let whole = duration(shell, line);
        check(0);
        whole
    });
    let whole = whole.min().unwrap();
    let mut killed = 0;
    for round in 1..=rounds {
        let mut child = start(shell, line);
        // The last moments, when the file is written, synced and renamed, are the dangerous ones.
        let share = f64::from(round) / f64::from(rounds);
        std::thread::sleep(whole.mul_f64(if round % 2 == 0 { share } else { 0.6 + 0.5 * share }));
        let _ = child.kill();
        killed += u32::from(child.wait().unwrap().signal() == Some(9));
        check(round);
    }
    killed
}

/// The filter in the file, verified; a file that is damaged or not there fails the test.
#[track_caller]
fn verified(shell: &Shell, name: &str) -> AnyFilter {
    let path = shell.path(name);
    Open::new().verify(true).path(&path).unwrap_or_else(|error| panic!("{name}: {error}"))
}

/// The folder holds these files and temporary ones, and nothing else.
#[track_caller]
fn only(shell: &Shell, names: &[&str]) {
    for entry in shell.entries() {
        assert!(
            names.contains(&&*entry) || entry.starts_with(".tamis-"),
            "{entry} was left behind"
        );
    }
    for name in names {
        assert!(shell.path(name).exists(), "{name} is gone");
    }
}

/// A file is replaced by another: the old or the new one is there, at every moment.
#[test]
fn a_build_leaves_the_old_filter_or_the_new_one() {
    for (count, options) in [(500u32, "--items 500"), (20_000, "--items 3e6 --filter blocked")] {
        let shell = Shell::new();
        shell.file("old.txt", lines(0..10)).file("new.txt", lines(0..count));
        shell.run(&format!("build rate {options} -o f old.txt")).ok();
        let old = verified(&shell, "f");
        let build = format!("build rate {options} -o f new.txt");
        let mut seen = BTreeSet::new();
        kill_often(&shell, &build, 15, |_| {
            let found = verified(&shell, "f");
            let is_old = found == old;
            assert!(is_old || found.contains(format!("key {}", count - 1).as_str()).unwrap());
            assert!(found.contains("key 3").unwrap());
            seen.insert(is_old);
            // The next round begins with the old one.
            old.save(shell.path("f")).unwrap();
            only(&shell, &["f", "new.txt", "old.txt"]);
        });
        assert!(seen.contains(&false), "nothing was ever built");
    }
}

/// A new file is there whole, or not at all.
#[test]
fn a_first_build_is_whole_or_nothing() {
    let shell = Shell::new();
    shell.file("keys.txt", lines(0..20_000));
    kill_often(&shell, "build rate --items 2e6 -o f keys.txt", 12, |_| {
        if shell.path("f").exists() {
            assert!(verified(&shell, "f").contains("key 19999").unwrap());
            fs::remove_file(shell.path("f")).unwrap();
        }
        only(&shell, &["keys.txt"]);
    });
    // What killed builds left behind does not stand in the way.
    shell.run("build rate -o f keys.txt").ok();
    shell.run("add f keys.txt").ok();
}

/// What was added before stays, and what is added now comes all at once.
#[test]
fn an_add_leaves_the_old_filter_or_the_new_one() {
    let shell = Shell::new();
    shell.file("more.txt", lines(100..5_100)).file("keys.txt", lines(0..100));
    shell.run("build rate --items 1e6 --filter counting -o f keys.txt").ok();
    let old = verified(&shell, "f");
    let mut seen = BTreeSet::new();
    kill_often(&shell, "add f more.txt", 15, |_| {
        let found = verified(&shell, "f");
        assert!((0..100).all(|i| found.contains(format!("key {i}").as_str()).unwrap()));
        let added =
            (100..5_100).filter(|i| found.contains(format!("key {i}").as_str()).unwrap()).count();
        assert!(added < 200 || added == 5_000, "{added} of 5000");
        seen.insert(added == 5_000);
        old.save(shell.path("f")).unwrap();
        only(&shell, &["f", "keys.txt", "more.txt"]);
    });
    assert!(seen.contains(&true), "nothing was ever added");
}

/// The union may replace one of the filters merged.
#[test]
fn a_union_leaves_the_old_filter_or_the_new_one() {
    let shell = Shell::new();
    shell.file("a.txt", lines(0..1_000)).file("b.txt", lines(1_000..2_000));
    shell.run("build rate --items 2e6 -o a a.txt").ok();
    shell.run("build rate --items 2e6 -o b b.txt").ok();
    let (a, b) = (verified(&shell, "a"), verified(&shell, "b"));
    let mut both = a.clone();
    both.union(&b).unwrap();
    kill_often(&shell, "union a b -o a", 15, |_| {
        let found = verified(&shell, "a");
        assert!(found == a || found == both);
        assert_eq!(verified(&shell, "b"), b);
        a.save(shell.path("a")).unwrap();
        only(&shell, &["a", "a.txt", "b", "b.txt"]);
    });
}

/// Every release that exists is paid for, however the process ended; and what is torn says so and
/// can be repaired.
#[test]
fn releases_are_paid_for() {
    for (build, release) in [
        (
            "build privacy --items 1e5 --epsilon 2 --method bloom --private -o private keys.txt",
            "publish private --epsilon 0.5 --ledger book -o public",
        ),
        (
            "build rate --items 10 -o private keys.txt",
            "build privacy --items 1e4 --epsilon 0.5 --ledger book -o public keys.txt",
        ),
    ] {
        let shell = Shell::new();
        shell.file("keys.txt", lines(0..3_000));
        shell.run("ledger new book --budget 1000").ok();
        shell.run(build).ok();
        let mut releases = BTreeSet::new();
        let mut charged = 0;
        let killed = kill_often(&shell, release, 25, |round| {
            if shell.path("public").exists() {
                let public = verified(&shell, "public");
                let loss = public.epsilon().unwrap();
                // Each is drawn anew: no two are equal.
                releases.insert(fs::read(shell.path("public")).unwrap());
                assert!(loss.to_f64() <= 0.5);
                fs::remove_file(shell.path("public")).unwrap();
            }
            let book = match Ledger::open(shell.path("book")) {
                Err(tamis::Error::Ledger(LedgerError::Torn { .. })) => {
                    Ledger::repair(shell.path("book")).unwrap()
                }
                other => other.unwrap(),
            };
            let entries = book.entries().len();
            assert!(entries >= releases.len(), "{} releases, {entries} charges", releases.len());
            assert!(
                entries == charged || entries == charged + 1,
                "round {round}: {charged}, then {entries}"
            );
            charged = entries;
            only(&shell, &["book", "keys.txt", "private"]);
        });
        assert!(!releases.is_empty() && killed > 0, "{} releases, {killed} killed", releases.len());
    }
}

/// A ledger is made whole or not at all.
#[test]
fn a_new_ledger_is_whole_or_nothing() {
    let shell = Shell::new();
    kill_often(&shell, "ledger new book --budget 3", 10, |_| {
        if shell.path("book").exists() {
            assert_eq!(Ledger::open(shell.path("book")).unwrap().budget().to_string(), "3");
            fs::remove_file(shell.path("book")).unwrap();
        }
        only(&shell, &[]);
    });
}

/// Runs a script in which `$tamis` is the program, in the folder.
fn script(shell: &Shell, text: &str) -> (Option<i32>, String) {
    let output = Command::new("sh")
        .args(["-c", text])
        .env("tamis", env!("CARGO_BIN_EXE_tamis"))
        .env_remove("TAMIS_MAX_MEMORY")
        .current_dir(shell.folder.path())
        .stdin(Stdio::null())
        .output()
        .unwrap();
    let text = [output.stdout, output.stderr].concat();
    (output.status.code(), String::from_utf8_lossy(&text).into_owned())
}

/// A limit on the size of files, where the write fails (`trap`) and where the process dies of it.
#[test]
fn a_limit_on_the_size_of_files_changes_nothing() {
    for trap in ["trap '' XFSZ;", ""] {
        let shell = Shell::new();
        shell.file("keys.txt", lines(0..5_000)).file("more.txt", lines(5_000..6_000));
        for build in
            ["build rate --items 1e5 -o f keys.txt", "build rate --items 1e5 -o g more.txt"]
        {
            shell.run(build).ok();
        }
        let private = "build privacy --items 1e5 --epsilon 2 --method bloom --private -o private";
        shell.run(&format!("{private} keys.txt")).ok();
        shell.run("ledger new book --budget 10").ok();
        let before: Vec<Vec<u8>> =
            ["f", "g", "private"].map(|name| fs::read(shell.path(name)).unwrap()).into();
        for command in [
            "build rate --items 1e5 -o f more.txt",
            "build rate --items 1e5 -o h more.txt",
            "add f more.txt",
            "union f g -o f",
            "publish private --epsilon 1 --ledger book -o public",
        ] {
            let (code, said) =
                script(&shell, &format!("ulimit -c 0; {trap} ulimit -f 8; $tamis {command}"));
            assert!(code != Some(0), "{command}: {said}");
            if !trap.is_empty() {
                assert_eq!(code, Some(2), "{command}: {said}");
                assert!(said.contains("tamis: cannot write"), "{command}: {said}");
            }
            let after: Vec<Vec<u8>> =
                ["f", "g", "private"].map(|name| fs::read(shell.path(name)).unwrap()).into();
            assert_eq!(after, before, "{command}");
            assert!(!shell.path("public").exists() && !shell.path("h").exists(), "{command}");
        }
        only(&shell, &["book", "f", "g", "keys.txt", "more.txt", "private"]);
        if !trap.is_empty() {
            assert_eq!(
                shell.entries().len(),
                6,
                "a process that lives cleans up: {:?}",
                shell.entries()
            );
        }
        // The release failed after it was paid for: that counts too much, never too little.
        assert_eq!(Ledger::open(shell.path("book")).unwrap().spent().to_string(), "1");
    }
}

/// A disk of 200 KiB, where the system lets us have one: full in the middle of a file.
#[test]
fn a_full_disk_changes_nothing() {
    let shell = Shell::new();
    shell.file("keys.txt", lines(0..1_000)).file("more.txt", lines(1_000..1_500));
    fs::create_dir(shell.path("disk")).unwrap();
    let inside = "set -u; cd disk; \
        $tamis build rate --items 5e4 -o f ../keys.txt; \
        $tamis ledger new book --budget 10; \
        $tamis build privacy --items 4e4 --epsilon 2 --method bloom --private -o private \
            ../keys.txt; \
        sum f private > ../before; \
        head -c 1000000 /dev/zero > filler; \
        for command in 'build rate --items 5e4 -o f ../more.txt' 'add f ../more.txt' \
            'union f f -o f' 'build rate --items 5e4 -o g ../more.txt' \
            'publish private --epsilon 1 --ledger book -o public'; do \
            if $tamis $command; then echo \"SUCCEEDED $command\"; fi; done; \
        sum f private > ../after; ls -a > ../left; cat book > ../book; \
        $tamis info f; echo FINISHED";
    let mounted = "mount -t tmpfs -o size=200k tmpfs disk || { echo NO DISK; exit 0; };";
    let text = "unshare -rm sh -c \"$inside\" || echo NO DISK";
    let output = Command::new("sh")
        .args(["-c", text])
        .env("inside", format!("{mounted} {inside}"))
        .env("tamis", env!("CARGO_BIN_EXE_tamis"))
        .current_dir(shell.folder.path())
        .stdin(Stdio::null())
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&[output.stdout, output.stderr].concat()).into_owned();
    if said.contains("NO DISK") || said.contains("not found") {
        // /dev/full at least says no to every byte.
        eprintln!("no small disk can be had here ({}); /dev/full stands in for it", said.trim());
        shell.run("build rate --items 5000 -o /dev/full keys.txt").refused(&["cannot write"]);
        return;
    }
    assert!(said.contains("FINISHED") && !said.contains("SUCCEEDED"), "{said}");
    assert!(said.matches("No space left").count() >= 4, "{said}");
    let read = |name: &str| fs::read_to_string(shell.path(name)).unwrap();
    assert_eq!(read("before"), read("after"), "{said}");
    assert!(
        !read("left").contains(".tamis-") && !read("left").contains("public"),
        "{}",
        read("left")
    );
    // The ledger is whole: charged, if there was room for a line, or as it was.
    assert!(Ledger::open(shell.path("book")).is_ok(), "{}", read("book"));
}

/// A process that has locked the filter f and waits for keys from a pipe.
fn slow_add(shell: &Shell) -> std::process::Child {
    let child = Command::new(env!("CARGO_BIN_EXE_tamis"))
        .args(["add", "f", "-"])
        .current_dir(shell.folder.path())
        .stdin(Stdio::piped())
        .stdout(Stdio::null())
        .spawn()
        .unwrap();
    let held = fs::File::open(shell.path("f")).unwrap();
    while held.try_lock().is_ok() {
        held.unlock().unwrap();
        std::thread::sleep(Duration::from_millis(5));
    }
    child
}

/// Two processes that add to one filter: the second waits, says so, and loses nothing.
#[test]
fn who_waits_says_so_and_loses_nothing() {
    let shell = Shell::new();
    shell.file("a.txt", lines(0..100)).file("b.txt", lines(100..200));
    shell.run("build rate --items 1000 -o f a.txt").ok();
    // The first is slow: its keys come from a pipe that stays open until the second has said that
    // it waits.
    let mut first = slow_add(&shell);
    let mut second = Command::new(env!("CARGO_BIN_EXE_tamis"))
        .args(["add", "f", "b.txt"])
        .current_dir(shell.folder.path())
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut said = String::new();
    let mut errors = std::io::BufReader::new(second.stderr.take().unwrap());
    std::io::BufRead::read_line(&mut errors, &mut said).unwrap();
    assert!(said.contains("waiting for another process that is changing f"), "{said}");
    std::io::Write::write_all(&mut first.stdin.take().unwrap(), lines(200..300).as_bytes())
        .unwrap();
    assert!(first.wait().unwrap().success() && second.wait().unwrap().success());
    let found = verified(&shell, "f");
    assert!((0..300).all(|i| found.contains(format!("key {i}").as_str()).unwrap()));
}

/// A killed process holds no lock.
#[test]
fn a_killed_process_lets_go() {
    let shell = Shell::new();
    shell.file("a.txt", lines(0..100));
    shell.run("build rate --items 1000 -o f a.txt").ok();
    let mut slow = slow_add(&shell);
    slow.kill().unwrap();
    slow.wait().unwrap();
    assert!(!shell.run("add f a.txt").err.contains("waiting"));
}
