//! Curves over two axes, with a legend below them.

use crate::Axis;
use crate::axis::Scale;
use crate::number::readable;
use crate::text::{escaped, width, wrapped};
use std::collections::BTreeMap;
use std::fmt::Write;

/// The size of a drawing in its own units, which are about pixels.
const WIDTH: f64 = 440.0;
/// The plane within it.
const LEFT: f64 = 58.0;
const RIGHT: f64 = WIDTH - 12.0;
const TOP: f64 = 14.0;
const BOTTOM: f64 = 282.0;
const LETTER: f64 = 12.5;

/// A chart.
#[derive(Debug, Clone)]
pub struct Chart {
    /// What it shows; read to those who cannot see it.
    pub title: String,
    /// The horizontal axis.
    pub x: Axis,
    /// The vertical axis.
    pub y: Axis,
    /// The curves.
    pub curves: Vec<Curve>,
}

/// A curve of a chart.
#[derive(Debug, Clone)]
pub struct Curve {
    /// What the legend says.
    pub name: String,
    /// The points, in the order in which they are joined.
    pub points: Vec<(f64, f64)>,
    /// From where to where each value may lie, if that is known.
    pub intervals: Vec<(f64, f64)>,
    joined: bool,
    marked: bool,
    strong: bool,
}

impl Curve {
    fn new(name: &str, points: impl IntoIterator<Item = (f64, f64)>) -> Curve {
        Curve {
            name: name.to_owned(),
            points: points.into_iter().collect(),
            intervals: Vec::new(),
            joined: true,
            marked: true,
            strong: false,
        }
    }

    /// A line with a marker at each point.
    #[must_use]
    pub fn line(name: &str, points: impl IntoIterator<Item = (f64, f64)>) -> Curve {
        Curve::new(name, points)
    }

    /// A line without markers.
    #[must_use]
    pub fn smooth(name: &str, points: impl IntoIterator<Item = (f64, f64)>) -> Curve {
        Curve { marked: false, ..Curve::new(name, points) }
    }

    /// Points that no line joins.
    #[must_use]
    pub fn points(name: &str, points: impl IntoIterator<Item = (f64, f64)>) -> Curve {
        Curve { joined: false, ..Curve::new(name, points) }
    }

    /// What a document printed, or the plan chosen: large hollow rings in the colour of the text.
    #[must_use]
    pub fn rings(name: &str, points: impl IntoIterator<Item = (f64, f64)>) -> Curve {
        Curve { joined: false, strong: true, ..Curve::new(name, points) }
    }

    /// The same curve with an interval about each point.
    #[must_use]
    pub fn with_intervals(mut self, intervals: impl IntoIterator<Item = (f64, f64)>) -> Curve {
        self.intervals = intervals.into_iter().collect();
        self
    }
}

const DASHES: [&str; 4] = ["", "7 3", "2 3", "9 3 2 3"];

impl Chart {
    /// A chart without curves.
    #[must_use]
    pub fn new(title: &str, x: Axis, y: Axis) -> Chart {
        Chart { title: title.to_owned(), x, y, curves: Vec::new() }
    }

    /// The drawing.
    #[must_use]
    pub fn svg(&self) -> String {
        let values = |of: fn(&(f64, f64)) -> f64| {
            self.curves.iter().flat_map(move |curve| curve.points.iter().map(of))
        };
        let ends = self
            .curves
            .iter()
            .flat_map(|curve| curve.intervals.iter().flat_map(|(low, high)| [*low, *high]));
        let x = self.x.scale(values(|point| point.0));
        let y = self.y.scale(values(|point| point.1).chain(ends));
        let (legend, height) = self.legend();
        let mut out = format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {WIDTH} {height}\" \
             role=\"img\" font-size=\"{LETTER}\">\
             <title>{}</title>",
            escaped(&self.title)
        );
        self.axes(&mut out, &x, &y);
        for (i, curve) in self.curves.iter().enumerate() {
            draw(&mut out, curve, i, &x, &y);
        }
        out.push_str(&legend);
        out.push_str("</svg>");
        out
    }

    fn axes(&self, out: &mut String, x: &Scale, y: &Scale) {
        let mut rules = String::new();
        let mut labels = String::new();
        let mut end = f64::MIN;
        for (share, words) in x.ticks() {
            let at = LEFT + share * (RIGHT - LEFT);
            let _ = write!(rules, "M{at:.1} {TOP}V{BOTTOM}");
            // A label that would touch the one before it is left out.
            let half = width(&words, LETTER) / 2.0;
            if at - half > end {
                end = at + half + 4.0;
                let _ = write!(
                    labels,
                    "<text x=\"{at:.1}\" y=\"{:.1}\" text-anchor=\"middle\">{words}</text>",
                    BOTTOM + 16.0
                );
            }
        }
        for (share, words) in y.ticks() {
            let at = BOTTOM - share * (BOTTOM - TOP);
            let _ = write!(rules, "M{LEFT} {at:.1}H{RIGHT}");
            let _ = write!(
                labels,
                "<text x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"end\">{words}</text>",
                LEFT - 5.0,
                at + 4.0
            );
        }
        let middle = (LEFT + RIGHT) / 2.0;
        let _ = write!(
            out,
            "<path d=\"{rules}\" stroke=\"var(--rule)\" fill=\"none\"/>\
             <path d=\"M{LEFT} {TOP}V{BOTTOM}H{RIGHT}\" stroke=\"var(--soft)\" \
             fill=\"none\"/>{labels}\
             <text x=\"{middle}\" y=\"{:.1}\" text-anchor=\"middle\">{}</text>\
             <text transform=\"translate(13 {:.1}) rotate(-90)\" text-anchor=\"middle\">{}</text>",
            BOTTOM + 34.0,
            escaped(&self.x.title),
            (TOP + BOTTOM) / 2.0,
            escaped(&self.y.title),
        );
    }

    /// The legend below the axes, in as many columns as have room, and the height of the whole.
    fn legend(&self) -> (String, f64) {
        let top = BOTTOM + 52.0;
        let longest =
            self.curves.iter().map(|curve| width(&curve.name, LETTER)).fold(0.0, f64::max);
        let columns = ((WIDTH - 8.0) / (longest + 44.0)).floor().clamp(1.0, 4.0) as usize;
        let column = (WIDTH - 8.0) / columns as f64;
        let mut out = String::new();
        let (mut y, mut lowest) = (top, top);
        for (i, curve) in self.curves.iter().enumerate() {
            let x = 8.0 + column * (i % columns) as f64;
            let _ = write!(out, "<g>");
            let (left, right, middle) = (x, x + 26.0, y - 4.0);
            if curve.joined {
                let _ =
                    write!(out, "<path d=\"M{left:.1} {middle:.1}H{right:.1}\" {}/>", stroke(i));
            }
            if curve.marked {
                marker(&mut out, i, curve.strong, x + 13.0, middle);
            }
            let lines = wrapped(&curve.name, ((column - 40.0) / (LETTER * 0.54)) as usize);
            for (number, line) in lines.iter().enumerate() {
                let at = y + 15.0 * number as f64;
                lowest = f64::max(lowest, at);
                let _ = write!(
                    out,
                    "<text x=\"{:.1}\" y=\"{at:.1}\">{}</text>",
                    x + 33.0,
                    escaped(line)
                );
            }
            out.push_str("</g>");
            if i % columns == columns - 1 {
                y = lowest + 18.0;
            }
        }
        (out, lowest + 10.0)
    }

    /// The numbers as rows: the first has the names; all x in order, and a column for each curve.
    #[must_use]
    pub fn rows(&self) -> Vec<Vec<String>> {
        let mut names = vec![self.x.title.clone()];
        let mut by_x: BTreeMap<Ordered, Vec<String>> = BTreeMap::new();
        let width = self
            .curves
            .iter()
            .map(|curve| 1 + usize::from(!curve.intervals.is_empty()))
            .sum::<usize>();
        let mut at = 0;
        for curve in &self.curves {
            names.push(curve.name.clone());
            if !curve.intervals.is_empty() {
                names.push("interval".to_owned());
            }
            for (i, (x, y)) in curve.points.iter().enumerate() {
                let row = by_x.entry(Ordered(*x)).or_insert_with(|| vec![String::new(); width]);
                // Two points of one curve may stand above each other.
                if !row[at].is_empty() {
                    row[at].push_str(" and ");
                }
                row[at].push_str(&readable(*y));
                if let Some((low, high)) = curve.intervals.get(i) {
                    row[at + 1] = format!("{} to {}", readable(*low), readable(*high));
                }
            }
            at += 1 + usize::from(!curve.intervals.is_empty());
        }
        let rows = by_x.into_iter().map(|(x, row)| [vec![readable(x.0)], row].concat());
        [names].into_iter().chain(rows).collect()
    }
}

/// Doubles in their total order.
struct Ordered(f64);

impl PartialEq for Ordered {
    fn eq(&self, other: &Ordered) -> bool {
        self.cmp(other).is_eq()
    }
}

impl Eq for Ordered {}

impl PartialOrd for Ordered {
    fn partial_cmp(&self, other: &Ordered) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Ordered {
    fn cmp(&self, other: &Ordered) -> std::cmp::Ordering {
        self.0.total_cmp(&other.0)
    }
}

fn stroke(i: usize) -> String {
    let dash = DASHES[i % DASHES.len()];
    let dash =
        if dash.is_empty() { String::new() } else { format!(" stroke-dasharray=\"{dash}\"") };
    format!("fill=\"none\" stroke=\"var(--c{})\" stroke-width=\"1.8\"{dash}", i % 7)
}

/// The intervals, the line and the markers. Values that a logarithmic axis cannot show are marked
/// at its foot.
fn draw(out: &mut String, curve: &Curve, i: usize, x: &Scale, y: &Scale) {
    let place = |(px, py): (f64, f64)| {
        let across = LEFT + x.share(px)? * (RIGHT - LEFT);
        Some((across, y.share(py).map(|share| BOTTOM - share * (BOTTOM - TOP))))
    };
    let inside = |(across, up): (f64, f64)| {
        (LEFT - 1.0..=RIGHT + 1.0).contains(&across) && (TOP - 1.0..=BOTTOM + 1.0).contains(&up)
    };
    let mut path = String::new();
    let mut lifted = true;
    for point in &curve.points {
        match place(*point) {
            Some((across, Some(up))) if inside((across, up)) => {
                let _ = write!(path, "{}{across:.1} {up:.1}", if lifted { 'M' } else { 'L' });
                lifted = false;
            }
            _ => lifted = true,
        }
    }
    if curve.joined {
        let _ = write!(out, "<path d=\"{path}\" {}/>", stroke(i));
    }
    for (point, (low, high)) in curve.points.iter().zip(&curve.intervals) {
        if let (Some((across, Some(bottom))), Some((_, Some(top)))) =
            (place((point.0, *low)), place((point.0, *high)))
        {
            let _ = write!(
                out,
                "<path d=\"M{across:.1} {bottom:.1}V{top:.1}M{:.1} {bottom:.1}h8M{:.1} \
                 {top:.1}h8\" stroke=\"var(--c{})\" stroke-width=\"1.5\"/>",
                across - 4.0,
                across - 4.0,
                i % 7
            );
        }
    }
    if !curve.marked {
        return;
    }
    for point in &curve.points {
        match place(*point) {
            Some((across, Some(up))) if inside((across, up)) => {
                marker(out, i, curve.strong, across, up);
            }
            Some((across, None)) if inside((across, BOTTOM)) => {
                let _ = write!(
                    out,
                    "<path d=\"M{:.1} {:.1}h6l-3 5z\" fill=\"none\" stroke=\"var(--c{})\"/>",
                    across - 3.0,
                    BOTTOM - 6.0,
                    i % 7
                );
            }
            _ => {}
        }
    }
}

/// Circle, square, triangle, diamond, cross; or a ring.
fn marker(out: &mut String, i: usize, strong: bool, x: f64, y: f64) {
    if strong {
        let _ = write!(
            out,
            "<circle cx=\"{x:.1}\" cy=\"{y:.1}\" r=\"5.5\" fill=\"none\" stroke=\"var(--ink)\" \
             stroke-width=\"1.6\"/>"
        );
        return;
    }
    let shape = match i % 5 {
        0 => format!("M{:.1} {y:.1}a3 3 0 1 0 6 0a3 3 0 1 0 -6 0z", x - 3.0),
        1 => format!("M{:.1} {:.1}h5.6v5.6h-5.6z", x - 2.8, y - 2.8),
        2 => format!("M{x:.1} {:.1}l3.6 6.2h-7.2z", y - 3.8),
        3 => format!("M{x:.1} {:.1}l3.8 3.8l-3.8 3.8l-3.8 -3.8z", y - 3.8),
        _ => format!("M{:.1} {:.1}l6 6m0 -6l-6 6", x - 3.0, y - 3.0),
    };
    let colour = i % 7;
    let _ = write!(
        out,
        "<path d=\"{shape}\" fill=\"var(--c{colour})\" stroke=\"var(--c{colour})\" \
         stroke-width=\"1.2\"/>"
    );
}
