//! Every outcome of a mechanism with its exact chance, for tests of small mechanisms.

use super::noise::{Coins, Probability};
use std::collections::BTreeMap;

/// Outcomes and their chances, as ratios in lowest terms.
pub(super) type Outcomes = BTreeMap<u64, (u128, u128)>;

/// Coins that fall as they are told, and note the chance of that.
struct Told {
    /// The choice at each step so far, and of how many.
    path: Vec<(u64, u64)>,
    step: usize,
    heads: (u128, u128),
    chance: (u128, u128),
}

impl Told {
    fn choose(&mut self, of: u64) -> u64 {
        if self.step == self.path.len() {
            self.path.push((0, of));
        }
        let (choice, bound) = self.path[self.step];
        assert_eq!(bound, of, "a mechanism must ask the same after the same answers");
        self.step += 1;
        choice
    }

    fn happens(&mut self, (up, down): (u128, u128)) {
        let (up, down) = (self.chance.0 * up, self.chance.1 * down);
        let divisor = num_integer::gcd(up, down).max(1);
        self.chance = (up / divisor, down / divisor);
    }
}

impl Coins for Told {
    fn bernoulli(&mut self, p: &Probability) -> bool {
        let told = self.heads.0 as f64 / self.heads.1 as f64;
        assert!(
            (p.to_f64() - told).abs() < 1e-8,
            "the mechanism's own coin falls heads with {p:?}"
        );
        let heads = self.choose(2) == 1;
        let (up, down) = self.heads;
        self.happens(if heads { (up, down) } else { (down - up, down) });
        heads
    }

    fn below(&mut self, bound: u64) -> u64 {
        self.happens((1, u128::from(bound)));
        self.choose(bound)
    }
}

/// Runs the mechanism through every way its coins may fall; all coins that are not uniform fall
/// heads with chance `heads`.
pub(super) fn enumerate(
    heads: (u128, u128),
    mut mechanism: impl FnMut(&mut dyn Coins) -> u64,
) -> Outcomes {
    let mut outcomes = Outcomes::new();
    let mut path = Vec::new();
    loop {
        let mut coins = Told { path, step: 0, heads, chance: (1, 1) };
        let outcome = mechanism(&mut coins);
        let (up, down) = coins.chance;
        if up > 0 {
            let sum = outcomes.entry(outcome).or_insert((0, 1));
            let (a, b) = (sum.0 * down + up * sum.1, sum.1 * down);
            let divisor = num_integer::gcd(a, b);
            *sum = (a / divisor, b / divisor);
        }
        // The next path: the last step that has another choice takes it.
        path = coins.path;
        while path.last().is_some_and(|(choice, bound)| choice + 1 == *bound) {
            path.pop();
        }
        match path.last_mut() {
            Some((choice, _)) => *choice += 1,
            None => return outcomes,
        }
    }
}

/// The largest factor by which an outcome is likelier in one than in the other, in lowest terms;
/// `None` if it is infinite.
pub(super) fn worst(one: &Outcomes, other: &Outcomes) -> Option<(u128, u128)> {
    let mut worst = (0, 1);
    for (x, p) in one {
        let q = other.get(x)?;
        let (up, down) = (p.0 * q.1, p.1 * q.0);
        if up * worst.1 > worst.0 * down {
            worst = (up, down);
        }
    }
    let divisor = num_integer::gcd(worst.0, worst.1);
    Some((worst.0 / divisor, worst.1 / divisor))
}

#[test]
fn chances_add_up_to_one() {
    let outcomes = enumerate((1, 3), |coins| {
        let third = Probability::ratio(1, 3).unwrap();
        if coins.bernoulli(&third) { coins.below(4) } else { 9 }
    });
    assert_eq!(outcomes.get(&9), Some(&(2, 3)));
    assert!((0..4).all(|x| outcomes.get(&x) == Some(&(1, 12))));
}
