//! Many keys at a time: from any source, to anything that takes keys.

use crate::columns::{self, Source};
use crate::filter::{Failure, Filter};
use crate::guarded::Session;
use crate::keys::{PyKey, Simple, key_of};
use pyo3::exceptions::PyTypeError;
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::{PyByteArray, PyBytes, PyString};
use tamis::{AnyFilter, Error, HashFamily};

/// How many Python objects are turned into keys before the filter is asked.
const OBJECTS: usize = 1 << 10;
/// After how many of them other Python threads get their turn: some thousandths of a second. A loop
/// over an iterator that is not written in Python would never give it to them.
const TURN: usize = 1 << 16;

/// Keys of one batch. The common types have their own form, for which the library is fastest.
pub(crate) enum Keys<'a> {
    Naturals(&'a [u64]),
    Bytes(&'a [&'a [u8]]),
    Any(&'a [PyKey<'a>]),
    /// What the user's hash function made.
    Numbers(&'a [i128]),
}

/// What takes keys.
pub(crate) trait Sink: Send {
    /// Takes the keys of the next rows. `valid` says which rows have a key; `None` if all have.
    /// `py` is there if other Python threads wait meanwhile.
    fn take(
        &mut self,
        py: Option<Python<'_>>,
        keys: &Keys<'_>,
        valid: Option<&[bool]>,
    ) -> Result<(), Failure>;

    /// Rows come without the global lock, until the end.
    fn begin(&mut self, _py: Python<'_>) {}

    /// No more rows come without the global lock.
    fn end(&mut self) {}

    /// How many keys it takes at a time.
    fn batch(&self) -> usize {
        1 << 13
    }
}

/// How keys are taken.
pub(crate) struct Options<'f, 'py> {
    pub(crate) function: Option<&'f Py<PyAny>>,
    /// A function that hears how many keys are done, or `True` for a bar.
    pub(crate) progress: Option<Bound<'py, PyAny>>,
}

/// Tells the user how far a long call has come.
pub(crate) struct Meter<'py>(Option<Bound<'py, PyAny>>);

impl<'py> Meter<'py> {
    pub(crate) fn new(
        py: Python<'py>,
        progress: Option<Bound<'py, PyAny>>,
        total: Option<usize>,
    ) -> PyResult<Meter<'py>> {
        let Some(progress) = progress else { return Ok(Meter(None)) };
        let meter = py.import("tamis._progress")?.call_method1("meter", (progress, total))?;
        Ok(Meter((!meter.is_none()).then_some(meter)))
    }

    /// Tells, and lets Ctrl-C through.
    pub(crate) fn tell(&self, py: Python<'py>, done: usize) -> PyResult<()> {
        py.check_signals()?;
        match &self.0 {
            Some(meter) => meter.call1((done,)).map(|_| ()),
            None => Ok(()),
        }
    }

    pub(crate) fn close(self) -> PyResult<()> {
        match self.0 {
            Some(meter) => meter.call_method0("close").map(|_| ()),
            None => Ok(()),
        }
    }
}

/// Refuses a text where many keys are meant: its letters are hardly the keys.
pub(crate) fn check_many(source: &Bound<'_, PyAny>) -> PyResult<()> {
    let one_key = source.is_instance_of::<PyString>()
        || source.is_instance_of::<PyBytes>()
        || source.is_instance_of::<PyByteArray>();
    if !one_key {
        return Ok(());
    }
    let class = source.get_type().name()?.to_string();
    Err(PyTypeError::new_err(format!("a {class} is one key, not many; put it in a list")))
}

/// Hands the keys of any source on, and says what kind of source it was.
pub(crate) fn feed<'py>(
    source: &Bound<'py, PyAny>,
    sink: &mut dyn Sink,
    options: Options<'_, 'py>,
) -> PyResult<Source> {
    let py = source.py();
    if options.function.is_some() {
        // The user's function wants Python objects, not the scalars of an array or a column.
        for name in [intern!(py, "to_pylist"), intern!(py, "to_list"), intern!(py, "tolist")] {
            if source.hasattr(name)? {
                let list = source.call_method0(name)?;
                return feed_objects(&list, sink, options);
            }
        }
        return feed_objects(source, sink, options);
    }
    match columns::find(source)? {
        Some(found) => found.feed(py, sink, options.progress),
        None => feed_objects(source, sink, options),
    }
}

/// The items of a Python iterable.
pub(crate) fn feed_objects<'py>(
    source: &Bound<'py, PyAny>,
    sink: &mut dyn Sink,
    options: Options<'_, 'py>,
) -> PyResult<Source> {
    let py = source.py();
    let meter = Meter::new(py, options.progress, source.len().ok())?;
    let mut items = source.try_iter()?;
    let (mut objects, mut done, mut ended) = (Vec::with_capacity(OBJECTS), 0, Ok(()));
    while ended.is_ok() {
        objects.clear();
        let mut more = true;
        while more && objects.len() < OBJECTS {
            match items.next() {
                Some(Ok(object)) => objects.push(object),
                Some(Err(error)) => {
                    // The items before an error are taken.
                    ended = Err(error);
                    more = false;
                }
                None => more = false,
            }
        }
        done += objects.len();
        let taken = take_objects(py, &objects, sink, options.function);
        if taken.is_err() || !more {
            ended = taken.and(ended);
            break;
        }
        if done % TURN == 0 {
            py.detach(|| {});
        }
        meter.tell(py, done)?;
    }
    meter.close()?;
    ended.map(|()| Source::Objects)
}

/// Hands objects on up to the first that is no key, and raises its error then.
fn take_objects(
    py: Python<'_>,
    objects: &[Bound<'_, PyAny>],
    sink: &mut dyn Sink,
    function: Option<&Py<PyAny>>,
) -> PyResult<()> {
    let mut refused = Ok(());
    let taken = match function {
        Some(function) => {
            let mut numbers = Vec::with_capacity(objects.len());
            for object in objects {
                match Filter::call_hash_func(function, object) {
                    Ok(number) => numbers.push(number),
                    Err(error) => {
                        refused = Err(error);
                        break;
                    }
                }
            }
            sink.take(Some(py), &Keys::Numbers(&numbers), None)
        }
        None => {
            let mut keys = Vec::with_capacity(objects.len());
            for object in objects {
                match key_of(object) {
                    Ok(key) => keys.push(key),
                    Err(error) => {
                        refused = Err(error);
                        break;
                    }
                }
            }
            sink.take(Some(py), &Keys::Any(&keys), None)
        }
    };
    taken.map_err(|failure| failure.raised(py))?;
    refused
}

/// The digests of what the user's function made: its numbers need not look random.
fn digests<'a>(
    hash: &'a HashFamily,
    numbers: &'a [i128],
) -> impl Iterator<Item = tamis::Digest> + 'a {
    numbers.iter().filter_map(|number| hash.digest(*number))
}

/// One key in a filter of a kind that most programs use. The others take the way through all kinds
/// (`None`). A `Result` would be copied through memory, which takes as long as a lookup.
macro_rules! one_key {
    ($any:ident, $method:ident, $key:ident) => {
        match $key {
            Simple::Bytes(key) => one_key!(by_layout $any, $method, key),
            Simple::Integer(key) => one_key!(by_layout $any, $method, key),
        }
    };
    (by_layout $any:ident, $method:ident, $key:ident) => {
        match $any {
            AnyFilter::Bloom(filter) => Some(filter.$method($key)),
            AnyFilter::Blocked(filter) => Some(filter.$method($key)),
            AnyFilter::Split(filter) => Some(filter.$method($key)),
            _ => None,
        }
    };
}

/// Whether a simple key passes.
#[inline]
pub(crate) fn has_simple(any: &AnyFilter, key: Simple<'_>) -> Option<bool> {
    one_key!(any, contains, key)
}

/// Puts a simple key in; says whether it was certainly new.
#[inline]
pub(crate) fn put_simple(any: &mut AnyFilter, key: Simple<'_>) -> Option<bool> {
    one_key!(any, insert, key)
}

/// Puts keys into a filter; says how many were certainly new.
pub(crate) fn insert(any: &mut AnyFilter, keys: &Keys<'_>) -> Result<u64, Error> {
    macro_rules! typed {
        ($filter:ident) => {
            Ok(match keys {
                Keys::Naturals(keys) => $filter.insert_many(keys.iter().copied()),
                Keys::Bytes(keys) => $filter.insert_many(keys.iter().copied()),
                Keys::Any(keys) => $filter.insert_many(keys.iter()),
                Keys::Numbers(numbers) => {
                    let hash = $filter.hash().clone();
                    let mut new = 0;
                    for digest in digests(&hash, numbers) {
                        new += u64::from($filter.insert_digest(digest)?);
                    }
                    new
                }
            })
        };
    }
    match any {
        AnyFilter::Bloom(filter) => typed!(filter),
        AnyFilter::Blocked(filter) => typed!(filter),
        AnyFilter::Split(filter) => typed!(filter),
        any => match keys {
            Keys::Naturals(keys) => any.insert_many(keys),
            Keys::Bytes(keys) => any.insert_many(keys),
            Keys::Any(keys) => any.insert_many(keys),
            // Only the three kinds above take a hash function.
            Keys::Numbers(numbers) => any.insert_many(numbers),
        },
    }
}

/// Which keys pass.
pub(crate) fn contains(any: &AnyFilter, keys: &Keys<'_>) -> Result<Vec<bool>, Error> {
    macro_rules! typed {
        ($filter:ident) => {
            match keys {
                Keys::Naturals(keys) => Ok($filter.contains_many(keys)),
                Keys::Bytes(keys) => Ok($filter.contains_many(keys)),
                Keys::Any(keys) => any.contains_many(keys),
                Keys::Numbers(numbers) => {
                    let ask = |digest| $filter.contains_digest(digest);
                    digests($filter.hash(), numbers).map(ask).collect()
                }
            }
        };
    }
    match any {
        AnyFilter::Bloom(filter) => typed!(filter),
        AnyFilter::Blocked(filter) => typed!(filter),
        AnyFilter::Split(filter) => typed!(filter),
        AnyFilter::Static(filter) => match keys {
            Keys::Naturals(keys) => Ok(filter.contains_many(keys)),
            Keys::Bytes(keys) => Ok(filter.contains_many(keys)),
            Keys::Any(keys) => any.contains_many(keys),
            Keys::Numbers(numbers) => any.contains_many(numbers),
        },
        any => match keys {
            Keys::Naturals(keys) => any.contains_many(keys),
            Keys::Bytes(keys) => any.contains_many(keys),
            Keys::Any(keys) => any.contains_many(keys),
            Keys::Numbers(numbers) => any.contains_many(numbers),
        },
    }
}

/// Puts keys into a filter.
pub(crate) struct Inserted<'f> {
    filter: &'f Filter,
    session: Option<Session<'f, Option<AnyFilter>>>,
    batch: usize,
    pub(crate) new: u64,
}

impl<'f> Inserted<'f> {
    pub(crate) fn new(py: Python<'_>, filter: &'f Filter) -> PyResult<Inserted<'f>> {
        // The library sorts keys by region before it puts them into a large filter, if it gets
        // enough of them at once.
        let large = filter.read(py, |any| any.plan().bytes())? >= 32 << 20;
        let batch = if large { 1 << 22 } else { 1 << 13 };
        Ok(Inserted { filter, session: None, batch, new: 0 })
    }
}

impl Sink for Inserted<'_> {
    fn take(
        &mut self,
        py: Option<Python<'_>>,
        keys: &Keys<'_>,
        _valid: Option<&[bool]>,
    ) -> Result<(), Failure> {
        if let Keys::Any(keys) = keys
            && keys.iter().any(PyKey::is_hashed)
        {
            self.filter.note_hashed();
        }
        let put = |any: &mut AnyFilter| insert(any, keys);
        let new = match py {
            Some(py) => self.filter.write(py, put).ok(),
            None => self.session.as_ref().and_then(|all| all.write(|any| any.as_mut().map(put))),
        };
        self.new += new.ok_or(Failure::Closed)??;
        Ok(())
    }

    fn begin(&mut self, py: Python<'_>) {
        self.session = Some(self.filter.session(py));
    }

    fn end(&mut self) {
        self.session = None;
    }

    fn batch(&self) -> usize {
        self.batch
    }
}
