//! What is known of how much a filter holds.

use crate::output::{about, grouped, rate};
use std::fmt;
use tamis::{AnyFilter, Health};

/// What is known of how much a filter holds.
pub(crate) struct Contents {
    /// The items held: exact, or an estimate.
    pub(crate) items: f64,
    pub(crate) exact: bool,
    pub(crate) planned: u64,
    /// Whether it holds keys beyond its window, which are not too many.
    forgets: bool,
}

impl Contents {
    pub(crate) fn of(filter: &AnyFilter) -> Contents {
        match filter.estimated_items() {
            Some(items) => Contents {
                items,
                exact: filter.len_is_exact(),
                planned: filter.plan().items(),
                forgets: matches!(filter, AnyFilter::Rolling(_)),
            },
            None => Contents { items: 0.0, exact: true, planned: 0, forgets: false },
        }
    }
}

impl fmt::Display for Contents {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let items = if self.planned == 1 { "item" } else { "items" };
        let planned = format!("{} planned {items}", grouped(self.planned));
        match self.items {
            items if !items.is_finite() => {
                write!(out, "it is full, and cannot tell how many more it holds than {planned}")
            }
            items if self.forgets => write!(out, "about {} remembered", about(items)),
            items if self.exact => write!(out, "{} of {planned}", about(items)),
            items => write!(out, "about {} of {planned}", about(items)),
        }
    }
}

/// What a zone filter promises, in words.
pub(crate) fn zone_promise(filter: &AnyFilter) -> String {
    match filter.health() {
        Health::Within => "nobody is answered wrongly".to_owned(),
        Health::Beyond => {
            format!(
                "items always pass; of other elements, about {} do",
                rate(filter.expected_fpr())
            )
        }
    }
}
