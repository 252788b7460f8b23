//! The trade-off around a plan: what it costs, and what its neighbours would.

use crate::{Axis, Chart, Curve, percent};
use tamis::privacy::{Epsilon, LinearPlan, UltraPlan, floor};
use tamis::rate::{Kind, MAX_FPR, MIN_FPR, Plan as RatePlan, StaticPlan};
use tamis::zone::{CodeKind, Plan as ZonePlan};

/// Bits against the rate for the same items: one curve for each layout, and the plan itself.
#[must_use]
pub fn of_rate(plan: &RatePlan) -> Chart {
    let width = (plan.filter() == Kind::Counting).then(|| plan.counter_bits());
    let name = format!("this plan: {} at {}", plan.filter(), percent(plan.fpr()));
    rates(plan.items(), plan.fpr(), width, &name, plan.bits())
}

/// The same around the plan of a static filter.
#[must_use]
pub fn of_static(plan: &StaticPlan) -> Chart {
    let name = format!("this plan: static at {}", percent(plan.fpr()));
    rates(plan.items(), plan.fpr(), None, &name, plan.bits())
}

/// The curves of all layouts, and the plan of this name; counters have this width, if there is one.
fn rates(items: u64, fpr: f64, width: Option<u32>, name: &str, bits: u64) -> Chart {
    let title = format!("Bits against the rate, {items} items");
    let mut chart = Chart::new(
        &title,
        Axis::log("rate of false positives (share of strangers)"),
        Axis::log("size (bits)"),
    );
    // Two decades either way.
    let rates: Vec<f64> = (-16..=16)
        .map(|step| fpr * 10f64.powf(f64::from(step) / 8.0))
        .filter(|fpr| (MIN_FPR..=MAX_FPR).contains(fpr))
        .collect();
    for kind in [Kind::Bloom, Kind::Blocked, Kind::Split, Kind::Counting, Kind::Quotient] {
        let plans = rates.iter().filter_map(|fpr| {
            let other = RatePlan::from_items_fpr(kind, items, *fpr).ok()?;
            let other = match width {
                Some(width) if kind == Kind::Counting => other.with_counter_bits(width).ok()?,
                _ => other,
            };
            Some((*fpr, other.bits() as f64))
        });
        chart.curves.push(Curve::smooth(kind.name(), plans));
    }
    let plans = rates.iter().filter_map(|fpr| StaticPlan::new(items, *fpr).ok());
    let plans = plans.map(|plan| (plan.fpr(), plan.bits() as f64));
    chart.curves.push(Curve::smooth("static", plans));
    chart.curves.push(Curve::rings(name, [(fpr, bits as f64)]));
    chart
}

/// Bits and probes against the items: two curves for each code, and the plan itself.
#[must_use]
pub fn of_zone(plan: &ZonePlan) -> Chart {
    let title = format!("Bits and probes against items, {}", plan.universe());
    let mut chart = Chart::new(
        &title,
        Axis::log("most items d"),
        Axis::log("size (bits), and probes a lookup"),
    );
    let mut items: Vec<u64> = [1, 2, 3, 4, 6, 8]
        .iter()
        .flat_map(|eighth| [plan.items() * eighth / 4, plan.items() * eighth / 8])
        .collect();
    items.extend([1, plan.items()]);
    items.retain(|items| *items > 0);
    items.sort_unstable();
    items.dedup();
    let mut probes = Vec::new();
    for code in CodeKind::ALL {
        let plans: Vec<ZonePlan> = items
            .iter()
            .filter_map(|items| ZonePlan::with_code(plan.universe().clone(), *items, code).ok())
            .map(|other| if plan.is_counting() { other.counting() } else { other })
            .collect();
        let curve = |what, of: fn(&ZonePlan) -> u64| {
            let points = plans.iter().map(|plan| (plan.items() as f64, of(plan) as f64));
            Curve::line(&format!("{code}, {what}"), points)
        };
        chart.curves.push(curve("bits", ZonePlan::bits));
        probes.push(curve("probes", ZonePlan::probes));
    }
    chart.curves.extend(probes);
    let own =
        [(plan.items() as f64, plan.bits() as f64), (plan.items() as f64, plan.probes() as f64)];
    chart.curves.push(Curve::rings(&format!("this plan: {}", plan.code()), own));
    chart
}

/// Both errors of a linear filter against epsilon, with the floor that no filter goes below.
#[must_use]
pub fn of_linear(plan: &LinearPlan) -> Chart {
    // A Bloom filter under noise has no natural size: 16 bits an item are usual.
    let bits = plan.items().saturating_mul(16);
    errors(plan.items(), plan.epsilon(), bits, (plan.fpr(), plan.fnr()))
}

/// Both errors of a Bloom filter under noise against epsilon, with the floor that no filter goes
/// below.
#[must_use]
pub fn of_ultra(plan: &UltraPlan) -> Chart {
    errors(plan.items(), plan.epsilon(), plan.bits(), (plan.fpr(), plan.fnr()))
}

fn errors(items: u64, epsilon: Epsilon, bits: u64, (fpr, fnr): (f64, f64)) -> Chart {
    let title = format!("Errors against the loss of privacy, {items} items");
    let mut chart =
        Chart::new(&title, Axis::linear("epsilon of an item"), Axis::log("wrong answers (share)"));
    let own = epsilon.to_f64();
    let epsilons: Vec<Epsilon> = (1..=16)
        .filter_map(|step| Epsilon::try_from((own / 8.0 * f64::from(step)).clamp(0.1, 30.0)).ok())
        .collect();
    let least = epsilons.iter().map(|e| (e.to_f64(), floor(*e)));
    chart.curves.push(Curve::smooth("floor of the worse", least));
    let mut method = |name: &str, rates: &dyn Fn(Epsilon) -> Option<(f64, f64)>| {
        let found: Vec<(f64, f64, f64)> = epsilons
            .iter()
            .filter_map(|e| rates(*e).map(|(fpr, fnr)| (e.to_f64(), fpr, fnr)))
            .collect();
        let fpr = found.iter().map(|(e, fpr, _)| (*e, *fpr));
        chart.curves.push(Curve::line(&format!("{name}, FP"), fpr));
        let fnr = found.iter().map(|(e, _, fnr)| (*e, *fnr));
        chart.curves.push(Curve::line(&format!("{name}, FN"), fnr));
    };
    method("linear", &|epsilon| {
        let plan = LinearPlan::new(items, epsilon).ok()?;
        Some((plan.fpr(), plan.fnr()))
    });
    method("bloom under noise", &|epsilon| {
        let plan = UltraPlan::with_bits(items, bits, epsilon).ok()?;
        Some((plan.fpr(), plan.fnr()))
    });
    chart.curves.push(Curve::rings("this plan, FP and FN", [(own, fpr), (own, fnr)]));
    chart
}
