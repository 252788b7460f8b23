//! Multicast trees in the packet header (Section II-C of the EGH paper): up to six or seven of
//! 100,000 links, tested at every hop.

use tamis::zone::{CodeKind, Filter, Plan, Universe, largest_items};

fn main() -> Result<(), tamis::Error> {
    let links = Universe::sized(100_000)?;
    for header in [800, 1024] {
        for code in CodeKind::ALL {
            let max = largest_items(code, header, links.size()).unwrap_or(0);
            println!("a header of {header:>4} bits, code {code:<8}: up to {max} links");
        }
    }

    let mut tree = Filter::with_plan(Plan::with_code(links, 7, CodeKind::Rs)?)?;
    for link in [10u32, 11, 12, 500, 99_998, 99_999, 0] {
        tree.insert(link)?;
    }
    let forwarded = (0..100_000u32).filter(|link| tree.contains(*link).unwrap_or(false)).count();
    println!("{} bits: {forwarded} of 100000 links forward the packet", tree.plan().bits());
    assert_eq!(forwarded, 7, "no loops, no storms: exactly the tree");
    Ok(())
}
