//! Whether a stranger can pass, by trying every way.
//!
//! A set of d elements makes a stranger pass exactly if the moduli fit into d bins whose products
//! are below the universe. The library decides this with bounds and a search. This search is a
//! second one, so that the report does not ask the library whether the library is right.

/// The steps that a search may take: at most a second, and far more than any search here takes.
const MAX_STEPS: u32 = 3_000_000;
/// What rounding may add to a sum of logarithms.
const ROUNDING: f64 = 1e-6;

/// The moduli of each bin, if they fit. `Err` if the search gave up.
pub(super) fn pack(moduli: &[u64], size: u128, items: u32) -> Result<Option<Vec<Vec<u64>>>, ()> {
    let mut moduli = moduli.to_vec();
    moduli.sort_unstable();
    let mut bins = vec![Bin { room: size - 1, moduli: Vec::new() }; items as usize];
    let mut steps = MAX_STEPS;
    let fits = place(&mut moduli, &mut bins, &mut steps).ok_or(())?;
    Ok(fits.then(|| bins.into_iter().map(|bin| bin.moduli).collect()))
}

#[derive(Clone)]
struct Bin {
    /// The largest product that may still be added.
    room: u128,
    moduli: Vec<u64>,
}

/// Puts the largest modulus into each bin in turn, then the others. `None` if it took too long.
fn place(moduli: &mut Vec<u64>, bins: &mut [Bin], steps: &mut u32) -> Option<bool> {
    *steps = steps.checked_sub(1)?;
    if too_little_room(moduli, bins) {
        return Some(false);
    }
    let Some(modulus) = moduli.pop() else { return Some(true) };
    // The fullest bin first. Bins with the same room are alike: one of them is enough.
    let mut rooms: Vec<u128> = bins.iter().map(|bin| bin.room).collect();
    rooms.sort_unstable();
    rooms.dedup();
    for room in rooms.into_iter().filter(|room| *room >= u128::from(modulus)) {
        let Some(index) = bins.iter().position(|bin| bin.room == room) else { continue };
        bins[index].room = room / u128::from(modulus);
        bins[index].moduli.push(modulus);
        if place(moduli, bins, steps)? {
            return Some(true);
        }
        bins[index].moduli.pop();
        bins[index].room = room;
    }
    moduli.push(modulus);
    Some(false)
}

/// Whether the product of the moduli exceeds all the room in the bins that can take one of them.
fn too_little_room(moduli: &[u64], bins: &[Bin]) -> bool {
    let Some(&smallest) = moduli.first() else { return false };
    let needed: f64 = moduli.iter().map(|modulus| (*modulus as f64).ln()).sum();
    let usable = bins.iter().filter(|bin| bin.room >= u128::from(smallest));
    let room: f64 = usable.map(|bin| (bin.room as f64).ln()).sum();
    needed > room + ROUNDING
}

#[test]
fn the_table_of_the_paper_has_zone_two() {
    let moduli = [2, 3, 5, 7, 11];
    assert_eq!(pack(&moduli, 48, 2), Ok(None));
    let bins = pack(&moduli, 48, 3).unwrap().unwrap();
    assert!(bins.iter().all(|bin| bin.iter().product::<u64>() < 48), "{bins:?}");
    assert_eq!(bins.iter().map(Vec::len).sum::<usize>(), moduli.len());
}
