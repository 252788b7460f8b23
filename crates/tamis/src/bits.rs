//! Bit arrays and packed counters as plain bytes, least significant bit first: the layout of the
//! file is the layout in memory, on every machine.

/// The most bits that a body may have: 2^50, 128 TiB.
pub(crate) const MAX: u64 = 1 << 50;

/// Whether bit `i` is set.
#[inline(always)]
pub(crate) fn get(bytes: &[u8], i: u64) -> bool {
    bytes[(i >> 3) as usize] & BIT[(i & 7) as usize] != 0
}

/// What is missing of bit `i`: not 0 if it is clear. The answers for several bits can be collected
/// without a branch: of `get`s joined by `&`, compilers make branches that no processor predicts.
#[inline(always)]
pub(crate) fn missing(bytes: &[u8], i: u64) -> u8 {
    !bytes[(i >> 3) as usize] & BIT[(i & 7) as usize]
}

/// The bits of a byte, looked up: before BMI2, a shift by a variable takes three steps of an x86
/// processor, a load one.
static BIT: [u8; 8] = [1, 2, 4, 8, 16, 32, 64, 128];

/// Sets bit `i` and says whether it was clear.
#[inline(always)]
pub(crate) fn set(bytes: &mut [u8], i: u64) -> bool {
    let byte = &mut bytes[(i >> 3) as usize];
    let mask = BIT[(i & 7) as usize];
    let clear = *byte & mask == 0;
    *byte |= mask;
    clear
}

/// The bits from `start` on, `len` of them, up to 56 at a time: where each word begins, counted
/// from `start`, and the word.
#[cfg(feature = "zone")]
pub(crate) fn words(bytes: &[u8], start: u64, len: u64) -> impl Iterator<Item = (u64, u64)> {
    const STEP: u64 = 56; // with the seven bits before it in its first byte, a word of eight bytes
    (0..len).step_by(STEP as usize).map(move |base| {
        let (first, shift) = (((start + base) >> 3) as usize, (start + base) & 7);
        let mut window = [0; 8];
        let present = (bytes.len() - first).min(8);
        window[..present].copy_from_slice(&bytes[first..first + present]);
        let width = (len - base).min(STEP);
        (base, u64::from_le_bytes(window) >> shift & ((1 << width) - 1))
    })
}

/// How many bits are set.
pub(crate) fn count(bytes: &[u8]) -> u64 {
    let (words, rest) = bytes.as_chunks::<8>();
    let whole: u64 =
        words.iter().map(|word| u64::from(u64::from_le_bytes(*word).count_ones())).sum();
    whole + rest.iter().map(|byte| u64::from(byte.count_ones())).sum::<u64>()
}

/// `left |= right`, in place.
pub(crate) fn or(left: &mut [u8], right: &[u8]) {
    left.iter_mut().zip(right).for_each(|(l, r)| *l |= r);
}

/// `left &= right`, in place.
pub(crate) fn and(left: &mut [u8], right: &[u8]) {
    left.iter_mut().zip(right).for_each(|(l, r)| *l &= r);
}

/// Whether every bit from `bits` on is clear, as it must be past the end of an array.
pub(crate) fn clear_from(bytes: &[u8], bits: u64) -> bool {
    let byte = (bits >> 3) as usize;
    bytes.get(byte).is_none_or(|b| b >> (bits & 7) == 0)
        && bytes.get(byte + 1..).is_none_or(|rest| rest.iter().all(|b| *b == 0))
}

/// Counters of `width` bits (1 to 32), packed without gaps.
#[derive(Clone, Copy)]
pub(crate) struct Packed {
    pub(crate) width: u32,
}

impl Packed {
    /// The largest value a counter holds.
    pub(crate) fn ceiling(self) -> u64 {
        (1 << self.width) - 1
    }

    /// Where counter `i` lies: its first byte, its first bit there, and the bytes it touches (at
    /// most five).
    fn place(self, i: u64) -> (usize, u32, usize) {
        let bit = i * u64::from(self.width);
        let shift = (bit & 7) as u32;
        ((bit >> 3) as usize, shift, (shift + self.width).div_ceil(8) as usize)
    }

    pub(crate) fn get(self, bytes: &[u8], i: u64) -> u64 {
        let (first, shift, count) = self.place(i);
        let mut window = [0; 8];
        window[..count].copy_from_slice(&bytes[first..first + count]);
        u64::from_le_bytes(window) >> shift & self.ceiling()
    }

    pub(crate) fn set(self, bytes: &mut [u8], i: u64, value: u64) {
        let (first, shift, count) = self.place(i);
        let target = &mut bytes[first..first + count];
        let mut window = [0; 8];
        window[..count].copy_from_slice(target);
        let cleared = u64::from_le_bytes(window) & !(self.ceiling() << shift);
        let filled = (cleared | (value & self.ceiling()) << shift).to_le_bytes();
        target.copy_from_slice(&filled[..count]);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn packed_counters_behave_as_a_vector(
            width in 1u32..=32,
            writes in prop::collection::vec((0u64..50, any::<u64>()), 0..200),
        ) {
            let packed = Packed { width };
            let mut bytes = vec![0; (50 * width as usize).div_ceil(8)];
            let mut model = [0; 50];
            for (i, value) in writes {
                let value = value & packed.ceiling();
                packed.set(&mut bytes, i, value);
                model[i as usize] = value;
                for (j, expected) in model.iter().enumerate() {
                    prop_assert_eq!(packed.get(&bytes, j as u64), *expected);
                }
            }
        }

        #[test]
        fn bits_behave_as_a_set(positions in prop::collection::vec(0u64..77, 0..100)) {
            let mut bytes = [0; 10];
            let mut model = std::collections::BTreeSet::new();
            for p in positions {
                prop_assert_eq!(set(&mut bytes, p), model.insert(p));
            }
            prop_assert_eq!(count(&bytes), model.len() as u64);
            prop_assert!((0..77).all(|p| get(&bytes, p) == model.contains(&p)));
            for (from, len) in [(0, 77), (1, 76), (3, 60), (9, 1), (20, 57), (7, 0)] {
                let expected: Vec<u64> = model.range(from..from + len).map(|p| p - from).collect();
                let ones = |word: u64| (0..64).filter(move |i| word >> i & 1 == 1);
                let found: Vec<u64> = words(&bytes, from, len)
                    .flat_map(|(base, word)| ones(word).map(move |i| base + i))
                    .collect();
                prop_assert_eq!(found, expected);
            }
            for from in 0..90 {
                prop_assert_eq!(clear_from(&bytes, from), model.range(from..).next().is_none());
            }
        }
    }
}
