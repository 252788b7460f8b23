//! What the bits of a filter say of it: how full it is, what it holds, how often it is wrong.

use crate::array::count_ones;

/// What a filter was made for.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Planned {
    /// How many items.
    pub items: u64,
    /// The rate of false positives with so many.
    pub fpr: f64,
    /// Whether the file says so. If not, it follows from the bits and the hashes, taken to be the
    /// best for each other.
    pub stored: bool,
}

/// One array of bits. Most filters have one; scaling filters have a chain of them.
#[derive(Debug, Clone, Copy)]
pub struct Part<'a> {
    /// The bits as bytes, bit p in byte p/8 at the value 1 << p%8.
    pub body: &'a [u8],
    /// How many bits there are.
    pub bits: u64,
    /// How many bits a key has.
    pub hashes: u32,
    /// How many of the bits positions can reach: hashes of 32 bits reach the first 2^31.
    pub reach: u64,
    /// Whether all bits of a key lie in one block of 256 bits, one in each lane of 32.
    pub in_blocks: bool,
    /// What the file says that it was made for.
    pub planned: Option<Planned>,
    /// How many keys the file says that it holds.
    pub counted: Option<u64>,
}

impl Part<'_> {
    /// The share of bits set, of those that positions reach.
    #[must_use]
    pub fn fill(&self) -> f64 {
        count_ones(self.body, self.reach) as f64 / self.reach.max(1) as f64
    }

    /// How many items would fill it so. Infinite for one that is full.
    #[must_use]
    pub fn estimated_items(&self) -> f64 {
        // Also right for blocks: the loads of blocks mix so that the mean fill is the same.
        -(-self.fill()).ln_1p() * self.reach as f64 / f64::from(self.hashes.max(1))
    }

    /// The share of strangers that passes now.
    #[must_use]
    pub fn expected_fpr(&self) -> f64 {
        if !self.in_blocks {
            return self.fill().powi(self.hashes as i32);
        }
        let (blocks, _) = self.body.as_chunks::<32>();
        let share = |lane: &[u8; 4]| f64::from(u32::from_le_bytes(*lane).count_ones()) / 32.0;
        let product = |block: &[u8; 32]| block.as_chunks().0.iter().map(share).product::<f64>();
        blocks.iter().map(product).sum::<f64>() / blocks.len().max(1) as f64
    }

    /// What it was made for: as the file says, or as its sizes tell.
    #[must_use]
    pub fn planned(&self) -> Planned {
        self.planned.unwrap_or_else(|| {
            if self.in_blocks {
                // Its hashes are always eight and tell nothing.
                let items = (self.bits as f64 / 256.0 * ITEMS_IN_CROWDED_BLOCK) as u64;
                return Planned { items, fpr: CROWDED, stored: false };
            }
            let items = (self.bits as f64 * std::f64::consts::LN_2 / f64::from(self.hashes)) as u64;
            let fpr = fpr_with(items, self.bits, self.reach, self.hashes, false);
            Planned { items, fpr, stored: false }
        })
    }

    /// The most items that it may have been made for. Programs round the number of hashes, up or
    /// to the nearest, so where the plan is not stored it may be for a few more.
    #[must_use]
    pub(crate) fn max_planned(&self) -> f64 {
        let planned = self.planned();
        let items = planned.items as f64;
        if planned.stored || self.in_blocks || self.hashes < 2 {
            return items;
        }
        let hashes = f64::from(self.hashes);
        items * hashes / (hashes - 1.0)
    }
}

/// A split-block filter that lets through more than this is not worth much.
const CROWDED: f64 = 0.05;

/// How many items a block holds on average where that share of strangers passes.
const ITEMS_IN_CROWDED_BLOCK: f64 = 35.432;

/// The rate to expect of a filter that holds so many items.
pub(crate) fn fpr_with(items: u64, bits: u64, reach: u64, hashes: u32, in_blocks: bool) -> f64 {
    let items = items as f64;
    if !in_blocks {
        let load = items * f64::from(hashes) / reach.max(1) as f64;
        return (-(-load).exp_m1()).powi(hashes as i32);
    }
    // The number of keys of a block is Poisson distributed. Terms past twelve deviations are less
    // than what a float can add.
    let mean = items * 256.0 / bits.max(1) as f64;
    if mean > 1e6 {
        return 1.0;
    }
    let most = (mean + 12.0 * mean.sqrt() + 40.0) as u64;
    let mut log_factorial = 0.0;
    let mut rate = 0.0;
    for keys in 1..=most {
        log_factorial += (keys as f64).ln();
        let chance = (keys as f64 * mean.ln() - mean - log_factorial).exp();
        let lane = -(keys as f64 * (31.0f64 / 32.0).ln()).exp_m1();
        rate += chance * lane.powi(8);
    }
    if items > 0.0 { rate.min(1.0) } else { 0.0 }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_crowded_block_holds_so_many_items() {
        let bits = 256 << 30;
        let items = (bits as f64 / 256.0 * ITEMS_IN_CROWDED_BLOCK) as u64;
        let rate = fpr_with(items, bits, bits, 8, true);
        assert!((rate / CROWDED - 1.0).abs() < 1e-3, "{rate}");
    }
}
