//! Choosing pairwise coprime moduli with few bits for a zone filter.
//!
//! A filter over `n` integers is safe for `d` stored elements if its moduli do not fit into `d` bins of
//! product at most `n - 1`; its bits are the sum of its moduli. Several families compete, and the cheapest
//! proved one wins:
//!
//! * a single modulus `n`, the bitmap;
//! * prime powers whose product is large for their sum (Landau's problem), for few elements;
//! * numbers just above a root of `n`, weighed by levels, for many elements: composites spare the large
//!   primes, and a local search decides which small primes go together;
//! * for small sums, all pairwise coprime sets, judged by an exhaustive search for a packing.
//!
//! Floats guide the search; integers prove what is returned. The choice is deterministic.

use std::collections::BTreeSet;

use num_bigint::BigUint;
use num_integer::Integer;
use num_traits::One;

use super::certificate::{self, Certificate, Packing};

/// The most bits of `universe ^ items` for which primes are multiplied at all.
const PRODUCT_BITS: u64 = 1 << 20;
/// The most bits of `universe ^ items` for which levels are searched.
const SEARCH_BITS: u64 = 1 << 17;
/// The most cells of the table for Landau's problem.
const TABLE_CELLS: usize = 1 << 23;
/// The rounds of exchanges where the table would be too large.
const EXCHANGES: u32 = 200;
/// The roots whose levels are searched; for higher ones the product is better.
const ROOTS: u32 = 6;
/// The numbers that the local search may look at, over all roots.
const WORK: u64 = 12_000_000;
/// The rounds of the local search for one kind of levels.
const ROUNDS: u32 = 5;
/// The sum up to which all pairwise coprime sets are enumerated.
pub(crate) const SMALL_SUM: u64 = 260;
/// The sizes of the products that are enumerated, one after another, as powers of `(n - 1) ^ d`.
const SMALL_SHARES: [f64; 6] = [0.95, 0.9, 0.85, 0.8, 0.7, 0.5];
/// The numbers looked at by one enumeration.
const SMALL_STEPS: u64 = 1_000_000;
/// The nodes of the exhaustive searches of one enumeration: all together, and one.
const SMALL_EFFORT: u64 = 150_000;
const SMALL_EFFORT_EACH: u64 = 20_000;
/// The enumeration ends when this many sums in a row have failed.
const SMALL_PATIENCE: u64 = 6;

/// The first primes whose product is at least `universe ^ items` (Eppstein, Goodrich and Hirschberg).
///
/// Empty if that power is beyond reach (more than about a million bits).
pub(crate) fn egh(universe: u128, items: u32) -> Vec<u64> {
    let bits = power_bits(universe, items);
    if bits > PRODUCT_BITS {
        return Vec::new();
    }
    let target = BigUint::from(universe).pow(items);
    let mut product = BigUint::one();
    let mut chosen = Vec::new();
    // The product of the primes up to x exceeds 2^x from x = 29 on.
    for prime in Sieve::new(bits as usize + 64).primes {
        if product >= target {
            break;
        }
        product *= prime;
        chosen.push(u64::from(prime));
    }
    chosen
}

/// An upper bound of the bits of `universe ^ items`.
fn power_bits(universe: u128, items: u32) -> u64 {
    u64::from(u128::BITS - universe.leading_zeros()) * u64::from(items)
}

/// Pairwise coprime moduli, ascending, with few bits, and the proof that they are safe for `items`.
///
/// Nothing if neither a bitmap (a modulus `universe`) nor a product of primes is within reach.
pub(crate) fn choose(universe: u128, items: u32) -> Option<(Vec<u64>, Certificate)> {
    if universe <= 2 || items == 0 {
        return proved(vec![2], universe, items);
    }
    let mut best = Best { moduli: None, universe, items };
    if let Ok(modulus) = u64::try_from(universe) {
        best.offer(vec![modulus]);
    }
    let primes = egh(universe, items);
    if primes.is_empty() {
        return best.moduli.and_then(|moduli| proved(moduli, universe, items));
    }
    let reach = primes.last().map_or(64, |&prime| prime as usize * 3 + 64);
    best.offer(primes);
    let sieve = Sieve::new(reach);
    best.offer(landau(universe, items, best.bits(), &sieve));
    if power_bits(universe, items) <= SEARCH_BITS {
        search_levels(&mut best, &sieve);
        replace_largest(&mut best);
    }
    if best.bits() <= SMALL_SUM {
        enumerate(&mut best);
    }
    best.moduli.and_then(|moduli| proved(moduli, universe, items))
}

/// The moduli with their certificate.
fn proved(moduli: Vec<u64>, universe: u128, items: u32) -> Option<(Vec<u64>, Certificate)> {
    let certificate = certificate::prove(&moduli, universe, items, certificate::EFFORT)?;
    Some((moduli, certificate))
}

/// The sum of the moduli.
fn sum(moduli: &[u64]) -> u64 {
    moduli.iter().fold(0, |total, &modulus| total.saturating_add(modulus))
}

/// The cheapest proved moduli so far.
struct Best {
    moduli: Option<Vec<u64>>,
    universe: u128,
    items: u32,
}

impl Best {
    fn bits(&self) -> u64 {
        self.moduli.as_ref().map_or(u64::MAX, |moduli| sum(moduli))
    }

    /// Takes the moduli if they are cheaper and the lower bounds prove them.
    fn offer(&mut self, mut moduli: Vec<u64>) {
        if moduli.is_empty() || (self.moduli.is_some() && sum(&moduli) >= self.bits()) {
            return;
        }
        moduli.sort_unstable();
        if certificate::zone(&moduli, self.universe, self.items).0 >= self.items {
            self.moduli = Some(moduli);
        }
    }
}

/// The smallest prime factors of the numbers below a limit.
struct Sieve {
    factor: Vec<u32>,
    primes: Vec<u32>,
}

impl Sieve {
    fn new(limit: usize) -> Self {
        let limit = limit.min(1 << 24);
        let mut factor = vec![0u32; limit];
        let mut primes = Vec::new();
        for number in 2..limit {
            if factor[number] != 0 {
                continue;
            }
            primes.push(number as u32);
            for multiple in (number..limit).step_by(number) {
                if factor[multiple] == 0 {
                    factor[multiple] = number as u32;
                }
            }
        }
        Self { factor, primes }
    }

    fn limit(&self) -> u32 {
        self.factor.len() as u32
    }

    /// The distinct prime factors of a number below the limit, ascending.
    fn factors(&self, mut number: u32) -> impl Iterator<Item = u32> + '_ {
        std::iter::from_fn(move || {
            let prime = *self.factor.get(number as usize)?;
            if prime == 0 {
                return None;
            }
            while number.is_multiple_of(prime) {
                number /= prime;
            }
            Some(prime)
        })
    }
}

// Landau's problem: prime powers with a large product for their sum.

/// Prime powers with product above (n-1)(n-2)...(n-d) and a small sum, below `bits` if all goes well.
fn landau(universe: u128, items: u32, bits: u64, sieve: &Sieve) -> Vec<u64> {
    let target = differences(universe, items);
    let logarithm = logarithm_of(&target);
    let width = usize::try_from(bits).unwrap_or(usize::MAX);
    // Larger primes than these are worse than the ones at hand.
    let largest = sieve.limit() / 2 + 16;
    let primes: Vec<u32> = sieve.primes.iter().copied().filter(|&prime| prime < largest).collect();
    if width.saturating_mul(primes.len()) <= TABLE_CELLS {
        return landau_by_table(&target, logarithm, width, &primes);
    }
    // Should rounding have misled the floats, a slightly larger target helps.
    for surplus in [0.0, 1e-9, 1e-6] {
        let powers = landau_by_exchange(logarithm * (1.0 + surplus), &primes);
        if certificate::product_of(&powers) > target {
            return powers;
        }
    }
    Vec::new()
}

/// The largest product of `items` distinct differences.
fn differences(universe: u128, items: u32) -> BigUint {
    let largest = universe.saturating_sub(1);
    let mut product = BigUint::one();
    for item in 0..u128::from(items).min(largest) {
        product *= largest - item;
    }
    product
}

/// The natural logarithm of a large number, nearly.
fn logarithm_of(number: &BigUint) -> f64 {
    let shift = number.bits().saturating_sub(64);
    let leading = u64::try_from(number >> shift).unwrap_or(u64::MAX);
    (leading as f64).ln() + shift as f64 * std::f64::consts::LN_2
}

/// The best product for each sum below `width`, prime by prime; then the least sum that suffices.
fn landau_by_table(target: &BigUint, logarithm: f64, width: usize, primes: &[u32]) -> Vec<u64> {
    let mut best = vec![0.0f64; width];
    let mut exponents = vec![0u8; width * primes.len()];
    for (row, &prime) in primes.iter().enumerate() {
        let choice = &mut exponents[row * width..(row + 1) * width];
        let gain = f64::from(prime).ln();
        for total in (prime as usize..width).rev() {
            let mut power = prime as usize;
            let mut exponent = 1u8;
            while power <= total {
                let reached = best[total - power] + gain * f64::from(exponent);
                if reached > best[total] {
                    best[total] = reached;
                    choice[total] = exponent;
                }
                power = power.saturating_mul(prime as usize);
                exponent += 1;
            }
        }
    }
    let first = best.partition_point(|&reached| reached < logarithm * (1.0 - 1e-12));
    for total in first..width.min(first + 8) {
        let powers = read_table(&exponents, width, primes, total);
        if certificate::product_of(&powers) > *target {
            return powers;
        }
    }
    Vec::new()
}

/// The prime powers behind one entry of the table.
fn read_table(exponents: &[u8], width: usize, primes: &[u32], mut total: usize) -> Vec<u64> {
    let mut powers = Vec::new();
    for (row, &prime) in primes.iter().enumerate().rev() {
        let exponent = exponents[row * width + total];
        if exponent > 0 {
            let power = u64::from(prime).pow(u32::from(exponent));
            powers.push(power);
            total = total.saturating_sub(power as usize);
        }
    }
    powers
}

/// A step of one prime to another exponent: the change of the logarithm and of the sum.
struct Step {
    row: usize,
    exponent: u32,
    logarithm: f64,
    bits: f64,
}

/// Prime powers by a price for the logarithm, then exchanges that use up the surplus.
fn landau_by_exchange(logarithm: f64, primes: &[u32]) -> Vec<u64> {
    let mut exponents = exponents_at_least(logarithm, primes);
    for _ in 0..EXCHANGES {
        let reached: f64 =
            primes.iter().zip(&exponents).map(|(&p, &e)| f64::from(p).ln() * f64::from(e)).sum();
        let Some((down, up)) = best_exchange(primes, &exponents, reached - logarithm) else {
            break;
        };
        exponents[down.row] = down.exponent;
        if let Some(up) = up {
            exponents[up.row] = up.exponent;
        }
    }
    let chosen = primes.iter().zip(&exponents).filter(|&(_, &exponent)| exponent > 0);
    chosen.map(|(&prime, &exponent)| u64::from(prime).pow(exponent)).collect()
}

/// The exponents at the lowest price that reaches the logarithm.
fn exponents_at_least(logarithm: f64, primes: &[u32]) -> Vec<u32> {
    let (mut low, mut high) = (0.0, 1e12);
    for _ in 0..80 {
        let price = (low + high) / 2.0;
        let reached: f64 =
            primes.iter().map(|&prime| f64::from(prime).ln() * f64::from(exponent_at(price, prime))).sum();
        if reached > logarithm {
            high = price;
        } else {
            low = price;
        }
    }
    primes.iter().map(|&prime| exponent_at(high, prime)).collect()
}

/// The exponent from which on another factor costs more than `price` for each unit of logarithm.
fn exponent_at(price: f64, prime: u32) -> u32 {
    let prime = f64::from(prime);
    let mut exponent = 0;
    let mut power = 1.0;
    // Powers stay far below 2^53, hence also within 64 bits.
    while exponent < 40 && power * prime < 9e15 && step_bits(power, power * prime) <= price * prime.ln() {
        power *= prime;
        exponent += 1;
    }
    exponent
}

/// The bits that a step from one power to another adds; the power 1 is no modulus at all.
fn step_bits(from: f64, to: f64) -> f64 {
    let bits = |power: f64| if power <= 1.0 { 0.0 } else { power };
    bits(to) - bits(from)
}

/// The exchange that saves most bits: one prime loses a factor, and perhaps another gains one.
fn best_exchange(primes: &[u32], exponents: &[u32], surplus: f64) -> Option<(Step, Option<Step>)> {
    let mut downs = Vec::new();
    let mut ups = Vec::new();
    for (row, (&prime, &exponent)) in primes.iter().zip(exponents).enumerate() {
        let prime = f64::from(prime);
        let power = prime.powi(exponent as i32);
        let logarithm = prime.ln();
        if exponent > 0 {
            let bits = step_bits(power / prime, power);
            downs.push(Step { row, exponent: exponent - 1, logarithm, bits });
        }
        if power * prime < 1e12 {
            let bits = step_bits(power, power * prime);
            ups.push(Step { row, exponent: exponent + 1, logarithm, bits });
        }
    }
    ups.sort_by(|left, right| right.logarithm.total_cmp(&left.logarithm));
    // The cheapest of the steps up with at least this much logarithm.
    let mut cheapest: Vec<usize> = Vec::with_capacity(ups.len());
    for index in 0..ups.len() {
        let previous = cheapest.last().copied().unwrap_or(index);
        cheapest.push(if ups[index].bits < ups[previous].bits { index } else { previous });
    }
    let mut best: Option<(f64, usize, Option<usize>)> = None;
    for (index, down) in downs.iter().enumerate() {
        let missing = down.logarithm - surplus;
        let (saved, up) = if missing <= 0.0 {
            (down.bits, None)
        } else {
            let enough = ups.partition_point(|up| up.logarithm >= missing);
            let Some(&up) = enough.checked_sub(1).and_then(|last| cheapest.get(last)) else {
                continue;
            };
            if ups[up].row == down.row {
                continue;
            }
            (down.bits - ups[up].bits, Some(up))
        };
        if saved > 0.5 && best.is_none_or(|(most, _, _)| saved > most) {
            best = Some((saved, index, up));
        }
    }
    let (_, down, up) = best?;
    Some((downs.swap_remove(down), up.map(|up| ups.swap_remove(up))))
}

// Levels: numbers weighed by the roots or powers that they reach.

/// Tries the levels of each root.
fn search_levels(best: &mut Best, sieve: &Sieve) {
    let mut work = WORK;
    for root in 1..=ROOTS {
        let levels = certificate::root_levels(best.universe - 1, root);
        try_levels(best, sieve, &levels, &mut work);
    }
}

/// Searches the moduli of least sum whose weight suffices, if that could be an improvement.
fn try_levels(best: &mut Best, sieve: &Sieve, levels: &[u128], work: &mut u64) {
    let capacity = best.universe - 1;
    let limit = sieve.limit().min(u32::try_from(best.universe).unwrap_or(u32::MAX));
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
        Self { sieve, weights, target, owner, chosen: BTreeSet::new(), weight: 0, bits: 0, price: (0, 1) }
    }

    /// Whether the target times the best rate of bits for weight is below the bits at hand.
    fn promising(&self, bits: u64) -> bool {
        let numbers = (2..self.weights.len()).filter(|&number| self.weights[number] > 0);
        let rate = numbers.map(|number| number as f64 / self.weights[number] as f64).fold(f64::MAX, f64::min);
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

    /// The value for each small prime used up: small primes are scarce, as each can pair with a larger
    /// one to form another number.
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
        if !self.complete(&order) {
            return found;
        }
        found.push(self.moduli());
        let mut least = self.bits;
        if least / 8 * 7 > rival {
            return found;
        }
        self.set_price();
        self.clear();
        let everything: Vec<u32> = order.iter().copied().filter(|&number| self.value(number) > 0).collect();
        self.fill(everything);
        for _ in 0..ROUNDS {
            self.improve(work);
            if !self.complete(&order) {
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
        let dearest = self.chosen.iter().copied().max_by(|&left, &right| rate(left).total_cmp(&rate(right)));
        if let Some(number) = dearest {
            self.price = (i64::from(number), self.weight_of(number) as i64);
        }
    }

    /// Adds the cheapest free numbers until the weight suffices, then drops what is not needed.
    fn complete(&mut self, order: &[u32]) -> bool {
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

    /// Takes in a number in place of those it conflicts with (or takes it out), fills up with what has
    /// become possible, and keeps the result only if it is worth more.
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
/// The levels ask every modulus to exceed a root; but a smaller one may do if the others are larger.
fn replace_largest(best: &mut Best) {
    let capacity = best.universe - 1;
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

// Small sums: all pairwise coprime sets.

/// Lowers the sum as long as some pairwise coprime set of that sum is proved, at times by exhaustion.
///
/// Safe sets of small sum rarely have a product far below the largest that fits: those are left for last.
fn enumerate(best: &mut Best) {
    for share in SMALL_SHARES {
        enumerate_share(best, share);
    }
}

/// Enumerates the sets whose product is at least a power of `(n - 1) ^ d`, the share.
fn enumerate_share(best: &mut Best, share: f64) {
    let mut sets = Sets::new(best, share);
    for bits in (2..best.bits()).rev() {
        if let Some(mut moduli) = sets.find(bits, bits, 0.0) {
            moduli.sort_unstable();
            best.moduli = Some(moduli);
        } else if bits + SMALL_PATIENCE < best.bits() {
            return;
        }
        sets.stack.clear();
    }
}

/// The enumeration of pairwise coprime sets.
struct Sets {
    universe: u128,
    items: u32,
    /// The logarithm of the largest product for each sum.
    largest: Vec<f64>,
    /// The logarithm of the product that is needed at least.
    needed: f64,
    /// Descending coprime numbers.
    stack: Vec<u64>,
    steps: u64,
    effort: u64,
}

impl Sets {
    fn new(best: &Best, share: f64) -> Self {
        // First fit leaves no two bins that fit together: without a packing into d bins, it pairs up d + 1
        // bins so that each pair exceeds n - 1. A smaller product than that is hopeless.
        let needed = ((best.universe - 1) as f64).ln() * f64::from(best.items + 1) / 2.0 - 1e-6;
        let usual = share * f64::from(best.items) * ((best.universe - 1) as f64).ln();
        let needed = needed.max(usual);
        let largest = largest_products(best.bits() as usize + 1);
        let (steps, effort) = (SMALL_STEPS, SMALL_EFFORT);
        Self { universe: best.universe, items: best.items, largest, needed, stack: Vec::new(), steps, effort }
    }

    /// Extends the stack by coprime numbers below `below` that sum up to `rest`, until it is proved safe.
    fn find(&mut self, rest: u64, below: u64, logarithm: f64) -> Option<Vec<u64>> {
        if rest == 0 {
            return self.safe().then(|| self.stack.clone());
        }
        if logarithm + self.largest.get(rest as usize)? < self.needed {
            return None;
        }
        for number in (2..=rest.min(below.saturating_sub(1))).rev() {
            self.steps = self.steps.checked_sub(1)?;
            // Distinct numbers up to this one sum up to at most its triangle.
            if number * (number + 1) / 2 < rest || self.effort == 0 {
                return None;
            }
            if self.stack.iter().all(|other| other.gcd(&number) == 1) {
                self.stack.push(number);
                let found = self.find(rest - number, number, logarithm + (number as f64).ln());
                self.stack.pop();
                if found.is_some() {
                    return found;
                }
            }
        }
        None
    }

    /// Whether the exhaustive search proves the stack.
    fn safe(&mut self) -> bool {
        let allowed = SMALL_EFFORT_EACH.min(self.effort);
        let mut left = allowed;
        let answer = certificate::search_packing(&self.stack, self.universe, self.items, &mut left);
        self.effort -= allowed - left;
        answer == Packing::Impossible
    }
}

/// The logarithm of the largest product of coprime numbers for each sum below `width`.
fn largest_products(width: usize) -> Vec<f64> {
    let mut best = vec![0.0f64; width];
    for &prime in &Sieve::new(width).primes {
        let gain = f64::from(prime).ln();
        for total in (prime as usize..width).rev() {
            let mut power = prime as usize;
            let mut logarithm = gain;
            while power <= total {
                best[total] = best[total].max(best[total - power] + logarithm);
                power *= prime as usize;
                logarithm += gain;
            }
        }
    }
    best
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const UNIVERSES: [u128; 8] = [48, 606, 1000, 65536, 100_000, 1_000_000, 1 << 32, 1 << 64];

    fn chosen(universe: u128, items: u32) -> Vec<u64> {
        let (moduli, certificate) = choose(universe, items).expect("within reach");
        assert!(moduli.is_sorted());
        assert!(certificate::pairwise_coprime(&moduli));
        let again = certificate::prove(&moduli, universe, items, certificate::EFFORT);
        assert_eq!(again, Some(certificate), "{universe} {items}");
        moduli
    }

    #[test]
    fn facts_about_the_first_primes() {
        assert_eq!(egh(48, 2), [2, 3, 5, 7, 11]);
        let facts = [(606, 3, 100, 9), (1 << 32, 4, 1264, 27), (1 << 16, 100, 99_685, 190)];
        for (universe, items, bits, count) in facts {
            let primes = egh(universe, items);
            assert_eq!((sum(&primes), primes.len()), (bits, count));
        }
        let (zone, certificate) = certificate::zone(&egh(1 << 16, 100), 1 << 16, 1000);
        assert!(zone >= 135);
        assert_ne!(certificate, Certificate::Product);
    }

    #[test]
    fn never_more_bits_than_the_first_primes() {
        for universe in UNIVERSES {
            for items in [1, 2, 3, 4, 5, 6, 7, 10, 20, 50, 100] {
                assert!(sum(&chosen(universe, items)) <= sum(&egh(universe, items)));
            }
        }
    }

    #[test]
    fn clearly_fewer_bits() {
        assert!(sum(&chosen(1 << 32, 4)) <= 1110);
        assert!(sum(&chosen(1 << 16, 100)) <= 52_700);
        assert!(sum(&chosen(606, 3)) <= 86);
        assert!(sum(&chosen(1_000_000, 20)) <= 7196);
        assert!(sum(&chosen(48, 2)) <= 24);
    }

    #[test]
    fn small_choices_are_exact() {
        for universe in 1u64..=14 {
            for items in 0..=4 {
                let moduli = chosen(u128::from(universe), items);
                for set in (0u64..1 << universe).filter(|set| set.count_ones() <= items) {
                    check_set(&moduli, universe, set);
                }
            }
        }
    }

    /// The filter of a set of elements answers for no stranger.
    fn check_set(moduli: &[u64], universe: u64, set: u64) {
        let stored: Vec<u64> = (0..universe).filter(|element| set >> element & 1 == 1).collect();
        for stranger in (0..universe).filter(|element| !stored.contains(element)) {
            let answers =
                |modulus: &u64| stored.iter().any(|element| element % modulus == stranger % modulus);
            assert!(!moduli.iter().all(answers), "{moduli:?} {universe} {stored:?} {stranger}");
        }
    }

    #[test]
    fn out_of_reach() {
        assert_eq!(choose(u128::MAX, u32::MAX), None);
        assert_eq!(chosen(1000, u32::MAX), [1000]);
        assert_eq!(chosen(u128::from(u64::MAX), u32::MAX), [u64::MAX]);
        assert!(egh(1 << 64, u32::MAX).is_empty());
        assert!(choose(u128::MAX, 3).is_some());
        assert_eq!(chosen(0, 7), [2]);
    }

    #[test]
    fn many_items() {
        for universe in [1u128 << 20, 1 << 40, 1 << 64] {
            assert!(sum(&chosen(universe, 1000)) <= sum(&egh(universe, 1000)));
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(40))]
        #[test]
        fn any_choice_is_proved(universe: u64, bits in 0u32..64, items in 0u32..60) {
            let universe = u128::from(universe >> bits);
            let moduli = chosen(universe, items);
            let primes = egh(universe, items);
            prop_assert!(sum(&moduli) <= sum(&primes).max(2));
        }
    }
}
