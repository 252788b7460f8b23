//! Every drawing is well-formed and has its data, and a report without times is the same twice.

use super::{NOTES, PAPER, REPORT, ULTRA};
use roxmltree::Document as Xml;
use std::sync::LazyLock;
use tamis_lab::{Document, Report, page, reproduce};

/// The page of all documents, in a quick run.
static PAGE: LazyLock<String> = LazyLock::new(|| {
    let mut all = Report::default();
    for report in [&ULTRA, &REPORT, &PAPER, &NOTES] {
        all.extend(Report::clone(report));
    }
    page(&all, true, &|_| ())
});

/// The SVGs of a page.
fn drawings(page: &str) -> Vec<&str> {
    page.split("<svg ").skip(1).map(|rest| rest.split_inclusive("</svg>").next().unwrap()).collect()
}

/// The texts of a drawing.
fn texts(svg: &str) -> Vec<String> {
    let xml = Xml::parse(svg).unwrap();
    let texts = xml.descendants().filter(|node| node.has_tag_name("text"));
    texts.filter_map(|node| node.text().map(str::to_owned)).collect()
}

#[test]
fn every_figure_is_drawn_with_titles_and_numbers() {
    let figures: Vec<&str> = PAGE.split("<figure>").skip(1).collect();
    assert_eq!((figures.len(), drawings(&PAGE).len()), (19, 19));
    for figure in figures {
        let svg = format!("<svg {}", drawings(figure)[0]);
        let words = texts(&svg);
        let xml = Xml::parse(&svg).unwrap();
        let curves = xml.descendants().filter(|node| node.has_tag_name("g")).count();
        assert!(curves > 0, "{words:?}");
        // The legend has words, both axes have a title and two ticks, and there are points or lines
        // beside the axes.
        assert!(words.len() >= curves + 6, "{words:?}");
        let drawn = xml
            .descendants()
            .filter(|node| node.has_tag_name("path") || node.has_tag_name("circle"));
        assert!(drawn.count() > 2 + curves, "{words:?}");
        let table = figure.split("<details>").nth(1).unwrap().split("</details>").next().unwrap();
        let rows: Vec<&str> = table.split("<tr>").skip(1).collect();
        assert_eq!(rows[0].matches("<th").count(), rows[1].matches("<td").count());
        assert!(
            rows.len() > 1
                && rows[1..].iter().all(|row| row.contains(|c: char| c.is_ascii_digit()))
        );
    }
}

#[test]
fn the_page_needs_nothing_else_and_has_all_parts() {
    for address in ["src=", "url(", "@import", "<script", "href=\"http"] {
        assert!(!PAGE.contains(address), "{address}");
    }
    for part in ["glance", "d000", "d001", "d003", "d004", "frontier", "memory", "compare"] {
        assert!(PAGE.contains(&format!("<section id=\"{part}\">")), "{part}");
    }
    assert!(PAGE.contains("prefers-color-scheme:dark") && PAGE.contains("@media print"));
    assert!(PAGE.matches("differs").count() >= 12 && !PAGE.contains("(changed)"));
    for name in [
        "zone, coprime",
        "Bloom under noise",
        "PinSketch",
        "published (Table II)",
        "limit of Claim 2",
    ] {
        assert!(PAGE.contains(name), "{name}");
    }
}

/// A report of one document has only the sections about it.
#[test]
fn a_report_is_the_same_again() {
    let first = page(&NOTES, true, &|_| ());
    assert_eq!(first, page(&reproduce(Document::LectureNotes, true), true, &|_| ()));
    assert!(first.contains("<section id=\"d004\">") && !first.contains("<section id=\"memory\">"));
    assert!(page(&Report::default(), true, &|_| ()).contains("At a glance"));
}

/// The drawings in the documentation are up to date. With TAMIS_WRITE set, the test writes them.
#[test]
fn the_documentation_has_the_same_drawings() {
    for (name, svg) in tamis_lab::explain::drawings().unwrap() {
        let path = format!("{}/../tamis/doc/{name}.svg", env!("CARGO_MANIFEST_DIR"));
        if std::env::var_os("TAMIS_WRITE").is_some() {
            std::fs::write(&path, &svg).unwrap();
        }
        Xml::parse(&svg).unwrap();
        // A blank line would end it for Markdown.
        assert!(svg.len() < 40_000 && !svg.contains("\n\n"), "{name} {}", svg.len());
        assert_eq!(
            std::fs::read_to_string(path).unwrap(),
            svg,
            "{name}: run the test once with TAMIS_WRITE=1"
        );
    }
}
