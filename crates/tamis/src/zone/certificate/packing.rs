//! The exhaustive search for a packing, where the lower bounds do not decide.

use crate::zone::universe::Size;

/// The deepest recursion of the exhaustive search (one level for each modulus).
const MAX_DEPTH: usize = 1024;
/// The nodes that the exhaustive search may visit.
pub(crate) const EFFORT: u64 = 100_000;

/// The answer of the exhaustive search.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Packing {
    /// A packing: each bin's product is below the universe.
    Packed(Vec<Vec<u64>>),
    /// There is no packing.
    Impossible,
    /// The effort did not suffice, or a modulus is below 2.
    Unknown,
}

/// Whether the moduli fit into `bins` bins of product at most `universe - 1`.
///
/// The moduli need not be coprime. But only if they are, the answer says something of a filter.
///
/// Branch and bound: the moduli in descending order, each tried in the fullest bin first. What is
/// left of the effort is handed back.
pub(crate) fn search_packing(
    moduli: &[u64],
    universe: Size,
    bins: u32,
    effort: &mut u64,
) -> Packing {
    if moduli.iter().any(|&modulus| modulus < 2) {
        return Packing::Unknown;
    }
    if moduli.iter().any(|&modulus| !universe.holds(modulus.into()))
        || (bins == 0 && !moduli.is_empty())
    {
        return Packing::Impossible;
    }
    if moduli.len() > MAX_DEPTH {
        return Packing::Unknown;
    }
    let mut descending = moduli.to_vec();
    descending.sort_unstable_by(|left, right| right.cmp(left));
    let count = moduli.len().min(usize::try_from(bins).unwrap_or(usize::MAX));
    let mut search = Search {
        needs: needs(&descending),
        moduli: descending,
        room: vec![universe.last(); count],
        place: Vec::new(),
        effort: *effort,
    };
    let answer = search.extend();
    *effort = search.effort;
    match answer {
        Some(true) => Packing::Packed(search.bins()),
        Some(false) => Packing::Impossible,
        None => Packing::Unknown,
    }
}

/// For each position, a lower bound of the logarithm of the product from there on.
fn needs(moduli: &[u64]) -> Vec<u64> {
    let mut needs = vec![0; moduli.len() + 1];
    for (index, &modulus) in moduli.iter().enumerate().rev() {
        needs[index] = needs[index + 1] + logarithm(u128::from(modulus), false);
    }
    needs
}

/// The state of the exhaustive search.
struct Search {
    moduli: Vec<u64>,
    needs: Vec<u64>,
    /// For each bin, the largest product that may still be added.
    room: Vec<u128>,
    /// The bin of each modulus placed so far.
    place: Vec<usize>,
    effort: u64,
}

impl Search {
    /// Places the remaining moduli: whether it is possible, or nothing if the effort ran out.
    fn extend(&mut self) -> Option<bool> {
        let Some(&modulus) = self.moduli.get(self.place.len()) else {
            return Some(true);
        };
        self.effort = self.effort.checked_sub(1)?;
        if self.hopeless() {
            return Some(false);
        }
        let modulus = u128::from(modulus);
        let mut order: Vec<usize> =
            (0..self.room.len()).filter(|&bin| self.room[bin] >= modulus).collect();
        order.sort_unstable_by_key(|&bin| self.room[bin]);
        let mut tried = 0;
        for bin in order {
            let room = self.room[bin];
            // Bins with equal room are alike.
            if room == tried {
                continue;
            }
            tried = room;
            self.room[bin] = room / modulus;
            self.place.push(bin);
            if self.extend()? {
                return Some(true);
            }
            self.place.pop();
            self.room[bin] = room;
        }
        Some(false)
    }

    /// Whether the bins that can take anything at all have too little room for what remains.
    fn hopeless(&self) -> bool {
        let smallest = self.moduli.last().map_or(2, |&modulus| u128::from(modulus));
        let usable = self.room.iter().filter(|&&room| room >= smallest);
        usable.map(|&room| logarithm(room, true)).sum::<u64>() < self.needs[self.place.len()]
    }

    fn bins(&self) -> Vec<Vec<u64>> {
        let mut bins = vec![Vec::new(); self.room.len()];
        for (&modulus, &bin) in self.moduli.iter().zip(&self.place) {
            bins[bin].push(modulus);
        }
        bins
    }
}

/// A bound of the binary logarithm in units of 2^-16, from above or from below, in integers alone.
///
/// The mantissa is squared again and again, rounded towards the bound; each doubling is a binary
/// digit.
pub(super) fn logarithm(number: u128, above: bool) -> u64 {
    const DIGITS: u32 = 16;
    if number < 2 {
        return 0;
    }
    let width = number.ilog2();
    let round = u128::from(above);
    let mut result = u64::from(width);
    // The mantissa in units of 2^-62: it stays below 2^63 + 1, so that its square fits.
    let mut mantissa =
        if width <= 62 { number << (62 - width) } else { (number >> (width - 62)) + round };
    for _ in 0..DIGITS {
        mantissa = ((mantissa * mantissa) >> 62) + round;
        result *= 2;
        if mantissa >= 1 << 63 {
            mantissa = (mantissa >> 1) + round;
            result += 1;
        }
    }
    // The last mantissa is at most a rounding above 2: two units cover its logarithm.
    result + 2 * u64::from(above)
}
