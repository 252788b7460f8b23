//! A filter that several machines build: digests in, parts out, and the filter of all parts.

use crate::bulk::{self, Keys, Options, Sink};
use crate::errors::{OrRaise, exception};
use crate::filter::{Failure, Filter};
use crate::keys::PyKey;
use crate::privacy::{Ledger, epsilon_of};
use crate::rate::wrap;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyBytes;
use tamis::format::{Join, KeysRead, Part, PartNumber};
use tamis::privacy::{LinearPlan, Receipt};
use tamis::rate::StaticPlan;
use tamis::{AnyFilter, Digest, Error, HashFamily, Key, Kinds, Open};

/// The bytes of a digest.
const DIGEST: usize = 16;
/// The kinds of keys, as the first byte of dealt digests adds them up.
const KINDS: [(u8, Kinds); 2] = [(1, Kinds::BYTES), (2, Kinds::INTEGERS)];

enum Plan {
    Static(StaticPlan),
    Linear(LinearPlan),
}

impl Plan {
    fn shards(&self) -> u64 {
        match self {
            Plan::Static(plan) => plan.shards(),
            Plan::Linear(plan) => plan.shards(),
        }
    }

    #[inline]
    fn shard_of(&self, digest: Digest) -> u64 {
        match self {
            Plan::Static(plan) => plan.shard_of(digest),
            Plan::Linear(plan) => plan.shard_of(digest),
        }
    }
}

/// A static or linear filter that several processes build, a part each. Make it once with
/// `Parts.static` or `Parts.linear`, and pickle it to the others.
///
/// Each process deals its keys: `deal` gives, for each part, the digests of the keys that belong to
/// it. A process that has all digests of a part builds it, and the parts are joined. The filter is
/// byte for byte the one that a single process builds by the same plan.
///
/// >>> import tamis
/// >>> parts = tamis.Parts.static(1000, 0.01, of=2)
/// >>> hands = [hand for keys in (range(600), range(400, 1000)) for hand in parts.deal(keys)]
/// >>> bodies = [
/// ...     parts.build(number, [digests for to, digests in hands if to == number])
/// ...     for number in (2, 1)
/// ... ]
/// >>> joined = parts.join(bodies)
/// >>> joined == tamis.StaticFilter(range(1000), 0.01)
/// True
#[pyclass(frozen, module = "tamis")]
pub(crate) struct Parts {
    plan: Plan,
    hash: HashFamily,
    of: u64,
    /// The arguments that make it again elsewhere.
    made_by: (String, u64, String, Option<f64>, u64, u64),
}

/// Digests on their way to the parts.
struct Dealt<'a> {
    parts: &'a Parts,
    hands: Vec<Vec<u8>>,
    hashed: bool,
}

impl Dealt<'_> {
    fn put<K: Key>(&mut self, keys: impl Iterator<Item = K>) -> Result<(), Error> {
        let (plan, of) = (&self.parts.plan, self.parts.of);
        let shards = plan.shards();
        for key in keys {
            let kinds = Kinds::of(&key);
            let Some(digest) = self.parts.hash.digest(key) else { continue };
            let number = PartNumber::with_shard(plan.shard_of(digest), shards, of)?;
            let hand = &mut self.hands[number.number() as usize - 1];
            if hand.capacity() - hand.len() <= DIGEST {
                let more = hand.len().max(64 * DIGEST);
                hand.try_reserve(more)
                    .map_err(|_| Error::Memory { needed: more as u64, allowed: None })?;
            }
            if hand.is_empty() {
                hand.push(0);
            }
            hand[0] |=
                KINDS.iter().filter(|(_, kind)| kinds.has(*kind)).map(|(bit, _)| bit).sum::<u8>();
            hand.extend_from_slice(&u128::from(digest).to_le_bytes());
        }
        Ok(())
    }
}

impl Sink for Dealt<'_> {
    fn take(
        &mut self,
        _py: Option<Python<'_>>,
        keys: &Keys<'_>,
        _valid: Option<&[bool]>,
    ) -> Result<(), Failure> {
        match keys {
            Keys::Naturals(keys) => self.put(keys.iter().copied())?,
            Keys::Bytes(keys) => self.put(keys.iter().copied())?,
            Keys::Any(keys) => {
                self.hashed |= keys.iter().any(PyKey::is_hashed);
                self.put(keys.iter())?;
            }
            Keys::Numbers(numbers) => self.put(numbers.iter().copied())?,
        }
        Ok(())
    }
}

fn made(
    py: Python<'_>,
    kind: &str,
    items: u64,
    value: &str,
    fpr: Option<f64>,
    of: u64,
    seed: u64,
) -> PyResult<Parts> {
    PartNumber::new(1, of).or_raise(py)?;
    let plan = match (kind, fpr) {
        ("static", Some(fpr)) => Plan::Static(StaticPlan::new(items, fpr).or_raise(py)?),
        ("linear", fpr) => {
            let epsilon = value.parse().or_raise(py)?;
            Plan::Linear(match fpr {
                Some(fpr) => LinearPlan::with_fpr(items, epsilon, fpr).or_raise(py)?,
                None => LinearPlan::new(items, epsilon).or_raise(py)?,
            })
        }
        _ => return Err(PyValueError::new_err(format!("{kind} filters have no parts"))),
    };
    let made_by = (kind.to_owned(), items, value.to_owned(), fpr, of, seed);
    Ok(Parts { plan, hash: HashFamily::fast(seed), of, made_by })
}

/// Makes `Parts` of what their pickle holds.
#[pyfunction]
pub(crate) fn _parts(
    py: Python<'_>,
    kind: &str,
    items: u64,
    value: &str,
    fpr: Option<f64>,
    of: u64,
    seed: u64,
) -> PyResult<Parts> {
    made(py, kind, items, value, fpr, of, seed)
}

#[pymethods]
impl Parts {
    /// A static filter of at most `items` distinct keys at the rate `fpr`, in `of` parts.
    #[staticmethod]
    #[pyo3(name = "static", signature = (items, fpr, *, of, seed=0))]
    fn of_static(py: Python<'_>, items: u64, fpr: f64, of: u64, seed: u64) -> PyResult<Parts> {
        made(py, "static", items, "", Some(fpr), of, seed)
    }

    /// A published filter with room for `items` at a loss of `epsilon`, in `of` parts. The seed
    /// becomes public. Parts are secret until they are joined.
    #[staticmethod]
    #[pyo3(name = "linear", signature = (items, epsilon, *, of, seed, fpr=None))]
    fn of_linear(
        items: u64,
        epsilon: &Bound<'_, PyAny>,
        of: u64,
        seed: u64,
        fpr: Option<f64>,
    ) -> PyResult<Parts> {
        let value = epsilon_of(epsilon)?.to_string();
        made(epsilon.py(), "linear", items, &value, fpr, of, seed)
    }

    /// How many parts there are.
    #[getter]
    fn of(&self) -> u64 {
        self.of
    }

    /// How many shards the filter has. A part has some of them, or none.
    #[getter]
    fn shards(&self) -> u64 {
        self.plan.shards()
    }

    /// The bytes of the filter's file.
    #[getter]
    fn file_bytes(&self) -> u64 {
        match &self.plan {
            Plan::Static(plan) => plan.file_bytes(),
            Plan::Linear(plan) => plan.file_bytes(),
        }
    }

    /// What a release costs; None of a static filter.
    #[getter]
    fn epsilon(&self) -> Option<f64> {
        match &self.plan {
            Plan::Static(_) => None,
            Plan::Linear(plan) => Some(plan.epsilon().to_f64()),
        }
    }

    /// The digests of keys by part: pairs of a part's number, from 1, and bytes for `build`.
    /// Parts that get none are left out. A null goes nowhere.
    #[pyo3(signature = (keys, /))]
    fn deal<'py>(&self, keys: &Bound<'py, PyAny>) -> PyResult<Vec<(u64, Bound<'py, PyBytes>)>> {
        bulk::check_many(keys)?;
        let py = keys.py();
        let hands = vec![Vec::new(); self.of as usize];
        let mut dealt = Dealt { parts: self, hands, hashed: false };
        bulk::feed(keys, &mut dealt, Options { function: None, progress: None })?;
        if dealt.hashed {
            let message = "some keys are known by Python's hash() only, which is another one in \
                           every process; use text, bytes, numbers, dates, UUIDs, addresses or \
                           tuples as keys";
            return Err(exception(py, "HashedKeysError", message.to_owned()));
        }
        let hands = (1..).zip(&dealt.hands).filter(|(_, hand)| !hand.is_empty());
        Ok(hands.map(|(number, hand)| (number, PyBytes::new(py, hand))).collect())
    }

    /// Builds part `number`, from 1, out of all digests that were dealt to it, in any order. The
    /// bytes of a static filter's part depend on the set of keys alone; a linear filter's part is
    /// drawn, with fresh coins.
    fn build<'py>(
        &self,
        py: Python<'py>,
        number: u64,
        digests: &Bound<'py, PyAny>,
    ) -> PyResult<Bound<'py, PyBytes>> {
        let number = PartNumber::new(number, self.of).or_raise(py)?;
        let (mut kinds, mut all) = (Kinds::default(), Vec::new());
        for hand in digests.try_iter()? {
            let hand = hand?;
            let hand = hand.cast::<PyBytes>()?.as_bytes();
            let (pairs, rest) = hand.get(1..).unwrap_or_default().as_chunks::<DIGEST>();
            let known: u8 = KINDS.iter().map(|(bit, _)| bit).sum();
            if hand.is_empty() || !rest.is_empty() || hand[0] & !known != 0 {
                let message = "these are no digests that Parts.deal dealt".to_owned();
                return Err(exception(py, "FileError", message));
            }
            for (_, kind) in KINDS.iter().filter(|(bit, _)| hand[0] & bit != 0) {
                kinds = kinds | *kind;
            }
            let needed = (DIGEST * pairs.len()) as u64;
            all.try_reserve(pairs.len())
                .map_err(|_| Error::Memory { needed, allowed: None })
                .or_raise(py)?;
            all.extend(pairs.iter().map(|pair| Digest::from(u128::from_le_bytes(*pair))));
        }
        let built = py.detach(|| match &self.plan {
            Plan::Static(plan) => {
                let read = KeysRead::default();
                Part::build_static(plan, &self.hash, kinds, number, read, all)
            }
            Plan::Linear(plan) => Part::draw_linear(plan, &self.hash, number, all),
        });
        Ok(PyBytes::new(py, &built.or_raise(py)?.to_bytes()))
    }

    /// Joins all parts, in any order. Of a published filter, the ledger is charged once, when all
    /// parts are there and before the release is.
    #[pyo3(signature = (parts, /, *, ledger=None, note=""))]
    fn join<'py>(
        &self,
        py: Python<'py>,
        parts: &Bound<'py, PyAny>,
        ledger: Option<&Bound<'py, Ledger>>,
        note: &str,
    ) -> PyResult<Bound<'py, PyAny>> {
        let mut join = Join::new(Open::new());
        for part in parts.try_iter()? {
            let part = part?;
            let bytes = part.cast::<PyBytes>()?.as_bytes();
            py.detach(|| join.reader(bytes)).or_raise(py)?;
        }
        join.check_complete().or_raise(py)?;
        let any: Result<AnyFilter, Error> = match join.linear_plan().map(LinearPlan::epsilon) {
            Some(epsilon) => {
                let receipt = match ledger {
                    Some(ledger) => ledger.get().charge_by(py, epsilon, note)?,
                    None => Receipt::unrecorded(epsilon),
                };
                py.detach(|| Ok(join.publish(receipt)?.into()))
            }
            None => py.detach(|| join.finish()),
        };
        wrap(py, Filter::new(any.or_raise(py)?, None))
    }

    fn __reduce__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        let make = py.import("tamis._tamis")?.getattr("_parts")?;
        Ok((make, self.made_by.clone()).into_pyobject(py)?.into_any())
    }

    fn __repr__(&self) -> String {
        let (kind, items, ..) = &self.made_by;
        format!("<Parts of a {kind} filter for {items} items, of={}>", self.of)
    }
}
