//! Every published number is as recorded, and the record is complete.

use super::{PAPER, ULTRA};
use tamis_lab::{Document, Place, Verdict};

#[test]
fn documents_are_in_order() {
    assert_eq!(Document::ALL.map(Document::id), ["000", "001", "003", "004"]);
    assert_eq!(Document::numbered("002"), Some(Document::UltraFilter));
}

#[test]
fn every_cell_of_the_papers_is_as_recorded() {
    for cell in ULTRA.cells.iter().chain(&PAPER.cells) {
        assert!(cell.as_recorded(), "{cell:?}");
    }
}

#[test]
fn table_2_is_complete_and_exact() {
    let rows: Vec<_> = PAPER
        .cells
        .iter()
        .filter(|cell| cell.place.table == "Table II" && !cell.place.row.is_empty())
        .collect();
    let file = include_str!("../../data/egh_table2.csv");
    assert_eq!(rows.len(), 103);
    for (cell, line) in rows.iter().zip(file.lines().skip(1)) {
        let fields: Vec<&str> = line.split(',').collect();
        assert_eq!(
            cell.place,
            Place::new("Table II", format!("m = {}", fields[2]), format!("n_{}", fields[3]))
        );
        assert_eq!(
            (cell.published.as_str(), cell.recomputed.as_str()),
            (fields[4], fields[5]),
            "{line}"
        );
        assert!(!cell.note.contains("largest_universe"), "{}", cell.note);
    }
    let wrong: Vec<(&str, &str)> = rows
        .iter()
        .filter(|cell| cell.verdict == Verdict::Differs)
        .map(|cell| (cell.place.row.as_str(), cell.place.column.as_str()))
        .collect();
    assert_eq!(
        wrong,
        [
            ("m = 238", "n_5"),
            ("m = 328", "n_7"),
            ("m = 440", "n_8"),
            ("m = 501", "n_8"),
            ("m = 568", "n_9")
        ]
    );
}

/// All 90 numbers of the UltraFilter's tables are those of one hash and one-sided noise, 8 those of
/// the text.
#[test]
fn the_ultrafilter_had_one_hash() {
    let file = include_str!("../../data/ultrafilter_tables.csv");
    let tables: Vec<_> =
        ULTRA.cells.iter().filter(|cell| cell.place.table.starts_with("Table ")).collect();
    assert_eq!(tables.len(), 90);
    for (cell, line) in tables.iter().zip(file.lines().skip(1)) {
        let fields: Vec<&str> = line.split(',').collect();
        let noise = if fields[2] == "none" {
            "no noise".to_owned()
        } else {
            format!("epsilon {}", fields[2])
        };
        let row = format!("phi {}, {noise}", fields[1]);
        assert_eq!(cell.place, Place::new(format!("Table {}", fields[0]), row, fields[3]));
        assert_eq!(cell.published, fields[4]);
        assert_eq!(cell.verdict, Verdict::Holds, "{cell:?}");
    }
    let hold = |name: &str| {
        let reading = |cell: &&&tamis_lab::Cell| {
            let found = cell.readings.iter().find(|reading| reading.name == name);
            found.unwrap().verdict == Verdict::Holds
        };
        tables.iter().filter(reading).count()
    };
    assert_eq!((hold("ten hashes, one-sided"), hold("ten hashes, symmetric")), (8, 8));
    assert_eq!((hold("Eq. 5 to 8, l = 1"), hold("Eq. 5 to 8, l = 10")), (45, 7));
}

#[test]
fn series_are_whole() {
    for figure in ["Fig. 1,", "Fig. 2,", "Beyond the paper,"] {
        assert!(ULTRA.series.iter().any(|series| series.name.starts_with(figure)), "{figure}");
    }
    for figure in ["Fig. 1,", "Fig. 2,", "Fig. 3,", "Fig. 4,", "Table III,"] {
        assert!(PAPER.series.iter().any(|series| series.name.starts_with(figure)), "{figure}");
    }
    for series in ULTRA.series.iter().chain(&PAPER.series) {
        assert!(!series.x.is_empty() && series.x.len() == series.y.len(), "{}", series.name);
        assert!(series.x.is_sorted() && series.y.iter().all(|y| y.is_finite()), "{}", series.name);
    }
}

/// Within the zone no measured rate is above 0.
#[test]
fn no_stranger_passes_within_the_zone() {
    for series in PAPER.series.iter().filter(|series| series.name.contains("EGH measured")) {
        let zone: f64 =
            series.name.split("n_").nth(1).unwrap().split(' ').next().unwrap().parse().unwrap();
        let within = series.x.iter().zip(&series.y).filter(|(x, _)| **x <= zone);
        assert!(
            within.clone().count() > 0 && within.map(|(_, y)| y).all(|y| *y == 0.0),
            "{}",
            series.name
        );
    }
}

#[test]
fn slips_have_evidence() {
    assert!(PAPER.slips.len() >= 15 && ULTRA.slips.len() >= 13);
    for slip in ULTRA.slips.iter().chain(&PAPER.slips) {
        assert!(!slip.evidence.is_empty() && !slip.evidence.contains("unknown"), "{}", slip.slip);
        assert!(
            !slip.evidence.contains("no 7 items") && !slip.evidence.contains("no 4 items"),
            "{}",
            slip.slip
        );
    }
}
