//! The memory that a sketch of d items of a universe takes, if every element may be asked for.

use tamis::zone::{CodeKind, Plan, Universe};

/// A way to hold them, and its bits for each size of the universe.
pub(crate) struct Memory {
    pub(crate) name: String,
    pub(crate) bits: Vec<(f64, f64)>,
}

/// All ways for `items` of universes from 2^8 to 2^32.
pub(crate) fn against_universe(items: u64, quick: bool) -> Vec<Memory> {
    let powers: Vec<u32> = (8..=32).step_by(if quick { 4 } else { 2 }).collect();
    let way = |name: &str, bits: &dyn Fn(u64) -> Option<f64>| Memory {
        name: name.to_owned(),
        bits: powers
            .iter()
            .filter_map(|power| Some((2f64.powi(*power as i32), bits(1 << power)?)))
            .collect(),
    };
    let code = |code| {
        way(&format!("zone filter, {code}"), &move |size| {
            Some(Plan::with_code(Universe::sized(u128::from(size)).ok()?, items, code).ok()?.bits()
                as f64)
        })
    };
    let mut ways = CodeKind::ALL.map(code).into_iter().collect::<Vec<Memory>>();
    ways.push(way("bitmap", &|size| Some(size as f64)));
    ways.push(way("sorted list", &|size| Some((items * u64::from(size.ilog2())) as f64)));
    // Its field needs a nonzero element for every name, so a power of two takes one more bit.
    ways.push(way("PinSketch (merges and lists, asks nothing)", &|size| {
        Some((items * u64::from(size.ilog2() + 1)) as f64)
    }));
    ways
}
