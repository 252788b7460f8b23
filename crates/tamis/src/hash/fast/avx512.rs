//! The same as for one integer, for eight at a time.

#![allow(unsafe_code)]

use super::{Fast, MULTIPLIER, PI};
use crate::wide::{load, multiply, multiply_low, splat, store, xor_shift};
use std::arch::x86_64::_mm512_xor_si512;

/// Hashes the first numbers, by eights, and says how many that were.
#[target_feature(enable = "avx512f,avx512dq")]
pub(super) fn naturals(fast: &Fast, h1: &mut [u64], h2: Option<&mut [u64]>) -> usize {
    let eights = h1.as_chunks_mut::<8>().0;
    let (lane, multiplier, second) = (splat(fast.lanes[0]), splat(MULTIPLIER), splat(PI[8]));
    match h2 {
        Some(h2) => {
            let [first, last] = fast.integer.map(|word| splat(word));
            for (h1, h2) in eights.iter_mut().zip(h2.as_chunks_mut::<8>().0) {
                let (low, high) = multiply(_mm512_xor_si512(load(h1), lane), multiplier);
                store(h1, xor_shift(multiply_low(_mm512_xor_si512(low, high), second)));
                let (low, high) = multiply(_mm512_xor_si512(low, first), _mm512_xor_si512(high, last));
                store(h2, _mm512_xor_si512(low, high));
            }
        }
        None => {
            for h1 in &mut *eights {
                let (low, high) = multiply(_mm512_xor_si512(load(h1), lane), multiplier);
                store(h1, xor_shift(multiply_low(_mm512_xor_si512(low, high), second)));
            }
        }
    }
    eights.len() * 8
}
