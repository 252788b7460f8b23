//! The best code for a request.

use super::{MAX_WORK, Plan};
use crate::Error;
use crate::zone::code::{Code, CodeKind, MAX_MODULI, reed_solomon};
use crate::zone::coprime;
use crate::zone::universe::{Size, Universe};

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
#[non_exhaustive]
pub enum Prefer {
    /// The fewest bits.
    #[default]
    Bits,
    /// The fewest probes a lookup.
    Probes,
}

impl Prefer {
    fn cost(self, bits: u64, probes: u64) -> (u64, u64) {
        match self {
            Prefer::Bits => (bits, probes),
            Prefer::Probes => (probes, bits),
        }
    }
}

impl Plan {
    /// The best code of any kind for `items` of `universe`.
    pub fn new(universe: Universe, items: u64, prefer: Prefer) -> Result<Plan, Error> {
        Plan::choose(&universe, items, None, prefer)
    }

    /// The code of this kind with the fewest bits.
    pub fn with_code(universe: Universe, items: u64, code: CodeKind) -> Result<Plan, Error> {
        Plan::choose(&universe, items, Some(code), Prefer::Bits)
    }

    /// The best code of a kind, or of any kind if none is given.
    pub fn choose(
        universe: &Universe,
        items: u64,
        code: Option<CodeKind>,
        prefer: Prefer,
    ) -> Result<Plan, Error> {
        if let Some(kind) = code {
            return best_of(universe, items, kind, prefer);
        }
        let cost = |plan: &Plan| prefer.cost(plan.bits(), plan.probes());
        let mut best = best_of(universe, items, CodeKind::ALL[0], prefer);
        for kind in &CodeKind::ALL[1..] {
            let other = best_of(universe, items, *kind, prefer);
            best = match (best, other) {
                (Ok(best), Ok(other)) if cost(&other) < cost(&best) => Ok(other),
                (Ok(best), _) => Ok(best),
                (Err(_), other) => other,
            };
        }
        best
    }
}

fn best_of(universe: &Universe, items: u64, kind: CodeKind, prefer: Prefer) -> Result<Plan, Error> {
    let size = universe.size();
    if items == 0 {
        return Err(Error::Items { got: items });
    }
    if size < u128::from(items) {
        return Err(Error::MoreThanUniverse { items, universe: size.saturated() });
    }
    let code = if kind == CodeKind::Rs {
        let cost = |code: &Code| prefer.cost(code.cells().unwrap_or(u64::MAX), code.blocks());
        reed_solomon::codes(size, items).min_by_key(cost)
    } else {
        residues(size, items, kind)
    };
    let code = code.ok_or_else(|| {
        let max = size.whole().min(max_items(size, kind));
        Error::Zone { code: kind, items, universe: size, max }
    })?;
    Plan::from_parts(universe.clone(), items, code, false)
}

/// The bits of the number of an element.
fn bits_of_one(size: Size) -> u64 {
    u64::from(u128::BITS - size.last().leading_zeros()).max(1)
}

/// The bits of the list of d items for which the first [`MAX_MODULI`] primes are enough. The
/// product of these primes has 120,733 bits.
const MAX_PRODUCT_BITS: u64 = 120_732;

/// Up to this many items of the universe, there is certainly a code of this kind.
fn max_items(size: Size, kind: CodeKind) -> u64 {
    match kind {
        CodeKind::Rs => reed_solomon::max_items(size),
        // A bitmap holds every element.
        CodeKind::Coprime if size <= u128::from(u32::MAX) => size.whole(),
        CodeKind::Egh | CodeKind::Coprime => (MAX_PRODUCT_BITS / bits_of_one(size)).max(1),
    }
}

fn residues(size: Size, items: u64, kind: CodeKind) -> Option<Code> {
    if items.checked_mul(bits_of_one(size))? > MAX_WORK {
        // One modulus as large as the universe, a bit for each element, needs no search and no
        // proof.
        let small = size >= 2 && size <= u128::from(u32::MAX);
        let bitmap = || Code::Coprime { moduli: vec![size.whole()], spare: vec![] };
        return (kind == CodeKind::Coprime && small).then(bitmap);
    }
    let items = u32::try_from(items).ok()?;
    let code = if kind == CodeKind::Egh {
        // A universe of one element needs no prime to tell it from others, but a filter needs a
        // block.
        Code::Egh { blocks: u32::try_from(coprime::egh(size, items).len()).ok()?.max(1) }
    } else {
        Code::Coprime { moduli: coprime::choose(size, items)?.0, spare: vec![] }
    };
    (code.blocks() <= MAX_MODULI as u64).then_some(code)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::zone::arith::{chinese::product_of, primes::first_primes};

    #[test]
    fn the_most_items_have_a_code() {
        assert!(product_of(&first_primes(MAX_MODULI)).bits() > MAX_PRODUCT_BITS);
        for bits in [20, 32, 50, 64, 100, 128] {
            let size = Size::up_to(u128::MAX >> (128 - bits));
            let universe = Universe::interval(0, size.last()).unwrap();
            let max = max_items(size, CodeKind::Egh);
            assert!(Plan::with_code(universe.clone(), max, CodeKind::Egh).is_ok(), "{bits}");
            let more = Plan::with_code(universe, max + max / 8 + 1, CodeKind::Egh);
            assert!(matches!(more, Err(Error::Zone { max: said, .. }) if said == max), "{bits}");
        }
    }
}
