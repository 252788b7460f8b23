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
    pub(crate) fn insert(&mut self, units: &[Digest], new: &mut Vec<bool>) -> anyhow::Result<()> {
        let start = new.len();
        match &mut self.filter {
            Layered::Blocked(filter) => insert(filter, units, new)?,
            Layered::Bloom(filter) => insert(filter, units, new)?,
        }
        self.distinct += new[start..].iter().filter(|new| **new).count() as u64;
        Ok(())
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

    /// How many new units were probably taken for seen ones: each by the chance that the filter,
    /// as full as it was then, took it so.
    pub(crate) fn expected_mistakes(&self) -> f64 {
        const STEPS: u64 = 32;
        let step = self.distinct as f64 / STEPS as f64;
        let fpr = |i: u64| self.plan().expected_fpr(((i as f64 + 0.5) * step) as u64);
        (0..STEPS).map(|i| fpr(i) * step).sum()
    }
}

fn insert<L: Layout>(
    filter: &mut Filter<L>,
    units: &[Digest],
    new: &mut Vec<bool>,
) -> anyhow::Result<()> {
    for unit in units {
        new.push(filter.insert_digest(*unit)?);
    }
    Ok(())
}

fn count<L: Layout>(filter: &Filter<L>, units: &[Digest]) -> anyhow::Result<usize> {
    let mut seen = 0;
    for unit in units {
        seen += usize::from(filter.contains_digest(*unit)?);
    }
    Ok(seen)
}
