//! A batch of keys, and for each the text to print when it is chosen.

use std::sync::Arc;
use tamis::KeyRef;

/// A batch of keys, and for each the text to print when it is chosen.
#[derive(Default)]
pub struct Batch {
    pub(super) text: Vec<u8>,
    ends: Vec<usize>,
    integers: Vec<KeyRef<'static>>,
    maybe_integers: Vec<Option<KeyRef<'static>>>,
    pub(super) rows: Vec<Vec<u8>>,
    /// The header of a CSV file, with its first batch, where rows were asked for.
    pub(crate) header: Option<Vec<u8>>,
    pub(super) place: Place,
}

/// Where the keys of a batch stand in their file, for messages.
#[derive(Default)]
pub(super) struct Place {
    /// The name of the file.
    pub(super) file: Arc<str>,
    /// The line of the first key.
    pub(super) first_line: u64,
    /// How many keys came before each line that was no key.
    pub(super) skipped_after: Vec<usize>,
    /// The line of each key, where keys may take several lines or share one.
    pub(super) lines: Vec<u64>,
}

/// How the keys of a batch are taken.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    Text,
    Integers,
    /// Every key is text, and an integer too if it can be read as one.
    Both,
}

/// Why a record is not taken into a batch.
pub(super) enum Refused {
    NotAnInteger,
    /// The system has no memory for so many bytes.
    Memory(u64),
}

impl Batch {
    pub(super) fn clear(&mut self) {
        self.header = None;
        self.text.clear();
        self.ends.clear();
        self.integers.clear();
        self.maybe_integers.clear();
        self.rows.clear();
        self.place.skipped_after.clear();
        self.place.lines.clear();
    }

    pub(super) fn push(&mut self, text: &[u8], kind: Kind) -> Result<(), Refused> {
        self.reserve(text.len(), kind)?;
        match kind {
            Kind::Text => {}
            Kind::Integers => {
                self.integers.push(parse_integer(text).ok_or(Refused::NotAnInteger)?);
            }
            Kind::Both => self.maybe_integers.push(parse_integer(text)),
        }
        self.text.extend_from_slice(text);
        self.ends.push(self.text.len());
        Ok(())
    }

    /// Makes room for one more key, if the system has the memory.
    fn reserve(&mut self, bytes: usize, kind: Kind) -> Result<(), Refused> {
        let reserved = self.text.try_reserve(bytes).and(self.ends.try_reserve(1)).and(match kind {
            Kind::Text => Ok(()),
            Kind::Integers => self.integers.try_reserve(1),
            Kind::Both => self.maybe_integers.try_reserve(1),
        });
        if reserved.is_ok() {
            return Ok(());
        }
        let needed = 2 * self.text.capacity() as u64;
        // The error needs some memory, too.
        *self = Batch::default();
        Err(Refused::Memory(needed))
    }

    /// How many keys there are.
    pub fn len(&self) -> usize {
        self.ends.len()
    }

    /// Whether there is no key.
    pub fn is_empty(&self) -> bool {
        self.ends.is_empty()
    }

    /// The keys as they were read.
    pub fn texts(&self) -> impl Iterator<Item = &[u8]> {
        let starts = std::iter::once(0).chain(self.ends.iter().copied());
        starts.zip(&self.ends).map(|(start, end)| &self.text[start..*end])
    }

    /// The keys as integers if they are to be integers, else as text.
    pub fn keys(&self) -> Vec<KeyRef<'_>> {
        if self.integers.is_empty() {
            self.texts().map(KeyRef::Bytes).collect()
        } else {
            self.integers.clone()
        }
    }

    /// The integer that each key can be read as, where both kinds are asked for; else nothing.
    pub(crate) fn maybe_integers(&self) -> &[Option<KeyRef<'static>>] {
        &self.maybe_integers
    }

    /// What to print of each key: its text, or its whole row where rows were asked for.
    pub fn printed(&self) -> Vec<&[u8]> {
        if self.rows.is_empty() {
            self.texts().collect()
        } else {
            self.rows.iter().map(Vec::as_slice).collect()
        }
    }

    /// Where a key stands: the name of its file and its line.
    pub(crate) fn place_of(&self, index: usize) -> String {
        format!("{}, line {}", self.place.file, self.line_of(index))
    }

    /// The line of a key in its file.
    pub(crate) fn line_of(&self, index: usize) -> u64 {
        let place = &self.place;
        place.lines.get(index).copied().unwrap_or_else(|| {
            let skipped = place.skipped_after.iter().filter(|before| **before <= index).count();
            place.first_line + index as u64 + skipped as u64
        })
    }
}

fn parse_integer(text: &[u8]) -> Option<KeyRef<'static>> {
    let text = std::str::from_utf8(text).ok()?.trim();
    if let Ok(natural) = text.parse::<u64>() {
        return Some(KeyRef::Natural(natural));
    }
    let signed = text.parse::<i64>().ok()?;
    Some(if signed < 0 { KeyRef::Negative(signed as u64) } else { KeyRef::Natural(signed as u64) })
}
