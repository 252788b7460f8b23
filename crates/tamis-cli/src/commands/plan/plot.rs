//! `tamis plan ... --plot`: the trade-off around a plan.

use crate::output::{Content, Destination, output_path};
use clap::Args;
use std::path::PathBuf;
use tamis_facts::PrivatePlan;
use tamis_plot::{Chart, tradeoff};

/// Where a drawing goes.
#[derive(Args)]
pub(crate) struct Plot {
    /// Draw the trade-off around the plan as an SVG file; `-` is standard output
    #[arg(long, value_name = "FILE.svg", value_parser = output_path())]
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
        let destination = Destination::new(path, Content::Drawing, self.force, [])?;
        destination.create()?.save_text(&tamis_plot::standalone(&chart().svg()))
    }
}

/// Both errors against epsilon, with the floor.
pub(crate) fn of_privacy(plan: &PrivatePlan) -> Chart {
    match plan {
        PrivatePlan::Linear(plan) => tradeoff::of_linear(plan),
        PrivatePlan::Bloom(plan) => tradeoff::of_ultra(plan),
    }
}
