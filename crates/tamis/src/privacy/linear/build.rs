//! The mechanism: drop, and draw from the solutions.

use super::row::Row;
use super::{LinearPlan, binary, prime};
use crate::privacy::noise::{Coins, Probability};
use crate::store::memory;
use crate::{Digest, Error};

/// The release of one shard, into zeroed planes.
pub(super) fn solve_shard(
    plan: &LinearPlan,
    mut digests: Vec<Digest>,
    coins: &mut (impl Coins + ?Sized),
    planes: &mut [u8],
) -> Result<(), Error> {
    let row = |digest: &Digest| Row::of(*digest, plan).1;
    digests.sort_unstable_by_key(|digest| (row(digest).start, digest.h2, digest.h1));
    // One item, one coin: a key that comes twice must not get two chances to stay.
    digests.dedup();
    draw(digests.iter().map(row), &plan.drop_rate(), &plan.system(), coins, planes)
}

/// Equations to be solved: in how many unknowns, over what.
pub(super) struct System {
    pub(super) columns: u64,
    pub(super) q: u32,
}

impl System {
    /// The bits of a value.
    pub(super) fn width(&self) -> u32 {
        (self.q - 1).ilog2() + 1
    }

    /// Draws x uniformly from the solutions, into zeroed planes.
    fn solve(
        &self,
        rows: &[Row],
        coins: &mut (impl Coins + ?Sized),
        planes: &mut [u8],
    ) -> Result<(), Error> {
        if self.q.is_power_of_two() {
            binary::solve(rows, self.columns, self.width(), coins, planes)
        } else {
            // Primes are below 2^15.
            prime::solve(rows, self.columns, self.q as u16, self.width(), coins, planes)
        }
    }
}

/// The mechanism itself, for distinct items whose rows come in the order of their starts: drop, and
/// draw.
pub(super) fn draw(
    rows: impl Iterator<Item = Row>,
    drop_rate: &Probability,
    system: &System,
    coins: &mut (impl Coins + ?Sized),
    planes: &mut [u8],
) -> Result<(), Error> {
    let mut kept = Vec::new();
    for row in rows.filter(|_| !coins.bernoulli(drop_rate)) {
        if kept.len() == kept.capacity() {
            let more = kept.len().max(16);
            kept.try_reserve(more).map_err(|_| memory((more * size_of::<Row>()) as u64))?;
        }
        kept.push(row);
    }
    system.solve(&kept, coins, planes)
}

#[cfg(test)]
mod tests {
    use super::super::planes;
    use super::*;
    use crate::privacy::noise::SeededCoins;
    use crate::privacy::outcomes::{Outcomes, enumerate, worst};
    use proptest::prelude::*;

    /// What comes out, as its values in base q, with its exact chance.
    fn release(rows: &[u128], system: &System, drop: (u128, u128)) -> Outcomes {
        enumerate(drop, |coins| {
            let mut planes = vec![0; system.width() as usize * 8];
            let rows =
                rows.iter().map(|coefficients| Row { start: 0, coefficients: *coefficients });
            let drop_rate = Probability::ratio(drop.0 as u64, drop.1 as u64).unwrap();
            draw(rows, &drop_rate, system, coins, &mut planes).unwrap();
            let value = |column| u64::from(planes::get(&planes, system.width(), column));
            (0..system.columns).fold(0, |x, column| x * u64::from(system.q) + value(column))
        })
    }

    /// Every pair of neighbouring sets of up to two items and a third, with all kinds of rows:
    /// independent, equal, zero.
    #[test]
    fn the_worst_likelihood_ratio_of_all_tiny_sets_is_the_claim() {
        // Over q elements with e^eps = numerator/denominator: the symmetric point, and both sides
        // of it.
        for (q, numerator, denominator) in
            [(3, 2, 1), (4, 3, 1), (5, 4, 1), (8, 7, 1), (2, 3, 1), (4, 5, 1), (7, 3, 1), (8, 7, 2)]
        {
            let columns = if q > 5 { 2 } else { 3 };
            let system = System { columns, q };
            // max(e^-eps, (q-e^eps)/(q-1))
            let (e_minus, shortfall) = (
                (denominator, numerator),
                (
                    (u128::from(q) * denominator).saturating_sub(numerator),
                    u128::from(q - 1) * denominator,
                ),
            );
            let drop =
                if e_minus.0 * shortfall.1 > shortfall.0 * e_minus.1 { e_minus } else { shortfall };
            let all = 0..1u128 << columns;
            let (mut with_over_without, mut without_over_with) = ((0, 1), (0, 1));
            let larger =
                |a: (u128, u128), b: (u128, u128)| if a.0 * b.1 > b.0 * a.1 { a } else { b };
            let sets = all
                .clone()
                .flat_map(|a| all.clone().map(move |b| vec![a, b]))
                .chain([vec![], vec![5 % (1 << columns)]]);
            for set in sets {
                let without = release(&set, &system, drop);
                for v in all.clone() {
                    let with = release(&[&set[..], &[v]].concat(), &system, drop);
                    with_over_without =
                        larger(with_over_without, worst(&with, &without).expect("finite"));
                    without_over_with =
                        larger(without_over_with, worst(&without, &with).expect("finite"));
                }
            }
            let claim = (numerator, denominator);
            assert_eq!(larger(with_over_without, without_over_with), claim, "q = {q}");
            if u128::from(q - 1) * denominator == numerator {
                assert_eq!(
                    (with_over_without, without_over_with),
                    (claim, claim),
                    "symmetric, q = {q}"
                );
            }
        }
    }

    /// Counts its coins.
    struct Counted {
        coins: SeededCoins,
        tossed: Vec<f64>,
    }

    impl Coins for Counted {
        fn bernoulli(&mut self, p: &Probability) -> bool {
            self.tossed.push(p.to_f64());
            self.coins.bernoulli(p)
        }

        fn below(&mut self, bound: u64) -> u64 {
            self.coins.below(bound)
        }
    }

    /// An item that comes twice with a coin each would be dropped too seldom.
    #[test]
    fn an_item_has_one_coin_of_the_planned_chance_however_often_it_comes() {
        let plan = LinearPlan::new(20, "4".parse().unwrap()).unwrap();
        let hash = crate::HashFamily::fast(7);
        let digests: Vec<Digest> = (0..60u64).map(|i| hash.digest(i % 20).unwrap()).collect();
        let mut coins = Counted { coins: SeededCoins::new(1), tossed: Vec::new() };
        let mut planes = vec![0; plan.shard_bytes()];
        solve_shard(&plan, digests, &mut coins, &mut planes).unwrap();
        assert_eq!(coins.tossed, [1.0 / 52.0; 20]);
    }

    /// An item less is dropped less often than claimed: the same enumeration sees it.
    #[test]
    fn the_enumeration_sees_a_halved_drop() {
        let system = System { columns: 2, q: 4 };
        let (without, with) = (release(&[1], &system, (1, 6)), release(&[1, 2], &system, (1, 6)));
        assert_eq!(worst(&without, &with), Some((6, 1)));
    }

    #[test]
    fn solutions_are_uniform() {
        for q in [2, 3, 4, 5] {
            let system = System { columns: 3, q };
            for rows in (0..512u128).map(|i| [i & 7, i >> 3 & 7, i >> 6]) {
                let found = release(&rows, &system, (0, 1));
                let product = |x: u64, row: u128| {
                    let digits =
                        [x / u64::from(q * q), x / u64::from(q) % u64::from(q), x % u64::from(q)];
                    let taken = (0..3).filter(|j| row >> j & 1 == 1).map(|j| digits[j]);
                    if q.is_power_of_two() {
                        taken.fold(0, |a, b| a ^ b)
                    } else {
                        taken.sum::<u64>() % u64::from(q)
                    }
                };
                let solutions: Vec<u64> = (0..u64::from(q).pow(3))
                    .filter(|x| rows.iter().all(|row| product(*x, *row) == 0))
                    .collect();
                assert_eq!(found.keys().copied().collect::<Vec<_>>(), solutions, "{q} {rows:?}");
                assert!(
                    found.values().all(|p| p.0 * solutions.len() as u128 == p.1),
                    "{q} {rows:?}"
                );
            }
        }
    }

    proptest! {
        /// Bands of a larger system: every row kept is orthogonal to the solution, also by the
        /// naive sum.
        #[test]
        fn kept_rows_are_orthogonal(
            q in prop::sample::select(vec![
                2u32, 3, 4, 8, 13, 16, 32, 53, 64, 128, 251, 256, 257, 512, 65_536,
            ]),
            items in prop::collection::vec((0u64..192, any::<u128>()), 1..330),
            seed in any::<u64>(),
        ) {
            let system = System { columns: 320, q };
            let width = system.width();
            let row = |(start, coefficients)| Row { start, coefficients };
            let mut rows: Vec<Row> = items.into_iter().map(row).collect();
            rows.sort_unstable_by_key(|row| row.start);
            let mut planes = vec![0; 5 * 8 * width as usize];
            system.solve(&rows, &mut SeededCoins::new(seed), &mut planes).unwrap();
            let stranger = Row { start: seed % 192, coefficients: u128::from(seed) << 3 | 1 };
            for (row, member) in rows.iter().map(|row| (*row, true)).chain([(stranger, false)]) {
                let taken = (0..128).filter(|j| row.coefficients >> j & 1 == 1);
                let values = taken.map(|j| planes::get(&planes, width, row.start + j));
                let naive = if q.is_power_of_two() {
                    values.fold(0, |a, b| a ^ b)
                } else {
                    values.sum::<u32>() % q
                };
                let passes = if q.is_power_of_two() {
                    planes::orthogonal_binary(&planes, width, row)
                } else {
                    planes::orthogonal_prime(&planes, width, q, row)
                };
                prop_assert_eq!(passes, naive == 0);
                prop_assert!(passes || !member);
            }
        }
    }
}
