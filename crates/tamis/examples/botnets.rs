//! Early detection of botnets (Section II-E of the EGH paper): name servers exchange suspicious
//! addresses and list those that they share.

use tamis::zone::{CodeKind, CountingFilter, Plan, Universe};

fn main() -> Result<(), tamis::Error> {
    for code in CodeKind::ALL {
        let plan = Plan::with_code(Universe::ipv4(), 4, code)?;
        println!("{code:<8} {:>5} counters for 4 of 2^32 addresses", plan.cells());
    }

    let plan = Plan::with_code(Universe::ipv4(), 4, CodeKind::Rs)?;
    let mut here = CountingFilter::with_plan(plan.clone())?;
    for address in ["198.51.100.7", "203.0.113.9", "203.0.113.10"] {
        here.insert(address)?;
    }
    here.remove("203.0.113.10")?; // it turned out to be a printer
    let mut there = CountingFilter::with_plan(plan)?;
    for address in ["203.0.113.9", "192.0.2.1"] {
        there.insert(address)?;
    }
    here.intersect(&there)?;
    let shared = here.list()?;
    println!("suspicious at both: {}", shared.names(&here).join(", "));
    assert_eq!(shared.names(&here), ["203.0.113.9"]);
    Ok(())
}
