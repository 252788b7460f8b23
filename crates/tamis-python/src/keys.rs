//! Python objects become keys.
//!
//! Python's equality decides which objects are one key: 1, 1.0 and True are. Text, bytes and
//! integers are encoded as the library encodes them. FORMAT.md lists the others under "Keys".

use pyo3::exceptions::{PyOverflowError, PyRecursionError};
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyBytes, PyComplex, PyFloat, PyInt, PyMemoryView, PyString, PyTuple};
use std::net::{Ipv4Addr, Ipv6Addr};
use tamis::{Hashed, Key, KeyRef};

/// Tuples within tuples, no deeper than this.
const MAX_DEPTH: u32 = 200;
/// A `Decimal` past this power of ten would become an integer of more digits than is sensible.
const MAX_EXPONENT: i64 = 5_000;

/// The bytes that begin the keys that only Python has. No text begins with the first one, as it
/// occurs in no UTF-8.
const FLOAT: [u8; 2] = [0xff, b'F'];
const COMPLEX: [u8; 2] = [0xff, b'C'];
const RATIO: [u8; 2] = [0xff, b'R'];
const NONE: [u8; 2] = [0xff, b'N'];
const EMPTY_TUPLE: [u8; 2] = [0xff, b'T'];

/// A Python object as a key.
pub(crate) enum PyKey<'a> {
    Bytes(&'a [u8]),
    Natural(u64),
    Negative(u64),
    Wide(Box<u128>),
    WideNegative(Box<i128>),
    V4(Ipv4Addr),
    V6(Box<Ipv6Addr>),
    /// A number that is no integer.
    Float([u8; 10]),
    Owned(Box<[u8]>),
    /// Python's own hash, which only this process knows.
    Hashed(Hashed<i64>),
}

impl Key for PyKey<'_> {
    #[inline]
    fn as_key(&self) -> KeyRef<'_> {
        match self {
            PyKey::Bytes(bytes) => KeyRef::Bytes(bytes),
            PyKey::Natural(value) => KeyRef::Natural(*value),
            PyKey::Negative(value) => KeyRef::Negative(*value),
            PyKey::Wide(value) => value.as_key(),
            PyKey::WideNegative(value) => value.as_key(),
            PyKey::V4(address) => address.as_key(),
            PyKey::V6(address) => address.as_key(),
            PyKey::Float(bytes) => KeyRef::Bytes(bytes),
            PyKey::Owned(bytes) => KeyRef::Bytes(bytes),
            PyKey::Hashed(hash) => hash.as_key(),
        }
    }
}

impl PyKey<'_> {
    /// Whether only this process can ask for it.
    #[inline]
    pub(crate) fn is_hashed(&self) -> bool {
        matches!(self, PyKey::Hashed(_))
    }

    fn bytes(bytes: impl AsRef<[u8]>) -> PyKey<'static> {
        PyKey::Owned(bytes.as_ref().into())
    }

    pub(crate) fn signed(value: i64) -> PyKey<'static> {
        if value < 0 { PyKey::Negative(value as u64) } else { PyKey::Natural(value as u64) }
    }

    /// The same key as the integer of that value, if there is one.
    pub(crate) fn float(value: f64) -> PyKey<'static> {
        if value.is_finite() && value == value.trunc() {
            return whole(value);
        }
        // All NaNs are one key: whether two are equal is not a question for a set.
        let value = if value.is_nan() { f64::NAN } else { value };
        let mut bytes = [0; 10];
        bytes[..2].copy_from_slice(&FLOAT);
        bytes[2..].copy_from_slice(&value.to_le_bytes());
        PyKey::Float(bytes)
    }
}

/// The keys that most programs have.
pub(crate) enum Simple<'a> {
    Bytes(&'a [u8]),
    Integer(i64),
}

/// The key of an object that is exactly a text, an integer of 64 bits or bytes.
#[inline(always)]
pub(crate) fn simple<'a>(object: &'a Bound<'_, PyAny>) -> Option<Simple<'a>> {
    if let Ok(text) = object.cast_exact::<PyString>() {
        return text.to_str().ok().map(|text| Simple::Bytes(text.as_bytes()));
    }
    if let Ok(integer) = object.cast_exact::<PyInt>() {
        return integer.extract().ok().map(Simple::Integer);
    }
    object.cast_exact::<PyBytes>().ok().map(|bytes| Simple::Bytes(bytes.as_bytes()))
}

/// The key of an object. `TypeError` if Python cannot hash it.
#[inline]
pub(crate) fn key_of<'a>(object: &'a Bound<'_, PyAny>) -> PyResult<PyKey<'a>> {
    part_of(object, 0)
}

/// The same for a part of tuples within tuples, `depth` of them.
#[inline]
fn part_of<'a>(object: &'a Bound<'_, PyAny>, depth: u32) -> PyResult<PyKey<'a>> {
    if let Ok(text) = object.cast_exact::<PyString>() {
        return text_key(text);
    }
    if let Ok(integer) = object.cast_exact::<PyInt>() {
        return integer_key(integer);
    }
    if let Ok(bytes) = object.cast_exact::<PyBytes>() {
        return Ok(PyKey::Bytes(bytes.as_bytes()));
    }
    uncommon(object, depth)
}

#[inline]
fn text_key<'a>(text: &'a Bound<'_, PyString>) -> PyResult<PyKey<'a>> {
    match text.to_str() {
        Ok(text) => Ok(PyKey::Bytes(text.as_bytes())),
        // A lone surrogate has no UTF-8. Python's own extension of UTF-8 has bytes for it.
        Err(_) => {
            let py = text.py();
            let bytes = text.call_method1(intern!(py, "encode"), ("utf-8", "surrogatepass"))?;
            Ok(PyKey::bytes(bytes.cast::<PyBytes>()?.as_bytes()))
        }
    }
}

#[inline]
fn integer_key(integer: &Bound<'_, PyInt>) -> PyResult<PyKey<'static>> {
    match integer.extract::<i64>() {
        Ok(value) => Ok(PyKey::signed(value)),
        Err(_) => wide_key(integer),
    }
}

/// An integer past 64 bits.
#[cold]
fn wide_key(integer: &Bound<'_, PyInt>) -> PyResult<PyKey<'static>> {
    if let Ok(value) = integer.extract::<u64>() {
        return Ok(PyKey::Natural(value));
    }
    if let Ok(value) = integer.extract::<u128>() {
        return Ok(PyKey::Wide(Box::new(value)));
    }
    if let Ok(value) = integer.extract::<i128>() {
        return Ok(PyKey::WideNegative(Box::new(value)));
    }
    let py = integer.py();
    let bits: usize = integer.call_method0(intern!(py, "bit_length"))?.extract()?;
    let signed = pyo3::types::PyDict::new(py);
    signed.set_item(intern!(py, "signed"), true)?;
    let bytes = integer.call_method(
        intern!(py, "to_bytes"),
        (bits / 8 + 1, intern!(py, "little")),
        Some(&signed),
    )?;
    let negative = integer.lt(0)?;
    Ok(huge(bytes.cast::<PyBytes>()?.as_bytes(), negative))
}

/// An integer past 128 bits: `bits / 8 + 1` little-endian bytes in two's complement, and its tag.
fn huge(bytes: &[u8], negative: bool) -> PyKey<'static> {
    PyKey::bytes([bytes, &[if negative { 2 } else { 1 }]].concat())
}

/// The integer that a float without a fraction is.
fn whole(value: f64) -> PyKey<'static> {
    const TWO_64: f64 = 18_446_744_073_709_551_616.0;
    if value.abs() < TWO_64 / 2.0 {
        return PyKey::signed(value as i64);
    }
    if (0.0..TWO_64 * TWO_64).contains(&value) {
        let value = value as u128;
        return u64::try_from(value).map_or_else(|_| PyKey::Wide(Box::new(value)), PyKey::Natural);
    }
    if (-TWO_64 * TWO_64 / 2.0..0.0).contains(&value) {
        return match i64::try_from(value as i128) {
            Ok(value) => PyKey::signed(value),
            Err(_) => PyKey::WideNegative(Box::new(value as i128)),
        };
    }
    // 53 bits, moved up: at least 2^127, so the float is normal.
    let bits = value.to_bits();
    let mantissa = bits & ((1 << 52) - 1) | 1 << 52;
    let shift = (bits >> 52 & 0x7ff) as usize - 1075;
    let mut bytes = vec![0; (shift + 53) / 8 + 1];
    let moved = (u128::from(mantissa) << (shift % 8)).to_le_bytes();
    for (byte, part) in bytes[shift / 8..].iter_mut().zip(moved) {
        *byte = part;
    }
    if value < 0.0 {
        let mut carry = true;
        for byte in &mut bytes {
            let (negated, over) = (!*byte).overflowing_add(u8::from(carry));
            (*byte, carry) = (negated, over);
        }
    }
    huge(&bytes, value < 0.0)
}

/// All objects that are not exactly a text, an integer or bytes.
#[inline(never)]
fn uncommon<'a>(object: &'a Bound<'_, PyAny>, depth: u32) -> PyResult<PyKey<'a>> {
    if let Ok(float) = object.cast_exact::<PyFloat>() {
        return Ok(PyKey::float(float.value()));
    }
    if let Ok(truth) = object.cast_exact::<PyBool>() {
        return Ok(PyKey::Natural(u64::from(truth.is_true())));
    }
    if object.is_none() {
        return Ok(PyKey::bytes(NONE));
    }
    if let Ok(tuple) = object.cast_exact::<PyTuple>() {
        return tuple_key(tuple, depth);
    }
    let hash = object.hash()? as i64;
    Ok(by_value(object, hash, depth)?.unwrap_or(PyKey::Hashed(Hashed(hash))))
}

/// FORMAT.md: for each part its tag, the length of its bytes, its bytes.
fn tuple_key(tuple: &Bound<'_, PyTuple>, depth: u32) -> PyResult<PyKey<'static>> {
    if depth >= MAX_DEPTH {
        let message = format!("the key has tuples within tuples more than {MAX_DEPTH} deep");
        return Err(PyRecursionError::new_err(message));
    }
    if tuple.is_empty() {
        return Ok(PyKey::bytes(EMPTY_TUPLE));
    }
    let mut bytes = Vec::new();
    for part in tuple.iter_borrowed() {
        let part = part_of(&part, depth + 1)?;
        if part.is_hashed() {
            return Ok(PyKey::Hashed(Hashed(tuple.hash()? as i64)));
        }
        push_part(&mut bytes, &part);
    }
    Ok(PyKey::Owned(bytes.into()))
}

fn push_part(out: &mut Vec<u8>, part: &PyKey<'_>) {
    let mut push = |tag: u8, bytes: &[u8]| {
        out.push(tag);
        out.extend_from_slice(&(bytes.len() as u64).to_le_bytes());
        out.extend_from_slice(bytes);
    };
    match part.as_key() {
        KeyRef::Natural(value) => push(1, &value.to_le_bytes()),
        KeyRef::Negative(value) => push(2, &value.to_le_bytes()),
        KeyRef::Bytes(bytes) => push(0, bytes),
        KeyRef::Encoded(key) => push(0, &key.to_vec()),
        _ => {}
    }
}

/// Objects that have a value of their own: subclasses of the types above, numbers of other types,
/// and some types of the standard library. `None` for the others, which only their hash knows.
fn by_value<'a>(
    object: &'a Bound<'_, PyAny>,
    hash: i64,
    depth: u32,
) -> PyResult<Option<PyKey<'a>>> {
    // A subclass may have an equality of its own. It shows in the hash.
    if let Ok(text) = object.cast::<PyString>() {
        return if same_hash::<PyString>(object, hash)? {
            text_key(text).map(Some)
        } else {
            Ok(None)
        };
    }
    if let Ok(bytes) = object.cast::<PyBytes>() {
        let same = same_hash::<PyBytes>(object, hash)?;
        return Ok(same.then(|| PyKey::Bytes(bytes.as_bytes())));
    }
    if let Ok(integer) = object.cast::<PyInt>() {
        return if same_hash::<PyInt>(object, hash)? {
            integer_key(integer).map(Some)
        } else {
            Ok(None)
        };
    }
    if let Ok(float) = object.cast::<PyFloat>() {
        return Ok(same_hash::<PyFloat>(object, hash)?.then(|| PyKey::float(float.value())));
    }
    if let Ok(tuple) = object.cast::<PyTuple>() {
        return if same_hash::<PyTuple>(object, hash)? {
            tuple_key(tuple, depth).map(Some)
        } else {
            Ok(None)
        };
    }
    if let Ok(number) = object.cast_exact::<PyComplex>() {
        return Ok(Some(complex_key(number.real(), number.imag())));
    }
    if object.cast_exact::<PyMemoryView>().is_ok() {
        let bytes = object.call_method0(intern!(object.py(), "tobytes"))?;
        return Ok(Some(PyKey::bytes(bytes.cast::<PyBytes>()?.as_bytes())));
    }
    match known_type(object)? {
        Some(known) => standard(object, known),
        None => number(object, depth),
    }
}

/// Whether a subclass hashes this object as its base class `T` does.
fn same_hash<T: pyo3::PyTypeInfo>(object: &Bound<'_, PyAny>, hash: i64) -> PyResult<bool> {
    let py = object.py();
    let base = T::type_object(py).getattr(intern!(py, "__hash__"))?.call1((object,))?;
    Ok(base.extract::<i64>()? == hash)
}

fn complex_key(real: f64, imaginary: f64) -> PyKey<'static> {
    if imaginary == 0.0 {
        return PyKey::float(real);
    }
    // 0.0 and -0.0 are equal.
    let part = |value: f64| (value + 0.0).to_le_bytes();
    PyKey::bytes([&COMPLEX[..], &part(real), &part(imaginary)].concat())
}

/// Types of the standard library whose values are encoded.
#[derive(Clone, Copy)]
enum Known {
    Uuid,
    Ipv4,
    Ipv6,
    Date,
    DateTime,
    Time,
    Timestamp,
    Decimal,
    Fraction,
}

/// By name, so that no module is imported for it.
fn known_type(object: &Bound<'_, PyAny>) -> PyResult<Option<Known>> {
    let py = object.py();
    let class = object.get_type();
    let module = class.getattr(intern!(py, "__module__"))?;
    let name = class.getattr(intern!(py, "__name__"))?;
    let (Ok(module), Ok(name)) = (module.cast::<PyString>(), name.cast::<PyString>()) else {
        return Ok(None);
    };
    Ok(match (module.to_str()?, name.to_str()?) {
        ("uuid", "UUID") => Some(Known::Uuid),
        ("ipaddress", "IPv4Address") => Some(Known::Ipv4),
        ("ipaddress", "IPv6Address") => Some(Known::Ipv6),
        ("datetime", "date") => Some(Known::Date),
        ("datetime", "datetime") => Some(Known::DateTime),
        ("datetime", "time") => Some(Known::Time),
        ("pandas" | "pandas._libs.tslibs.timestamps", "Timestamp") => Some(Known::Timestamp),
        ("decimal", "Decimal") => Some(Known::Decimal),
        ("fractions", "Fraction") => Some(Known::Fraction),
        _ => None,
    })
}

fn standard(object: &Bound<'_, PyAny>, known: Known) -> PyResult<Option<PyKey<'static>>> {
    let py = object.py();
    let iso = |object: &Bound<'_, PyAny>| -> PyResult<Option<PyKey<'static>>> {
        let text = object.call_method0(intern!(py, "isoformat"))?;
        Ok(Some(PyKey::bytes(text.cast::<PyString>()?.to_str()?)))
    };
    match known {
        Known::Uuid => {
            let value: u128 = object.getattr(intern!(py, "int"))?.extract()?;
            Ok(Some(PyKey::bytes(value.to_be_bytes())))
        }
        Known::Ipv4 => {
            let value: u32 = object.call_method0(intern!(py, "__int__"))?.extract()?;
            Ok(Some(PyKey::V4(value.into())))
        }
        Known::Ipv6 => {
            let value: u128 = object.call_method0(intern!(py, "__int__"))?.extract()?;
            let address = Ipv6Addr::from(value);
            let scope = object.getattr(intern!(py, "scope_id"))?;
            if scope.is_none() {
                return Ok(Some(PyKey::V6(Box::new(address))));
            }
            let scope = scope.str()?;
            Ok(Some(PyKey::bytes(
                [&address.octets(), &b"%"[..], scope.to_str()?.as_bytes()].concat(),
            )))
        }
        Known::Date => iso(object),
        // Two times of different zones are equal if they are the same instant.
        Known::DateTime => {
            let offset = object.call_method0(intern!(py, "utcoffset"))?;
            if offset.is_none() {
                return iso(object);
            }
            let utc = py.import(intern!(py, "datetime"))?.getattr(intern!(py, "timezone"))?;
            let utc = utc.getattr(intern!(py, "utc"))?;
            iso(&object.call_method1(intern!(py, "astimezone"), (utc,))?)
        }
        Known::Time => {
            if object.getattr(intern!(py, "tzinfo"))?.is_none() {
                iso(object)
            } else {
                Ok(None)
            }
        }
        // Equal to a datetime, if it has no nanoseconds.
        Known::Timestamp => {
            if object.getattr(intern!(py, "nanosecond"))?.extract::<i64>()? != 0 {
                return Ok(None);
            }
            let moment = object.call_method0(intern!(py, "to_pydatetime"))?;
            standard(&moment, Known::DateTime)
        }
        Known::Decimal | Known::Fraction => rational(object, known),
    }
}

/// A rational number: an integer, a float, or else two integers.
fn rational(object: &Bound<'_, PyAny>, known: Known) -> PyResult<Option<PyKey<'static>>> {
    let py = object.py();
    if let Known::Decimal = known {
        if !object.call_method0(intern!(py, "is_finite"))?.is_truthy()? {
            return Ok(Some(PyKey::float(object.extract()?)));
        }
        let power: i64 = object.call_method0(intern!(py, "adjusted"))?.extract()?;
        let (_, _, exponent): (Py<PyAny>, Py<PyAny>, i64) =
            object.call_method0(intern!(py, "as_tuple"))?.extract()?;
        if power.abs().max(exponent.abs()) > MAX_EXPONENT {
            return Err(PyOverflowError::new_err(format!(
                "a Decimal with the exponent {exponent} is too large or too small for a key; the \
                 most is {MAX_EXPONENT}: use its text"
            )));
        }
    }
    let (above, below): (Bound<'_, PyInt>, Bound<'_, PyInt>) =
        object.call_method0(intern!(py, "as_integer_ratio"))?.extract()?;
    if below.as_any().eq(1)? {
        return integer_key(&above).map(Some);
    }
    // Not every rational number is a float, and float() may overflow.
    if let Ok(float) = object.extract::<f64>()
        && float.is_finite()
        && object.eq(float)?
    {
        return Ok(Some(PyKey::float(float)));
    }
    let mut bytes = RATIO.to_vec();
    push_part(&mut bytes, &integer_key(&above)?);
    push_part(&mut bytes, &integer_key(&below)?);
    Ok(Some(PyKey::Owned(bytes.into())))
}

/// Numbers of other types, such as NumPy's. Python's own equality says whether they are one with
/// an integer or a float. What fails on the way is no such number.
fn number(object: &Bound<'_, PyAny>, depth: u32) -> PyResult<Option<PyKey<'static>>> {
    let py = object.py();
    let equal = |value: &Bound<'_, PyAny>| object.eq(value).unwrap_or(false);
    let class = object.get_type();
    let has = |name| class.hasattr(name).unwrap_or(false);
    if has(intern!(py, "__index__"))
        && let Ok(value) = object.call_method0(intern!(py, "__index__"))
        && let Ok(integer) = value.cast_exact::<PyInt>()
        && equal(&value)
    {
        return integer_key(integer).map(Some);
    }
    // A scalar of NumPy.
    if has(intern!(py, "item"))
        && has(intern!(py, "dtype"))
        && let Ok(value) = object.call_method0(intern!(py, "item"))
        && !value.get_type().is(&class)
        && equal(&value)
    {
        return Ok(match part_of(&value, depth + 1)? {
            PyKey::Hashed(_) => None,
            PyKey::Bytes(bytes) => Some(PyKey::bytes(bytes)),
            PyKey::Natural(value) => Some(PyKey::Natural(value)),
            PyKey::Negative(value) => Some(PyKey::Negative(value)),
            PyKey::Wide(value) => Some(PyKey::Wide(value)),
            PyKey::WideNegative(value) => Some(PyKey::WideNegative(value)),
            PyKey::V4(value) => Some(PyKey::V4(value)),
            PyKey::V6(value) => Some(PyKey::V6(value)),
            PyKey::Float(bytes) => Some(PyKey::Float(bytes)),
            PyKey::Owned(bytes) => Some(PyKey::Owned(bytes)),
        });
    }
    if has(intern!(py, "__float__"))
        && let Ok(value) = object.call_method0(intern!(py, "__float__"))
        && let Ok(float) = value.cast_exact::<PyFloat>()
        && equal(&value)
    {
        return Ok(Some(PyKey::float(float.value())));
    }
    Ok(None)
}
