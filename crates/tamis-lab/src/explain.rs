//! The drawings of the library's documentation, each of a real filter or of what it is made from.

use tamis::rate::{Kind, Plan as RatePlan};
use tamis::zone::{CodeKind, Filter, Plan, Universe};
use tamis::{BlockedBloom, Error, HashFamily};
use tamis_plot::{Panel, Raster, embedded};
use tamis_random::SplitMix64;

/// The drawings by name, to be included in documentation.
pub fn drawings() -> Result<[(&'static str, String); 3], Error> {
    Ok([
        ("matrix", embedded(&matrix()?.svg())),
        ("blocks", embedded(&blocks()?.svg())),
        ("band", embedded(&band().svg())),
    ])
}

fn bit(body: &[u8], at: usize) -> bool {
    body.get(at / 8).is_some_and(|byte| byte >> (at % 8) & 1 == 1)
}

/// Table I of the EGH paper: the columns are the elements 1 to 48, the rows the 28 bits.
fn matrix() -> Result<Raster, Error> {
    let plan = Plan::with_code(Universe::interval(1, 48)?, 2, CodeKind::Egh)?;
    let mut columns = Vec::new();
    for element in 1..=48u64 {
        let mut filter = Filter::with_plan(plan.clone())?;
        filter.insert(element)?;
        columns.push(filter.body().to_vec());
    }
    let mut start = 0;
    let panel = |size: &u64| {
        let rows = start..start + *size as usize;
        start = rows.end;
        let shades = rows.flat_map(|row| {
            columns.iter().map(move |column| f64::from(u8::from(bit(column, row))))
        });
        Panel::new(&format!("residues modulo {size}"), shades.collect(), 48)
    };
    Ok(Raster {
        title: "The elements 1 to 48 as columns of 28 bits".to_owned(),
        notes: vec![
            "Each sets the bit of its residue in every block. No two columns together cover a \
             third, so two items never make a stranger pass."
                .to_owned(),
        ],
        panels: plan.blocks().iter().map(panel).collect(),
    })
}

/// Two blocks with some keys, and one key among them.
fn blocks() -> Result<Raster, Error> {
    let plan = RatePlan::from_items_bits(Kind::Blocked, 60, 2 * 512)?;
    let mut all = BlockedBloom::with_plan(plan, HashFamily::fast(3))?;
    let mut one = all.clone();
    all.insert_many(0..60u64);
    one.insert(7u64);
    let shade = |at: usize| match (bit(one.body(), at), bit(all.body(), at)) {
        (true, _) => 1.0,
        (false, true) => 0.25,
        (false, false) => 0.0,
    };
    let panel = |block: usize| {
        let shades = (block * 512..(block + 1) * 512).map(shade).collect();
        Panel::new(&format!("block {block}: 512 bits, one cache line"), shades, 64)
    };
    Ok(Raster {
        title: "All bits of a key lie in one block".to_owned(),
        notes: vec![
            "Dark: the bits of one key. Pale: those of 59 others. A lookup reads one block."
                .to_owned(),
        ],
        panels: (0..plan.cells() as usize / 512).map(panel).collect(),
    })
}

/// Equations, sorted by where their bands begin.
fn band() -> Raster {
    const COLUMNS: u64 = 56;
    const BAND: u64 = 14;
    let mut random = SplitMix64::new(12);
    let mut rows: Vec<(u64, u64)> =
        (0..24).map(|_| (random.below(COLUMNS - BAND + 1), random.next_u64() | 1)).collect();
    rows.sort_unstable();
    let cell = |(start, coefficients): (u64, u64), column: u64| match column.checked_sub(start) {
        Some(at) if at < BAND && coefficients >> at & 1 == 1 => 1.0,
        Some(at) if at < BAND => 0.2,
        _ => 0.0,
    };
    let shades =
        rows.iter().flat_map(|row| (0..COLUMNS).map(move |column| cell(*row, column))).collect();
    Raster {
        title: "One equation an item, in a band".to_owned(),
        notes: vec![
            "Each row is an item's equation: ones (dark) and zeros (pale) in a narrow band, \
             nothing elsewhere. Sorted by where they begin, they are solved from the last to the \
             first. Here bands of 14 columns; in a filter, of 128."
                .to_owned(),
        ],
        panels: vec![Panel::new("", shades, COLUMNS as usize)],
    }
}
