//! All that can be done with a filter, whatever file it came from.

use std::sync::OnceLock;
use tamis::format::AnyPlan;
use tamis::zone::Method;
use tamis::{AnyFilter, Error, KeyRef, Promise};

/// Looks at everything.
pub(crate) fn ask(filter: &AnyFilter, sturm: bool) {
    let keys = [
        KeyRef::Bytes(b""),
        KeyRef::Bytes(b"key 1"),
        KeyRef::Bytes(b"colour 3"),
        KeyRef::Bytes(b"10.0.0.1"),
        KeyRef::Natural(0),
        KeyRef::Natural(1_999),
        KeyRef::Natural(u64::MAX),
        KeyRef::Negative(u64::MAX),
        KeyRef::Negative(1 << 63),
    ];
    let one_by_one: Vec<Option<bool>> = keys.iter().map(|key| filter.contains(key).ok()).collect();
    if let Ok(together) = filter.contains_many(&keys) {
        let together: Vec<Option<bool>> = together.into_iter().map(Some).collect();
        assert_eq!(together, one_by_one);
    }
    let rates = [filter.expected_fpr(), filter.expected_fnr()];
    assert!(rates.iter().all(|rate| (0.0..=1.0).contains(rate)), "{rates:?}");
    let _ = (filter.health(), filter.promise(), filter.kind(), format!("{filter:?}").len());
    assert!(filter.estimated_items().unwrap_or(0.0) >= 0.0);
    assert!((0.0..=1.0).contains(&filter.fill()));
    let plan = filter.plan();
    // Of all filters, a static one may be planned for nothing.
    let items = plan.items() > 0 || matches!(plan, AnyPlan::Static(_));
    // A chain that has forgotten everything has no body.
    let body = plan.bits() > 0 || matches!(plan, AnyPlan::Rolling { links: [], .. });
    assert!(plan.fpr() <= 1.0 && items && body);
    assert_eq!(filter.epsilon().is_some(), filter.promise() == Promise::Privacy);
    if let AnyPlan::Zone(plan) = plan {
        let _ = (filter.len(), filter.is_empty(), filter.len_is_exact());
        assert!(plan.items() <= plan.zone() && !plan.certificate().is_empty());
        for method in
            [Method::Join, Method::Algebra].into_iter().chain(sturm.then_some(Method::Sturm))
        {
            if let Ok(list) = filter.list_by(method) {
                for number in list.numbers {
                    assert!(plan.universe().size().holds(number));
                }
            }
        }
    }
}

/// Looks at everything, writes and reads it again, merges and changes it.
pub(crate) fn exercise(
    name: &str,
    mut filter: AnyFilter,
    open: fn(&[u8]) -> Result<AnyFilter, Error>,
    sturm: bool,
) {
    ask(&filter, sturm);
    let written = filter.to_bytes();
    assert_eq!(
        open(&written).unwrap_or_else(|e| panic!("{name}, written again: {e}")),
        filter,
        "{name}"
    );
    let mut merged = filter.clone();
    if merged.union(&filter).is_ok() {
        ask(&merged, false);
    }
    let mut common = filter.clone();
    if common.intersect(&merged).is_ok() {
        ask(&common, false);
    }
    static OTHERS: OnceLock<Vec<AnyFilter>> = OnceLock::new();
    for other in OTHERS.get_or_init(|| {
        super::files::golden().iter().filter_map(|(_, bytes)| open(bytes).ok()).collect()
    }) {
        let _ = merged.union(other);
        let _ = common.intersect(other);
    }
    for key in ["key 1", "absent"] {
        let _ = filter.remove(key);
    }
    if filter.promise() == Promise::Rate {
        match filter.insert("new") {
            Err(Error::NoSlot { .. }) => assert_eq!(filter.kind(), "quotient", "{name}"),
            Ok(_) => assert!(filter.contains("new").unwrap(), "{name}"),
            // A chain whose next link cannot be.
            Err(
                Error::ChainFull { .. }
                | Error::Memory { .. }
                | Error::RateTooLow { .. }
                | Error::TooManyBits { .. },
            ) if ["scalable", "rolling"].contains(&filter.kind()) => {}
            Err(error) => assert_eq!(filter.kind(), "static", "{name}: {error}"),
        }
        assert!(matches!(filter.list(), Err(Error::Unsupported { .. })), "{name}");
    }
    for number in [0, 1, 7, u128::MAX] {
        let _ = filter.remove_number(number);
    }
    if let AnyPlan::Zone(plan) = filter.plan() {
        let blocks = plan.probes();
        for (number, beyond) in [(0, false), (1, false), (3, true), (47, true), (u128::MAX, true)] {
            if filter.insert_number(number, beyond).is_ok() {
                assert_eq!(filter.contains_number(number).ok(), Some(true), "{name}");
            }
        }
        let _ = filter.shrink(blocks.saturating_sub(1));
        let _ = filter.shrink_for(1);
        let _ = filter.grow(blocks + 1);
    }
    ask(&filter, false);
}
