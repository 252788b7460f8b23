//! Filters of other programs.

use crate::errors::{OrRaise, closed, exception};
use crate::filter::{Filter, path_of};
use crate::guarded::Guarded;
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyBytes, PyFloat, PyInt, PyString, PyTuple};
use std::path::Path;
use tamis_foreign::{Error, ForeignFilter as LibraryFilter, Format, KeyKind, Open};

fn raised(py: Python<'_>, error: &Error) -> PyErr {
    let class = match error {
        Error::Key { .. } => return PyTypeError::new_err(error.to_string()),
        Error::Unsupported { .. } => "UnsupportedError",
        Error::Mismatch { .. } => "MismatchError",
        Error::Full { .. } => "FullError",
        Error::Memory { .. } => "OutOfMemoryError",
        _ => "FileError",
    };
    exception(py, class, error.to_string())
}

/// Reads a file of another program.
fn read(
    path: &Path,
    format: Option<Format>,
    max_memory: Option<u64>,
) -> Result<LibraryFilter, Error> {
    let mut open = Open::new();
    if let Some(format) = format {
        open = open.from(format);
    }
    if let Some(most) = max_memory {
        let len = std::fs::metadata(path).map_err(Error::Io)?.len();
        if len > most {
            return Err(Error::Memory { needed: len, allowed: Some(most) });
        }
        open = open.max_memory(most);
    }
    open.bytes(&std::fs::read(path).map_err(Error::Io)?)
}

/// The exception for a file that could not be opened.
fn refused(path: &Bound<'_, PyAny>, error: Error) -> PyErr {
    let py = path.py();
    match error {
        Error::Io(error) => {
            let raised = Err::<(), _>(tamis::Error::Io(error)).or_raise_at(path);
            raised.err().unwrap_or_else(|| closed(py))
        }
        Error::Memory { .. } => raised(py, &error),
        error => exception(py, "FileError", format!("{path}: {error}")),
    }
}

/// The format with this name.
pub(crate) fn format_of(name: &str) -> PyResult<Format> {
    Format::ALL.into_iter().find(|format| format.name() == name).ok_or_else(|| {
        let names: Vec<&str> = Format::ALL.iter().map(|format| format.name()).collect();
        PyValueError::new_err(format!(
            "there is no format {name:?}; there are {}",
            names.join(", ")
        ))
    })
}

/// A filter of another program, such as Guava, Spark, RedisBloom or rbloom. `tamis.open` makes it.
///
/// Text is a key as that program takes it, and so are integers (of 64 bits), floats and bytes,
/// where it has such keys. A filter of rbloom needs the hash function that it was made with.
#[pyclass(frozen, weakref, module = "tamis")]
pub(crate) struct ForeignFilter {
    filter: Guarded<Option<LibraryFilter>>,
    format: Format,
    function: Option<Py<PyAny>>,
}

impl ForeignFilter {
    fn new(filter: LibraryFilter, function: Option<Py<PyAny>>) -> ForeignFilter {
        let format = filter.format();
        ForeignFilter { filter: Guarded::new(Some(filter)), format, function }
    }

    fn read<R: Send>(
        &self,
        py: Python<'_>,
        work: impl FnOnce(&LibraryFilter) -> R + Send,
    ) -> PyResult<R> {
        self.filter.read_long(py, |filter| filter.as_ref().map(work)).ok_or_else(|| closed(py))
    }

    /// The bytes that the program hashes for a key.
    fn encode(&self, key: &Bound<'_, PyAny>) -> PyResult<Vec<u8>> {
        let py = key.py();
        let (kind, text) = if let Some(function) = &self.function {
            let number = Filter::call_hash_func(function, key)?;
            (KeyKind::Hash, format!("{:032x}", number as u128))
        } else if self.format == Format::Rbloom {
            let message = "a filter of rbloom is asked by the hash function that it was made \
                           with; give it to tamis.open";
            return Err(PyTypeError::new_err(message));
        } else if let Ok(text) = key.cast::<PyString>() {
            (KeyKind::Text, text.to_str()?.to_owned())
        } else if let Ok(bytes) = key.cast::<PyBytes>() {
            let hex = bytes.as_bytes().iter().map(|byte| format!("{byte:02x}")).collect();
            (KeyKind::Hex, hex)
        } else if key.is_instance_of::<PyInt>() && !key.is_instance_of::<PyBool>() {
            (KeyKind::Long, key.str()?.to_str()?.to_owned())
        } else if let Ok(float) = key.cast::<PyFloat>() {
            (KeyKind::Double, format!("{:?}", float.value()))
        } else {
            let class = key.get_type().name()?.to_string();
            let message = format!("a {class} is no key of {}; use str, bytes or int", self.format);
            return Err(PyTypeError::new_err(message));
        };
        let mut bytes = Vec::new();
        match self.format.encode(kind, text.as_bytes(), &mut bytes) {
            Ok(()) => Ok(bytes),
            Err(error) => Err(raised(py, &error)),
        }
    }
}

#[pymethods]
impl ForeignFilter {
    fn __contains__(&self, key: &Bound<'_, PyAny>) -> PyResult<bool> {
        let bytes = self.encode(key)?;
        self.read(key.py(), |filter| filter.contains(&bytes))
    }

    /// Whether each key of an iterable passes, as a list.
    #[pyo3(signature = (keys, /))]
    fn contains_many(&self, keys: &Bound<'_, PyAny>) -> PyResult<Vec<bool>> {
        crate::bulk::check_many(keys)?;
        let py = keys.py();
        let encoded: Vec<Vec<u8>> =
            keys.try_iter()?.map(|key| self.encode(&key?)).collect::<PyResult<_>>()?;
        let slices: Vec<&[u8]> = encoded.iter().map(Vec::as_slice).collect();
        self.read(py, |filter| filter.contains_many(&slices))
    }

    /// The bytes of the filter's file, as the other program writes it.
    fn save_bytes<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
        let bytes = self.read(py, LibraryFilter::to_bytes)?;
        Ok(PyBytes::new(py, &bytes.map_err(|error| raised(py, &error))?))
    }

    fn __enter__<'py>(slf: &Bound<'py, Self>) -> Bound<'py, Self> {
        slf.clone()
    }

    #[pyo3(signature = (*_error))]
    fn __exit__(&self, py: Python<'_>, _error: &Bound<'_, PyTuple>) {
        self.close(py);
    }

    /// Gives the memory back. Afterwards every call raises `ClosedError`.
    fn close(&self, py: Python<'_>) {
        self.filter.write_long(py, |filter| *filter = None);
    }

    /// The format: `guava`, `spark`, `rbloom`, ...
    #[getter]
    fn format(&self) -> &'static str {
        self.format.name()
    }

    /// The bits of the filter.
    #[getter]
    fn size_in_bits(&self, py: Python<'_>) -> PyResult<u64> {
        self.read(py, LibraryFilter::bits)
    }

    /// The number of items that the filter most likely holds.
    #[getter]
    fn approx_items(&self, py: Python<'_>) -> PyResult<f64> {
        self.read(py, LibraryFilter::estimated_items)
    }

    /// The share of bits that are set.
    #[getter]
    fn fill(&self, py: Python<'_>) -> PyResult<f64> {
        self.read(py, LibraryFilter::fill)
    }

    /// The share of strangers that pass the filter as it is now.
    #[getter]
    fn expected_fpr(&self, py: Python<'_>) -> PyResult<f64> {
        self.read(py, LibraryFilter::expected_fpr)
    }

    fn __repr__(&self, py: Python<'_>) -> String {
        let format = self.format;
        match self.read(py, |filter| (filter.bits(), filter.estimated_items())) {
            Ok((bits, items)) => {
                format!(
                    "<ForeignFilter format={format} size_in_bits={bits} approx_items={items:.1}>"
                )
            }
            Err(_) => format!("<ForeignFilter format={format} closed>"),
        }
    }

    fn __traverse__(&self, visit: pyo3::PyVisit<'_>) -> Result<(), pyo3::PyTraverseError> {
        visit.call(&self.function)
    }
}

/// Opens a file of another program.
pub(crate) fn open<'py>(
    path: &Bound<'py, PyAny>,
    format: Option<Format>,
    function: Option<Py<PyAny>>,
    max_memory: Option<u64>,
) -> PyResult<Bound<'py, PyAny>> {
    let py = path.py();
    let file = path_of(path)?;
    match py.detach(|| read(&file, format, max_memory)) {
        Ok(filter) => Ok(Bound::new(py, ForeignFilter::new(filter, function))?.into_any()),
        Err(Error::Unknown) if format.is_none() => Err(tamis::Error::NotTamis).or_raise_at(path),
        Err(error) => Err(refused(path, error)),
    }
}
