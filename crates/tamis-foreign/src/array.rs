//! An array of bits, and the way from a key to its bits: what most formats share.
//!
//! In memory all of them are bytes, bit p in byte p/8 at the value 1 << p%8. Words of 64 bits that
//! are stored with their low byte first are the same bytes; those stored with their high byte
//! first are turned around when they are read and when they are written.

use crate::{Error, Part};

/// How a format turns a key into positions.
pub(crate) trait Scheme {
    /// What is kept of a key.
    type Hash: Copy;

    /// Hashes a key.
    fn hash(&self, key: &[u8]) -> Self::Hash;

    /// The positions of a key's bits among `bits`, in their order; at most `hashes` are asked for.
    fn positions(&self, hash: Self::Hash, bits: u64) -> impl Iterator<Item = u64>;

    /// How many of the bits a position can name.
    fn reach(&self, bits: u64) -> u64 {
        bits
    }
}

/// Bits, and how many of them a key has.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Array {
    /// The bits, and what pads them to whole words in the file.
    pub(crate) bytes: Vec<u8>,
    /// How many bits positions are counted in.
    pub(crate) bits: u64,
    /// How many bits a key has.
    pub(crate) hashes: u32,
}

/// How many keys are looked up side by side: their loads from memory overlap.
const BATCH: usize = 64;

impl Array {
    /// All bits clear, in whole units of so many bytes. Memory that cannot be had is an error.
    pub(crate) fn zeroed(bits: u64, unit: u64, hashes: u32) -> Result<Array, Error> {
        let len = bits.div_ceil(8).next_multiple_of(unit);
        let mut bytes = with_capacity(len)?;
        bytes.resize(len as usize, 0);
        Ok(Array { bytes, bits, hashes })
    }

    /// Bits as they stand in a file.
    pub(crate) fn copied(stored: &[u8], bits: u64, hashes: u32) -> Result<Array, Error> {
        let mut bytes = with_capacity(stored.len() as u64)?;
        bytes.extend_from_slice(stored);
        Ok(Array { bytes, bits, hashes })
    }

    /// Words of 64 bits that have their high byte first.
    pub(crate) fn from_big_endian(stored: &[u8], bits: u64, hashes: u32) -> Result<Array, Error> {
        let mut array = Array::copied(stored, bits, hashes)?;
        swap_words(&mut array.bytes);
        Ok(array)
    }

    /// Appends the words with their high byte first.
    pub(crate) fn write_big_endian(&self, out: &mut Vec<u8>) {
        let start = out.len();
        out.extend_from_slice(&self.bytes);
        swap_words(&mut out[start..]);
    }

    #[inline(always)]
    fn get(&self, position: u64) -> bool {
        // Positions past the stored bits are clear: some formats store fewer than they name.
        usize::try_from(position / 8)
            .ok()
            .and_then(|at| self.bytes.get(at))
            .is_some_and(|byte| byte >> (position % 8) & 1 == 1)
    }

    /// Whether all bits of a key are set.
    #[inline]
    pub(crate) fn has<S: Scheme>(&self, scheme: &S, hash: S::Hash) -> bool {
        scheme.positions(hash, self.bits).take(self.hashes as usize).all(|at| self.get(at))
    }

    /// Sets the bits of a key; says whether one was clear.
    pub(crate) fn set<S: Scheme>(&mut self, scheme: &S, hash: S::Hash) -> bool {
        let mut new = false;
        for position in scheme.positions(hash, self.bits).take(self.hashes as usize) {
            let place = usize::try_from(position / 8).ok().and_then(|at| self.bytes.get_mut(at));
            if let Some(byte) = place {
                let bit = 1 << (position % 8);
                new |= *byte & bit == 0;
                *byte |= bit;
            }
        }
        new
    }

    /// Looks up hashes; an answer that is `true` already stays so.
    pub(crate) fn has_many<S: Scheme>(&self, scheme: &S, hashes: &[S::Hash], answers: &mut [bool]) {
        for (hashes, answers) in hashes.chunks(BATCH).zip(answers.chunks_mut(BATCH)) {
            // The first bit of every key first: no load waits for another.
            let mut first = [false; BATCH];
            for (first, hash) in first.iter_mut().zip(hashes) {
                *first = scheme.positions(*hash, self.bits).next().is_some_and(|at| self.get(at));
            }
            for ((answer, hash), first) in answers.iter_mut().zip(hashes).zip(first) {
                if first && !*answer {
                    *answer = self.has(scheme, *hash);
                }
            }
        }
    }

    /// Makes it hold what either held.
    pub(crate) fn union(&mut self, other: &Array) -> Result<(), Error> {
        mismatch("bits", self.bits, other.bits)?;
        mismatch("stored bytes", self.bytes.len(), other.bytes.len())?;
        mismatch("bits of a key", self.hashes, other.hashes)?;
        self.bytes.iter_mut().zip(&other.bytes).for_each(|(byte, other)| *byte |= other);
        Ok(())
    }

    /// What is known of it, where positions reach so many bits.
    pub(crate) fn part(&self, reach: u64) -> Part<'_> {
        Part {
            body: &self.bytes,
            bits: self.bits,
            hashes: self.hashes,
            reach: reach.min(self.bits),
            in_blocks: false,
            planned: None,
            counted: None,
        }
    }
}

/// Room for so many bytes. Memory that cannot be had is an error, not an abort.
pub(crate) fn with_capacity(len: u64) -> Result<Vec<u8>, Error> {
    let memory = Error::Memory { needed: len, allowed: None };
    let Ok(size) = usize::try_from(len) else { return Err(memory) };
    let mut bytes = Vec::new();
    bytes.try_reserve_exact(size).map_err(|_| memory)?;
    Ok(bytes)
}

/// Turns around every word of 64 bits.
pub(crate) fn swap_words(bytes: &mut [u8]) {
    bytes.as_chunks_mut::<8>().0.iter_mut().for_each(|word| word.reverse());
}

/// Refuses a union of filters that differ.
pub(crate) fn mismatch<T: PartialEq + ToString>(
    field: &'static str,
    left: T,
    right: T,
) -> Result<(), Error> {
    if left == right {
        return Ok(());
    }
    Err(Error::Mismatch { field, left: left.to_string(), right: right.to_string() })
}

/// How many of the first `bits` bits are set.
pub(crate) fn count_ones(bytes: &[u8], bits: u64) -> u64 {
    let whole = usize::try_from(bits / 8).unwrap_or(usize::MAX).min(bytes.len());
    let (words, tail) = bytes[..whole].as_chunks::<8>();
    let mut ones: u64 =
        words.iter().map(|word| u64::from(u64::from_le_bytes(*word).count_ones())).sum();
    ones += tail.iter().map(|byte| u64::from(byte.count_ones())).sum::<u64>();
    let mask = (1u16 << (bits % 8)) - 1;
    ones + bytes.get(whole).map_or(0, |byte| u64::from((u16::from(*byte) & mask).count_ones()))
}
