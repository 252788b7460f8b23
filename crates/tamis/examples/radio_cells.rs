//! Neighbouring radio cells (Section II-A of the EGH paper): base stations tell each other which
//! user equipment they see, 16-bit numbers, about a hundred each, and look for at least ten in
//! common.

use tamis::zone::{CodeKind, Filter, Plan, Universe};

fn main() -> Result<(), tamis::Error> {
    let universe = Universe::sized(1 << 16)?;
    for code in CodeKind::ALL {
        let plan = Plan::with_code(universe.clone(), 100, code)?;
        println!(
            "{code:<8} {:>6} bits, {:>6} bytes a message, {:>3} probes",
            plan.bits(),
            plan.bytes(),
            plan.probes()
        );
    }

    let plan = Plan::with_code(universe, 100, CodeKind::Rs)?;
    let (mut here, mut there) = (Filter::with_plan(plan.clone())?, Filter::with_plan(plan)?);
    for user in 0..100u64 {
        here.insert(user * 631 % 65_536)?;
        there.insert((user + 88) * 631 % 65_536)?;
    }
    // Both filters are within their zone, so the common users are counted exactly, without
    // exchanging lists.
    let mut common = here.clone();
    common.intersect(&there)?;
    println!("common users: {}, neighbours: {}", common.len(), common.len() >= 10);
    assert_eq!(common.len(), 12);
    Ok(())
}
