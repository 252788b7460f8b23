//! Columns of other libraries, read where they lie.
//!
//! | file | what it holds |
//! |---|---|
//! | `column` | a column of any layout, and how its rows become keys |
//! | `arrow` | the Arrow PyCapsule interface, in and out |
//! | `numpy` | NumPy arrays |

pub(crate) mod arrow;
mod column;
mod numpy;

use crate::bulk::{Meter, Sink};
use column::Column;
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyFrozenSet, PyList, PySet, PyTuple};

/// Where keys came from, which decides the form of the answers.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Source {
    Objects,
    Numpy,
    Arrow,
}

/// How many rows are done before the interpreter is asked whether to stop: some hundredths of a
/// second.
const SPAN: usize = 1 << 20;

/// A source that is a column.
pub(crate) enum Found<'py> {
    Array(arrow::Array<'py>),
    Stream(arrow::Stream<'py>),
    Numpy(numpy::Array<'py>),
    /// A NumPy array whose items Python has to make.
    Objects(Bound<'py, PyAny>),
}

/// The column that an object offers, if it does.
pub(crate) fn find<'py>(source: &Bound<'py, PyAny>) -> PyResult<Option<Found<'py>>> {
    let py = source.py();
    let plain = source.is_exact_instance_of::<PyList>()
        || source.is_exact_instance_of::<PyTuple>()
        || source.is_exact_instance_of::<PySet>()
        || source.is_exact_instance_of::<PyFrozenSet>()
        || source.is_exact_instance_of::<PyDict>();
    if plain {
        return Ok(None);
    }
    if source.hasattr(intern!(py, "__arrow_c_stream__"))? {
        let capsule = source.call_method0(intern!(py, "__arrow_c_stream__"))?;
        return Ok(Some(Found::Stream(arrow::Stream::new(capsule)?)));
    }
    if source.hasattr(intern!(py, "__arrow_c_array__"))? {
        let capsules = source.call_method0(intern!(py, "__arrow_c_array__"))?;
        return Ok(Some(Found::Array(arrow::Array::new(capsules)?)));
    }
    numpy::find(source)
}

impl<'py> Found<'py> {
    /// Hands all keys on.
    pub(crate) fn feed(
        self,
        py: Python<'py>,
        sink: &mut dyn Sink,
        progress: Option<Bound<'py, PyAny>>,
    ) -> PyResult<Source> {
        match self {
            Found::Array(array) => {
                let column = array.column()?;
                let meter = Meter::new(py, progress, Some(column.rows()))?;
                feed_column(py, &column, 0, sink, &meter)?;
                meter.close()?;
                Ok(Source::Arrow)
            }
            Found::Stream(stream) => {
                let meter = Meter::new(py, progress, None)?;
                let mut done = 0;
                while let Some(chunk) = stream.next(py)? {
                    let column = stream.column(&chunk)?;
                    feed_column(py, &column, done, sink, &meter)?;
                    done += column.rows();
                }
                meter.close()?;
                Ok(Source::Arrow)
            }
            Found::Numpy(array) => {
                let meter = Meter::new(py, progress, Some(array.column().rows()))?;
                feed_column(py, array.column(), 0, sink, &meter)?;
                meter.close()?;
                Ok(Source::Numpy)
            }
            Found::Objects(array) => {
                let options = crate::bulk::Options { function: None, progress };
                let list = array.call_method0(intern!(py, "tolist"))?;
                crate::bulk::feed_objects(&list, sink, options)?;
                Ok(Source::Numpy)
            }
        }
    }
}

/// Hands the rows of a column on while other Python threads run.
fn feed_column<'py>(
    py: Python<'py>,
    column: &Column,
    before: usize,
    sink: &mut dyn Sink,
    meter: &Meter<'py>,
) -> PyResult<()> {
    let rows = column.rows();
    let mut start = 0;
    while start < rows {
        let end = rows.min(start + SPAN.max(sink.batch()));
        sink.begin(py);
        let fed = py.detach(|| column.feed(start..end, sink));
        sink.end();
        fed.map_err(|failure| failure.raised(py))?;
        meter.tell(py, before + end)?;
        start = end;
    }
    Ok(())
}
