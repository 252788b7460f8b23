//! From counters, by roots in a prime field.
//!
//! The multisets give the coefficients of f(z) = product of (z - x) exactly, so also modulo a prime
//! p. The roots of f modulo p are the elements modulo p, and the multisets tell which numbers they
//! stand for. In universes past 2^64 too many numbers have the same remainder, so the roots are
//! lifted to powers of p instead (`lift`).

use super::combine::Combiner;
use super::lift::integer_roots;
use super::multisets::Multisets;
use crate::zone::arith::chinese::Crt;
use crate::zone::arith::mersenne::Field;
use crate::zone::list::progress::Watch;
use crate::zone::universe::Size;

/// The set of distinct numbers in `0..universe` that has the residues `residues[i]` modulo
/// `moduli[i]`.
///
/// `None` when there is no such set, or when the product of the moduli does not exceed every
/// C(s,j) (n-1)^j, so that the coefficients are not determined.
pub(crate) fn algebra(
    moduli: &[u64],
    residues: &[Vec<u64>],
    universe: Size,
    watch: &mut Watch,
) -> Option<Vec<u128>> {
    let multisets = Multisets::new(moduli, residues, universe)?;
    if universe > 1 << 64 {
        return multisets.confirm(integer_roots(multisets.polynomial()?, universe, watch)?);
    }
    let field = Field::for_universe(universe);
    watch.begin(3 * multisets.size); // every coefficient, and splits into factors
    let polynomial = coefficients(&multisets, field, watch)?;
    let roots = field.roots(polynomial, watch)?;
    let mut elements: Vec<u128> =
        roots.into_iter().flat_map(|root| lifts(root, field, universe)).collect();
    if elements.len() > multisets.size {
        multisets.keep_members(&mut elements);
    }
    multisets.confirm(elements)
}

/// The numbers of the universe congruent to the root: nine at most, for the prime is at least 2^61
/// - 1 or at least an eighth of the universe.
fn lifts(root: u64, field: Field, universe: Size) -> impl Iterator<Item = u128> {
    let multiples = (0..=8).map(move |count| u128::from(root) + count * u128::from(field.prime));
    multiples.take_while(move |&number| universe.holds(number))
}

/// Algorithm 3 modulo the prime: f(z) = z^s - A_1 z^(s-1) + A_2 z^(s-2) - ..., lowest coefficient
/// first.
fn coefficients(multisets: &Multisets, field: Field, watch: &mut Watch) -> Option<Vec<u64>> {
    let crt = Crt::new(multisets.moduli)?;
    let largest = multisets.largest_coefficient(&crt.product)?;
    let combiner = Combiner::new(multisets.moduli, &crt, field);
    let short = combiner.separates(&largest);
    let symmetric = multisets.symmetric();
    let mut polynomial = vec![1];
    for degree in 0..multisets.size {
        watch.step()?;
        let column: Vec<u64> = symmetric.iter().map(|one| one[degree]).collect();
        let coefficient =
            if short { combiner.combine(&column) } else { combiner.combine_long(&column)? };
        polynomial.push(if degree % 2 == 0 { field.subtract(0, coefficient) } else { coefficient });
    }
    polynomial.reverse();
    Some(polynomial)
}

#[cfg(test)]
mod tests {
    use super::super::sample;
    use super::super::tests::algebra;
    use super::*;
    use proptest::prelude::*;

    fn list(set: &[u128], universe: u128) -> Option<Vec<u128>> {
        sample::list(algebra, set, universe)
    }

    #[test]
    fn elements_that_agree_modulo_the_prime() {
        for (bits, universe) in [(31, 1u128 << 33), (61, 1 << 64), (61, 1 << 65), (61, u128::MAX)] {
            let prime = (1u128 << bits) - 1;
            let set: Vec<u128> =
                (0..4).flat_map(|count| [count * prime, count * prime + 5]).collect();
            assert_eq!(list(&set, universe), Some(set));
        }
    }

    #[test]
    fn many_elements() {
        let set: Vec<u128> = (0..200).map(|x| x * x * 99_991 + x).collect();
        assert_eq!(list(&set, 1 << 32), Some(set.clone()));
        let run: Vec<u128> = ((1 << 64) - 150..1 << 64).collect();
        assert_eq!(list(&run, 1 << 64), Some(run));
        let run: Vec<u128> = (u128::MAX - 50..u128::MAX).collect();
        assert_eq!(list(&run, u128::MAX), Some(run));
    }

    #[test]
    fn product_a_hair_above_the_coefficients() {
        // 2 * 3 * 5 * 7 = 210 against a largest coefficient of 209, and of 210.
        let moduli = [2, 3, 5, 7];
        assert_eq!(algebra(&moduli, &sample::residues(&[209], &moduli), 210), Some(vec![209]));
        assert_eq!(algebra(&moduli, &sample::residues(&[209], &moduli), 211), None);
    }

    proptest! {
        #[test]
        fn large_sets_are_recovered((universe, set) in sample::sets(40)) {
            prop_assert_eq!(list(&set, universe), Some(set));
        }

        #[test]
        fn any_input_lists_what_it_says(
            table in prop::collection::vec((0..40u64, prop::collection::vec(0..40u64, 2)), 0..8),
            universe in 1..60u128,
        ) {
            let (moduli, residues): (Vec<u64>, Vec<Vec<u64>>) = table.into_iter().unzip();
            if let Some(set) = algebra(&moduli, &residues, universe) {
                let mut image = sample::residues(&set, &moduli);
                let mut given = residues;
                image.iter_mut().chain(&mut given).for_each(|one| one.sort_unstable());
                prop_assert_eq!(image, given);
            }
        }

        #[test]
        fn products_agree_with_the_definition(
            left in prop::collection::vec(any::<u64>(), 1..300),
            right in prop::collection::vec(any::<u64>(), 1..300),
            length in 1usize..700,
            universe in prop::sample::select(vec![1u128 << 32, 1 << 64]),
        ) {
            let field = Field::for_universe(Size::of(universe));
            let reduce = |one: &[u64]| -> Vec<u64> {
                one.iter().map(|&x| field.reduce(x.into())).collect()
            };
            let (left, right) = (reduce(&left), reduce(&right));
            let mut expected = vec![0; length.max(left.len() + right.len())];
            for (i, &x) in left.iter().enumerate() {
                for (j, &y) in right.iter().enumerate() {
                    let product = u128::from(x) * u128::from(y) % u128::from(field.prime);
                    expected[i + j] = field.add(expected[i + j], product as u64);
                }
            }
            expected.truncate(length);
            prop_assert_eq!(field.product(&left, &right, length), expected);
        }

        #[test]
        fn inverses_and_roots(
            value in any::<u64>(),
            universe in prop::sample::select(vec![1u128 << 32, 1 << 64]),
        ) {
            let field = Field::for_universe(Size::of(universe));
            let value = field.reduce(value.into()).max(1);
            prop_assert_eq!(field.multiply(value, field.inverse(value)), 1);
            let root = field.root(field.multiply(value, value)).unwrap();
            prop_assert!(root == value || root == field.prime - value);
        }
    }
}
