//! On the same strings: what other filters achieve at the same loss of privacy for an item.

use super::mechanism::{Rates, Score};
use super::sets::Sets;
use crate::Notebook;
use crate::threads::in_order;
use tamis::privacy::{Epsilon, LinearFilter, LinearPlan, UltraFilter, UltraPlan};
use tamis::rate::{Kind, Plan};
use tamis::{Bloom, HashFamily};

/// The losses compared.
const EPSILONS: [f64; 5] = [1.0, 2.0, 3.0, 4.0, 5.0];

/// Each filter's rates at each loss, as series: private filters, next to the two ends between which
/// they lie.
pub(super) fn compare(book: &mut Notebook, sets: &Sets) {
    // No epsilon-private filter can have both rates below 1/(e^epsilon + 1) (Patel, Persiano, Seo,
    // Yeo, NeurIPS 2024).
    let least = |epsilon: f64| 1.0 / (epsilon.exp() + 1.0);
    let bound = EPSILONS
        .map(|epsilon| (epsilon, Rates { positive: least(epsilon), negative: least(epsilon) }));
    series(book, "1/(e^epsilon + 1), below which no private filter has both rates", &bound);
    let plain = measure(sets, |keys, _| {
        let mut filter = Plan::from_items_bits(Kind::Bloom, sets.size.items, sets.size.bits)
            .and_then(|plan| Bloom::with_plan(plan, HashFamily::default()))
            .ok()?;
        filter.insert_many(keys);
        Some(move |key: &str| filter.contains(key))
    });
    series(book, "Bloom filter of the paper's size without any privacy", &plain);
    let (items, bits) = (sets.size.items, sets.size.bits);
    let ten = measure(sets, |keys, epsilon| {
        let bloom = Plan::from_items_bits(Kind::Bloom, items, bits)
            .and_then(|plan| plan.with_hashes(10))
            .ok()?;
        released(UltraPlan::of_bloom(bloom, Epsilon::try_from(epsilon).ok()?).ok()?, keys)
    });
    series(
        book,
        "UltraFilter made right, of the paper's size and ten hashes, with the best threshold",
        &ten,
    );
    let best = measure(sets, |keys, epsilon| {
        released(UltraPlan::with_bits(items, bits, Epsilon::try_from(epsilon).ok()?).ok()?, keys)
    });
    series(
        book,
        "UltraFilter made right, of the paper's size, with the best hashes and threshold",
        &best,
    );
    let linear = measure(sets, |keys, epsilon| {
        let plan = LinearPlan::new(items, Epsilon::try_from(epsilon).ok()?).ok()?;
        let filter = LinearFilter::rehearse(plan, keys, SEED).ok()?;
        Some(move |key: &str| filter.contains(key))
    });
    series(book, "linear filter", &linear);
}

/// The seed of the releases, so that every run gives the same numbers.
const SEED: u64 = 2025;

fn released(plan: UltraPlan, keys: &[String]) -> Option<impl Fn(&str) -> bool + use<>> {
    let mut private = UltraFilter::with_hash(plan, HashFamily::fast(SEED)).ok()?;
    private.insert_many(keys);
    let public = private.rehearse(SEED).ok()?;
    Some(move |key: &str| public.contains(key))
}

/// The rates of the filters that `build` makes of all members for each epsilon; a filter that it
/// cannot make is left out.
fn measure<A: Fn(&str) -> bool>(
    sets: &Sets,
    build: impl Fn(&[String], f64) -> Option<A> + Sync,
) -> Vec<(f64, Rates)> {
    let members = sets.member_strings();
    let rates = |epsilon: f64| {
        let contains = build(&members, epsilon)?;
        let score = Score {
            each: sets.size.items,
            strangers_passed: sets.stranger_strings().filter(|key| contains(key)).count() as u64,
            members_missed: members.iter().filter(|key| !contains(key)).count() as u64,
        };
        Some((epsilon, score.rates()))
    };
    in_order(EPSILONS.len(), |job| rates(EPSILONS[job])).into_iter().flatten().collect()
}

fn series(book: &mut Notebook, name: &str, rates: &[(f64, Rates)]) {
    let mut draw = |what, of: fn(Rates) -> f64| {
        let points = rates.iter().map(|(epsilon, rates)| (*epsilon, of(*rates)));
        book.series(format!("Beyond the paper, {name}"), "epsilon of an item", what, points);
    };
    draw("FP", |rates| rates.positive);
    draw("FN", |rates| rates.negative);
    draw("F1", Rates::f1);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ultrafilter::sets::Size;

    #[test]
    fn rates_are_of_the_filter_built() {
        let sets = Sets::new(Size { items: 1000, bits: 16_384 });
        // It forgets the members of epsilon 2, knows those of 3, and lets everything pass
        // otherwise.
        let rates = measure(&sets, |keys, epsilon| {
            let keys: std::collections::HashSet<String> = keys.iter().cloned().collect();
            (epsilon < 5.0).then_some(move |key: &str| match epsilon {
                2.0 => false,
                3.0 => keys.contains(key),
                _ => true,
            })
        });
        let expected = [(1.0, 1.0, 0.0), (2.0, 0.0, 1.0), (3.0, 0.0, 0.0), (4.0, 1.0, 0.0)];
        assert_eq!(
            rates,
            expected.map(|(epsilon, positive, negative)| (epsilon, Rates { positive, negative }))
        );
    }
}
