//! Levels: numbers weighed by the roots or powers that they reach.

use super::Best;
use crate::zone::arith::primes::Sieve;
use crate::zone::certificate;
use num_integer::Integer;
use std::collections::BTreeSet;

/// The roots whose levels are searched; for higher ones the product is better.
const ROOTS: u32 = 6;
/// The numbers that the local search may look at, over all roots.
const WORK: u64 = 12_000_000;
/// The rounds of the local search for one kind of levels.
const ROUNDS: u32 = 5;

/// Tries the levels of each root.
pub(super) fn search_levels(best: &mut Best, sieve: &Sieve) {
    let mut work = WORK;
    for root in 1..=ROOTS {
        let levels = certificate::root_levels(best.universe.last(), root);
        try_levels(best, sieve, &levels, &mut work);
    }
}

/// Searches the moduli of least sum whose weight suffices, if that could be an improvement.
fn try_levels(best: &mut Best, sieve: &Sieve, levels: &[u128], work: &mut u64) {
    let capacity = best.universe.last();
    let limit = sieve.limit().min(u32::try_from(best.universe.saturated()).unwrap_or(u32::MAX));
    let weights: Vec<u64> =
        (0..limit).map(|number| certificate::weight(levels, capacity, u64::from(number))).collect();
    let target = levels.len() as u64 * u64::from(best.items) + 1;
    let mut design = Design::new(sieve, weights, target);
    if !design.promising(best.bits()) {
        return;
    }
    for moduli in design.search(best.bits(), work) {
        best.offer(moduli);
    }
}

/// A pairwise coprime set under construction: least sum for a total weight of at least `target`.
struct Design<'a> {
    sieve: &'a Sieve,
    weights: Vec<u64>,
    target: u64,
    /// The number that uses a prime, or 0.
    owner: Vec<u32>,
    chosen: BTreeSet<u32>,
    weight: u64,
    bits: u64,
    /// The bits that a weight is worth: a pair (bits, weight).
    price: (i64, i64),
}

impl<'a> Design<'a> {
    fn new(sieve: &'a Sieve, weights: Vec<u64>, target: u64) -> Self {
        let owner = vec![0; weights.len()];
        Self {
            sieve,
            weights,
            target,
            owner,
            chosen: BTreeSet::new(),
            weight: 0,
            bits: 0,
            price: (0, 1),
        }
    }

    /// Whether the target weight, at the best rate of bits for weight, takes fewer than `bits`.
    fn promising(&self, bits: u64) -> bool {
        let numbers = (2..self.weights.len()).filter(|&number| self.weights[number] > 0);
        let rate = numbers
            .map(|number| number as f64 / self.weights[number] as f64)
            .fold(f64::MAX, f64::min);
        rate * (self.target as f64) < bits as f64
    }

    fn weight_of(&self, number: u32) -> u64 {
        self.weights.get(number as usize).copied().unwrap_or(0)
    }

    fn free(&self, number: u32) -> bool {
        self.sieve.factors(number).all(|prime| self.owner[prime as usize] == 0)
    }

    fn insert(&mut self, number: u32) {
        for prime in self.sieve.factors(number) {
            self.owner[prime as usize] = number;
        }
        self.chosen.insert(number);
        self.weight += self.weight_of(number);
        self.bits += u64::from(number);
    }

    fn remove(&mut self, number: u32) {
        for prime in self.sieve.factors(number) {
            self.owner[prime as usize] = 0;
        }
        self.chosen.remove(&number);
        self.weight -= self.weight_of(number);
        self.bits -= u64::from(number);
    }

    fn clear(&mut self) {
        self.owner.fill(0);
        self.chosen.clear();
        self.weight = 0;
        self.bits = 0;
    }

    /// What a number is worth beyond its bits, at the present price.
    fn value(&self, number: u32) -> i64 {
        self.price.0 * (self.weight_of(number) as i64) - self.price.1 * i64::from(number)
    }

    /// What the whole set is worth.
    fn worth(&self) -> i64 {
        self.price.0 * (self.weight as i64) - self.price.1 * (self.bits as i64)
    }

    /// The value for each small prime used up: small primes are scarce, as each can pair with a
    /// larger one to form another number.
    fn score(&self, number: u32) -> i64 {
        let scarce = self.sieve.factors(number).filter(|&prime| self.scarce(prime)).count();
        self.value(number) / (scarce.max(1) as i64)
    }

    fn scarce(&self, prime: u32) -> bool {
        let dearest = self.price.0 / self.price.1.max(1);
        i64::from(prime) * i64::from(prime) <= dearest.max(4)
    }

    /// All numbers of some weight, the cheapest for their weight first.
    fn by_rate(&self) -> Vec<u32> {
        let mut numbers: Vec<u32> =
            (2..self.weights.len() as u32).filter(|&number| self.weight_of(number) > 0).collect();
        numbers.sort_by_key(|&number| {
            let rate = u64::from(number) * 1_000_000 / self.weight_of(number).max(1);
            (rate, number)
        });
        numbers
    }

    /// Alternates between setting the price, a local search at that price, and completing the set.
    ///
    /// The local search gains some percent: a start far above the rival's bits is not worth it.
    fn search(&mut self, rival: u64, work: &mut u64) -> Vec<Vec<u64>> {
        let order = self.by_rate();
        let mut found = Vec::new();
        if !self.fill_up(&order) {
            return found;
        }
        found.push(self.moduli());
        let mut least = self.bits;
        if least / 8 * 7 > rival {
            return found;
        }
        self.set_price();
        self.clear();
        let everything: Vec<u32> =
            order.iter().copied().filter(|&number| self.value(number) > 0).collect();
        self.fill(everything);
        for _ in 0..ROUNDS {
            self.improve(work);
            if !self.fill_up(&order) {
                break;
            }
            self.shrink(&order, work);
            if self.bits >= least {
                break;
            }
            least = self.bits;
            found.push(self.moduli());
            self.set_price();
        }
        found
    }

    fn moduli(&self) -> Vec<u64> {
        self.chosen.iter().map(|&number| u64::from(number)).collect()
    }

    /// The price is the worst rate in the set: it decides what the last weight costs.
    fn set_price(&mut self) {
        let rate = |number: u32| f64::from(number) / self.weight_of(number).max(1) as f64;
        let dearest =
            self.chosen.iter().copied().max_by(|&left, &right| rate(left).total_cmp(&rate(right)));
        if let Some(number) = dearest {
            self.price = (i64::from(number), self.weight_of(number) as i64);
        }
    }

    /// Adds the cheapest free numbers until the weight suffices, then drops what is not needed.
    fn fill_up(&mut self, order: &[u32]) -> bool {
        for &number in order {
            if self.weight >= self.target {
                break;
            }
            if self.free(number) {
                self.insert(number);
            }
        }
        if self.weight < self.target {
            return false;
        }
        let descending: Vec<u32> = self.chosen.iter().rev().copied().collect();
        for number in descending {
            if self.weight - self.weight_of(number) >= self.target {
                self.remove(number);
            }
        }
        true
    }

    /// Replaces numbers by smaller ones while the weight suffices.
    fn shrink(&mut self, order: &[u32], work: &mut u64) {
        let mut ascending = order.to_vec();
        ascending.sort_unstable();
        let descending: Vec<u32> = self.chosen.iter().rev().copied().collect();
        for number in descending {
            self.remove(number);
            let missing = self.target.saturating_sub(self.weight);
            let fits = |&&other: &&u32| self.weight_of(other) >= missing && self.free(other);
            let smaller = ascending.iter().take_while(|&&other| other < number).find(fits).copied();
            *work = work.saturating_sub(u64::from(number));
            self.insert(smaller.unwrap_or(number));
            if *work == 0 {
                return;
            }
        }
    }

    /// Inserts the free ones of some numbers, the best score first.
    fn fill(&mut self, numbers: Vec<u32>) -> Vec<u32> {
        let mut scored: Vec<(i64, u32)> =
            numbers.into_iter().map(|number| (-self.score(number), number)).collect();
        scored.sort_unstable();
        scored.dedup();
        let mut inserted = Vec::new();
        for (_, number) in scored {
            if self.free(number) {
                self.insert(number);
                inserted.push(number);
            }
        }
        inserted
    }

    /// Local search at the present price, until nothing helps or the work is used up.
    fn improve(&mut self, work: &mut u64) {
        for _ in 0..ROUNDS {
            let before = self.worth();
            let largest = self.weights.len() as u32;
            for number in 2..largest {
                if *work == 0 {
                    return;
                }
                if self.chosen.contains(&number) {
                    if self.sieve.factors(number).any(|prime| self.scarce(prime)) {
                        self.exchange(number, None, work);
                    }
                } else if self.value(number) > 0 {
                    self.exchange(number, Some(number), work);
                }
            }
            if self.worth() <= before {
                return;
            }
        }
    }

    /// Takes in a number in place of those it conflicts with (or takes it out), fills up with what
    /// has become possible, and keeps the result only if it is worth more.
    fn exchange(&mut self, number: u32, enter: Option<u32>, work: &mut u64) {
        let before = self.worth();
        let mut removed: Vec<u32> = self
            .sieve
            .factors(number)
            .map(|prime| self.owner[prime as usize])
            .filter(|&owner| owner > 0)
            .collect();
        removed.sort_unstable();
        removed.dedup();
        for &other in &removed {
            self.remove(other);
        }
        if let Some(number) = enter {
            self.insert(number);
        }
        let candidates = self.possible(&removed, number, work);
        let inserted = self.fill(candidates);
        if self.worth() > before {
            return;
        }
        for other in inserted {
            self.remove(other);
        }
        if let Some(number) = enter {
            self.remove(number);
        }
        for other in removed {
            self.insert(other);
        }
    }

    /// The free numbers of some value that use a prime of the removed numbers, but not `banned`.
    fn possible(&self, removed: &[u32], banned: u32, work: &mut u64) -> Vec<u32> {
        let mut numbers = Vec::new();
        let limit = self.weights.len() as u32;
        for &other in removed {
            for prime in self.sieve.factors(other) {
                if self.owner[prime as usize] != 0 {
                    continue;
                }
                *work = work.saturating_sub(u64::from(limit / prime));
                for multiple in (prime..limit).step_by(prime as usize) {
                    if multiple != banned && self.value(multiple) > 0 && self.free(multiple) {
                        numbers.push(multiple);
                    }
                }
            }
        }
        numbers
    }
}

/// Replaces the largest modulus by a smaller one as long as few enough moduli share a bin.
///
/// The levels ask every modulus to exceed a root; but a smaller one may do if the others are
/// larger.
pub(super) fn replace_largest(best: &mut Best) {
    let capacity = best.universe.last();
    // A bitmap is a single modulus: nothing smaller would do.
    let Some(mut moduli) = best.moduli.clone().filter(|moduli| moduli.len() > 1) else {
        return;
    };
    let mut work = WORK;
    while let Some(largest) = moduli.pop() {
        let safe = |number: u64| {
            let mut changed = moduli.clone();
            changed.insert(changed.partition_point(|&other| other < number), number);
            certificate::bins_together(&changed, capacity).0 > u64::from(best.items)
        };
        let mut smaller = (2..largest).filter(|&number| {
            work = work.saturating_sub(moduli.len() as u64);
            work > 0 && moduli.iter().all(|other| other.gcd(&number) == 1)
        });
        // A larger number is safe if a smaller one is, so the first safe one is the best.
        let Some(number) = smaller.find(|&number| safe(number)) else {
            break;
        };
        moduli.push(number);
        moduli.sort_unstable();
        best.offer(moduli.clone());
    }
}
