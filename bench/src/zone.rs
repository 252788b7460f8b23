//! Lookups in zone filters, beside the plain way to ask a code of residues: one division a block,
//! from the smallest modulus on or from the largest.

use crate::keys::{self, Mix};
use crate::report::Report;
use crate::timing::{Task, interleave};
use std::error::Error;
use tamis::zone::{CodeKind, Filter, Plan, Universe};

/// The filters: the last element of the universe, and the items.
const CASES: [(u64, u64); 3] = [(u32::MAX as u64, 10), (u32::MAX as u64, 1000), (u64::MAX, 10)];

/// Different keys asked in all.
const POOL: usize = 1 << 18;
/// The most probes of a round. A stranger takes few, but a member one a block.
const PROBES: usize = 1 << 18;
const ROUNDS: usize = 51;

/// A filter's cells and the moduli of its blocks, each with its first cell.
struct Plain<'a> {
    body: &'a [u8],
    blocks: Vec<(u64, u64)>,
}

impl Plain<'_> {
    fn of(filter: &Filter) -> Plain<'_> {
        let blocks = filter.plan().blocks().into_iter().scan(0, |next, modulus| {
            *next += modulus;
            Some((*next - modulus, modulus))
        });
        Plain { body: filter.body(), blocks: blocks.collect() }
    }

    fn largest_first(mut self) -> Self {
        self.blocks.sort_by_key(|(_, modulus)| std::cmp::Reverse(*modulus));
        self
    }

    fn contains(&self, element: u64) -> bool {
        self.blocks.iter().all(|(start, modulus)| {
            let cell = start + element % modulus;
            self.body[(cell >> 3) as usize] >> (cell & 7) & 1 == 1
        })
    }
}

pub(crate) fn run(report: &mut Report) -> Result<(), Box<dyn Error>> {
    for (last, items) in CASES {
        for code in CodeKind::ALL {
            measure(report, last, items, code)?;
        }
    }
    Ok(())
}

fn measure(
    report: &mut Report,
    last: u64,
    items: u64,
    code: CodeKind,
) -> Result<(), Box<dyn Error>> {
    let Ok(plan) = Plan::with_code(Universe::interval(0, last.into())?, items, code) else {
        return Ok(());
    };
    let mut filter = Filter::with_plan(plan)?;
    let within = |key: &mut u64| *key >>= last.leading_zeros();
    let mut members = keys::random(1, items as usize);
    members.iter_mut().for_each(within);
    for member in &members {
        filter.insert(*member)?;
    }
    let (smallest, largest) = (Plain::of(&filter), Plain::of(&filter).largest_first());
    for mix in [Mix::Strangers, Mix::Members] {
        let mut asked = mix.keys(&members, POOL);
        if let Mix::Strangers = mix {
            asked.iter_mut().for_each(within);
        }
        let one = |keys: &[u64]| {
            keys.iter().filter(|key| matches!(filter.contains(**key), Ok(true))).count()
        };
        let batch = |keys: &[u64]| match filter.contains_many(keys) {
            Ok(answers) => answers.into_iter().map(usize::from).sum(),
            Err(_) => 0,
        };
        let mut tasks =
            vec![Task::new("tamis, one at a time", one), Task::new("tamis, a batch", batch)];
        if code != CodeKind::Rs {
            for (name, plain) in
                [("division, smallest first", &smallest), ("division, largest first", &largest)]
            {
                tasks.push(Task::new(name, |keys: &[u64]| {
                    keys.iter().filter(|key| plain.contains(**key)).count()
                }));
            }
        }
        let count = match mix {
            Mix::Strangers => 1 << 12,
            _ => (PROBES / filter.plan().probes() as usize).next_power_of_two().min(1 << 12),
        };
        let lines = interleave(tasks, ROUNDS, true, |round| {
            let start = round * count % POOL;
            (&asked[start..start + count], count)
        });
        let shape = format!("{} blocks, {} bytes", filter.plan().probes(), filter.body().len());
        let title = format!("{code}, 0 to {last}, {shape}: lookups of {}", mix.name());
        report.table(&title, items as usize, ["x one", "x batch"], true, &lines)?;
    }
    Ok(())
}
