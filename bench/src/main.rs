//! Measurements of tamis, side by side in one run:
//!
//! ```text
//! cargo run --release -p tamis-bench -- lookup [--full] [--csv FILE]
//! ```
//!
//! and likewise `insert`, `strings` and `all` of them; `foreign` asks in the layouts of other
//! programs; `static` builds and asks static filters
//! (with --full of 2x10^7 keys as well); `removable` does so with
//! filters that can forget, `chains` with filters that grow or forget by themselves, and `shared`
//! with filters that threads share; `private` builds and asks
//! published filters, `noise` flips bits, `zone` asks zone filters and `list` lists them; `soak
//! [--seconds N]` asks a mapped filter with eight threads while another process replaces its file
//! (60 seconds, or with --full 10^9 lookups). `--level avx2|scalar` measures as if the processor
//! had no more, `--levels` at every level that the processor has, one after the other. The full
//! run takes 5x10^7 keys as well. Medians of many repeats are
//! printed, with quartiles, ratios to the bare memory access, and, beside every lookup, the
//! share of keys that passed.

mod chains;
mod foreign;
mod insert;
mod keys;
mod list;
mod lookup;
mod noise;
mod private;
mod removable;
mod report;
mod shared;
mod soak;
mod static_filter;
mod strings;
mod timing;
mod zone;

use report::Report;
use std::process::{Command, ExitCode};
use std::time::Duration;

fn main() -> ExitCode {
    let mut words: Vec<String> = std::env::args().skip(1).collect();
    if let Some(at) = words.iter().position(|word| word == "--level")
        && at + 1 < words.len()
    {
        let level = words.drain(at..at + 2).nth(1).unwrap_or_default();
        return run_at(&level, &words);
    }
    if let Some(at) = words.iter().position(|word| word == "--levels") {
        let _ = words.remove(at);
        for level in levels() {
            let done = run_at(level, &words);
            if done != ExitCode::SUCCESS {
                return done;
            }
        }
        return ExitCode::SUCCESS;
    }
    let full = words.iter().position(|word| word == "--full").map(|at| words.remove(at)).is_some();
    let csv =
        words.iter().position(|word| word == "--csv").filter(|at| at + 1 < words.len()).map(|at| {
            let _ = words.remove(at);
            words.remove(at)
        });
    let seconds =
        words.iter().position(|word| word == "--seconds").filter(|at| at + 1 < words.len()).map(
            |at| {
                let _ = words.remove(at);
                words.remove(at).parse()
            },
        );
    if let [writer, path] = &words[..]
        && writer == soak::WRITER
    {
        return finish(soak::write(path));
    }
    let [what] = &words[..] else { return usage() };
    if what == "soak" {
        return match seconds.unwrap_or(Ok(60)) {
            Ok(seconds) => finish(soak::run(Duration::from_secs(seconds), full)),
            Err(_) => usage(),
        };
    }
    if what == "list" {
        list::run();
        return ExitCode::SUCCESS;
    }
    let measured =
        Report::new(csv.as_deref()).map_err(Into::into).and_then(|mut report| {
            match what.as_str() {
                "lookup" => lookup::run(&mut report, full),
                "insert" => insert::run(&mut report, full),
                "strings" => strings::run(&mut report, full),
                "foreign" => foreign::run(&mut report, full),
                "private" => private::run(&mut report, full),
                "zone" => zone::run(&mut report),
                "static" => static_filter::run(&mut report, full),
                "removable" => removable::run(&mut report, full),
                "shared" => shared::run(&mut report, full),
                "chains" => chains::run(&mut report, full),
                "noise" => {
                    noise::run();
                    Ok(())
                }
                "all" => lookup::run(&mut report, full)
                    .and_then(|()| insert::run(&mut report, full))
                    .and_then(|()| strings::run(&mut report, full)),
                _ => Err("there is no such measurement".into()),
            }
        });
    match measured {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("tamis-bench: {error}");
            usage()
        }
    }
}

/// The levels with kernels of their own that the processor has, the highest first.
fn levels() -> &'static [&'static str] {
    match tamis::processor_level() {
        "avx512" => &["avx512", "avx2"],
        "avx2" => &["avx2"],
        "neon" => &["neon"],
        _ => &["scalar"],
    }
}

/// Runs this program again with the kernels capped: the library reads the cap when it first looks
/// at the processor.
fn run_at(level: &str, words: &[String]) -> ExitCode {
    if !["scalar", "avx2", "avx512", "neon"].contains(&level) {
        return usage();
    }
    let run = std::env::current_exe()
        .and_then(|own| Command::new(own).args(words).env("TAMIS_LEVEL", level).status());
    finish(match run {
        Ok(status) if status.success() => Ok(()),
        Ok(status) => Err(status.to_string().into()),
        Err(error) => Err(error.into()),
    })
}

fn finish(result: Result<(), Box<dyn std::error::Error>>) -> ExitCode {
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("tamis-bench: {error}");
            ExitCode::FAILURE
        }
    }
}

fn usage() -> ExitCode {
    eprintln!(
        "usage: tamis-bench lookup|insert|strings|foreign|static|removable|shared|chains|private|\
         zone|all [--full] [--csv FILE], \
         tamis-bench noise|list, or tamis-bench soak [--seconds N] [--full]; \
         each with [--level scalar|avx2|avx512|neon] or [--levels]"
    );
    ExitCode::from(2)
}
