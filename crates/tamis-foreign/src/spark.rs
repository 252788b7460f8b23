//! Apache Spark, `util.sketch.BloomFilter`: a version, the number of hashes, in version 2 a seed,
//! and words of 64 bits, all with their high byte first. Version 1 reaches only 2^31 bits, so
//! large filters of it let through far more than was asked for; version 2 mends that.

use crate::array::{Array, Scheme, mismatch, with_capacity};
use crate::cursor::Cursor;
use crate::filter::{Layout, OneArray};
use crate::guava::REACH_32;
use crate::hash::spark_murmur3;
use crate::{Error, Format};

/// The version, and the seed of version 2.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Spark {
    V1,
    V2 { seed: i32 },
}

impl Scheme for Spark {
    type Hash = (i32, i32);

    fn hash(&self, key: &[u8]) -> (i32, i32) {
        let seed = match self {
            Spark::V1 => 0,
            Spark::V2 { seed } => *seed,
        };
        let h1 = spark_murmur3(key, seed as u32);
        (h1 as i32, spark_murmur3(key, h1) as i32)
    }

    #[inline]
    fn positions(&self, (h1, h2): (i32, i32), bits: u64) -> impl Iterator<Item = u64> {
        let is_first = *self == Spark::V1;
        let (mut narrow, mut sum) = (h1, i64::from(h1).wrapping_mul(0x7fff_ffff));
        std::iter::from_fn(move || {
            if is_first {
                narrow = narrow.wrapping_add(h2);
                return Some((if narrow < 0 { !narrow } else { narrow }) as u64 % bits);
            }
            sum = sum.wrapping_add(i64::from(h2));
            Some((if sum < 0 { !sum } else { sum }) as u64 % bits)
        })
    }

    fn reach(&self, bits: u64) -> u64 {
        if *self == Spark::V1 { bits.min(REACH_32) } else { bits }
    }
}

impl Layout for Spark {
    const FORMAT: Format = Format::Spark;

    fn variant(&self) -> String {
        match self {
            Spark::V1 => "version 1".to_owned(),
            Spark::V2 { seed } => format!("version 2, seed {seed}"),
        }
    }

    fn to_bytes(&self, array: &Array) -> Result<Vec<u8>, Error> {
        let mut out = with_capacity(16 + array.bytes.len() as u64)?;
        out.extend(if *self == Spark::V1 { 1i32 } else { 2 }.to_be_bytes());
        out.extend(array.hashes.to_be_bytes());
        if let Spark::V2 { seed } = self {
            out.extend(seed.to_be_bytes());
        }
        out.extend(((array.bits / 64) as u32).to_be_bytes());
        array.write_big_endian(&mut out);
        Ok(out)
    }

    fn merge(&mut self, other: &Spark) -> Result<(), Error> {
        mismatch("version", self.variant(), other.variant())
    }
}

pub(crate) fn read(bytes: &[u8]) -> Result<OneArray<Spark>, Error> {
    let mut cursor = Cursor::new(bytes, Format::Spark);
    let version = cursor.i32_be("the version")?;
    if !matches!(version, 1 | 2) {
        return Err(cursor.damaged(format!("its version is {version}, and 1 and 2 are known")));
    }
    let hashes = cursor.i32_be("the number of hashes")?;
    let hashes = cursor.hashes(u64::try_from(hashes).unwrap_or(0))?;
    let layout = match version {
        1 => Spark::V1,
        _ => Spark::V2 { seed: cursor.i32_be("the seed")? },
    };
    let words = cursor.i32_be("the number of words")?;
    let Ok(words @ 1..) = u64::try_from(words) else {
        return Err(cursor.damaged(format!("it says that it has {words} words of bits")));
    };
    let stored = cursor.take(8 * words, "its array of bits")?;
    cursor.end()?;
    Ok(OneArray { layout, array: Array::from_big_endian(stored, 64 * words, hashes)? })
}
