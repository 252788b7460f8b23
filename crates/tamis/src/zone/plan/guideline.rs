//! Which zone is worth its bits.

use super::Plan;
use crate::zone::code::CodeKind;
use crate::zone::universe::Universe;

/// What a zone of `items` is worth, and what it costs.
#[derive(Debug, Clone, PartialEq)]
pub struct Guideline {
    /// The items of the zone, d.
    pub items: u64,
    /// The bits it takes.
    pub bits: u64,
    /// The worth of a query. A guaranteed answer is worth W; another one is worth the chance that
    /// it is right (Section VIII-B of the EGH paper).
    pub value: f64,
}

impl Guideline {
    /// The worth divided by the bits.
    #[must_use]
    pub fn value_per_bit(&self) -> f64 {
        self.value / self.bits as f64
    }
}

/// The worth and cost of each zone, for a distribution of set sizes (`sizes[i]` is the chance that
/// a query meets i items) and the worth of a guaranteed answer. Zones that no code gives are left
/// out.
///
/// ```
/// use tamis::zone::{CodeKind, Universe, guideline};
/// let rows = guideline(&Universe::sized(1000)?, &[0.1, 0.2, 0.4, 0.2, 0.1], 3.0, CodeKind::Egh);
/// assert_eq!(rows.len(), 4);
/// // Every size is covered, so each answer is guaranteed.
/// assert!((rows[3].value - 3.0).abs() < 1e-12);
/// # Ok::<(), tamis::Error>(())
/// ```
#[must_use]
pub fn guideline(universe: &Universe, sizes: &[f64], worth: f64, code: CodeKind) -> Vec<Guideline> {
    let max = (sizes.len() as u64).saturating_sub(1);
    let row = |items: u64| {
        let plan = Plan::with_code(universe.clone(), items, code).ok()?;
        let value = sizes
            .iter()
            .enumerate()
            .map(|(size, chance)| {
                let guaranteed = size as u64 <= items;
                chance * if guaranteed { worth } else { 1.0 - plan.beyond_fpr(size as u64) }
            })
            .sum();
        Some(Guideline { items, bits: plan.bits(), value })
    };
    (1..=max).filter_map(row).collect()
}
