//! The seeded generator of every test, experiment and measurement. Nothing private may depend on
//! it.

/// Steele, Lea and Flood's generator: 64 bits of state, no repetition within 2^64 numbers.
///
/// A seed gives the same numbers in every release: the recorded experiments depend on them.
///
/// ```
/// let mut random = tamis_random::SplitMix64::new(0);
/// assert_eq!(random.next_u64(), 0xe220_a839_7b1d_cdaf);
/// ```
#[derive(Debug, Clone)]
pub struct SplitMix64(u64);

impl SplitMix64 {
    /// The generator with this seed.
    #[must_use]
    pub fn new(seed: u64) -> SplitMix64 {
        SplitMix64(seed)
    }

    /// The next 64 bits.
    pub fn next_u64(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let z = (self.0 ^ self.0 >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let z = (z ^ z >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ z >> 31
    }

    /// The next 128 bits.
    pub fn next_u128(&mut self) -> u128 {
        u128::from(self.next_u64()) << 64 | u128::from(self.next_u64())
    }

    /// A number below `end`. The bias is below `end` / 2^64.
    pub fn below(&mut self, end: u64) -> u64 {
        ((u128::from(self.next_u64()) * u128::from(end)) >> 64) as u64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_stay_below_the_end_and_reach_every_value() {
        let mut random = SplitMix64::new(1);
        let mut seen = [0; 6];
        (0..6_000).for_each(|_| seen[random.below(6) as usize] += 1);
        // Five sigma about a thousand.
        assert!(seen.iter().all(|count| (855..=1145).contains(count)), "{seen:?}");
        assert_eq!(random.below(1), 0);
        assert!((0..100).all(|_| random.below(u64::MAX) < u64::MAX));
        assert_ne!(random.next_u128() >> 64, random.next_u128() >> 64);
    }
}
