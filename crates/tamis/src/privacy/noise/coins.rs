//! What a release asks of chance.

use super::Probability;

/// A source of independent coins.
///
/// A source must implement the first two methods. A test can have a source that tries every outcome
/// with its exact chance.
///
/// ```
/// use tamis::privacy::noise::{Coins, Probability, SeededCoins};
/// let mut coins = SeededCoins::new(7);
/// let third = Probability::ratio(1, 3).unwrap();
/// let heads = (0..3000).filter(|_| coins.bernoulli(&third)).count();
/// assert!((850..1150).contains(&heads));
/// assert!(coins.below(6) < 6);
///
/// let mut bits = [0; 2];
/// coins.flip(&mut bits, 10, &Probability::ratio(1, 1).unwrap());
/// assert_eq!(bits, [0b1111_1111, 0b11]);
/// ```
pub trait Coins {
    /// Heads, with exactly this probability.
    fn bernoulli(&mut self, p: &Probability) -> bool;

    /// A number from 0 to below `bound`, each as likely as any other. A bound of 0 is taken for 1.
    fn below(&mut self, bound: u64) -> u64;

    /// Fills with bytes, each value as likely as any other.
    fn fill(&mut self, bytes: &mut [u8]) {
        bytes.fill_with(|| self.below(256) as u8);
    }

    /// Flips each of the first `count` bits with exactly this probability, and leaves those after
    /// them alone. Bit i is bit i % 8 of byte i / 8.
    fn flip(&mut self, bits: &mut [u8], count: u64, p: &Probability) {
        for i in 0..count.min(8 * bits.len() as u64) {
            if self.bernoulli(p) {
                bits[(i / 8) as usize] ^= 1 << (i % 8);
            }
        }
    }
}
