//! Many keys hashed at a time.

use super::{Digest, Fast, HashFamily, Probe};
use crate::simd::{BATCH, Kernels};
use crate::{Key, KeyRef, Kinds};

/// What turns a key into a digest within a loop. Always inlined: the loop's level of the processor
/// is then that of the hash as well, and what the loop does not use is left out.
pub(crate) trait Digester: Copy {
    fn digest(self, key: KeyRef<'_>) -> Digest;
}

/// A copy, which the compiler keeps in registers while the loop writes elsewhere.
impl Digester for Fast {
    #[inline(always)]
    fn digest(self, key: KeyRef<'_>) -> Digest {
        Fast::digest(&self, key)
    }
}

/// Any family that has digests, in a call, out of the way of the fast one.
impl Digester for &HashFamily {
    #[inline(never)]
    fn digest(self, key: KeyRef<'_>) -> Digest {
        match self.probe(key) {
            Probe::Digest(digest) => digest,
            _ => unreachable!("the filter was refused to families without a digest"),
        }
    }
}

/// The digests of up to [`BATCH`] keys, word by word, as wide registers take them.
#[repr(align(64))]
pub(crate) struct Digests {
    pub(crate) h1: [u64; BATCH],
    /// Meaningless where the layout does not need h2.
    pub(crate) h2: [u64; BATCH],
    pub(crate) len: usize,
}

impl Digests {
    pub(crate) fn new() -> Digests {
        Digests { h1: [0; BATCH], h2: [0; BATCH], len: 0 }
    }

    /// Replaces the digests with those of the next keys, up to [`BATCH`]. The hash must have
    /// digests. h2 is left out unless `need_h2`. Gives the kinds of the keys.
    #[inline(always)]
    pub(crate) fn hash<K: Key, N: Kernels>(
        &mut self,
        kernels: N,
        hash: &HashFamily,
        keys: impl Iterator<Item = K>,
        need_h2: bool,
    ) -> Kinds {
        match hash.as_fast() {
            Some(fast) => self.hash_fast(kernels, fast, keys, need_h2),
            None => self.hash_otherwise(hash, keys),
        }
    }

    /// The same for an iterator that goes on afterwards. It is a separate call, so that the
    /// compiler can keep the iterator in registers.
    #[inline(never)]
    pub(crate) fn hash_next<K: Key, N: Kernels>(
        &mut self,
        kernels: N,
        hash: &HashFamily,
        keys: &mut impl Iterator<Item = K>,
        need_h2: bool,
    ) -> Kinds {
        self.hash(kernels, hash, keys, need_h2)
    }

    /// The keyed hash, out of the way of the fast one.
    #[inline(never)]
    fn hash_otherwise<K: Key>(
        &mut self,
        hash: &HashFamily,
        keys: impl Iterator<Item = K>,
    ) -> Kinds {
        let mut kinds = Kinds::default();
        self.fill(keys.filter_map(|key| {
            kinds.add(key.as_key().kinds());
            hash.digest(key)
        }));
        kinds
    }

    /// Natural numbers up to the first other key are hashed together, where the level gains by it.
    #[inline(always)]
    fn hash_fast<K: Key, N: Kernels>(
        &mut self,
        kernels: N,
        fast: &Fast,
        keys: impl Iterator<Item = K>,
        need_h2: bool,
    ) -> Kinds {
        let (mut count, mut together, mut naturals) = (0, N::HASHES_TOGETHER, 0);
        let mut kinds = Kinds::default();
        // The words come first in the pair: they must be what ends a full round, or a key would be
        // lost.
        for ((h1, h2), key) in self.h1.iter_mut().zip(&mut self.h2).zip(keys) {
            let key = key.as_key();
            kinds.add(key.kinds());
            match key {
                KeyRef::Natural(value) if together => {
                    *h1 = value;
                    naturals = count + 1;
                }
                key => {
                    together = false;
                    let digest = fast.digest(key);
                    *h1 = digest.h1;
                    if need_h2 {
                        *h2 = digest.h2;
                    }
                }
            }
            count += 1;
        }
        self.len = count;
        if naturals > 0 {
            let h2 = need_h2.then_some(&mut self.h2[..naturals]);
            kernels.hash_naturals(fast, &mut self.h1[..naturals], h2);
        }
        kinds
    }

    /// Takes the next digests, up to [`BATCH`].
    #[inline(always)]
    pub(crate) fn fill(&mut self, digests: impl Iterator<Item = Digest>) {
        self.clear();
        for ((h1, h2), digest) in self.h1.iter_mut().zip(&mut self.h2).zip(digests) {
            (*h1, *h2) = (digest.h1, digest.h2);
            self.len += 1;
        }
    }

    pub(crate) fn copy_from(&mut self, other: &Digests) {
        self.len = other.len;
        self.h1[..self.len].copy_from_slice(&other.h1[..other.len]);
        self.h2[..self.len].copy_from_slice(&other.h2[..other.len]);
    }

    #[inline(always)]
    pub(crate) fn clear(&mut self) {
        self.len = 0;
    }

    #[inline(always)]
    pub(crate) fn iter(&self) -> impl Iterator<Item = Digest> {
        self.h1.iter().zip(&self.h2).take(self.len).map(|(&h1, &h2)| Digest { h1, h2 })
    }
}
