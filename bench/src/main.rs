//! Measurements of tamis, side by side in one run:
//!
//! ```text
//! cargo run --release -p tamis-bench -- lookup [--full] [--csv FILE]
//! ```
//!
//! and likewise `insert`, `strings` and `all` of them; `private` builds and asks published filters, `noise` flips bits, and `list`
//! times the listing of zone filters. The full run takes 5x10^7 keys
//! as well. Medians of many rounds are printed, with quartiles, ratios to the bare memory access, and, beside every lookup, the
//! share of keys that passed.

mod insert;
mod keys;
mod list;
mod lookup;
mod noise;
mod private;
mod report;
mod rounds;
mod strings;

use report::Report;
use std::process::ExitCode;

fn main() -> ExitCode {
    let mut words: Vec<String> = std::env::args().skip(1).collect();
    let full = words.iter().position(|word| word == "--full").map(|at| words.remove(at)).is_some();
    let csv = words.iter().position(|word| word == "--csv").filter(|at| at + 1 < words.len()).map(|at| {
        let _ = words.remove(at);
        words.remove(at)
    });
    let [what] = &words[..] else { return usage() };
    if what == "list" {
        list::run();
        return ExitCode::SUCCESS;
    }
    let measured =
        Report::new(csv.as_deref()).map_err(Into::into).and_then(|mut report| match what.as_str() {
            "lookup" => lookup::run(&mut report, full),
            "insert" => insert::run(&mut report, full),
            "strings" => strings::run(&mut report, full),
            "private" => private::run(&mut report, full),
            "noise" => {
                noise::run();
                Ok(())
            }
            "all" => lookup::run(&mut report, full)
                .and_then(|()| insert::run(&mut report, full))
                .and_then(|()| strings::run(&mut report, full)),
            _ => Err("there is no such measurement".into()),
        });
    match measured {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("tamis-bench: {error}");
            usage()
        }
    }
}

fn usage() -> ExitCode {
    eprintln!(
        "usage: tamis-bench lookup|insert|strings|private|all [--full] [--csv FILE], or tamis-bench noise|list"
    );
    ExitCode::from(2)
}
