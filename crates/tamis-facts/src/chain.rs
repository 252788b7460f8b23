//! Filters that grow and filters that forget.

use crate::Integer;
use serde::Serialize;
use tamis::rate::{Kind, Plan as RatePlan, QuotientFilter, RollingPlan, ScalablePlan, Window};
use tamis::{AnyFilter, Error, format::AnyPlan};

/// The facts of a chain, planned or built.
#[derive(Debug, Serialize)]
pub struct ChainFacts {
    promise: &'static str,
    filter: &'static str,
    items: Integer,
    fpr: f64,
    bits: Integer,
    bytes: Integer,
    file_bytes: Integer,
    bits_per_item: f64,
    #[serde(skip_serializing_if = "Option::is_none")]
    first: Option<Integer>,
    #[serde(skip_serializing_if = "Option::is_none")]
    growth: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    window_insertions: Option<Integer>,
    #[serde(skip_serializing_if = "Option::is_none")]
    window_seconds: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    generations: Option<u32>,
    links: Vec<LinkFacts>,
}

#[derive(Debug, Serialize)]
struct LinkFacts {
    items: Integer,
    #[serde(skip_serializing_if = "Option::is_none")]
    len: Option<Integer>,
    bits: Integer,
    counter_bits: u32,
}

impl LinkFacts {
    fn planned(plan: &RatePlan) -> LinkFacts {
        LinkFacts {
            items: plan.items().into(),
            len: None,
            bits: plan.bits().into(),
            counter_bits: plan.counter_bits(),
        }
    }

    fn of(link: &QuotientFilter) -> LinkFacts {
        LinkFacts { len: Some(link.len().into()), ..LinkFacts::planned(link.plan()) }
    }
}

impl ChainFacts {
    fn grown(
        plan: &ScalablePlan,
        items: u64,
        sizes: [u64; 2],
        links: Vec<LinkFacts>,
    ) -> ChainFacts {
        let [bytes, file_bytes] = sizes;
        ChainFacts {
            promise: "rate",
            filter: "scalable",
            items: items.into(),
            fpr: plan.fpr(),
            bits: (8 * bytes).into(),
            bytes: bytes.into(),
            file_bytes: file_bytes.into(),
            bits_per_item: 8.0 * bytes as f64 / items.max(1) as f64,
            first: Some(plan.items().into()),
            growth: plan.growth(),
            window_insertions: None,
            window_seconds: None,
            generations: None,
            links,
        }
    }

    fn rolling(plan: &RollingPlan, sizes: [u64; 2], links: Vec<LinkFacts>) -> ChainFacts {
        let [bytes, file_bytes] = sizes;
        let (insertions, seconds) = match plan.window() {
            Window::Items(items) => (Some(items.into()), None),
            Window::Time(time) => (None, Some(time.as_secs_f64())),
            _ => (None, None),
        };
        ChainFacts {
            promise: "rate",
            filter: "rolling",
            items: plan.items().into(),
            fpr: plan.fpr(),
            bits: (8 * bytes).into(),
            bytes: bytes.into(),
            file_bytes: file_bytes.into(),
            bits_per_item: 8.0 * bytes as f64 / plan.items() as f64,
            first: None,
            growth: None,
            window_insertions: insertions,
            window_seconds: seconds,
            generations: Some(plan.generations()),
            links,
        }
    }

    /// The facts of a chain that was built, if it is one.
    #[must_use]
    pub fn of(any: &AnyFilter) -> Option<ChainFacts> {
        let sizes = [any.plan().bytes(), any.plan().file_bytes()];
        let facts = |links: &[QuotientFilter]| links.iter().map(LinkFacts::of).collect();
        Some(match any.plan() {
            AnyPlan::Scalable { plan, links } => {
                ChainFacts::grown(plan, any.plan().items(), sizes, facts(links))
            }
            AnyPlan::Rolling { plan, links } => ChainFacts::rolling(plan, sizes, facts(links)),
            _ => return None,
        })
    }
}

/// A plan, and what a person should know before building it.
#[derive(Debug, Serialize)]
pub struct ChainReport {
    #[serde(flatten)]
    facts: ChainFacts,
    advice: Vec<String>,
}

impl ChainReport {
    /// A chain that has grown to so many keys.
    pub fn scalable(plan: &ScalablePlan, items: u64) -> Result<ChainReport, Error> {
        let links = plan.links_for(items)?.iter().map(LinkFacts::planned).collect();
        let sizes = [plan.bytes_for(items)?, plan.file_bytes_for(items)?];
        let mut advice = Vec::new();
        if let Ok(bloom) = RatePlan::from_items_fpr(Kind::Bloom, items.max(1), plan.fpr()) {
            advice.push(format!(
                "if so many keys are certain, --filter bloom takes {:.2} bits an item, and a \
                 lookup asks one filter",
                bloom.bits_per_item()
            ));
        }
        Ok(ChainReport { facts: ChainFacts::grown(plan, items, sizes, links), advice })
    }

    /// A chain that forgets.
    #[must_use]
    pub fn rolling(plan: &RollingPlan) -> ChainReport {
        let sizes = [plan.bytes(), plan.file_bytes()];
        ChainReport { facts: ChainFacts::rolling(plan, sizes, Vec::new()), advice: Vec::new() }
    }

    /// The advice, a line each.
    #[must_use]
    pub fn advice(&self) -> &[String] {
        &self.advice
    }
}
