//! Which code, and how large, before anything is allocated.

use super::certificate;
use super::code::{self, Coding};
use super::coprime;
use super::crt::{self, Residues};
use super::reed_solomon::{self, Choice, ReedSolomon};
use super::universe::Universe;
use crate::Error;
use std::fmt;
use std::sync::Arc;

/// The codes that can be asked for.
///
/// ```
/// use tamis::zone::{CodeKind, Plan, Universe};
/// for (code, bits) in [(CodeKind::Egh, 100), (CodeKind::Coprime, 86), (CodeKind::Rs, 63)] {
///     assert_eq!(Plan::with_code(Universe::sized(606)?, 3, code)?.bits(), bits);
/// }
/// # Ok::<(), tamis::Error>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum CodeKind {
    /// Residues modulo the first primes, as the EGH paper has it.
    Egh,
    /// Residues modulo pairwise coprime moduli, fewer bits than EGH.
    Coprime,
    /// Reed-Solomon: usually the fewest bits.
    Rs,
}

impl CodeKind {
    /// All of them.
    pub const ALL: [CodeKind; 3] = [CodeKind::Egh, CodeKind::Coprime, CodeKind::Rs];

    /// The name on the command line and in JSON.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            CodeKind::Egh => "egh",
            CodeKind::Coprime => "coprime",
            CodeKind::Rs => "rs",
        }
    }
}

impl fmt::Display for CodeKind {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.pad(self.name())
    }
}

/// What the best code has least of.
///
/// ```
/// use tamis::zone::{Plan, Prefer, Universe};
/// let plan = |prefer| Plan::new(Universe::sized(65_536).unwrap(), 10, prefer);
/// assert_eq!((plan(Prefer::Bits)?.bits(), plan(Prefer::Bits)?.probes()), (861, 21));
/// assert!(plan(Prefer::Probes)?.probes() < 21);
/// # Ok::<(), tamis::Error>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Prefer {
    /// The fewest bits.
    #[default]
    Bits,
    /// The fewest probes a lookup.
    Probes,
}

/// A code with its parameters: all that a file needs to say of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Scheme {
    Egh { blocks: u32 },
    Coprime { moduli: Vec<u64> },
    Rs(Choice),
}

/// The most moduli of a code: their certificate is computed anew whenever a file is opened.
pub(crate) const MOST_MODULI: usize = 8192;
/// The most bits that d items of the universe may take as a list, log2(n^d), for the codes of
/// residues: beyond it their certificates would take seconds.
pub(super) const MOST_WORK: u64 = 1 << 17;

impl Scheme {
    pub(crate) fn name(&self) -> CodeKind {
        match self {
            Scheme::Egh { .. } => CodeKind::Egh,
            Scheme::Coprime { .. } => CodeKind::Coprime,
            Scheme::Rs(_) => CodeKind::Rs,
        }
    }

    /// The positions of all blocks.
    pub(crate) fn cells(&self) -> Option<u64> {
        match self {
            Scheme::Rs(choice) => u64::from(choice.order).checked_mul(u64::from(choice.blocks)),
            _ => self.moduli()?.iter().try_fold(0u64, |sum, q| sum.checked_add(*q)),
        }
    }

    pub(crate) fn moduli(&self) -> Option<Vec<u64>> {
        match self {
            Scheme::Egh { blocks } => Some(crt::first_primes(*blocks as usize)),
            Scheme::Coprime { moduli } => Some(moduli.clone()),
            Scheme::Rs(_) => None,
        }
    }

    /// The code itself, and the items for which it is free of false positives in the universe,
    /// proved, with the proof in words.
    /// It need not look for more than the `wanted` items where the proof is laborious.
    pub(crate) fn code(
        &self,
        universe: &Universe,
        wanted: u64,
    ) -> Result<(Coding, u64, String), Error> {
        let size = universe.size();
        let whole = u64::try_from(size).unwrap_or(u64::MAX);
        if let Some(moduli) = self.moduli() {
            if moduli.len() > MOST_MODULI {
                return Err(Error::Field {
                    field: "number of blocks",
                    got: moduli.len().to_string(),
                });
            }
            let code = match self {
                Scheme::Egh { .. } => Residues::of_primes(moduli, universe.first())?,
                _ => Residues::new(moduli, universe.first())?,
            };
            let (zone, proof) = certificate::zone(code.moduli(), size, u32::MAX);
            let zone = if zone == u32::MAX { whole } else { u64::from(zone).min(whole) };
            // Only small codes are chosen by an exhaustive search, which would take long for
            // others.
            let small = code.moduli().iter().sum::<u64>() <= coprime::SMALL_SUM;
            if zone < wanted
                && small
                && let Ok(items) = u32::try_from(wanted)
                && let Some(proof) =
                    certificate::prove(code.moduli(), size, items, certificate::EFFORT)
            {
                return Ok((Coding::Residues(Arc::new(code)), wanted, proof.to_string()));
            }
            return Ok((Coding::Residues(Arc::new(code)), zone, proof.to_string()));
        }
        let Scheme::Rs(choice) = self else { unreachable!("the other codes have moduli") };
        let code = ReedSolomon::new(choice.order, choice.degree, choice.blocks)?;
        let reach = (0..=choice.degree)
            .try_fold(1u128, |reach, _| reach.checked_mul(u128::from(choice.order)));
        if reach.is_some_and(|reach| reach < size) {
            return Err(Error::Field { field: "degree", got: choice.degree.to_string() });
        }
        let zone = code.zone().unwrap_or(whole).min(whole);
        let (q, t, k) = (choice.order, choice.degree, choice.blocks);
        let proof = if t == 0 {
            format!("one block of {q} positions tells all {size} elements apart")
        } else {
            format!(
                "elements are polynomials of degree at most {t} over GF({q}), which agree in at most {t} blocks; \
                 {zone} items cover at most {} of the {k} blocks of another",
                u64::from(t) * zone
            )
        };
        Ok((Coding::Rs(Arc::new(code)), zone, proof))
    }
}

/// The size of a zone filter, decided before anything is allocated, with a proof of its promise.
///
/// ```
/// use tamis::zone::{CodeKind, Plan, Prefer, Universe};
/// let universe = Universe::interval(1, 606)?;
/// let egh = Plan::with_code(universe.clone(), 3, CodeKind::Egh)?;
/// assert_eq!((egh.bits(), egh.probes()), (100, 9));
/// let best = Plan::new(universe, 3, Prefer::Bits)?;
/// assert_eq!((best.bits(), best.probes(), best.code()), (63, 7, CodeKind::Rs));
/// # Ok::<(), tamis::Error>(())
/// ```
#[derive(Clone)]
pub struct Plan {
    universe: Universe,
    items: u64,
    scheme: Scheme,
    counting: bool,
    code: Coding,
    zone: u64,
    proof: String,
}

impl fmt::Debug for Plan {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            out,
            "Plan({} items of {}, {:?}, {} bits a cell)",
            self.items,
            self.universe,
            self.scheme,
            self.counter_bits()
        )
    }
}

impl PartialEq for Plan {
    fn eq(&self, other: &Plan) -> bool {
        let key = |plan: &Plan| (plan.items, plan.counting);
        key(self) == key(other) && self.universe == other.universe && self.scheme == other.scheme
    }
}

impl Eq for Plan {}

impl Plan {
    /// The best code for `items` of `universe`.
    pub fn new(universe: Universe, items: u64, prefer: Prefer) -> Result<Plan, Error> {
        let mut best: Option<Plan> = None;
        let mut refusal = None;
        for name in CodeKind::ALL {
            match Plan::best_of(&universe, items, name, prefer) {
                Ok(plan)
                    if best.as_ref().is_none_or(|least| plan.cost(prefer) < least.cost(prefer)) =>
                {
                    best = Some(plan);
                }
                Ok(_) => {}
                Err(error) => refusal = Some(error),
            }
        }
        match (best, refusal) {
            (Some(plan), _) => Ok(plan),
            (None, Some(error)) => Err(error),
            (None, None) => unreachable!("every code gives a plan or a refusal"),
        }
    }

    /// The code of this name with the fewest bits.
    pub fn with_code(universe: Universe, items: u64, code: CodeKind) -> Result<Plan, Error> {
        Plan::best_of(&universe, items, code, Prefer::Bits)
    }

    /// The code of this name with the fewest bits or probes.
    pub fn best_of(
        universe: &Universe,
        items: u64,
        code: CodeKind,
        prefer: Prefer,
    ) -> Result<Plan, Error> {
        let size = universe.size();
        if items == 0 {
            return Err(Error::Items { got: items });
        }
        if u128::from(items) > size {
            return Err(Error::Zone {
                code: code.name(),
                items,
                universe: size,
                remedy: format!("there are no more than {size} items in it"),
            });
        }
        let scheme = match code {
            CodeKind::Rs => Some(best_rs(size, items, prefer)?),
            CodeKind::Egh | CodeKind::Coprime => residues(size, items, code),
        };
        let Some(scheme) = scheme else {
            let remedy = "take fewer items, or --code rs".to_owned();
            return Err(Error::Zone { code: code.name(), items, universe: size, remedy });
        };
        Plan::from_parts(universe.clone(), items, scheme, false)
    }

    /// A plan whose promise is proved anew.
    pub(crate) fn from_parts(
        universe: Universe,
        items: u64,
        scheme: Scheme,
        counting: bool,
    ) -> Result<Plan, Error> {
        let (code, zone, proof) = scheme.code(&universe, items)?;
        if items == 0 || items > zone {
            return Err(Error::Field { field: "number of items", got: items.to_string() });
        }
        let plan = Plan { universe, items, scheme, counting, code, zone, proof };
        if plan
            .cells()
            .checked_mul(u64::from(plan.counter_bits()))
            .is_none_or(|bits| bits > crate::bits::MOST)
        {
            return Err(Error::Field { field: "number of cells", got: plan.cells().to_string() });
        }
        Ok(plan)
    }

    fn cost(&self, prefer: Prefer) -> (u64, u64) {
        match prefer {
            Prefer::Bits => (self.bits(), self.probes()),
            Prefer::Probes => (self.probes(), self.bits()),
        }
    }

    /// The same code with counters instead of bits, each just wide enough to count all items.
    #[must_use]
    pub fn counting(mut self) -> Plan {
        self.counting = true;
        self
    }

    /// The same code accepting more or fewer items, at least one and no more than its zone.
    #[must_use]
    pub(crate) fn allowing(mut self, items: u64) -> Plan {
        self.items = items.clamp(1, self.zone);
        self
    }

    /// The same code with another number of blocks: its first ones, or with more appended.
    pub fn with_blocks(&self, blocks: u64) -> Result<Plan, Error> {
        let refuse = |most: u64| Error::Universe {
            why: format!("the code has from 1 to {most} blocks, not {blocks}"),
            remedy: "stay within them".to_owned(),
        };
        let scheme = match &self.scheme {
            Scheme::Rs(choice) => {
                let most = u64::from(choice.order) + 1;
                let fits = (1..=most).contains(&blocks).then_some(blocks as u32);
                Scheme::Rs(Choice { blocks: fits.ok_or_else(|| refuse(most))?, ..*choice })
            }
            Scheme::Egh { .. } | Scheme::Coprime { .. }
                if blocks == 0 || blocks > MOST_MODULI as u64 =>
            {
                return Err(refuse(MOST_MODULI as u64));
            }
            Scheme::Egh { .. } => Scheme::Egh { blocks: blocks as u32 },
            Scheme::Coprime { moduli } => {
                Scheme::Coprime { moduli: crt::extended(moduli, blocks as usize) }
            }
        };
        // As many blocks or more are safe for as much, and that is proved anew, if need be by the
        // search that proved it first.
        let wanted = if blocks >= self.probes() { self.zone } else { 0 };
        let (mut code, mut zone, mut proof) = scheme.code(&self.universe, wanted)?;
        // Fewer blocks of a small code may owe their zone to that search too: it is asked item by
        // item.
        if let Scheme::Coprime { moduli } = &scheme
            && moduli.iter().sum::<u64>() <= coprime::SMALL_SUM
        {
            while zone < self.items {
                let further = scheme.code(&self.universe, zone + 1)?;
                if further.1 <= zone {
                    break;
                }
                (code, zone, proof) = further;
            }
        }
        if zone == 0 {
            return Err(Error::Zone {
                code: self.code().name(),
                items: 1,
                universe: self.universe.size(),
                remedy: format!("{blocks} blocks are too few for a single item"),
            });
        }
        let (universe, counting) = (self.universe.clone(), self.counting);
        let items = if blocks > self.probes() { zone } else { self.items.min(zone) };
        Ok(Plan { universe, items, scheme, counting, code, zone, proof })
    }

    /// The same code with the fewest blocks whose zone allows `items`, and accepting so many.
    pub fn for_items(&self, items: u64) -> Result<Plan, Error> {
        let refuse = |remedy: String| {
            Err(Error::Zone {
                code: self.code().name(),
                items,
                universe: self.universe.size(),
                remedy,
            })
        };
        if items == 0 {
            return Err(Error::Items { got: items });
        }
        if u128::from(items) > self.universe.size() {
            return refuse(format!("there are no more than {} items in it", self.universe.size()));
        }
        let most = match &self.scheme {
            Scheme::Rs(choice) => u64::from(choice.order) + 1,
            _ => MOST_MODULI as u64,
        };
        let suffice = |blocks: u64| self.with_blocks(blocks).ok().filter(|plan| plan.zone >= items);
        // More blocks never make the zone smaller: double until they suffice, then halve the gap.
        let mut high = self.probes();
        while suffice(high).is_none() {
            if high >= most {
                return refuse(format!(
                    "it has at most {most} blocks; build a filter with another code"
                ));
            }
            high = (high * 2).min(most);
        }
        let mut low = 0;
        while high - low > 1 {
            let middle = low + (high - low) / 2;
            if suffice(middle).is_some() { high = middle } else { low = middle }
        }
        Ok(self.with_blocks(high)?.allowing(items))
    }

    /// The universe.
    #[must_use]
    pub fn universe(&self) -> &Universe {
        &self.universe
    }

    /// The items that the filter accepts: at most [`zone`](Plan::zone).
    #[must_use]
    pub fn items(&self) -> u64 {
        self.items
    }

    /// The items for which the code is proved to be free of false positives: as many as asked for,
    /// or more.
    #[must_use]
    pub fn zone(&self) -> u64 {
        self.zone
    }

    /// Why that is so, in words.
    #[must_use]
    pub fn certificate(&self) -> &str {
        &self.proof
    }

    /// Which code it is.
    #[must_use]
    pub fn code(&self) -> CodeKind {
        self.scheme.name()
    }

    /// The bits of the body, all told.
    #[must_use]
    pub fn bits(&self) -> u64 {
        self.cells() * u64::from(self.counter_bits())
    }

    /// The bytes of the body, exactly.
    #[must_use]
    pub fn bytes(&self) -> u64 {
        self.bits().div_ceil(8)
    }

    /// Refuses the plan if a filter by it would take more than `most` bytes of memory.
    pub fn check_memory(&self, most: u64) -> Result<(), Error> {
        crate::store::check_memory(self.bytes(), most)
    }

    /// The blocks, one probe each.
    #[must_use]
    pub fn probes(&self) -> u64 {
        self.code.blocks() as u64
    }

    /// The positions of all blocks: bits, or counters.
    #[must_use]
    pub fn cells(&self) -> u64 {
        code::cells(&*self.code)
    }

    /// Whether cells are counters.
    #[must_use]
    pub fn is_counting(&self) -> bool {
        self.counting
    }

    /// The width of a cell: 1, or that of a counter that can count all items.
    #[must_use]
    pub fn counter_bits(&self) -> u32 {
        if self.counting { u64::BITS - self.items.leading_zeros() } else { 1 }
    }

    /// The sizes of the blocks.
    #[must_use]
    pub fn blocks(&self) -> Vec<u64> {
        (0..self.code.blocks()).map(|block| self.code.size(block)).collect()
    }

    pub(crate) fn scheme(&self) -> &Scheme {
        &self.scheme
    }

    pub(crate) fn coding(&self) -> &Coding {
        &self.code
    }

    /// The candidates that listing a full filter from its bits would test.
    #[must_use]
    pub fn listing_work(&self) -> u128 {
        self.code.join_work(self.items, self.universe.size())
    }

    /// The share of strangers that pass once the filter holds `items`, far beyond its zone and for
    /// elements at random: the product over the blocks of 1 - (1 - 1/size)^items (Eq. 11 of the
    /// EGH paper). Within the zone it is 0 whatever this says.
    #[must_use]
    pub fn beyond_fpr(&self, items: u64) -> f64 {
        self.blocks()
            .iter()
            .map(|size| -(items as f64 * (-1.0 / *size as f64).ln_1p()).exp_m1())
            .product()
    }

    /// The rate of a Bloom filter with as many bits, `hashes` hashes (this filter's probes, if none
    /// are given) and `items` items (Eq. 10).
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

    /// The bits that no filter of this zone can do without, by Claim 2 of the EGH paper (after
    /// Füredi): 0.25 d^2 log n / log d. `None` where the claim says nothing (one item) or
    /// cannot hold (a bit for each element would be fewer).
    #[must_use]
    pub fn least_bits(&self) -> Option<f64> {
        let (d, n) = (self.items as f64, self.universe.size() as f64);
        let claimed = 0.25 * d * d / d.log2() * n.log2();
        (self.items >= 2 && claimed <= n).then_some(claimed)
    }

    /// The probes that EGH never exceeds, by Claim 3, which is for universes of at least 7.
    #[must_use]
    pub fn most_probes(&self) -> Option<f64> {
        if self.universe.size() < 7 {
            return None;
        }
        let x = (2.0 * self.items as f64 * (self.universe.size() as f64).ln()).floor();
        Some(x / x.ln() * (1.0 + 1.2762 / x.ln()) + 1.0)
    }
}

fn best_rs(size: u128, items: u64, prefer: Prefer) -> Result<Scheme, Error> {
    let cost = |choice: &Choice| match prefer {
        Prefer::Bits => (choice.bits(), u64::from(choice.blocks)),
        Prefer::Probes => (u64::from(choice.blocks), choice.bits()),
    };
    match reed_solomon::choices(size, items).min_by_key(cost) {
        Some(choice) => Ok(Scheme::Rs(choice)),
        None => {
            let most = reed_solomon::most_items(size);
            let remedy = format!("the most items of this universe are {most}");
            Err(Error::Zone { code: "rs", items, universe: size, remedy })
        }
    }
}

fn residues(size: u128, items: u64, code: CodeKind) -> Option<Scheme> {
    let bits_of_one = u64::from(u128::BITS - (size - 1).leading_zeros()).max(1);
    if items.checked_mul(bits_of_one)? > MOST_WORK {
        // One modulus as large as the universe, a bit for each element, needs no search and no
        // proof.
        let bitmap =
            u32::try_from(size).ok().filter(|size| code == CodeKind::Coprime && *size >= 2)?;
        return Some(Scheme::Coprime { moduli: vec![u64::from(bitmap)] });
    }
    let items = u32::try_from(items).ok()?;
    // A universe of one element needs no prime to tell it from others, but a filter needs a block.
    let moduli = match code {
        CodeKind::Egh => crt::first_primes(coprime::egh(size, items).len().max(1)),
        _ => coprime::choose(size, items)?.0,
    };
    match code {
        _ if moduli.len() > MOST_MODULI => None,
        CodeKind::Egh => Some(Scheme::Egh { blocks: moduli.len() as u32 }),
        _ => Some(Scheme::Coprime { moduli }),
    }
}
