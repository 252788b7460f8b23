//! The strings: the members, and as many strangers.

use crate::threads::in_order;
use tamis::HashFamily;
use tamis_random::SplitMix64;

/// The characters of a string, as in the paper.
const LENGTH: usize = 50;

/// A filter's capacity, and its bits, which are a power of two.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Size {
    pub(super) items: u64,
    pub(super) bits: u64,
}

impl Size {
    /// The items of an occupancy.
    pub(super) fn occupied(self, occupancy: f64) -> usize {
        (self.items as f64 * occupancy).round() as usize
    }
}

/// A balanced set of random strings, each hashed once.
pub(super) struct Sets {
    pub(super) size: Size,
    pub(super) members: Vec<u64>,
    pub(super) strangers: Vec<u64>,
}

impl Sets {
    /// Members are the strings from 0 on, strangers those after them.
    pub(super) fn new(size: Size) -> Sets {
        let digests = |from: u64| {
            let pieces = in_order(16, |piece| {
                let (first, last) =
                    (size.items * piece as u64 / 16, size.items * (piece as u64 + 1) / 16);
                let ascii = ascii();
                (from + first..from + last)
                    .map(|index| digest(&string(index, &ascii)))
                    .collect::<Vec<u64>>()
            });
            pieces.concat()
        };
        Sets { size, members: digests(0), strangers: digests(size.items) }
    }

    /// The members themselves.
    pub(super) fn member_strings(&self) -> Vec<String> {
        let ascii = ascii();
        (0..self.size.items).map(|index| string(index, &ascii)).collect()
    }

    /// The strangers themselves, one after the other.
    pub(super) fn stranger_strings(&self) -> impl Iterator<Item = String> {
        let ascii = ascii();
        (self.size.items..2 * self.size.items).map(move |index| string(index, &ascii))
    }
}

/// The printable characters of ASCII.
fn ascii() -> Vec<char> {
    (' '..='~').collect()
}

/// Random string number `index`.
pub(super) fn string(index: u64, alphabet: &[char]) -> String {
    // Seed with a draw from the index: neighbouring seeds would give overlapping sequences.
    let mut random = SplitMix64::new(SplitMix64::new(index).next_u64());
    (0..LENGTH).map(|_| alphabet[random.below(alphabet.len() as u64) as usize]).collect()
}

/// The low half of the digest of a string: 64 bits tell a few million strings apart.
pub(super) fn digest(string: &str) -> u64 {
    HashFamily::fast(0).digest(string).map_or(0, |digest| u128::from(digest) as u64)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashSet;

    #[test]
    fn sets_are_balanced_ascii_and_disjoint() {
        let sets = Sets::new(Size { items: 1000, bits: 16_384 });
        let (members, strangers) =
            (sets.member_strings(), sets.stranger_strings().collect::<Vec<_>>());
        assert!(
            members
                .iter()
                .all(|s| s.len() == LENGTH && s.is_ascii() && !s.contains(char::is_control))
        );
        assert_eq!(members.iter().map(|s| digest(s)).collect::<Vec<_>>(), sets.members);
        assert_eq!(strangers.iter().map(|s| digest(s)).collect::<Vec<_>>(), sets.strangers);
        assert_eq!(members.into_iter().chain(strangers).collect::<HashSet<_>>().len(), 2000);
        assert_eq!(sets.size.occupied(0.2), 200);
    }
}
