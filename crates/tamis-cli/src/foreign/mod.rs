//! Filters of other programs, as the commands use them.

mod ask;
mod build;
mod info;
mod open;

pub(crate) use ask::{Asker, Groups};
pub(crate) use build::BuildForeign;
pub(crate) use info::{show, show_file};
pub(crate) use open::{Expecting, Found, From, is_filter};

use crate::output::{about, count_of, grouped, rate};
use tamis::Health;
use tamis_foreign::ForeignFilter;

/// What is known of how much a filter holds, in words.
pub(crate) fn contents(filter: &ForeignFilter) -> String {
    let planned = filter.planned();
    let plan = match planned.stored {
        true => format!("{} planned items", grouped(planned.items)),
        false => format!("the {} that its size suits", grouped(planned.items)),
    };
    match filter.estimated_items() {
        items if items.is_finite() => format!("about {} of {plan}", about(items)),
        _ => format!("it is full, and cannot tell how many more it holds than {plan}"),
    }
}

/// What to say of a filter that holds more than it was made for.
pub(crate) fn beyond_warning(filter: &ForeignFilter) -> Option<String> {
    (filter.health() == Health::Beyond).then(|| {
        format!(
            "tamis: warning: the filter is beyond its plan: {} of strangers pass; build one for \
             more than {}",
            rate(filter.expected_fpr()),
            count_of(filter.planned().items, "item")
        )
    })
}
