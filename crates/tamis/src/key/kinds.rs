//! Which kinds of keys a filter was given.

use super::Key;

/// Which kinds of keys a filter has been given, so that a file made from integers is not asked for
/// text by mistake.
///
/// ```
/// let mut ids = tamis::Bloom::new(100, 0.01)?;
/// ids.insert(7u64);
/// assert_eq!(ids.kinds().to_string(), "integers");
/// # Ok::<(), tamis::Error>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Kinds(u8);

impl Kinds {
    /// Text or other bytes.
    pub const BYTES: Kinds = Kinds(1);
    /// Integers.
    pub const INTEGERS: Kinds = Kinds(2);
    /// Digests that the caller computed.
    pub const DIGESTS: Kinds = Kinds(4);
    /// Values by their [`std::hash::Hash`], which another version of Rust may feed differently.
    pub const HASHED: Kinds = Kinds(8);

    /// FORMAT v1: frozen. The byte of a file.
    pub(crate) fn to_byte(self) -> u8 {
        self.0
    }

    /// The kinds that the byte of a file names. `None` if it names a kind that does not exist.
    pub(crate) fn from_byte(byte: u8) -> Option<Kinds> {
        const ALL: u8 = Kinds::BYTES.0 | Kinds::INTEGERS.0 | Kinds::DIGESTS.0 | Kinds::HASHED.0;
        (byte & !ALL == 0).then_some(Kinds(byte))
    }

    /// The kind of a key.
    #[must_use]
    pub fn of(key: impl Key) -> Kinds {
        key.as_key().kinds()
    }

    /// Whether any key of `kind` was inserted.
    #[must_use]
    pub fn has(self, kind: Kinds) -> bool {
        self.0 & kind.0 != 0
    }

    /// Whether texts or other bytes were inserted.
    #[must_use]
    pub fn has_texts(self) -> bool {
        self.has(Kinds::BYTES)
    }

    /// Whether integers were inserted.
    #[must_use]
    pub fn has_integers(self) -> bool {
        self.has(Kinds::INTEGERS)
    }

    /// Whether digests were inserted, which may be of keys of any kind.
    #[must_use]
    pub fn has_digests(self) -> bool {
        self.has(Kinds::DIGESTS)
    }

    /// Whether values were inserted by their [`std::hash::Hash`].
    #[must_use]
    pub fn has_hashed(self) -> bool {
        self.has(Kinds::HASHED)
    }

    /// The kinds of keys that may be in both filters. A digest may be of any kind of key: if one
    /// filter has digests, all kinds of the other filter count.
    pub(crate) fn common(self, other: Kinds) -> Kinds {
        let beside =
            |digests: Kinds, kinds: Kinds| if digests.has(Kinds::DIGESTS) { kinds.0 } else { 0 };
        Kinds(self.0 & other.0 | beside(self, other) | beside(other, self))
    }

    /// A loop over insertions writes once: a byte that each round writes and the next one reads
    /// would hold it up.
    #[inline(always)]
    pub(crate) fn add(&mut self, kind: Kinds) {
        if !self.0 & kind.0 != 0 {
            self.0 |= kind.0;
        }
    }
}

impl std::ops::BitOr for Kinds {
    type Output = Kinds;

    /// The kinds of either.
    #[inline(always)]
    fn bitor(self, other: Kinds) -> Kinds {
        Kinds(self.0 | other.0)
    }
}

impl std::fmt::Display for Kinds {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let names = [
            (Kinds::BYTES, "text"),
            (Kinds::INTEGERS, "integers"),
            (Kinds::DIGESTS, "digests"),
            (Kinds::HASHED, "hashed values"),
        ];
        let held: Vec<&str> =
            names.iter().filter(|(kind, _)| self.has(*kind)).map(|(_, name)| *name).collect();
        out.write_str(&if held.is_empty() { "none yet".to_owned() } else { held.join(", ") })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kinds_add_up() {
        let mut kinds = Kinds::default();
        assert_eq!(kinds.to_string(), "none yet");
        kinds.add(Kinds::BYTES);
        kinds.add(Kinds::DIGESTS);
        assert_eq!(kinds.to_string(), "text, digests");
        assert!(!kinds.has(Kinds::INTEGERS));
        assert_eq!(kinds.common(Kinds::INTEGERS), Kinds::INTEGERS);
        assert_eq!(Kinds::BYTES.common(Kinds::INTEGERS), Kinds::default());
    }
}
