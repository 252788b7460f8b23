//! A filter that many threads fill and ask at once, without a lock.

use crate::answers::{self, Answers};
use crate::bulk::{self, Keys, Options, Sink};
use crate::errors::{OrRaise, exception};
use crate::filter::{Failure, Filter};
use crate::keys::{PyKey, key_of};
use crate::rate::{hash_of, wrap};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use std::sync::atomic::{AtomicBool, Ordering};
use tamis::{
    AnyFilter, ConcurrentBlockedBloom, ConcurrentBloom as LibraryBloom, ConcurrentSplitBloom,
    Error, Key,
};

enum Shared {
    Bloom(LibraryBloom),
    Blocked(ConcurrentBlockedBloom),
    Split(ConcurrentSplitBloom),
}

/// Does the same with a filter of each layout.
macro_rules! each {
    ($shared:expr, $filter:ident => $work:expr) => {
        match $shared {
            Shared::Bloom($filter) => $work,
            Shared::Blocked($filter) => $work,
            Shared::Split($filter) => $work,
        }
    };
}

/// A filter that many threads fill and ask at once, without a lock. A key whose insertion is done
/// always passes.
///
/// >>> from concurrent.futures import ThreadPoolExecutor
/// >>> from tamis import ConcurrentBloom
/// >>> seen = ConcurrentBloom(1000, 0.01)
/// >>> with ThreadPoolExecutor(2) as threads:
/// ...     done = list(threads.map(seen.insert_many, [["ant"], ["bee"]]))
/// >>> "ant" in seen, "bee" in seen
/// (True, True)
/// >>> seen.snapshot().kind
/// 'blocked'
#[pyclass(frozen, weakref, module = "tamis")]
pub(crate) struct ConcurrentBloom {
    shared: Shared,
    hashed: AtomicBool,
}

impl ConcurrentBloom {
    fn note(&self, hashed: bool) {
        if hashed {
            self.hashed.store(true, Ordering::Relaxed);
        }
    }
}

#[pymethods]
impl ConcurrentBloom {
    #[new]
    #[pyo3(signature = (items, fpr, *, filter="blocked", seed=None, key=None))]
    fn new(
        py: Python<'_>,
        items: u64,
        fpr: f64,
        filter: &str,
        seed: Option<u64>,
        key: Option<&[u8]>,
    ) -> PyResult<ConcurrentBloom> {
        let hash = hash_of(py, seed, key)?;
        let made: Result<Shared, Error> = match filter {
            "bloom" => LibraryBloom::with_hash(items, fpr, hash).map(Shared::Bloom),
            "blocked" => ConcurrentBlockedBloom::with_hash(items, fpr, hash).map(Shared::Blocked),
            "split" => ConcurrentSplitBloom::with_hash(items, fpr, hash).map(Shared::Split),
            _ => {
                return Err(PyValueError::new_err(format!(
                    "there is no filter {filter:?} for many threads; there are bloom, blocked and \
                     split"
                )));
            }
        };
        Ok(ConcurrentBloom { shared: made.or_raise(py)?, hashed: AtomicBool::new(false) })
    }

    /// Puts a key in.
    #[pyo3(signature = (obj, /))]
    fn add(&self, obj: &Bound<'_, PyAny>) -> PyResult<()> {
        self.insert(obj).map(|_| ())
    }

    /// Puts a key in, and says whether it was certainly new: to one thread at most.
    #[pyo3(signature = (key, /))]
    fn insert(&self, key: &Bound<'_, PyAny>) -> PyResult<bool> {
        let key = key_of(key)?;
        self.note(key.is_hashed());
        Ok(each!(&self.shared, filter => filter.insert(&key)))
    }

    /// Puts in the keys of a list, an array or a column, and says how many were certainly new.
    #[pyo3(signature = (keys, /, *, progress=None))]
    fn insert_many<'py>(
        &self,
        keys: &Bound<'py, PyAny>,
        progress: Option<Bound<'py, PyAny>>,
    ) -> PyResult<u64> {
        bulk::check_many(keys)?;
        let mut put = Put { filter: self, new: 0 };
        bulk::feed(keys, &mut put, Options { function: None, progress })?;
        Ok(put.new)
    }

    fn __contains__(&self, key: &Bound<'_, PyAny>) -> PyResult<bool> {
        let key = key_of(key)?;
        Ok(each!(&self.shared, filter => filter.contains(&key)))
    }

    /// Whether each key of a list, an array or a column passes.
    #[pyo3(signature = (keys, /, *, nulls=None, progress=None))]
    fn contains_many<'py>(
        &self,
        keys: &Bound<'py, PyAny>,
        nulls: Option<bool>,
        progress: Option<Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        bulk::check_many(keys)?;
        let mut ask = Ask { filter: self, answers: Answers::default() };
        let source = bulk::feed(keys, &mut ask, Options { function: None, progress })?;
        answers::deliver(keys, source, ask.answers, nulls)
    }

    /// A plain filter with all keys whose insertion is done.
    fn snapshot<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        let any: Result<AnyFilter, Error> =
            py.detach(|| each!(&self.shared, filter => filter.snapshot().map(AnyFilter::from)));
        let filter = Filter::new(any.or_raise(py)?, None);
        if self.hashed.load(Ordering::Relaxed) {
            filter.note_hashed();
        }
        wrap(py, filter)
    }

    /// The share of bits that are set.
    #[getter]
    fn fill(&self, py: Python<'_>) -> f64 {
        py.detach(|| each!(&self.shared, filter => filter.fill()))
    }

    /// The bits of the filter.
    #[getter]
    fn size_in_bits(&self) -> u64 {
        each!(&self.shared, filter => filter.plan().bits())
    }

    fn __sizeof__(&self) -> usize {
        size_of::<ConcurrentBloom>() + (self.size_in_bits() / 8) as usize
    }

    fn __reduce__(&self, py: Python<'_>) -> PyResult<()> {
        let message = "a filter that threads share cannot be pickled; pickle its snapshot()";
        Err(exception(py, "UnsupportedError", message.to_owned()))
    }

    fn __repr__(&self, py: Python<'_>) -> String {
        let (plan, fill) = (each!(&self.shared, filter => *filter.plan()), self.fill(py));
        let (kind, items, fpr) = (plan.filter(), plan.items(), plan.fpr());
        format!("<ConcurrentBloom filter={kind} items={items} fpr={fpr} fill={fill:.4}>")
    }
}

struct Put<'f> {
    filter: &'f ConcurrentBloom,
    new: u64,
}

impl Sink for Put<'_> {
    fn take(
        &mut self,
        _py: Option<Python<'_>>,
        keys: &Keys<'_>,
        _valid: Option<&[bool]>,
    ) -> Result<(), Failure> {
        self.new += match keys {
            Keys::Naturals(keys) => {
                each!(&self.filter.shared, filter => filter.insert_many(keys.iter()))
            }
            Keys::Bytes(keys) => {
                each!(&self.filter.shared, filter => filter.insert_many(keys.iter()))
            }
            Keys::Any(keys) => {
                self.filter.note(keys.iter().any(PyKey::is_hashed));
                let keys = keys.iter().map(Key::as_key);
                each!(&self.filter.shared, filter => filter.insert_many(keys))
            }
            Keys::Numbers(_) => 0,
        };
        Ok(())
    }
}

struct Ask<'f> {
    filter: &'f ConcurrentBloom,
    answers: Answers,
}

impl Sink for Ask<'_> {
    fn take(
        &mut self,
        _py: Option<Python<'_>>,
        keys: &Keys<'_>,
        valid: Option<&[bool]>,
    ) -> Result<(), Failure> {
        let answers = match keys {
            Keys::Naturals(keys) => {
                each!(&self.filter.shared, filter => filter.contains_many(keys))
            }
            Keys::Bytes(keys) => each!(&self.filter.shared, filter => filter.contains_many(keys)),
            Keys::Any(keys) => each!(&self.filter.shared, filter => filter.contains_many(keys)),
            Keys::Numbers(_) => Vec::new(),
        };
        self.answers.push(&answers, valid);
        Ok(())
    }
}
