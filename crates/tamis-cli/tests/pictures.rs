//! Drawings of plans and filters, and the report: well-formed, with data, and never over something
//! else.

#![allow(clippy::unwrap_used)]

mod shell;

use roxmltree::Document;
use shell::{Shell, lines};

/// Parses a drawing and counts its shapes.
#[track_caller]
fn shapes(svg: &str) -> usize {
    let xml = Document::parse(svg).unwrap();
    assert_eq!(xml.root_element().tag_name().name(), "svg");
    assert!(!svg.contains("NaN") && !svg.contains("inf\"") && svg.contains("prefers-color-scheme"));
    xml.descendants()
        .filter(|node| node.has_tag_name("path") || node.has_tag_name("circle"))
        .count()
}

fn read(shell: &Shell, name: &str) -> String {
    std::fs::read_to_string(shell.path(name)).unwrap()
}

#[test]
fn plans_are_drawn() {
    let shell = Shell::new();
    for (line, words) in [
        (
            "plan rate --items 1e6 --fpr 0.01",
            &["blocked", "this plan: bloom at 1%", "size (bits)"][..],
        ),
        ("plan rate --items 1 --fpr 0.9", &["counting"]),
        ("plan rate --items 1e12 --fpr 1e-15 --filter counting", &["1000000000000 items"]),
        ("plan zone --universe 606 --items 3", &["egh, bits", "coprime, probes", "this plan: rs"]),
        ("plan zone --universe 1 --items 1", &["most items d"]),
        ("plan zone --universe ipv4 --items 4 --counting", &["rs, probes"]),
        (
            "plan privacy --items 1e6 --epsilon 4",
            &["linear, FP", "bloom under noise, FN", "floor of the worse"],
        ),
        ("plan privacy --items 1 --epsilon 0.1 --method bloom", &["this plan, FP and FN"]),
        ("plan privacy --items 1e4 --epsilon 20", &["epsilon of an item"]),
    ] {
        let plain = shell.run(line).ok();
        assert_eq!(shell.run(&format!("{line} --plot p.svg")).ok(), plain, "{line}");
        let svg = read(&shell, "p.svg");
        assert!(shapes(&svg) > 6, "{line}");
        for word in words {
            assert!(svg.contains(word), "{word} of {line}");
        }
    }
    assert!(shell.run("plan rate --items 9 --fpr 0.1 --plot -").ok().starts_with("<?xml"));
    shell
        .run("plan zone --universe 606 --bits 100 --plot p.svg")
        .refused(&["--plot", "leave --bits"]);
}

#[test]
fn other_files_are_spared() {
    let shell = Shell::new();
    shell.file("notes.txt", "my notes").file("empty.svg", "");
    shell.run("plan rate --items 9 --fpr 0.1 --plot notes.txt").refused(&[
        "notes.txt",
        "no SVG",
        "--force",
    ]);
    assert_eq!(read(&shell, "notes.txt"), "my notes");
    shell.run("plan rate --items 9 --fpr 0.1 --plot empty.svg").ok();
    shell.run("plan rate --items 9 --fpr 0.1 --plot empty.svg").ok();
    shell.run("plan rate --items 9 --fpr 0.1 --plot notes.txt --force").ok();
    assert!(shapes(&read(&shell, "notes.txt")) > 0);
    shell.run("plan rate --items 9 --fpr 0.1 --plot no/such.svg").refused(&["no folder no"]);
    shell.run("plan rate --items 9 --fpr 0.1 --plot .").refused(&["it is a folder"]);
    shell.with_input("build rate --items 5 -o f", "a\n").ok();
    shell.run("show f -o f").refused(&["overwrite"]);
    shell.run("show f -o f --force").refused(&["overwrite"]);
    shell.run("show notes.txt -o new.svg").refused(&["notes.txt"]);
    assert!(!shell.path("new.svg").exists());
    std::fs::create_dir(shell.path("report")).unwrap();
    shell.file("report/index.html", "").run("reproduce 004 --quick --report report").ok();
    shell
        .file("report/index.html", "<html>mine")
        .run("reproduce 004 --quick --report report")
        .refused(&["no report"]);
    shell.run("reproduce 004 --quick --report report --force").ok();
    shell.run("reproduce 004 --quick --report report").ok();
    let page = read(&shell, "report/index.html");
    assert!(
        page.contains("004: B. Levine") && page.contains("<svg") && page.ends_with("</html>\n")
    );
    assert_eq!(
        std::fs::read_dir(shell.path("report")).unwrap().count(),
        1,
        "nothing is left beside it"
    );
}

/// Every kind of file, from one item to many.
#[test]
fn filters_are_shown() {
    let shell = Shell::new();
    let many = lines(0..20_000);
    for (build, input, words) in [
        ("rate --items 1", "a\n", "are set"),
        ("rate --items 20000", &*many, "2,048 regions"),
        ("rate --items 100 --filter blocked", &many[..400], "block 0, one cache line"),
        ("rate --items 100 --filter split", &many[..400], "block 0, half a cache line"),
        ("rate --items 20000 --filter blocked", &many, "regions"),
        ("rate --items 50 --filter counting", &many[..100], "counters are set"),
        ("rate --items 20000 --filter counting", &many, "regions"),
        ("zone --universe 48 --items 2 --code egh", "6\n4\n", "residues modulo 11"),
        ("zone --universe 1 --items 1", "0\n", "1 block"),
        ("zone --universe 1e6 --items 4 --code coprime --counting", "6\n4\n", "residues modulo"),
        ("zone --universe ipv4 --items 20", "10.0.0.1\n", "block"),
        ("zone --universe 65536 --items 100 --code egh", "7\n", "share a cell"),
        ("privacy --items 1 --epsilon 4", "a\n", "drawn at random"),
        ("privacy --items 20000 --epsilon 4", &many, "regions"),
        ("privacy --items 100 --epsilon 4 --method bloom", "a\n", "was flipped"),
        ("privacy --items 20000 --epsilon 2 --method bloom", &many, "regions"),
    ] {
        shell.with_input(&format!("build {build} -o f.tamis"), input).ok();
        assert_eq!(shell.run("show f.tamis -o f.svg").ok(), "", "{build}");
        let svg = read(&shell, "f.svg");
        assert!(shapes(&svg) > 0 && svg.contains(words), "{build}: {words}");
        assert!(svg.contains("f.tamis: a") && svg.len() < 400_000, "{build} {}", svg.len());
        std::fs::remove_file(shell.path("f.tamis")).unwrap();
    }
}

/// Of an empty filter's bits only those are ones that the noise flipped.
#[test]
fn the_noise_of_a_published_filter_is_told() {
    let shell = Shell::new();
    shell.with_input("build privacy --items 20000 --epsilon 2 --method bloom -o f", "").ok();
    let svg = shell.run("show f -o -").ok();
    let told = |before: &str, after: &str| {
        let text: String = svg
            .split("<text")
            .skip(1)
            .map(|t| t.split_once('>').unwrap().1.split('<').next().unwrap())
            .collect::<Vec<_>>()
            .join(" ");
        let start = text.split(after).next().unwrap();
        let number = start.rsplit(before).next().unwrap().trim().trim_end_matches('%').to_owned();
        number.parse::<f64>().unwrap()
    };
    let (flipped, ones) = (told("with ", "%;"), told("; ", " are ones"));
    assert!((ones / flipped - 1.0).abs() < 0.05, "{flipped} {ones}");
}

/// The bits of a small filter are all there: each occupied residue is one dark cell.
#[test]
fn small_filters_are_shown_bit_by_bit() {
    let shell = Shell::new();
    shell.with_input("build zone --universe 48 --items 2 --code egh -o f", "6\n4\n").ok();
    let svg = shell.run("show f -o -").ok();
    let dark = |shade: &str| {
        let paths = svg.split("<path ").filter(|path| path.contains(shade));
        paths.map(|path| path.matches('M').count()).sum::<usize>()
    };
    // 6 and 4 share the residue 0 modulo 2 only: 9 of 28 bits.
    assert_eq!((dark("var(--c0)"), dark("var(--rule)")), (9, 19));
}
