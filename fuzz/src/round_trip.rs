//! What is written is read.

use arbitrary::{Arbitrary, Unstructured};
use std::time::Duration;
use tamis::privacy::{LinearFilter, LinearPlan, Receipt, UltraFilter, UltraPlan};
use tamis::rate::{Kind, Plan, RollingPlan, ScalablePlan};
use tamis::zone::{CodeKind, CountingFilter, Universe};
use tamis::{
    AnyFilter, BlockedBloom, Bloom, CountingBloom, Error, HashFamily, Open, Promise,
    QuotientFilter, Rolling, Scalable, SecretKey, SplitBloom,
};

type Case = (u8, u8, u16, Vec<Vec<u8>>);

/// Checks one input.
pub fn check(bytes: &[u8]) {
    let Ok(case) = Case::arbitrary_take_rest(Unstructured::new(bytes)) else { return };
    let (kind, family, items, keys) = case;
    let secret = || SecretKey::new(b"0123456789abcdef").ok();
    let hash = match family % 4 {
        0 => HashFamily::fast(u64::from(family)),
        1 => secret().map(HashFamily::keyed).unwrap_or_default(),
        2 => HashFamily::sha256_md5(),
        _ => HashFamily::prefixed(),
    };
    let keyed = hash.name() == "keyed";
    let items = u64::from(items) + 1;
    let rate = f64::from(family / 4 + 1) / 70.0;
    let plan = |kind| Plan::from_items_fpr(kind, items, rate).ok();
    let mut all_pass = true;
    let filter: Option<AnyFilter> = match kind % 11 {
        0 => plan(Kind::Bloom)
            .and_then(|plan| Bloom::with_plan(plan, hash).ok())
            .map(AnyFilter::from),
        1 => plan(Kind::Blocked)
            .and_then(|plan| BlockedBloom::with_plan(plan, hash).ok())
            .map(AnyFilter::from),
        2 => plan(Kind::Counting)
            .and_then(|plan| CountingBloom::with_plan(plan, hash).ok())
            .map(AnyFilter::from),
        6 => plan(Kind::Split)
            .and_then(|plan| SplitBloom::with_plan(plan, hash).ok())
            .map(AnyFilter::from),
        7 => plan(Kind::Quotient)
            .and_then(|plan| QuotientFilter::with_plan(plan, hash).ok())
            .map(AnyFilter::from),
        8 => ScalablePlan::new(items, rate)
            .and_then(|plan| plan.with_growth(1 + u32::from(family)))
            .and_then(|plan| Scalable::with_plan(plan, hash))
            .ok()
            .map(AnyFilter::from),
        9 | 10 => {
            // Keys that left the window need not pass.
            all_pass = keys.len() as u64 <= items;
            let plan = match kind % 11 {
                9 => RollingPlan::last_items(items, rate),
                _ => RollingPlan::last_time(Duration::from_nanos(items), items, rate),
            };
            let plan = plan.and_then(|plan| plan.with_generations(2 + u32::from(family) / 4));
            plan.and_then(|plan| Rolling::with_plan(plan, hash)).ok().map(AnyFilter::from)
        }
        3 => {
            let universe = Universe::dictionary(&keys).ok();
            let plan = universe
                .and_then(|u| tamis::zone::Plan::with_code(u, items.min(9), CodeKind::Rs).ok());
            plan.and_then(|plan| CountingFilter::with_plan(plan).ok()).map(AnyFilter::from)
        }
        other => {
            all_pass = false;
            let epsilon = "1.5".parse().ok();
            match (other, epsilon) {
                (4, Some(e)) => LinearPlan::new(items, e)
                    .ok()
                    .and_then(|plan| {
                        LinearFilter::publish(plan, &keys, Receipt::unrecorded(e)).ok()
                    })
                    .map(AnyFilter::from),
                (_, Some(e)) => UltraPlan::new(items, e)
                    .ok()
                    .and_then(|plan| UltraFilter::new(plan).ok())
                    .map(|mut private| {
                        private.insert_many(&keys);
                        private
                    })
                    .and_then(|private| private.publish(Receipt::unrecorded(e)).ok())
                    .map(AnyFilter::from),
                _ => None,
            }
        }
    };
    let Some(mut filter) = filter else { return };
    if filter.promise() == Promise::Rate {
        match filter.insert_many(&keys) {
            // It holds some of them.
            Err(Error::NoSlot { .. } | Error::ChainFull { .. }) => all_pass = false,
            inserted => drop(inserted.expect("a rate filter takes any key")),
        }
    }
    (0..keys.len() as u128).for_each(|number| drop(filter.insert_number(number, true)));
    let bytes = filter.to_bytes();
    let mut options = Open::new();
    if keyed && filter.promise() == Promise::Rate {
        options = options.key(secret().expect("a secret"));
    }
    if filter.promise() == Promise::Zone {
        options = options.dictionary(Universe::dictionary(&keys).expect("it was one"));
    }
    let read = options.bytes(&bytes).expect("what was written is read");
    assert_eq!(read, filter);
    if all_pass {
        assert!(keys.iter().all(|key| read.contains(key).expect("a member")));
    }
}
