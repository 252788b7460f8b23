//! Plans as JSON, and their charts as SVG.

use crate::error::thrown;
use crate::options::{AnyRate, PrivacyOptions, RateOptions, ZoneOptions, read};
use crate::zone::Dictionary;
use serde::Serialize;
use tamis_facts::{ChainReport, PrivacyReport, PrivatePlan, RateReport, StaticReport, ZoneReport};
use tamis_plot::{Chart, tradeoff};
use wasm_bindgen::JsValue;
use wasm_bindgen::prelude::wasm_bindgen;

fn json(report: &impl Serialize) -> Result<String, JsValue> {
    serde_json::to_string(report).map_err(thrown)
}

/// What `tamis plan rate --json` prints.
#[wasm_bindgen]
pub fn plan_rate(options: &str) -> Result<String, JsValue> {
    match read::<RateOptions>(options)?.plan()? {
        AnyRate::Sized(plan) => json(&RateReport::new(&plan)),
        AnyRate::Static(plan) => json(&StaticReport::new(&plan)),
        AnyRate::Scalable(plan, items) => {
            json(&ChainReport::scalable(&plan, items).map_err(thrown)?)
        }
        AnyRate::Rolling(plan) => json(&ChainReport::rolling(&plan)),
    }
}

/// What `tamis plan zone --json` prints.
#[wasm_bindgen]
pub fn plan_zone(options: &str, dictionary: Option<Dictionary>) -> Result<String, JsValue> {
    let options = read::<ZoneOptions>(options)?;
    json(&ZoneReport::new(&options.plan(dictionary)?, options.prefer()?))
}

/// What `tamis plan privacy --json` prints.
#[wasm_bindgen]
pub fn plan_privacy(options: &str) -> Result<String, JsValue> {
    let options = read::<PrivacyOptions>(options)?;
    json(&PrivacyReport::new(&options.plan()?, Some(options.epsilon()?)))
}

/// What `tamis plan rate --plot` draws.
#[wasm_bindgen]
pub fn chart_rate(options: &str, bare: bool) -> Result<String, JsValue> {
    match read::<RateOptions>(options)?.plan()? {
        AnyRate::Sized(plan) => Ok(drawn(&tradeoff::of_rate(&plan), bare)),
        AnyRate::Static(plan) => Ok(drawn(&tradeoff::of_static(&plan), bare)),
        _ => Err(thrown("a chart shows filters of one size; choose another filter")),
    }
}

/// What `tamis plan zone --plot` draws.
#[wasm_bindgen]
pub fn chart_zone(
    options: &str,
    dictionary: Option<Dictionary>,
    bare: bool,
) -> Result<String, JsValue> {
    let plan = read::<ZoneOptions>(options)?.plan(dictionary)?;
    Ok(drawn(&tradeoff::of_zone(&plan), bare))
}

/// What `tamis plan privacy --plot` draws.
#[wasm_bindgen]
pub fn chart_privacy(options: &str, bare: bool) -> Result<String, JsValue> {
    let chart = match read::<PrivacyOptions>(options)?.plan()? {
        PrivatePlan::Linear(plan) => tradeoff::of_linear(&plan),
        PrivatePlan::Bloom(plan) => tradeoff::of_ultra(&plan),
    };
    Ok(drawn(&chart, bare))
}

fn drawn(chart: &Chart, bare: bool) -> String {
    framed(chart.svg(), bare)
}

/// A drawing for a page that has the style, or as a file of its own.
pub(crate) fn framed(svg: String, bare: bool) -> String {
    if bare { svg } else { tamis_plot::standalone(&svg) }
}

/// The style of bare drawings.
#[wasm_bindgen]
#[must_use]
pub fn drawing_style() -> String {
    tamis_plot::STYLE.to_owned()
}
