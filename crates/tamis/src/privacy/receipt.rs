//! What a release is paid with.

use super::{Epsilon, LedgerError};
use crate::Error;

/// A charge that pays for one release.
///
/// [`Ledger::charge`](super::Ledger::charge) gives a receipt, and publishing takes it: no charge,
/// no release. A receipt cannot be copied, so none pays twice:
///
/// ```
/// use tamis::privacy::{Ledger, LinearFilter, LinearPlan};
/// # let folder = tempfile::tempdir()?;
/// # let path = folder.path().join("patients.ledger");
/// let plan = LinearPlan::new(1_000, "2".parse()?)?;
/// let mut ledger = Ledger::create(&path, "8".parse()?, "patients")?;
/// let receipt = ledger.charge(plan.epsilon(), "spring.tamis")?;
/// let spring = LinearFilter::publish(plan, ["Zoë", "李雷"], receipt)?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// ```compile_fail,E0382
/// # use tamis::privacy::{Ledger, LinearFilter, LinearPlan};
/// # fn publish(ledger: &mut Ledger, plan: LinearPlan) -> Result<(), tamis::Error> {
/// let receipt = ledger.charge(plan.epsilon(), "spring.tamis")?;
/// let spring = LinearFilter::publish(plan, ["Zoë", "李雷"], receipt)?;
/// let again = LinearFilter::publish(plan, ["Zoë", "李雷"], receipt)?;     // it is used up
/// # Ok(())
/// # }
/// ```
///
/// ```compile_fail,E0599
/// # use tamis::privacy::Ledger;
/// # fn copy(ledger: &mut Ledger) -> Result<(), tamis::Error> {
/// let receipt = ledger.charge("2".parse()?, "spring.tamis")?;
/// let copy = receipt.clone();
/// # Ok(())
/// # }
/// ```
///
/// ```compile_fail,E0451
/// use tamis::privacy::{Epsilon, Receipt};
/// let forged = Receipt { epsilon: Epsilon::MAX, charge: None };
/// ```
///
/// A receipt that pays less than the release costs is refused, and is used up too:
///
/// ```
/// use tamis::privacy::{LinearFilter, LinearPlan, Receipt};
/// let plan = LinearPlan::new(1_000, "2".parse()?)?;
/// let refused = LinearFilter::publish(plan, ["Zoë"], Receipt::unrecorded("1".parse()?));
/// assert!(refused.unwrap_err().to_string().contains("pays 1"));
/// # Ok::<(), tamis::Error>(())
/// ```
#[derive(Debug, PartialEq, Eq)]
pub struct Receipt {
    epsilon: Epsilon,
    charge: Option<Charge>,
}

/// What the ledger noted.
#[derive(Debug, PartialEq, Eq)]
struct Charge {
    sequence: u64,
    left: Epsilon,
    note: String,
}

impl Receipt {
    /// A receipt for a loss that no [`Ledger`](super::Ledger) of this library has noted.
    ///
    /// **You are responsible for adding up what is lost.** This is for programs that keep a
    /// budget of their own, for examples, and for a set that is published once. Nothing refuses
    /// the release that is one too many.
    #[must_use]
    pub fn unrecorded(epsilon: Epsilon) -> Receipt {
        Receipt { epsilon, charge: None }
    }

    /// The receipt of a charge that is on the disk.
    pub(super) fn recorded(
        epsilon: Epsilon,
        sequence: u64,
        left: Epsilon,
        note: String,
    ) -> Receipt {
        Receipt { epsilon, charge: Some(Charge { sequence, left, note }) }
    }

    /// What was paid.
    #[must_use]
    pub fn epsilon(&self) -> Epsilon {
        self.epsilon
    }

    /// The number of the charge in its ledger, from 1, if there is a ledger.
    #[must_use]
    pub fn sequence(&self) -> Option<u64> {
        self.charge.as_ref().map(|charge| charge.sequence)
    }

    /// What was left of the budget after the charge, if there is a ledger.
    #[must_use]
    pub fn left(&self) -> Option<Epsilon> {
        self.charge.as_ref().map(|charge| charge.left)
    }

    /// What the charge is for, as the ledger notes it, if there is a ledger.
    #[must_use]
    pub fn note(&self) -> Option<&str> {
        self.charge.as_ref().map(|charge| &*charge.note)
    }

    /// Pays for a release that costs `cost`, if this is enough.
    pub(super) fn pay(self, cost: Epsilon) -> Result<(), Error> {
        if self.epsilon < cost {
            return Err(LedgerError::Unpaid { paid: self.epsilon, cost }.into());
        }
        Ok(())
    }
}
