//! A zone filter with bits or with counters, for code that decides at run time.

use super::{CellKind, List, Method, ZoneFilter};
use crate::Error;
use crate::zone::plan::Plan;

/// A zone filter with bits or with counters, for code that decides at run time. The methods are
/// those of [`ZoneFilter`].
///
/// ```
/// use tamis::{AnyFilter, zone::{Filter, Plan, Prefer, Universe}};
/// let mut any = AnyFilter::from(Filter::with_plan(Plan::new(Universe::sized(100)?, 2, Prefer::Bits)?)?);
/// let zone = any.as_zone_mut().expect("it is a zone filter");
/// zone.insert_number(7, false)?;
/// assert_eq!(zone.list()?.numbers, [7]);
/// # Ok::<(), tamis::Error>(())
/// ```
pub trait AnyZone: Send + Sync {
    /// See [`ZoneFilter::insert_number`].
    fn insert_number(&mut self, number: u64, beyond: bool) -> Result<bool, Error>;
    /// See [`ZoneFilter::contains_number`].
    fn contains_number(&self, number: u64) -> Result<bool, Error>;
    /// See [`ZoneFilter::len`].
    fn len(&self) -> u64;
    /// See [`ZoneFilter::is_empty`].
    fn is_empty(&self) -> bool;
    /// See [`ZoneFilter::len_is_exact`].
    fn len_is_exact(&self) -> bool;
    /// See [`ZoneFilter::list`].
    fn list(&self) -> Result<List, Error>;
    /// See [`ZoneFilter::list_by`].
    fn list_by(&self, method: Method) -> Result<List, Error>;
    /// See [`ZoneFilter::grow`].
    fn grow(&mut self, blocks: u64) -> Result<(), Error>;
    /// See [`ZoneFilter::shrink`].
    fn shrink(&mut self, blocks: u64) -> Result<(), Error>;
    /// See [`ZoneFilter::grow_for`].
    fn grow_for(&mut self, items: u64) -> Result<(), Error>;
    /// See [`ZoneFilter::shrink_for`].
    fn shrink_for(&mut self, items: u64) -> Result<(), Error>;
    /// See [`ZoneFilter::plan`].
    fn plan(&self) -> &Plan;
    /// See [`ZoneFilter::body`].
    fn body(&self) -> &[u8];
}

impl<C: CellKind + Send + Sync> AnyZone for ZoneFilter<C> {
    fn insert_number(&mut self, number: u64, beyond: bool) -> Result<bool, Error> {
        ZoneFilter::insert_number(self, number, beyond)
    }
    fn contains_number(&self, number: u64) -> Result<bool, Error> {
        ZoneFilter::contains_number(self, number)
    }
    fn len(&self) -> u64 {
        ZoneFilter::len(self)
    }
    fn is_empty(&self) -> bool {
        ZoneFilter::is_empty(self)
    }
    fn len_is_exact(&self) -> bool {
        ZoneFilter::len_is_exact(self)
    }
    fn list(&self) -> Result<List, Error> {
        ZoneFilter::list(self)
    }
    fn list_by(&self, method: Method) -> Result<List, Error> {
        ZoneFilter::list_by(self, method)
    }
    fn grow(&mut self, blocks: u64) -> Result<(), Error> {
        ZoneFilter::grow(self, blocks)
    }
    fn shrink(&mut self, blocks: u64) -> Result<(), Error> {
        ZoneFilter::shrink(self, blocks)
    }
    fn grow_for(&mut self, items: u64) -> Result<(), Error> {
        ZoneFilter::grow_for(self, items)
    }
    fn shrink_for(&mut self, items: u64) -> Result<(), Error> {
        ZoneFilter::shrink_for(self, items)
    }
    fn plan(&self) -> &Plan {
        ZoneFilter::plan(self)
    }
    fn body(&self) -> &[u8] {
        ZoneFilter::body(self)
    }
}
