//! What a filter says of itself: one line, and a page for notebooks.

use tamis::AnyFilter;
use tamis::format::AnyPlan;
use tamis_plot::{escaped, grouped, percent, picture as pictures, tradeoff};

/// The colours of drawings, which a notebook does not define. Text has the notebook's own colour,
/// so that it is read on light and on dark pages.
const COLOURS: &str = "--ink:currentColor;--soft:currentColor;--rule:#8888;--paper:transparent;\
                       --c0:#0072b2;--c1:#d55e00;--c2:#009e73;--c3:#b3528a;--c4:#b87f00;\
                       --c5:#3a8fc4;--c6:currentColor;fill:currentColor;max-width:720px";

fn drawing(svg: &str) -> String {
    format!("<div style=\"{COLOURS}\">{svg}</div>")
}

/// `<Bloom size_in_bits=193960 approx_items=0.0 ...>`
pub(crate) fn line(any: &AnyFilter, class: &str) -> String {
    let plan = any.plan();
    let mut line = format!("<{class} size_in_bits={}", plan.bits());
    if let Some(items) = any.estimated_items() {
        line += &format!(" approx_items={items:.1}");
    }
    line += &format!(" items={}", plan.items());
    match plan {
        AnyPlan::Zone(zone) => {
            line += &format!(" universe={} code={}", zone.universe().size(), zone.code().kind());
        }
        _ => line += &format!(" fpr={}", plan.fpr()),
    }
    if let Some(epsilon) = any.epsilon() {
        line += &format!(" fnr={} epsilon={epsilon}", any.expected_fnr());
    }
    line + &format!(" fill={:.4} health={}>", any.fill(), any.health())
}

/// The rows of the table.
fn rows(any: &AnyFilter) -> Vec<(&'static str, String)> {
    let plan = any.plan();
    let promise = match plan {
        AnyPlan::Zone(zone) => {
            format!("nobody is answered wrongly, up to {} items", grouped(zone.zone()))
        }
        _ if any.epsilon().is_some() => {
            format!(
                "members pass at {}, strangers at {}",
                percent(1.0 - any.expected_fnr()),
                percent(plan.fpr())
            )
        }
        _ => format!("members pass; of strangers, about {}", percent(plan.fpr())),
    };
    let mut rows = vec![("promise", promise)];
    if let Some(epsilon) = any.epsilon() {
        rows.push(("loss", format!("epsilon {epsilon} for one item")));
    }
    let planned = grouped(plan.items());
    rows.push(match any.estimated_items() {
        Some(items) if items.is_finite() => {
            ("items", format!("about {} of {planned} planned", grouped(items.round() as u64)))
        }
        _ => ("items", format!("{planned} planned")),
    });
    rows.push(("passes now", format!("{} of strangers", percent(any.expected_fpr()))));
    rows.push(("fill", percent(any.fill())));
    rows.push(("health", any.health().to_string()));
    rows.push(("size", format!("{} bytes", grouped(plan.bytes()))));
    rows
}

/// A picture of the cells, as SVG with its own colours.
pub(crate) fn picture(any: &AnyFilter, class: &str) -> Option<String> {
    let title = format!("{class}: {} bytes", grouped(any.plan().bytes()));
    pictures::of(any, title).map(|raster| drawing(&raster.svg()))
}

/// The trade-off around a plan, as SVG with its own colours.
pub(crate) fn chart(plan: AnyPlan<'_>) -> String {
    let chart = match plan {
        AnyPlan::Rate(plan) => tradeoff::of_rate(plan),
        AnyPlan::Static(plan) => tradeoff::of_static(plan),
        AnyPlan::Zone(plan) => tradeoff::of_zone(plan),
        AnyPlan::PublicBloom(plan) => tradeoff::of_ultra(plan),
        AnyPlan::Linear(plan) => tradeoff::of_linear(plan),
        _ => return String::new(),
    };
    drawing(&chart.svg())
}

/// A table with two columns.
pub(crate) fn table(title: &str, rows: &[(&'static str, String)]) -> String {
    let cell = |(name, value): &(&str, String)| {
        let value = escaped(value);
        let style = "text-align:left;padding-right:1em";
        format!("<tr><th style=\"{style}\">{name}</th><td>{value}</td></tr>")
    };
    let body: String = rows.iter().map(cell).collect();
    let title = escaped(title);
    format!("<table><caption>{title}</caption>{body}</table>")
}

/// The whole page.
pub(crate) fn page(any: &AnyFilter, class: &str) -> String {
    let title = format!("tamis.{class}");
    let cells = picture(any, class).unwrap_or_default();
    let page = [table(&title, &rows(any)), cells, chart(any.plan())];
    format!("<div>{}</div>", page.concat())
}
