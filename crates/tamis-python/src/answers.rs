//! What `contains_many` gives back.

use crate::columns::{Source, arrow};
use pyo3::exceptions::{PyIndexError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyByteArray, PyCapsule, PyList};

/// Answers in the order of the rows.
#[derive(Default)]
pub(crate) struct Answers {
    values: Vec<bool>,
    /// Which rows had a key; `None` while all had.
    valid: Option<Vec<bool>>,
}

impl Answers {
    /// Appends the answers for the rows that have a key.
    pub(crate) fn push(&mut self, answers: &[bool], valid: Option<&[bool]>) {
        let Some(rows) = valid else {
            if let Some(valid) = &mut self.valid {
                valid.resize(valid.len() + answers.len(), true);
            }
            self.values.extend_from_slice(answers);
            return;
        };
        let before = self.values.len();
        self.valid.get_or_insert_with(|| vec![true; before]).extend_from_slice(rows);
        let mut answers = answers.iter();
        let answer = |valid: &bool| *valid && answers.next().copied().unwrap_or(false);
        self.values.extend(rows.iter().map(answer));
    }
}

/// Gives the answers in the form of the question.
pub(crate) fn deliver<'py>(
    keys: &Bound<'py, PyAny>,
    source: Source,
    mut answers: Answers,
    nulls: Option<bool>,
) -> PyResult<Bound<'py, PyAny>> {
    let py = keys.py();
    match nulls {
        None => {}
        Some(false) => answers.valid = None,
        Some(true) => {
            let message = "a null is never in a filter: nulls is None or False (got True)";
            return Err(PyValueError::new_err(message));
        }
    }
    match source {
        Source::Objects => Ok(PyList::new(py, answers.values)?.into_any()),
        Source::Numpy => Booleans(answers).to_numpy(py),
        Source::Arrow => {
            let column = Bound::new(py, Booleans(answers))?;
            py.import("tamis._columns")?.call_method1("like", (keys, column))
        }
    }
}

/// A column of answers: true, false or null.
///
/// pyarrow, Polars and DuckDB read it by the Arrow PyCapsule interface: `pyarrow.array(answers)`,
/// `polars.Series(answers)`.
#[pyclass(frozen, module = "tamis", name = "Booleans")]
pub(crate) struct Booleans(Answers);

impl Booleans {
    fn get(&self, row: usize) -> Option<bool> {
        let valid = self.0.valid.as_ref().is_none_or(|valid| valid[row]);
        valid.then(|| self.0.values[row])
    }
}

#[pymethods]
impl Booleans {
    fn __len__(&self) -> usize {
        self.0.values.len()
    }

    fn __getitem__(&self, row: isize) -> PyResult<Option<bool>> {
        let len = self.0.values.len();
        let place = if row < 0 { row.wrapping_add_unsigned(len) } else { row };
        match usize::try_from(place) {
            Ok(place) if place < len => Ok(self.get(place)),
            _ => Err(PyIndexError::new_err(format!("there are {len} answers (got row {row})"))),
        }
    }

    /// How many answers are null.
    #[getter]
    fn null_count(&self) -> usize {
        self.0.valid.as_ref().map_or(0, |valid| valid.iter().filter(|valid| !**valid).count())
    }

    /// The answers as a list of True, False and None.
    fn to_pylist(&self) -> Vec<Option<bool>> {
        (0..self.0.values.len()).map(|row| self.get(row)).collect()
    }

    /// The answers as a NumPy array of bool. It has no place for nulls: `contains_many` with
    /// `nulls=False` answers them by False.
    fn to_numpy<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        let nulls = self.null_count();
        if nulls > 0 {
            return Err(PyValueError::new_err(format!(
                "an array of bool has no place for the {nulls} nulls; ask with nulls=False"
            )));
        }
        let values = &self.0.values;
        let bytes = PyByteArray::new_with(py, values.len(), |bytes| {
            for (byte, value) in bytes.iter_mut().zip(values) {
                *byte = u8::from(*value);
            }
            Ok(())
        })?;
        let numpy = py.import("numpy")?;
        numpy.call_method1("frombuffer", (bytes, numpy.getattr("bool_")?))
    }

    fn __repr__(&self) -> String {
        format!("<Booleans rows={} nulls={}>", self.0.values.len(), self.null_count())
    }

    fn __arrow_c_schema__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyCapsule>> {
        arrow::boolean_schema(py)
    }

    #[pyo3(signature = (requested_schema=None))]
    fn __arrow_c_array__<'py>(
        &self,
        py: Python<'py>,
        requested_schema: Option<Bound<'py, PyAny>>,
    ) -> PyResult<(Bound<'py, PyCapsule>, Bound<'py, PyCapsule>)> {
        // Only booleans can be had: the interface lets a producer ignore the request.
        drop(requested_schema);
        let array = arrow::boolean(py, &self.0.values, self.0.valid.as_deref())?;
        Ok((arrow::boolean_schema(py)?, array))
    }
}
