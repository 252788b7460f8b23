//! Listing within the zone and far beyond it.

use arbitrary::{Arbitrary, Unstructured};
use std::collections::BTreeSet;
use tamis::zone::{CodeKind, CountingFilter, Filter, Method, Plan, Universe};

type Case = (u16, u8, u8, Vec<u16>, Vec<u16>);

/// Checks one input.
pub fn check(bytes: &[u8]) {
    let Ok(case) = Case::arbitrary_take_rest(Unstructured::new(bytes)) else { return };
    let (size, items, code, inserted, removed) = case;
    let Ok(universe) = Universe::sized(u128::from(size) + 1) else { return };
    let code = CodeKind::ALL[usize::from(code) % 3];
    let Ok(plan) = Plan::with_code(universe, u64::from(items % 12) + 1, code) else { return };
    let (Ok(mut bits), Ok(mut counters)) =
        (Filter::with_plan(plan.clone()), CountingFilter::with_plan(plan))
    else {
        return;
    };
    let mut model = BTreeSet::new();
    for number in
        inserted.into_iter().map(u128::from).filter(|number| *number <= u128::from(size)).take(60)
    {
        model.insert(number);
        assert!(
            bits.insert_number(number, true).is_ok()
                && counters.insert_number(number, true).is_ok()
        );
    }
    let exact = model.len() as u64 <= bits.plan().items();
    assert_eq!(exact, bits.health() == tamis::Health::Within);
    if let Ok(list) = bits.list() {
        assert!(model.iter().all(|number| list.numbers.binary_search(number).is_ok()));
        assert!(!exact || list.numbers.iter().copied().eq(model.iter().copied()));
    }
    for method in [Method::Join, Method::Algebra, Method::Peel, Method::Sturm] {
        if method == Method::Sturm && size > 2_000 {
            continue;
        }
        if let Ok(list) = counters.list_by(method) {
            assert!(model.iter().all(|number| list.numbers.binary_search(number).is_ok()));
        }
    }
    for number in removed.into_iter().map(u128::from) {
        let there = counters.contains_number(number).unwrap_or(false);
        assert!(counters.remove_number(number).is_ok() <= there);
        if exact && there {
            assert!(model.remove(&number));
        }
    }
    if exact {
        assert!(
            (0..=u128::from(size))
                .step_by(7)
                .all(|n| counters.contains_number(n).ok() == Some(model.contains(&n)))
        );
    }
}
