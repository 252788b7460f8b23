//! Many coins of one probability, 512 at a time.
//!
//! A coin is heads if a uniform number is below p, which the first digit that differs decides. The
//! k-th digits of 64 numbers make a random word, so a few operations on words compare 64 numbers by
//! one digit. That halves the numbers that still agree with p. After five digits, two of 64
//! numbers are still undecided, on average. A whole word for two numbers is a waste, so each of
//! them draws a byte for its next eight digits, and one in 256 draws on.

use super::Probability;
use super::words::{RandomWords, is_below};

/// Digits compared for all numbers at once. By measurement four do as well; six are slower, and
/// whole words to the end by a third.
const TOGETHER: u32 = 5;
/// Digits compared after those, for the numbers that need them.
const ALONE: u32 = 8;
/// A word seldom has more of them.
const USUAL: usize = 4;

/// Flips each of the first `count` bits with probability `p`.
pub(super) fn flip(words: &mut impl RandomWords, bits: &mut [u8], count: u64, p: &Probability) {
    if p.is_zero() {
        return;
    }
    let count = count.min(8 * bits.len() as u64);
    let mut bulk = Bulk { words, p, places: [0; 512 + USUAL] };
    let (groups, rest) =
        bits[..count.div_ceil(8) as usize].split_at_mut((count / 512 * 64) as usize);
    for group in groups.as_chunks_mut::<64>().0 {
        let coins = bulk.coins([u64::MAX; 8]);
        for (bytes, coins) in group.as_chunks_mut::<8>().0.iter_mut().zip(coins) {
            *bytes = (u64::from_le_bytes(*bytes) ^ coins).to_le_bytes();
        }
    }
    let mut left = count % 512;
    for bytes in rest.chunks_mut(8) {
        let lanes = left.min(64);
        let [coins] = bulk.coins([u64::MAX >> (64 - lanes)]);
        bytes.iter_mut().zip(coins.to_le_bytes()).for_each(|(byte, coins)| *byte ^= coins);
        left -= lanes;
    }
}

struct Bulk<'a, W> {
    words: &'a mut W,
    p: &'a Probability,
    /// The places of the numbers that still agree with p, with a few spare entries.
    places: [u16; 512 + USUAL],
}

impl<W: RandomWords> Bulk<'_, W> {
    /// A coin for each bit of `open`, and zeros elsewhere.
    #[inline]
    fn coins<const N: usize>(&mut self, mut open: [u64; N]) -> [u64; N] {
        if self.p.is_one() {
            return open;
        }
        let length = self.p.length().unwrap_or(u32::MAX);
        let mut coins = [0; N];
        for i in 0..length.min(TOGETHER) {
            let digit = 0u64.wrapping_sub(self.p.first_digits() >> (63 - i) & 1);
            let drawn = self.words.words::<N>();
            for lane in 0..N {
                let differ = drawn[lane] ^ digit;
                coins[lane] |= open[lane] & differ & digit;
                open[lane] &= !differ;
            }
        }
        if length <= TOGETHER {
            return coins; // only zeros follow: what agrees so far is not below p
        }
        let digits = (self.p.first_digits() << TOGETHER >> (64 - ALONE)) as u8;
        let count = self.list(&open);
        for places in self.places[..count].chunks(8) {
            for (place, drawn) in places.iter().zip(self.words.word().to_le_bytes()) {
                let heads = if drawn == digits {
                    is_below(self.words, self.p, TOGETHER + ALONE)
                } else {
                    drawn < digits
                };
                coins[usize::from(place / 64) % N] |= u64::from(heads) << (place % 64);
            }
        }
        coins
    }

    /// Lists the places of the ones, and says how many there are.
    #[inline]
    fn list(&mut self, open: &[u64]) -> usize {
        let mut count = 0;
        for (base, mut open) in (0u16..).step_by(64).zip(open.iter().copied()) {
            let next = count + open.count_ones() as usize;
            let mut place = || {
                let place = base + open.trailing_zeros() as u16;
                open &= open.wrapping_sub(1);
                place
            };
            // Fixed steps, even if there are fewer ones: a loop that ends at random costs more.
            self.places[count..count + USUAL].fill_with(&mut place);
            if next > count + USUAL {
                self.places[count + USUAL..next].fill_with(place);
            }
            count = next;
        }
        count
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bits;
    use crate::privacy::noise::words::tests::{Recorded, endless, plausible};
    use crate::privacy::noise::{Coins, SeededCoins};
    use proptest::prelude::*;

    /// The definition: number by number, each compared with p digit by digit.
    fn reference(words: &mut Recorded, bits: &mut [u8], count: u64, p: &Probability) {
        let mut start = 0;
        while start < count {
            let lanes = if count - start >= 512 { 512 } else { (count - start).min(64) };
            let together = p.length().unwrap_or(64).min(5);
            let drawn: Vec<Vec<u64>> = (0..together)
                .map(|_| (0..lanes.div_ceil(64)).map(|_| words.word()).collect())
                .collect();
            let mut bytes = Vec::new();
            for lane in 0..lanes {
                let (word, bit) = ((lane / 64) as usize, lane % 64);
                let digit = |i: u32| p.first_digits() >> (63 - i) & 1;
                let differ =
                    (0..together).find(|i| drawn[*i as usize][word] >> bit & 1 != digit(*i));
                let heads = match differ {
                    Some(i) => digit(i) == 1,
                    None if together < 5 || p.length() == Some(5) => false,
                    None => {
                        if bytes.is_empty() {
                            bytes = words.word().to_le_bytes().to_vec();
                        }
                        let (byte, digits) = (bytes.remove(0), p.first_digits() << 5 >> 56);
                        if u64::from(byte) == digits {
                            is_below(words, p, 13)
                        } else {
                            u64::from(byte) < digits
                        }
                    }
                };
                bits[((start + lane) / 8) as usize] ^= u8::from(heads) << ((start + lane) % 8);
            }
            start += lanes;
        }
    }

    proptest! {
        #[test]
        fn coin_for_coin_as_defined(
            which in 0usize..10,
            ratio in (any::<u64>(), 1u64..),
            bytes in prop::collection::vec(any::<u8>(), 0..300),
            cut in 0u64..600,
            seed: u64,
            agree in 0u64..4,
        ) {
            let p = match which {
                0..6 => endless()[which],
                6 => Probability::ratio(ratio.0 % 64, 64).unwrap(),
                7 => Probability::ratio(ratio.0 % 16, 16).unwrap(),
                _ => Probability::ratio(ratio.0.min(ratio.1), ratio.1.max(ratio.0)).unwrap(),
            };
            prop_assume!(!p.is_zero() && !p.is_one());
            // Some words agree with many digits at once: those of p, in all lanes or in a row.
            let mut coins = SeededCoins::new(seed);
            let words: Vec<u64> = (0..10_000u64)
                .map(|i| match coins.below(4 + agree) {
                    4 => 0u64.wrapping_sub(p.first_digits() >> (63 - i % 5) & 1),
                    5 => u64::from_le_bytes([(p.first_digits() << 5 >> 56) as u8; 8]),
                    6 => p.first_digits() << 13,
                    _ => coins.word(),
                })
                .collect();
            let count = (8 * bytes.len() as u64).saturating_sub(cut);
            let (mut fast, mut slow) = (Recorded::new(words.clone()), Recorded::new(words));
            let (mut flipped, mut expected) = (bytes.clone(), bytes.clone());
            flip(&mut fast, &mut flipped, count, &p);
            reference(&mut slow, &mut expected, count, &p);
            prop_assert_eq!(&flipped, &expected);
            prop_assert_eq!(fast.used, slow.used);
            // What lies past the end is as it was.
            flipped.iter_mut().zip(&bytes).for_each(|(flipped, byte)| *flipped ^= byte);
            prop_assert!(bits::clear_from(&flipped, count));
        }

        #[test]
        fn one_flips_all_and_zero_none(
            bytes in prop::collection::vec(any::<u8>(), 0..200),
            count in 0u64..2000,
        ) {
            let mut nothing = Recorded::new(vec![]);
            let mut bits = bytes.clone();
            flip(&mut nothing, &mut bits, count, &Probability::ratio(0, 1).unwrap());
            prop_assert_eq!(&bits, &bytes);
            flip(&mut nothing, &mut bits, count, &Probability::ratio(1, 1).unwrap());
            for i in 0..8 * bytes.len() as u64 {
                prop_assert_eq!(bits::get(&bits, i) != bits::get(&bytes, i), i < count);
            }
        }
    }

    /// One number is led along p for hundreds of digits, and the very last one decides.
    #[test]
    fn every_digit_counts() {
        for p in endless() {
            for depth in 1..5 {
                let last = p.digits(depth);
                for (word, heads) in [(last.wrapping_sub(1), true), (last.wrapping_add(1), false)] {
                    if (word < last) != heads {
                        continue;
                    }
                    let head = p.first_digits();
                    let mut words: Vec<u64> =
                        (0..5).map(|i| (head >> (63 - i) & 1) << 40).collect();
                    // The digits of another number, which must not matter.
                    words.iter_mut().for_each(|word| *word |= 1 << 63);
                    words.push(head << 5 >> 56);
                    words.push(head << 13);
                    words.extend((1..depth).map(|block| p.digits(block)));
                    words.push(word);
                    let mut recorded = Recorded::new(words);
                    let mut bulk = Bulk { words: &mut recorded, p: &p, places: [0; 512 + USUAL] };
                    assert_eq!(bulk.coins([1 << 40]), [u64::from(heads) << 40], "{p:?} at {depth}");
                    assert_eq!(recorded.used as u64, 7 + depth);
                }
            }
        }
    }

    /// Coins of `count` bits that were all zeros.
    fn flipped(seed: u64, count: u64, p: &Probability) -> Vec<u8> {
        let mut bits = vec![0; count.div_ceil(8) as usize];
        SeededCoins::new(seed).flip(&mut bits, count, p);
        bits
    }

    fn probabilities() -> Vec<Probability> {
        let ratios = [(1, 2), (1, 64), (3, 5), (31, 32), (999, 1000), (1, 1000)];
        endless()
            .into_iter()
            .chain(ratios.map(|(n, d)| Probability::ratio(n, d).unwrap()))
            .collect()
    }

    #[test]
    fn flips_are_as_many_as_they_should_be() {
        for p in probabilities() {
            let count = (1 << 20) + 77;
            assert!(plausible(bits::count(&flipped(1, count, &p)), count, p.to_f64()), "{p:?}");
        }
        for numerator in [1, 999_999] {
            let p = Probability::ratio(numerator, 1_000_000).unwrap();
            assert!(plausible(bits::count(&flipped(2, 1 << 26, &p)), 1 << 26, p.to_f64()), "{p:?}");
        }
    }

    #[test]
    fn every_place_is_flipped_alike() {
        const PLACES: u64 = 512 + 64 + 13; // a group, a word, and part of one
        for p in probabilities() {
            let mut coins = SeededCoins::new(3);
            let mut counts = [0; PLACES as usize];
            for _ in 0..4000 {
                let mut bits = [0; PLACES.div_ceil(8) as usize];
                coins.flip(&mut bits, PLACES, &p);
                (0..PLACES).for_each(|i| counts[i as usize] += u64::from(bits::get(&bits, i)));
            }
            assert!(counts.iter().all(|count| plausible(*count, 4000, p.to_f64())), "{p:?}");
        }
    }

    /// Neighbours, and bits that share a byte, a word or a group, are flipped together as often as
    /// independent ones.
    #[test]
    fn places_are_independent() {
        for p in probabilities() {
            let count = 1 << 18;
            let bits = flipped(4, count, &p);
            for distance in [1, 2, 7, 8, 63, 64, 65, 448, 512] {
                let trials = count - distance;
                let pairs = (0..trials)
                    .filter(|i| bits::get(&bits, *i) && bits::get(&bits, i + distance))
                    .count();
                let p = p.to_f64();
                // Pairs that share a bit are correlated, which widens the spread.
                let variance =
                    trials as f64 * (p.powi(2) - p.powi(4) + 2.0 * (p.powi(3) - p.powi(4)));
                let off = (pairs as f64 - trials as f64 * p * p).abs();
                assert!(off <= 5.0 * variance.sqrt() + 1e-9, "{p} at {distance}: {pairs}");
            }
        }
    }
}
