//! Arithmetic on eight words of 64 bits at a time, for processors with AVX-512.

use std::arch::x86_64::{
    __m512i, _mm512_add_epi64, _mm512_and_si512, _mm512_loadu_si512, _mm512_mask_mov_epi32,
    _mm512_mullo_epi64, _mm512_set1_epi64, _mm512_slli_epi64, _mm512_srli_epi64,
    _mm512_storeu_si512,
};

/// The same word eight times.
#[inline]
#[target_feature(enable = "avx512f")]
pub(super) fn splat(word: u64) -> __m512i {
    _mm512_set1_epi64(word.cast_signed())
}

#[inline]
#[target_feature(enable = "avx512f")]
pub(super) fn load(words: &[u64; 8]) -> __m512i {
    // SAFETY: these are 64 readable bytes; loadu needs no alignment.
    unsafe { _mm512_loadu_si512(words.as_ptr().cast()) }
}

#[inline]
#[target_feature(enable = "avx512f")]
pub(super) fn store(words: &mut [u64; 8], value: __m512i) {
    // SAFETY: these are 64 writable bytes; storeu needs no alignment.
    unsafe { _mm512_storeu_si512(words.as_mut_ptr().cast(), value) }
}

/// The low halves of the products.
#[inline]
#[target_feature(enable = "avx512f,avx512dq")]
pub(super) fn multiply_low(x: __m512i, y: __m512i) -> __m512i {
    _mm512_mullo_epi64(x, y)
}

/// The products of the low halves of the words. The compiler takes the intrinsic for a
/// multiplication of 64 bits, if it knows enough of the words, and then chooses an instruction that
/// takes three times as long.
#[inline]
#[target_feature(enable = "avx512f")]
fn product(x: __m512i, y: __m512i) -> __m512i {
    let product;
    // SAFETY: registers only.
    unsafe {
        std::arch::asm!(
            "vpmuludq {}, {}, {}", out(zmm_reg) product, in(zmm_reg) x, in(zmm_reg) y,
            options(pure, nomem, nostack, preserves_flags),
        );
    }
    product
}

/// The low and the high halves of the products, put together from products of 32 bits.
#[inline]
#[target_feature(enable = "avx512f")]
pub(super) fn multiply(x: __m512i, y: __m512i) -> (__m512i, __m512i) {
    let half = splat(u64::from(u32::MAX));
    let (x_high, y_high) = (_mm512_srli_epi64::<32>(x), _mm512_srli_epi64::<32>(y));
    let lowest = product(x, y);
    // Neither sum overflows: a product of 32 bits leaves room for two more numbers of 32 bits.
    let middle = _mm512_add_epi64(product(x_high, y), _mm512_srli_epi64::<32>(lowest));
    let other = _mm512_add_epi64(product(x, y_high), _mm512_and_si512(middle, half));
    let carried = _mm512_add_epi64(_mm512_srli_epi64::<32>(middle), _mm512_srli_epi64::<32>(other));
    // The even halves of words are the low ones.
    let low = _mm512_mask_mov_epi32(_mm512_slli_epi64::<32>(other), 0x5555, lowest);
    (low, _mm512_add_epi64(product(x_high, y_high), carried))
}

/// What maps 64 random bits to 0..cells, as [`crate::hash::scale`] does.
#[derive(Clone, Copy)]
pub(super) struct Scale {
    cells: __m512i,
    /// Whether the cells take 32 bits, as all but the largest filters' do: two products suffice
    /// then.
    short: bool,
}

impl Scale {
    #[inline]
    #[target_feature(enable = "avx512f")]
    pub(super) fn new(cells: u64) -> Scale {
        Scale { cells: splat(cells), short: cells <= u64::from(u32::MAX) }
    }

    /// Always inlined, which functions with features of their own cannot be: a call would store
    /// and load all registers.
    #[inline(always)]
    pub(super) fn of(self, x: __m512i) -> __m512i {
        // SAFETY: a `Scale` is made where AVX-512 is at hand.
        unsafe {
            if !self.short {
                return long(x, self.cells);
            }
            let carried = _mm512_srli_epi64::<32>(product(x, self.cells));
            let high = product(_mm512_srli_epi64::<32>(x), self.cells);
            _mm512_srli_epi64::<32>(_mm512_add_epi64(high, carried))
        }
    }
}

/// For the largest filters, out of the way of the others.
#[cold]
#[inline(never)]
#[target_feature(enable = "avx512f")]
fn long(x: __m512i, cells: __m512i) -> __m512i {
    multiply(x, cells).1
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::hash::scale;
    use crate::simd::native::Avx512;

    #[target_feature(enable = "avx512f,avx512dq")]
    fn eight(x: &[u64; 8], y: &[u64; 8], cells: u64) -> [[u64; 8]; 4] {
        let (low, high) = multiply(load(x), load(y));
        let mut all = [[0; 8]; 4];
        store(&mut all[0], low);
        store(&mut all[1], high);
        store(&mut all[2], multiply_low(load(x), load(y)));
        store(&mut all[3], Scale::new(cells).of(load(x)));
        all
    }

    #[test]
    fn eight_are_as_one() {
        if Avx512::detect().is_none() {
            return;
        }
        let edges =
            [0, 1, u64::MAX, u64::MAX - 1, 1 << 63, 1 << 32, u64::MAX >> 32, u64::MAX << 32];
        let mut state = 3u64;
        let mut random = || {
            state = state
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1_442_695_040_888_963_407);
            state ^ state >> 31
        };
        for case in 0..3_000usize {
            let mut pick =
                |chance| if case % 3 == chance { random() } else { edges[random() as usize % 8] };
            let (x, y): ([u64; 8], [u64; 8]) = ([0; 8].map(|_| pick(0)), [0; 8].map(|_| pick(1)));
            for cells in [1, 2, 95_851, u64::from(u32::MAX), 1 << 32, u64::MAX, pick(2)] {
                // SAFETY: AVX-512 was detected above.
                let all = unsafe { eight(&x, &y, cells) };
                for i in 0..8 {
                    let product = u128::from(x[i]) * u128::from(y[i]);
                    let expected = [
                        product as u64,
                        (product >> 64) as u64,
                        product as u64,
                        scale(x[i], cells),
                    ];
                    assert_eq!(
                        all.map(|words| words[i]),
                        expected,
                        "{:x} {:x} {cells:x}",
                        x[i],
                        y[i]
                    );
                }
            }
        }
    }
}
