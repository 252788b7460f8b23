//! Drawings as SVG text: charts of curves, and rasters of cells. No fonts, no scripts, nothing to
//! load.
//!
//! Colours are those of Okabe and Ito, which the colour-blind tell apart, and every curve has a
//! marker and a dash of its own. They are CSS variables, so that one drawing serves light pages,
//! dark ones and paper.
//!
//! ```
//! use tamis_lab::plot::{Axis, Chart, Curve};
//! let mut chart = Chart::new("Squares", Axis::linear("x"), Axis::linear("x squared"));
//! chart.curves.push(Curve::line("squares", (0..5).map(|x| (f64::from(x), f64::from(x * x)))));
//! assert!(chart.svg().starts_with("<svg"));
//! ```

mod axis;
mod chart;
mod raster;

pub use axis::Axis;
pub use chart::{Chart, Curve};
pub use raster::{Panel, Raster};

/// What text looks like, and the colours, in light and in dark.
pub const STYLE: &str = "\
:root{color-scheme:light dark;--paper:#fff;--ink:#1c1c1c;--soft:#5a5a5a;--rule:#d8d8d8;--c0:#0072b2;--c1:#d55e00;--c2:#009e73;\
--c3:#b3528a;--c4:#b87f00;--c5:#3a8fc4;--c6:#1c1c1c}\
@media(prefers-color-scheme:dark){:root{--paper:#14171a;--ink:#e8e8e8;--soft:#a8a8a8;--rule:#3a3f44;--c0:#56b4e9;--c1:#f0813a;\
--c2:#1fc495;--c3:#e59cc3;--c4:#e69f00;--c5:#f0e442;--c6:#e8e8e8}}\
@media print{:root{--paper:#fff;--ink:#000;--soft:#333;--rule:#ccc;--c0:#0072b2;--c1:#d55e00;--c2:#009e73;--c3:#b3528a;--c4:#b87f00;\
--c5:#3a8fc4;--c6:#000}}\
svg text{font-family:system-ui,-apple-system,'Segoe UI',Roboto,sans-serif;fill:var(--ink)}";

/// A drawing as a file of its own.
#[must_use]
pub fn standalone(svg: &str) -> String {
    let style = format!("<style>{STYLE}svg{{background:var(--paper)}}</style>");
    let body = svg.replacen('>', &format!(">{style}"), 1);
    format!("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n{body}\n")
}

/// A drawing within documentation, whose page knows none of our colours.
#[must_use]
pub fn embedded(svg: &str) -> String {
    let colours = "--ink:currentColor;--soft:currentColor;--rule:#8888;--c0:#3a8fc4";
    format!("<div style=\"max-width:460px;fill:currentColor;{colours}\">\n{svg}\n</div>\n")
}

/// Text as XML has it.
#[must_use]
pub fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for letter in text.chars() {
        match letter {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            // XML has no other control characters.
            letter if letter.is_control() && letter != '\n' => out.push('\u{fffd}'),
            letter => out.push(letter),
        }
    }
    out
}

/// Four significant digits as a person reads them: powers of ten for what is very large or small.
#[must_use]
pub fn readable(value: f64) -> String {
    let size = value.abs();
    if value == 0.0 {
        return "0".to_owned();
    }
    if !value.is_finite() {
        return "none".to_owned();
    }
    if !(1e-4..1e7).contains(&size) {
        let power = size.log10().floor() as i32;
        let digits = value / 10f64.powi(power);
        return format!("{} × 10{}", trimmed(&format!("{digits:.2}")), raised(power));
    }
    let decimals = (3.0 - size.log10().floor()).clamp(0.0, 7.0) as usize;
    trimmed(&format!("{value:.decimals$}"))
}

/// Without zeros at the end of a fraction.
fn trimmed(number: &str) -> String {
    if !number.contains('.') {
        return number.to_owned();
    }
    number.trim_end_matches('0').trim_end_matches('.').to_owned()
}

/// A power in raised digits.
fn raised(power: i32) -> String {
    let digit = |letter: char| match letter {
        '-' => '⁻',
        '1' => '¹',
        '2' => '²',
        '3' => '³',
        '4' => '⁴',
        '5' => '⁵',
        '6' => '⁶',
        '7' => '⁷',
        '8' => '⁸',
        '9' => '⁹',
        _ => '⁰',
    };
    power.to_string().chars().map(digit).collect()
}

/// About how wide a text is in letters of this size.
fn width(text: &str, size: f64) -> f64 {
    text.chars().count() as f64 * size * 0.54
}

/// A text in lines of at most so many letters, broken at spaces.
fn wrapped(text: &str, letters: usize) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for word in text.split(' ') {
        match lines.last_mut() {
            Some(line) if line.chars().count() + 1 + word.chars().count() <= letters => {
                line.push(' ');
                line.push_str(word);
            }
            _ => lines.push(word.to_owned()),
        }
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_and_texts() {
        assert_eq!(readable(0.0), "0");
        assert_eq!(readable(0.018_987), "0.01899");
        assert_eq!(readable(1_670.0), "1670");
        assert_eq!(readable(1.5e-7), "1.5 × 10⁻⁷");
        assert_eq!(readable(6.4e12), "6.4 × 10¹²");
        assert_eq!(readable(f64::NAN), "none");
        assert_eq!(escaped("a<b & \"c\"\u{1}"), "a&lt;b &amp; &quot;c&quot;\u{fffd}");
        assert_eq!(wrapped("one two three", 7), ["one two", "three"]);
        assert!(standalone("<svg xmlns=\"x\"></svg>").contains("<svg xmlns=\"x\"><style>"));
    }
}
