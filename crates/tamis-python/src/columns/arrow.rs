//! The Arrow C data interface, in and out, in the capsules of its Python protocol.
//!
//! The structs are those of <https://arrow.apache.org/docs/format/CDataInterface.html>.
#![allow(unsafe_code)] // calls the functions and reads the memory that capsules hold

use super::column::{Bits, Column, Items, Strings, Values};
use crate::errors::exception;
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyCapsule, PyTuple};
use std::ffi::{CStr, c_char, c_int, c_void};
use std::ptr::{NonNull, null, null_mut};

#[repr(C)]
pub(crate) struct Schema {
    format: *const c_char,
    name: *const c_char,
    metadata: *const c_char,
    flags: i64,
    n_children: i64,
    children: *mut *mut Schema,
    dictionary: *mut Schema,
    release: Option<unsafe extern "C" fn(*mut Schema)>,
    private_data: *mut c_void,
}

#[repr(C)]
pub(crate) struct RawArray {
    length: i64,
    null_count: i64,
    offset: i64,
    n_buffers: i64,
    n_children: i64,
    buffers: *mut *const c_void,
    children: *mut *mut RawArray,
    dictionary: *mut RawArray,
    release: Option<unsafe extern "C" fn(*mut RawArray)>,
    private_data: *mut c_void,
}

#[repr(C)]
struct RawStream {
    get_schema: Option<unsafe extern "C" fn(*mut RawStream, *mut Schema) -> c_int>,
    get_next: Option<unsafe extern "C" fn(*mut RawStream, *mut RawArray) -> c_int>,
    get_last_error: Option<unsafe extern "C" fn(*mut RawStream) -> *const c_char>,
    release: Option<unsafe extern "C" fn(*mut RawStream)>,
    private_data: *mut c_void,
}

// SAFETY: the interface lets any thread use and release its structs, one at a time.
unsafe impl Send for Schema {}
// SAFETY: as above.
unsafe impl Send for RawArray {}

impl Schema {
    const EMPTY: Schema = Schema {
        format: null(),
        name: null(),
        metadata: null(),
        flags: 0,
        n_children: 0,
        children: null_mut(),
        dictionary: null_mut(),
        release: None,
        private_data: null_mut(),
    };
}

impl RawArray {
    const EMPTY: RawArray = RawArray {
        length: 0,
        null_count: 0,
        offset: 0,
        n_buffers: 0,
        n_children: 0,
        buffers: null_mut(),
        children: null_mut(),
        dictionary: null_mut(),
        release: None,
        private_data: null_mut(),
    };
}

impl Drop for Schema {
    fn drop(&mut self) {
        if let Some(release) = self.release {
            // SAFETY: a struct with a release function is alive, and this is its last use.
            unsafe { release(self) };
        }
    }
}

impl Drop for RawArray {
    fn drop(&mut self) {
        if let Some(release) = self.release {
            // SAFETY: as for the schema.
            unsafe { release(self) };
        }
    }
}

fn damaged(what: &str) -> PyErr {
    PyValueError::new_err(format!("the Arrow data is not as the interface says: {what}"))
}

/// The pointer in a capsule of this name.
fn pointer<T>(capsule: &Bound<'_, PyAny>, name: &'static CStr) -> PyResult<NonNull<T>> {
    Ok(capsule.cast::<PyCapsule>()?.pointer_checked(Some(name))?.cast())
}

/// What `__arrow_c_array__` gives. The capsules keep the structs alive and release them.
pub(crate) struct Array<'py> {
    schema: NonNull<Schema>,
    array: NonNull<RawArray>,
    _capsules: Bound<'py, PyTuple>,
}

impl<'py> Array<'py> {
    pub(super) fn new(capsules: Bound<'py, PyAny>) -> PyResult<Array<'py>> {
        let capsules = capsules.cast_into::<PyTuple>()?;
        let schema = pointer(&capsules.get_item(0)?, c"arrow_schema")?;
        let array = pointer(&capsules.get_item(1)?, c"arrow_array")?;
        Ok(Array { schema, array, _capsules: capsules })
    }

    pub(super) fn column(&self) -> PyResult<Column> {
        // SAFETY: the capsules, which live as long as this, hold the two structs.
        let (schema, array) = unsafe { (self.schema.as_ref(), self.array.as_ref()) };
        if schema.release.is_none() || array.release.is_none() {
            return Err(damaged("it was released before it was read"));
        }
        one_column(schema, array)
    }
}

/// What `__arrow_c_stream__` gives.
pub(crate) struct Stream<'py> {
    stream: NonNull<RawStream>,
    schema: Schema,
    _capsule: Bound<'py, PyAny>,
}

/// A pointer that may go to a section without the interpreter.
struct Shared<T>(*mut T);
// SAFETY: only one thread uses it, the one that waits for the section.
unsafe impl<T> Send for Shared<T> {}

impl<'py> Stream<'py> {
    pub(super) fn new(capsule: Bound<'py, PyAny>) -> PyResult<Stream<'py>> {
        let stream = pointer::<RawStream>(&capsule, c"arrow_array_stream")?;
        // SAFETY: the capsule holds the struct.
        let raw = unsafe { stream.as_ref() };
        let (Some(get_schema), Some(_)) = (raw.get_schema, raw.release) else {
            return Err(damaged("the stream was released before it was read"));
        };
        let mut made = Stream { stream, schema: Schema::EMPTY, _capsule: capsule };
        // SAFETY: the stream is alive, and the schema is empty.
        let code = unsafe { get_schema(stream.as_ptr(), &mut made.schema) };
        made.check(code)?;
        Ok(made)
    }

    /// Raises what the stream says went wrong.
    fn check(&self, code: c_int) -> PyResult<()> {
        if code == 0 {
            return Ok(());
        }
        let py = self._capsule.py();
        if PyErr::occurred(py) {
            return Err(PyErr::fetch(py));
        }
        // SAFETY: the stream is alive; its text lives until the next call.
        let text = unsafe {
            let last = self.stream.as_ref().get_last_error;
            let text = last.map_or(null(), |last| last(self.stream.as_ptr()));
            if text.is_null() { None } else { CStr::from_ptr(text).to_str().ok() }
        };
        let reason = text.unwrap_or("no reason given");
        Err(exception(py, "Error", format!("the Arrow stream failed ({code}): {reason}")))
    }

    /// The next chunk, made while other Python threads run: it may take a query.
    pub(super) fn next(&self, py: Python<'_>) -> PyResult<Option<RawArray>> {
        // SAFETY: the capsule holds the struct.
        let Some(get_next) = (unsafe { self.stream.as_ref().get_next }) else {
            return Err(damaged("the stream has no chunks"));
        };
        let mut array = RawArray::EMPTY;
        let (stream, target) = (Shared(self.stream.as_ptr()), Shared(&raw mut array));
        let code = py.detach(move || {
            let (stream, target) = (stream, target);
            // SAFETY: the stream is alive, and the array is empty.
            unsafe { get_next(stream.0, target.0) }
        });
        self.check(code)?;
        Ok(array.release.is_some().then_some(array))
    }

    pub(super) fn column(&self, chunk: &RawArray) -> PyResult<Column> {
        one_column(&self.schema, chunk)
    }
}

/// The only column of a table, or the column itself.
fn one_column(schema: &Schema, array: &RawArray) -> PyResult<Column> {
    if format_of(schema)? != "+s" {
        return column(schema, array, 0, None);
    }
    if schema.n_children != 1 || array.n_children != 1 {
        return Err(PyTypeError::new_err(format!(
            "a table of {} columns is not one column of keys; choose one",
            schema.n_children
        )));
    }
    if array.null_count != 0 && buffer(array, 0)?.is_some() {
        return Err(PyTypeError::new_err("a struct with nulls is no key; take its field"));
    }
    // SAFETY: a struct with one child has a pointer to it, in both trees.
    let (schema, child) = unsafe { (&**schema.children, &**array.children) };
    column(schema, child, size(array.offset)?, Some(size(array.length)?))
}

fn format_of(schema: &Schema) -> PyResult<&str> {
    if schema.format.is_null() {
        return Err(damaged("a schema without a format"));
    }
    // SAFETY: the format is a text that ends with zero, and lives as long as the schema.
    unsafe { CStr::from_ptr(schema.format) }.to_str().map_err(|_| damaged("the format is no text"))
}

fn size(value: i64) -> PyResult<usize> {
    usize::try_from(value).map_err(|_| damaged("a negative length"))
}

/// A buffer of an array; `None` if it has none at this place.
fn buffer(array: &RawArray, place: usize) -> PyResult<Option<*const u8>> {
    if place >= size(array.n_buffers)? {
        return Err(damaged("a buffer is missing"));
    }
    // SAFETY: the array has so many buffers.
    let pointer = unsafe { *array.buffers.add(place) };
    Ok((!pointer.is_null()).then_some(pointer.cast()))
}

/// A column of values. `skip` and `rows` say which part of it a table means.
fn column(schema: &Schema, array: &RawArray, skip: usize, rows: Option<usize>) -> PyResult<Column> {
    let format = format_of(schema)?;
    let length = size(array.length)?;
    let rows = rows.unwrap_or(length);
    if skip.checked_add(rows).is_none_or(|end| end > length) {
        return Err(damaged("a column is shorter than its table"));
    }
    let offset = size(array.offset)? + skip;
    let valid = if format == "n" || array.null_count == 0 { None } else { buffer(array, 0)? };
    let valid = valid.map(|start| Bits { start, offset });
    // The buffer of a column without rows may be missing.
    let data = |place: usize| -> PyResult<*const u8> {
        match buffer(array, place)? {
            Some(start) => Ok(start),
            None if rows == 0 => Ok(NonNull::<u64>::dangling().as_ptr().cast()),
            None => Err(damaged("a buffer is missing")),
        }
    };
    let items = |width: usize| -> PyResult<Items> {
        Ok(Items { start: data(1)?, step: width as isize, width, swapped: false })
    };
    // The bytes of strings may be missing if all are empty; nothing is read then.
    let bytes = |place| -> PyResult<*const u8> {
        Ok(buffer(array, place)?.unwrap_or(NonNull::dangling().as_ptr()))
    };
    if !schema.dictionary.is_null() {
        if array.dictionary.is_null() {
            return Err(damaged("a dictionary is missing"));
        }
        let (width, signed) = integer(format).ok_or_else(|| refused(format))?;
        // SAFETY: both trees have the dictionary.
        let (schema, dictionary) = unsafe { (&*schema.dictionary, &*array.dictionary) };
        let values = Box::new(column_of_dictionary(schema, dictionary)?);
        let values = Values::Dictionary { places: items(width)?, signed, values };
        return Ok(Column { rows, offset, valid, values });
    }
    let values = match format {
        "n" => Values::Nulls,
        "b" => Values::Bits(Bits { start: data(1)?, offset }),
        "f" => Values::Floats(items(4)?),
        "g" => Values::Floats(items(8)?),
        "u" | "z" => Values::Strings(Strings::Short { offsets: data(1)?, bytes: bytes(2)? }),
        "U" | "Z" => Values::Strings(Strings::Long { offsets: data(1)?, bytes: bytes(2)? }),
        "vu" | "vz" => Values::Strings(views(array, data(1)?)?),
        _ => match (integer(format), format.strip_prefix("w:")) {
            (Some((width, signed)), _) => Values::Integers { items: items(width)?, signed },
            (None, Some(width)) => {
                let width = width.parse().map_err(|_| damaged("a width that is no number"))?;
                Values::Strings(Strings::Fixed(items(width)?))
            }
            _ => return Err(refused(format)),
        },
    };
    Ok(Column { rows, offset, valid, values })
}

fn column_of_dictionary(schema: &Schema, array: &RawArray) -> PyResult<Column> {
    if schema.dictionary.is_null() {
        return column(schema, array, 0, None);
    }
    Err(PyTypeError::new_err("a dictionary of dictionaries has no keys; decode it first"))
}

/// The width of an integer type in bytes, and whether it has a sign.
fn integer(format: &str) -> Option<(usize, bool)> {
    Some(match format {
        "c" => (1, true),
        "C" => (1, false),
        "s" => (2, true),
        "S" => (2, false),
        "i" => (4, true),
        "I" => (4, false),
        "l" => (8, true),
        "L" => (8, false),
        _ => return None,
    })
}

/// The buffers of views: the last one holds the sizes of those with the long strings.
fn views(array: &RawArray, views: *const u8) -> PyResult<Strings> {
    let many =
        size(array.n_buffers)?.checked_sub(3).ok_or_else(|| damaged("a buffer is missing"))?;
    let sizes = buffer(array, many + 2)?;
    let mut buffers = Vec::with_capacity(many);
    for place in 0..many {
        let Some(sizes) = sizes else { return Err(damaged("the sizes of its buffers")) };
        // SAFETY: there is a size for each buffer with long strings.
        let bytes = unsafe { sizes.cast::<i64>().add(place).read_unaligned() };
        let start = buffer(array, place + 2)?;
        buffers.push(start.map_or((NonNull::<u8>::dangling().as_ptr().cast_const(), 0), |start| {
            (start, bytes.max(0) as usize)
        }));
    }
    Ok(Strings::Views { views, buffers })
}

fn refused(format: &str) -> PyErr {
    PyTypeError::new_err(format!(
        "a column of the Arrow type {format:?} has no keys; cast it to a string, binary, integer, \
         float or boolean type"
    ))
}

/// What a boolean column that goes out owns.
struct Owned {
    buffers: [*const c_void; 2],
    _valid: Option<Vec<u8>>,
    _values: Vec<u8>,
}

/// Packs answers as bits.
fn packed(answers: &[bool]) -> Vec<u8> {
    let byte = |bits: &[bool]| bits.iter().rev().fold(0, |byte, bit| byte << 1 | u8::from(*bit));
    answers.chunks(8).map(byte).collect()
}

unsafe extern "C" fn release_array(array: *mut RawArray) {
    // SAFETY: `boolean` made the private data, and a struct is released once.
    unsafe {
        drop(Box::from_raw((*array).private_data.cast::<Owned>()));
        (*array).release = None;
    }
}

unsafe extern "C" fn release_schema(schema: *mut Schema) {
    // SAFETY: the schema of a boolean column owns nothing.
    unsafe { (*schema).release = None };
}

/// The capsule of the schema of a boolean column.
pub(crate) fn boolean_schema(py: Python<'_>) -> PyResult<Bound<'_, PyCapsule>> {
    const NULLABLE: i64 = 2;
    let mut schema = Schema::EMPTY;
    (schema.format, schema.name, schema.flags) = (c"b".as_ptr(), c"".as_ptr(), NULLABLE);
    schema.release = Some(release_schema);
    PyCapsule::new_with_value(py, schema, c"arrow_schema")
}

/// The capsule of a boolean column.
pub(crate) fn boolean<'py>(
    py: Python<'py>,
    values: &[bool],
    valid: Option<&[bool]>,
) -> PyResult<Bound<'py, PyCapsule>> {
    let nulls = valid.map_or(0, |valid| valid.iter().filter(|valid| !**valid).count());
    let (valid, packed_values) = (valid.map(packed), packed(values));
    let start = |bytes: &Vec<u8>| bytes.as_ptr().cast::<c_void>();
    let buffers = [valid.as_ref().map_or(null(), start), start(&packed_values)];
    let owned = Box::leak(Box::new(Owned { buffers, _valid: valid, _values: packed_values }));
    let mut array = RawArray::EMPTY;
    (array.length, array.null_count) = (values.len() as i64, nulls as i64);
    (array.n_buffers, array.buffers) = (2, owned.buffers.as_mut_ptr());
    array.private_data = std::ptr::from_mut(owned).cast();
    array.release = Some(release_array);
    PyCapsule::new_with_value(py, array, c"arrow_array")
}
