//! The statements of the paper that are wrong, each with the computation that shows it.

use super::example::{columns, covered};
use super::figures::Times;
use super::{
    chinese_remainder, claim_2, deceived, exact_zone, first_blocks, is_free, plan, primes, product,
    real_root, root, tables,
};
use crate::{Notebook, significant};
use num_bigint::BigUint;
use tamis::zone::{CodeKind, CountingFilter, Method, Plan, Universe};

pub(super) fn slips(book: &mut Notebook, times: &Times) {
    sizes(book);
    use_cases(book);
    arithmetic(book);
    bounds(book);
    listing(book, times);
}

fn egh_bits(size: u64, items: u64) -> u64 {
    plan(size, items, CodeKind::Egh).map_or(0, |plan| plan.bits())
}

fn sizes(book: &mut Notebook) {
    let free = is_free(&primes(17), 18100, 5) == Some(true);
    book.slip(
        "Section VII and Table II give n_5 = 18100 for m = 440; Lemma 1 allows 18062.",
        format!(
            "The integer root is {}; 18100 would need {} bits by the Lemma. {}",
            root(&primes(17), 5),
            egh_bits(18100, 5),
            if free { "An exact search proves that 440 bits keep 18100 all the same." } else { "" }
        ),
    );
    let (above, deceived, all) = tables::too_large();
    book.slip(
        "Table II rounds universes to the nearest number of three digits, some of them up: a bound \
         on a universe must be rounded down.",
        format!(
            "{above} of {all} rows are larger than Lemma 1 allows: n_7 of m = 328 is {}, printed \
             as 348, the root being {:.3}. By exact search {deceived} of the {above} universes \
             have false positives.",
            root(&primes(15), 7),
            real_root(&primes(15), 7)
        ),
    );
    book.slip(
        "Table II gives n_5 = 763 for m = 238.",
        format!("The root is {:.3}.", real_root(&primes(13), 5)),
    );
    book.slip(
        "Section V-B says that the first bit of each block is set for x = 1; the residue 1 is a \
         block's second bit.",
        "The same paragraph's column of 48, whose residues 0 are first bits, counts so, as does \
         Eq. 3."
            .to_owned(),
    );
    book.slip(
        "Section VII explains the 17 probes by the sum of the primes being at least 440; the sum \
         is m itself, and the product decides.",
        format!(
            "The first 17 primes add up to {}; n_5 of 16 primes is {}, of 17 it is {}.",
            primes(17).iter().sum::<u64>(),
            root(&primes(16), 5),
            root(&primes(17), 5)
        ),
    );
}

fn use_cases(book: &mut Notebook) {
    book.slip(
        "Section II announces four use cases and has five, A to E.",
        "Radio cells, flow attributes, multicast, distributed storage, botnets.".to_owned(),
    );
    book.slip(
        "Section II-A calls the message of about 10^5 bits about 10 KB.",
        format!(
            "{} bits are {} bytes.",
            egh_bits(1 << 16, 100),
            egh_bits(1 << 16, 100).div_ceil(8)
        ),
    );
    book.slip(
        "Section II-C has 10^5 links with d = 7 in 1024 bits.",
        format!("They need {} bits; {}.", egh_bits(100_000, 7), deceived(100_000, 24, 7)),
    );
    book.slip(
        "Section II-E has 2^32 addresses with d = 4 in 1161 counters.",
        format!(
            "They need {}; n_4 of 1161 is {}, and {}.",
            egh_bits(1 << 32, 4),
            super::universe(1161, 4),
            deceived(1 << 32, 26, 4)
        ),
    );
}

fn arithmetic(book: &mut Notebook) {
    let widths: Vec<String> = [1u64, 2, 4, 8, 16]
        .iter()
        .filter_map(|items| {
            let plan = plan(1000, *items, CodeKind::Egh)?.counting();
            Some(format!("{items} items {} bits, not {}", plan.counter_bits(), items.ilog2()))
        })
        .collect();
    book.slip(
        "Section VI gives counters ceil(log d) bits, which cannot count to d when d is a power of \
         two.",
        format!("{}: two even elements count 2 in the block of the prime 2.", widths.join("; ")),
    );

    // With the sign as printed, e_i is -1 instead of 1 modulo p_i.
    let moduli = primes(4);
    let negated: Vec<u64> = moduli.iter().map(|p| (p - 6 % p) % p).collect();
    let solved = |residues: &[u64]| chinese_remainder(residues, &moduli);
    book.slip(
        "Section V-A has r_i p_i = 1 + q_i times the product of the other primes, which makes q_i \
         the inverse of its negative.",
        format!("With 2, 3, 5, 7 the residues of 6 would then give {} by Eq. 5.", solved(&negated)),
    );

    let whole = chinese_remainder(&[0; 5], &primes(5));
    book.slip(
        "Section VI-A lists a single element by the Chinese remainder theorem; for n = P the last \
         element has only residues 0.",
        format!(
            "2310 of 1..2310 in 28 bits gives {whole}; our list has {}.",
            listed_2310().unwrap_or_default()
        ),
    );
}

fn listed_2310() -> Option<String> {
    let mut filter = CountingFilter::with_plan(plan(2310, 1, CodeKind::Egh)?).ok()?;
    filter.insert(2310u64).ok()?;
    let list = filter.list_by(Method::Algebra).ok()?;
    Some(list.names(&filter).join(", "))
}

fn bounds(book: &mut Notebook) {
    let tight = |items: u32| {
        let fits =
            |n: u64| (1..=u64::from(items)).map(|i| BigUint::from(n - i)).product::<BigUint>();
        (u64::from(items) + 1..).take_while(|n| fits(*n) < product(&primes(5))).last().unwrap_or(0)
    };
    let exact = |items: u32| {
        (2u64..3000)
            .take_while(|n| is_free(&primes(5), u128::from(*n), items) == Some(true))
            .last()
            .unwrap_or(0)
    };
    let all_tried = |size: u64, by: usize| columns(size).map_or(0, |columns| covered(&columns, by));
    book.slip(
        "Lemma 1 is taken for the size of the zone; it is a lower bound. The d differences are \
         distinct and below n, so that P > (n-1)(n-2)...(n-d) suffices, and the exact criterion is \
         that the primes do not pack into d bins of product below n.",
        format!(
            "28 bits, d = 2: Lemma 1 gives {}, the differences {}, the exact criterion {}; d = 3: \
             {}, {} and {}. Of all pairs and triples of columns {} and {} cover another in the \
             exact universes, {} and {} in those with one element more.",
            root(&primes(5), 2),
            tight(2),
            exact(2),
            root(&primes(5), 3),
            tight(3),
            exact(3),
            all_tried(exact(2), 2),
            all_tried(exact(3), 3),
            all_tried(exact(2) + 1, 2),
            all_tried(exact(3) + 1, 3)
        ),
    );

    let many = primes(190);
    if let Some(plan) = first_blocks(1 << 16, many.len()) {
        book.slip(
            "Section II-A's filter for 100 of 2^16 holds more: Lemma 1 undercounts most for many \
             items.",
            format!(
                "Its 190 primes keep {} items apart, since {}; exactly {}.",
                plan.zone(),
                plan.certificate(),
                exact_from(&many, 1 << 16, plan.zone() as u32)
                    .map_or_else(|| "how many is unknown".to_owned(), |zone| zone.to_string())
            ),
        );
    }

    if let Some(plan) = plan(100, 50, CodeKind::Coprime) {
        book.slip(
            "Claim 2 is stated for any filter, and Fig. 2 draws it from n = 10 for d up to 50; it \
             cannot hold where n is small against d^2.",
            format!(
                "n = 100, d = 50: it asks for {} bits, and {} bits, one for each element, never \
                 err.",
                significant(claim_2(100, 50)),
                plan.bits()
            ),
        );
    }
    claim_3(book);
}

/// The exact zone, searched upwards from a proved one.
fn exact_from(moduli: &[u64], size: u128, proved: u32) -> Option<u32> {
    let mut items = proved;
    while is_free(moduli, size, items + 1)? {
        items += 1;
    }
    Some(items)
}

fn claim_3(book: &mut Notebook) {
    let products: Vec<BigUint> = (0..120).map(|count| product(&primes(count))).collect();
    let probes =
        |n: u32, d: u32| products.partition_point(|product| *product < BigUint::from(n).pow(d));
    let bound = |n: u32, d: u32| {
        let x = (2.0 * f64::from(d) * f64::from(n).ln()).floor();
        x / x.ln() * (1.0 + 1.2762 / x.ln()) + 1.0
    };
    let cases = (7..=1000).flat_map(|n| (1..=10).map(move |d| (n, d)));
    let broken = cases.filter(|(n, d)| probes(*n, *d) as f64 > bound(*n, *d)).count();
    let before_last = primes(probes(7, 1)).iter().rev().nth(1).copied().unwrap_or(0);
    book.slip(
        "The proof of Claim 3 says that n >= 7 makes the last prime but one at least 5.",
        format!(
            "n = 7, d = 1 takes {} primes, and that one is {before_last}. The claim fails in \
             {broken} of 9940 cases, n from 7 to 1000 and d from 1 to 10.",
            probes(7, 1)
        ),
    );
}

fn listing(book: &mut Notebook, times: &Times) {
    book.slip(
        "Section VI knows no efficient way to list a filter without counters.",
        format!(
            "Joining the occupied residues of a few blocks lists 10 of 10^6 from bits in {:.0} \
             microseconds here, and the paper's way from counters takes {:.0} (medians; see the \
             series of Fig. 4).",
            times.join, times.sturm
        ),
    );
    let listed = Universe::interval(1, 1000)
        .and_then(|universe| Plan::with_code(universe, 2, CodeKind::Egh))
        .and_then(CountingFilter::with_plan)
        .and_then(|mut filter| {
            filter.insert(999u32)?;
            filter.insert(1000u32)?;
            Ok(filter.list_by(Method::Sturm)?.names(&filter).join(" and "))
        });
    book.slip(
        "The authors' released program lists consecutive elements wrongly: {999, 1000} of n = 1000 \
         as 999 twice.",
        format!(
            "Reported from running it, and not repeated here; the paper's method with exact \
             integers gives {}.",
            listed.unwrap_or_else(|error| error.to_string())
        ),
    );
    let seven =
        exact_zone(&primes(18), 6996).map_or_else(|| "unknown".to_owned(), |zone| zone.to_string());
    book.slip(
        "Section VII takes 10^9 random queries without a false positive for a zone larger than \
         n_6.",
        format!("The exact zone of m = 501, n = 6996 is {seven}: {}.", deceived(6996, 18, 7)),
    );
}
