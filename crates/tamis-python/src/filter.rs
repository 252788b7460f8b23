//! The base class of every filter: a filter of the library, and what all kinds can do.

use crate::answers;
use crate::bulk::{self, Keys, Options, Sink};
use crate::errors::{OrRaise, closed, exception};
use crate::guarded::{Guarded, Session};
use crate::keys::{key_of, simple};
use crate::{foreign, notebook, plan, rate};
use pyo3::basic::CompareOp;
use pyo3::exceptions::PyTypeError;
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict, PyType};
use pyo3::{PyTraverseError, PyVisit};
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use tamis::format::AnyPlan;
use tamis::zone::Universe;
use tamis::{AnyFilter, Error, HashFamily, Open, SecretKey};

/// A filter of any kind. `tamis.open` makes one of the subclasses.
#[pyclass(subclass, frozen, weakref, module = "tamis")]
pub(crate) struct Filter {
    /// `None` after `close()`.
    any: Guarded<Option<AnyFilter>>,
    /// The user's function, if it is not the builtin `hash`.
    pub(crate) hash_func: Option<Py<PyAny>>,
    /// Whether it was given keys that only this process can ask for.
    hashed: AtomicBool,
}

/// Why a filter did not answer.
pub(crate) enum Failure {
    Library(Error),
    Closed,
}

impl From<Error> for Failure {
    fn from(error: Error) -> Failure {
        Failure::Library(error)
    }
}

impl Failure {
    pub(crate) fn raised(self, py: Python<'_>) -> PyErr {
        match self {
            Failure::Library(error) => match Err::<(), Error>(error).or_raise(py) {
                Err(raised) => raised,
                Ok(()) => closed(py),
            },
            Failure::Closed => closed(py),
        }
    }
}

impl Filter {
    pub(crate) fn new(any: impl Into<AnyFilter>, hash_func: Option<Py<PyAny>>) -> Filter {
        Filter { any: Guarded::new(Some(any.into())), hash_func, hashed: AtomicBool::new(false) }
    }

    /// Reads the filter. For work so short that other threads may wait for it.
    #[inline]
    pub(crate) fn read<R: Send>(
        &self,
        py: Python<'_>,
        work: impl FnOnce(&AnyFilter) -> R + Send,
    ) -> PyResult<R> {
        self.any.read(py, |any| any.as_ref().map(work)).ok_or_else(|| closed(py))
    }

    /// Reads the filter, while other Python threads run.
    pub(crate) fn read_long<R: Send>(
        &self,
        py: Python<'_>,
        work: impl FnOnce(&AnyFilter) -> R + Send,
    ) -> PyResult<R> {
        self.any.read_long(py, |any| any.as_ref().map(work)).ok_or_else(|| closed(py))
    }

    /// Changes the filter. For work so short that other threads may wait for it.
    #[inline]
    pub(crate) fn write<R: Send>(
        &self,
        py: Python<'_>,
        work: impl FnOnce(&mut AnyFilter) -> R + Send,
    ) -> PyResult<R> {
        self.any.write(py, |any| any.as_mut().map(work)).ok_or_else(|| closed(py))
    }

    /// Changes the filter, while other Python threads run.
    pub(crate) fn write_long<R: Send>(
        &self,
        py: Python<'_>,
        work: impl FnOnce(&mut AnyFilter) -> R + Send,
    ) -> PyResult<R> {
        self.any.write_long(py, |any| any.as_mut().map(work)).ok_or_else(|| closed(py))
    }

    /// Lets the filter be used without the global lock.
    pub(crate) fn session(&self, py: Python<'_>) -> Session<'_, Option<AnyFilter>> {
        self.any.session(py)
    }

    /// Changes this filter by another one. A filter by itself stays as it is.
    pub(crate) fn merge(
        &self,
        py: Python<'_>,
        other: &Filter,
        work: impl FnOnce(&mut AnyFilter, &AnyFilter) -> Result<(), Error> + Send,
    ) -> PyResult<()> {
        if std::ptr::eq(self, other) {
            return Ok(());
        }
        self.match_functions(py, other)?;
        let merged = self.any.write_by(py, &other.any, |mine, theirs| {
            match (mine.as_mut(), theirs.as_ref()) {
                (Some(mine), Some(theirs)) => work(mine, theirs).map_err(Failure::Library),
                _ => Err(Failure::Closed),
            }
        });
        merged.map_err(|failure| failure.raised(py))?;
        if other.has_hashed() {
            self.note_hashed();
        }
        Ok(())
    }

    /// Looks at two filters at once.
    fn beside<R: Send>(
        &self,
        py: Python<'_>,
        other: &Filter,
        work: impl FnOnce(&AnyFilter, &AnyFilter) -> Result<R, Error> + Send,
    ) -> PyResult<R> {
        self.match_functions(py, other)?;
        let seen = self.any.read_both(py, &other.any, |mine, theirs| {
            match (mine.as_ref(), theirs.as_ref()) {
                (Some(mine), Some(theirs)) => work(mine, theirs).map_err(Failure::Library),
                _ => Err(Failure::Closed),
            }
        });
        seen.map_err(|failure| failure.raised(py))
    }

    /// Refuses a filter with another hash function.
    fn match_functions(&self, py: Python<'_>, other: &Filter) -> PyResult<()> {
        let same = match (&self.hash_func, &other.hash_func) {
            (None, None) => true,
            (Some(mine), Some(theirs)) => mine.is(theirs),
            _ => false,
        };
        if same {
            return Ok(());
        }
        let message = "the filters differ in hash_func; make both with the same function";
        Err(exception(py, "MismatchError", message.to_owned()))
    }

    pub(crate) fn note_hashed(&self) {
        self.hashed.store(true, Ordering::Relaxed);
    }

    pub(crate) fn has_hashed(&self) -> bool {
        self.hashed.load(Ordering::Relaxed)
    }

    pub(crate) fn forget_hashed(&self) {
        self.hashed.store(false, Ordering::Relaxed);
    }

    /// Refuses to let keys out that another process would not find.
    fn check_lasting(&self, py: Python<'_>) -> PyResult<()> {
        if !self.has_hashed() {
            return Ok(());
        }
        let message = "the filter has keys that only Python's hash() knows, which is another one \
                       in every process: it cannot be saved or pickled; use str, bytes, numbers, \
                       dates, UUIDs, addresses or tuples of these as keys, or give a hash_func";
        Err(exception(py, "HashedKeysError", message.to_owned()))
    }

    /// What the user's hash function makes of an object.
    pub(crate) fn call_hash_func(
        function: &Py<PyAny>,
        object: &Bound<'_, PyAny>,
    ) -> PyResult<i128> {
        let value = function.bind(object.py()).call1((object,))?;
        value.extract()
    }

    /// Whether a key passes.
    #[inline]
    pub(crate) fn passes(&self, object: &Bound<'_, PyAny>) -> PyResult<bool> {
        if self.hash_func.is_none()
            && let Some(key) = simple(object)
            && let Some(answer) =
                self.any.read(object.py(), |any| bulk::has_simple(any.as_ref()?, key))
        {
            return Ok(answer);
        }
        self.passes_otherwise(object)
    }

    /// Other keys and other kinds of filters, out of the way of the common ones.
    #[inline(never)]
    fn passes_otherwise(&self, object: &Bound<'_, PyAny>) -> PyResult<bool> {
        let py = object.py();
        if let Some(function) = &self.hash_func {
            let number = Filter::call_hash_func(function, object)?;
            let keys = Keys::Numbers(&[number]);
            let answers = self.read(py, |any| bulk::contains(any, &keys))?.or_raise(py)?;
            return Ok(answers.first().copied().unwrap_or(false));
        }
        let key = key_of(object)?;
        self.read(py, |any| any.contains(&key))?.or_raise(py)
    }

    /// Puts a key in; says whether it was certainly new.
    #[inline]
    pub(crate) fn put(&self, object: &Bound<'_, PyAny>) -> PyResult<bool> {
        if self.hash_func.is_none()
            && let Some(key) = simple(object)
            && let Some(new) =
                self.any.write(object.py(), |any| bulk::put_simple(any.as_mut()?, key))
        {
            return Ok(new);
        }
        self.put_otherwise(object)
    }

    #[inline(never)]
    fn put_otherwise(&self, object: &Bound<'_, PyAny>) -> PyResult<bool> {
        let py = object.py();
        if let Some(function) = &self.hash_func {
            let number = Filter::call_hash_func(function, object)?;
            let keys = Keys::Numbers(&[number]);
            return Ok(self.write(py, |any| bulk::insert(any, &keys))?.or_raise(py)? > 0);
        }
        let key = key_of(object)?;
        if key.is_hashed() {
            self.note_hashed();
        }
        self.write(py, |any| any.insert(&key))?.or_raise(py)
    }

    /// A filter of the same class with this content.
    pub(crate) fn like<'py>(
        &self,
        py: Python<'py>,
        any: impl Into<AnyFilter>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let function = self.hash_func.as_ref().map(|function| function.clone_ref(py));
        let copy = Filter::new(any, function);
        if self.has_hashed() {
            copy.note_hashed();
        }
        rate::wrap(py, copy)
    }

    /// The bytes of its file.
    fn file(&self, py: Python<'_>) -> PyResult<Vec<u8>> {
        self.check_lasting(py)?;
        self.read_long(py, AnyFilter::to_bytes)
    }

    pub(crate) fn copied<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        let any = self.read_long(py, AnyFilter::clone)?;
        self.like(py, any)
    }
}

/// Refuses filters whose cells mean different things.
fn match_shapes(mine: &AnyFilter, theirs: &AnyFilter) -> Result<(), Error> {
    let differ = |field, left: String, right: String| Err(Error::Mismatch { field, left, right });
    if mine.kind() != theirs.kind() {
        return differ("filter", mine.kind().to_owned(), theirs.kind().to_owned());
    }
    if let (AnyPlan::Rate(l), AnyPlan::Rate(r)) = (mine.plan(), theirs.plan()) {
        if l.cells() != r.cells() {
            return differ("cells", l.cells().to_string(), r.cells().to_string());
        }
        if l.hashes() != r.hashes() {
            return differ("hashes", l.hashes().to_string(), r.hashes().to_string());
        }
    }
    if mine.plan().bits() != theirs.plan().bits() {
        let bits = |any: &AnyFilter| any.plan().bits().to_string();
        return differ("bits", bits(mine), bits(theirs));
    }
    if mine.hash() != theirs.hash() {
        let name = |any: &AnyFilter| any.hash().map_or("none", HashFamily::name).to_owned();
        return differ("hash or its seed", name(mine), name(theirs));
    }
    Ok(())
}

/// Whether all that `small` holds is in `large`, as far as filters can tell.
fn within(small: &AnyFilter, large: &AnyFilter) -> Result<bool, Error> {
    match_shapes(small, large)?;
    let mut both = small.clone();
    both.intersect(large)?;
    Ok(both.body_parts() == small.body_parts())
}

/// The answers of a comparison.
fn compare(mine: &AnyFilter, theirs: &AnyFilter, how: CompareOp) -> Result<bool, Error> {
    match_shapes(mine, theirs)?;
    let same = mine.body_parts() == theirs.body_parts();
    Ok(match how {
        CompareOp::Eq => same,
        CompareOp::Ne => !same,
        CompareOp::Le => same || within(mine, theirs)?,
        CompareOp::Ge => same || within(theirs, mine)?,
        CompareOp::Lt => !same && within(mine, theirs)?,
        CompareOp::Gt => !same && within(theirs, mine)?,
    })
}

/// A path as the library takes it: `str`, `bytes` or `os.PathLike`.
pub(crate) fn path_of(path: &Bound<'_, PyAny>) -> PyResult<PathBuf> {
    let py = path.py();
    let decoded = py.import(intern!(py, "os"))?.call_method1(intern!(py, "fsdecode"), (path,))?;
    decoded.extract()
}

/// How to open a file: what the arguments of `open` and `load` say.
pub(crate) fn options(
    py: Python<'_>,
    key: Option<&[u8]>,
    universe: Option<Universe>,
    max_memory: Option<u64>,
) -> PyResult<Open> {
    let mut open = Open::new();
    if let Some(key) = key {
        open = open.key(SecretKey::new(key).or_raise(py)?);
    }
    if let Some(universe) = universe {
        open = open.dictionary(universe);
    }
    if let Some(most) = max_memory {
        open = open.max_memory(most);
    }
    Ok(open)
}

/// Wraps a filter that was read, and refuses it if it is not of the class that was asked for.
fn of_class<'py>(
    class: &Bound<'py, PyType>,
    any: AnyFilter,
    hash_func: Option<Py<PyAny>>,
) -> PyResult<Bound<'py, PyAny>> {
    let py = class.py();
    let kind = any.kind();
    if hash_func.is_none() && any.kinds().to_string() == "digests" {
        let message = "the filter holds digests that its maker computed: without the hash_func \
                       of its maker, its members may not pass";
        let category = py.get_type::<pyo3::exceptions::PyUserWarning>();
        py.import("warnings")?.call_method1("warn", (message, category, 2))?;
    }
    let wrapped = rate::wrap(py, Filter::new(any, hash_func))?;
    if wrapped.is_instance(class)? {
        return Ok(wrapped);
    }
    let wanted = class.name()?;
    let message =
        format!("this is a {kind} filter, not a {wanted}; tamis.open opens a file of any kind");
    Err(exception(py, "FileError", message))
}

/// The user's function, unless it is the builtin `hash`, which is the default.
pub(crate) fn own_function(function: Option<Bound<'_, PyAny>>) -> PyResult<Option<Py<PyAny>>> {
    let Some(function) = function else { return Ok(None) };
    let py = function.py();
    if function.is(&builtin_hash(py)?) {
        return Ok(None);
    }
    if !function.is_callable() {
        let class = function.get_type().name()?.to_string();
        let message = format!("hash_func must be a function of one object (got {class})");
        return Err(PyTypeError::new_err(message));
    }
    Ok(Some(function.unbind()))
}

fn builtin_hash(py: Python<'_>) -> PyResult<Bound<'_, PyAny>> {
    py.import(intern!(py, "builtins"))?.getattr(intern!(py, "hash"))
}

#[pymethods]
impl Filter {
    /// Whether a key passes.
    #[inline]
    fn __contains__(&self, key: &Bound<'_, PyAny>) -> PyResult<bool> {
        self.passes(key)
    }

    /// Whether a key passes: the same as `key in filter`.
    #[pyo3(signature = (key, /))]
    fn contains(&self, key: &Bound<'_, PyAny>) -> PyResult<bool> {
        self.passes(key)
    }

    /// Whether each key of a list, an array or a column passes.
    ///
    /// A list or an iterator gives a list of bool, a NumPy array gives a NumPy array, and a column
    /// of pyarrow, Polars or pandas gives a column of that library. A null is answered by null, or
    /// by False with `nulls=False`. Other Python threads run meanwhile.
    ///
    /// >>> from tamis import Bloom
    /// >>> seen = Bloom(1000, 0.01)
    /// >>> seen.insert_many(["ant", "bee"])
    /// 2
    /// >>> seen.contains_many(["ant", "cat"])
    /// [True, False]
    #[pyo3(signature = (keys, /, *, nulls=None, progress=None))]
    fn contains_many<'py>(
        &self,
        keys: &Bound<'py, PyAny>,
        nulls: Option<bool>,
        progress: Option<Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        bulk::check_many(keys)?;
        let function = self.hash_func.as_ref();
        let mut asked = Asked { filter: self, session: None, answers: answers::Answers::default() };
        let options = Options { function, progress };
        let source = bulk::feed(keys, &mut asked, options)?;
        answers::deliver(keys, source, asked.answers, nulls)
    }

    /// Writes the filter to a file, whole or not at all.
    ///
    /// Every filter can be saved, except one with keys that only Python's own hash knows. The file
    /// opens in Rust, at the shell and everywhere else.
    #[pyo3(signature = (filepath))]
    fn save(&self, filepath: &Bound<'_, PyAny>) -> PyResult<()> {
        self.check_lasting(filepath.py())?;
        let path = path_of(filepath)?;
        self.read_long(filepath.py(), |any| any.save(&path))?.or_raise_at(filepath)
    }

    /// The bytes of the filter's file.
    fn save_bytes<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
        Ok(PyBytes::new(py, &self.file(py)?))
    }

    /// Reads a filter of this class from a file. The whole file is read and verified;
    /// `tamis.open` maps it instead.
    ///
    /// `hash_func` is the function that the filter was made with, if it was not the default, and
    /// `key` its secret key, if it has one.
    #[classmethod]
    #[pyo3(signature = (filepath, hash_func=None, *, key=None, dictionary=None, max_memory=None))]
    fn load<'py>(
        class: &Bound<'py, PyType>,
        filepath: &Bound<'py, PyAny>,
        hash_func: Option<Bound<'py, PyAny>>,
        key: Option<&[u8]>,
        dictionary: Option<&Bound<'py, PyAny>>,
        max_memory: Option<u64>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let py = class.py();
        let universe = dictionary.map(crate::zone::dictionary_of).transpose()?;
        let open = options(py, key, universe, max_memory)?;
        let function = own_function(hash_func)?;
        let path = path_of(filepath)?;
        let read = py.detach(|| open.reader(std::fs::File::open(&path)?));
        of_class(class, read.or_raise_at(filepath)?, function)
    }

    /// Reads a filter of this class from the bytes of a file, and verifies it.
    #[classmethod]
    #[pyo3(signature = (data, hash_func=None, *, key=None, dictionary=None, max_memory=None))]
    fn load_bytes<'py>(
        class: &Bound<'py, PyType>,
        data: &Bound<'py, PyBytes>,
        hash_func: Option<Bound<'py, PyAny>>,
        key: Option<&[u8]>,
        dictionary: Option<&Bound<'py, PyAny>>,
        max_memory: Option<u64>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let py = class.py();
        let universe = dictionary.map(crate::zone::dictionary_of).transpose()?;
        let open = options(py, key, universe, max_memory)?;
        let function = own_function(hash_func)?;
        let bytes = data.as_bytes();
        let read = py.detach(|| open.bytes(bytes));
        of_class(class, read.or_raise(py)?, function)
    }

    /// A copy in memory.
    fn copy<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        self.copied(py)
    }

    fn __copy__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        self.copied(py)
    }

    #[pyo3(signature = (memo, /))]
    fn __deepcopy__<'py>(&self, memo: &Bound<'py, PyDict>) -> PyResult<Bound<'py, PyAny>> {
        self.copied(memo.py())
    }

    /// A pickle is the bytes of the file.
    fn __reduce__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        let secret = self.read(py, |any| any.hash().is_some_and(|hash| hash.name() == "keyed"))?;
        if secret {
            let message = "a filter with a secret key cannot be pickled, because the key would \
                           travel with it; send save_bytes() and the key by ways of their own";
            return Err(exception(py, "SecretError", message.to_owned()));
        }
        let names = self.read_long(py, crate::zone::names_of)?;
        let names = names.map(|names| {
            names.into_iter().map(|name| PyBytes::new(py, &name).unbind()).collect::<Vec<_>>()
        });
        let bytes = PyBytes::new(py, &self.file(py)?);
        let function = self.hash_func.as_ref().map(|function| function.clone_ref(py));
        let restore = py.import("tamis._tamis")?.getattr("_restore")?;
        Ok((restore, (bytes, function, names)).into_pyobject(py)?.into_any())
    }

    fn __sizeof__(&self, py: Python<'_>) -> PyResult<usize> {
        let body = self.read(py, |any| any.plan().bytes())?;
        Ok(body as usize + size_of::<Filter>() + 2 * size_of::<usize>())
    }

    fn __richcmp__<'py>(
        &self,
        other: &Bound<'py, PyAny>,
        how: CompareOp,
    ) -> PyResult<Bound<'py, PyAny>> {
        let py = other.py();
        let Ok(other) = other.cast::<Filter>() else {
            return Ok(py.NotImplemented().into_bound(py));
        };
        let answer = self.beside(py, other.get(), |mine, theirs| compare(mine, theirs, how))?;
        Ok(answer.into_pyobject(py)?.to_owned().into_any())
    }

    /// False when nothing was inserted.
    fn __bool__(&self, py: Python<'_>) -> PyResult<bool> {
        self.read_long(py, |any| !any.is_empty())
    }

    fn __repr__(slf: &Bound<'_, Self>) -> PyResult<String> {
        let py = slf.py();
        let class = slf.get_type().name()?.to_string();
        Ok(slf
            .get()
            .read_long(py, |any| notebook::line(any, &class))
            .unwrap_or_else(|_| format!("<{class} closed>")))
    }

    /// The promise, the numbers, a picture of the cells and the trade-off, for notebooks.
    fn _repr_html_(slf: &Bound<'_, Self>) -> PyResult<String> {
        let class = slf.get_type().name()?.to_string();
        slf.get().read_long(slf.py(), |any| notebook::page(any, &class))
    }

    /// The picture of the filter's cells, as SVG.
    fn picture(slf: &Bound<'_, Self>) -> PyResult<Option<String>> {
        let class = slf.get_type().name()?.to_string();
        slf.get().read_long(slf.py(), |any| notebook::picture(any, &class))
    }

    fn __enter__<'py>(slf: &Bound<'py, Self>) -> Bound<'py, Self> {
        slf.clone()
    }

    #[pyo3(signature = (*_error))]
    fn __exit__(&self, py: Python<'_>, _error: &Bound<'_, pyo3::types::PyTuple>) {
        self.close(py);
    }

    /// Gives the memory or the mapped file back. Afterwards every call raises `ClosedError`.
    fn close(&self, py: Python<'_>) {
        self.any.write_long(py, |any| *any = None);
    }

    /// Whether `close` was called.
    #[getter]
    fn closed(&self, py: Python<'_>) -> bool {
        self.any.read(py, |any| any.is_none())
    }

    /// `bloom`, `blocked`, `static`, `zone`, ...
    #[getter]
    fn kind(&self, py: Python<'_>) -> PyResult<&'static str> {
        self.read(py, AnyFilter::kind)
    }

    /// `rate`, `zone` or `privacy`.
    #[getter]
    fn promise(&self, py: Python<'_>) -> PyResult<&'static str> {
        self.read(py, |any| any.promise().name())
    }

    /// The plan that the filter was made by.
    #[getter]
    fn plan<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyAny>>> {
        let plan = self.read(py, |any| plan::Owned::of(any.plan()))?;
        plan.map(|plan| plan.wrapped(py)).transpose()
    }

    /// The bits of the filter.
    #[getter]
    fn size_in_bits(&self, py: Python<'_>) -> PyResult<u64> {
        self.read(py, |any| any.plan().bits())
    }

    /// The bytes of the filter's file.
    #[getter]
    fn file_bytes(&self, py: Python<'_>) -> PyResult<u64> {
        self.read(py, |any| any.plan().file_bytes())
    }

    /// The number of items that the filter most likely holds; NaN if nobody can tell.
    #[getter]
    fn approx_items(&self, py: Python<'_>) -> PyResult<f64> {
        let items = self.read_long(py, AnyFilter::estimated_items)?;
        Ok(items.unwrap_or(f64::NAN))
    }

    /// The share of cells that are not empty.
    #[getter]
    fn fill(&self, py: Python<'_>) -> PyResult<f64> {
        self.read_long(py, AnyFilter::fill)
    }

    /// `within` while the filter keeps its promise, else `beyond`.
    #[getter]
    fn health(&self, py: Python<'_>) -> PyResult<String> {
        self.read_long(py, |any| any.health().to_string())
    }

    /// The share of strangers that pass the filter as it is now.
    #[getter]
    fn expected_fpr(&self, py: Python<'_>) -> PyResult<f64> {
        self.read_long(py, AnyFilter::expected_fpr)
    }

    /// The share of members that do not pass: 0, except in a published filter.
    #[getter]
    fn expected_fnr(&self, py: Python<'_>) -> PyResult<f64> {
        self.read_long(py, AnyFilter::expected_fnr)
    }

    /// Which kinds of keys were inserted: text, integers, digests, hashed values.
    #[getter]
    fn key_kinds(&self, py: Python<'_>) -> PyResult<String> {
        self.read(py, |any| any.kinds().to_string())
    }

    /// The hash family: `fast` or `keyed`; None for a zone filter, which has none.
    #[getter]
    fn hash_family(&self, py: Python<'_>) -> PyResult<Option<&'static str>> {
        self.read(py, |any| any.hash().map(HashFamily::name))
    }

    /// The public seed of the hash, if it has one.
    #[getter]
    fn seed(&self, py: Python<'_>) -> PyResult<Option<u64>> {
        self.read(py, |any| any.hash().and_then(HashFamily::seed))
    }

    /// The function that the filter was made with: the builtin `hash` unless one was given.
    ///
    /// By default the filter hashes text, bytes and numbers by their content, with the library's
    /// own hash. It never calls the builtin `hash` for them.
    #[getter]
    fn hash_func<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        match &self.hash_func {
            Some(function) => Ok(function.bind(py).clone()),
            None => builtin_hash(py),
        }
    }

    fn __traverse__(&self, visit: PyVisit<'_>) -> Result<(), PyTraverseError> {
        visit.call(&self.hash_func)
    }
}

/// Asks a filter for keys.
struct Asked<'f> {
    filter: &'f Filter,
    session: Option<Session<'f, Option<AnyFilter>>>,
    answers: answers::Answers,
}

impl Sink for Asked<'_> {
    fn take(
        &mut self,
        py: Option<Python<'_>>,
        keys: &Keys<'_>,
        valid: Option<&[bool]>,
    ) -> Result<(), Failure> {
        let ask = |any: &AnyFilter| bulk::contains(any, keys);
        let answers = match py {
            Some(py) => self.filter.read(py, ask).ok(),
            None => self.session.as_ref().and_then(|all| all.read(|any| any.as_ref().map(ask))),
        };
        self.answers.push(&answers.ok_or(Failure::Closed)??, valid);
        Ok(())
    }

    fn begin(&mut self, py: Python<'_>) {
        self.session = Some(self.filter.session(py));
    }

    fn end(&mut self) {
        self.session = None;
    }
}

/// Makes a filter of what its pickle holds.
#[pyfunction]
pub(crate) fn _restore<'py>(
    data: &Bound<'py, PyBytes>,
    hash_func: Option<Bound<'py, PyAny>>,
    names: Option<Vec<Bound<'py, PyBytes>>>,
) -> PyResult<Bound<'py, PyAny>> {
    let py = data.py();
    let keys = names.as_ref().map(|names| names.iter().map(|name| name.as_bytes()));
    let universe = keys.map(Universe::dictionary).transpose().or_raise(py)?;
    let any = options(py, None, universe, None)?.bytes(data.as_bytes()).or_raise(py)?;
    rate::wrap(py, Filter::new(any, own_function(hash_func)?))
}

/// Opens a file of any kind by mapping it into memory, which takes an instant for every size.
///
/// The header is checked; the whole body only with `verify=True`. Use it in a `with` statement, or
/// call `close()`. While the file is mapped, nobody may cut it short or write into it; replacing
/// it by another file, as `save` does, is safe. `mmap=False` reads the file instead.
///
/// A file of another program becomes a `ForeignFilter`. `format` says which program wrote it, if
/// its shape does not: `guava`, `spark`, `dcso`, `rbloom`, ...
///
/// >>> import tamis, tempfile, os
/// >>> path = os.path.join(tempfile.mkdtemp(), "seen.tamis")
/// >>> seen = tamis.Bloom(1000, 0.01)
/// >>> seen.add("ant")
/// >>> seen.save(path)
/// >>> with tamis.open(path) as opened:
/// ...     "ant" in opened
/// True
#[pyfunction]
#[pyo3(signature = (
    path, hash_func=None, *, key=None, dictionary=None, verify=false, mmap=true, max_memory=None,
    format=None
))]
#[allow(clippy::too_many_arguments)] // Python's keyword arguments
pub(crate) fn open<'py>(
    path: &Bound<'py, PyAny>,
    hash_func: Option<Bound<'py, PyAny>>,
    key: Option<&[u8]>,
    dictionary: Option<&Bound<'py, PyAny>>,
    verify: bool,
    mmap: bool,
    max_memory: Option<u64>,
    format: Option<&str>,
) -> PyResult<Bound<'py, PyAny>> {
    let py = path.py();
    let universe = dictionary.map(crate::zone::dictionary_of).transpose()?;
    let open = options(py, key, universe, max_memory)?;
    let function = own_function(hash_func)?;
    let file = path_of(path)?;
    if let Some(format) = format {
        return foreign::open(path, Some(foreign::format_of(format)?), function, max_memory);
    }
    let opened = py.detach(|| {
        if mmap {
            open.verify(verify).path(&file)
        } else {
            open.reader(std::fs::File::open(&file)?)
        }
    });
    match opened {
        // Perhaps another program wrote it.
        Err(Error::NotTamis) => foreign::open(path, None, function, max_memory),
        opened => of_class(&py.get_type::<Filter>(), opened.or_raise_at(path)?, function),
    }
}
