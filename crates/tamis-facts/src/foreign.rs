//! Filters of other programs.

use crate::Integer;
use serde::Serialize;
use tamis_foreign::{ForeignFilter, Part};

/// What is known of a filter.
#[derive(Debug, Serialize)]
pub struct ForeignInfo {
    format: &'static str,
    program: &'static str,
    variant: String,
    health: String,
    estimated_items: f64,
    counted_items: Option<Integer>,
    items: Integer,
    fpr: f64,
    plan_is_stored: bool,
    bits: Integer,
    fill: f64,
    fpr_now: f64,
    data_bytes: Integer,
    parts: Vec<PartFacts>,
}

impl ForeignInfo {
    /// What is known of a filter.
    #[must_use]
    pub fn new(filter: &ForeignFilter) -> ForeignInfo {
        let planned = filter.planned();
        ForeignInfo {
            format: filter.format().name(),
            program: filter.format().program(),
            variant: filter.variant(),
            health: filter.health().to_string(),
            estimated_items: filter.estimated_items(),
            counted_items: filter.counted_items().map(Integer::from),
            items: planned.items.into(),
            fpr: planned.fpr,
            plan_is_stored: planned.stored,
            bits: filter.bits().into(),
            fill: filter.fill(),
            fpr_now: filter.expected_fpr(),
            data_bytes: (filter.data().len() as u64).into(),
            parts: filter.parts().iter().map(PartFacts::new).collect(),
        }
    }
}

#[derive(Debug, Serialize)]
struct PartFacts {
    bits: Integer,
    hashes: u32,
    fill: f64,
    estimated_items: f64,
    counted_items: Option<Integer>,
    items: Integer,
    fpr: f64,
    fpr_now: f64,
}

impl PartFacts {
    fn new(part: &Part<'_>) -> PartFacts {
        let planned = part.planned();
        PartFacts {
            bits: part.bits.into(),
            hashes: part.hashes,
            fill: part.fill(),
            estimated_items: part.estimated_items(),
            counted_items: part.counted.map(Integer::from),
            items: planned.items.into(),
            fpr: planned.fpr,
            fpr_now: part.expected_fpr(),
        }
    }
}
