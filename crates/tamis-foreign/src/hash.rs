//! The hashes of other programs, bit by bit. The same name never means the same scheme: each format
//! says in its own file which of these it uses, and how.

use siphasher::sip::SipHasher13;
use std::hash::Hasher;

const C1: u64 = 0x87c3_7b91_1142_53d5;
const C2: u64 = 0x4cf5_ad43_2745_937f;

fn word(bytes: &[u8]) -> u64 {
    let mut word = [0; 8];
    word[..bytes.len()].copy_from_slice(bytes);
    u64::from_le_bytes(word)
}

/// MurmurHash3 x64 128 with seed 0, between two blocks.
#[derive(Clone, Copy)]
struct Murmur3 {
    h1: u64,
    h2: u64,
}

impl Murmur3 {
    fn mix_k1(k1: u64) -> u64 {
        k1.wrapping_mul(C1).rotate_left(31).wrapping_mul(C2)
    }

    fn mix_k2(k2: u64) -> u64 {
        k2.wrapping_mul(C2).rotate_left(33).wrapping_mul(C1)
    }

    fn block(&mut self, block: &[u8; 16]) {
        self.h1 ^= Murmur3::mix_k1(word(&block[..8]));
        self.h1 = self.h1.rotate_left(27).wrapping_add(self.h2);
        self.h1 = self.h1.wrapping_mul(5).wrapping_add(0x52dc_e729);
        self.h2 ^= Murmur3::mix_k2(word(&block[8..]));
        self.h2 = self.h2.rotate_left(31).wrapping_add(self.h1);
        self.h2 = self.h2.wrapping_mul(5).wrapping_add(0x3849_5ab5);
    }

    /// The hash of what came before and of a tail of at most 16 bytes.
    fn finish(mut self, tail: &[u8], len: u64) -> (u64, u64) {
        if let Ok(block) = tail.try_into() {
            self.block(block);
        } else {
            if tail.len() > 8 {
                self.h2 ^= Murmur3::mix_k2(word(&tail[8..]));
            }
            if !tail.is_empty() {
                self.h1 ^= Murmur3::mix_k1(word(&tail[..tail.len().min(8)]));
            }
        }
        let (mut h1, mut h2) = (self.h1 ^ len, self.h2 ^ len);
        h1 = h1.wrapping_add(h2);
        h2 = h2.wrapping_add(h1);
        h1 = finalise(h1);
        h2 = finalise(h2);
        h1 = h1.wrapping_add(h2);
        (h1, h2.wrapping_add(h1))
    }
}

fn finalise(mut k: u64) -> u64 {
    k = (k ^ k >> 33).wrapping_mul(0xff51_afd7_ed55_8ccd);
    k = (k ^ k >> 33).wrapping_mul(0xc4ce_b9fe_1a85_ec53);
    k ^ k >> 33
}

/// MurmurHash3 x64 128 with seed 0.
pub(crate) fn murmur3_128(key: &[u8]) -> (u64, u64) {
    let mut state = Murmur3 { h1: 0, h2: 0 };
    let (blocks, tail) = key.as_chunks();
    blocks.iter().for_each(|block| state.block(block));
    state.finish(tail, key.len() as u64)
}

/// MurmurHash3 x64 128 of the key, and of the key with the byte 1 behind it.
pub(crate) fn murmur3_256(key: &[u8]) -> [u64; 4] {
    let mut state = Murmur3 { h1: 0, h2: 0 };
    let (blocks, tail) = key.as_chunks();
    blocks.iter().for_each(|block| state.block(block));
    let (a, b) = state.finish(tail, key.len() as u64);
    let mut longer = [0; 16];
    longer[..tail.len()].copy_from_slice(tail);
    longer[tail.len()] = 1;
    let (c, d) = state.finish(&longer[..=tail.len()], key.len() as u64 + 1);
    [a, b, c, d]
}

/// Spark's 32-bit Murmur3: each byte after the last whole word is mixed as a word of its own, with
/// its sign.
pub(crate) fn spark_murmur3(key: &[u8], seed: u32) -> u32 {
    let mix = |hash: u32, word: u32| {
        let word = word.wrapping_mul(0xcc9e_2d51).rotate_left(15).wrapping_mul(0x1b87_3593);
        (hash ^ word).rotate_left(13).wrapping_mul(5).wrapping_add(0xe654_6b64)
    };
    let (words, tail) = key.as_chunks();
    let mut hash = seed;
    for word in words {
        hash = mix(hash, u32::from_le_bytes(*word));
    }
    for byte in tail {
        hash = mix(hash, i32::from(*byte as i8) as u32);
    }
    hash ^= key.len() as u32;
    hash = (hash ^ hash >> 16).wrapping_mul(0x85eb_ca6b);
    hash = (hash ^ hash >> 13).wrapping_mul(0xc2b2_ae35);
    hash ^ hash >> 16
}

/// The multiplier of MurmurHash64A, which RedisBloom also takes as its first seed.
pub(crate) const MURMUR64A: u64 = 0xc6a4_a793_5bd1_e995;

/// MurmurHash64A.
pub(crate) fn murmur64a(key: &[u8], seed: u64) -> u64 {
    const M: u64 = MURMUR64A;
    let mut hash = seed ^ (key.len() as u64).wrapping_mul(M);
    let (words, tail) = key.as_chunks();
    for word in words {
        let word = u64::from_le_bytes(*word).wrapping_mul(M);
        hash = (hash ^ (word ^ word >> 47).wrapping_mul(M)).wrapping_mul(M);
    }
    if !tail.is_empty() {
        hash = (hash ^ word(tail)).wrapping_mul(M);
    }
    hash = (hash ^ hash >> 47).wrapping_mul(M);
    hash ^ hash >> 47
}

/// FNV-1 of 64 bits: multiply, then xor.
pub(crate) fn fnv1(key: &[u8]) -> u64 {
    key.iter().fold(0xcbf2_9ce4_8422_2325, |hash: u64, byte| {
        hash.wrapping_mul(0x0000_0100_0000_01b3) ^ u64::from(*byte)
    })
}

/// SipHash-1-3 of several pieces, one after the other.
pub(crate) fn sip13(keys: (u64, u64), pieces: &[&[u8]]) -> u64 {
    let mut hasher = SipHasher13::new_with_keys(keys.0, keys.1);
    pieces.iter().for_each(|piece| hasher.write(piece));
    hasher.finish()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Vectors that the programs themselves gave.
    #[test]
    fn hashes_are_those_of_the_programs() {
        assert_eq!(murmur3_128(b"ant"), (0x4a70_5b3e_fb45_43d0, 0x630d_4de0_e742_4ba9));
        assert_eq!(murmur3_128(b""), (0, 0));
        assert_eq!(murmur3_256(b"ant")[2..], [0xadbc_06e2_afd5_74a0, 0xd4c1_13dc_df5f_bf3d]);
        for len in 0..70 {
            let key: Vec<u8> = (0..len).map(|i: u8| i.wrapping_mul(7)).collect();
            let longer: Vec<u8> = key.iter().copied().chain([1]).collect();
            let (a, b) = murmur3_128(&key);
            let (c, d) = murmur3_128(&longer);
            assert_eq!(murmur3_256(&key), [a, b, c, d]);
        }
        assert_eq!(spark_murmur3(b"ant", 0), 0xe66c_7b35);
        assert_eq!(spark_murmur3("Zoë".as_bytes(), 0), 0x8671_2d1a);
        assert_eq!(spark_murmur3(&1i64.to_le_bytes(), 0), 0x5307_5d44);
        assert_eq!(murmur64a(b"ant", MURMUR64A), 0x52cb_12bf_6f99_6757);
        assert_eq!(murmur64a(b"ant", 0x52cb_12bf_6f99_6757), 0xaaa8_041b_0de9_845b);
        assert_eq!(fnv1(b"ant"), 0xd8dc_c618_6baf_a6a8);
    }
}
