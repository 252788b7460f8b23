//! How many units the sources hold, found out before the first record is compared: so the filter
//! can be planned.

use super::pipeline::{Shape, Source};
use super::{Rule, Unit};
use crate::threads::spawn_scoped;
use anyhow::Context;
use std::io::{self, Read};
use std::num::NonZero;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};
use std::thread::{self, Thread};
use std::time::Duration;
use tamis::HashFamily;

/// How much is read at a time.
const CHUNK: usize = 1 << 18;
/// How much of the input is looked at to judge how many units it holds, and of each file at least.
const SAMPLE: u64 = 16 << 20;
const LEAST_SAMPLE: u64 = 1 << 18;

/// How many units some bytes of input hold.
#[derive(Debug, Clone, Copy, Default)]
struct Counted {
    units: f64,
    /// The size of the files, as they are on the disk.
    bytes: u64,
}

/// How many units the sources hold. Records are counted. Other units are judged by a sample of some
/// sources, with a tenth to spare.
pub(crate) fn count(
    sources: Vec<Source>,
    shape: Shape,
    rule: &Rule,
    tick: impl Fn(),
) -> anyhow::Result<u64> {
    if rule.unit == Unit::Record {
        let counted =
            in_parallel(sources, tick, |source| records(source, shape).map(|n| n as f64))?;
        return Ok(counted.units as u64);
    }
    let total: u64 = sources.iter().filter_map(|source| source.size).sum();
    let files = sources.len() as u64;
    let share = (SAMPLE / files.max(1)).max(LEAST_SAMPLE);
    let every = files.div_ceil(SAMPLE / LEAST_SAMPLE).max(1) as usize;
    let sampled = sources.into_iter().step_by(every).collect();
    let counted = in_parallel(sampled, tick, |source| sample(source, shape, rule, share))?;
    let scale = total as f64 / counted.bytes.max(1) as f64;
    Ok((counted.units * scale.max(1.0) * 1.1) as u64)
}

/// Looks at the sources on all cores, and adds up what each holds.
fn in_parallel(
    sources: Vec<Source>,
    tick: impl Fn(),
    look: impl Fn(&mut Source) -> anyhow::Result<f64> + Sync,
) -> anyhow::Result<Counted> {
    let threads = thread::available_parallelism().map_or(1, NonZero::get).min(sources.len());
    let sources: Vec<Mutex<Source>> = sources.into_iter().map(Mutex::new).collect();
    let (next, waiting) = (AtomicUsize::new(0), thread::current());
    thread::scope(|scope| {
        let workers: Vec<_> = (0..threads)
            .map(|_| {
                spawn_scoped(scope, || {
                    let _wake = Wake(&waiting);
                    let mut all = Counted::default();
                    while let Some(source) = sources.get(next.fetch_add(1, Ordering::Relaxed)) {
                        let mut source = source.lock().unwrap_or_else(PoisonError::into_inner);
                        let name = source.name.clone();
                        all.units +=
                            look(&mut source).with_context(|| format!("cannot read {name}"))?;
                        all.bytes += source.size.unwrap_or(0);
                    }
                    Ok(all)
                })
            })
            .collect::<anyhow::Result<_>>()?;
        while workers.iter().any(|worker| !worker.is_finished()) {
            tick();
            thread::park_timeout(Duration::from_millis(100));
        }
        workers.into_iter().try_fold(Counted::default(), |all, worker| {
            let part: anyhow::Result<Counted> =
                worker.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic));
            let part = part?;
            Ok(Counted { units: all.units + part.units, bytes: all.bytes + part.bytes })
        })
    })
}

/// Wakes a thread when it is dropped.
struct Wake<'a>(&'a Thread);

impl Drop for Wake<'_> {
    fn drop(&mut self) {
        self.0.unpark();
    }
}

/// How many records a source holds; the last may lack its separator.
fn records(source: &mut Source, shape: Shape) -> anyhow::Result<u64> {
    let mut buffer = vec![0; CHUNK];
    let (mut records, mut last) = (0, shape.separator);
    loop {
        let got = read(&mut source.reader, &mut buffer)?;
        let Some(end) = buffer[..got].last() else { break };
        records += memchr::memchr_iter(shape.separator, &buffer[..got]).count() as u64;
        last = *end;
    }
    Ok(records + u64::from(last != shape.separator))
}

/// How many units a source holds, judged by its beginning.
fn sample(source: &mut Source, shape: Shape, rule: &Rule, share: u64) -> anyhow::Result<f64> {
    let mut text = Vec::new();
    // At least one record, however long it is.
    let whole_records = loop {
        let wanted = share.max(text.len() as u64);
        let got = source.reader.by_ref().take(wanted).read_to_end(&mut text)?;
        let end = memchr::memrchr(shape.separator, &text);
        match end {
            _ if (got as u64) < wanted => break text.len(),
            Some(end) => break end,
            None if text.len() > shape.longest => break text.len(),
            None => {}
        }
    };
    let (mut units, mut digests) = (0, Vec::new());
    for record in text[..whole_records].split(|byte| *byte == shape.separator) {
        // What is no record is said when its turn comes.
        let _ = rule.digests(&HashFamily::default(), record, &mut digests);
        units += digests.len();
        digests.clear();
    }
    // A decoder reads ahead. What it has read so far is what comes out before it reads again.
    let consumed = source.bytes.consumed();
    let mut decoded = text.len() as u64;
    let mut buffer = vec![0; 1 << 14];
    while source.bytes.consumed() == consumed {
        match read(&mut source.reader, &mut buffer)? {
            0 => break,
            got => decoded += got as u64,
        }
    }
    let size = source.size.unwrap_or(consumed).max(consumed) as f64;
    let decoded_size = size * decoded as f64 / consumed.max(1) as f64;
    Ok(units as f64 * (decoded_size / whole_records.max(1) as f64).max(1.0))
}

fn read(source: &mut impl Read, buffer: &mut [u8]) -> io::Result<usize> {
    loop {
        match source.read(buffer) {
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            got => return got,
        }
    }
}
