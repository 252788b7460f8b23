//! The crate bloomfilter (Rust), release 3, `to_bytes`: also what valkey-bloom keeps of each of its
//! filters. Keys are byte slices, which Rust hashes with their length before them.

use crate::array::{Array, Scheme, mismatch, with_capacity};
use crate::cursor::Cursor;
use crate::filter::{Layout, OneArray};
use crate::hash::sip13;
use crate::{Error, Format};

/// The modulus of its sums.
const M: u64 = 0xffff_ffff_ffff_ffc5;

/// Two keys of SipHash-1-3.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Bloomfilter {
    pub(crate) seed: [u8; 32],
}

impl Scheme for Bloomfilter {
    type Hash = (u64, u64);

    fn hash(&self, key: &[u8]) -> (u64, u64) {
        let (words, _) = self.seed.as_chunks();
        let [a, b, c, d] = [0, 1, 2, 3].map(|i| u64::from_le_bytes(words[i]));
        let len = (key.len() as u64).to_le_bytes();
        (sip13((a, b), &[&len, key]), sip13((c, d), &[&len, key]))
    }

    #[inline]
    fn positions(&self, (h1, h2): (u64, u64), bits: u64) -> impl Iterator<Item = u64> {
        (0u64..).map(move |i| match i {
            0 => h1 % bits,
            1 => h2 % bits,
            _ => h1.wrapping_add(i.wrapping_mul(h2)) % M % bits,
        })
    }
}

impl Layout for Bloomfilter {
    const FORMAT: Format = Format::Bloomfilter;

    fn variant(&self) -> String {
        "as release 3 writes it; keys are byte slices".to_owned()
    }

    fn to_bytes(&self, array: &Array) -> Result<Vec<u8>, Error> {
        let mut out = with_capacity(45 + array.bytes.len() as u64)?;
        self.write(array, &mut out);
        Ok(out)
    }

    fn merge(&mut self, other: &Bloomfilter) -> Result<(), Error> {
        mismatch("seed", hex(&self.seed), hex(&other.seed))
    }
}

impl Bloomfilter {
    pub(crate) fn write(&self, array: &Array, out: &mut Vec<u8>) {
        out.push(1);
        out.extend((array.bytes.len() as u64).to_le_bytes());
        out.extend(array.hashes.to_le_bytes());
        out.extend(self.seed);
        out.extend_from_slice(&array.bytes);
    }

    /// Reads one that ends where `cursor` ends.
    pub(crate) fn read(mut cursor: Cursor<'_>) -> Result<OneArray<Bloomfilter>, Error> {
        let version = cursor.u8("the version")?;
        if version != 1 {
            return Err(cursor.damaged(format!("its version is {version}, and 1 is known")));
        }
        let len = cursor.u64_le("the number of bytes")?;
        if len == 0 {
            return Err(cursor.damaged("it has 0 bits"));
        }
        let hashes = cursor.u32_le("the number of hashes")?;
        let hashes = cursor.hashes(hashes.into())?;
        let mut seed = [0; 32];
        seed.copy_from_slice(cursor.take(32, "the seed")?);
        let stored = cursor.take(len, "its array of bits")?;
        cursor.end()?;
        let array = Array::copied(stored, 8 * len, hashes)?;
        Ok(OneArray { layout: Bloomfilter { seed }, array })
    }
}

pub(crate) fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

pub(crate) fn read(bytes: &[u8]) -> Result<OneArray<Bloomfilter>, Error> {
    Bloomfilter::read(Cursor::new(bytes, Format::Bloomfilter))
}
