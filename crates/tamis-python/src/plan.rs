//! Plans: every parameter of a filter, before memory is taken.

use crate::errors::OrRaise;
use crate::filter::{Filter, own_function};
use crate::privacy::epsilon_of;
use crate::{notebook, rate, zone};
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::PyDict;
use tamis::format::AnyPlan;
use tamis::privacy::{LinearPlan, UltraPlan};
use tamis::rate::{Kind, Plan as LibraryPlan, StaticPlan};
use tamis::zone::{CodeKind, Plan as LibraryZonePlan, Prefer};
use tamis_plot::{grouped, percent};

/// A plan of any promise.
#[derive(Clone, PartialEq)]
pub(crate) enum Owned {
    Rate(LibraryPlan),
    Static(StaticPlan),
    Zone(LibraryZonePlan),
    Linear(LinearPlan),
    Ultra(UltraPlan),
}

impl Owned {
    /// `None` for a plan that this release of the package does not know.
    pub(crate) fn of(plan: AnyPlan<'_>) -> Option<Owned> {
        Some(match plan {
            AnyPlan::Rate(plan) => Owned::Rate(*plan),
            AnyPlan::Static(plan) => Owned::Static(*plan),
            AnyPlan::Zone(plan) => Owned::Zone(plan.clone()),
            AnyPlan::Linear(plan) => Owned::Linear(*plan),
            AnyPlan::PublicBloom(plan) => Owned::Ultra(*plan),
            _ => return None,
        })
    }

    fn any(&self) -> AnyPlan<'_> {
        match self {
            Owned::Rate(plan) => AnyPlan::Rate(plan),
            Owned::Static(plan) => AnyPlan::Static(plan),
            Owned::Zone(plan) => AnyPlan::Zone(plan),
            Owned::Linear(plan) => AnyPlan::Linear(plan),
            Owned::Ultra(plan) => AnyPlan::PublicBloom(plan),
        }
    }

    /// The filter, the code or the method, as the command line names it.
    fn name(&self) -> (&'static str, &'static str) {
        match self {
            Owned::Rate(plan) => ("filter", plan.filter().name()),
            Owned::Static(_) => ("filter", "static"),
            Owned::Zone(plan) => ("code", plan.code().kind().name()),
            Owned::Linear(_) => ("method", "linear"),
            Owned::Ultra(_) => ("method", "bloom"),
        }
    }

    fn bits_per_item(&self) -> f64 {
        match self {
            Owned::Rate(plan) => plan.bits_per_item(),
            Owned::Static(plan) => plan.bits_per_item(),
            Owned::Zone(plan) => plan.bits() as f64 / plan.items() as f64,
            Owned::Linear(plan) => plan.bits_per_item(),
            Owned::Ultra(plan) => plan.bits_per_item(),
        }
    }

    fn rows(&self) -> Vec<(&'static str, String)> {
        let any = self.any();
        let (what, name) = self.name();
        let items = grouped(any.items());
        let (bytes, each) = (grouped(any.bytes()), self.bits_per_item());
        let size = format!("{bytes} bytes, {each:.2} bits an item");
        let mut rows = vec![(what, name.to_owned()), ("items", items), ("size", size)];
        match self {
            Owned::Rate(plan) => {
                let expected = percent(plan.expected_fpr(plan.items()));
                rows.push(("fpr", format!("{} asked, {expected} expected", percent(plan.fpr()))));
                rows.push(("hashes", plan.hashes().to_string()));
            }
            Owned::Static(plan) => {
                let expected = percent(plan.expected_fpr());
                rows.push(("fpr", format!("{} asked, {expected} expected", percent(plan.fpr()))));
                rows.push(("shards", grouped(plan.shards())));
            }
            Owned::Zone(plan) => {
                rows.push(("universe", plan.universe().to_string()));
                rows.push((
                    "zone",
                    format!("no answer is wrong up to {} items", grouped(plan.zone())),
                ));
                rows.push(("probes", grouped(plan.probes())));
                rows.push(("proof", plan.certificate().to_owned()));
            }
            Owned::Linear(plan) => {
                rows.push(("loss", format!("epsilon {} for one item", plan.epsilon())));
                rows.push(("members", format!("{} do not pass", percent(plan.fnr()))));
                rows.push(("strangers", format!("{} pass", percent(plan.fpr()))));
            }
            Owned::Ultra(plan) => {
                rows.push(("loss", format!("epsilon {} for one item", plan.epsilon())));
                rows.push(("members", format!("{} do not pass", percent(plan.fnr()))));
                rows.push(("strangers", format!("{} pass", percent(plan.fpr()))));
            }
        }
        rows
    }

    /// The plan as a Python object.
    pub(crate) fn wrapped(self, py: Python<'_>) -> PyResult<Bound<'_, PyAny>> {
        Ok(match self {
            Owned::Rate(_) | Owned::Static(_) => {
                Bound::new(py, PyClassInitializer::from(Plan(self)).add_subclass(RatePlan))?
                    .into_any()
            }
            Owned::Zone(_) => {
                Bound::new(py, PyClassInitializer::from(Plan(self)).add_subclass(ZonePlan))?
                    .into_any()
            }
            Owned::Linear(_) | Owned::Ultra(_) => {
                Bound::new(py, PyClassInitializer::from(Plan(self)).add_subclass(PrivacyPlan))?
                    .into_any()
            }
        })
    }
}

/// All parameters of a filter, before memory is taken. Two plans with the same parameters are
/// equal. `print(plan)` shows it.
#[pyclass(subclass, frozen, module = "tamis")]
pub(crate) struct Plan(pub(crate) Owned);

#[pymethods]
impl Plan {
    /// `rate`, `zone` or `privacy`.
    #[getter]
    fn promise(&self) -> &'static str {
        self.0.any().promise().name()
    }

    /// The items that the filter is planned to hold.
    #[getter]
    fn items(&self) -> u64 {
        self.0.any().items()
    }

    /// The share of strangers that are to pass: 0 for a zone filter.
    #[getter]
    fn fpr(&self) -> f64 {
        self.0.any().fpr()
    }

    /// The bits of the filter.
    #[getter]
    fn bits(&self) -> u64 {
        self.0.any().bits()
    }

    /// The bytes of the filter in memory.
    #[getter]
    fn bytes(&self) -> u64 {
        self.0.any().bytes()
    }

    /// The bytes of the filter's file.
    #[getter]
    fn file_bytes(&self) -> u64 {
        self.0.any().file_bytes()
    }

    /// The bits of the filter for each planned item.
    #[getter]
    fn bits_per_item(&self) -> f64 {
        self.0.bits_per_item()
    }

    /// The plan with the names that the command line uses in its JSON.
    fn as_dict<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let dict = PyDict::new(py);
        let (what, name) = self.0.name();
        dict.set_item("promise", self.promise())?;
        dict.set_item(what, name)?;
        dict.set_item("items", self.items())?;
        dict.set_item("bits", self.bits())?;
        dict.set_item("bytes", self.bytes())?;
        dict.set_item("bits_per_item", self.bits_per_item())?;
        match &self.0 {
            Owned::Rate(plan) => {
                dict.set_item("fpr", plan.fpr())?;
                dict.set_item("hashes", plan.hashes())?;
                dict.set_item("expected_fpr", plan.expected_fpr(plan.items()))?;
            }
            Owned::Static(plan) => {
                dict.set_item("fpr", plan.fpr())?;
                dict.set_item("expected_fpr", plan.expected_fpr())?;
            }
            Owned::Zone(plan) => {
                dict.set_item("universe", zone::elements_of(py, plan.universe().size())?)?;
                dict.set_item("probes", plan.probes())?;
                dict.set_item("zone", plan.zone())?;
            }
            Owned::Linear(plan) => {
                dict.set_item("epsilon", plan.epsilon().to_f64())?;
                dict.set_item("q", plan.q())?;
                dict.set_item("fp", plan.fpr())?;
                dict.set_item("fn", plan.fnr())?;
            }
            Owned::Ultra(plan) => {
                dict.set_item("epsilon", plan.epsilon().to_f64())?;
                dict.set_item("hashes", plan.hashes())?;
                dict.set_item("fp", plan.fpr())?;
                dict.set_item("fn", plan.fnr())?;
            }
        }
        Ok(dict)
    }

    fn __str__(&self) -> String {
        let line = |(name, value): &(&str, String)| format!("{name:<10}{value}");
        let rows: Vec<String> = self.0.rows().iter().map(line).collect();
        format!("{:<10}{}\n{}", "promise", self.promise(), rows.join("\n"))
    }

    fn __repr__(slf: &Bound<'_, Self>) -> PyResult<String> {
        let (class, plan) = (slf.get_type().name()?.to_string(), slf.get());
        let (what, name) = plan.0.name();
        Ok(format!("<{class} {what}={name} items={} bytes={}>", plan.items(), plan.bytes()))
    }

    /// The plan as a table, and the trade-off around it as a chart.
    fn _repr_html_(slf: &Bound<'_, Self>) -> PyResult<String> {
        let class = slf.get_type().name()?.to_string();
        let plan = slf.get();
        let table = notebook::table(&format!("tamis.{class}"), &plan.0.rows());
        Ok(format!("<div>{table}{}</div>", notebook::chart(plan.0.any())))
    }

    /// The trade-off around the plan, as SVG.
    fn chart(&self, py: Python<'_>) -> String {
        py.detach(|| notebook::chart(self.0.any()))
    }

    fn __eq__(&self, other: &Bound<'_, PyAny>) -> bool {
        other.cast::<Plan>().is_ok_and(|other| other.get().0 == self.0)
    }
}

/// The plan of a rate filter.
#[pyclass(extends = Plan, frozen, module = "tamis")]
pub(crate) struct RatePlan;

#[pymethods]
impl RatePlan {
    /// `bloom`, `blocked`, `split`, `counting`, `quotient` or `static`.
    #[getter]
    fn filter(slf: &Bound<'_, Self>) -> &'static str {
        slf.as_super().get().0.name().1
    }

    /// The cells that a key has; None for a static filter.
    #[getter]
    fn hashes(slf: &Bound<'_, Self>) -> Option<u32> {
        match &slf.as_super().get().0 {
            Owned::Rate(plan) => Some(plan.hashes()),
            _ => None,
        }
    }

    /// The share of strangers that pass when the filter holds this many items, or those planned.
    #[pyo3(signature = (items=None))]
    fn expected_fpr(slf: &Bound<'_, Self>, items: Option<u64>) -> f64 {
        match &slf.as_super().get().0 {
            Owned::Rate(plan) => plan.expected_fpr(items.unwrap_or_else(|| plan.items())),
            Owned::Static(plan) => plan.expected_fpr(),
            _ => 0.0,
        }
    }

    /// An empty filter as planned.
    #[pyo3(signature = (hash_func=None, *, seed=None, key=None))]
    fn build<'py>(
        slf: &Bound<'py, Self>,
        hash_func: Option<Bound<'py, PyAny>>,
        seed: Option<u64>,
        key: Option<&[u8]>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let py = slf.py();
        let Owned::Rate(plan) = slf.as_super().get().0 else {
            let message = "a static filter is built from all its keys: StaticFilter(keys, fpr)";
            return Err(PyTypeError::new_err(message));
        };
        let hash = rate::hash_of(py, seed, key)?;
        let function = own_function(hash_func)?;
        if function.is_some() && !matches!(plan.filter(), Kind::Bloom | Kind::Blocked | Kind::Split)
        {
            let message = format!("a {} filter takes no hash_func", plan.filter());
            return Err(PyTypeError::new_err(message));
        }
        let any = py.detach(|| rate::empty(plan, hash)).or_raise(py)?;
        rate::wrap(py, Filter::new(any, function))
    }
}

/// The plan of a zone filter.
#[pyclass(extends = Plan, frozen, module = "tamis")]
pub(crate) struct ZonePlan;

impl ZonePlan {
    fn plan(slf: &Bound<'_, Self>) -> PyResult<LibraryZonePlan> {
        match &slf.as_super().get().0 {
            Owned::Zone(plan) => Ok(plan.clone()),
            _ => Err(PyTypeError::new_err("not a plan of a zone filter")),
        }
    }
}

#[pymethods]
impl ZonePlan {
    /// `egh`, `coprime` or `rs`.
    #[getter]
    fn code(slf: &Bound<'_, Self>) -> &'static str {
        slf.as_super().get().0.name().1
    }

    /// The universe.
    #[getter]
    fn universe(slf: &Bound<'_, Self>) -> PyResult<zone::Universe> {
        Ok(zone::Universe(ZonePlan::plan(slf)?.universe().clone()))
    }

    /// Up to how many items no answer is wrong.
    #[getter]
    fn zone(slf: &Bound<'_, Self>) -> PyResult<u64> {
        Ok(ZonePlan::plan(slf)?.zone())
    }

    /// How many cells a lookup reads, at most.
    #[getter]
    fn probes(slf: &Bound<'_, Self>) -> PyResult<u64> {
        Ok(ZonePlan::plan(slf)?.probes())
    }

    /// Whether the filter has counters, so that items can be removed.
    #[getter]
    fn counting(slf: &Bound<'_, Self>) -> PyResult<bool> {
        Ok(ZonePlan::plan(slf)?.is_counting())
    }

    /// The proof of the promise, in a line.
    #[getter]
    fn certificate(slf: &Bound<'_, Self>) -> PyResult<String> {
        Ok(ZonePlan::plan(slf)?.certificate().to_owned())
    }

    /// An empty filter as planned.
    fn build<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyAny>> {
        let py = slf.py();
        let plan = ZonePlan::plan(slf)?;
        let any = py.detach(|| zone::empty(plan)).or_raise(py)?;
        rate::wrap(py, Filter::new(any, None))
    }
}

/// The plan of a filter that is to be published.
#[pyclass(extends = Plan, frozen, module = "tamis")]
pub(crate) struct PrivacyPlan;

#[pymethods]
impl PrivacyPlan {
    /// `linear` or `bloom`.
    #[getter]
    fn method(slf: &Bound<'_, Self>) -> &'static str {
        slf.as_super().get().0.name().1
    }

    /// What the release will tell of one item that is added or removed.
    #[getter]
    fn epsilon(slf: &Bound<'_, Self>) -> f64 {
        match &slf.as_super().get().0 {
            Owned::Linear(plan) => plan.epsilon().to_f64(),
            Owned::Ultra(plan) => plan.epsilon().to_f64(),
            _ => 0.0,
        }
    }

    /// The share of members that will not pass.
    #[getter]
    fn fnr(slf: &Bound<'_, Self>) -> f64 {
        match &slf.as_super().get().0 {
            Owned::Linear(plan) => plan.fnr(),
            Owned::Ultra(plan) => plan.fnr(),
            _ => 0.0,
        }
    }
}

/// The kind of filter with this name.
pub(crate) fn kind_of(name: &str) -> PyResult<Option<Kind>> {
    Ok(Some(match name {
        "bloom" => Kind::Bloom,
        "blocked" => Kind::Blocked,
        "split" => Kind::Split,
        "counting" => Kind::Counting,
        "quotient" => Kind::Quotient,
        "static" => return Ok(None),
        _ => {
            return Err(PyValueError::new_err(format!(
                "there is no filter {name:?}; there are bloom, blocked, split, counting, quotient \
                 and static"
            )));
        }
    }))
}

/// Plans a rate filter from two of the number of items, the rate and the bits.
///
/// >>> import tamis
/// >>> plan = tamis.plan_rate(1_000_000, 0.01)
/// >>> plan.bytes, plan.hashes
/// (1198133, 7)
/// >>> print(tamis.plan_rate(1_000_000, 0.01, filter="static"))
/// promise   rate
/// filter    static
/// items     1,000,000
/// size      847,935 bytes, 6.78 bits an item
/// fpr       1% asked, 0.9997% expected
/// shards    1
#[pyfunction]
#[pyo3(signature = (items=None, fpr=None, *, bits=None, filter="bloom"))]
pub(crate) fn plan_rate<'py>(
    py: Python<'py>,
    items: Option<u64>,
    fpr: Option<f64>,
    bits: Option<u64>,
    filter: &str,
) -> PyResult<Bound<'py, PyAny>> {
    let kind = kind_of(filter)?;
    let plan = match (kind, items, fpr, bits) {
        (None, Some(items), Some(fpr), None) => {
            Owned::Static(StaticPlan::new(items, fpr).or_raise(py)?)
        }
        (Some(kind), Some(items), Some(fpr), None) => {
            Owned::Rate(LibraryPlan::from_items_fpr(kind, items, fpr).or_raise(py)?)
        }
        (Some(kind), Some(items), None, Some(bits)) => {
            Owned::Rate(LibraryPlan::from_items_bits(kind, items, bits).or_raise(py)?)
        }
        (Some(kind), None, Some(fpr), Some(bits)) => {
            Owned::Rate(LibraryPlan::from_fpr_bits(kind, fpr, bits).or_raise(py)?)
        }
        (None, ..) => {
            return Err(PyTypeError::new_err("a static filter is planned from items and fpr"));
        }
        _ => return Err(PyTypeError::new_err("give two of items, fpr and bits")),
    };
    plan.wrapped(py)
}

/// Plans a zone filter: no answer is wrong, up to `items` items of the universe.
///
/// The universe is a `tamis.Universe`, its text ("ipv6", "hex:20"), a number n for the integers
/// below n, a range, or the list of all keys that there are.
///
/// >>> import tamis
/// >>> tamis.plan_zone("ipv4", 4).bytes
/// 79
#[pyfunction]
#[pyo3(signature = (universe, items, *, code="auto", prefer="bits", counting=false))]
pub(crate) fn plan_zone<'py>(
    universe: &Bound<'py, PyAny>,
    items: u64,
    code: &str,
    prefer: &str,
    counting: bool,
) -> PyResult<Bound<'py, PyAny>> {
    let plan = zone_plan(universe, items, code, prefer)?;
    let plan = if counting { plan.counting() } else { plan };
    Owned::Zone(plan).wrapped(universe.py())
}

/// The plan that the arguments of a zone filter say.
pub(crate) fn zone_plan(
    universe: &Bound<'_, PyAny>,
    items: u64,
    code: &str,
    prefer: &str,
) -> PyResult<LibraryZonePlan> {
    let py = universe.py();
    let universe = zone::universe_of(universe)?;
    let code = match code {
        "auto" => None,
        "egh" => Some(CodeKind::Egh),
        "coprime" => Some(CodeKind::Coprime),
        "rs" => Some(CodeKind::Rs),
        _ => {
            return Err(PyValueError::new_err(format!(
                "there is no code {code:?}; there are auto, egh, coprime and rs"
            )));
        }
    };
    let prefer = match prefer {
        "bits" => Prefer::Bits,
        "probes" => Prefer::Probes,
        _ => {
            return Err(PyValueError::new_err(format!(
                "prefer is bits or probes (got {prefer:?})"
            )));
        }
    };
    py.detach(|| LibraryZonePlan::choose(&universe, items, code, prefer)).or_raise(py)
}

/// Plans a filter that is to be published: one item more or less changes the chance of any
/// published file by at most a factor e^epsilon.
///
/// >>> import tamis
/// >>> plan = tamis.plan_privacy(10_000, 4)
/// >>> plan.epsilon, plan.bytes
/// (3.951243719, 7920)
#[pyfunction]
#[pyo3(signature = (items, epsilon, *, method="linear", fpr=None))]
pub(crate) fn plan_privacy<'py>(
    items: u64,
    epsilon: &Bound<'py, PyAny>,
    method: &str,
    fpr: Option<f64>,
) -> PyResult<Bound<'py, PyAny>> {
    let py = epsilon.py();
    let epsilon = epsilon_of(epsilon)?;
    let plan = match (method, fpr) {
        ("linear", None) => Owned::Linear(LinearPlan::new(items, epsilon).or_raise(py)?),
        ("linear", Some(fpr)) => {
            Owned::Linear(LinearPlan::with_fpr(items, epsilon, fpr).or_raise(py)?)
        }
        ("bloom", None) => Owned::Ultra(UltraPlan::new(items, epsilon).or_raise(py)?),
        ("bloom", Some(_)) => {
            return Err(PyTypeError::new_err("fpr is for the method linear"));
        }
        _ => {
            return Err(PyValueError::new_err(format!(
                "there is no method {method:?}; there are linear and bloom"
            )));
        }
    };
    plan.wrapped(py)
}
