//! Odd data gives well-formed drawings.

#![allow(clippy::unwrap_used)]

use roxmltree::Document as Xml;
use tamis_plot::{Axis, Chart, Curve, Panel, Raster, standalone};

/// Whatever the data, the drawing is well-formed and no number is missing or infinite.
#[test]
fn odd_charts_are_drawn() {
    let odd: [&[(f64, f64)]; 7] = [
        &[],
        &[(1.0, 1.0)],
        &[(0.0, 0.0), (0.0, 0.0)],
        &[(1e-300, 1e300), (1e300, 1e-300)],
        &[(f64::NAN, f64::INFINITY), (-1.0, -5.0)],
        &[(1.0, 0.0), (2.0, 0.0)],
        &[(1e18, 3.0), (1e18 + 4096.0, 3.0)],
    ];
    for points in odd {
        for (x, y) in [(Axis::linear("x"), Axis::linear("y")), (Axis::log("x"), Axis::log("y"))] {
            let mut chart = Chart::new("a < b & \"c\"\u{0}", x, y);
            for make in [Curve::line, Curve::smooth, Curve::points, Curve::rings] {
                chart.curves.push(make(
                    "<name> & more words than fit into one line of the legend, far more than that",
                    points.to_vec(),
                ));
            }
            let svg = standalone(&chart.svg());
            Xml::parse(&svg).unwrap();
            assert!(!svg.contains("NaN") && !svg.contains("inf"), "{points:?}");
            assert_eq!(chart.rows()[0].len(), 5);
        }
    }
    Xml::parse(&Chart::new("", Axis::log(""), Axis::log("")).svg()).unwrap();
}

#[test]
fn odd_rasters_are_drawn() {
    for (shades, columns) in
        [(vec![], 0), (vec![1.0], 1), (vec![0.0, 0.001, 2.0, -1.0], 3), (vec![0.5; 5000], 64)]
    {
        let cells = shades.len();
        let panels = vec![Panel::new("<p>", shades, columns), Panel::new("", Vec::new(), 5)];
        let svg = standalone(
            &Raster { title: "a&b".to_owned(), notes: vec!["n".repeat(200)], panels }.svg(),
        );
        Xml::parse(&svg).unwrap();
        assert_eq!(svg.matches("h-").count(), cells);
    }
}
