//! The documents' figures from our data, with the published points on them.

use super::Figure;
use crate::extra::compare::Row;
use crate::extra::frontier::{Errors, Point};
use crate::extra::memory::Memory;
use crate::{Cell, Document, Report, Series};
use tamis_plot::{Axis, Chart, Curve};

/// The figures of a document.
pub(super) fn of(report: &Report, document: Document) -> Vec<Figure> {
    let data = Data { report, document: document.id() };
    let figures = match document {
        Document::UltraFilter => ultra(&data),
        Document::SizingReport => vec![targets(&data)],
        Document::Egh => egh(&data),
        Document::LectureNotes => vec![rate_against_k(&data)],
    };
    figures.into_iter().filter(|figure| !figure.chart.curves.is_empty()).collect()
}

struct Data<'a> {
    report: &'a Report,
    document: &'static str,
}

impl<'a> Data<'a> {
    fn series(&self, start: &str) -> impl Iterator<Item = &'a Series> {
        let (document, start) = (self.document, start.to_owned());
        self.report
            .series
            .iter()
            .filter(move |s| s.document == document && s.name.starts_with(&start))
    }

    fn cells(&self, table: &str) -> impl Iterator<Item = &'a Cell> {
        let (document, table) = (self.document, table.to_owned());
        self.report
            .cells
            .iter()
            .filter(move |cell| cell.document == document && cell.place.table == table)
    }

    /// The curves whose names begin with `prefix`, named by the rest.
    fn lines(&self, start: &str, make: fn(&str, Vec<(f64, f64)>) -> Curve) -> Vec<Curve> {
        let curve = |series: &'a Series| {
            let name =
                series.name.strip_prefix(start).unwrap_or(&series.name).trim_start_matches(", ");
            make(name, points(series))
        };
        self.series(start).map(curve).collect()
    }
}

fn points(series: &Series) -> Vec<(f64, f64)> {
    series.x.iter().copied().zip(series.y.iter().copied()).collect()
}

/// The number after a word of a place.
fn after(text: &str, word: &str) -> Option<f64> {
    let rest = text.split_once(word)?.1;
    rest.split([',', ' ']).next()?.parse().ok()
}

fn ultra(data: &Data<'_>) -> Vec<Figure> {
    let f1 = |table: &str, of: &dyn Fn(&str) -> Option<f64>| -> Vec<(f64, f64)> {
        let cells = data.cells(table).filter(|cell| cell.place.column == "F1");
        cells
            .filter_map(|cell| Some((of(&cell.place.row)?, cell.published.parse().ok()?)))
            .collect()
    };
    let mut first = Chart::new(
        "Figure 1: F1 against epsilon",
        Axis::linear("epsilon (claimed)"),
        Axis::linear("F1").between(0.0, 1.0),
    );
    first.curves = data.lines("Fig. 1, ", Curve::line);
    first
        .curves
        .push(Curve::rings("published (Table 1)", f1("Table 1", &|row| after(row, "epsilon "))));
    let mut figures = vec![Figure {
        chart: first,
        caption:
            "The rings lie on the curve of one hash and one-sided noise; ten hashes meet them \
            at epsilon 5 only, by coincidence. The ten hashes of the text were one."
                .to_owned(),
    }];
    for (name, title) in [
        ("one hash, one-sided", "Figure 2: F1 against occupancy, as it was run"),
        ("ten hashes, symmetric", "Figure 2 with the mechanism of the text"),
    ] {
        let mut chart = Chart::new(
            title,
            Axis::linear("occupancy (share of the capacity)"),
            Axis::linear("F1"),
        );
        let suffix = format!(", {name}");
        for series in data.series("Fig. 2, ").filter(|series| series.name.ends_with(&suffix)) {
            let noise = series.name.trim_start_matches("Fig. 2, ").trim_end_matches(&suffix);
            chart.curves.push(Curve::line(noise, points(series)));
        }
        chart
            .curves
            .push(Curve::rings("published (Table 2)", f1("Table 2", &|row| after(row, "phi "))));
        figures.push(Figure { chart, caption: format!("Read as {name}.") });
    }
    figures
}

fn targets(data: &Data<'_>) -> Figure {
    let mut chart = Chart::new(
        "Measured rate against target",
        Axis::log("target rate of false positives"),
        Axis::log("measured rate"),
    );
    let of =
        |name: &str| data.series(&format!("Targets, {name}")).flat_map(points).collect::<Vec<_>>();
    let measured = of("measured");
    let intervals =
        of("95% sure from").into_iter().zip(of("95% sure to")).map(|(low, high)| (low.1, high.1));
    if !measured.is_empty() {
        chart.curves.push(Curve::smooth(
            "measured = target",
            measured.iter().map(|point| (point.0, point.0)),
        ));
        chart.curves.push(
            Curve::points("measured here, 95% intervals", measured).with_intervals(intervals),
        );
        let published =
            data.cells("Section 5").filter(|cell| cell.place.column.starts_with("measured"));
        let targets = [0.01, 0.001];
        let published = published
            .zip(targets)
            .filter_map(|(cell, target)| Some((target, cell.published.parse().ok()?)));
        chart.curves.push(Curve::rings("published (Section 5)", published));
    }
    Figure {
        chart,
        caption: "10,000 items and the report's hashes, SHA-256 and MD5. The intervals are mostly \
            smaller than the markers."
            .to_owned(),
    }
}

fn rate_against_k(data: &Data<'_>) -> Figure {
    let mut chart = Chart::new(
        "The rate against k, ten bits an item",
        Axis::linear("hashes k"),
        Axis::log("rate of false positives"),
    );
    chart.curves.extend(
        data.series("Rate against k, formula")
            .map(|s| Curve::smooth("(1 - e^(-kn/m))^k, as derived", points(s))),
    );
    chart.curves.extend(data.series("Rate against k, measured").map(|series| {
        let name = series.name.trim_start_matches("Rate against k, ");
        Curve::points(name, points(series))
    }));
    chart.curves.extend(
        data.series("Rate against k, minimum")
            .map(|s| Curve::rings("minimum, k = ln 2 m/n", points(s))),
    );
    Figure {
        chart,
        caption: "2,000 items in 20,000 bits. The minimum is flat: 6, 7 and 8 hashes serve alike."
            .to_owned(),
    }
}

fn egh(data: &Data<'_>) -> Vec<Figure> {
    let mut figures = zones(data);
    for items in [1, 5, 20, 50] {
        figures.push(length(data, items));
    }
    for bits in [197, 501] {
        let mut chart = Chart::new(
            &format!("Figure 3: beyond the zone, m = {bits}"),
            Axis::linear("items in the filter d′"),
            Axis::log("rate of false positives").between(1e-9, 1.0),
        );
        let start = format!("Fig. 3, m = {bits}, ");
        for series in data.series(&start) {
            let name = series.name.trim_start_matches(&start);
            let curve =
                if name.starts_with("EGH measured") { Curve::points } else { Curve::smooth };
            // Our codes are drawn for the smallest and the largest universe only, or the figure
            // would have too many curves.
            let ours = name.starts_with("rs ");
            if !ours || name.contains("n_2 ") || name.contains("n_6 ") {
                let points: Vec<(f64, f64)> =
                    points(series).into_iter().filter(|point| !ours || point.1 > 0.0).collect();
                chart.curves.push(curve(
                    name.split(", 2").next().unwrap_or(name).split(", 3").next().unwrap_or(name),
                    points,
                ));
            }
        }
        if bits == 501 && !chart.curves.is_empty() {
            chart.curves.push(Curve::rings(
                "published: none in 10^9 queries, n = 6996",
                [(7.0, 1e-9), (8.0, 1e-9), (9.0, 1e-9)],
            ));
        }
        let caption = "Points on the foot are zeros: nobody passed. The published points of this \
            figure are in a picture that cannot be read off; what the text says of them is drawn \
            as rings.";
        figures.push(Figure { chart, caption: caption.to_owned() });
    }
    let mut chart = Chart::new(
        "Figure 4: time to list d of a million",
        Axis::linear("items d"),
        Axis::log("microseconds (median, this machine)"),
    );
    chart.curves = data.lines("Fig. 4, n = 10^6, ", |name, points| {
        Curve::line(name.split(", median").next().unwrap_or(name), points)
    });
    let caption = "The published times are another machine's and in a picture, so none are drawn.";
    figures.push(Figure { chart, caption: caption.to_owned() });
    figures
}

/// Figure 1, and the same for all codes at one size.
fn zones(data: &Data<'_>) -> Vec<Figure> {
    let published = |bits: &dyn Fn(f64) -> bool| -> Vec<(f64, f64)> {
        let of_size =
            data.cells("Table II").filter(|cell| after(&cell.place.row, "m = ").is_some_and(bits));
        of_size
            .filter_map(|cell| {
                Some((after(&cell.place.column, "n_")?, cell.published.parse().ok()?))
            })
            .collect()
    };
    let axes = |title: &str| {
        Chart::new(title, Axis::linear("items d"), Axis::log("largest universe n_d (elements)"))
    };
    let mut first = axes("Figure 1: the boundary of the zone");
    first.y = first.y.between(1.0, 1e20);
    first.curves = data.lines("Fig. 1, ", Curve::line);
    let sizes: Vec<f64> =
        data.series("Fig. 1, ").filter_map(|series| after(&series.name, "m = ")).collect();
    first
        .curves
        .push(Curve::rings("published (Table II)", published(&|bits| sizes.contains(&bits))));
    let mut second = axes("Figure 1 for every code, m = 440");
    second.y = second.y.between(10.0, 1e32);
    second.curves = data.lines("Fig. 1 by code, m = 440, ", Curve::line);
    second.curves.push(Curve::rings(
        "published (Table II)",
        published(&|bits| bits == 440.0).into_iter().filter(|p| p.0 >= 3.0),
    ));
    vec![
        Figure {
            chart: first,
            caption: "Below its curve a filter of m bits makes no \
            mistake."
                .to_owned(),
        },
        Figure {
            chart: second,
            caption: "The paper's code is egh; coprime and rs are ours. No code can lie above the \
                limit, which is Claim 2 turned round."
                .to_owned(),
        },
    ]
}

/// Figure 2 for one d.
fn length(data: &Data<'_>, items: u64) -> Figure {
    let mut chart = Chart::new(
        &format!("Figure 2: bits against universe, d = {items}"),
        Axis::log("universe n (elements)"),
        Axis::linear("bits m"),
    );
    chart.curves = data.lines(&format!("Fig. 2, d = {items}, "), Curve::line);
    let column = format!("n_{items}");
    let table = data.cells("Table II").filter(|cell| cell.place.column == column);
    let rings = table
        .filter_map(|cell| Some((cell.published.parse().ok()?, after(&cell.place.row, "m = ")?)));
    let rings: Vec<(f64, f64)> =
        rings.filter(|point: &(f64, f64)| (9.0..=2e5).contains(&point.0)).collect();
    if !rings.is_empty() {
        chart.curves.push(Curve::rings("published (Table II)", rings));
    }
    let bound = match items {
        1 => " It says nothing of one item.",
        5 => "",
        _ => " Where n is small against d^2 it cannot hold: a bit for each element is enough.",
    };
    Figure {
        chart,
        caption: format!(
            "Between the points sizes grow in steps. The lower bound is Claim 2 as the paper has \
             it.{bound}"
        ),
    }
}

pub(super) fn frontier(points: &[Point]) -> Vec<Figure> {
    let errors = |of: fn(&Point) -> Errors| {
        points.iter().map(move |point| (of(point).missed, of(point).fp)).collect::<Vec<_>>()
    };
    let mut plane = Chart::new(
        "False positives against false negatives, epsilon 1 to 8",
        Axis::log("false negatives (share of members)"),
        Axis::log("false positives (share of strangers)"),
    );
    plane.curves = vec![
        Curve::line(
            "floor: 1/(e^epsilon + 1) of each",
            points.iter().map(|point| (point.floor, point.floor)),
        ),
        Curve::line("linear filter, by its plan", errors(|point| point.linear)),
        Curve::points("linear filter, measured", errors(|point| point.linear_measured)),
        Curve::line("UltraFilter made right, 16 bits an item", errors(|point| point.ultra)),
        Curve::points("UltraFilter made right, measured", errors(|point| point.ultra_measured)),
        Curve::line("what the paper ran, at the epsilon it claims", errors(|point| point.paper)),
    ];
    let worse = |of: fn(&Point) -> Errors| {
        points.iter().map(move |point| (point.epsilon, of(point).worse())).collect::<Vec<_>>()
    };
    let mut loss = Chart::new(
        "The worse of the two errors against the loss of privacy",
        Axis::linear("epsilon of an item"),
        Axis::log("worse of FP and FN (share)"),
    );
    loss.curves = vec![
        Curve::line("floor", points.iter().map(|point| (point.epsilon, point.floor))),
        Curve::line(
            "linear filter",
            points.iter().map(|point| (point.linear_loss, point.linear.worse())),
        ),
        Curve::line("UltraFilter made right", worse(|point| point.ultra)),
        Curve::line("what the paper ran, at the epsilon it claims", worse(|point| point.paper)),
        Curve::points(
            "what the paper ran, at the epsilon that the audit finds",
            points.iter().map(|point| (point.paper_loss, point.paper.worse())),
        ),
    ];
    let found: Vec<String> = points
        .iter()
        .map(|point| format!("{} is really at least {:.1}", point.epsilon, point.paper_loss))
        .collect();
    vec![
        Figure {
            chart: plane,
            caption: "One point for each epsilon from 1 (top right) to 8. No private filter lies \
                below and left of its floor in both. The mechanism that the paper ran seems to: it \
                is not private."
                .to_owned(),
        },
        Figure {
            chart: loss,
            caption: format!(
                "With an error probability of one in a million, an audit shows what the paper's \
                 mechanism loses: \
                 {}. More runs would show more, without end.",
                found.join("; ")
            ),
        },
    ]
}

pub(super) fn memory(items: u64, ways: &[Memory]) -> Figure {
    let mut chart = Chart::new(
        &format!("{items} items of a universe"),
        Axis::log("universe n (elements)"),
        Axis::log("bits"),
    );
    chart.curves =
        ways.iter().map(|way| Curve::line(&way.name, way.bits.iter().copied())).collect();
    Figure {
        chart,
        caption: "For listing alone a sorted list or PinSketch is far smaller; a zone filter \
            answers any element in a few probes, merges by or-ing, and fits hardware that knows \
            only bits."
            .to_owned(),
    }
}

pub(super) fn comparison(rows: &[Row]) -> Figure {
    let mut chart = Chart::new(
        "Speed against size",
        Axis::log("bits an item"),
        Axis::log("nanoseconds a lookup (this machine)"),
    );
    chart.curves = rows
        .iter()
        .map(|row| Curve::points(row.name, [(row.bits_per_item, row.nanoseconds)]))
        .collect();
    Figure { chart, caption: "Down and left is better.".to_owned() }
}
