//! The slots: fingerprints in order, each near its home.
//!
//! A fingerprint is a quotient, which names a slot (its home), and a remainder of `width` bits. The
//! remainders of one quotient are a run: neighbouring slots, in ascending order. Runs are in the
//! order of their quotients. A run begins at its home, or right behind the run before it. The slots
//! are a ring: a run near the end may go on at the beginning.
//!
//! Two bits for each slot tell where every run lies: `occupied` (some remainder has this home) and
//! `ends` (the slot is the last of its run). The n-th set bit of one belongs to the n-th set bit of
//! the other. A block of 64 slots also has its `spill`: how many slots at its beginning belong to
//! runs of earlier blocks. So a search counts within one block, and seldom looks further.
//!
//! The bytes depend on the fingerprints alone, not on the order in which they came or went.
//!
//! Positions are counted on from a home and may pass the last slot; [`Shape::wrap`] brings them
//! back into the ring. An end is the position after the last slot of a run.

use crate::simd::Kernels;

/// The slots of a block.
// FORMAT v1: frozen
pub(super) const BLOCK: u64 = 64;

/// The bytes that describe the runs of a block: two words and the spill.
// FORMAT v1: frozen
pub(super) const MARKS: u64 = 17;

/// The widest remainder. A word of eight bytes holds it wherever it begins.
pub(super) const MAX_WIDTH: u32 = 56;

/// A spill that is this large or larger. The true one is counted from the blocks before.
const LARGE_SPILL: u8 = u8::MAX;

/// The size of a table.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Shape {
    pub(super) blocks: u64,
    pub(super) width: u32,
}

impl Shape {
    pub(super) fn slots(self) -> u64 {
        self.blocks * BLOCK
    }

    /// The bytes of a block.
    #[inline(always)]
    fn stride(self) -> usize {
        8 * self.width as usize + MARKS as usize
    }

    /// Where a block begins.
    #[inline(always)]
    pub(super) fn block_start(self, block: u64) -> usize {
        block as usize * self.stride()
    }

    /// The slot of a position that went past the end less than once.
    #[inline(always)]
    pub(super) fn wrap(self, position: u64) -> u64 {
        if position >= self.slots() { position - self.slots() } else { position }
    }

    /// The block of a number of blocks that went past the end less than once.
    #[inline(always)]
    fn wrap_block(self, block: u64) -> u64 {
        if block >= self.blocks { block - self.blocks } else { block }
    }
}

/// A table that can be read.
#[derive(Clone, Copy)]
pub(super) struct Table<'a, N> {
    pub(super) body: &'a [u8],
    pub(super) shape: Shape,
    pub(super) kernels: N,
}

/// The word of eight bytes at `at`; past the end, zero.
#[inline(always)]
fn load(body: &[u8], at: usize) -> u64 {
    let word = body.get(at..).and_then(|rest| rest.first_chunk());
    word.map_or(0, |bytes| u64::from_le_bytes(*bytes))
}

#[inline(always)]
fn save(body: &mut [u8], at: usize, word: u64) {
    if let Some(bytes) = body.get_mut(at..).and_then(|rest| rest.first_chunk_mut()) {
        *bytes = word.to_le_bytes();
    }
}

/// The lowest `count` bits.
#[inline(always)]
fn low(count: u64) -> u64 {
    if count >= 64 { u64::MAX } else { (1 << count) - 1 }
}

impl<N: Kernels> Table<'_, N> {
    /// Where the marks of a block begin: the word of its homes, the word of its ends, its spill.
    #[inline(always)]
    pub(super) fn marks(self, block: u64) -> usize {
        self.shape.block_start(block) + 8 * self.shape.width as usize
    }

    #[inline(always)]
    pub(super) fn occupied(self, block: u64) -> u64 {
        load(self.body, self.marks(block))
    }

    #[inline(always)]
    pub(super) fn ends(self, block: u64) -> u64 {
        load(self.body, self.marks(block) + 8)
    }

    #[inline(always)]
    pub(super) fn stored_spill(self, block: u64) -> u8 {
        self.body.get(self.marks(block) + 16).copied().unwrap_or(0)
    }

    #[inline(always)]
    pub(super) fn is_end(self, slot: u64) -> bool {
        self.ends(slot / BLOCK) >> (slot % BLOCK) & 1 == 1
    }

    #[inline(always)]
    pub(super) fn remainder(self, slot: u64) -> u64 {
        let bit = slot % BLOCK * u64::from(self.shape.width);
        let at = self.shape.block_start(slot / BLOCK) + (bit >> 3) as usize;
        load(self.body, at) >> (bit & 7) & low(u64::from(self.shape.width))
    }

    /// How many slots at the beginning of the block belong to runs of earlier blocks.
    #[inline(always)]
    pub(super) fn spill(self, block: u64) -> u64 {
        match self.stored_spill(block) {
            LARGE_SPILL => self.count_spill(block),
            spill => u64::from(spill),
        }
    }

    /// The same, counted from the nearest block before that states its spill.
    #[cold]
    fn count_spill(self, block: u64) -> u64 {
        let blocks = self.shape.blocks;
        let stated =
            |back: &u64| self.stored_spill((block + blocks - back) % blocks) != LARGE_SPILL;
        // A damaged file may state none.
        let Some(back) = (1..blocks).find(stated) else { return 0 };
        let mut spill = u64::from(self.stored_spill((block + blocks - back) % blocks));
        for back in (1..=back).rev() {
            let here = (block + blocks - back) % blocks;
            let runs = self.occupied(here).count_ones();
            spill = self.end_after(here, spill, runs).saturating_sub((here + 1) * BLOCK);
        }
        spill
    }

    /// The end of the runs of all quotients up to this one, counted from the block of the quotient.
    /// It is no more than the quotient if the slot of the quotient is free.
    #[inline(always)]
    pub(super) fn end_of_runs(self, quotient: u64) -> u64 {
        let block = quotient / BLOCK;
        let upto = low(quotient % BLOCK + 1);
        let runs = (self.occupied(block) & upto).count_ones();
        self.end_after(block, self.spill(block), runs)
    }

    /// The end of this many runs behind the spill of the block.
    #[inline(always)]
    fn end_after(self, block: u64, spill: u64, runs: u32) -> u64 {
        if runs == 0 {
            return block * BLOCK + spill;
        }
        let (mut here, mut rank) = (block + spill / BLOCK, runs - 1);
        let mut ends = self.ends(self.shape.wrap_block(here)) & !low(spill % BLOCK);
        loop {
            match self.kernels.select(ends, rank) {
                Ok(bit) => return here * BLOCK + u64::from(bit) + 1,
                Err(count) => rank -= count,
            }
            here += 1;
            if here > block + self.shape.blocks {
                return here * BLOCK; // a damaged file: there are fewer ends than runs
            }
            ends = self.ends(self.shape.wrap_block(here));
        }
    }

    /// The first position from `end` on that no run takes, or that only a run takes whose home it
    /// is, if `home_stops`. `end` is the end of the runs up to `quotient`, and above it.
    ///
    /// It goes through the homes and the ends side by side. To count runs from one position to the
    /// next takes as many steps as a near-critical process has generations: many, in a full table.
    #[inline(always)]
    fn gap_after(self, quotient: u64, end: u64, home_stops: bool) -> u64 {
        let free = u64::from(!home_stops);
        let (mut block, mut position) = (quotient / BLOCK, end);
        let (mut homes, mut ends) = (0, 0);
        if end / BLOCK == block {
            homes = self.occupied(block) & !low(quotient % BLOCK + 1);
            ends = self.ends(block) & !low(end % BLOCK);
        }
        loop {
            // The runs of this block, from one that ends at `position` on.
            while position < (block + 1) * BLOCK {
                let home = block * BLOCK + u64::from(homes.trailing_zeros());
                if home >= position + free {
                    return position;
                }
                if ends == 0 {
                    break; // the run goes on in the next block
                }
                position = block * BLOCK + u64::from(ends.trailing_zeros()) + 1;
                homes &= homes - 1;
                ends &= ends - 1;
            }
            // What spills into a block is full, and may fill it.
            block += 1;
            position = block * BLOCK + self.spill(self.shape.wrap_block(block));
            while position > (block + 1) * BLOCK {
                block = position / BLOCK;
                position = block * BLOCK + self.spill(self.shape.wrap_block(block));
            }
            let here = self.shape.wrap_block(block);
            homes = self.occupied(here);
            ends = self.ends(here) & !low(position - block * BLOCK);
        }
    }

    #[inline(always)]
    pub(super) fn is_occupied(self, quotient: u64) -> bool {
        self.occupied(quotient / BLOCK) >> (quotient % BLOCK) & 1 == 1
    }

    /// Where the fingerprint is, or would be: see [`Place`]. `end` is the end of the runs up to its
    /// quotient.
    ///
    /// A loop without closures: those would be compiled without the level's instructions.
    #[inline(always)]
    fn find(self, quotient: u64, remainder: u64, end: u64) -> Place {
        let mut place = Place { position: end.max(quotient), count: 0 };
        let mut position = end;
        while position > quotient {
            let here = self.remainder(self.shape.wrap(position - 1));
            if here < remainder {
                break;
            }
            if here == remainder {
                place.count += 1;
            } else {
                place.position = position - 1;
            }
            position -= 1;
            if position > quotient && self.is_end(self.shape.wrap(position - 1)) {
                break;
            }
        }
        place
    }

    /// How often the fingerprint is there.
    #[inline(always)]
    pub(super) fn count(self, quotient: u64, remainder: u64) -> u64 {
        if !self.is_occupied(quotient) {
            return 0;
        }
        self.find(quotient, remainder, self.end_of_runs(quotient)).count
    }

    /// Whether the fingerprint is there.
    ///
    /// Whether a home is occupied, and how long its run is, cannot be predicted. So all remainders
    /// of a word are compared at once, and the answer is put together without a branch. Runs that
    /// are too long for that, or come from the block before, are rare.
    #[inline(always)]
    pub(super) fn contains(self, quotient: u64, remainder: u64) -> bool {
        let width = u64::from(self.shape.width);
        // If the home is not occupied, what follows is about another run, and does not matter.
        let last = self.end_of_runs(quotient).max(quotient + 1) - 1;
        let slot = self.shape.wrap(last);
        let (block, here) = (slot / BLOCK, slot % BLOCK);
        let before = self.ends(block) & low(here);
        let after_before = u64::from(u64::BITS - before.leading_zeros());
        let home = quotient.saturating_sub(last - here);
        let start = after_before.max(home);
        let first = (here + 1).saturating_sub(FIELDS[width as usize].0);
        if start < first || (before == 0 && quotient < last - here) {
            return self.count(quotient, remainder) > 0;
        }
        let bit = first * width;
        let word =
            load(self.body, self.shape.block_start(block) + (bit >> 3) as usize) >> (bit & 7);
        let ones = FIELDS[width as usize].1;
        let run = low((here + 1 - first) * width) & !low((start - first) * width);
        // Fields of other runs are not zero; a field of this run is, if it is the remainder.
        let fields = (word ^ remainder.wrapping_mul(ones)) | !run;
        let zero = fields.wrapping_sub(ones) & !fields & ones << (width - 1);
        (zero != 0) & self.is_occupied(quotient)
    }
}

/// By width: how many fields of that width a word of 57 bits holds, and a word with 1 in each.
static FIELDS: [(u64, u64); MAX_WIDTH as usize + 1] = {
    let mut all = [(0, 0); MAX_WIDTH as usize + 1];
    let mut width = 1;
    while width <= MAX_WIDTH as usize {
        let count = 57 / width;
        let mut field = 0;
        while field < count {
            all[width].1 |= 1 << (field * width);
            field += 1;
        }
        all[width].0 = count as u64;
        width += 1;
    }
    all
};

/// Where a fingerprint is in its run, or would be.
struct Place {
    /// The position behind the last remainder that is no larger.
    position: u64,
    /// How often the fingerprint is there, right before that position.
    count: u64,
}

/// A table that can be changed. Its body is sound: `check` went over it, or it was made here.
pub(super) struct TableMut<'a, N> {
    pub(super) body: &'a mut [u8],
    pub(super) shape: Shape,
    pub(super) kernels: N,
}

impl<N: Kernels> TableMut<'_, N> {
    #[inline(always)]
    pub(super) fn view(&self) -> Table<'_, N> {
        Table { body: self.body, shape: self.shape, kernels: self.kernels }
    }

    fn set_occupied(&mut self, quotient: u64, value: bool) {
        let at = self.view().marks(quotient / BLOCK);
        let word = load(self.body, at) & !(1 << (quotient % BLOCK));
        save(self.body, at, word | u64::from(value) << (quotient % BLOCK));
    }

    fn set_end(&mut self, slot: u64, value: bool) {
        let at = self.view().marks(slot / BLOCK) + 8;
        let word = load(self.body, at) & !(1 << (slot % BLOCK));
        save(self.body, at, word | u64::from(value) << (slot % BLOCK));
    }

    /// Whole words, as they were written last: a load that overlaps two recent stores waits for
    /// both.
    fn set_remainder(&mut self, slot: u64, remainder: u64) {
        let width = u64::from(self.shape.width);
        let (start, bit) = (self.shape.block_start(slot / BLOCK), slot % BLOCK * width);
        let (at, shift) = (start + 8 * (bit / 64) as usize, bit % 64);
        let word = load(self.body, at) & !(low(width) << shift);
        save(self.body, at, word | remainder << shift);
        if shift + width > 64 {
            let word = load(self.body, at + 8) & !(low(width) >> (64 - shift));
            save(self.body, at + 8, word | remainder >> (64 - shift));
        }
    }

    /// Adds the bits of a word.
    #[inline(always)]
    pub(super) fn add_bits(&mut self, at: usize, bits: u64) {
        save(self.body, at, load(self.body, at) | bits);
    }

    pub(super) fn set_spill(&mut self, block: u64, spill: u64) {
        let at = self.view().marks(block) + 16;
        if let Some(byte) = self.body.get_mut(at) {
            *byte = spill.min(u64::from(LARGE_SPILL)) as u8;
        }
    }

    /// Puts a fingerprint in; says how often it was there. The table must have two free slots.
    #[inline(always)]
    pub(super) fn insert(&mut self, quotient: u64, remainder: u64) -> u64 {
        let table = self.view();
        let end = table.end_of_runs(quotient);
        let first = !table.is_occupied(quotient);
        let Place { position: place, count } = if first {
            Place { position: end.max(quotient), count: 0 }
        } else {
            table.find(quotient, remainder, end)
        };
        // If the home and all behind it is free, nothing moves.
        let free = if end <= quotient { quotient } else { table.gap_after(quotient, end, false) };
        let slot = self.shape.wrap(place);
        self.shift_up(place, free);
        self.set_remainder(slot, remainder);
        let last = first || place == end;
        if last && !first {
            self.set_end(self.shape.wrap(end - 1), false);
        }
        self.set_end(slot, last);
        if first {
            self.set_occupied(quotient, true);
        }
        for block in quotient / BLOCK + 1..=free / BLOCK {
            let block = self.shape.wrap_block(block);
            let spill = self.view().stored_spill(block);
            self.set_spill(block, u64::from(spill.saturating_add(1)));
        }
        count
    }

    /// Takes a fingerprint out once; says how often it was there.
    #[inline(always)]
    pub(super) fn remove(&mut self, quotient: u64, remainder: u64) -> u64 {
        let table = self.view();
        if !table.is_occupied(quotient) {
            return 0;
        }
        let end = table.end_of_runs(quotient);
        let Place { position, count } = table.find(quotient, remainder, end);
        if count == 0 {
            return 0;
        }
        // The last of equal ones: the run keeps its beginning.
        let place = position - 1;
        let last = place + 1 == end;
        let alone = last && (place == quotient || table.is_end(self.shape.wrap(place - 1)));
        let behind = table.gap_after(quotient, end, true);
        self.shift_down(place, behind);
        if alone {
            self.set_occupied(quotient, false);
        } else if last {
            self.set_end(self.shape.wrap(place - 1), true);
        }
        for block in quotient / BLOCK + 1..=(behind - 1) / BLOCK {
            let block = self.shape.wrap_block(block);
            let spill = match self.view().stored_spill(block) {
                LARGE_SPILL => self.view().count_spill(block),
                spill => u64::from(spill).saturating_sub(1),
            };
            self.set_spill(block, spill);
        }
        count
    }

    /// Moves the slots from `from` to before `to` up by one. What is at `to` is free.
    fn shift_up(&mut self, from: u64, to: u64) {
        let width = u64::from(self.shape.width);
        let mut top = to;
        loop {
            // The part within the block of `top`.
            let (block, here) = (top / BLOCK, top % BLOCK);
            let bottom = if from / BLOCK == block { from % BLOCK } else { 0 };
            let start = self.shape.block_start(self.shape.wrap_block(block));
            shift_bits_up(self.body, start, bottom * width, here * width, width);
            let at = start + 8 * width as usize + 8;
            shift_bits_up(self.body, at, bottom, here, 1);
            if from / BLOCK == block {
                return;
            }
            // The last slot of the block before becomes the first one here.
            let (first, last) =
                (self.shape.wrap(block * BLOCK), self.shape.wrap(block * BLOCK - 1));
            let (remainder, end) = (self.view().remainder(last), self.view().is_end(last));
            self.set_remainder(first, remainder);
            self.set_end(first, end);
            top = block * BLOCK - 1;
        }
    }

    /// Moves the slots after `from` to before `to` down by one, and frees the last of them.
    fn shift_down(&mut self, from: u64, to: u64) {
        let width = u64::from(self.shape.width);
        let mut bottom = from;
        loop {
            let (block, here) = (bottom / BLOCK, bottom % BLOCK);
            let ends_here = (to - 1) / BLOCK == block;
            let top = if ends_here { (to - 1) % BLOCK } else { BLOCK - 1 };
            let start = self.shape.block_start(self.shape.wrap_block(block));
            shift_bits_down(self.body, start, here * width, top * width, width);
            let at = start + 8 * width as usize + 8;
            shift_bits_down(self.body, at, here, top, 1);
            let last = self.shape.wrap(block * BLOCK + top);
            if ends_here {
                self.set_remainder(last, 0);
                self.set_end(last, false);
                return;
            }
            let next = self.shape.wrap((block + 1) * BLOCK);
            let (remainder, end) = (self.view().remainder(next), self.view().is_end(next));
            self.set_remainder(last, remainder);
            self.set_end(last, end);
            bottom = (block + 1) * BLOCK;
        }
    }
}

/// Moves the bits from `from` to before `to`, counted from byte `start`, up by `by` (below 64).
fn shift_bits_up(body: &mut [u8], start: usize, from: u64, to: u64, by: u64) {
    if from >= to {
        return;
    }
    for word in ((from + by) / 64..=(to + by - 1) / 64).rev() {
        let at = start + 8 * word as usize;
        let now = load(body, at);
        let below = if word == 0 { 0 } else { load(body, at - 8) };
        let moved = now << by | below >> (64 - by);
        let mask = range(64 * word, from + by, to + by);
        save(body, at, now & !mask | moved & mask);
    }
}

/// Moves the bits from `from + by` to before `to + by`, counted from byte `start`, down by `by`.
fn shift_bits_down(body: &mut [u8], start: usize, from: u64, to: u64, by: u64) {
    if from >= to {
        return;
    }
    for word in from / 64..=(to - 1) / 64 {
        let at = start + 8 * word as usize;
        let (now, above) = (load(body, at), load(body, at + 8));
        let moved = now >> by | above << (64 - by);
        let mask = range(64 * word, from, to);
        save(body, at, now & !mask | moved & mask);
    }
}

/// The bits from `from` to before `to` that lie in the word that begins at bit `word`.
fn range(word: u64, from: u64, to: u64) -> u64 {
    low(to.saturating_sub(word).min(64)) & !low(from.saturating_sub(word).min(64))
}
