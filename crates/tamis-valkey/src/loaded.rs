//! A filter of any kind of the library, as a file or a `TAMIS` command made it.

use crate::value::Part;
use std::time::Duration;
use tamis::{AnyFilter, Error, Key, KeyRef, Kinds};

/// Whether an item is asked for as bytes or as an integer. The library keeps the text "7" and the
/// integer 7 apart, and the server has bytes only.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Keys {
    /// Items are bytes.
    Text,
    /// Items are integers where they read as one, and else bytes.
    Integers,
}

impl Keys {
    /// What the filter was given: integers only if it has no texts.
    pub(crate) fn of(kinds: Kinds) -> Keys {
        if kinds.has_integers() && !kinds.has_texts() { Keys::Integers } else { Keys::Text }
    }

    pub(crate) fn name(self) -> &'static str {
        match self {
            Keys::Text => "text",
            Keys::Integers => "integers",
        }
    }

    pub(crate) fn from_word(word: u64) -> Option<Keys> {
        match word {
            0 => Some(Keys::Text),
            1 => Some(Keys::Integers),
            _ => None,
        }
    }

    /// The key that an item is.
    #[inline]
    pub(crate) fn key(self, item: &[u8]) -> Item<'_> {
        match self {
            Keys::Text => Item::Bytes(item),
            Keys::Integers => integer(item).unwrap_or(Item::Bytes(item)),
        }
    }
}

/// An item as the library's filters take it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Item<'a> {
    Bytes(&'a [u8]),
    Integer(i128),
}

/// The integer that the bytes are, written as one writes it: without a plus, a leading zero or
/// spaces, so that each integer has one text.
fn integer(item: &[u8]) -> Option<Item<'_>> {
    let digits = item.strip_prefix(b"-").unwrap_or(item);
    let plain = match digits {
        [b'0'] => item.len() == 1,
        [first, ..] => (b'1'..=b'9').contains(first),
        [] => false,
    };
    let number: i128 = std::str::from_utf8(item).ok().filter(|_| plain)?.parse().ok()?;
    let fits = (i128::from(i64::MIN)..=i128::from(u64::MAX)).contains(&number);
    fits.then_some(Item::Integer(number))
}

impl Key for Item<'_> {
    #[inline]
    fn as_key(&self) -> KeyRef<'_> {
        match self {
            Item::Bytes(bytes) => KeyRef::Bytes(bytes),
            Item::Integer(number) if *number < 0 => KeyRef::Negative(*number as i64 as u64),
            Item::Integer(number) => KeyRef::Natural(*number as u64),
        }
    }
}

/// A filter, and how its items are read.
#[derive(Clone)]
pub(crate) struct Loaded {
    pub(crate) filter: AnyFilter,
    pub(crate) keys: Keys,
}

impl Loaded {
    /// The settings of a preamble: how items are read.
    pub(crate) fn settings(&self) -> Vec<u64> {
        vec![self.keys as u64]
    }

    pub(crate) fn parts(&self) -> Vec<Part<'_>> {
        vec![Part::File(&self.filter)]
    }

    pub(crate) fn from_parts(settings: &[u64], parts: Vec<AnyFilter>) -> Option<Loaded> {
        let ([keys], Ok([filter])) = (settings, <[AnyFilter; 1]>::try_from(parts)) else {
            return None;
        };
        Some(Loaded { filter, keys: Keys::from_word(*keys)? })
    }

    pub(crate) fn bytes(&self) -> u64 {
        bytes_of(&self.filter)
    }

    /// The number of an item, if this is a zone filter: its universe says which. It refuses items
    /// from outside.
    fn number(&self, item: &[u8]) -> Option<Result<u128, Error>> {
        Some(self.filter.plan().zone()?.universe().number_of_text(item))
    }

    /// Whether an item passes; `now` matters to a filter that forgets.
    pub(crate) fn contains(&self, item: &[u8], now: Duration) -> Result<bool, Error> {
        if let AnyFilter::Rolling(rolling) = &self.filter {
            return Ok(rolling.contains_at(self.keys.key(item), now));
        }
        match self.number(item) {
            Some(number) => self.filter.contains_number(number?),
            None => self.filter.contains(self.keys.key(item)),
        }
    }

    pub(crate) fn contains_many<'a>(
        &self,
        items: impl Iterator<Item = &'a [u8]>,
        now: Duration,
    ) -> Result<Vec<bool>, Error> {
        if self.filter.plan().zone().is_some() {
            return items.map(|item| self.contains(item, now)).collect();
        }
        let keys: Vec<_> = items.map(|item| self.keys.key(item)).collect();
        match &self.filter {
            AnyFilter::Rolling(rolling) => Ok(rolling.contains_many_at(&keys, now)),
            filter => filter.contains_many(&keys),
        }
    }

    /// Whether it forgets what is older than a time.
    pub(crate) fn has_clock(&self) -> bool {
        matches!(&self.filter, AnyFilter::Rolling(rolling) if rolling.latest().is_some())
    }

    /// Tells a filter that forgets the time.
    pub(crate) fn advance(&mut self, now: Duration) {
        if let AnyFilter::Rolling(rolling) = &mut self.filter {
            rolling.advance(now);
        }
    }

    /// Puts an item in, at the time that it was told, and says whether it was certainly new.
    pub(crate) fn insert(&mut self, item: &[u8], max_bytes: u64) -> Result<bool, Error> {
        if let AnyFilter::Rolling(rolling) = &mut self.filter {
            rolling.limit_memory(Some(max_bytes));
        }
        match self.number(item) {
            Some(number) => self.filter.insert_number(number?, false),
            None => self.filter.insert(self.keys.key(item)),
        }
    }

    /// Takes an item out once.
    pub(crate) fn remove(&mut self, item: &[u8]) -> Result<(), Error> {
        match self.number(item) {
            Some(number) => self.filter.remove_number(number?),
            None => self.filter.remove(self.keys.key(item)),
        }
    }
}

/// The bytes of a filter's cells.
pub(crate) fn bytes_of(filter: &AnyFilter) -> u64 {
    filter.plan().bytes()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_integer_has_one_text() {
        let number = |text: &str| match Keys::Integers.key(text.as_bytes()) {
            Item::Integer(number) => Some(number),
            Item::Bytes(_) => None,
        };
        assert_eq!(number("0"), Some(0));
        assert_eq!(number("-7"), Some(-7));
        assert_eq!(number("18446744073709551615"), Some(i128::from(u64::MAX)));
        assert_eq!(number("-9223372036854775808"), Some(i128::from(i64::MIN)));
        let others =
            ["", "-", "-0", "00", "07", "+7", " 7", "7 ", "7.0", "18446744073709551616", "x"];
        for text in others.into_iter().chain(["-9223372036854775809"]) {
            assert_eq!(number(text), None, "{text:?}");
        }
        assert_eq!(Keys::Text.key(b"7"), Item::Bytes(b"7"));
        let (seven, minus) = (Keys::Integers.key(b"7"), Keys::Integers.key(b"-7"));
        assert_eq!((seven.as_key(), minus.as_key()), (7u64.as_key(), (-7i64).as_key()));
    }
}
