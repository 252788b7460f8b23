//! What the rate that each program is asked for is worth: sizes as the program chooses them, the
//! rate to expect of them, and the rate measured with 10^6 strangers.
//!
//! ```text
//! cargo run --release -p tamis-foreign --example promises
//! ```

use tamis_foreign::{Error, ForeignFilter, Form, Format, KeyKind, Plan, Target};
use tamis_random::SplitMix64;

const STRANGERS: u64 = 1_000_000;

/// Keys of 16 random bytes, or texts with a number, as people have them.
#[derive(Clone, Copy)]
enum Keys {
    Random,
    Numbered,
}

impl Keys {
    /// Key number `i`. Members are the first keys, and strangers begin at 2^40.
    fn key(self, i: u64) -> Vec<u8> {
        match self {
            Keys::Random => {
                let mut random = SplitMix64::new(i.wrapping_mul(0x9e37_79b9_7f4a_7c15));
                [random.next_u64(), random.next_u64()]
                    .iter()
                    .flat_map(|w| w.to_le_bytes())
                    .collect()
            }
            Keys::Numbered => format!("key-{i}").into_bytes(),
        }
    }
}

/// The share of strangers that passes a filter with so many members.
fn measure(plan: &Plan, items: u64, keys: Keys) -> Result<f64, Error> {
    let mut filter = ForeignFilter::with_plan(plan)?;
    // The keys of rbloom are hashes.
    let key = |i| match plan.format() {
        Format::Rbloom => {
            let mut hash = Vec::new();
            Format::Rbloom.encode(KeyKind::Sha256, &keys.key(i), &mut hash).map(|()| hash)
        }
        _ => Ok(keys.key(i)),
    };
    for i in 0..items {
        filter.insert(&key(i)?)?;
    }
    let mut passed = 0;
    let first = 1u64 << 40;
    for start in (first..first + STRANGERS).step_by(4096) {
        let asked: Vec<Vec<u8>> = (start..(start + 4096).min(first + STRANGERS))
            .map(key)
            .collect::<Result<_, Error>>()?;
        let slices: Vec<&[u8]> = asked.iter().map(Vec::as_slice).collect();
        passed += filter.contains_many(&slices).iter().filter(|passed| **passed).count();
    }
    Ok(passed as f64 / STRANGERS as f64)
}

fn percent(rate: f64) -> String {
    format!("{:.4}%", 100.0 * rate)
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    println!("as planned: 100,000 items");
    println!(
        "{:<21} {:>7} {:>6} {:>10} {:>6} {:>9} {:>9} {:>9}",
        "format", "items", "asked", "bits/item", "hashes", "expected", "random", "numbered"
    );
    for fpr in [0.01, 0.001] {
        for format in Format::ALL {
            row(usual(format), 100_000, 100_000, fpr)?;
        }
        println!();
    }
    println!("powers of two: parquet at 1%, by items");
    for items in [50_000, 60_000, 100_000, 107_000, 120_000] {
        row(usual(Format::Parquet), items, items, 0.01)?;
    }
    println!("\nbeyond the plan: made for 100,000 at 1%, holding 200,000");
    for name in ["guava", "parquet", "dcso", "valkey-bloom:scaling", "redisbloom:scaling"] {
        row(name.parse()?, 100_000, 200_000, 0.01)?;
    }
    println!("\nchains that were made for 1,000 at 1%, holding 200,000");
    for name in ["redisbloom:scaling", "valkey-bloom:scaling"] {
        row(name.parse()?, 1_000, 200_000, 0.01)?;
    }
    println!("\ntoo large for the format (expected, not measured): asked for 1%");
    for (name, items) in [
        ("guava:mitz32", 1_000_000_000u64),
        ("guava", 1_000_000_000),
        ("spark:1", 1_000_000_000),
        ("spark:2", 1_000_000_000),
        ("parquet", 100_000_000),
        ("parquet", 200_000_000),
    ] {
        let plan = Plan::with_form(name.parse()?, items, 0.01)?;
        let expected = percent(plan.expected_fpr(items));
        println!("{name:<16} {items:>13} items, {:>14} bits: {expected:>9}", plan.bits());
    }
    Ok(())
}

/// One line of the table.
fn row(target: Target, planned: u64, items: u64, fpr: f64) -> Result<(), Error> {
    let plan = Plan::with_form(target, planned, fpr)?;
    let [random, numbered] =
        [measure(&plan, items, Keys::Random)?, measure(&plan, items, Keys::Numbered)?];
    let is_chain = target.to_string().ends_with("scaling");
    let expected = if is_chain { "-".to_owned() } else { percent(plan.expected_fpr(items)) };
    let per_item = plan.bits() as f64 / planned as f64;
    println!(
        "{:<21} {items:>7} {:>6} {per_item:>10.2} {:>6} {expected:>9} {:>9} {:>9}",
        target.to_string(),
        format!("{}%", 100.0 * fpr),
        plan.hashes(),
        percent(random),
        percent(numbered),
    );
    Ok(())
}

fn usual(format: Format) -> Target {
    Target { format, form: Form::Usual }
}
