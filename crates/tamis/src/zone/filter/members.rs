//! Putting items in, asking for them, and taking them out.

use super::{CellKind, CountingFilter, ZoneFilter};
use crate::{Error, Key};

impl<C: CellKind> ZoneFilter<C> {
    /// Puts an item in, and says whether it was new. One that is there already changes nothing. An
    /// item too many is refused with [`Error::Full`], and changes nothing either.
    ///
    /// Beyond the zone nobody can tell an item that is there already from one that only seems to
    /// be. There a counting filter counts every item put in, the same one again as often as it
    /// comes, and forgets it when it was taken out as often.
    pub fn insert(&mut self, key: impl Key) -> Result<bool, Error> {
        let number = self.plan.universe().number(key)?;
        self.insert_number(number, false)
    }

    /// Puts an item in even if it is one too many; from then on the filter is [`Health::Beyond`].
    pub fn insert_beyond(&mut self, key: impl Key) -> Result<bool, Error> {
        let number = self.plan.universe().number(key)?;
        self.insert_number(number, true)
    }

    /// [`insert`](Self::insert), or [`insert_beyond`](Self::insert_beyond), by the element's number
    /// in the universe.
    pub fn insert_number(&mut self, number: u64, beyond: bool) -> Result<bool, Error> {
        self.check_number(number)?;
        let positions = self.positions(number);
        if self.holds(&positions) {
            // A stranger that passes must be counted: once those it hides behind are taken out, it
            // would be lost.
            if C::COUNTING && self.state.beyond {
                self.put(&positions);
                self.len = self.len.saturating_add(1);
            }
            return Ok(false);
        }
        if self.len >= self.plan.items() {
            if !beyond && !self.state.beyond {
                return Err(Error::Full { zone: self.plan.items() });
            }
            self.state.beyond = true;
        }
        self.put(&positions);
        self.len = self.len.saturating_add(1);
        Ok(true)
    }

    fn check_number(&self, number: u64) -> Result<(), Error> {
        if u128::from(number) < self.plan.universe().size() {
            return Ok(());
        }
        Err(Error::Outside {
            key: format!("number {number}"),
            universe: self.plan.universe().to_string(),
        })
    }

    /// Whether an element is in the set: exactly, within the zone. What is no element of the
    /// universe is an error.
    pub fn contains(&self, key: impl Key) -> Result<bool, Error> {
        let number = self.plan.universe().number(key)?;
        Ok(self.holds_number(number))
    }

    /// [`contains`](Self::contains) by the element's number in the universe.
    pub fn contains_number(&self, number: u64) -> Result<bool, Error> {
        self.check_number(number)?;
        Ok(self.holds_number(number))
    }

    /// Whether each of many elements is in the set, in their order.
    pub fn contains_many<K: Key>(&self, keys: &[K]) -> Result<Vec<bool>, Error> {
        // Nothing is fetched ahead: most strangers end in one block, which stays in the first
        // cache.
        let mut answers = Vec::with_capacity(keys.len());
        for key in keys {
            answers.push(self.contains(key)?);
        }
        Ok(answers)
    }
}

impl CountingFilter {
    /// Takes an item out. [`Error::Absent`], and no change, if it is not there; beyond the zone,
    /// only if it is certainly not: there, removing a stranger that passes takes the cells of
    /// items with it, and loses them.
    pub fn remove(&mut self, key: impl Key) -> Result<(), Error> {
        let number = self.plan.universe().number(key)?;
        self.remove_number(number)
    }

    /// [`remove`](Self::remove) by the element's number in the universe.
    pub fn remove_number(&mut self, number: u64) -> Result<(), Error> {
        self.take_out_number(number)
    }
}

impl<C: CellKind> ZoneFilter<C> {
    /// [`remove_number`](CountingFilter::remove_number); the cells must be counters.
    pub(crate) fn take_out_number(&mut self, number: u64) -> Result<(), Error> {
        debug_assert!(C::COUNTING);
        self.check_number(number)?;
        let positions = self.positions(number);
        if !self.holds(&positions) {
            return Err(Error::Absent);
        }
        let packed = self.packed();
        for (block, position) in positions.iter().enumerate() {
            let cell = self.starts[block] + position;
            let count = packed.get(self.body.bytes(), cell);
            // Within the zone no counter overflows; beyond it, one at its ceiling may have, and
            // stays.
            if !(self.state.beyond && count == packed.ceiling()) {
                packed.set(self.body.bytes_mut(), cell, count - 1);
            }
        }
        self.len = self.len.saturating_sub(1);
        // Beyond the zone it may have been a stranger, whose cells belonged to others: nothing is
        // certain any more.
        self.state.len_is_bound |= self.state.beyond;
        Ok(())
    }
}
