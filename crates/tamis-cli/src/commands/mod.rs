//! The commands, one file each.

mod add;
mod audit;
mod build;
mod completions;
mod dedup;
#[cfg(feature = "explore")]
mod explore;
mod info;
mod join;
mod ledger;
mod list;
mod man;
mod measure;
mod merge;
mod overlap;
mod plan;
mod publish;
mod query;
mod remove;
#[cfg(feature = "lab")]
mod reproduce;
mod resize;
mod show;

use clap::{Parser, Subcommand};

/// Is this key in the set? An answer from a small sketch, with a promise that you choose.
///
/// The rate promise: members always pass, and of strangers only the share you allow.
/// The zone promise: in a finite universe, up to d items, nobody is answered wrongly; the filter
/// can list what it holds. The privacy promise: what is published says of any one item at most a
/// factor e^epsilon.
#[derive(Parser)]
#[command(name = "tamis", version, max_term_width = 100, after_help = EXAMPLES)]
pub struct Cli {
    #[command(subcommand)]
    command: Command,
}

const EXAMPLES: &str = "\
Examples:
  How large will it be?         tamis plan rate --items 1e6 --fpr 0.01
  Make a filter of a list:      tamis build rate --fpr 0.01 -o seen.tamis seen.txt
  Which lines may be in it?     tamis query seen.tamis new.txt
  Which are certainly not?      tamis query -v seen.tamis new.txt
  From a pipe, CSV in:          zcat log.csv.gz | tamis query seen.tamis --csv email -
  Each line once, in order:     tamis dedup log.txt > once.txt
  What does it hold now?        tamis info seen.tamis
  Never wrong, up to 4 hosts:   tamis build zone --universe ipv4 --items 4 -o hosts.tamis hosts.txt
  What does that one hold?      tamis list hosts.tamis
  A list that may be shared:    tamis build privacy --items 1e4 --epsilon 4 -o public.tamis list.txt
  How often is it wrong?        tamis measure seen.tamis --members seen.txt --strangers other.txt

Numbers: 1000000, 1_000_000, 1e6, 1M (k, M, G, T: thousands and so on), 2^20.
Sizes also: 64MB (the same), 1.5GiB (a power of 1024).
Exit codes: 0 something was found or done, 1 nothing passed, 2 an error.
Each command explains itself: tamis help build rate";

#[derive(Subcommand)]
enum Command {
    Plan(plan::Plan),
    Build(build::Build),
    Query(query::Query),
    Add(add::Add),
    Remove(remove::Remove),
    List(list::List),
    Info(info::Info),
    Show(show::Show),
    Measure(measure::Measure),
    Dedup(dedup::Dedup),
    Union(merge::Union),
    Intersect(merge::Intersect),
    Join(join::Join),
    /// Make a zone filter longer, so that its zone is larger
    ///
    /// The filter lists itself for that, so it must be within its zone.
    #[command(after_help = resize::GROW_EXAMPLES)]
    Grow(resize::Resize),
    /// Make a zone filter shorter, and its zone smaller
    ///
    /// If it holds more than the smaller zone allows, strangers may pass, and the filter says so
    /// from then on.
    #[command(after_help = resize::SHRINK_EXAMPLES)]
    Shrink(resize::Resize),
    Publish(publish::Publish),
    Overlap(overlap::OverlapOf),
    Ledger(ledger::Ledger),
    Audit(audit::Audit),
    #[cfg(feature = "explore")]
    Explore(explore::Explore),
    #[cfg(feature = "lab")]
    Reproduce(reproduce::Reproduce),
    Completions(completions::Completions),
    Man(man::Man),
}

impl Cli {
    /// Runs the command. Says whether anything was found; a command that looks for nothing says
    /// yes.
    pub fn run(&self) -> anyhow::Result<bool> {
        match &self.command {
            Command::Plan(plan) => plan.run()?,
            Command::Build(build) => build.run()?,
            Command::Query(query) => return query.run(),
            Command::Add(add) => add.run()?,
            Command::Remove(remove) => remove.run()?,
            Command::List(list) => return list.run(),
            Command::Info(info) => info.run()?,
            Command::Show(show) => show.run()?,
            Command::Measure(measure) => measure.run()?,
            Command::Dedup(dedup) => dedup.run()?,
            Command::Union(union) => union.run()?,
            Command::Intersect(intersect) => intersect.run()?,
            Command::Join(join) => join.run()?,
            Command::Grow(grow) => grow.run(resize::Direction::Longer)?,
            Command::Shrink(shrink) => shrink.run(resize::Direction::Shorter)?,
            Command::Publish(publish) => publish.run()?,
            Command::Overlap(overlap) => overlap.run()?,
            Command::Ledger(ledger) => ledger.run()?,
            Command::Audit(audit) => return audit.run(),
            #[cfg(feature = "explore")]
            Command::Explore(explore) => explore.run()?,
            #[cfg(feature = "lab")]
            Command::Reproduce(reproduce) => return reproduce.run(),
            Command::Completions(completions) => completions.run()?,
            Command::Man(man) => man.run()?,
        }
        Ok(true)
    }
}
