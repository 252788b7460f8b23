//! The module's data types: how the server saves, loads, copies, counts and frees their values.

use super::raw::{self, api};
use super::{OwnedTexts, Text, slice};
use crate::stream::Pieces;
use crate::value::{Arriving, Value};
use std::ffi::{CStr, c_int, c_void};
use std::io::{self, Write};
use std::marker::PhantomData;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicPtr, AtomicU64, Ordering};

/// The data types by their names, which `TYPE` shows. The names of the existing modules are taken
/// so that clients that look at them go on working.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum TypeName {
    /// A Bloom filter in RedisBloom's dialect.
    Bloom,
    /// A Bloom filter in valkey-bloom's dialect.
    BloomOfValkey,
    /// What `CF.*` keeps.
    Cuckoo,
    /// What `TAMIS.*` keeps.
    Filter,
}

const ALL: [(TypeName, &CStr); 4] = [
    (TypeName::Bloom, c"MBbloom--"),
    (TypeName::BloomOfValkey, c"bloomfltr"),
    (TypeName::Cuckoo, c"MBbloomCF"),
    (TypeName::Filter, c"tamisfltr"),
];

/// The number of the encoding in RDB files. The existing modules count theirs from 1, so that data
/// of theirs are refused and not misread.
const ENCODING: c_int = 100;

/// How many bytes are written at a time to an RDB file or to the append-only file.
const PIECE: usize = 1 << 20;

static TYPES: [AtomicPtr<raw::Type>; 4] = [const { AtomicPtr::new(std::ptr::null_mut()) }; 4];

pub(super) fn pointer(name: TypeName) -> *mut raw::Type {
    TYPES[name as usize].load(Ordering::Relaxed)
}

#[inline]
pub(super) fn is_ours(kind: *mut raw::Type) -> bool {
    TYPES.iter().any(|one| one.load(Ordering::Relaxed) == kind)
}

/// Registers the types. `false` if the server refuses one: another module has its name.
///
/// # Safety
///
/// The context is that of the load function.
pub(super) unsafe fn register(context: *mut raw::Context) -> bool {
    ALL.iter().all(|(name, text)| {
        let mut methods = raw::TypeMethods {
            version: 4,
            rdb_load: Some(load),
            rdb_save: Some(save),
            aof_rewrite: Some(rewrite),
            mem_usage: Some(memory),
            digest: Some(digest),
            free: Some(free),
            aux_load: None,
            aux_save: None,
            aux_save_triggers: 0,
            free_effort: Some(free_effort),
            unlink: None,
            copy: Some(copy),
            defrag: Some(defrag),
            mem_usage2: None,
            free_effort2: None,
            unlink2: None,
            copy2: None,
        };
        // SAFETY: the context is the server's, and it copies the methods.
        let made =
            unsafe { (api().create_type)(context, text.as_ptr(), ENCODING, &raw mut methods) };
        TYPES[*name as usize].store(made, Ordering::Relaxed);
        !made.is_null()
    })
}

/// How many values the server holds.
static LIVE: AtomicU64 = AtomicU64::new(0);

pub(super) fn live_values() -> u64 {
    LIVE.load(Ordering::Relaxed)
}

/// Gives a value to the server, which gives it back to `free`.
pub(super) fn hand_over(value: Value) -> *mut c_void {
    LIVE.fetch_add(1, Ordering::Relaxed);
    Box::into_raw(Box::new(value)).cast()
}

/// Takes a value back that `hand_over` gave.
///
/// # Safety
///
/// The pointer is one of `hand_over`, and nobody uses it any more.
pub(super) unsafe fn take_back(pointer: *mut c_void) -> Box<Value> {
    LIVE.fetch_sub(1, Ordering::Relaxed);
    // SAFETY: the caller's promise.
    unsafe { Box::from_raw(pointer.cast::<Value>()) }
}

/// The value behind a pointer that `KeyMut::set` or `load` gave to the server.
///
/// # Safety
///
/// The server gives back a pointer of ours, and nobody changes the value meanwhile.
unsafe fn value<'a>(pointer: *const c_void) -> &'a Value {
    // SAFETY: the caller's promise.
    unsafe { &*pointer.cast::<Value>() }
}

unsafe extern "C" fn free(pointer: *mut c_void) {
    // SAFETY: a box of ours, which the server frees once.
    let value = unsafe { take_back(pointer) };
    let _ = catch_unwind(AssertUnwindSafe(|| drop(value)));
}

unsafe extern "C" fn memory(pointer: *const c_void) -> usize {
    // SAFETY: a value of ours.
    let value = unsafe { value(pointer) };
    catch_unwind(AssertUnwindSafe(|| value.memory())).unwrap_or(0)
}

/// The server frees on another thread what takes more effort than 64.
unsafe extern "C" fn free_effort(_: *mut raw::Text, pointer: *const c_void) -> usize {
    // SAFETY: a value of ours.
    let value = unsafe { value(pointer) };
    // Giving back a page costs about as much as freeing a small object.
    catch_unwind(AssertUnwindSafe(|| 1 + value.memory() / 4096)).unwrap_or(1)
}

unsafe extern "C" fn copy(
    _: *mut raw::Text,
    _: *mut raw::Text,
    pointer: *const c_void,
) -> *mut c_void {
    // SAFETY: a value of ours.
    let value = unsafe { value(pointer) };
    match catch_unwind(AssertUnwindSafe(|| value.copy())) {
        Ok(Some(copy)) => hand_over(copy),
        _ => std::ptr::null_mut(),
    }
}

unsafe extern "C" fn digest(target: *mut raw::Digest, pointer: *mut c_void) {
    // SAFETY: a value of ours.
    let value = unsafe { value(pointer) };
    let _ = catch_unwind(AssertUnwindSafe(|| {
        let add = |bytes: &[u8]| {
            // SAFETY: the server's digest of this call; it reads the bytes at once.
            unsafe { (api().digest_bytes)(target, bytes.as_ptr().cast(), bytes.len()) };
            Ok(())
        };
        add(&value.preamble().0)?;
        let mut pieces = Pieces::new(PIECE, add);
        value.write_to(&mut pieces)?;
        pieces.flush()
    }));
    // SAFETY: the server's digest of this call.
    unsafe { (api().digest_end)(target) };
}

/// A value in an RDB file is its preamble, and its stream in pieces.
unsafe extern "C" fn save(io: *mut raw::Io, pointer: *mut c_void) {
    // SAFETY: a value of ours.
    let value = unsafe { value(pointer) };
    let written = catch_unwind(AssertUnwindSafe(|| {
        let put = |bytes: &[u8]| {
            // SAFETY: the server's file of this call; it writes the bytes at once.
            unsafe { (api().save_bytes)(io, bytes.as_ptr().cast(), bytes.len()) };
            Ok(())
        };
        let (preamble, length) = value.preamble();
        put(&preamble)?;
        // Of a value that is still arriving, there is less than the preamble announces.
        // SAFETY: the server's file of this call.
        unsafe { (api().save_unsigned)(io, length) };
        let mut pieces = Pieces::new(PIECE, put);
        value.write_to(&mut pieces)?;
        pieces.flush()
    }));
    if !matches!(written, Ok(Ok(()))) {
        log(io, c"a filter could not be written whole");
    }
}

unsafe extern "C" fn load(io: *mut raw::Io, encoding: c_int) -> *mut c_void {
    if encoding != ENCODING {
        log(io, c"the data are of another module or of a newer tamis");
        return std::ptr::null_mut();
    }
    let next = || {
        let mut length = 0;
        // SAFETY: the server's file of this call.
        let start = unsafe { (api().load_bytes)(io, &raw mut length) };
        // SAFETY: as above.
        if start.is_null() || unsafe { (api().is_io_error)(io) } != 0 {
            return Err(io::Error::from(io::ErrorKind::UnexpectedEof));
        }
        Ok(Loaded { start: start.cast(), length })
    };
    let read = || -> Option<Value> {
        let mut arriving = Arriving::begin(next().ok()?.bytes(), u64::MAX).ok()?;
        // SAFETY: the server's file of this call.
        let mut left = unsafe { (api().load_unsigned)(io) };
        while left > 0 {
            let piece = next().ok()?;
            // An empty piece would let a file go on for ever.
            left = left.checked_sub(piece.length as u64).filter(|_| piece.length > 0)?;
            arriving.append(piece.bytes()).ok()?;
        }
        if arriving.is_complete() {
            arriving.finish().ok()
        } else {
            Some(Value::Arriving(arriving))
        }
    };
    match catch_unwind(AssertUnwindSafe(read)) {
        Ok(Some(value)) => hand_over(value),
        _ => {
            log(io, c"the data of a filter are damaged");
            std::ptr::null_mut()
        }
    }
}

/// Bytes that the server allocated for us.
struct Loaded {
    start: *mut u8,
    length: usize,
}

impl Loaded {
    fn bytes(&self) -> &[u8] {
        // SAFETY: the server gave so many bytes, which are freed at the end of `self`.
        unsafe { slice(self.start, self.length) }
    }
}

impl Drop for Loaded {
    fn drop(&mut self) {
        // SAFETY: the server allocated them for us to free.
        unsafe { (api().free)(self.start.cast()) };
    }
}

/// In the append-only file a value is the chunks that would load it, none of them large.
unsafe extern "C" fn rewrite(io: *mut raw::Io, key: *mut raw::Text, pointer: *mut c_void) {
    // SAFETY: a value of ours.
    let value = unsafe { value(pointer) };
    let name = Text { raw: key, lifetime: PhantomData };
    let written = catch_unwind(AssertUnwindSafe(|| -> io::Result<()> {
        let command = match value.type_name() {
            TypeName::Bloom | TypeName::BloomOfValkey => c"BF.LOADCHUNK",
            TypeName::Cuckoo => c"CF.LOADCHUNK",
            TypeName::Filter => c"TAMIS.LOADCHUNK",
        };
        let emit = |iterator: u64, bytes: &[u8]| {
            let place = iterator.to_string();
            let arguments = [name.bytes(), place.as_bytes(), bytes];
            let mut texts = OwnedTexts::new(std::ptr::null_mut(), &arguments);
            // SAFETY: the format "v" takes an array of strings and its length; the server copies
            // them.
            unsafe {
                let (start, count) = (texts.all.as_mut_ptr(), texts.all.len());
                (api().emit_aof)(io, command.as_ptr(), c"v".as_ptr(), start, count);
            }
            Ok(())
        };
        emit(1, &value.preamble().0)?;
        let mut iterator = 1;
        let mut pieces = Pieces::new(PIECE, |bytes: &[u8]| {
            iterator += bytes.len() as u64;
            emit(iterator, bytes)
        });
        value.write_to(&mut pieces)?;
        pieces.flush()
    }));
    if !matches!(written, Ok(Ok(()))) {
        log(io, c"a filter could not be written whole");
    }
}

unsafe extern "C" fn defrag(
    context: *mut raw::Defrag,
    _: *mut raw::Text,
    pointer: *mut *mut c_void,
) -> c_int {
    const { assert!(align_of::<Value>() <= 16, "the allocator would place it otherwise") };
    // SAFETY: a box of ours. The server moves its bytes, which a value allows, and frees the old
    // place. A body has its own memory, which does not move.
    let moved = unsafe { (api().defrag_alloc)(context, *pointer) };
    if !moved.is_null() {
        // SAFETY: the server's pointer to the value; it is the only one now.
        let value = unsafe {
            *pointer = moved;
            &mut *moved.cast::<Value>()
        };
        // The pages of this value are sparse: so are those of its small parts, most likely.
        let _ = catch_unwind(AssertUnwindSafe(|| value.move_small_parts()));
    }
    0
}

fn log(io: *mut raw::Io, what: &CStr) {
    // SAFETY: the server's file of this call, and texts that end with zero.
    unsafe {
        (api().log_io_error)(io, c"warning".as_ptr(), c"tamis: %s".as_ptr(), what.as_ptr());
    }
}
