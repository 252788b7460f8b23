//! The same as for one integer, for eight at a time.

#![allow(unsafe_code)]

use super::{Fast, MULTIPLIER, PI};
use crate::wide::{load, multiply, multiply_low, splat, store};
use std::arch::x86_64::{__m512i, _mm512_xor_si512};

/// What hashes natural numbers.
#[derive(Clone, Copy)]
pub(crate) struct Naturals {
    lane: __m512i,
}

impl Naturals {
    #[inline]
    #[target_feature(enable = "avx512f")]
    pub(crate) fn new(fast: &Fast) -> Naturals {
        Naturals { lane: splat(fast.lanes[0]) }
    }

    /// h1 of eight numbers, and the halves of their first products.
    #[inline]
    #[target_feature(enable = "avx512f,avx512dq")]
    fn begin(self, numbers: __m512i) -> (__m512i, [__m512i; 2]) {
        let (low, high) = multiply(_mm512_xor_si512(numbers, self.lane), splat(MULTIPLIER));
        (multiply_low(_mm512_xor_si512(low, high), splat(PI[8])), [low, high])
    }

    /// h1 of eight numbers.
    #[inline]
    #[target_feature(enable = "avx512f,avx512dq")]
    pub(crate) fn h1(self, numbers: __m512i) -> __m512i {
        self.begin(numbers).0
    }
}

/// Hashes the first numbers, by eights, and says how many that were.
#[target_feature(enable = "avx512f,avx512dq")]
pub(super) fn naturals(fast: &Fast, h1: &mut [u64], h2: Option<&mut [u64]>) -> usize {
    let naturals = Naturals::new(fast);
    let eights = h1.as_chunks_mut::<8>().0;
    match h2 {
        Some(h2) => {
            let [first, last] = fast.integer.map(|word| splat(word));
            for (h1, h2) in eights.iter_mut().zip(h2.as_chunks_mut::<8>().0) {
                let (word, [low, high]) = naturals.begin(load(h1));
                store(h1, word);
                let (low, high) =
                    multiply(_mm512_xor_si512(low, first), _mm512_xor_si512(high, last));
                store(h2, _mm512_xor_si512(low, high));
            }
        }
        None => {
            for h1 in &mut *eights {
                store(h1, naturals.h1(load(h1)));
            }
        }
    }
    eights.len() * 8
}
