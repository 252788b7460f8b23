//! Chinese remaindering over pairwise coprime moduli.
//!
//! A number below the product P of the moduli is the sum of its weighted residues times the
//! cofactors P/p_i, modulo P. A product tree computes that sum, so no cofactor is ever stored as a
//! big number.

use num_bigint::BigUint;
use num_integer::Integer;
use num_traits::{One, ToPrimitive, Zero};

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
pub(crate) fn inverse(value: u64, modulus: u64) -> Option<u64> {
    let bezout = i128::from(value).extended_gcd(&i128::from(modulus));
    if !bezout.gcd.is_one() {
        return None;
    }
    bezout.x.mod_floor(&i128::from(modulus)).to_u64()
}

/// The product of numbers. Both halves are multiplied first, since balanced factors multiply
/// fastest.
pub(crate) fn product_of(numbers: &[u64]) -> BigUint {
    if numbers.len() <= 16 {
        return numbers.iter().map(|&number| BigUint::from(number)).product();
    }
    let (left, right) = numbers.split_at(numbers.len() / 2);
    product_of(left) * product_of(right)
}

/// Whether the moduli are at least 2 and pairwise coprime.
pub(crate) fn pairwise_coprime(moduli: &[u64]) -> bool {
    let mut product = BigUint::one();
    for &modulus in moduli {
        if modulus < 2 {
            return false;
        }
        let rest = u64::try_from(&product % modulus).unwrap_or(0);
        if rest.gcd(&modulus) != 1 {
            return false;
        }
        product *= modulus;
    }
    true
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::zone::arith::primes::first_primes;
    use proptest::prelude::*;

    fn chinese_remainder(residues: &[u64], moduli: &[u64]) -> Option<(BigUint, BigUint)> {
        let crt = Crt::new(moduli)?;
        let solution = crt.solve(residues)?;
        Some((solution, crt.product))
    }

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

    proptest! {
        #[test]
        fn solution_has_the_residues(
            seed in prop::collection::vec(any::<u64>(), 0..60),
            count in 0usize..60,
        ) {
            let moduli = first_primes(count);
            let number = BigUint::new(seed.iter().map(|&x| x as u32).collect());
            let residue = |&m: &u64| (&number % m).to_u64().unwrap();
            let residues: Vec<u64> = moduli.iter().map(residue).collect();
            let (solution, product) = chinese_remainder(&residues, &moduli).unwrap();
            prop_assert_eq!(solution, number % product);
        }
    }
}
