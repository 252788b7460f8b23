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
mod probe;

use crate::{Error, Key, KeyRef};
pub(crate) use digests::{Digester, Digests};
pub(crate) use fast::Fast;
pub use keyed::SecretKey;
pub(crate) use probe::{Probe, Walk, scale};

/// Knuth's multiplier for linear congruential generators modulo 2^64: the walk of a
/// classic filter's positions.
// FORMAT v1: frozen
pub(crate) const STEP: u64 = 6_364_136_223_846_793_005;

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

    /// Refuses another hash, whose positions mean something else, and names the difference.
    pub(crate) fn match_with(&self, other: &HashFamily) -> Result<(), Error> {
        let differ =
            |field, left: String, right: String| Err(Error::Mismatch { field, left, right });
        if self.id() != other.id() {
            return differ("hash", self.name().to_owned(), other.name().to_owned());
        }
        if self == other {
            return Ok(());
        }
        match (self.seed(), other.seed()) {
            (Some(left), Some(right)) => differ("seed", left.to_string(), right.to_string()),
            _ => differ("secret key", "one key".to_owned(), "another key".to_owned()),
        }
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
