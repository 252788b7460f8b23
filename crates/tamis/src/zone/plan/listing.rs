//! Up to how many items a filter can be listed, and how.

use super::{Plan, last};
use crate::zone::filter::Method;

/// The most candidates that a join tests, and the most probes that it makes for them: some seconds.
const MAX_CANDIDATES: u64 = 1 << 25;
const MAX_PROBES: u64 = 1 << 28;
/// Up to this many candidates, a join is faster than algebra.
const FEW_CANDIDATES: u128 = 1 << 11;
/// Up to this many candidates, a join of bits is faster than peeling, or as fast.
const QUICK_CANDIDATES: u128 = 1 << 14;
/// The most items for which a plan says whether they can be peeled.
const MAX_PEELED: u64 = 1 << 10;
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
        let by = [Method::Join, Method::Algebra, Method::Peel];
        by.map(|method| self.listable_by(method)).into_iter().max().unwrap_or(0)
    }

    /// Whether a filter of this plan lists nearly every set of so many items, drawn at random from
    /// the universe: by five sigma. [`listable`](Plan::listable) is about every set.
    ///
    /// ```
    /// use tamis::zone::{Plan, Prefer, Universe};
    /// let plan = Plan::new(Universe::ipv6(), 4, Prefer::Bits)?;
    /// assert_eq!((plan.listable(), plan.usually_lists(4)), (3, true));
    /// # Ok::<(), tamis::Error>(())
    /// ```
    #[must_use]
    pub fn usually_lists(&self, items: u64) -> bool {
        items <= self.listable() || (self.may_peel(items) && self.peels_usually(items))
    }

    /// Whether a join of so many items is so quick that no other method is tried.
    pub(crate) fn is_quick_to_join(&self, items: u64) -> bool {
        self.join_work(items) <= QUICK_CANDIDATES
    }

    fn may_peel(&self, items: u64) -> bool {
        items > 0 && items <= self.max_solved().min(MAX_PEELED)
    }

    /// Whether every set of so many items can be peeled: a block with j collisions is one in which
    /// at least j pairs agree, and each pair agrees in few blocks.
    fn peels_certainly(&self, items: u64) -> bool {
        let weights = self.encoder.peel_weights(items, self.universe.size());
        let all: f64 = weights.blocks.iter().map(|(weight, _)| weight).sum();
        let pairs = (items * (items - 1) / 2) as f64;
        (1..).zip(&weights.needs).all(|(j, need)| {
            // No block has as many collisions as there are items.
            let lost = if j == items { 0.0 } else { pairs * weights.agreement / j as f64 };
            all - lost >= *need
        })
    }

    /// Whether random sets can be peeled. The collisions of s items in a block of q positions are
    /// taken to be Poisson's, of mean s (s-1) / 2q.
    fn peels_usually(&self, items: u64) -> bool {
        let weights = self.encoder.peel_weights(items, self.universe.size());
        let pairs = (items * (items - 1) / 2) as f64;
        // For each block, the chance of exactly j collisions and of fewer.
        let mut chances: Vec<(f64, f64)> =
            weights.blocks.iter().map(|(_, q)| ((-pairs / *q as f64).exp(), 0.0)).collect();
        (1..).zip(&weights.needs).all(|(j, need)| {
            let (mut mean, mut variance) = (0.0, 0.0);
            for ((exactly, fewer), (weight, q)) in chances.iter_mut().zip(&weights.blocks) {
                *fewer += *exactly;
                *exactly *= pairs / *q as f64 / j as f64;
                // A block of few positions has collisions for certain.
                let surely = j < items && items.saturating_sub(*q) >= j;
                let chance = if surely { 0.0 } else { fewer.min(1.0) };
                let chance = if j == items { 1.0 } else { chance };
                mean += weight * chance;
                variance += weight * weight * chance * (1.0 - chance);
            }
            mean - 5.0 * variance.sqrt() >= *need
        })
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
        let fastest_first = if few {
            [Method::Join, Method::Algebra, Method::Peel]
        } else {
            [Method::Algebra, Method::Peel, Method::Join]
        };
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
            Method::Peel => self.may_peel(items) && self.peels_certainly(items),
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
