//! The filters of the rate promise, and the class of every filter.

use crate::bulk::{self, Inserted, Keys, Options, Sink};
use crate::errors::OrRaise;
use crate::filter::{Failure, Filter, own_function};
use crate::keys::{PyKey, key_of};
use crate::privacy::{LinearFilter, PublicBloom};
use crate::zone::{CountingZoneFilter, ZoneFilter};
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::PyTuple;
use tamis::rate::{Kind, Plan, ScalablePlan, StaticBuilder};
use tamis::{AnyFilter, Error, HashFamily, Scalable, SecretKey};

/// The hash that the arguments `seed` and `key` ask for.
pub(crate) fn hash_of(
    py: Python<'_>,
    seed: Option<u64>,
    key: Option<&[u8]>,
) -> PyResult<HashFamily> {
    match (seed, key) {
        (Some(_), Some(_)) => {
            Err(PyTypeError::new_err("a hash has a seed or a secret key, not both"))
        }
        (seed, None) => Ok(HashFamily::fast(seed.unwrap_or(0))),
        (None, Some(key)) => Ok(HashFamily::keyed(SecretKey::new(key).or_raise(py)?)),
    }
}

/// An empty filter as planned.
pub(crate) fn empty(plan: Plan, hash: HashFamily) -> Result<AnyFilter, Error> {
    Ok(match plan.filter() {
        Kind::Bloom => tamis::Bloom::with_plan(plan, hash)?.into(),
        Kind::Blocked => tamis::BlockedBloom::with_plan(plan, hash)?.into(),
        Kind::Split => tamis::SplitBloom::with_plan(plan, hash)?.into(),
        Kind::Counting => tamis::CountingBloom::with_plan(plan, hash)?.into(),
        Kind::Quotient => tamis::QuotientFilter::with_plan(plan, hash)?.into(),
        other => {
            return Err(Error::Unsupported {
                kind: other.name(),
                operation: "be made by this package",
                remedy: "upgrade the package",
            });
        }
    })
}

/// The Python object of the class that belongs to the filter.
pub(crate) fn wrap(py: Python<'_>, filter: Filter) -> PyResult<Bound<'_, PyAny>> {
    macro_rules! object {
        ($($class:ident),+) => {
            Bound::new(py, PyClassInitializer::from(filter)$(.add_subclass($class))+)?.into_any()
        };
    }
    let kind = filter.read(py, AnyFilter::kind)?;
    Ok(match kind {
        "bloom" => object!(MutableFilter, Bloom),
        "blocked" => object!(MutableFilter, BlockedBloom),
        "split" => object!(MutableFilter, SplitBloom),
        "counting" => object!(MutableFilter, CountingBloom),
        "quotient" => object!(MutableFilter, QuotientFilter),
        "scalable" => object!(MutableFilter, ScalableBloom),
        "rolling" => object!(MutableFilter),
        "zone" => object!(MutableFilter, ZoneFilter),
        "counting zone" => object!(MutableFilter, CountingZoneFilter),
        "static" => object!(StaticFilter),
        "linear" => object!(LinearFilter),
        "public bloom" => object!(PublicBloom),
        _ => Bound::new(py, filter)?.into_any(),
    })
}

/// Empties a filter.
fn clear(any: &mut AnyFilter) -> Result<(), Error> {
    match any {
        AnyFilter::Bloom(filter) => filter.clear(),
        AnyFilter::Blocked(filter) => filter.clear(),
        AnyFilter::Split(filter) => filter.clear(),
        AnyFilter::Counting(filter) => filter.clear(),
        AnyFilter::Quotient(filter) => filter.clear(),
        AnyFilter::Zone(filter) => filter.clear(),
        AnyFilter::ZoneCounting(filter) => filter.clear(),
        AnyFilter::Scalable(filter) => filter.clear()?,
        _ => {}
    }
    Ok(())
}

/// A filter that takes keys.
#[pyclass(extends = Filter, subclass, frozen, weakref, module = "tamis")]
pub(crate) struct MutableFilter;

impl MutableFilter {
    pub(crate) fn base<'a>(slf: &'a Bound<'_, Self>) -> &'a Filter {
        slf.as_super().get()
    }

    /// Takes in filters and iterables.
    fn take_all(filter: &Filter, others: &Bound<'_, PyTuple>) -> PyResult<()> {
        let py = others.py();
        for other in others {
            match other.cast::<MutableFilter>() {
                Ok(other) => filter.merge(py, MutableFilter::base(other), AnyFilter::union)?,
                Err(_) => {
                    insert_all(filter, &other, None)?;
                }
            }
        }
        Ok(())
    }

    /// Keeps what is in all filters and iterables.
    fn keep_all(filter: &Filter, others: &Bound<'_, PyTuple>) -> PyResult<()> {
        let py = others.py();
        for other in others {
            match other.cast::<MutableFilter>() {
                Ok(other) => filter.merge(py, MutableFilter::base(other), AnyFilter::intersect)?,
                Err(_) => {
                    let items = MutableFilter::filter_of(filter, &other)?;
                    filter.merge(py, MutableFilter::base(&items), AnyFilter::intersect)?;
                }
            }
        }
        Ok(())
    }

    /// The items of an iterable, in a filter of the same shape.
    fn filter_of<'py>(
        like: &Filter,
        items: &Bound<'py, PyAny>,
    ) -> PyResult<Bound<'py, MutableFilter>> {
        let py = items.py();
        let any = like.read_long(py, |any| {
            let mut any = any.clone();
            clear(&mut any).map(|()| any)
        })?;
        let any = any.or_raise(py)?;
        let filter = like.like(py, any)?.cast_into::<MutableFilter>()?;
        MutableFilter::base(&filter).forget_hashed();
        insert_all(MutableFilter::base(&filter), items, None)?;
        Ok(filter)
    }

    /// A copy.
    fn twin<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, MutableFilter>> {
        Ok(MutableFilter::base(slf).copied(slf.py())?.cast_into()?)
    }

    /// A filter, or the items of an iterable as one.
    fn other_of<'py>(
        slf: &Bound<'py, Self>,
        other: &Bound<'py, PyAny>,
    ) -> PyResult<Bound<'py, PyAny>> {
        if other.is_instance_of::<Filter>() {
            return Ok(other.clone());
        }
        Ok(MutableFilter::filter_of(MutableFilter::base(slf), other)?.into_any())
    }
}

/// Puts in the keys of any source; says how many were certainly new.
fn insert_all<'py>(
    filter: &Filter,
    keys: &Bound<'py, PyAny>,
    progress: Option<Bound<'py, PyAny>>,
) -> PyResult<u64> {
    let mut sink = Inserted::new(keys.py(), filter)?;
    let options = Options { function: filter.hash_func.as_ref(), progress };
    bulk::feed(keys, &mut sink, options)?;
    Ok(sink.new)
}

#[pymethods]
impl MutableFilter {
    /// Puts a key in.
    #[pyo3(signature = (obj, /))]
    fn add(slf: &Bound<'_, Self>, obj: &Bound<'_, PyAny>) -> PyResult<()> {
        MutableFilter::base(slf).put(obj).map(|_| ())
    }

    /// Puts a key in, and says whether it was certainly new.
    ///
    /// >>> from tamis import Bloom
    /// >>> seen = Bloom(1000, 0.01)
    /// >>> seen.insert("ant"), seen.insert("ant")
    /// (True, False)
    #[pyo3(signature = (key, /))]
    fn insert(slf: &Bound<'_, Self>, key: &Bound<'_, PyAny>) -> PyResult<bool> {
        MutableFilter::base(slf).put(key)
    }

    /// Puts in the keys of a list, an array or a column, and says how many were certainly new.
    ///
    /// A null goes nowhere. Other Python threads run meanwhile. `progress` is a function that is
    /// called with the keys done and their number (None if it is not known), or True for a bar of
    /// tqdm.
    ///
    /// >>> from tamis import Bloom
    /// >>> seen = Bloom(1000, 0.01)
    /// >>> seen.insert_many(["ant", "bee", "ant"])
    /// 2
    #[pyo3(signature = (keys, /, *, progress=None))]
    fn insert_many<'py>(
        slf: &Bound<'py, Self>,
        keys: &Bound<'py, PyAny>,
        progress: Option<Bound<'py, PyAny>>,
    ) -> PyResult<u64> {
        bulk::check_many(keys)?;
        insert_all(MutableFilter::base(slf), keys, progress)
    }

    /// Takes in all items of filters and iterables.
    #[pyo3(signature = (*others))]
    fn update(slf: &Bound<'_, Self>, others: &Bound<'_, PyTuple>) -> PyResult<()> {
        MutableFilter::take_all(MutableFilter::base(slf), others)
    }

    /// A new filter with the items of this one and of all others.
    #[pyo3(signature = (*others))]
    fn union<'py>(
        slf: &Bound<'py, Self>,
        others: &Bound<'py, PyTuple>,
    ) -> PyResult<Bound<'py, MutableFilter>> {
        let twin = MutableFilter::twin(slf)?;
        MutableFilter::take_all(MutableFilter::base(&twin), others)?;
        Ok(twin)
    }

    /// Keeps what is in all others too. An iterable counts as a filter of its items.
    #[pyo3(signature = (*others))]
    fn intersection_update(slf: &Bound<'_, Self>, others: &Bound<'_, PyTuple>) -> PyResult<()> {
        MutableFilter::keep_all(MutableFilter::base(slf), others)
    }

    /// A new filter with what is in this one and in all others.
    #[pyo3(signature = (*others))]
    fn intersection<'py>(
        slf: &Bound<'py, Self>,
        others: &Bound<'py, PyTuple>,
    ) -> PyResult<Bound<'py, MutableFilter>> {
        let twin = MutableFilter::twin(slf)?;
        MutableFilter::keep_all(MutableFilter::base(&twin), others)?;
        Ok(twin)
    }

    /// Whether all items are in the other filter or iterable, as far as filters can tell.
    #[pyo3(signature = (other, /))]
    fn issubset<'py>(slf: &Bound<'py, Self>, other: &Bound<'py, PyAny>) -> PyResult<bool> {
        slf.le(MutableFilter::other_of(slf, other)?)
    }

    /// Whether all items of the other filter or iterable are in this one, as far as filters can
    /// tell.
    #[pyo3(signature = (other, /))]
    fn issuperset<'py>(slf: &Bound<'py, Self>, other: &Bound<'py, PyAny>) -> PyResult<bool> {
        slf.ge(MutableFilter::other_of(slf, other)?)
    }

    /// Removes all items.
    fn clear(slf: &Bound<'_, Self>) -> PyResult<()> {
        let filter = MutableFilter::base(slf);
        filter.write_long(slf.py(), clear)?.or_raise(slf.py())?;
        filter.forget_hashed();
        Ok(())
    }

    fn __or__<'py>(
        slf: &Bound<'py, Self>,
        other: &Bound<'py, MutableFilter>,
    ) -> PyResult<Bound<'py, MutableFilter>> {
        let twin = MutableFilter::twin(slf)?;
        let (left, right) = (MutableFilter::base(&twin), MutableFilter::base(other));
        left.merge(slf.py(), right, AnyFilter::union)?;
        Ok(twin)
    }

    fn __and__<'py>(
        slf: &Bound<'py, Self>,
        other: &Bound<'py, MutableFilter>,
    ) -> PyResult<Bound<'py, MutableFilter>> {
        let twin = MutableFilter::twin(slf)?;
        let (left, right) = (MutableFilter::base(&twin), MutableFilter::base(other));
        left.merge(slf.py(), right, AnyFilter::intersect)?;
        Ok(twin)
    }

    fn __ior__(slf: &Bound<'_, Self>, other: &Bound<'_, MutableFilter>) -> PyResult<()> {
        let (left, right) = (MutableFilter::base(slf), MutableFilter::base(other));
        left.merge(slf.py(), right, AnyFilter::union)
    }

    fn __iand__(slf: &Bound<'_, Self>, other: &Bound<'_, MutableFilter>) -> PyResult<()> {
        let (left, right) = (MutableFilter::base(slf), MutableFilter::base(other));
        left.merge(slf.py(), right, AnyFilter::intersect)
    }
}

/// What the constructors of the rate filters have in common.
fn made(
    py: Python<'_>,
    kind: Kind,
    items: u64,
    fpr: f64,
    hash: HashFamily,
    function: Option<Py<PyAny>>,
) -> PyResult<PyClassInitializer<MutableFilter>> {
    let plan = Plan::from_items_fpr(kind, items, fpr).or_raise(py)?;
    let any = py.detach(|| empty(plan, hash)).or_raise(py)?;
    Ok(PyClassInitializer::from(Filter::new(any, function)).add_subclass(MutableFilter))
}

/// A set that is sometimes wrong about strangers, never about members.
///
/// It has the methods and operators of rbloom's `Bloom`. A key is any hashable object, and Python's
/// equality decides which objects are one key. Text, bytes, numbers, dates, UUIDs, addresses and
/// tuples of these are hashed by content, so the filter can be saved, pickled and opened elsewhere.
///
/// >>> from tamis import Bloom
/// >>> seen = Bloom(1000, 0.01)     # 1000 items, 1% of strangers pass
/// >>> seen.add("ant")
/// >>> "ant" in seen, "bee" in seen
/// (True, False)
/// >>> 1.0 in seen | Bloom(1000, 0.01).union([1])
/// True
#[pyclass(extends = MutableFilter, frozen, weakref, module = "tamis")]
pub(crate) struct Bloom;

#[pymethods]
impl Bloom {
    #[new]
    #[pyo3(signature = (
        expected_items, false_positive_rate, hash_func=None, *, seed=None, key=None
    ))]
    fn new(
        py: Python<'_>,
        expected_items: u64,
        false_positive_rate: f64,
        hash_func: Option<Bound<'_, PyAny>>,
        seed: Option<u64>,
        key: Option<&[u8]>,
    ) -> PyResult<PyClassInitializer<Bloom>> {
        let (hash, function) = (hash_of(py, seed, key)?, own_function(hash_func)?);
        let base = made(py, Kind::Bloom, expected_items, false_positive_rate, hash, function)?;
        Ok(base.add_subclass(Bloom))
    }
}

/// A Bloom filter that reads one cache line a key: fast at any size, and a little larger.
///
/// >>> from tamis import BlockedBloom
/// >>> seen = BlockedBloom(1000, 0.01)
/// >>> seen.add(7)
/// >>> 7 in seen, 7.0 in seen, "7" in seen
/// (True, True, False)
#[pyclass(extends = MutableFilter, frozen, weakref, module = "tamis")]
pub(crate) struct BlockedBloom;

#[pymethods]
impl BlockedBloom {
    #[new]
    #[pyo3(signature = (items, fpr, hash_func=None, *, seed=None, key=None))]
    fn new(
        py: Python<'_>,
        items: u64,
        fpr: f64,
        hash_func: Option<Bound<'_, PyAny>>,
        seed: Option<u64>,
        key: Option<&[u8]>,
    ) -> PyResult<PyClassInitializer<BlockedBloom>> {
        let (hash, function) = (hash_of(py, seed, key)?, own_function(hash_func)?);
        Ok(made(py, Kind::Blocked, items, fpr, hash, function)?.add_subclass(BlockedBloom))
    }
}

/// A Bloom filter of blocks of 256 bits: half a cache line a key.
///
/// >>> from tamis import SplitBloom
/// >>> seen = SplitBloom(1000, 0.01)
/// >>> seen.update(["ant", "bee"])
/// >>> "bee" in seen
/// True
#[pyclass(extends = MutableFilter, frozen, weakref, module = "tamis")]
pub(crate) struct SplitBloom;

#[pymethods]
impl SplitBloom {
    #[new]
    #[pyo3(signature = (items, fpr, hash_func=None, *, seed=None, key=None))]
    fn new(
        py: Python<'_>,
        items: u64,
        fpr: f64,
        hash_func: Option<Bound<'_, PyAny>>,
        seed: Option<u64>,
        key: Option<&[u8]>,
    ) -> PyResult<PyClassInitializer<SplitBloom>> {
        let (hash, function) = (hash_of(py, seed, key)?, own_function(hash_func)?);
        Ok(made(py, Kind::Split, items, fpr, hash, function)?.add_subclass(SplitBloom))
    }
}

/// Takes a key out of a filter that can remove.
pub(crate) fn remove(filter: &Filter, key: &Bound<'_, PyAny>) -> PyResult<()> {
    let encoded = key_of(key)?;
    filter.write(key.py(), |any| any.remove(&encoded))?.or_raise(key.py())
}

/// A Bloom filter with counters, so that keys can be removed.
///
/// >>> from tamis import CountingBloom
/// >>> seen = CountingBloom(1000, 0.01)
/// >>> seen.add("ant")
/// >>> seen.remove("ant")
/// >>> "ant" in seen
/// False
#[pyclass(extends = MutableFilter, frozen, weakref, module = "tamis")]
pub(crate) struct CountingBloom;

#[pymethods]
impl CountingBloom {
    #[new]
    #[pyo3(signature = (items, fpr, *, counter_bits=None, seed=None, key=None))]
    fn new(
        py: Python<'_>,
        items: u64,
        fpr: f64,
        counter_bits: Option<u32>,
        seed: Option<u64>,
        key: Option<&[u8]>,
    ) -> PyResult<PyClassInitializer<CountingBloom>> {
        let hash = hash_of(py, seed, key)?;
        let mut plan = Plan::from_items_fpr(Kind::Counting, items, fpr).or_raise(py)?;
        if let Some(bits) = counter_bits {
            plan = plan.with_counter_bits(bits).or_raise(py)?;
        }
        let any = py.detach(|| empty(plan, hash)).or_raise(py)?;
        let base = PyClassInitializer::from(Filter::new(any, None)).add_subclass(MutableFilter);
        Ok(base.add_subclass(CountingBloom))
    }

    /// Takes a key out once. `AbsentError`, a `KeyError`, if it is certainly not there. Remove only
    /// keys that were inserted: others may take members with them.
    #[pyo3(signature = (key, /))]
    fn remove(slf: &Bound<'_, Self>, key: &Bound<'_, PyAny>) -> PyResult<()> {
        remove(MutableFilter::base(slf.as_super()), key)
    }

    /// How many counters are at their end and cannot count any more.
    #[getter]
    fn saturated(slf: &Bound<'_, Self>) -> PyResult<u64> {
        let count = |any: &AnyFilter| match any {
            AnyFilter::Counting(filter) => filter.saturated(),
            _ => 0,
        };
        MutableFilter::base(slf.as_super()).read_long(slf.py(), count)
    }
}

/// A filter that can remove and count keys, and grow.
///
/// >>> from tamis import QuotientFilter
/// >>> seen = QuotientFilter(1000, 0.01)
/// >>> seen.update(["ant", "ant", "bee"])
/// >>> seen.count("ant"), len(seen)
/// (2, 3)
/// >>> seen.remove("ant")
/// >>> "ant" in seen
/// True
#[pyclass(extends = MutableFilter, frozen, weakref, module = "tamis")]
pub(crate) struct QuotientFilter;

impl QuotientFilter {
    fn with<R: Send>(
        slf: &Bound<'_, Self>,
        work: impl FnOnce(&mut tamis::QuotientFilter) -> Result<R, Error> + Send,
    ) -> PyResult<R> {
        let filter = MutableFilter::base(slf.as_super());
        let worked = filter.write_long(slf.py(), |any| match any {
            AnyFilter::Quotient(filter) => work(filter),
            other => Err(Error::Kind { planned: other.kind(), wanted: "quotient" }),
        })?;
        worked.or_raise(slf.py())
    }
}

#[pymethods]
impl QuotientFilter {
    #[new]
    #[pyo3(signature = (items, fpr, *, seed=None, key=None))]
    fn new(
        py: Python<'_>,
        items: u64,
        fpr: f64,
        seed: Option<u64>,
        key: Option<&[u8]>,
    ) -> PyResult<PyClassInitializer<QuotientFilter>> {
        let hash = hash_of(py, seed, key)?;
        Ok(made(py, Kind::Quotient, items, fpr, hash, None)?.add_subclass(QuotientFilter))
    }

    /// Takes a key out once. `AbsentError`, a `KeyError`, if it is certainly not there.
    #[pyo3(signature = (key, /))]
    fn remove(slf: &Bound<'_, Self>, key: &Bound<'_, PyAny>) -> PyResult<()> {
        remove(MutableFilter::base(slf.as_super()), key)
    }

    /// How often a key was inserted; too many at about the rate.
    #[pyo3(signature = (key, /))]
    fn count(slf: &Bound<'_, Self>, key: &Bound<'_, PyAny>) -> PyResult<u64> {
        let key = key_of(key)?;
        QuotientFilter::with(slf, |filter| Ok(filter.count(&key)))
    }

    /// Doubles the number of items that there is room for.
    fn grow(slf: &Bound<'_, Self>) -> PyResult<()> {
        QuotientFilter::with(slf, tamis::QuotientFilter::grow)
    }

    /// Grows until there is room for this many items.
    fn grow_for(slf: &Bound<'_, Self>, items: u64) -> PyResult<()> {
        QuotientFilter::with(slf, |filter| filter.grow_for(items))
    }

    /// How many keys fit in.
    #[getter]
    fn capacity(slf: &Bound<'_, Self>) -> PyResult<u64> {
        QuotientFilter::with(slf, |filter| Ok(filter.capacity()))
    }

    /// How many keys are in, each as often as it was inserted.
    fn __len__(slf: &Bound<'_, Self>) -> PyResult<usize> {
        QuotientFilter::with(slf, |filter| Ok(filter.len() as usize))
    }
}

/// A filter that grows with its keys and keeps its rate. It begins with room for `items` keys, and
/// every next link of the chain has room for `growth` times as many.
///
/// >>> from tamis import ScalableBloom
/// >>> seen = ScalableBloom(100, 0.01)
/// >>> seen.update(range(1000))
/// >>> seen.health, len(seen) > 990, seen.links > 1
/// ('within', True, True)
#[pyclass(extends = MutableFilter, frozen, weakref, module = "tamis")]
pub(crate) struct ScalableBloom;

impl ScalableBloom {
    fn with<R: Send>(
        slf: &Bound<'_, Self>,
        work: impl FnOnce(&Scalable) -> R + Send,
    ) -> PyResult<R> {
        let filter = MutableFilter::base(slf.as_super());
        let worked = filter.read(slf.py(), |any| match any {
            AnyFilter::Scalable(filter) => Ok(work(filter)),
            other => Err(Error::Kind { planned: other.kind(), wanted: "scalable" }),
        })?;
        worked.or_raise(slf.py())
    }
}

#[pymethods]
impl ScalableBloom {
    #[new]
    #[pyo3(signature = (items, fpr, *, growth=None, seed=None, key=None))]
    fn new(
        py: Python<'_>,
        items: u64,
        fpr: f64,
        growth: Option<u32>,
        seed: Option<u64>,
        key: Option<&[u8]>,
    ) -> PyResult<PyClassInitializer<ScalableBloom>> {
        let hash = hash_of(py, seed, key)?;
        let mut plan = ScalablePlan::new(items, fpr).or_raise(py)?;
        if let Some(growth) = growth {
            plan = plan.with_growth(growth).or_raise(py)?;
        }
        let chain = py.detach(|| Scalable::with_plan(plan, hash)).or_raise(py)?;
        let base = PyClassInitializer::from(Filter::new(chain, None)).add_subclass(MutableFilter);
        Ok(base.add_subclass(ScalableBloom))
    }

    /// How many links the chain has.
    #[getter]
    fn links(slf: &Bound<'_, Self>) -> PyResult<usize> {
        ScalableBloom::with(slf, |filter| filter.links().len())
    }

    /// How many keys fit in before it grows again.
    #[getter]
    fn capacity(slf: &Bound<'_, Self>) -> PyResult<u64> {
        ScalableBloom::with(slf, Scalable::capacity)
    }

    /// How many keys are in.
    fn __len__(slf: &Bound<'_, Self>) -> PyResult<usize> {
        ScalableBloom::with(slf, |filter| filter.len() as usize)
    }
}

/// The smallest filter, built once from all keys. It takes no more keys afterwards.
///
/// >>> from tamis import StaticFilter
/// >>> words = StaticFilter(["ant", "bee", "cat"], 0.001)
/// >>> "bee" in words, "dog" in words
/// (True, False)
#[pyclass(extends = Filter, frozen, weakref, module = "tamis")]
pub(crate) struct StaticFilter;

#[pymethods]
impl StaticFilter {
    #[new]
    #[pyo3(signature = (keys, fpr, *, seed=None, key=None, threads=None, progress=None))]
    fn new<'py>(
        keys: &Bound<'py, PyAny>,
        fpr: f64,
        seed: Option<u64>,
        key: Option<&[u8]>,
        threads: Option<usize>,
        progress: Option<Bound<'py, PyAny>>,
    ) -> PyResult<PyClassInitializer<StaticFilter>> {
        bulk::check_many(keys)?;
        let py = keys.py();
        let hash = hash_of(py, seed, key)?;
        let mut builder = StaticBuilder::new(fpr).and_then(|new| new.hash(hash)).or_raise(py)?;
        match threads {
            Some(0) => return Err(PyValueError::new_err("threads is at least 1 (got 0)")),
            Some(threads) => builder = builder.threads(threads),
            None => {}
        }
        let mut collected = Collected { builder, hashed: false };
        bulk::feed(keys, &mut collected, Options { function: None, progress })?;
        let built = py.detach(|| collected.builder.build()).or_raise(py)?;
        let filter = Filter::new(built, None);
        if collected.hashed {
            filter.note_hashed();
        }
        Ok(PyClassInitializer::from(filter).add_subclass(StaticFilter))
    }
}

/// Collects the keys of a static filter.
struct Collected {
    builder: StaticBuilder,
    hashed: bool,
}

impl Sink for Collected {
    fn take(
        &mut self,
        _py: Option<Python<'_>>,
        keys: &Keys<'_>,
        _valid: Option<&[bool]>,
    ) -> Result<(), Failure> {
        match keys {
            Keys::Naturals(keys) => self.builder.extend(keys.iter().copied())?,
            Keys::Bytes(keys) => self.builder.extend(keys.iter().copied())?,
            Keys::Any(keys) => {
                self.hashed |= keys.iter().any(PyKey::is_hashed);
                self.builder.extend(keys.iter())?;
            }
            Keys::Numbers(numbers) => self.builder.extend(numbers.iter().copied())?,
        }
        Ok(())
    }
}
