//! All fingerprints in order, the check of a body that came from outside, and the way to write
//! fingerprints that are in order.

use super::table::{BLOCK, Table, TableMut};
use crate::simd::Scalar;

/// The fingerprints of a sound table in ascending order.
#[derive(Clone)]
pub(super) struct Walk<'a> {
    table: Table<'a, Scalar>,
    /// The block of the quotient, and those of its occupied homes that are still to come.
    block: u64,
    homes: u64,
    quotient: u64,
    /// The next slot to read.
    position: u64,
    /// The block of the last slot that was read, and its ends.
    ends_block: u64,
    ends: u64,
    /// Whether the run of the quotient goes on at the position.
    within: bool,
}

impl<'a> Walk<'a> {
    pub(super) fn new(table: Table<'a, Scalar>) -> Walk<'a> {
        Walk {
            table,
            block: 0,
            homes: table.occupied(0),
            quotient: 0,
            position: table.spill(0),
            ends_block: 0,
            ends: table.ends(0),
            within: false,
        }
    }
}

impl Walk<'_> {
    /// The position of the fingerprint that came last.
    pub(super) fn last_position(&self) -> u64 {
        self.position - 1
    }
}

impl Iterator for Walk<'_> {
    type Item = (u64, u64);

    /// A quotient and a remainder.
    #[inline(always)]
    fn next(&mut self) -> Option<(u64, u64)> {
        let shape = self.table.shape;
        if !self.within {
            while self.homes == 0 {
                self.block += 1;
                if self.block >= shape.blocks {
                    return None;
                }
                self.homes = self.table.occupied(self.block);
            }
            self.quotient = self.block * BLOCK + u64::from(self.homes.trailing_zeros());
            self.homes &= self.homes - 1;
            self.position = self.position.max(self.quotient);
        }
        // A sound table never goes past the end twice; a damaged one must not go on forever.
        if self.position >= 2 * shape.slots() {
            return None;
        }
        let slot = shape.wrap(self.position);
        if slot / BLOCK != self.ends_block {
            self.ends_block = slot / BLOCK;
            self.ends = self.table.ends(self.ends_block);
        }
        self.within = self.ends >> (slot % BLOCK) & 1 == 0;
        self.position += 1;
        Some((self.quotient, self.table.remainder(slot)))
    }
}

/// How many fingerprints a table holds, and how many of them differ.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct Tally {
    pub(super) items: u64,
    pub(super) distinct: u64,
}

/// Writes fingerprints, which come in ascending order, into an empty table. There are fewer than
/// slots.
pub(super) fn write(
    table: &mut TableMut<'_, Scalar>,
    fingerprints: impl Iterator<Item = u64> + Clone,
) -> Tally {
    let shape = table.shape;
    // What goes past the end on a line of slots goes past the end on the ring: some slot stays
    // free, and behind it both are the same.
    let (mut end, mut tally, mut last) = (0, Tally::default(), None);
    for fingerprint in fingerprints.clone() {
        end = end.max(fingerprint >> shape.width) + 1;
        tally.items += 1;
        tally.distinct += u64::from(last != Some(fingerprint));
        last = Some(fingerprint);
    }
    let mut writer = Writer::new(table, end.saturating_sub(shape.slots()));
    for fingerprint in fingerprints {
        writer.push(fingerprint >> shape.width, fingerprint & ((1 << shape.width) - 1));
    }
    writer.finish();
    tally
}

/// Writes fingerprints in order. Words go to memory when they are full: a load that overlaps two
/// recent stores waits for both.
struct Writer<'a, 'b> {
    table: &'a mut TableMut<'b, Scalar>,
    /// The next slot.
    position: u64,
    /// The quotient of the run that is being written.
    quotient: Option<u64>,
    /// The block of that quotient, and its homes so far.
    block: u64,
    homes: u64,
    /// The block of the last slot, and the ends in it so far.
    ends_block: u64,
    ends: u64,
    /// The word of the last remainder, and its bits so far.
    at: usize,
    bits: u64,
}

impl<'a, 'b> Writer<'a, 'b> {
    fn new(table: &'a mut TableMut<'b, Scalar>, spill: u64) -> Writer<'a, 'b> {
        table.set_spill(0, spill);
        Writer {
            table,
            position: spill,
            quotient: None,
            block: 0,
            homes: 0,
            ends_block: 0,
            ends: 0,
            at: 0,
            bits: 0,
        }
    }

    #[inline(always)]
    fn push(&mut self, quotient: u64, remainder: u64) {
        if self.quotient != Some(quotient) {
            self.end_run();
            self.quotient = Some(quotient);
            while self.block < quotient / BLOCK {
                self.end_block();
            }
            self.homes |= 1 << (quotient % BLOCK);
            self.position = self.position.max(quotient);
        }
        let shape = self.table.shape;
        let (slot, width) = (shape.wrap(self.position), u64::from(shape.width));
        let (start, bit) = (shape.block_start(slot / BLOCK), slot % BLOCK * width);
        self.move_to(start + 8 * (bit / 64) as usize);
        self.bits |= remainder << (bit % 64);
        if bit % 64 + width > 64 {
            self.move_to(self.at + 8);
            self.bits |= remainder >> (64 - bit % 64);
        }
        self.position += 1;
    }

    #[inline(always)]
    fn move_to(&mut self, at: usize) {
        if at != self.at {
            self.table.add_bits(self.at, self.bits);
            (self.at, self.bits) = (at, 0);
        }
    }

    /// Marks the last slot as the end of a run, if there is a run.
    #[inline(always)]
    fn end_run(&mut self) {
        if self.quotient.is_some() {
            let slot = self.table.shape.wrap(self.position - 1);
            if slot / BLOCK != self.ends_block {
                self.flush_ends();
                self.ends_block = slot / BLOCK;
            }
            self.ends |= 1 << (slot % BLOCK);
        }
    }

    fn flush_ends(&mut self) {
        let at = self.table.view().marks(self.ends_block) + 8;
        self.table.add_bits(at, self.ends);
        self.ends = 0;
    }

    /// Goes on to the next block of homes.
    fn end_block(&mut self) {
        let at = self.table.view().marks(self.block);
        self.table.add_bits(at, self.homes);
        self.homes = 0;
        self.block += 1;
        if self.block < self.table.shape.blocks {
            let spill = self.position.saturating_sub(self.block * BLOCK);
            self.table.set_spill(self.block, spill);
        }
    }

    fn finish(mut self) {
        self.end_run();
        self.flush_ends();
        self.move_to(usize::MAX);
        while self.block < self.table.shape.blocks {
            self.end_block();
        }
    }
}

/// Whether the body is one that insertions of this many fingerprints can make. It reads everything.
pub(super) fn is_sound(table: Table<'_, Scalar>, tally: Tally) -> bool {
    let shape = table.shape;
    let (mut homes, mut ends) = (0, 0);
    for block in 0..shape.blocks {
        homes += u64::from(table.occupied(block).count_ones());
        ends += u64::from(table.ends(block).count_ones());
    }
    // At least one slot is free, so that the ring has a beginning.
    if homes != ends || tally.items >= shape.slots() {
        return false;
    }
    let mut walk = Walk::new(table);
    let first = walk.position;
    if first > tally.items {
        return false;
    }
    let mut found = Tally::default();
    let (mut last, mut block) = (None, 0);
    let mut end = first;
    loop {
        let position = walk.position;
        let Some((quotient, remainder)) = walk.next() else { break };
        let fingerprint = (quotient, remainder);
        found.items += 1;
        if found.items > tally.items || last > Some(fingerprint) {
            return false;
        }
        found.distinct += u64::from(last != Some(fingerprint));
        // The slots between two clusters are free.
        let start = walk.position - 1;
        if !(position..start).all(|slot| is_free(table, shape.wrap(slot))) {
            return false;
        }
        while block < quotient / BLOCK {
            block += 1;
            if !states(table, block, position.saturating_sub(block * BLOCK)) {
                return false;
            }
        }
        last = Some(fingerprint);
        end = walk.position;
    }
    while block + 1 < shape.blocks {
        block += 1;
        if !states(table, block, end.saturating_sub(block * BLOCK)) {
            return false;
        }
    }
    // The end of the ring meets its beginning.
    !walk.within
        && found == tally
        && end.saturating_sub(shape.slots()) == first
        && (end..shape.slots()).all(|slot| is_free(table, slot))
        && states(table, 0, first)
}

fn is_free(table: Table<'_, Scalar>, slot: u64) -> bool {
    table.remainder(slot) == 0 && !table.is_end(slot)
}

/// Whether the block states this spill.
fn states(table: Table<'_, Scalar>, block: u64, spill: u64) -> bool {
    u64::from(table.stored_spill(block)) == spill.min(u64::from(u8::MAX))
}
