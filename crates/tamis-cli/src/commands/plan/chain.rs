//! Filters that grow and filters that forget: what is said of their plans, and of themselves.

use super::rate::Size;
use crate::output::{Report, count_of, grouped, rate};
use anyhow::{Context, bail};
use serde::Serialize;
use std::time::Duration;
use tamis::rate::{RollingPlan, ScalablePlan, Window};
use tamis_facts::ChainReport;

/// The keys of the first link, unless asked otherwise: a small beginning.
const FIRST: u64 = 1_000;

impl Size {
    /// The plan of a filter that grows.
    pub(crate) fn scalable_plan(&self) -> anyhow::Result<ScalablePlan> {
        self.check_chain()?;
        let plan = ScalablePlan::new(self.first.unwrap_or(FIRST), self.fpr.unwrap_or(0.01))?;
        Ok(self.growth.map_or(Ok(plan), |growth| plan.with_growth(growth))?)
    }

    /// The plan of a filter that forgets.
    pub(crate) fn rolling_plan(&self) -> anyhow::Result<RollingPlan> {
        self.check_chain()?;
        let window = self
            .window
            .context("say what --filter rolling remembers: --window 1e8 (keys) or --window 24h")?;
        rolling_plan(window, self.items, self.fpr.unwrap_or(0.01))
    }
}

/// The plan of a filter that forgets. A window of time needs a number of items.
pub(crate) fn rolling_plan(
    window: Window,
    items: Option<u64>,
    fpr: f64,
) -> anyhow::Result<RollingPlan> {
    Ok(match (window, items) {
        (Window::Time(time), Some(items)) => RollingPlan::last_time(time, items, fpr)?,
        (Window::Time(_), None) => {
            bail!("say how many keys a window of time holds at most: --items N")
        }
        (Window::Items(window), None) => RollingPlan::last_items(window, fpr)?,
        (Window::Items(window), Some(items)) if items == window => {
            RollingPlan::last_items(window, fpr)?
        }
        _ => bail!("the window counts keys; leave --items out"),
    })
}

/// A window in words.
pub(crate) fn window_text(window: Window) -> String {
    match window {
        Window::Items(items) => count_of(items, "insertion"),
        Window::Time(time) => time_text(time),
        _ => "its window".to_owned(),
    }
}

fn time_text(time: Duration) -> String {
    let nanoseconds = time.as_nanos();
    let units: [(&str, u128); 4] = [
        ("day", 86_400_000_000_000),
        ("hour", 3_600_000_000_000),
        ("minute", 60_000_000_000),
        ("second", 1_000_000_000),
    ];
    let whole = units.into_iter().find(|(_, unit)| nanoseconds.is_multiple_of(*unit));
    whole.map_or_else(
        || format!("{time:?}"),
        |(name, unit)| count_of(u64::try_from(nanoseconds / unit).unwrap_or(u64::MAX), name),
    )
}

/// What a plan of a chain says.
#[derive(Serialize)]
pub(crate) struct ChainPlan {
    #[serde(flatten)]
    report: ChainReport,
    #[serde(skip)]
    text: String,
}

impl ChainPlan {
    /// A chain that has grown to so many keys.
    pub(crate) fn scalable(plan: &ScalablePlan, items: u64) -> anyhow::Result<ChainPlan> {
        let links = plan.links_for(items)?;
        let (bytes, file_bytes) = (plan.bytes_for(items)?, plan.file_bytes_for(items)?);
        let bits_per_item = 8.0 * bytes as f64 / items.max(1) as f64;
        let text = format!(
            "A scalable filter at a rate of {}, for as many keys as come\n\
             first     {}; each next link holds {} times as many\n\
             size      with {}: {}, {} ({} with the file's header), {:.2} bits an item\n\
             expected  fewer than {} of strangers pass, however many keys come",
            rate(plan.fpr()),
            count_of(plan.items(), "key"),
            plan.growth().unwrap_or(1),
            count_of(items, "key"),
            count_of(links.len() as u64, "link"),
            count_of(bytes, "byte"),
            grouped(file_bytes),
            bits_per_item,
            rate(plan.fpr()),
        );
        Ok(ChainPlan { report: ChainReport::scalable(plan, items)?, text })
    }

    /// A chain that forgets.
    pub(crate) fn rolling(plan: &RollingPlan) -> ChainPlan {
        let text = format!(
            "A rolling filter that remembers the last {}{}, at a rate of {}\n\
             size      {} ({} with the file's header), {:.2} bits an item\n\
             layout    {} generations; the oldest is forgotten when a new one begins\n\
             expected  fewer than {} of strangers pass while no window holds more keys",
            window_text(plan.window()),
            match plan.window() {
                Window::Time(_) => format!(", up to {}", count_of(plan.items(), "key")),
                _ => String::new(),
            },
            rate(plan.fpr()),
            count_of(plan.bytes(), "byte"),
            grouped(plan.file_bytes()),
            plan.bits_per_item(),
            plan.generations(),
            rate(plan.fpr()),
        );
        ChainPlan { report: ChainReport::rolling(plan), text }
    }
}

impl Report for ChainPlan {
    fn text(&self) -> String {
        let advice = self.report.advice().iter().map(|line| format!("\nadvice    {line}"));
        self.text.clone() + &advice.collect::<String>()
    }
}
