//! From a key to positions: the hash families of format version 1.
//!
//! | family | for | identifier |
//! |---|---|---|
//! | [`HashFamily::fast`] | everyday sets; the seed is public | 1 `fast` |
//! | [`HashFamily::keyed`] | sets whose keys an adversary may choose | 2 `keyed` |
//! | [`HashFamily::sha256_md5`] | the report by Sánchez-O'Mullony (2025) | 3 `sha256-md5` |
//! | [`HashFamily::prefixed`] | Levine's lecture notes (2019) | 4 `prefixed` |
//!
//! `FORMAT.md` specifies each to the bit, with test vectors. The first two make a 128-bit
//! [`Digest`] of a key, from which every position follows; the last two are there to reproduce the
//! documents, and serve the classic layouts only.

mod digests;
#[cfg(feature = "documents")]
mod document;
mod fast;
mod keyed;

use crate::simd::prefetch;
use crate::{Error, Key, KeyRef};
pub(crate) use digests::{Digests, Naturals};
#[cfg(feature = "documents")]
use document::LongNumber;
pub(crate) use fast::Fast;
pub use keyed::SecretKey;

/// The most positions that a layout may ask for.
pub(crate) const MAX_HASHES: u32 = 64;

/// 128 bits that stand for a key.
///
/// A digest may be made elsewhere if its 128 bits are as good as random. Insert a 64-bit hash as an
/// integer key instead, which spreads it.
///
/// ```
/// use tamis::{Bloom, Digest, HashFamily};
/// let mut seen = Bloom::new(100, 0.01)?;
/// seen.insert_digest(Digest::from(0x0123_4567_89ab_cdef_0011_2233_4455_6677u128))?;
/// seen.insert_digest(HashFamily::fast(0).digest("ant").unwrap())?;
/// assert!(seen.contains("ant"));
/// # Ok::<(), tamis::Error>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Digest {
    pub(crate) h1: u64,
    pub(crate) h2: u64,
}

impl From<u128> for Digest {
    /// The high 64 bits are `h2` of the specification. The low ones are `h1 ^ (h1 >> 32)`.
    fn from(bits: u128) -> Digest {
        Digest { h1: spread_down(bits as u64), h2: (bits >> 64) as u64 }
    }
}

impl From<Digest> for u128 {
    /// The low bits of `h1` are weaker than its high bits, and no layout depends on them. Outside,
    /// all 128 bits must be good, so the strong half is mixed into the weak one here.
    fn from(digest: Digest) -> u128 {
        u128::from(digest.h2) << 64 | u128::from(spread_down(digest.h1))
    }
}

/// Mixes the high half of a word into its low half. Doing it twice gives the word back.
// FORMAT v1: frozen
fn spread_down(word: u64) -> u64 {
    word ^ word >> 32
}

/// A hash family and its seed or secret key.
///
/// Two filters can be merged only if their hashes are equal.
///
/// ```
/// use tamis::HashFamily;
/// assert_eq!(HashFamily::default(), HashFamily::fast(0));
/// assert_ne!(HashFamily::fast(1).digest("ant"), HashFamily::fast(2).digest("ant"));
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HashFamily(Family);

#[derive(Debug, Clone, PartialEq, Eq)]
enum Family {
    Fast(Fast),
    Keyed(SecretKey),
    #[cfg(feature = "documents")]
    Sha256Md5,
    #[cfg(feature = "documents")]
    Prefixed,
}

impl Default for HashFamily {
    /// The fast family with seed 0.
    fn default() -> HashFamily {
        HashFamily::fast(0)
    }
}

impl HashFamily {
    /// Fast and public: anyone who knows the seed can make keys that collide.
    #[must_use]
    pub fn fast(seed: u64) -> HashFamily {
        HashFamily(Family::Fast(Fast::new(seed)))
    }

    /// SipHash-2-4 with 128 bits out: without the key nobody can aim at positions. The key never
    /// enters a file.
    #[must_use]
    pub fn keyed(key: SecretKey) -> HashFamily {
        HashFamily(Family::Keyed(key))
    }

    /// Position i is (SHA-256 + i MD5) mod m, both read as big-endian integers, exactly as the
    /// report's listing has it, so a key whose MD5 is 0 mod m sets a single bit.
    #[cfg(feature = "documents")]
    #[must_use]
    pub fn sha256_md5() -> HashFamily {
        HashFamily(Family::Sha256Md5)
    }

    /// Position i is h(x_i, key) mod m. The notes leave h and the prefixes open: here h is SHA-256,
    /// and x_i the number i from 1 to k as four big-endian bytes.
    #[cfg(feature = "documents")]
    #[must_use]
    pub fn prefixed() -> HashFamily {
        HashFamily(Family::Prefixed)
    }

    /// The family's identifier in files.
    #[must_use]
    pub fn id(&self) -> u8 {
        match self.0 {
            Family::Fast(_) => 1,
            Family::Keyed(_) => 2,
            #[cfg(feature = "documents")]
            Family::Sha256Md5 => 3,
            #[cfg(feature = "documents")]
            Family::Prefixed => 4,
        }
    }

    /// The family's name.
    #[must_use]
    pub fn name(&self) -> &'static str {
        match self.0 {
            Family::Fast(_) => "fast",
            Family::Keyed(_) => "keyed",
            #[cfg(feature = "documents")]
            Family::Sha256Md5 => "sha256-md5",
            #[cfg(feature = "documents")]
            Family::Prefixed => "prefixed",
        }
    }

    /// The public seed, where the family has one.
    #[must_use]
    pub fn seed(&self) -> Option<u64> {
        match &self.0 {
            Family::Fast(fast) => Some(fast.seed()),
            _ => None,
        }
    }

    /// What the file says of the seed: the seed itself, the check value of a secret key, or 0.
    pub(crate) fn seed_field(&self) -> u64 {
        match &self.0 {
            Family::Fast(fast) => fast.seed(),
            Family::Keyed(key) => key.check(),
            #[cfg(feature = "documents")]
            _ => 0,
        }
    }

    /// The hash that a file names, with the caller's key where it takes one.
    pub(crate) fn from_fields(
        id: u8,
        seed: u64,
        key: Option<&SecretKey>,
    ) -> Result<HashFamily, Error> {
        let hash = match id {
            1 => HashFamily::fast(seed),
            2 => {
                let key = key.ok_or(Error::KeyNeeded)?;
                if key.check() != seed {
                    return Err(Error::WrongKey);
                }
                return Ok(HashFamily::keyed(key.clone()));
            }
            #[cfg(feature = "documents")]
            3 => HashFamily::sha256_md5(),
            #[cfg(feature = "documents")]
            4 => HashFamily::prefixed(),
            #[cfg(not(feature = "documents"))]
            3 | 4 => {
                let what = "a filter with the hash of a document";
                return Err(Error::NotBuilt { what, feature: "documents" });
            }
            _ => return Err(Error::Field { field: "hash family", got: id.to_string() }),
        };
        if id != 1 && seed != 0 {
            return Err(Error::Field { field: "seed", got: seed.to_string() });
        }
        if key.is_some() {
            return Err(Error::KeyUnneeded { family: hash.name() });
        }
        Ok(hash)
    }

    /// The key's digest, or `None` for the two families of the documents, which have none.
    #[inline]
    pub fn digest(&self, key: impl Key) -> Option<Digest> {
        match &self.0 {
            Family::Fast(fast) => Some(fast.digest(key.as_key())),
            Family::Keyed(secret) => Some(secret.digest(key.as_key())),
            #[cfg(feature = "documents")]
            _ => None,
        }
    }

    /// The fast family, if this is it. A loop over lookups asks first, so that its code is for this
    /// family only.
    #[inline(always)]
    pub(crate) fn as_fast(&self) -> Option<&Fast> {
        match &self.0 {
            Family::Fast(fast) => Some(fast),
            _ => None,
        }
    }

    /// All that a filter needs of a key.
    #[inline]
    pub(crate) fn probe<'a>(&self, key: KeyRef<'a>) -> Probe<'a> {
        match &self.0 {
            Family::Fast(fast) => Probe::Digest(fast.digest(key)),
            Family::Keyed(secret) => Probe::Digest(secret.digest(key)),
            #[cfg(feature = "documents")]
            Family::Sha256Md5 => Probe::Double(document::sha256_md5(key)),
            #[cfg(feature = "documents")]
            Family::Prefixed => Probe::Prefixed(key),
        }
    }

    /// Whether the family turns keys into digests.
    pub(crate) fn has_digest(&self) -> bool {
        matches!(self.0, Family::Fast(_) | Family::Keyed(_))
    }

    /// Refuses families without a digest, on behalf of `filter`.
    pub(crate) fn need_digest(&self, filter: &'static str) -> Result<(), Error> {
        if self.has_digest() {
            Ok(())
        } else {
            Err(Error::NoDigest { family: self.name(), filter })
        }
    }
}

/// A hashed key, ready to be turned into positions of an array of any size.
pub(crate) enum Probe<'a> {
    Digest(Digest),
    #[cfg(feature = "documents")]
    Double([LongNumber; 2]),
    #[cfg_attr(not(feature = "documents"), allow(dead_code))]
    Prefixed(KeyRef<'a>),
}

/// Knuth's multiplier for linear congruential generators modulo 2^64.
// FORMAT v1: frozen
pub(crate) const STEP: u64 = 6_364_136_223_846_793_005;

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

/// Every bit of the result depends on every bit of `x`: the finaliser of SplitMix64 (Steele, Lea
/// and Flood, 2014).
#[inline(always)]
pub(crate) fn mix(x: u64) -> u64 {
    let x = (x ^ x >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let x = (x ^ x >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
    x ^ x >> 31
}

#[cfg(test)]
mod tests {
    use super::*;

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

    #[test]
    fn files_get_the_hash_they_name() {
        let key = SecretKey::new(b"0123456789abcdef").unwrap();
        let other = SecretKey::new(b"0123456789abcdeg").unwrap();
        for hash in [
            HashFamily::fast(3),
            HashFamily::keyed(key.clone()),
            HashFamily::sha256_md5(),
            HashFamily::prefixed(),
        ] {
            let given = (hash.name() == "keyed").then_some(&key);
            assert_eq!(HashFamily::from_fields(hash.id(), hash.seed_field(), given).unwrap(), hash);
        }
        let check = HashFamily::keyed(key.clone()).seed_field();
        assert!(matches!(HashFamily::from_fields(2, check, None), Err(Error::KeyNeeded)));
        assert!(matches!(HashFamily::from_fields(2, check, Some(&other)), Err(Error::WrongKey)));
        assert!(matches!(
            HashFamily::from_fields(1, 0, Some(&key)),
            Err(Error::KeyUnneeded { family: "fast" })
        ));
        assert!(matches!(
            HashFamily::from_fields(3, 1, None),
            Err(Error::Field { field: "seed", .. })
        ));
        assert!(matches!(
            HashFamily::from_fields(5, 0, None),
            Err(Error::Field { field: "hash family", .. })
        ));
    }
}
