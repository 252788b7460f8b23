//! The README's example.

use tamis::{AnyFilter, Bloom};

fn main() -> Result<(), tamis::Error> {
    let mut seen = Bloom::new(10_000, 0.01)?; // 10,000 items, 1% of strangers pass
    seen.insert_many(["ant", "bee", "cat"]);
    seen.insert(7u64); // not the same key as the text "7"
    assert!(seen.contains("ant")); // members always pass
    println!("about {:.0} items", seen.estimated_items());
    seen.save("target/seen.tamis")?; // whole or not at all
    // Mapped, not read: milliseconds for gigabytes.
    let seen = AnyFilter::open("target/seen.tamis")?;
    // The file could hold a zone filter, which refuses keys outside its universe.
    assert!(seen.contains(7)?);
    Ok(())
}
