//! Up to how many items a filter can be listed, and how.

use super::{Plan, last};
use crate::zone::filter::Method;

/// The most candidates that a join tests, and the most probes that it makes for them: some seconds.
const MAX_CANDIDATES: u64 = 1 << 25;
const MAX_PROBES: u64 = 1 << 28;
/// Up to this many candidates, a join is faster than algebra.
const FEW_CANDIDATES: u128 = 1 << 11;
/// The most work of algebra, as items squared times blocks: some ten seconds.
const MAX_SOLVING: u64 = 1 << 33;

impl Plan {
    /// Up to how many items a filter of this plan, within its zone, can be listed: the most that
    /// any method lists, except [`Method::Sturm`].
    ///
    /// ```
    /// use tamis::zone::{CodeKind, Method, Plan, Universe};
    /// let bits = Plan::with_code(Universe::ipv4(), 50, CodeKind::Rs)?;
    /// assert_eq!((bits.listable(), bits.listing_method(36)), (36, Some(Method::Join)));
    /// assert_eq!(bits.listing_method(37), None);
    /// let counters = bits.counting();
    /// assert_eq!((counters.listable(), counters.listing_method(50)), (50, Some(Method::Algebra)));
    /// # Ok::<(), tamis::Error>(())
    /// ```
    #[must_use]
    pub fn listable(&self) -> u64 {
        self.listable_by(Method::Join).max(self.listable_by(Method::Algebra))
    }

    /// Up to how many items a filter of this plan, within its zone, can be listed by a method. 0 if
    /// the method cannot list such filters at all.
    #[must_use]
    pub fn listable_by(&self, method: Method) -> u64 {
        let possible = |items: u128| self.can_list(items as u64, method);
        last(1, u128::from(self.items), possible).unwrap_or(0) as u64
    }

    /// The fastest method that can list a filter of this plan, within its zone and with this many
    /// items.
    #[must_use]
    pub fn listing_method(&self, items: u64) -> Option<Method> {
        let few = self.join_work(items) <= FEW_CANDIDATES;
        let fastest_first =
            if few { [Method::Join, Method::Algebra] } else { [Method::Algebra, Method::Join] };
        fastest_first.into_iter().find(|method| self.can_list(items, *method))
    }

    /// The candidates that listing a full filter by [`Method::Join`] tests at most.
    #[must_use]
    pub fn listing_work(&self) -> u128 {
        self.join_work(self.items)
    }

    fn join_work(&self, items: u64) -> u128 {
        self.encoder.join_work(items, self.universe.size())
    }

    fn can_list(&self, items: u64, method: Method) -> bool {
        let solvable = || {
            self.counting
                && items <= self.max_solved()
                && self.encoder.algebra_determines(items, self.universe.size())
        };
        match method {
            Method::Join => self.join_work(items) <= u128::from(self.max_candidates()),
            Method::Algebra => solvable(),
            Method::Sturm => self.encoder.as_residues().is_some() && solvable(),
        }
    }

    /// The most candidates that a join tests.
    pub(crate) fn max_candidates(&self) -> u64 {
        MAX_CANDIDATES.min(MAX_PROBES / self.probes())
    }

    /// The most items that algebra solves for.
    pub(crate) fn max_solved(&self) -> u64 {
        (MAX_SOLVING / self.probes()).isqrt()
    }
}
