//! Every published number is as recorded, and the record is complete.

use std::sync::LazyLock;
use tamis_lab::{Document, Report, Verdict, reproduce};

static PAPER: LazyLock<Report> = LazyLock::new(|| reproduce(Document::Paper003, true));

#[test]
fn documents_are_in_order() {
    assert_eq!(Document::ALL.map(Document::id), ["001", "003", "004"]);
}

#[test]
fn every_cell_of_the_paper_is_as_recorded() {
    for cell in &PAPER.cells {
        assert!(cell.as_recorded(), "{cell:?}");
    }
}

#[test]
fn table_2_is_complete_and_exact() {
    let rows: Vec<_> = PAPER.cells.iter().filter(|cell| cell.place.starts_with("Table II, n_")).collect();
    let file = include_str!("../data/egh_table2.csv");
    assert_eq!(rows.len(), 103);
    for (cell, line) in rows.iter().zip(file.lines().skip(1)) {
        let fields: Vec<&str> = line.split(',').collect();
        assert_eq!(cell.place, format!("Table II, n_{} of m = {}", fields[3], fields[2]));
        assert_eq!((cell.published.as_str(), cell.recomputed.as_str()), (fields[4], fields[5]), "{line}");
        assert!(!cell.note.contains("largest_universe"), "{}", cell.note);
    }
    let wrong: Vec<&str> = rows
        .iter()
        .filter(|cell| cell.verdict == Verdict::Differs)
        .map(|cell| cell.place.trim_start_matches("Table II, "))
        .collect();
    assert_eq!(
        wrong,
        ["n_5 of m = 238", "n_7 of m = 328", "n_8 of m = 440", "n_8 of m = 501", "n_9 of m = 568"]
    );
}

#[test]
fn series_are_whole() {
    for figure in ["Fig. 1,", "Fig. 2,", "Fig. 3,", "Fig. 4,", "Table III,"] {
        assert!(PAPER.series.iter().any(|series| series.name.starts_with(figure)), "{figure}");
    }
    for series in &PAPER.series {
        assert!(!series.x.is_empty() && series.x.len() == series.y.len(), "{}", series.name);
        assert!(series.x.is_sorted() && series.y.iter().all(|y| y.is_finite()), "{}", series.name);
    }
}

/// Within the zone no measured rate is above 0.
#[test]
fn no_stranger_passes_within_the_zone() {
    for series in PAPER.series.iter().filter(|series| series.name.contains("EGH measured")) {
        let zone: f64 = series.name.split("n_").nth(1).unwrap().split(' ').next().unwrap().parse().unwrap();
        let within = series.x.iter().zip(&series.y).filter(|(x, _)| **x <= zone);
        assert!(within.clone().count() > 0 && within.map(|(_, y)| y).all(|y| *y == 0.0), "{}", series.name);
    }
}

#[test]
fn slips_have_evidence() {
    assert!(PAPER.slips.len() >= 15);
    for slip in &PAPER.slips {
        assert!(!slip.evidence.is_empty() && !slip.evidence.contains("unknown"), "{}", slip.slip);
        assert!(
            !slip.evidence.contains("no 7 items") && !slip.evidence.contains("no 4 items"),
            "{}",
            slip.slip
        );
    }
}
