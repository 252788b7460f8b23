//! `tamis plan ... --plot`: the trade-off around a plan.

use crate::picture;
use crate::plan_privacy::PrivatePlan;
use clap::Args;
use std::path::PathBuf;
use tamis::privacy::{Epsilon, LinearPlan, UltraPlan, floor};
use tamis::rate::{Kind, MAX_FPR, MIN_FPR, Plan as RatePlan};
use tamis::zone::{CodeName, Plan as ZonePlan};
use tamis_lab::plot::{Axis, Chart, Curve};

/// Where a drawing goes.
#[derive(Args)]
pub(crate) struct Plot {
    /// Draw the trade-off around the plan as an SVG file; `-` is standard output
    #[arg(long, value_name = "FILE.svg")]
    plot: Option<PathBuf>,
    /// Replace the file of --plot even if it is no SVG
    #[arg(long, requires = "plot")]
    force: bool,
}

impl Plot {
    pub(crate) fn is_wanted(&self) -> bool {
        self.plot.is_some()
    }

    /// Draws the chart if it was asked for.
    pub(crate) fn draw(&self, chart: impl FnOnce() -> Chart) -> anyhow::Result<()> {
        let Some(path) = &self.plot else { return Ok(()) };
        picture::check(path, self.force)?;
        picture::save(path, &chart().svg(), self.force)
    }
}

/// Bits against the rate for as many items, one curve a layout, and the chosen plan.
pub(crate) fn of_rate(plan: &RatePlan) -> Chart {
    let title = format!("Bits against the rate, {} items", plan.items());
    let mut chart = Chart::new(
        &title,
        Axis::log("rate of false positives (share of strangers)"),
        Axis::log("size (bits)"),
    );
    // Two decades either way.
    let rates: Vec<f64> = (-16..=16)
        .map(|step| plan.fpr() * 10f64.powf(f64::from(step) / 8.0))
        .filter(|fpr| (MIN_FPR..=MAX_FPR).contains(fpr))
        .collect();
    for kind in [Kind::Bloom, Kind::Blocked, Kind::Counting] {
        let plans = rates.iter().filter_map(|fpr| {
            let other = RatePlan::from_items_fpr(kind, plan.items(), *fpr).ok()?;
            let same = kind == Kind::Counting && plan.filter() == Kind::Counting;
            let other =
                if same { other.with_counter_bits(plan.counter_bits()).ok()? } else { other };
            Some((*fpr, other.bits() as f64))
        });
        chart.curves.push(Curve::smooth(kind.name(), plans));
    }
    let name = format!("this plan: {} at {}", plan.filter(), crate::output::rate(plan.fpr()));
    chart.curves.push(Curve::rings(&name, [(plan.fpr(), plan.bits() as f64)]));
    chart
}

/// Bits and probes against the items, one curve a code each.
pub(crate) fn of_zone(plan: &ZonePlan) -> Chart {
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
    for code in CodeName::ALL {
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

/// Both errors against epsilon, with the floor.
pub(crate) fn of_privacy(plan: &PrivatePlan) -> Chart {
    let title = format!("Errors against the loss of privacy, {} items", plan.items());
    let mut chart =
        Chart::new(&title, Axis::linear("epsilon of an item"), Axis::log("wrong answers (share)"));
    let own = plan.epsilon().to_f64();
    let epsilons: Vec<Epsilon> = (1..=16)
        .filter_map(|step| Epsilon::try_from((own / 8.0 * f64::from(step)).clamp(0.1, 30.0)).ok())
        .collect();
    chart.curves.push(Curve::smooth(
        "floor of the worse",
        epsilons.iter().map(|e| (e.to_f64(), floor(*e))),
    ));
    let mut errors = |name: &str, of: &dyn Fn(Epsilon) -> Option<(f64, f64)>| {
        let found: Vec<(f64, f64, f64)> = epsilons
            .iter()
            .filter_map(|e| of(*e).map(|(fp, missed)| (e.to_f64(), fp, missed)))
            .collect();
        chart
            .curves
            .push(Curve::line(&format!("{name}, FP"), found.iter().map(|(e, fp, _)| (*e, *fp))));
        chart.curves.push(Curve::line(
            &format!("{name}, FN"),
            found.iter().map(|(e, _, missed)| (*e, *missed)),
        ));
    };
    errors("linear", &|epsilon| {
        let plan = LinearPlan::new(plan.items(), epsilon).ok()?;
        Some((plan.fpr(), plan.fnr()))
    });
    let bits = match plan {
        PrivatePlan::Bloom(plan) => plan.bits(),
        PrivatePlan::Linear(plan) => plan.items().saturating_mul(16),
    };
    errors("bloom under noise", &|epsilon| {
        let plan = UltraPlan::with_bits(plan.items(), bits, epsilon).ok()?;
        Some((plan.fpr(), plan.fnr()))
    });
    let (fp, missed, _) = plan.rates();
    chart.curves.push(Curve::rings("this plan, FP and FN", [(own, fp), (own, missed)]));
    chart
}
