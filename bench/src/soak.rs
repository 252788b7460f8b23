//! Load: eight threads ask one mapped filter while another process replaces its file, again and
//! again.
//!
//! There are two versions of the file, which hold different keys and are told apart by the items
//! they were planned for. Whatever version a thread has mapped, all its answers must be that
//! version's: a torn or mixed file would give others.

use crate::keys;
use std::error::Error;
use std::io::Read;
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, RwLock};
use std::time::{Duration, Instant};
use tamis::{AnyFilter, BlockedBloom};

const THREADS: usize = 8;
const ITEMS: u64 = 1_000_000;
/// Keys asked at a time.
const BATCH: usize = 4_096;
/// Different keys asked in all.
const POOL: usize = 1 << 19;
/// Lookups of the full run.
const FULL: u64 = 1_000_000_000;

/// The word that makes this program the other process.
pub(crate) const WRITER: &str = "soak-writer";

/// A version of the file: planned for one item more than the version before, and with other keys.
fn version(number: u64) -> Result<BlockedBloom, tamis::Error> {
    let mut filter = BlockedBloom::new(ITEMS + number, 0.01)?;
    filter.insert_many(keys::random(10 + number, ITEMS as usize));
    Ok(filter)
}

/// Replaces the file until standard input ends.
pub(crate) fn write(path: &str) -> Result<(), Box<dyn Error>> {
    let versions = [version(0)?, version(1)?];
    let over = Arc::new(AtomicBool::new(false));
    let ended = Arc::clone(&over);
    std::thread::spawn(move || {
        let _ = std::io::stdin().read_to_end(&mut Vec::new());
        ended.store(true, Ordering::Relaxed);
    });
    let mut saved = 0u64;
    while !over.load(Ordering::Relaxed) {
        versions[(saved % 2) as usize].save(path)?;
        saved += 1;
    }
    println!("{saved}");
    Ok(())
}

/// What the threads share.
struct Soak {
    filter: RwLock<Arc<AnyFilter>>,
    pool: Vec<u64>,
    /// What each version answers to the pool.
    answers: [Vec<bool>; 2],
    asked: AtomicU64,
    wrong: AtomicU64,
    over: AtomicBool,
}

impl Soak {
    fn current(&self) -> Arc<AnyFilter> {
        Arc::clone(&self.filter.read().unwrap_or_else(std::sync::PoisonError::into_inner))
    }

    /// Asks batch after batch, each of the filter that is current.
    fn ask(&self, mut at: usize) {
        while !self.over.load(Ordering::Relaxed) {
            let filter = self.current();
            let version = filter.plan().rate().map_or(0, |plan| plan.items() - ITEMS) as usize;
            let range = at..at + BATCH;
            let answers = filter.contains_many(&self.pool[range.clone()]).unwrap_or_default();
            let expected = &self.answers[version][range];
            let differ = answers
                .iter()
                .zip(expected)
                .filter(|(answer, expected)| answer != expected)
                .count();
            let missing = BATCH - answers.len().min(BATCH);
            self.wrong.fetch_add((differ + missing) as u64, Ordering::Relaxed);
            self.asked.fetch_add(BATCH as u64, Ordering::Relaxed);
            at = (at + BATCH) % POOL;
        }
    }
}

/// Runs for so long, or the full number of lookups.
pub(crate) fn run(limit: Duration, full: bool) -> Result<(), Box<dyn Error>> {
    let folder = std::env::temp_dir().join(format!("tamis-soak-{}", std::process::id()));
    std::fs::create_dir_all(&folder)?;
    let result = run_in(&folder, limit, full);
    std::fs::remove_dir_all(&folder)?;
    result
}

fn run_in(folder: &Path, limit: Duration, full: bool) -> Result<(), Box<dyn Error>> {
    let path = folder.join("soak.tamis");
    let versions = [version(0)?, version(1)?];
    versions[0].save(&path)?;
    // Members of either version, and strangers to both.
    let mut pool = keys::random(20, POOL / 2);
    pool.extend(keys::random(10, POOL / 4).into_iter().chain(keys::random(11, POOL / 4)));
    let answers = versions.map(|version| version.contains_many(&pool));
    let soak = Soak {
        filter: RwLock::new(Arc::new(AnyFilter::open(&path)?)),
        pool,
        answers,
        asked: AtomicU64::new(0),
        wrong: AtomicU64::new(0),
        over: AtomicBool::new(false),
    };
    let mut writer = Command::new(std::env::current_exe()?)
        .arg(WRITER)
        .arg(&path)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()?;
    let begin = Instant::now();
    let (mut opened, mut failed, mut warm) = (0u64, 0u64, None);
    std::thread::scope(|scope| {
        for thread in 0..THREADS {
            let soak = &soak;
            scope.spawn(move || soak.ask(thread * POOL / THREADS / BATCH * BATCH));
        }
        loop {
            match AnyFilter::open(&path) {
                Ok(filter) => {
                    *soak.filter.write().unwrap_or_else(std::sync::PoisonError::into_inner) =
                        Arc::new(filter);
                    opened += 1;
                }
                Err(error) => {
                    eprintln!("tamis-bench: the file cannot be opened: {error}");
                    failed += 1;
                }
            }
            std::thread::sleep(Duration::from_millis(5));
            let elapsed = begin.elapsed();
            // Memory is compared once all threads have begun.
            if warm.is_none() && elapsed > Duration::from_secs(1).min(limit / 4) {
                warm = Some(memory());
            }
            let enough =
                if full { soak.asked.load(Ordering::Relaxed) >= FULL } else { elapsed >= limit };
            if enough {
                soak.over.store(true, Ordering::Relaxed);
                break;
            }
        }
    });
    let (elapsed, last) = (begin.elapsed(), memory());
    drop(writer.stdin.take());
    let output = writer.wait_with_output()?;
    let replaced = String::from_utf8_lossy(&output.stdout).trim().to_owned();
    let (asked, wrong) = (soak.asked.load(Ordering::Relaxed), soak.wrong.load(Ordering::Relaxed));
    println!("lookups        {asked} by {THREADS} threads in {:.1} s", elapsed.as_secs_f64());
    println!("file replaced  {replaced} times, opened {opened} times");
    println!(
        "memory         {} KiB at the start, {} KiB at the end",
        shown(warm.flatten()),
        shown(last)
    );
    println!("wrong answers  {wrong}");
    if wrong > 0 || failed > 0 || !output.status.success() {
        return Err(format!("{wrong} wrong answers, {failed} failures to open").into());
    }
    // A leak of a thousandth of what passed through would show.
    match (warm.flatten(), last) {
        (Some(start), Some(end)) if end > start + (16 << 10) => {
            Err("memory grew by more than 16 MiB".into())
        }
        _ => Ok(()),
    }
}

/// The memory of this process that is no file's, in KiB, where the system tells.
fn memory() -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find(|line| line.starts_with("RssAnon:"))?;
    line.split_whitespace().nth(1)?.parse().ok()
}

fn shown(memory: Option<u64>) -> String {
    memory.map_or("?".to_owned(), |kib| kib.to_string())
}
