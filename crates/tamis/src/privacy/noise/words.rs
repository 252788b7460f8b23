//! Coins from uniform random words.

use super::{Coins, Probability, bulk};

/// An endless sequence of uniform random words.
pub(super) trait RandomWords {
    fn word(&mut self) -> u64;

    /// The next words, at once.
    fn words<const N: usize>(&mut self) -> [u64; N] {
        std::array::from_fn(|_| self.word())
    }
}

/// Whether a uniform number in [0,1) is below `p`, once its first `known` digits, fewer than 64,
/// turned out to be those of `p`.
pub(super) fn is_below(words: &mut impl RandomWords, p: &Probability, known: u32) -> bool {
    let (drawn, digits) = (words.word() >> known, p.first_digits() << known >> known);
    if drawn != digits || p.length().is_some() {
        return drawn < digits;
    }
    let mut block = 1;
    loop {
        let (drawn, digits) = (words.word(), p.digits(block));
        if drawn != digits {
            return drawn < digits;
        }
        block += 1;
    }
}

impl<W: RandomWords> Coins for W {
    fn bernoulli(&mut self, p: &Probability) -> bool {
        p.is_one() || (!p.is_zero() && is_below(self, p, 0))
    }

    fn below(&mut self, bound: u64) -> u64 {
        // As many bits as the largest number has, until they make a number that is allowed.
        let largest = bound.max(1) - 1;
        if largest == 0 {
            return 0;
        }
        loop {
            let drawn = self.word() & (u64::MAX >> largest.leading_zeros());
            if drawn <= largest {
                return drawn;
            }
        }
    }

    fn fill(&mut self, bytes: &mut [u8]) {
        let (whole, rest) = bytes.as_chunks_mut::<8>();
        whole.iter_mut().for_each(|bytes| *bytes = self.word().to_le_bytes());
        if !rest.is_empty() {
            rest.copy_from_slice(&self.word().to_le_bytes()[..rest.len()]);
        }
    }

    fn flip(&mut self, bits: &mut [u8], count: u64, p: &Probability) {
        bulk::flip(self, bits, count, p);
    }
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use crate::privacy::Epsilon;
    use crate::privacy::noise::SeededCoins;

    /// Words written down, and nothing after them.
    pub(in super::super) struct Recorded {
        words: Vec<u64>,
        pub(in super::super) used: usize,
    }

    impl Recorded {
        pub(in super::super) fn new(words: Vec<u64>) -> Recorded {
            Recorded { words, used: 0 }
        }
    }

    impl RandomWords for Recorded {
        fn word(&mut self) -> u64 {
            self.used += 1;
            self.words[self.used - 1]
        }
    }

    /// One probability of every kind whose digits never end.
    pub(in super::super) fn endless() -> [Probability; 6] {
        let epsilon = |text: &str| text.parse::<Epsilon>().unwrap();
        [
            Probability::ratio(1, 3),
            Probability::exp_minus(epsilon("0.7"), 1),
            Probability::exp_minus(epsilon("90"), 1), // its first 64 digits are zeros
            Probability::exp_minus(epsilon("0.000000001"), u64::MAX), // and here ones
            Probability::logistic(epsilon("1"), 3),
            Probability::dropping(17, epsilon("2")),
        ]
        .map(Option::unwrap)
    }

    /// Whether this many hits are within five standard deviations.
    pub(in super::super) fn plausible(hits: u64, trials: u64, p: f64) -> bool {
        let (mean, variance) = (trials as f64 * p, trials as f64 * p * (1.0 - p));
        (hits as f64 - mean).abs() <= 5.0 * variance.sqrt()
    }

    /// Whether counts that should be even are, by their chi-square statistic.
    fn even(counts: &[u64]) -> bool {
        let mean = counts.iter().sum::<u64>() as f64 / counts.len() as f64;
        let statistic: f64 = counts.iter().map(|count| (*count as f64 - mean).powi(2) / mean).sum();
        let freedom = counts.len() as f64 - 1.0;
        statistic < freedom + 6.0 * (2.0 * freedom).sqrt() + 10.0
    }

    /// A number that agrees with p for hundreds of digits is told apart by the next.
    #[test]
    fn every_digit_counts() {
        for p in endless() {
            for depth in 0..6 {
                let mut words: Vec<u64> = (0..=depth).map(|block| p.digits(block)).collect();
                let last = words[depth as usize];
                for (word, heads) in [(last.wrapping_sub(1), true), (last.wrapping_add(1), false)] {
                    if (word < last) == heads {
                        words[depth as usize] = word;
                        let mut recorded = Recorded::new(words.clone());
                        assert_eq!(recorded.bernoulli(&p), heads, "{p:?} at {depth}");
                        assert_eq!(recorded.used as u64, depth + 1);
                    }
                }
            }
        }
    }

    #[test]
    fn digits_that_end_are_not_asked_further() {
        let p = Probability::ratio(3, 8).unwrap();
        for (word, heads) in [(0, true), ((3 << 61) - 1, true), (3 << 61, false), (u64::MAX, false)]
        {
            assert_eq!(Recorded::new(vec![word]).bernoulli(&p), heads);
        }
        assert!(Recorded::new(vec![]).bernoulli(&Probability::ratio(1, 1).unwrap()));
        assert!(!Recorded::new(vec![]).bernoulli(&Probability::ratio(0, 1).unwrap()));
    }

    #[test]
    fn coins_fall_as_often_as_they_should() {
        let mut coins = SeededCoins::new(1);
        for (numerator, trials) in
            [(1, 1 << 22), (1_000, 1 << 16), (500_000, 1 << 16), (999_999, 1 << 22)]
        {
            let p = Probability::ratio(numerator, 1_000_000).unwrap();
            let heads = (0..trials).filter(|_| coins.bernoulli(&p)).count() as u64;
            assert!(plausible(heads, trials, p.to_f64()), "{heads} of {trials} for {p:?}");
        }
        for p in endless() {
            let heads = (0..1 << 16).filter(|_| coins.bernoulli(&p)).count() as u64;
            assert!(plausible(heads, 1 << 16, p.to_f64()), "{heads} for {p:?}");
        }
    }

    #[test]
    fn numbers_below_a_bound_are_even() {
        let mut coins = SeededCoins::new(2);
        for bound in [2u64, 3, 5, 6, 7, 100, 256, 1000] {
            let mut counts = vec![0; bound as usize];
            (0..100 * bound).for_each(|_| counts[coins.below(bound) as usize] += 1);
            assert!(even(&counts), "{bound}");
        }
        for bound in [(1 << 63) + 1, 3 << 61, u64::MAX] {
            let mut counts = [0; 12];
            for _ in 0..10_000 {
                let drawn = coins.below(bound);
                assert!(drawn < bound);
                counts[(u128::from(drawn) * 12 / u128::from(bound)) as usize] += 1;
            }
            assert!(even(&counts), "{bound}");
        }
        assert!((0..100).all(|_| coins.below(1) == 0 && coins.below(0) == 0));
    }

    #[test]
    fn only_what_is_too_large_is_drawn_again() {
        for bits in 1..64 {
            assert_eq!(Recorded::new(vec![u64::MAX]).below(1 << bits), (1 << bits) - 1);
        }
        assert_eq!(Recorded::new(vec![0b1111, 0b110, 0b101]).below(6), 0b101);
        assert_eq!(Recorded::new(vec![u64::MAX, 1 << 63]).below((1 << 63) + 1), 1 << 63);
        assert_eq!(Recorded::new(vec![u64::MAX, u64::MAX - 1]).below(u64::MAX), u64::MAX - 1);
        assert_eq!(Recorded::new(vec![]).below(1), 0);
    }

    #[test]
    fn bytes_are_those_of_the_words() {
        let mut bytes = [0; 11];
        Recorded::new(vec![0x0807_0605_0403_0201, 0xff0b_0a09]).fill(&mut bytes);
        assert_eq!(bytes, [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11]);
        let mut many = vec![0; 1 << 18];
        SeededCoins::new(3).fill(&mut many);
        let mut counts = [0; 256];
        many.iter().for_each(|byte| counts[usize::from(*byte)] += 1);
        assert!(even(&counts));
    }

    /// What the trait provides behaves as what is written for words.
    #[test]
    fn two_methods_are_enough() {
        struct Two(SeededCoins);
        impl Coins for Two {
            fn bernoulli(&mut self, p: &Probability) -> bool {
                self.0.bernoulli(p)
            }
            fn below(&mut self, bound: u64) -> u64 {
                self.0.below(bound)
            }
        }
        let mut coins = Two(SeededCoins::new(4));
        let mut bytes = vec![0; 1 << 16];
        coins.fill(&mut bytes);
        let mut counts = [0; 256];
        bytes.iter().for_each(|byte| counts[usize::from(*byte)] += 1);
        assert!(even(&counts));

        let mut bits = vec![0; 1000];
        coins.flip(&mut bits, 7_001, &Probability::ratio(1, 3).unwrap());
        assert!(crate::bits::clear_from(&bits, 7_001));
        assert!(plausible(crate::bits::count(&bits), 7_001, 1.0 / 3.0));
        // More bits than there are: it stops at the last.
        coins.flip(&mut bits, u64::MAX, &Probability::ratio(0, 1).unwrap());
    }
}
