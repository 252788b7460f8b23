//! The Python package `tamis`: the library's filters, plans and files.
//!
//! This crate translates and never computes: every answer comes from the library.
//!
//! | file | what it holds |
//! |---|---|
//! | `keys` | Python objects become keys |
//! | `bulk` | many keys at a time, from any source |
//! | `columns/` | NumPy arrays and Arrow columns, read where they lie |
//! | `answers` | what `contains_many` gives back |
//! | `filter` | the base class: files, pickles, comparisons |
//! | `foreign` | filters of other programs |
//! | `guarded` | a value that Python threads share |
//! | `rate`, `zone`, `privacy`, `concurrent` | the classes of filters |
//! | `parts` | a filter that several processes build |
//! | `plan` | plans |
//! | `notebook` | one line, and a page for notebooks |
//! | `errors` | the library's errors as exceptions |

mod answers;
mod bulk;
mod columns;
mod concurrent;
mod errors;
mod filter;
mod foreign;
mod guarded;
mod keys;
mod notebook;
mod parts;
mod plan;
mod privacy;
mod rate;
mod zone;

/// The level of the kernels on this machine: `scalar`, `avx2`, `avx512` or `neon`.
#[pyo3::pyfunction]
fn processor_level() -> &'static str {
    tamis::processor_level()
}

#[pyo3::pymodule]
mod _tamis {
    #[pymodule_export]
    #[allow(non_upper_case_globals)] // Python's name
    const __version__: &str = env!("CARGO_PKG_VERSION");
    #[pymodule_export]
    use super::answers::Booleans;
    #[pymodule_export]
    use super::concurrent::ConcurrentBloom;
    #[pymodule_export]
    use super::filter::{_restore, Filter, open};
    #[pymodule_export]
    use super::foreign::ForeignFilter;
    #[pymodule_export]
    use super::parts::{_parts, Parts};
    #[pymodule_export]
    use super::plan::{Plan, PrivacyPlan, RatePlan, ZonePlan, plan_privacy, plan_rate, plan_zone};
    #[pymodule_export]
    use super::privacy::{Ledger, LedgerEntry, LinearFilter, PublicBloom, publish};
    #[pymodule_export]
    use super::processor_level;
    #[pymodule_export]
    use super::rate::{
        BlockedBloom, Bloom, CountingBloom, MutableFilter, QuotientFilter, ScalableBloom,
        SplitBloom, StaticFilter,
    };
    #[pymodule_export]
    use super::zone::{CountingZoneFilter, Universe, ZoneFilter};
}
