//! Pictures of filters and charts of their plans, as SVG text.
//!
//! - [`tradeoff`] draws what a plan costs beside its neighbours: `tamis plan --plot`.
//! - [`picture`] draws what a filter holds: `tamis show`.
//! - [`Chart`] and [`Raster`] are the two kinds of drawing that both are made of.
//!
//! A drawing needs no fonts, no scripts and nothing to load. The colours are those of Okabe and
//! Ito, which colour-blind readers can tell apart; every curve also has its own marker and dash.
//! Colours are CSS variables, so one drawing serves light pages, dark pages and paper.
//!
//! ```
//! use tamis_plot::{Axis, Chart, Curve};
//! let mut chart = Chart::new("Squares", Axis::linear("x"), Axis::linear("x squared"));
//! chart.curves.push(Curve::line("squares", (0..5).map(|x| (f64::from(x), f64::from(x * x)))));
//! assert!(chart.svg().starts_with("<svg"));
//! ```

mod axis;
mod chart;
mod number;
pub mod picture;
mod raster;
mod text;
pub mod tradeoff;

pub use axis::Axis;
pub use chart::{Chart, Curve};
pub use number::{counted, grouped, percent, readable};
pub use raster::{Panel, Raster};
pub use text::escaped;

/// What text looks like, and the colours, in light and in dark.
pub const STYLE: &str = "\
:root{color-scheme:light dark;--paper:#fff;--ink:#1c1c1c;--soft:#5a5a5a;--rule:#d8d8d8;\
--c0:#0072b2;--c1:#d55e00;--c2:#009e73;--c3:#b3528a;--c4:#b87f00;--c5:#3a8fc4;--c6:#1c1c1c}\
@media(prefers-color-scheme:dark){:root{--paper:#14171a;--ink:#e8e8e8;--soft:#a8a8a8;\
--rule:#3a3f44;--c0:#56b4e9;--c1:#f0813a;--c2:#1fc495;--c3:#e59cc3;--c4:#e69f00;--c5:#f0e442;\
--c6:#e8e8e8}}\
@media print{:root{--paper:#fff;--ink:#000;--soft:#333;--rule:#ccc;--c0:#0072b2;--c1:#d55e00;\
--c2:#009e73;--c3:#b3528a;--c4:#b87f00;--c5:#3a8fc4;--c6:#000}}\
svg text{font-family:system-ui,-apple-system,'Segoe UI',Roboto,sans-serif;fill:var(--ink)}";

/// A drawing as a whole file.
#[must_use]
pub fn standalone(svg: &str) -> String {
    let style = format!("<style>{STYLE}svg{{background:var(--paper)}}</style>");
    let body = svg.replacen('>', &format!(">{style}"), 1);
    format!("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n{body}\n")
}

/// A drawing for the pages of rustdoc, which do not define our colours.
#[must_use]
pub fn embedded(svg: &str) -> String {
    let colours = "--ink:currentColor;--soft:currentColor;--rule:#8888;--c0:#3a8fc4";
    format!("<div style=\"max-width:460px;fill:currentColor;{colours}\">\n{svg}\n</div>\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_standalone_drawing_has_its_style_inside() {
        assert!(standalone("<svg xmlns=\"x\"></svg>").contains("<svg xmlns=\"x\"><style>"));
    }
}
