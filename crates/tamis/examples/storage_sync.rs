//! Conflicts between copies (Section II-D of the EGH paper): two copies of a text were changed
//! independently; which lines were changed in both?

use tamis::zone::{Filter, Plan, Prefer, Universe};

fn main() -> Result<(), tamis::Error> {
    let lines = Universe::interval(1, 20_000)?;
    let plan = Plan::new(lines, 8, Prefer::Bits)?;
    println!("{} bits for 8 of 20000 lines", plan.bits());

    let mut mine = Filter::with_plan(plan.clone())?;
    for line in [3u32, 17, 400, 401, 402, 19_999] {
        mine.insert(line)?;
    }
    let mut theirs = Filter::with_plan(plan)?;
    for line in [17u32, 401, 5_000] {
        theirs.insert(line)?;
    }
    // The other side needs the filter only.
    let received = tamis::AnyFilter::from_bytes(&theirs.to_bytes())?;
    let theirs = Filter::try_from(received)?;
    mine.intersect(&theirs)?;
    let conflicts = mine.list()?;
    println!("changed in both: {}", conflicts.names(&mine).join(", "));
    assert_eq!(conflicts.names(&mine), ["17", "401"]);
    Ok(())
}
