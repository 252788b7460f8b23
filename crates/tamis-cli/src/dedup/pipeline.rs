//! Records in, digests out, on all cores and in order.
//!
//! One thread reads pieces of the input that end between records. The pieces go to the workers in
//! turn, and the results are collected in the same turn: so the order is kept, and nothing has to
//! be sorted. A fixed number of pieces goes round, so the memory is bounded.

use super::rule::{Found, Rule};
use crate::input::Bytes;
use crate::threads::spawn_scoped;
use anyhow::bail;
use serde::{Deserialize, Serialize};
use std::io::{self, Read};
use std::num::NonZero;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread::{self, available_parallelism};
use tamis::{Digest, HashFamily};

/// How much of the input is a piece: it stays in a cache on its way through the threads.
const PIECE: usize = 1 << 18;
/// How many pieces there are for each worker, and for the two threads before and behind them.
const PIECES_PER_WORKER: usize = 2;
const MORE_PIECES: usize = 3;

/// One of the inputs, opened.
pub(crate) struct Source {
    pub(crate) name: String,
    pub(crate) reader: Box<dyn Read + Send>,
    /// The size of the file, unless it is a pipe.
    pub(crate) size: Option<u64>,
    pub(crate) bytes: Arc<Bytes>,
    /// How many bytes of it were dealt with before, after it was decompressed.
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

/// A piece of the input: whole records, and their digests. The memory of a piece is used again for
/// others.
#[derive(Default)]
pub(crate) struct Piece {
    buffer: Vec<u8>,
    /// How much of the buffer is the piece.
    len: usize,
    pub(crate) records: Vec<Record>,
    pub(crate) digests: Vec<Digest>,
    pub(crate) place: Place,
}

impl Piece {
    pub(crate) fn bytes(&self) -> &[u8] {
        &self.buffer[..self.len]
    }

    /// Makes room for another piece; one long record must not make all later pieces large.
    fn clear(&mut self) {
        self.len = 0;
        self.buffer.resize(PIECE, 0);
        self.buffer.shrink_to(PIECE);
        self.records.clear();
        self.records.shrink_to(PIECE / 8);
        self.digests.clear();
        self.digests.shrink_to(PIECE / 8);
    }

    /// Reads once: what a pipe has is worked on at once. Says how much came.
    fn read(&mut self, source: &mut impl Read, longest: usize) -> io::Result<usize> {
        if self.len == self.buffer.len() {
            self.buffer.resize((2 * self.len).min(longest.max(self.len) + PIECE), 0);
        }
        loop {
            match source.read(&mut self.buffer[self.len..]) {
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                got => {
                    self.len += *got.as_ref().unwrap_or(&0);
                    return got;
                }
            }
        }
    }

    /// Moves what follows the last separator to the next piece.
    fn hand_over(&mut self, separator: u8, next: &mut Piece) {
        let end = memchr::memrchr(separator, self.bytes()).map_or(0, |at| at + 1);
        let rest = &self.buffer[end..self.len];
        if next.buffer.len() < rest.len() {
            next.buffer.resize(rest.len(), 0);
        }
        next.buffer[..rest.len()].copy_from_slice(rest);
        next.len = rest.len();
        self.len = end;
    }

    /// Finds the records and makes their digests.
    fn digest(&mut self, shape: Shape, rule: &Rule, hash: &HashFamily) -> Result<(), Trouble> {
        let bytes = &self.buffer[..self.len];
        let ends = memchr::memchr_iter(shape.separator, bytes);
        let last = bytes.last().is_some_and(|last| *last != shape.separator).then_some(self.len);
        let mut start = 0;
        for end in ends.chain(last) {
            let record = &bytes[start..end];
            let text = record.strip_suffix(b"\r").unwrap_or(record);
            let found = if text.len() > shape.longest {
                Err(TooLong(shape.longest).into())
            } else {
                rule.digests(hash, record, &mut self.digests)
            };
            match found {
                Ok(found) => self.records.push(Record { start, end, found }),
                Err(why) => {
                    let nth = Some(self.records.len() as u64 + 1);
                    return Err(Trouble { source: self.place.source, nth, why });
                }
            }
            start = end + 1;
        }
        Ok(())
    }
}

/// What went wrong with a piece.
struct Trouble {
    source: usize,
    /// The record that cannot be read, counted from the beginning of the piece.
    nth: Option<u64>,
    why: anyhow::Error,
}

/// Gives all records of the sources to `take`, with their digests and in order, until it fails.
pub(crate) fn run(
    sources: Vec<Source>,
    shape: Shape,
    rule: &Rule,
    hash: &HashFamily,
    mut take: impl FnMut(&Piece) -> anyhow::Result<()>,
) -> anyhow::Result<()> {
    let workers = available_parallelism().map_or(1, NonZero::get);
    thread::scope(|scope| {
        let mut to_workers = Vec::with_capacity(workers);
        let mut from_workers = Vec::with_capacity(workers);
        for _ in 0..workers {
            let (give, pieces) = channel::<Result<Piece, Trouble>>();
            let (done, results) = channel();
            spawn_scoped(scope, move || work(&pieces, &done, shape, rule, hash))?;
            to_workers.push(give);
            from_workers.push(results);
        }
        let (give_back, spare) = channel();
        for _ in 0..workers * PIECES_PER_WORKER + MORE_PIECES {
            let _ = give_back.send(Piece::default()); // the receiver is just below
        }
        let names: Vec<(String, u64)> =
            sources.iter().map(|source| (source.name.clone(), source.skipped_records)).collect();
        let feeder = Feeder { workers: to_workers, turn: 0, spare };
        spawn_scoped(scope, move || feeder.feed(sources, shape))?;
        let (mut source, mut records) = (usize::MAX, 0);
        for turn in 0.. {
            // The reader is done, and so is the worker whose turn it is.
            let Ok(result) = from_workers[turn % workers].recv() else { return Ok(()) };
            let number = result.as_ref().map_or_else(|bad| bad.source, |piece| piece.place.source);
            if number != source {
                (source, records) = (number, names[number].1);
            }
            let mut piece = match result {
                Ok(piece) => piece,
                Err(Trouble { nth, why, .. }) => {
                    let name = &names[number].0;
                    match nth {
                        Some(nth) => bail!("cannot read {name}: record {} {why:#}", records + nth),
                        None => return Err(why.context(format!("cannot read {name}"))),
                    }
                }
            };
            records += piece.records.len() as u64;
            piece.place.records = records;
            take(&piece)?;
            let _ = give_back.send(piece); // the reader may be done
        }
        Ok(())
    })
}

/// What a worker does: digests of one piece after the other, until there are no more.
fn work(
    pieces: &Receiver<Result<Piece, Trouble>>,
    done: &Sender<Result<Piece, Trouble>>,
    shape: Shape,
    rule: &Rule,
    hash: &HashFamily,
) {
    for piece in pieces {
        let result = piece.and_then(|mut piece| piece.digest(shape, rule, hash).map(|()| piece));
        if done.send(result).is_err() {
            return; // nobody waits for more
        }
    }
}

/// What reads the sources and hands out pieces.
struct Feeder {
    workers: Vec<Sender<Result<Piece, Trouble>>>,
    turn: usize,
    spare: Receiver<Piece>,
}

impl Feeder {
    /// Reads the sources piece by piece. An error goes the way of the pieces, behind them.
    fn feed(mut self, sources: Vec<Source>, shape: Shape) {
        for (number, source) in sources.into_iter().enumerate() {
            match self.feed_one(number, source, shape) {
                Ok(true) => {}
                Ok(false) => return,
                Err(why) => {
                    let nth = why.is::<TooLong>().then_some(1);
                    self.give(Err(Trouble { source: number, nth, why }));
                    return;
                }
            }
        }
    }

    /// Says whether anybody wants more.
    fn give(&mut self, piece: Result<Piece, Trouble>) -> bool {
        let worker = &self.workers[self.turn % self.workers.len()];
        self.turn += 1;
        worker.send(piece).is_ok()
    }

    /// A piece to fill; none if nobody wants more.
    fn spare(&self) -> Option<Piece> {
        let mut piece = self.spare.recv().ok()?;
        piece.clear();
        Some(piece)
    }

    /// Reads one source; says whether anybody wants more.
    fn feed_one(
        &mut self,
        number: usize,
        mut source: Source,
        shape: Shape,
    ) -> anyhow::Result<bool> {
        skip(&mut source)?;
        let mut place = Place { source: number, bytes: source.skip, records: 0 };
        let Some(mut piece) = self.spare() else { return Ok(false) };
        loop {
            let before = piece.len;
            let ended = piece.read(&mut source.reader, shape.longest)? == 0;
            let has_end = memchr::memchr(shape.separator, &piece.bytes()[before..]).is_some();
            if !ended && !has_end {
                // A carriage return may be the last byte.
                if piece.len > shape.longest + 1 {
                    bail!(TooLong(shape.longest));
                }
                continue;
            }
            if ended {
                place.bytes += piece.len as u64;
                piece.place = place;
                // An empty piece goes round, too: none must get lost.
                return Ok(self.give(Ok(piece)));
            }
            let Some(mut next) = self.spare() else { return Ok(false) };
            piece.hand_over(shape.separator, &mut next);
            place.bytes += piece.len as u64;
            piece.place = place;
            if !self.give(Ok(piece)) {
                return Ok(false);
            }
            piece = next;
        }
    }
}

/// A record is longer than this.
#[derive(Debug)]
struct TooLong(usize);

impl std::fmt::Display for TooLong {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(out, "is longer than {} bytes; is this a text file?", self.0)
    }
}

impl std::error::Error for TooLong {}

/// Passes over what was dealt with before.
fn skip(source: &mut Source) -> anyhow::Result<()> {
    let skipped = io::copy(&mut source.reader.by_ref().take(source.skip), &mut io::sink())?;
    if skipped < source.skip {
        bail!("it is shorter than it was; start over with --force");
    }
    Ok(())
}
