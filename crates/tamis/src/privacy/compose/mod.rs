//! What releases lose together.
//!
//! Losses add up. But that all releases give an item away as far as they can is unlikely: with a
//! small chance delta set aside, the sum is less. Kairouz, Oh and Viswanath (2015) and Murtagh and
//! Vadhan (2016) found the least bound that holds for any releases of these losses. It is that of
//! the worst ones, coins that tell the truth with chance e^epsilon / (1 + e^epsilon). Of those, the
//! loss is a random sum: plus epsilon for each truth, minus epsilon for each lie. All of them
//! together lose at most t but for a chance delta if and only if
//!
//! ```text
//! sum over all losses L above t of P(L) (1 - e^(t - L))  <=  delta
//! ```
//!
//! Here P is computed in integers. Every chance is rounded up, and so is the sum, so the bound is
//! never below the true one. It is the true one, rounded up to a billionth, while there are at most
//! [`MAX_POINTS`] losses; then losses are moved onto a grid, in a way that only raises the bound.

mod delta;
mod fixed;

use crate::privacy::Epsilon;
pub use delta::{Delta, DeltaFault};
use fixed::{DIGITS, ONE, coin_up, exp_minus_down, times_down, times_up};

/// How many losses are told apart exactly.
const MAX_POINTS: usize = 1 << 15;

/// How many points a grid has, about.
const GRID_POINTS: u64 = 1 << 12;

/// A chance so small that it is added to delta instead of being followed: 2^-100 for each charge.
const NEGLIGIBLE: u128 = 1 << (DIGITS - 100);

/// The widest grid, in billionths: past it, losses are so large that composition gains nothing.
const WIDEST: u64 = 1 << 29;

/// A loss that is possible, in billionths, and its chance, rounded up.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Point {
    loss: i64,
    chance: u128,
}

/// What some releases lose together.
///
/// ```
/// use tamis::privacy::{Composition, Delta, Epsilon};
/// let (small, one): (Epsilon, Epsilon) = ("0.1".parse()?, "1".parse()?);
/// let delta: Delta = "1e-6".parse()?;
/// let hundred: Composition = (0..100).map(|_| small).collect();
/// assert_eq!(hundred.sum().unwrap().to_string(), "10");
/// assert_eq!(hundred.total(delta).unwrap().to_string(), "4.774567589");
/// // Ten releases at 1 gain next to nothing at this delta.
/// let ten: Composition = (0..10).map(|_| one).collect();
/// assert!(ten.total(delta) > Some("9.9999".parse()?));
/// # Ok::<(), tamis::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Composition {
    /// Ascending in the loss. `None` once losses are so large that only their sum is kept.
    points: Option<Vec<Point>>,
    /// Whether the points are on a grid.
    coarse: bool,
    /// The chance of losses that are not among the points.
    beyond: u128,
    /// `None` above [`Epsilon::MAX`].
    sum: Option<Epsilon>,
}

impl Default for Composition {
    fn default() -> Composition {
        Composition {
            points: Some(vec![Point { loss: 0, chance: ONE }]),
            coarse: false,
            beyond: 0,
            sum: Some(Epsilon::ZERO),
        }
    }
}

impl Extend<Epsilon> for Composition {
    fn extend<I: IntoIterator<Item = Epsilon>>(&mut self, losses: I) {
        losses.into_iter().for_each(|epsilon| self.add(epsilon));
    }
}

impl FromIterator<Epsilon> for Composition {
    fn from_iter<I: IntoIterator<Item = Epsilon>>(losses: I) -> Composition {
        let mut composition = Composition::default();
        composition.extend(losses);
        composition
    }
}

impl Composition {
    /// One more release.
    pub fn add(&mut self, epsilon: Epsilon) {
        self.sum = self.sum.and_then(|sum| sum.checked_add(epsilon));
        let Some(points) = self.points.take() else { return };
        if self.sum.is_none() {
            return;
        }
        let (truth, lie) = coin_up(epsilon);
        let step = epsilon.billionths().cast_signed();
        let after = |by: i64, times: u128| {
            points.iter().map(move |point| Point {
                loss: point.loss + by,
                chance: times_up(point.chance, times),
            })
        };
        let mut points = merged(after(-step, lie), after(step, truth));
        self.beyond += cut_tails(&mut points);
        self.coarse |= points.len() > MAX_POINTS;
        self.points = if self.coarse { onto_grid(&points) } else { Some(points) };
    }

    /// What the losses add up to, or `None` above [`Epsilon::MAX`].
    #[must_use]
    pub fn sum(&self) -> Option<Epsilon> {
        self.sum
    }

    /// What is lost at most but for a chance `delta`, whatever the releases are: never more than
    /// the sum, and never less than the least that can be said. `None` if the sum is above
    /// [`Epsilon::MAX`].
    #[must_use]
    pub fn total(&self, delta: Delta) -> Option<Epsilon> {
        let sum = self.sum?;
        let bound = self.least_bound(delta).and_then(Epsilon::from_billionths);
        Some(bound.map_or(sum, |bound| bound.min(sum)))
    }

    /// The least bound in billionths, if one was found.
    fn least_bound(&self, delta: Delta) -> Option<u64> {
        let (points, allowed) = (self.points.as_ref()?, delta.binary(DIGITS));
        let allowed = allowed.checked_sub(self.beyond)?;
        // Of the losses above the bound that is looked at: their chances, and their chances times
        // e^(bound - loss), rounded down. The former less the latter must be at most what is
        // allowed. The bound goes down from loss to loss.
        let (mut chances, mut weighed) = (0, 0);
        for (i, above) in points.iter().enumerate().rev() {
            if above.loss <= 0 {
                break;
            }
            let high = above.loss.cast_unsigned();
            let below = i.checked_sub(1).map_or(0, |i| points[i].loss.max(0).cast_unsigned());
            chances += above.chance;
            // From now on `weighed` is relative to the loss above.
            weighed += above.chance;
            let here = times_down(weighed, exp_minus_down(high - below));
            if chances - here > allowed {
                return Some(high - within(chances - allowed, weighed, high - below));
            }
            weighed = here;
        }
        Some(0)
    }
}

/// How far below a loss the bound may go: the largest x below `gap` for which `needed` is at most
/// `weighed` times e^-x.
fn within(needed: u128, weighed: u128, gap: u64) -> u64 {
    let (mut low, mut high) = (0, gap);
    // Holds at `low`; does not hold at `high`.
    while high - low > 1 {
        let middle = low.midpoint(high);
        if needed <= times_down(weighed, exp_minus_down(middle)) {
            low = middle;
        } else {
            high = middle;
        }
    }
    low
}

/// Both lists in one, ascending, with one point for each loss.
fn merged(
    left: impl Iterator<Item = Point>,
    right: impl ExactSizeIterator<Item = Point>,
) -> Vec<Point> {
    let (mut left, mut right) = (left.peekable(), right.peekable());
    let mut points: Vec<Point> = Vec::with_capacity(2 * right.len());
    loop {
        let next = match (left.peek(), right.peek()) {
            (Some(a), Some(b)) if a.loss <= b.loss => left.next(),
            (Some(_), None) => left.next(),
            _ => right.next(),
        };
        let Some(next) = next else { return points };
        match points.last_mut() {
            Some(last) if last.loss == next.loss => last.chance += next.chance,
            _ => points.push(next),
        }
    }
}

/// Takes off the largest losses while they are negligible together, and says what their chances
/// were. The smallest ones are counted as larger ones: that only raises the bound.
fn cut_tails(points: &mut Vec<Point>) -> u128 {
    let mut cut = 0;
    while let [.., _, last] = points[..]
        && cut + last.chance <= NEGLIGIBLE
    {
        cut += last.chance;
        points.pop();
    }
    let (mut first, mut carried) = (0, 0);
    while first + 1 < points.len() && carried + points[first].chance <= NEGLIGIBLE {
        carried += points[first].chance;
        first += 1;
    }
    points.drain(..first);
    points[0].chance += carried;
    cut
}

/// The points moved onto a grid, or `None` if it would be too wide.
fn onto_grid(points: &[Point]) -> Option<Vec<Point>> {
    let (first, last) = (points.first()?.loss, points.last()?.loss);
    let range = last.abs_diff(first);
    // Powers of two, so that points that are on a grid already stay.
    let grid = (range / GRID_POINTS + 1).next_power_of_two();
    (grid <= WIDEST).then(|| moved_onto(points, grid))
}

/// The points moved onto the multiples of `grid`, a power of two.
///
/// A loss between two grid points is split between them so that both the chances P and the chances
/// Q = P e^-loss of the other case keep their sums. The old releases are then the new ones with
/// something forgotten, so what bounds the new ones bounds the old. A little more than needed goes
/// to the larger loss, which raises the bound again.
fn moved_onto(points: &[Point], grid: u64) -> Vec<Point> {
    let width = grid.cast_signed();
    let mut moved: Vec<Point> = Vec::new();
    for point in points {
        let below = point.loss.div_euclid(width) * width;
        let up = times_up(point.chance, share_above(point.loss.abs_diff(below), grid));
        let up = up.min(point.chance);
        for (loss, chance) in [(below, point.chance - up), (below + width, up)] {
            match moved.iter_mut().rev().take(2).find(|last| last.loss == loss) {
                Some(same) => same.chance += chance,
                None => moved.push(Point { loss, chance }),
            }
        }
    }
    moved.retain(|point| point.chance > 0);
    moved
}

/// A little more than (1 - e^-x) / (1 - e^-grid), for x below `grid`, both in billionths.
///
/// It is x/grid times s(x)/s(grid) times e^((grid - x)/2), where s(y) = sinh(y/2) / (y/2) grows
/// with y. So it is at most x/grid e^h with h = (grid - x)/2, and e^h is at most 1 + h + h^2 for h
/// up to 1.
fn share_above(x: u64, grid: u64) -> u128 {
    const UNIT: u128 = ONE / 1_000_000_000 + 1;
    let h = (u128::from(grid - x) * UNIT).div_ceil(2);
    let power = ONE + h + times_up(h, h);
    // A grid is a power of two.
    times_up(power, u128::from(x) << (DIGITS - grid.trailing_zeros())).min(ONE)
}

#[cfg(test)]
mod tests;
