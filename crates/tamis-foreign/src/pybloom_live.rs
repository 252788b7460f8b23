//! pybloom_live 4 (Python), `tofile`: rate, hashes, bits of a slice, capacity and count, then the
//! bits. Every hash of a key has a slice of its own. Small filters are hashed with XXH3, larger
//! ones with SHA. Release 3 hashed small filters with MD5, and the file does not say which.

use crate::array::{Array, mismatch, with_capacity};
use crate::cursor::Cursor;
use crate::filter::Operations;
use crate::{Error, Format, Part, Planned};
use sha1::Sha1;
use sha2::{Digest, Sha256, Sha384, Sha512};
use std::any::Any;
use twox_hash::XxHash3_128;

#[derive(Debug, Clone)]
pub(crate) struct PybloomLive {
    fpr: f64,
    slice: u64,
    capacity: u64,
    count: u64,
    array: Array,
}

impl PybloomLive {
    /// With the sizes that the program chooses: a slice for each hash.
    pub(crate) fn sizes(capacity: u64, fpr: f64) -> (u64, u32) {
        let slices = (1.0 / fpr).log2().ceil();
        let ln2_squared = std::f64::consts::LN_2 * std::f64::consts::LN_2;
        let bits = capacity as f64 * fpr.ln().abs() / (slices * ln2_squared);
        (bits.ceil() as u64, slices as u32)
    }

    pub(crate) fn new(capacity: u64, fpr: f64) -> Result<PybloomLive, Error> {
        let (slice, hashes) = PybloomLive::sizes(capacity, fpr);
        let array = Array::zeroed(slice.saturating_mul(hashes.into()), 1, hashes)?;
        Ok(PybloomLive { fpr, slice, capacity, count: 0, array })
    }

    /// Bytes of one number, and the size of the digest that makes several of them.
    fn chunk(&self) -> usize {
        match self.slice {
            slice if slice >= 1 << 31 => 8,
            slice if slice >= 1 << 15 => 4,
            _ => 2,
        }
    }

    /// The digest of some pieces, and its length.
    fn digest(&self, pieces: [&[u8]; 2]) -> ([u8; 64], usize) {
        let mut out = [0; 64];
        let bits = 8 * self.chunk() * self.array.hashes as usize;
        fn sha<D: Digest>(pieces: [&[u8]; 2], out: &mut [u8; 64]) -> usize {
            let digest = D::new().chain_update(pieces[0]).chain_update(pieces[1]).finalize();
            out[..digest.len()].copy_from_slice(&digest);
            digest.len()
        }
        let len = match bits {
            385.. => sha::<Sha512>(pieces, &mut out),
            257.. => sha::<Sha384>(pieces, &mut out),
            161.. => sha::<Sha256>(pieces, &mut out),
            129.. => sha::<Sha1>(pieces, &mut out),
            _ => {
                let digest = XxHash3_128::oneshot(&pieces.concat()).to_be_bytes();
                out[..16].copy_from_slice(&digest);
                16
            }
        };
        (out, len)
    }

    /// The positions of a key's bits.
    fn positions(&self, key: &[u8]) -> Vec<u64> {
        let chunk = self.chunk();
        let hashes = self.array.hashes as usize;
        let mut positions = Vec::with_capacity(hashes);
        for round in 0u32.. {
            let (salt, len) = self.digest([&round.to_le_bytes(), &[]]);
            let (digest, len) = self.digest([&salt[..len], key]);
            for bytes in digest[..len].chunks_exact(chunk) {
                if positions.len() == hashes {
                    return positions;
                }
                let mut number = [0; 8];
                number[..chunk].copy_from_slice(bytes);
                let within = u64::from_le_bytes(number) % self.slice;
                positions.push(positions.len() as u64 * self.slice + within);
            }
        }
        positions
    }

    fn byte(&self, position: u64) -> Option<u8> {
        usize::try_from(position / 8).ok().and_then(|at| self.array.bytes.get(at)).copied()
    }
}

impl Operations for PybloomLive {
    fn format(&self) -> Format {
        Format::PybloomLive
    }

    fn variant(&self) -> String {
        format!("{} slices, hashed as release 4 does", self.array.hashes)
    }

    fn parts(&self) -> Vec<Part<'_>> {
        let planned = Some(Planned { items: self.capacity, fpr: self.fpr, stored: true });
        let part = self.array.part(self.array.bits);
        vec![Part { planned, counted: Some(self.count), ..part }]
    }

    fn contains(&self, key: &[u8]) -> bool {
        let is_set = |at: u64| self.byte(at).is_some_and(|byte| byte >> (at % 8) & 1 == 1);
        self.positions(key).into_iter().all(is_set)
    }

    fn contains_many(&self, keys: &[&[u8]], answers: &mut [bool]) {
        answers.iter_mut().zip(keys).for_each(|(answer, key)| *answer = self.contains(key));
    }

    fn insert(&mut self, key: &[u8]) -> Result<bool, Error> {
        if self.contains(key) {
            return Ok(false);
        }
        // The program itself refuses one key more than its capacity and one.
        if self.count > self.capacity {
            return Err(Error::Full { format: Format::PybloomLive, capacity: self.capacity });
        }
        for position in self.positions(key) {
            let at = usize::try_from(position / 8).ok();
            if let Some(byte) = at.and_then(|at| self.array.bytes.get_mut(at)) {
                *byte |= 1 << (position % 8);
            }
        }
        self.count = self.count.saturating_add(1);
        Ok(true)
    }

    fn union(&mut self, other: &dyn Any) -> Result<(), Error> {
        let Some(other) = other.downcast_ref::<PybloomLive>() else {
            return Err(Error::Unsupported {
                format: Format::PybloomLive,
                why: "has another form than the other one".to_owned(),
            });
        };
        mismatch("capacity", self.capacity, other.capacity)?;
        mismatch("rate", self.fpr, other.fpr)?;
        mismatch("bits of a slice", self.slice, other.slice)?;
        self.array.union(&other.array)?;
        self.count =
            crate::valkey_bloom::merged_count(&self.array, self.count, other.count, self.capacity);
        Ok(())
    }

    fn to_bytes(&self) -> Result<Vec<u8>, Error> {
        let mut out = with_capacity(40 + self.array.bytes.len() as u64)?;
        out.extend(self.fpr.to_le_bytes());
        for word in [u64::from(self.array.hashes), self.slice, self.capacity, self.count] {
            out.extend(word.to_le_bytes());
        }
        out.extend_from_slice(&self.array.bytes);
        Ok(out)
    }

    fn as_any(&self) -> &dyn Any {
        self
    }
}

pub(crate) fn read(bytes: &[u8]) -> Result<PybloomLive, Error> {
    let mut cursor = Cursor::new(bytes, Format::PybloomLive);
    let fpr = cursor.f64_le("the rate")?;
    let fpr = cursor.rate(fpr)?;
    let hashes = cursor.u64_le("the number of hashes")?;
    let hashes = cursor.hashes(hashes)?;
    let slice = cursor.u64_le("the bits of a slice")?;
    let capacity = cursor.u64_le("the capacity")?;
    let count = cursor.u64_le("the count of keys")?;
    if slice == 0 || capacity == 0 {
        return Err(cursor.damaged(format!("{capacity} keys in slices of {slice} bits")));
    }
    let bits = slice.saturating_mul(hashes.into());
    let stored = cursor.take(bits.div_ceil(8), "its array of bits")?;
    cursor.end()?;
    let array = Array::copied(stored, bits, hashes)?;
    Ok(PybloomLive { fpr, slice, capacity, count, array })
}
