//! Share a list without giving away who is on it: a ledger pays, a release is drawn, and its
//! readers ask it.

use tamis::AnyFilter;
use tamis::privacy::{Ledger, LinearFilter, LinearPlan, floor};

fn main() -> Result<(), tamis::Error> {
    let folder = std::env::temp_dir().join(format!("tamis-publish-{}", std::process::id()));
    std::fs::create_dir_all(&folder)?;
    let (paid, shared) = (folder.join("suspects.ledger"), folder.join("suspects.tamis"));

    // The bank: room for 5,000 accounts, chosen before anybody counted; a loss of 4 each time, and
    // 8 in all.
    let suspects: Vec<String> = (0..4_321).map(|i| format!("account {}", i * 7)).collect();
    let plan = LinearPlan::new(5_000, "4".parse()?)?;
    let mut ledger = Ledger::create(&paid, "8".parse()?, "suspicious accounts")?;
    let receipt = ledger.charge(plan.epsilon(), "for the other banks")?;
    LinearFilter::publish(plan, &suspects, receipt)?.save(&shared)?;
    println!("spent {}, {} is left", ledger.spent(), ledger.left());

    // Another bank: which of its customers had better be looked at?
    let public = AnyFilter::open(&shared)?;
    let customers: Vec<String> = (0..30_000).map(|i| format!("account {i}")).collect();
    let passed = public.contains_many(&customers)?.into_iter().filter(|passed| *passed).count();
    println!(
        "{passed} of {} customers pass; {:.1}% of strangers do, and as many members do not; no \
         private filter does better than {:.1}%",
        customers.len(),
        100.0 * plan.fpr(),
        100.0 * floor(plan.epsilon()),
    );
    std::fs::remove_dir_all(&folder)?;
    Ok(())
}
