//! Files that must not be overwritten, ledgers that must not be charged, input that is not lines.

#![allow(clippy::unwrap_used)]

mod shell;

use shell::{Shell, lines};
use std::io::Write;

/// A private filter, a ledger and some notes.
fn with_ledger() -> Shell {
    let shell = Shell::new();
    shell.file("keys.txt", lines(0..50)).file("notes", "precious\n");
    shell
        .run("build privacy --items 50 --epsilon 1 --method bloom --private -o priv.tamis keys.txt")
        .ok();
    shell.run("ledger new L.ledger --budget 100").ok();
    shell
}

fn read(shell: &Shell, name: &str) -> Vec<u8> {
    std::fs::read(shell.path(name)).unwrap()
}

#[test]
fn no_command_overwrites_a_ledger_or_its_own_source() {
    let shell = with_ledger();
    let (private, ledger) = (read(&shell, "priv.tamis"), read(&shell, "L.ledger"));
    for (command, words) in [
        ("publish - --epsilon 4 --ledger L.ledger -o L.ledger", "ledger"),
        ("publish - --epsilon 4 --ledger L.ledger -o L.ledger --force", "may overwrite"),
        ("publish - --epsilon 4 -o L.ledger --force", "may overwrite"),
        ("publish - --epsilon 4 --ledger L.ledger -o notes", "--force"),
        // The private filter may well be what comes through the pipe.
        ("publish - --epsilon 4 --ledger L.ledger -o priv.tamis", "no published filter"),
        ("publish priv.tamis --epsilon 4 --ledger L.ledger -o priv.tamis --force", "overwrite"),
        ("build rate --items 9 --force -o L.ledger keys.txt", "may overwrite"),
        ("build zone --universe 9 --items 2 --force -o L.ledger -", "may overwrite"),
        ("build privacy --items 9 --epsilon 1 --force -o L.ledger keys.txt", "may overwrite"),
        ("union priv.tamis priv.tamis --force -o L.ledger", "may overwrite"),
        ("plan rate --items 9 --fpr 0.1 --force --plot L.ledger", "may overwrite"),
        ("show priv.tamis --force -o L.ledger", "may overwrite"),
    ] {
        let input = if command.contains("zone") { b"1\n".to_vec() } else { private.clone() };
        shell.with_input(command, input).refused(&[words]);
        assert_eq!(read(&shell, "L.ledger"), ledger, "{command}");
        assert_eq!(read(&shell, "priv.tamis"), private, "{command}");
        assert_eq!(read(&shell, "notes"), b"precious\n", "{command}");
    }
}

/// Standard input that is the private filter itself is known for it, even by force.
#[cfg(unix)]
#[test]
fn standard_input_is_not_overwritten_by_what_it_becomes() {
    let shell = with_ledger();
    let private = read(&shell, "priv.tamis");
    for force in [&[][..], &["--force"]] {
        let status = std::process::Command::new(env!("CARGO_BIN_EXE_tamis"))
            .args(["publish", "-", "--epsilon", "4", "-o", "priv.tamis"])
            .args(force)
            .current_dir(shell.folder.path())
            .stdin(std::fs::File::open(shell.path("priv.tamis")).unwrap())
            .stderr(std::process::Stdio::null())
            .status();
        assert_eq!(status.unwrap().code(), Some(2));
        assert_eq!(read(&shell, "priv.tamis"), private);
    }
    // A release replaces a release.
    shell.run("publish priv.tamis --epsilon 4 -o public.tamis").ok();
    shell.run("publish priv.tamis --epsilon 4 -o public.tamis").ok();
}

/// A named key is never passed over in silence.
#[test]
fn a_seed_beside_a_key_of_the_environment_is_refused() {
    let mut shell = Shell::new();
    shell.file("keys.txt", lines(0..5)).file("key", "0123456789abcdef");
    shell.key_file = Some("key");
    shell.run("build rate --seed 5 -o f keys.txt").refused(&["--seed", "--hash fast"]);
    shell.run("build rate --seed 5 --hash fast -o f keys.txt").ok();
}

#[cfg(unix)]
#[test]
fn a_target_that_cannot_be_written_costs_nothing() {
    use std::os::unix::fs::PermissionsExt;
    let shell = with_ledger();
    let folder = shell.path("locked");
    std::fs::create_dir(&folder).unwrap();
    std::fs::set_permissions(&folder, std::fs::Permissions::from_mode(0o500)).unwrap();
    let targets: &[&str] = if std::fs::write(folder.join("probe"), "").is_ok() {
        &["no/such/folder/public.tamis"] // root may write anywhere
    } else {
        &["locked/public.tamis", "no/such/folder/public.tamis"]
    };
    for target in targets {
        for command in [
            "publish priv.tamis --epsilon 4 --ledger L.ledger",
            "build privacy --items 50 --epsilon 4 --ledger L.ledger keys.txt",
        ] {
            let ran = shell.run(&format!("{command} -o {target}")).refused(&["cannot write"]);
            assert!(!ran.err.contains(".tamis-"), "no temporary name: {}", ran.err);
        }
    }
    std::fs::set_permissions(&folder, std::fs::Permissions::from_mode(0o700)).unwrap();
    assert_eq!(shell.run("ledger show L.ledger --json").json()["spent"], 0.0);
    // Standard output by its other name is standard output.
    let piped = shell.run("publish priv.tamis --epsilon 4 --ledger L.ledger -o /dev/stdout");
    assert_eq!(piped.code, 0, "{}", piped.err);
    assert!(piped.err.contains("may be published") && !piped.out.contains("may be published"));
    assert_eq!(shell.run("ledger show L.ledger --json").json()["spent"], 4.0);
}

#[cfg(unix)]
#[test]
fn private_filters_are_for_their_owner_alone() {
    use std::os::unix::fs::PermissionsExt;
    let shell = with_ledger();
    let mode = |name| std::fs::metadata(shell.path(name)).unwrap().permissions().mode() & 0o777;
    assert_eq!(mode("priv.tamis"), 0o600);
    shell.with_input("add priv.tamis", "more\n").ok();
    assert_eq!(mode("priv.tamis"), 0o600);
    for command in ["union", "intersect"] {
        shell.run(&format!("{command} priv.tamis priv.tamis -o {command}")).ok();
        assert_eq!(mode(command), 0o600);
    }
    shell.run("publish priv.tamis --epsilon 1 -o public.tamis").ok();
    assert_ne!(mode("public.tamis"), 0o600);
}

/// A device that takes nothing is known only after the charge; then the charge is said.
#[cfg(target_os = "linux")]
#[test]
fn a_charge_for_nothing_is_said() {
    let shell = with_ledger();
    let commands = [
        "publish priv.tamis --epsilon 1 --ledger L.ledger -o /dev/full",
        "build privacy --items 50 --epsilon 1 --ledger L.ledger -o /dev/full keys.txt",
    ];
    for command in commands {
        let words = ["cannot write /dev/full", "L.ledger is charged all the same"];
        shell.run(command).refused(&words);
    }
    assert_eq!(shell.run("ledger show L.ledger --json").json()["spent"], 2.0);
    let ran = shell.run("publish priv.tamis --epsilon 1 -o /dev/full").refused(&["cannot write"]);
    assert!(!ran.err.contains("charged"), "{}", ran.err);
}

/// The master of a pseudo-terminal is a terminal that every Linux has.
#[cfg(target_os = "linux")]
#[test]
fn a_terminal_gets_no_filter_by_any_name() {
    let shell = with_ledger();
    if std::fs::File::options().write(true).open("/dev/ptmx").is_err() {
        return; // no terminals here
    }
    for command in [
        "build rate --items 50 -o /dev/ptmx keys.txt",
        "union priv.tamis priv.tamis -o /dev/ptmx",
        "publish priv.tamis --epsilon 1 --ledger L.ledger -o /dev/ptmx",
    ] {
        shell.run(command).refused(&["not written to a terminal"]);
    }
    assert_eq!(shell.run("ledger show L.ledger --json").json()["spent"], 0.0);
    shell.run("build rate --items 50 -o /dev/null keys.txt").ok();
}

#[test]
fn a_counted_size_is_not_published() {
    let shell = Shell::new();
    shell.file("keys.txt", lines(0..1_001));
    shell.run("build rate -o counted.tamis keys.txt").ok();
    shell.run("publish counted.tamis --epsilon 4 -o public.tamis").refused(&[
        "1,001 items",
        "counted",
        "--items N",
        "--size-is-public",
    ]);
    assert!(!shell.path("public.tamis").exists());
    shell.run("publish counted.tamis --epsilon 4 --size-is-public -o public.tamis").ok();
    shell.run("build rate --items 2000 -o chosen.tamis keys.txt").ok();
    shell.run("publish chosen.tamis --epsilon 4 -o public.tamis").ok();
}

#[test]
fn filters_of_both_kinds_are_asked_both_ways() {
    let shell = Shell::new();
    let numbers: String = (0..100).map(|i| format!("{i}\n")).collect();
    shell.file("numbers", &numbers).file("words", lines(0..100));
    let build = "build rate --items 1000 --fpr 1e-6";
    shell.run(&format!("{build} --keys integers -o n.tamis numbers")).ok();
    shell.run(&format!("{build} -o w.tamis words")).ok();
    shell.run("union n.tamis w.tamis -o both.tamis").ok();
    let asked = shell.run("query -c both.tamis numbers words");
    assert!(asked.err.contains("text and integers"), "{}", asked.err);
    assert_eq!(asked.ok(), "200\n");
    assert_eq!(shell.with_input("query both.tamis", "7\nkey 7\n700\nno\n").ok(), "7\nkey 7\n");
    let json = shell.run("query --json both.tamis numbers").json();
    assert_eq!((&json["asked"], json["passed"].as_u64()), (&"text and integers".into(), Some(100)));
    let measured = shell.run("measure both.tamis --members numbers --json").json();
    assert_eq!(measured["false_negatives"], 0);
    assert_eq!(shell.run("query -c both.tamis --keys text numbers").code, 1);
    shell.with_input("add both.tamis", "8\n").refused(&["--keys text", "--keys integers"]);
    shell.with_input("add both.tamis --keys text", "8\n").ok();
    let added = shell.with_input("add n.tamis --keys text", "ant\n");
    assert!(added.err.contains("held only integers so far"), "{}", added.err);
    assert!(!added.err.contains("no member passes"), "{}", added.err);
    added.ok();
    assert_eq!(shell.run("query -c n.tamis numbers").ok(), "100\n");
    // A filter of one kind has nothing to say; a published one does not know its kind.
    assert_eq!(shell.run("query -c w.tamis words").err, "");
    shell.run("build privacy --items 100 --epsilon 8 --keys integers -o p.tamis numbers").ok();
    let asked = shell.run("query p.tamis numbers");
    assert!(asked.err.contains("asked for as text"), "{}", asked.err);
    let asked = shell.run("query --keys integers p.tamis numbers");
    assert!(asked.err.contains("asked for as integers"), "{}", asked.err);
    assert!(asked.ok().lines().count() > 90);
}

#[test]
fn an_open_quote_names_its_line() {
    let shell = Shell::new();
    for (csv, line) in [
        ("name\nant\n\"bee\ncat\n", "line 3"),
        ("name\nant\n\"bee", "line 3"),
        ("name\nant\n\"", "line 3"),
        ("\"name\nant\n", "line 1"),
        ("id,name\n1,ant\n\"2\n2\",\"bee\ncat\n", "line 4"),
        ("name\r\nant\r\n\"bee\r\ncat\r\n", "line 3"),
    ] {
        shell.file("in.csv", csv);
        shell.run("build rate --items 9 --csv name -o f in.csv").refused(&[
            "in.csv",
            line,
            "never closed",
        ]);
    }
    for (csv, keys) in [
        ("name\nant\n\"bee\"\n", 2),
        ("name\nant\n\"bee\"", 2),
        ("name\r\nant\r\n\"bee\"\r\n", 2),
        ("name\n.\n", 1),
        ("name\n.", 1),
        ("name\nx", 1),
        ("name\n\"a\n.\n\"\n", 1),
        ("name\n\"\"\n", 1),
        ("name\n", 0),
    ] {
        shell.file("in.csv", csv);
        for options in ["--csv name", "--csv 1 --header", "--csv name --delimiter ."] {
            if options.contains("delimiter") && csv.contains('.') {
                continue;
            }
            let built = shell.run(&format!("build rate --items 9 {options} -o f in.csv --json"));
            assert_eq!(built.json()["keys"], keys, "{csv:?} {options}");
        }
    }
}

/// A gzip file of stored blocks, and so on: written by the crates that read them.
#[cfg(feature = "compression")]
#[test]
fn compressed_input_is_simply_read() {
    let shell = Shell::new();
    let text = lines(0..5_000);
    shell.file("plain", &text);
    let mut gzip = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    gzip.write_all(text.as_bytes()).unwrap();
    let gzip = gzip.finish().unwrap();
    let zstd = zstd::encode_all(text.as_bytes(), 1).unwrap();
    let mut xz = liblzma::write::XzEncoder::new(Vec::new(), 1);
    xz.write_all(text.as_bytes()).unwrap();
    let xz = xz.finish().unwrap();
    let mut bzip2 = bzip2::write::BzEncoder::new(Vec::new(), bzip2::Compression::fast());
    bzip2.write_all(text.as_bytes()).unwrap();
    let bzip2 = bzip2.finish().unwrap();
    shell.run("build rate -o f plain").ok();
    for (name, bytes) in [("gz", &gzip), ("zst", &zstd), ("xz", &xz), ("bz2", &bzip2)] {
        shell.file(name, bytes);
        shell.run(&format!("build rate -o g {name}")).ok();
        assert_eq!(read(&shell, "f"), read(&shell, "g"), "{name}");
        assert_eq!(shell.with_input("query -c f", bytes).ok(), "5000\n", "{name}");
        // Parts one after the other are one file; half a file is an error.
        assert_eq!(shell.with_input("query -c f", [&bytes[..], bytes].concat()).ok(), "10000\n");
        shell
            .with_input("build rate --items 9 -o h", &bytes[..bytes.len() / 2])
            .refused(&["cannot read"]);
        shell.run(&format!("build rate --raw -o g {name}")).ok();
        assert_ne!(read(&shell, "f"), read(&shell, "g"), "{name}");
    }
    let csv = zstd::encode_all(b"id,name\n1,key 1\n".as_slice(), 1).unwrap();
    assert_eq!(shell.with_input("query f --csv name", csv).ok(), "key 1\n");
}

#[test]
fn utf16_is_decoded_and_filters_are_no_keys() {
    let shell = Shell::new();
    let text = "ant\r\nbée\r\n🦊\r\n";
    let le: Vec<u8> =
        [0xfeff].into_iter().chain(text.encode_utf16()).flat_map(u16::to_le_bytes).collect();
    let be: Vec<u8> =
        [0xfeff].into_iter().chain(text.encode_utf16()).flat_map(u16::to_be_bytes).collect();
    shell.with_input("build rate --items 10 -o f", "ant\nbée\n🦊\n").ok();
    for bytes in [&le, &be] {
        assert_eq!(shell.with_input("query f", bytes).ok(), "ant\nbée\n🦊\n");
        assert_eq!(shell.with_input("query --raw f", bytes).code, 1);
    }
    shell.run("add f f").refused(&["cannot read f: it is a filter", "tamis union"]);
    shell.run("query f f").refused(&["tamis union"]);
    shell.run("build rate --items 9 -o g f").refused(&["tamis union"]);
    shell.run("build rate --items 9 --raw -o g f").ok();
}

#[test]
fn what_has_no_lines_is_recognised() {
    let shell = with_ledger();
    let utf16: Vec<u8> = "ant\nbee\n".encode_utf16().flat_map(u16::to_le_bytes).collect();
    let mut tar = vec![0; 1024];
    tar[..7].copy_from_slice(b"ant.txt");
    tar[257..262].copy_from_slice(b"ustar");
    shell
        .file("x.zip", b"PK\x03\x04\x14\0\0\0\x08\0ant")
        .file("x.tar", &tar)
        .file("x.utf16", utf16)
        .file("x.stream", b"\xff\xff\xff\xff\x78\0\0\0\x10\0\0\0");
    for (file, words) in [
        ("x.zip", ["zip archive", "unzip -p"]),
        ("x.tar", ["tar archive", "tar -xOf"]),
        ("x.utf16", ["UTF-16 without a byte-order mark", "iconv"]),
        ("x.stream", ["Arrow stream", "--raw"]),
        ("L.ledger", ["a ledger", "tamis ledger show"]),
        ("priv.tamis", ["a filter", "tamis union"]),
    ] {
        for command in ["build rate --items 9 -o f", "add priv.tamis", "dedup"] {
            let ran = shell.run(&format!("{command} {file}")).refused(&words);
            assert_eq!(ran.err.matches(file).count(), 1, "the name once: {}", ran.err);
        }
        shell.run(&format!("build rate --items 9 --raw -o f {file}")).ok();
        shell.run(&format!("dedup --raw -o once.{file} {file}")).ok();
    }
    #[cfg(feature = "compression")]
    {
        let mut gzip = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
        gzip.write_all(&tar).unwrap();
        shell.file("x.tgz", gzip.finish().unwrap());
        shell.run("dedup x.tgz").refused(&["tar archive"]);
    }
    shell.run("info L.ledger").refused(&["tamis ledger show L.ledger"]);
    shell.run("query L.ledger keys.txt").refused(&["tamis ledger show L.ledger"]);
}

/// Quoted patterns, and shells that leave patterns alone.
#[test]
fn patterns_are_expanded() {
    let shell = Shell::new();
    std::fs::create_dir(shell.path("logs")).unwrap();
    shell.file("logs/b.txt", "bee\nant\n").file("logs/a.txt", "ant\n").file("logs/c", "cat\n");
    assert_eq!(shell.run("dedup logs/*.txt").ok(), "ant\nbee\n");
    let built = shell.run("build rate --json -o f logs/*.txt logs/[c]").json();
    assert_eq!(built["keys"], 4);
    assert_eq!(shell.run("query -c f logs/?.txt").ok(), "3\n");
    shell.run("query f logs/*.gz").refused(&["no file fits", "logs/*.gz"]);
}

#[test]
fn the_longest_record_is_accepted() {
    let shell = Shell::new();
    let longest = vec![b'x'; 16 << 20];
    for end in ["", "\n", "\r\n", "\nant\n"] {
        shell.file("in", [&longest[..], end.as_bytes()].concat());
        shell.run("build rate --items 9 -o f in").ok();
        shell.run("dedup --items 9 -o once --force in").ok();
    }
    let longer = vec![b'x'; (16 << 20) + 1];
    for end in ["", "\n", "\r\n", "\nant\n"] {
        shell.file("in", [b"ant\n", &longer[..], end.as_bytes()].concat());
        shell.run("build rate --items 9 -o f in").refused(&["record 2", "longer than"]);
        let words = ["cannot read in: record 2 is longer than 16777216 bytes"];
        shell.run("dedup --items 9 -o once --force in").refused(&words);
    }
}

#[test]
fn standard_input_is_read_for_one_purpose() {
    let shell = Shell::new();
    shell
        .with_input("build zone --universe dictionary:- --items 2 -o f", "ant\nbee\n")
        .refused(&["standard input", "once"]);
    shell.file("words", "ant\nbee\ncat\n");
    shell.with_input("build zone --universe dictionary:words --items 2 -o f", "bee\n").ok();
    shell.with_input("query f --universe dictionary:-", "ant\n").refused(&["standard input"]);
    shell.with_input("query f --universe dictionary:- /dev/stdin", "").refused(&["standard input"]);
    shell.file("asked", "bee\n");
    assert_eq!(
        shell.with_input("query f --universe dictionary:- asked", "ant\nbee\ncat\n").ok(),
        "bee\n"
    );
}

#[test]
fn foreign_elements_are_named_or_skipped() {
    let shell = Shell::new();
    shell.with_input("build zone --universe 1..606 --items 3 -o f", "1\n2\n606\n").ok();
    let input = "1\n\n700\n2\nx\n3\n";
    shell.with_input("query -c f", input).refused(&[
        "standard input, line 3",
        "700",
        "--skip-foreign",
    ]);
    shell
        .file("in", "1\n700\n")
        .run("build zone --universe 1..606 -o g in")
        .refused(&["in, line 2", "700"]);
    shell.with_input("add f", "1\n700\n").refused(&["line 2", "700"]);
    let skipped = shell.with_input("query --skip-foreign f", input);
    assert!(skipped.err.contains("2 keys skipped"), "{}", skipped.err);
    assert_eq!(skipped.ok(), "1\n2\n");
    assert_eq!(shell.with_input("query -v --skip-foreign f", input).ok(), "3\n");
    let json = shell.with_input("query --skip-foreign --json f", input).json();
    assert_eq!((json["foreign"].as_u64(), json["passed"].as_u64()), (Some(2), Some(2)));
    let csv = shell.with_input("query f --csv n", "n\n1\n\"7\n7\"\n");
    assert!(csv.err.contains("line 3"), "{}", csv.err);
}

#[test]
fn too_few_runs_say_so() {
    let shell = Shell::new();
    let ran = shell.run("audit --runs 1");
    assert_eq!(ran.code, 1);
    assert!(ran.out.contains("too few runs") && !ran.out.contains("consistent"), "{}", ran.out);
    let found: serde_json::Value =
        serde_json::from_str(&shell.run("audit --runs 1 --json").out).unwrap();
    assert_eq!(found["findings"][0]["verdict"], "too few runs");
    shell.run("audit --runs 2000").ok();
}

/// A build waits for another process that is changing its target.
#[cfg(unix)]
#[test]
fn builds_lock_their_target() {
    let shell = with_ledger();
    shell.run("build rate --items 50 -o f keys.txt").ok();
    for command in
        ["build rate --items 50 -o f keys.txt", "publish priv.tamis --epsilon 1 -o f --force"]
    {
        let held = std::fs::File::open(shell.path("f")).unwrap();
        held.lock().unwrap();
        let mut child = std::process::Command::new(env!("CARGO_BIN_EXE_tamis"))
            .args(command.split(' '))
            .current_dir(shell.folder.path())
            .stdout(std::process::Stdio::null())
            .stderr(std::process::Stdio::piped())
            .spawn()
            .unwrap();
        let mut said = String::new();
        let mut errors = std::io::BufReader::new(child.stderr.take().unwrap());
        std::io::BufRead::read_line(&mut errors, &mut said).unwrap();
        assert!(said.contains("waiting for another process"), "{command}: {said}");
        held.unlock().unwrap();
        assert!(child.wait().unwrap().success());
    }
}
