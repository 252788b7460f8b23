//! The library's errors as exceptions. Their sentences stay as they are.

use pyo3::exceptions::PyOSError;
use pyo3::prelude::*;
use pyo3::types::PyType;
use tamis::privacy::LedgerError;
use tamis::{Error, PartFault};

/// The class of tamis/_errors.py for an error.
fn class_of(error: &Error) -> &'static str {
    match error {
        Error::Items { .. }
        | Error::Rate { .. }
        | Error::TooFewBits { .. }
        | Error::TooManyBits { .. }
        | Error::CounterBits { .. }
        | Error::Hashes { .. }
        | Error::Threshold { .. }
        | Error::RateTooLow { .. }
        | Error::GrowthFactor { .. }
        | Error::EmptyUniverse
        | Error::EmptyInterval { .. }
        | Error::NoUniverse { .. }
        | Error::HexDigits { .. }
        | Error::Prefixes { .. }
        | Error::MoreThanUniverse { .. }
        | Error::Zone { .. }
        | Error::Blocks { .. }
        | Error::TooFewBlocks { .. }
        | Error::Growth { .. }
        | Error::Epsilon { .. }
        | Error::CountedItems { .. }
        | Error::PrivateRate { .. } => "PlanError",
        Error::Part(PartFault::Number { .. } | PartFault::TooManyItems { .. }) => "PlanError",
        Error::Part(PartFault::NotPart) => "FileError",
        Error::Mismatch { .. } | Error::Part(_) => "MismatchError",
        Error::Memory { .. } => "OutOfMemoryError",
        Error::NotTamis
        | Error::Kind { .. }
        | Error::TooNew { .. }
        | Error::NotBuilt { .. }
        | Error::Length { .. }
        | Error::Checksum { .. }
        | Error::NotZero { .. }
        | Error::ItemsHeld
        | Error::Field { .. } => "FileError",
        Error::KeyNeeded | Error::KeyUnneeded { .. } | Error::WrongKey | Error::ShortKey { .. } => {
            "SecretError"
        }
        Error::Absent => "AbsentError",
        Error::Outside { .. }
        | Error::RepeatedKey { .. }
        | Error::DictionaryNeeded { .. }
        | Error::WrongDictionary => "UniverseError",
        Error::Full { .. } | Error::NoSlot { .. } | Error::ChainFull { .. } => "FullError",
        Error::Unsupported { .. } | Error::Published { .. } | Error::NoDigest { .. } => {
            "UnsupportedError"
        }
        Error::Listing(_) => "ListingError",
        Error::Ledger(LedgerError::Budget { .. }) => "BudgetError",
        Error::Ledger(_) => "LedgerError",
        _ => "Error",
    }
}

/// An exception of tamis/_errors.py.
pub(crate) fn exception(py: Python<'_>, class: &str, message: String) -> PyErr {
    let found = py.import("tamis._errors").and_then(|module| module.getattr(class));
    match found.and_then(|class| Ok(class.cast_into::<PyType>()?)) {
        Ok(class) => PyErr::from_type(class, message),
        Err(error) => error,
    }
}

/// A filter that was closed, or a file that has no filter any more.
pub(crate) fn closed(py: Python<'_>) -> PyErr {
    exception(py, "ClosedError", "the filter was closed; open it again".to_owned())
}

/// Turns errors of the library into exceptions.
pub(crate) trait OrRaise<T> {
    fn or_raise(self, py: Python<'_>) -> PyResult<T>;
    /// The same with the path of the file, which the message begins with.
    fn or_raise_at(self, path: &Bound<'_, PyAny>) -> PyResult<T>;
}

impl<T> OrRaise<T> for Result<T, Error> {
    #[inline]
    fn or_raise(self, py: Python<'_>) -> PyResult<T> {
        self.map_err(|error| raised(py, error, None))
    }

    fn or_raise_at(self, path: &Bound<'_, PyAny>) -> PyResult<T> {
        self.map_err(|error| raised(path.py(), error, Some(path)))
    }
}

#[cold]
fn raised(py: Python<'_>, error: Error, path: Option<&Bound<'_, PyAny>>) -> PyErr {
    if let Error::Io(io) = &error {
        let Some(code) = io.raw_os_error() else {
            return PyOSError::new_err(io.to_string());
        };
        // Python chooses the subclass, such as FileNotFoundError, by the code.
        let strerror = py.import("os").and_then(|os| os.call_method1("strerror", (code,)));
        let reason = strerror.and_then(|text| text.extract::<String>());
        let reason = reason.unwrap_or_else(|_| io.to_string());
        return match path {
            Some(path) => PyOSError::new_err((code, reason, path.clone().unbind())),
            None => PyOSError::new_err((code, reason)),
        };
    }
    let message = match path {
        Some(path) => format!("{path}: {error}"),
        None => error.to_string(),
    };
    exception(py, class_of(&error), message)
}
