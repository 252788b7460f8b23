//! Attributes of flows in a switch (Section II-B of the EGH paper): a tag in the packet header
//! carries at most three of 606 attributes, and a wrong answer would misroute the packet.

use tamis::zone::{CodeKind, Filter, Plan, Prefer, Universe};

fn main() -> Result<(), tamis::Error> {
    let attributes = Universe::interval(1, 606)?;
    let egh = Plan::with_code(attributes.clone(), 3, CodeKind::Egh)?;
    let best = Plan::new(attributes, 3, Prefer::Bits)?;
    println!(
        "egh: {} bits, {} probes; {}: {} bits, {} probes",
        egh.bits(),
        egh.probes(),
        best.code(),
        best.bits(),
        best.probes()
    );

    let mut tag = Filter::with_plan(best)?;
    for attribute in [17u32, 18, 606] {
        tag.insert(attribute)?;
    }
    // Every attribute is answered for rightly.
    let carried: Vec<u32> =
        (1..=606).filter(|attribute| tag.contains(*attribute).unwrap_or(false)).collect();
    println!("carried: {carried:?}");
    assert_eq!(carried, [17, 18, 606]);
    assert!(tag.insert(5u32).is_err(), "a fourth attribute needs a longer tag");
    Ok(())
}
