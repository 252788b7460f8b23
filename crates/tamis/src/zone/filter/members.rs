//! Inserting items, asking for them, and removing them.

use super::{CellKind, CountingFilter, ZoneFilter};
use crate::{Error, Key};

impl<C: CellKind> ZoneFilter<C> {
    /// Inserts an item, and says whether it was new. An item that is there already changes nothing.
    /// One item too many is refused with [`Error::Full`], and changes nothing either.
    ///
    /// Beyond the zone an item may pass without having been inserted. So a counting filter counts
    /// every insertion there, and an item is gone when it was removed as often as it was inserted.
    pub fn insert(&mut self, key: impl Key) -> Result<bool, Error> {
        let number = self.plan.universe().number(key)?;
        self.insert_number(number, false)
    }

    /// Inserts an item even if it is one too many. From then on the filter is
    /// [`Health::Beyond`](crate::Health::Beyond).
    pub fn insert_beyond(&mut self, key: impl Key) -> Result<bool, Error> {
        let number = self.plan.universe().number(key)?;
        self.insert_number(number, true)
    }

    /// [`insert`](Self::insert), or [`insert_beyond`](Self::insert_beyond), by the element's number
    /// in the universe.
    pub fn insert_number(&mut self, number: u128, beyond: bool) -> Result<bool, Error> {
        self.check_number(number)?;
        let positions = self.positions(number);
        if self.holds(&positions) {
            // An item that passes may not have been inserted before. It must be counted: otherwise
            // it would be lost when the items that share its cells are removed.
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

    fn check_number(&self, number: u128) -> Result<(), Error> {
        if self.plan.universe().size().holds(number) {
            return Ok(());
        }
        Err(Error::Outside {
            key: format!("number {number}"),
            universe: self.plan.universe().to_string(),
        })
    }

    /// Whether an element is in the set. The answer is exact within the zone. A key that is no
    /// element of the universe is an error.
    pub fn contains(&self, key: impl Key) -> Result<bool, Error> {
        let number = self.plan.universe().number(key)?;
        Ok(self.holds_number(number))
    }

    /// [`contains`](Self::contains) by the element's number in the universe.
    pub fn contains_number(&self, number: u128) -> Result<bool, Error> {
        self.check_number(number)?;
        Ok(self.holds_number(number))
    }

    /// Whether each of many elements is in the set, in their order.
    pub fn contains_many<K: Key>(&self, keys: &[K]) -> Result<Vec<bool>, Error> {
        // Prefetching does not pay: most strangers are refused by the first block they meet, and
        // it stays in the L1 cache.
        let mut answers = Vec::with_capacity(keys.len());
        for key in keys {
            answers.push(self.contains(key)?);
        }
        Ok(answers)
    }
}

impl CountingFilter {
    /// Removes an item. If it is not there, the filter does not change and the error is
    /// [`Error::Absent`].
    ///
    /// Beyond the zone a stranger may pass. Removing it lowers the counters of other items, which
    /// are then lost.
    pub fn remove(&mut self, key: impl Key) -> Result<(), Error> {
        let number = self.plan.universe().number(key)?;
        self.remove_number(number)
    }

    /// [`remove`](Self::remove) by the element's number in the universe.
    pub fn remove_number(&mut self, number: u128) -> Result<(), Error> {
        self.take_out_number(number)
    }
}

impl<C: CellKind> ZoneFilter<C> {
    /// [`remove_number`](CountingFilter::remove_number); the cells must be counters.
    pub(crate) fn take_out_number(&mut self, number: u128) -> Result<(), Error> {
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
            // Within the zone no counter overflows. Beyond it, a counter at its ceiling may have
            // overflowed, so it stays there.
            if !(self.state.beyond && count == packed.ceiling()) {
                packed.set(self.body.bytes_mut(), cell, count - 1);
            }
        }
        self.len = self.len.saturating_sub(1);
        // Beyond the zone the key may have been a stranger, whose cells belonged to others. So the
        // number of items is no longer known.
        self.state.len_is_bound |= self.state.beyond;
        Ok(())
    }
}
