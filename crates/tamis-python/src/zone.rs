//! The zone promise: filters that answer nobody wrongly, up to a number of items.

use crate::errors::OrRaise;
use crate::filter::Filter;
use crate::keys::key_of;
use crate::plan::zone_plan;
use crate::rate::{self, MutableFilter};
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyBytes, PyInt, PyRange, PyString};
use std::ops::ControlFlow;
use std::time::{Duration, Instant};
use tamis::zone::{List, Method, Plan, Size, Universe as LibraryUniverse};
use tamis::{AnyFilter, Error};

/// How often a long listing asks the interpreter whether to stop.
const TICK: Duration = Duration::from_millis(50);

/// The finite set that the elements of a zone filter come from.
///
/// >>> from tamis import Universe
/// >>> Universe.interval(1, 48)
/// <Universe the integers 1..48>
#[pyclass(frozen, module = "tamis")]
pub(crate) struct Universe(pub(crate) LibraryUniverse);

#[pymethods]
impl Universe {
    /// The integers from `first` to `last`.
    #[staticmethod]
    fn interval(py: Python<'_>, first: u128, last: u128) -> PyResult<Universe> {
        LibraryUniverse::interval(first, last).or_raise(py).map(Universe)
    }

    /// The integers from 0 to `size - 1`.
    #[staticmethod]
    #[pyo3(signature = (size, /))]
    fn sized(size: &Bound<'_, PyAny>) -> PyResult<Universe> {
        sized(size).map(Universe)
    }

    /// The IPv4 addresses: as `ipaddress.IPv4Address`, as text, or as integers.
    #[staticmethod]
    fn ipv4() -> Universe {
        Universe(LibraryUniverse::ipv4())
    }

    /// The universe that a text names: "1..48", "ipv6", "10.0.0.0/8", "uuid", "mac", "hex:20",
    /// "ipv4-prefixes", "ipv6-prefixes:48".
    #[staticmethod]
    #[pyo3(signature = (text, /))]
    fn parse(py: Python<'_>, text: &str) -> PyResult<Universe> {
        text.parse::<LibraryUniverse>().or_raise(py).map(Universe)
    }

    /// All keys that there are, each once.
    #[staticmethod]
    #[pyo3(signature = (keys, /))]
    fn dictionary(keys: &Bound<'_, PyAny>) -> PyResult<Universe> {
        dictionary_of(keys).map(Universe)
    }

    /// How many elements there are.
    #[getter]
    fn size<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        elements_of(py, self.0.size())
    }

    /// What the elements are: "integers", "ipv4", "ipv6", "uuid", "mac", "hex", "ipv4-prefixes",
    /// "ipv6-prefixes" or "dictionary".
    #[getter]
    fn kind(&self) -> &'static str {
        self.0.kind()
    }

    /// The number of an element, from 0 to `size - 1`.
    #[pyo3(signature = (key, /))]
    fn number(&self, key: &Bound<'_, PyAny>) -> PyResult<u128> {
        self.0.number(&key_of(key)?).or_raise(key.py())
    }

    fn __eq__(&self, other: &Bound<'_, PyAny>) -> bool {
        other.cast::<Universe>().is_ok_and(|other| other.get().0 == self.0)
    }

    fn __repr__(&self) -> String {
        format!("<Universe {}>", self.0)
    }

    fn __reduce__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        let class = py.get_type::<Universe>();
        if let Some(text) = self.0.text() {
            return Ok((class.getattr("parse")?, (text,)).into_pyobject(py)?.into_any());
        }
        let names = names_in(&self.0).unwrap_or_default();
        let names: Vec<_> = names.iter().map(|name| PyBytes::new(py, name)).collect();
        Ok((class.getattr("dictionary")?, (names,)).into_pyobject(py)?.into_any())
    }
}

/// A number of elements as an integer of Python, which has no bound.
pub(crate) fn elements_of(py: Python<'_>, size: Size) -> PyResult<Bound<'_, PyAny>> {
    size.last().into_pyobject(py)?.into_any().add(1)
}

/// The integers below `size`, which is at most 2**128.
fn sized(size: &Bound<'_, PyAny>) -> PyResult<LibraryUniverse> {
    let py = size.py();
    if size.le(0)? {
        return LibraryUniverse::sized(0).or_raise(py);
    }
    let last: u128 = size.sub(1)?.extract()?;
    LibraryUniverse::interval(0, last).or_raise(py)
}

/// The universe that an argument means.
pub(crate) fn universe_of(given: &Bound<'_, PyAny>) -> PyResult<LibraryUniverse> {
    let py = given.py();
    if let Ok(universe) = given.cast::<Universe>() {
        return Ok(universe.get().0.clone());
    }
    if let Ok(name) = given.cast::<PyString>() {
        return name.to_str()?.parse().or_raise(py);
    }
    if given.is_instance_of::<PyInt>() && !given.is_instance_of::<PyBool>() {
        return sized(given);
    }
    if let Ok(range) = given.cast::<PyRange>() {
        if !given.getattr("step")?.eq(1)? || range.is_empty()? {
            return Err(PyValueError::new_err("a universe is a range with the step 1, not empty"));
        }
        let first: u128 = given.getattr("start")?.extract()?;
        let last: u128 = given.getattr("stop")?.sub(1)?.extract()?;
        return LibraryUniverse::interval(first, last).or_raise(py);
    }
    dictionary_of(given)
}

/// The dictionary of these keys.
pub(crate) fn dictionary_of(keys: &Bound<'_, PyAny>) -> PyResult<LibraryUniverse> {
    let py = keys.py();
    if let Ok(universe) = keys.cast::<Universe>() {
        return Ok(universe.get().0.clone());
    }
    if keys.is_instance_of::<PyString>() || keys.is_instance_of::<PyBytes>() {
        return Err(PyTypeError::new_err("a dictionary is a list of keys, not one key"));
    }
    let objects: Vec<Bound<'_, PyAny>> = keys.try_iter()?.collect::<PyResult<_>>()?;
    let mut encoded = Vec::with_capacity(objects.len());
    for object in &objects {
        let key = key_of(object)?;
        if key.is_hashed() {
            let class = object.get_type().name()?.to_string();
            let message = format!("a {class} has no name that lasts; use text or numbers");
            return Err(PyTypeError::new_err(message));
        }
        encoded.push(key);
    }
    LibraryUniverse::dictionary(&encoded).or_raise(py)
}

fn names_in(universe: &LibraryUniverse) -> Option<Vec<Vec<u8>>> {
    universe.fingerprint()?;
    let size = universe.size().get()?;
    Some((0..size).map(|number| universe.name(number)).collect())
}

/// The keys of the dictionary of a zone filter, if its universe is one.
pub(crate) fn names_of(any: &AnyFilter) -> Option<Vec<Vec<u8>>> {
    names_in(any.plan().zone()?.universe())
}

/// An empty filter as planned.
pub(crate) fn empty(plan: Plan) -> Result<AnyFilter, Error> {
    Ok(if plan.is_counting() {
        tamis::zone::CountingFilter::with_plan(plan)?.into()
    } else {
        tamis::zone::Filter::with_plan(plan)?.into()
    })
}

/// An element as a Python object: an integer, or the text that the shell prints.
fn element<'py>(
    py: Python<'py>,
    universe: &LibraryUniverse,
    number: u128,
) -> PyResult<Bound<'py, PyAny>> {
    let name = universe.name(number);
    if universe.kind() == "integers" {
        return Ok(universe.first().wrapping_add(number).into_pyobject(py)?.into_any());
    }
    Ok(match String::from_utf8(name) {
        Ok(text) => PyString::new(py, &text).into_any(),
        Err(bytes) => PyBytes::new(py, bytes.as_bytes()).into_any(),
    })
}

/// Lists the items of a filter while other Python threads run. Ctrl-C stops it.
fn listed(filter: &Filter, py: Python<'_>, method: Option<&str>) -> PyResult<List> {
    let method = match method {
        None => None,
        Some("join") => Some(Method::Join),
        Some("algebra") => Some(Method::Algebra),
        Some("peel") => Some(Method::Peel),
        Some("sturm") => Some(Method::Sturm),
        Some(other) => {
            return Err(PyValueError::new_err(format!(
                "there is no method {other:?}; there are join, algebra, peel and sturm"
            )));
        }
    };
    let (mut stopped, mut last) = (None, Instant::now());
    let list = filter.read_long(py, |any| {
        let stop = &mut stopped;
        any.list_with(method, &mut |_| {
            if last.elapsed() < TICK {
                return ControlFlow::Continue(());
            }
            last = Instant::now();
            match Python::attach(|py| py.check_signals()) {
                Ok(()) => ControlFlow::Continue(()),
                Err(error) => {
                    *stop = Some(error);
                    ControlFlow::Break(())
                }
            }
        })
    })?;
    match stopped {
        Some(error) => Err(error),
        None => list.or_raise(py),
    }
}

/// The elements of a list as Python objects.
fn elements<'py>(
    filter: &Filter,
    py: Python<'py>,
    method: Option<&str>,
) -> PyResult<Vec<Bound<'py, PyAny>>> {
    let list = listed(filter, py, method)?;
    let universe = filter.read(py, |any| any.plan().zone().map(|plan| plan.universe().clone()))?;
    let Some(universe) = universe else { return Ok(Vec::new()) };
    list.numbers.iter().map(|number| element(py, &universe, *number)).collect()
}

fn change<R: Send>(
    filter: &Filter,
    py: Python<'_>,
    work: impl FnOnce(&mut AnyFilter) -> Result<R, Error> + Send,
) -> PyResult<R> {
    filter.write_long(py, work)?.or_raise(py)
}

fn length(filter: &Filter, py: Python<'_>) -> PyResult<usize> {
    let (len, exact) = filter.read(py, |any| (any.len(), any.len_is_exact()))?;
    match (len, exact) {
        (Some(len), true) => Ok(len as usize),
        _ => Err(PyTypeError::new_err(
            "the number of items is not known exactly any more; approx_items estimates it",
        )),
    }
}

/// A set of up to `items` elements of a finite universe that answers nobody wrongly. It can list
/// its items. One item too many is refused (`FullError`).
///
/// >>> from tamis import ZoneFilter
/// >>> hosts = ZoneFilter("ipv4", 4)
/// >>> hosts.update(["10.0.0.1", "192.168.7.9"])
/// >>> "10.0.0.1" in hosts, "10.0.0.2" in hosts
/// (True, False)
/// >>> hosts.list()
/// ['10.0.0.1', '192.168.7.9']
#[pyclass(extends = MutableFilter, frozen, weakref, module = "tamis")]
pub(crate) struct ZoneFilter;

/// A zone filter with counters, so that items can be removed.
///
/// >>> from tamis import CountingZoneFilter
/// >>> draw = CountingZoneFilter(range(1, 49), 6)
/// >>> draw.update([3, 11, 27])
/// >>> draw.remove(11)
/// >>> draw.list()
/// [3, 27]
#[pyclass(extends = MutableFilter, frozen, weakref, module = "tamis")]
pub(crate) struct CountingZoneFilter;

fn made(
    universe: &Bound<'_, PyAny>,
    items: u64,
    code: &str,
    prefer: &str,
    counting: bool,
) -> PyResult<PyClassInitializer<MutableFilter>> {
    let py = universe.py();
    let plan = zone_plan(universe, items, code, prefer)?;
    let plan = if counting { plan.counting() } else { plan };
    let any = py.detach(|| empty(plan)).or_raise(py)?;
    Ok(PyClassInitializer::from(Filter::new(any, None)).add_subclass(MutableFilter))
}

macro_rules! zone_methods {
    ($class:ident, $counting:literal $(, $more:item)*) => {
        #[pymethods]
        impl $class {
            #[new]
            #[pyo3(signature = (universe, items, *, code="auto", prefer="bits"))]
            fn new(
                universe: &Bound<'_, PyAny>,
                items: u64,
                code: &str,
                prefer: &str,
            ) -> PyResult<PyClassInitializer<$class>> {
                Ok(made(universe, items, code, prefer, $counting)?.add_subclass($class))
            }

            /// The items, in the order of the universe. A list of a filter beyond its zone may hold
            /// strangers too.
            #[pyo3(signature = (method=None))]
            fn list<'py>(
                slf: &Bound<'py, Self>,
                method: Option<&str>,
            ) -> PyResult<Vec<Bound<'py, PyAny>>> {
                elements(MutableFilter::base(slf.as_super()), slf.py(), method)
            }

            /// Puts a key in even if it is one too many. The filter is beyond its zone then.
            #[pyo3(signature = (key, /))]
            fn insert_beyond(slf: &Bound<'_, Self>, key: &Bound<'_, PyAny>) -> PyResult<bool> {
                let encoded = key_of(key)?;
                let filter = MutableFilter::base(slf.as_super());
                change(filter, slf.py(), |any| any.insert_beyond(&encoded))
            }

            /// Makes room for more items, without the items being known.
            fn grow_for(slf: &Bound<'_, Self>, items: u64) -> PyResult<()> {
                let filter = MutableFilter::base(slf.as_super());
                change(filter, slf.py(), |any| any.grow_for(items))
            }

            /// Gives back what this many items do not need.
            fn shrink_for(slf: &Bound<'_, Self>, items: u64) -> PyResult<()> {
                let filter = MutableFilter::base(slf.as_super());
                change(filter, slf.py(), |any| any.shrink_for(items))
            }

            /// The universe.
            #[getter]
            fn universe(slf: &Bound<'_, Self>) -> PyResult<Option<Universe>> {
                let of = |any: &AnyFilter| any.plan().zone().map(|plan| plan.universe().clone());
                let filter = MutableFilter::base(slf.as_super());
                Ok(filter.read(slf.py(), of)?.map(Universe))
            }

            /// The number of items, exactly.
            fn __len__(slf: &Bound<'_, Self>) -> PyResult<usize> {
                length(MutableFilter::base(slf.as_super()), slf.py())
            }

            $($more)*
        }
    };
}

zone_methods!(ZoneFilter, false);
zone_methods!(
    CountingZoneFilter,
    true,
    /// Takes an item out. `AbsentError`, a `KeyError`, if it is not there.
    #[pyo3(signature = (key, /))]
    fn remove(slf: &Bound<'_, Self>, key: &Bound<'_, PyAny>) -> PyResult<()> {
        rate::remove(MutableFilter::base(slf.as_super()), key)
    }
);
