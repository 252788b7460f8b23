//! NumPy arrays, by the description that `__array_interface__` gives of their memory.

use super::Found;
use super::column::{Column, Items, Strings, Values};
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyTuple};

/// An array of one dimension.
pub(crate) struct Array<'py> {
    column: Column,
    /// Keeps the memory alive.
    _owner: Bound<'py, PyAny>,
}

impl Array<'_> {
    pub(super) fn column(&self) -> &Column {
        &self.column
    }
}

fn refused(what: &str) -> PyErr {
    PyTypeError::new_err(format!(
        "an array of {what} has no keys; use integers, floats, bool, text (U, StringDType), bytes \
         (S) or objects"
    ))
}

/// The array that an object is or becomes.
pub(super) fn find<'py>(source: &Bound<'py, PyAny>) -> PyResult<Option<Found<'py>>> {
    let py = source.py();
    let class = source.get_type();
    let dtype = match source.getattr(intern!(py, "dtype")) {
        Ok(dtype) if class.hasattr(intern!(py, "__array__"))? => dtype,
        _ => return Ok(None),
    };
    if !class.hasattr(intern!(py, "__array_interface__"))? {
        // An index of pandas has no interface, but becomes an array.
        let array = source.call_method0(intern!(py, "__array__"))?;
        if array.get_type().hasattr(intern!(py, "__array_interface__"))? {
            return find(&array);
        }
        return Ok(None);
    }
    let dimensions = source.getattr(intern!(py, "ndim"))?.extract::<usize>()?;
    if dimensions != 1 {
        return Err(PyValueError::new_err(format!(
            "an array of keys has 1 dimension (got {dimensions}); take one column, or ravel() it"
        )));
    }
    // StringDType and objects have no plain memory: Python makes their items.
    let kind: String = dtype.getattr(intern!(py, "kind"))?.extract()?;
    if kind == "T" || kind == "O" {
        return Ok(Some(Found::Objects(source.clone())));
    }
    if !["i", "u", "b", "f", "S", "U"].contains(&kind.as_str()) {
        return Err(refused(&dtype.str()?.to_string()));
    }
    let interface = source.getattr(intern!(py, "__array_interface__"))?;
    let interface = interface.cast::<PyDict>()?;
    let field = |name: &str| -> PyResult<Bound<'py, PyAny>> {
        interface.get_item(name)?.ok_or_else(|| refused("no plain memory"))
    };
    let (address, _): (usize, bool) = field("data")?.extract()?;
    let typestr: String = field("typestr")?.extract()?;
    let shape = field("shape")?;
    let rows: usize = shape.cast::<PyTuple>()?.get_item(0)?.extract()?;
    let width: usize = dtype.getattr(intern!(py, "itemsize"))?.extract()?;
    let step = match interface.get_item("strides")? {
        Some(strides) if !strides.is_none() => {
            strides.cast::<PyTuple>()?.get_item(0)?.extract::<isize>()?
        }
        _ => width as isize,
    };
    let other = if cfg!(target_endian = "little") { '>' } else { '<' };
    let start = std::ptr::with_exposed_provenance(address);
    let items = Items { start, step, width, swapped: typestr.starts_with(other) };
    let values = match (kind.as_str(), width) {
        ("i", 1 | 2 | 4 | 8) => Values::Integers { items, signed: true },
        ("u" | "b", 1 | 2 | 4 | 8) => Values::Integers { items, signed: false },
        ("f", 4 | 8) => Values::Floats(items),
        ("S", _) => Values::Strings(Strings::Padded(items)),
        ("U", _) => Values::Points(items),
        // Half and long floats: Python makes the items.
        _ => return Ok(Some(Found::Objects(source.clone()))),
    };
    let column = Column { rows, offset: 0, valid: None, values };
    Ok(Some(Found::Numpy(Array { column, _owner: source.clone() })))
}
