//! Caps on memory: the caller's, and the system's.

#![allow(clippy::unwrap_used)]

mod shell;

use shell::{Shell, lines};

/// What is too large is refused before it is made, by every command that makes or opens a filter.
#[test]
fn the_cap_holds_for_building_and_for_opening() {
    let shell = Shell::new();
    shell.file("keys.txt", lines(0..100)).file("small.txt", "1\n2\n");
    for build in [
        "build rate --items 1e6 -o f keys.txt",
        "build rate --items 1e6 --filter blocked -o f keys.txt",
        "build rate --items 1e6 --filter counting -o f keys.txt",
        "build zone --universe 1e9 --items 2000 -o f small.txt",
        "build privacy --items 1e6 --epsilon 4 -o f keys.txt",
        "build privacy --items 1e6 --epsilon 4 --method bloom -o f keys.txt",
    ] {
        shell.run(&format!("{build} --max-memory 100k")).refused(&["memory", "is allowed 100000"]);
        assert!(!shell.path("f").exists(), "{build}");
        shell.run(&format!("{build} --max-memory 1G")).ok();
        let small =
            shell.run("info f --max-memory 100k").refused(&["cannot open f", "is allowed 100000"]);
        assert!(!small.err.contains("panicked"));
        shell.run("info f --max-memory 64M").ok();
        std::fs::remove_file(shell.path("f")).unwrap();
    }
    shell.run("build rate --items 1e6 -o f keys.txt").ok();
    for command in
        ["query f keys.txt", "add f keys.txt", "union f f -o g", "measure f --members keys.txt"]
    {
        shell.run(&format!("{command} --max-memory 100k")).refused(&["is allowed 100000"]);
        shell.run(&format!("{command} --max-memory 2M")).ok();
    }
    // A filter on standard input is not read further than it may be.
    let bytes = std::fs::read(shell.path("f")).unwrap();
    shell.with_input("info - --max-memory 100k", &bytes).refused(&["is allowed 100000"]);
    shell.with_input("info - --max-memory 2M", &bytes).ok();
    for bad in ["", "1.5.2M", "lots", "-1", "1e30G"] {
        let ran = shell.run(&format!("info f --max-memory={bad}"));
        assert!(ran.code == 2 && ran.err.contains("--max-memory"), "{bad}: {}", ran.err);
    }
}

/// The keys of a linear filter are held until it is drawn, so they count.
#[test]
fn the_keys_of_a_draft_count() {
    let shell = Shell::new();
    shell.file("keys.txt", lines(0..20_000));
    shell
        .run("build privacy --items 100 --epsilon 1 --max-memory 100k -o f keys.txt")
        .refused(&["memory", "is allowed 100000"]);
    shell.run("build privacy --items 100 --epsilon 1 --max-memory 1M -o f keys.txt").ok();
}

#[cfg(unix)]
fn script(shell: &Shell, text: &str) -> (Option<i32>, String) {
    let output = std::process::Command::new("sh")
        .args(["-c", text])
        .env("tamis", env!("CARGO_BIN_EXE_tamis"))
        .current_dir(shell.folder.path())
        .output()
        .unwrap();
    let text = [output.stdout, output.stderr].concat();
    (output.status.code(), String::from_utf8_lossy(&text).into_owned())
}

#[cfg(unix)]
#[test]
fn the_environment_may_hold_the_cap() {
    let shell = Shell::new();
    shell.file("keys.txt", lines(0..100));
    for (variable, options, expected) in [
        ("100k", "", "is allowed 100000"),
        ("100k", "--max-memory 10M", "every one of them passes"),
        ("10M", "--max-memory 100k", "is allowed 100000"),
        ("", "", "every one of them passes"),
        ("lots", "", "TAMIS_MAX_MEMORY"),
    ] {
        let line = format!(
            "TAMIS_MAX_MEMORY={variable} $tamis build rate --items 1e6 {options} -o f keys.txt"
        );
        let (_, said) = script(&shell, &line);
        assert!(said.contains(expected), "{line}: {said}");
    }
}

/// The system's own limit: an error in words, and no abort.
#[cfg(target_os = "linux")]
#[test]
fn memory_that_the_system_refuses_is_an_error() {
    let shell = Shell::new();
    shell.file("keys.txt", lines(0..100)).file("many.txt", lines(0..1_000_000));
    for command in [
        "build rate --items 1e9 -o f keys.txt",
        "build rate --items 1e9 --filter blocked -o f keys.txt",
        "build rate --items 1e9 --filter counting -o f keys.txt",
        "build rate --items 1e14 -o f keys.txt",
        "build zone --universe 4e9 --items 4e9 -o f keys.txt",
        "build privacy --items 1e9 --epsilon 9 -o f keys.txt",
        "build privacy --items 1e9 --epsilon 9 --method bloom -o f keys.txt",
    ] {
        let (code, said) =
            script(&shell, &format!("ulimit -c 0; ulimit -v 120000; $tamis {command}"));
        assert_eq!(code, Some(2), "{command}: {said}");
        assert!(said.contains("memory"), "{command}: {said}");
        assert!(!shell.path("f").exists());
    }
    // Keys that come until the memory ends. The program alone takes some: more if it is not
    // optimised.
    let starts = |limit: &u32| {
        let line = format!("ulimit -c 0; ulimit -v {limit}; $tamis --version");
        script(&shell, &line).0 == Some(0)
    };
    let least = (20_000..120_000).step_by(1_000).find(starts).unwrap();
    let build = |more: u32| {
        let build = "$tamis build privacy --items 1e4 --epsilon 1 -o f many.txt";
        script(&shell, &format!("ulimit -c 0; ulimit -v {}; {build}", least + more))
    };
    let (code, said) = build(10_000);
    assert_eq!(code, Some(2), "{said}");
    assert!(said.contains("memory"), "{said}");
    // Threads that the system refuses are no panic.
    for more in (0..10_000).step_by(1_000) {
        let (_, said) = build(more);
        assert!(!said.contains("panicked"), "{said}");
    }
}
