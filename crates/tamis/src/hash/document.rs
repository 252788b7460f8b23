//! The hash families of the two documents, for reproducing them.

use crate::KeyRef;
use md5::Md5;
use sha2::{Digest, Sha256};

/// A big-endian integer of up to 256 bits.
#[derive(Clone, Copy)]
pub(crate) struct LongNumber([u64; 4]);

impl LongNumber {
    fn new(bytes: &[u8]) -> LongNumber {
        let mut words = [0; 4];
        let (chunks, _) = bytes.as_chunks::<8>();
        for (word, chunk) in words.iter_mut().rev().zip(chunks.iter().rev()) {
            *word = u64::from_be_bytes(*chunk);
        }
        LongNumber(words)
    }

    pub(super) fn modulo(self, m: u64) -> u64 {
        let step = |rest: u64, word: u64| {
            ((u128::from(rest) << 64 | u128::from(word)) % u128::from(m)) as u64
        };
        self.0.into_iter().fold(0, step)
    }
}

/// SHA-256 and MD5 of the key, with the listing's guard: an MD5 of 0 counts as 1 (before any
/// reduction mod m).
pub(super) fn sha256_md5(key: KeyRef<'_>) -> [LongNumber; 2] {
    key.with_bytes(|bytes| {
        let mut h2 = LongNumber::new(&finish::<Md5>(&[bytes], key.tag()));
        if h2.0 == [0; 4] {
            h2 = LongNumber([0, 0, 0, 1]);
        }
        [LongNumber::new(&finish::<Sha256>(&[bytes], key.tag())), h2]
    })
}

/// SHA-256 of the prefix i and the key.
pub(super) fn prefixed(i: u32, key: KeyRef<'_>) -> LongNumber {
    key.with_bytes(|bytes| {
        LongNumber::new(&finish::<Sha256>(&[&i.to_be_bytes(), bytes], key.tag()))
    })
}

/// The documents hash text only, and text goes in untouched; an integer has its tag appended.
fn finish<H: Digest>(parts: &[&[u8]], tag: u8) -> Vec<u8> {
    let mut hasher = H::new();
    for part in parts {
        hasher.update(part);
    }
    if tag != 0 {
        hasher.update([tag]);
    }
    hasher.finalize().to_vec()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn big_endian_remainders() {
        let mut bytes = [0; 32];
        bytes[31] = 7;
        bytes[15] = 1; // 2^128 + 7
        assert_eq!(LongNumber::new(&bytes).modulo(10), (6 + 7) % 10);
        assert_eq!(LongNumber::new(&[0xff; 16]).modulo(1_000), 455);
        assert_eq!(LongNumber::new(&[0xff; 32]).modulo(1), 0);
    }
}
