//! Records in, digests out, on all cores and in order.
//!
//! One thread reads pieces of the input that end between records. The pieces go to the workers in
//! turn, and the results are collected in the same turn: so the order is kept, and nothing has to
//! be sorted.

use super::rule::{Found, Rule};
use anyhow::{Context, bail};
use serde::{Deserialize, Serialize};
use std::io::{self, Read};
use std::num::NonZero;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::thread::{self, available_parallelism};
use tamis::{Digest, HashFamily};

/// How much of the input is a piece.
const PIECE: usize = 1 << 20;
/// How many pieces wait at each worker, and behind it.
const WAITING: usize = 2;

/// One of the inputs, opened.
pub(crate) struct Source {
    pub(crate) name: String,
    pub(crate) reader: Box<dyn Read + Send>,
    /// How many bytes of it were dealt with before.
    pub(crate) skip: u64,
    /// How many records those were, for messages.
    pub(crate) skipped_records: u64,
}

/// How records end, and how long one may be.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Shape {
    pub(crate) separator: u8,
    pub(crate) longest: usize,
}

/// A piece of the input, as the reader hands it out.
struct Piece {
    bytes: Vec<u8>,
    place: Place,
}

/// Where a piece of the input ends.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Place {
    /// The number of the input.
    pub(crate) source: usize,
    /// How many bytes of that input come before the end of the piece.
    pub(crate) bytes: u64,
    /// How many records of that input come before the end of the piece.
    pub(crate) records: u64,
}

/// A record within a piece.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Record {
    pub(crate) start: usize,
    pub(crate) end: usize,
    pub(crate) found: Found,
}

/// A piece whose records have their digests.
pub(crate) struct Digested {
    pub(crate) bytes: Vec<u8>,
    pub(crate) records: Vec<Record>,
    pub(crate) digests: Vec<Digest>,
    pub(crate) place: Place,
}

/// Gives all records of the sources to `take`, with their digests and in order, until it fails.
pub(crate) fn run(
    sources: Vec<Source>,
    shape: Shape,
    rule: &Rule,
    hash: &HashFamily,
    mut take: impl FnMut(Digested) -> anyhow::Result<()>,
) -> anyhow::Result<()> {
    let workers = available_parallelism().map_or(1, NonZero::get);
    thread::scope(|scope| {
        let mut to_workers = Vec::with_capacity(workers);
        let mut from_workers = Vec::with_capacity(workers);
        for _ in 0..workers {
            let (give, pieces) = sync_channel::<anyhow::Result<Piece>>(WAITING);
            let (done, results) = sync_channel(WAITING);
            scope.spawn(move || work(&pieces, &done, shape, rule, hash));
            to_workers.push(give);
            from_workers.push(results);
        }
        let names: Vec<String> = sources.iter().map(|source| source.name.clone()).collect();
        scope.spawn(move || read_all(sources, shape, &to_workers));
        for turn in 0.. {
            // The reader is done, and so is the worker whose turn it is.
            let Ok(result) = from_workers[turn % workers].recv() else { return Ok(()) };
            take(result.map_err(|error| name_the_record(error, &names))?)?;
        }
        Ok(())
    })
}

/// A record that cannot be read, and where it is.
#[derive(Debug)]
struct BadRecord {
    place: Place,
    why: anyhow::Error,
}

impl std::fmt::Display for BadRecord {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(out, "record {} {:#}", self.place.records, self.why)
    }
}

impl std::error::Error for BadRecord {}

fn name_the_record(error: anyhow::Error, names: &[String]) -> anyhow::Error {
    match error.downcast_ref::<BadRecord>().and_then(|bad| names.get(bad.place.source)) {
        Some(name) => error.context(format!("cannot read {name}")),
        None => error,
    }
}

/// What a worker does: digests of one piece after the other, until there are no more.
fn work(
    pieces: &Receiver<anyhow::Result<Piece>>,
    done: &SyncSender<anyhow::Result<Digested>>,
    shape: Shape,
    rule: &Rule,
    hash: &HashFamily,
) {
    for piece in pieces {
        let result = piece.and_then(|piece| digest(piece, shape, rule, hash));
        if done.send(result).is_err() {
            return; // nobody waits for more
        }
    }
}

fn digest(piece: Piece, shape: Shape, rule: &Rule, hash: &HashFamily) -> anyhow::Result<Digested> {
    let Piece { bytes, place } = piece;
    let mut digests = Vec::new();
    let mut records: Vec<Record> = Vec::new();
    let mut start = 0;
    while start < bytes.len() {
        let rest = &bytes[start..];
        let end = start + memchr::memchr(shape.separator, rest).unwrap_or(rest.len());
        let found = match rule.digests(hash, &bytes[start..end], &mut digests) {
            Ok(found) => found,
            Err(why) => {
                let first = place.records - count(&bytes, shape.separator);
                let place = Place { records: first + records.len() as u64 + 1, ..place };
                return Err(BadRecord { place, why }.into());
            }
        };
        records.push(Record { start, end, found });
        start = end + 1;
    }
    Ok(Digested { bytes, records, digests, place })
}

/// How many records the bytes are; the last may lack its separator.
fn count(bytes: &[u8], separator: u8) -> u64 {
    let whole = memchr::memchr_iter(separator, bytes).count() as u64;
    whole + u64::from(bytes.last().is_some_and(|last| *last != separator))
}

/// How many records the sources hold.
pub(crate) fn count_records(
    sources: Vec<Source>,
    shape: Shape,
    mut tick: impl FnMut(u64),
) -> anyhow::Result<u64> {
    let mut records = 0;
    for (number, source) in sources.into_iter().enumerate() {
        read(number, source, shape, &mut |piece| {
            let Ok(piece) = piece else { return true };
            records += count(&piece.bytes, shape.separator);
            tick(piece.bytes.len() as u64);
            true
        })?;
    }
    Ok(records)
}

/// Reads the sources piece by piece. An error goes the way of the pieces, behind them.
fn read_all(sources: Vec<Source>, shape: Shape, workers: &[SyncSender<anyhow::Result<Piece>>]) {
    let mut turn = 0;
    let mut give = |piece: anyhow::Result<Piece>| {
        let sent = workers[turn % workers.len()].send(piece).is_ok();
        turn += 1;
        sent
    };
    for (number, source) in sources.into_iter().enumerate() {
        match read(number, source, shape, &mut give) {
            Ok(true) => {}
            Ok(false) => return,
            Err(error) => {
                give(Err(error));
                return;
            }
        }
    }
}

/// Reads one source; says whether anybody wants more.
fn read(
    number: usize,
    mut source: Source,
    shape: Shape,
    give: &mut impl FnMut(anyhow::Result<Piece>) -> bool,
) -> anyhow::Result<bool> {
    let context = |name: &str| format!("cannot read {name}");
    let skipped = io::copy(&mut source.reader.by_ref().take(source.skip), &mut io::sink())
        .with_context(|| context(&source.name))?;
    if skipped < source.skip {
        bail!("{} is shorter than it was; start over with --force", source.name);
    }
    let mut place = Place { source: number, bytes: source.skip, records: source.skipped_records };
    let mut bytes = Vec::with_capacity(PIECE);
    loop {
        // A record that is longer than a piece doubles what is read.
        let wanted = PIECE.max(bytes.len());
        let got = read_some(&mut source.reader, wanted, &mut bytes)
            .with_context(|| context(&source.name))?;
        let complete = match memchr::memrchr(shape.separator, &bytes) {
            _ if got == 0 => bytes.len(),
            Some(at) => at + 1,
            None => 0,
        };
        let rest = bytes.split_off(complete);
        if rest.len() > shape.longest {
            bail!(
                "{}: record {} is longer than {} bytes; is this a text file?",
                source.name,
                place.records + count(&bytes, shape.separator) + 1,
                shape.longest
            );
        }
        if !bytes.is_empty() {
            place.bytes += bytes.len() as u64;
            place.records += count(&bytes, shape.separator);
            if !give(Ok(Piece { bytes, place })) {
                return Ok(false);
            }
        }
        if got == 0 {
            return Ok(true);
        }
        bytes = rest;
        bytes.reserve(PIECE);
    }
}

/// Reads once, up to so many bytes: what a pipe has is worked on at once.
fn read_some(source: &mut impl Read, wanted: usize, bytes: &mut Vec<u8>) -> io::Result<usize> {
    let start = bytes.len();
    bytes.resize(start + wanted, 0);
    let got = loop {
        match source.read(&mut bytes[start..]) {
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            other => break other,
        }
    };
    bytes.truncate(start + *got.as_ref().unwrap_or(&0));
    got
}
