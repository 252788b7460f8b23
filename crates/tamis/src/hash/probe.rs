//! The positions of a hashed key in an array of any size.

#[cfg(feature = "documents")]
use super::document::{self, LongNumber};
use super::{Digest, STEP};
use crate::KeyRef;
use crate::simd::prefetch;

/// A hashed key, ready to be turned into positions of an array of any size.
pub(crate) enum Probe<'a> {
    Digest(Digest),
    #[cfg(feature = "documents")]
    Double([LongNumber; 2]),
    #[cfg_attr(not(feature = "documents"), allow(dead_code))]
    Prefixed(KeyRef<'a>),
}

/// The positions of a digest: the walk x -> x * STEP + h2 from h1, each x scaled to the array.
#[derive(Clone, Copy)]
pub(crate) struct Walk {
    x: u64,
    step: u64,
    cells: u64,
}

impl Walk {
    #[inline(always)]
    pub(crate) fn new(digest: Digest, cells: u64) -> Walk {
        Walk { x: digest.h1, step: digest.h2, cells }
    }

    /// Where the walk is: with this in the place of h1, it goes on from here.
    #[inline(always)]
    pub(crate) fn x(&self) -> u64 {
        self.x
    }

    /// Starts to fetch the next places of a body of bits.
    #[inline(always)]
    pub(crate) fn prefetch(mut self, body: &[u8], places: u32) {
        for _ in 0..places {
            prefetch::byte(body, (self.next() >> 3) as usize);
        }
    }

    #[inline(always)]
    pub(crate) fn next(&mut self) -> u64 {
        let position = scale(self.x, self.cells);
        self.x = self.x.wrapping_mul(STEP).wrapping_add(self.step);
        position
    }
}

impl Probe<'_> {
    /// Gives the key's `hashes` positions below `cells` to `keep_going`, in the order of the
    /// specification, until it answers `false`; says whether it never did.
    ///
    /// A digest walks x -> x * STEP + h2 from h1, and each x is scaled to the array. The usual
    /// walk, x -> x + h2 modulo the number of cells, is a trap in three ways: h2 may be 0, may
    /// share a factor with the size, and one pair in cells^2 repeats another key's whole walk,
    /// which is far too often for rates such as 1e-6.
    #[inline]
    pub(crate) fn visit(
        &self,
        cells: u64,
        hashes: u32,
        mut keep_going: impl FnMut(u64) -> bool,
    ) -> bool {
        match self {
            Probe::Digest(digest) => {
                let mut walk = Walk::new(*digest, cells);
                (0..hashes).all(|_| keep_going(walk.next()))
            }
            #[cfg(feature = "documents")]
            Probe::Double([h1, h2]) => {
                let mut position = h1.modulo(cells);
                let step = h2.modulo(cells);
                (0..hashes).all(|_| {
                    let here = position;
                    position = (position + step) % cells;
                    keep_going(here)
                })
            }
            #[cfg(not(feature = "documents"))]
            Probe::Prefixed(_) => false, // no hash makes it
            #[cfg(feature = "documents")]
            Probe::Prefixed(key) => {
                (1..=hashes).all(|i| keep_going(document::prefixed(i, *key).modulo(cells)))
            }
        }
    }
}

/// Maps 64 random bits to 0..cells evenly: the high half of the product.
// FORMAT v1: frozen
#[inline(always)]
pub(crate) fn scale(x: u64, cells: u64) -> u64 {
    ((u128::from(x) * u128::from(cells)) >> 64) as u64
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{HashFamily, Key, SecretKey};

    fn positions(hash: &HashFamily, key: impl Key, cells: u64, hashes: u32) -> Vec<u64> {
        let mut all = Vec::new();
        hash.probe(key.as_key()).visit(cells, hashes, |p| {
            all.push(p);
            true
        });
        all
    }

    /// The listing of the report, run by Python's hashlib: [(h1 + i*h2) % m for i in range(k)].
    #[test]
    fn sha256_md5_walks_as_the_report_does() {
        let hash = HashFamily::sha256_md5();
        assert_eq!(
            positions(&hash, "elemet_0", 95_851, 7),
            [44_418, 31_935, 19_452, 6_969, 90_337, 77_854, 65_371]
        );
        assert_eq!(positions(&hash, "élément", 143_776, 3), [62_554, 83_377, 104_200]);
        // Two items of the report's second experiment fall into the trap.
        for trapped in ["elemet_8204", "elemet_9964"] {
            let mut all = positions(&hash, trapped, 143_776, 10);
            all.dedup();
            assert_eq!(all.len(), 1, "{trapped}");
        }
    }

    #[test]
    fn every_family_stays_in_range_and_stops_when_told() {
        let key = SecretKey::new(b"0123456789abcdef").unwrap();
        for hash in [
            HashFamily::fast(3),
            HashFamily::keyed(key),
            HashFamily::sha256_md5(),
            HashFamily::prefixed(),
        ] {
            for cells in [1, 2, 3, 95_851, crate::rate::MAX_BITS] {
                for i in 0..50u64 {
                    let all = positions(&hash, i, cells, 64);
                    assert_eq!(all.len(), 64);
                    assert!(all.iter().all(|&p| p < cells), "{} {cells}", hash.name());
                }
            }
            let mut seen = 0;
            assert!(!hash.probe("x".as_key()).visit(100, 9, |_| {
                seen += 1;
                seen < 4
            }));
            assert_eq!(seen, 4);
        }
    }

    /// However h1 and h2 fall, the walk does not stand still: not for h2 = 0, nor for an even or
    /// huge h2.
    #[test]
    fn the_walk_has_no_trap_at_zero() {
        for h2 in [0, 1, 2, 1 << 32, 1 << 63, u64::MAX] {
            let mut seen = std::collections::BTreeSet::new();
            Probe::Digest(Digest { h1: 0x9e37_79b9_7f4a_7c15, h2 }).visit(1 << 20, 20, |p| {
                seen.insert(p);
                true
            });
            assert!(seen.len() >= 19, "h2 = {h2}: {} places", seen.len());
        }
    }
}
