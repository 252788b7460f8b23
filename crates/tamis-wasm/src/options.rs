//! Options of JavaScript become plans. Numbers come as their digits, so that none is rounded.

use crate::error::thrown;
use crate::zone::Dictionary;
use serde::Deserialize;
use std::str::FromStr;
use std::time::Duration;
use tamis::privacy::{Epsilon, LinearPlan, UltraPlan};
use tamis::rate::{Kind, Plan as RatePlan, RollingPlan, ScalablePlan, StaticPlan};
use tamis::zone::{CodeKind, Plan as ZonePlan, Prefer};
use tamis_facts::PrivatePlan;
use wasm_bindgen::JsValue;

/// What decides a rate filter.
#[derive(Deserialize, Default)]
#[serde(deny_unknown_fields, default, rename_all = "camelCase")]
pub(crate) struct RateOptions {
    items: Option<String>,
    pub(crate) fpr: Option<String>,
    bits: Option<String>,
    filter: Option<String>,
    counter_bits: Option<String>,
    first: Option<String>,
    growth: Option<String>,
    window_items: Option<String>,
    window_seconds: Option<String>,
}

/// A plan of any rate filter.
pub(crate) enum AnyRate {
    Sized(RatePlan),
    Static(StaticPlan),
    /// A chain, and the keys that it has grown to.
    Scalable(ScalablePlan, u64),
    Rolling(RollingPlan),
}

/// What decides a zone filter.
#[derive(Deserialize, Default)]
#[serde(deny_unknown_fields, default, rename_all = "camelCase")]
pub(crate) struct ZoneOptions {
    universe: Option<String>,
    items: Option<String>,
    code: Option<String>,
    prefer: Option<String>,
    counting: bool,
}

/// What decides a release.
#[derive(Deserialize, Default)]
#[serde(deny_unknown_fields, default, rename_all = "camelCase")]
pub(crate) struct PrivacyOptions {
    items: Option<String>,
    epsilon: Option<String>,
    method: Option<String>,
    fp: Option<String>,
    bits: Option<String>,
    hashes: Option<String>,
    threshold: Option<String>,
}

/// Reads options that JavaScript wrote as JSON.
pub(crate) fn read<'a, T: Deserialize<'a>>(json: &'a str) -> Result<T, JsValue> {
    serde_json::from_str(json).map_err(|error| {
        // The place within our own JSON says nothing to the reader.
        let text = error.to_string();
        thrown(text.split(" at line").next().unwrap_or(&text))
    })
}

/// An option that must be a number of this type, if it is there.
fn number<T: FromStr>(
    given: Option<&String>,
    name: &str,
    what: &str,
) -> Result<Option<T>, JsValue> {
    let Some(text) = given else { return Ok(None) };
    match text.trim().parse() {
        Ok(number) => Ok(Some(number)),
        Err(_) => Err(thrown(format!("{name} must be {what} (got {text})"))),
    }
}

fn count(given: Option<&String>, name: &str) -> Result<Option<u64>, JsValue> {
    number(given, name, "a whole number from 0 to 2^64 - 1")
}

fn small(given: Option<&String>, name: &str) -> Result<Option<u32>, JsValue> {
    number(given, name, "a whole number from 0 to 2^32 - 1")
}

fn share(given: Option<&String>, name: &str) -> Result<Option<f64>, JsValue> {
    number(given, name, "a number")
}

/// Refuses options that go with another choice.
fn refuse(given: &[(&str, bool)], with: &str) -> Result<(), JsValue> {
    match given.iter().find(|(_, given)| *given) {
        Some((name, _)) => Err(thrown(format!("{name} does not go with {with}; leave it out"))),
        None => Ok(()),
    }
}

impl RateOptions {
    pub(crate) fn filter(&self) -> &str {
        self.filter.as_deref().unwrap_or("bloom")
    }

    /// The plan, from exactly two of the three numbers.
    pub(crate) fn plan(&self) -> Result<AnyRate, JsValue> {
        let (filter, fpr) = (self.filter(), share(self.fpr.as_ref(), "fpr")?);
        let (items, bits) =
            (count(self.items.as_ref(), "items")?, count(self.bits.as_ref(), "bits")?);
        let width = small(self.counter_bits.as_ref(), "counterBits")?;
        let of_chains = [
            ("first", self.first.is_some() && filter != "scalable"),
            ("growth", self.growth.is_some() && filter != "scalable"),
            ("windowItems", self.window_items.is_some() && filter != "rolling"),
            ("windowSeconds", self.window_seconds.is_some() && filter != "rolling"),
            ("counterBits", width.is_some() && filter != "counting"),
            ("bits", bits.is_some() && matches!(filter, "scalable" | "rolling")),
        ];
        refuse(&of_chains, &format!("a {filter} filter"))?;
        let kind = match filter {
            "bloom" => Kind::Bloom,
            "blocked" => Kind::Blocked,
            "split" => Kind::Split,
            "counting" => Kind::Counting,
            "quotient" => Kind::Quotient,
            "static" => return self.of_static(items, fpr, bits).map(AnyRate::Static),
            "scalable" => return self.scalable(items, fpr),
            "rolling" => return self.rolling(items, fpr).map(AnyRate::Rolling),
            other => {
                return Err(thrown(format!(
                    "there is no filter {other:?}; there are bloom, blocked, split, counting, \
                     quotient, static, scalable and rolling"
                )));
            }
        };
        let plan = match (items, fpr, bits) {
            (Some(items), Some(fpr), None) => {
                RatePlan::from_items_fpr(kind, items, fpr).and_then(|plan| match width {
                    Some(width) => plan.with_counter_bits(width),
                    None => Ok(plan),
                })
            }
            (Some(items), None, Some(bits)) => match width {
                Some(width) => RatePlan::counting_from_items_bits(items, bits, width),
                None => RatePlan::from_items_bits(kind, items, bits),
            },
            (None, Some(fpr), Some(bits)) => match width {
                Some(width) => RatePlan::counting_from_fpr_bits(fpr, bits, width),
                None => RatePlan::from_fpr_bits(kind, fpr, bits),
            },
            _ => return Err(two_of_three()),
        };
        plan.map(AnyRate::Sized).map_err(thrown)
    }

    fn of_static(
        &self,
        items: Option<u64>,
        fpr: Option<f64>,
        bits: Option<u64>,
    ) -> Result<StaticPlan, JsValue> {
        match (items, fpr, bits) {
            (Some(items), Some(fpr), None) => StaticPlan::new(items, fpr),
            (Some(items), None, Some(bits)) => StaticPlan::from_items_bits(items, bits),
            (None, Some(fpr), Some(bits)) => StaticPlan::from_fpr_bits(fpr, bits),
            _ => return Err(two_of_three()),
        }
        .map_err(thrown)
    }

    fn scalable(&self, items: Option<u64>, fpr: Option<f64>) -> Result<AnyRate, JsValue> {
        let first = count(self.first.as_ref(), "first")?.unwrap_or(FIRST);
        let mut plan = ScalablePlan::new(first, fpr.unwrap_or(FPR)).map_err(thrown)?;
        if let Some(growth) = small(self.growth.as_ref(), "growth")? {
            plan = plan.with_growth(growth).map_err(thrown)?;
        }
        Ok(AnyRate::Scalable(plan, items.unwrap_or(first)))
    }

    fn rolling(&self, items: Option<u64>, fpr: Option<f64>) -> Result<RollingPlan, JsValue> {
        let window = count(self.window_items.as_ref(), "windowItems")?;
        let seconds = share(self.window_seconds.as_ref(), "windowSeconds")?;
        let fpr = fpr.unwrap_or(FPR);
        match (window, seconds, items) {
            (Some(window), None, None) => RollingPlan::last_items(window, fpr).map_err(thrown),
            (Some(_), None, Some(_)) => Err(thrown("windowItems counts keys; leave items out")),
            (None, Some(seconds), Some(items)) => {
                let time = Duration::try_from_secs_f64(seconds).map_err(|_| {
                    thrown(format!("windowSeconds must be seconds above 0 (got {seconds})"))
                })?;
                RollingPlan::last_time(time, items, fpr).map_err(thrown)
            }
            (None, Some(_), None) => {
                Err(thrown("say how many keys a window of time holds at most: items"))
            }
            _ => Err(thrown(
                "say what a rolling filter remembers: windowItems, or windowSeconds and items",
            )),
        }
    }
}

/// The keys of the first link of a chain, and the rate, as at the command line.
const FIRST: u64 = 1_000;
const FPR: f64 = 0.01;

fn two_of_three() -> JsValue {
    thrown("give two of items, fpr and bits, for example { items: 1000000, fpr: 0.01 }")
}

impl ZoneOptions {
    pub(crate) fn prefer(&self) -> Result<Prefer, JsValue> {
        match self.prefer.as_deref() {
            None | Some("bits") => Ok(Prefer::Bits),
            Some("probes") => Ok(Prefer::Probes),
            Some(other) => Err(thrown(format!("prefer is bits or probes (got {other:?})"))),
        }
    }

    pub(crate) fn plan(&self, dictionary: Option<Dictionary>) -> Result<ZonePlan, JsValue> {
        let universe = match (dictionary, &self.universe) {
            (Some(dictionary), _) => dictionary.universe()?,
            (None, Some(text)) => text.parse().map_err(thrown)?,
            (None, None) => return Err(thrown("say which universe: universe")),
        };
        let items = count(self.items.as_ref(), "items")?
            .ok_or_else(|| thrown("say how many items it will hold at most: items"))?;
        let code = match self.code.as_deref() {
            None | Some("auto") => None,
            Some("egh") => Some(CodeKind::Egh),
            Some("coprime") => Some(CodeKind::Coprime),
            Some("rs") => Some(CodeKind::Rs),
            Some(other) => {
                return Err(thrown(format!("code is auto, egh, coprime or rs (got {other:?})")));
            }
        };
        let plan = ZonePlan::choose(&universe, items, code, self.prefer()?).map_err(thrown)?;
        Ok(if self.counting { plan.counting() } else { plan })
    }
}

impl PrivacyOptions {
    pub(crate) fn epsilon(&self) -> Result<Epsilon, JsValue> {
        let text = self
            .epsilon
            .as_deref()
            .ok_or_else(|| thrown("say what may be lost: epsilon, for example epsilon: 4"))?;
        // A number such as 1e-3 has other digits than a loss.
        text.parse().or_else(|error| match text.parse::<f64>() {
            Ok(number) => Epsilon::try_from(number).map_err(thrown),
            Err(_) => Err(thrown(error)),
        })
    }

    pub(crate) fn plan(&self) -> Result<PrivatePlan, JsValue> {
        let items = count(self.items.as_ref(), "items")?.ok_or_else(|| {
            thrown("say for how many items there is room: items (it becomes public)")
        })?;
        let (epsilon, fp) = (self.epsilon()?, share(self.fp.as_ref(), "fp")?);
        let bits = count(self.bits.as_ref(), "bits")?;
        let hashes = small(self.hashes.as_ref(), "hashes")?;
        let threshold = small(self.threshold.as_ref(), "threshold")?;
        match self.method.as_deref() {
            None | Some("linear") => {
                let of_bloom = [
                    ("bits", bits.is_some()),
                    ("hashes", hashes.is_some()),
                    ("threshold", threshold.is_some()),
                ];
                refuse(&of_bloom, "a linear filter")?;
                let plan = match fp {
                    Some(fp) => LinearPlan::with_fpr(items, epsilon, fp),
                    None => LinearPlan::new(items, epsilon),
                };
                plan.map(PrivatePlan::Linear).map_err(thrown)
            }
            Some("bloom") => {
                let bits = bits.unwrap_or(items.saturating_mul(16));
                let plan = match (hashes, fp) {
                    (Some(_), Some(_)) => {
                        return Err(thrown("fp chooses the hashes; leave hashes or fp out"));
                    }
                    (Some(hashes), None) => RatePlan::from_items_bits(Kind::Bloom, items, bits)
                        .and_then(|bloom| bloom.with_hashes(hashes))
                        .and_then(|bloom| UltraPlan::of_bloom(bloom, epsilon)),
                    (None, Some(fp)) => UltraPlan::with_fpr(items, bits, epsilon, fp),
                    (None, None) => UltraPlan::with_bits(items, bits, epsilon),
                };
                let plan = match threshold {
                    Some(threshold) => plan.and_then(|plan| plan.with_threshold(threshold)),
                    None => plan,
                };
                plan.map(PrivatePlan::Bloom).map_err(thrown)
            }
            Some(other) => Err(thrown(format!("method is linear or bloom (got {other:?})"))),
        }
    }
}
