//! Sums of columns that are stored as planes of bits: the lookup of a static filter.
//!
//! One definition for 64-bit words, and one for the 128-bit registers that every x86-64 processor
//! has. No level has a faster one: a row is 64 columns, which is one register for eight planes.

/// The bits that [`wrong_planes`] can return for one word of eight planes: every second one.
pub(crate) const ODD: u32 = 0xaaaa;

/// The bytes that a word of eight planes of a block takes.
pub(crate) const WORD: usize = 16;

/// Adds up the columns of a row in each of its planes, and compares the sums with `value`; says in
/// which planes they differ, or nothing if the row does not lie in the body.
///
/// The row spans four blocks of 16 columns. Block k begins at byte `start + k stride`, and plane j
/// of it is the j-th number of 16 bits. Bits 16 k to 16 k + 15 of `coefficients` tell which columns
/// of block k are added up. The sum of plane j is compared with bit
/// `63 - 16 (j / 8 mod 4) - 2 (7 - j mod 8)`, less 1 from plane 32 on, of `value`. The answer for
/// planes 8 w to 8 w + 7 is in bits 1, 3, ... 15 of word w.
#[inline(always)]
pub(crate) fn wrong_planes<const W: usize>(
    body: &[u8],
    start: usize,
    stride: usize,
    coefficients: u64,
    value: u64,
) -> Option<[u32; W]> {
    let last = body.len().checked_sub(3 * stride + WORD * W)?;
    if start > last {
        return None;
    }
    let mut wrong = [0; W];
    for (w, wrong) in wrong.iter_mut().enumerate() {
        let chunk = (value >> (48 - 16 * (w % 4))) as u32 & 0xffff;
        let chunk = if w < 4 { chunk } else { chunk << 1 };
        *wrong = imp::odd_sums(body, start + WORD * w, stride, coefficients) ^ chunk;
    }
    Some(wrong)
}

#[cfg(all(target_arch = "x86_64", not(miri)))]
mod imp {
    use super::WORD;
    use std::arch::x86_64::{
        __m128i, _mm_and_si128, _mm_cvtsi64_si128, _mm_loadu_si128, _mm_movemask_epi8,
        _mm_mullo_epi16, _mm_set1_epi16, _mm_shuffle_epi32, _mm_srli_epi16, _mm_unpacklo_epi16,
        _mm_xor_si128,
    };

    /// The sums of eight planes, as the odd bits; the even ones mean nothing. The caller has
    /// checked that `start + 3 stride + 16` bytes are there.
    #[inline(always)]
    #[allow(unsafe_code)]
    pub(super) fn odd_sums(body: &[u8], start: usize, stride: usize, coefficients: u64) -> u32 {
        debug_assert!(start + 3 * stride + WORD <= body.len());
        let at =
            |k: usize| -> *const __m128i { body.as_ptr().wrapping_add(start + k * stride).cast() };
        // SAFETY: SSE2 is part of every x86-64 processor. The four loads need no alignment, and
        // end at byte `start + 3 stride + 16` of the body at the latest, which
        // `wrong_planes` has compared with its length.
        unsafe {
            let four = _mm_cvtsi64_si128(coefficients as i64);
            let twice = _mm_unpacklo_epi16(four, four);
            macro_rules! block {
                ($k:literal) => {{
                    let taken = _mm_shuffle_epi32::<{ $k * 0b01_01_01_01 }>(twice);
                    _mm_and_si128(_mm_loadu_si128(at($k)), taken)
                }};
            }
            let mut sum = _mm_xor_si128(
                _mm_xor_si128(block!(0), block!(1)),
                _mm_xor_si128(block!(2), block!(3)),
            );
            // The sum of every four bits, in the lowest of them; then the sum of these four, in the
            // top bit: no carry gets there, for four bits, 4 apart, add up to less than 16.
            sum = _mm_xor_si128(sum, _mm_srli_epi16::<1>(sum));
            sum = _mm_xor_si128(sum, _mm_srli_epi16::<2>(sum));
            sum = _mm_and_si128(sum, _mm_set1_epi16(0x1111));
            sum = _mm_mullo_epi16(sum, _mm_set1_epi16(0x8888_u16 as i16));
            _mm_movemask_epi8(sum) as u32
        }
    }
}

#[cfg(not(all(target_arch = "x86_64", not(miri))))]
mod imp {
    pub(super) use super::portable::odd_sums;
}

/// The definition.
#[cfg(any(test, not(all(target_arch = "x86_64", not(miri)))))]
mod portable {
    /// The sums of eight planes, as the odd bits; the even ones mean nothing.
    #[inline(always)]
    pub(super) fn odd_sums(body: &[u8], start: usize, stride: usize, coefficients: u64) -> u32 {
        const EVERY: u64 = 0x0001_0001_0001_0001;
        let word = |at: usize| {
            let mut word = [0; 8];
            word.copy_from_slice(&body[at..at + 8]);
            u64::from_le_bytes(word)
        };
        let (mut low, mut high) = (0, 0);
        for k in 0..4 {
            let taken = (coefficients >> (16 * k) & 0xffff) * EVERY;
            low ^= word(start + k * stride) & taken;
            high ^= word(start + k * stride + 8) & taken;
        }
        let odd = |mut sum: u64| {
            // The top bit of each 16 becomes their sum: no bit of a lower plane gets so far.
            sum ^= sum << 8;
            sum ^= sum << 4;
            sum ^= sum << 2;
            sum ^= sum << 1;
            // Four bits, 16 apart, to bits 1, 3, 5 and 7.
            let sums = sum >> 15 & EVERY;
            (sums << 1 | sums >> 13 | sums >> 27 | sums >> 41) as u32 & 0xaa
        };
        odd(low) | odd(high) << 8
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tamis_random::SplitMix64;

    /// The sums of the definition, added up column by column; both versions, and what they compare
    /// with.
    #[test]
    fn the_sums_are_those_of_the_columns() {
        let mut random = SplitMix64::new(1);
        let body: Vec<u8> = (0..2_000).map(|_| random.next_u64() as u8).collect();
        for _ in 0..1_000 {
            let planes = 1 + random.next_u64() as usize % 50;
            let stride = 2 * planes;
            let start = random.next_u64() as usize % 1_000;
            let (coefficients, value) = (random.next_u64(), random.next_u64());
            let plane_bit = |block: usize, plane: usize, column: usize| {
                body[start + block * stride + 2 * plane + column / 8] >> (column % 8) & 1
            };
            let sum = |plane: usize| {
                (0..64)
                    .filter(|i| coefficients >> i & 1 == 1)
                    .fold(0, |sum, i| sum ^ plane_bit(i / 16, plane, i % 16))
            };
            let wanted = |j: usize| {
                let bit = 63 - 16 * (j / 8 % 4) - 2 * (7 - j % 8) - j / 32;
                (value >> bit & 1) as u8
            };
            let wrong = wrong_planes::<7>(&body, start, stride, coefficients, value).unwrap();
            for plane in 0..planes {
                let told = wrong[plane / 8] >> (2 * (plane % 8) + 1) & 1;
                assert_eq!(told, u32::from(sum(plane) ^ wanted(plane)), "plane {plane}");
            }
            let slow = portable::odd_sums(&body, start, stride, coefficients);
            assert_eq!(slow & ODD, imp::odd_sums(&body, start, stride, coefficients) & ODD);
        }
    }

    #[test]
    fn a_row_past_the_end_is_nothing() {
        let body = [0; 16 + 3 * 14];
        assert!(wrong_planes::<1>(&body, 0, 14, 1, 0).is_some());
        assert!(wrong_planes::<1>(&body, 1, 14, 1, 0).is_none());
        assert!(wrong_planes::<1>(&body, usize::MAX, 14, 1, 0).is_none());
    }
}
