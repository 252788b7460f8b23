//! The filter that remembers which units were seen, planned before the first one comes.

use anyhow::bail;
use tamis::rate::{Filter, Kind, Layout, Plan};
use tamis::{BlockedBloom, Bloom, Digest, HashFamily};

/// What was seen so far.
pub(crate) struct Seen {
    filter: Layered,
    /// How many units were certainly new.
    distinct: u64,
}

enum Layered {
    Blocked(BlockedBloom),
    Bloom(Bloom),
}

/// The plan: a blocked filter, which is faster, or where only that fits into the memory a Bloom
/// filter, which is smaller.
pub(crate) fn plan(items: Option<u64>, fpr: f64, max_memory: Option<u64>) -> anyhow::Result<Plan> {
    let fits = |plan: &Plan| max_memory.is_none_or(|most| plan.bytes() <= most);
    let Some(items) = items else {
        let bits = max_memory.unwrap_or(PIPE_MEMORY).saturating_mul(8);
        return Ok(Plan::from_fpr_bits(Kind::Blocked, fpr, bits)?);
    };
    let blocked = Plan::from_items_fpr(Kind::Blocked, items, fpr);
    let bloom = Plan::from_items_fpr(Kind::Bloom, items, fpr)?;
    match blocked {
        Ok(plan) if fits(&plan) => Ok(plan),
        _ if fits(&bloom) => Ok(bloom),
        _ => bail!(
            "{items} distinct units at a rate of {fpr} take {} bytes, and --max-memory allows {}; \
             allow more, or a higher --fpr",
            bloom.bytes(),
            max_memory.unwrap_or_default()
        ),
    }
}

/// The filter's size where neither the number of units nor the memory is known.
const PIPE_MEMORY: u64 = 256 << 20;

impl Seen {
    pub(crate) fn new(plan: Plan) -> anyhow::Result<Seen> {
        let filter = match plan.filter() {
            Kind::Blocked => {
                Layered::Blocked(BlockedBloom::with_plan(plan, HashFamily::default())?)
            }
            _ => Layered::Bloom(Bloom::with_plan(plan, HashFamily::default())?),
        };
        Ok(Seen { filter, distinct: 0 })
    }

    /// Puts units in; says of each whether it was certainly new.
    pub(crate) fn insert(&mut self, units: &[Digest]) -> anyhow::Result<Vec<bool>> {
        let new = match &mut self.filter {
            Layered::Blocked(filter) => filter.insert_digests(units)?,
            Layered::Bloom(filter) => filter.insert_digests(units)?,
        };
        self.distinct += new.iter().filter(|new| **new).count() as u64;
        Ok(new)
    }

    /// How many of the units were seen before, perhaps.
    pub(crate) fn count(&self, units: &[Digest]) -> anyhow::Result<usize> {
        match &self.filter {
            Layered::Blocked(filter) => count(filter, units),
            Layered::Bloom(filter) => count(filter, units),
        }
    }

    /// How many units were certainly new.
    pub(crate) fn distinct(&self) -> u64 {
        self.distinct
    }

    /// How many more it was planned for.
    pub(crate) fn room(&self) -> u64 {
        self.plan().items().saturating_sub(self.distinct)
    }

    /// Whether it holds more than it was planned for.
    pub(crate) fn is_overfull(&self) -> bool {
        self.distinct > self.plan().items()
    }

    pub(crate) fn plan(&self) -> &Plan {
        match &self.filter {
            Layered::Blocked(filter) => filter.plan(),
            Layered::Bloom(filter) => filter.plan(),
        }
    }

    /// How many new units were probably taken for seen ones.
    pub(crate) fn expected_mistakes(&self) -> f64 {
        expected_mistakes(self.distinct as f64, |units| self.plan().expected_fpr(units as u64))
    }
}

/// How many of the new units were taken for seen ones, probably, until `distinct` were taken for
/// new ones: each by the chance that the filter, as full as it was then, took it so.
fn expected_mistakes(distinct: f64, fpr: impl Fn(f64) -> f64) -> f64 {
    const STEPS: u32 = 32;
    let step = distinct / f64::from(STEPS);
    // Of so many units that came, a share was mistaken: more must have come for a step.
    let mut came = 0.0;
    for _ in 0..STEPS {
        let more = |at: f64| step / (1.0 - fpr(at)).max(1e-9);
        came += more(came + more(came) / 2.0);
    }
    came - distinct
}

fn count<L: Layout>(filter: &Filter<L>, units: &[Digest]) -> anyhow::Result<usize> {
    let mut seen = 0;
    for unit in units {
        seen += usize::from(filter.contains_digest(*unit)?);
    }
    Ok(seen)
}

#[cfg(test)]
mod tests {
    use super::*;
    use tamis_random::SplitMix64;

    /// The expectation against filters that are filled with random units, at rates from low to
    /// hopeless.
    #[test]
    fn mistakes_are_as_many_as_expected() {
        for fpr in [0.5, 0.2, 0.01] {
            let mut seen = Seen::new(plan(Some(20_000), fpr, None).unwrap()).unwrap();
            let mut random = SplitMix64::new(1);
            let mut mistakes = 0;
            while seen.room() > 0 {
                let units: Vec<Digest> = (0..64).map(|_| random.next_u128().into()).collect();
                mistakes += seen.insert(&units).unwrap().iter().filter(|new| !**new).count();
            }
            let expected = seen.expected_mistakes();
            // Five sigma of a sum of independent mistakes, and 3% for the plan's approximation.
            let allowed = 5.0 * expected.sqrt() + 0.03 * expected;
            let off = (mistakes as f64 - expected).abs();
            assert!(off <= allowed, "{fpr}: {mistakes} mistakes, {expected} expected");
        }
    }
}
