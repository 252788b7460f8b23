//! A Bloom filter whose bits are randomized, and what it answers.

use super::sets::Sets;
use tamis_random::SplitMix64;

/// How bits are randomized. The chance of a change is 1/(e^epsilon + 1).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Noise {
    /// A 1 may become 0; a 0 stays.
    OneSided,
    /// Either may become the other: randomized response.
    Symmetric,
    /// Algorithm 3 as printed: a bit is set to 1, unless the coin changes it.
    SetToOne,
}

/// A way to make the filter.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Mechanism {
    pub(super) hashes: u32,
    pub(super) noise: Noise,
}

/// The chance that a bit is changed; without an epsilon there is no noise.
pub(super) fn change(epsilon: Option<f64>) -> f64 {
    epsilon.map_or(0.0, |epsilon| 1.0 / (epsilon.exp() + 1.0))
}

/// Bits, a power of two of them.
#[derive(Clone)]
pub(super) struct Array(Vec<u64>);

impl Array {
    /// The array with the items' bits.
    pub(super) fn filled(digests: &[u64], bits: u64, hashes: u32) -> Array {
        let mut array = Array(vec![0; (bits / 64) as usize]);
        for digest in digests {
            for position in positions(*digest, bits, hashes) {
                array.0[(position / 64) as usize] |= 1 << (position % 64);
            }
        }
        array
    }

    /// The array after the noise.
    pub(super) fn randomized(&self, noise: Noise, epsilon: Option<f64>, seed: u64) -> Array {
        if epsilon.is_none() {
            return self.clone();
        }
        let mut random = SplitMix64::new(SplitMix64::new(seed).next_u64());
        let limit = (change(epsilon) * 2f64.powi(64)) as u64;
        let mut coins =
            |of: u64| ones(of).fold(0, |up, bit| up | u64::from(random.next_u64() < limit) << bit);
        let word = |word: &u64| match noise {
            Noise::OneSided => word & !coins(*word),
            Noise::Symmetric => word ^ coins(u64::MAX),
            Noise::SetToOne => word | !coins(u64::MAX),
        };
        Array(self.0.iter().map(word).collect())
    }

    pub(super) fn bits(&self) -> u64 {
        self.0.len() as u64 * 64
    }

    /// Whether all bits of the item are set.
    pub(super) fn contains(&self, digest: u64, hashes: u32) -> bool {
        positions(digest, self.bits(), hashes)
            .all(|p| self.0[(p / 64) as usize] >> (p % 64) & 1 == 1)
    }

    /// The number of bits in which they differ.
    pub(super) fn distance(&self, other: &Array) -> u64 {
        self.0.iter().zip(&other.0).map(|(a, b)| u64::from((a ^ b).count_ones())).sum()
    }

    /// How many of its ones are ones of the other, too.
    pub(super) fn common(&self, other: &Array) -> u64 {
        self.0.iter().zip(&other.0).map(|(a, b)| u64::from((a & b).count_ones())).sum()
    }
}

/// The places of a word's ones.
fn ones(word: u64) -> impl Iterator<Item = u32> {
    let mut rest = word;
    std::iter::from_fn(move || {
        let place = rest.trailing_zeros();
        (rest != 0).then(|| {
            rest &= rest - 1;
            place
        })
    })
}

/// The positions of an item, one for each hash, drawn from its digest.
fn positions(digest: u64, bits: u64, hashes: u32) -> impl Iterator<Item = u64> {
    let mut random = SplitMix64::new(digest);
    (0..hashes).map(move |_| random.next_u64() & (bits - 1))
}

/// The wrong answers among equally many members and strangers.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Score {
    pub(super) each: u64,
    pub(super) strangers_passed: u64,
    pub(super) members_missed: u64,
}

impl Score {
    pub(super) fn rates(self) -> Rates {
        let each = self.each as f64;
        Rates {
            positive: self.strangers_passed as f64 / each,
            negative: self.members_missed as f64 / each,
        }
    }
}

/// The rates of false positives and false negatives.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Rates {
    pub(super) positive: f64,
    pub(super) negative: f64,
}

impl Rates {
    /// The harmonic mean of precision and recall, for equally many members and strangers.
    pub(super) fn f1(self) -> f64 {
        let found = 1.0 - self.negative;
        if found == 0.0 { 0.0 } else { 2.0 * found / (1.0 + found + self.positive) }
    }
}

impl Mechanism {
    /// Fills a filter to the occupancy, randomizes it, and asks for every member and as many
    /// strangers.
    pub(super) fn score(
        self,
        sets: &Sets,
        occupancy: f64,
        epsilon: Option<f64>,
        seed: u64,
    ) -> Score {
        let each = sets.size.occupied(occupancy);
        let (members, strangers) = (&sets.members[..each], &sets.strangers[..each]);
        let array = Array::filled(members, sets.size.bits, self.hashes)
            .randomized(self.noise, epsilon, seed);
        let pass = |digests: &[u64]| {
            digests.iter().filter(|d| array.contains(**d, self.hashes)).count() as u64
        };
        let each = each as u64;
        Score { each, strangers_passed: pass(strangers), members_missed: each - pass(members) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn array() -> Array {
        let digests: Vec<u64> = (0..200).map(|i| SplitMix64::new(i).next_u64()).collect();
        Array::filled(&digests, 4096, 3)
    }

    #[test]
    fn members_pass_without_noise() {
        let array = array();
        assert!((0..200).all(|i| array.contains(SplitMix64::new(i).next_u64(), 3)));
        assert!((500..=600).contains(&array.common(&array)));
        assert_eq!(array.randomized(Noise::Symmetric, None, 1).distance(&array), 0);
    }

    /// Each kind of noise changes what it may, as often as it should, in every place of a word.
    #[test]
    fn noise_changes_what_it_may() {
        let array = array();
        let (runs, limit) = (2000u64, change(Some(1.0)));
        for noise in [Noise::OneSided, Noise::Symmetric, Noise::SetToOne] {
            let (mut up, mut down) = ([0u64; 64], [0u64; 64]);
            for seed in 0..runs {
                for (before, after) in
                    array.0.iter().zip(&array.randomized(noise, Some(1.0), seed).0)
                {
                    for bit in 0..64 {
                        up[bit] += !before >> bit & after >> bit & 1;
                        down[bit] += before >> bit & !after >> bit & 1;
                    }
                }
            }
            let (up_chance, down_chance) = match noise {
                Noise::OneSided => (0.0, limit),
                Noise::Symmetric => (limit, limit),
                Noise::SetToOne => (1.0 - limit, 0.0),
            };
            for bit in 0..64 {
                let set = array.0.iter().filter(|word| *word >> bit & 1 == 1).count() as u64;
                for (changed, trials, chance) in
                    [(up[bit], runs * (64 - set), up_chance), (down[bit], runs * set, down_chance)]
                {
                    let (mean, variance) =
                        (trials as f64 * chance, trials as f64 * chance * (1.0 - chance));
                    assert!(
                        (changed as f64 - mean).abs() <= 5.0 * variance.sqrt(),
                        "{noise:?} {bit}"
                    );
                }
            }
        }
    }

    #[test]
    fn f1_is_the_harmonic_mean_of_precision_and_recall() {
        let rates = Score { each: 100, strangers_passed: 20, members_missed: 40 }.rates();
        let (precision, recall) = (60.0 / 80.0, 0.6);
        assert!((rates.f1() - 2.0 / (1.0 / precision + 1.0 / recall)).abs() < 1e-12);
        assert_eq!(Rates { positive: 0.0, negative: 1.0 }.f1(), 0.0);
        assert_eq!(Rates { positive: 0.0, negative: 0.0 }.f1(), 1.0);
    }
}
