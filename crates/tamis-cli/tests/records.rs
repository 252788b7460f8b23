//! Keys that are parts of records: fields of JSON lines, columns of Parquet and Arrow files; and
//! many files at once.

#![allow(clippy::unwrap_used)]

mod shell;

use shell::{Shell, lines};

#[test]
fn keys_are_fields_of_json_lines() {
    let shell = Shell::new();
    shell.file(
        "users.jsonl",
        "{\"user\":{\"email\":\"ant@example.org\"},\"n\":1}\n\
         {\"n\":2,\"user\":{\"email\":\"b\\u00e9e@example.org\"}}\r\n",
    );
    shell.run("build rate --json-field user.email -o f.tamis users.jsonl").ok();
    let asked = "ant@example.org\nbée@example.org\nnobody\n";
    let passed = shell.with_input("query f.tamis", asked).ok();
    assert_eq!(passed, "ant@example.org\nbée@example.org\n");
    // Keys are printed as text, and rows as they were.
    let keys = shell.run("query f.tamis --json-field user.email users.jsonl").ok();
    assert_eq!(keys, "ant@example.org\nbée@example.org\n");
    let rows = shell.run("query --rows f.tamis --json-field user.email users.jsonl").ok();
    assert!(rows.contains("{\"n\":2,\"user\":{\"email\":\"b\\u00e9e@example.org\"}}\n"), "{rows}");

    shell.run("build rate --json-field n --keys integers -o n.tamis users.jsonl").ok();
    assert_eq!(shell.with_input("query n.tamis", "2\n3\n").ok(), "2\n");

    let missing = "{\"k\":\"x\"}\n{}\n{\"k\":null}\n{\"k\":\"y\"}\n";
    let refused = shell.with_input("add f.tamis --json-field k", missing);
    refused.refused(&["standard input, line 2", "no k", "--skip-missing"]);
    let added = shell.with_input("add f.tamis --json-field k --skip-missing", missing).ok();
    assert!(added.contains("2 keys added"), "{added}");
    let refused = shell.with_input("add f.tamis --json-field k", "{\"k\":\"x\"}\nplain\n");
    refused.refused(&["line 2", "is not JSON"]);
    let refused = shell.with_input("add f.tamis --json-field k", "{\"k\":[1]}\n");
    refused.refused(&["line 1", "an object or an array"]);
    // Blank lines are no records, and count as lines.
    let blank = "\n{\"k\":\"x\"}\n \n\r\nplain\n";
    shell.with_input("add f.tamis --json-field k", blank).refused(&["line 5", "is not JSON"]);
    let added = shell.with_input("add f.tamis --json-field k", &blank[..15]).ok();
    assert!(added.contains("1 key added"), "{added}");
    let refused = shell.with_input("query n.tamis --json-field k", "{\"k\":\"x\"}\n");
    refused.refused(&["line 1", "not an integer"]);
    shell.run("query f.tamis --json-field a --csv b users.jsonl").refused(&["--csv"]);
}

/// Several files are read at once, and the filter is the same as from one.
#[test]
fn many_files_make_the_same_filter_as_one() {
    let shell = Shell::new();
    let mut names = String::new();
    for i in 0..20 {
        let name = format!("part-{i}.txt");
        shell.file(&name, lines(i * 500..(i + 1) * 500));
        names += &format!(" {name}");
    }
    shell.file("whole.txt", lines(0..10_000));
    for filter in ["bloom", "blocked", "split", "counting"] {
        let build = format!("build rate --items 10000 --filter {filter}");
        shell.run(&format!("{build} -o parts.tamis{names}")).ok();
        shell.run(&format!("{build} -o whole.tamis whole.txt")).ok();
        let read = |name| std::fs::read(shell.path(name)).unwrap();
        assert!(read("parts.tamis") == read("whole.tamis"), "{filter}");
    }
    // Counting reads them all, and a query keeps their order.
    let report = shell.run(&format!("build rate --json -o counted.tamis{names}")).json();
    assert_eq!((&report["items"], &report["keys"]), (&10_000.into(), &10_000.into()));
    assert_eq!(shell.run(&format!("query parts.tamis{names}")).ok(), lines(0..10_000));
    // One bad file among many is an error, and nothing is written.
    let bad = shell.run(&format!("build rate --items 9 -o none.tamis{names} nothere.txt"));
    bad.refused(&["nothere.txt"]);
    assert!(!shell.path("none.tamis").exists());
}

#[test]
fn files_of_columns_ask_for_a_column() {
    let shell = Shell::new();
    shell.file("x.parquet", "PAR1\u{15}rest").file("x.arrow", "ARROW1\0\0rest").file("x.txt", "a");
    shell.run("build rate --items 9 -o f.tamis x.parquet").refused(&["Parquet", "--column NAME"]);
    shell.run("build rate --items 9 -o f.tamis x.arrow").refused(&["Arrow", "--column NAME"]);
    shell.run("build rate --items 9 --raw -o f.tamis x.parquet").ok();
    let piped = shell.with_input("build rate --items 9 --column a -o g.tamis -", "PAR1");
    piped.refused(&["name the file"]);
    let refused = shell.run("build rate --items 9 --column a -o g.tamis x.txt");
    if cfg!(feature = "columnar") {
        refused.refused(&["x.txt is no Parquet or Arrow file"]);
        let damaged = shell.run("build rate --items 9 --column a -o g.tamis x.parquet");
        damaged.refused(&["cannot read x.parquet"]);
        let damaged = shell.run("build rate --items 9 --column a -o g.tamis x.arrow");
        damaged.refused(&["cannot read x.arrow"]);
    } else {
        refused.refused(&["--features columnar"]);
    }
}

#[cfg(feature = "columnar")]
mod columnar {
    use super::*;
    use arrow_array::types::Int32Type;
    use arrow_array::{
        ArrayRef, BinaryArray, DictionaryArray, Float64Array, Int64Array, LargeStringArray,
        RecordBatch, StringArray, StringViewArray, UInt64Array,
    };
    use std::fs::File;
    use std::sync::Arc;

    /// The table in every format.
    fn write_all(shell: &Shell, table: &RecordBatch) -> [&'static str; 3] {
        let file = File::create(shell.path("t.parquet")).unwrap();
        let mut writer = parquet::arrow::ArrowWriter::try_new(file, table.schema(), None).unwrap();
        writer.write(table).unwrap();
        writer.close().unwrap();
        let file = File::create(shell.path("t.arrow")).unwrap();
        let mut writer = arrow_ipc::writer::FileWriter::try_new(file, &table.schema()).unwrap();
        writer.write(table).unwrap();
        writer.finish().unwrap();
        let file = File::create(shell.path("t.stream")).unwrap();
        let mut writer = arrow_ipc::writer::StreamWriter::try_new(file, &table.schema()).unwrap();
        writer.write(table).unwrap();
        writer.finish().unwrap();
        ["t.parquet", "t.arrow", "t.stream"]
    }

    fn table() -> RecordBatch {
        let text = ["ant", "bee", "ant"].map(Some);
        let columns: [(&str, ArrayRef); 8] = [
            ("text", Arc::new(StringArray::from(vec![Some("ant"), None, Some("bee")]))),
            ("large", Arc::new(LargeStringArray::from(text.to_vec()))),
            ("view", Arc::new(StringViewArray::from(text.to_vec()))),
            ("bytes", Arc::new(BinaryArray::from(text.map(|t| t.map(str::as_bytes)).to_vec()))),
            ("dictionary", Arc::new(DictionaryArray::<Int32Type>::from_iter(text))),
            ("signed", Arc::new(Int64Array::from(vec![-7, 8, i64::MIN]))),
            ("unsigned", Arc::new(UInt64Array::from(vec![1, 2, u64::MAX]))),
            ("float", Arc::new(Float64Array::from(vec![0.5, 1.0, 2.0]))),
        ];
        RecordBatch::try_from_iter(columns).unwrap()
    }

    /// The decoders panic on some damaged files. That is an error that names the file, and nothing
    /// is printed of the panic.
    #[test]
    fn damaged_files_of_columns_are_errors() {
        let shell = Shell::new();
        let mut random = tamis_random::SplitMix64::new(13);
        for name in write_all(&shell, &table()) {
            let whole = std::fs::read(shell.path(name)).unwrap();
            let mut refused = 0;
            for round in 0..120 {
                let mut bytes = whole.clone();
                for _ in 0..=round % 4 {
                    let at = random.below(bytes.len() as u64) as usize;
                    bytes[at] = random.next_u64() as u8;
                }
                shell.file("damaged", &bytes);
                let column = ["text", "view", "dictionary", "signed"][round % 4];
                let ran =
                    shell.run(&format!("build rate --items 9 --column {column} -o f damaged"));
                assert!(!ran.err.contains("panicked"), "{name}, round {round}: {}", ran.err);
                if ran.code != 0 {
                    refused += 1;
                    ran.refused(&["damaged"]);
                }
            }
            assert!(refused > 20, "{name}: {refused} of 120 were refused");
        }
    }

    #[test]
    fn keys_are_columns_of_parquet_and_arrow() {
        let shell = Shell::new();
        for name in write_all(&shell, &table()) {
            let refused = shell.run(&format!("dedup {name}"));
            refused.refused(&["rows as JSON lines", "--raw"]);
            for (column, keys) in
                [("text", 2), ("large", 3), ("view", 3), ("bytes", 3), ("dictionary", 3)]
            {
                let line = format!("build rate --json --column {column} -o f.tamis {name}");
                assert_eq!(shell.run(&line).json()["keys"], keys, "{column} of {name}");
                let passed = shell.with_input("query f.tamis", "ant\nbee\ncat\n").ok();
                assert_eq!(passed, "ant\nbee\n", "{column} of {name}");
            }
            for (column, keys) in [
                ("signed", "-7\n8\n-9223372036854775808\n"),
                ("unsigned", "1\n2\n18446744073709551615\n"),
            ] {
                shell
                    .run(&format!("build rate --keys integers --column {column} -o n.tamis {name}"))
                    .ok();
                assert_eq!(shell.with_input("query n.tamis", keys).ok(), keys);
                assert_eq!(
                    shell.run(&format!("query n.tamis --column {column} {name}")).ok(),
                    keys
                );
            }
            let refused = shell.run(&format!("build rate --column none -o f.tamis {name}"));
            refused.refused(&["no column \"none\"", "text, large, view"]);
            let refused = shell.run(&format!("build rate --column float -o f.tamis {name}"));
            refused.refused(&["\"float\"", "Float64", "whole numbers"]);
            shell.run(&format!("build rate --column text -o f.tamis {name}")).ok();
            let rows = shell.run(&format!("query f.tamis --rows --column text {name}"));
            rows.refused(&["--rows prints rows of CSV or JSON lines"]);
            // Cut anywhere, it is an error and no crash. (A stream may end between two batches.)
            if name == "t.stream" {
                continue;
            }
            let whole = std::fs::read(shell.path(name)).unwrap();
            for cut in (8..whole.len()).step_by(whole.len() / 40) {
                shell.file("cut", &whole[..cut]);
                let cut = shell.run("build rate --items 9 --column text -o cut.tamis cut");
                cut.refused(&["cannot read cut"]);
            }
        }
    }
}
