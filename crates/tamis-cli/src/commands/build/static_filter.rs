//! `tamis build rate --filter static`: a filter that is built once, from a set that may be larger
//! than memory.

use super::part::PartReport;
use crate::input::{Input, Reading};
use crate::output::{self, Destination, Integer, Report, Target, grouped, progress, rate, warn};
use crate::spool::Spool;
use crate::threads::spawn_scoped;
use serde::Serialize;
use std::collections::BTreeMap;
use std::collections::btree_map::Entry;
use std::ops::Range;
use std::path::PathBuf;
use tamis::format::{KeysRead, Part, PartNumber};
use tamis::rate::{Health, Shard, StaticPlan};
use tamis::{Digest, Error, HashFamily, Kinds, StaticFilter};
use tamis_facts::StaticFacts;

/// What building a shard takes besides its own bytes, for each of its keys: digests, the same
/// sorted, rows and values.
const BYTES_PER_KEY: u64 = 40;
/// What everything else takes: the program, and keys that are being read.
const PROGRAM: u64 = 24 << 20;
/// The memory that is taken if the system does not tell how much there is.
const USUAL: u64 = 4 << 30;

/// What it takes to build a static filter.
pub(super) struct BuildStatic<'a> {
    pub(super) input: &'a Input,
    pub(super) target: &'a Target,
    pub(super) destination: Destination,
    pub(super) hash: HashFamily,
    pub(super) fpr: f64,
    /// The items that were announced.
    pub(super) items: Option<u64>,
    /// The most memory allowed.
    pub(super) max_memory: Option<u64>,
    /// Where keys go that do not fit into it.
    pub(super) temp_dir: Option<PathBuf>,
}

impl BuildStatic<'_> {
    pub(super) fn run(self) -> anyhow::Result<()> {
        StaticPlan::new(0, self.fpr)?; // a wrong rate is told before anything is read
        let (mut spool, kinds, read) = self.read(|_| true)?;
        let keys = read.keys();
        let plan = self.plan(&mut spool)?;
        if let Some(items) = self.items.filter(|items| *items < plan.items()) {
            warn(&format!(
                "tamis: warning: {} distinct keys, more than the {} of --items; a static filter \
                 counts its keys, so it is large enough",
                grouped(plan.items()),
                grouped(items)
            ));
        }
        let threads = self.threads(&plan, plan.bytes(), &mut spool)?;
        let spilled = spool.written();
        let shards = Shards::new(plan, 0..plan.shards(), spool, threads);
        let filter = StaticFilter::join(plan, self.hash.clone(), kinds, shards)?;
        let any = filter.into();
        self.destination.save(&any)?;
        let filter = StaticFilter::try_from(any)?;
        self.report(&filter, keys, spilled)
    }

    /// Builds a part: from all keys, of which it keeps its own.
    pub(super) fn run_part(self, number: PartNumber) -> anyhow::Result<()> {
        let plan = StaticPlan::new(self.items.unwrap_or(0), self.fpr)?;
        let own = number.shards(plan.shards());
        let mut kept = 0;
        let (mut spool, kinds, read) = self.read(|digest| {
            let is_own = own.contains(&plan.shard_of(digest));
            kept += u64::from(is_own);
            is_own
        })?;
        // The part as shards, and the part as bytes.
        let share = (own.end - own.start) as f64 / plan.shards() as f64;
        let threads =
            self.threads(&plan, (2.0 * share * plan.bytes() as f64) as u64, &mut spool)?;
        let shards = Shards::new(plan, own, spool, threads);
        let part = Part::of_shards(&plan, &self.hash, kinds, number, read, shards)?;
        self.destination.save_part(&part)?;
        let (file, counts) = (&self.target.output, [read.keys(), kept]);
        let report = PartReport::new(file, number, "static", plan.items(), counts);
        output::report_on(file, &report, self.target.json)
    }

    /// Reads all keys, and keeps some; says of which kinds they are, and how many.
    fn read(
        &self,
        mut is_kept: impl FnMut(Digest) -> bool,
    ) -> anyhow::Result<(Spool, Kinds, KeysRead)> {
        // A part for the keys: the filter and the shards that are being built take the rest.
        let allowed = match self.max_memory {
            Some(most) => most.saturating_sub(PROGRAM) / 8,
            None => available_memory() / 4,
        };
        let mut spool = Spool::new(allowed, self.folder());
        let (mut kinds, mut read) = (Kinds::default(), KeysRead::default());
        self.input.format.for_new_filter().each(
            &self.input.files,
            "reading",
            Reading::AnyOrder,
            |batch| {
                for key in batch.keys() {
                    kinds = kinds | Kinds::of(key);
                    if let Some(digest) = self.hash.digest(key) {
                        read.add(digest);
                        if is_kept(digest) {
                            spool.push(digest)?;
                        }
                    }
                }
                Ok(true)
            },
        )?;
        Ok((spool, kinds, read))
    }

    /// The folder for a temporary file: the one that was named, or that of the filter.
    fn folder(&self) -> PathBuf {
        let beside = || self.target.output.parent().filter(|folder| folder.is_dir());
        match (&self.temp_dir, beside()) {
            (Some(folder), _) => folder.clone(),
            (None, Some(folder)) => folder.to_owned(),
            (None, None) if self.target.output.as_os_str() == "-" => std::env::temp_dir(),
            (None, None) => PathBuf::from("."),
        }
    }

    /// Counts the distinct keys, and plans for them.
    fn plan(&self, spool: &mut Spool) -> anyhow::Result<StaticPlan> {
        let bar = progress::bar(
            Some(spool.parts() as u64),
            "counting",
            "{prefix} [{wide_bar}] {pos} of {len} parts, {eta} left",
        );
        let mut items = 0;
        for part in bar.wrap_iter(0..spool.parts()) {
            items += spool.count(part)?;
        }
        Ok(StaticPlan::new(items, self.fpr)?)
    }

    /// How many shards may be built at a time, if the result takes so many bytes. What does not
    /// fit is refused; keys leave the memory if that helps.
    fn threads(&self, plan: &StaticPlan, bytes: u64, spool: &mut Spool) -> anyhow::Result<usize> {
        let cores = std::thread::available_parallelism().map_or(1, usize::from) as u64;
        let wanted = cores.min(plan.shards());
        let Some(allowed) = self.max_memory else { return Ok(wanted as usize) };
        let shard = plan.items().div_ceil(plan.shards()) * BYTES_PER_KEY;
        // A filter as small as this takes no more than the program does anyway.
        let program = if plan.items() < 10_000 { 0 } else { PROGRAM };
        let needed = |threads: u64| bytes + threads * shard + program;
        if needed(1) + spool.taken() > allowed {
            spool.write_all()?;
        }
        if needed(1) > allowed {
            return Err(Error::Memory { needed: needed(1), allowed: Some(allowed) }.into());
        }
        let free = allowed.saturating_sub(spool.taken());
        Ok((1..=wanted).rev().find(|threads| needed(*threads) <= free).unwrap_or(1) as usize)
    }

    fn report(&self, filter: &StaticFilter, keys: u64, spilled: u64) -> anyhow::Result<()> {
        let plan = filter.plan();
        let mut text = format!(
            "{}: a static filter of {} bytes ({:.2} bits an item)\n\
             keys      {} read, {} of them distinct\n\
             promise   every one of them passes; of strangers, about {}\n\
             health    {} plan; it cannot be changed",
            self.target.output.display(),
            grouped(plan.bytes()),
            plan.bits_per_item(),
            grouped(keys),
            grouped(filter.items()),
            rate(filter.expected_fpr()),
            filter.health(),
        );
        if spilled > 0 {
            text.push_str(&format!(
                "\nmemory    {} bytes of keys were in a temporary file",
                grouped(spilled)
            ));
        }
        if filter.hash().name() == "keyed" {
            text.push_str("\nhash      keyed: only those who have the key file can ask");
        }
        let report = BuildReport {
            file: self.target.output.display().to_string(),
            keys: keys.into(),
            distinct: filter.items().into(),
            spilled_bytes: spilled.into(),
            health: filter.health().to_string(),
            fill: filter.fill(),
            fpr_now: filter.expected_fpr(),
            plan: StaticFacts::new(plan),
            text,
        };
        output::report_on(&self.target.output, &report, self.target.json)?;
        if filter.health() == Health::Beyond {
            warn(
                "tamis: warning: the keys were chosen against the hash, or an unlikely chance: \
                 more strangers pass than planned; build it with another --seed, or with --hash \
                 keyed",
            );
        }
        Ok(())
    }
}

/// The memory that the system has to give.
fn available_memory() -> u64 {
    let told = std::fs::read_to_string("/proc/meminfo").ok().and_then(|text| {
        let line = text.lines().find_map(|line| line.strip_prefix("MemAvailable:"))?;
        line.trim().strip_suffix(" kB")?.parse::<u64>().ok()
    });
    told.map_or(USUAL, |kilobytes| kilobytes.saturating_mul(1024))
}

fn no_memory(keys: usize) -> Error {
    Error::Memory { needed: BYTES_PER_KEY * keys as u64, allowed: None }
}

/// Memory for so many digests.
fn room(keys: usize) -> Result<Vec<Digest>, Error> {
    let mut room = Vec::new();
    room.try_reserve_exact(keys).map_err(|_| no_memory(keys))?;
    Ok(room)
}

/// The shards of a plan, built as they are asked for, several at a time.
struct Shards {
    plan: StaticPlan,
    spool: Spool,
    threads: usize,
    /// The next part that is read.
    part: usize,
    /// Digests of shards that are not built yet.
    waiting: BTreeMap<u64, Vec<Digest>>,
    /// The shards that are still to be built.
    next: u64,
    end: u64,
    built: Vec<Result<Shard, Error>>,
    bar: indicatif::ProgressBar,
}

impl Shards {
    fn new(plan: StaticPlan, own: Range<u64>, spool: Spool, threads: usize) -> Shards {
        let bar = progress::bar(
            Some(own.end - own.start),
            "building",
            "{prefix} [{wide_bar}] {pos} of {len} shards, {eta} left",
        );
        let (waiting, built) = (BTreeMap::new(), Vec::new());
        let Range { start: next, end } = own;
        Shards { plan, spool, threads, part: 0, waiting, next, end, built, bar }
    }

    /// Reads parts until the digests of as many shards as there are threads are complete.
    fn gather(&mut self) -> anyhow::Result<Vec<(u64, Vec<Digest>)>> {
        let shards = self.plan.shards();
        let wanted = self.next.saturating_add(self.threads as u64).min(self.end);
        // As many as the shard will have, all but for certain: growing would take twice as much.
        let mean = self.plan.items() as f64 / shards as f64;
        let expected = if shards > 1 { mean + 6.0 * mean.sqrt() } else { mean } as usize;
        while self.part < self.spool.parts() && Spool::first_shard(self.part, shards) < wanted {
            for digest in self.spool.take(self.part)? {
                let own = match self.waiting.entry(self.plan.shard_of(digest)) {
                    Entry::Occupied(own) => own.into_mut(),
                    Entry::Vacant(new) => new.insert(room(expected)?),
                };
                if own.len() == own.capacity() {
                    own.try_reserve(own.len() / 8 + 1).map_err(|_| no_memory(own.len()))?;
                }
                own.push(digest);
            }
            self.part += 1;
        }
        let complete = (self.next..wanted)
            .map(|index| (index, self.waiting.remove(&index).unwrap_or_default()))
            .collect();
        self.next = wanted;
        Ok(complete)
    }
}

impl Iterator for Shards {
    type Item = Result<Shard, Error>;

    fn next(&mut self) -> Option<Result<Shard, Error>> {
        if self.built.is_empty() && self.next < self.end {
            let complete = match self.gather() {
                Ok(complete) => complete,
                Err(error) => return Some(Err(as_error(error))),
            };
            let plan = &self.plan;
            let built = std::thread::scope(|scope| {
                let started = complete
                    .into_iter()
                    .map(|(index, digests)| {
                        spawn_scoped(scope, move || plan.build_shard(index, digests))
                    })
                    .collect::<anyhow::Result<Vec<_>>>()?;
                let join = |thread: std::thread::ScopedJoinHandle<'_, _>| {
                    thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
                };
                Ok(started.into_iter().map(join).collect())
            });
            match built {
                Ok(built) => self.built = built,
                Err(error) => return Some(Err(as_error(error))),
            }
        }
        let shard = self.built.pop();
        if shard.is_some() {
            self.bar.inc(1);
        }
        shard
    }
}

/// The library's error, if it is one.
fn as_error(error: anyhow::Error) -> Error {
    error
        .downcast::<Error>()
        .unwrap_or_else(|error| Error::Io(std::io::Error::other(format!("{error:#}"))))
}

#[derive(Serialize)]
struct BuildReport {
    file: String,
    keys: Integer,
    distinct: Integer,
    spilled_bytes: Integer,
    health: String,
    fill: f64,
    fpr_now: f64,
    #[serde(flatten)]
    plan: StaticFacts,
    #[serde(skip)]
    text: String,
}

impl Report for BuildReport {
    fn text(&self) -> String {
        self.text.clone()
    }
}
