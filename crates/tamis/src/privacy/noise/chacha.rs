//! The generator behind the coins.

use super::words::RandomWords;
use crate::Error;
use chacha20::rand_core::{SeedableRng, block::Generator};
use chacha20::variants::Legacy;
use chacha20::{ChaChaCore, R20};
use std::fmt;
use zeroize::Zeroizing;

/// What the generator makes at a time, as its crate defines it: four blocks of ChaCha.
const BATCH: usize = 64;
/// Batches made at a time: 4 KiB.
const BATCHES: usize = 16;
/// Words of 64 bits in them.
const WORDS: usize = BATCHES * BATCH / 2;

/// ChaCha with 20 rounds and a counter of 64 bits. Its state and what it made are wiped when it is
/// dropped.
///
/// The crate finds out at run time whether it may use AVX2. Fewer rounds would be faster, but 20
/// reach the speed that a release needs, and are the number with the widest margin.
struct ChaCha {
    core: ChaChaCore<R20, Legacy>,
    made: Box<Zeroizing<[[u32; BATCH]; BATCHES]>>,
    /// How many words of them are used.
    used: usize,
}

impl ChaCha {
    fn new(seed: [u8; 32]) -> ChaCha {
        let core = ChaChaCore::from_seed(seed);
        ChaCha { core, made: Box::new(Zeroizing::new([[0; BATCH]; BATCHES])), used: WORDS }
    }

    #[cold]
    fn refill(&mut self) {
        self.made.iter_mut().for_each(|batch| self.core.generate(batch));
        self.used = 0;
    }

    /// The words that are left, each in two halves.
    fn left(&self) -> &[[u32; 2]] {
        &self.made.as_flattened().as_chunks().0[self.used..]
    }
}

/// The first half is the lower one, on every machine.
fn joined([low, high]: [u32; 2]) -> u64 {
    u64::from(low) | u64::from(high) << 32
}

impl RandomWords for ChaCha {
    #[inline]
    fn word(&mut self) -> u64 {
        if self.used == WORDS {
            self.refill();
        }
        let word = joined(self.left()[0]);
        self.used += 1;
        word
    }

    #[inline]
    fn words<const N: usize>(&mut self) -> [u64; N] {
        let Some(halves) = self.left().first_chunk::<N>() else {
            return std::array::from_fn(|_| self.word());
        };
        let words = halves.map(joined);
        self.used += N;
        words
    }
}

/// The coins of a release: their seed comes from the operating system, and nobody learns it or
/// chooses it.
///
/// ```
/// use tamis::privacy::noise::{Coins, SecretCoins};
/// let mut coins = SecretCoins::new()?;
/// assert!(coins.below(10) < 10);
/// # Ok::<(), tamis::Error>(())
/// ```
pub struct SecretCoins(ChaCha);

impl SecretCoins {
    /// Coins with a fresh seed.
    ///
    /// # Errors
    ///
    /// [`Error::Randomness`] if the operating system gives none.
    pub fn new() -> Result<SecretCoins, Error> {
        let mut seed = Zeroizing::new([0; 32]);
        getrandom::fill(&mut *seed)
            .map_err(|error| Error::Randomness { why: error.to_string() })?;
        Ok(SecretCoins(ChaCha::new(*seed)))
    }
}

impl fmt::Debug for SecretCoins {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str("SecretCoins")
    }
}

impl RandomWords for SecretCoins {
    #[inline]
    fn word(&mut self) -> u64 {
        self.0.word()
    }

    #[inline]
    fn words<const N: usize>(&mut self) -> [u64; N] {
        self.0.words()
    }
}

/// The same coins for the same seed, for tests, experiments and audits. Never for a release:
/// somebody who guesses the seed knows the noise and takes it away.
///
/// ```
/// use tamis::privacy::noise::{Coins, SeededCoins};
/// assert_eq!(SeededCoins::new(1).below(1 << 60), SeededCoins::new(1).below(1 << 60));
/// ```
pub struct SeededCoins(ChaCha);

impl SeededCoins {
    /// The coins of this seed.
    #[must_use]
    pub fn new(seed: u64) -> SeededCoins {
        let mut bytes = [0; 32];
        bytes[..8].copy_from_slice(&seed.to_le_bytes());
        SeededCoins(ChaCha::new(bytes))
    }
}

impl fmt::Debug for SeededCoins {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str("SeededCoins")
    }
}

impl RandomWords for SeededCoins {
    #[inline]
    fn word(&mut self) -> u64 {
        self.0.word()
    }

    #[inline]
    fn words<const N: usize>(&mut self) -> [u64; N] {
        self.0.words()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::privacy::noise::Coins;

    /// The keystream of 20 rounds for a key and a nonce of zeros (RFC 8439, A.1, test vectors 1 and
    /// 2).
    #[test]
    fn it_is_chacha_with_20_rounds() {
        let mut coins = SeededCoins::new(0);
        let blocks: [u64; 16] = coins.words();
        assert_eq!(blocks[0].to_le_bytes(), [0x76, 0xb8, 0xe0, 0xad, 0xa0, 0xf1, 0x3d, 0x90]);
        assert_eq!(blocks[8].to_le_bytes(), [0x9f, 0x07, 0xe7, 0xbe, 0x55, 0x51, 0x38, 0x7a]);
    }

    /// Words come in the same order, one by one or many at a time, across refills too.
    #[test]
    fn no_word_is_lost_or_used_twice() {
        let (mut one, mut many) = (SeededCoins::new(5), SeededCoins::new(5));
        for _ in 0..200 {
            assert_eq!(many.word(), one.word());
            assert_eq!(many.words::<8>(), std::array::from_fn(|_| one.word()));
            assert_eq!(many.words::<3>(), std::array::from_fn(|_| one.word()));
        }
        let mut seen: Vec<u64> = (0..10 * WORDS).map(|_| one.word()).collect();
        seen.sort_unstable();
        seen.dedup();
        assert_eq!(seen.len(), 10 * WORDS);
    }

    #[test]
    fn secret_coins_differ_and_tell_nothing() {
        let [mut one, mut two] = [(); 2].map(|()| SecretCoins::new().unwrap());
        assert_ne!(one.words::<4>(), two.words::<4>());
        assert_eq!(format!("{one:?}"), "SecretCoins");
        assert!(one.below(3) < 3);
    }
}
