//! The privacy promise: filters that are published, and the ledger of what they cost.

use crate::bulk::{self, Keys, Options, Sink};
use crate::errors::{OrRaise, exception};
use crate::filter::{Failure, Filter, path_of};
use crate::keys::PyKey;
use crate::plan::{Owned, Plan};
use crate::rate::wrap;
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyFloat};
use std::sync::{Mutex, PoisonError};
use tamis::privacy::{Delta, Epsilon, Ledger as LibraryLedger, LinearDraft, Receipt, UltraFilter};
use tamis::{AnyFilter, Error};

/// The loss that an argument means: an integer, a float, a Decimal or its text.
pub(crate) fn epsilon_of(given: &Bound<'_, PyAny>) -> PyResult<Epsilon> {
    let py = given.py();
    if given.is_instance_of::<PyBool>() || given.is_none() {
        let class = given.get_type().name()?.to_string();
        return Err(PyTypeError::new_err(format!("epsilon is a number (got {class})")));
    }
    if let Ok(value) = given.cast::<PyFloat>() {
        return Epsilon::try_from(value.value()).or_raise(py);
    }
    given.str()?.to_str()?.parse::<Epsilon>().or_raise(py)
}

/// The chance that an argument means: a float, a Decimal or its text.
fn delta_of(given: &Bound<'_, PyAny>) -> PyResult<Delta> {
    if given.is_instance_of::<PyBool>() {
        return Err(PyTypeError::new_err("delta is a number (got bool)"));
    }
    given.str()?.to_str()?.parse::<Delta>().or_raise(given.py())
}

fn loss(filter: &Filter, py: Python<'_>) -> PyResult<f64> {
    let epsilon = filter.read(py, AnyFilter::epsilon)?;
    Ok(epsilon.map_or(f64::NAN, Epsilon::to_f64))
}

/// A published filter with the least errors that its epsilon allows. `tamis.publish` makes it. It
/// takes no keys, and lists none.
#[pyclass(extends = Filter, frozen, weakref, module = "tamis")]
pub(crate) struct LinearFilter;

#[pymethods]
impl LinearFilter {
    /// What the release tells of one item that is added or removed.
    #[getter]
    fn epsilon(slf: &Bound<'_, Self>) -> PyResult<f64> {
        loss(slf.as_super().get(), slf.py())
    }
}

/// A Bloom filter that was published under noise. `tamis.publish` makes it with `method="bloom"`.
#[pyclass(extends = Filter, frozen, weakref, module = "tamis")]
pub(crate) struct PublicBloom;

#[pymethods]
impl PublicBloom {
    /// What the release tells of one item that is added or removed.
    #[getter]
    fn epsilon(slf: &Bound<'_, Self>) -> PyResult<f64> {
        loss(slf.as_super().get(), slf.py())
    }
}

/// A filter before it is published.
enum Draft {
    Linear(LinearDraft),
    Ultra(UltraFilter),
}

struct Drafted {
    draft: Draft,
    /// Whether a key came that nobody else could ask for.
    hashed: bool,
}

impl Drafted {
    fn put<K: tamis::Key>(&mut self, keys: impl Iterator<Item = K>) -> Result<(), Error> {
        match &mut self.draft {
            Draft::Linear(draft) => {
                for key in keys {
                    draft.insert(key)?;
                }
            }
            Draft::Ultra(filter) => {
                filter.insert_many(keys);
            }
        }
        Ok(())
    }
}

impl Sink for Drafted {
    fn take(
        &mut self,
        _py: Option<Python<'_>>,
        keys: &Keys<'_>,
        _valid: Option<&[bool]>,
    ) -> Result<(), Failure> {
        match keys {
            Keys::Naturals(keys) => self.put(keys.iter())?,
            Keys::Bytes(keys) => self.put(keys.iter())?,
            Keys::Any(keys) => {
                self.hashed |= keys.iter().any(PyKey::is_hashed);
                self.put(keys.iter())?;
            }
            Keys::Numbers(numbers) => self.put(numbers.iter())?,
        }
        Ok(())
    }
}

/// Publishes a set: the filter may be given away, and says of any one item at most a factor
/// e^epsilon.
///
/// The plan says how many items there may be; counting them from the set would publish the count.
/// Each release costs its epsilon again. A `Ledger` adds up what is spent, and refuses past its
/// budget: it is charged before the noise is drawn.
///
/// >>> import tamis
/// >>> plan = tamis.plan_privacy(1000, 4)
/// >>> release = tamis.publish(["ant", "bee"], plan)
/// >>> release.promise, release.epsilon
/// ('privacy', 3.951243719)
#[pyfunction]
#[pyo3(signature = (keys, plan, *, ledger=None, note="", progress=None))]
pub(crate) fn publish<'py>(
    keys: &Bound<'py, PyAny>,
    plan: &Bound<'py, Plan>,
    ledger: Option<&Bound<'py, Ledger>>,
    note: &str,
    progress: Option<Bound<'py, PyAny>>,
) -> PyResult<Bound<'py, PyAny>> {
    bulk::check_many(keys)?;
    let py = keys.py();
    let (draft, epsilon) = match &plan.get().0 {
        Owned::Linear(plan) => {
            (Draft::Linear(LinearDraft::new(*plan).or_raise(py)?), plan.epsilon())
        }
        Owned::Ultra(plan) => (Draft::Ultra(UltraFilter::new(*plan).or_raise(py)?), plan.epsilon()),
        _ => return Err(PyTypeError::new_err("publish by a plan of tamis.plan_privacy")),
    };
    let mut drafted = Drafted { draft, hashed: false };
    bulk::feed(keys, &mut drafted, Options { function: None, progress })?;
    if drafted.hashed {
        let message = "some keys are known by Python's hash() only, so nobody else could ask for \
                       them; publish text, bytes, numbers, dates, UUIDs, addresses or tuples";
        return Err(exception(py, "HashedKeysError", message.to_owned()));
    }
    let receipt = match ledger {
        Some(ledger) => ledger.get().charge_by(py, epsilon, note)?,
        None => Receipt::unrecorded(epsilon),
    };
    let any: Result<AnyFilter, Error> = py.detach(|| {
        Ok(match drafted.draft {
            Draft::Linear(draft) => draft.publish(receipt)?.into(),
            Draft::Ultra(filter) => filter.publish(receipt)?.into(),
        })
    });
    wrap(py, Filter::new(any.or_raise(py)?, None))
}

/// A file that counts the epsilon spent on one set of items, and refuses past its budget.
///
/// >>> import tamis, tempfile, os
/// >>> path = os.path.join(tempfile.mkdtemp(), "patients.ledger")
/// >>> ledger = tamis.Ledger.create(path, 10, about="patients")
/// >>> ledger.charge(4, note="spring")
/// 6.0
/// >>> ledger.spent, [entry.note for entry in ledger.entries]
/// (4.0, ['spring'])
#[pyclass(frozen, module = "tamis")]
pub(crate) struct Ledger(Mutex<LibraryLedger>);

/// A charge that was made.
#[pyclass(frozen, get_all, module = "tamis")]
pub(crate) struct LedgerEntry {
    /// The charges are counted from 1.
    sequence: u64,
    /// What was charged.
    epsilon: f64,
    /// When, in UTC.
    time: String,
    /// What for.
    note: String,
}

#[pymethods]
impl LedgerEntry {
    fn __repr__(&self) -> String {
        let LedgerEntry { sequence, epsilon, time, note } = self;
        format!("<LedgerEntry {sequence} epsilon={epsilon} time={time} note={note:?}>")
    }
}

impl Ledger {
    fn new(ledger: LibraryLedger) -> Ledger {
        Ledger(Mutex::new(ledger))
    }

    fn with<R: Send>(
        &self,
        py: Python<'_>,
        work: impl FnOnce(&mut LibraryLedger) -> R + Send,
    ) -> R {
        py.detach(|| work(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner)))
    }

    pub(crate) fn charge_by(
        &self,
        py: Python<'_>,
        epsilon: Epsilon,
        note: &str,
    ) -> PyResult<Receipt> {
        self.with(py, |ledger| ledger.charge(epsilon, note)).or_raise(py)
    }
}

#[pymethods]
impl Ledger {
    /// Makes a new ledger. An existing file stays as it is, and that is an error. With a `delta`,
    /// a chance such as 1e-6 of a larger loss, many small releases cost less than their sum.
    #[staticmethod]
    #[pyo3(signature = (path, budget, *, delta=None, about=""))]
    fn create(
        path: &Bound<'_, PyAny>,
        budget: &Bound<'_, PyAny>,
        delta: Option<&Bound<'_, PyAny>>,
        about: &str,
    ) -> PyResult<Ledger> {
        let (py, budget, file) = (path.py(), epsilon_of(budget)?, path_of(path)?);
        let delta = delta.map(delta_of).transpose()?;
        let made = py.detach(|| match delta {
            None => LibraryLedger::create(&file, budget, about),
            Some(delta) => LibraryLedger::create_with_delta(&file, budget, delta, about),
        });
        made.or_raise_at(path).map(Ledger::new)
    }

    /// Opens a ledger.
    #[staticmethod]
    fn open(path: &Bound<'_, PyAny>) -> PyResult<Ledger> {
        let file = path_of(path)?;
        path.py().detach(|| LibraryLedger::open(&file)).or_raise_at(path).map(Ledger::new)
    }

    /// Repairs a ledger whose last line was torn by a crash. The torn charge counts as spent.
    #[staticmethod]
    fn repair(path: &Bound<'_, PyAny>) -> PyResult<Ledger> {
        let file = path_of(path)?;
        path.py().detach(|| LibraryLedger::repair(&file)).or_raise_at(path).map(Ledger::new)
    }

    /// Charges the ledger, durably, and says what is left. `BudgetError` if the budget does not
    /// allow it; nothing is charged then.
    #[pyo3(signature = (epsilon, *, note=""))]
    fn charge(&self, epsilon: &Bound<'_, PyAny>, note: &str) -> PyResult<f64> {
        let receipt = self.charge_by(epsilon.py(), epsilon_of(epsilon)?, note)?;
        Ok(receipt.left().map_or(0.0, Epsilon::to_f64))
    }

    /// The whole budget.
    #[getter]
    fn budget(&self, py: Python<'_>) -> f64 {
        self.with(py, |ledger| ledger.budget().to_f64())
    }

    /// What was spent.
    #[getter]
    fn spent(&self, py: Python<'_>) -> f64 {
        self.with(py, |ledger| ledger.spent().to_f64())
    }

    /// What is left.
    #[getter]
    fn left(&self, py: Python<'_>) -> f64 {
        self.with(py, |ledger| ledger.left().to_f64())
    }

    /// What the ledger is for.
    #[getter]
    fn about(&self, py: Python<'_>) -> String {
        self.with(py, |ledger| ledger.about().to_owned())
    }

    /// How many more charges of this loss the budget allows, counted up to `most`.
    #[pyo3(signature = (epsilon, *, most=10_000))]
    fn charges_left(&self, epsilon: &Bound<'_, PyAny>, most: u64) -> PyResult<u64> {
        let epsilon_each = epsilon_of(epsilon)?;
        Ok(self.with(epsilon.py(), |ledger| ledger.charges_left(epsilon_each, most)))
    }

    /// The chance of a larger loss, if the ledger allows one.
    #[getter]
    fn delta(&self, py: Python<'_>) -> Option<f64> {
        self.with(py, |ledger| ledger.delta().map(Delta::to_f64))
    }

    /// When it was made, in UTC.
    #[getter]
    fn created(&self, py: Python<'_>) -> String {
        self.with(py, |ledger| ledger.created().to_string())
    }

    /// All charges.
    #[getter]
    fn entries(&self, py: Python<'_>) -> Vec<LedgerEntry> {
        self.with(py, |ledger| {
            let entry = |entry: &tamis::privacy::Entry| LedgerEntry {
                sequence: entry.sequence,
                epsilon: entry.epsilon.to_f64(),
                time: entry.time.to_string(),
                note: entry.note.clone(),
            };
            ledger.entries().iter().map(entry).collect()
        })
    }

    fn __repr__(&self, py: Python<'_>) -> String {
        self.with(py, |ledger| {
            let (spent, budget) = (ledger.spent(), ledger.budget());
            format!("<Ledger {:?} spent={spent} budget={budget}>", ledger.about())
        })
    }
}
