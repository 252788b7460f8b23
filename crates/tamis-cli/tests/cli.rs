//! The command line as a person or a script meets it: what is printed, where, and with which exit
//! code.

#![allow(clippy::unwrap_used)]

mod shell;

use shell::{Shell, lines};
use std::path::Path;
use std::process::Command;

#[test]
fn plans_have_stable_fields() {
    let shell = Shell::new();
    let plan = shell.run("plan rate --items 10000 --fpr 0.01 --json").json();
    assert_eq!(plan["promise"], "rate");
    assert_eq!(plan["filter"], "bloom");
    assert_eq!((plan["items"].as_u64(), plan["bits"].as_u64()), (Some(10_000), Some(95_851)));
    assert_eq!((plan["hashes"].as_u64(), plan["bytes"].as_u64()), (Some(7), Some(11_982)));
    assert_eq!(plan["fpr"], 0.01);
    assert!((plan["expected_fpr"].as_f64().unwrap() - 0.01004).abs() < 1e-5);
    assert!((plan["bits_per_item"].as_f64().unwrap() - 9.5851).abs() < 1e-9);
    let plan = shell.run("plan rate --items 1e4 --fpr 0.1% --json").json();
    assert_eq!((plan["bits"].as_u64(), plan["hashes"].as_u64()), (Some(143_776), Some(10)));
    assert_eq!(shell.run("plan rate --fpr 0.01 --bits 95_851 --json").json()["items"], 10_000);
    assert!(
        shell.run("plan rate --items 10000 --bits 143776 --json").json()["fpr"].as_f64().unwrap()
            < 0.00101
    );
    // Past 2^53 integers are strings, so that no reader rounds them.
    let plan = shell.run("plan rate --items 1e12 --fpr 1e-15 --filter counting --json").json();
    assert_eq!(plan["bits"].as_u64(), Some(287_551_751_321_024));
    shell.with_input("build rate --items 5 --seed 18446744073709551615 -o f", "").ok();
    assert_eq!(shell.run("info f --json").json()["seed"], "18446744073709551615");
    assert!(
        shell.run("plan rate --items 10000 --fpr 0.01").ok().contains("95,851 bits, 11,982 bytes")
    );
}

#[test]
fn plans_are_refused_with_a_remedy() {
    let shell = Shell::new();
    for (line, words) in [
        ("plan rate --items 0 --fpr 0.01", &["at least 1", "got 0"][..]),
        ("plan rate --items 5 --fpr 0", &["got 0", "1e-15"]),
        ("plan rate --items 5 --fpr 1", &["got 1", "0.999"]),
        ("plan rate --items 5 --fpr NaN", &["got NaN"]),
        ("plan rate --items 5 --fpr -0.1", &["got -0.1"]),
        ("plan rate --items -5 --fpr 0.1", &["-5", "negative"]),
        ("plan rate --items 1.5 --fpr 0.1", &["1.5", "whole"]),
        ("plan rate --items many --fpr 0.1", &["many", "whole number"]),
        ("plan rate --items 5 --fpr often", &["often", "0.01"]),
        ("plan rate --items 1e18 --fpr 1e-15", &["address"]),
        ("plan rate --items 1e20 --fpr 0.1", &["too large"]),
        ("plan rate --items 18446744073709551615 --fpr 1e-15", &["address", "nearest feasible"]),
        ("plan rate --items 1000 --bits 1", &["1 bits are too few", "nearest"]),
        ("plan rate --fpr 0.01 --bits 3", &["3 bits are too few", "10 bits"]),
        ("plan rate --items 5 --fpr 0.1 --bits 5", &["leave one out"]),
        ("plan rate --items 5", &["two of"]),
        ("plan rate --items 5 --fpr 0.1 --counter-bits 4", &["--filter counting"]),
        ("plan rate --items nan --fpr 0.1", &["whole number"]),
        (
            "plan rate --items 100 --bits 20 --filter counting --counter-bits 16",
            &["20 bits are too few", "240 bits"],
        ),
        ("plan rate --items 5 --fpr 0.1 --filter counting --counter-bits 1", &["got 1", "2"]),
        ("plan rate --items 5 --fpr 0.1 --filter cuckoo", &["cuckoo", "blocked"]),
        ("plan", &["rate"]),
        ("frobnicate", &["frobnicate"]),
    ] {
        shell.run(line).refused(words);
    }
}

#[test]
fn members_pass_and_exit_codes_tell() {
    for filter in ["bloom", "blocked", "split", "counting"] {
        let shell = Shell::new();
        shell.file("members", lines(0..1_000)).file("strangers", lines(5_000..6_000));
        let built = shell
            .run(&format!("build rate --filter {filter} --fpr 0.001 -o f members --json"))
            .json();
        assert_eq!((built["keys"].as_u64(), built["items"].as_u64()), (Some(1_000), Some(1_000)));
        assert_eq!(built["health"], "within");
        let size = std::fs::metadata(shell.path("f")).unwrap().len();
        assert_eq!(Some(size), built["file_bytes"].as_u64(), "the plan is exact to the byte");

        assert_eq!(shell.run("query f members").ok(), lines(0..1_000));
        assert_eq!(shell.with_input("query f", "key 7\nnot a key\nkey 8\n").ok(), "key 7\nkey 8\n");
        assert_eq!(shell.with_input("query f -", "key 7").ok(), "key 7\n");
        assert_eq!(shell.with_input("query -v f", "key 7\nnot a key\n").ok(), "not a key\n");
        let none = shell.with_input("query f", "not a key\n");
        assert_eq!((none.code, none.out.as_str(), none.err.as_str()), (1, "", ""));
        assert_eq!(shell.run("query -v f members").code, 1);
        assert_eq!(shell.run("query -c f members").ok(), "1000\n");
        assert_eq!(shell.run("query -q f members").ok(), "");
        assert_eq!(shell.with_input("query f", "").code, 1);
        let counts = shell.run("query --json -v f members").code;
        assert_eq!(counts, 1);
        assert_eq!(shell.run("query --json f members").json()["passed"], 1_000);

        let measured = shell.run("measure f --members members --strangers strangers --json").json();
        assert_eq!(
            (measured["true_positives"].as_u64(), measured["fnr"].as_f64()),
            (Some(1_000), Some(0.0))
        );
        assert!(measured["fpr"].as_f64().unwrap() < 0.02);
        assert!(measured["f1"].as_f64().unwrap() > 0.99);
        let random = shell.run("measure f --trials 200000 --json").json();
        let (low, high) =
            (random["fpr_low"].as_f64().unwrap(), random["fpr_high"].as_f64().unwrap());
        assert!(low <= random["fpr"].as_f64().unwrap() && high < 0.002 && low < high);
        assert_eq!(shell.run("info f --json").json()["key_kinds"], "text");
        assert!(shell.run("info f").ok().contains("within plan"));
    }
}

#[test]
fn keys_are_told_apart_as_asked() {
    let shell = Shell::new();
    let query =
        |input: &[u8], options: &str| shell.with_input(&format!("query f {options}"), input);
    // Line ends, with and without carriage returns, with a byte-order mark, without a last line
    // end.
    shell.file("plain", "ant\nbee\ncat\n").file("windows", "\u{feff}ant\r\nbee\r\ncat");
    shell.run("build rate -o f plain").ok();
    shell.run("build rate -o g windows").ok();
    assert_eq!(std::fs::read(shell.path("f")).unwrap(), std::fs::read(shell.path("g")).unwrap());
    assert_eq!(query(b"ant\r\n", "").ok(), "ant\n");
    assert_eq!(query(b"ant\r\n", "--raw").code, 1);
    shell.run("build rate --raw -o g windows").ok();
    assert_ne!(std::fs::read(shell.path("f")).unwrap(), std::fs::read(shell.path("g")).unwrap());
    // NUL-separated keys may have line ends in them, in and out.
    shell.with_input("build rate -0 --items 2 -o f", b"two\nlines\0one\0").ok();
    assert_eq!(query(b"two\nlines\0none\0", "-0").ok(), "two\nlines\0");
    // Not UTF-8, empty, long: all are keys.
    let long = vec![b'x'; 3 << 20];
    let odd = [b"\xfe\xfe\n\n".as_slice(), &long, b"\n"].concat();
    shell.file("odd", &odd);
    assert_eq!(shell.run("build rate -o f odd --json").json()["keys"], 3);
    assert_eq!(query(&odd, "-c").ok(), "3\n");
    // Several files, standard input among them.
    shell.file("a", "ant\n").file("b", "bee");
    shell.with_input("build rate --items 3 -o f a - b", "cat\n").ok();
    assert_eq!(query(b"ant\nbee\ncat\n", "-c").ok(), "3\n");
    // A record without end is a mistake, not a reason to take all memory.
    shell.file("endless", vec![b'x'; 20 << 20]);
    shell.run("build rate -o f endless").refused(&["endless", "record 1", "-0"]);
}

#[test]
fn csv_columns_by_name_and_number() {
    let shell = Shell::new();
    shell.file("in.csv", "id,name\n1,\"ant, red\"\n2,bee\n3,\"say \"\"hi\"\"\"\n");
    assert_eq!(shell.run("build rate --csv name -o f in.csv --json").json()["keys"], 3);
    assert_eq!(shell.with_input("query f", "ant, red\n1\n").ok(), "ant, red\n");
    assert_eq!(
        shell
            .with_input(
                "query f --csv name --rows",
                "x,name\n9,bee\n8,none\n7,\"say \"\"hi\"\"\"\n"
            )
            .ok(),
        "x,name\n9,bee\n7,\"say \"\"hi\"\"\"\n"
    );
    assert_eq!(shell.with_input("query f --csv 2", "9,bee\n8,none\n").ok(), "bee\n");
    assert_eq!(
        shell.run("build rate --csv 2 -o g in.csv --json").json()["keys"],
        4,
        "the header is data"
    );
    assert_eq!(shell.run("build rate --csv 2 --header -o g in.csv --json").json()["keys"], 3);
    shell.run("build rate --csv nome -o g in.csv").refused(&["nome", "id, name"]);
    shell.run("build rate --csv 0 -o g in.csv").refused(&["from 1"]);
    shell.run("build rate --csv 3 -o g in.csv").refused(&["line 1", "only 2"]);
    // Another separator; quoted line ends need NUL in the output to be told apart.
    shell
        .file("semi.csv", "id;name\n1;ant\n")
        .file("tab.csv", "id\tname\n1\tant\n")
        .file("quoted.csv", "name\n\"two\nlines\"\n");
    shell.run("build rate --csv name --delimiter ; -o g semi.csv").ok();
    assert_eq!(
        shell.run("query g --csv name --delimiter \\t --rows tab.csv").ok(),
        "id\tname\n1\tant\n"
    );
    shell.run("query g --csv name semi.csv").refused(&["its columns are id;name"]);
    shell.run("query g --csv name --delimiter two semi.csv").refused(&["one character"]);
    shell.run("build rate --csv name -o g quoted.csv").ok();
    assert_eq!(shell.run("query g --csv name -0 quoted.csv").ok(), "two\nlines\0");
    // Rows of several files go under one header, if it is one.
    shell.file("other.csv", "name,id\nbee,9\n").file("bare.csv", "id,name\n").file("void.csv", "");
    let mixed = shell.run("query f --csv name --rows in.csv other.csv");
    assert_eq!(mixed.code, 2);
    assert!(mixed.err.contains("different headers"), "{}", mixed.err);
    let bare = shell.run("query f --csv name --rows bare.csv");
    assert_eq!((bare.code, bare.out.as_str()), (1, "id,name\n"));
    shell.run("query f --csv name void.csv").refused(&["it is empty"]);
    // A quote that is never closed is a mistake, not a reason to take all memory.
    shell.file("open.csv", [b"name\n\"".as_slice(), &vec![b'x'; 20 << 20]].concat());
    shell.run("build rate --items 5 --csv name -o g open.csv").refused(&["quote"]);
}

#[test]
fn integers_are_not_their_digits() {
    let shell = Shell::new();
    shell
        .with_input(
            "build rate --items 4 --fpr 1e-6 --keys integers -o f",
            "7\n-3\n18446744073709551615\n 5 \n",
        )
        .ok();
    // The filter remembers what its keys are.
    assert_eq!(shell.with_input("query f", "007\n+7\n-3\n8\n").ok(), "007\n+7\n-3\n");
    let text = shell.with_input("query f --keys text", "7\n");
    assert_eq!(text.code, 1);
    assert!(text.err.contains("holds only integers"), "{}", text.err);
    assert_eq!(
        shell.with_input("query -c f", "7\n\n-3\n\n").ok(),
        "2\n",
        "a blank line is no number"
    );
    shell.with_input("query f", "8\nseven\n").refused(&["line 2", "\"seven\"", "--keys text"]);
    shell.with_input("query f", "99999999999999999999\n").refused(&["line 1"]);
    assert_eq!(shell.run("info f --json").json()["key_kinds"], "integers");
    assert!(shell.run("measure f --trials 1000 --json").json()["fpr"].as_f64().unwrap() < 0.01);
}

#[test]
fn pipes_need_to_be_told_how_many() {
    let shell = Shell::new();
    shell.with_input("build rate -o f", "ant\n").refused(&["--items"]);
    shell.with_input("build rate -o f -", "ant\n").refused(&["--items"]);
    shell.with_input("build rate --items 1 -o f", "ant\n").ok();
    shell.with_input("build rate --bits 100 -o f", "ant\n").ok();
    assert_eq!(shell.run("info f --json").json()["bits"], 100);
    shell.with_input("build rate --bits 100 --items 5 -o f", "ant\n").ok();
    assert_eq!(shell.entries(), ["f"], "no temporary file stays behind");
}

#[test]
fn adding_removing_and_overfilling() {
    let shell = Shell::new();
    shell
        .file("first", lines(0..500))
        .file("second", lines(500..1_000))
        .file("many", lines(0..20_000));
    shell.run("build rate --filter counting --items 1000 -o f first").ok();
    assert_eq!(shell.run("add f second --json").json()["health"], "within");
    assert_eq!(shell.run("query -c f second").ok(), "500\n");
    assert_eq!(shell.run("remove f first --json").json()["removed"], 500);
    assert_eq!(shell.run("query -c f second").ok(), "500\n");
    assert!(shell.run("query -c f first").out.trim().parse::<u32>().unwrap() < 20);
    // A certainly absent key stops everything; the file stays as it was.
    let before = std::fs::read(shell.path("f")).unwrap();
    shell
        .with_input("remove f", "key 500\nnever there\n")
        .refused(&["never there", "nothing was removed"]);
    assert_eq!(std::fs::read(shell.path("f")).unwrap(), before);
    let ignoring =
        shell.with_input("remove f --ignore-absent --json", "key 500\nnever there\n").json();
    assert_eq!((ignoring["removed"].as_u64(), ignoring["absent"].as_u64()), (Some(1), Some(1)));
    // Past its plan it goes on, and says so.
    let over = shell.run("add f many");
    assert!(over.err.contains("beyond its plan"), "{}", over.err);
    over.ok();
    assert_eq!(shell.run("info f --json").json()["health"], "beyond");
    assert!(shell.run("info f").ok().contains("beyond plan"));
    assert_eq!(shell.run("query -c f many").ok(), "20000\n");
    let built = shell.with_input("build rate --items 10 -o g", lines(0..1_000));
    assert!(built.err.contains("rebuild with --items"), "{}", built.err);
    built.ok();
    for filter in ["bloom", "blocked", "split"] {
        shell.run(&format!("build rate --filter {filter} -o h first")).ok();
        shell.run("remove h first").refused(&[filter, "--filter quotient"]);
    }
}

#[test]
fn merging() {
    let shell = Shell::new();
    shell.file("left", lines(0..600)).file("right", lines(400..1_000)).file("all", lines(0..1_000));
    shell.file("both", lines(400..600));
    for filter in ["bloom", "blocked", "split", "counting"] {
        for name in ["left", "right", "all"] {
            shell
                .run(&format!("build rate --filter {filter} --items 2000 -o {name}.t {name}"))
                .ok();
        }
        shell.run("union left.t right.t -o union.t").ok();
        assert_eq!(shell.run("query -c union.t all").ok(), "1000\n");
        if filter != "counting" {
            assert_eq!(
                std::fs::read(shell.path("union.t")).unwrap(),
                std::fs::read(shell.path("all.t")).unwrap()
            );
        }
        let common = shell.run("intersect left.t right.t all.t -o common.t --json").json();
        assert_eq!(common["filters"], 3);
        assert_eq!(shell.run("query -c common.t both").ok(), "200\n");
        assert!(shell.run("query -c common.t all").ok().trim().parse::<u32>().unwrap() < 300);
        // Into one of them.
        shell.run("union left.t right.t -o left.t").ok();
        assert_eq!(shell.run("query -c left.t all").ok(), "1000\n");
    }
    shell.run("build rate --items 2001 --filter counting -o other.t left").ok();
    shell.run("union left.t other.t -o x.t").refused(&["left.t and other.t", "differ in cells"]);
    shell.run("build rate --items 2000 --filter counting --seed 1 -o other.t left").ok();
    shell.run("intersect left.t other.t -o x.t").refused(&["differ in seed: 0 and 1"]);
    shell.run("build rate --items 2000 -o other.t left").ok();
    shell.run("union left.t other.t -o x.t").refused(&["differ in filter: counting and bloom"]);
    shell.run("union left.t -o x.t").refused(&["2"]);
    assert!(!shell.path("x.t").exists());
}

#[test]
fn keyed_filters_need_their_key_and_never_hold_it() {
    let shell = Shell::new();
    let secret = "correct horse battery staple";
    shell
        .file("key", format!("{secret}\n"))
        .file("same", secret)
        .file("other", "another secret, as long");
    shell.file("short", "short").file("members", lines(0..100));
    shell.run("build rate --key-file key -o f members").ok();
    let bytes = std::fs::read(shell.path("f")).unwrap();
    assert!(
        !bytes.windows(6).any(|window| secret.as_bytes().windows(6).any(|part| part == window))
    );
    shell.run("query f members").refused(&["--key-file"]);
    shell.run("query f --key-file other members").refused(&["not the key"]);
    shell.run("query f --key-file short members").refused(&["at least 16 bytes", "got 5"]);
    shell.run("query f --key-file nowhere members").refused(&["nowhere"]);
    assert_eq!(shell.run("query -c f --key-file key members").ok(), "100\n");
    assert_eq!(
        shell.run("query -c f --key-file same members").ok(),
        "100\n",
        "a line end is no part of a secret"
    );
    let info = shell.run("info f --key-file key").ok();
    assert!(info.contains("keyed") && !info.contains(secret));
    // A key is no hindrance to filters without one; but a keyed filter cannot be made without.
    shell.run("build rate -o g members").ok();
    assert_eq!(shell.run("query -c g --key-file key members").ok(), "100\n");
    shell.run("build rate --hash keyed -o h members").refused(&["--key-file"]);
    shell.run("build rate --key-file key --seed 3 -o h members").refused(&["--seed"]);
    shell.run("build rate --hash fast --key-file key -o h members").refused(&["--key-file"]);
    shell.run("query f --key-file /dev/zero members").refused(&["right file"]);
    // The environment may name the key: then it is used, unless the command line says otherwise.
    let mut shell = shell;
    shell.key_file = Some("key");
    assert_eq!(shell.run("query -c f members").ok(), "100\n");
    assert_eq!(shell.run("query -c g members").ok(), "100\n");
    shell.run("build rate --seed 3 -o h members").refused(&["--seed", "--hash fast"]);
    shell.run("build rate --hash fast --seed 3 -o h members").ok();
    assert_eq!(shell.run("info h --json").json()["hash"], "fast");
    for keyed in ["", "--hash keyed"] {
        shell.run(&format!("build rate {keyed} -o h members")).ok();
        assert_eq!(shell.run("info h --json").json()["hash"], "keyed");
    }
    shell.key_file = Some("nowhere");
    shell.run("build rate -o h members").refused(&["nowhere"]);
    assert_eq!(shell.run("query -c g members").ok(), "100\n");
    shell.run("query f members").refused(&["nowhere"]);
    shell.key_file = Some("");
    shell.run("query f members").refused(&["--key-file"]);
    shell.key_file = None;
    for hash in ["sha256-md5", "prefixed"] {
        shell.run(&format!("build rate --hash {hash} -o h members")).ok();
        assert_eq!(shell.run("query -c h members").ok(), "100\n");
        shell
            .run(&format!("build rate --hash {hash} --filter blocked -o h members"))
            .refused(&[hash, "keyed"]);
    }
}

#[test]
fn damaged_files_are_refused_in_words() {
    let shell = Shell::new();
    shell.file("members", lines(0..100)).file("text", "just text\n").file("empty", "");
    shell.run("build rate -o f members").ok();
    let good = std::fs::read(shell.path("f")).unwrap();
    for command in [
        "query bad members",
        "add bad members",
        "info bad",
        "measure bad",
        "union bad f -o x",
        "remove bad members",
    ] {
        for (damage, bytes) in [
            ("signature", b"just text".to_vec()),
            ("signature", vec![]),
            ("bytes long", good[..good.len() - 1].to_vec()),
            ("bytes long", [&good[..], b"x"].concat()),
            ("bytes long", good[..100].to_vec()),
            ("header is damaged", flip(&good, 50)),
            ("body is damaged", flip(&good, 130)),
            ("upgrade", flip(&good, 9)),
        ] {
            shell.file("bad", &bytes);
            shell.run(command).refused(&[damage, "bad"]);
            assert_eq!(std::fs::read(shell.path("bad")).unwrap(), bytes, "nothing was changed");
        }
    }
    // The body's checksum, and only that, can be waived.
    shell.file("bad", flip(&good, 130));
    shell.run("info --no-verify bad").ok();
    shell.file("bad", flip(&good, 50));
    shell.run("info --no-verify bad").refused(&["header"]);
    shell.run("info nowhere").refused(&["nowhere"]);
    shell.run("info .").refused(&["cannot open ."]);
    assert!(!shell.path("x").exists());
}

fn flip(bytes: &[u8], at: usize) -> Vec<u8> {
    let mut copy = bytes.to_vec();
    copy[at] ^= 0x10;
    copy
}

#[test]
fn writing_replaces_in_one_step_or_not_at_all() {
    let shell = Shell::new();
    shell.file("members", lines(0..100));
    shell.run("build rate -o missing/f members").refused(&["no folder missing"]);
    shell.run("build rate -o f nowhere").refused(&["nowhere"]);
    assert!(!shell.path("f").exists());
    shell.run("build rate -o f members").ok();
    #[cfg(unix)]
    {
        use std::os::unix::fs::{PermissionsExt, symlink};
        // Permissions and links survive.
        std::fs::set_permissions(shell.path("f"), std::fs::Permissions::from_mode(0o640)).unwrap();
        symlink("f", shell.path("link")).unwrap();
        shell.with_input("add link", "ant\n").ok();
        assert!(shell.path("link").symlink_metadata().unwrap().is_symlink());
        assert_eq!(std::fs::metadata(shell.path("f")).unwrap().permissions().mode() & 0o777, 0o640);
        assert_eq!(shell.with_input("query -c f", "ant\n").ok(), "1\n");
    }
    // Through a pipe, out and in again; the words go to standard error.
    let piped = Command::new(env!("CARGO_BIN_EXE_tamis"))
        .args(["build", "rate", "-o", "-", "members"])
        .current_dir(shell.folder.path())
        .output()
        .unwrap();
    assert!(piped.status.success());
    let through = shell.with_input("query -c - members", &piped.stdout);
    assert_eq!(through.ok(), "100\n");
    shell.with_input("query -", &piped.stdout).refused(&["standard input"]);
    shell.with_input("measure - --members -", &piped.stdout).refused(&["standard input"]);
    shell.with_input("measure f --members - --strangers -", "").refused(&["standard input"]);
    shell.with_input("union - - -o x", &piped.stdout).refused(&["standard input"]);
    // JSON does not run into the filter.
    let changed = Command::new(env!("CARGO_BIN_EXE_tamis"))
        .args(["union", "f", "f", "-o", "-", "--json"])
        .current_dir(shell.folder.path())
        .output()
        .unwrap();
    assert!(String::from_utf8_lossy(&changed.stderr).contains("\"filters\":2"));
    assert_eq!(shell.with_input("query -c - members", &changed.stdout).ok(), "100\n");
    // What the filter is made from, and what is no filter, are not overwritten.
    shell.run("build rate -o members members").refused(&["overwrite", "members"]);
    shell.file("notes", "precious\n");
    shell.run("build rate -o notes members").refused(&["no filter", "--force"]);
    shell.run("union f f -o notes").refused(&["no filter", "--force"]);
    assert_eq!(std::fs::read(shell.path("notes")).unwrap(), b"precious\n");
    shell.run("build rate --force -o notes members").ok();
    #[cfg(unix)]
    {
        // A link to nothing yet is followed too; standard error may be full, and the exit code
        // still tells.
        std::os::unix::fs::symlink("new", shell.path("dangling")).unwrap();
        shell.run("build rate -o dangling members").ok();
        assert!(shell.path("new").is_file());
        let full = std::fs::File::options().write(true).open("/dev/full").unwrap();
        let code = Command::new(env!("CARGO_BIN_EXE_tamis"))
            .args(["info", "nowhere"])
            .stderr(full)
            .status()
            .unwrap()
            .code();
        assert_eq!(code, Some(2));
    }
}

/// Several processes that change one filter wait for each other: no key is lost.
#[test]
fn concurrent_additions_are_not_lost() {
    let shell = Shell::new();
    shell.with_input("build rate --items 10000 -o f", "").ok();
    std::thread::scope(|scope| {
        for i in 0..6 {
            let shell = &shell;
            scope.spawn(move || shell.with_input("add f", lines(i * 500..(i + 1) * 500)).ok());
        }
    });
    shell.file("all", lines(0..3_000));
    assert_eq!(shell.run("query -c f all").ok(), "3000\n");
}

#[test]
fn adding_can_deduplicate() {
    let shell = Shell::new();
    shell.with_input("build rate --items 100 --fpr 1e-9 -o f", "old\n").ok();
    let fresh = shell.with_input("add --print-new f", "a\nold\na\nb\na\n");
    assert!(fresh.err.contains("5 keys added"), "{}", fresh.err);
    assert_eq!(fresh.ok(), "a\nb\n");
    assert_eq!(shell.with_input("add --print-new f", "b\nc\n").ok(), "c\n");
    shell.file("more", "d\n");
    shell
        .with_input("add --print-new - more", std::fs::read(shell.path("f")).unwrap())
        .refused(&["standard output"]);
}

/// Half a filter is an error, also where the reader of the pipe does not care.
#[cfg(unix)]
#[test]
fn a_filter_cut_off_in_a_pipe_is_an_error() {
    let shell = Shell::new();
    shell.file("members", lines(0..10));
    let (code, complaint) = shell.unheard("build rate --items 10000000 -o - members");
    assert_eq!(code, Some(2));
    assert!(complaint.contains("standard output"), "{complaint}");
}

/// A reader that has seen enough (`head`) is no error.
#[cfg(unix)]
#[test]
fn broken_pipes_are_quiet() {
    let shell = Shell::new();
    shell.file("members", lines(0..100_000));
    shell.run("build rate -o f members").ok();
    for line in ["query f members", "reproduce --quick 001", "info f", "--help"] {
        assert_eq!(shell.unheard(line), (Some(0), String::new()), "{line}");
    }
}

#[test]
fn documents_are_reproduced() {
    let shell = Shell::new();
    let report = shell.run("reproduce 001 004 --quick --json").json();
    let cells = report["cells"].as_array().unwrap();
    assert_eq!(cells.len(), 21);
    for cell in cells {
        assert_eq!(cell["verdict"], "holds", "{cell}");
        for field in ["document", "why", "recorded", "note", "source"] {
            assert!(cell[field].is_string(), "{field} in {cell}");
        }
        for part in ["table", "row", "column"] {
            assert!(cell["place"][part].is_string(), "{part} in {cell}");
        }
        assert!(cell["tolerance"].is_number(), "{cell}");
        assert_eq!(cell["published"].is_number(), cell["recomputed"].is_number(), "{cell}");
    }
    let slips = report["slips"].to_string();
    for evidence in
        ["MD4", "elemet_8204 and elemet_9964", "estimation()", "ceiling", "20,000 trials", "k >= 1"]
    {
        assert!(slips.contains(evidence), "{evidence}");
    }
    shell.run("reproduce 999").refused(&["999", "000, 001, 003 and 004"]);
}

/// Two prints of one paper, and a line for each cell with every reading.
#[test]
fn the_ultrafilter_is_reproduced_by_either_number() {
    let shell = Shell::new();
    let words = shell.run("reproduce 002 --quick").ok();
    assert!(words.starts_with("000  K. Odoh"), "{words}");
    assert!(
        words.contains("Of 90 cells 90 hold as recomputed, 8 with ten hashes, one-sided"),
        "{words}"
    );
    assert!(!words.contains("CHANGED"), "{words}");
    let report = shell.run("reproduce 000 --quick --json").json();
    let first = &report["cells"][0];
    assert_eq!(first["verdict"], "holds under reading one hash, one-sided");
    assert_eq!(
        (first["reading"].as_str(), first["published"].as_f64()),
        (Some("one hash, one-sided"), Some(0.03))
    );
    assert!(
        first["readings"][0]["recomputed"].is_number()
            && first["readings"][0]["verdict"].is_string()
    );
}

#[test]
fn zone_plans_have_stable_fields_and_refusals() {
    let shell = Shell::new();
    let plan = shell.run("plan zone --universe 606 --items 3 --json").json();
    assert_eq!((plan["promise"].as_str(), plan["code"].as_str()), (Some("zone"), Some("rs")));
    assert_eq!(
        (plan["bits"].as_u64(), plan["probes"].as_u64(), plan["zone"].as_u64()),
        (Some(63), Some(7), Some(3))
    );
    assert_eq!(
        (plan["items"].as_u64(), plan["universe"].as_u64(), plan["bytes"].as_u64()),
        (Some(3), Some(606), Some(8))
    );
    assert_eq!(
        plan["alternatives"][0],
        serde_json::json!({"code": "egh", "bits": 100, "probes": 9})
    );
    let egh = shell.run("plan zone --universe ipv4 --items 4 --code egh --json").json();
    assert_eq!((egh["bits"].as_u64(), egh["probes"].as_u64()), (Some(1264), Some(27)));
    let coprime = shell.run("plan zone --universe ipv4 --items 4 --code coprime --json").json();
    assert!(coprime["bits"].as_u64().unwrap() <= 1200);
    let whole = shell.run("plan zone --universe 0..18446744073709551615 --items 10 --json").json();
    assert_eq!(
        (whole["universe"].as_str(), whole["bits"].as_u64()),
        (Some("18446744073709551616"), Some(8827))
    );
    let probes = shell.run("plan zone --universe 65536 --items 10 --prefer probes --json").json();
    assert!(probes["probes"].as_u64().unwrap() < 21);
    let counting = shell.run("plan zone --universe 606 --items 3 --counting --json").json();
    assert_eq!(
        (counting["bits"].as_u64(), counting["counter_bits"].as_u64()),
        (Some(126), Some(2))
    );
    assert_eq!(
        shell.run("plan zone --items 5 --bits 440 --json").json()["largest_universe"]["egh"],
        18_062
    );
    assert_eq!(
        shell.run("plan zone --universe 18062 --bits 440 --json").json()["largest_items"]["egh"],
        5
    );
    let guide =
        shell.run("plan zone --universe 1000 --sizes 0.1,0.2,0.4,0.2,0.1 --worth 3 --json").json();
    assert_eq!(guide["guideline"].as_array().unwrap().len(), 4);
    assert!(shell.run("plan zone --universe 1..48 --items 2 --code egh").ok().contains("28 bits"));
    // A bit for each element, where that is the least; and no bound that it would break.
    let bitmap = shell.run("plan zone --universe 1e6 --items 7000 --json").json();
    assert_eq!(
        (bitmap["bits"].as_u64(), bitmap["zone"].as_u64()),
        (Some(1_000_000), Some(1_000_000))
    );
    let dense = shell.run("plan zone --universe 100 --items 50 --json").json();
    assert!(dense["bits"].as_u64().unwrap() <= 100 && dense["min_bits"].is_null());
    let bitmap = shell.run("plan zone --universe 65536 --bits 65536 --json").json();
    assert_eq!(bitmap["largest_items"]["coprime"], 65_536);
    for (line, words) in [
        ("plan zone --universe 0 --items 1", &["no elements"][..]),
        ("plan zone --universe 9..3 --items 1", &["empty", "3..9"]),
        ("plan zone --universe many --items 1", &["many", "ipv4"]),
        ("plan zone --universe dictionary:nowhere --items 1", &["nowhere"]),
        ("plan zone --universe 10 --items 0", &["at least 1"]),
        ("plan zone --universe 10 --items 11", &["10 or fewer"]),
        ("plan zone --universe 1e10 --items 1e9", &["plan for 32768 items or fewer"]),
        ("plan zone --universe 10 --bits 0", &["at least 1"]),
        ("plan zone --universe 10 --bits 5 --counting", &["--counting"]),
        ("plan zone --universe 10 --sizes 1", &["at least two"]),
        ("plan zone --universe 10 --sizes 0.5,0.5 --worth nan", &["--worth"]),
        ("plan zone --universe 10 --items 2 --worth 5", &["--worth"]),
        ("plan zone --universe ipv4 --items 1e9 --code egh", &["items or fewer"]),
        ("plan zone --universe 10", &["two of"]),
        ("plan zone --universe 10 --items 1 --bits 5", &["leave one out"]),
        ("plan zone --universe 10 --sizes 0.5,0.6", &["add up to"]),
    ] {
        shell.run(line).refused(words);
    }
}

#[test]
fn zone_filters_are_exact_and_list() {
    for options in
        ["", "--counting", "--code egh", "--code coprime --counting", "--code rs --prefer probes"]
    {
        let shell = Shell::new();
        shell
            .file("members", "1\n2\n606\n")
            .file("all", (1..=606).map(|i| format!("{i}\n")).collect::<String>());
        let built = shell
            .run(&format!("build zone --universe 1..606 {options} -o f members --json"))
            .json();
        assert_eq!(
            (built["len"].as_u64(), built["items"].as_u64(), built["health"].as_str()),
            (Some(3), Some(3), Some("within"))
        );
        assert_eq!(shell.run("query f all").ok(), "1\n2\n606\n");
        assert_eq!(shell.run("query -vc f all").ok(), "603\n");
        assert_eq!(shell.run("list f").ok(), "1\n2\n606\n");
        assert_eq!(
            shell.run("list f --method join --json").json()["elements"],
            serde_json::json!(["1", "2", "606"])
        );
        let measured = shell.run("measure f --members members --strangers all --json").json();
        assert_eq!(measured["false_positives"], 3, "the members among all");
        assert_eq!(shell.run("measure f --trials 5000 --json").json()["passed"], 0);
        // What is not in the universe is an error, not absent; and changes nothing.
        let before = std::fs::read(shell.path("f")).unwrap();
        for (line, input, words) in [
            ("query f", "607\n", &["607", "1..606"][..]),
            ("query f", "0\n", &["0 is not among"]),
            ("query f", "x\n", &["\"x\""]),
            ("add f", "1000\n", &["1000"]),
            ("add f", "5\n", &["one item too many", "--beyond", "full"]),
        ] {
            shell.with_input(line, input).refused(words);
            assert_eq!(std::fs::read(shell.path("f")).unwrap(), before);
        }
        // An item that is there changes nothing.
        assert_eq!(shell.with_input("add f --json", "2\n").json()["certainly_new"], 0);
        assert_eq!(std::fs::read(shell.path("f")).unwrap(), before);
        // Past the zone only on request, and never silently.
        let over = shell.with_input("add f --beyond", "5\n");
        assert!(over.err.contains("beyond"), "{}", over.err);
        over.ok();
        assert_eq!(shell.run("info f --json").json()["health"], "beyond");
        assert!(shell.run("list f --method join").err.contains("others may be too"));
        assert_eq!(shell.run("query -c f members").ok(), "3\n");
    }
}

#[test]
fn zone_filters_forget_grow_and_merge() {
    let shell = Shell::new();
    shell
        .with_input(
            "build zone --universe ipv4 --items 4 --code egh --counting -o f",
            "10.0.0.1\n10.0.0.2\n\n",
        )
        .ok();
    shell.with_input("remove f", "10.0.0.3\n").refused(&["10.0.0.3", "nothing was removed"]);
    assert_eq!(shell.with_input("remove f --json", "10.0.0.1\n").json()["removed"], 1);
    for method in ["join", "algebra", "sturm"] {
        assert_eq!(shell.run(&format!("list f --method {method}")).ok(), "10.0.0.2\n");
    }
    let grown = shell.run("grow f --items 6 --json").json();
    assert!(grown["zone"].as_u64().unwrap() >= 6 && grown["blocks"].as_u64().unwrap() > 27);
    assert_eq!(shell.run("list f").ok(), "10.0.0.2\n");
    assert_eq!(shell.run("shrink f --blocks 20 --json").json()["blocks"], 20);
    assert_eq!(shell.run("list f").ok(), "10.0.0.2\n");
    shell.run("grow f --items 5000000000").refused(&["4294967296 or fewer"]);
    shell.run("grow f --blocks 5").refused(&["from 20 to 8192 blocks"]);
    shell.run("shrink f --blocks 50").refused(&["from 1 to 20 blocks"]);
    // Filters of different lengths meet in the blocks they share.
    shell
        .with_input(
            "build zone --universe ipv4 --items 4 --code egh --counting -o g",
            "10.0.0.2\n10.0.0.9\n",
        )
        .ok();
    shell.run("union f g -o u").ok();
    assert_eq!(shell.run("list u").ok(), "10.0.0.2\n10.0.0.9\n");
    shell.run("intersect f g -o i").ok();
    assert_eq!(shell.run("list i").ok(), "10.0.0.2\n");
    // Other codes, universes and kinds do not.
    shell.with_input("build zone --universe ipv4 --items 4 --code rs --counting -o h", "").ok();
    shell.run("union f h -o x").refused(&["differ in code: egh and rs"]);
    shell.with_input("build zone --universe 65536 --items 4 --code egh --counting -o h", "").ok();
    shell.run("union f h -o x").refused(&["differ in universe"]);
    shell.with_input("build rate --items 4 -o h", "").ok();
    shell.run("union f h -o x").refused(&["differ in filter"]);
    shell.run("list h").refused(&["only zone filters can"]);
    shell.run("grow h --blocks 5").refused(&["whose size is fixed"]);
    shell.with_input("build zone --universe 100 --items 2 -o h", "7\n").ok();
    shell.with_input("remove h", "7\n").refused(&["--counting"]);
    shell.with_input("remove h", "").refused(&["--counting"]);
    shell.run("list h --universe 1..5").refused(&["0..99", "1..5"]);
    shell.with_input("query h --keys text", "7\n").refused(&["--keys"]);
    // A zone that allows more than was asked for can be used without a longer filter.
    shell.with_input("build zone --universe 100 --items 50 --counting -o wide", "3\n").ok();
    assert_eq!(shell.run("grow wide --items 60 --json").json()["items"], 60);
    assert_eq!(shell.run("list wide").ok(), "3\n");
    shell.run("list h --method algebra").refused(&["needs counters"]);
    assert_eq!(shell.with_input("build zone --universe 100 --items 2 -o h", "").code, 0);
    let empty = shell.run("list h");
    assert_eq!((empty.code, empty.out.as_str()), (1, ""));
}

/// Beyond the zone a stranger may be removed by mistake; nothing is called exact from then on.
#[test]
fn zone_filters_are_not_sure_beyond_their_zone() {
    let shell = Shell::new();
    shell
        .with_input(
            "build zone --universe 43 --items 2 --code egh --counting --beyond -o f",
            "0\n31\n32\n",
        )
        .ok();
    shell.with_input("remove f", "10\n").ok();
    let list = shell.run("list --json f");
    assert!(list.code == 2 || !list.out.contains("\"exact\":true"), "{}{}", list.out, list.err);
    let many: String = (0..40).step_by(5).map(|i| format!("{i}\n")).collect();
    shell.with_input("build zone --universe 40 --items 3 --code egh --beyond -o g", many).ok();
    shell.run("measure g --trials 100").refused(&["--strangers"]);
    // Nearly everything is a member: the one stranger is found without guessing.
    shell
        .with_input(
            "build zone --universe 500 --items 499 -o h",
            (0..499).map(|i| format!("{i}\n")).collect::<String>(),
        )
        .ok();
    assert_eq!(shell.run("measure h --trials 1000 --json").json()["passed"], 0);
}

/// What a file says of its contents must agree with its cells.
#[test]
fn zone_files_that_lie_about_their_contents_are_refused() {
    let shell = Shell::new();
    shell.with_input("build zone --universe 100 --items 3 -o f", "7\n8\n").ok();
    let mut bytes = std::fs::read(shell.path("f")).unwrap();
    bytes[72] = 1; // it says that it holds one
    reseal(&mut bytes);
    shell.file("lie", &bytes);
    shell.run("info lie").refused(&["items held", "cells"]);
    shell.run("list lie --no-verify").refused(&["2 elements pass"]);
}

/// Puts the right checksum at the end of a header.
fn reseal(bytes: &mut [u8]) {
    let end = u32::from_le_bytes(bytes[12..16].try_into().unwrap()) as usize - 4;
    let checksum = !bytes[..end].iter().fold(!0u32, |crc, byte| {
        (0..8).fold(crc ^ u32::from(*byte), |crc, _| {
            crc >> 1 ^ if crc & 1 == 1 { 0x82f6_3b78 } else { 0 }
        })
    });
    bytes[end..end + 4].copy_from_slice(&checksum.to_le_bytes());
}

#[test]
fn dictionaries_are_remembered() {
    let shell = Shell::new();
    shell
        .file("words", "ant\nbee\ncat\ndog é\n")
        .file("others", "ant\nbee\ncat\n")
        .file("twice", "a\nb\na\n");
    shell.with_input("build zone --universe dictionary:words --items 2 -o f", "bee\ndog é\n").ok();
    shell.run("list f").refused(&["dictionary of 4 keys", "--universe dictionary:FILE"]);
    shell.run("list f --universe dictionary:others").refused(&["not the dictionary"]);
    assert_eq!(shell.run("list f --universe dictionary:words").ok(), "bee\ndog é\n");
    assert_eq!(shell.with_input("query f --universe dictionary:words", "ant\nbee\n").ok(), "bee\n");
    shell.with_input("query f --universe dictionary:words", "emu\n").refused(&["emu"]);
    shell.run("build zone --universe dictionary:twice --items 2 -o g").refused(&["\"a\" twice"]);
    shell.with_input("build zone --items 2 -o g", "").refused(&["--universe"]);
    shell.with_input("build zone --universe 5 -o g", "").refused(&["--items"]);
}

#[test]
fn help_teaches_and_completions_complete() {
    let shell = Shell::new();
    assert!(shell.run("--help").ok().contains("Examples:"));
    for command in [
        "plan rate",
        "build rate",
        "query",
        "add",
        "remove",
        "info",
        "measure",
        "union",
        "intersect",
        "completions",
    ] {
        assert!(shell.run(&format!("{command} --help")).ok().contains("Example"), "{command}");
    }
    for name in ["bash", "zsh", "fish", "powershell", "elvish"] {
        assert!(shell.run(&format!("completions {name}")).ok().contains("tamis"));
    }
}

#[test]
fn the_example_lists_are_disjoint() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples");
    let read = |name| std::fs::read_to_string(root.join(name)).unwrap();
    let (words, others) = (read("words.txt"), read("others.txt"));
    let words: std::collections::HashSet<&str> = words.lines().collect();
    assert_eq!((words.len(), others.lines().count()), (10_000, 10_000));
    assert!(!others.lines().any(|word| words.contains(word)));
}

#[test]
#[cfg(unix)]
fn what_nobody_received_is_not_remembered() {
    let shell = Shell::new();
    shell.file("few.txt", "ant\n").file("many.txt", lines(0..200_000));
    shell.run("build rate --items 300000 -o seen.tamis few.txt").ok();
    let (code, complaint) = shell.unheard("add --print-new seen.tamis many.txt");
    assert_eq!(code, Some(2), "{complaint}");
    assert!(complaint.contains("nothing was added"), "{complaint}");
    assert!(shell.run("query -c seen.tamis many.txt").out.trim().parse::<u32>().unwrap() < 100);
}

#[test]
fn what_comes_before_a_bad_record_is_answered() {
    let shell = Shell::new();
    shell.file("few.txt", "ant\n1\n").file("numbers.txt", "1\n2\n");
    shell.run("build rate --items 10 -o seen.tamis few.txt").ok();
    shell.run("build rate --items 10 --keys integers -o numbers.tamis numbers.txt").ok();
    let ran = shell.with_input("query --csv k seen.tamis", "a,k\n1,ant\n2\n");
    assert_eq!((ran.code, ran.out.as_str()), (2, "ant\n"), "{}", ran.err);
    let ran = shell.with_input("query numbers.tamis", "1\nx\n2\n");
    assert_eq!((ran.code, ran.out.as_str()), (2, "1\n"), "{}", ran.err);
}

/// A writer that is slow to end: the first answers come before it does.
#[test]
#[cfg(unix)]
fn answers_come_while_the_writer_is_still_there() {
    use std::io::Write;
    use std::process::{Command, Stdio};
    let shell = Shell::new();
    shell.file("few.txt", "a\n");
    shell.run("build rate --items 10 -o seen.tamis few.txt").ok();
    for (arguments, input) in [
        (&["query", "-q", "seen.tamis"][..], "a\n"),
        (&["query", "-q", "--csv", "k", "seen.tamis"], "k\na\n"),
    ] {
        let mut child = Command::new(env!("CARGO_BIN_EXE_tamis"))
            .args(arguments)
            .current_dir(shell.folder.path())
            .stdin(Stdio::piped())
            .spawn()
            .unwrap();
        // Held open until the command has ended by itself.
        let mut stdin = child.stdin.take().unwrap();
        stdin.write_all(input.as_bytes()).unwrap();
        stdin.flush().unwrap();
        assert_eq!(child.wait().unwrap().code(), Some(0));
        drop(stdin);
    }
}
