//! Filters of other programs at the command line.

#![allow(clippy::unwrap_used)]

mod shell;

use shell::{Shell, lines};
use std::path::{Path, PathBuf};

fn fixture(name: &str) -> Vec<u8> {
    let folder: PathBuf =
        [env!("CARGO_MANIFEST_DIR"), "..", "tamis-foreign", "tests", "fixtures"].iter().collect();
    std::fs::read(folder.join(name)).unwrap()
}

/// A folder with these fixtures.
fn with(names: &[&str]) -> Shell {
    let shell = Shell::new();
    for name in names {
        shell.file(name, fixture(name));
    }
    shell
}

#[test]
fn info_names_the_program_and_its_sizes() {
    let shell = with(&["dcso_few.bloom", "redis_scaling.dump", "parquet_arrow_str.parquet"]);
    let facts = shell.run("info --json dcso_few.bloom").json();
    assert_eq!(facts["format"], "dcso");
    assert_eq!((&facts["items"], &facts["fpr"]), (&10.into(), &0.001.into()));
    assert_eq!((&facts["bits"], &facts["counted_items"]), (&143.into(), &6.into()));
    assert_eq!((&facts["health"], &facts["plan_is_stored"]), (&"within".into(), &true.into()));
    let text = shell.run("info dcso_few.bloom").ok();
    assert!(text.contains("dcso filter") && text.contains("tamis fixture"), "{text}");
    let facts = shell.run("info --json redis_scaling.dump").json();
    assert_eq!(facts["parts"].as_array().unwrap().len(), 3);
    assert_eq!(facts["counted_items"], 1004);
    let facts = shell.run("info --json parquet_arrow_str.parquet").json();
    assert!(facts["created_by"].as_str().unwrap().contains("parquet-cpp-arrow"));
    let filters = facts["filters"].as_array().unwrap();
    assert_eq!(filters.len(), 2);
    assert_eq!((&filters[1]["column"], &filters[1]["row_group"]), (&"word".into(), &1.into()));
    assert_eq!(filters[0]["sizing"], "good");
}

#[test]
fn queries_answer_as_the_program_did() {
    let shell = with(&["dcso_few.bloom", "guava_m64_i64.bin", "guava_m64_chars.bin"]);
    let keys = "ant\ndog\nabsent-1467\n日本\nabsent-1\n";
    let ran = shell.with_input("query dcso_few.bloom", keys);
    assert_eq!((ran.code, ran.out.as_str(), ran.err.as_str()), (0, "ant\nabsent-1467\n日本\n", ""));
    assert_eq!(shell.with_input("query -v dcso_few.bloom", keys).ok(), "dog\nabsent-1\n");
    assert_eq!(shell.with_input("query -c dcso_few.bloom", keys).ok(), "3\n");
    assert_eq!(shell.with_input("query -q dcso_few.bloom", "dog\n").code, 1);
    // What is not stored is said, or checked.
    let ran = shell.with_input("query guava_m64_chars.bin", "ant\n");
    assert!(ran.err.contains("--keys chars") && ran.err.contains("--expect"), "{}", ran.err);
    let line = "query --keys chars --expect Zoë guava_m64_chars.bin";
    let ran = shell.with_input(line, "ant\ncat\nnobody\n");
    assert_eq!((ran.out.as_str(), ran.err.as_str()), ("ant\ncat\n", ""));
    shell
        .with_input("query --expect 1 guava_m64_i64.bin", "1\n")
        .refused(&["\"1\" should pass", "--keys long"]);
    let longs = "1\n\n9223372036854775807\n1000000\n";
    let ran = shell.with_input("query --keys long guava_m64_i64.bin", longs);
    assert_eq!(ran.out, "1\n9223372036854775807\n");
    shell
        .with_input("query --keys long guava_m64_i64.bin", "1\nx\n")
        .refused(&["line 2", "\"x\"", "64 bits"]);
    for (line, words) in [
        ("query --keys integers guava_m64_i64.bin", ["--keys long", "--keys int"]),
        ("query --keys long dcso_few.bloom", ["no keys of the kind long", "text, hex"]),
        ("query --from spark guava_m64_i64.bin", ["not a spark filter", "version"]),
        ("query --from gauva guava_m64_i64.bin", ["gauva", "bits-and-blooms"]),
        ("query --row-group 0 dcso_few.bloom", ["--row-group", "Parquet"]),
    ] {
        shell.with_input(line, "1\n").refused(&words);
    }
    // A filter that comes through a pipe has a name.
    shell.file("keys", keys);
    let ran = shell.with_input("query --from dcso - keys", fixture("dcso_few.bloom"));
    assert_eq!(ran.ok(), "ant\nabsent-1467\n日本\n");
}

#[test]
fn kinds_of_other_programs_are_not_for_own_filters() {
    let shell = Shell::new();
    shell.file("keys", "ab\ncd\n");
    shell.run("build rate --keys hex -o f keys").refused(&["--keys", "other programs"]);
    shell.run("build rate -o f keys").ok();
    shell.run("query --keys hex f keys").refused(&["--keys", "other programs"]);
    shell.run("query --expect ab f keys").refused(&["--expect", "other programs"]);
    shell.run("query --from guava f keys").refused(&["tamis itself wrote it"]);
    shell.file("noise", "nothing that is known\n");
    shell.run("query noise keys").refused(&["not a tamis file", "--from"]);
}

#[test]
fn rbloom_must_be_named_and_its_hash_too() {
    let shell = with(&["rbloom_sha256.bin"]);
    let line = "query rbloom_sha256.bin";
    shell.with_input(line, "ant\n").refused(&["rbloom", "does not prove it", "--from rbloom"]);
    shell.with_input("query --from rbloom rbloom_sha256.bin", "ant\n").refused(&[
        "does not store its hash",
        "--keys sha256",
        "--keys hash",
    ]);
    let line = "query --from rbloom --keys sha256 rbloom_sha256.bin";
    assert_eq!(shell.with_input(line, "ant\ndog\nabsent-56\n").ok(), "ant\nabsent-56\n");
}

#[test]
fn row_groups_of_a_parquet_file() {
    let shell = with(&["parquet_arrow_str.parquet", "parquet_arrow_i64_f64.parquet"]);
    shell.file("keys", "ant\nkey-250\ndog\nabsent-1483\n");
    let file = "parquet_arrow_str.parquet";
    let ran = shell.run(&format!("query {file} --column word keys"));
    assert_eq!(ran.ok(), "0\tant\n1\tkey-250\n1\tabsent-1483\n");
    let ran = shell.run(&format!("query {file} --column word --row-group 1 -n keys"));
    assert_eq!(ran.ok(), "2:key-250\n4:absent-1483\n");
    let facts = shell.run(&format!("query {file} --column word --json keys")).json();
    assert_eq!(
        (&facts["keys"], &facts["passed"], &facts["format"]),
        (&4.into(), &3.into(), &"parquet".into())
    );
    assert_eq!(facts["row_groups"][1]["passed"], 2);
    let ran = shell.with_input(&format!("query -v -c {file} --column word"), "ant\n");
    assert_eq!(ran.ok(), "1\n");
    for (line, words) in [
        (format!("query {file} keys"), ["--column word", "Parquet"]),
        (format!("query {file} --column wrd keys"), ["\"wrd\"", "word"]),
        (format!("query {file} --column word --row-group 2 keys"), ["no row group 2", "has 2"]),
        (format!("query {file} --column word --keys long keys"), ["BYTE_ARRAY", "--keys text"]),
        (format!("add {file} keys"), ["belong to its data", "Parquet"]),
        (format!("measure {file} --column word"), ["2 filters", "--row-group"]),
        (format!("union {file} {file} -o x"), ["belong to its data", "bare"]),
    ] {
        shell.run(&line).refused(&words);
    }
    // The type of the column is the kind of its keys; both zeros are asked for.
    let line = "query parquet_arrow_i64_f64.parquet --column f";
    let ran = shell.with_input(line, "0\n-0.0\n249.75\n9999.5\n");
    assert_eq!(ran.ok(), "0\t0\n0\t-0.0\n0\t249.75\n");
    shell.with_input(line, "nan\n").refused(&["NaN"]);
    let line = "query parquet_arrow_i64_f64.parquet --column id --expect 7";
    assert_eq!(shell.with_input(line, "7\n-100\n").ok(), "0\t7\n0\t-100\n");
    let measured = shell.run("measure --json parquet_arrow_i64_f64.parquet --column id").json();
    let (low, high) =
        (measured["fpr_low"].as_f64().unwrap(), measured["fpr_high"].as_f64().unwrap());
    // One interval of 95% may miss: twice its width does not.
    let expected = measured["fpr_now"].as_f64().unwrap();
    assert!(expected > 2.0 * low - high && expected < 2.0 * high - low, "{measured}");
}

#[test]
fn what_is_built_is_the_file_of_the_program() {
    let shell = with(&["dcso_words.bloom", "guava_m64_utf8.bin", "bnb_words.bin"]);
    let words = ["ant", "bee", "cat", "Zoë", "日本", "", "😀"].join("\n");
    let keys: String = (0..1000).map(|i| format!("key-{i}\n")).collect();
    shell.file("keys", format!("{words}\n{keys}"));
    for (target, fpr, name) in [
        ("dcso", "0.03", "dcso_words.bloom"),
        ("guava", "0.01", "guava_m64_utf8.bin"),
        ("bits-and-blooms", "0.01", "bnb_words.bin"),
    ] {
        shell.run(&format!("build rate --as {target} --fpr {fpr} -o out keys")).ok();
        assert!(std::fs::read(shell.path("out")).unwrap() == fixture(name), "{name}");
    }
    // Members pass, whatever the program, and the filter is known again.
    for target in [
        "guava",
        "guava:mitz32",
        "spark",
        "spark:2",
        "dcso",
        "dcso:gzip",
        "bits-and-blooms",
        "parquet",
        "redisbloom",
        "redisbloom:chunks",
        "redisbloom:resp",
        "redisbloom:scaling",
        "valkey-bloom",
        "valkey-bloom:scaling",
        "fastbloom",
        "bloomfilter",
        "pybloom-live",
    ] {
        let facts = shell.run(&format!("build rate --as {target} --json -o out keys")).json();
        assert_eq!(facts["keys"], 1007, "{target}");
        let again = shell.run("info --json out").json();
        assert_eq!(again["format"], facts["format"], "{target}");
        assert_eq!(shell.run("query -c out keys").ok(), "1007\n", "{target}");
        assert_eq!(again["health"], "within", "{target}: {again}");
    }
    shell.run("build rate --as rbloom -o out keys").refused(&["--keys sha256"]);
    shell.run("build rate --as rbloom --keys sha256 --force -o r keys").ok();
    let ran = shell.run("query -c --from rbloom --keys sha256 r keys");
    assert_eq!(ran.ok(), "1007\n");
    for (line, word) in [
        ("build rate --as guava --filter blocked -o x keys", "--filter"),
        ("build rate --as guava --bits 100 -o x keys", "--bits"),
        ("build rate --as guava --key-file keys -o x keys", "--key-file"),
        ("build rate --as guava --fpr 1.5 -o x keys", "1.5"),
        ("build rate --as guava:x -o x keys", "guava:mitz32"),
        ("build rate --as guava --items 1e12 -o x keys", "items"),
        ("build rate --as guava --max-memory 100 -o x keys", "memory"),
        ("build rate --as dcso -o keys keys", "made from"),
    ] {
        shell.run(line).refused(&[word]);
    }
    assert!(!Path::new(&shell.path("x")).exists());
    // A file that is no filter is not replaced.
    shell.file("letter", "Dear reader\n");
    shell.run("build rate --as dcso -o letter keys").refused(&["no filter", "--force"]);
}

#[test]
fn adding_and_uniting() {
    let shell = with(&["dcso_few.bloom", "redis_few.resp", "valkey_seeded.bin"]);
    shell.file("more", lines(0..3));
    let before = fixture("dcso_few.bloom");
    shell.run("add dcso_few.bloom more").ok();
    let after = std::fs::read(shell.path("dcso_few.bloom")).unwrap();
    assert_eq!(after.len(), before.len(), "the data of the user stays");
    assert_eq!(after[40..48], 9u64.to_le_bytes());
    assert_eq!(shell.run("query -c dcso_few.bloom more").ok(), "3\n");
    let ran = shell.with_input("add --print-new redis_few.resp", "ant\nnew one\n");
    assert_eq!(ran.out, "new one\n");
    // A chain grows; one that does not scale refuses, and stays as it was.
    shell.file("many", lines(0..100));
    assert!(shell.run("add redis_few.resp many").ok().contains("within plan"));
    let facts = shell.run("info --json redis_few.resp").json();
    assert!(facts["parts"].as_array().unwrap().len() > 2, "{facts}");
    shell.run("add valkey_seeded.bin many").refused(&["full", "400"]);
    assert!(
        std::fs::read(shell.path("valkey_seeded.bin")).unwrap() == fixture("valkey_seeded.bin")
    );
    // A union passes what either passes.
    shell.file("a", "one\n").file("b", "two\n");
    for name in ["a", "b"] {
        shell.run(&format!("build rate --as spark --items 10 -o {name}.bin {name}")).ok();
    }
    shell.run("union a.bin b.bin -o c.bin").ok();
    assert_eq!(shell.with_input("query c.bin", "one\ntwo\nthree\n").out, "one\ntwo\n");
    shell.run("union a.bin dcso_few.bloom -o d").refused(&["format", "spark", "dcso"]);
    shell.run("intersect a.bin b.bin -o d").refused(&["united, not intersected"]);
    shell.run("build rate -o own a").ok();
    shell.run("union a.bin own -o d").refused(&["own is no spark filter"]);
    assert!(!shell.path("d").exists());
}

#[test]
fn drawn_and_measured() {
    let shell = with(&["redis_scaling.dump", "parquet_arrow_str.parquet", "dcso_words.bloom"]);
    shell.run("show redis_scaling.dump -o chain.svg").ok();
    let svg = std::fs::read_to_string(shell.path("chain.svg")).unwrap();
    assert!(svg.contains("filter 3") && svg.contains("redisbloom filter"), "{}", &svg[..300]);
    shell.run("show parquet_arrow_str.parquet --column word --row-group 0 -o p.svg").ok();
    shell.run("show parquet_arrow_str.parquet -o q.svg").refused(&["--column word"]);
    shell.file("members", "ant\nbee\nkey-7\n").file("strangers", "dog\nabsent-1\nabsent-2\n");
    let line = "measure --json dcso_words.bloom --members members --strangers strangers";
    let facts = shell.run(line).json();
    assert_eq!((&facts["true_positives"], &facts["false_negatives"]), (&3.into(), &0.into()));
    assert_eq!(facts["true_negatives"], 3);
}
