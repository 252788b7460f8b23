//! Chinese remaindering over pairwise coprime moduli, and the residue multisets both listing
//! methods read. A number below the product P of the moduli is the sum of its weighted residues
//! times the cofactors P/p_i, modulo P; a product tree does that sum, so no cofactor is ever stored
//! as a big number.

use num_bigint::BigUint;
use num_integer::Integer;
use num_traits::{One, ToPrimitive, Zero};

/// Algorithm 1: the least x with `x = residues[i] mod moduli[i]` for every i, and the product of
/// the moduli.
///
/// `None` when the lengths differ, a modulus is zero, or two moduli share a factor: no unique x
/// exists then.
///
/// ```
/// let (x, modulus) = tamis::zone::chinese_remainder(&[2, 3, 2], &[3, 5, 7]).expect("the moduli are coprime");
/// assert_eq!((x, modulus), (23u32.into(), 105u32.into()));
/// ```
pub fn chinese_remainder(residues: &[u64], moduli: &[u64]) -> Option<(BigUint, BigUint)> {
    let crt = Crt::new(moduli)?;
    let solution = crt.solve(residues)?;
    Some((solution, crt.product))
}

/// What depends on the moduli alone, so that many systems over the same moduli share it.
#[derive(Clone, Debug)]
pub(crate) struct Crt {
    /// P, the product of all moduli; solutions are unique below it.
    pub(crate) product: BigUint,
    /// q_i, the inverse of N_i = P/p_i modulo p_i.
    pub(crate) basis: Vec<u64>,
    moduli: Vec<u64>,
    /// Products of neighbours, level by level: the moduli first, P alone last.
    tree: Vec<Vec<BigUint>>,
}

impl Crt {
    /// `None` when a modulus is zero or two moduli share a factor.
    pub(crate) fn new(moduli: &[u64]) -> Option<Crt> {
        if moduli.contains(&0) {
            return None;
        }
        let tree = product_tree(moduli);
        let product = tree.last().and_then(|top| top.first()).cloned().unwrap_or_else(BigUint::one);
        let basis = cofactors(&tree)
            .iter()
            .zip(moduli)
            .map(|(cofactor, &modulus)| inverse(cofactor.to_u64()?, modulus))
            .collect::<Option<Vec<u64>>>()?;
        Some(Crt { product, basis, moduli: moduli.to_vec(), tree })
    }

    /// The least number with the given residues; `None` when there is not one residue a modulus.
    pub(crate) fn solve(&self, residues: &[u64]) -> Option<BigUint> {
        if residues.len() != self.moduli.len() {
            return None;
        }
        let weights = residues.iter().zip(&self.basis).zip(&self.moduli);
        let mut sums: Vec<BigUint> = weights
            .map(|((&residue, &base), &modulus)| multiply(residue, base, modulus).into())
            .collect();
        for products in &self.tree {
            sums = sums
                .chunks(2)
                .zip(products.chunks(2))
                .map(|(pair, sides)| cross(pair, sides))
                .collect();
        }
        Some(sums.pop().unwrap_or_else(BigUint::zero) % &self.product)
    }
}

/// The weighted sum of a node from those of its children: each side still lacks the other side's
/// product.
fn cross(sums: &[BigUint], products: &[BigUint]) -> BigUint {
    match (sums, products) {
        ([left, right], [left_product, right_product]) => {
            left * right_product + right * left_product
        }
        _ => sums.first().cloned().unwrap_or_else(BigUint::zero),
    }
}

fn product_tree(moduli: &[u64]) -> Vec<Vec<BigUint>> {
    let mut tree = Vec::new();
    let mut level: Vec<BigUint> = moduli.iter().map(|&modulus| BigUint::from(modulus)).collect();
    while level.len() > 1 {
        let next = level.chunks(2).map(|pair| pair.iter().product()).collect();
        tree.push(level);
        level = next;
    }
    tree.push(level);
    tree
}

/// N_i mod p_i for every i, from the root down: a child's cofactor is its parent's times its
/// sibling. Reducing at every node keeps the numbers as short as the node.
fn cofactors(tree: &[Vec<BigUint>]) -> Vec<BigUint> {
    let mut parents = vec![BigUint::one()];
    for level in tree.iter().rev() {
        let mut children = Vec::with_capacity(level.len());
        // The top level is one node without a sibling: it keeps the cofactor 1 it starts with.
        for (pair, parent) in level.chunks(2).zip(&parents) {
            match pair {
                [left, right] => children.extend([parent * right % left, parent * left % right]),
                [lone] => children.push(parent % lone),
                _ => {}
            }
        }
        parents = children;
    }
    parents
}

/// `left * right mod modulus`; the modulus is not zero. Short operands take the far cheaper short
/// division.
fn multiply(left: u64, right: u64, modulus: u64) -> u64 {
    match left.checked_mul(right) {
        Some(product) => product % modulus,
        None => (u128::from(left) * u128::from(right) % u128::from(modulus)) as u64,
    }
}

/// The inverse of `value`, or `None` when it shares a factor with the modulus. Modulo 1 it is 0.
fn inverse(value: u64, modulus: u64) -> Option<u64> {
    let bezout = i128::from(value).extended_gcd(&i128::from(modulus));
    if !bezout.gcd.is_one() {
        return None;
    }
    bezout.x.mod_floor(&i128::from(modulus)).to_u64()
}

/// The residues of one unknown set modulo every modulus, checked for shape and sorted.
pub(super) struct Multisets<'a> {
    pub(super) moduli: &'a [u64],
    pub(super) size: usize,
    pub(super) universe: u128,
    residues: Vec<Vec<u64>>,
}

impl<'a> Multisets<'a> {
    /// `None` when the input cannot come from a set of distinct numbers in `0..universe`, when the
    /// universe is above 2^64, or when a modulus is 2^32 or more: products of two residues must
    /// fit a word.
    pub(super) fn new(
        moduli: &'a [u64],
        residues: &[Vec<u64>],
        universe: u128,
    ) -> Option<Multisets<'a>> {
        let size = residues.first()?.len();
        let shaped = moduli.len() == residues.len() && residues.iter().all(|one| one.len() == size);
        let small = moduli.iter().all(|&modulus| modulus <= u64::from(u32::MAX));
        let possible = universe <= 1 << 64 && size as u128 <= universe;
        let reduced =
            moduli.iter().zip(residues).all(|(&modulus, one)| one.iter().all(|&x| x < modulus));
        if !(shaped && small && possible && reduced) {
            return None;
        }
        let mut residues = residues.to_vec();
        residues.iter_mut().for_each(|one| one.sort_unstable());
        Some(Multisets { moduli, size, universe, residues })
    }

    /// The largest C(s,j) (n-1)^j over all j, if it is below the product: only then are the
    /// elementary symmetric polynomials of the set, as integers, determined by their residues.
    pub(super) fn largest_coefficient(&self, product: &BigUint) -> Option<BigUint> {
        let greatest = self.universe.saturating_sub(1);
        let mut largest = BigUint::one();
        let mut term = BigUint::one();
        for chosen in 1..=self.size {
            term = term * (self.size - chosen + 1) * greatest / chosen;
            if &term >= product {
                return None;
            }
            if term > largest {
                largest.clone_from(&term);
            }
        }
        Some(largest)
    }

    /// For every modulus the elementary symmetric polynomials of degrees 1 to s of its residues.
    pub(super) fn symmetric(&self) -> Vec<Vec<u64>> {
        self.moduli
            .iter()
            .zip(&self.residues)
            .map(|(&modulus, one)| symmetric(one, modulus))
            .collect()
    }

    /// Keeps the candidates whose residues occur in every multiset. When `largest_coefficient`
    /// exists this is exact: the product of all (candidate - x) is below P in size and
    /// divisible by P, so it is zero. The last moduli go first: they tend to be the largest and
    /// to turn most candidates away.
    pub(super) fn keep_members(&self, candidates: &mut Vec<u64>) {
        for (&modulus, one) in self.moduli.iter().zip(&self.residues).rev() {
            candidates.retain(|candidate| one.binary_search(&(candidate % modulus)).is_ok());
        }
    }

    /// The elements in rising order, if they are a set in the universe that has exactly these
    /// multisets.
    pub(super) fn confirm(&self, mut elements: Vec<u64>) -> Option<Vec<u64>> {
        elements.sort_unstable();
        let distinct = elements.windows(2).all(|pair| pair[0] != pair[1]);
        let inside = elements.last().is_none_or(|&last| u128::from(last) < self.universe);
        if elements.len() != self.size || !distinct || !inside {
            return None;
        }
        let mut image = Vec::with_capacity(self.size);
        for (&modulus, one) in self.moduli.iter().zip(&self.residues) {
            image.clear();
            image.extend(elements.iter().map(|&element| element % modulus));
            image.sort_unstable();
            if &image != one {
                return None;
            }
        }
        Some(elements)
    }
}

/// How many residues `symmetric` takes in together: nine products of numbers below 2^30 still fit a
/// word.
const BATCH: usize = 8;

/// Algorithm 2: sigma_j of the first i residues is sigma_j + x_i sigma_(j-1) of the first i-1.
/// A batch of residues is taken in at once, by its own symmetric polynomials, so that one reduction
/// serves a whole batch. Residues of 30 bits and more leave no room for that and go one by one.
fn symmetric(residues: &[u64], modulus: u64) -> Vec<u64> {
    let reducer = Reducer::new(modulus);
    let batch = if modulus < 1 << 30 { BATCH } else { 1 };
    // Leading zeros stand for the polynomials of negative degree, so that no index needs a case.
    let mut sigma = vec![0; BATCH + residues.len() + 1];
    sigma[BATCH] = 1 % modulus.max(1);
    let mut known = 0;
    for group in residues.chunks(batch) {
        let factor = symmetric_batch(group, &reducer);
        known += group.len();
        for top in (BATCH + 1..=BATCH + known).rev() {
            let below = &sigma[top - BATCH..=top];
            let sum = if batch == 1 {
                below[BATCH] + below[BATCH - 1] * factor[BATCH - 1]
            } else {
                below.iter().zip(&factor).map(|(&one, &other)| one * other).sum()
            };
            sigma[top] = reducer.reduce(sum);
        }
    }
    sigma.split_off(BATCH + 1)
}

/// The symmetric polynomials of at most `BATCH` residues, the one of degree 0 last.
fn symmetric_batch(residues: &[u64], reducer: &Reducer) -> [u64; BATCH + 1] {
    let mut sigma = [0; BATCH + 1];
    sigma[BATCH] = 1;
    for &residue in residues {
        for index in 0..BATCH {
            sigma[index] = reducer.reduce(sigma[index] + residue * sigma[index + 1]);
        }
    }
    sigma
}

/// Remainders by a modulus below 2^32 without a division, by Barrett's method.
struct Reducer {
    modulus: u64,
    reciprocal: u64,
}

impl Reducer {
    fn new(modulus: u64) -> Reducer {
        let modulus = modulus.max(1);
        Reducer { modulus, reciprocal: u64::MAX / modulus }
    }

    /// The reciprocal is short of 2^64/modulus by at most 1, so the quotient by at most 1.
    fn reduce(&self, value: u64) -> u64 {
        let quotient = ((u128::from(value) * u128::from(self.reciprocal)) >> 64) as u64;
        let rest = value - quotient * self.modulus;
        if rest >= self.modulus { rest - self.modulus } else { rest }
    }
}

/// Sets and moduli for the tests of this module and its neighbours.
#[cfg(test)]
pub(super) mod sample {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeSet;

    pub(crate) const UNIVERSES: [u128; 9] =
        [2, 3, 14, 48, 1000, 1_000_000, 1 << 16, 1 << 32, 1 << 64];

    pub(crate) fn primes() -> impl Iterator<Item = u64> {
        (2u64..).filter(|&n| (2..).take_while(|d| d * d <= n).all(|d| n % d != 0))
    }

    /// As few of the first primes as list `size` elements of the universe, and `spare` more.
    pub(crate) fn moduli(size: usize, universe: u128, spare: usize) -> Vec<u64> {
        let mut bound = BigUint::one();
        let mut term = BigUint::one();
        for chosen in 1..=size {
            term = term * (size - chosen + 1) * (universe - 1) / chosen;
            bound = bound.max(term.clone());
        }
        let mut product = BigUint::one();
        let mut extra = 0;
        let needed = |&prime: &u64| {
            extra += usize::from(product > bound);
            product *= prime;
            extra <= spare
        };
        primes().take_while(needed).collect()
    }

    pub(crate) fn residues(set: &[u64], moduli: &[u64]) -> Vec<Vec<u64>> {
        moduli.iter().map(|modulus| set.iter().map(|x| x % modulus).collect()).collect()
    }

    /// A way to list a set from its residues.
    pub(crate) type Method = fn(&[u64], &[Vec<u64>], u128) -> Option<Vec<u64>>;

    pub(crate) fn check_paper_example(method: Method) {
        let residues = [vec![0, 0], vec![0, 1], vec![1, 4], vec![6, 4]];
        assert_eq!(method(&[2, 3, 5, 7], &residues, 14), Some(vec![4, 6]));
    }

    /// As few moduli as suffice, and what the method makes of the set.
    pub(crate) fn list(method: Method, set: &[u64], universe: u128) -> Option<Vec<u64>> {
        let moduli = moduli(set.len(), universe, 0);
        method(&moduli, &residues(set, &moduli), universe)
    }

    /// The empty set, single elements, and the whole of every universe below `most`.
    pub(crate) fn check_extremes(method: Method, most: u64) {
        for universe in 1..most {
            let all: Vec<u64> = (0..universe).collect();
            assert_eq!(list(method, &all, universe.into()), Some(all));
        }
        for universe in UNIVERSES {
            assert_eq!(method(&[2, 3], &[vec![], vec![]], universe), Some(vec![]));
            for element in [0, 1, (universe - 1) as u64] {
                assert_eq!(list(method, &[element], universe), Some(vec![element]));
            }
        }
        assert_eq!(method(&[2], &[vec![]], 0), Some(vec![]));
        assert_eq!(method(&[2], &[vec![0]], 0), None);
    }

    pub(crate) fn check_wide_moduli(method: Method) {
        let moduli = [u64::from(u32::MAX), u64::from(u32::MAX - 1), u64::from(u32::MAX - 2)];
        for (set, universe) in [(vec![u64::MAX], 1 << 64), (vec![7, (1 << 47) - 1], 1 << 47)] {
            assert_eq!(method(&moduli, &residues(&set, &moduli), universe), Some(set));
        }
    }

    pub(crate) fn check_bad_moduli(method: Method) {
        assert_eq!(method(&[], &[], 10), None);
        assert_eq!(method(&[0, 101], &[vec![], vec![]], 10), None);
        assert_eq!(method(&[10, 15, 7], &[vec![1], vec![1], vec![1]], 10), None);
    }

    /// With a modulus to spare, one wrong counter is always found.
    pub(crate) fn check_wrong_counter(
        method: Method,
        universe: u128,
        set: &[u64],
        [place, other]: [prop::sample::Index; 2],
        change: u64,
    ) -> Result<(), TestCaseError> {
        prop_assume!(!set.is_empty());
        let moduli = moduli(set.len(), universe, 1);
        let mut residues = residues(set, &moduli);
        let modulus = place.index(moduli.len());
        let element = other.index(set.len());
        let step = 1 + change % (moduli[modulus] - 1);
        residues[modulus][element] = (residues[modulus][element] + step) % moduli[modulus];
        prop_assert_eq!(method(&moduli, &residues, universe), None);
        Ok(())
    }

    pub(crate) fn check_too_few_moduli(
        method: Method,
        universe: u128,
        set: &[u64],
    ) -> Result<(), TestCaseError> {
        prop_assume!(!set.is_empty());
        let mut moduli = moduli(set.len(), universe, 0);
        moduli.pop();
        prop_assert_eq!(method(&moduli, &residues(set, &moduli), universe), None);
        Ok(())
    }

    /// A universe with a random set of up to `most` elements, a run of consecutive ones, or both
    /// ends.
    pub(crate) fn sets(most: usize) -> impl Strategy<Value = (u128, Vec<u64>)> {
        let raw = prop::collection::vec(any::<u64>(), 0..=most);
        (prop::sample::select(UNIVERSES.to_vec()), raw, 0..4u8).prop_map(|(universe, raw, kind)| {
            let place = |x: u128| (x % universe) as u64;
            let start = u128::from(raw.first().copied().unwrap_or(0));
            let mut set: BTreeSet<u64> = match kind {
                0 => (0..raw.len() as u128).map(|step| place(start + step)).collect(),
                _ => raw.iter().map(|&x| place(u128::from(x))).collect(),
            };
            if kind == 1 {
                set.extend([0, (universe - 1) as u64]);
            }
            (universe, set.into_iter().collect())
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn textbook_system() {
        let (solution, product) = chinese_remainder(&[2, 3, 2], &[3, 5, 7]).unwrap();
        assert_eq!((solution, product), (23u32.into(), 105u32.into()));
    }

    #[test]
    fn edges_of_the_input() {
        assert_eq!(chinese_remainder(&[], &[]), Some((0u32.into(), 1u32.into())));
        assert_eq!(chinese_remainder(&[5], &[1]), Some((0u32.into(), 1u32.into())));
        assert_eq!(chinese_remainder(&[1, 1, 0], &[2, 3, 1]), Some((1u32.into(), 6u32.into())));
        assert_eq!(chinese_remainder(&[1], &[2, 3]), None);
        assert_eq!(chinese_remainder(&[1, 1], &[4, 6]), None);
        assert_eq!(chinese_remainder(&[1, 1], &[5, 5]), None);
        assert_eq!(chinese_remainder(&[1, 1], &[0, 1]), None);
        let large = [u64::MAX, u64::MAX - 1, u64::MAX - 2];
        let (solution, product) = chinese_remainder(&[7, 7, 7], &large).unwrap();
        assert_eq!(
            (solution, product),
            (7u32.into(), large.iter().copied().map(BigUint::from).product())
        );
    }

    #[test]
    fn shapes_are_checked() {
        assert!(Multisets::new(&[], &[], 10).is_none());
        assert!(Multisets::new(&[2, 3], &[vec![0]], 10).is_none());
        assert!(Multisets::new(&[2, 3], &[vec![0], vec![0, 1]], 10).is_none());
        assert!(Multisets::new(&[2, 3], &[vec![2], vec![0]], 10).is_none());
        assert!(Multisets::new(&[2], &[vec![0, 1]], 1).is_none());
        assert!(Multisets::new(&[1 << 32], &[vec![0]], 10).is_none());
        assert!(Multisets::new(&[2], &[vec![0]], (1 << 64) + 1).is_none());
        assert!(Multisets::new(&[2, 3], &[vec![1], vec![2]], 6).is_some());
    }

    proptest! {
        #[test]
        fn solution_has_the_residues(
            seed in prop::collection::vec(any::<u64>(), 0..60),
            count in 0usize..60,
        ) {
            let moduli: Vec<u64> = sample::primes().take(count).collect();
            let number = BigUint::new(seed.iter().map(|&x| x as u32).collect());
            let residues: Vec<u64> = moduli.iter().map(|&m| (&number % m).to_u64().unwrap()).collect();
            let (solution, product) = chinese_remainder(&residues, &moduli).unwrap();
            prop_assert_eq!(solution, number % product);
        }

        #[test]
        fn symmetric_is_the_plain_recurrence(
            raw in prop::collection::vec(any::<u64>(), 0..40),
            modulus in prop_oneof![1..100u64, 1..1u64 << 32, (1u64 << 32) - 100..1u64 << 32],
        ) {
            let residues: Vec<u64> = raw.iter().map(|x| x % modulus).collect();
            let mut sigma = vec![0u128; residues.len() + 1];
            sigma[0] = 1;
            for &x in &residues {
                for j in (1..sigma.len()).rev() {
                    sigma[j] = (sigma[j] + u128::from(x) * sigma[j - 1]) % u128::from(modulus);
                }
            }
            let expected: Vec<u64> = sigma[1..].iter().map(|&x| x as u64).collect();
            prop_assert_eq!(symmetric(&residues, modulus), expected);
        }
    }
}
