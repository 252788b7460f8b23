//! rbloom (Python), `save`: the number of hashes, then bytes of bits. The hash is the user's, gives
//! 128 bits, and is not stored: a key here is those 128 bits, the lowest byte first.

use crate::array::{Array, Scheme, with_capacity};
use crate::cursor::Cursor;
use crate::filter::{Layout, OneArray};
use crate::{Error, Format};

const FACTOR: u128 = 47_026_247_687_942_121_848_144_207_491_837_418_733;

#[derive(Debug, Clone)]
pub(crate) struct Rbloom;

impl Scheme for Rbloom {
    type Hash = u128;

    fn hash(&self, key: &[u8]) -> u128 {
        let mut hash = [0; 16];
        let len = key.len().min(16);
        hash[..len].copy_from_slice(&key[..len]);
        u128::from_le_bytes(hash)
    }

    #[inline]
    fn positions(&self, mut hash: u128, bits: u64) -> impl Iterator<Item = u64> {
        std::iter::from_fn(move || {
            hash = hash.wrapping_mul(FACTOR).wrapping_add(1);
            Some((hash >> 32) as u64 % bits)
        })
    }
}

impl Layout for Rbloom {
    const FORMAT: Format = Format::Rbloom;

    fn variant(&self) -> String {
        "its hash is not stored".to_owned()
    }

    fn to_bytes(&self, array: &Array) -> Result<Vec<u8>, Error> {
        let mut out = with_capacity(8 + array.bytes.len() as u64)?;
        out.extend(u64::from(array.hashes).to_le_bytes());
        out.extend_from_slice(&array.bytes);
        Ok(out)
    }

    fn merge(&mut self, _: &Rbloom) -> Result<(), Error> {
        Ok(())
    }
}

pub(crate) fn read(bytes: &[u8]) -> Result<OneArray<Rbloom>, Error> {
    let mut cursor = Cursor::new(bytes, Format::Rbloom);
    let hashes = cursor.u64_le("the number of hashes")?;
    let hashes = cursor.hashes(hashes)?;
    let stored = cursor.rest();
    if stored.is_empty() {
        return Err(cursor.damaged("it has 0 bits"));
    }
    let array = Array::copied(stored, 8 * stored.len() as u64, hashes)?;
    Ok(OneArray { layout: Rbloom, array })
}
