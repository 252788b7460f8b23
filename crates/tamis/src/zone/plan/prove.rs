//! The zone of a code, with its proof.

use crate::Error;
use crate::zone::certificate;
use crate::zone::code::{Code, Encoder};
use crate::zone::coprime;
use crate::zone::universe::Universe;

/// A code that is proved to be free of false positives for `zone` items.
pub(super) struct Proved {
    pub(super) encoder: Encoder,
    pub(super) zone: u64,
    /// The proof in words.
    pub(super) proof: String,
}

/// The zone of a code in a universe. Where the proof is laborious, it does not look for more than
/// the `wanted` items.
pub(super) fn prove(code: &Code, universe: &Universe, wanted: u64) -> Result<Proved, Error> {
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

/// The elements of a universe, or 2^64 - 1 if there are 2^64.
fn whole(size: u128) -> u64 {
    u64::try_from(size).unwrap_or(u64::MAX)
}

fn prove_residues(moduli: &[u64], size: u128, wanted: u64) -> (u64, String) {
    let wanted = wanted.min(whole(size));
    let (zone, proof) = certificate::zone(moduli, size, u32::MAX);
    let zone = if zone == u32::MAX { whole(size) } else { u64::from(zone).min(whole(size)) };
    // Only small codes are chosen by an exhaustive search, which would take long for others.
    let small = moduli.iter().sum::<u64>() <= coprime::MAX_SMALL_SUM;
    if zone < wanted
        && small
        && let Ok(items) = u32::try_from(wanted)
        && let Some(proof) = certificate::prove(moduli, size, items, certificate::EFFORT)
    {
        return (wanted, proof.to_string());
    }
    (zone, proof.to_string())
}

fn prove_reed_solomon(code: &Code, zone: Option<u64>, size: u128) -> Result<(u64, String), Error> {
    let Code::Rs { order: q, degree: t, blocks: k } = code else {
        return Ok((0, String::new())); // the other codes have no Reed-Solomon encoder
    };
    // All elements need t + 1 digits at most.
    let reach = (0..=*t).try_fold(1u128, |reach, _| reach.checked_mul(u128::from(*q)));
    if reach.is_some_and(|reach| reach < size) {
        return Err(Error::Field { field: "degree", got: t.to_string() });
    }
    let zone = zone.unwrap_or(u64::MAX).min(whole(size));
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
