//! Formulas of the EGH paper: rates beyond the zone, and bounds.

use super::Plan;

impl Plan {
    /// The share of strangers that pass once the filter holds `items` random elements, far beyond
    /// its zone: the product over the blocks of 1 - (1 - 1/size)^items (Eq. 11 of the EGH paper).
    /// Within the zone the true share is 0, and this formula does not apply.
    #[must_use]
    pub fn beyond_fpr(&self, items: u64) -> f64 {
        self.blocks()
            .iter()
            .map(|size| -(items as f64 * (-1.0 / *size as f64).ln_1p()).exp_m1())
            .product()
    }

    /// The rate of a Bloom filter with as many bits and `items` items (Eq. 10). It has `hashes`
    /// hashes, or as many as this filter has probes.
    #[must_use]
    pub fn bloom_fpr(&self, items: u64, hashes: Option<u32>) -> f64 {
        let (m, k) = (self.cells() as f64, hashes.map_or(self.probes() as f64, f64::from));
        (-(k * items as f64 * (-1.0 / m).ln_1p()).exp_m1()).powf(k)
    }

    /// The best number of hashes for that Bloom filter.
    #[must_use]
    pub fn bloom_hashes(&self, items: u64) -> u32 {
        let best = self.cells() as f64 / items.max(1) as f64 * std::f64::consts::LN_2;
        let (low, high) = (best.floor().max(1.0) as u32, best.ceil().max(1.0) as u32);
        if self.bloom_fpr(items, Some(low)) <= self.bloom_fpr(items, Some(high)) {
            low
        } else {
            high
        }
    }

    /// A lower bound on the bits of every filter with this zone, by Claim 2 of the EGH paper (after
    /// Füredi): 0.25 d^2 log n / log d. `None` for one item, of which the claim says nothing, and
    /// where it cannot hold because a bit for each element would be fewer bits.
    #[must_use]
    pub fn min_bits(&self) -> Option<f64> {
        let (d, n) = (self.items as f64, self.universe.size().to_f64());
        let claimed = 0.25 * d * d / d.log2() * n.log2();
        (self.items >= 2 && claimed <= n).then_some(claimed)
    }

    /// An upper bound on the probes of EGH, by Claim 3, which is for universes of at least 7.
    #[must_use]
    pub fn max_probes(&self) -> Option<f64> {
        if self.universe.size() < 7 {
            return None;
        }
        let x = (2.0 * self.items as f64 * self.universe.size().to_f64().ln()).floor();
        Some(x / x.ln() * (1.0 + 1.2762 / x.ln()) + 1.0)
    }
}
