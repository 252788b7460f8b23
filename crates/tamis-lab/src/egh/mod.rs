//! The EGH filter: its tables, use cases and example recomputed exactly, and the data behind its
//! figures.
//!
//! S. Z. Kiss, É. Hosszu, J. Tapolcai, L. Rónyai, O. Rottenstreich, "Bloom Filter with a False
//! Positive Free Zone". n_d is the largest universe whose d items a filter keeps apart by Lemma 1:
//! n^d is at most the product P of the first primes whose sum is m. Sizes are computed in integers.

mod example;
mod figures;
mod packing;
mod rates;
mod slips;
mod tables;
mod uses;

use crate::Notebook;
use num_bigint::BigUint;
use tamis::zone::{CodeKind, Filter, Plan, Size, Universe, largest_universe};

pub(crate) fn reproduce(book: &mut Notebook, quick: bool) {
    book.step("worked examples");
    example::table_1(book);
    example::listing_two(book);
    book.step("Table II");
    tables::table_2(book, quick);
    book.step("Table III and the text");
    tables::text(book);
    tables::table_3(book);
    book.step("use cases");
    uses::cases(book);
    book.step("Figures 1 and 2");
    figures::sizes(book, quick);
    book.step("Figure 3, rates beyond the zone");
    rates::beyond(book, quick);
    book.step("Figure 4, times of listing");
    let times = figures::listing_times(book, quick);
    book.step("slips");
    slips::slips(book, &times);
}

/// Claim 2 as the paper has it, wherever it draws it: 0.25 d^2 log n / log d bits.
fn claim_2(size: u64, items: u64) -> f64 {
    let (n, d) = (size as f64, items as f64);
    0.25 * d * d / d.log2() * n.log2()
}

/// The first `count` primes.
fn primes(count: usize) -> Vec<u64> {
    let mut found: Vec<u64> = Vec::with_capacity(count);
    let mut next = 2;
    while found.len() < count {
        if found.iter().take_while(|p| *p * *p <= next).all(|p| next % p != 0) {
            found.push(next);
        }
        next += 1;
    }
    found
}

/// The first primes that add up to at most `bits`.
fn primes_within(bits: u64) -> Vec<u64> {
    let mut count = 0;
    while primes(count + 1).iter().sum::<u64>() <= bits {
        count += 1;
    }
    primes(count)
}

fn product(moduli: &[u64]) -> BigUint {
    moduli.iter().fold(BigUint::from(1u8), |product, modulus| product * modulus)
}

/// Algorithm 1 of the paper: the least number with these residues modulo distinct primes.
fn chinese_remainder(residues: &[u64], primes: &[u64]) -> BigUint {
    let whole = product(primes);
    let term = |(residue, prime): (&u64, &u64)| {
        let others = &whole / prime;
        let inverse = others.modinv(&BigUint::from(*prime)).unwrap_or_default();
        others * inverse * residue
    };
    residues.iter().zip(primes).map(term).sum::<BigUint>() % &whole
}

/// n_d of the primes: the integer root of their product, however large.
fn root(moduli: &[u64], items: u32) -> BigUint {
    product(moduli).nth_root(items)
}

/// A number to a double's precision.
fn double(number: &BigUint) -> f64 {
    number.to_string().parse().unwrap_or(f64::NAN)
}

/// The root before it is rounded, to a double's precision.
fn real_root(moduli: &[u64], items: u32) -> f64 {
    (moduli.iter().map(|p| (*p as f64).ln()).sum::<f64>() / f64::from(items)).exp()
}

/// The largest universe of the paper's code, or 0 if there is none.
fn universe(bits: u64, items: u64) -> u128 {
    largest_universe(CodeKind::Egh, bits, items).and_then(Size::get).unwrap_or(0)
}

/// The plan for `items` of 1 to `size`.
fn plan(size: u64, items: u64, code: CodeKind) -> Option<Plan> {
    Plan::with_code(Universe::interval(1, size.into()).ok()?, items, code).ok()
}

/// What the other codes need for the same promise, for a note.
fn others(size: u64, items: u64, with_coprime: bool) -> String {
    let need = |code| match plan(size, items, code) {
        Some(plan) => format!("{code} {} bits, {} probes", plan.bits(), plan.probes()),
        None => format!("{code} refuses"),
    };
    let coprime = if with_coprime {
        need(CodeKind::Coprime)
    } else {
        "coprime not searched in a quick run".to_owned()
    };
    format!("for the same: {coprime}; {}", need(CodeKind::Rs))
}

/// Whether the first primes are free of false positives for `items` of a universe: by the library's
/// proof, or else by trying every packing. `None` if the search gave up.
fn is_free(primes: &[u64], size: u128, items: u32) -> Option<bool> {
    let plan = first_blocks(size, primes.len());
    if plan.is_some_and(|plan| plan.zone() >= u64::from(items)) {
        return Some(true);
    }
    packing::pack(primes, size, items).ok().map(|bins| bins.is_none())
}

/// The plan of the first `blocks` primes for the universe 1 to `size`. `None` if the universe is
/// too large for the library.
fn first_blocks(size: u128, blocks: usize) -> Option<Plan> {
    plan(u64::try_from(size).ok()?, 1, CodeKind::Egh)?.with_blocks(blocks as u64).ok()
}

/// The exact zone of the moduli, if the search can tell.
fn exact_zone(moduli: &[u64], size: u128) -> Option<u32> {
    let max = moduli.len() as u32;
    for items in 1..=max {
        if !is_free(moduli, size, items)? {
            return Some(items - 1);
        }
    }
    Some(max)
}

/// A set of `items` elements of 1 to `size` that makes 1 a false positive of the first `blocks`
/// primes, shown on the filter itself. A bin of the packing with product b is an element 1 + b,
/// which shares all residues of the bin with 1.
fn deception(size: u64, blocks: usize, items: u32) -> Option<Vec<u64>> {
    let bins = packing::pack(&primes(blocks), u128::from(size), items).ok()??;
    let mut set: Vec<u64> = bins.iter().map(|bin| 1 + bin.iter().product::<u64>()).collect();
    set.sort_unstable();
    let mut filter = Filter::with_plan(first_blocks(size.into(), blocks)?).ok()?;
    for element in &set {
        filter.insert_beyond(*element).ok()?;
    }
    (!set.contains(&1) && filter.contains(1u64).ok()?).then_some(set)
}

/// The deception in words.
fn deceived(size: u64, blocks: usize, items: u32) -> String {
    match deception(size, blocks, items) {
        Some(set) => {
            let set: Vec<String> = set.iter().map(u64::to_string).collect();
            format!(
                "the filter of the first {blocks} primes with {{{}}} says that it has 1",
                set.join(", ")
            )
        }
        None => format!("no {items} items are known to deceive the first {blocks} primes"),
    }
}
