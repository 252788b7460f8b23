//! The keyed family: SipHash-2-4 with a 128-bit result.

use super::Digest;
use crate::{Error, KeyRef};
use hmac_sha256::Hash as Sha256;
use siphasher::sip128::{Hasher128, SipHasher24};
use std::hash::Hasher;
use zeroize::Zeroizing;

/// A secret that makes a filter's positions unpredictable.
///
/// It is never written to a file and never printed; a file holds 64 bits derived from it, by which
/// a wrong key is recognised. Somebody who has the file can test a guess against those 64 bits, so
/// a secret must not be guessable: 32 random bytes, not a word. It is wiped from memory when
/// dropped.
///
/// ```
/// let key = tamis::SecretKey::new(b"32 random bytes, read from a file")?;
/// let mut seen = tamis::Bloom::with_hash(1_000, 0.01, tamis::HashFamily::keyed(key))?;
/// seen.insert("ant");
/// assert!(seen.contains("ant"));
/// # Ok::<(), tamis::Error>(())
/// ```
#[derive(Clone, PartialEq, Eq)]
pub struct SecretKey(Zeroizing<[u8; 16]>);

/// The tag of the check value: no key of a user has it.
const CHECK_TAG: u8 = 3;

impl SecretKey {
    /// The key for a secret of at least 16 bytes: the first 16 bytes of its SHA-256.
    pub fn new(secret: &[u8]) -> Result<SecretKey, Error> {
        if secret.len() < 16 {
            return Err(Error::ShortKey { got: secret.len() });
        }
        let digest = Zeroizing::new(Sha256::hash(secret));
        let mut key = Zeroizing::new([0; 16]);
        key.copy_from_slice(&digest[..16]);
        Ok(SecretKey(key))
    }

    #[inline]
    pub(super) fn digest(&self, key: KeyRef<'_>) -> Digest {
        key.with_bytes(|bytes| self.tagged(bytes, key.tag()))
    }

    /// 64 bits by which a file recognises its key.
    pub(super) fn check(&self) -> u64 {
        self.tagged(b"tamis key check", CHECK_TAG).h1
    }

    /// The tag comes last, where it cannot be confused with the bytes before it.
    fn tagged(&self, bytes: &[u8], tag: u8) -> Digest {
        let mut sip = SipHasher24::new_with_key(&self.0);
        sip.write(bytes);
        sip.write(&[tag]);
        let digest = sip.finish128();
        Digest { h1: digest.h1, h2: digest.h2 }
    }
}

impl std::fmt::Debug for SecretKey {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        out.write_str("SecretKey(hidden)")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Key;

    #[test]
    fn secrets_are_long_and_stay_hidden() {
        assert!(matches!(SecretKey::new(b"short"), Err(Error::ShortKey { got: 5 })));
        let key = SecretKey::new(b"0123456789abcdef").unwrap();
        assert_eq!(format!("{key:?}"), "SecretKey(hidden)");
        assert_ne!(key.digest(7u64.as_key()), key.digest(7u64.to_le_bytes().as_key()));
    }
}
