//! What people type, and what they are told.

#![allow(clippy::unwrap_used)]

mod shell;

use shell::{Shell, lines};

#[test]
fn one_number_is_written_in_many_ways() {
    let shell = Shell::new();
    let plan = |items: &str| {
        shell.run(&format!("plan rate --items {items} --fpr 1% --json")).json()["items"].clone()
    };
    for million in ["1000000", "1M", "1000k", "1e6", "1_000_000", "1,000,000"] {
        assert_eq!(plan(million), 1_000_000, "{million}");
    }
    assert_eq!(plan("2^32"), 1u64 << 32);
    // The same everywhere.
    shell.file("keys", "1\n2\n");
    for command in [
        "build rate --items 1k --seed 2^63 -o f keys",
        "build zone --universe 1k --items 2^2 --code egh -o z keys",
        "grow z --items 2^3",
        "build privacy --items 1k --epsilon 4 --method bloom --hashes 2^1 -o p keys",
        "measure f --trials 1k",
        "info f --max-memory 1.5GiB",
        "info f --max-memory 64MB",
    ] {
        shell.run(command).ok();
    }
    for (command, value) in [
        ("plan rate --items 5 --bits -1", "-1"),
        ("plan rate --items 5 --fpr 0.1 --filter counting --counter-bits -2", "-2"),
        ("plan zone --universe 10 --items -3", "-3"),
        ("plan zone --universe -10 --items 3", "-10"),
        ("plan privacy --items 5 --epsilon -4", "-4"),
        ("measure f --trials -7", "-7"),
        ("grow z --blocks -8", "-8"),
        ("info f --max-memory -9", "-9"),
        ("audit --runs -6", "-6"),
    ] {
        let ran = shell.run(command).refused(&[value]);
        assert!(!ran.err.contains("unexpected argument"), "{command}: {}", ran.err);
    }
}

#[test]
fn a_long_epsilon_is_rounded_down_and_said_so() {
    let shell = Shell::new();
    let ran = shell.run("plan privacy --items 100 --epsilon 2.70805020110221 --json");
    assert!(ran.err.contains("rounded down to 2.708050201"), "{}", ran.err);
    assert_eq!(ran.json()["epsilon_asked"], 2.708050201);
    let small = "the smallest loss above 0 is 1e-9";
    shell.run("plan privacy --items 100 --epsilon 1e-12").refused(&["1e-12", small]);
}

#[test]
fn universes_of_addresses() {
    let shell = Shell::new();
    let input = "10.0.0.1\n10.255.255.255\n";
    shell.with_input("build zone --universe 10.0.0.0/8 --items 4 -o f", input).ok();
    assert_eq!(shell.run("list f").ok(), input);
    assert!(shell.run("info f").ok().contains("10.0.0.0..10.255.255.255"));
    assert_eq!(shell.run("info f --json").json()["universe"], 1 << 24);
    shell.with_input("query f", "11.0.0.1\n").refused(&["11.0.0.1", "10.0.0.0"]);
    let range = "224.0.0.0..239.255.255.255";
    shell.with_input(&format!("build zone --universe {range} --items 4 -o f"), "224.0.0.9\n").ok();
    assert_eq!(shell.run("list f").ok(), "224.0.0.9\n");
    let words = ["10.0.0.5..10.0.0.1", "the range is empty; write 10.0.0.1..10.0.0.5\n"];
    shell.run("plan zone --universe 10.0.0.5..10.0.0.1 --items 2").refused(&words);
    shell.run("plan zone --universe dictionary: --items 2").refused(&["dictionary:FILE"]);
    assert_eq!(shell.run("plan zone --universe 0..=5 --items 2 --json").json()["universe"], 6);
    assert_eq!(
        shell.run("plan zone --universe IPv4 --items 2 --json").json()["universe"],
        1u64 << 32
    );
}

#[test]
fn queries_take_the_letters_of_grep() {
    let shell = Shell::new();
    shell.with_input("build rate --items 10 --fpr 1e-9 -o f", "ant\nbee\n").ok();
    let input = "cat\nant\n\nbee\n";
    assert_eq!(shell.with_input("query -n f", input).ok(), "2:ant\n4:bee\n");
    assert_eq!(shell.with_input("query -vn f", input).ok(), "1:cat\n3:\n");
    assert_eq!(shell.with_input("query -nc f", input).ok(), "2\n");
    assert_eq!(shell.with_input("query -ncq f", input).ok(), "");
    assert_eq!(
        shell.with_input("query -n --csv k --rows f", "k,v\ncat,1\nbee,2\n").ok(),
        "k,v\n3:bee,2\n"
    );
    let commented = "# bee\nant\n#\nbee\n";
    assert_eq!(shell.with_input("query -n --comments # f", commented).ok(), "2:ant\n4:bee\n");
    let csv = "k,v\n#ant,1\nbee,2\n";
    assert_eq!(shell.with_input("query --comments # --csv k f", csv).ok(), "bee\n");
}

#[test]
fn columns_with_odd_names() {
    let shell = Shell::new();
    shell.with_input("build rate --items 10 --fpr 1e-9 -o f", "ant\nbee\n").ok();
    assert_eq!(shell.with_input("query --csv =2024 f", "2023,2024\nbee,ant\n").ok(), "ant\n");
    let twice = shell.with_input("query --csv k f", "k,k\nbee,ant\n");
    assert!(twice.err.contains("several columns"), "{}", twice.err);
    assert_eq!(twice.ok(), "bee\n");
}

#[test]
fn several_filters_are_described() {
    let shell = Shell::new();
    shell.file("words", "ant\nbee\ncat\n");
    shell.with_input("build rate --items 1 -o a", "ant\n").ok();
    shell.with_input("build zone --universe dictionary:words --items 2 -o b", "bee\n").ok();
    let told = shell.run("info a b").ok();
    assert!(told.contains("up to 1 item\n") && told.contains("about 1 item "), "{told}");
    // Without its dictionary, all that the header tells.
    assert!(told.contains("up to 2 items of the dictionary of 3 keys"), "{told}");
    assert!(told.contains("holds     1 of 2 planned items") && told.contains("room for 1 more"));
    assert!(told.contains("code      ") && told.contains("fingerprint"), "{told}");
    let json = shell.run("info --json a b").ok();
    let objects: Vec<serde_json::Value> =
        json.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!((&objects[0]["file"], &objects[1]["file"]), (&"a".into(), &"b".into()));
    assert_eq!(objects[1]["universe"], 3);
    let with_dictionary = shell.run("info b --json --universe dictionary:words").json();
    assert_eq!(objects[1], with_dictionary);
    assert_eq!(objects[1]["fingerprint"].as_str().unwrap().len(), 16);
    shell.run("query b words").refused(&["--universe dictionary:FILE"]);
    // One that is not there does not hide the others.
    let told = shell.run("info a nosuch b");
    assert_eq!(told.code, 2);
    assert!(told.out.contains("a: a bloom") && told.out.contains("b: a zone"), "{}", told.out);
    assert!(told.err.contains("no filter nosuch") && told.err.contains("1 of 3 files"));
}

#[test]
fn plans_say_how_far_a_filter_grows_and_lists() {
    let shell = Shell::new();
    let plan = shell.run("plan zone --universe ipv4 --items 50 --json").json();
    let listable = plan["listable"].as_u64().unwrap();
    assert!(listable > 0 && listable < 50, "{listable}");
    let text = shell.run("plan zone --universe ipv4 --items 50").ok();
    assert!(text.contains(&format!("holds up to {listable}; with --counting")), "{text}");
    let plan = shell.run("plan zone --universe 606 --items 3 --json").json();
    let most = plan["grows_to_items"].as_u64().unwrap();
    shell.with_input("build zone --universe 606 --items 3 -o f", "7\n").ok();
    shell.run(&format!("grow f --items {most}")).ok();
    shell.run(&format!("grow f --items {}", most + 1)).refused(&[]);
    let refused = shell.run("shrink f --items 9").refused(&["to make it longer: tamis grow"]);
    assert!(!refused.err.contains("cannot grow"), "{}", refused.err);
    // A coprime code says it, too.
    let text = shell.run("plan zone --universe 5000 --items 3 --code coprime").ok();
    assert!(text.contains("growing   tamis grow makes it as long as 8,192 blocks, for"), "{text}");
}

#[test]
fn every_command_has_examples_and_a_page() {
    let shell = Shell::new();
    for command in [
        "plan",
        "plan rate",
        "plan zone",
        "plan privacy",
        "build",
        "build rate",
        "build zone",
        "build privacy",
        "query",
        "add",
        "remove",
        "list",
        "info",
        "show",
        "measure",
        "union",
        "intersect",
        "grow",
        "shrink",
        "publish",
        "overlap",
        "ledger",
        "ledger new",
        "ledger show",
        "ledger repair",
        "audit",
        "dedup",
        "completions",
        "man",
    ] {
        assert!(shell.run(&format!("{command} --help")).ok().contains("Example"), "{command}");
    }
    assert!(shell.run("man").ok().contains(".TH tamis"));
    shell.run("man --all .").ok();
    assert!(shell.path("tamis-build-rate.1").is_file() && shell.path("tamis.1").is_file());
}

#[test]
fn plurals_are_right() {
    let shell = Shell::new();
    shell.file("keys.txt", lines(0..1));
    let built = shell.run("build rate --items 1 -o f keys.txt").ok();
    assert!(built.contains("(1 item)"), "{built}");
    assert!(shell.run("add f keys.txt").ok().contains("1 key added"));
    assert!(shell.run("plan rate --items 1 --fpr 0.1").ok().contains("for 1 item at"));
    let built = shell.run("build rate --items 1 --fpr 0.5 -o f keys.txt").ok();
    assert!(built.contains("a bloom filter of 1 byte ("), "{built}");
    assert!(shell.run("info f").ok().contains("(1 byte), 1 hash\n"));
    let text = shell.run("plan zone --universe 2 --items 1").ok();
    assert!(text.contains("1 byte,") && text.contains("1 probe a lookup"), "{text}");
    assert!(text.contains("at most 1 candidate or"), "{text}");
    shell.file("word", "ant\n");
    shell.run("build zone --universe dictionary:word --items 1 -o z word").ok();
    assert!(shell.run("info z").ok().contains("the dictionary of 1 key\n"));
    let told = shell.run("dedup word -o once").ok();
    assert!(told.contains("for 1 distinct record;"), "{told}");
}

#[test]
fn a_full_filter_is_told_in_plain_words() {
    let shell = Shell::new();
    shell.with_input("build rate --items 1 --fpr 0.5 -o f", "a\n").ok();
    let added = shell.with_input("add f", lines(0..1_000)).ok();
    assert!(added.contains("it is full, and cannot tell how many more it holds than 1"), "{added}");
    let told = shell.run("info f").ok();
    assert!(told.contains("beyond plan: it is full; rebuild it with more --items"), "{told}");
}

#[test]
fn a_letter_means_the_same_in_counts_and_sizes() {
    let shell = Shell::new();
    shell.with_input("build rate --items 1000 --fpr 0.01 -o f", "a\n").ok();
    // The body takes 1,199 bytes.
    shell.run("info f --max-memory 1.199k").ok();
    shell.run("info f --max-memory 1.2kB").ok();
    shell.run("info f --max-memory 1.198k").refused(&["1198"]);
    shell.run("info f --max-memory 1.1708984375KiB").ok();
    let help = shell.run("info --help").ok();
    assert!(help.contains("k, M and G are thousands"), "{help}");
    assert!(shell.run("--help").ok().contains("1.5GiB (a power of 1024)"));
}
