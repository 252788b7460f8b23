//! Guava, `BloomFilter.writeTo`: a strategy, the number of hashes, and words of 64 bits, all with
//! their high byte first. Sizes are whole words. Neither the kind of keys nor their number is
//! stored.

use crate::array::{Array, Scheme, mismatch, with_capacity};
use crate::cursor::Cursor;
use crate::filter::{Layout, OneArray};
use crate::hash::murmur3_128;
use crate::{Error, Format};

/// From the hash of a key to its bits.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Guava {
    /// MURMUR128_MITZ_32: sums of 32 bits, which reach 2^31 bits.
    Mitz32,
    /// MURMUR128_MITZ_64: sums of 64 bits.
    Mitz64,
}

/// Positions of this scheme and of Spark's are numbers of 31 bits.
pub(crate) const REACH_32: u64 = 1 << 31;

impl Scheme for Guava {
    type Hash = (u64, u64);

    fn hash(&self, key: &[u8]) -> (u64, u64) {
        murmur3_128(key)
    }

    #[inline]
    fn positions(&self, (h1, h2): (u64, u64), bits: u64) -> impl Iterator<Item = u64> {
        let wide = *self == Guava::Mitz64;
        let (a, b) = (h1 as i32, (h1 >> 32) as i32);
        let (mut narrow, mut sum) = (a, h1);
        std::iter::from_fn(move || {
            if wide {
                let position = (sum & i64::MAX as u64) % bits;
                sum = sum.wrapping_add(h2);
                return Some(position);
            }
            narrow = narrow.wrapping_add(b);
            Some((if narrow < 0 { !narrow } else { narrow }) as u64 % bits)
        })
    }

    fn reach(&self, bits: u64) -> u64 {
        if *self == Guava::Mitz32 { bits.min(REACH_32) } else { bits }
    }
}

impl Layout for Guava {
    const FORMAT: Format = Format::Guava;

    fn variant(&self) -> String {
        let strategy = if *self == Guava::Mitz32 { "32" } else { "64" };
        format!("strategy MURMUR128_MITZ_{strategy}")
    }

    fn to_bytes(&self, array: &Array) -> Result<Vec<u8>, Error> {
        let mut out = with_capacity(6 + array.bytes.len() as u64)?;
        out.push(u8::from(*self == Guava::Mitz64));
        out.push(array.hashes as u8);
        out.extend(((array.bits / 64) as u32).to_be_bytes());
        array.write_big_endian(&mut out);
        Ok(out)
    }

    fn merge(&mut self, other: &Guava) -> Result<(), Error> {
        mismatch("strategy", self.variant(), other.variant())
    }
}

pub(crate) fn read(bytes: &[u8]) -> Result<OneArray<Guava>, Error> {
    let mut cursor = Cursor::new(bytes, Format::Guava);
    let layout = match cursor.u8("the strategy")? {
        0 => Guava::Mitz32,
        1 => Guava::Mitz64,
        other => {
            return Err(cursor.damaged(format!("its strategy is {other}, and 0 and 1 are known")));
        }
    };
    let hashes = cursor.u8("the number of hashes")?;
    let hashes = cursor.hashes(hashes.into())?;
    let words = cursor.i32_be("the number of words")?;
    let Ok(words @ 1..) = u64::try_from(words) else {
        return Err(cursor.damaged(format!("it says that it has {words} words of bits")));
    };
    let stored = cursor.take(8 * words, "its array of bits")?;
    cursor.end()?;
    Ok(OneArray { layout, array: Array::from_big_endian(stored, 64 * words, hashes)? })
}
