//! The zone of a code, with its proof.

use super::bounds::{
    ROOTS, bins_by_levels, bins_by_packing, bins_together, power_levels, promising_thresholds,
    root_levels, small_moduli, zone_by_product, zone_of_bins,
};
use super::{Certificate, EFFORT, Packing, search_packing};
use crate::Error;
use crate::zone::arith::chinese::pairwise_coprime;
use crate::zone::code::{Code, Encoder};
use crate::zone::coprime;
use crate::zone::universe::{Size, Universe};

/// A code that is proved to be free of false positives for `zone` items.
pub(crate) struct Proved {
    pub(crate) encoder: Encoder,
    pub(crate) zone: u64,
    /// The proof in words.
    pub(crate) proof: String,
}

/// The zone of a code in a universe. If the proof takes long, it stops at the `wanted` items.
pub(crate) fn zone_of_code(code: &Code, universe: &Universe, wanted: u64) -> Result<Proved, Error> {
    let encoder = code.encoder(universe.first())?;
    match &encoder {
        Encoder::Residues(residues) => {
            let (zone, proof) = prove_residues(residues.moduli(), universe.size(), wanted);
            Ok(Proved { encoder, zone, proof })
        }
        Encoder::ReedSolomon(rs) => {
            let zone = rs.zone();
            let (zone, proof) = prove_reed_solomon(code, zone, universe.size())?;
            Ok(Proved { encoder, zone, proof })
        }
    }
}

fn prove_residues(moduli: &[u64], size: Size, wanted: u64) -> (u64, String) {
    let wanted = wanted.min(size.whole());
    let (zone, proof) = zone_of_moduli(moduli, size, u32::MAX);
    let zone = if zone == u32::MAX { size.whole() } else { u64::from(zone).min(size.whole()) };
    // Only small codes are chosen by an exhaustive search, which would take long for others.
    let small = moduli.iter().sum::<u64>() <= coprime::MAX_SMALL_SUM;
    if zone < wanted
        && small
        && let Ok(items) = u32::try_from(wanted)
        && let Some(proof) = certify(moduli, size, items, EFFORT)
    {
        return (wanted, proof.to_string());
    }
    (zone, proof.to_string())
}

fn prove_reed_solomon(code: &Code, zone: Option<u64>, size: Size) -> Result<(u64, String), Error> {
    let Code::Rs { order: q, degree: t, blocks: k } = code else {
        return Ok((0, String::new())); // the other codes have no Reed-Solomon encoder
    };
    // All elements need t + 1 digits at most.
    let more_digits = (0..=*t).fold(size.last(), |rest, _| rest / u128::from(*q));
    if more_digits > 0 {
        return Err(Error::Field { field: "degree", got: t.to_string() });
    }
    let zone = zone.unwrap_or(u64::MAX).min(size.whole());
    let proof = if *t == 0 {
        format!("one block of {q} positions tells all {size} elements apart")
    } else {
        format!(
            "elements are polynomials of degree at most {t} over GF({q}), which agree in at most \
             {t} blocks; {zone} items cover at most {} of the {k} blocks of another",
            u64::from(*t) * zone
        )
    };
    Ok((zone, proof))
}

/// The largest zone that the lower bounds prove, at most `max`, and why.
///
/// Moduli that are not pairwise coprime (or below 2) prove nothing. The exhaustive search is not
/// part of this: see `certify`.
pub(crate) fn zone_of_moduli(moduli: &[u64], universe: Size, max: u32) -> (u32, Certificate) {
    if moduli.is_empty() || !pairwise_coprime(moduli) {
        return (0, Certificate::Empty);
    }
    zone_of_coprime(moduli, universe, max)
}

/// A proof that `items` elements are safe, if there is one. The lower bounds come first; where they
/// fall short, the exhaustive search decides.
pub(crate) fn certify(
    moduli: &[u64],
    universe: Size,
    items: u32,
    effort: u64,
) -> Option<Certificate> {
    if moduli.is_empty() || !pairwise_coprime(moduli) {
        return None;
    }
    let (proved, certificate) = zone_of_coprime(moduli, universe, items);
    if proved >= items {
        return Some(certificate);
    }
    let mut effort = effort;
    let answer = search_packing(moduli, universe, items, &mut effort);
    (answer == Packing::Impossible).then_some(Certificate::Exhaustive)
}

/// `zone_of_moduli` for moduli known to be pairwise coprime and at least 2.
fn zone_of_coprime(moduli: &[u64], universe: Size, max: u32) -> (u32, Certificate) {
    let Some(&largest) = moduli.iter().max() else {
        return (0, Certificate::Empty);
    };
    let capacity = universe.last();
    if u128::from(largest) > capacity {
        return (max, Certificate::Unlimited { modulus: largest });
    }
    // From here on every modulus is at most n - 1, so n - 1 >= 2.
    let mut sorted = moduli.to_vec();
    sorted.sort_unstable();
    let mut best = (0, Certificate::Empty);
    let mut offer = |found: u32, certificate: Certificate| {
        if found.min(max) > best.0 {
            best = (found.min(max), certificate);
        }
        best.0 >= max
    };
    if offer(zone_by_product(&sorted, capacity, max), Certificate::Product) {
        return best;
    }
    for root in 1..=ROOTS {
        let bins = bins_by_levels(&sorted, capacity, &root_levels(capacity, root));
        if offer(zone_of_bins(bins), Certificate::Count { root }) {
            return best;
        }
    }
    let (bins, smallest, max_together) = bins_together(&sorted, capacity);
    if offer(zone_of_bins(bins), Certificate::Together { smallest, max: max_together }) {
        return best;
    }
    for &base in small_moduli(&sorted, capacity) {
        let bins = bins_by_levels(&sorted, capacity, &power_levels(capacity, base));
        if offer(zone_of_bins(bins), Certificate::Levels { base }) {
            return best;
        }
    }
    for threshold in promising_thresholds(&sorted, capacity) {
        let bins = bins_by_packing(&sorted, capacity, threshold);
        offer(zone_of_bins(bins), Certificate::Packing { threshold });
    }
    best
}
